//! Whole matrices: by recursions of their own where they have one, else column by column.

use super::algorithm::Form;
use super::evaluator::{Evaluator, problem};
use super::graph::OPERAND;
use crate::scalar::Scalar;
use crate::workspace::Configured;
use crate::{Error, Result};

impl<S: Scalar> Evaluator<S> {
    /// The whole matrix of an operator, row by row: column by column, but J𝓜⁻¹J* by the recursion of Υ.
    pub(crate) fn matrix(
        &mut self,
        view: &mut Configured<'_, S>,
        moving: bool,
        given: &[(&str, &[S])],
        out: &mut [S],
    ) -> Result<()> {
        let (rows, columns) = (self.len(), self.size(self.algorithm.expression.domain()));
        if !self.algorithm.more.is_empty() {
            let what = "several results have no matrix; take one of them".to_owned();
            return Err(problem(&self.algorithm.expression.text, what));
        }
        if out.len() != rows * columns {
            return Err(Error::Length {
                argument: "out",
                needed: rows * columns,
                given: out.len(),
            });
        }
        if self.algorithm.forms.is_some() {
            return self.fill_forms(view, out);
        }
        if self.coupled.is_some() {
            return self.coupled_matrix(view, moving, given, out);
        }
        self.bind(given, moving.then(|| &view.access(false).stages.qd[..]), true)?;
        self.fill_matrix(view, out)
    }

    /// The matrix for vectors that are bound.
    pub(super) fn fill_matrix(&mut self, view: &mut Configured<'_, S>, out: &mut [S]) -> Result<()> {
        if self.algorithm.forms.is_some() && !self.mechanism.is_coupled() {
            return self.fill_forms(view, out);
        }
        if let Some(scale) = self.algorithm.operational() {
            let same = self.frames.windows(2).all(|w| w[0].1 == w[1].1);
            if let (true, Some(&(_, reference))) = (same, self.frames.first()) {
                // All frames alike, as the library has it.
                view.operational_inertias_inverse(&self.ids, reference, out)?;
                out.iter_mut().for_each(|x| *x = *x * S::lift(scale));
                return Ok(());
            }
        }
        if let Some(compliance) = self.compliance.take() {
            let done = self.fill_compliance(&compliance, view, out);
            self.compliance = Some(compliance);
            return done;
        }
        let domain = self.algorithm.expression.domain();
        let (rows, columns) = (self.len(), self.size(domain));
        let inputs = &self.algorithm.program.inputs;
        let operand = inputs.iter().find(|(v, _)| &*v.name == OPERAND).map(|(_, slot)| *slot);
        self.prepare(view)?;
        let [mut x, mut y] = core::mem::take(&mut self.columns);
        x.resize(columns, S::ZERO);
        y.resize(rows, S::ZERO);
        let mut result = Ok(());
        for j in 0..columns {
            x.fill(S::ZERO);
            x[j] = S::ONE;
            if let Some(slot) = operand {
                self.write(domain, slot, &x);
            }
            self.execute(view);
            if j == 0 {
                result = self.check(view);
            }
            self.read(&mut y);
            (0..rows).for_each(|i| out[i * columns + j] = y[i]);
        }
        self.columns = [x, y];
        result
    }

    /// A sum of matrices that have recursions of their own.
    fn fill_forms(&mut self, view: &mut Configured<'_, S>, out: &mut [S]) -> Result<()> {
        let n = view.mechanism().nv();
        // One of them alone is the library's own.
        if let Some([(scale, form)]) = self.algorithm.forms.as_deref()
            && *scale == 1.0
        {
            match form {
                Form::Mass => return view.mass_matrix(out),
                Form::MassInverse => return view.mass_matrix_inverse(out),
                Form::Identity => {}
            }
        }
        let [mut room, other] = core::mem::take(&mut self.columns);
        room.resize(n * n, S::ZERO);
        out.fill(S::ZERO);
        let mut done = Ok(());
        for &(scale, form) in self.algorithm.forms.iter().flatten() {
            let scale = S::lift(scale);
            match form {
                Form::Mass => done = done.and(view.mass_matrix(&mut room)),
                Form::MassInverse => done = done.and(view.mass_matrix_inverse(&mut room)),
                Form::Identity => {
                    (0..n).for_each(|i| out[i * n + i] += scale);
                    continue;
                }
            }
            // Not fused: outside of sweeps that would be a call for each.
            out.iter_mut().zip(&room).for_each(|(out, x)| *out += scale * *x);
        }
        self.columns = [room, other];
        done
    }

    /// The matrix where joints follow others, column by column.
    fn coupled_matrix(
        &mut self,
        view: &mut Configured<'_, S>,
        moving: bool,
        given: &[(&str, &[S])],
        out: &mut [S],
    ) -> Result<()> {
        let (rows, columns) = (self.len(), self.size(self.algorithm.expression.domain()));
        let (mut x, mut y) = (vec![S::ZERO; columns], vec![S::ZERO; rows]);
        for j in 0..columns {
            x.fill(S::ZERO);
            x[j] = S::ONE;
            let mut all = given.to_vec();
            all.push((OPERAND, &x));
            self.run(view, moving, &all, &mut y)?;
            (0..rows).for_each(|i| out[i * columns + j] = y[i]);
        }
        Ok(())
    }
}
