//! What configuration, velocity and acceleration determine.

use super::{View, Workspace};
use crate::Result;
use crate::dynamics::kinematics;
use crate::model::{FrameId, JointId, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Pose, Reference};

/// An accelerating mechanism: every link's acceleration and the force across every joint are known.
///
/// ```
/// let arm = linkwork::model::examples::arm7();
/// let mut workspace = arm.workspace();
/// let mut posed = workspace.at(&[0.1; 7])?;
/// let mut moving = posed.moving(&[0.0; 7])?;
/// let mut tau = [0.0; 7];
/// let accelerating = moving.with_accelerations(&[0.0; 7], &mut tau)?; // at rest: tau holds the arm
/// let force = accelerating.reaction(arm.joint("joint1")?)?; // across the first joint, from the base
/// assert!(force.force.norm() > 100.0); // the weight of the arm
/// # Ok::<(), linkwork::Error>(())
/// ```
pub struct Accelerating<'w, S: 'static = f64> {
    mechanism: &'w Mechanism,
    stages: &'w crate::stage::Stages<S>,
}

impl<S: Scalar> Workspace<S> {
    /// The accelerations that were last worked out here.
    pub(crate) fn accelerating(&mut self) -> Accelerating<'_, S> {
        Accelerating {
            mechanism: &self.mechanism,
            stages: &self.stages,
        }
    }
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

    /// The velocity of a frame.
    pub fn velocity(&self, frame: impl Into<FrameId>, reference: Reference) -> Result<Motion<S>> {
        let frame = self.mechanism.own_frame(frame)?;
        Ok(kinematics::velocity(
            self.stages,
            &self.mechanism.placed[frame.index()],
            reference,
        ))
    }

    /// The pose of a frame in the world.
    pub fn pose(&self, frame: impl Into<FrameId>) -> Result<Pose<S>> {
        let frame = self.mechanism.own_frame(frame)?;
        Ok(self.stages.world.frame(&self.mechanism.placed[frame.index()]))
    }

    /// That of a frame known to be the mechanism's.
    pub(crate) fn acceleration_of(&self, frame: FrameId, reference: Reference) -> Motion<S> {
        let base = -self.mechanism.compiled.gravity.lift();
        kinematics::acceleration(self.stages, &self.mechanism.placed[frame.index()], base, reference)
    }

    /// The force that a joint exerts on its child link, about and in the axes of that link's frame. Its part along the
    /// joint is the torque less the rotor's share.
    ///
    /// A fixed joint carries what moves the links that are welded to its child, and what these carry on; it is an error if
    /// forces from outside act on that body, whose links share them.
    #[doc(alias = "force torque sensor")]
    #[doc(alias = "joint wrench")]
    pub fn reaction(&self, joint: JointId) -> Result<Force<S>> {
        let joint = self.mechanism.own_joint(joint)?;
        if self.mechanism.joints()[joint].kind.nv() > 0 {
            return self.across_moving(joint);
        }
        self.check_unpushed(joint)?;
        self.across_weld(joint, &|_| Force::ZERO)
    }

    pub(super) fn across_moving(&self, joint: usize) -> Result<Force<S>> {
        let given = &self.mechanism.joints()[joint];
        let link = FrameId::from(self.mechanism.link(&given.child)?);
        let placed = &self.mechanism.placed[link.index()];
        Ok(match placed.body {
            Some(k) => placed.pose.inverse().lift().force_in(self.stages.force[k]),
            None => Force::ZERO,
        })
    }

    pub(super) fn mechanism(&self) -> &'w Mechanism {
        self.mechanism
    }

    pub(super) fn stages(&self) -> &'w crate::stage::Stages<S> {
        self.stages
    }
}
