//! Axes, limits and passive parameters.

use super::{Draft, Placed, joint_at};
use crate::report::{Findings, Remedy, Severity};
use crate::source::shortened;
use linkwork::model::{Joint, JointKind};
use linkwork::spatial::Vec3;

/// Axes shorter than this are zero.
const SHORTEST_AXIS: f64 = 1e-9;

impl Draft {
    /// Checks every joint on its own.
    pub(super) fn joints(&mut self, f: &mut Findings) {
        for joint in &mut self.joints {
            axis(joint, f);
            limits(joint, f);
            passive(joint, f);
        }
    }
}

fn axis(joint: &mut Placed<Joint>, f: &mut Findings) {
    let (JointKind::Revolute { axis }
    | JointKind::Continuous { axis }
    | JointKind::Prismatic { axis }
    | JointKind::Helical { axis, .. }
    | JointKind::Cylindrical { axis }) = joint.item.kind
    else {
        return;
    };
    if axis.norm() >= SHORTEST_AXIS {
        return;
    }
    let message = format!("the axis {:?} has no direction", axis.to_array());
    let advice = "give a direction, such as 0 0 1";
    if f.judge(
        joint_at(joint),
        "zero-axis",
        message,
        advice,
        Remedy::Repair("it is now 1 0 0"),
    ) == Severity::Error
    {
        return;
    }
    if let JointKind::Revolute { axis }
    | JointKind::Continuous { axis }
    | JointKind::Prismatic { axis }
    | JointKind::Helical { axis, .. }
    | JointKind::Cylindrical { axis } = &mut joint.item.kind
    {
        *axis = Vec3::new(1.0, 0.0, 0.0);
    }
}

fn limits(joint: &mut Placed<Joint>, f: &mut Findings) {
    let mut drop = false;
    for i in 0..joint.item.position_limits.len() {
        let (lower, upper) = joint.item.position_limits[i];
        // Beyond this nothing can be computed.
        let unreachable = |x: f64| x.abs() > 1e30;
        if unreachable(lower) || unreachable(upper) {
            let bound = |x: f64, none| if unreachable(x) { none } else { x };
            let limits = (bound(lower, f64::NEG_INFINITY), bound(upper, f64::INFINITY));
            joint.item.position_limits[i] = limits;
            continue;
        }
        if lower <= upper {
            continue;
        }
        let message = format!("the lower limit {lower} is above the upper limit {upper}");
        let remedy = Remedy::Either("the joint has no position limits now", "they are exchanged now");
        match f.judge(joint_at(joint), "swapped-limits", message, "exchange them", remedy) {
            Severity::Repair => joint.item.position_limits[i] = (upper, lower),
            _ => drop = true,
        }
    }
    if drop {
        joint.item.position_limits.clear();
    }
}

fn passive(joint: &mut Placed<Joint>, f: &mut Findings) {
    let Placed { item, spot } = joint;
    let at = crate::source::At::new(*spot, "joint", &item.name);
    for (what, list) in [
        ("armature", &mut item.armature),
        ("damping", &mut item.damping),
        ("friction", &mut item.friction),
        ("stiffness", &mut item.stiffness),
        ("velocity limit", &mut item.velocity_limit),
        ("effort limit", &mut item.effort_limit),
    ] {
        let Some(x) = list.iter().copied().find(|x| *x < 0.0) else {
            continue;
        };
        let message = format!("the {what} is negative: {}", shortened(&x.to_string()));
        let advice = "give zero or more";
        if f.judge(
            at,
            "negative-parameter",
            message,
            advice,
            Remedy::Change("it is left out"),
        ) < Severity::Error
        {
            list.clear();
        }
    }
}
