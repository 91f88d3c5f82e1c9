//! Whether something resists every joint.
//!
//! A degree of freedom without inertia makes the mass matrix singular. Most joints move a link whose own inertia
//! settles the matter. For the rest the Riccati equation runs inward on dense 6×6 matrices at generic configurations:
//! the determinant of the mass matrix is analytic in q, so that what is singular at a generic configuration is singular
//! at all of them, while a momentary alignment is not refused. Joints that follow others share a coordinate with them, which
//! is eliminated where the last of its joints is met.

use super::Tree;
use crate::model::builder::per_dof;
use crate::model::configuration::Generator;
use crate::model::{Builder, Joint, JointKind};
use crate::spatial::{Inertia, Motion, Pose, RigidBody};
use std::collections::HashMap;

/// Pivots below this part of their scale are zero.
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
    let (q, ratio) = configuration(given, tree, seed);
    let leader = |j: usize| tree.leads[j].as_ref().map_or(j, |lead| lead.joint);
    let mut members = vec![0; given.joints.len()];
    (0..given.joints.len()).for_each(|j| members[leader(j)] += 1);
    let own = given.links.iter().map(|l| Front::new(&RigidBody::from(&l.inertia)));
    // The world comes last.
    let mut fronts: Vec<Front> = own.chain([Front::default()]).collect();
    let (mut pairs, mut found) = (Pairs::new(), Vec::new());
    for &l in tree.outward.iter().rev() {
        let j = tree.inboard[l];
        let joint = &given.joints[j];
        let (columns, armature) = (freedoms(joint.kind, &q[j]), armature(joint));
        let mut front = core::mem::take(&mut fronts[l]);
        front.close(&members, &mut pairs, &mut found);
        if members[leader(j)] > 1 {
            front.lock(&mut pairs, leader(j), &columns[0], [ratio[j], armature[0]]);
            front.close(&members, &mut pairs, &mut found);
        } else {
            match pivot(&front.p, &columns, &armature, ARTICULATED) {
                // Left locked, so that the joints further in are judged on their own.
                Some(index) => found.push((j, index)),
                None => front.project(&mut pairs, &columns, &armature),
            }
        }
        let parent = &mut fronts[tree.parent[l].unwrap_or(given.links.len())];
        parent.carry(&front, &(joint.origin * joint.kind.pose(&q[j])));
    }
    fronts[given.links.len()].close(&members, &mut pairs, &mut found);
    found.sort_unstable();
    found
}

/// Per joint, its coordinates at a random configuration, or at the neutral one, and its rate per that of its leader. Where a
/// coupling has no value both are NaN, and what they move counts as resisted.
fn configuration(given: &Builder, tree: &Tree, seed: Option<u64>) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut random = Generator::new(seed.unwrap_or_default());
    let (mut q, mut ratio) = (vec![Vec::new(); given.joints.len()], vec![1.0; given.joints.len()]);
    let mut leads = vec![false; given.joints.len()];
    tree.leads.iter().flatten().for_each(|lead| leads[lead.joint] = true);
    for &l in tree.outward.iter().rev() {
        let j = tree.inboard[l];
        let joint = &given.joints[j];
        let limits = if leads[j] { &joint.position_limits[..] } else { &[] };
        q[j] = match seed {
            Some(_) => random.configuration(joint.kind, limits),
            None => joint.kind.neutral(),
        };
    }
    for (j, lead) in tree.leads.iter().enumerate() {
        if let Some(lead) = lead {
            let [at, slope, ..] = lead.at(q[lead.joint][0]);
            (q[j], ratio[j]) = (vec![at], slope);
        }
    }
    (q, ratio)
}

/// A link with everything outboard of it: the force on it is Pα + By, y being the accelerations of coordinates that several
/// joints share and of which not all have been met.
#[derive(Default)]
struct Front {
    p: Six,
    shared: Vec<Shared>,
}

/// A column of B.
struct Shared {
    /// The joint that leads, and how many of its joints have been met.
    leader: usize,
    members: usize,
    b: [f64; 6],
    /// What resists the coordinate, and the scale to compare that with.
    d: f64,
    scale: f64,
}

/// What two shared coordinates have in common, by their leaders.
type Pairs = HashMap<[usize; 2], f64>;

fn pair(pairs: &mut Pairs, a: usize, b: usize) -> &mut f64 {
    pairs.entry([a.min(b), a.max(b)]).or_default()
}

impl Front {
    fn new(body: &RigidBody<f64>) -> Self {
        Self {
            p: dense(body),
            shared: Vec::new(),
        }
    }

    /// At a joint with a shared coordinate, α = α⁺ + H*ry: B gains rPH*, and D what that works against.
    fn lock(&mut self, pairs: &mut Pairs, leader: usize, h: &[f64; 6], [ratio, rotor]: [f64; 2]) {
        let own = self.shared.iter().position(|c| c.leader == leader).unwrap_or_else(|| {
            self.shared.push(Shared {
                leader,
                members: 0,
                b: [0.0; 6],
                d: 0.0,
                scale: 0.0,
            });
            self.shared.len() - 1
        });
        for (i, c) in self.shared.iter_mut().enumerate() {
            let x = ratio * dot(h, &c.b);
            if i == own {
                c.d += 2.0 * x;
            } else {
                *pair(pairs, leader, c.leader) += x;
            }
        }
        let (u, own) = (times(&self.p, h), &mut self.shared[own]);
        own.members += 1;
        own.d += ratio * ratio * (dot(h, &u) + rotor);
        own.scale += ratio * ratio * (most(h, &traces(&self.p)) + rotor);
        add_scaled(&mut own.b, ratio, &u);
    }

    /// Eliminates the coordinates all of whose joints have been met.
    fn close(&mut self, members: &[usize], pairs: &mut Pairs, found: &mut Vec<(usize, usize)>) {
        while let Some(i) = self.shared.iter().position(|c| c.members == members[c.leader]) {
            let own = self.shared.swap_remove(i);
            if own.d <= ARTICULATED * own.scale {
                found.push((own.leader, 0));
                continue;
            }
            let others = self.shared.iter();
            let x: Vec<f64> = others.map(|c| *pair(pairs, own.leader, c.leader)).collect();
            self.eliminate(pairs, &own.b, own.d, &x);
        }
    }

    /// P⁺ = P − G D G*, one degree of freedom at a time, which is the Cholesky factorization of D.
    fn project(&mut self, pairs: &mut Pairs, columns: &[[f64; 6]], armature: &[f64]) {
        for (column, rotor) in columns.iter().zip(armature) {
            let u = times(&self.p, column);
            let x: Vec<f64> = self.shared.iter().map(|c| dot(column, &c.b)).collect();
            self.eliminate(pairs, &u, dot(column, &u) + rotor, &x);
        }
    }

    /// Takes away what a coordinate carries itself: u per link, x per shared coordinate.
    fn eliminate(&mut self, pairs: &mut Pairs, u: &[f64; 6], d: f64, x: &[f64]) {
        eliminate(&mut self.p, u, d);
        for i in 0..x.len() {
            for k in 0..i {
                *pair(pairs, self.shared[i].leader, self.shared[k].leader) -= x[i] * x[k] / d;
            }
            let c = &mut self.shared[i];
            c.d -= x[i] * x[i] / d;
            add_scaled(&mut c.b, -x[i] / d, u);
        }
    }

    /// Adds φPφ* and φB of a link outboard.
    fn carry(&mut self, outer: &Self, x: &Pose) {
        // Columns of φ* are the parent's unit motions seen from the link.
        let columns: [[f64; 6]; 6] = core::array::from_fn(|i| {
            let unit = core::array::from_fn(|k| f64::from(k == i));
            x.motion_out(Motion::from_array(unit)).to_array()
        });
        for k in 0..6 {
            let u = times(&outer.p, &columns[k]);
            for i in 0..6 {
                self.p[i][k] += dot(&columns[i], &u);
            }
        }
        for c in &outer.shared {
            let b = columns.map(|column| dot(&column, &c.b));
            match self.shared.iter_mut().find(|own| own.leader == c.leader) {
                Some(own) => {
                    own.members += c.members;
                    own.d += c.d;
                    own.scale += c.scale;
                    add_scaled(&mut own.b, 1.0, &b);
                }
                None => self.shared.push(Shared { b, ..*c }),
            }
        }
    }
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

fn add_scaled(to: &mut [f64; 6], factor: f64, x: &[f64; 6]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += factor * x);
}

/// The traces of P for turning and for sliding.
fn traces(p: &Six) -> [f64; 2] {
    [p[0][0] + p[1][1] + p[2][2], p[3][3] + p[4][4] + p[5][5]]
}

/// The most that H P H* can be: (‖ω‖ √tr P_ω + ‖v‖ √tr P_v)².
fn most(column: &[f64; 6], traces: &[f64; 2]) -> f64 {
    let size = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [angular, linear] = traces.map(|trace| trace.max(0.0).sqrt());
    (size(&column[..3]) * angular + size(&column[3..]) * linear).powi(2)
}

/// The first degree of freedom whose pivot of D = HPH* + armature is zero against its scale.
fn pivot(p: &Six, columns: &[[f64; 6]], armature: &[f64], tolerance: f64) -> Option<usize> {
    let (whole, mut p) = (traces(p), *p);
    for (i, (column, rotor)) in columns.iter().zip(armature).enumerate() {
        let u = times(&p, column);
        let d = dot(column, &u) + rotor;
        if d <= tolerance * (most(column, &whole) + rotor) {
            return Some(i);
        }
        eliminate(&mut p, &u, d);
    }
    None
}

/// P − uu*/d. Where nothing is left of turning or of sliding, rounding is not left either: the joints further in would take it
/// for inertia.
fn eliminate(p: &mut Six, u: &[f64; 6], d: f64) {
    let before = traces(p);
    for i in 0..6 {
        for k in 0..6 {
            p[i][k] -= u[i] * u[k] / d;
        }
    }
    let after = traces(p);
    for block in 0..2 {
        if after[block].abs() <= ARTICULATED * before[block].abs() {
            for i in 3 * block..3 * block + 3 {
                for k in 0..6 {
                    (p[i][k], p[k][i]) = (0.0, 0.0);
                }
            }
        }
    }
}
