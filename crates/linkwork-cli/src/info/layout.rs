//! What the numbers of q and v are, and in which order other libraries have the joints.

use crate::style::pad;
use anyhow::Result;
use clap::ValueEnum;
use linkwork::model::JointKind;
use linkwork_formats::{Order, Robot, joint_order};
use serde::Serialize;
use std::io::Write;
use std::ops::Range;

/// Another library, whose order of joints is listed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Library {
    /// Depth first, joints on one link in the order of the file.
    Mujoco,
    /// Depth first, by the names of joints.
    Pinocchio,
    /// Depth first, in the order of the file, and free bodies last.
    Drake,
}

impl Library {
    fn order(self) -> (Order, &'static str) {
        match self {
            Self::Mujoco => (Order::Mujoco, "MuJoCo"),
            Self::Pinocchio => (Order::Pinocchio, "Pinocchio"),
            Self::Drake => (Order::Drake, "Drake"),
        }
    }
}

/// Names of the coordinates of a joint, and of their rates.
pub(super) fn coordinates(kind: JointKind) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        JointKind::Fixed => (&[], &[]),
        JointKind::Revolute { .. } | JointKind::Continuous { .. } | JointKind::Helical { .. } => {
            (&["angle"], &["rate"])
        }
        JointKind::Prismatic { .. } => (&["distance"], &["speed"]),
        JointKind::Cylindrical { .. } => (&["angle", "distance"], &["rate", "speed"]),
        JointKind::Universal { .. } => (&["angle 1", "angle 2"], &["rate 1", "rate 2"]),
        JointKind::Planar => (&["angle", "x", "y"], &["ωz", "vx", "vy"]),
        JointKind::Translation => (&["x", "y", "z"], &["vx", "vy", "vz"]),
        JointKind::Spherical => (&["qx", "qy", "qz", "qw"], &["ωx", "ωy", "ωz"]),
        JointKind::Free => (
            &["qx", "qy", "qz", "qw", "x", "y", "z"],
            &["ωx", "ωy", "ωz", "vx", "vy", "vz"],
        ),
    }
}

/// What q and v of joints with several coordinates are; nothing of others.
fn words(kind: JointKind) -> Option<&'static str> {
    Some(match kind {
        JointKind::Free => {
            "q is the quaternion x y z w, then the position x y z, from the joint's origin; v is the angular velocity, then the \
             linear one, in the link's axes"
        }
        JointKind::Spherical => "q is the quaternion x y z w; v is the angular velocity in the link's axes",
        JointKind::Planar => "q is the angle, then x y; v is the rate, then the velocity in the link's axes",
        JointKind::Translation => "q is the position x y z; v is the velocity along the axes of the joint's origin",
        JointKind::Cylindrical { .. } => "q is the angle, then the distance",
        JointKind::Universal { .. } => "q is the angle about the first axis, then that about the second",
        _ => return None,
    })
}

/// A line for each kind of joint that has several coordinates.
pub(super) fn legend(out: &mut impl Write, robot: &Robot) -> Result<()> {
    let mut said: Vec<&str> = Vec::new();
    for joint in robot.mechanism.joints() {
        let name = joint.kind.name();
        if let Some(words) = words(joint.kind).filter(|_| !said.contains(&name)) {
            said.push(name);
            writeln!(out, "{name}: {words}")?;
        }
    }
    Ok(())
}

/// Joints as another library orders them, and where their coordinates are here.
#[derive(Serialize)]
pub(super) struct Listed<'a> {
    library: &'static str,
    joints: Vec<&'a str>,
    /// Places in v here, in the library's order of joints.
    v: Vec<usize>,
}

impl<'a> Listed<'a> {
    pub(super) fn new(library: Library, robot: &'a Robot) -> Self {
        let (order, name) = library.order();
        let places = places(order, robot);
        Self {
            library: name,
            joints: places.iter().map(|(name, ..)| *name).collect(),
            v: places.into_iter().flat_map(|(_, _, v)| v).collect(),
        }
    }
}

/// Names of joints with coordinates, and where these are.
fn places(order: Order, robot: &Robot) -> Vec<(&str, Range<usize>, Range<usize>)> {
    let m = &robot.mechanism;
    let all: Vec<_> = m.layout().collect();
    let listed = joint_order(m, order).into_iter();
    let listed = listed.map(|j| (all[j].0.name.as_str(), all[j].1.clone(), all[j].2.clone()));
    listed.filter(|(_, _, v)| !v.is_empty()).collect()
}

/// The same as lines.
pub(super) fn list(out: &mut impl Write, library: Library, robot: &Robot) -> Result<()> {
    let (order, name) = library.order();
    let places = places(order, robot);
    let width = places
        .iter()
        .map(|(name, ..)| name.chars().count())
        .max()
        .unwrap_or(0)
        .min(40);
    writeln!(
        out,
        "\n{}",
        crate::style::paint(crate::style::HEAD, &format!("joints in the order of {name}"))
    )?;
    for (i, (joint, q, v)) in places.into_iter().enumerate() {
        let (q, v) = (format!("{}..{}", q.start, q.end), format!("{}..{}", v.start, v.end));
        let line = format!("{i:>4}  {}  here q {}  v {}", pad(joint, width), pad(&q, 8), pad(&v, 8));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
