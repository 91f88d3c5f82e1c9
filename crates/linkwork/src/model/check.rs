//! What a builder refuses, and why.
//!
//! Everything is checked once, here, in O(N log N) and without recursion; what follows relies on it. Checks run from
//! the outside in: names, then each link, joint and frame on its own, then the tree they make, then what its joints
//! move.

mod inertia;
mod resist;
mod spelling;
mod tree;

pub use spelling::did_you_mean;
pub(crate) use tree::Tree;

use super::configuration::LARGEST_COORDINATE;
use super::{Builder, Joint, JointKind, WORLD};
use crate::spatial::{Pose, Rotation, Vec3};
use crate::{Error, Result};
use std::collections::HashMap;

/// Rotations further than this from right-handed orthonormal axes are refused; nearer ones are made exact.
const ROTATION_TOLERANCE: f64 = 1e-6;
/// Rotations nearer than this are left as they are.
const ROTATION_ROUNDING: f64 = 1e-14;
/// Axes shorter than this are zero.
const SHORTEST_AXIS: f64 = 1e-9;
/// Universal axes whose angle has a smaller sine are parallel.
const PARALLEL: f64 = 1e-6;

/// Checks everything, makes near-rotations exact, and gives the tree.
pub(crate) fn check(given: &mut Builder) -> Result<Tree> {
    let tree = shape(given)?;
    match resist::unresisted(given, &tree).first() {
        None => Ok(tree),
        Some(&(j, index)) => Err(Error::NoInertia {
            joint: given.joints[j].name.clone(),
            index,
            link: given.joints[j].child.clone(),
        }),
    }
}

/// All joints that nothing gives inertia to.
pub(crate) fn unresisted(given: &mut Builder) -> Result<Vec<(usize, usize)>> {
    let tree = shape(given)?;
    Ok(resist::unresisted(given, &tree))
}

/// Everything but what joints move.
fn shape(given: &mut Builder) -> Result<Tree> {
    if let Some(fault) = &given.fault {
        return Err(fault.clone());
    }
    if !usable(given.gravity) {
        return Err(Error::Gravity {
            gravity: given.gravity.to_array(),
        });
    }
    let links = names(given)?;
    for link in &given.links {
        inertia::check(link, given.trust)?;
    }
    for joint in &mut given.joints {
        joint.origin = pose("joint", "origin", &joint.name, joint.origin)?;
        kind(joint)?;
        passive(joint)?;
        limits(joint)?;
    }
    for frame in &mut given.frames {
        frame.pose = pose("frame", "pose", &frame.name, frame.pose)?;
    }
    Tree::new(given, &links)
}

/// Every name is there and is one thing's only; gives the links by name.
fn names(given: &Builder) -> Result<HashMap<String, usize>> {
    let usable = |what, index, name: &str| {
        let problem = match name {
            "" => "give it one",
            WORLD => "that is the fixed frame every mechanism stands in; take another name",
            _ => return Ok(()),
        };
        let name = name.to_owned();
        Err(Error::Name {
            what,
            index,
            name,
            problem,
        })
    };
    let duplicate = |first, second, name: &str, rule| Error::Duplicate {
        first,
        second,
        name: name.to_owned(),
        rule,
    };
    const BODIES: &str = "names of links and frames must all differ";
    let mut links = HashMap::with_capacity(given.links.len());
    for (i, link) in given.links.iter().enumerate() {
        usable("link", i, &link.name)?;
        if links.insert(link.name.clone(), i).is_some() {
            return Err(duplicate("link", "link", &link.name, BODIES));
        }
    }
    let mut joints = HashMap::with_capacity(given.joints.len());
    for (i, joint) in given.joints.iter().enumerate() {
        if joint.name.is_empty() {
            usable("joint", i, "")?;
        }
        if joints.insert(joint.name.as_str(), i).is_some() {
            return Err(duplicate(
                "joint",
                "joint",
                &joint.name,
                "names of joints must all differ",
            ));
        }
    }
    let mut frames = HashMap::with_capacity(given.frames.len());
    for (i, frame) in given.frames.iter().enumerate() {
        usable("frame", i, &frame.name)?;
        if links.contains_key(&frame.name) {
            return Err(duplicate("link", "frame", &frame.name, BODIES));
        }
        if frames.insert(frame.name.as_str(), i).is_some() {
            return Err(duplicate("frame", "frame", &frame.name, BODIES));
        }
    }
    Ok(links)
}

/// A rigid displacement, made exact where it is nearly one.
fn pose(what: &'static str, part: &'static str, name: &str, pose: Pose) -> Result<Pose> {
    let fail = |problem: String| {
        let name = name.to_owned();
        Err(Error::Pose {
            what,
            name,
            part,
            problem,
        })
    };
    if !usable(pose.translation) {
        return fail(format!(
            "has translation {:?}; every component must be finite and at most 1e30 m",
            pose.translation.to_array()
        ));
    }
    let defect = pose.rotation.defect();
    if defect > ROTATION_TOLERANCE {
        return fail(format!(
            "has a rotation that is {defect:e} away from right-handed orthonormal axes; give a proper rotation, \
             for example with Rotation::from_rpy or Rotation::about"
        ));
    }
    let rotation = if defect > ROTATION_ROUNDING {
        Rotation::from_quaternion(pose.rotation.to_quaternion())
    } else {
        pose.rotation
    };
    Ok(Pose { rotation, ..pose })
}

fn bad(joint: &Joint, problem: String) -> Error {
    Error::Joint {
        joint: joint.name.clone(),
        problem,
    }
}

/// Axes and pitch.
fn kind(joint: &Joint) -> Result<()> {
    let check_axis = |axis: Vec3| {
        if !axis.is_finite() {
            return Err(bad(joint, format!("its axis {:?} must be finite", axis.to_array())));
        }
        let norm = axis.norm();
        if norm < SHORTEST_AXIS || !norm.is_finite() {
            let problem = format!(
                "its axis {:?} has length {norm:e}; give a direction, such as [0.0, 0.0, 1.0]",
                axis.to_array()
            );
            return Err(bad(joint, problem));
        }
        Ok(axis * (1.0 / norm))
    };
    match joint.kind {
        JointKind::Revolute { axis }
        | JointKind::Continuous { axis }
        | JointKind::Prismatic { axis }
        | JointKind::Cylindrical { axis } => check_axis(axis).map(|_| ()),
        JointKind::Helical { axis, pitch } => {
            check_axis(axis)?;
            if pitch.abs() <= LARGEST {
                return Ok(());
            }
            let problem = format!("its pitch is {pitch}; give the advance in metres per radian");
            Err(bad(joint, problem))
        }
        JointKind::Universal { axes: [first, second] } => {
            let (first, second) = (check_axis(first)?, check_axis(second)?);
            if first.cross(second).norm() > PARALLEL {
                return Ok(());
            }
            let problem = "its two axes are parallel; give two directions, or make it a revolute joint";
            Err(bad(joint, problem.to_owned()))
        }
        JointKind::Fixed | JointKind::Planar | JointKind::Translation | JointKind::Spherical | JointKind::Free => {
            Ok(())
        }
    }
}

/// A list is empty, holds one number for all degrees of freedom, or one each.
fn length(joint: &Joint, list: &'static str, given: usize) -> Result<()> {
    let nv = joint.kind.nv();
    if given == 0 || given == nv || (given == 1 && nv > 0) {
        return Ok(());
    }
    let needed = match nv {
        0 => "none".to_owned(),
        1 => "none or 1".to_owned(),
        n => format!("none, 1 for all degrees of freedom, or {n}"),
    };
    Err(wrong_length(joint, list, given, needed))
}

pub(crate) fn wrong_length(joint: &Joint, list: &'static str, given: usize, needed: String) -> Error {
    Error::JointLength {
        joint: joint.name.clone(),
        kind: joint.kind.name(),
        list,
        given,
        needed,
    }
}

/// Armature, damping, friction and spring.
fn passive(joint: &Joint) -> Result<()> {
    let lists = [
        ("armature", &joint.armature),
        ("damping", &joint.damping),
        ("friction", &joint.friction),
        ("stiffness", &joint.stiffness),
    ];
    for (list, numbers) in lists {
        length(joint, list, numbers.len())?;
        if let Some(x) = numbers.iter().find(|x| !(x.is_finite() && **x >= 0.0)) {
            return Err(bad(
                joint,
                format!("its {list} is {x}; give a finite number, zero or more"),
            ));
        }
    }
    let nq = joint.kind.nq();
    if !joint.rest.is_empty() && joint.rest.len() != nq {
        let needed = format!("none or {nq}, one per coordinate of q");
        return Err(wrong_length(joint, "rest", joint.rest.len(), needed));
    }
    if let Some(x) = joint.rest.iter().find(|x| x.is_nan() || x.abs() > LARGEST_COORDINATE) {
        let problem = format!(
            "its rest position holds {x}; every number must be finite, and at most {LARGEST_COORDINATE:e} in size"
        );
        return Err(bad(joint, problem));
    }
    if joint.kind.has_quaternion() && !joint.rest.is_empty() {
        let norm = joint.rest[..4].iter().map(|x| x * x).sum::<f64>().sqrt();
        if (norm - 1.0).abs() > super::configuration::QUATERNION_TOLERANCE {
            let problem =
                format!("its rest position starts with a quaternion of length {norm}; normalise it (x, y, z, w)");
            return Err(bad(joint, problem));
        }
    }
    Ok(())
}

/// Limits on position, velocity and effort. Infinite ones are no limit; NaN is refused.
fn limits(joint: &Joint) -> Result<()> {
    length(joint, "position_limits", joint.position_limits.len())?;
    for &(lower, upper) in &joint.position_limits {
        let possible = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
        if !possible {
            let problem = format!("its position limits are {lower} to {upper}; give the lower one first");
            return Err(bad(joint, problem));
        }
        let limited = lower.is_finite() || upper.is_finite();
        if limited && matches!(joint.kind, JointKind::Continuous { .. }) {
            let problem =
                format!("it is continuous but limited to {lower} to {upper}; make it revolute or drop the limits");
            return Err(bad(joint, problem));
        }
    }
    let lists = [
        ("velocity_limit", &joint.velocity_limit),
        ("effort_limit", &joint.effort_limit),
    ];
    for (list, numbers) in lists {
        length(joint, list, numbers.len())?;
        if let Some(x) = numbers.iter().find(|x| x.is_nan() || **x < 0.0) {
            return Err(bad(
                joint,
                format!("its {list} is {x}; give zero or more, infinity for none"),
            ));
        }
    }
    Ok(())
}

/// The largest length, mass or inertia that makes sense: products of a few such numbers do not overflow.
pub(super) const LARGEST: f64 = 1e30;

/// Whether a vector can be computed with.
pub(super) fn usable(v: Vec3) -> bool {
    v.to_array().iter().all(|x| x.abs() <= LARGEST)
}
