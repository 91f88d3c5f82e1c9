//! The limits of joints, held by every step.

use super::task::unsolved;
use crate::model::{Generator, JointKind, Mechanism, per_dof};
use crate::{Error, Result};
use core::f64::consts::PI;

/// How far outside a start may be by rounding.
const ROUNDING: f64 = 1e-9;
/// Halvings until a bound of a follower is found to all digits.
const HALVINGS: usize = 60;
/// How often a start is drawn until followers are within their limits.
const DRAWS: usize = 100;

/// The limits of degrees of freedom.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// Per degree of freedom: its coordinate, if that is a plain number, and the joint.
    coordinates: Vec<Option<usize>>,
    joints: Vec<usize>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Velocity limits of degrees of freedom and of followers, and the longest step that they allow now.
    velocities: Vec<f64>,
    following: Vec<Follower>,
    most: Vec<f64>,
    /// How far to draw where there are no limits.
    reach: Vec<f64>,
    followers: Vec<Follower>,
}

/// A joint that follows, and its limits: of position where it follows by more than a ratio, or of velocity.
#[derive(Clone, Debug)]
struct Follower {
    joint: usize,
    dof: usize,
    limits: (f64, f64),
}

impl Limits {
    pub(super) fn new(m: &Mechanism) -> Result<Self> {
        let bounds = m.position_bounds();
        let mut limits = Self {
            coordinates: vec![None; m.nv()],
            joints: vec![0; m.nv()],
            lower: vec![f64::NEG_INFINITY; m.nv()],
            upper: vec![f64::INFINITY; m.nv()],
            velocities: m.velocity_limits(),
            following: Vec::new(),
            most: vec![f64::INFINITY; m.nv()],
            reach: vec![PI; m.nv()],
            followers: Vec::new(),
        };
        for (j, ((joint, q, v), lead)) in m.layout().zip(&m.leads).enumerate() {
            let own = per_dof(
                &joint.position_limits,
                joint.kind.nv(),
                (f64::NEG_INFINITY, f64::INFINITY),
            );
            if let Some(lead) = lead {
                let speed = per_dof(&joint.velocity_limit, 1, f64::INFINITY)[0];
                if speed.is_finite() {
                    limits.following.push(Follower {
                        joint: j,
                        dof: m.v_of(lead.joint).start,
                        limits: (-speed, speed),
                    });
                }
                if lead.is_curved() && (own[0].0.is_finite() || own[0].1.is_finite()) {
                    let dof = m.v_of(lead.joint).start;
                    let limits_of_one = own[0];
                    limits.followers.push(Follower {
                        joint: j,
                        dof,
                        limits: limits_of_one,
                    });
                }
                continue;
            }
            limits.joints[v.clone()].fill(j);
            if joint.kind.is_curved() {
                let never = joint.limits_turn() && joint.turn_limit().is_none();
                if !never && own.iter().any(|(a, b)| a.is_finite() || b.is_finite()) {
                    return Err(Error::Joint {
                        joint: joint.name.clone(),
                        problem: "its position limits cannot be held by inverse kinematics, for they are of a free, planar or \
                                  spherical joint; take them away by `Mechanism::with_joint`"
                            .to_owned(),
                    });
                }
                limits.reach[v.clone()].iter_mut().enumerate().for_each(|(i, reach)| {
                    let turns = if joint.kind == JointKind::Planar { i < 1 } else { i < 3 };
                    *reach = if turns { PI } else { 1.0 };
                });
                continue;
            }
            for (at, dof) in q.zip(v) {
                let (lower, upper) = (bounds.lower[at], bounds.upper[at]);
                if lower.is_nan() || upper.is_nan() || lower > upper {
                    return Err(Error::Joint {
                        joint: joint.name.clone(),
                        problem: format!(
                            "its limits and those of joints that follow it leave nothing: [{lower}, {upper}]; widen them"
                        ),
                    });
                }
                limits.coordinates[dof] = Some(at);
                (limits.lower[dof], limits.upper[dof]) = (lower, upper);
            }
        }
        Ok(limits)
    }

    /// Per degree of freedom: its coordinate, if that is a plain number, and the bounds; for mechanisms without curved followers.
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    pub(super) fn plain_bounds(&self) -> (Vec<Option<usize>>, Vec<(f64, f64)>) {
        let bounds = self.lower.iter().copied().zip(self.upper.iter().copied());
        (self.coordinates.clone(), bounds.collect())
    }

    /// Brings what is outside by rounding alone inside. An error for what is further out.
    pub(super) fn check_start(&self, m: &Mechanism, q: &mut [f64]) -> Result<()> {
        let outside = |joint: usize, x: f64, (lower, upper): (f64, f64)| Error::Joint {
            joint: m.joints()[joint].name.clone(),
            problem: format!(
                "the start has it at {x}, outside its limits [{lower}, {upper}]; start inside, for instance by `Mechanism::clamp`"
            ),
        };
        for (dof, at) in self.coordinates.iter().enumerate() {
            let Some(at) = *at else { continue };
            let (lower, upper) = (self.lower[dof], self.upper[dof]);
            let within = q[at].clamp(lower, upper);
            if (within - q[at]).abs() > ROUNDING * (1.0 + q[at].abs()) {
                return Err(outside(self.joints[dof], q[at], (lower, upper)));
            }
            q[at] = within;
        }
        for f in &self.followers {
            if let Some(x) = self.outside(m, f, q) {
                return Err(outside(f.joint, x, f.limits));
            }
        }
        Ok(())
    }

    /// Where a follower is, if that is outside its limits.
    fn outside(&self, m: &Mechanism, f: &Follower, q: &[f64]) -> Option<f64> {
        let y = q[self.coordinates[f.dof]?];
        let [x, ..] = m.leads[f.joint].as_ref()?.at(y);
        let slack = ROUNDING * (1.0 + x.abs());
        (!(x >= f.limits.0 - slack && x <= f.limits.1 + slack)).then_some(x)
    }

    /// How much of a step of one degree of freedom its limits allow, if not all.
    pub(super) fn shortened(&self, m: &Mechanism, q: &[f64], dof: usize, step: f64) -> Option<f64> {
        let most = self.most[dof];
        let slower = step.clamp(-most, most);
        let Some(at) = self.coordinates[dof] else {
            return (slower != step).then_some(slower);
        };
        let y = q[at];
        let mut to = (y + slower).clamp(self.lower[dof], self.upper[dof]);
        for f in self.followers.iter().filter(|f| f.dof == dof) {
            let Some(lead) = &m.leads[f.joint] else { continue };
            let fits = |y: f64| {
                let [x, ..] = lead.at(y);
                x >= f.limits.0 && x <= f.limits.1
            };
            if fits(to) {
                continue;
            }
            let (mut good, mut bad) = (y, to);
            for _ in 0..HALVINGS {
                let middle = 0.5 * (good + bad);
                if fits(middle) {
                    good = middle;
                } else {
                    bad = middle;
                }
            }
            to = good;
        }
        match to == y + slower {
            true => (slower != step).then_some(slower),
            false => Some(to - y),
        }
    }

    /// Lets steps be no longer than velocity limits allow at q in a period; as long as they like without one.
    pub(super) fn within_velocities(&mut self, period: Option<(&Mechanism, &[f64], f64)>) {
        let Some((m, q, period)) = period else {
            return self.most.fill(f64::INFINITY);
        };
        for (most, limit) in self.most.iter_mut().zip(&self.velocities) {
            *most = limit * period;
        }
        for f in &self.following {
            let (Some(at), Some(lead)) = (self.coordinates[f.dof], &m.leads[f.joint]) else {
                continue;
            };
            let [_, ratio, ..] = lead.at(q[at]);
            self.most[f.dof] = self.most[f.dof].min(f.limits.1 * period / ratio.abs());
        }
    }

    /// Brings coordinates that rounding has carried over a bound back to it.
    pub(super) fn clamp(&self, q: &mut [f64]) {
        for (dof, at) in self.coordinates.iter().enumerate() {
            if let Some(at) = *at {
                q[at] = q[at].clamp(self.lower[dof], self.upper[dof]);
            }
        }
    }

    /// Whether a degree of freedom is at a bound that a push would carry it over.
    pub(super) fn holds(&self, q: &[f64], dof: usize, push: f64) -> bool {
        let Some(at) = self.coordinates[dof] else { return false };
        (q[at] <= self.lower[dof] && push < 0.0) || (q[at] >= self.upper[dof] && push > 0.0)
    }

    /// A start somewhere else, within limits: uniform between two of them, and within π or 1 m of `start` without.
    pub(super) fn draw(&self, m: &Mechanism, random: &mut Generator, start: &[f64], v: &mut [f64], q: &mut [f64]) {
        for _ in 0..DRAWS {
            for (v, reach) in v.iter_mut().zip(&self.reach) {
                *v = reach * (2.0 * random.unit() - 1.0);
            }
            m.integrate_unchecked(start, v, q);
            for (dof, at) in self.coordinates.iter().enumerate() {
                let (lower, upper, t) = (self.lower[dof], self.upper[dof], random.unit());
                let Some(at) = *at else { continue };
                q[at] = match (lower.is_finite(), upper.is_finite()) {
                    (true, true) => (lower * (1.0 - t) + upper * t).clamp(lower, upper),
                    _ => q[at].clamp(lower, upper),
                };
            }
            if self.followers.iter().all(|f| self.outside(m, f, q).is_none()) {
                return;
            }
        }
        q.copy_from_slice(start);
    }

    /// The joints at a limit: their number, where they are, and whether it is the upper one.
    pub(super) fn binding(&self, m: &Mechanism, q: &[f64]) -> Vec<(usize, f64, bool)> {
        let mut found = Vec::new();
        let mut note = |joint: usize, x: f64, (lower, upper): (f64, f64)| {
            let near = ROUNDING * (1.0 + x.abs());
            if x - lower <= near {
                found.push((joint, x, false));
            } else if upper - x <= near {
                found.push((joint, x, true));
            }
        };
        for (dof, at) in self.coordinates.iter().enumerate() {
            if let Some(at) = *at {
                note(self.joints[dof], q[at], (self.lower[dof], self.upper[dof]));
            }
        }
        for f in &self.followers {
            if let (Some(at), Some(lead)) = (self.coordinates[f.dof], &m.leads[f.joint]) {
                note(f.joint, lead.at(q[at])[0], f.limits);
            }
        }
        found
    }

    /// An error unless a degree of freedom is left.
    pub(super) fn check_any(&self) -> Result<()> {
        match self.joints.is_empty() {
            false => Ok(()),
            true => Err(unsolved("the mechanism has no degrees of freedom".to_owned())),
        }
    }
}
