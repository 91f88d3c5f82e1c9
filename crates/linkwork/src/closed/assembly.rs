//! Configurations that close the loops.

use super::ClosedMechanism;
use super::multipliers::{Level, Memory};
use super::posed::{ClosedPosed, ClosedWorkspace};
use crate::dense::{Semidefinite, add_scaled, dot};
use crate::workspace::Configured;
use crate::{Error, Result};

/// Loops count as closed when every gap is below this, in metres and radians.
const CLOSED: f64 = 1e-10;
/// Gaps that are left although nothing moves them closer count as rounding in the numbers of a file below this part of the
/// largest distance between frames.
const ROUNDED: f64 = 1e-7;
/// Below this, more steps are rounding.
const EXACT: f64 = 1e-14;
/// J's remainder below this part of the largest column counts as zero.
const INDEPENDENT: f64 = 1e-7;

impl ClosedMechanism {
    /// A configuration near q that closes all loops, by damped Gauss–Newton steps of least norm.
    pub fn assemble(&self, q: &[f64]) -> Result<Vec<f64>> {
        self.assemble_holding(q, &[])
    }

    /// The same with some joints held where they are: set the cranks, and let the rest follow.
    pub fn assemble_holding(&self, q: &[f64], held: &[&str]) -> Result<Vec<f64>> {
        let m = &self.mechanism;
        let mut fixed = vec![false; m.nv()];
        for name in held {
            fixed[m.v_range(m.joint(name)?)?].fill(true);
        }
        let mut workspace = self.workspace();
        let mut best = q.to_vec();
        m.normalise(&mut best)?;
        let mut closest = workspace.at(&best)?.cost();
        // Other starts, further and further away, where the first leads nowhere.
        const STARTS: u64 = 6;
        let mut step = vec![0.0; m.nv()];
        for start in 0..STARTS {
            let mut from = best.clone();
            if start > 0 {
                let mut state = start;
                for (x, fixed) in step.iter_mut().zip(&fixed) {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
                    *x = if *fixed {
                        0.0
                    } else {
                        0.2 * start as f64 * (2.0 * unit - 1.0)
                    };
                }
                m.integrate(q, &step, &mut from)?;
            }
            let cost = workspace.descend(&mut from, &fixed)?;
            if cost < closest {
                (best, closest) = (from, cost);
            }
            let open = workspace.at(&best)?.closure();
            if open <= CLOSED || open <= self.rounded() {
                return Ok(best);
            }
        }
        Err(workspace.at(&best)?.open())
    }
}

impl ClosedMechanism {
    /// What files with some seven digits leave open of loops that have more constraints than they need.
    fn rounded(&self) -> f64 {
        let joints = self.mechanism.joints().iter().map(|j| j.origin.translation.norm());
        let frames = self.mechanism.frames().iter().map(|f| f.pose.translation.norm());
        let reach = joints.chain(frames).fold(0.0, f64::max);
        (ROUNDED * reach).clamp(CLOSED, ROUNDED)
    }
}

impl ClosedWorkspace {
    /// Brings q back to the nearest configuration, in the metric of 𝓜, at which all loops close: what to do after each
    /// step of an integrator. The remaining closure is the result.
    pub fn project(&mut self, q: &mut [f64]) -> Result<f64> {
        let mut next = core::mem::take(&mut self.next);
        let done = self.newton(q, &mut next);
        self.next = next;
        let open = done?;
        if open <= CLOSED || open <= self.closed.rounded() {
            return Ok(open);
        }
        Err(self.at(q)?.open())
    }

    /// Newton's steps in the metric of 𝓜 as long as they help.
    fn newton(&mut self, q: &mut [f64], next: &mut [f64]) -> Result<f64> {
        const STEPS: usize = 12;
        let mut posed = self.at(q)?;
        let mut open = posed.closure();
        for _ in 0..STEPS {
            if open <= EXACT {
                break;
            }
            let (closed, memory) = (posed.closed, &mut *posed.memory);
            for (lambda, gap) in memory.lambda.iter_mut().zip(&memory.gaps) {
                *lambda = -gap;
            }
            memory.resolve(closed, &mut posed.tree, Level::Position)?;
            closed.mechanism.integrate(q, &memory.change, next)?;
            posed = self.at(next)?;
            let closer = posed.closure();
            if closer >= open {
                break;
            }
            q.copy_from_slice(next);
            let stalls = closer > 0.5 * open;
            open = closer;
            if stalls {
                break;
            }
        }
        Ok(open)
    }

    /// Levenberg and Marquardt's steps from q; the sum of squares they end at.
    fn descend(&mut self, q: &mut [f64], fixed: &[bool]) -> Result<f64> {
        const STEPS: usize = 200;
        const LONGEST: f64 = 1.0;
        let closed = &self.closed.clone();
        let (rows, nv) = (closed.plan.rows, closed.mechanism.nv());
        let (mut gram, mut y) = (vec![0.0; rows * rows], vec![0.0; rows]);
        let (mut step, mut next) = (vec![0.0; nv], q.to_vec());
        let mut solver = Semidefinite::new(rows);
        let mut damping = 1e-3;
        let mut cost = self.at(q)?.cost();
        for _ in 0..STEPS {
            if cost <= EXACT * EXACT {
                break;
            }
            let posed = self.at(q)?;
            let memory = posed.memory;
            let mut tree = posed.tree;
            memory.choose(closed, Level::Position);
            memory.fill_held_jacobian(closed, &mut tree);
            for row in memory.jacobian[..rows * nv].chunks_exact_mut(nv) {
                for (x, _) in row.iter_mut().zip(fixed).filter(|(_, fixed)| **fixed) {
                    *x = 0.0;
                }
            }
            let j = &memory.jacobian;
            let row = |r: usize| &j[r * nv..(r + 1) * nv];
            for a in 0..rows {
                for b in 0..=a {
                    gram[a * rows + b] = dot(row(a), row(b));
                }
                gram[a * rows + a] += damping * cost.min(1.0);
                y[a] = if memory.held[a] { -memory.gaps[a] } else { 0.0 };
            }
            solver.factor(&gram, 0.0);
            solver.solve(&mut y);
            step.fill(0.0);
            for (a, y) in y.iter().enumerate() {
                add_scaled(&mut step, *y, row(a));
            }
            let length = dot(&step, &step).sqrt();
            if length > LONGEST {
                step.iter_mut().for_each(|x| *x *= LONGEST / length);
            }
            closed.mechanism.integrate(q, &step, &mut next)?;
            let after = self.at(&next)?.cost();
            if after < cost {
                let stalled = after > 0.999_999 * cost && damping > 1e3;
                q.copy_from_slice(&next);
                cost = after;
                damping = (damping * 0.1).max(1e-9);
                if stalled {
                    break;
                }
            } else {
                damping *= 10.0;
                if damping > 1e12 || length < 1e-15 {
                    break;
                }
            }
        }
        Ok(cost)
    }
}

impl ClosedPosed<'_> {
    /// Half the sum of squared gaps, with an axis that points the wrong way counted.
    fn cost(&self) -> f64 {
        0.5 * self
            .memory
            .open
            .iter()
            .zip(self.closed.ties.iter())
            .fold(0.0, |sum, (open, tie)| {
                let gaps = self.memory.gaps[tie.rows.clone()].iter();
                let broken = gaps.map(|gap| tie.side.violation(*gap).abs());
                let (squares, largest) = broken.fold((0.0, 0.0), |(s, m): (f64, f64), x| (s + x * x, m.max(x)));
                sum + squares + (open - largest).powi(2)
            })
    }

    /// The error that says which loop is furthest from closed.
    fn open(&self) -> Error {
        let memory = &self.memory;
        let worst = (0..memory.open.len()).fold(0, |m, i| if memory.open[i] > memory.open[m] { i } else { m });
        Error::Open {
            constraint: self.closed.constraints[worst].name.clone(),
            gap: memory.open[worst],
        }
    }

    /// An orthonormal basis of the velocities that the constraints allow, one per row of nv numbers, and how many.
    /// One-sided constraints that touch are held.
    pub fn free_directions(&mut self, out: &mut Vec<f64>) -> usize {
        self.memory.choose(self.closed, Level::Velocity);
        let basis = self.memory.free_directions(self.closed, &mut self.tree);
        let nv = self.closed.mechanism.nv();
        *out = basis;
        out.len() / nv.max(1)
    }

    /// N𝓜N* for the rows N of [`ClosedPosed::free_directions`]: the mass matrix that the constraints leave, k × k.
    pub fn free_mass_matrix(&mut self, out: &mut Vec<f64>) -> Result<usize> {
        let mut basis = Vec::new();
        let k = self.free_directions(&mut basis);
        let nv = self.closed.mechanism.nv();
        out.clear();
        let mut moved = vec![0.0; nv];
        for row in basis.chunks_exact(nv) {
            self.tree.mass_times(row, &mut moved)?;
            out.extend(basis.chunks_exact(nv).map(|other| dot(other, &moved)));
        }
        Ok(k)
    }

    /// The accelerations that torques give at rest without gravity: x → (𝓜⁻¹ − 𝓜⁻¹J*W⁺J𝓜⁻¹) x, the inverse of the mass
    /// matrix on what the constraints leave.
    pub fn inverse_mass_times(&mut self, x: &[f64], out: &mut [f64]) -> Result<()> {
        self.tree.inverse_mass_times(x, out)?;
        self.memory.choose(self.closed, Level::Velocity);
        self.memory.keep_held(self.closed, &mut self.tree, out)
    }
}

impl Memory {
    /// A basis of what the rows that are held leave free.
    pub(super) fn free_directions(&mut self, closed: &ClosedMechanism, tree: &mut Configured<'_>) -> Vec<f64> {
        let (rows, nv) = (closed.plan.rows, closed.mechanism.nv());
        self.fill_held_jacobian(closed, tree);
        let rank = self
            .decomposed
            .factor(rows, nv, &self.jacobian[..rows * nv], INDEPENDENT);
        let mut basis = vec![0.0; (nv - rank) * nv];
        for (i, row) in basis.chunks_exact_mut(nv.max(1)).enumerate() {
            self.decomposed.null_vector(i, row);
        }
        basis
    }
}
