//! Names of elements and attributes: what a reader does not know is reported, so that no misspelt name goes unseen.

use crate::report::Findings;
use crate::source::shortened;
use crate::xml::Element;
use linkwork::model::did_you_mean;
use std::collections::HashSet;

/// What may stand in an element: its attributes and the elements in it, apart by spaces. An element that has no rule is
/// not looked into.
pub(crate) struct Rule {
    /// The element's name, after that of the element around it where the same name has several meanings.
    pub(crate) element: &'static str,
    pub(crate) attributes: &'static str,
    pub(crate) children: &'static str,
}

/// What to make of a name that no rule has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// It is wrong.
    Wrong,
    /// Others may extend the format: it is wrong if it looks like a name that is known.
    Foreign,
}

/// So many names are compared with those that may have been meant.
const HINTED: usize = 100;
/// After so many that are not known, no more are looked for.
const MOST: usize = 1000;

/// Looks through a document for names that no rule has.
pub(crate) fn check<'a, C: IntoIterator<Item = Element<'a>>>(
    root: Element<'a>,
    rules: &[Rule],
    unknown: Unknown,
    children: impl Fn(Element<'a>) -> C,
    f: &mut Findings,
) {
    let rule = |outer: &str, name: &str| {
        let special = rules.iter().position(|r| {
            let parts = r.element.split_once('/');
            parts.is_some_and(|(o, n)| o == outer && n == name)
        });
        special.or_else(|| rules.iter().position(|r| r.element == name))
    };
    let mut reader = Names {
        unknown,
        count: 0,
        seen: HashSet::new(),
    };
    let mut waiting: Vec<_> = rule("", root.name()).map(|r| (root, r)).into_iter().collect();
    while let Some((e, at)) = waiting.pop().filter(|_| reader.count < MOST) {
        let Rule {
            element,
            attributes,
            children: inner,
        } = &rules[at];
        for (name, spot) in e.attributes() {
            if reader.count < MOST
                && !attributes.split(' ').any(|known| known == name)
                && !name.contains(':')
                && name != "xmlns"
            {
                reader.report(name, attributes, "attribute", e, spot, f);
            }
        }
        let outer = element.rsplit('/').next().unwrap_or_default();
        for child in children(e) {
            let name = child.name();
            if inner.split(' ').any(|known| known == name) {
                waiting.extend(rule(outer, name).map(|r| (child, r)));
            } else if reader.count < MOST && !name.contains(':') {
                reader.report(name, inner, "element", child, child.spot(), f);
            }
        }
    }
}

/// Reports names.
struct Names<'a> {
    unknown: Unknown,
    /// How many there were.
    count: usize,
    /// What was reported already, where one word is enough.
    seen: HashSet<(&'a str, &'a str)>,
}

impl<'a> Names<'a> {
    fn report(
        &mut self,
        name: &'a str,
        known: &str,
        what: &str,
        e: Element<'a>,
        spot: crate::source::Spot,
        f: &mut Findings,
    ) {
        self.count += 1;
        let near = if self.count < HINTED && name.len() <= 64 {
            did_you_mean(name, known.split(' ').filter(|k| !k.is_empty()))
        } else {
            String::new()
        };
        let (code, around) = match what {
            "attribute" => ("unknown-attribute", format!(" of <{}>", shortened(e.name()))),
            _ => ("unknown-element", String::new()),
        };
        let at = e.at().seen_at(spot);
        if self.unknown == Unknown::Wrong || !near.is_empty() {
            let message = format!("`{}` is not a known {what}{around}{near}", shortened(name));
            f.doubt(at, code, message, "correct its name, or remove it");
        } else if self.seen.len() < HINTED && self.seen.insert((e.name(), name)) {
            let message = format!("the {what} `{}`{around} is ignored", shortened(name));
            f.note(at, "ignored-name", message, "");
        }
    }
}
