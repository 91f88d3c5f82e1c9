//! One step of damped least squares within limits.

use super::bounds::Limits;
use super::centre_of_mass::Centre;
use super::clearance::Gaps;
use super::least_squares::{Look, Reach};
use super::link_goal::Aim;
use super::residual::Seen;
use super::task::{Goal, Task};
use crate::Result;
use crate::model::{FrameId, JointKind, Mechanism, Placed};
use crate::simd;
use crate::spatial::{Force, Pose, Reference, Vec3};
use crate::stage::world::World;
use crate::workspace::{Augmented, Configured, Masses};

/// A on a joint that is held: what moves it is below the last digit.
pub(super) const HELD: f64 = 1e30;
/// How often joints that would leave their limits are held and the rest solved again.
pub(super) const PASSES: usize = 4;
/// The same where the step goes no further than the first limit it meets.
const BLOCKS: usize = 12;

/// A step, and what it is made from.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The joints that move tasks, where these are about one link each; the operator of all joints else.
    reach: Option<Reach<f64>>,
    looks: Vec<Look<f64>>,
    /// Per task: where it aims and the frame that is to be there, if it is of the simple kind.
    aims: Vec<Option<(Aim<f64>, Placed)>>,
    memory: Augmented,
    /// Per task: how much it counts now, and what is added to its error.
    pub(super) shares: Vec<Share>,
    pub(super) seen: Vec<Seen>,
    pub(super) numbers: Numbers,
    pub(super) gaps: Gaps,
}

/// Numbers per degree of freedom.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// Per degree of freedom: the posture's weight times what is left, and the weights.
    posture: Vec<f64>,
    posture_weights: Vec<f64>,
    /// Per degree of freedom: 1 if postures count it, else 0.
    counted: Vec<f64>,
    wide: Vec<f64>,
    /// J*Ge: downhill.
    gradient: Vec<f64>,
    rhs: Vec<f64>,
    diagonal: Vec<f64>,
    /// Per degree of freedom: whether a limit holds it.
    pub(super) held: Vec<bool>,
    centre: Option<Centre>,
    /// The step itself.
    pub(super) dq: Vec<f64>,
}

/// What a task counts for: its weight times `scale`, and an error that is larger by `pull`. The pull is a multiplier of
/// Lagrange, divided by the weight: it makes a spring hold exactly what others pull at.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) scale: f64,
    /// Turning and moving, in the axes that the target is in.
    pub(super) pull: [Vec3; 2],
    /// Of a posture per degree of freedom, of gaps per pair of shapes: the pull, and what is left.
    pub(super) joints_pull: Vec<f64>,
    pub(super) joints: Vec<f64>,
}

impl Share {
    /// Counts so much, without a pull.
    pub(super) fn reset(&mut self, scale: f64) {
        self.scale = scale;
        self.pull = [Vec3::ZERO; 2];
        self.joints_pull.fill(0.0);
    }
}

impl Step {
    pub(super) fn new(m: &Mechanism, tasks: &[Task]) -> Self {
        let nv = m.nv();
        let centre = tasks.iter().position(|t| matches!(t.goal, Goal::Com { .. }));
        let share = |task: &Task| {
            let own = if matches!(task.goal, Goal::Posture { .. }) {
                nv
            } else {
                0
            };
            Share {
                scale: 1.0,
                pull: [Vec3::ZERO; 2],
                joints_pull: vec![0.0; own],
                joints: vec![0.0; own],
            }
        };
        let mut counted = vec![1.0; nv];
        for (joint, _, v) in m.independent() {
            if matches!(joint.kind, JointKind::Free | JointKind::Planar) {
                counted[v].fill(0.0);
            }
        }
        let mut made = Self {
            reach: Reach::new(m, tasks),
            aims: vec![None; tasks.len()],
            looks: vec![Look::NOTHING; tasks.len()],
            memory: m.augmented(),
            shares: tasks.iter().map(share).collect(),
            seen: vec![Seen::NOTHING; tasks.len()],
            numbers: Numbers {
                posture: vec![0.0; nv],
                posture_weights: vec![0.0; nv],
                counted,
                wide: vec![0.0; nv],
                gradient: vec![0.0; nv],
                rhs: vec![0.0; nv],
                diagonal: vec![0.0; nv],
                held: vec![false; nv],
                centre: centre.map(|task| Centre::new(task, nv)),
                dq: vec![0.0; nv],
            },
            gaps: Gaps::default(),
        };
        for (i, task) in tasks.iter().enumerate() {
            made.aim(m, i, task);
        }
        made
    }

    /// Works out what of a task does not depend on the configuration.
    pub(super) fn aim(&mut self, m: &Mechanism, index: usize, task: &Task) {
        let Some(frame) = task.frame().filter(|_| self.reach.is_some()) else {
            return;
        };
        let base = task.other.map_or(Pose::IDENTITY, |f| m.placed[f.index()].pose);
        self.aims[index] = Aim::of(task, base).map(|aim| (aim, m.placed[frame.index()]));
    }

    /// Where tasks aim, those of the simple kind.
    #[cfg(all(target_arch = "x86_64", feature = "lanes"))]
    pub(super) fn simple_aims(&self) -> impl Iterator<Item = Option<Aim<f64>>> {
        self.aims.iter().map(|aim| aim.as_ref().map(|(aim, _)| *aim))
    }

    /// Sees all tasks at a configuration, pulls included: ½Σe*Ge of those that count.
    pub(super) fn look(&mut self, posed: &mut Configured<'_>, q: &[f64], tasks: &[Task]) -> Result<f64> {
        self.see(posed, q, tasks)?;
        Ok(self.weigh(posed, tasks))
    }

    /// The same, to be weighed later.
    pub(super) fn see(&mut self, posed: &mut Configured<'_>, q: &[f64], tasks: &[Task]) -> Result<()> {
        let m = posed.mechanism();
        if self.reach.is_some() {
            let (world, instructions) = posed.world();
            instructions.perform::<f64, _>(SeeSimple {
                world,
                aims: &self.aims,
                shares: &self.shares,
                seen: &mut self.seen,
            });
        }
        let all = tasks.iter().zip(&mut self.seen).zip(&mut self.shares).zip(&self.aims);
        for (((task, seen), share), _) in all.filter(|(_, aim)| aim.is_none()) {
            *seen = task.see(posed);
            if let Goal::Posture { q: target } = &task.goal {
                m.difference_unchecked(q, target, &mut share.joints);
                let counted = share.joints.iter().zip(&self.numbers.counted);
                let square: f64 = counted.map(|(e, counts)| e * e * counts * counts).sum();
                seen.angle = if task.weight > 0.0 { square.sqrt() } else { 0.0 };
                for (e, pull) in share.joints.iter_mut().zip(&share.joints_pull) {
                    *e += pull;
                }
            }
            if let Goal::Clear { margin } = task.goal {
                seen.distance = self.gaps.look(q, margin, &mut share.joints)?;
                share.joints_pull.clear();
                share.joints_pull.resize(share.joints.len(), 0.0);
            }
            if share.pull != [Vec3::ZERO; 2] {
                seen.e = [0, 1].map(|i| seen.e[i] + seen.axes * share.pull[i]);
            }
        }
        Ok(())
    }

    /// The weights of what counts, from errors that are set: ½Σe*Ge.
    pub(super) fn weigh(&mut self, posed: &Configured<'_>, tasks: &[Task]) -> f64 {
        let mut cost = 0.0;
        posed.instructions().perform::<f64, _>(Weigh {
            tasks,
            seen: &self.seen,
            shares: &self.shares,
            numbers: &mut self.numbers,
            cost: &mut cost,
        });
        cost
    }

    /// dq = (λI + ΣJ*GJ)⁻¹ ΣJ*Ge with what limits hold welded, from what was seen here. Where a joint would leave its limits
    /// it goes as far as it may, and the others make up for it.
    pub(super) fn solve(
        &mut self,
        posed: &mut Configured<'_>,
        q: &[f64],
        tasks: &[Task],
        limits: &Limits,
        lambda: f64,
    ) -> Result<()> {
        let m = posed.mechanism();
        self.prepare(posed, tasks)?;
        let n = &mut self.numbers;
        for (dof, held) in n.held.iter_mut().enumerate() {
            *held = limits.holds(q, dof, n.gradient[dof]);
            n.dq[dof] = 0.0;
        }
        for pass in 0..PASSES {
            self.damped(posed, lambda)?;
            let (n, mut shortened) = (&mut self.numbers, false);
            for dof in 0..n.held.len() {
                if n.held[dof] {
                    continue;
                }
                n.dq[dof] = n.wide[dof];
                if let Some(allowed) = limits.shortened(m, q, dof, n.wide[dof]) {
                    n.dq[dof] = allowed;
                    n.held[dof] = true;
                    shortened = true;
                }
            }
            if !shortened || pass + 1 == PASSES {
                break;
            }
        }
        Ok(())
    }

    /// The same from the step in dq, which is within limits, towards the best: up to the first limit on the way, which is then
    /// held, and on from there. So what earlier levels have of it is never lost to a limit.
    pub(super) fn improve(
        &mut self,
        posed: &mut Configured<'_>,
        q: &[f64],
        tasks: &[Task],
        limits: &Limits,
        lambda: f64,
    ) -> Result<()> {
        let m = posed.mechanism();
        self.prepare(posed, tasks)?;
        self.numbers.held.fill(false);
        for _ in 0..BLOCKS {
            self.damped(posed, lambda)?;
            let n = &mut self.numbers;
            // How much of the way each can go.
            let mut whole = 1.0_f64;
            for dof in 0..n.held.len() {
                let way = n.wide[dof] - n.dq[dof];
                let allowed = limits.shortened(m, q, dof, n.wide[dof]).filter(|_| !n.held[dof]);
                n.rhs[dof] = allowed.map_or(1.0, |to| ((to - n.dq[dof]) / way).clamp(0.0, 1.0));
                whole = whole.min(n.rhs[dof]);
            }
            for dof in 0..n.held.len() {
                if !n.held[dof] {
                    n.dq[dof] += whole * (n.wide[dof] - n.dq[dof]);
                    n.held[dof] = n.rhs[dof] < 1.0 && n.rhs[dof] <= whole;
                }
            }
            if whole == 1.0 {
                break;
            }
        }
        Ok(())
    }

    /// What a step does for a task, turning and moving, in the world's axes: Jdq.
    pub(super) fn effect(&mut self, posed: &mut Configured<'_>, tasks: &[Task], out: &mut [[Vec3; 2]]) {
        let (m, dq) = (posed.mechanism(), &self.numbers.dq);
        if let Some(reach) = &mut self.reach {
            reach.move_links(dq);
            let (world, _) = posed.world();
            for (i, (seen, out)) in self.seen.iter().zip(out).enumerate() {
                let moved = reach.motion(i);
                let arm = reach.body(i).map_or(Vec3::ZERO, |k| seen.at - world.homes[k]);
                *out = [moved.angular, moved.linear + moved.angular.cross(arm)];
            }
            return;
        }
        let mut operator = posed.resume(&mut self.memory);
        operator.move_links(dq);
        for ((task, seen), out) in tasks.iter().zip(&self.seen).zip(out) {
            *out = match task.frame() {
                Some(frame) => {
                    let [a, b] = ends(m, task, frame);
                    let mut motion = |k: Option<usize>| {
                        let Some(k) = k else { return [Vec3::ZERO; 2] };
                        let (link, moved) = (operator.link(k), operator.memory().lambda[k]);
                        let turn = link.rotation * moved.angular;
                        let shift = link.rotation * moved.linear;
                        [turn, shift + turn.cross(seen.at - link.translation)]
                    };
                    let (a, b) = (motion(a), motion(b));
                    [a[0] - b[0], a[1] - b[1]]
                }
                None => {
                    let rows = self
                        .numbers
                        .centre
                        .as_ref()
                        .filter(|_| matches!(task.goal, Goal::Com { .. }));
                    [Vec3::ZERO, rows.map_or(Vec3::ZERO, |c| c.times(&self.numbers.dq))]
                }
            };
        }
        for (task, share) in tasks.iter().zip(&mut self.shares) {
            if matches!(task.goal, Goal::Clear { .. }) {
                share.joints_pull.copy_from_slice(self.gaps.effects(m, &mut operator));
            }
        }
    }

    /// The weights of what counts, and J*Ge.
    fn prepare(&mut self, posed: &mut Configured<'_>, tasks: &[Task]) -> Result<()> {
        match &mut self.reach {
            Some(reach) => {
                let (world, instructions) = posed.world();
                instructions.perform::<f64, _>(LookAt {
                    seen: &self.seen,
                    shares: &self.shares,
                    looks: &mut self.looks,
                });
                reach.take(instructions, world, &self.looks, &mut self.numbers.gradient);
            }
            None => self.weigh_all(posed, tasks)?,
        }
        let n = &mut self.numbers;
        for (g, posture) in n.gradient.iter_mut().zip(&n.posture) {
            *g += posture;
        }
        if let Some(centre) = &mut n.centre {
            centre.pull(&self.seen[centre.task], self.shares[centre.task].scale, &mut n.gradient);
        }
        Ok(())
    }

    /// The same by the operator of all joints, but for postures and the centre of mass.
    fn weigh_all(&mut self, posed: &mut Configured<'_>, tasks: &[Task]) -> Result<()> {
        let (m, n) = (posed.mechanism(), &mut self.numbers);
        if let Some(centre) = &mut n.centre {
            centre.look(posed)?;
        }
        let mut operator = posed.augment(&mut self.memory, Masses::None)?;
        operator.memory().forces.fill(Force::ZERO);
        for ((task, seen), share) in tasks.iter().zip(&self.seen).zip(&self.shares) {
            if share.scale > 0.0 && matches!(task.goal, Goal::Clear { .. }) {
                self.gaps
                    .weigh(m, share.scale * task.weight, &share.joints, &mut operator)?;
            }
            let Some(frame) = task.frame().filter(|_| share.scale > 0.0) else {
                continue;
            };
            let weight = seen.weight().map(|row| row.map(|x| x * share.scale));
            match task.other {
                None => operator.weigh(frame, Reference::Aligned, &weight)?,
                Some(other) => operator.weigh_between(frame, other, Reference::Aligned, &weight)?,
            }
            let ends = ends(m, task, frame);
            if ends[0] == ends[1] {
                continue;
            }
            let [turn, push] = seen.force();
            for (k, sign) in ends.into_iter().zip([share.scale, -share.scale]) {
                let Some(k) = k else { continue };
                // A force at the frame's origin, seen by the link.
                let link = operator.link(k);
                let moment = turn + (seen.at - link.translation).cross(push);
                let force = Force::new(
                    link.rotation.inverse_mul(moment * sign),
                    link.rotation.inverse_mul(push * sign),
                );
                operator.memory().forces[k] += force;
            }
        }
        operator.gather(&mut n.gradient);
        Ok(())
    }

    /// (λI + ΣJ*GJ)⁻¹ ΣJ*Ge with what is held where dq has it.
    fn damped(&mut self, posed: &mut Configured<'_>, lambda: f64) -> Result<()> {
        let n = &mut self.numbers;
        for dof in 0..n.held.len() {
            let free = lambda + n.posture_weights[dof];
            n.diagonal[dof] = if n.held[dof] { HELD } else { free };
            n.rhs[dof] = match n.held[dof] {
                true => HELD * n.dq[dof],
                false => n.gradient[dof],
            };
        }
        if let Some(reach) = &mut self.reach {
            reach.solve(posed.world().1, &n.diagonal, &n.rhs, &mut n.wide);
            return Ok(());
        }
        let mut operator = posed.resume(&mut self.memory);
        operator.set_diagonal(&n.diagonal);
        operator.factor()?;
        operator.solve_pushed(Some(&n.rhs), false, &mut n.wide);
        if let Some(centre) = &mut n.centre {
            centre.correct(&mut operator, &mut n.wide);
        }
        Ok(())
    }
}

/// Sees the tasks of the simple kind, pulls included.
struct SeeSimple<'a> {
    world: &'a World<f64>,
    aims: &'a [Option<(Aim<f64>, Placed)>],
    shares: &'a [Share],
    seen: &'a mut [Seen],
}

impl simd::Task for SeeSimple<'_> {
    #[inline(always)]
    fn run(self) {
        for i in 0..self.seen.len() {
            let Some((aim, placed)) = &self.aims[i] else { continue };
            let (mut seen, share) = (aim.see(&self.world.frame(placed)), &self.shares[i]);
            for half in 0..2 {
                seen.e[half] += seen.axes * share.pull[half];
            }
            self.seen[i] = seen;
        }
    }
}

/// The weights of what counts, and the cost.
struct Weigh<'a> {
    tasks: &'a [Task],
    seen: &'a [Seen],
    shares: &'a [Share],
    numbers: &'a mut Numbers,
    cost: &'a mut f64,
}

impl simd::Task for Weigh<'_> {
    #[inline(always)]
    fn run(self) {
        let (mut cost, n) = (0.0, self.numbers);
        for i in 0..n.posture.len() {
            (n.posture[i], n.posture_weights[i]) = (0.0, 0.0);
        }
        for k in 0..self.tasks.len() {
            let (task, share) = (&self.tasks[k], &self.shares[k]);
            if share.scale == 0.0 {
                continue;
            }
            cost += share.scale * self.seen[k].cost();
            let (weight, is_posture) = (share.scale * task.weight, matches!(task.goal, Goal::Posture { .. }));
            for i in 0..share.joints.len() {
                let e = share.joints[i];
                let w = if is_posture { weight * n.counted[i] } else { weight };
                cost += 0.5 * w * e * e;
                if is_posture {
                    n.posture[i] += w * e;
                    n.posture_weights[i] += w;
                }
            }
        }
        *self.cost = cost;
    }
}

/// What a step takes of every task.
struct LookAt<'a> {
    seen: &'a [Seen],
    shares: &'a [Share],
    looks: &'a mut [Look<f64>],
}

impl simd::Task for LookAt<'_> {
    #[inline(always)]
    fn run(self) {
        for i in 0..self.looks.len() {
            self.looks[i] = self.seen[i].look(self.shares[i].scale);
        }
    }
}

/// The links that a task about a frame moves against each other.
fn ends(m: &Mechanism, task: &Task, frame: FrameId) -> [Option<usize>; 2] {
    [Some(frame), task.other].map(|f| f.and_then(|f| m.placed[f.index()].body))
}
