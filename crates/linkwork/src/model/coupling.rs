//! Joints that follow others: gears, mimic joints and rotors.
//!
//! A follower's coordinate is a polynomial of its leader's. It has no coordinates of its own: users see independent ones
//! only, and sweeps run on all. Velocities obey q̇ = Rẏ, with one number per row of R.

use super::compiled::Compiled;
use super::passive::Passive;
use super::{Joint, Mechanism};
use crate::scalar::Scalar;
use crate::{Error, Result};
use std::collections::HashMap;

/// A joint that follows another: q = c₀ + c₁y + c₂y² + …, y being the leader's coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// The joint that follows.
    pub follower: String,
    /// The joint that leads; it may follow another itself.
    pub leader: String,
    /// c₀, c₁, …
    pub coefficients: Vec<f64>,
}

impl Coupling {
    /// A gear: q = ratio · y + offset.
    pub fn gear(follower: impl Into<String>, leader: impl Into<String>, ratio: f64, offset: f64) -> Self {
        Self {
            follower: follower.into(),
            leader: leader.into(),
            coefficients: vec![offset, ratio],
        }
    }
}

/// How a follower's coordinate depends on that of an independent joint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lead {
    /// The independent joint.
    pub(crate) joint: usize,
    pub(crate) coefficients: Vec<f64>,
}

/// All coordinates from independent ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reduction {
    /// The numbers of independent coordinates.
    pub(crate) nq: usize,
    pub(crate) nv: usize,
    /// Per coordinate of all joints: the independent one it comes from.
    pub(crate) q_from: Vec<usize>,
    pub(crate) v_from: Vec<usize>,
    /// Per independent degree of freedom: its place among all.
    pub(crate) independent: Vec<usize>,
    pub(crate) followers: Vec<Follower>,
    /// Whether any coupling is more than a ratio and an offset.
    pub(crate) is_curved: bool,
    /// Where each joint's degrees of freedom start among all.
    pub(crate) v_start: Vec<usize>,
}

/// A degree of freedom that follows another, as places among all.
#[derive(Clone, Debug)]
pub(crate) struct Follower {
    pub(crate) q: usize,
    pub(crate) v: usize,
    pub(crate) leader: usize,
    pub(crate) coefficients: Vec<f64>,
    /// The compiled links of follower and leader.
    pub(crate) links: [usize; 2],
}

impl Follower {
    /// q, dq/dy and d²q/dy² at y.
    #[inline(always)]
    pub(crate) fn at<S: Scalar>(&self, y: S) -> (S, S, S) {
        let (mut q, mut slope, mut half_bend) = (S::ZERO, S::ZERO, S::ZERO);
        for c in self.coefficients.iter().rev() {
            half_bend = half_bend.mul_add(y, slope);
            slope = slope.mul_add(y, q);
            q = q.mul_add(y, S::lift(*c));
        }
        (q, slope, half_bend + half_bend)
    }
}

fn bad(joint: &str, problem: impl Into<String>) -> Error {
    Error::Joint {
        joint: joint.to_owned(),
        problem: problem.into(),
    }
}

/// Per joint, whom it follows in the end.
pub(super) fn resolve(joints: &[Joint], couplings: &[Coupling]) -> Result<Vec<Option<Lead>>> {
    let place: HashMap<&str, usize> = joints.iter().enumerate().map(|(i, j)| (j.name.as_str(), i)).collect();
    let mut direct: Vec<Option<(usize, &Coupling)>> = vec![None; joints.len()];
    for coupling in couplings {
        let name = &coupling.follower;
        let find = |wanted: &str| {
            place.get(wanted).copied().ok_or_else(|| {
                let hint = super::check::did_you_mean(wanted, joints.iter().map(|j| j.name.as_str()));
                bad(
                    name,
                    format!("a coupling names joint `{wanted}`, which does not exist{hint}"),
                )
            })
        };
        let (follower, leader) = (find(name)?, find(&coupling.leader)?);
        for j in [follower, leader] {
            let kind = joints[j].kind;
            if kind.nv() != 1 || kind.nq() != 1 {
                let problem = format!(
                    "it is coupled, but joint `{}` is {}; only joints with one coordinate can lead and follow",
                    joints[j].name,
                    kind.name()
                );
                return Err(bad(name, problem));
            }
        }
        if !coupling.coefficients.iter().all(|c| c.abs() <= 1e30) {
            return Err(bad(name, "the coefficients of its coupling must be finite numbers"));
        }
        if direct[follower].is_some() {
            return Err(bad(name, "it follows two joints; keep one of the couplings"));
        }
        direct[follower] = Some((leader, coupling));
    }
    let mut found = Vec::with_capacity(joints.len());
    for j in 0..joints.len() {
        let Some((mut leader, coupling)) = direct[j] else {
            found.push(None);
            continue;
        };
        let mut coefficients = coupling.coefficients.clone();
        let mut steps = 0;
        while let Some((next, inner)) = direct[leader] {
            steps += 1;
            if steps > joints.len() {
                return Err(bad(
                    &joints[j].name,
                    "it follows itself in the end; let one joint of the ring lead",
                ));
            }
            if coefficients.len() > 2 && inner.coefficients.len() > 2 {
                let problem = format!(
                    "it follows joint `{}`, which follows another itself, and both by more than a ratio and an offset; couple it to the last leader",
                    joints[leader].name
                );
                return Err(bad(&joints[j].name, problem));
            }
            coefficients = composed(&coefficients, &inner.coefficients);
            leader = next;
        }
        let joint = leader;
        found.push(Some(Lead { joint, coefficients }));
    }
    Ok(found)
}

/// The coefficients of outer(inner(y)).
fn composed(outer: &[f64], inner: &[f64]) -> Vec<f64> {
    let mut sum: Vec<f64> = Vec::new();
    for c in outer.iter().rev() {
        let mut next = vec![0.0; sum.len() + inner.len().max(1)];
        for (i, a) in sum.iter().enumerate() {
            for (j, b) in inner.iter().enumerate() {
                next[i + j] += a * b;
            }
        }
        next[0] += c;
        sum = next;
    }
    while sum.len() > 2 && sum.last() == Some(&0.0) {
        sum.pop();
    }
    sum
}

impl Reduction {
    /// What is independent, and what follows it, for joints whose coordinates start at some places among all.
    pub(super) fn new(
        leads: &[Option<Lead>],
        joints: &[Joint],
        [q_start, v_start]: [&[usize]; 2],
        m: &Compiled,
    ) -> Self {
        let mut reduction = Self {
            q_from: vec![0; m.nq],
            v_from: vec![0; m.nv],
            v_start: v_start.to_vec(),
            ..Self::default()
        };
        for (j, joint) in joints.iter().enumerate().filter(|(j, _)| leads[*j].is_none()) {
            for i in 0..joint.kind.nq() {
                reduction.q_from[q_start[j] + i] = reduction.nq;
                reduction.nq += 1;
            }
            for i in 0..joint.kind.nv() {
                reduction.v_from[v_start[j] + i] = reduction.nv;
                reduction.independent.push(v_start[j] + i);
                reduction.nv += 1;
            }
        }
        let mut link = vec![0; m.nv];
        for (k, body) in m.bodies.iter().enumerate() {
            link[body.v..body.v + body.dofs].fill(k);
        }
        for (j, lead) in leads.iter().enumerate() {
            let Some(lead) = lead else { continue };
            let (q, v, leader) = (q_start[j], v_start[j], v_start[lead.joint]);
            reduction.q_from[q] = reduction.q_from[q_start[lead.joint]];
            reduction.v_from[v] = reduction.v_from[leader];
            reduction.is_curved |= lead.coefficients.len() > 2;
            reduction.followers.push(Follower {
                q,
                v,
                leader,
                coefficients: lead.coefficients.clone(),
                links: [link[v], link[leader]],
            });
        }
        reduction
    }

    /// Where every joint's coordinates start in users' q and v.
    pub(super) fn starts(&self, leads: &[Option<Lead>], joints: &[Joint]) -> [Vec<usize>; 2] {
        let (mut starts, mut q, mut v) = ([Vec::new(), Vec::new()], 0, 0);
        for (joint, lead) in joints.iter().zip(leads) {
            starts[0].push(q);
            starts[1].push(v);
            if lead.is_none() {
                q += joint.kind.nq();
                v += joint.kind.nv();
            }
        }
        starts
    }

    /// What resists followers, put to their leaders: exact for ratios; for curved couplings as at y = 0.
    pub(super) fn passive(&self, all: &Passive) -> Passive {
        let pick = |x: &[f64]| self.independent.iter().map(|&v| x[v]).collect::<Vec<f64>>();
        let mut passive = Passive {
            damping: pick(&all.damping),
            friction: pick(&all.friction),
            stiffness: pick(&all.stiffness),
            rest: vec![0.0; self.nq],
        };
        let follows = |q: usize| self.followers.iter().any(|f| f.q == q);
        for q in (0..all.rest.len()).filter(|&q| !follows(q)) {
            passive.rest[self.q_from[q]] = all.rest[q];
        }
        for follower in &self.followers {
            let (to, at) = (self.v_from[follower.v], self.q_from[follower.q]);
            let (offset, ratio, _) = follower.at(0.0);
            let (k, own) = (all.stiffness[follower.v], passive.stiffness[to]);
            passive.damping[to] += ratio * ratio * all.damping[follower.v];
            passive.friction[to] += ratio.abs() * all.friction[follower.v];
            passive.stiffness[to] += ratio * ratio * k;
            // Two springs on one coordinate: where they balance.
            if passive.stiffness[to] > 0.0 {
                let moment = own * passive.rest[at] + ratio * k * (all.rest[follower.q] - offset);
                passive.rest[at] = moment / passive.stiffness[to];
            }
        }
        passive
    }

    /// The coordinates of all joints.
    #[inline(always)]
    pub(crate) fn configuration<S: Scalar>(&self, y: &[S], q: &mut [S]) {
        for (q, &from) in q.iter_mut().zip(&self.q_from) {
            *q = y[from];
        }
        for follower in &self.followers {
            q[follower.q] = follower.at(q[follower.q]).0;
        }
    }
}

/// # Couplings
impl Mechanism {
    /// The couplings as given.
    pub fn couplings(&self) -> &[Coupling] {
        &self.given.couplings
    }

    /// Whether joints follow others.
    pub fn is_coupled(&self) -> bool {
        self.compiled.reduction.is_some()
    }

    /// An error where something is not defined for joints that follow others.
    pub(crate) fn refuse_coupled(&self, what: &'static str) -> Result<()> {
        if !self.is_coupled() {
            return Ok(());
        }
        Err(Error::Coupled {
            what,
            mechanism: self.name().to_owned(),
        })
    }

    /// The independent joint that a joint follows, and the coefficients by which it does; none if it is independent.
    pub fn follows(&self, joint: super::JointId) -> Option<(super::JointId, &[f64])> {
        let lead = self.leads[joint.0].as_ref()?;
        Some((super::JointId(lead.joint), &lead.coefficients))
    }

    /// The coordinates of all joints, followers included, at a configuration: as many as all kinds of joints have.
    pub fn all_coordinates(&self, q: &[f64]) -> Result<Vec<f64>> {
        self.check_configuration("q", q)?;
        let Some(reduction) = &self.compiled.reduction else {
            return Ok(q.to_vec());
        };
        let mut all = vec![0.0; self.compiled.nq];
        reduction.configuration(q, &mut all);
        Ok(all)
    }
}
