//! Many starts side by side: each has a lane of the registers until it ends, and then another takes its place.
//!
//! A lane computes what [`InverseKinematics::solve`] would of that start alone, to the last bit. Starts of one target are judged
//! in their order, so that answers do not depend on what else is in the batch; where no targets are left, other starts of those
//! that are open are tried ahead of time.
#![cfg(all(target_arch = "x86_64", feature = "lanes"))]

use super::inverse_kinematics::InverseKinematics;
use super::levels::{Progress, is_better};
use super::outcome::{Outcome, Solution};
use super::reach::{Look, Reach};
use super::seen::Seen;
use super::step::{HELD, PASSES};
use super::task::Task;
use crate::Result;
use crate::model::{Generator, Placed};
use crate::simd::{self, F64x4, F64x8, Instructions, Lanes};
use crate::spatial::{Pose, Rotation, Vec3};
use crate::stage::world::World;
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
    seen: Vec<Seen>,
}

/// A start on its way.
struct Climb {
    case: usize,
    number: usize,
    progress: Progress,
    iterations: usize,
    /// Whether it has been seen where it is, and is to be moved.
    steps: bool,
    lambda: f64,
}

struct Abreast<S: 'static> {
    ik: InverseKinematics,
    workspace: Workspace<S>,
    reach: Reach<S>,
    placed: Vec<Placed>,
    bases: Vec<Pose>,
    frames: Vec<Pose<S>>,
    looks: Vec<Look<S>>,
    q: Vec<S>,
    gradient: Vec<S>,
    diagonal: Vec<S>,
    rhs: Vec<S>,
    wide: Vec<S>,
    /// Per lane: what climbs there, where, what it sees, its step, and what is held of it.
    climbs: Vec<Option<Climb>>,
    places: Vec<f64>,
    seen: Vec<Seen>,
    steps: Vec<f64>,
    held: Vec<bool>,
    trial: Vec<f64>,
    cases: Vec<Option<Case>>,
}

impl<S: Lanes<Element = f64>> Abreast<S> {
    fn new(ik: &InverseKinematics) -> Option<Self> {
        let m = ik.mechanism();
        let (tasks, nq, nv) = (ik.tasks.len(), m.nq(), m.nv());
        let placed = |t: &Task| t.frame().map(|f| m.placed[f.index()]);
        let base = |t: &Task| t.other.map_or(Pose::IDENTITY, |f| m.placed[f.index()].pose);
        let neutral = m.neutral();
        let mut made = Self {
            workspace: m.workspace_of(),
            reach: Reach::new(m, &ik.tasks)?,
            placed: ik.tasks.iter().filter_map(placed).collect(),
            bases: ik.tasks.iter().map(base).collect(),
            frames: vec![Pose::IDENTITY; tasks],
            looks: vec![Look::NOTHING; tasks],
            q: vec![S::ZERO; nq],
            gradient: vec![S::ZERO; nv],
            diagonal: vec![S::ZERO; nv],
            rhs: vec![S::ZERO; nv],
            wide: vec![S::ZERO; nv],
            climbs: (0..S::LANES).map(|_| None).collect(),
            places: vec![0.0; S::LANES * nq],
            seen: vec![Seen::NOTHING; S::LANES * tasks],
            steps: vec![0.0; S::LANES * nv],
            held: vec![false; S::LANES * nv],
            trial: vec![0.0; nq],
            cases: Vec::new(),
            ik: ik.clone(),
        };
        made.places
            .chunks_exact_mut(nq)
            .for_each(|q| q.copy_from_slice(&neutral));
        Some(made)
    }

    /// Gives a lane the next start of a case.
    fn give(&mut self, lane: usize, case: usize) {
        let nq = self.q.len();
        let Some(of) = &mut self.cases[case] else { return };
        let q = &mut self.places[lane * nq..][..nq];
        match of.given {
            0 => q.copy_from_slice(&of.start),
            _ => self.ik.limits.draw(
                self.ik.workspace.mechanism(),
                &mut of.random,
                &of.start,
                &mut self.ik.draw,
                q,
            ),
        }
        self.climbs[lane] = Some(Climb {
            case,
            number: of.given,
            progress: Progress::new(self.ik.options.iterations),
            iterations: 0,
            steps: false,
            lambda: 0.0,
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
            tasks: self.ik.tasks.clone(),
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
    fn look(&mut self, out: &mut [Option<Solution>]) -> Result<()> {
        S::load(&self.places, self.q.len(), &mut self.q);
        let mut posed = self.workspace.at_unchecked(&self.q);
        let (world, instructions) = posed.world();
        instructions.perform::<S, _>(Frames {
            world,
            placed: &self.placed,
            out: &mut self.frames,
        });
        for lane in 0..S::LANES {
            let count = self.frames.len();
            let Some(climb) = &mut self.climbs[lane] else { continue };
            let Some(case) = &self.cases[climb.case] else { continue };
            let seen = &mut self.seen[lane * count..][..count];
            let (mut cost, mut reached) = (0.0, true);
            for k in 0..count {
                seen[k] = case.tasks[k].see_at(of_lane(&self.frames[k], lane), self.bases[k]);
                cost += seen[k].cost();
                reached &= case.tasks[k].is_met(&seen[k]);
            }
            climb.steps = climb.progress.goes_on(cost, reached);
            if climb.steps {
                climb.iterations += 1;
                climb.lambda = climb.progress.lambda(cost);
            } else {
                self.end(lane, reached, cost, out)?;
            }
        }
        Ok(())
    }

    /// Takes the end of a lane's climb down, judges what can be judged, and gives the lane the next start.
    fn end(&mut self, lane: usize, reached: bool, cost: f64, out: &mut [Option<Solution>]) -> Result<()> {
        let (nq, count) = (self.q.len(), self.frames.len());
        let Some(climb) = self.climbs[lane].take() else {
            return Ok(());
        };
        let Some(case) = &mut self.cases[climb.case] else {
            return Ok(());
        };
        case.ended.push(End {
            number: climb.number,
            reached,
            cost: if reached { 0.0 } else { cost },
            iterations: climb.iterations,
            q: self.places[lane * nq..][..nq].to_vec(),
            seen: self.seen[lane * count..][..count].to_vec(),
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
                out[index] = Some(self.close(climb.case, end)?);
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
    fn close(&mut self, case: usize, end: End) -> Result<Solution> {
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
        ik.tasks = of.tasks;
        if end.reached {
            ik.q.copy_from_slice(&end.q);
            ik.step.seen.copy_from_slice(&end.seen);
            ik.keep_residuals();
        } else {
            ik.best.copy_from_slice(&of.best);
            ik.settle(&mut outcome)?;
        }
        let q = ik.q.clone();
        Ok(ik.tell(q, &outcome))
    }

    /// A step of damped least squares within limits in every lane that goes on.
    fn step(&mut self) {
        let (nq, nv, count) = (self.q.len(), self.wide.len(), self.frames.len());
        let Self {
            ik,
            climbs,
            seen,
            looks,
            places,
            steps,
            held,
            ..
        } = self;
        let (m, limits) = (ik.workspace.mechanism(), &ik.limits);
        let goes = |lane: usize| climbs[lane].as_ref().is_some_and(|c| c.steps);
        for (k, look) in looks.iter_mut().enumerate() {
            let mut of: [Look<f64>; 8] = [Look::NOTHING; 8];
            for lane in (0..S::LANES).filter(|&lane| goes(lane)) {
                of[lane] = seen[lane * count + k].look(1.0);
            }
            *look = abreast(&of);
        }
        let mut posed = self.workspace.at_again();
        let (world, instructions) = posed.world();
        self.reach.take(instructions, world, looks, &mut self.gradient);
        for lane in 0..S::LANES {
            let q = &places[lane * nq..][..nq];
            for dof in 0..nv {
                let holds = limits.holds(q, dof, self.gradient[dof].element(lane));
                held[lane * nv + dof] = holds;
                steps[lane * nv + dof] = 0.0;
            }
        }
        let mut works: [bool; 8] = core::array::from_fn(|lane| lane < S::LANES && goes(lane));
        for pass in 0..PASSES {
            for dof in 0..nv {
                let (mut a, mut b) = ([1.0; 8], [0.0; 8]);
                for lane in 0..S::LANES {
                    let Some(climb) = climbs[lane].as_ref().filter(|c| c.steps) else {
                        continue;
                    };
                    let i = lane * nv + dof;
                    (a[lane], b[lane]) = match held[i] {
                        true => (HELD, HELD * steps[i]),
                        false => (climb.lambda, self.gradient[dof].element(lane)),
                    };
                }
                self.diagonal[dof] = S::from_lanes(|lane| a[lane]);
                self.rhs[dof] = S::from_lanes(|lane| b[lane]);
            }
            self.reach
                .solve(instructions, &self.diagonal, &self.rhs, &mut self.wide);
            let mut again = false;
            for lane in 0..S::LANES {
                if !works[lane] {
                    continue;
                }
                let (q, mut shortened) = (&places[lane * nq..][..nq], false);
                for dof in 0..nv {
                    let i = lane * nv + dof;
                    if held[i] {
                        continue;
                    }
                    steps[i] = self.wide[dof].element(lane);
                    if let Some(allowed) = limits.shortened(m, q, dof, steps[i]) {
                        (steps[i], held[i], shortened) = (allowed, true, true);
                    }
                }
                works[lane] = shortened;
                again |= shortened;
            }
            if !again || pass + 1 == PASSES {
                break;
            }
        }
    }

    /// Moves every lane that goes on by its step; one that would not move ends.
    fn go(&mut self, out: &mut [Option<Solution>]) -> Result<()> {
        let (nq, nv, count) = (self.q.len(), self.wide.len(), self.frames.len());
        for lane in 0..S::LANES {
            if !self.climbs[lane].as_ref().is_some_and(|c| c.steps) {
                continue;
            }
            let step = &self.steps[lane * nv..][..nv];
            if super::levels::is_still(step) {
                let seen = &self.seen[lane * count..][..count];
                let cost = seen.iter().fold(0.0, |sum, seen| sum + seen.cost());
                self.end(lane, false, cost, out)?;
                continue;
            }
            let q = &mut self.places[lane * nq..][..nq];
            let m = self.ik.workspace.mechanism();
            m.integrate_unchecked(q, step, &mut self.trial);
            self.ik.limits.clamp(&mut self.trial);
            q.copy_from_slice(&self.trial);
        }
        Ok(())
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
            self.look(&mut out)?;
            self.step();
            self.go(&mut out)?;
        }
        Ok(out.into_iter().flatten().collect())
    }
}

/// Where frames are.
struct Frames<'a, S> {
    world: &'a World<S>,
    placed: &'a [Placed],
    out: &'a mut [Pose<S>],
}

impl<S: Lanes> simd::Task for Frames<'_, S> {
    #[inline(always)]
    fn run(self) {
        for i in 0..self.out.len() {
            self.out[i] = self.world.frame(&self.placed[i]);
        }
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

/// Looks of several states, side by side.
fn abreast<S: Lanes<Element = f64>>(looks: &[Look<f64>; 8]) -> Look<S> {
    let three = |of: &dyn Fn(&Look<f64>) -> Vec3| {
        let at = |i: usize| S::from_lanes(|lane| of(&looks[lane]).to_array()[i]);
        Vec3::new(at(0), at(1), at(2))
    };
    let six = |half: usize| core::array::from_fn(|i| S::from_lanes(|lane| looks[lane].g[half][i]));
    Look {
        at: three(&|look| look.at),
        g: [six(0), six(1)],
        force: [three(&|look| look.force[0]), three(&|look| look.force[1])],
    }
}
