//! What a configuration determines.

use super::{Moving, View, check_length, check_six};
use crate::dynamics::composite::{ArticulatedOf, CompositeOf, MassMatrix};
use crate::dynamics::innovations::InverseMassTimes;
use crate::dynamics::inverse::{Gravity, MassTimes};
use crate::dynamics::kinematics::{Columns, JacobianOf, LinkPoses, PlaceOf, Placements};
use crate::dynamics::{centroidal, forward};
use crate::model::{FrameId, JointId, JointKind, LinkId, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::{Force, Pose, Reference, Rotation, Vec3};
use crate::{Error, Result};
use core::ops::{Deref, DerefMut};

/// A mechanism at a configuration: everything of [`Configured`], and [`Posed::moving`].
///
/// ```
/// use linkwork::Reference;
/// let arm = linkwork::model::examples::arm7();
/// let hand = arm.frame("flange")?;
/// let mut workspace = arm.workspace();
/// let mut posed = workspace.at(&[0.1; 7])?;
/// let mut jacobian = [0.0; 6 * 7];
/// posed.jacobian(hand, Reference::Aligned, &mut jacobian)?;
/// println!("the hand is at {:?}", posed.pose(hand)?.translation);
/// # Ok::<(), linkwork::Error>(())
/// ```
pub struct Posed<'w, S: 'static = f64>(pub(super) Configured<'w, S>);

/// What a configuration determines. Matrices are dense, row by row.
pub struct Configured<'w, S: 'static = f64> {
    pub(super) view: View<'w, S>,
}

impl<'w, S> Deref for Posed<'w, S> {
    type Target = Configured<'w, S>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<S> DerefMut for Posed<'_, S> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<S: Scalar> Posed<'_, S> {
    /// Sets the velocity.
    pub fn moving(&mut self, qd: &[S]) -> Result<Moving<'_, S>> {
        let view = &mut self.0.view;
        view.mechanism.check_vector("qd", qd)?;
        view.set_moving(qd);
        let view = View {
            stages: &mut *view.stages,
            ..*view
        };
        Ok(Moving {
            configured: Configured { view },
        })
    }
}

impl<'w, S: Scalar> Configured<'w, S> {
    /// Calls a function, compiled for what the processor has: fused products are no calls there.
    #[doc(hidden)]
    #[inline(always)]
    pub fn call<A, F: super::Function<A>>(&self, function: F, input: A) -> F::Out {
        self.view.instructions.call(function, input)
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &'w Mechanism {
        self.view.mechanism
    }

    // Kinematics.

    /// Where a frame is in the world.
    #[doc(alias = "forward kinematics")]
    #[doc(alias = "frame placement")]
    pub fn pose(&mut self, frame: impl Into<FrameId>) -> Result<Pose<S>> {
        Ok(self.pose_of(self.view.mechanism.own_frame(frame)?))
    }

    /// That of a frame known to be the mechanism's.
    pub(crate) fn pose_of(&mut self, frame: FrameId) -> Pose<S> {
        let [a, b, c, d, e, f, g, h, i, x, y, z] = self.view.numbers::<PlaceOf, 12>(frame, Reference::World);
        let rotation = Rotation {
            x: Vec3::new(a, b, c),
            y: Vec3::new(d, e, f),
            z: Vec3::new(g, h, i),
        };
        Pose::new(rotation, [x, y, z])
    }

    /// Where every link is in the world, in the order of [`Mechanism::links`].
    pub fn poses(&mut self) -> &[Pose<S>] {
        self.view.need::<LinkPoses>();
        &self.view.stages.world.links
    }

    /// The Jacobian of a frame, 6 × nv with rows [ω; v]: its velocity is J q̇.
    pub fn jacobian(&mut self, frame: impl Into<FrameId>, reference: Reference, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), 6 * self.view.nv())?;
        let frame = self.view.mechanism.own_frame(frame)?;
        self.view.sweep_at::<JacobianOf>(frame, reference, &[], out);
        Ok(())
    }

    /// Computes the world motions of all joints, which every Jacobian is made of; a Jacobian does so by itself.
    pub fn prepare_jacobians(&mut self) {
        self.view.need::<Columns>();
    }

    /// The mass of all moving links; what is welded to the world does not count.
    pub fn mass(&self) -> f64 {
        self.view
            .mechanism
            .compiled
            .bodies
            .iter()
            .fold(0.0, |sum, b| sum + b.inertia.mass)
    }

    /// The centre of mass of all moving links, in the world; the origin if they have no mass.
    #[doc(alias = "center of mass")]
    pub fn com(&mut self) -> Vec3<S> {
        self.view
            .numbers::<centroidal::CentreOfMass, 3>(FrameId::WORLD, Reference::World)
            .into()
    }

    /// The Jacobian of the centre of mass, 3 × nv.
    pub fn com_jacobian(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), 3 * self.view.nv())?;
        self.view.sweep::<centroidal::ComJacobian>(&[], out);
        Ok(())
    }

    /// The centroidal momentum matrix A, 6 × nv: A q̇ is the momentum [angular; linear] about the centre of mass, in
    /// the world's axes.
    #[doc(alias = "ccrba")]
    pub fn centroidal_matrix(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), 6 * self.view.nv())?;
        self.view.sweep::<centroidal::MomentumMatrix>(&[], out);
        Ok(())
    }

    /// The potential energy −Σ m g·c of all moving links in gravity. Springs are not in it.
    pub fn potential_energy(&mut self) -> S {
        let [energy] = self
            .view
            .numbers::<centroidal::PotentialEnergy, 1>(FrameId::WORLD, Reference::World);
        energy
    }

    // Dynamics.

    /// Adds an external force on a frame's link, taken about and in the axes that `reference` says. It acts in everything
    /// that is computed from this view on; a new configuration starts without any.
    #[doc(alias = "wrench")]
    #[doc(alias = "external force")]
    pub fn apply_force(&mut self, frame: impl Into<FrameId>, reference: Reference, force: Force<S>) -> Result<()> {
        let m = self.view.mechanism;
        check_six("force", force.to_array())?;
        let placed = &m.placed[m.own_frame(frame)?.index()];
        let Some(k) = placed.body else {
            // It moves nothing, but what carries the link feels it.
            self.view.stages.loaded = true;
            return Ok(());
        };
        self.view.need::<Placements>();
        let stages = &mut *self.view.stages;
        let (link, home) = (stages.world.poses[k], stages.world.homes[k]);
        // First in the world's axes about the link's origin, then in the link's own; places are seen from home.
        let at = link * placed.pose.lift();
        let (moment, force, about) = match reference {
            Reference::Local => (at.rotation * force.moment, at.rotation * force.force, at.translation),
            Reference::Aligned => (force.moment, force.force, at.translation),
            Reference::World => (force.moment, force.force, -home),
        };
        let moment = moment + (about - link.translation).cross(force);
        stages.loads[k] += Force {
            moment: link.rotation.inverse_mul(moment),
            force: link.rotation.inverse_mul(force),
        };
        stages.loaded = true;
        Ok(())
    }

    /// The torques that hold the mechanism still against gravity.
    #[doc(alias = "gravity compensation")]
    pub fn gravity_torque(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv())?;
        self.view.sweep::<Gravity>(&[], out);
        Ok(())
    }

    /// 𝓜, nv × nv.
    #[doc(alias = "crba")]
    #[doc(alias = "joint space inertia")]
    pub fn mass_matrix(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv() * self.view.nv())?;
        self.view.sweep::<MassMatrix>(&[], out);
        Ok(())
    }

    /// The elements of 𝓜 that are not zero, one of each symmetric pair, in the order of [`Mechanism::mass_pattern`].
    pub fn mass_matrix_entries(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.mechanism.mass_pattern_length())?;
        self.view.mass_entries(out);
        Ok(())
    }

    /// 𝓜⁻¹, nv × nv, directly.
    #[doc(alias = "minv")]
    pub fn mass_matrix_inverse(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv() * self.view.nv())?;
        self.view.mass_inverse(out);
        self.view.check_pivots()?;
        // Ratios of couplings may be so large that their squares are not.
        if self.view.mechanism.is_coupled() && out.iter().any(|x| !x.lane(0).is_finite()) {
            return Err(Error::Unsolved {
                what: "the inverse of the mass matrix",
                problem: "it is beyond all numbers; make the ratios of the couplings smaller".into(),
            });
        }
        Ok(())
    }

    /// 𝓜 x in O(N).
    pub fn mass_times(&mut self, x: &[S], out: &mut [S]) -> Result<()> {
        self.view.mechanism.check_vector("x", x)?;
        check_length("out", out.len(), self.view.nv())?;
        self.view.sweep::<MassTimes>(x, out);
        Ok(())
    }

    /// 𝓜⁻¹ x in O(N).
    pub fn inverse_mass_times(&mut self, x: &[S], out: &mut [S]) -> Result<()> {
        self.view.mechanism.check_vector("x", x)?;
        check_length("out", out.len(), self.view.nv())?;
        self.view.sweep::<InverseMassTimes>(x, out);
        self.view.check_pivots()
    }

    /// log det 𝓜 = Σ log D, in one sweep.
    pub fn log_det_mass(&mut self) -> Result<f64> {
        Ok(self.log_det()?.lane(0))
    }

    /// The same with the derivatives that the numbers carry.
    pub(crate) fn log_det(&mut self) -> Result<S> {
        if let Some(r) = &self.view.mechanism.compiled.reduction {
            return self.view.log_det_coupled(r);
        }
        self.view.need::<forward::Gains>();
        self.view.check_pivots()?;
        let gains = &self.view.stages.riccati.gains;
        Ok(gains.iter().fold(S::ZERO, |sum, g| sum - g.d_inv.ln()))
    }

    /// r(k): the inertia of a link and everything outboard of it taken as one rigid body, in the link's frame. Links
    /// that are welded together are one, and what is welded to the world has none.
    pub fn composite_inertia(&mut self, link: LinkId) -> Result<[[S; 6]; 6]> {
        let link = self.view.mechanism.own_frame(link)?;
        Ok(six_by_six(self.view.numbers::<CompositeOf, 36>(link, Reference::Local)))
    }

    /// P(k): the inertia that a link shows when everything outboard of it is free to move, in the link's frame. Links
    /// that are welded together are one, and what is welded to the world has none.
    pub fn articulated_inertia(&mut self, link: LinkId) -> Result<[[S; 6]; 6]> {
        let link = self.view.mechanism.own_frame(link)?;
        let mut numbers = [S::ZERO; 36];
        self.view.sweep_tree::<ArticulatedOf>(link, &[], &mut numbers)?;
        self.view.check_pivots()?;
        Ok(six_by_six(numbers))
    }

    /// D of a joint, d × d: the inertia it works against, its own armature included. A universal joint is two revolute
    /// ones, and its D is diagonal.
    pub fn joint_inertia(&mut self, joint: JointId, out: &mut [S]) -> Result<()> {
        let range = self.view.mechanism.v_range(joint)?;
        let d = range.len();
        check_length("out", out.len(), d * d)?;
        if self.view.mechanism.is_coupled() {
            return self.view.coupled_joint_inertia(range.start, d, out);
        }
        self.view.need::<forward::Gains>();
        self.view.check_pivots()?;
        let kind = &self.view.mechanism.joints()[joint.index()].kind;
        let gains = &self.view.stages.riccati.gains[range];
        out.fill(S::ZERO);
        if let JointKind::Universal { .. } = kind {
            for i in 0..d {
                out[i * d + i] = gains[i].d_inv.recip();
            }
            return Ok(());
        }
        // D = L diag(pivots) L*: G of each pivot holds its column of L.
        let axes = kind.axes();
        for (i, gain) in gains.iter().enumerate() {
            let pivot = gain.d_inv.recip();
            let column = |a: usize| match a.cmp(&i) {
                core::cmp::Ordering::Less => S::ZERO,
                core::cmp::Ordering::Equal => S::ONE,
                core::cmp::Ordering::Greater => gain.g[axes[a]],
            };
            for a in 0..d {
                for b in 0..d {
                    out[a * d + b] += column(a) * pivot * column(b);
                }
            }
        }
        Ok(())
    }
}

fn six_by_six<S: Scalar>(numbers: [S; 36]) -> [[S; 6]; 6] {
    core::array::from_fn(|i| core::array::from_fn(|j| numbers[6 * i + j]))
}
