//! An expression on its way to code, beside the robot: the page on which a step is followed through the levels.

use crate::derive::{self, Emitted};
use anyhow::Result;
use clap::Args;
use linkwork::Mechanism;
use linkwork::algebra::{Expression, Followed, Level, Line, LinePart, link_space};
use serde_json::{Value, json};

/// Code with more lines is cut: no page shows them all.
const MOST_LINES: usize = 20_000;

/// What to follow.
#[derive(Args, Default)]
pub(crate) struct Levels {
    /// Follow an expression, such as "inv(Mass) (T - C)", through the seven levels of `linkwork derive --level`: a step that
    /// is chosen on one is marked on all of them.
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    levels: Option<String>,
    /// The language of the last level.
    #[arg(
        long,
        value_enum,
        value_name = "LANGUAGE",
        default_value = "rust",
        requires = "levels"
    )]
    code: Emitted,
}

impl Levels {
    /// What the page is told, if it is asked for.
    pub(super) fn told(&self, mechanism: &Mechanism) -> Result<Option<Value>> {
        let Some(text) = &self.levels else { return Ok(None) };
        let expression: Expression = text.parse().map_err(|e: linkwork::Error| derive::misread(&e))?;
        let frames = derive::frames_of(&expression, mechanism)?;
        let algorithm = expression.compile(derive::has_rotors(mechanism), &[]);
        // What has no code is followed as far as it leads.
        let (code, note) = match expression.written_lines(mechanism, &frames, &[], self.code.into()) {
            Ok(lines) => (lines, String::new()),
            Err(problem) => (Vec::new(), problem.to_string()),
        };
        let followed = algorithm.followed(mechanism, &code);
        Ok(Some(told(text, mechanism, &followed, &note)))
    }
}

fn told(text: &str, mechanism: &Mechanism, followed: &Followed, note: &str) -> Value {
    let steps = followed
        .steps
        .iter()
        .map(|s| json!({ "name": s.name, "sweep": s.sweep, "inward": s.inward, "reads": s.reads }));
    let levels = followed.levels.iter().map(|(level, parts)| {
        let lines: usize = parts.iter().map(|p| p.lines.len()).sum();
        let note = match level {
            Level::Code if lines > MOST_LINES => {
                format!(
                    "and {} lines more: `linkwork derive --emit` writes them all",
                    lines - MOST_LINES
                )
            }
            Level::Code => note.to_owned(),
            _ => String::new(),
        };
        json!({ "name": level.name(), "note": note, "parts": parts.iter().map(part).collect::<Vec<_>>() })
    });
    json!({
        "expression": text, "links": link_space(mechanism),
        "steps": steps.collect::<Vec<_>>(), "levels": levels.collect::<Vec<_>>(),
    })
}

fn part(part: &LinePart) -> Value {
    let lines: Vec<Value> = part.lines.iter().take(MOST_LINES).map(line).collect();
    json!({ "heading": part.heading, "link": part.link, "lines": lines })
}

fn line(line: &Line) -> Value {
    let pieces: Vec<Value> = line.right.iter().map(|p| json!([p.text, p.steps])).collect();
    json!({ "left": line.left, "right": pieces, "steps": line.steps, "links": line.links })
}
