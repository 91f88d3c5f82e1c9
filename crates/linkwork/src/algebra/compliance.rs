//! J𝓜⁻¹J* between some of the frames, their sums and differences, and Jc𝓜⁻¹Jc*, as matrices: from Υ, in two sweeps.

use super::algorithm::Algorithm;
use super::evaluator::Evaluator;
use super::op::Op;
use super::run::{execute, known};
use super::sum::{Factor, Term};
use super::upsilon;
use crate::Result;
use crate::scalar::Scalar;
use crate::workspace::Configured;
use std::sync::Arc;

/// A frame by name, or all of them.
type Which = Option<Arc<str>>;

/// What a sum of compliances is made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Compliance {
    /// Multiples of blocks: the frames that move, and those that are pushed.
    Frames(Vec<(f64, Which, Which)>),
    /// A multiple of that of the constraints.
    Constraints(f64),
}

/// The factors of X*ψ*H*D⁻¹HψX.
fn shape(spread: Op) -> [Factor; 7] {
    use Op::{DInv, H, Psi};
    [
        (spread, true),
        (Psi, true),
        (H, true),
        (DInv, false),
        (H, false),
        (Psi, false),
        (spread, false),
    ]
    .map(|(op, adjoint)| Factor::Op(op, adjoint))
}

impl Algorithm {
    /// The sum of compliances as which the expression was recognised, if it is one.
    pub(crate) fn compliance(&self) -> Option<Compliance> {
        if !self.more.is_empty() || self.rewritten.sum.terms.is_empty() {
            return None;
        }
        let terms = &self.rewritten.sum.terms;
        if let [Term { scale, factors }] = &terms[..]
            && *factors == shape(Op::Bc)
        {
            return Some(Compliance::Constraints(*scale));
        }
        let middle = shape(Op::B);
        let block = |term: &Term| {
            let at = term.factors.windows(middle.len()).position(|w| *w == middle)?;
            let name = |factors: &[Factor], adjoint: bool| match factors {
                [] => Some(None),
                [Factor::Select(name, star)] if *star == adjoint => Some(Some(name.clone())),
                _ => None,
            };
            let (to, from) = (&term.factors[..at], &term.factors[at + middle.len()..]);
            Some((term.scale, name(to, false)?, name(from, true)?))
        };
        terms
            .iter()
            .map(block)
            .collect::<Option<Vec<_>>>()
            .map(Compliance::Frames)
    }
}

impl<S: Scalar> Evaluator<S> {
    /// The matrix of a sum of compliances.
    pub(super) fn fill_compliance(
        &mut self,
        compliance: &Compliance,
        view: &mut Configured<'_, S>,
        out: &mut [S],
    ) -> Result<()> {
        if let (Compliance::Constraints(scale), false) = (compliance, self.mechanism.is_coupled()) {
            return self.fill_by_innovations(*scale, view, out);
        }
        let access = view.access(true);
        self.place(access.stages);
        let m = &self.mechanism.compiled;
        let Some((program, memory)) = &mut self.upsilon else {
            return Ok(());
        };
        execute(access.instructions, m, access.stages, program, memory);
        let seats = match compliance {
            Compliance::Frames(_) => &self.memory.tips[..],
            Compliance::Constraints(_) => {
                self.memory.ties.seats(&mut self.seats);
                &self.seats[..]
            }
        };
        let width = 6 * seats.len();
        let whole = &mut self.columns[0];
        whole.resize(width * width, S::ZERO);
        upsilon::compliance(m, &known!(access.stages), memory, seats, 1.0, whole);
        out.fill(S::ZERO);
        match compliance {
            Compliance::Constraints(scale) => self.memory.ties.contract(whole, S::lift(*scale), out),
            Compliance::Frames(blocks) => {
                let place = |which: &Which| {
                    let name = which.as_ref()?;
                    let named = self.algorithm.program.names.iter().position(|n| n == name)?;
                    Some(self.memory.selected[named])
                };
                for (scale, to, from) in blocks {
                    let (to, from) = (place(to), place(from));
                    let (rows, columns) = (
                        if to.is_some() { 6 } else { width },
                        if from.is_some() { 6 } else { width },
                    );
                    let (top, left) = (6 * to.unwrap_or(0), 6 * from.unwrap_or(0));
                    for i in 0..rows {
                        for j in 0..columns {
                            let x = whole[(top + i) * width + left + j];
                            out[i * columns + j] = S::lift(*scale).mul_add(x, out[i * columns + j]);
                        }
                    }
                }
            }
        }
        view.check()
    }

    /// Jc𝓜⁻¹Jc* as EE*, E = D^-½HψBc along the ways of the constraints' frames: what nothing moves is not gone through.
    fn fill_by_innovations(&mut self, scale: f64, view: &mut Configured<'_, S>, out: &mut [S]) -> Result<()> {
        view.need_home_gains()?;
        self.place(view.access(true).stages);
        let (m, ties) = (&self.mechanism.compiled, &self.memory.ties);
        let (rows, nv) = (ties.count(), m.nv);
        let [whole, way] = &mut self.columns;
        whole.clear();
        whole.resize(rows * nv, S::ZERO);
        ties.each_frame(|frame, link, own, forces| {
            let length = m.way_length(Some(link));
            way.clear();
            way.resize(own.len() * length, S::ZERO);
            view.innovations_of_forces(frame, forces, way);
            for (row, along) in own.zip(way.chunks_exact(length.max(1))) {
                m.scatter(Some(link), along, &mut whole[row * nv..(row + 1) * nv]);
            }
        });
        for i in 0..rows {
            for j in 0..=i {
                let (x, y) = (&whole[i * nv..(i + 1) * nv], &whole[j * nv..(j + 1) * nv]);
                // Not fused: outside of sweeps that would be a call for each.
                let mut sum = S::ZERO;
                for (x, y) in x.iter().zip(y) {
                    sum += *x * *y;
                }
                let sum = sum * S::lift(scale);
                (out[i * rows + j], out[j * rows + i]) = (sum, sum);
            }
        }
        view.check_resistance()
    }
}
