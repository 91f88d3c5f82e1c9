//! Data flows one way: each room of the library imports only from rooms before it.

use crate::checks::{read, sources};
use std::path::Path;

/// The rooms, first to last.
const ROOMS: &[&str] = &[
    "dense",
    "scalar",
    "simd",
    "spatial",
    "body",
    "plan",
    "model",
    "stage",
    "sweep",
    "dynamics",
    "workspace",
    "simulate",
    "state_space",
    "control",
    "closed",
    "contact",
    "batch",
    "motion",
    "quantity",
    "reference",
    "algebra",
];

/// A wing: what it gathers concerns several rooms, and each of its modules has the name of the room that it stands beside and
/// keeps to that room's imports.
const WING: &str = "coupled";

/// What the crate's root hands on, and the room it comes from. Errors belong to no room.
const EXPORTS: [(&str, &str); 7] = [
    ("Function", "simd"),
    ("functions", "simd"),
    ("Mechanism", "model"),
    ("Reference", "spatial"),
    ("Workspace", "workspace"),
    ("Error", ""),
    ("Result", ""),
];

/// Imports that run against the flow.
pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let source = root.join("crates/linkwork/src");
    let mut problems = Vec::new();
    for file in sources(std::slice::from_ref(&source))? {
        let inner = file.strip_prefix(&source).unwrap_or(&file);
        let mut names = inner
            .iter()
            .filter_map(|s| s.to_str())
            .map(|s| s.strip_suffix(".rs").unwrap_or(s));
        let mut room = names.next().unwrap_or_default();
        if room == WING {
            room = names.next().unwrap_or_default();
        }
        // The roots of the crate and of the wing only name what is inside; the guide is text.
        if ["lib", "error", "guide", "mod"].contains(&room) {
            continue;
        }
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        let Some(rank) = rank(room) else {
            problems.push(format!(
                "{name}: the room `{room}` has no place in the order of xtask/src/layers.rs"
            ));
            continue;
        };
        let text = read(&file)?;
        for (at, import) in imports(&text) {
            if let Some(problem) = against(rank, &import) {
                problems.push(format!("{name}:{at}: {problem}"));
            }
        }
    }
    Ok(problems)
}

fn rank(room: &str) -> Option<usize> {
    ROOMS.iter().position(|r| *r == room)
}

/// What is wrong with an import into a room, if anything.
fn against(into: usize, import: &str) -> Option<String> {
    let exported = EXPORTS.iter().find(|(name, _)| *name == import);
    let from = exported.map_or(import, |(_, room)| room);
    if from.is_empty() || from == "error" {
        return None;
    }
    match rank(from) {
        Some(rank) if rank <= into => None,
        Some(_) => Some(format!(
            "`{}` may not import from `{from}`, which comes later",
            ROOMS[into]
        )),
        None => Some(format!("`crate::{import}` belongs to no room")),
    }
}

/// The room after each `crate::`, with its line, comments and tests left out; of `crate::{a, b::c}`, that of each.
fn imports(text: &str) -> Vec<(usize, String)> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code: Vec<&str> = text.lines().map(|l| l.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for (start, name) in code.match_indices("crate::") {
        let start = start + name.len();
        let line = code[..start].matches('\n').count() + 1;
        let words = match code[start..].strip_prefix('{') {
            Some(list) => listed(list),
            None => vec![word(&code[start..])],
        };
        found.extend(words.into_iter().filter(|w| !w.is_empty()).map(|w| (line, w)));
    }
    found
}

/// The first word of each entry of a list, up to the brace that closes it.
fn listed(list: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (i, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                words.push(word(&list[start..i]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                words.push(word(&list[start..i]));
                start = i + 1;
            }
            _ => {}
        }
    }
    words
}

/// The first word; of a path into the wing, the second.
fn word(text: &str) -> String {
    let text = text.trim_start();
    let text = text
        .strip_prefix(WING)
        .and_then(|t| t.strip_prefix("::"))
        .unwrap_or(text);
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_in_code_only() {
        let text = "use crate::model::Body;\n// use crate::workspace;\nuse crate::{\n    Error,\n    model::{A, B},\n};\nf($crate::stage::x);\nuse crate::coupled::stage::Coupled;\n#[cfg(test)]\nmod tests {\n    use crate::workspace::View;\n}";
        let words: Vec<_> = imports(text).into_iter().map(|(_, w)| w).collect();
        assert_eq!(words, ["model", "Error", "model", "stage", "stage"]);
        assert_eq!(imports(text)[3].0, 7);
    }

    #[test]
    fn later_rooms_may_not_be_entered() {
        let stage = rank("stage").unwrap();
        assert!(against(stage, "model").is_none() && against(stage, "Result").is_none());
        assert!(against(stage, "stage").is_none() && against(stage, "Mechanism").is_none());
        assert!(against(stage, "dynamics").is_some() && against(stage, "Workspace").is_some());
        assert!(against(stage, "attic").is_some());
    }
}
