//! The solver of inverse kinematics: what it is made of, and what it says.

use super::bounds::Limits;
use super::outcome::{Binding, Outcome, Solution};
use super::residual::Residual;
use super::step::Step;
use super::task::{Goal, Task, frame_name, unsolved};
use crate::closed::ClosedMechanism;
use crate::model::Mechanism;
use crate::spatial::Vec3;
use crate::workspace::Workspace;
use crate::{Error, Result};

/// How hard to try.
///
/// ```
/// use linkwork::motion::SolverOptions;
/// let quick = SolverOptions { restarts: 0, iterations: 50, ..SolverOptions::default() };
/// assert!(quick.tolerance > 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverOptions {
    /// What may be left of every goal, in metres and radians.
    pub tolerance: f64,
    /// Steps from one start.
    pub iterations: usize,
    /// Other starts, drawn within limits, if the first does not lead to the goals.
    pub restarts: usize,
    /// Where the drawing begins: the same seed gives the same answer.
    pub seed: u64,
}

impl Default for SolverOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            iterations: 100,
            restarts: 100,
            seed: 1,
        }
    }
}

/// Loops count as closed when every gap is below this, in metres and radians.
const CLOSED: f64 = 1e-10;

/// Finds configurations that meet tasks. All memory is allocated by [`InverseKinematics::new`], but for tasks between two moving
/// links, which allocate in every step.
///
/// ```
/// use linkwork::motion::{InverseKinematics, Task};
/// let arm = linkwork::model::examples::arm7();
/// let hand = arm.frame("flange")?;
/// let mut ik = InverseKinematics::new(&arm, vec![Task::position(hand, [0.4, 0.2, 0.5])])?;
/// let found = ik.solve_from(&arm.neutral())?;
/// assert!(found.reached, "{found}");
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "inverse kinematics")]
#[must_use]
pub struct InverseKinematics {
    pub(super) workspace: Workspace<f64>,
    /// What closes loops, then what was asked for.
    pub(super) tasks: Vec<Task>,
    /// Per task that closes a loop: the constraint.
    loops: Vec<String>,
    /// Per task: which level it is in, loops first, without gaps; and how many there are.
    pub(super) ranks: Vec<usize>,
    pub(super) rank_count: usize,
    pub(super) limits: Limits,
    pub(super) options: SolverOptions,
    pub(super) step: Step,
    pub(super) q: Vec<f64>,
    pub(super) trial: Vec<f64>,
    pub(super) start: Vec<f64>,
    pub(super) best: Vec<f64>,
    pub(super) draw: Vec<f64>,
    pub(super) residuals: Vec<Residual>,
    /// Per level: whether it has goals, whether they are met, their cost, and that of the best.
    pub(super) has_goals: Vec<bool>,
    pub(super) met: Vec<bool>,
    pub(super) costs: Vec<f64>,
    pub(super) best_costs: Vec<f64>,
    /// Per task: what a step is to do for it, what earlier levels had of it, and what it does.
    pub(super) effects: [Vec<[Vec3; 2]>; 3],
}

impl InverseKinematics {
    /// For a mechanism and tasks. An error for tasks that make no sense, or limits that cannot be held: those of free, planar
    /// and spherical joints.
    pub fn new(mechanism: &Mechanism, tasks: Vec<Task>) -> Result<Self> {
        Self::make(mechanism, Vec::new(), tasks)
    }

    /// For a mechanism with loops: they come before all levels, and are closed in every answer.
    ///
    /// ```
    /// use linkwork::closed::{ClosedMechanism, Constraint};
    /// use linkwork::motion::{InverseKinematics, Task};
    /// let robot = linkwork::model::examples::dual_arm();
    /// let (left, right) = (robot.frame("left_link7")?, robot.frame("right_link7")?);
    /// let rod = Constraint::distance("rod", "left_link7", "right_link7", 0.4);
    /// let closed = ClosedMechanism::new(robot.clone(), vec![rod])?;
    /// let mut ik = InverseKinematics::closed(&closed, vec![Task::position(left, [0.3, 0.2, 0.5])])?;
    /// let found = ik.solve_from(&vec![0.3; robot.nq()])?;
    /// assert!(found.reached && found.closure < 1e-9, "{found}");
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn closed(closed: &ClosedMechanism, tasks: Vec<Task>) -> Result<Self> {
        Self::make(closed.mechanism(), super::loops::tasks(closed)?, tasks)
    }

    fn make(mechanism: &Mechanism, loops: Vec<(String, Task)>, mut tasks: Vec<Task>) -> Result<Self> {
        for task in &mut tasks {
            task.check(mechanism)?;
        }
        let count = |is: fn(&Goal) -> bool| tasks.iter().filter(|t| is(&t.goal)).count();
        let centres = count(|goal| matches!(goal, Goal::Com { .. }));
        let clears = count(|goal| matches!(goal, Goal::Clear { .. }));
        for (count, what) in [
            (centres, "about the centre of mass"),
            (clears, "about being clear of shapes"),
        ] {
            if count > 1 {
                return Err(unsolved(format!("{count} tasks are {what}; give one")));
            }
        }
        if tasks.iter().all(|t| t.is_preferred) {
            return Err(unsolved(
                "no task is a goal; give one that is not `preferred`".to_owned(),
            ));
        }
        let mut levels: Vec<usize> = tasks.iter().map(|t| t.level).collect();
        levels.sort_unstable();
        levels.dedup();
        let first = usize::from(!loops.is_empty());
        let rank = |t: &Task| first + levels.partition_point(|level| *level < t.level);
        let ranks: Vec<usize> = loops.iter().map(|_| 0).chain(tasks.iter().map(rank)).collect();
        let rank_count = first + levels.len();
        let (loops, mut all): (Vec<String>, Vec<Task>) = loops.into_iter().unzip();
        all.append(&mut tasks);
        let limits = Limits::new(mechanism)?;
        limits.check_any()?;
        let nq = || vec![0.0; mechanism.nq()];
        let goals = |rank: usize| all.iter().zip(&ranks).any(|(t, r)| *r == rank && !t.is_preferred);
        let has_goals = (0..rank_count).map(goals).collect();
        let mut made = Self {
            workspace: mechanism.workspace(),
            step: Step::new(mechanism, &all),
            residuals: vec![Residual::default(); all.len()],
            effects: [(); 3].map(|()| vec![[Vec3::ZERO; 2]; all.len()]),
            tasks: all,
            loops,
            ranks,
            rank_count,
            limits,
            options: SolverOptions::default(),
            q: nq(),
            trial: nq(),
            start: nq(),
            best: nq(),
            draw: vec![0.0; mechanism.nv()],
            met: vec![false; rank_count],
            costs: vec![0.0; rank_count],
            best_costs: vec![0.0; rank_count],
            has_goals,
        };
        made.set_tolerances();
        Ok(made)
    }

    /// With other options.
    pub fn options(mut self, options: SolverOptions) -> Result<Self> {
        if !(options.tolerance > 0.0 && options.tolerance.is_finite()) {
            return Err(Error::Gain {
                argument: "tolerance",
                value: options.tolerance,
                rule: "be finite and more than zero",
            });
        }
        self.options = options;
        self.set_tolerances();
        Ok(self)
    }

    /// With the shapes that [`Task::clear`] is about. What is in it must be of this mechanism.
    ///
    /// ```
    /// use linkwork::motion::{Clearance, InverseKinematics, Near, Task};
    /// use linkwork::model::FrameId;
    /// use linkwork::spatial::Vec3;
    /// /// A ball in the world, and a point on a link.
    /// #[derive(Clone)]
    /// struct Ball(linkwork::Workspace, FrameId, Vec3, f64);
    /// impl Clearance for Ball {
    ///     fn near(&mut self, q: &[f64], margin: f64, out: &mut Vec<Near>) -> linkwork::Result<()> {
    ///         let point = self.0.at(q)?.pose(self.1)?.translation;
    ///         let away = point - self.2;
    ///         let (gap, normal) = (away.norm() - self.3, away * away.norm().recip());
    ///         if gap < margin {
    ///             out.push(Near { a: self.1, b: FrameId::WORLD, point, normal, gap });
    ///         }
    ///         Ok(())
    ///     }
    ///     fn another(&self) -> Box<dyn Clearance> {
    ///         Box::new(self.clone())
    ///     }
    /// }
    /// let arm = linkwork::model::examples::arm7();
    /// let (hand, elbow) = (arm.frame("flange")?, arm.frame("link4")?);
    /// let q = [0.0, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0];
    /// let mut workspace = arm.workspace();
    /// let (target, at) = (workspace.at(&q)?.pose(hand)?, workspace.at(&q)?.pose(elbow)?.translation);
    /// // The hand stays, and the elbow gives way to a ball.
    /// let ball = Ball(arm.workspace(), elbow, at + [0.0, 0.02, 0.0].into(), 0.05);
    /// let tasks = vec![Task::pose(hand, target), Task::clear(0.01)];
    /// let mut ik = InverseKinematics::new(&arm, tasks)?.avoiding(Box::new(ball));
    /// let found = ik.solve_from(&q)?;
    /// assert!(found.reached, "{found}");
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    #[doc(alias = "collision avoidance")]
    pub fn avoiding(mut self, shapes: Box<dyn super::Clearance>) -> Self {
        self.step.avoid(shapes);
        self
    }

    fn set_tolerances(&mut self) {
        let wanted = self.options.tolerance;
        for (i, task) in self.tasks.iter_mut().enumerate() {
            task.tolerance = if i < self.loops.len() {
                wanted.min(CLOSED)
            } else {
                wanted
            };
        }
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        self.workspace.mechanism()
    }

    /// Another task in the place of one of the same kind, for instance with the next target.
    pub fn set(&mut self, index: usize, mut task: Task) -> Result<()> {
        task.check(self.workspace.mechanism())?;
        let (loops, count) = (self.loops.len(), self.tasks.len() - self.loops.len());
        let Some(old) = self.tasks.get_mut(loops + index) else {
            return Err(unsolved(format!(
                "there is no task number {index} (from zero) of {count}"
            )));
        };
        let same = core::mem::discriminant(&old.goal) == core::mem::discriminant(&task.goal);
        if !same || old.is_preferred != task.is_preferred || old.level != task.level {
            return Err(unsolved(format!(
                "task number {index} (from zero) is of another kind or level than that in its place; make a new solver"
            )));
        }
        task.tolerance = old.tolerance;
        *old = task;
        self.step.aim(self.workspace.mechanism(), loops + index, old);
        Ok(())
    }

    /// What the last solution or step left of each task.
    pub fn residuals(&self) -> &[Residual] {
        &self.residuals[self.loops.len()..]
    }

    /// How far loops were from closed, in metres or radians.
    pub fn closure(&self) -> f64 {
        self.residuals[..self.loops.len()]
            .iter()
            .fold(0.0, |m: f64, r| m.max(r.largest()))
    }

    /// Keeps what is left of the tasks as last seen.
    pub(super) fn keep_residuals(&mut self) {
        for (residual, seen) in self.residuals.iter_mut().zip(&self.step.seen) {
            *residual = seen.residual();
        }
    }

    /// [`InverseKinematics::solve`] with all that there is to say about it.
    pub fn solve_from(&mut self, start: &[f64]) -> Result<Solution> {
        let mut q = start.to_vec();
        let outcome = self.solve(&mut q)?;
        Ok(self.tell(q, &outcome))
    }

    /// All that there is to say about a configuration that was found, from the residuals that were kept.
    pub(super) fn tell(&self, q: Vec<f64>, outcome: &Outcome) -> Solution {
        let m = self.workspace.mechanism();
        let bindings = self.limits.binding(m, &q);
        let bindings = bindings.into_iter().map(|(joint, at, is_upper)| Binding {
            joint: m.joints()[joint].name.clone(),
            at,
            is_upper,
        });
        let name = |i: usize| match self.loops.get(i) {
            Some(constraint) => format!("the loop `{constraint}`"),
            None => match self.step.gaps.nearest(|f| frame_name(m, f)) {
                Some(pair) if matches!(self.tasks[i].goal, Goal::Clear { .. }) => format!("the clearance of {pair}"),
                _ => self.tasks[i].name(m),
            },
        };
        let goals = (0..self.tasks.len()).filter(|i| !self.tasks[*i].is_preferred);
        let left = goals
            .clone()
            .filter(|&i| i >= self.loops.len())
            .fold(0.0, |most: f64, i| most.max(self.residuals[i].largest()));
        let unmet: Vec<usize> = goals
            .filter(|&i| self.residuals[i].largest() > self.tasks[i].tolerance)
            .collect();
        let own = |i: &usize| *i >= self.loops.len();
        let mut contradictions = Vec::new();
        for &i in unmet.iter().filter(|i| own(i)) {
            for j in (self.loops.len()..self.tasks.len()).filter(|&j| j != i && (j < i || !unmet.contains(&j))) {
                if self.tasks[i].contradicts(&self.tasks[j], self.options.tolerance) {
                    let numbers = [i.min(j), i.max(j)].map(|i| i - self.loops.len());
                    contradictions.push((numbers, name(i)));
                }
            }
        }
        Solution {
            reached: outcome.reached,
            residuals: self.residuals().to_vec(),
            closure: self.closure(),
            bindings: bindings.collect(),
            iterations: outcome.iterations,
            restarts: outcome.restarts,
            left,
            unmet: unmet.iter().map(|&i| (name(i), self.residuals[i])).collect(),
            contradictions,
            q,
        }
    }
}
