//! Joints as they are written: how they move, about what, and what resists them.

use super::expand::{Expansion, JointItem};
use super::frames::Direction;
use super::text;
use crate::report::Findings;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::model::Joint;
use linkwork::spatial::Vec3;
use std::f64::consts::TAU;

const TYPES: &str = "types are revolute, continuous, prismatic, ball, universal, fixed, screw, gearbox and revolute2";

/// How a joint moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Motion {
    Fixed,
    Revolute(Direction),
    Continuous(Direction),
    Prismatic(Direction),
    /// An axis, and metres per radian along it.
    Screw(Direction, f64),
    Universal([Direction; 2]),
    Ball,
    /// Drake's: a frame stays in the x–y plane of another. The nodes of both, the one that moves last.
    Planar([usize; 2]),
    /// No joint, but gears between two others: their axes and the ratio.
    Gearbox([Direction; 2], f64),
}

/// Reads the type of a joint and its axes; what is wrong is reported.
pub(super) fn motion(x: &Expansion<'_>, item: &JointItem<'_>, f: &mut Findings) -> Option<Motion> {
    let e = item.e;
    let at = At::new(e.spot(), "joint", &x.nodes[item.node].name);
    let mut axis = |name: &str| axis(x, item, name, at, f);
    let written = e.attribute("type").unwrap_or_default();
    let motion = match &*written {
        "fixed" => Motion::Fixed,
        "ball" => Motion::Ball,
        "planar" if e.name() == "drake:joint" => {
            // Both ends were found when the joint was met.
            let node = |name: &str| x.find(item.node, name);
            Motion::Planar([node(&item.parent)?, node(&item.child)?])
        }
        "revolute" => Motion::Revolute(axis("axis")),
        "continuous" => Motion::Continuous(axis("axis")),
        "prismatic" => Motion::Prismatic(axis("axis")),
        // The first axis keeps to the parent, the second to the child, of both kinds.
        "universal" | "revolute2" => Motion::Universal([axis("axis"), axis("axis2")]),
        "screw" => {
            let axis = axis("axis");
            Motion::Screw(axis, pitch(e, at, f))
        }
        "gearbox" => {
            let first = axis("axis");
            let second = if e.child("axis2").is_some() {
                axis("axis2")
            } else {
                first
            };
            let ratio = text::number(f, e, "gearbox_ratio", at).unwrap_or(1.0);
            Motion::Gearbox([first, second], ratio)
        }
        "" => {
            f.error(at, "joint-type", "the joint has no type", TYPES);
            return None;
        }
        other => {
            let message = format!("unknown joint type `{}`", shortened(other));
            f.error(at.seen_at(e.spot_of("type")), "joint-type", message, TYPES);
            return None;
        }
    };
    Some(motion)
}

/// Metres per radian of a screw.
///
/// `<screw_thread_pitch>` is metres per turn, right-handed. The older `<thread_pitch>` is radians per metre, with the
/// other sign, as Gazebo has it.
fn pitch(e: Element<'_>, at: At<'_>, f: &mut Findings) -> f64 {
    if let Some(pitch) = text::number(f, e, "screw_thread_pitch", at) {
        return pitch / TAU;
    }
    match text::number(f, e, "thread_pitch", at) {
        Some(pitch) if pitch != 0.0 => -1.0 / pitch,
        Some(_) => {
            let message = "a thread pitch of zero, in radians per metre, has no end";
            f.error(
                at,
                "thread-pitch",
                message,
                "give <screw_thread_pitch> in metres per turn",
            );
            0.0
        }
        None => {
            f.doubt(
                at,
                "thread-pitch",
                "the screw has no pitch; it is 1 m per turn",
                "add <screw_thread_pitch>",
            );
            1.0 / TAU
        }
    }
}

/// An axis.
fn axis(x: &Expansion<'_>, item: &JointItem<'_>, name: &str, at: At<'_>, f: &mut Findings) -> Direction {
    let z = Vec3::new(0.0, 0.0, 1.0);
    let Some(e) = item.e.child(name) else {
        let message = format!("the joint has no <{name}>; it is z");
        f.doubt(at, "missing-axis", message, "add one");
        return Direction {
            node: item.node,
            along: z,
        };
    };
    let given = text::vector(f, e, "xyz", at).unwrap_or(z);
    if given.norm() < 1e-9 {
        let message = format!("the axis {:?} has no direction", given.to_array());
        f.error(
            at.seen_at(e.spot()),
            "zero-axis",
            message,
            "give a direction, such as 0 0 1",
        );
    }
    let expressed_in = e
        .child("xyz")
        .and_then(|v| v.attribute("expressed_in"))
        .filter(|n| !n.is_empty());
    let node = match expressed_in {
        Some(name) => match x.find(item.node, &name) {
            Some(node) => node,
            None => {
                let message = format!(
                    "its axis is expressed in `{}`, which does not exist here",
                    shortened(&name)
                );
                f.error(at.seen_at(e.spot()), "missing-frame", message, "correct the name");
                item.node
            }
        },
        None => {
            // Before 1.5 axes were always the model's.
            let old = item.version < (1, 5);
            let by_model = e.child("use_parent_model_frame").and_then(|u| text::flag(f, u, at));
            if by_model.unwrap_or(old) {
                x.nodes[item.node].model
            } else {
                item.node
            }
        }
    };
    Direction { node, along: given }
}

/// Reads limits, springs and losses of each of a joint's axes.
pub(super) fn resistances(item: &JointItem<'_>, joint: &mut Joint, f: &mut Findings) {
    let (e, name) = (item.e, joint.name.clone());
    let at = At::new(e.spot(), "joint", &name);
    let nv = joint.kind.nv();
    if nv == 0 || nv > 2 {
        return;
    }
    let axes: Vec<_> = ["axis", "axis2"].into_iter().take(nv).map(|n| e.child(n)).collect();
    let mut number = |part: &str, name: &str| -> Vec<f64> {
        let each = axes
            .iter()
            .map(|a| a.and_then(|a| a.child(part)).and_then(|p| text::number(f, p, name, at)));
        each.map(|x| x.unwrap_or(0.0)).collect()
    };
    let given = |list: &[f64]| list.iter().any(|x| *x != 0.0);
    let (damping, friction) = (number("dynamics", "damping"), number("dynamics", "friction"));
    let (stiffness, rest) = (
        number("dynamics", "spring_stiffness"),
        number("dynamics", "spring_reference"),
    );
    for (slot, list) in [
        (&mut joint.damping, damping),
        (&mut joint.friction, friction),
        (&mut joint.stiffness, stiffness),
    ] {
        if given(&list) {
            *slot = list;
        }
    }
    if !joint.stiffness.is_empty() && given(&rest) {
        joint.rest = rest;
    }
    let rotor = text::number(f, e, "drake:rotor_inertia", at).unwrap_or(0.0);
    let ratio = text::number(f, e, "drake:gear_ratio", at).unwrap_or(1.0);
    if rotor != 0.0 && nv == 1 {
        joint.armature.push(rotor * ratio * ratio);
    }
    limits(&axes, joint, at, f);
}

fn limits(axes: &[Option<Element<'_>>], joint: &mut Joint, at: At<'_>, f: &mut Findings) {
    let mut bound = |name: &str, none: f64| -> Vec<f64> {
        let each = axes.iter().map(|a| {
            a.and_then(|a| a.child("limit"))
                .and_then(|l| text::limit(f, l, name, at))
        });
        each.map(|x| x.unwrap_or(none)).collect()
    };
    let (lower, upper) = (bound("lower", f64::NEG_INFINITY), bound("upper", f64::INFINITY));
    // Less than zero, as by default, is without end.
    let endless = |x: f64| if x < 0.0 { f64::INFINITY } else { x };
    let [effort, velocity] =
        ["effort", "velocity"].map(|n| bound(n, -1.0).into_iter().map(endless).collect::<Vec<_>>());
    let finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
    if finite(&effort) {
        joint.effort_limit = effort;
    }
    if finite(&velocity) {
        joint.velocity_limit = velocity;
    }
    if matches!(joint.kind, linkwork::model::JointKind::Continuous { .. }) {
        return;
    }
    if lower.iter().chain(&upper).any(|x| x.is_finite()) {
        joint.position_limits = lower.into_iter().zip(upper).collect();
    }
    if let Some((lower, _)) = joint.position_limits.iter().find(|(l, u)| l == u) {
        let message = format!("its limits are {lower} to {lower}: it cannot move");
        f.doubt(at, "no-range", message, "give lower and upper, or make it fixed");
    }
}
