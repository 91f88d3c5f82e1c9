//! Robots as text.
//!
//! Every number is written so that reading gives the same bits. What a format cannot say is reported; a joint that it
//! cannot say is refused.

mod mjcf;
mod mujoco;
mod sdf;
mod shape;
mod urdf;

use crate::report::{Findings, Mode, Refusal, Report};
use crate::robot::{Geometry, Robot, Shape};
use crate::{Format, native};
use linkwork::model::{Joint, WORLD};
use linkwork::spatial::{Pose, Vec3};
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
        let parts = [
            ("keyframes", robot.keyframes.len()),
            ("actuators", robot.actuators.len()),
            ("sensors", robot.sensors.len()),
            ("tendons", robot.tendons.len()),
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

/// Roll, pitch and yaw about fixed axes, exact for every rotation: where roll and yaw turn about the same axis, roll
/// makes up for whatever yaw was found.
fn rpy(pose: &Pose) -> [f64; 3] {
    let [[xx, xy, xz], [yx, yy, yz], [zx, _, _]] = pose.rotation.to_rows();
    let yaw = yx.atan2(xx);
    let (sin, cos) = yaw.sin_cos();
    let pitch = (-zx).atan2(cos * xx + sin * yx);
    let roll = (sin * xz - cos * yz).atan2(cos * yy - sin * xy);
    [roll, pitch, yaw]
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
    use linkwork::spatial::Rotation;

    #[test]
    fn roll_pitch_and_yaw_are_exact_everywhere() {
        let right = std::f64::consts::FRAC_PI_2;
        for (roll, pitch, yaw) in [
            (0.3, -0.4, 2.0),
            (0.3, right, 0.7),
            (-2.0, -right, 1.0),
            (3.0, 1.5, -3.0),
            (0.0, 0.0, 0.0),
        ] {
            let given = Rotation::from_rpy(roll, pitch, yaw);
            let [a, b, c] = rpy(&Pose::from_rotation(given));
            let back = Rotation::from_rpy(a, b, c);
            for (x, y) in given.to_rows().iter().flatten().zip(back.to_rows().iter().flatten()) {
                assert!((x - y).abs() < 3e-16, "{given:?} {back:?}");
            }
        }
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("a<b>\"&'\n"), "a&lt;b&gt;&quot;&amp;'&#10;");
    }
}
