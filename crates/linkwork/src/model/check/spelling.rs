//! The name that was meant.

/// `; did you mean …?` with the closest of some names, or nothing where none is close.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let asked: Vec<char> = name.chars().collect();
    let mut best: Option<(usize, &str)> = None;
    // A third of the letters may be wrong, but never all of them.
    let mut bound = (asked.len() / 3).max(1) + 1;
    for candidate in known {
        let distance = if candidate.eq_ignore_ascii_case(name) {
            0
        } else {
            edits(&asked, candidate, bound)
        };
        if distance < bound && distance < asked.len() {
            bound = distance;
            best = Some((distance, candidate));
            if distance == 0 {
                break;
            }
        }
    }
    best.map_or_else(String::new, |(_, close)| format!("; did you mean `{close}`?"))
}

/// How many letters to insert, delete, replace or exchange with a neighbour; `bound` where that many or more.
fn edits(a: &[char], b: &str, bound: usize) -> usize {
    if a.len().abs_diff(b.chars().count()) >= bound {
        return bound;
    }
    let b: Vec<char> = b.chars().collect();
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = core::mem::replace(&mut last, row);
    }
    last[b.len()].min(bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood_and_strangers_are_not() {
        let known = || ["forearm", "upper_arm", "hand"].into_iter();
        assert_eq!(did_you_mean("forarm", known()), "; did you mean `forearm`?");
        assert_eq!(did_you_mean("foreram", known()), "; did you mean `forearm`?");
        assert_eq!(did_you_mean("HAND", known()), "; did you mean `hand`?");
        assert_eq!(did_you_mean("wheel", known()), "");
        assert_eq!(did_you_mean("", known()), "");
    }
}
