//! Many starts side by side: each has a lane of the registers until it ends, and then another takes its place.
//!
//! A lane computes what [`InverseKinematics::solve`] would of that start alone, to the last bit. Starts of one target are judged
//! in their order, so that answers do not depend on what else is in the batch; where no targets are left, other starts of those
//! that are open are tried ahead of time.
#![cfg(all(target_arch = "x86_64", feature = "lanes"))]

use super::inverse_kinematics::InverseKinematics;
use super::lane_steps::{Control, Go, Pass, See};
use super::least_squares::{Look, Reach};
use super::levels::{Progress, is_better};
use super::link_goal::Aim;
use super::outcome::{Outcome, Solution};
use super::residual::{Residual, Seen};
use super::step::PASSES;
use super::task::Task;
use crate::Result;
use crate::model::{Generator, Placed};
use crate::simd::{F64x4, F64x8, Instructions, Lanes};
use crate::spatial::{Pose, Rotation, Vec3};
use crate::workspace::Workspace;

/// What is done of a batch, and how it goes on.
pub(super) trait Crew: Send {
    /// Answers to some targets, each with its start.
    fn solve(&mut self, targets: &[(&[Task], &[f64])]) -> Result<Vec<Solution>>;
}

/// Lanes for a solver: none if the processor has no registers for them, or tasks are not of the simple kind: goals of one level
/// about one link each.
pub(super) fn crew(ik: &InverseKinematics) -> Option<Box<dyn Crew>> {
    let instructions = Instructions::detect();
    // Functions that couple joints may have no value: such mechanisms are taken one state at a time.
    let curved = ik.mechanism().compiled.reduction.as_ref().is_some_and(|r| r.is_curved);
    if curved || ik.rank_count != 1 || ik.tasks.iter().any(|t| t.is_preferred || t.frame().is_none()) {
        return None;
    }
    if instructions.avx512() {
        Some(Box::new(Abreast::<F64x8>::new(ik)?))
    } else if instructions.avx2() {
        Some(Box::new(Abreast::<F64x4>::new(ik)?))
    } else {
        None
    }
}

/// A target and what is known of it.
struct Case {
    /// Its place in the batch.
    index: usize,
    aims: Vec<Option<Aim<f64>>>,
    /// The tasks themselves, where some are not of the simple kind.
    tasks: Vec<Task>,
    start: Vec<f64>,
    random: Generator,
    /// How many starts have been given out, and how many have been judged.
    given: usize,
    judged: usize,
    ended: Vec<End>,
    best: Vec<f64>,
    best_cost: f64,
    iterations: usize,
}

/// How a start ended.
struct End {
    number: usize,
    reached: bool,
    cost: f64,
    iterations: usize,
    q: Vec<f64>,
    residuals: Vec<Residual>,
}

/// A start on its way.
struct Climb {
    case: usize,
    number: usize,
    progress: Progress,
    iterations: usize,
    /// Whether it has been seen where it is, and is to be moved; and at what cost.
    steps: bool,
    cost: f64,
    lambda: f64,
    /// How many passes its step has had: more are to come where limits shortened it.
    passes: usize,
}

struct Abreast<S: 'static> {
    ik: InverseKinematics,
    workspace: Workspace<S>,
    reach: Reach<S>,
    placed: Vec<Placed>,
    bases: Vec<Pose>,
    /// Per task: where it aims, if it is of the simple kind; else where its frame is, for each lane to be seen alone.
    aims: Vec<Option<Aim<S>>>,
    frames: Vec<Pose<S>>,
    seen: Vec<Seen<S>>,
    costs: Vec<S>,
    looks: Vec<Look<S>>,
    q: Vec<S>,
    control: Control<S>,
    /// Per lane: what climbs there.
    climbs: Vec<Option<Climb>>,
    /// Room for one configuration or step.
    one: Vec<f64>,
    step: Vec<f64>,
    moved: Vec<f64>,
    cases: Vec<Option<Case>>,
}

impl<S: Lanes<Element = f64>> Abreast<S> {
    fn new(ik: &InverseKinematics) -> Option<Self> {
        let m = ik.mechanism();
        let (tasks, nq, nv) = (ik.tasks.len(), m.nq(), m.nv());
        let placed = |t: &Task| t.frame().map(|f| m.placed[f.index()]);
        let base = |t: &Task| t.other.map_or(Pose::IDENTITY, |f| m.placed[f.index()].pose);
        let bases: Vec<Pose> = ik.tasks.iter().map(base).collect();
        let simple = ik.tasks.iter().zip(&bases).map(|(t, base)| Aim::of(t, *base));
        Some(Self {
            workspace: m.workspace_of(),
            reach: Reach::new(m, &ik.tasks)?,
            placed: ik.tasks.iter().filter_map(placed).collect(),
            aims: simple.map(|aim| aim.map(|_| Aim::NOTHING)).collect(),
            bases,
            frames: vec![Pose::IDENTITY; tasks],
            seen: vec![Seen::NOTHING; tasks],
            costs: vec![S::ZERO; tasks],
            looks: vec![Look::NOTHING; tasks],
            q: m.neutral().into_iter().map(|x| S::from_lanes(|_| x)).collect(),
            control: Control::new(&ik.limits),
            climbs: (0..S::LANES).map(|_| None).collect(),
            one: vec![0.0; nq],
            step: vec![0.0; nv],
            moved: vec![0.0; nq],
            cases: Vec::new(),
            ik: ik.clone(),
        })
    }

    /// Gives a lane the next start of a case.
    fn give(&mut self, lane: usize, case: usize) {
        let Some(of) = &mut self.cases[case] else { return };
        let (m, q) = (self.ik.workspace.mechanism(), &mut self.one);
        match of.given {
            0 => q.copy_from_slice(&of.start),
            _ => self.ik.limits.draw(m, &mut of.random, &of.start, &mut self.ik.draw, q),
        }
        for (to, q) in self.q.iter_mut().zip(q) {
            to.put(lane, *q);
        }
        for (to, aim) in self.aims.iter_mut().zip(&of.aims) {
            if let (Some(to), Some(aim)) = (to, aim) {
                to.put(lane, aim);
            }
        }
        self.climbs[lane] = Some(Climb {
            case,
            number: of.given,
            progress: Progress::new(self.ik.options.iterations),
            iterations: 0,
            steps: false,
            cost: 0.0,
            lambda: 1.0,
            passes: 0,
        });
        of.given += 1;
    }

    /// Work for the lanes that have none: a new target, or another start of an open one ahead of time.
    fn fill(&mut self, next: &mut usize, targets: &[(&[Task], &[f64])]) -> Result<()> {
        for lane in 0..S::LANES {
            if self.climbs[lane].is_some() {
                continue;
            }
            if let Some((tasks, start)) = targets.get(*next) {
                let case = self.open(*next, tasks, start)?;
                *next += 1;
                self.give(lane, case);
                continue;
            }
            let open = self
                .cases
                .iter()
                .enumerate()
                .filter_map(|(i, c)| Some((i, c.as_ref()?)));
            let some = open.filter(|(_, c)| c.given <= self.ik.options.restarts);
            let ahead = some.min_by_key(|(_, c)| c.given - c.judged).map(|(i, _)| i);
            if let Some(case) = ahead {
                self.give(lane, case);
            }
        }
        Ok(())
    }

    fn open(&mut self, index: usize, tasks: &[Task], start: &[f64]) -> Result<usize> {
        for (k, task) in tasks.iter().enumerate() {
            self.ik.set(k, task.clone())?;
        }
        let m = self.ik.workspace.mechanism();
        m.check_configuration("q", start)?;
        let mut start = start.to_vec();
        self.ik.limits.within_velocities(None);
        self.ik.limits.check_start(m, &mut start)?;
        let case = Case {
            index,
            aims: self.ik.step.simple_aims().collect(),
            tasks: match self.aims.iter().all(Option::is_some) {
                true => Vec::new(),
                false => self.ik.tasks.clone(),
            },
            random: Generator::new(self.ik.options.seed),
            given: 0,
            judged: 0,
            ended: Vec::new(),
            best: start.clone(),
            best_cost: f64::INFINITY,
            iterations: 0,
            start,
        };
        let free = self.cases.iter().position(Option::is_none);
        match free {
            Some(i) => {
                self.cases[i] = Some(case);
                Ok(i)
            }
            None => {
                self.cases.push(Some(case));
                Ok(self.cases.len() - 1)
            }
        }
    }

    /// Sees every lane where it is, and ends those that are there or lead nowhere.
    fn look(&mut self, targets: &[(&[Task], &[f64])], out: &mut [Option<Solution>]) -> Result<()> {
        let mut posed = self.workspace.at_unchecked(&self.q);
        let (world, instructions) = posed.world();
        let [mut cost, mut worst] = [S::ZERO; 2];
        instructions.perform::<S, _>(See {
            world,
            placed: &self.placed,
            aims: &self.aims,
            frames: &mut self.frames,
            seen: &mut self.seen,
            looks: &mut self.looks,
            costs: &mut self.costs,
            cost: &mut cost,
            worst: &mut worst,
        });
        let simple = self.aims.iter().all(Option::is_some);
        for lane in 0..S::LANES {
            let Some(climb) = &mut self.climbs[lane] else { continue };
            let Some(case) = &self.cases[climb.case] else { continue };
            // In the middle of a step nothing has moved.
            if climb.passes > 0 {
                continue;
            }
            let (mut cost, mut worst) = (cost.element(lane), worst.element(lane));
            if !simple {
                // Summed in the order of the tasks, as it is alone.
                (cost, worst) = (0.0, 0.0);
                for (k, task) in case.tasks.iter().enumerate() {
                    if self.aims[k].is_none() {
                        let seen = task.see_at(of_lane(&self.frames[k], lane), self.bases[k]);
                        put(&mut self.looks[k], lane, &seen.look(1.0));
                        self.seen[k].angle.put(lane, seen.angle);
                        self.seen[k].distance.put(lane, seen.distance);
                        cost += seen.cost();
                    } else {
                        cost += self.costs[k].element(lane);
                    }
                    worst = residual(&self.seen[k], lane).largest().max(worst);
                }
            }
            let reached = worst <= self.ik.options.tolerance;
            climb.cost = cost;
            climb.steps = climb.progress.goes_on(cost, reached);
            if climb.steps {
                climb.iterations += 1;
                climb.lambda = climb.progress.lambda(cost);
            } else {
                self.end(lane, reached, targets, out)?;
            }
        }
        Ok(())
    }

    /// Takes the end of a lane's climb down, judges what can be judged, and gives the lane the next start.
    fn end(
        &mut self,
        lane: usize,
        reached: bool,
        targets: &[(&[Task], &[f64])],
        out: &mut [Option<Solution>],
    ) -> Result<()> {
        let Some(climb) = self.climbs[lane].take() else {
            return Ok(());
        };
        let Some(case) = &mut self.cases[climb.case] else {
            return Ok(());
        };
        case.ended.push(End {
            number: climb.number,
            reached,
            cost: if reached { 0.0 } else { climb.cost },
            iterations: climb.iterations,
            q: self.q.iter().map(|q| q.element(lane)).collect(),
            residuals: self.seen.iter().map(|seen| residual(seen, lane)).collect(),
        });
        while let Some(at) = case.ended.iter().position(|end| end.number == case.judged) {
            let end = case.ended.swap_remove(at);
            case.judged += 1;
            case.iterations += end.iterations;
            if end.reached || is_better(end.cost, case.best_cost) {
                case.best.copy_from_slice(&end.q);
                case.best_cost = end.cost;
            }
            if end.reached || case.judged > self.ik.options.restarts {
                let index = case.index;
                out[index] = Some(self.close(climb.case, end, targets)?);
                return Ok(());
            }
        }
        let waits = case.judged == case.given && case.given <= self.ik.options.restarts;
        if waits {
            self.give(lane, climb.case);
        }
        Ok(())
    }

    /// The answer to a case, which is over.
    fn close(&mut self, case: usize, end: End, targets: &[(&[Task], &[f64])]) -> Result<Solution> {
        for climb in &mut self.climbs {
            if climb.as_ref().is_some_and(|c| c.case == case) {
                *climb = None;
            }
        }
        let Some(of) = self.cases[case].take() else {
            unreachable!("a case is closed once")
        };
        let mut outcome = Outcome {
            reached: end.reached,
            iterations: of.iterations,
            restarts: end.number,
            cost: end.cost,
        };
        let ik = &mut self.ik;
        if end.reached {
            ik.residuals.copy_from_slice(&end.residuals);
            return Ok(ik.tell(end.q, &outcome));
        }
        for (k, task) in targets[of.index].0.iter().enumerate() {
            ik.set(k, task.clone())?;
        }
        ik.best.copy_from_slice(&of.best);
        ik.settle(&mut outcome)?;
        let q = ik.q.clone();
        Ok(ik.tell(q, &outcome))
    }

    /// A pass of a step of damped least squares within limits in every lane that goes on. Lanes whose step is over are moved;
    /// one that would not move ends.
    fn step(&mut self, targets: &[(&[Task], &[f64])], out: &mut [Option<Solution>]) -> Result<()> {
        let (mut begins, mut lambda) = ([1.0; 8], [1.0; 8]);
        for (lane, climb) in self.climbs.iter().enumerate() {
            if let Some(climb) = climb {
                (begins[lane], lambda[lane]) = (f64::from(climb.passes == 0), climb.lambda);
            }
        }
        self.control.begins = S::from_lanes(|lane| begins[lane]);
        self.control.lambda = S::from_lanes(|lane| lambda[lane]);
        let mut posed = self.workspace.at_again();
        let (world, instructions) = posed.world();
        instructions.perform::<S, _>(Pass {
            reach: &mut self.reach,
            world,
            looks: &self.looks,
            control: &mut self.control,
            q: &self.q,
        });
        let mut goes = [0.0; 8];
        for lane in 0..S::LANES {
            let Some(climb) = self.climbs[lane].as_mut().filter(|c| c.steps) else {
                continue;
            };
            climb.passes += 1;
            if self.control.is_shortened(lane) && climb.passes < PASSES {
                continue;
            }
            climb.passes = 0;
            if self.control.is_still(lane) {
                self.end(lane, false, targets, out)?;
            } else if self.control.is_plain() {
                goes[lane] = 1.0;
            } else {
                self.move_alone(lane);
            }
        }
        if self.control.is_plain() {
            self.control.goes = S::from_lanes(|lane| goes[lane]);
            instructions.perform::<S, _>(Go {
                control: &self.control,
                q: &mut self.q,
            });
        }
        Ok(())
    }

    /// Moves one lane by its step: where coordinates are no plain numbers.
    fn move_alone(&mut self, lane: usize) {
        for (x, q) in self.one.iter_mut().zip(&self.q) {
            *x = q.element(lane);
        }
        self.control.step_of(lane, &mut self.step);
        let m = self.ik.workspace.mechanism();
        m.integrate_unchecked(&self.one, &self.step, &mut self.moved);
        self.ik.limits.clamp(&mut self.moved);
        for (q, x) in self.q.iter_mut().zip(&self.moved) {
            q.put(lane, *x);
        }
    }
}

impl<S: Lanes<Element = f64>> Crew for Abreast<S> {
    fn solve(&mut self, targets: &[(&[Task], &[f64])]) -> Result<Vec<Solution>> {
        self.cases.clear();
        self.climbs.iter_mut().for_each(|climb| *climb = None);
        let (mut next, mut out) = (0, targets.iter().map(|_| None).collect::<Vec<_>>());
        loop {
            self.fill(&mut next, targets)?;
            if self.climbs.iter().all(Option::is_none) {
                break;
            }
            self.look(targets, &mut out)?;
            self.step(targets, &mut out)?;
        }
        Ok(out.into_iter().flatten().collect())
    }
}

/// What is left in one lane.
fn residual<S: Lanes<Element = f64>>(seen: &Seen<S>, lane: usize) -> Residual {
    Residual {
        angle: seen.angle.element(lane),
        distance: seen.distance.element(lane),
    }
}

/// One lane of a pose.
fn of_lane<S: Lanes<Element = f64>>(pose: &Pose<S>, lane: usize) -> Pose {
    let three = |v: &Vec3<S>| Vec3::new(v.x.element(lane), v.y.element(lane), v.z.element(lane));
    let r = &pose.rotation;
    let rotation = Rotation {
        x: three(&r.x),
        y: three(&r.y),
        z: three(&r.z),
    };
    Pose::new(rotation, three(&pose.translation))
}

/// One lane of what a step takes of a task.
fn put<S: Lanes<Element = f64>>(look: &mut Look<S>, lane: usize, from: &Look<f64>) {
    let three = |to: &mut Vec3<S>, from: &Vec3| {
        to.x.put(lane, from.x);
        to.y.put(lane, from.y);
        to.z.put(lane, from.z);
    };
    three(&mut look.at, &from.at);
    for half in 0..2 {
        three(&mut look.force[half], &from.force[half]);
        for i in 0..6 {
            look.g[half][i].put(lane, from.g[half][i]);
        }
    }
}
