//! Configurations seen from the start of a step.

use super::{Equations, State, check};
use crate::Result;
use crate::model::{JointKind, Mechanism};
use crate::scalar::Scalar;
use crate::simd::{Instructions, Task};

/// q ⊕ u and u̇ for the joints of one mechanism: neighbours whose coordinates are plain numbers go together.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    mechanism: Mechanism,
    plain: Vec<Run>,
    curved: Vec<(JointKind, Run)>,
    instructions: Instructions,
}

/// Coordinates of joints in q and in v.
#[derive(Clone, Debug)]
struct Run {
    q: core::ops::Range<usize>,
    v: core::ops::Range<usize>,
}

impl Chart {
    pub(crate) fn new(mechanism: &Mechanism) -> Self {
        let mut chart = Self {
            mechanism: mechanism.clone(),
            plain: Vec::new(),
            curved: Vec::new(),
            instructions: Instructions::detect(),
        };
        for (joint, q, v) in mechanism.independent() {
            let run = Run { q, v };
            if joint.kind.is_curved() {
                chart.curved.push((joint.kind, run));
                continue;
            }
            match chart.plain.last_mut() {
                Some(last) if last.q.end == run.q.start => (last.q.end, last.v.end) = (run.q.end, run.v.end),
                _ => chart.plain.push(run),
            }
        }
        chart
    }

    /// An error unless equations and their state fit the mechanism that this is of.
    pub(super) fn check(&self, equations: &impl Equations, state: &State) -> Result<()> {
        equations.mechanism().check_same(&self.mechanism, "integrator")?;
        check(&self.mechanism, state)
    }

    /// `out` = q ⊕ u.
    pub(super) fn moved(&self, q: &[f64], u: &[f64], out: &mut [f64]) {
        let chart = self;
        self.instructions.perform::<f64, _>(Moved { chart, q, u, out });
    }

    /// The same as part of a sweep.
    #[inline(always)]
    pub(crate) fn moved_along<S: Scalar>(&self, q: &[S], u: &[S], out: &mut [S]) {
        for run in &self.plain {
            let out = &mut out[run.q.clone()];
            for ((out, q), u) in out.iter_mut().zip(&q[run.q.clone()]).zip(&u[run.v.clone()]) {
                *out = *q + *u;
            }
        }
        for (kind, run) in &self.curved {
            kind.moved(&q[run.q.clone()], &u[run.v.clone()], &mut out[run.q.clone()]);
        }
    }

    /// `v` ← u̇ where q ⊕ u has velocity `v`; NaN, and false, if a turn is too wide.
    pub(super) fn rate(&self, u: &[f64], v: &mut [f64]) -> bool {
        let mut near = true;
        if !self.curved.is_empty() {
            let (chart, near) = (self, &mut near);
            self.instructions.perform::<f64, _>(Rate { chart, u, v, near });
        }
        near
    }

    /// The same as part of a sweep.
    #[inline(always)]
    pub(crate) fn rate_along<S: Scalar>(&self, u: &[S], v: &mut [S]) -> bool {
        let mut near = true;
        for (kind, run) in &self.curved {
            near &= kind.chart_rate(&u[run.v.clone()], &mut v[run.v.clone()]);
        }
        near
    }

    /// The size of the coordinates that each number of u changes, at least 1.
    pub(super) fn sizes(&self, q: &[f64], out: &mut [f64]) {
        for run in &self.plain {
            for (out, q) in out[run.v.clone()].iter_mut().zip(&q[run.q.clone()]) {
                *out = q.abs().max(1.0);
            }
        }
        for (_, run) in &self.curved {
            let size = q[run.q.clone()].iter().fold(1.0, |size: f64, q| size.max(q.abs()));
            out[run.v.clone()].fill(size);
        }
    }
}

/// [`Chart::moved`], compiled for the processor.
struct Moved<'a> {
    chart: &'a Chart,
    q: &'a [f64],
    u: &'a [f64],
    out: &'a mut [f64],
}

impl Task for Moved<'_> {
    #[inline(always)]
    fn run(self) {
        self.chart.moved_along(self.q, self.u, self.out);
    }
}

/// [`Chart::rate`], compiled for the processor.
struct Rate<'a> {
    chart: &'a Chart,
    u: &'a [f64],
    v: &'a mut [f64],
    near: &'a mut bool,
}

impl Task for Rate<'_> {
    #[inline(always)]
    fn run(self) {
        *self.near = self.chart.rate_along(self.u, self.v);
    }
}
