//! Whether something resists every joint.
//!
//! A degree of freedom without inertia makes the mass matrix singular. Most joints move a link whose own inertia
//! settles the matter. For the rest the Riccati equation runs inward on dense 6×6 matrices at generic configurations:
//! the determinant of the mass matrix is analytic in q, so that what is singular at a generic configuration is singular
//! at all of them, while a momentary alignment is not refused.

use super::Tree;
use crate::model::builder::per_dof;
use crate::model::configuration::Generator;
use crate::model::{Builder, Joint, JointKind};
use crate::spatial::{Inertia, Motion, Pose, RigidBody};

/// Pivots below this part of their scale are nought.
const OWN: f64 = 1e-9;
const ARTICULATED: f64 = 1e-12;

type Six = [[f64; 6]; 6];

/// The joints that nothing resists at any configuration, and the first such degree of freedom in each.
pub(super) fn unresisted(given: &Builder, tree: &Tree) -> Vec<(usize, usize)> {
    let own = merged(given, tree);
    let doubtful = |l: &usize| {
        let joint = &given.joints[tree.inboard[*l]];
        let columns = freedoms(joint.kind, &joint.kind.neutral());
        pivot(&dense(&RigidBody::from(&own[*l])), &columns, &armature(joint), OWN).is_some()
    };
    if !tree.outward.iter().any(doubtful) {
        return Vec::new();
    }
    let (first, second) = (Some(1), Some(2));
    let mut suspects = sweep(given, tree, first);
    if suspects.is_empty() {
        return suspects;
    }
    let again = sweep(given, tree, second);
    suspects.retain(|s| again.binary_search(s).is_ok());
    if suspects.is_empty() || sweep(given, tree, None).is_empty() {
        return Vec::new();
    }
    suspects
}

/// Per link, its inertia with everything welded to it.
fn merged(given: &Builder, tree: &Tree) -> Vec<Inertia> {
    let mut own: Vec<Inertia> = given.links.iter().map(|l| l.inertia).collect();
    for &l in tree.outward.iter().rev() {
        let joint = &given.joints[tree.inboard[l]];
        if let (JointKind::Fixed, Some(p)) = (joint.kind, tree.parent[l]) {
            own[p] = own[p].with(&own[l].seen_from(&joint.origin));
        }
    }
    own
}

/// Joints, and degrees of freedom in them, that nothing resists at a random configuration, or at the neutral one.
fn sweep(given: &Builder, tree: &Tree, seed: Option<u64>) -> Vec<(usize, usize)> {
    let mut random = Generator::new(seed.unwrap_or_default());
    let mut p: Vec<Six> = given
        .links
        .iter()
        .map(|l| dense(&RigidBody::from(&l.inertia)))
        .collect();
    let mut found = Vec::new();
    for &l in tree.outward.iter().rev() {
        let j = tree.inboard[l];
        let joint = &given.joints[j];
        let q = match seed {
            Some(_) => random.configuration(joint.kind, &[]),
            None => joint.kind.neutral(),
        };
        let (columns, armature) = (freedoms(joint.kind, &q), armature(joint));
        let mut p_plus = p[l];
        match pivot(&p_plus, &columns, &armature, ARTICULATED) {
            // Left locked, so that the joints further in are judged on their own.
            Some(index) => found.push((j, index)),
            None => project(&mut p_plus, &columns, &armature),
        }
        if let Some(parent) = tree.parent[l] {
            carry(&mut p[parent], &p_plus, &(joint.origin * joint.kind.pose(&q)));
        }
    }
    found.sort_unstable();
    found
}

fn armature(joint: &Joint) -> Vec<f64> {
    per_dof(&joint.armature, joint.kind.nv(), 0.0)
}

/// H*: the motion of the link, in its own frame, for a unit rate of each degree of freedom.
fn freedoms(kind: JointKind, q: &[f64]) -> Vec<[f64; 6]> {
    let turn = |axis: [f64; 3]| Motion::new(axis, [0.0; 3]).to_array();
    let slide = |axis: [f64; 3]| Motion::new([0.0; 3], axis).to_array();
    let unit = |axis: crate::spatial::Vec3| axis * (1.0 / axis.norm());
    let axes = |picked: &[usize]| {
        picked
            .iter()
            .map(|&i| core::array::from_fn(|k| f64::from(k == i)))
            .collect()
    };
    match kind {
        JointKind::Fixed => Vec::new(),
        JointKind::Revolute { axis } | JointKind::Continuous { axis } => vec![turn(unit(axis).into())],
        JointKind::Prismatic { axis } => vec![slide(unit(axis).into())],
        JointKind::Helical { axis, pitch } => vec![Motion::new(unit(axis), unit(axis) * pitch).to_array()],
        JointKind::Cylindrical { axis } => vec![turn(unit(axis).into()), slide(unit(axis).into())],
        JointKind::Universal { axes: [first, second] } => {
            let outer = JointKind::Revolute { axis: second }.pose(&q[1..]);
            vec![
                turn(outer.rotation.inverse_mul(unit(first)).into()),
                turn(unit(second).into()),
            ]
        }
        JointKind::Planar => axes(&[2, 3, 4]),
        JointKind::Translation => axes(&[3, 4, 5]),
        JointKind::Spherical => axes(&[0, 1, 2]),
        JointKind::Free => axes(&[0, 1, 2, 3, 4, 5]),
    }
}

/// [[J, m p̃], [−m p̃, m I]].
fn dense(body: &RigidBody<f64>) -> Six {
    core::array::from_fn(|i| {
        let unit = core::array::from_fn(|k| f64::from(k == i));
        body.times(Motion::from_array(unit)).to_array()
    })
}

fn times(p: &Six, x: &[f64; 6]) -> [f64; 6] {
    core::array::from_fn(|i| dot(&p[i], x))
}

fn dot(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The first degree of freedom whose pivot of D = HPH* + armature is nought against its scale.
fn pivot(p: &Six, columns: &[[f64; 6]], armature: &[f64], tolerance: f64) -> Option<usize> {
    let angular = (p[0][0] + p[1][1] + p[2][2]).max(0.0).sqrt();
    let linear = (p[3][3] + p[4][4] + p[5][5]).max(0.0).sqrt();
    let mut p = *p;
    for (i, (column, rotor)) in columns.iter().zip(armature).enumerate() {
        let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        // H P H* is at most (‖ω‖ √tr P_ω + ‖v‖ √tr P_v)².
        let scale = (size(&column[..3]) * angular + size(&column[3..]) * linear).powi(2) + rotor;
        let d = dot(column, &times(&p, column)) + rotor;
        if d <= tolerance * scale {
            return Some(i);
        }
        eliminate(&mut p, column, d);
    }
    None
}

/// P⁺ = P − G D G*, one degree of freedom at a time, which is the Cholesky factorization of D.
fn project(p: &mut Six, columns: &[[f64; 6]], armature: &[f64]) {
    for (column, rotor) in columns.iter().zip(armature) {
        let d = dot(column, &times(p, column)) + rotor;
        eliminate(p, column, d);
    }
}

fn eliminate(p: &mut Six, column: &[f64; 6], d: f64) {
    let u = times(p, column);
    for i in 0..6 {
        for k in 0..6 {
            p[i][k] -= u[i] * u[k] / d;
        }
    }
}

/// Adds φPφ* to the parent's.
fn carry(parent: &mut Six, p: &Six, x: &Pose) {
    // Columns of φ* are the parent's unit motions seen from the link.
    let columns: [[f64; 6]; 6] = core::array::from_fn(|i| {
        let unit = core::array::from_fn(|k| f64::from(k == i));
        x.motion_out(Motion::from_array(unit)).to_array()
    });
    for k in 0..6 {
        let u = times(p, &columns[k]);
        for i in 0..6 {
            parent[i][k] += dot(&columns[i], &u);
        }
    }
}
