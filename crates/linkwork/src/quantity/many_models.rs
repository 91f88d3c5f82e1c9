//! Quantities of many states, each of a model of its own.

use super::{Evaluation, Given, Input, Quantity};
use crate::Result;
use crate::batch::damped_rollout::Damped;
use crate::batch::threads::{Failures, Team, check_states};
use crate::batch::{Models, Real, Rollout, Variation};
use crate::model::Mechanism;

/// All memory for evaluating any quantity of many models of one tree, with one state of each: several to a register where
/// [`Models`] has a sweep for that, one by one elsewhere.
///
/// ```
/// use linkwork::batch::Variation;
/// use linkwork::quantity::{Given, ModelsEvaluation, Quantity};
/// let arm = linkwork::model::examples::arm7();
/// let mass: Vec<f64> = (0..10).flat_map(|i| arm.links().iter().map(move |l| l.inertia.mass * (1.0 + 0.1 * i as f64))).collect();
/// let variation = Variation { mass: Some(&mass), ..Variation::default() };
/// let mut models = ModelsEvaluation::<f64>::new(&arm, variation, 10)?;
/// let (q, qd) = (vec![0.3; 70], vec![1.0; 70]);
/// let mut energy = [0.0; 10];
/// models.evaluate(Quantity::find("kinetic_energy")?, &Given { q: &q, qd: &qd, ..Given::default() }, &mut energy)?;
/// assert!((energy[5] - 1.5 * energy[0]).abs() < 1e-12 * energy[0]);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct ModelsEvaluation<T: Real = f64> {
    tree: Mechanism,
    lists: [Option<Vec<f64>>; 6],
    count: usize,
    threads: usize,
    /// None where joints follow others.
    models: Option<Models<T>>,
}

impl<T: Real> ModelsEvaluation<T> {
    /// So many models of a tree that differ in given numbers.
    pub fn new(tree: &Mechanism, variation: Variation<'_>, count: usize) -> Result<Self> {
        variation.check(tree, count)?;
        let models = match tree.is_coupled() {
            true => None,
            false => Some(Models::varied(tree, &variation, count)?),
        };
        Ok(Self {
            tree: tree.clone(),
            lists: variation.lists().map(|list| list.map(<[f64]>::to_vec)),
            count,
            threads: rayon::current_num_threads().max(1),
            models,
        })
    }

    /// The same with another number of threads; at least one.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self.models = self.models.map(|models| models.with_threads(threads));
        self
    }

    /// How many models there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The numbers in which they differ.
    pub fn variation(&self) -> Variation<'_> {
        Variation::of(self.lists.each_ref().map(|list| list.as_deref()))
    }

    /// Writes a quantity of every state to `out`, state after state, the first of the first model. States that fail are NaN there,
    /// and the error names the first of them.
    pub fn evaluate(&mut self, quantity: &Quantity, given: &Given<'_, T>, out: &mut [T]) -> Result<()> {
        let size: usize = quantity.dimensions(&self.tree, given.joint)?.iter().product();
        for input in quantity.inputs {
            if let Some(each) = input.len(&self.tree) {
                check_states(input.name(), given.numbers(*input).len(), each, self.count)?;
            }
        }
        check_states("out", out.len(), size, self.count)?;
        let Given { q, qd, qdd, tau, .. } = *given;
        if let Some(models) = &mut self.models {
            match quantity.name {
                "inverse_dynamics" => return models.inverse_dynamics(q, qd, qdd, out),
                "forward_dynamics" => return models.forward_dynamics(q, qd, tau, out),
                "bias" => return models.bias(q, qd, out),
                "gravity_torque" => return models.gravity_torque(q, out),
                "mass_matrix" => return models.mass_matrix(q, out),
                _ => {}
            }
        }
        let (tree, variation) = (&self.tree, self.variation());
        let mut team = Team::new(self.threads);
        team.run(
            self.count,
            [size],
            [out],
            |_| Ok(()),
            |(), first, [out]| {
                let mut failures = Failures::default();
                for (i, out) in out.chunks_mut(size.max(1)).enumerate() {
                    let model = variation.model(tree, first + i);
                    let done = model.and_then(|model| alone(&model, quantity, given, first + i, out));
                    if let Err(problem) = done {
                        out.fill(T::lift(f64::NAN));
                        failures.add(first + i, problem);
                    }
                }
                failures
            },
        )
    }

    /// Rolls one state of every model forward in time: see [`Models::rollout`]; where joints follow others, model after model.
    pub fn rollout(
        &mut self,
        rollout: Rollout,
        q: &[T],
        qd: &[T],
        tau: Option<&[T]>,
        q_out: &mut [T],
        qd_out: &mut [T],
    ) -> Result<()> {
        if let Some(models) = &mut self.models {
            return models.rollout(rollout, q, qd, tau, q_out, qd_out);
        }
        let (tree, variation, steps) = (&self.tree, self.variation(), rollout.steps);
        let (nq, nv) = (tree.nq(), tree.nv());
        let sizes = [nq.saturating_mul(steps), nv.saturating_mul(steps)];
        check_states("q", q.len(), nq, self.count)?;
        check_states("qd", qd.len(), nv, self.count)?;
        if let Some(tau) = tau {
            check_states("tau", tau.len(), sizes[1], self.count)?;
        }
        check_states("q_out", q_out.len(), sizes[0], self.count)?;
        check_states("qd_out", qd_out.len(), sizes[1], self.count)?;
        let one = |index: usize, outs: [&mut [T]; 2]| -> Result<()> {
            let part = |all: &[T], n: usize| -> Vec<f64> {
                all[n * index..n * (index + 1)].iter().map(|x| x.lane(0)).collect()
            };
            let (q, qd, tau) = (part(q, nq), part(qd, nv), tau.map(|tau| part(tau, sizes[1])));
            let mut wide = sizes.map(|n| vec![f64::NAN; n]);
            let done = variation.model(tree, index).and_then(|model| {
                let [q_out, qd_out] = &mut wide;
                Damped::new(&model).rollout(rollout, [&q, &qd], tau.as_deref(), [q_out, qd_out])
            });
            for (out, wide) in outs.into_iter().zip(&wide) {
                out.iter_mut().zip(wide).for_each(|(out, x)| *out = T::lift(*x));
            }
            done
        };
        let mut team = Team::new(self.threads);
        let outs = [q_out, qd_out];
        team.run(
            self.count,
            sizes,
            outs,
            |_| Ok(()),
            |(), first, [q_out, qd_out]| {
                let mut failures = Failures::default();
                let all = q_out
                    .chunks_mut(sizes[0].max(1))
                    .zip(qd_out.chunks_mut(sizes[1].max(1)));
                for (i, (q_out, qd_out)) in all.enumerate() {
                    if let Err(problem) = one(first + i, [q_out, qd_out]) {
                        failures.add(first + i, problem);
                    }
                }
                failures
            },
        )
    }
}

/// A quantity of one state of many.
fn alone<T: Real>(
    model: &Mechanism,
    quantity: &Quantity,
    given: &Given<'_, T>,
    state: usize,
    out: &mut [T],
) -> Result<()> {
    let numbers = |input: Input| -> Vec<f64> {
        let n = input.len(model).filter(|_| quantity.takes(input)).unwrap_or(0);
        let own = &given.numbers(input)[n * state..n * (state + 1)];
        own.iter().map(|x| x.lane(0)).collect()
    };
    let inputs = [Input::Q, Input::Qd, Input::Qdd, Input::Tau, Input::X, Input::Change].map(numbers);
    let [q, qd, qdd, tau, x, change] = &inputs;
    let one = Given {
        q,
        qd,
        qdd,
        tau,
        x,
        change,
        frame: model.frame_like(given.frame),
        reference: given.reference,
        joint: given.joint.map(|joint| model.joint_like(joint)),
    };
    let found = Evaluation::new(model).compute(quantity, &one)?;
    out.iter_mut().zip(&found).for_each(|(out, x)| *out = T::lift(*x));
    Ok(())
}
