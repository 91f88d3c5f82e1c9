//! Many targets at once.

use super::inverse_kinematics::InverseKinematics;
use super::outcome::Solution;
use super::task::{Task, unsolved};
use crate::Result;
use rayon::prelude::*;

impl InverseKinematics {
    /// Solves for many targets on all threads, and in lanes where tasks are goals of one level about one link each: per target its tasks, in the order and of the kinds of the solver's own. `starts`
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
        for (i, tasks) in targets.iter().enumerate() {
            let (wanted, own) = (tasks.len(), self.residuals().len());
            if wanted != own {
                return Err(unsolved(format!(
                    "target number {i} (from zero) has {wanted} tasks, but the solver {own}; give as many"
                )));
            }
        }
        let start = |i: usize| {
            let at = if starts.len() == nq { 0 } else { i * nq };
            &starts[at..at + nq]
        };
        #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
        if count > 1 && super::in_lanes::crew(self).is_some() {
            // Pieces large enough that lanes seldom wait for the last of one, and several for each thread.
            let piece = count.div_ceil(4 * rayon::current_num_threads()).clamp(32, 1024);
            let all: Vec<(&[Task], &[f64])> = (0..count).map(|i| (&targets[i][..], start(i))).collect();
            let pieces = all.par_chunks(piece).map_init(
                || super::in_lanes::crew(self),
                |crew, piece| match crew {
                    Some(crew) => crew.solve(piece),
                    None => Ok(Vec::new()),
                },
            );
            let pieces: Vec<Vec<Solution>> = pieces.collect::<Result<_>>()?;
            return Ok(pieces.into_iter().flatten().collect());
        }
        let solve = |ik: &mut Self, i: usize| -> Result<Solution> {
            for (k, task) in targets[i].iter().enumerate() {
                ik.set(k, task.clone())?;
            }
            ik.solve_from(start(i))
        };
        (0..count).into_par_iter().map_init(|| self.clone(), solve).collect()
    }
}
