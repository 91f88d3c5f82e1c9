//! The differential form: velocities of tasks become velocities of joints, within limits.

use super::inverse_kinematics::InverseKinematics;
use super::task::Goal;
#[cfg(doc)]
use super::task::Task;
use crate::model::check_length;
use crate::{Error, Result};

/// How much more earlier levels weigh, and how often what they give way by is added to their pull.
const STIFF: f64 = 1e4;
const ROUNDS: usize = 4;

/// How [`InverseKinematics::velocity`] turns errors into velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// How long the velocities are kept, in seconds: no joint leaves its limits meanwhile.
    pub period: f64,
    /// How fast errors are to vanish, in 1/s: a task's velocity is gain times its error, and the target's own.
    pub gain: f64,
    /// λ of least squares: larger near singular configurations for slower joints, smaller for exactness.
    pub damping: f64,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            period: 0.01,
            gain: 10.0,
            damping: 1e-6,
        }
    }
}

impl InverseKinematics {
    /// One step of damped least squares from q, within limits of position: dq, nv numbers, for [`Mechanism::integrate`]. All
    /// tasks count, preferences too, levels before others; nothing is repeated.
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
    ///
    /// [`Mechanism::integrate`]: crate::Mechanism::integrate
    #[doc(alias = "differential inverse kinematics")]
    pub fn differential(&mut self, q: &[f64], damping: f64, dq: &mut [f64]) -> Result<()> {
        positive("damping", damping)?;
        check_length("dq", self.step.numbers.dq.len(), dq.len())?;
        self.workspace.mechanism().check_configuration("q", q)?;
        self.limits.within_velocities(None);
        self.by_levels(q, 1.0, 0.0, damping)?;
        dq.copy_from_slice(&self.step.numbers.dq);
        Ok(())
    }

    /// The velocities q̇ that give tasks theirs, gain·error and what [`Task::moving`] adds, within the limits of joints on
    /// velocity, and on position for a period. Which degrees of freedom limits hold is in [`InverseKinematics::held`].
    ///
    /// ```
    /// use linkwork::motion::{InverseKinematics, Rates, Task};
    /// let arm = linkwork::model::examples::arm7();
    /// let hand = arm.frame("flange")?;
    /// // Along x at 0.1 m/s, from wherever it is.
    /// let rates = Rates { gain: 0.0, ..Rates::default() };
    /// let task = Task::position(hand, [0.0; 3]).moving([0.0; 3], [0.1, 0.0, 0.0]);
    /// let mut ik = InverseKinematics::new(&arm, vec![task])?;
    /// let (q, mut v) = ([0.3, 0.5, 0.2, 1.0, 0.1, 0.4, 0.0], [0.0; 7]);
    /// ik.velocity(&q, &rates, &mut v)?;
    /// let twist = arm.workspace().at(&q)?.moving(&v)?.velocity(hand, linkwork::Reference::Aligned)?;
    /// assert!((twist.linear.x - 0.1).abs() < 1e-5 && twist.linear.y.abs() < 1e-5);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn velocity(&mut self, q: &[f64], rates: &Rates, v: &mut [f64]) -> Result<()> {
        positive("damping", rates.damping)?;
        positive("period", rates.period)?;
        if !(rates.gain >= 0.0 && rates.gain.is_finite()) {
            let (argument, value) = ("gain", rates.gain);
            return Err(Error::Negative { argument, value });
        }
        check_length("v", self.step.numbers.dq.len(), v.len())?;
        self.workspace.mechanism().check_configuration("q", q)?;
        let m = self.workspace.mechanism();
        self.limits.within_velocities(Some((m, q, rates.period)));
        self.by_levels(q, rates.gain * rates.period, rates.period, rates.damping)?;
        for (v, dq) in v.iter_mut().zip(&self.step.numbers.dq) {
            *v = dq / rates.period;
        }
        Ok(())
    }

    /// Per degree of freedom: whether a limit held it in the last [`InverseKinematics::velocity`] or
    /// [`InverseKinematics::differential`].
    pub fn held(&self) -> &[bool] {
        &self.step.numbers.held
    }

    /// dq that does `part` of all errors and what targets move in a period, level by level; q is known to be right.
    fn by_levels(&mut self, q: &[f64], part: f64, period: f64, damping: f64) -> Result<()> {
        self.q.copy_from_slice(q);
        self.limits.check_start(self.workspace.mechanism(), &mut self.q)?;
        let Self {
            step,
            tasks,
            ranks,
            limits,
            effects: [wanted, had, has],
            ..
        } = self;
        for share in &mut step.shares {
            share.reset(1.0);
        }
        let mut posed = self.workspace.at(&self.q)?;
        step.see(&mut posed, &self.q, tasks)?;
        for (((task, seen), share), wanted) in tasks
            .iter()
            .zip(&step.seen)
            .zip(&mut step.shares)
            .zip(wanted.iter_mut())
        {
            *wanted = seen.e.map(|e| e * part);
            if let Some(fed) = task.fed(seen) {
                *wanted = [0, 1].map(|i| wanted[i] + fed[i] * period);
            }
            share.joints.iter_mut().for_each(|e| *e *= part);
        }
        step.numbers.dq.fill(0.0);
        for rank in 0..self.rank_count {
            for (i, (seen, share)) in step.seen.iter_mut().zip(&mut step.shares).enumerate() {
                let earlier = ranks[i] < rank;
                share.scale = if earlier { STIFF } else { f64::from(ranks[i] == rank) };
                seen.e = if earlier { had[i] } else { wanted[i] };
                if earlier {
                    share.joints.copy_from_slice(&share.joints_pull);
                }
            }
            for round in 0..ROUNDS {
                step.weigh(&posed, tasks);
                step.improve(&mut posed, &self.q, tasks, limits, damping)?;
                if rank == 0 {
                    break;
                }
                // What earlier levels lose is asked for beyond what they had.
                step.effect(&mut posed, tasks, has);
                for i in (0..tasks.len()).filter(|&i| ranks[i] < rank && round + 1 < ROUNDS) {
                    step.seen[i].e = [0, 1].map(|k| step.seen[i].e[k] + had[i][k] - has[i][k]);
                    if !matches!(tasks[i].goal, Goal::Posture { .. }) {
                        continue;
                    }
                    let share = &mut step.shares[i];
                    for ((e, had), dq) in share.joints.iter_mut().zip(&share.joints_pull).zip(&step.numbers.dq) {
                        *e += had - dq;
                    }
                }
            }
            if rank + 1 < self.rank_count {
                step.effect(&mut posed, tasks, had);
                let postures = step.shares.iter_mut().zip(tasks.iter());
                for (share, _) in postures.filter(|(_, t)| matches!(t.goal, Goal::Posture { .. })) {
                    share.joints_pull.copy_from_slice(&step.numbers.dq);
                }
            }
        }
        self.keep_residuals();
        Ok(())
    }
}

fn positive(argument: &'static str, value: f64) -> Result<()> {
    match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(Error::Gain {
            argument,
            value,
            rule: "be finite and more than zero",
        }),
    }
}
