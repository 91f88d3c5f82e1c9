//! MCAP: the states on `/state`, and the robot in an attachment.

use super::contacts::cloud;
use super::{Column, Described};
use crate::simulate::log::{CONTACT_POINTS, NATIVE, identifier};
use linkwork_view::Arrow;
use std::collections::HashSet;
use std::path::PathBuf;

/// Labels as the log writes them: letters, digits and underscores, no two the same.
pub(super) fn plain(labels: &[String]) -> Vec<String> {
    let mut taken = HashSet::new();
    labels.iter().map(|label| identifier(label, &mut taken)).collect()
}

/// What is in a log.
pub(super) struct Read {
    /// Of all states.
    pub(super) columns: Vec<Column>,
    /// If it is described.
    pub(super) robot: Option<Described>,
    /// What bore at each state, if anything could touch.
    pub(super) arrows: Vec<Vec<Arrow>>,
}

/// Reads a log.
pub(super) fn read(bytes: &[u8]) -> Result<Read, String> {
    let wrong = |e: mcap::McapError| format!("cannot be read: {e}");
    let mut columns: Vec<Column> = Vec::new();
    let (mut arrows, mut touched): (Vec<Vec<Arrow>>, bool) = (Vec::new(), false);
    for message in mcap::MessageStream::new(bytes).map_err(wrong)? {
        let message = message.map_err(wrong)?;
        if message.channel.topic == CONTACT_POINTS
            && let Some(last) = arrows.last_mut()
        {
            *last = cloud(&message.data).ok_or_else(|| format!("{CONTACT_POINTS} cannot be read"))?;
            touched = true;
        }
        if message.channel.topic != "/state" {
            continue;
        }
        let schema = message.channel.schema.as_ref().ok_or("its states have no schema")?;
        if columns.is_empty() {
            let names = names(&String::from_utf8_lossy(&schema.data));
            columns = names
                .into_iter()
                .map(|name| Column {
                    name,
                    numbers: Vec::new(),
                })
                .collect();
        }
        let numbers = message.data.get(4..).unwrap_or_default().as_chunks::<8>().0;
        if numbers.len() != columns.len() {
            return Err(format!(
                "a state has {} numbers, and its schema {}",
                numbers.len(),
                columns.len()
            ));
        }
        for (column, x) in columns.iter_mut().zip(numbers) {
            column.numbers.push(f64::from_le_bytes(*x));
        }
        arrows.push(Vec::new());
    }
    if columns.is_empty() {
        return Err("has no states on the topic /state".into());
    }
    if !touched {
        arrows.clear();
    }
    Ok(Read {
        columns,
        robot: described(bytes).map_err(wrong)?,
        arrows,
    })
}

/// The robot in the log's attachment, and where its meshes are.
fn described(bytes: &[u8]) -> mcap::McapResult<Option<Described>> {
    let Some(summary) = mcap::Summary::read(bytes)? else {
        return Ok(None);
    };
    let Some(index) = summary.attachment_indexes.iter().find(|a| a.name == NATIVE) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&mcap::read::attachment(bytes, index)?.data).into_owned();
    let about = summary.metadata_indexes.iter().find(|m| m.name == NATIVE);
    let about = about.map(|index| mcap::read::metadata(bytes, index)).transpose()?;
    let home = about.and_then(|m| m.metadata.get("home").map(PathBuf::from));
    Ok(Some(Described { text, home }))
}

/// `t`, `q.elbow`, … of a schema: fields are numbers, or groups that are listed below.
fn names(schema: &str) -> Vec<String> {
    let mut parts = schema.split("\nMSG: ");
    let field = |line: &str| -> Option<(String, String)> {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    let fields: Vec<_> = parts.next().unwrap_or_default().lines().filter_map(field).collect();
    let groups: Vec<(&str, Vec<String>)> = parts
        .map(|part| {
            let (name, lines) = part.split_once('\n').unwrap_or((part, ""));
            let numbers = lines.lines().filter_map(field).filter(|(kind, _)| kind == "float64");
            (name, numbers.map(|(_, name)| name).collect())
        })
        .collect();
    let mut out = Vec::new();
    for (kind, name) in fields {
        if kind == "float64" {
            out.push(name);
        } else if let Some((_, members)) = groups.iter().find(|(group, _)| *group == kind) {
            out.extend(members.iter().map(|member| format!("{name}.{member}")));
        }
    }
    out
}
