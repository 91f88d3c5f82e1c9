//! Random configurations from a generator of our own: the same numbers on every machine.

use super::{Measure, exponential};
use crate::coupled::model::Lead;
use crate::model::{Joint, JointKind};
use core::f64::consts::{PI, TAU};

/// splitmix64: a counter through a mixer, so that every seed is a good one.
pub(crate) struct Generator(u64);

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        // 53 bits: every value is a multiple of 2⁻⁵³.
        (self.next() >> 11) as f64 * (0.5_f64).powi(53)
    }

    /// Uniform between two bounds, both possible.
    fn between(&mut self, (lower, upper): (f64, f64)) -> f64 {
        let t = self.unit();
        // Two products instead of a difference: wide bounds do not overflow, and rounding stays inside.
        (lower * (1.0 - t) + upper * t).clamp(lower, upper)
    }

    /// A rotation, uniform over all of them, as a quaternion (Shoemake's two circles).
    fn quaternion(&mut self) -> [f64; 4] {
        let (t, a, b) = (self.unit(), TAU * self.unit(), TAU * self.unit());
        let (inner, outer) = ((1.0 - t).sqrt(), t.sqrt());
        [inner * a.sin(), inner * a.cos(), outer * b.sin(), outer * b.cos()]
    }

    /// A configuration of one joint within its limits: none, one for all degrees of freedom, or one each.
    pub(crate) fn configuration(&mut self, kind: JointKind, limits: &[(f64, f64)]) -> Vec<f64> {
        let limit = |i: usize| match limits {
            [] => (f64::NEG_INFINITY, f64::INFINITY),
            [all] => *all,
            each => each[i],
        };
        let measures = kind.measures();
        let mut q = Vec::with_capacity(kind.nq());
        let mut rest = 0;
        if kind.has_quaternion() {
            let limited = (0..3).map(limit).any(|(a, b)| a.is_finite() || b.is_finite());
            q.extend(if let (JointKind::Spherical, &[(_, upper)]) = (kind, limits) {
                let most = upper.clamp(0.0, PI);
                self.turn_within([(-most, most); 3], most)
            } else if limited {
                self.turn_within([limit(0), limit(1), limit(2)], PI)
            } else {
                self.quaternion()
            });
            rest = 3;
        }
        q.extend((rest..measures.len()).map(|i| self.between(within(limit(i), measures[i]))));
        q
    }

    /// A rotation whose vector has its components within limits; at most by some angle where the limits allow it.
    fn turn_within(&mut self, limits: [(f64, f64); 3], most: f64) -> [f64; 4] {
        let bounds = limits.map(|(lower, upper)| (lower.max(-PI).min(upper), upper.min(PI).max(lower)));
        // Half of the widest box is within half a turn; limits that leave next to nothing of it get their least turn.
        let mut vector = bounds.map(|(lower, upper)| 0.0_f64.clamp(lower, upper));
        for _ in 0..64 {
            let drawn = bounds.map(|b| self.between(b));
            if drawn.iter().map(|x| x * x).sum::<f64>() <= most * most {
                vector = drawn;
                break;
            }
        }
        let mut turned = [0.0; 4];
        exponential::step(&JointKind::Spherical, &[0.0, 0.0, 0.0, 1.0], &vector, &mut turned);
        turned
    }
}

/// How often a leader is drawn before its followers' limits are given up.
const TRIES: usize = 1000;

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// A joint that follows another, and its limits.
pub(crate) struct Limited<'m> {
    lead: &'m Lead,
    limits: (f64, f64),
}

impl<'m> Limited<'m> {
    /// None where there are no limits.
    pub(crate) fn new(joint: &Joint, lead: &'m Lead) -> Option<Self> {
        let limits = *joint.position_limits.first()?;
        Some(Self { lead, limits })
    }

    fn admits(&self, y: f64) -> bool {
        let [q, ..] = self.lead.at(y);
        self.limits.0 <= q && q <= self.limits.1
    }

    /// Where the leader must be, if it leads by a ratio and an offset.
    fn bounds(&self) -> Option<(f64, f64)> {
        let [offset, ratio, ..] = self.lead.at(0.0);
        if self.lead.is_curved() || ratio == 0.0 {
            return None;
        }
        let (lower, upper) = self.limits;
        let ends = [(lower - offset) / ratio, (upper - offset) / ratio];
        Some((ends[0].min(ends[1]), ends[0].max(ends[1])))
    }
}

impl Generator {
    /// A coordinate of a joint that leads others: within its limits, and all others within theirs if such a one is found.
    pub(crate) fn leading(&mut self, joint: &Joint, followers: &[Limited<'_>]) -> f64 {
        let own = joint.position_limits.first().copied().unwrap_or(FREE);
        let bounds = narrowed(own, joint.kind.measures()[0], followers);
        let first = self.between(bounds);
        let mut y = first;
        for _ in 0..TRIES {
            if followers.iter().all(|follower| follower.admits(y)) {
                return y;
            }
            y = self.between(bounds);
        }
        first
    }
}

/// What followers by a ratio leave of a leader's usual range, or of its limits; all of it if they leave nothing.
fn narrowed(own: (f64, f64), measure: Measure, followers: &[Limited<'_>]) -> (f64, f64) {
    let meet = |a: (f64, f64), b: (f64, f64)| (a.0.max(b.0), a.1.min(b.1));
    let limits = followers.iter().filter_map(Limited::bounds).fold(own, meet);
    let usual = within(own, measure);
    let both = meet(usual, limits);
    if both.0 <= both.1 {
        both
    } else if limits.0 <= limits.1 {
        within(limits, measure)
    } else {
        usual
    }
}

/// Finite bounds: the limits where there are any, else the usual range, next to the limit where there is one.
fn within((lower, upper): (f64, f64), measure: Measure) -> (f64, f64) {
    let reach = match measure {
        Measure::Angle => PI,
        Measure::Length => 1.0,
    };
    match (lower.is_finite(), upper.is_finite()) {
        (true, true) => (lower, upper),
        (true, false) => (lower, lower + 2.0 * reach),
        (false, true) => (upper - 2.0 * reach, upper),
        (false, false) => (-reach, reach),
    }
}
