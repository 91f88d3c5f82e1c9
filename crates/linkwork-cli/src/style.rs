//! How output looks: few colours, aligned columns.

use anstyle::{AnsiColor, Style};
use clap::builder::Styles;

/// Headings.
pub(crate) const HEAD: Style = AnsiColor::Cyan.on_default().bold();
/// What is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What is not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What may be overlooked.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// The help pages.
pub(crate) const HELP: Styles = Styles::styled().header(HEAD).usage(HEAD).literal(Style::new().bold());

/// Text in a style; the stream it is printed to drops the style where it has no place.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Text filled up with spaces on the right to a number of columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// Columns on a terminal: a combining mark, such as the dot of q̇, takes none.
fn width(text: &str) -> usize {
    text.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

/// A whole number with a thin gap at every thousand.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_under_combining_marks() {
        assert_eq!(pad("q\u{307}", 3), "q\u{307}  ");
        assert_eq!(pad("long", 3), "long");
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234_567), "1 234 567");
    }
}
