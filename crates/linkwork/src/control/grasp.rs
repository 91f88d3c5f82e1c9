//! Several hands and one object: its motion and the forces inside it, controlled at once.

use super::operational::{FrameTarget, Posture, add_transposed, check_target};
use super::priority::{Priorities, damped_inverse, times, unit_means};
use super::{Controller, positive};
use crate::model::{FrameId, JointKind};
use crate::simulate::Now;
use crate::spatial::{Force, Motion, Pose, Reference, Vec3};
use crate::workspace::Moving;
use crate::{Error, Mechanism, Result};
use core::ops::Range;

/// Hands that hold an object, a free body of the same mechanism, to which constraints weld them.
///
/// The object goes where its target is. The wrench that it needs is shared among the hands, by their shares, and forces that
/// only squeeze are added: in the null space of the grasp, so that the object does not feel them. Each arm gets the torques of
/// its own motion and of its contact force, so that in a rigid grasp the constraints carry exactly those forces:
///
/// ```text
/// T = ID(q, q̇, q̈₀) + ΣJᵢ*(Λᵢ(aᵢ − a₀ᵢ) + fᵢ)      Σ Aᵢfᵢ = M_o a_o + b_o
/// ```
#[derive(Clone, Debug)]
pub struct Grasp {
    mechanism: Mechanism,
    object: FrameId,
    dofs: Range<usize>,
    /// Per hand: its frame, where it holds the object, and its share of the load.
    hands: Vec<FrameId>,
    holds: Vec<FrameId>,
    shares: Vec<f64>,
    /// Per hand: the force that it is to exert beyond its share, about where it holds and in the object's axes.
    internal: Vec<Force>,
    target: FrameTarget,
    quickness: f64,
    posture: Posture,
    priorities: Priorities,
    forces: Vec<Force>,
    jacobian: Vec<f64>,
    gravity: Vec<f64>,
}

/// Directions in which a hand can hardly move are released below this eigenvalue of Λ⁻¹, scaled to a mean of one.
const SINGULAR: f64 = 1e-8;

impl Grasp {
    /// An object by its link, and per hand its frame and the one on the object that it holds; the posture is for what is left
    /// to redundant arms. Motors must drive all joints but the object's.
    pub fn new(mechanism: &Mechanism, object: &str, hands: &[(&str, &str)], posture: &[f64]) -> Result<Self> {
        let link = mechanism.link(object)?;
        let wrong = |problem: String| Error::Unsolved {
            what: "a grasp",
            problem,
        };
        let joint = mechanism.joints().iter().position(|j| j.child == object);
        let joint = joint.filter(|&j| {
            let joint = &mechanism.joints()[j];
            joint.kind == JointKind::Free && joint.parent == "world"
        });
        let Some(joint) = joint else {
            return Err(wrong(format!(
                "`{object}` is not on a free joint of its own in the world; hold an object that is"
            )));
        };
        if hands.is_empty() {
            return Err(wrong("no hand is given; give the frames of at least one".to_owned()));
        }
        let dofs = mechanism.v_of(joint);
        mechanism.need_driven(|i| !dofs.contains(&i), "a grasp")?;
        let body = |frame: FrameId| mechanism.placed[frame.index()].body;
        let (mut own, mut held) = (Vec::new(), Vec::new());
        for (hand, hold) in hands {
            let (hand_frame, hold_frame) = (mechanism.frame(hand)?, mechanism.frame(hold)?);
            if body(hold_frame) != body(link.into()) {
                return Err(wrong(format!(
                    "`{hold}` is not on `{object}`; give a frame of the object for the hand `{hand}`"
                )));
            }
            own.push(hand_frame);
            held.push(hold_frame);
        }
        let pose = mechanism.workspace().at(posture)?.pose(link)?;
        Ok(Self {
            mechanism: mechanism.clone(),
            object: link.into(),
            dofs,
            shares: vec![1.0; own.len()],
            internal: vec![Force::ZERO; own.len()],
            forces: vec![Force::ZERO; own.len()],
            priorities: Priorities::new(vec![[true; 6]; own.len()]),
            hands: own,
            holds: held,
            target: FrameTarget::at(pose),
            quickness: 10.0,
            posture: Posture::new(mechanism, posture, 5.0)?,
            jacobian: vec![0.0; 6 * mechanism.nv()],
            gravity: vec![0.0; mechanism.nv()],
        })
    }

    /// How quick the object is, in rad/s; 10 at first.
    pub fn quickness(mut self, quickness: f64) -> Result<Self> {
        positive("quickness", &[quickness], 1)?;
        self.quickness = quickness;
        Ok(self)
    }

    /// How much of the load each hand takes beside the others; all 1 at first.
    pub fn shares(mut self, shares: &[f64]) -> Result<Self> {
        positive("shares", shares, self.hands.len())?;
        self.shares.copy_from_slice(shares);
        Ok(self)
    }

    /// Where the object is to be. At first where it was in the posture.
    pub fn set_target(&mut self, target: FrameTarget) -> Result<()> {
        check_target(&target)?;
        self.target = target;
        Ok(())
    }

    /// Forces [N; F] that hands are to exert beyond their share, about where they hold and in the object's axes. What of them
    /// would move the object is taken out.
    pub fn set_internal(&mut self, forces: &[Force]) -> Result<()> {
        crate::model::check_length("forces", self.hands.len(), forces.len())?;
        if let Some(value) = forces.iter().flat_map(|f| f.to_array()).find(|x| !x.is_finite()) {
            return Err(Error::Parameter {
                argument: "forces",
                value,
            });
        }
        self.internal.copy_from_slice(forces);
        Ok(())
    }

    /// Every hand presses towards the middle of all with so many newtons.
    pub fn squeeze(mut self, newtons: f64) -> Result<Self> {
        let places: Vec<Vec3> = self
            .holds
            .iter()
            .map(|f| self.mechanism.placed[f.index()].pose.translation)
            .collect();
        let middle = places.iter().fold(Vec3::ZERO, |sum, p| sum + *p) * (1.0 / places.len() as f64);
        let press = |p: &Vec3| {
            let inward = middle - *p;
            let norm = inward.norm().max(f64::MIN_POSITIVE);
            Force::new(Vec3::ZERO, inward * (newtons / norm))
        };
        let turn = self.mechanism.placed[self.object.index()].pose.rotation.inverse();
        let forces: Vec<Force> = places
            .iter()
            .map(press)
            .map(|f| Force::new(Vec3::ZERO, turn * f.force))
            .collect();
        self.set_internal(&forces)?;
        Ok(self)
    }

    /// The forces of the last call that hands exert on the object, about where they hold and in the world's axes.
    pub fn forces(&self) -> &[Force] {
        &self.forces
    }

    /// Shares a wrench, about the object's origin in the world's axes, among the hands: the least Σ|f|²/share beyond what is
    /// internal, lengths measured by how far the hands are.
    fn share(&mut self, object: &Pose, wrench: Force, moving: &mut Moving<'_>) {
        let arm = |frame: FrameId, moving: &mut Moving<'_>| moving.pose_of(frame).translation - object.translation;
        let total: f64 = self.shares.iter().sum();
        let mut square = 0.0;
        for hold in &self.holds {
            square += arm(*hold, moving).dot(arm(*hold, moving)) / self.holds.len() as f64;
        }
        let square = if square > 1e-12 { square } else { 1.0 };
        let (mut left, mut gram) = (wrench, [[0.0; 6]; 6]);
        for i in 0..self.holds.len() {
            let r = arm(self.holds[i], moving);
            let own = self.internal[i];
            let own = Force::new(object.rotation * own.moment, object.rotation * own.force);
            self.forces[i] = own;
            left -= Force::new(own.moment + r.cross(own.force), own.force);
            for c in 0..6 {
                let column = weighted(unit(c), r, self.shares[i] / total, square).to_array();
                for row in 0..6 {
                    gram[row][c] += column[row];
                }
            }
        }
        let (inverse, _) = damped_inverse(&gram, [true; 6], unit_means(&gram), 1e-12);
        let y = Force::from_array(times(&inverse, left.to_array()));
        for i in 0..self.holds.len() {
            let r = arm(self.holds[i], moving);
            self.forces[i] = self.forces[i] + spread(y, r, self.shares[i] / total, square);
        }
    }
}

fn unit(i: usize) -> Force {
    let mut x = [0.0; 6];
    x[i] = 1.0;
    Force::from_array(x)
}

/// WA*y: the share of a hand, r from the object's origin.
fn spread(y: Force, r: Vec3, share: f64, square: f64) -> Force {
    let turned = y.moment;
    Force::new(turned * (share * square), (y.force + turned.cross(r)) * share)
}

/// AWA*y.
fn weighted(y: Force, r: Vec3, share: f64, square: f64) -> Force {
    let f = spread(y, r, share, square);
    Force::new(f.moment + r.cross(f.force), f.force)
}

impl Controller for Grasp {
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        moving.mechanism().check_same(&self.mechanism, "controller")?;
        let (pose, velocity) = (
            moving.pose_of(self.object),
            moving.velocity_of(self.object, Reference::Aligned),
        );
        let w = self.quickness;
        let wanted = self.target.pull(&pose, velocity, w * w, 2.0 * w);
        self.posture.accelerations(&self.mechanism, now)?;
        // The rates of [ω; v] in the object's axes.
        let carried = wanted.linear - velocity.angular.cross(velocity.linear);
        let own = Motion::new(
            pose.rotation.inverse_mul(wanted.angular),
            pose.rotation.inverse_mul(carried),
        );
        self.posture.qdd[self.dofs.clone()].copy_from_slice(&own.to_array());
        let free = moving.with_accelerations(&self.posture.qdd, tau)?;
        let pairs = self.hands.iter().zip(&self.holds);
        for ((hand, hold), out) in pairs.zip(self.priorities.wanted.chunks_exact_mut(6)) {
            let missing =
                free.acceleration_of(*hold, Reference::Aligned) - free.acceleration_of(*hand, Reference::Aligned);
            out.copy_from_slice(&missing.to_array());
        }
        // What the object needs from outside, about its origin: the torques along its free joint.
        let mut need = [0.0; 6];
        need.copy_from_slice(&tau[self.dofs.clone()]);
        let need = Force::from_array(need);
        let wrench = Force::new(pose.rotation * need.moment, pose.rotation * need.force);
        self.share(&pose, wrench, moving);
        moving.operational_inertias_inverse(&self.hands, Reference::Aligned, &mut self.priorities.compliance)?;
        self.priorities.solve(SINGULAR);
        for i in 0..self.hands.len() {
            moving.jacobian(self.hands[i], Reference::Aligned, &mut self.jacobian)?;
            add_transposed(&self.jacobian, &self.priorities.wanted[6 * i..][..6], tau);
            add_transposed(&self.jacobian, &self.forces[i].to_array(), tau);
        }
        moving.gravity_torque(&mut self.gravity)?;
        tau.iter_mut().zip(&self.gravity).for_each(|(tau, g)| *tau -= g);
        tau[self.dofs.clone()].fill(0.0);
        Ok(())
    }
}
