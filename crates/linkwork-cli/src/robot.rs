//! Robots by name or file.

use crate::complaint::Complaint;
use crate::text_model;
use anyhow::{Context, Result};
use linkwork::Mechanism;
use linkwork::model::examples;
use std::io::Read;
use std::path::Path;

/// The names of the built-in robots, in a sentence.
pub(crate) fn known() -> String {
    examples::all().map(|(name, _)| name).join(", ")
}

/// A built-in robot, a text model, or `-` for a text model on standard input; and its name.
pub(crate) fn find(robot: &str) -> Result<(String, Mechanism)> {
    if let Some(example) = examples::by_name(robot) {
        return Ok((robot.to_owned(), example()));
    }
    let (name, text) = if robot == "-" {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.context("cannot read a model from standard input")?;
        ("stdin".to_owned(), text)
    } else {
        let path = Path::new(robot);
        if !path.exists() {
            return Err(Complaint::usage(
                format!("there is no built-in robot and no file `{robot}`"),
                format!("the built-in robots are {}", known()),
            ));
        }
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{robot}`"))?;
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        (stem.to_string_lossy().into_owned(), text)
    };
    let mechanism = text_model::parse(robot, &name, &text)?;
    Ok((name, mechanism))
}
