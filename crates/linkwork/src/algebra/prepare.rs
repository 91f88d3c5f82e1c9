//! What stands ready before a program runs: dense inverses, and mass operators with weights.

use super::augmented::{At, Kind, Recipe, Weight};
use super::dense_inverses::{self, Inverter};
use super::evaluator::{Evaluator, problem};
use super::graph::OPERAND;
use super::link_operators::is_regular;
use super::op::Op;
use super::program::Slot;
use super::run::Memory;
use super::sum::Vector;
use super::whole_weights::Whole;
use crate::Result;
use crate::scalar::Scalar;
use crate::spatial::Articulated;
use crate::workspace::{Configured, Masses};

/// The numbers of a vector that is bound.
pub(super) fn bound<'a, S: Scalar>(memory: &'a Memory<S>, inputs: &[(Vector, Slot)], vector: &Vector) -> &'a [S] {
    let found = inputs.iter().find(|(v, _)| v == vector);
    found.map_or(&[], |(v, slot)| memory.flat(v.space, *slot))
}

/// What inverts a matrix in place, with its memory.
pub(super) type Invert<'a, S> = dyn FnMut(&mut [S], &Inverse<'_>, &mut Inverter<S>) -> Result<()> + 'a;

/// What is inverted: how many rows it has, whether by its pseudo-inverse, and what it is in words.
pub(super) struct Inverse<'a> {
    rows: usize,
    pseudo: bool,
    text: &'a str,
}

impl Inverse<'_> {
    /// Inverts it in place.
    pub(super) fn invert<S: Scalar>(&self, x: &mut [S], memory: &mut Inverter<S>) -> Result<()> {
        if self.pseudo {
            memory.pseudo_invert(x, self.rows);
            return Ok(());
        }
        dense_inverses::invert(x, self.text, memory)
    }
}

impl<S: Scalar> Evaluator<S> {
    /// Inverts what is needed as dense matrices, and eliminates with weights.
    pub(super) fn prepare(&mut self, view: &mut Configured<'_, S>) -> Result<()> {
        if !self.solves.is_empty() {
            self.solve_by(view, &mut |x, of, memory| of.invert(x, memory))?;
        }
        if !self.recipes.is_empty() {
            self.weigh(view)?;
        }
        Ok(())
    }

    /// Fills the matrices that are needed and has each inverted.
    pub(super) fn solve_by(&mut self, view: &mut Configured<'_, S>, invert: &mut Invert<'_, S>) -> Result<()> {
        let (memory, algorithm) = (&mut self.memory, &self.algorithm);
        for (i, inner) in self.solves.iter_mut().enumerate() {
            // Vectors inside are bound as those outside.
            for j in 0..inner.algorithm.program.inputs.len() {
                let (vector, slot) = inner.algorithm.program.inputs[j].clone();
                if &*vector.name != OPERAND {
                    let x = bound(memory, &algorithm.program.inputs, &vector);
                    inner.memory.flat_mut(vector.space, slot).copy_from_slice(x);
                }
            }
            let rows = inner.len();
            let mut x = core::mem::take(&mut memory.solves[i]);
            x.resize(rows * inner.size(inner.algorithm.expression.domain()), S::ZERO);
            let mut done = inner.fill_matrix(view, &mut x);
            // Of several lanes, those that are sound go on; the others are told of later.
            if done.is_ok() || S::LANES > 1 {
                let of = Inverse {
                    rows,
                    pseudo: algorithm.graph.solves[i].1,
                    text: &inner.algorithm.expression.text,
                };
                done = invert(&mut x, &of, &mut self.inverter);
            }
            memory.solves[i] = x;
            done?;
        }
        Ok(())
    }

    /// Eliminates 𝓐 = 𝓜 + A + ΣJ*GJ with the weights that are bound.
    fn weigh(&mut self, view: &mut Configured<'_, S>) -> Result<()> {
        for which in 0..self.recipes.len() {
            let mut memory = core::mem::take(&mut self.memory.augmented);
            let masses = if self.recipes[which].masses {
                Masses::Kept
            } else {
                Masses::None
            };
            let mut whole = core::mem::take(&mut self.whole[which]);
            let mut done = self.fill_whole(view, &mut whole);
            if done.is_ok() {
                done = view.augment(&mut memory[which], masses).map(drop);
            }
            let access = view.access(true);
            self.place(access.stages);
            if done.is_ok() {
                done = self.add_weights(&self.recipes[which], &mut whole, &mut memory[which].0, view.mechanism());
            }
            self.whole[which] = whole;
            if done.is_ok() {
                done = view.resume(&mut memory[which]).factor();
            }
            self.memory.augmented = memory;
            done?;
        }
        Ok(())
    }

    /// 𝓐⁻¹x of the one mass operator with weights that this is, where joints follow others.
    pub(super) fn solve_augmented(
        &mut self,
        view: &mut Configured<'_, S>,
        given: &[(&str, &[S])],
        x: &[S],
        out: &mut [S],
    ) -> Result<()> {
        for (vector, slot) in &self.algorithm.program.inputs {
            if &*vector.name == OPERAND {
                continue;
            }
            let found = given.iter().find(|(name, _)| **name == *vector.name);
            let (_, w) = found.ok_or_else(|| super::evaluator::missing(vector))?;
            let needed = self.space_size(vector.space, view.mechanism().nv());
            super::coupled::check(&vector.name, vector.space, w, needed)?;
            self.memory.flat_mut(vector.space, *slot)[..w.len()].copy_from_slice(w);
        }
        self.weigh(view)?;
        view.resume(&mut self.memory.augmented[0]).solve(x, out)
    }

    /// Everything that 𝓐 has besides masses.
    fn add_weights(
        &self,
        recipe: &Recipe,
        whole: &mut [Whole<S>],
        to: &mut crate::dynamics::augmented::Augmented<S>,
        mechanism: &crate::Mechanism,
    ) -> Result<()> {
        let inputs = &self.algorithm.program.inputs;
        let m = &mechanism.compiled;
        let number = |scale: f64, diagonal: &Option<(Vector, bool)>, i: usize| -> Result<S> {
            let Some((vector, inverted)) = diagonal else {
                return Ok(S::lift(scale));
            };
            let w = bound(&self.memory, inputs, vector)[i];
            let w = if *inverted { w.recip() } else { w };
            if !(0..S::LANES).all(|lane| w.lane(lane) >= 0.0 && w.lane(lane).is_finite()) {
                let what = format!("number {i} (from zero) is not a weight; weights are finite and not negative");
                return Err(problem(&vector.name, what));
            }
            Ok(w * S::lift(scale))
        };
        for (scale, diagonal) in &recipe.diagonals {
            for i in 0..mechanism.nv() {
                let v = m.reduction.as_ref().map_or(i, |r| r.independent[i]);
                to.diagonal[v] += number(*scale, diagonal, i)?;
            }
            to.has_diagonal = true;
        }
        if to.has_diagonal {
            to.sum_rotors(m);
        }
        for (i, Weight { scale, at, kind }) in recipe.weights.iter().enumerate() {
            let diagonal = &match kind {
                Kind::One => None,
                Kind::Diagonal(v, inverted) => Some((v.clone(), *inverted)),
                Kind::Whole(_) => {
                    self.weigh_whole(to, (*scale, at), &mut whole[i])?;
                    continue;
                }
            };
            if let At::Constraints = at {
                self.tie(to, |row| number(*scale, diagonal, row))?;
                continue;
            }
            let chosen = match at {
                At::Frame(name) => Some(mechanism.frame(name)?),
                _ => None,
            };
            let mut first = true;
            for (i, &(k, seat)) in self.memory.tips.iter().enumerate() {
                let wanted = chosen.is_none_or(|id| first && self.frames[i].0 == id);
                first &= !wanted;
                let (true, Some(k)) = (wanted, k) else { continue };
                let mut rows = [[S::ZERO; 6]; 6];
                let start = if chosen.is_some() { 0 } else { 6 * i };
                for (j, row) in rows.iter_mut().enumerate() {
                    row[j] = number(*scale, diagonal, start + j)?;
                }
                to.weigh(k, &Articulated::from_rows(&rows).through(&seat));
            }
        }
        Ok(())
    }

    /// Weights on the rows of constraints: on both links, and between them.
    fn tie(
        &self,
        to: &mut crate::dynamics::augmented::Augmented<S>,
        weight: impl Fn(usize) -> Result<S>,
    ) -> Result<()> {
        let mut done = Ok(());
        self.memory.ties.each_end(|row, ends| {
            let w = match weight(row) {
                Ok(w) => w,
                Err(problem) => {
                    done = Err(problem);
                    return;
                }
            };
            let outer = |a: [S; 6], b: [S; 6]| -> [[S; 6]; 6] {
                core::array::from_fn(|i| core::array::from_fn(|j| a[i] * b[j] * w))
            };
            for (k, f) in ends.into_iter().flatten() {
                to.weigh(k, &Articulated::from_rows(&outer(f.to_array(), f.to_array())));
            }
            if let [Some((a, f)), Some((b, g))] = ends {
                to.pairs.join(a, b, &outer(f.to_array(), g.to_array()));
            }
        });
        done
    }

    /// Whether some P is inverted.
    pub(super) fn inverts_p(&self) -> bool {
        self.algorithm.sums().any(|sum| sum.has_op(|op| op == Op::PInv))
    }

    /// An error if a pivot of D, or some P that was inverted, is not positive.
    pub(super) fn check(&self, view: &mut Configured<'_, S>) -> Result<()> {
        if self.algorithm.program.keeps.gains {
            view.check()?;
        }
        if self.inverts_p() {
            let (mechanism, stages) = (view.mechanism(), view.access(false).stages);
            for (place, (k, _)) in mechanism.compiled.link_space.iter().enumerate() {
                let p = &stages.riccati.p[*k];
                if !(0..S::LANES).all(|lane| is_regular(p, lane)) {
                    let name = super::evaluator::link_space(mechanism).into_iter().nth(place);
                    let what = format!(
                        "`{}` and what it carries have no inertia about some axis, so that P has no inverse",
                        name.unwrap_or_default()
                    );
                    return Err(problem("inv(P)", what));
                }
            }
        }
        Ok(())
    }
}
