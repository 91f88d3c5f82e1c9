//! What resists the joints by itself: springs, dampers, dry friction and stops.

use crate::model::{Follower, JointId, Mechanism, SLOW, per_dof};
use crate::{Error, Result};

/// How fast a stop brings a joint to rest, in seconds, unless steps are too long for that.
const FIRM: f64 = 5e-3;
/// The depth over which the damper of a stop fades in, in rad or m.
const SKIN: f64 = 1e-3;

/// The resistance of joints: what [`Moving::passive_torque`](crate::workspace::Moving::passive_torque) says, and stops at
/// the joints' position limits.
///
/// Dry friction is friction · q̇/√(q̇² + v₀²), with v₀ = 10⁻³ rad/s or m/s.
///
/// A stop is a critically damped spring that only pushes. At a depth x beyond the limit it exerts k x + c ẋ, or nothing
/// where that would pull, with k = I/T², c = 2I/T and T = 5 ms. I is the inertia that the joint shows with all others
/// free, the least of several configurations. The damper fades in over the first 10⁻³ rad or m. So joints come to
/// rest without bouncing, a few T after touching their limit.
///
/// Both are stiff, and explicit steps of a length h bear only so much: [`Resistance::for_steps`] makes them softer where
/// needed. Limits of planar, spherical and free joints have no stops.
#[derive(Clone, Debug)]
pub struct Resistance {
    /// Whether there are springs, dampers or friction.
    passive: bool,
    slip: Vec<f64>,
    stops: Vec<Stop>,
    /// The joints whose limits have no stops.
    unstopped: Vec<JointId>,
    /// 1/(𝓜⁻¹)ᵢᵢ where it is needed, else nought.
    inertia: Vec<f64>,
    room: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Stop {
    q: usize,
    v: usize,
    lower: f64,
    upper: f64,
    k: f64,
    c: f64,
    /// The joint that it stops, if that is one which follows by more than a ratio, and the most it turns as its leader does.
    follower: Option<(Follower, f64)>,
}

impl Resistance {
    /// Nothing at all, whatever the mechanism says.
    pub fn none(mechanism: &Mechanism) -> Self {
        Self {
            passive: false,
            slip: vec![SLOW; mechanism.nv()],
            stops: Vec::new(),
            unstopped: Vec::new(),
            inertia: vec![0.0; mechanism.nv()],
            room: vec![0.0; mechanism.nv()],
        }
    }

    /// All that the mechanism says. An error if nothing resists a joint at any of the configurations looked at.
    pub fn of(mechanism: &Mechanism) -> Result<Self> {
        let mut all = Self::none(mechanism);
        let passive = &mechanism.passive;
        let some = |list: &[f64]| list.iter().any(|x| *x != 0.0);
        all.passive = passive.is_any();
        all.find_stops(mechanism);
        if !all.stops.is_empty() || some(&passive.friction) {
            all.inertia = inertias(mechanism)?;
        }
        all.harden(FIRM);
        Ok(all)
    }

    /// The same without stops at the position limits.
    pub fn without_stops(mut self) -> Self {
        self.stops.clear();
        self.unstopped.clear();
        self
    }

    /// Soft enough for explicit steps of length h: T is at least 4h, and v₀ at least what friction changes in a step.
    pub fn for_steps(mut self, mechanism: &Mechanism, h: f64) -> Self {
        for (i, slip) in self.slip.iter_mut().enumerate() {
            let friction = mechanism.passive.friction[i];
            if friction > 0.0 {
                *slip = (friction * h / self.inertia[i]).max(SLOW);
            }
        }
        self.harden(FIRM.max(4.0 * h));
        self
    }

    /// Whether anything resists.
    pub fn is_any(&self) -> bool {
        self.passive || !self.stops.is_empty()
    }

    /// The joints that have limits but, being planar, spherical or free, no stops.
    pub fn unstopped(&self) -> &[JointId] {
        &self.unstopped
    }

    /// v₀ of the dry friction at every degree of freedom, in rad/s or m/s.
    pub fn slip_speeds(&self) -> &[f64] {
        &self.slip
    }

    fn find_stops(&mut self, mechanism: &Mechanism) {
        for (j, joint) in mechanism.joints().iter().enumerate() {
            let j = JointId(j);
            let free = (f64::NEG_INFINITY, f64::INFINITY);
            let limits = per_dof(&joint.position_limits, joint.kind.nv(), free);
            let limited = limits.iter().any(|(a, b)| a.is_finite() || b.is_finite());
            if limited && joint.kind.is_curved() {
                self.unstopped.push(j);
            } else if let (true, Some(leader)) = (limited, mechanism.follows(j)) {
                let (q, v) = (mechanism.q_range(leader).start, mechanism.v_range(leader).start);
                self.stops.extend(follower_stop(mechanism, j, [q, v], limits[0]));
            } else if limited {
                let (q, v) = (mechanism.q_range(j).start, mechanism.v_range(j).start);
                self.stops
                    .extend(limits.into_iter().enumerate().map(|(i, (lower, upper))| Stop {
                        q: q + i,
                        v: v + i,
                        lower,
                        upper,
                        k: 0.0,
                        c: 0.0,
                        follower: None,
                    }));
            }
        }
    }

    fn harden(&mut self, time: f64) {
        for stop in &mut self.stops {
            let steep = stop.follower.as_ref().map_or(1.0, |(_, steep)| *steep);
            let inertia = self.inertia[stop.v] / (steep * steep);
            stop.k = inertia / (time * time);
            stop.c = 2.0 * inertia / time;
        }
    }

    /// Adds what resists at a state to `tau`.
    pub fn add(&mut self, mechanism: &Mechanism, q: &[f64], v: &[f64], tau: &mut [f64]) -> Result<()> {
        if self.passive {
            mechanism.passive_at(q, v, |i| self.slip[i], &mut self.room)?;
            tau.iter_mut().zip(&self.room).for_each(|(tau, x)| *tau += x);
        }
        for stop in &self.stops {
            let (mut q, mut v, mut slope) = (q[stop.q], v[stop.v], 1.0);
            if let Some((follower, _)) = &stop.follower {
                [q, slope, ..] = follower.at(q);
                v *= slope;
            }
            let over = q - stop.upper;
            if over > 0.0 {
                tau[stop.v] -= slope * stop.push(over, v);
            }
            let under = stop.lower - q;
            if under > 0.0 {
                tau[stop.v] += slope * stop.push(under, -v);
            }
        }
        Ok(())
    }
}

impl Stop {
    fn push(&self, depth: f64, rate: f64) -> f64 {
        let fade = (depth / SKIN).min(1.0);
        (self.k * depth + self.c * fade * rate).max(0.0)
    }
}

/// How many configurations are looked at for the inertia of joints.
const SEEDS: u64 = 8;

/// The stop of a joint that follows another: by a ratio it is one of its leader's. None if the joint never moves.
fn follower_stop(mechanism: &Mechanism, joint: JointId, [q, v]: [usize; 2], limits: (f64, f64)) -> Option<Stop> {
    let (lower, upper) = limits;
    let reduction = mechanism.compiled.reduction.as_ref()?;
    let own = |f: &&Follower| mechanism.joint_of_any_dof(f.v).0 == joint;
    let follower = reduction.followers.iter().find(own)?;
    let (k, c) = (0.0, 0.0);
    if follower.is_curved() {
        let slopes = (0..SEEDS).map(|seed| mechanism.coupling_at(joint, mechanism.random(seed)[q])[1].abs());
        let steep = slopes.filter(|x| x.is_finite()).fold(0.0, f64::max);
        let follower = (steep > 0.0).then(|| (follower.clone(), steep))?;
        return Some(Stop {
            q,
            v,
            lower,
            upper,
            k,
            c,
            follower: Some(follower),
        });
    }
    let [offset, ratio, _] = mechanism.coupling_at(joint, 0.0);
    let ends = [(lower - offset) / ratio, (upper - offset) / ratio];
    (ratio != 0.0).then(|| Stop {
        q,
        v,
        lower: ends[0].min(ends[1]),
        upper: ends[0].max(ends[1]),
        k,
        c,
        follower: None,
    })
}

/// 1/(𝓜⁻¹)ᵢᵢ, the least at several configurations within the limits.
fn inertias(mechanism: &Mechanism) -> Result<Vec<f64>> {
    let nv = mechanism.nv();
    let mut workspace = mechanism.workspace();
    let (mut inverse, mut least) = (vec![0.0; nv * nv], vec![f64::INFINITY; nv]);
    let mut problem = None;
    for seed in 0..SEEDS {
        let posed = workspace.at(&mechanism.random(seed));
        match posed.and_then(|mut posed| posed.mass_matrix_inverse(&mut inverse)) {
            Ok(()) => {
                for (i, least) in least.iter_mut().enumerate() {
                    *least = least.min(inverse[i * nv + i].recip());
                }
            }
            Err(e) => problem = Some(e),
        }
    }
    match problem {
        Some(e) if least.iter().any(|x| x.is_infinite()) => Err(e),
        _ if least.iter().any(|x| x.is_nan()) => Err(Error::Parameter {
            argument: "inertia",
            value: f64::NAN,
        }),
        _ => Ok(least),
    }
}
