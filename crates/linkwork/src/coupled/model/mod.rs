//! Joints that follow others: gears, mimic joints, rotors, and loops whose closure is known as a function.
//!
//! A follower's coordinate is a smooth function of its leader's. It has no coordinates of its own: users see independent
//! ones only, and sweeps run on all. Velocities obey q̇ = Rẏ, with one number per row of R.

mod elimination;
mod embedding;
mod law;
mod merge;
mod reduced;

pub(crate) use elimination::Elimination;
pub(crate) use embedding::{Embedding, Station};
pub use law::{Function, Law};
pub(crate) use merge::{By, InLanes, Merge};
pub(crate) use reduced::Reduced;

use crate::model::compiled::Compiled;
use crate::model::passive::{Passive, Resisted};
use crate::model::{Joint, JointId, Mechanism};
use crate::scalar::Scalar;
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A joint that follows another.
///
/// ```
/// use linkwork::model::{Coupling, Joint, Link, Mechanism};
/// use linkwork::spatial::Inertia;
/// let finger = |name: &str| Link::new(name, Inertia::point(0.1, [0.0, 0.0, 0.05]));
/// let gripper = Mechanism::builder("gripper")
///     .link(finger("left"))
///     .link(finger("right"))
///     .joint(Joint::prismatic("left", [1.0, 0.0, 0.0]).between("world", "left"))
///     .joint(Joint::prismatic("right", [1.0, 0.0, 0.0]).between("world", "right"))
///     .couple(Coupling::gear("right", "left", -1.0, 0.0)) // right = −left + 0
///     .build()?;
/// assert_eq!(gripper.nv(), 1);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[doc(alias = "mimic joint")]
#[doc(alias = "transmission")]
pub struct Coupling {
    /// The joint that follows.
    pub follower: String,
    /// The joint that leads; it may follow another itself.
    pub leader: String,
    /// The follower's coordinate from the leader's.
    pub law: Law,
}

impl Coupling {
    /// A gear: q = ratio · y + offset.
    pub fn gear(follower: impl Into<String>, leader: impl Into<String>, ratio: f64, offset: f64) -> Self {
        Self::polynomial(follower, leader, vec![offset, ratio])
    }

    /// q = c₀ + c₁y + c₂y² + …
    pub fn polynomial(follower: impl Into<String>, leader: impl Into<String>, coefficients: Vec<f64>) -> Self {
        Self {
            follower: follower.into(),
            leader: leader.into(),
            law: Law::Polynomial(coefficients),
        }
    }

    /// Any smooth q = g(y), given with its derivatives as [g, g′, g″, …].
    ///
    /// Dynamics needs two derivatives, its linearization three, and each level of [`crate::scalar::Dual`] one more; what
    /// is not given and needed is refused. Where g gives no number, as a linkage that cannot be assembled there, states
    /// are refused.
    ///
    /// ```
    /// use linkwork::model::{Coupling, Joint, Link, Mechanism};
    /// use linkwork::spatial::Inertia;
    /// // A slider-crank: the piston of a rod of length 2 on a crank of length 1 is at cos y + √(4 − sin²y).
    /// let piston = |y: f64| {
    ///     let (s, c) = y.sin_cos();
    ///     let root = (4.0 - s * s).sqrt();
    ///     let first = -s * c / root;
    ///     let second = (s * s - c * c - first * first) / root;
    ///     [c + root, -s + first, -c + second]
    /// };
    /// let engine = Mechanism::builder("engine")
    ///     .link(Link::new("crank", Inertia::rod(1.0, [1.0, 0.0, 0.0])))
    ///     .link(Link::new("piston", Inertia::point(0.5, [0.0; 3])))
    ///     .joint(Joint::revolute("turn", [0.0, 0.0, 1.0]).between("world", "crank"))
    ///     .joint(Joint::prismatic("stroke", [1.0, 0.0, 0.0]).between("world", "piston"))
    ///     .couple(Coupling::function("stroke", "turn", piston))
    ///     .build()?;
    /// assert_eq!(engine.nv(), 1);
    /// let still = engine.mass_matrix(&[0.0])?[0];       // at its dead centre the piston stands
    /// assert!((still - 1.0 / 3.0).abs() < 1e-12);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn function<const N: usize>(
        follower: impl Into<String>,
        leader: impl Into<String>,
        g: impl Fn(f64) -> [f64; N] + Send + Sync + 'static,
    ) -> Self {
        Self {
            follower: follower.into(),
            leader: leader.into(),
            law: Law::Function(Function::new(g)),
        }
    }
}

/// How a follower's coordinate depends on that of an independent joint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lead {
    /// The independent joint.
    pub(crate) joint: usize,
    /// What its coordinate goes through, one after another.
    pub(crate) laws: Vec<Law>,
}

impl Lead {
    /// q and its first three derivatives by y.
    pub(crate) fn at(&self, y: f64) -> [f64; 4] {
        law::at(&self.laws, y)
    }

    /// Whether it is more than a ratio and an offset.
    pub(crate) fn is_curved(&self) -> bool {
        self.laws.iter().any(Law::is_curved)
    }
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
    /// The same where they follow each other.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) followers: Vec<Follower>,
    /// Whether any coupling is more than a ratio and an offset, or is given by a function.
    pub(crate) is_curved: bool,
    pub(crate) has_functions: bool,
    /// How many derivatives of all couplings are known.
    pub(crate) derivatives: usize,
    /// How forward dynamics goes, once somebody asks.
    embedding: OnceLock<Embedding>,
    /// How 𝓜 of what is independent factors.
    pub(crate) elimination: Elimination,
    /// Where each joint's degrees of freedom start among all.
    pub(crate) v_start: Vec<usize>,
    /// The same as a tree of what is independent, where 𝓜⁻¹ from 𝓜 keeps its digits.
    pub(crate) reduced: Option<Reduced>,
    /// Where 𝓜 is not zero, once somebody asks.
    pattern: OnceLock<Vec<(usize, usize)>>,
    /// How 𝓜, and three matrices at once, come from the tree's, dense or in lanes; once somebody asks.
    merges: [OnceLock<Merge>; 2],
    in_lanes: [OnceLock<InLanes>; 2],
}

/// Degrees of freedom that are independent and follow each other: where they start among all and among users', and how many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) count: usize,
}

/// A degree of freedom that follows another, as places among all.
#[derive(Clone, Debug)]
pub(crate) struct Follower {
    pub(crate) q: usize,
    pub(crate) v: usize,
    pub(crate) leader: usize,
    pub(crate) laws: Vec<Law>,
}

impl Follower {
    /// q and its first three derivatives by y.
    #[inline(always)]
    pub(crate) fn at<S: Scalar>(&self, y: S) -> [S; 4] {
        law::at(&self.laws, y)
    }

    /// Whether it is more than a ratio and an offset.
    pub(crate) fn is_curved(&self) -> bool {
        self.laws.iter().any(Law::is_curved)
    }
}

fn bad(joint: &str, problem: impl Into<String>) -> Error {
    Error::Joint {
        joint: joint.to_owned(),
        problem: problem.into(),
    }
}

/// Per joint, whom it follows in the end.
pub(crate) fn resolve(joints: &[Joint], couplings: &[Coupling]) -> Result<Vec<Option<Lead>>> {
    let place: HashMap<&str, usize> = joints.iter().enumerate().map(|(i, j)| (j.name.as_str(), i)).collect();
    let mut direct: Vec<Option<(usize, &Coupling)>> = vec![None; joints.len()];
    for coupling in couplings {
        let name = &coupling.follower;
        let find = |wanted: &str| {
            place.get(wanted).copied().ok_or_else(|| {
                let hint = crate::model::did_you_mean(wanted, joints.iter().map(|j| j.name.as_str()));
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
        match &coupling.law {
            Law::Polynomial(c) if !c.iter().all(|c| c.abs() <= 1e30) => {
                return Err(bad(name, "the coefficients of its coupling must be finite numbers"));
            }
            Law::Function(g) if g.derivatives() < 2 => {
                let problem =
                    "the function of its coupling must give at least [g, g′, g″]: accelerations need two derivatives";
                return Err(bad(name, problem));
            }
            _ => {}
        }
        if direct[follower].is_some() {
            return Err(bad(name, "it follows two joints; keep one of the couplings"));
        }
        direct[follower] = Some((leader, coupling));
    }
    let mut found: Vec<Option<Lead>> = vec![None; joints.len()];
    let mut met = Vec::new();
    for j in 0..joints.len() {
        // Inward to one that leads or is settled, then back.
        let mut at = j;
        while let (None, Some((leader, coupling))) = (&found[at], direct[at]) {
            if met.len() > joints.len() {
                return Err(bad(
                    &joints[j].name,
                    "it follows itself in the end; let one joint of the ring lead",
                ));
            }
            met.push((at, &coupling.law));
            at = leader;
        }
        for (follower, law) in met.drain(..).rev() {
            let (joint, laws) = found[at]
                .as_ref()
                .map_or((at, &[][..]), |lead| (lead.joint, &lead.laws));
            let laws = law::after(law, laws);
            found[follower] = Some(Lead { joint, laws });
            at = follower;
        }
    }
    Ok(found)
}

impl Reduction {
    /// What is independent, and what follows it, for joints whose coordinates start at some places among all.
    pub(crate) fn new(
        leads: &[Option<Lead>],
        joints: &[Joint],
        [q_start, v_start]: [&[usize]; 2],
        m: &Compiled,
    ) -> Self {
        let mut reduction = Self {
            q_from: vec![0; m.nq],
            v_from: vec![0; m.nv],
            v_start: v_start.to_vec(),
            derivatives: usize::MAX,
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
        for (to, &from) in reduction.independent.iter().enumerate() {
            match reduction.pieces.last_mut() {
                Some(last) if last.from + last.count == from => last.count += 1,
                _ => reduction.pieces.push(Piece { from, to, count: 1 }),
            }
        }
        for (j, lead) in leads.iter().enumerate() {
            let Some(lead) = lead else { continue };
            let (q, v, leader) = (q_start[j], v_start[j], v_start[lead.joint]);
            reduction.q_from[q] = reduction.q_from[q_start[lead.joint]];
            reduction.v_from[v] = reduction.v_from[leader];
            for law in &lead.laws {
                reduction.is_curved |= law.is_curved();
                reduction.has_functions |= matches!(law, Law::Function(_));
            }
            reduction.derivatives = reduction.derivatives.min(law::derivatives(&lead.laws));
            reduction.followers.push(Follower {
                q,
                v,
                leader,
                laws: lead.laws.clone(),
            });
        }
        reduction.elimination = Elimination::new(m, &reduction.v_from, &reduction.independent);
        reduction.reduced = Reduced::new(&reduction, m);
        reduction
    }

    /// How forward dynamics goes.
    #[inline(always)]
    pub(crate) fn embedding(&self, m: &Compiled) -> &Embedding {
        let plan = || Embedding::new(m, &self.v_from, &self.independent);
        self.embedding.get_or_init(plan)
    }

    /// Where 𝓜 of what is independent is not zero: row by row of the upper triangle.
    pub(crate) fn pattern(&self, m: &Compiled) -> &[(usize, usize)] {
        self.pattern.get_or_init(|| {
            let layout = &m.columns.single;
            let from = |c: usize| self.v_from[layout.dof[c]];
            let row = |c: usize| (c..layout.end_at[c]).map(move |other| (from(c), from(other)));
            let pairs = (0..layout.dof.len()).flat_map(row);
            let mut pairs: Vec<_> = pairs.map(|(a, b)| (a.min(b), a.max(b))).collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        })
    }

    /// How 𝓜 comes from that of all joints, dense.
    pub(crate) fn merge_mass(&self, m: &Compiled) -> &Merge {
        self.merges[0].get_or_init(|| Merge::mass(self, m))
    }

    /// How ∂T/∂q, ∂T/∂q̇ and 𝓜 come from those of all joints, dense.
    pub(crate) fn merge_derivatives(&self, m: &Compiled) -> &Merge {
        self.merges[1].get_or_init(|| Merge::derivatives(self, m))
    }

    /// How lanes make 𝓜.
    pub(crate) fn mass_in_lanes(&self, m: &Compiled) -> &InLanes {
        self.in_lanes[0].get_or_init(|| InLanes::mass(self, m))
    }

    /// How lanes make three matrices, from so many elements of the tree whose places in dense matrices are told.
    pub(crate) fn derivatives_in_lanes(&self, m: &Compiled, tree: usize, sources: impl Fn() -> Vec<u32>) -> &InLanes {
        self.in_lanes[1].get_or_init(|| InLanes::derivatives(self, m, tree, &sources()))
    }

    /// Where every joint's coordinates start in users' q and v.
    pub(crate) fn starts(&self, leads: &[Option<Lead>], joints: &[Joint]) -> [Vec<usize>; 2] {
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

    /// What resists followers, put to their leaders; by curved couplings they keep it themselves.
    pub(crate) fn passive(&self, all: &Passive) -> Passive {
        let pick = |x: &[f64]| self.independent.iter().map(|&v| x[v]).collect::<Vec<f64>>();
        let mut passive = Passive {
            damping: pick(&all.damping),
            friction: pick(&all.friction),
            stiffness: pick(&all.stiffness),
            rest: vec![0.0; self.nq],
            followers: Vec::new(),
        };
        let mut follows = vec![false; all.rest.len()];
        for follower in &self.followers {
            follows[follower.q] = true;
        }
        for q in (0..all.rest.len()).filter(|&q| !follows[q]) {
            passive.rest[self.q_from[q]] = all.rest[q];
        }
        for follower in &self.followers {
            let (to, at) = (self.v_from[follower.v], self.q_from[follower.q]);
            if follower.is_curved() {
                passive.followers.push(Resisted {
                    follower: follower.clone(),
                    leader: [at, to],
                    damping: all.damping[follower.v],
                    friction: all.friction[follower.v],
                    stiffness: all.stiffness[follower.v],
                    rest: all.rest[follower.q],
                });
                continue;
            }
            let [offset, ratio, ..] = follower.at(0.0);
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
            q[follower.q] = follower.at(q[follower.q])[0];
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
    #[inline]
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

    /// The independent joint that a joint follows; none if it is independent.
    pub fn follows(&self, joint: JointId) -> Result<Option<JointId>> {
        let leader = self.leader_of(self.own_joint(joint)?);
        Ok(leader.map(|j| self.joint_at(j)))
    }

    /// [`Mechanism::follows`] by number.
    pub(crate) fn leader_of(&self, joint: usize) -> Option<usize> {
        self.leads[joint].as_ref().map(|lead| lead.joint)
    }

    /// A follower's coordinate and its first two derivatives at a coordinate of the joint it follows in the end: q, dq/dy and
    /// d²q/dy². An independent joint follows itself.
    pub fn coupling_at(&self, joint: JointId, y: f64) -> Result<[f64; 3]> {
        Ok(self.coupling_of(self.own_joint(joint)?, y))
    }

    /// [`Mechanism::coupling_at`] by number.
    pub(crate) fn coupling_of(&self, joint: usize, y: f64) -> [f64; 3] {
        match &self.leads[joint] {
            None => [y, 1.0, 0.0],
            Some(lead) => {
                let [q, slope, bend, _] = lead.at(y);
                [q, slope, bend]
            }
        }
    }

    /// An error where fewer derivatives of a coupling are known than are needed: of a function that gives no more, or of a
    /// chain of several.
    pub(crate) fn check_derivatives(&self, needed: usize, what: &'static str) -> Result<()> {
        let Some(r) = self.compiled.reduction.as_ref().filter(|r| r.derivatives < needed) else {
            return Ok(());
        };
        let poor = |laws: &[Law]| law::derivatives(laws) < needed;
        let given = self.given.couplings.iter();
        if let Some(c) = given.clone().find(|c| poor(core::slice::from_ref(&c.law))) {
            let problem = format!(
                "the function of its coupling gives {} derivatives, but {what} needs {needed}; let it give more",
                law::derivatives(core::slice::from_ref(&c.law))
            );
            return Err(bad(&c.follower, problem));
        }
        let chained = r.followers.iter().find(|f| poor(&f.laws));
        let joint = chained.map_or("", |f| &self.joints()[self.joint_of_any_dof(f.v).0.index()].name);
        let problem = format!(
            "it follows through several couplings, of which {} derivatives are known, but {what} needs {needed}; let it follow by one",
            r.derivatives
        );
        Err(bad(joint, problem))
    }

    /// An error where a coupling gives no number at a configuration.
    pub(crate) fn check_couplings<S: Scalar>(&self, q: &[S]) -> Result<()> {
        let Some(r) = self.compiled.reduction.as_ref().filter(|r| r.has_functions) else {
            return Ok(());
        };
        for follower in &r.followers {
            let y = q[r.q_from[follower.q]];
            let [at, slope, bend, _] = follower.at(y);
            if ![at, slope, bend].iter().all(|x| x.is_finite()) {
                let (joint, _) = self.joint_of_any_dof(follower.v);
                let (leader, _) = self.joint_of_any_dof(follower.leader);
                let problem = format!(
                    "its coupling has no value at {} of joint `{}`; keep to where the function is defined, by limits for example",
                    y.lane(0),
                    self.joints()[leader.index()].name
                );
                return Err(bad(&self.joints()[joint.index()].name, problem));
            }
        }
        Ok(())
    }

    /// The coordinates of all joints, followers included, at a configuration: as many as all kinds of joints have.
    pub fn all_coordinates(&self, q: &[f64]) -> Result<Vec<f64>> {
        self.check_configuration("q", q)?;
        let Some(reduction) = &self.compiled.reduction else {
            return Ok(q.to_vec());
        };
        self.check_couplings(q)?;
        let mut all = vec![0.0; self.compiled.nq];
        reduction.configuration(q, &mut all);
        Ok(all)
    }
}
