//! The tree of links, drawn.

use anyhow::Result;
use linkwork::Mechanism;
use linkwork::model::WORLD;
use std::collections::HashMap;
use std::io::Write;

/// Longer trees are cut.
const SHOWN: usize = 400;
/// Deeper ones are not indented further.
const DEEPEST: usize = 40;

/// Draws every link under the link that carries it, with its joint and mass.
pub(super) fn draw(out: &mut impl Write, m: &Mechanism) -> Result<()> {
    let links: HashMap<&str, usize> = m
        .links()
        .iter()
        .enumerate()
        .map(|(i, l)| (l.name.as_str(), i))
        .collect();
    let mut carried: Vec<Vec<usize>> = vec![Vec::new(); m.links().len() + 1];
    let world = m.links().len();
    for (j, joint) in m.joints().iter().enumerate() {
        let parent = links.get(joint.parent.as_str()).copied().unwrap_or(world);
        carried[parent].push(j);
    }
    writeln!(out, "{WORLD}")?;
    // Joints that wait to be drawn, each with what stands before it.
    let mut waiting: Vec<(usize, String, bool)> = Vec::new();
    let wait = |waiting: &mut Vec<_>, parent: usize, before: &str| {
        for (i, &j) in carried[parent].iter().enumerate().rev() {
            waiting.push((j, before.to_owned(), i + 1 == carried[parent].len()));
        }
    };
    wait(&mut waiting, world, "");
    let mut drawn = 0;
    while let Some((j, before, last)) = waiting.pop() {
        if drawn == SHOWN {
            writeln!(out, "… and {} more links; --json lists all", m.links().len() - drawn)?;
            break;
        }
        drawn += 1;
        let joint = &m.joints()[j];
        let Some(&l) = links.get(joint.child.as_str()) else {
            continue;
        };
        let mass = m.links()[l].inertia.mass;
        let mass = if mass == 0.0 {
            String::new()
        } else {
            format!(", {mass} kg")
        };
        let (branch, beyond) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        writeln!(
            out,
            "{before}{branch}{} ({} {}{mass})",
            joint.child,
            joint.kind.name(),
            joint.name
        )?;
        let deep = before.chars().count() >= 3 * DEEPEST;
        let below = if deep { before } else { format!("{before}{beyond}") };
        wait(&mut waiting, l, &below);
    }
    Ok(())
}
