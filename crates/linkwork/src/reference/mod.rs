//! The classical algorithms as a textbook writes them: read these first.
//!
//! Each is a loop or three over the links, in the links' own frames, with plain vectors and 6 × 6 matrices: nothing is shared,
//! packed or planned. The library's own sweeps compute the same, many times as fast, and tests compare the two.
//!
//! | | library |
//! |---|---|
//! | [`link_poses`], forward kinematics | [`Configured::pose`](crate::workspace::Configured::pose) |
//! | [`jacobian`], geometric Jacobian | [`Configured::jacobian`](crate::workspace::Configured::jacobian) |
//! | [`inverse_dynamics`], recursive Newton–Euler | [`Moving::inverse_dynamics`](crate::workspace::Moving::inverse_dynamics) |
//! | [`mass_matrix`], composite bodies | [`Configured::mass_matrix`](crate::workspace::Configured::mass_matrix) |
//! | [`forward_dynamics`], articulated bodies | [`Moving::forward_dynamics`](crate::workspace::Moving::forward_dynamics) |
//! | [`mass_matrix_inverse`], unit torques on articulated bodies | [`Configured::mass_matrix_inverse`](crate::workspace::Configured::mass_matrix_inverse) |
//! | [`inverse_derivatives`], Newton–Euler line by line | [`Linearized::inverse_derivatives`](crate::workspace::Linearized::inverse_derivatives) |
//! | [`forward_derivatives`], −𝓜⁻¹ times these | [`Linearized::forward_derivatives`](crate::workspace::Linearized::forward_derivatives) |
//!
//! ```
//! use linkwork::{model::examples, reference};
//! let arm = examples::puma560();
//! let (q, qd, tau) = ([0.3; 6], [0.1; 6], [1.0; 6]);
//! let (textbook, library) = (reference::forward_dynamics(&arm, &q, &qd, &tau)?, arm.forward_dynamics(&q, &qd, &tau)?);
//! assert!(textbook.iter().zip(&library).all(|(a, b)| (a - b).abs() < 1e-9));
//! # Ok::<(), linkwork::Error>(())
//! ```

mod articulated;
mod derivatives;
mod joint;
mod matrix;

pub use articulated::{forward_dynamics, mass_matrix_inverse};
pub use derivatives::{forward_derivatives, inverse_derivatives};

use crate::Result;
use crate::model::{JointKind, LinkId, Mechanism};
use crate::spatial::{Force, Inertia, Motion, Pose, Vec3};
use core::ops::Range;
use joint::{motions, motions_change};
use matrix::Six;

/// A link on its joint, at a state.
struct Link {
    /// Its place among the mechanism's links.
    index: usize,
    /// The link that carries it, by its place among these; none for the world.
    parent: Option<usize>,
    /// Its frame, seen from the parent's.
    pose: Pose,
    inertia: Inertia,
    kind: JointKind,
    /// Of the joint.
    q: Vec<f64>,
    /// The columns of H*: the motions that the joint allows, in the link's frame.
    motions: Vec<Motion>,
    /// Ḣ*q̇, as the link sees it.
    turning: Motion,
    /// Where the joint's coordinates are in v.
    dofs: Range<usize>,
    armature: Vec<f64>,
}

impl Link {
    /// H*x.
    fn motion(&self, x: &[f64]) -> Motion {
        let own = x[self.dofs.clone()].iter().zip(&self.motions);
        own.fold(Motion::ZERO, |sum, (x, motion)| sum + *motion * *x)
    }
}

/// All links, each after the one that carries it.
fn links(m: &Mechanism, q: &[f64], qd: &[f64]) -> Result<Vec<Link>> {
    m.refuse_coupled("textbook algorithms")?;
    m.check_configuration("q", q)?;
    m.check_vector("qd", qd)?;
    let (mut links, mut place) = (Vec::new(), vec![None; m.links().len()]);
    let mut waiting: Vec<_> = m.layout().collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        waiting.retain(|(joint, own, dofs)| {
            let parent = m.link(&joint.parent).ok().map(|id| place[id.index()]);
            // The world, or a link whose turn has come.
            let (Some(Some(_)) | None) = parent else { return true };
            let child = m.link(&joint.child).map_or(0, |id| id.index());
            place[child] = Some(links.len());
            let (at, rate) = (&q[own.clone()], &qd[dofs.clone()]);
            links.push(Link {
                index: child,
                parent: parent.flatten(),
                pose: joint.origin * joint.kind.pose(at),
                inertia: m.links()[child].inertia,
                kind: joint.kind,
                q: at.to_vec(),
                motions: motions(&joint.kind, at),
                turning: motions_change(&joint.kind, at, rate, &[rate]),
                dofs: dofs.clone(),
                armature: crate::model::per_dof(&joint.armature, dofs.len(), 0.0),
            });
            false
        });
        debug_assert!(waiting.len() < before, "a checked mechanism has no rings");
    }
    Ok(links)
}

/// MV: the momentum of a body that moves with V.
fn momentum(body: &Inertia, v: Motion) -> Force {
    let ([xx, xy, xz, yy, yz, zz], w) = (body.moments, v.angular);
    let spin = Vec3::new(
        xx * w.x + xy * w.y + xz * w.z,
        xy * w.x + yy * w.y + yz * w.z,
        xz * w.x + yz * w.y + zz * w.z,
    );
    let force = (v.linear + w.cross(body.com)) * body.mass;
    Force::new(spin + body.com.cross(force), force)
}

/// Where every link is in the world, in the order of the mechanism's links. Outward, T(k) = T(p) · the joint's place and motion.
pub fn link_poses(m: &Mechanism, q: &[f64]) -> Result<Vec<Pose>> {
    let mut poses = vec![Pose::IDENTITY; m.links().len()];
    let links = links(m, q, &vec![0.0; m.nv()])?;
    for link in &links {
        let carried = link.parent.map_or(Pose::IDENTITY, |p| poses[links[p].index]);
        poses[link.index] = carried * link.pose;
    }
    Ok(poses)
}

/// J of a link, 6 × nv, row by row, [ω; v] in the link's own axes and at its origin. On the way to the world, the motion that
/// every joint gives the link: J(j) = φ*(k, j) H*(j).
pub fn jacobian(m: &Mechanism, q: &[f64], link: LinkId) -> Result<Vec<f64>> {
    m.own_frame(link)?;
    let (n, k) = (m.nv(), link.index());
    let links = links(m, q, &vec![0.0; n])?;
    let mut jacobian = vec![0.0; 6 * n];
    let (mut at, mut seen) = (links.iter().position(|link| link.index == k), Pose::IDENTITY);
    while let Some(j) = at {
        for (dof, motion) in links[j].dofs.clone().zip(&links[j].motions) {
            for (row, x) in seen.motion_out(*motion).to_array().into_iter().enumerate() {
                jacobian[row * n + dof] = x;
            }
        }
        seen = links[j].pose * seen;
        at = links[j].parent;
    }
    Ok(jacobian)
}

/// T = 𝓜q̈ + C. Outward, velocities and accelerations; inward, forces.
///
/// ```text
/// V(k) = φ*V(p) + H*q̇     α(k) = φ*α(p) + H*q̈ + Ḣ*q̇ + V × H*q̇     f(k) = Mα + V ×* MV + Σ φf     T(k) = H f
/// ```
///
/// That the world accelerates upwards is gravity.
pub fn inverse_dynamics(m: &Mechanism, q: &[f64], qd: &[f64], qdd: &[f64]) -> Result<Vec<f64>> {
    m.check_vector("qdd", qdd)?;
    let (links, mut tau) = (links(m, q, qd)?, vec![0.0; m.nv()]);
    let world = (Motion::ZERO, Motion::new([0.0; 3], -m.gravity()));
    let (mut moves, mut forces) = (Vec::with_capacity(links.len()), Vec::with_capacity(links.len()));
    for link in &links {
        let (carried, accelerated) = link.parent.map_or(world, |p| moves[p]);
        let own = link.motion(qd);
        let v = link.pose.motion_out(carried) + own;
        let a = link.pose.motion_out(accelerated) + link.motion(qdd) + link.turning + v.cross(own);
        forces.push(momentum(&link.inertia, a) + v.cross_force(momentum(&link.inertia, v)));
        moves.push((v, a));
    }
    for (k, link) in links.iter().enumerate().rev() {
        for ((dof, motion), rotor) in link.dofs.clone().zip(&link.motions).zip(&link.armature) {
            tau[dof] = motion.dot(forces[k]) + rotor * qdd[dof];
        }
        if let Some(p) = link.parent {
            forces[p] = forces[p] + link.pose.force_in(forces[k]);
        }
    }
    Ok(tau)
}

/// 𝓜, row by row. Inward, the inertia of everything outboard as one body; then every joint's column on its way to the world.
///
/// ```text
/// r(k) = M(k) + Σ φ r φ*     𝓜(k, k) = H r H*     𝓜(j, k) = H(j) φ(j, k) r(k) H*(k)
/// ```
pub fn mass_matrix(m: &Mechanism, q: &[f64]) -> Result<Vec<f64>> {
    let (n, links) = (m.nv(), links(m, q, &vec![0.0; m.nv()])?);
    let mut composite: Vec<Six> = links.iter().map(|link| Six::of(&link.inertia)).collect();
    let mut mass = vec![0.0; n * n];
    for (k, link) in links.iter().enumerate().rev() {
        for (dof, motion) in link.dofs.clone().zip(&link.motions) {
            let mut force = composite[k].times(*motion);
            let mut at = Some(k);
            while let Some(j) = at {
                for (other, motion) in links[j].dofs.clone().zip(&links[j].motions) {
                    mass[other * n + dof] = motion.dot(force);
                    mass[dof * n + other] = motion.dot(force);
                }
                force = links[j].pose.force_in(force);
                at = links[j].parent;
            }
        }
        for (dof, rotor) in link.dofs.clone().zip(&link.armature) {
            mass[dof * n + dof] += rotor;
        }
        if let Some(p) = link.parent {
            composite[p] = composite[p].plus(&composite[k].seen_through(&link.pose));
        }
    }
    Ok(mass)
}
