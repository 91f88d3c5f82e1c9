//! Sweeps of one recursion, with what velocities add on the way out, or the Riccati equation on the way in.
//!
//! Most sweeps of most expressions are of this kind. Everything at a link is done in one place, for each kind of joint, so
//! that vectors stay in registers and nothing is looked up step by step.

use super::link_operators::{base_acceleration, coriolis, gyroscopic};
use super::program::{Program, ProgramSweep, Slot, Step};
use super::recursion::{Here, Recursion, inward, outward};
use super::run::{Memory, known};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;
use crate::stage::riccati;

/// One recursion; of the velocities that it gives, a (by q̇, with a₀ or without) and b.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    recursion: Recursion,
    coriolis: Option<(Slot, bool, Slot)>,
    gyroscopic: Option<Slot>,
}

impl Plain {
    /// A sweep, if it is of this kind.
    pub(crate) fn of(sweep: &ProgramSweep) -> Option<Self> {
        let (Step::Core(recursion), rest) = sweep.steps.split_first()? else {
            return None;
        };
        let mut plain = Self {
            recursion: *recursion,
            coriolis: None,
            gyroscopic: None,
        };
        for step in rest.iter().filter(|_| !sweep.inward) {
            match *step {
                Step::Coriolis { velocity, qd, base, to } if velocity == recursion.link_out => {
                    if plain.coriolis.replace((qd, base, to)).is_some() {
                        return None;
                    }
                }
                Step::Gyroscopic { velocity, to } if velocity == recursion.link_out => {
                    if plain.gyroscopic.replace(to).is_some() {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        let known = sweep.inward && !rest.is_empty();
        (!known && !sweep.upsilon && (sweep.inward || !sweep.riccati)).then_some(plain)
    }
}

/// From the base to the tips.
#[inline(always)]
pub(super) fn all_outward<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    s: &Stages<S>,
    plain: &Plain,
    memory: &mut Memory<S>,
) {
    let Plain {
        recursion: r,
        coriolis: a,
        gyroscopic: b,
    } = *plain;
    let (slots, nv) = (memory.room.link, memory.nv);
    let (link, joint) = (&mut memory.link[..], &mut memory.joint[..]);
    for (k, body) in m.bodies.iter().enumerate() {
        at_joint!(<S, SPECIAL> m.bodies, s.joints, k, crossing => {
            let mut carried = Motion::ZERO;
            if let Some(p) = body.parent {
                carried = crossing.motion_out(Motion::from_array(link[p * slots + r.link_out]));
            }
            let own = &mut link[k * slots..(k + 1) * slots];
            let mut here = Here { own, joint: &mut *joint, nv };
            let v = match SPECIAL && body.revolute {
                true => outward::<S, true>(&r, &s.riccati, body, carried, &mut here),
                false => outward::<S, false>(&r, &s.riccati, body, carried, &mut here),
            };
            if let Some((qd, base, to)) = a {
                let mut a = match SPECIAL && body.revolute {
                    true => coriolis::<S, true>(body, v, here.few::<true>(body, qd)),
                    false => coriolis::<S, false>(body, v, here.few::<false>(body, qd)),
                };
                if base {
                    a += base_acceleration(m, &known!(s), k);
                }
                here.own[to] = a.to_array();
            }
            if let Some(to) = b {
                let b = gyroscopic(&known!(s), body, k, v);
                here.own[to] = b.to_array();
            }
        });
    }
}

/// From the tips to the base; `fresh`: the Riccati equation on the way.
#[inline(always)]
pub(super) fn all_inward<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    (program, sweep, plain): (&Program, &ProgramSweep, &Plain),
    fresh: bool,
    memory: &mut Memory<S>,
) {
    let (r, keeps) = (plain.recursion, program.keeps);
    let (slots, sums, nv) = (memory.room.link, memory.room.gathered, memory.nv);
    let (link, joint, gathered) = (&mut memory.link[..], &mut memory.joint[..], &mut memory.gathered[..]);
    let mut inflow = Inflow::<S, Articulated<S>>::new(&mut s.scratch.waiting);
    for k in (0..m.bodies.len()).rev() {
        let body = &m.bodies[k];
        at_joint!(<S, SPECIAL> m.bodies, s.joints, k, crossing => {
            let own = &mut link[k * slots..(k + 1) * slots];
            let mut product = Force::ZERO;
            let mut x = Motion::ZERO;
            if let Some((from, _)) = sweep.product {
                x = Motion::from_array(own[from]);
            }
            if SPECIAL && fresh {
                let whole = &mut s.riccati.p[k];
                let rest = riccati::step(crossing, body, m, &mut inflow, &mut s.riccati.gains, |p| {
                    if sweep.product.is_some() {
                        product = p.times(x);
                    }
                    if keeps.p {
                        *whole = *p;
                    }
                });
                if keeps.p_plus {
                    s.riccati.p_plus[k] = crossing.full(&rest);
                }
            } else if sweep.product.is_some() {
                product = s.riccati.p[k].times(x);
            }
            if let Some((_, to)) = sweep.product {
                own[to] = product.to_array();
            }
            let mut sum = None;
            if body.has_child {
                let place = &mut gathered[k * sums + r.gathered];
                sum = Some(Force::from_array(*place));
                if body.branch.is_some() {
                    *place = [S::ZERO; 6];
                }
            }
            let mut here = Here { own, joint: &mut *joint, nv };
            let f = match SPECIAL && body.revolute {
                true => inward::<S, true>(&r, &s.riccati, body, sum, &mut here),
                false => inward::<S, false>(&r, &s.riccati, body, sum, &mut here),
            };
            if let Some(p) = body.parent {
                let f = crossing.force_in(f).to_array();
                let place = &mut gathered[p * sums + r.gathered];
                if m.bodies[p].branch.is_some() {
                    for i in 0..6 {
                        place[i] += f[i];
                    }
                } else {
                    *place = f;
                }
            }
        });
    }
}
