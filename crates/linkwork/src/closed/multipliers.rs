//! The constraints' rows at a state, and the multipliers that hold them.

use super::equation::Row;
use super::plan::Tie;
use super::system::System;
use super::{ClosedMechanism, Side};
use crate::Result;
use crate::dense::{Orthogonal, add_scaled, dot};
use crate::spatial::{Force, Motion, Pose};
use crate::workspace::Configured;

/// Rows of J below this, in metres and radians, move nothing.
const TINY: f64 = 1e-11;

/// One-sided constraints touch below this gap, in metres and radians.
pub(super) const TOUCHES: f64 = 1e-10;
/// They stay together below this speed of parting.
const STAYS: f64 = 1e-9;

/// What rows act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Displacements: rows of velocities alone have no part, and one-sided ones only where they are violated.
    Position,
    /// Velocities: one-sided rows where they touch.
    Velocity,
    /// Accelerations: one-sided rows where they touch and do not part.
    Acceleration,
}

/// What has been computed at the present configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Nothing,
    Rows,
    Factors,
}

/// A one-sided row that may hold.
#[derive(Clone, Copy, Debug)]
struct Sided {
    tie: usize,
    row: usize,
    sign: f64,
}

/// What is known about the constraints at the present state.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) system: System,
    known: Known,
    /// The rows that hold, those that were factored, and those that are one-sided and may hold, with their signs.
    pub(super) held: Vec<bool>,
    factored: Vec<bool>,
    sided: Vec<Sided>,
    wanted: Vec<f64>,
    /// Poses and velocities of both frames of every constraint, in the world's axes.
    pub(super) poses: Vec<[Pose; 2]>,
    pub(super) velocities: Vec<[Motion; 2]>,
    pub(super) rows: Vec<Row>,
    pub(super) gaps: Vec<f64>,
    /// Per constraint, how far it is from closed.
    pub(super) open: Vec<f64>,
    pub(super) lambda: Vec<f64>,
    pub(super) innovations: Vec<f64>,
    pub(super) change: Vec<f64>,
    /// The forces of up to six rows on a frame, and what they give along its way.
    forces: [f64; 36],
    way: Vec<f64>,
    /// J, where it is asked for, and its decomposition.
    pub(super) jacobian: Vec<f64>,
    pub(super) decomposed: Orthogonal,
}

impl Memory {
    pub(super) fn new(closed: &ClosedMechanism) -> Self {
        let (n, rows, nv) = (closed.ties.len(), closed.plan.rows, closed.mechanism.nv());
        Self {
            system: System::new(&closed.plan),
            known: Known::Nothing,
            held: vec![true; rows],
            factored: vec![true; rows],
            sided: Vec::with_capacity(rows),
            wanted: vec![0.0; rows],
            poses: vec![[Pose::IDENTITY; 2]; n],
            velocities: vec![[Motion::ZERO; 2]; n],
            rows: vec![Row::default(); rows],
            gaps: vec![0.0; rows],
            open: vec![0.0; n],
            lambda: vec![0.0; rows],
            innovations: vec![0.0; nv],
            change: vec![0.0; nv],
            forces: [0.0; 36],
            way: vec![0.0; closed.plan.widest],
            jacobian: Vec::new(),
            decomposed: Orthogonal::default(),
        }
    }

    /// What was computed is of another configuration.
    pub(super) fn forget(&mut self) {
        self.known = Known::Nothing;
    }

    /// The forces of a constraint's multipliers on its frames, about their origins in the world's axes.
    pub(super) fn forces_of(&self, tie: &Tie) -> [Force; 2] {
        [0, 1].map(|side| {
            let each = tie.rows.clone();
            each.fold(Force::ZERO, |sum, r| self.rows[r].on(side).mul_add(self.lambda[r], sum))
        })
    }

    /// Which rows hold: all that are on and act on this level, one-sided ones included where they may.
    pub(super) fn choose(&mut self, closed: &ClosedMechanism, level: Level) {
        self.sided.clear();
        for (i, tie) in closed.ties.iter().enumerate() {
            let on = closed.settings[i].on;
            for (row, equation) in tie.rows.clone().zip(&tie.equations) {
                let mut holds = on && !(level == Level::Position && equation.is_rate());
                let sign = tie.side.sign();
                if holds && tie.side != Side::Both {
                    let gap = sign * self.gaps[row];
                    let [a, b] = self.velocities[i];
                    holds = match level {
                        Level::Position => gap < 0.0,
                        Level::Velocity => gap <= TOUCHES,
                        Level::Acceleration => gap <= TOUCHES && sign * self.rows[row].rate(a, b) <= STAYS,
                    };
                    if holds {
                        self.sided.push(Sided { tie: i, row, sign });
                    }
                }
                self.held[row] = holds;
            }
        }
    }

    /// Rows of D^-½HψB, W of those that hold, and its factors.
    pub(super) fn factor(&mut self, closed: &ClosedMechanism, tree: &mut Configured<'_>) -> Result<()> {
        if self.known == Known::Nothing {
            self.take_in(closed, tree)?;
        }
        if self.known == Known::Factors && self.factored == self.held {
            return Ok(());
        }
        let floor = TINY * TINY * tree.softest();
        let (instructions, given) = (tree.access(false).instructions, (&*closed.plan, &closed.ties[..]));
        let factored = self.system.factor(instructions, given, &self.held, floor);
        factored.ok_or_else(|| super::too_many(&closed.constraints[0], closed.rows()))?;
        self.factored.copy_from_slice(&self.held);
        self.known = Known::Factors;
        Ok(())
    }

    fn take_in(&mut self, closed: &ClosedMechanism, tree: &mut Configured<'_>) -> Result<()> {
        tree.need_home_gains()?;
        self.system.clear();
        for ((tie, strand), setting) in closed.ties.iter().zip(&closed.plan.strands).zip(closed.settings.iter()) {
            for side in (0..2).filter(|&side| setting.on && strand.ways[side] > 0) {
                let rows = &self.rows[tie.rows.clone()];
                for (row, numbers) in rows.iter().zip(self.forces.chunks_exact_mut(6)) {
                    numbers.copy_from_slice(&row.on(side).to_array());
                }
                let way = &mut self.way[..rows.len() * strand.ways[side]];
                tree.innovations_of_forces(tie.frames[side], &self.forces[..6 * rows.len()], way);
                self.system.take_in(strand, side, way);
            }
        }
        tree.check_resistance()?;
        self.known = Known::Rows;
        Ok(())
    }

    /// λ ← what makes up for it on the rows that act on a level, and `change` = 𝓜⁻¹J*λ.
    ///
    /// One-sided rows: 0 ≤ sλ ⟂ s(Wλ − b) ≥ 0, by rows that are held or not, exchanged one at a time.
    pub(super) fn resolve(&mut self, closed: &ClosedMechanism, tree: &mut Configured<'_>, level: Level) -> Result<()> {
        self.choose(closed, level);
        if self.sided.is_empty() {
            return self.resolve_held(closed, tree);
        }
        self.wanted.copy_from_slice(&self.lambda);
        // The worst first; by number where that goes round in circles.
        let worst_first = 4 + 2 * self.sided.len();
        for round in 0..20 * worst_first {
            self.lambda.copy_from_slice(&self.wanted);
            self.resolve_held(closed, tree)?;
            let size = |x: &[f64]| 1e-12 * x.iter().fold(1e-300, |m: f64, x| m.max(x.abs()));
            let (weak, slow) = (size(&self.lambda), size(&self.wanted));
            let mut wrong = (0.0, None);
            for sided in &self.sided {
                let row = sided.row;
                let excess = if self.held[row] {
                    -sided.sign * self.lambda[row] / weak
                } else {
                    let strand = &closed.plan.strands[sided.tie];
                    let first = closed.ties[sided.tie].rows.start;
                    let does = self.system.row_of(strand, row - first, &self.innovations);
                    sided.sign * (self.wanted[row] - does) / slow
                };
                if excess > 1.0 && excess > wrong.0 {
                    wrong = (excess, Some(row));
                    if round > worst_first {
                        break;
                    }
                }
            }
            let Some(row) = wrong.1 else { return Ok(()) };
            self.held[row] = !self.held[row];
        }
        Err(super::bad(
            &closed.constraints[self.sided[0].tie],
            "which of the one-sided constraints push could not be found; look for ones that say the same",
        ))
    }

    /// The same as equalities of the rows that are held.
    pub(super) fn resolve_held(&mut self, closed: &ClosedMechanism, tree: &mut Configured<'_>) -> Result<()> {
        self.factor(closed, tree)?;
        for (lambda, _) in self.lambda.iter_mut().zip(&self.held).filter(|(_, held)| !**held) {
            *lambda = 0.0;
        }
        let (instructions, given) = (tree.access(false).instructions, (&*closed.plan, &closed.ties[..]));
        self.system
            .solve_and_pull(instructions, given, &mut self.lambda, &mut self.innovations);
        tree.resolve_innovations(&self.innovations, &mut self.change)
    }

    /// x ← (I − 𝓜⁻¹J*W⁺J) x with the rows that are held.
    pub(super) fn keep_held(
        &mut self,
        closed: &ClosedMechanism,
        tree: &mut Configured<'_>,
        x: &mut [f64],
    ) -> Result<()> {
        let nv = closed.mechanism.nv();
        self.fill_jacobian(closed, tree);
        for (lambda, row) in self.lambda.iter_mut().zip(self.jacobian.chunks_exact(nv)) {
            *lambda = -dot(row, x);
        }
        self.resolve_held(closed, tree)?;
        add_scaled(x, 1.0, &self.change);
        Ok(())
    }

    /// J, with zeros for rows that are not held.
    pub(super) fn fill_held_jacobian(&mut self, closed: &ClosedMechanism, tree: &mut Configured<'_>) {
        let nv = closed.mechanism.nv();
        self.fill_jacobian(closed, tree);
        let rows = self.jacobian.chunks_exact_mut(nv).zip(&self.held);
        for (row, _) in rows.filter(|(_, held)| !**held) {
            row.fill(0.0);
        }
    }

    /// J from the Jacobians of the frames.
    pub(super) fn fill_jacobian(&mut self, closed: &ClosedMechanism, tree: &mut Configured<'_>) {
        let (rows, nv) = (closed.plan.rows, closed.mechanism.nv());
        self.jacobian.clear();
        self.jacobian.resize((rows + 6) * nv, 0.0);
        let (out, six) = self.jacobian.split_at_mut(rows * nv);
        for tie in closed.ties.iter() {
            for (side, &frame) in tie.frames.iter().enumerate() {
                tree.jacobian_into(frame, six);
                for row in tie.rows.clone() {
                    let force = self.rows[row].on(side).to_array();
                    for (f, numbers) in force.into_iter().zip(six.chunks_exact(nv)) {
                        add_scaled(&mut out[row * nv..(row + 1) * nv], f, numbers);
                    }
                }
            }
        }
    }
}
