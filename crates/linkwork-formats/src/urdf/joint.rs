//! Joints of URDF.

use super::{only, origin};
use crate::draft::{Draft, Placed};
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::robot::FileCoupling;
use crate::rotations::facing;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::model::{Joint, JointKind, Link};
use linkwork::spatial::{Pose, Rotation, Vec3};

const TYPES: &str = "types are revolute, continuous, prismatic, fixed, floating and planar";

/// Adds a joint to the draft.
pub(super) fn read(e: Element<'_>, draft: &mut Draft, f: &mut Findings) {
    let at = e.at();
    // Some files have stray elements of old transmissions: a joint connects two links.
    let end = |name: &str, f: &mut Findings| {
        let end = only(e, name, at, f);
        end.and_then(|e| e.attribute("link")).unwrap_or_default().into_owned()
    };
    let (parent, child) = (end("parent", f), end("child", f));
    let axis = match only(e, "axis", at, f) {
        Some(axis) if axis.attribute("xyz").is_some() => numbers::vector(f, axis, "xyz", at),
        _ => None,
    };
    let axis = axis.unwrap_or(Vec3::new(1.0, 0.0, 0.0));
    let written = e.attribute("type").unwrap_or_default();
    let kind = match &*written {
        "revolute" => JointKind::Revolute { axis },
        "continuous" => JointKind::Continuous { axis },
        "prismatic" => JointKind::Prismatic { axis },
        "fixed" => JointKind::Fixed,
        "floating" => JointKind::Free,
        "planar" => JointKind::Planar,
        "" => {
            f.error(at, "joint-type", "the joint has no type", TYPES);
            return;
        }
        other => {
            f.error(
                at.seen_at(e.spot_of("type")),
                "joint-type",
                format!("unknown joint type `{}`", shortened(other)),
                TYPES,
            );
            return;
        }
    };
    let name = e.attribute("name").unwrap_or_default().into_owned();
    let mut joint = Joint::new(name, kind).between(parent, child).placed(origin(e, at, f));
    if kind.nv() > 0 {
        limit(e, at, &mut joint, f);
        dynamics(e, at, &mut joint, f);
        mimic(e, at, &joint, draft, f);
    }
    let spot = e.spot();
    if kind == JointKind::Planar {
        let facing = facing(axis);
        if facing != Rotation::IDENTITY {
            // The library's planar joints move in the x–y plane: turn to it, and back after the joint.
            let between = format!("{}_plane", joint.child);
            let turn = Pose::from_rotation(facing);
            let back = Joint::fixed(format!("{}_back", joint.name));
            let back = back.between(&between, &joint.child).placed(turn.inverse());
            joint.origin = joint.origin * turn;
            joint.child.clone_from(&between);
            draft.joints.push(Placed { item: joint, spot });
            draft.links.push(Placed {
                item: Link::massless(between),
                spot,
            });
            draft.joints.push(Placed { item: back, spot });
            return;
        }
    }
    draft.joints.push(Placed { item: joint, spot });
}

fn limit(e: Element<'_>, at: At<'_>, joint: &mut Joint, f: &mut Findings) {
    let limited = matches!(joint.kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
    let Some(limit) = only(e, "limit", at, f) else {
        if limited {
            f.doubt(
                at,
                "missing-limit",
                "the joint has no <limit>: it moves without bounds",
                "add one, or make it continuous",
            );
        }
        return;
    };
    let mut number = |name| numbers::limit(f, limit, name, at);
    let (lower, upper) = (number("lower"), number("upper"));
    let (velocity, effort) = (number("velocity"), number("effort"));
    if limited {
        let (lower, upper) = (lower.unwrap_or(0.0), upper.unwrap_or(0.0));
        if lower == upper {
            let message = format!("its limits are {lower} to {upper}: it cannot move");
            f.doubt(
                at.seen_at(limit.spot()),
                "no-range",
                message,
                "give lower and upper, or make it fixed",
            );
        }
        if lower.is_finite() || upper.is_finite() {
            joint.position_limits = vec![(lower, upper)];
        }
    }
    joint.velocity_limit.extend(velocity.filter(|x| x.is_finite()));
    joint.effort_limit.extend(effort.filter(|x| x.is_finite()));
}

fn dynamics(e: Element<'_>, at: At<'_>, joint: &mut Joint, f: &mut Findings) {
    let Some(dynamics) = only(e, "dynamics", at, f) else {
        return;
    };
    let mut number = |name| numbers::number(f, dynamics, name, at, Range::Usable).filter(|x| *x != 0.0);
    joint.damping.extend(number("damping"));
    joint.friction.extend(number("friction"));
    joint.armature.extend(number("armature"));
    if let Some(stiffness) = number("spring_stiffness") {
        joint.stiffness.push(stiffness);
        joint
            .rest
            .extend(number("spring_reference").filter(|_| joint.kind.nq() == 1));
    }
}

fn mimic(e: Element<'_>, at: At<'_>, joint: &Joint, draft: &mut Draft, f: &mut Findings) {
    let Some(mimic) = only(e, "mimic", at, f) else { return };
    let mut number = |name, default| numbers::number(f, mimic, name, at, Range::Usable).unwrap_or(default);
    let coefficients = vec![number("offset", 0.0), number("multiplier", 1.0)];
    draft.couplings.push(Placed {
        item: FileCoupling {
            name: String::new(),
            follower: joint.name.clone(),
            leader: Some(mimic.attribute("joint").unwrap_or_default().into_owned()),
            coefficients,
        },
        spot: mimic.spot(),
    });
}
