//! What is done at one link alone.

use super::graph::Local;
use super::joint_algebra::{Few, Joint};
use super::program::Step;
use super::run::{Known, Memory};
use super::space::Space;
use crate::body::Body;
use crate::dynamics::augmented::six_by_six::{cholesky, solve_one};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion, Vec3};
use crate::stage::crossing::Crossing;

/// Σ of multiples, starting from the first.
#[inline(always)]
pub(crate) fn combine<S: Scalar, const N: usize>(terms: &[(f64, usize)], of: impl Fn(usize) -> [S; N]) -> [S; N] {
    let mut sum = [S::ZERO; N];
    for (i, &(scale, slot)) in terms.iter().enumerate() {
        let x = of(slot);
        // Decided once for all numbers.
        match (i == 0, scale == 1.0, scale == -1.0) {
            (true, true, _) => sum = x,
            (true, _, true) => {
                for n in 0..N {
                    sum[n] = -x[n];
                }
            }
            (true, ..) => {
                for n in 0..N {
                    sum[n] = S::lift(scale) * x[n];
                }
            }
            (false, true, _) => {
                for n in 0..N {
                    sum[n] += x[n];
                }
            }
            (false, _, true) => {
                for n in 0..N {
                    sum[n] -= x[n];
                }
            }
            (false, ..) => {
                for n in 0..N {
                    sum[n] = S::lift(scale).mul_add(x[n], sum[n]);
                }
            }
        }
    }
    sum
}

/// One step at one link. `REVOLUTE` tells the compiler that its joint is a revolute one.
#[inline(always)]
pub(crate) fn local_step<S: Scalar, const REVOLUTE: bool>(
    m: &Compiled,
    s: &Known<'_, S>,
    k: usize,
    step: &Step,
    memory: &mut Memory<S>,
) {
    let body = &m.bodies[k];
    let at = Joint::of::<REVOLUTE>(body, s.riccati);
    match step {
        Step::Local { local, from, to } => local_operator::<S, REVOLUTE>(m, s, k, (*local, *from, *to), memory),
        Step::Combine { space, terms, to } => {
            if *space == Space::Joint {
                for v in body.v..body.v + at.dofs() {
                    let [x] = combine(terms, |slot| [memory.joint[slot * memory.nv + v]]);
                    memory.joint[to * memory.nv + v] = x;
                }
            } else {
                let x = combine(terms, |slot| memory.link[k * memory.room.link + slot]);
                memory.link[k * memory.room.link + to] = x;
            }
        }
        Step::BaseAcceleration { to } => memory.set_motion(k, *to, base_acceleration(m, s, k)),
        Step::Coriolis { velocity, qd, base, to } => {
            let qd = memory.few::<REVOLUTE>(body, *qd);
            let mut a = coriolis::<S, REVOLUTE>(body, memory.motion(k, *velocity), qd);
            if *base {
                a += base_acceleration(m, s, k);
            }
            memory.set_motion(k, *to, a);
        }
        Step::Gyroscopic { velocity, to } => {
            let b = gyroscopic(s, body, k, memory.motion(k, *velocity));
            memory.set_force(k, *to, b);
        }
        Step::Cross {
            force, by, from, to, ..
        } => {
            let by = memory.motion(k, *by);
            if *force {
                let f = by.cross_force(memory.force(k, *from));
                memory.set_force(k, *to, f);
            } else {
                let v = by.cross(memory.motion(k, *from));
                memory.set_motion(k, *to, v);
            }
        }
        Step::PRateTimes { rate, from, to } => {
            let f = memory.matrices[k * memory.room.matrices + rate].times(memory.motion(k, *from));
            memory.set_force(k, *to, f);
        }
        Step::Diagonal {
            by, inverted, from, to, ..
        } => {
            for v in body.v..body.v + at.dofs() {
                let (w, x) = (memory.joint[by * memory.nv + v], memory.joint[from * memory.nv + v]);
                memory.joint[to * memory.nv + v] = if *inverted { x * w.recip() } else { x * w };
            }
        }
        Step::Times {
            space,
            number,
            from,
            to,
        } => {
            let scale = memory.numbers[*number];
            if *space == Space::Joint {
                for v in body.v..body.v + at.dofs() {
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

/// crm(V)H*q̇.
#[inline(always)]
pub(super) fn coriolis<S: Scalar, const REVOLUTE: bool>(body: &Body, v: Motion<S>, qd: Few<S>) -> Motion<S> {
    if REVOLUTE || body.revolute {
        // V × (e_z q̇), written out.
        Motion {
            angular: Vec3::new(v.angular.y * qd[0], -(v.angular.x * qd[0]), S::ZERO),
            linear: Vec3::new(v.linear.y * qd[0], -(v.linear.x * qd[0]), S::ZERO),
        }
    } else {
        v.cross(body.hinge.motion(&qd))
    }
}

/// crf(V)MV, and what pushes.
#[inline(always)]
pub(super) fn gyroscopic<S: Scalar>(s: &Known<'_, S>, body: &Body, k: usize, v: Motion<S>) -> Force<S> {
    let mut b = v.cross_force(body.inertia.lift().times(v));
    if s.loaded {
        b -= s.loads[k];
    }
    b
}

/// The motion that an inertia has under a force.
#[inline(always)]
pub(super) fn solve<S: Scalar>(inertia: &Articulated<S>, f: Force<S>) -> Motion<S> {
    let mut rows = inertia.to_rows();
    cholesky(&mut rows);
    Motion::from_array(solve_one(&rows, f.to_array()))
}

/// Whether an inertia resists every motion, in one lane: no pivot is only the rounding of what it was.
pub(crate) fn is_regular<S: Scalar>(inertia: &Articulated<S>, lane: usize) -> bool {
    let mut rows = inertia.to_rows();
    let sizes: [S; 6] = core::array::from_fn(|i| rows[i][i]);
    let pivots = cholesky(&mut rows);
    let sound = |(pivot, size): (S, S)| pivot.lane(lane) > 1e-13 * size.lane(lane);
    pivots.into_iter().zip(sizes).all(sound)
}

/// a₀: [0; −g] seen from a link on the world, else zero.
#[inline(always)]
pub(super) fn base_acceleration<S: Scalar>(m: &Compiled, s: &Known<'_, S>, k: usize) -> Motion<S> {
    let body = &m.bodies[k];
    if body.parent.is_some() {
        return Motion::ZERO;
    }
    let base = Motion::new(Vec3::ZERO, -m.gravity.lift());
    s.at(body, k).1.motion_out(base)
}

/// An operator, from one vector to another.
#[inline(always)]
fn local_operator<S: Scalar, const REVOLUTE: bool>(
    m: &Compiled,
    s: &Known<'_, S>,
    k: usize,
    (local, from, to): (Local, usize, usize),
    memory: &mut Memory<S>,
) {
    let body = &m.bodies[k];
    let at = Joint::of::<REVOLUTE>(body, s.riccati);
    match local {
        Local::M => {
            let f = body.inertia.lift().times(memory.motion(k, from));
            memory.set_force(k, to, f);
        }
        Local::P => memory.set_force(k, to, s.riccati.p[k].times(memory.motion(k, from))),
        Local::PPlus => memory.set_force(k, to, s.riccati.p_plus[k].times(memory.motion(k, from))),
        Local::TauBar => memory.set_force(k, to, at.tau_bar(memory.force(k, from))),
        Local::TauBarStar => memory.set_motion(k, to, at.tau_bar_star(memory.motion(k, from))),
        // Into joint space.
        Local::H => memory.set_few::<REVOLUTE>(body, to, &at.h(memory.force(k, from))),
        Local::GStar => memory.set_few::<REVOLUTE>(body, to, &at.g_star(memory.motion(k, from))),
        // Out of joint space, and within it.
        _ => {
            let x = memory.few::<REVOLUTE>(body, from);
            let y = match local {
                Local::HStar => return memory.set_motion(k, to, at.hinge.motion(&x)),
                Local::G => return memory.set_force(k, to, at.g(x)),
                Local::D => at.d(x),
                Local::DInv => at.d_inv(x),
                Local::Root => at.root(x),
                Local::RootStar => at.root_star(x),
                Local::RootInv => at.root_inv(x),
                Local::RootInvStar => at.root_inv_star(x),
                _ => at.rotors(&m.armature[body.v..], x),
            };
            memory.set_few::<REVOLUTE>(body, to, &y);
        }
    }
}
