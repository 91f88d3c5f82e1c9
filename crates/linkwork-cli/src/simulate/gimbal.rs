//! Where three joints about one point lose a direction, and nothing between them has mass.

use linkwork::Mechanism;
use linkwork::model::{Joint, JointKind};
use linkwork::spatial::{Inertia, Rotation, Vec3};
use std::collections::HashMap;
use std::f64::consts::{PI, TAU};

/// So near to a limit it is within what a stop gives way by, in radians.
const NEAR: f64 = 0.02;
/// Directions and points that differ by less are the same.
const SAME: f64 = 1e-6;

/// Three joints, the second of which brings the axes of the others into one line.
#[derive(Debug, PartialEq)]
pub(super) struct Lock {
    pub(super) joints: [String; 3],
    /// Where the second is then, in radians.
    pub(super) angle: f64,
}

impl core::fmt::Display for Lock {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let [first, middle, last] = &self.joints;
        write!(
            f,
            "at {:.4} of joint `{middle}` the axes of `{first}` and `{last}` are one, and since the links between have no mass \
             nothing resists them: accelerations grow without bound as it comes there",
            self.angle
        )
    }
}

fn axis(joint: &Joint) -> Option<Vec3> {
    match joint.kind {
        JointKind::Revolute { axis } | JointKind::Continuous { axis } => Some(axis * (1.0 / axis.norm())),
        _ => None,
    }
}

/// All of a mechanism, within its limits.
pub(super) fn locks(m: &Mechanism) -> Vec<Lock> {
    let mut on: HashMap<&str, Vec<&Joint>> = HashMap::new();
    m.joints().iter().for_each(|j| on.entry(&j.parent).or_default().push(j));
    let light: HashMap<&str, bool> = m
        .links()
        .iter()
        .map(|l| (&*l.name, l.inertia == Inertia::ZERO))
        .collect();
    let next = |joint: &Joint| match (light.get(&*joint.child), on.get(&*joint.child).map(Vec::as_slice)) {
        (Some(true), Some(&[only])) => Some(only),
        _ => None,
    };
    let turns = |joint: &Joint| joint.armature.iter().any(|a| *a != 0.0);
    let mut found = Vec::new();
    for first in m.joints().iter().filter(|j| !turns(j)) {
        let Some(middle) = next(first) else { continue };
        let Some(last) = next(middle).filter(|j| !turns(j)) else {
            continue;
        };
        found.extend(angles(first, middle, last).into_iter().map(|angle| Lock {
            joints: [first, middle, last].map(|j| j.name.clone()),
            angle,
        }));
    }
    found
}

/// Where the second joint brings the axes of the others into one line, if anywhere within its limits.
fn angles(first: &Joint, middle: &Joint, last: &Joint) -> Vec<f64> {
    let (Some(a), Some(b), Some(c)) = (axis(first), axis(middle), axis(last)) else {
        return Vec::new();
    };
    // All seen from the frame that the second joint turns.
    let a = middle.origin.rotation.inverse_mul(a);
    let on_a = middle.origin.inverse().translation;
    let (c, on_c) = (last.origin.rotation * c, last.origin.translation);
    let across = |x: Vec3| x - b * b.dot(x);
    let (lower, upper) = middle.position_limits.first().copied().unwrap_or((-PI, PI));
    let mut found = Vec::new();
    for sign in [1.0, -1.0] {
        let wanted = a * sign;
        let (from, to) = (across(c), across(wanted));
        if (b.dot(c) - b.dot(wanted)).abs() > SAME || from.norm() < SAME {
            continue;
        }
        let angle = b.dot(from.cross(to)).atan2(from.dot(to));
        let there = Rotation::about(b, angle) * on_c - on_a;
        let apart = there - a * a.dot(there);
        let within = [angle - TAU, angle, angle + TAU];
        let within = within.into_iter().find(|x| *x >= lower - NEAR && *x <= upper + NEAR);
        found.extend(within.filter(|_| apart.norm() < SAME));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::model::Link;

    fn hip(limit: f64, mass: f64) -> Mechanism {
        let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]];
        Mechanism::builder("hip")
            .link(Link::massless("a"))
            .link(Link::new("b", Inertia::cuboid(mass, [0.1; 3])))
            .link(Link::new("leg", Inertia::cuboid(1.0, [0.1, 0.2, 0.3])))
            .joint(Joint::revolute("Z", z).between("world", "a"))
            .joint(Joint::revolute("X", x).between("a", "b").position_limits(-1.0, limit))
            .joint(Joint::revolute("Y", y).between("b", "leg"))
            .build()
            .expect("it is sound")
    }

    #[test]
    fn a_hip_of_three_axes_locks_at_a_right_angle() {
        let found = locks(&hip(1.570795, 0.0));
        assert_eq!(found.len(), 1);
        assert!((found[0].angle - PI / 2.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found[0].joints, ["Z", "X", "Y"]);
        // There the mass matrix is singular; elsewhere it is not.
        let m = hip(1.6, 0.0);
        let det = |x: f64| m.workspace().at(&[0.3, x, 0.2]).and_then(|mut at| at.log_det_mass());
        assert!(det(0.5).is_ok_and(|d| d > -30.0));
        assert!(det(PI / 2.0).map_or(true, |d| d < -40.0), "{:?}", det(PI / 2.0));
    }

    #[test]
    fn limits_and_masses_keep_joints_from_it() {
        assert_eq!(locks(&hip(1.5, 0.0)), []);
        assert_eq!(locks(&hip(1.6, 0.1)), []);
    }
}
