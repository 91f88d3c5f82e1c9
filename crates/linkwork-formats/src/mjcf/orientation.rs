//! Poses and the five ways to write an orientation.

use super::compiler::Compiler;
use super::defaults::Defaulted;
use crate::numbers;
use crate::report::Findings;
use crate::rotations::{facing, quaternion};
use crate::source::At;
use crate::xml::Element;
use linkwork::spatial::{Pose, Rotation, Vec3};

const WAYS: [&str; 5] = ["quat", "axisangle", "xyaxes", "zaxis", "euler"];

/// The pose of an element.
pub(super) fn pose(c: &Compiler, e: &Defaulted<'_>, at: At<'_>, f: &mut Findings) -> Pose {
    let position = numbers::vector(f, e.with("pos"), "pos", at).unwrap_or_default();
    let rotation = e.with_any(&WAYS).and_then(|e| rotation(c, e, at, f));
    Pose::new(rotation.unwrap_or(Rotation::IDENTITY), position)
}

/// The pose of an element without defaults.
pub(super) fn plain_pose(c: &Compiler, e: Element<'_>, at: At<'_>, f: &mut Findings) -> Pose {
    let position = numbers::vector(f, e, "pos", at).unwrap_or_default();
    Pose::new(rotation(c, e, at, f).unwrap_or(Rotation::IDENTITY), position)
}

/// The orientation of an element that gives one.
fn rotation(c: &Compiler, e: Element<'_>, at: At<'_>, f: &mut Findings) -> Option<Rotation> {
    let mut given = WAYS.iter().filter(|w| e.attribute(w).is_some());
    let way = *given.next()?;
    if let Some(other) = given.next() {
        let message = format!("both {way} and {other} are given");
        f.error(
            at.seen_at(e.spot_of(other)),
            "orientation",
            message,
            "give one orientation",
        );
        return None;
    }
    let found = match way {
        "quat" => quaternion(numbers::several(f, e, way, at)?),
        "axisangle" => {
            let [x, y, z, angle] = numbers::several(f, e, way, at)?;
            unit(Vec3::new(x, y, z)).map(|axis| Rotation::about(axis, angle * c.angle))
        }
        "xyaxes" => {
            let [a, b, c, d, e, f] = numbers::several(f, e, way, at)?;
            unit(Vec3::new(a, b, c)).and_then(|x| {
                let y = Vec3::new(d, e, f);
                let y = unit(y - x * x.dot(y))?;
                Some(Rotation { x, y, z: x.cross(y) })
            })
        }
        "zaxis" => unit(numbers::vector(f, e, way, at)?).map(facing),
        _ => {
            let angles: [f64; 3] = numbers::several(f, e, way, at)?;
            Some(euler(c.euler, angles.map(|a| a * c.angle)))
        }
    };
    if found.is_none() {
        let message = format!("{way} has no direction");
        f.error(
            at.seen_at(e.spot_of(way)),
            "orientation",
            message,
            "give numbers of some length",
        );
    }
    found
}

fn unit(v: Vec3) -> Option<Vec3> {
    let norm = v.norm();
    (norm > 1e-12 && norm.is_finite()).then(|| v * (1.0 / norm))
}

/// Turns in sequence: about axes that turn along for small letters, about fixed ones for capitals.
pub(super) fn euler(sequence: [u8; 3], angles: [f64; 3]) -> Rotation {
    let mut all = Rotation::IDENTITY;
    for (letter, angle) in sequence.into_iter().zip(angles) {
        let axis = match letter.to_ascii_lowercase() {
            b'x' => Vec3::new(1.0, 0.0, 0.0),
            b'y' => Vec3::new(0.0, 1.0, 0.0),
            _ => Vec3::new(0.0, 0.0, 1.0),
        };
        let turn = Rotation::about(axis, angle);
        all = if letter.is_ascii_lowercase() {
            all * turn
        } else {
            turn * all
        };
    }
    all
}
