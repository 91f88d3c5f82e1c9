//! Many targets at once.

use super::inverse_kinematics::InverseKinematics;
use super::outcome::Solution;
use super::task::{Task, unsolved};
use crate::Result;
use rayon::prelude::*;

impl InverseKinematics {
    /// Solves for many targets on all threads: per target its tasks, in the order and of the kinds of the solver's own. `starts`
    /// are nq numbers for all, or for each. Every answer is that of [`InverseKinematics::solve_from`] with those tasks alone,
    /// whatever else is in the batch.
    ///
    /// ```
    /// use linkwork::motion::{InverseKinematics, Task};
    /// let arm = linkwork::model::examples::arm7();
    /// let hand = arm.frame("flange")?;
    /// let targets: Vec<Vec<Task>> = (0..20).map(|i| vec![Task::position(hand, [0.4, 0.02 * i as f64, 0.5])]).collect();
    /// let ik = InverseKinematics::new(&arm, targets[0].clone())?;
    /// let found = ik.solve_many(&targets, &arm.neutral())?;
    /// assert!(found.iter().all(|f| f.reached));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    #[doc(alias = "batch")]
    pub fn solve_many(&self, targets: &[Vec<Task>], starts: &[f64]) -> Result<Vec<Solution>> {
        let (nq, count) = (self.mechanism().nq(), targets.len());
        if starts.len() != nq && starts.len() != nq * count {
            return Err(unsolved(format!(
                "the starts have {} numbers; give {nq} for all targets, or {} for {count} of them",
                starts.len(),
                nq * count
            )));
        }
        let solve = |ik: &mut Self, i: usize| -> Result<Solution> {
            let (wanted, own) = (targets[i].len(), ik.residuals().len());
            if wanted != own {
                return Err(unsolved(format!(
                    "target number {i} (from zero) has {wanted} tasks, but the solver {own}; give as many"
                )));
            }
            for (k, task) in targets[i].iter().enumerate() {
                ik.set(k, task.clone())?;
            }
            let at = if starts.len() == nq { 0 } else { i * nq };
            ik.solve_from(&starts[at..at + nq])
        };
        (0..count).into_par_iter().map_init(|| self.clone(), solve).collect()
    }
}
