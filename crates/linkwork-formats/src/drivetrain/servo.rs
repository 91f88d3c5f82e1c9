//! What actuators do with what they are told.

use super::muscle::{self, Flesh};
use crate::actuators::{Actuator, Lag};

/// A law of force along a line.
#[derive(Clone, Debug)]
pub(super) struct Servo {
    /// The line that it acts along, and its length per length of that.
    pub(super) line: usize,
    pub(super) ratio: f64,
    pub(super) gain: [f64; 3],
    pub(super) bias: [f64; 3],
    /// What stands in the place of gain and bias.
    pub(super) flesh: Option<Flesh>,
    pub(super) force_range: Option<[f64; 2]>,
    /// Beyond that range.
    pub(super) cogging: Option<[f64; 3]>,
}

/// How a force answers length and rate: −∂f/∂ℓ and −∂f/∂ℓ̇.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Slopes {
    pub(super) stiffness: f64,
    pub(super) damping: f64,
}

pub(super) fn within(x: f64, range: Option<[f64; 2]>) -> f64 {
    range.map_or(x, |[lower, upper]| x.max(lower).min(upper))
}

impl Servo {
    pub(super) fn new(actuator: &Actuator, line: usize, ratio: f64) -> Self {
        Self {
            line,
            ratio,
            gain: actuator.gain,
            bias: actuator.bias,
            flesh: None,
            force_range: actuator.force_range,
            cogging: actuator.cogging,
        }
    }

    /// The force at an input, a length and a rate of the actuator, and its slopes.
    pub(super) fn force(&self, a: f64, length: f64, rate: f64) -> (f64, Slopes) {
        let line = |[x0, x1, x2]: [f64; 3]| [x0 + x1 * length + x2 * rate, x1, x2];
        let flesh = self.flesh.as_ref();
        // With their derivatives by length and rate.
        let gain = flesh.and_then(|f| f.gain(length, rate)).unwrap_or(line(self.gain));
        let bias = flesh.and_then(|f| f.bias(length)).unwrap_or(line(self.bias));
        let force = gain[0] * a + bias[0];
        let bounded = within(force, self.force_range);
        // At its bounds it answers nothing.
        let mut slopes = match bounded == force {
            true => Slopes {
                stiffness: -(gain[1] * a + bias[1]),
                damping: -(gain[2] * a + bias[2]),
            },
            false => Slopes::default(),
        };
        let Some([amplitude, poles, phase]) = self.cogging else {
            return (bounded, slopes);
        };
        let (sine, cosine) = (poles * length + phase).sin_cos();
        slopes.stiffness -= amplitude * poles * cosine;
        (bounded + amplitude * sine, slopes)
    }
}

impl Actuator {
    /// What it is told, within its range.
    pub fn bounded_control(&self, control: f64) -> f64 {
        within(control, self.control_range)
    }

    /// Whether what it is told acts through an activation.
    pub fn has_activation(&self) -> bool {
        self.lag != Lag::None
    }

    /// ȧ for a control and an activation, zero where there is none.
    pub fn activation_rate(&self, control: f64, activation: f64) -> f64 {
        let u = self.bounded_control(control);
        match self.lag {
            Lag::Integrator => u,
            Lag::Filter { seconds } => (u - activation) / seconds.max(LEAST_LAG),
            Lag::Muscle { rise, fall, smooth } => muscle::activation_rate([rise, fall, smooth], u, activation),
            Lag::None | Lag::Other { .. } => 0.0,
        }
    }
}

/// Filters are no quicker, in seconds.
pub(super) const LEAST_LAG: f64 = 1e-15;
