//! The states of one chunk, computed.

use super::job::{Numbers, Roll, Sweep};
use anyhow::Result;
use linkwork::Mechanism;
use linkwork::batch::{Batch, Rollout, RolloutMethod, Variation};
use linkwork::quantity::{BatchEvaluation, Evaluation, Given, Input, ModelsEvaluation, Quantity};
use std::collections::BTreeMap;
use std::ops::Range;

/// What is wrong with states, by their place in the chunk.
pub(super) type Failures = BTreeMap<usize, String>;

pub(super) struct Chunk<'a> {
    sweep: &'a Sweep,
    numbers: &'a Numbers,
    count: usize,
    engine: Engine,
}

/// What computes.
enum Engine {
    /// One model for all states.
    One(Box<BatchEvaluation>, Box<Batch>),
    /// A model for each.
    Models(Box<ModelsEvaluation>),
}

impl<'a> Chunk<'a> {
    pub(super) fn new(
        sweep: &'a Sweep,
        numbers: &'a Numbers,
        count: usize,
        threads: usize,
        failures: &mut Failures,
    ) -> Result<Self> {
        let m = &sweep.mechanism;
        let engine = match (numbers.variation(), &sweep.closed) {
            (Some(variation), _) => {
                let models = models(m, variation, count, failures)?;
                Engine::Models(Box::new(models.with_threads(threads)))
            }
            (None, closed) => {
                let evaluation = closed
                    .as_ref()
                    .map_or_else(|| BatchEvaluation::new(m), BatchEvaluation::of_closed);
                let batch = m.batch().with_threads(threads);
                Engine::One(Box::new(evaluation.with_threads(threads)), Box::new(batch))
            }
        };
        Ok(Self {
            sweep,
            numbers,
            count,
            engine,
        })
    }

    fn given(&self, states: Range<usize>) -> Given<'a> {
        let m = &self.sweep.mechanism;
        let part = |input: Input| {
            let n = input.len(m).unwrap_or(0);
            self.numbers
                .of(input)
                .get(states.start * n..states.end * n)
                .unwrap_or(&[])
        };
        Given {
            q: part(Input::Q),
            qd: part(Input::Qd),
            qdd: part(Input::Qdd),
            tau: part(Input::Tau),
            x: part(Input::X),
            change: part(Input::Change),
            ..self.sweep.given
        }
    }

    /// A quantity of every state.
    pub(super) fn evaluated(&mut self, quantity: &Quantity, size: usize, failures: &mut Failures) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.count * size];
        let all = self.given(0..self.count);
        let done = match &mut self.engine {
            Engine::One(evaluation, _) => evaluation.evaluate(quantity, &all, &mut out),
            Engine::Models(models) => models.evaluate(quantity, &all, &mut out),
        };
        match done {
            Ok(()) => {}
            Err(linkwork::Error::State { .. }) => {
                for (i, out) in out.chunks(size.max(1)).enumerate() {
                    if out.iter().any(|x| x.is_nan()) {
                        let problem = || {
                            self.alone(quantity, i)
                                .map_or_else(|e| e.to_string(), |()| LOST.to_owned())
                        };
                        failures
                            .entry(i)
                            .or_insert_with(|| format!("{}: {}", quantity.name, problem()));
                    }
                }
            }
            Err(problem) => return Err(problem.into()),
        }
        for i in failures.keys() {
            out[i * size..(i + 1) * size].fill(f64::NAN);
        }
        Ok(out)
    }

    /// One state by itself, to hear what is wrong with it.
    fn alone(&self, quantity: &Quantity, i: usize) -> Result<()> {
        let state = self.given(i..i + 1);
        match self.numbers.variation() {
            None => self.sweep.evaluation().compute(quantity, &state)?,
            Some(variation) => {
                let model = variation.model(&self.sweep.mechanism, i)?;
                let meant = self.sweep.meant(&model)?;
                let state = Given {
                    frame: meant.frame,
                    joint: meant.joint,
                    ..state
                };
                Evaluation::new(&model).compute(quantity, &state)?
            }
        };
        Ok(())
    }

    /// Where states go: q and q̇, row after row.
    pub(super) fn rolled(
        &mut self,
        roll: &Roll,
        method: RolloutMethod,
        failures: &mut Failures,
    ) -> Result<[Vec<f64>; 2]> {
        let m = &self.sweep.mechanism;
        let (nq, nv, rows, count) = (m.nq(), m.nv(), roll.steps / roll.every, self.count);
        let given = self.given(0..count);
        let held = given.tau.chunks(nv.max(1)).flat_map(|tau| tau.repeat(roll.every));
        let tau: Vec<f64> = held.collect();
        let rollout = Rollout {
            method,
            dt: roll.dt,
            steps: roll.every,
        };
        let (mut q, mut v) = (given.q.to_vec(), given.qd.to_vec());
        let mut paths = [vec![0.0; count * rows * nq], vec![0.0; count * rows * nv]];
        let mut ends = [vec![0.0; count * roll.every * nq], vec![0.0; count * roll.every * nv]];
        for row in 0..rows {
            let [q_all, v_all] = &mut ends;
            let done = match &mut self.engine {
                Engine::One(_, batch) => batch.rollout(rollout, &q, &v, Some(&tau), q_all, v_all),
                Engine::Models(models) => models.rollout(rollout, &q, &v, Some(&tau), q_all, v_all),
            };
            // Those that failed are NaN from here on.
            match done {
                Ok(()) | Err(linkwork::Error::State { .. }) => {}
                Err(problem) => return Err(problem.into()),
            }
            for i in 0..count {
                let last = (i + 1) * roll.every - 1;
                let (q_end, v_end) = (
                    &mut q_all[last * nq..(last + 1) * nq],
                    &mut v_all[last * nv..(last + 1) * nv],
                );
                if q_end.iter().chain(&*v_end).any(|x| x.is_nan()) && !failures.contains_key(&i) {
                    let start = (&q[i * nq..(i + 1) * nq], &v[i * nv..(i + 1) * nv]);
                    let tau = &tau[i * nv * roll.every..(i + 1) * nv * roll.every];
                    let told = self.rolled_alone(rollout, i, start, tau);
                    let t = (row * roll.every) as f64 * roll.dt;
                    failures.insert(i, format!("rollout, in the steps after {t} s: {told}"));
                }
                if failures.contains_key(&i) {
                    q_end.fill(f64::NAN);
                    v_end.fill(f64::NAN);
                }
                let place = i * rows + row;
                paths[0][place * nq..(place + 1) * nq].copy_from_slice(q_end);
                paths[1][place * nv..(place + 1) * nv].copy_from_slice(v_end);
                q[i * nq..(i + 1) * nq].copy_from_slice(q_end);
                v[i * nv..(i + 1) * nv].copy_from_slice(v_end);
            }
        }
        Ok(paths)
    }

    /// What is wrong with the steps of one state.
    fn rolled_alone(&self, rollout: Rollout, i: usize, (q, v): (&[f64], &[f64]), tau: &[f64]) -> String {
        let m = &self.sweep.mechanism;
        let mut ends = [vec![0.0; q.len() * rollout.steps], vec![0.0; v.len() * rollout.steps]];
        let [q_end, v_end] = &mut ends;
        let done = match self.numbers.variation() {
            None => m.batch().rollout(rollout, q, v, Some(tau), q_end, v_end),
            Some(variation) => {
                let model = one_of(m, variation, i);
                model.and_then(|mut model| model.rollout(rollout, q, v, Some(tau), q_end, v_end))
            }
        };
        match done {
            Ok(()) => LOST.to_owned(),
            Err(linkwork::Error::State { problem, .. }) => problem.to_string(),
            Err(problem) => problem.to_string(),
        }
    }
}

/// What is said where nothing better is known.
const LOST: &str = "it is not a number";

/// One of many models.
fn one_of(m: &Mechanism, variation: Variation<'_>, i: usize) -> linkwork::Result<ModelsEvaluation> {
    let lengths = Variation::lengths(m);
    let mut lists = variation.lists();
    for (list, n) in lists.iter_mut().zip(lengths) {
        *list = list.map(|list| &list[i * n..(i + 1) * n]);
    }
    ModelsEvaluation::new(m, Variation::of(lists), 1)
}

/// All models; those that cannot be are told, and the tree stands in for them.
fn models(
    m: &Mechanism,
    variation: Variation<'_>,
    count: usize,
    failures: &mut Failures,
) -> linkwork::Result<ModelsEvaluation> {
    match ModelsEvaluation::new(m, variation, count) {
        Err(linkwork::Error::Models { .. }) => {}
        done => return done,
    }
    let (lengths, own) = (Variation::lengths(m), Variation::own(m));
    let mut lists = variation.lists().map(|list| list.map(<[f64]>::to_vec));
    for i in 0..count {
        if let Err(problem) = one_of(m, variation, i) {
            let told = match problem {
                linkwork::Error::Models { problem, .. } => problem,
                other => other.to_string(),
            };
            failures.insert(i, format!("its model: {told}"));
            for (list, (n, own)) in lists.iter_mut().zip(lengths.iter().zip(&own)) {
                if let Some(list) = list {
                    list[i * n..(i + 1) * n].copy_from_slice(own);
                }
            }
        }
    }
    ModelsEvaluation::new(m, Variation::of(lists.each_ref().map(|list| list.as_deref())), count)
}
