//! Robots as text.
//!
//! Every number is written so that reading gives the same bits, and a robot that was read from a file that was written here is
//! written as that file again, byte by byte. What a format cannot say is reported; a joint that it
//! cannot say is refused.

mod joint_stacks;
mod mjcf;
mod mujoco;
mod sdf;
mod shape;
mod stable_numbers;
mod urdf;

use crate::report::{Findings, Mode, Refusal, Report};
use crate::robot::{Geometry, Robot, Shape, Touch};
use crate::{Format, native};
use linkwork::model::{Joint, WORLD};
use linkwork::spatial::Vec3;
use std::collections::HashMap;
use std::rc::Rc;

/// A robot as text, and what it cost to write it so.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Text {
    /// The file.
    pub text: String,
    /// What the format cannot say and is lost.
    pub report: Report,
}

/// Writes a robot in a format. A joint that the format cannot say is refused; the native format can say all.
pub fn write(robot: &Robot, format: Format) -> Result<Text, Refusal> {
    let mut findings = Findings::new(Mode::Warn);
    findings.source(Rc::new(crate::source::Source::new(
        robot.mechanism.name(),
        String::new(),
    )));
    if format != Format::Native {
        let own = robot
            .touches
            .values()
            .filter(|touch| **touch != Touch::default())
            .count();
        let surfaces = if format == Format::Mjcf { 0 } else { own };
        let parts = [
            ("keyframes", robot.keyframes.len()),
            ("actuators", robot.actuators.len()),
            ("sensors", robot.sensors.len()),
            ("tendons", robot.tendons.len()),
            ("height fields", robot.terrains.len()),
            ("volumes of sensors", robot.zones.len()),
            ("links whose weight is carried", robot.floating.len()),
            (
                "excluded pairs",
                if format == Format::Mjcf {
                    0
                } else {
                    robot.untouching.len()
                },
            ),
            ("surfaces with friction or masks of their own", surfaces),
        ];
        let lost: Vec<_> = parts
            .iter()
            .filter(|(_, n)| *n > 0)
            .map(|(what, n)| format!("{n} {what}"))
            .collect();
        if !lost.is_empty() {
            let message = format!("{} are not written", lost.join(", "));
            findings.doubt(
                crate::source::At::FILE,
                "not-written",
                message,
                "the native format keeps them",
            );
        }
    }
    let nowhere = |g: &Geometry| matches!(&g.shape, Shape::Mesh { uri, .. } if uri.is_empty());
    let mut kept = None;
    if format != Format::Native && robot.geometry.iter().any(nowhere) {
        let message = "meshes without a file of their own are not written";
        findings.doubt(crate::source::At::FILE, "lost-shape", message, "put them into files");
        let kept = kept.insert(robot.clone());
        kept.geometry.retain(|g| !nowhere(g));
    }
    let robot = kept.as_ref().unwrap_or(robot);
    let text = match format {
        Format::Urdf => urdf::write(robot, &mut findings),
        Format::Mjcf => mjcf::write(robot, &mut findings),
        Format::Sdf => sdf::write(robot, &mut findings),
        Format::Native => native::write(robot).unwrap_or_else(|problem| {
            findings.error(crate::source::At::FILE, "native", problem.to_string(), "");
            String::new()
        }),
    };
    match findings.failed() {
        true => Err(findings.refusal()),
        false => Ok(Text {
            text,
            report: findings.report,
        }),
    }
}

/// Text that may stand in an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' | '\r' => out += &format!("&#{};", c as u32),
            c => out.push(c),
        }
    }
    out
}

fn numbers(list: &[f64]) -> String {
    // The shortest digits that read back as the same number.
    let words: Vec<_> = list
        .iter()
        .map(|x| if *x == 0.0 { "0".to_owned() } else { format!("{x:?}") })
        .collect();
    words.join(" ")
}

fn vector(v: Vec3) -> String {
    numbers(&v.to_array())
}

/// The one number that a list holds for all degrees of freedom; none if it is empty, an error if they differ.
fn uniform(list: &[f64]) -> Result<Option<f64>, ()> {
    match list {
        [] => Ok(None),
        [first, rest @ ..] if rest.iter().all(|x| x == first) => Ok(Some(*first).filter(|x| *x != 0.0)),
        _ => Err(()),
    }
}

/// The joints that stand on each link, in order; those of the world come last.
fn carried(robot: &Robot) -> Vec<Vec<&Joint>> {
    let m = &robot.mechanism;
    let place: HashMap<&str, usize> = m.links().iter().enumerate().map(|(i, l)| (&*l.name, i)).collect();
    let mut carried = vec![Vec::new(); m.links().len() + 1];
    for joint in m.joints() {
        let holder = if joint.parent == WORLD {
            m.links().len()
        } else {
            place[&*joint.parent]
        };
        carried[holder].push(joint);
    }
    carried
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("a<b>\"&'\n"), "a&lt;b&gt;&quot;&amp;'&#10;");
    }
}
