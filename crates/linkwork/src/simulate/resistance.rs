//! What resists the joints by itself: springs, dampers, dry friction and stops.

use crate::coupled::model::Follower;
use crate::dense::Eigen;
use crate::model::{JointId, Mechanism, Resisted, SLOW, per_dof, turn_of};
use crate::spatial::Vec3;
use crate::{Error, Result};

/// T of stops, in seconds, unless steps are too long for that.
const FIRM: f64 = 5e-3;
/// How many steps T takes at least.
const STEPS: f64 = 8.0;
/// The damper of a stop fades in over this share of the way that a joint goes in T.
const SKIN: f64 = 0.1;
/// The spring of a stop pushes no harder than at this depth, in rad or m: a joint that starts further out comes back at some
/// 2.5 rad/s or m/s, and is not thrown.
const DEEP: f64 = 0.05;
/// Slopes below this share of the steepest one count as no less.
const FLAT: f64 = 1e-3;

/// The resistance of joints: what [`Moving::passive_torque`](crate::workspace::Moving::passive_torque) says, and stops at
/// the joints' position limits.
///
/// Dry friction is friction · q̇/√(q̇² + v₀²), with v₀ = 10⁻³ rad/s or m/s.
///
/// A stop is an overdamped spring that only pushes. At a depth x beyond the limit it exerts k x + c ẋ x/(x + T|ẋ|/10), or
/// nothing where that would pull, with k = I/T², c = 4I/T and T = 5 ms; beyond 0.05 rad
/// or m the spring pushes no harder, so that a joint which starts far out is brought back, not thrown. I is the inertia that the joint shows with all
/// others free, the least of several configurations. A joint of that inertia goes 0.32 T ẋ deep and leaves the stop with
/// 7 % of its speed, however fast it came; one that shows more goes deeper and keeps more. Pressed against the stop, it comes
/// to rest.
///
/// The stop of a joint that follows by more than a ratio is the same, seen by its leader: x and ẋ are divided by the slope of
/// the coupling there, and less so where the slope turns to zero within x.
///
/// A ball joint whose angle is limited has the same stop along the axis of its rotation, I being the least about any axis.
///
/// Both are stiff, and explicit steps of a length h bear only so much: [`PassiveForces::for_steps`] makes them softer where
/// needed. Other limits of planar, spherical and free joints have no stops.
///
/// ```
/// use linkwork::model::{Joint, Link, Mechanism};
/// use linkwork::simulate::{Dynamics, Integrator, PassiveForces, RungeKutta4, State};
/// use linkwork::spatial::Inertia;
/// // A door that swings against its stop.
/// let door = Mechanism::builder("door")
///     .link(Link::new("leaf", Inertia::rod(20.0, [0.9, 0.0, 0.0])))
///     .joint(Joint::revolute("hinge", [0.0, 0.0, 1.0]).between("world", "leaf").position_limits(0.0, 1.5))
///     .build()?;
/// let step = 1e-3;
/// let forces = PassiveForces::of(&door)?.for_steps(step); // as firm as such steps bear
/// let mut equations = Dynamics::with(&door, (), forces);
/// let mut state = State { t: 0.0, q: vec![1.0], v: vec![2.0] };
/// let mut integrator = RungeKutta4::new(&door);
/// for _ in 0..1000 {
///     integrator.step(&mut equations, &mut state, step)?;
/// }
/// assert!(state.q[0] < 1.5 && state.v[0].abs() < 0.3, "it came back, slowly");
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PassiveForces {
    mechanism: Mechanism,
    /// Whether there are springs, dampers or friction.
    passive: bool,
    slip: Vec<f64>,
    /// v₀ of joints that follow by more than a ratio.
    follower_slip: Vec<f64>,
    stops: Vec<Stop>,
    /// Ball joints: where they are in q and v, and the largest angle.
    ball_stops: Vec<(usize, usize, f64)>,
    /// T of the stops.
    time: f64,
    /// The joints whose limits have no stops.
    unstopped: Vec<JointId>,
    /// What is needed of them, else zeros.
    inertia: Inertias,
    room: Vec<f64>,
}

/// What joints show with all others free.
#[derive(Clone, Debug)]
struct Inertias {
    /// 1/(𝓜⁻¹)ᵢᵢ, the least of several configurations.
    independent: Vec<f64>,
    /// The same of joints that follow by more than a ratio.
    followers: Vec<Shown>,
}

/// What a follower shows, and the most it moves as its leader does.
#[derive(Clone, Copy, Debug)]
struct Shown {
    inertia: f64,
    steep: f64,
}

#[derive(Clone, Debug)]
struct Stop {
    q: usize,
    v: usize,
    lower: f64,
    upper: f64,
    /// The joint that it stops, if that is one which follows by more than a ratio, and its place among those.
    follower: Option<(Follower, usize)>,
}

impl PassiveForces {
    /// Nothing at all, whatever the mechanism says.
    pub fn none(mechanism: &Mechanism) -> Self {
        let (nv, followers) = (mechanism.nv(), mechanism.passive.followers.len());
        Self {
            mechanism: mechanism.clone(),
            passive: false,
            slip: vec![SLOW; nv],
            follower_slip: vec![SLOW; followers],
            stops: Vec::new(),
            ball_stops: Vec::new(),
            time: FIRM,
            unstopped: Vec::new(),
            inertia: Inertias::filled(0.0, nv, followers),
            room: vec![0.0; nv],
        }
    }

    /// All that the mechanism says. An error if nothing resists a joint at any of the configurations looked at.
    pub fn of(mechanism: &Mechanism) -> Result<Self> {
        let mut all = Self::none(mechanism);
        let passive = &mechanism.passive;
        let rubs = passive.friction.iter().any(|x| *x != 0.0) || passive.followers.iter().any(|f| f.friction != 0.0);
        all.passive = passive.is_any();
        all.find_stops(mechanism);
        if !all.stops.is_empty() || !all.ball_stops.is_empty() || rubs {
            all.inertia = Inertias::of(mechanism, &all.ball_stops)?;
        }
        Ok(all)
    }

    /// What the mechanism says but for stops, none of it softened.
    pub(crate) fn passive(mechanism: &Mechanism) -> Self {
        let mut passive = Self::none(mechanism);
        passive.passive = mechanism.passive.is_any();
        passive
    }

    /// An error unless it is a mechanism's own.
    pub(crate) fn check(&self, mechanism: &Mechanism) -> Result<()> {
        mechanism.check_same(&self.mechanism, "resistance of joints")
    }

    /// The same without stops at the position limits.
    pub fn without_stops(mut self) -> Self {
        self.stops.clear();
        self.ball_stops.clear();
        self.unstopped.clear();
        self
    }

    /// Soft enough for explicit steps of length h: T is at least 8h, and v₀ at least what friction changes in a step.
    pub fn for_steps(mut self, h: f64) -> Self {
        let passive = &self.mechanism.passive;
        // Frictions that act on one coordinate change it together.
        let mut together: Vec<f64> = passive.friction.iter().map(|x| f64::from(*x > 0.0)).collect();
        for follower in &passive.followers {
            together[follower.leader[1]] += f64::from(follower.friction > 0.0);
        }
        for (i, slip) in self.slip.iter_mut().enumerate() {
            let friction = passive.friction[i];
            if friction > 0.0 {
                *slip = (together[i] * friction * h / self.inertia.independent[i]).max(SLOW);
            }
        }
        let followers = passive.followers.iter().zip(&self.inertia.followers);
        for (slip, (resisted, shown)) in self.follower_slip.iter_mut().zip(followers) {
            if resisted.friction > 0.0 {
                *slip = (together[resisted.leader[1]] * resisted.friction * h / shown.inertia).max(SLOW);
            }
        }
        self.time = FIRM.max(STEPS * h);
        self
    }

    /// Whether anything resists.
    pub fn is_any(&self) -> bool {
        self.passive || !self.stops.is_empty() || !self.ball_stops.is_empty()
    }

    /// The joints that have limits but, being planar, spherical or free, no stops; limits of ball joints' angles have some.
    pub fn unstopped(&self) -> &[JointId] {
        &self.unstopped
    }

    /// v₀ of the dry friction at every degree of freedom, in rad/s or m/s.
    pub fn slip_speeds(&self) -> &[f64] {
        &self.slip
    }

    fn find_stops(&mut self, mechanism: &Mechanism) {
        for (j, joint) in mechanism.joints().iter().enumerate() {
            let free = (f64::NEG_INFINITY, f64::INFINITY);
            let limits = per_dof(&joint.position_limits, joint.kind.nv(), free);
            let limited = limits.iter().any(|(a, b)| a.is_finite() || b.is_finite());
            if joint.limits_turn() {
                let (q, v) = (mechanism.q_of(j).start, mechanism.v_of(j).start);
                self.ball_stops.extend(joint.turn_limit().map(|limit| (q, v, limit)));
            } else if limited && joint.kind.is_curved() {
                self.unstopped.push(mechanism.joint_at(j));
            } else if let (true, Some(leader)) = (limited, mechanism.leader_of(j)) {
                let (q, v) = (mechanism.q_of(leader).start, mechanism.v_of(leader).start);
                self.stops.extend(follower_stop(mechanism, j, [q, v], limits[0]));
            } else if limited {
                let (q, v) = (mechanism.q_of(j).start, mechanism.v_of(j).start);
                self.stops
                    .extend(limits.into_iter().enumerate().map(|(i, (lower, upper))| Stop {
                        q: q + i,
                        v: v + i,
                        lower,
                        upper,
                        follower: None,
                    }));
            }
        }
    }

    /// Adds what resists at a state of the mechanism to `tau`.
    pub fn add(&mut self, q: &[f64], v: &[f64], tau: &mut [f64]) -> Result<()> {
        if self.passive {
            let (own, followers) = (&self.slip, &self.follower_slip);
            self.mechanism
                .passive_at(q, v, |i| own[i], |k| followers[k], &mut self.room)?;
            tau.iter_mut().zip(&self.room).for_each(|(tau, x)| *tau += x);
        }
        for stop in &self.stops {
            tau[stop.v] += stop.torque(&self.inertia, q[stop.q], v[stop.v], self.time);
        }
        for &(at, to, limit) in &self.ball_stops {
            let (angle, axis) = turn_of(&q[at..at + 4]);
            if angle > limit {
                let rate = axis.dot(Vec3::new(v[to], v[to + 1], v[to + 2]));
                let torque = axis * (-self.inertia.independent[to] * push(angle - limit, rate, self.time));
                for (tau, x) in tau[to..to + 3].iter_mut().zip(torque.to_array()) {
                    *tau += x;
                }
            }
        }
        Ok(())
    }

    /// ∂/∂q, nv × nv, and the diagonal of ∂/∂q̇ of what resists at a state but for stops.
    pub(crate) fn derivatives(&self, q: &[f64], v: &[f64], by_q: &mut [f64], by_qd: &mut [f64]) -> Result<()> {
        if !self.passive {
            by_q.fill(0.0);
            by_qd.fill(0.0);
            return Ok(());
        }
        let (own, followers) = (&self.slip, &self.follower_slip);
        self.mechanism
            .passive_derivatives_at(q, v, |i| own[i], |k| followers[k], by_q, by_qd)
    }
}

impl Stop {
    /// What it exerts on the coordinate y.
    fn torque(&self, inertia: &Inertias, y: f64, yd: f64, time: f64) -> f64 {
        let (mut at, mut slope, mut bend, mut steep) = (y, 1.0, 0.0, 0.0);
        let mut least = inertia.independent[self.v];
        if let Some((follower, place)) = &self.follower {
            [at, slope, bend, _] = follower.at(y);
            let shown = inertia.followers[*place];
            steep = shown.steep;
            // The leader shows at least what it shows anywhere, and what its follower does.
            let own = shown.inertia * slope.abs().min(steep).powi(2);
            least = if own.is_finite() { least.max(own) } else { least };
        }
        let (over, under) = (at - self.upper, self.lower - at);
        let (depth, outward) = if over > 0.0 { (over, slope) } else { (under, -slope) };
        if depth.is_nan() || depth <= 0.0 {
            return 0.0;
        }
        let square = slope.abs().max(FLAT * steep).powi(2) + bend.abs() * depth;
        // As the leader sees them; where the follower stands, nothing can be done by its leader.
        let (way, rate) = (depth * slope.abs() / square, yd * outward * slope.abs() / square);
        if way > 0.0 && way.is_finite() {
            -outward.signum() * least * push(way, rate, time)
        } else {
            0.0
        }
    }
}

/// What a stop exerts on a unit of inertia.
fn push(depth: f64, rate: f64, time: f64) -> f64 {
    let fade = depth / (depth + SKIN * time * rate.abs());
    (depth.min(DEEP) / (time * time) + 4.0 * rate / time * fade).max(0.0)
}

/// How many configurations are looked at for the inertia of joints.
const SEEDS: u64 = 8;

/// The stop of a joint that follows another: by a ratio it is one of its leader's. None if the joint never moves.
fn follower_stop(mechanism: &Mechanism, joint: usize, [q, v]: [usize; 2], limits: (f64, f64)) -> Option<Stop> {
    let (lower, upper) = limits;
    let bent = &mechanism.passive.followers;
    let own = |f: &Resisted| mechanism.joint_of_any_dof(f.follower.v).0.index() == joint;
    if let Some(place) = bent.iter().position(own) {
        return Some(Stop {
            q,
            v,
            lower,
            upper,
            follower: Some((bent[place].follower.clone(), place)),
        });
    }
    let [offset, ratio, _] = mechanism.coupling_of(joint, 0.0);
    let ends = [(lower - offset) / ratio, (upper - offset) / ratio];
    (ratio != 0.0).then(|| Stop {
        q,
        v,
        lower: ends[0].min(ends[1]),
        upper: ends[0].max(ends[1]),
        follower: None,
    })
}

impl Inertias {
    fn filled(inertia: f64, nv: usize, followers: usize) -> Self {
        Self {
            independent: vec![inertia; nv],
            followers: vec![Shown { inertia, steep: 0.0 }; followers],
        }
    }

    /// Those of several configurations within the limits; of ball joints with stops, the least about any axis.
    fn of(mechanism: &Mechanism, balls: &[(usize, usize, f64)]) -> Result<Self> {
        let (nv, bent) = (mechanism.nv(), &mechanism.passive.followers);
        let mut workspace = mechanism.workspace();
        let (mut inverse, mut least) = (vec![0.0; nv * nv], Self::filled(f64::INFINITY, nv, bent.len()));
        let mut problem = None;
        for seed in 0..SEEDS {
            let q = mechanism.random(seed);
            let posed = workspace.at(&q);
            if let Err(e) = posed.and_then(|mut posed| posed.mass_matrix_inverse(&mut inverse)) {
                problem = Some(e);
                continue;
            }
            for (i, least) in least.independent.iter_mut().enumerate() {
                *least = least.min(inverse[i * nv + i].recip());
            }
            for &(_, v, _) in balls {
                let row = |i: usize| core::array::from_fn(|j| inverse[(v + i) * nv + v + j]);
                let most = Eigen::<3>::new([row(0), row(1), row(2)]).largest();
                least.independent[v..v + 3]
                    .iter_mut()
                    .for_each(|x| *x = x.min(most.recip()));
            }
            for (shown, resisted) in least.followers.iter_mut().zip(bent) {
                let [at, to] = resisted.leader;
                let [_, slope, ..] = resisted.follower.at(q[at]);
                shown.inertia = shown.inertia.min((slope * slope * inverse[to * nv + to]).recip());
                shown.steep = shown.steep.max(slope.abs());
            }
        }
        let independent = &least.independent;
        match problem {
            Some(e) if independent.iter().any(|x| x.is_infinite()) => Err(e),
            _ if independent.iter().any(|x| x.is_nan()) => Err(Error::Parameter {
                argument: "inertia",
                value: f64::NAN,
            }),
            _ => Ok(least),
        }
    }
}
