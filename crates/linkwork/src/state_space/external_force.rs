//! Forces from outside.

use crate::Result;
use crate::model::FrameId;
use crate::spatial::{Force, Motion, Reference, Vec3};
use crate::workspace::Configured;

/// A force from outside on a frame of a mechanism, as [`Configured::apply_force`] takes it: its numbers stay what they are while
/// the mechanism moves.
///
/// `reference` says in which axes they stay. In [`Reference::Local`] the force turns with the frame, as that of a propeller;
/// in [`Reference::Aligned`] it keeps the world's axes and moves with the frame's origin, as a weight that hangs there or a
/// push of `linkwork simulate`; in [`Reference::World`] it also stays where it is, being taken about the world's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalForce {
    /// The frame it acts on.
    pub frame: FrameId,
    /// The axes it is in and stays in, and the point that it is about.
    pub reference: Reference,
    /// Moment and force, N m and N.
    pub force: Force,
}

/// Lets all of them act at a configuration.
pub(super) fn act(forces: &[ExternalForce], at: &mut Configured<'_>) -> Result<()> {
    for push in forces {
        at.apply_force(push.frame, push.reference, push.force)?;
    }
    Ok(())
}

/// Adds to ∂T/∂q what forces do by not turning with their links, for which linearized dynamics takes them.
///
/// A force f that keeps its axes changes in the frame's by −crf(V)f along a motion V = J δq of the frame, and does J\* of that
/// to the joints; if it moves with the frame's origin, V is the turn alone. `jacobian` is room for 6 nv numbers.
pub(super) fn add_derivatives(
    forces: &[ExternalForce],
    at: &mut Configured<'_>,
    jacobian: &mut [f64],
    by_q: &mut [f64],
) -> Result<()> {
    let n = at.mechanism().nv();
    for push in forces {
        let pose = at.pose(push.frame)?;
        let Force { moment, force } = push.force;
        let moment = match push.reference {
            Reference::Local => continue,
            Reference::Aligned => moment,
            Reference::World => moment - pose.translation.cross(force),
        };
        let force = Force::new(pose.rotation.inverse_mul(moment), pose.rotation.inverse_mul(force));
        at.jacobian(push.frame, Reference::Local, jacobian)?;
        let column = |j: usize| Motion::from_array(core::array::from_fn(|i| jacobian[i * n + j]));
        for j in 0..n {
            let mut motion = column(j);
            if push.reference == Reference::Aligned {
                motion.linear = Vec3::ZERO;
            }
            let change = motion.cross_force(force);
            for i in 0..n {
                by_q[i * n + j] -= column(i).dot(change);
            }
        }
    }
    Ok(())
}
