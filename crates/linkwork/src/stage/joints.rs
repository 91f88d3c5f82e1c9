//! What q determines link by link: the joints' own motions.

use crate::model::{Body, Compiled, Hinge, Passage};
use crate::scalar::Scalar;
use crate::spatial::{Pose, Rotation, Screw, Vec3};

/// The screw of every one-axis joint, and the placement of every other link.
#[derive(Clone, Debug)]
pub(crate) struct Joints<S> {
    angle: Vec<S>,
    cos: Vec<S>,
    sin: Vec<S>,
    pub(crate) screws: Vec<Screw<S>>,
    pub(crate) general: Vec<Pose<S>>,
}

impl<S: Scalar> Joints<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        // Angles in whole groups of four: the sines of a short arm then need no remainder.
        let n = m.bodies.len().next_multiple_of(4);
        Self {
            angle: vec![S::ZERO; n],
            cos: vec![S::ONE; n],
            sin: vec![S::ZERO; n],
            screws: vec![Screw::new(S::ONE, S::ZERO, S::ZERO); m.bodies.len()],
            general: vec![Pose::IDENTITY; m.general_links.len()],
        }
    }

    /// Fills the stage; q ends in a nought of its own.
    #[inline(always)]
    pub(crate) fn fill(&mut self, m: &Compiled, q: &[S]) {
        for ((body, angle), screw) in m.bodies.iter().zip(&mut self.angle).zip(&mut self.screws) {
            *angle = q[body.turned_by] + S::lift(body.theta);
            screw.shift = q[body.shifted_by].mul_add(S::lift(body.pitch), S::lift(body.shift));
        }
        S::sin_cos_all(&self.angle, &mut self.sin, &mut self.cos);
        for ((screw, cos), sin) in self.screws.iter_mut().zip(&self.cos).zip(&self.sin) {
            (screw.turn.cos, screw.turn.sin) = (*cos, *sin);
        }
        for &k in &m.general_links {
            let body = &m.bodies[k];
            let moved = self.displacement(body.hinge, k, &q[body.q..]);
            self.general[body.general] = body.placement.lift() * moved;
        }
    }

    /// The passage of a link that sweeps have code of their own for.
    #[inline(always)]
    pub(crate) fn special(&self, body: &Body) -> Option<Passage> {
        if S::SPECIAL { Some(body.passage) } else { None }
    }

    /// The joint's own motion for the kinds that are no screw.
    #[inline(always)]
    fn displacement(&self, hinge: Hinge, k: usize, q: &[S]) -> Pose<S> {
        let quaternion = |q: &[S]| Rotation::from_quaternion(unit([q[0], q[1], q[2], q[3]]));
        match hinge {
            Hinge::Planar => {
                let (c, s, o) = (self.cos[k], self.sin[k], S::ZERO);
                let turn = Rotation::from_rows([[c, -s, o], [s, c, o], [o, o, S::ONE]]);
                Pose::new(turn, Vec3::new(q[1], q[2], o))
            }
            Hinge::Translation => Pose::new(Rotation::IDENTITY, Vec3::new(q[0], q[1], q[2])),
            Hinge::Spherical => Pose::new(quaternion(q), Vec3::ZERO),
            Hinge::Free => Pose::new(quaternion(q), Vec3::new(q[4], q[5], q[6])),
            _ => unreachable!("one-axis joints are screws"),
        }
    }
}

#[inline(always)]
fn unit<S: Scalar>(q: [S; 4]) -> [S; 4] {
    let square = q[0].mul_add(q[0], q[1].mul_add(q[1], q[2].mul_add(q[2], q[3] * q[3])));
    let r = square.sqrt().recip();
    q.map(|x| x * r)
}
