//! Running a program: link by link, step by step.

use super::graph::{Core, Local};
use super::joint_algebra::{Few, Joint};
use super::program::{Program, ProgramSweep, Room, Step};
use super::space::Space;
use super::whole::whole_steps;
use crate::model::{Body, Compiled};
use crate::scalar::{Builds, Scalar};
use crate::simd::{Instructions, Task};
use crate::spatial::{Articulated, Force, Motion, Pose, Vec3};
use crate::stage::Stages;
use crate::stage::crossing::{AnyJoint, Crossing, at_joint};
use crate::stage::inflow::Inflow;
use crate::stage::joints::Joints;
use crate::stage::riccati::{self, Riccati};
use core::any::Any;

/// The vectors that a program works on.
#[derive(Clone, Debug)]
pub(crate) struct Memory<S> {
    pub(crate) numbers: Vec<S>,
    /// Slot by slot.
    pub(crate) joint: Vec<S>,
    /// Link by link, each with all its slots.
    pub(crate) link: Vec<[S; 6]>,
    pub(crate) tip: Vec<[S; 6]>,
    /// Σ over the children; nought between sweeps.
    gathered: Vec<[S; 6]>,
    /// Υ(k), row by row.
    pub(crate) upsilon: Vec<[[S; 6]; 6]>,
    /// The chosen frames: the link, none for the world, and the frame seen from it.
    pub(crate) tips: Vec<(Option<usize>, Pose<S>)>,
    pub(crate) room: Room,
    pub(crate) nv: usize,
}

impl<S: Scalar> Memory<S> {
    pub(crate) fn new(m: &Compiled, program: &Program, tips: usize) -> Self {
        let (n, nv, room) = (m.bodies.len(), m.nv, program.room);
        let zero = [S::ZERO; 6];
        let mut numbers = vec![S::ZERO; room.numbers];
        numbers[0] = S::ONE;
        Self {
            numbers,
            joint: vec![S::ZERO; room.joint * nv],
            link: vec![zero; room.link * n],
            tip: vec![zero; room.tip * tips],
            gathered: vec![zero; room.gathered * n],
            upsilon: vec![[zero; 6]; if program.keeps.upsilon { n } else { 0 }],
            tips: vec![(None, Pose::IDENTITY); tips],
            room,
            nv,
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
    fn few(&self, body: &Body, slot: usize) -> Few<S> {
        let mut x = [S::ZERO; 6];
        let at = slot * self.nv + body.v;
        if body.revolute {
            x[0] = self.joint[at];
        } else {
            x[..body.dofs].copy_from_slice(&self.joint[at..at + body.dofs]);
        }
        x
    }

    #[inline(always)]
    fn set_few(&mut self, body: &Body, slot: usize, x: &Few<S>) {
        let at = slot * self.nv + body.v;
        if body.revolute {
            self.joint[at] = x[0];
        } else {
            self.joint[at..at + body.dofs].copy_from_slice(&x[..body.dofs]);
        }
    }

    /// Σ over the children. Where several add up, nought is left behind.
    #[inline(always)]
    fn gather(&mut self, body: &Body, k: usize, which: usize) -> Option<Force<S>> {
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
    if matches!(S::BUILDS, Builds::Shipped) {
        let stages = (stages as &mut dyn Any).downcast_mut::<Stages<f64>>();
        let memory = (memory as &mut dyn Any).downcast_mut::<Memory<f64>>();
        if let (Some(stages), Some(memory)) = (stages, memory) {
            shipped(instructions, m, stages, program, memory);
        }
        return;
    }
    instructions.perform::<S, _>(Run {
        m,
        stages,
        program,
        memory,
    });
}

fn shipped(i: Instructions, m: &Compiled, stages: &mut Stages<f64>, program: &Program, memory: &mut Memory<f64>) {
    i.perform::<f64, _>(Run {
        m,
        stages,
        program,
        memory,
    });
}

impl<S: Scalar> Task for Run<'_, S> {
    #[inline(always)]
    fn run(self) {
        let (m, s, memory) = (self.m, self.stages, self.memory);
        whole_steps(m, memory, &self.program.before);
        for sweep in &self.program.sweeps {
            along(m, s, self.program, sweep, memory);
            whole_steps(m, memory, &sweep.after);
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
        let at = Joint {
            hinge: body.hinge,
            gains: &self.riccati.gains[body.v..],
        };
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

/// One way along the links: at each, every step.
#[inline(always)]
fn along<S: Scalar>(m: &Compiled, s: &mut Stages<S>, program: &Program, sweep: &ProgramSweep, memory: &mut Memory<S>) {
    let (keeps, n) = (program.keeps, m.bodies.len());
    let there = s.filled.riccati || (s.filled.gains && !keeps.p && !keeps.p_plus);
    let fresh = sweep.riccati && !there;
    let mut inflow = Inflow::<S, Articulated<S>>::new(&mut s.waiting);
    for i in 0..n {
        let k = if sweep.inward { n - 1 - i } else { i };
        let body = &m.bodies[k];
        if fresh {
            at_joint!(m.bodies, s.joints, k, joint => {
                let whole = &mut s.riccati.p[k];
                let rest = riccati::step(joint, body, m, &mut inflow, &mut s.riccati.gains, |p| {
                    if keeps.p {
                        *whole = *p;
                    }
                });
                if keeps.p_plus {
                    s.riccati.p_plus[k] = joint.full(&rest);
                }
            });
        }
        if sweep.upsilon {
            upsilon(&known!(s), body, k, memory);
        }
        for step in &sweep.steps {
            // What comes out across the joint before an outward step, and what goes in after an inward one.
            let mut carried = Motion::ZERO;
            if let (Step::Core { link_out: slot, .. } | Step::Shift { from: slot, .. }, false, Some(p)) =
                (step, sweep.inward, body.parent)
            {
                let inner = memory.motion(p, *slot);
                carried = at_joint!(m.bodies, s.joints, k, joint => joint.motion_out(inner));
            }
            let mut handed = None;
            match *step {
                Step::Core { gathered, .. } if sweep.inward => {
                    handed = Some((gathered, inward(&s.riccati, body, k, step, memory)));
                }
                Step::Shift { from, to, gathered } if sweep.inward => {
                    let sum = match memory.gather(body, k, gathered) {
                        Some(sum) => sum,
                        None => Force::ZERO,
                    };
                    handed = Some((gathered, memory.force(k, from)));
                    memory.set_force(k, to, sum);
                }
                Step::Core { .. } => outward(&s.riccati, body, k, step, carried, memory),
                Step::Shift { to, .. } => memory.set_motion(k, to, carried),
                _ => local_step(m, &known!(s), k, step, memory),
            }
            if let (Some((gathered, f)), Some(p)) = (handed, body.parent) {
                at_joint!(m.bodies, s.joints, k, joint => memory.hand_in(m, p, gathered, joint.force_in(f)));
            }
        }
    }
    if fresh {
        s.filled.gains = true;
        s.filled.riccati |= keeps.p && keeps.p_plus;
    }
}

/// φ: y = x + Σ φ(y + G t), e = t + H y.  ψ: z = x + Σ φ(z + G ε), ε = t − H z. Gives what goes on inward.
#[inline(always)]
fn inward<S: Scalar>(riccati: &Riccati<S>, body: &Body, k: usize, step: &Step, memory: &mut Memory<S>) -> Force<S> {
    let Step::Core {
        core,
        joint_in,
        link_in,
        joint_out,
        link_out,
        gathered,
    } = *step
    else {
        return Force::ZERO;
    };
    let z = match (link_in, memory.gather(body, k, gathered)) {
        (Some(x), Some(sum)) => memory.force(k, x) + sum,
        (Some(x), None) => memory.force(k, x),
        (None, Some(sum)) => sum,
        (None, None) => Force::ZERO,
    };
    memory.set_force(k, link_out, z);
    let at = Joint {
        hinge: body.hinge,
        gains: &riccati.gains[body.v..],
    };
    let psi = core == Core::InPsi;
    if !psi && joint_in.is_none() && joint_out.is_none() {
        return z;
    }
    let projected = at.h(z);
    // What goes through G: ε, or t itself.
    let (mut through, mut e) = (projected, projected);
    if let Some(t) = joint_in {
        let t = memory.few(body, t);
        for i in 0..body.dofs {
            e[i] = if psi { t[i] - projected[i] } else { t[i] + projected[i] };
            through[i] = if psi { e[i] } else { t[i] };
        }
    } else if psi {
        for i in 0..body.dofs {
            e[i] = -projected[i];
        }
        through = e;
    }
    if let Some(out) = joint_out {
        memory.set_few(body, out, &e);
    }
    if body.parent.is_some() && (psi || joint_in.is_some()) {
        at.add_g(z, through)
    } else {
        z
    }
}

/// φ*: y = φ*y(p) + H*t + x, e = t + G*φ*y(p).  ψ*: λ = φ*λ(p) + H*e + x, e = t − G*φ*λ(p).
#[inline(always)]
fn outward<S: Scalar>(
    riccati: &Riccati<S>,
    body: &Body,
    k: usize,
    step: &Step,
    carried: Motion<S>,
    memory: &mut Memory<S>,
) {
    let Step::Core {
        core,
        joint_in,
        link_in,
        joint_out,
        link_out,
        ..
    } = *step
    else {
        return;
    };
    let at = Joint {
        hinge: body.hinge,
        gains: &riccati.gains[body.v..],
    };
    let psi = core == Core::OutPsi;
    let mut t = [S::ZERO; 6];
    if let Some(slot) = joint_in {
        t = memory.few(body, slot);
    }
    let mut e = t;
    if (psi || joint_out.is_some()) && body.parent.is_some() {
        let felt = at.g_star(carried);
        for i in 0..body.dofs {
            e[i] = match (psi, joint_in.is_some()) {
                (true, true) => t[i] - felt[i],
                (true, false) => -felt[i],
                (false, true) => t[i] + felt[i],
                (false, false) => felt[i],
            };
        }
    }
    if let Some(out) = joint_out {
        memory.set_few(body, out, &e);
    }
    let mut v = carried;
    if psi {
        v = body.hinge.add_motion(v, &e);
    } else if joint_in.is_some() {
        v = body.hinge.add_motion(v, &t);
    }
    if let Some(slot) = link_in {
        v += memory.motion(k, slot);
    }
    memory.set_motion(k, link_out, v);
}

/// Υ(k) = H*D⁻¹H + ψ*(p, k)Υ(p)ψ(p, k).
#[inline(always)]
fn upsilon<S: Scalar>(s: &Known<'_, S>, body: &Body, k: usize, memory: &mut Memory<S>) {
    let (at, joint) = s.at(body, k);
    for j in 0..6 {
        let mut unit = [S::ZERO; 6];
        unit[j] = S::ONE;
        let f = Force::from_array(unit);
        let mut v = Motion::ZERO;
        if let Some(p) = body.parent {
            let inner = times_upsilon(&memory.upsilon[p], joint.force_in(at.tau_bar(f)));
            v = at.tau_bar_star(joint.motion_out(inner));
        }
        memory.upsilon[k][j] = body.hinge.add_motion(v, &at.d_inv(at.h(f))).to_array();
    }
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

/// Σ of multiples, starting from the first.
#[inline(always)]
pub(crate) fn combine<S: Scalar, const N: usize>(terms: &[(f64, usize)], of: impl Fn(usize) -> [S; N]) -> [S; N] {
    let mut sum = [S::ZERO; N];
    for (i, &(scale, slot)) in terms.iter().enumerate() {
        let x = of(slot);
        for n in 0..N {
            sum[n] = match (i == 0, scale == 1.0, scale == -1.0) {
                (true, true, _) => x[n],
                (true, _, true) => -x[n],
                (true, ..) => S::lift(scale) * x[n],
                (false, true, _) => sum[n] + x[n],
                (false, _, true) => sum[n] - x[n],
                (false, ..) => S::lift(scale).mul_add(x[n], sum[n]),
            };
        }
    }
    sum
}

/// What is done at one link alone.
#[inline(always)]
fn local_step<S: Scalar>(m: &Compiled, s: &Known<'_, S>, k: usize, step: &Step, memory: &mut Memory<S>) {
    let body = &m.bodies[k];
    match step {
        Step::Local { local, from, to } => local_operator(m, s, k, *local, *from, *to, memory),
        Step::Combine { space, terms, to } => {
            if *space == Space::Joint {
                for v in body.v..body.v + body.dofs {
                    let [x] = combine(terms, |slot| [memory.joint[slot * memory.nv + v]]);
                    memory.joint[to * memory.nv + v] = x;
                }
            } else {
                let x = combine(terms, |slot| memory.link[k * memory.room.link + slot]);
                memory.link[k * memory.room.link + to] = x;
            }
        }
        Step::BaseAcceleration { to } => {
            let mut a = Motion::ZERO;
            if body.parent.is_none() {
                let base = Motion::new(Vec3::ZERO, -m.gravity.lift());
                a = s.at(body, k).1.motion_out(base);
            }
            memory.set_motion(k, *to, a);
        }
        Step::Coriolis { velocity, qd, to } => {
            let qd = memory.few(body, *qd);
            let v = memory.motion(k, *velocity);
            let a = if body.revolute {
                // V × (e_z q̇), written out.
                let turn = |x: Vec3<S>| Vec3::new(x.y * qd[0], -(x.x * qd[0]), S::ZERO);
                Motion {
                    angular: turn(v.angular),
                    linear: turn(v.linear),
                }
            } else {
                v.cross(body.hinge.motion(&qd))
            };
            memory.set_motion(k, *to, a);
        }
        Step::Gyroscopic { velocity, to } => {
            let v = memory.motion(k, *velocity);
            let mut b = v.cross_force(body.inertia.lift().times(v));
            if s.loaded {
                b -= s.loads[k];
            }
            memory.set_force(k, *to, b);
        }
        Step::Times {
            space,
            number,
            from,
            to,
        } => {
            let scale = memory.numbers[*number];
            if *space == Space::Joint {
                for v in body.v..body.v + body.dofs {
                    memory.joint[to * memory.nv + v] = memory.joint[from * memory.nv + v] * scale;
                }
            } else {
                let at = k * memory.room.link;
                for i in 0..6 {
                    memory.link[at + to][i] = memory.link[at + from][i] * scale;
                }
            }
        }
        _ => {}
    }
}

#[inline(always)]
fn local_operator<S: Scalar>(
    m: &Compiled,
    s: &Known<'_, S>,
    k: usize,
    local: Local,
    from: usize,
    to: usize,
    memory: &mut Memory<S>,
) {
    let body = &m.bodies[k];
    let at = Joint {
        hinge: body.hinge,
        gains: &s.riccati.gains[body.v..],
    };
    match local {
        Local::H => memory.set_few(body, to, &at.h(memory.force(k, from))),
        Local::HStar => {
            let v = body.hinge.motion(&memory.few(body, from));
            memory.set_motion(k, to, v);
        }
        Local::M => {
            let f = body.inertia.lift().times(memory.motion(k, from));
            memory.set_force(k, to, f);
        }
        Local::P => memory.set_force(k, to, s.riccati.p[k].times(memory.motion(k, from))),
        Local::PPlus => memory.set_force(k, to, s.riccati.p_plus[k].times(memory.motion(k, from))),
        Local::G => memory.set_force(k, to, at.g(memory.few(body, from))),
        Local::GStar => memory.set_few(body, to, &at.g_star(memory.motion(k, from))),
        Local::TauBar => memory.set_force(k, to, at.tau_bar(memory.force(k, from))),
        Local::TauBarStar => memory.set_motion(k, to, at.tau_bar_star(memory.motion(k, from))),
        Local::Upsilon => {
            let v = times_upsilon(&memory.upsilon[k], memory.force(k, from));
            memory.set_motion(k, to, v);
        }
        Local::Rotors => {
            let mut x = memory.few(body, from);
            for i in 0..body.dofs {
                x[i] = S::lift(m.armature[body.v + i]) * x[i];
            }
            memory.set_few(body, to, &x);
        }
        Local::D => memory.set_few(body, to, &at.d(memory.few(body, from))),
        Local::DInv => memory.set_few(body, to, &at.d_inv(memory.few(body, from))),
        Local::Root => memory.set_few(body, to, &at.root(memory.few(body, from))),
        Local::RootStar => memory.set_few(body, to, &at.root_star(memory.few(body, from))),
        Local::RootInv => memory.set_few(body, to, &at.root_inv(memory.few(body, from))),
        Local::RootInvStar => memory.set_few(body, to, &at.root_inv_star(memory.few(body, from))),
    }
}
