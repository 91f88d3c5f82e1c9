//! Inverse kinematics: Levenberg and Marquardt's method within limits, with restarts.

use super::bounds::Limits;
use super::outcome::{Binding, Outcome, Solution};
use super::step::Step;
use super::task::{Goal, Residual, Seen, Task, unsolved};
use crate::model::{Generator, Mechanism};
use crate::workspace::Workspace;
use crate::{Error, Result};

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// What may be left of every goal, in metres and radians.
    pub tolerance: f64,
    /// Steps from one start.
    pub iterations: usize,
    /// Other starts, drawn within limits, if the first does not lead to the goals.
    pub restarts: usize,
    /// Where the drawing begins: the same seed gives the same answer.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            iterations: 100,
            restarts: 50,
            seed: 1,
        }
    }
}

/// λ at the start, at least, and at most.
const LAMBDA: [f64; 3] = [1e-2, 1e-11, 1e8];
/// A step below this moves nothing that matters.
const STILL: f64 = 1e-12;
/// A cost that sinks by less than this part is no progress; so many times in a row is the end.
const PROGRESS: f64 = 1e-3;
const PATIENCE: usize = 4;

/// Finds configurations that meet tasks. All memory is allocated by [`InverseKinematics::new`].
#[derive(Debug)]
pub struct InverseKinematics {
    workspace: Workspace<f64>,
    tasks: Vec<Task>,
    limits: Limits,
    options: Options,
    step: Step,
    q: Vec<f64>,
    trial: Vec<f64>,
    start: Vec<f64>,
    best: Vec<f64>,
    draw: Vec<f64>,
    residuals: Vec<Residual>,
}

/// When to stop.
#[derive(Clone, Copy, PartialEq)]
enum Until {
    /// The goals are met, or there is little progress.
    Progressing,
    /// The goals are met, or nothing moves.
    Still,
    /// Nothing moves, preferences included.
    Preferred,
}

impl InverseKinematics {
    /// For a mechanism and tasks. An error for tasks that make no sense, or limits that cannot be held: those of free, planar
    /// and spherical joints.
    pub fn new(mechanism: &Mechanism, mut tasks: Vec<Task>) -> Result<Self> {
        for task in &mut tasks {
            task.check(mechanism)?;
        }
        let centres = tasks.iter().filter(|t| matches!(t.goal, Goal::Com { .. })).count();
        if centres > 1 {
            return Err(unsolved(format!(
                "{centres} tasks are about the centre of mass; give one"
            )));
        }
        if tasks.iter().all(|t| t.is_preferred) {
            return Err(unsolved(
                "no task is a goal; give one that is not `preferred`".to_owned(),
            ));
        }
        let limits = Limits::new(mechanism)?;
        limits.check_any()?;
        let nq = || vec![0.0; mechanism.nq()];
        Ok(Self {
            workspace: mechanism.workspace(),
            step: Step::new(mechanism, &tasks),
            residuals: vec![Residual::default(); tasks.len()],
            tasks,
            limits,
            options: Options::default(),
            q: nq(),
            trial: nq(),
            start: nq(),
            best: nq(),
            draw: vec![0.0; mechanism.nv()],
        })
    }

    /// With other options.
    pub fn options(mut self, options: Options) -> Result<Self> {
        if !(options.tolerance > 0.0 && options.tolerance.is_finite()) {
            return Err(Error::Gain {
                argument: "tolerance",
                value: options.tolerance,
                rule: "be finite and more than zero",
            });
        }
        self.options = options;
        Ok(self)
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        self.workspace.mechanism()
    }

    /// Another task in the place of one of the same kind, for instance with the next target.
    pub fn set(&mut self, index: usize, mut task: Task) -> Result<()> {
        task.check(self.workspace.mechanism())?;
        let count = self.tasks.len();
        let Some(old) = self.tasks.get_mut(index) else {
            return Err(unsolved(format!(
                "there is no task number {index} (from zero) of {count}"
            )));
        };
        let same = core::mem::discriminant(&old.goal) == core::mem::discriminant(&task.goal);
        if !same || old.is_preferred != task.is_preferred {
            return Err(unsolved(format!(
                "task number {index} (from zero) is of another kind than that in its place; make the solver anew"
            )));
        }
        *old = task;
        Ok(())
    }

    /// What the last solution left of each task.
    pub fn residuals(&self) -> &[Residual] {
        &self.residuals
    }

    /// One step of damped least squares from q, within limits: dq, nv numbers, for [`Mechanism::integrate`]. All tasks count,
    /// preferences too; nothing is repeated.
    ///
    /// ```
    /// use linkwork::motion::{InverseKinematics, Task};
    /// let arm = linkwork::model::examples::puma560();
    /// let mut ik = InverseKinematics::new(&arm, vec![Task::position(arm.frame("link6_dh")?, [0.4, 0.2, 0.3])])?;
    /// let mut dq = [0.0; 6];
    /// ik.differential(&[0.0, 0.8, 0.5, 0.1, 0.8, 0.0], 1e-6, &mut dq)?;
    /// assert!(dq.iter().any(|x| *x != 0.0));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    #[doc(alias = "differential inverse kinematics")]
    pub fn differential(&mut self, q: &[f64], damping: f64, dq: &mut [f64]) -> Result<()> {
        if !(damping > 0.0 && damping.is_finite()) {
            return Err(Error::Gain {
                argument: "damping",
                value: damping,
                rule: "be finite and more than zero",
            });
        }
        crate::model::check_length("dq", self.step.dq.len(), dq.len())?;
        self.workspace.mechanism().check_configuration("q", q)?;
        self.q.copy_from_slice(q);
        self.limits.check_start(self.workspace.mechanism(), &mut self.q)?;
        let mut posed = self.workspace.at(&self.q)?;
        self.step.look(&mut posed, &self.q, &self.tasks, true)?;
        self.step
            .solve(&mut posed, &self.q, (&self.tasks, true), &self.limits, damping)?;
        dq.copy_from_slice(&self.step.dq);
        for (residual, seen) in self.residuals.iter_mut().zip(&self.step.seen) {
            *residual = seen.residual;
        }
        Ok(())
    }

    /// Finds a configuration from the start in `q`, and puts it there; the nearest that was found if none meets the goals.
    pub fn solve(&mut self, q: &mut [f64]) -> Result<Outcome> {
        self.workspace.mechanism().check_configuration("q", q)?;
        self.start.copy_from_slice(q);
        self.limits.check_start(self.workspace.mechanism(), &mut self.start)?;
        self.q.copy_from_slice(&self.start);
        let mut random = Generator::new(self.options.seed);
        let prefers = self.tasks.iter().any(|t| t.is_preferred);
        let mut outcome = Outcome {
            reached: false,
            iterations: 0,
            restarts: 0,
            cost: f64::INFINITY,
        };
        loop {
            if prefers {
                self.descend(Until::Preferred, &mut outcome.iterations)?;
            }
            let (reached, cost) = self.descend(Until::Progressing, &mut outcome.iterations)?;
            if reached || cost < outcome.cost {
                self.best.copy_from_slice(&self.q);
                (outcome.reached, outcome.cost) = (reached, cost);
            }
            if reached || outcome.restarts == self.options.restarts {
                break;
            }
            outcome.restarts += 1;
            let m = self.workspace.mechanism();
            self.limits
                .draw(m, &mut random, &self.start, &mut self.draw, &mut self.q);
        }
        self.q.copy_from_slice(&self.best);
        if !outcome.reached {
            // The nearest, exactly.
            (outcome.reached, outcome.cost) = self.descend(Until::Still, &mut outcome.iterations)?;
        }
        q.copy_from_slice(&self.q);
        let mut posed = self.workspace.at(&self.q)?;
        self.step.look(&mut posed, &self.q, &self.tasks, true)?;
        for (residual, seen) in self.residuals.iter_mut().zip(&self.step.seen) {
            *residual = seen.residual;
        }
        Ok(outcome)
    }

    /// The same, with all that there is to say about it.
    pub fn solve_from(&mut self, start: &[f64]) -> Result<Solution> {
        let mut q = start.to_vec();
        let outcome = self.solve(&mut q)?;
        let m = self.workspace.mechanism();
        let bindings = self.limits.binding(m, &q);
        let bindings = bindings.into_iter().map(|(joint, at, is_upper)| Binding {
            joint: m.joints()[joint].name.clone(),
            at,
            is_upper,
        });
        let tasks = self.tasks.iter().zip(&self.residuals);
        let unmet = tasks.filter(|(t, r)| !t.is_preferred && r.largest() > self.options.tolerance);
        Ok(Solution {
            reached: outcome.reached,
            residuals: self.residuals.clone(),
            bindings: bindings.collect(),
            iterations: outcome.iterations,
            restarts: outcome.restarts,
            unmet: unmet.map(|(t, r)| (t.name(m), *r)).collect(),
            q,
        })
    }

    /// Levenberg and Marquardt's method from q on: whether the goals are met, and the cost.
    fn descend(&mut self, until: Until, iterations: &mut usize) -> Result<(bool, f64)> {
        let all = until == Until::Preferred;
        let [mut lambda, least, most] = LAMBDA;
        let (mut cost, mut slow) = (f64::INFINITY, 0);
        self.trial.copy_from_slice(&self.q);
        for _ in 0..=self.options.iterations {
            let mut posed = self.workspace.at(&self.trial)?;
            let new = self.step.look(&mut posed, &self.trial, &self.tasks, all)?;
            if new < cost || cost == f64::INFINITY {
                let little = cost - new <= PROGRESS * cost && cost.is_finite();
                slow = if little { slow + 1 } else { 0 };
                lambda = if cost.is_finite() {
                    (lambda * 0.1).max(least)
                } else {
                    lambda
                };
                cost = new;
                self.q.copy_from_slice(&self.trial);
            } else {
                lambda *= 8.0;
                posed = self.workspace.at(&self.q)?;
                self.step.look(&mut posed, &self.q, &self.tasks, all)?;
            }
            let tired = until == Until::Progressing && slow >= PATIENCE;
            let met = !all && met(&self.tasks, &self.step.seen, self.options.tolerance);
            if met || tired || lambda > most {
                break;
            }
            *iterations += 1;
            let moved = self
                .step
                .solve(&mut posed, &self.q, (&self.tasks, all), &self.limits, lambda)?;
            if moved < STILL {
                break;
            }
            let m = self.workspace.mechanism();
            m.integrate_unchecked(&self.q, &self.step.dq, &mut self.trial);
            self.limits.clamp(&mut self.trial);
        }
        Ok((!all && met(&self.tasks, &self.step.seen, self.options.tolerance), cost))
    }
}

/// Whether all goals are met as they were last seen.
fn met(tasks: &[Task], seen: &[Seen], tolerance: f64) -> bool {
    let mut goals = tasks.iter().zip(seen).filter(|(task, _)| !task.is_preferred);
    goals.all(|(_, seen)| seen.residual.largest() <= tolerance)
}
