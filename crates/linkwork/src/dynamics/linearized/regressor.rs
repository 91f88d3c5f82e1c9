//! Torques as a linear function of the links' inertial parameters: T = Y π.

use crate::model::Compiled;
use crate::scalar::{Scalar, zeros};
use crate::spatial::{Pose, RigidBody, Vec3};
use crate::stage::Stages;
use crate::stage::linear::{H, LANES};
use crate::sweep::{At, Sweep, algorithm};

/// Numbers per link: m, m c (x, y, z), and J about the link's origin (xx, xy, xz, yy, yz, zz), in its own frame.
pub(crate) const PARAMETERS: usize = 10;

/// Y, nv × 10 links, dense and row by row: for each parameter of a link, the force of a body that has it alone, seen by
/// every joint that carries the link. O(links · depth).
pub(crate) struct Regressor;

algorithm! {
    Regressor: Plain;
}

impl<S: Scalar> Sweep<S> for Regressor {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        zeros(out);
        let wide = PARAMETERS * m.link_frames.len();
        for (i, link) in m.link_frames.iter().enumerate() {
            let Some(k) = link.body else { continue };
            let pose: Pose<S> = s.world.poses[k] * link.pose.lift();
            let (v, alpha) = (s.linear.velocity(k), s.linear.acceleration(k));
            let (v, alpha) = (pose.motion_out(v), pose.motion_out(alpha));
            for parameter in 0..PARAMETERS {
                let body = unit(parameter);
                let local = body.times(alpha) + v.cross_force(body.times(v));
                let force = pose.force_in(local);
                let mut next = Some(k);
                while let Some(j) = next {
                    let (body, start) = (&m.bodies[j], m.columns.single.start[j]);
                    for d in 0..body.dofs {
                        let c = start + d;
                        let h = s.linear.columns[c / LANES].motion(H, c % LANES);
                        out[(body.v + d) * wide + PARAMETERS * i + parameter] = h.dot(force);
                    }
                    next = body.parent;
                }
            }
        }
    }
}

/// A body with one parameter of size one, the others zero.
#[inline(always)]
fn unit<S: Scalar>(parameter: usize) -> RigidBody<S> {
    let is = |i: usize| if i == parameter { S::ONE } else { S::ZERO };
    RigidBody {
        mass: is(0),
        first: Vec3::new(is(1), is(2), is(3)),
        second: [is(4), is(5), is(6), is(7), is(8), is(9)],
    }
}
