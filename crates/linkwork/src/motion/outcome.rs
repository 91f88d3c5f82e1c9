//! What inverse kinematics found.

use super::residual::Residual;
use core::fmt;

/// How a solution went. What it left of each task is in [`super::InverseKinematics::residuals`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Whether every goal is met within the tolerance.
    pub reached: bool,
    /// Steps taken, those that were refused included.
    pub iterations: usize,
    /// How often it started elsewhere.
    pub restarts: usize,
    /// ½Σe*Ge of the goals.
    pub cost: f64,
}

/// A joint at one of its limits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Binding {
    /// The joint.
    pub joint: String,
    /// Where it is.
    pub at: f64,
    /// Whether it is the upper limit.
    pub is_upper: bool,
}

/// A solution, or the nearest that was found. Displays as a sentence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct Solution {
    /// The configuration, within all limits.
    pub q: Vec<f64>,
    /// Whether every goal is met within the tolerance.
    pub reached: bool,
    /// What is left of each task, in their order.
    pub residuals: Vec<Residual>,
    /// How far loops are from closed, in metres or radians.
    pub closure: f64,
    /// The joints that are at a limit.
    pub bindings: Vec<Binding>,
    /// Steps taken, those that were refused included.
    pub iterations: usize,
    /// How often it started elsewhere.
    pub restarts: usize,
    /// The largest that is left of a goal: preferences need not be met.
    pub(super) left: f64,
    /// Per goal that is not met: what it is.
    pub(super) unmet: Vec<(String, Residual)>,
    /// Pairs of tasks that no configuration can meet both, and what they are about.
    pub(super) contradictions: Vec<([usize; 2], String)>,
}

impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reached {
            write!(f, "reached to {:.1e}", self.left)?;
        } else {
            write!(f, "not reachable: nearest is ")?;
            for (i, (name, residual)) in self.unmet.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                write!(f, "{comma}{name} off by {}", Off(*residual))?;
            }
        }
        for ([a, b], name) in &self.contradictions {
            write!(f, "; tasks {a} and {b} (from zero) contradict each other about {name}")?;
        }
        for (i, binding) in self.bindings.iter().enumerate() {
            let start = if i == 0 { "; at a limit: " } else { ", " };
            let side = if binding.is_upper { "upper" } else { "lower" };
            write!(f, "{start}`{}` ({side}, {:.6})", binding.joint, binding.at)?;
        }
        Ok(())
    }
}

/// A residual in words.
struct Off(Residual);

impl fmt::Display for Off {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Residual { angle, distance } = self.0;
        match (angle > 0.0, distance > 0.0) {
            (true, true) => write!(f, "{distance:.3e} m and {angle:.3e} rad"),
            (true, false) => write!(f, "{angle:.3e} rad"),
            _ => write!(f, "{distance:.3e} m"),
        }
    }
}
