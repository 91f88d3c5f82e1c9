//! Levenberg and Marquardt's method within limits, level by level, with restarts.
//!
//! A level is solved with all earlier ones as stiff springs beside it. What such a spring gives way by is added to its pull,
//! until it holds exactly (the method of multipliers): so levels are strict, and each step stays two sweeps.

use super::inverse_kinematics::InverseKinematics;
use super::outcome::Outcome;
use super::residual::Seen;
use super::task::{Goal, Task};
use crate::Result;
use crate::model::Generator;

/// λ at the start, at least, and at most.
const LAMBDA: [f64; 3] = [1e-2, 1e-11, 1e8];
/// From afar λ is so much of the cost, and at least; a cost that does not sink to so much of the least in so many steps is the
/// end. (Of a few tried on UR5, Panda and PUMA, those that took the fewest steps in all.)
const AFAR: f64 = 0.1;
const NEAR: f64 = 1e-9;
const SINKS: f64 = 0.7;
const WAIT: usize = 3;
/// A step below this moves nothing that matters.
pub(super) const STILL: f64 = 1e-12;
/// A cost that sinks by less than this part is no progress; so many times in a row is the end.
const PROGRESS: f64 = 1e-3;
const PATIENCE: usize = 4;
/// How much more earlier levels weigh: those that are met, whose pull grows, and those that cannot be.
const STIFF: f64 = 1e3;
const STIFFEST: f64 = 1e6;
/// How often pulls grow.
const ROUNDS: usize = 10;

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
    /// Finds a configuration from the start in `q`, and puts it there; the nearest that was found if none meets the goals.
    pub fn solve(&mut self, q: &mut [f64]) -> Result<Outcome> {
        self.workspace.mechanism().check_configuration("q", q)?;
        self.start.copy_from_slice(q);
        self.limits.within_velocities(None);
        self.limits.check_start(self.workspace.mechanism(), &mut self.start)?;
        self.q.copy_from_slice(&self.start);
        let mut random = Generator::new(self.options.seed);
        let mut outcome = Outcome {
            reached: false,
            iterations: 0,
            restarts: 0,
            cost: 0.0,
        };
        self.best_costs.fill(f64::INFINITY);
        loop {
            let reached = self.climb(Until::Progressing, &mut outcome.iterations)?;
            if reached || self.is_better() {
                self.best.copy_from_slice(&self.q);
                self.best_costs.copy_from_slice(&self.costs);
                outcome.reached = reached;
            }
            if reached || outcome.restarts == self.options.restarts {
                break;
            }
            outcome.restarts += 1;
            let m = self.workspace.mechanism();
            self.limits
                .draw(m, &mut random, &self.start, &mut self.draw, &mut self.q);
        }
        match outcome.reached {
            true => self.keep_residuals(),
            false => self.settle(&mut outcome)?,
        }
        q.copy_from_slice(&self.q);
        Ok(outcome)
    }

    /// The nearest, exactly: from the best on until nothing moves.
    pub(super) fn settle(&mut self, outcome: &mut Outcome) -> Result<()> {
        self.q.copy_from_slice(&self.best);
        outcome.reached = self.climb(Until::Still, &mut outcome.iterations)?;
        outcome.cost = self.costs.iter().sum();
        self.keep_residuals();
        Ok(())
    }

    /// Whether the last costs are below the best, the first level that differs deciding.
    fn is_better(&self) -> bool {
        let mut pairs = self.costs.iter().zip(&self.best_costs);
        pairs.find(|(a, b)| differ(**a, **b)).is_some_and(|(a, b)| a < b)
    }

    /// All levels from q on: whether all goals are met, with the costs and residuals there.
    fn climb(&mut self, until: Until, iterations: &mut usize) -> Result<bool> {
        for rank in 0..self.rank_count {
            self.climb_to(rank, until, iterations)?;
        }
        if self.rank_count > 1 && self.met[0] && !self.is_met(0) {
            for (share, rank) in self.step.shares.iter_mut().zip(&self.ranks) {
                share.reset(if *rank == 0 { 1.0 } else { 0.0 });
            }
            self.descend(0, Until::Progressing, iterations)?;
        }
        let mut reached = true;
        for rank in 0..self.rank_count {
            let met = (0..self.tasks.len()).all(|i| self.ranks[i] != rank || self.task_is_met(i));
            reached &= met;
            // What is met is equally good.
            self.costs[rank] = if met { 0.0 } else { self.cost_of(rank) };
        }
        Ok(reached)
    }

    /// Whether the goals up to a level are met as they were last seen.
    fn is_met(&self, rank: usize) -> bool {
        met(&self.tasks, &self.step.seen, &self.ranks, rank)
    }

    fn task_is_met(&self, i: usize) -> bool {
        self.tasks[i].is_met(&self.step.seen[i])
    }

    /// ½Σe*Ge of the goals of a level, without pulls.
    fn cost_of(&self, rank: usize) -> f64 {
        let mut sum = 0.0;
        for i in (0..self.tasks.len()).filter(|&i| self.ranks[i] == rank && !self.tasks[i].is_preferred) {
            let (share, mut seen) = (&self.step.shares[i], self.step.seen[i]);
            for (e, pull) in seen.e.iter_mut().zip(share.pull) {
                *e -= seen.axes * pull;
            }
            let joints = share.joints.iter().zip(&share.joints_pull).map(|(e, pull)| e - pull);
            sum += seen.cost() + 0.5 * self.tasks[i].weight * joints.map(|e| e * e).sum::<f64>();
        }
        sum
    }

    /// One level, with those before it held.
    fn climb_to(&mut self, rank: usize, until: Until, iterations: &mut usize) -> Result<()> {
        let mut own = self.tasks.iter().zip(&self.ranks).filter(|(_, r)| **r == rank);
        let (prefers, has_goals) = (own.any(|(t, _)| t.is_preferred), self.has_goals[rank]);
        for ((share, task), &r) in self.step.shares.iter_mut().zip(&self.tasks).zip(&self.ranks) {
            share.reset(match r < rank {
                true if task.is_preferred && self.has_goals[r] => 0.0,
                true if self.met[r] => STIFF,
                true => STIFFEST,
                false => 0.0,
            });
        }
        if prefers {
            self.count(rank, true);
            self.hold(rank, Until::Preferred, iterations)?;
        }
        if has_goals {
            self.count(rank, false);
            self.hold(rank, until, iterations)?;
        }
        self.met[rank] = has_goals && self.is_met(rank);
        Ok(())
    }

    /// Lets the tasks of a level count, preferences too or goals alone.
    fn count(&mut self, rank: usize, preferences: bool) {
        let shares = self.step.shares.iter_mut().zip(&self.tasks);
        for ((share, task), _) in shares.zip(&self.ranks).filter(|(_, r)| **r == rank) {
            share.reset(f64::from(preferences || !task.is_preferred));
        }
    }

    /// Descends, and lets the pulls of earlier levels grow until these hold.
    fn hold(&mut self, rank: usize, until: Until, iterations: &mut usize) -> Result<()> {
        if rank == 0 && until == Until::Progressing {
            return self.approach(iterations);
        }
        self.descend(rank, until, iterations)?;
        for _ in 0..ROUNDS {
            let gives_way = |i: &usize| {
                let r = self.ranks[*i];
                r < rank && self.met[r] && self.step.shares[*i].scale > 0.0 && !self.task_is_met(*i)
            };
            if !(0..self.tasks.len()).any(|i| gives_way(&i)) {
                break;
            }
            let all = self.step.shares.iter_mut().zip(&self.step.seen).zip(&self.ranks);
            for (((share, seen), r), task) in all.zip(&self.tasks) {
                // Pairs of shapes come and go: they stay springs.
                if *r < rank && self.met[*r] && !matches!(task.goal, Goal::Clear { .. }) {
                    // The error as seen has the old pull in it.
                    share.pull = seen.e.map(|e| seen.axes.inverse_mul(e));
                    share.joints_pull.copy_from_slice(&share.joints);
                }
            }
            self.descend(rank, until, iterations)?;
        }
        Ok(())
    }

    /// The first level, from afar: steps that are always taken, with λ in proportion to the cost. Where that leads nowhere
    /// another start is cheaper than patience.
    fn approach(&mut self, iterations: &mut usize) -> Result<()> {
        let mut progress = Progress::new(self.options.iterations);
        loop {
            let mut posed = self.workspace.at(&self.q)?;
            let cost = self.step.look(&mut posed, &self.q, &self.tasks)?;
            if !progress.goes_on(cost, met(&self.tasks, &self.step.seen, &self.ranks, 0)) {
                return Ok(());
            }
            *iterations += 1;
            let lambda = progress.lambda(cost);
            self.step
                .solve(&mut posed, &self.q, &self.tasks, &self.limits, lambda)?;
            if is_still(&self.step.numbers.dq) {
                return Ok(());
            }
            let m = self.workspace.mechanism();
            m.integrate_unchecked(&self.q, &self.step.numbers.dq, &mut self.trial);
            self.limits.clamp(&mut self.trial);
            core::mem::swap(&mut self.q, &mut self.trial);
        }
    }

    /// Levenberg and Marquardt's method from q on; what counts is seen there in the end.
    fn descend(&mut self, rank: usize, until: Until, iterations: &mut usize) -> Result<()> {
        let [mut lambda, least, most] = LAMBDA;
        let (mut cost, mut slow) = (f64::INFINITY, 0);
        self.trial.copy_from_slice(&self.q);
        for _ in 0..=self.options.iterations {
            let mut posed = self.workspace.at(&self.trial)?;
            let new = self.step.look(&mut posed, &self.trial, &self.tasks)?;
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
                self.step.look(&mut posed, &self.q, &self.tasks)?;
            }
            let tired = until == Until::Progressing && slow >= PATIENCE;
            let met = until != Until::Preferred && met(&self.tasks, &self.step.seen, &self.ranks, rank);
            if met || tired || lambda > most {
                break;
            }
            *iterations += 1;
            self.step
                .solve(&mut posed, &self.q, &self.tasks, &self.limits, lambda)?;
            if is_still(&self.step.numbers.dq) {
                break;
            }
            let m = self.workspace.mechanism();
            m.integrate_unchecked(&self.q, &self.step.numbers.dq, &mut self.trial);
            self.limits.clamp(&mut self.trial);
        }
        Ok(())
    }
}

/// Whether costs are further apart than rounding.
fn differ(a: f64, b: f64) -> bool {
    (a - b).abs() > 1e-9 * a.min(b)
}

/// Whether a cost is below another by more than rounding.
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
pub(super) fn is_better(a: f64, b: f64) -> bool {
    differ(a, b) && a < b
}

/// Whether a step moves nothing that matters.
pub(super) fn is_still(dq: &[f64]) -> bool {
    dq.iter().fold(0.0, |most: f64, x| most.max(x.abs())) < STILL
}

/// How a climb from afar gets on.
pub(super) struct Progress {
    best: f64,
    waited: usize,
    left: usize,
}

impl Progress {
    pub(super) fn new(iterations: usize) -> Self {
        Self {
            best: f64::INFINITY,
            waited: 0,
            left: iterations,
        }
    }

    /// Whether another step is worth it at a cost.
    pub(super) fn goes_on(&mut self, cost: f64, met: bool) -> bool {
        if cost < SINKS * self.best {
            (self.best, self.waited) = (cost, 0);
        } else {
            self.waited += 1;
        }
        let goes = !met && self.left > 0 && self.waited < WAIT;
        self.left -= usize::from(goes);
        goes
    }

    /// λ at a cost.
    pub(super) fn lambda(&self, cost: f64) -> f64 {
        AFAR * cost + NEAR
    }
}

/// Whether the goals up to a level are met.
fn met(tasks: &[Task], seen: &[Seen], ranks: &[usize], rank: usize) -> bool {
    let mut all = tasks.iter().zip(seen).zip(ranks);
    all.all(|((task, seen), r)| *r > rank || task.is_met(seen))
}
