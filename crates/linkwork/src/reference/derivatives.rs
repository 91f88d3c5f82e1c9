//! How torques and accelerations answer small changes of a state.

use super::joint::motions_change;
use super::{Link, forward_dynamics, links, mass_matrix_inverse, momentum};
use crate::Result;
use crate::model::Mechanism;
use crate::spatial::Motion;

/// δT: [`inverse_dynamics`](super::inverse_dynamics) differentiated line by line. A step δ = H*δq of a joint takes its link
/// along, so that what the link sees of its parent changes by · × δ, and what it hands in by φ(δ ×* ·).
///
/// ```text
/// δV = φ*δV(p) + φ*V(p) × δ + δ(H*q̇)
/// δα = φ*δα(p) + φ*α(p) × δ + δ(H*q̈ + Ḣ*q̇) + δV × H*q̇ + V × δ(H*q̇)
/// δf = Mδα + δV ×* MV + V ×* MδV + Σ φ(δf + δ ×* f)     δT = Hδf + δH f
/// ```
fn torque_change(links: &[Link], gravity: Motion, [qd, qdd]: [&[f64]; 2], [dq, dqd, dqdd]: [&[f64]; 3]) -> Vec<f64> {
    let world = [Motion::ZERO, gravity, Motion::ZERO, Motion::ZERO];
    let (mut moves, mut forces, mut tau) = (Vec::new(), Vec::new(), vec![0.0; qd.len()]);
    for link in links {
        // What H* x becomes as the joint makes one or two steps: zero but where joints turn their own axes.
        let turned = |x: &[f64], steps: &[&[f64]]| {
            let steps: Vec<_> = steps.iter().map(|step| &step[link.dofs.clone()]).collect();
            motions_change(&link.kind, &link.q, &x[link.dofs.clone()], &steps)
        };
        let (step, own) = (link.motion(dq), link.motion(qd));
        let [v_p, a_p, dv_p, da_p] = link.parent.map_or(world, |p| moves[p]).map(|x| link.pose.motion_out(x));
        let (v, own_change) = (v_p + own, link.motion(dqd) + turned(qd, &[dq]));
        let dv = dv_p + v_p.cross(step) + own_change;
        let a = a_p + link.motion(qdd) + link.turning + v.cross(own);
        let turning_change = turned(dqd, &[qd]) + turned(qd, &[dqd]) + turned(qd, &[qd, dq]);
        let own_change_too = link.motion(dqdd) + turned(qdd, &[dq]) + turning_change;
        let da = da_p + a_p.cross(step) + own_change_too + dv.cross(own) + v.cross(own_change);
        let (p, dp) = (momentum(&link.inertia, v), momentum(&link.inertia, dv));
        let f = momentum(&link.inertia, a) + v.cross_force(p);
        let df = momentum(&link.inertia, da) + dv.cross_force(p) + v.cross_force(dp);
        moves.push([v, a, dv, da]);
        forces.push((f, df));
    }
    for (k, link) in links.iter().enumerate().rev() {
        let (f, df) = forces[k];
        let mut one = vec![0.0; link.dofs.len()];
        for (i, dof) in link.dofs.clone().enumerate() {
            one[i] = 1.0;
            let turned = motions_change(&link.kind, &link.q, &one, &[&dq[link.dofs.clone()]]);
            tau[dof] = link.motions[i].dot(df) + turned.dot(f) + link.armature[i] * dqdd[dof];
            one[i] = 0.0;
        }
        if let Some(p) = link.parent {
            let change = df + link.motion(dq).cross_force(f);
            forces[p].0 += link.pose.force_in(f);
            forces[p].1 += link.pose.force_in(change);
        }
    }
    tau
}

/// ∂T/∂q, ∂T/∂q̇ and ∂T/∂q̈ = 𝓜, each nv × nv and row by row: δT for every unit step, column by column. Steps of q are taken as
/// [`Mechanism::integrate`] takes them.
pub fn inverse_derivatives(m: &Mechanism, q: &[f64], qd: &[f64], qdd: &[f64]) -> Result<[Vec<f64>; 3]> {
    m.check_vector("qdd", qdd)?;
    let (n, links) = (m.nv(), links(m, q, qd)?);
    let gravity = Motion::new([0.0; 3], -m.gravity());
    let mut all = [(); 3].map(|()| vec![0.0; n * n]);
    for (kind, matrix) in all.iter_mut().enumerate() {
        for j in 0..n {
            let mut steps = [(); 3].map(|()| vec![0.0; n]);
            steps[kind][j] = 1.0;
            let column = torque_change(&links, gravity, [qd, qdd], steps.each_ref().map(|x| &x[..]));
            for (i, x) in column.into_iter().enumerate() {
                matrix[i * n + j] = x;
            }
        }
    }
    Ok(all)
}

/// ∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂T = 𝓜⁻¹, each nv × nv and row by row. Torques that are given do not change: δT = ∂T/∂q δq + ∂T/∂q̇ δq̇ +
/// 𝓜δq̈ = 0.
///
/// ```text
/// ∂q̈/∂q = −𝓜⁻¹ ∂T/∂q     ∂q̈/∂q̇ = −𝓜⁻¹ ∂T/∂q̇
/// ```
pub fn forward_derivatives(m: &Mechanism, q: &[f64], qd: &[f64], tau: &[f64]) -> Result<[Vec<f64>; 3]> {
    let (n, qdd) = (m.nv(), forward_dynamics(m, q, qd, tau)?);
    let [by_q, by_qd, _] = inverse_derivatives(m, q, qd, &qdd)?;
    let inverse = mass_matrix_inverse(m, q)?;
    let against = |x: &[f64]| {
        let element = |i: usize, j: usize| -(0..n).map(|k| inverse[i * n + k] * x[k * n + j]).sum::<f64>();
        (0..n * n).map(|at| element(at / n, at % n)).collect()
    };
    Ok([against(&by_q), against(&by_qd), inverse])
}
