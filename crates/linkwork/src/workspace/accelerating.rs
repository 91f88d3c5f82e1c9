//! What configuration, velocity and acceleration determine.

use super::View;
use crate::dynamics::kinematics;
use crate::model::{FrameId, JointId, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Reference};
use crate::{Error, Result};

/// An accelerating mechanism: every link's acceleration and the force across every joint are known.
pub struct Accelerating<'w, S: 'static = f64> {
    mechanism: &'w Mechanism,
    stages: &'w crate::stage::Stages<S>,
}

impl<'w, S: Scalar> Accelerating<'w, S> {
    pub(super) fn new(view: &'w mut View<'_, S>) -> Self {
        Self {
            mechanism: view.mechanism,
            stages: view.stages,
        }
    }

    /// J q̈ + J̇ q̇ of a frame. In [`Reference::Aligned`] its linear part is the plain acceleration of the frame's origin; in
    /// the others it is the spatial acceleration, the time derivative of [`super::Moving::velocity`]'s numbers.
    #[doc(alias = "imu")]
    pub fn acceleration(&self, frame: impl Into<FrameId>, reference: Reference) -> Result<Motion<S>> {
        Ok(self.acceleration_of(self.mechanism.own_frame(frame)?, reference))
    }

    /// That of a frame known to be the mechanism's.
    pub(crate) fn acceleration_of(&self, frame: FrameId, reference: Reference) -> Motion<S> {
        let base = -self.mechanism.compiled.gravity.lift();
        kinematics::acceleration(self.stages, &self.mechanism.placed[frame.index()], base, reference)
    }

    /// The force that a joint exerts on its child link, about and in the axes of that link's frame. Its part along the
    /// joint is the torque less the rotor's share. A fixed joint has none: its links are one body.
    #[doc(alias = "force torque sensor")]
    #[doc(alias = "joint wrench")]
    pub fn reaction(&self, joint: JointId) -> Result<Force<S>> {
        let given = &self.mechanism.joints()[self.mechanism.own_joint(joint)?];
        if given.kind.nv() == 0 {
            return Err(Error::Joint {
                joint: given.name.clone(),
                problem: "a fixed joint makes its links one body, so that no force across it is computed; give it a kind that moves".into(),
            });
        }
        let link = FrameId::from(self.mechanism.link(&given.child)?);
        let placed = &self.mechanism.placed[link.index()];
        Ok(match placed.body {
            Some(k) => placed.pose.inverse().lift().force_in(self.stages.force[k]),
            None => Force::ZERO,
        })
    }
}
