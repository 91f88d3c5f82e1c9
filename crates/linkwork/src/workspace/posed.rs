//! What a configuration determines.

use super::{Moving, View, check_length};
use crate::dynamics::composite::{Composites, MassMatrix};
use crate::dynamics::inverse::{Gravity, MassTimes};
use crate::dynamics::inverse_mass::MassMatrixInverse;
use crate::dynamics::kinematics::{self, Columns, Placements, Reference};
use crate::dynamics::{centroidal, forward};
use crate::model::{FrameId, JointId, JointKind, LinkId, Mechanism};
use crate::operator::innovations::InverseMassTimes;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Pose, Vec3};
use crate::{Error, Result};

/// A mechanism at a configuration. Matrices are dense, row by row.
pub struct Posed<'w, 'm, S = f64> {
    pub(super) view: View<'w, 'm, S>,
}

/// A symmetric 6×6, rows angular first.
type SixBySix<S> = [[S; 6]; 6];

impl<'m, S: Scalar> Posed<'_, 'm, S> {
    /// The mechanism.
    pub fn mechanism(&self) -> &'m Mechanism {
        self.view.mechanism
    }

    /// Sets the velocity.
    pub fn moving(&mut self, qd: &[S]) -> Result<Moving<'_, 'm, S>> {
        self.view.mechanism.check_vector("qd", qd)?;
        let stages = &mut *self.view.stages;
        stages.qd.copy_from_slice(qd);
        stages.filled.rates = false;
        stages.filled.velocities = false;
        Ok(Moving {
            posed: Posed {
                view: View {
                    mechanism: self.view.mechanism,
                    stages,
                },
            },
        })
    }

    // Kinematics.

    /// Where a frame is in the world.
    pub fn pose(&mut self, frame: impl Into<FrameId>) -> Pose<S> {
        self.view.sweep::<Placements>(&[], &mut []);
        kinematics::pose(self.view.stages, &self.view.mechanism.placed[frame.into().0])
    }

    /// Where every link is in the world, in the order of [`Mechanism::links`].
    pub fn poses(&mut self, out: &mut [Pose<S>]) -> Result<()> {
        let placed = &self.view.mechanism.placed[1..=self.view.mechanism.links().len()];
        check_length("out", out.len(), placed.len())?;
        self.view.sweep::<Placements>(&[], &mut []);
        for (pose, link) in out.iter_mut().zip(placed) {
            *pose = kinematics::pose(self.view.stages, link);
        }
        Ok(())
    }

    /// The Jacobian of a frame, 6 × nv with rows [ω; v]: its velocity is J q̇.
    pub fn jacobian(&mut self, frame: impl Into<FrameId>, reference: Reference, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), 6 * self.view.nv())?;
        self.view.sweep::<Columns>(&[], &mut []);
        let m = self.view.mechanism;
        kinematics::jacobian(&m.compiled, self.view.stages, &m.placed[frame.into().0], reference, out);
        Ok(())
    }

    /// Computes the world motions of all joints, which every Jacobian is made of; a Jacobian does so by itself.
    pub fn prepare_jacobians(&mut self) {
        self.view.sweep::<Columns>(&[], &mut []);
    }

    /// The mass of all moving links; what is welded to the world does not count.
    pub fn mass(&self) -> f64 {
        self.view.mechanism.compiled.bodies.iter().map(|b| b.inertia.mass).sum()
    }

    /// The centre of mass of all moving links, in the world.
    pub fn com(&mut self) -> Vec3<S> {
        self.view.sweep::<Placements>(&[], &mut []);
        centroidal::mass_and_com(&self.view.mechanism.compiled, self.view.stages).1
    }

    /// The Jacobian of the centre of mass, 3 × nv.
    pub fn com_jacobian(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), 3 * self.view.nv())?;
        self.view.sweep::<centroidal::CompositesAtHome>(&[], &mut []);
        let mass = S::lift(self.mass());
        centroidal::com_jacobian(&self.view.mechanism.compiled, self.view.stages, mass, out);
        Ok(())
    }

    /// The centroidal momentum matrix A, 6 × nv: A q̇ is the momentum [angular; linear] about the centre of mass, in
    /// the world's axes.
    pub fn centroidal_matrix(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), 6 * self.view.nv())?;
        self.view.sweep::<centroidal::CompositesAtHome>(&[], &mut []);
        let com = self.com();
        centroidal::momentum_matrix(&self.view.mechanism.compiled, self.view.stages, com, out);
        Ok(())
    }

    /// The potential energy −Σ m g·c of all moving links in gravity. Springs are not in it.
    pub fn potential_energy(&mut self) -> S {
        self.view.sweep::<Placements>(&[], &mut []);
        centroidal::potential_energy(&self.view.mechanism.compiled, self.view.stages)
    }

    // Dynamics.

    /// Adds an external force on a frame's link, taken about and in the axes that `reference` says. It acts in everything
    /// that is computed from this view on; a new configuration starts without any.
    pub fn push(&mut self, frame: impl Into<FrameId>, reference: Reference, force: Force<S>) -> Result<()> {
        let m = self.view.mechanism;
        if let Some(x) = force.to_array().into_iter().find(|x| !x.is_finite()) {
            return Err(Error::Parameter {
                argument: "force",
                value: x.lane(0),
            });
        }
        let placed = &m.placed[frame.into().0];
        let Some(k) = placed.body else { return Ok(()) };
        self.view.sweep::<Placements>(&[], &mut []);
        let stages = &mut *self.view.stages;
        let at = kinematics::pose(stages, placed);
        let link = stages.world.poses[k];
        // First in the world's axes about the link's origin, then in the link's own.
        let (moment, force, about) = match reference {
            Reference::Local => (at.rotation * force.moment, at.rotation * force.force, at.translation),
            Reference::Aligned => (force.moment, force.force, at.translation),
            Reference::World => (force.moment, force.force, Vec3::ZERO),
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
    pub fn gravity_torque(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv())?;
        self.view.sweep::<Gravity>(&[], out);
        Ok(())
    }

    /// 𝓜, nv × nv.
    pub fn mass_matrix(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv() * self.view.nv())?;
        self.view.sweep::<MassMatrix>(&[], out);
        Ok(())
    }

    /// 𝓜⁻¹, nv × nv, directly.
    pub fn mass_matrix_inverse(&mut self, out: &mut [S]) -> Result<()> {
        check_length("out", out.len(), self.view.nv() * self.view.nv())?;
        self.view.sweep::<MassMatrixInverse>(&[], out);
        self.view.check_pivots()
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
        self.view.sweep::<forward::Gains>(&[], &mut []);
        self.view.check_pivots()?;
        Ok(self
            .view
            .stages
            .riccati
            .gains
            .iter()
            .map(|g| -g.d_inv.lane(0).ln())
            .sum())
    }

    /// r(k): the inertia of a link and everything outboard of it taken as one rigid body, in the link's frame.
    pub fn composite_inertia(&mut self, link: LinkId) -> SixBySix<S> {
        self.view.sweep::<Composites>(&[], &mut []);
        self.in_link_frame(link, |stages, k| Articulated::from(stages.composite[k]))
    }

    /// P(k): the inertia that a link shows when everything outboard of it is free to move, in the link's frame.
    pub fn articulated_inertia(&mut self, link: LinkId) -> Result<SixBySix<S>> {
        self.view.sweep::<forward::Articulation>(&[], &mut []);
        self.view.check_pivots()?;
        Ok(self.in_link_frame(link, |stages, k| stages.riccati.p[k]))
    }

    /// D of a joint, d × d: the inertia it works against, its own armature included. A universal joint is two revolute
    /// ones, and its D is diagonal.
    pub fn joint_inertia(&mut self, joint: JointId, out: &mut [S]) -> Result<()> {
        let range = self.view.mechanism.v_range(joint);
        let d = range.len();
        check_length("out", out.len(), d * d)?;
        self.view.sweep::<forward::Gains>(&[], &mut []);
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

    fn in_link_frame(
        &self,
        link: LinkId,
        inertia: impl FnOnce(&crate::stage::Stages<S>, usize) -> Articulated<S>,
    ) -> SixBySix<S> {
        let placed = &self.view.mechanism.placed[FrameId::from(link).0];
        match placed.body {
            Some(k) => inertia(self.view.stages, k)
                .through(&placed.pose.inverse().lift())
                .to_rows(),
            None => Articulated::ZERO.to_rows(),
        }
    }
}
