//! Comma-separated values.

use super::Column;

/// Columns of a file whose first line names them.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Column>, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("is not text: {e}"))?;
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    let (head, text) = text.split_at(end_of_head(text));
    // Names may hold line breaks, in quotes.
    let before = head.matches('\n').count();
    let lines = text.lines().enumerate().map(|(i, line)| (before + i, line));
    let mut columns: Vec<Column> = fields(head.trim_end_matches(['\r', '\n']))
        .into_iter()
        .map(|name| Column {
            name,
            numbers: Vec::new(),
        })
        .collect();
    for (i, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let mut words = line.split(',');
        for column in &mut columns {
            let word = words.next().ok_or_else(|| format!("line {} is too short", i + 1))?;
            let number = word
                .parse()
                .map_err(|_| format!("line {}: `{word}` is not a number", i + 1))?;
            column.numbers.push(number);
        }
        if words.next().is_some() {
            return Err(format!("line {} is too long", i + 1));
        }
    }
    Ok(columns)
}

/// Where the first line ends, behind its line break: one within quotes is part of a name.
fn end_of_head(text: &str) -> usize {
    let mut quoted = false;
    let end = text.bytes().position(|b| {
        quoted ^= b == b'"';
        b == b'\n' && !quoted
    });
    end.map_or(text.len(), |i| i + 1)
}

/// The fields of a line, quoted or not.
pub(super) fn fields(line: &str) -> Vec<String> {
    let (mut out, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => {
                field.push('"');
                letters.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    out.push(field);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_quoted_and_lines_must_be_whole() {
        let columns = read(b"t,\"q.a,b\"\"c\"\n0,1\n0.5,2\n").expect("fine");
        assert_eq!(columns[1].name, "q.a,b\"c");
        assert_eq!(columns[1].numbers, [1.0, 2.0]);
        let broken = read(b"t,\"q.a\nb\"\r\n0,1\r\n").expect("a name may hold a line break");
        assert_eq!((&*broken[1].name, &broken[1].numbers[..]), ("q.a\nb", &[1.0][..]));
        for (bad, word) in [
            ("t,\"q\nr\"\n0,1\n0\n", "line 4 is too short"),
            ("t,q\n1\n", "too short"),
            ("t\n1,2\n", "too long"),
            ("t\nx\n", "not a number"),
            ("", "empty"),
        ] {
            assert!(read(bad.as_bytes()).is_err_and(|e| e.contains(word)), "{bad}");
        }
    }
}
