//! What links show when all outboard of them is free: forward dynamics and 𝓜⁻¹.

use super::matrix::{Six, solve};
use super::{Link, links, momentum};
use crate::Result;
use crate::model::Mechanism;
use crate::spatial::{Force, Motion};

/// A joint that gives way: P of its link, PH*, and D = HPH*.
struct Pivot {
    shown: Six,
    columns: Vec<Force>,
    d: Vec<Vec<f64>>,
}

/// Inward, what every link shows when all outboard is free.
///
/// ```text
/// P = M + Σ φP⁺φ*     D = HPH*     P⁺ = P − PH* D⁻¹ HP
/// ```
fn articulate(links: &[Link]) -> Result<Vec<Pivot>> {
    let mut shown: Vec<Six> = links.iter().map(|link| Six::of(&link.inertia)).collect();
    let mut pivots = Vec::with_capacity(links.len());
    for (k, link) in links.iter().enumerate().rev() {
        let columns: Vec<Force> = link.motions.iter().map(|motion| shown[k].times(*motion)).collect();
        let mut d: Vec<Vec<f64>> = link
            .motions
            .iter()
            .map(|h| columns.iter().map(|column| h.dot(*column)).collect())
            .collect();
        for (i, rotor) in link.armature.iter().enumerate() {
            d[i][i] += rotor;
        }
        if let Some(p) = link.parent {
            shown[p] = shown[p].plus(&shown[k].less(&columns, &d)?.seen_through(&link.pose));
        }
        let shown = shown[k].clone();
        pivots.push(Pivot { shown, columns, d });
    }
    pivots.reverse();
    Ok(pivots)
}

/// Inward, the torques that nothing outboard answers; outward, accelerations.
///
/// ```text
/// z = Pa + b + Σ φz⁺     ε = T − Hz     z⁺ = z + PH* D⁻¹ε
/// D q̈ = ε − HPα⁺     α⁺ = φ*α(p)     α = α⁺ + H*q̈ + a
/// ```
fn accelerate(
    links: &[Link],
    pivots: &[Pivot],
    (a, mut z): (&[Motion], Vec<Force>),
    world: Motion,
    tau: &[f64],
) -> Result<Vec<f64>> {
    let (mut eps, mut qdd) = (tau.to_vec(), vec![0.0; tau.len()]);
    for (k, (link, pivot)) in links.iter().zip(pivots).enumerate().rev() {
        z[k] += pivot.shown.times(a[k]);
        for (dof, h) in link.dofs.clone().zip(&link.motions) {
            eps[dof] -= h.dot(z[k]);
        }
        if let Some(p) = link.parent {
            let x = solve(&pivot.d, &eps[link.dofs.clone()])?;
            let plus = x
                .iter()
                .zip(&pivot.columns)
                .fold(z[k], |sum, (x, column)| sum + *column * *x);
            z[p] += link.pose.force_in(plus);
        }
    }
    let mut alpha: Vec<Motion> = Vec::with_capacity(links.len());
    for (k, (link, pivot)) in links.iter().zip(pivots).enumerate() {
        let carried = link.pose.motion_out(link.parent.map_or(world, |p| alpha[p]));
        for (dof, column) in link.dofs.clone().zip(&pivot.columns) {
            eps[dof] -= carried.dot(*column);
        }
        qdd[link.dofs.clone()].copy_from_slice(&solve(&pivot.d, &eps[link.dofs.clone()])?);
        alpha.push(carried + link.motion(&qdd) + a[k]);
    }
    Ok(qdd)
}

/// q̈. Outward, velocities V and what they cause, a = Ḣ*q̇ + V × H*q̇ and b = V ×* MV; inward, articulated bodies; outward,
/// accelerations.
pub fn forward_dynamics(m: &Mechanism, q: &[f64], qd: &[f64], tau: &[f64]) -> Result<Vec<f64>> {
    m.check_vector("tau", tau)?;
    let links = links(m, q, qd)?;
    let (mut velocity, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new());
    for link in &links {
        let own = link.motion(qd);
        let v = link.pose.motion_out(link.parent.map_or(Motion::ZERO, |p| velocity[p])) + own;
        velocity.push(v);
        a.push(link.turning + v.cross(own));
        b.push(v.cross_force(momentum(&link.inertia, v)));
    }
    let world = Motion::new([0.0; 3], -m.gravity());
    accelerate(&links, &articulate(&links)?, (&a, b), world, tau)
}

/// 𝓜⁻¹, row by row: column j is q̈ at rest and without gravity, where the j-th torque is one and the others are zero.
///
/// ```text
/// 𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK)
/// ```
pub fn mass_matrix_inverse(m: &Mechanism, q: &[f64]) -> Result<Vec<f64>> {
    let n = m.nv();
    let links = links(m, q, &vec![0.0; n])?;
    let (pivots, still) = (articulate(&links)?, vec![Motion::ZERO; links.len()]);
    let mut inverse = vec![0.0; n * n];
    for j in 0..n {
        let mut one = vec![0.0; n];
        one[j] = 1.0;
        let unloaded = vec![Force::ZERO; links.len()];
        let column = accelerate(&links, &pivots, (&still, unloaded), Motion::ZERO, &one)?;
        for (i, x) in column.into_iter().enumerate() {
            inverse[i * n + j] = x;
        }
    }
    Ok(inverse)
}
