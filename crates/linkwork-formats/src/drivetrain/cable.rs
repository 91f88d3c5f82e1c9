//! What tendons do by themselves: springs, dampers, dry friction and limits.

use super::servo::Slopes;
use crate::actuators::Tendon;

/// Where dry friction is half as strong, per second, unless steps are too long for that.
const SLOW: f64 = 1e-3;
/// The time constant of limits, in seconds, and how many steps it takes at least.
const FIRM: f64 = 5e-3;
const STEPS: f64 = 8.0;

/// A tendon along a line.
#[derive(Clone, Debug)]
pub(super) struct Cable {
    pub(super) line: usize,
    pub(super) stiffness: f64,
    pub(super) rest: Option<[f64; 2]>,
    damping: f64,
    friction: f64,
    pub(super) range: Option<[f64; 2]>,
    /// The most that actuators pull with together.
    pub(super) force_range: Option<[f64; 2]>,
    /// The least that the mechanism shows along it, 1/(J𝓜⁻¹J*), where that is needed.
    pub(super) inertia: f64,
    time: f64,
    slow: f64,
}

impl Cable {
    pub(super) fn new(tendon: &Tendon, line: usize) -> Self {
        // What is folded is in the joint already, but for limits.
        let own = |x: f64| if tendon.folded { 0.0 } else { x };
        Self {
            line,
            stiffness: own(tendon.stiffness),
            rest: tendon.rest,
            damping: own(tendon.damping),
            friction: own(tendon.friction),
            range: tendon.range,
            force_range: tendon.force_range,
            inertia: 0.0,
            time: FIRM,
            slow: SLOW,
        }
    }

    /// Whether its inertia counts.
    pub(super) fn needs_inertia(&self) -> bool {
        self.range.is_some() || self.friction > 0.0
    }

    /// Whether it does anything by itself.
    pub(super) fn acts(&self) -> bool {
        self.stiffness != 0.0 || self.damping != 0.0 || self.friction != 0.0 || self.range.is_some()
    }

    /// Soft enough for explicit steps.
    pub(super) fn for_steps(&mut self, step: f64) {
        self.time = FIRM.max(STEPS * step);
        if self.inertia > 0.0 {
            self.slow = SLOW.max(self.friction * step / self.inertia);
        }
    }

    pub(super) fn without_limits(&mut self) {
        self.range = None;
    }

    /// The force along it, and its slopes.
    pub(super) fn force(&self, length: f64, rate: f64) -> (f64, Slopes) {
        let (mut force, mut slopes) = (0.0, Slopes::default());
        if let Some([lower, upper]) = self.rest.filter(|_| self.stiffness != 0.0) {
            let away = length - length.max(lower).min(upper);
            force -= self.stiffness * away;
            if away != 0.0 || lower == upper {
                slopes.stiffness += self.stiffness;
            }
        }
        force -= self.damping * rate;
        slopes.damping += self.damping;
        if self.friction != 0.0 {
            let speed = rate.hypot(self.slow);
            force -= self.friction * rate / speed;
            slopes.damping += self.friction * self.slow * self.slow / (speed * speed * speed);
        }
        if let Some([lower, upper]) = self.range {
            let depth = length - length.max(lower).min(upper);
            if depth != 0.0 {
                // An overdamped spring that only pushes back.
                let (k, c) = (self.inertia / (self.time * self.time), 4.0 * self.inertia / self.time);
                let back = -(k * depth + c * rate);
                if back * depth < 0.0 {
                    force += back;
                    slopes.stiffness += k;
                    slopes.damping += c;
                }
            }
        }
        (force, slopes)
    }
}
