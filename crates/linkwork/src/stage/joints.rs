//! What q determines link by link: the joints' own motions.

use crate::body::{Body, GAP, Hinge, PACK};
use crate::model::Compiled;
use crate::scalar::{Pack, Scalar};
use crate::spatial::{Pose, Rotation, Screw, Turn, Vec3};

/// The screw of every one-axis joint, and the placement of every other link.
#[derive(Clone, Debug)]
pub(crate) struct Joints<S> {
    /// And a few of no joint, as registers may reach beyond the last.
    pub(crate) screws: Vec<Screw<S>>,
    pub(crate) general: Vec<Pose<S>>,
}

impl<S: Scalar> Joints<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        // The turn of a joint that does not turn never changes.
        let screw = |body: &Body| {
            let (sin, cos) = S::lift(body.theta).sin_cos();
            Screw::new(cos, sin, S::lift(body.shift))
        };
        let mut screws: Vec<_> = m.bodies.iter().map(screw).collect();
        screws.resize(m.bodies.len() + PACK - 1, Screw::new(S::ONE, S::ZERO, S::ZERO));
        Self {
            screws,
            general: vec![Pose::IDENTITY; m.general_links.len()],
        }
    }

    /// Fills the stage, several angles to a register.
    #[inline(always)]
    pub(crate) fn fill<P: Pack<S>>(&mut self, m: &Compiled, q: &[S]) {
        for spins in &m.turning {
            let screws = &mut self.screws[spins.link..spins.link + PACK];
            let from = if const { P::COLUMNS == 1 } { spins.turned } else { 0 };
            for first in (from..PACK).step_by(P::COLUMNS) {
                if const { P::COLUMNS == 1 } && spins.by[first] == GAP {
                    continue;
                }
                let mut x = [S::ZERO; PACK];
                for i in 0..P::COLUMNS {
                    x[i] = S::lift(spins.theta[first + i]);
                }
                let angles = match spins.row {
                    Some(row) => P::read(&q[row + first..]) + P::read(&x),
                    None => {
                        for i in 0..P::COLUMNS {
                            if let Some(q) = q.get(spins.by[first + i]) {
                                x[i] = *q + x[i];
                            }
                        }
                        P::read(&x)
                    }
                };
                let (mut sin, mut cos) = ([S::ZERO; PACK], [S::ZERO; PACK]);
                let (s, c) = angles.sin_cos();
                s.write(&mut sin);
                c.write(&mut cos);
                for i in 0..P::COLUMNS {
                    (screws[first + i].turn.cos, screws[first + i].turn.sin) = (cos[i], sin[i]);
                }
            }
        }
        for slide in &m.sliding {
            self.screws[slide.link].shift = q[slide.by].mul_add(S::lift(slide.pitch), S::lift(slide.shift));
        }
        for &k in &m.general_links {
            let body = &m.bodies[k];
            let moved = displacement(body.hinge, self.screws[k].turn, &q[body.q..]);
            self.general[body.general] = if body.at_origin {
                moved
            } else {
                body.placement.lift() * moved
            };
        }
    }
}

/// The joint's own motion for the kinds that are no screw; a planar one turns by a known turn.
#[inline(always)]
pub(crate) fn displacement<S: Scalar>(hinge: Hinge, turn: Turn<S>, q: &[S]) -> Pose<S> {
    match hinge {
        Hinge::Planar => {
            let (c, s, o) = (turn.cos, turn.sin, S::ZERO);
            let turn = Rotation::from_rows([[c, -s, o], [s, c, o], [o, o, S::ONE]]);
            Pose::new(turn, Vec3::new(q[1], q[2], o))
        }
        Hinge::Translation => Pose::new(Rotation::IDENTITY, Vec3::new(q[0], q[1], q[2])),
        Hinge::Spherical => Pose::new(turned(q), Vec3::ZERO),
        Hinge::Free => Pose::new(turned(q), Vec3::new(q[4], q[5], q[6])),
        _ => unreachable!("one-axis joints are screws"),
    }
}

/// The rotation by a quaternion, brought to unit length.
#[inline(always)]
fn turned<S: Scalar>(q: &[S]) -> Rotation<S> {
    let square = q[0].mul_add(q[0], q[1].mul_add(q[1], q[2].mul_add(q[2], q[3] * q[3])));
    let r = square.sqrt().recip();
    Rotation::from_quaternion([q[0] * r, q[1] * r, q[2] * r, q[3] * r])
}
