//! Coulomb's law by passes that each are convex.
//!
//! Convex friction makes what slides separate at μ times its speed. First the bounds b = μγ_n of friction are held and found as a
//! fixed point; where that does not settle, the cone is shifted: v̂_n less μ times the sliding speed. Both end at the same law.

use super::Settings;
use super::cone::Law;
use super::mixing::Mixing;
use super::newton::Newton;
use super::rows::{Line, Point};
use crate::Result;
use crate::workspace::AugmentedMass;

/// The most passes of each kind.
const HELD: usize = 8;
const SHIFTED: usize = 20;

/// How the passes went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passes {
    pub(super) settled: bool,
    pub(super) count: usize,
    pub(super) change: f64,
}

impl Passes {
    /// Where there is nothing to settle.
    pub(super) fn none() -> Self {
        Self {
            settled: true,
            ..Self::default()
        }
    }
}

/// Numbers per contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Coulomb {
    /// μγ_n of the last step, where there was one: where bounds start.
    pub(super) bounds: Vec<f64>,
    trial: Vec<f64>,
    next: Vec<f64>,
    /// v̂_n before the cones are shifted.
    before: Vec<f64>,
    mixing: Mixing,
}

/// The largest difference, relative to the largest number.
fn change(x: &[f64], y: &[f64]) -> f64 {
    let largest = y.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    let most = x.iter().zip(y).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
    if largest > 0.0 { most / largest } else { most }
}

impl Coulomb {
    /// From the present v to a velocity that obeys Coulomb's law.
    pub(super) fn solve(
        &mut self,
        newton: &mut Newton,
        a: &mut AugmentedMass<'_>,
        points: &mut [Point],
        lines: &mut [Line],
        settings: &Settings,
    ) -> Result<Passes> {
        let mut passes = Passes::default();
        self.trial.clear();
        self.trial.extend_from_slice(&self.bounds);
        self.mixing.restart();
        for _ in 0..HELD {
            for (point, b) in points.iter_mut().zip(&self.trial) {
                point.law = Law::Bound(*b);
            }
            passes.count += 1;
            let minimal = newton.minimize(a, points, lines, settings)?;
            self.next.clear();
            self.next.extend(points.iter().map(|p| p.cone.mu * p.gamma[0]));
            passes.change = change(&self.trial, &self.next);
            if minimal && passes.change <= settings.coulomb_tolerance {
                passes.settled = true;
                return Ok(passes);
            }
            self.mixing.advance(&mut self.trial, &self.next);
        }
        self.shift(newton, a, points, lines, settings, passes)
    }

    /// The cone, shifted by the sliding speed.
    fn shift(
        &mut self,
        newton: &mut Newton,
        a: &mut AugmentedMass<'_>,
        points: &mut [Point],
        lines: &mut [Line],
        settings: &Settings,
        mut passes: Passes,
    ) -> Result<Passes> {
        self.before.clear();
        self.before.extend(points.iter().map(|p| p.v_hat[0]));
        let slip = |p: &Point| {
            let rows = 1..p.cone.rows;
            let square = rows
                .map(|i| (p.u[i] + p.cone.r_t * p.gamma[i] - p.v_hat[i]).powi(2))
                .sum::<f64>();
            p.cone.mu * square.sqrt()
        };
        self.trial.clear();
        self.trial.extend(points.iter().map(slip));
        self.mixing.restart();
        for _ in 0..SHIFTED {
            for ((point, v_hat), shift) in points.iter_mut().zip(&self.before).zip(&self.trial) {
                point.law = Law::Cone;
                point.v_hat[0] = v_hat - shift;
            }
            passes.count += 1;
            let minimal = newton.minimize(a, points, lines, settings)?;
            self.next.clear();
            self.next.extend(points.iter().map(slip));
            passes.change = change(&self.trial, &self.next);
            if minimal && passes.change <= settings.coulomb_tolerance {
                passes.settled = true;
                break;
            }
            self.mixing.advance(&mut self.trial, &self.next);
        }
        for (point, v_hat) in points.iter_mut().zip(&self.before) {
            point.v_hat[0] = *v_hat;
        }
        Ok(passes)
    }
}
