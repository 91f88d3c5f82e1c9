//! Running a program: link by link, step by step.

use super::between_sweeps::whole_steps;
use super::constraints::Ties;
use super::joint_algebra::{Few, Joint};
use super::link_operators::local_step;
use super::plain_sweeps::{all_inward, all_outward};
use super::program::{Program, ProgramSweep, Room, Step};
use super::rate_steps::{clear_rates, is_rare, rare_step};
use super::recursion::{Here, Recursion, inward, outward};
use super::space::Space;
use crate::body::Body;
use crate::model::Compiled;
use crate::scalar::{Builds, Scalar};
use crate::simd::{Instructions, Task};
use crate::spatial::{Articulated, Force, Motion, Pose, Reference};
use crate::stage::Stages;
use crate::stage::crossing::{AnyJoint, Crossing, at_joint};
use crate::stage::inflow::Inflow;
use crate::stage::joints::Joints;
use crate::stage::riccati::{self, Riccati};
use crate::workspace::Augmented;
use core::any::Any;

/// The vectors that a program works on.
#[derive(Clone, Debug)]
pub(crate) struct Memory<S: 'static> {
    pub(crate) numbers: Vec<S>,
    /// Slot by slot.
    pub(crate) joint: Vec<S>,
    /// Link by link, each with all its slots.
    pub(crate) link: Vec<[S; 6]>,
    pub(crate) tip: Vec<[S; 6]>,
    /// Slot by slot.
    pub(crate) frame: Vec<S>,
    pub(crate) constraint: Vec<S>,
    /// Matrices that are given, row by row.
    pub(crate) squares: Vec<Vec<S>>,
    /// Where named frames are among the chosen ones.
    pub(crate) selected: Vec<usize>,
    /// Constraints.
    pub(crate) ties: Ties<S>,
    /// Mass operators with weights.
    pub(crate) augmented: Vec<Augmented<S>>,
    /// Dense inverses, row by row.
    pub(crate) solves: Vec<Vec<S>>,
    /// Σ over the children; zero between sweeps.
    pub(super) gathered: Vec<[S; 6]>,
    /// Υ(k), row by row.
    pub(crate) upsilon: Vec<[[S; 6]; 6]>,
    /// Matrices of every link, link by link: rates of P, and what gradients gather.
    pub(crate) matrices: Vec<Articulated<S>>,
    /// What the chosen frames' motions refer to.
    pub(crate) references: Vec<Reference>,
    /// The chosen frames: the link, none for the world, and the frame seen from it.
    pub(crate) tips: Vec<(Option<usize>, Pose<S>)>,
    pub(crate) room: Room,
    pub(crate) nv: usize,
}

impl<S: Scalar> Memory<S> {
    pub(crate) fn new(m: &Compiled, program: &Program, tips: usize, ties: Ties<S>) -> Self {
        let (n, nv, room) = (m.bodies.len(), m.nv, program.room);
        let zero = [S::ZERO; 6];
        let mut numbers = vec![S::ZERO; room.numbers];
        numbers[0] = S::ONE;
        let mut squares = vec![Vec::new(); room.squares];
        for (vector, slot) in &program.inputs {
            let side = match vector.space.side() {
                Some(Space::Joint) => nv,
                Some(Space::Tip) => 6 * tips,
                Some(Space::Frame) => 6,
                Some(Space::Constraint) => ties.count(),
                _ => continue,
            };
            squares[*slot] = vec![S::ZERO; side * side];
        }
        Self {
            numbers,
            joint: vec![S::ZERO; room.joint * nv],
            link: vec![zero; room.link * n],
            tip: vec![zero; room.tip * tips],
            frame: vec![S::ZERO; room.frame * 6],
            constraint: vec![S::ZERO; room.constraint * ties.count()],
            squares,
            selected: Vec::new(),
            ties,
            augmented: Vec::new(),
            solves: Vec::new(),
            gathered: vec![zero; room.gathered * n],
            upsilon: vec![[zero; 6]; if program.keeps.upsilon { n } else { 0 }],
            matrices: vec![Articulated::ZERO; room.matrices * n],
            references: vec![Reference::Local; tips],
            tips: vec![(None, Pose::IDENTITY); tips],
            room,
            nv,
        }
    }

    /// A vector of numbers, joints, frames or constraints in one piece; of links there is none.
    #[inline(always)]
    pub(crate) fn flat(&self, space: Space, slot: usize) -> &[S] {
        let (tips, rows) = (self.tips.len(), self.ties.count());
        match space {
            Space::Number => &self.numbers[slot..=slot],
            Space::Joint => &self.joint[slot * self.nv..(slot + 1) * self.nv],
            Space::Tip => self.tip[slot * tips..(slot + 1) * tips].as_flattened(),
            Space::Frame => &self.frame[slot * 6..(slot + 1) * 6],
            Space::Constraint => &self.constraint[slot * rows..(slot + 1) * rows],
            Space::JointSquare | Space::TipSquare | Space::FrameSquare | Space::ConstraintSquare => &self.squares[slot],
            Space::Motion | Space::Force => &[],
        }
    }

    #[inline(always)]
    pub(crate) fn flat_mut(&mut self, space: Space, slot: usize) -> &mut [S] {
        let (tips, rows) = (self.tips.len(), self.ties.count());
        match space {
            Space::Number => &mut self.numbers[slot..=slot],
            Space::Joint => &mut self.joint[slot * self.nv..(slot + 1) * self.nv],
            Space::Tip => self.tip[slot * tips..(slot + 1) * tips].as_flattened_mut(),
            Space::Frame => &mut self.frame[slot * 6..(slot + 1) * 6],
            Space::Constraint => &mut self.constraint[slot * rows..(slot + 1) * rows],
            Space::JointSquare | Space::TipSquare | Space::FrameSquare | Space::ConstraintSquare => {
                &mut self.squares[slot]
            }
            Space::Motion | Space::Force => &mut [],
        }
    }

    #[inline(always)]
    pub(crate) fn force(&self, k: usize, slot: usize) -> Force<S> {
        Force::from_array(self.link[k * self.room.link + slot])
    }

    #[inline(always)]
    pub(crate) fn motion(&self, k: usize, slot: usize) -> Motion<S> {
        Motion::from_array(self.link[k * self.room.link + slot])
    }

    #[inline(always)]
    pub(crate) fn set_force(&mut self, k: usize, slot: usize, f: Force<S>) {
        self.link[k * self.room.link + slot] = f.to_array();
    }

    #[inline(always)]
    pub(crate) fn set_motion(&mut self, k: usize, slot: usize, v: Motion<S>) {
        self.link[k * self.room.link + slot] = v.to_array();
    }

    /// The numbers of a link's joint.
    #[inline(always)]
    pub(crate) fn few<const REVOLUTE: bool>(&self, body: &Body, slot: usize) -> Few<S> {
        let mut x = [S::ZERO; 6];
        let at = slot * self.nv + body.v;
        if REVOLUTE {
            x[0] = self.joint[at];
        } else {
            x[..body.dofs].copy_from_slice(&self.joint[at..at + body.dofs]);
        }
        x
    }

    #[inline(always)]
    pub(crate) fn set_few<const REVOLUTE: bool>(&mut self, body: &Body, slot: usize, x: &Few<S>) {
        let at = slot * self.nv + body.v;
        if REVOLUTE {
            self.joint[at] = x[0];
        } else {
            self.joint[at..at + body.dofs].copy_from_slice(&x[..body.dofs]);
        }
    }

    /// Σ over the children. Where several add up, zero is left behind.
    #[inline(always)]
    pub(crate) fn gather(&mut self, body: &Body, k: usize, which: usize) -> Option<Force<S>> {
        if !body.has_child {
            return None;
        }
        let place = &mut self.gathered[k * self.room.gathered + which];
        let sum = *place;
        if body.branch.is_some() {
            *place = [S::ZERO; 6];
        }
        Some(Force::from_array(sum))
    }

    /// Hands a force to the parent.
    #[inline(always)]
    fn hand_in(&mut self, m: &Compiled, p: usize, which: usize, f: Force<S>) {
        let place = &mut self.gathered[p * self.room.gathered + which];
        let f = f.to_array();
        if m.bodies[p].branch.is_some() {
            for i in 0..6 {
                place[i] += f[i];
            }
        } else {
            *place = f;
        }
    }
}

/// A program about to run.
struct Run<'a, S: 'static> {
    instructions: Instructions,
    m: &'a Compiled,
    stages: &'a mut Stages<S>,
    program: &'a Program,
    memory: &'a mut Memory<S>,
}

/// Runs a program. For `f64` it is compiled with the library, for every instruction set.
pub(crate) fn execute<S: Scalar>(
    instructions: Instructions,
    m: &Compiled,
    stages: &mut Stages<S>,
    program: &Program,
    memory: &mut Memory<S>,
) {
    if const { matches!(S::BUILDS, Builds::Shipped) } {
        let stages = (stages as &mut dyn Any).downcast_mut::<Stages<f64>>();
        let memory = (memory as &mut dyn Any).downcast_mut::<Memory<f64>>();
        if let (Some(stages), Some(memory)) = (stages, memory) {
            shipped(instructions, m, stages, program, memory);
        }
        return;
    }
    instructions.perform::<S, _>(Run {
        instructions,
        m,
        stages,
        program,
        memory,
    });
}

fn shipped(i: Instructions, m: &Compiled, stages: &mut Stages<f64>, program: &Program, memory: &mut Memory<f64>) {
    i.perform::<f64, _>(Run {
        instructions: i,
        m,
        stages,
        program,
        memory,
    });
}

impl<S: Scalar> Task for Run<'_, S> {
    #[inline(always)]
    fn run(self) {
        if const { matches!(S::BUILDS, Builds::Shipped) } {
            self.all::<true>();
        } else {
            self.all::<false>();
        }
    }

    #[inline(always)]
    fn run_small(self) {
        self.all::<false>();
    }
}

impl<S: Scalar> Run<'_, S> {
    #[inline(always)]
    fn all<const SPECIAL: bool>(self) {
        let (m, s, memory) = (self.m, self.stages, self.memory);
        whole_steps(m, s, self.instructions, memory, &self.program.before);
        for sweep in &self.program.sweeps {
            along::<S, SPECIAL>(m, s, self.instructions, (self.program, sweep), memory);
            whole_steps(m, s, self.instructions, memory, &sweep.after);
        }
    }
}

/// What steps read of the stages.
pub(crate) struct Known<'a, S> {
    pub(crate) joints: &'a Joints<S>,
    pub(crate) riccati: &'a Riccati<S>,
    pub(crate) loads: &'a [Force<S>],
    pub(crate) loaded: bool,
}

impl<'a, S: Scalar> Known<'a, S> {
    /// The joint of a link, where speed does not matter.
    #[inline(always)]
    pub(crate) fn at(&self, body: &'a Body, k: usize) -> (Joint<'a, S>, AnyJoint<'a, S>) {
        let at = Joint::of::<false>(body, self.riccati);
        let joint = AnyJoint {
            body,
            z: self.joints.screws[k],
            general: &self.joints.general,
        };
        (at, joint)
    }
}

macro_rules! known {
    ($s:expr) => {
        $crate::algebra::run::Known {
            joints: &$s.joints,
            riccati: &$s.riccati,
            loads: &$s.loads,
            loaded: $s.loaded,
        }
    };
}

pub(crate) use known;

/// One way along the links: at each, every step. With code of its own for the commonest joints, or small.
#[inline(always)]
fn along<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    instructions: Instructions,
    (program, sweep): (&Program, &ProgramSweep),
    memory: &mut Memory<S>,
) {
    let keeps = program.keeps;
    let needs_p = keeps.p || keeps.p_plus || sweep.product.is_some();
    let mut fresh = sweep.riccati && !(s.filled.has_riccati() || (s.filled.has_gains() && !needs_p));
    // What is small has P, D and G from the sweep that fills their stage.
    if fresh && !SPECIAL {
        match needs_p {
            true => s.need_riccati(m),
            false => s.need_gains(m),
        }
        fresh = false;
    }
    match &sweep.plain {
        Some(plain) if sweep.inward => all_inward::<S, SPECIAL>(m, s, (program, sweep, plain), fresh, memory),
        Some(plain) => all_outward::<S, SPECIAL>(m, s, plain, memory),
        None => step_by_step::<S, SPECIAL>(m, s, instructions, (program, sweep, fresh), memory),
    }
    if fresh {
        match keeps.p && keeps.p_plus {
            true => s.filled.tell_riccati(),
            false => s.filled.tell_gains(),
        }
    }
}

/// A sweep of several steps, one after the other at each link.
#[inline(always)]
fn step_by_step<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    instructions: Instructions,
    (program, sweep, fresh): (&Program, &ProgramSweep, bool),
    memory: &mut Memory<S>,
) {
    let (keeps, n) = (program.keeps, m.bodies.len());
    clear_rates(n, &sweep.steps, memory);
    let mut inflow = Inflow::<S, Articulated<S>>::new(&mut s.scratch.waiting);
    for i in 0..n {
        let k = if sweep.inward { n - 1 - i } else { i };
        let body = &m.bodies[k];
        let mut x = Motion::ZERO;
        if let Some((from, _)) = sweep.product {
            x = memory.motion(k, from);
        }
        let mut product = Force::ZERO;
        if SPECIAL && fresh {
            at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => {
                let whole = &mut s.riccati.p[k];
                let rest = riccati::step(joint, body, m, &mut inflow, &mut s.riccati.gains, |p| {
                    if sweep.product.is_some() {
                        product = p.times(x);
                    }
                    if keeps.p {
                        *whole = *p;
                    }
                });
                if keeps.p_plus {
                    s.riccati.p_plus[k] = joint.full(&rest);
                }
            });
        }
        if let Some((_, to)) = sweep.product {
            if !fresh {
                product = s.riccati.p[k].times(x);
            }
            memory.set_force(k, to, product);
        }
        if sweep.upsilon {
            rare_step(instructions, &known!(s), (body, k), None, memory);
        }
        for step in &sweep.steps {
            match step {
                Step::Core(r) => across::<S, SPECIAL>(m, (&s.joints, &s.riccati), k, r, memory),
                Step::Shift { from, to, gathered } if sweep.inward => {
                    let sum = match memory.gather(body, k, *gathered) {
                        Some(sum) => sum,
                        None => Force::ZERO,
                    };
                    if let Some(p) = body.parent {
                        let f = memory.force(k, *from);
                        let f = at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => joint.force_in(f));
                        memory.hand_in(m, p, *gathered, f);
                    }
                    memory.set_force(k, *to, sum);
                }
                Step::Shift { from, to, .. } => {
                    let mut carried = Motion::ZERO;
                    if let Some(p) = body.parent {
                        let inner = memory.motion(p, *from);
                        carried = at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => joint.motion_out(inner));
                    }
                    memory.set_motion(k, *to, carried);
                }
                step if is_rare(step) => rare_step(instructions, &known!(s), (body, k), Some(step), memory),
                step if SPECIAL && body.revolute => local_step::<S, true>(m, &known!(s), k, step, memory),
                step => local_step::<S, false>(m, &known!(s), k, step, memory),
            }
        }
    }
}

/// A recursion at one link.
#[inline(always)]
fn across<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    (joints, riccati): (&Joints<S>, &Riccati<S>),
    k: usize,
    r: &Recursion,
    memory: &mut Memory<S>,
) {
    let (body, slots, nv) = (&m.bodies[k], memory.room.link, memory.nv);
    if r.core.inward() {
        let sum = memory.gather(body, k, r.gathered);
        let own = &mut memory.link[k * slots..(k + 1) * slots];
        let joint = &mut memory.joint[..];
        let mut here = Here { own, joint, nv };
        let f = match SPECIAL && body.revolute {
            true => inward::<S, true>(r, riccati, body, sum, &mut here),
            false => inward::<S, false>(r, riccati, body, sum, &mut here),
        };
        if let Some(p) = body.parent {
            let f = at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => joint.force_in(f));
            memory.hand_in(m, p, r.gathered, f);
        }
        return;
    }
    let mut carried = Motion::ZERO;
    if let Some(p) = body.parent {
        let inner = memory.motion(p, r.link_out);
        carried = at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => joint.motion_out(inner));
    }
    let own = &mut memory.link[k * slots..(k + 1) * slots];
    let joint = &mut memory.joint[..];
    let mut here = Here { own, joint, nv };
    match SPECIAL && body.revolute {
        true => outward::<S, true>(r, riccati, body, carried, &mut here),
        false => outward::<S, false>(r, riccati, body, carried, &mut here),
    };
}

/// Υ f: Υ is symmetric, its columns are its rows.
#[inline(always)]
pub(crate) fn times_upsilon<S: Scalar>(upsilon: &[[S; 6]; 6], f: Force<S>) -> Motion<S> {
    let f = f.to_array();
    let mut v = Motion::from_array(upsilon[0]) * f[0];
    for j in 1..6 {
        v = Motion::from_array(upsilon[j]).mul_add(f[j], v);
    }
    v
}
