//! The linearization as an operator, and its adjoint, in O(n): Algorithms 1 and 5.
//!
//! ```text
//! δT = ∂T/∂q δq + ∂T/∂q̇ δq̇ + 𝓜 δq̈            δq̈ = 𝓜⁻¹(δT − ∂T/∂q δq − ∂T/∂q̇ δq̇)
//! ```

use crate::dynamics::innovations;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Motion, Vec3};
use crate::stage::Stages;
use crate::stage::linear::{FORCE, H, LANES, Linear, PSI, PSI_RATE, Scratch, TWICE};
use crate::sweep::{At, Known, Sweep, algorithm, known};

/// (δq, δq̇, δq̈) → δT. Outward ϑ = ϑ(p) + Ψδq + H*δq̇ and γ = γ(p) + Ψ̇δq + (Ψ + Ḣ)δq̇ + H*δq̈; inward
/// ρ = Mγ + 2M̂ϑ + Σ ρ(c) and δT = Hρ, then crf(H*)f δq joins ρ.
pub(crate) struct TorqueChange;
/// y → (∂T/∂q)*y, (∂T/∂q̇)*y and 𝓜y. Outward η = η(p) + H*y; inward sums of Mη and 2M̂*η.
pub(crate) struct TorqueAdjoint;
/// (δq, δq̇, δT) → δq̈.
pub(crate) struct AccelerationChange;
/// y → (∂q̈/∂q)*y, (∂q̈/∂q̇)*y and 𝓜⁻¹y.
pub(crate) struct AccelerationAdjoint;

/// [`TorqueAdjoint`] about the accelerations that are given.
pub(crate) const TORQUE_ADJOINT: Known = known!(
    ("torque_adjoint", "(∂T)*x", "(∂T/∂q)*x, (∂T/∂q̇)*x and 𝓜x, in O(n)"),
    ["rnea_vjp"], [Q, Qd, Qdd, X] -> [Of(3), Nv]
);

/// [`AccelerationAdjoint`] about the accelerations that torques cause.
pub(crate) const ACCELERATION_ADJOINT: Known = known!(
    ("acceleration_adjoint", "(∂q̈)*x", "(∂q̈/∂q)*x, (∂q̈/∂q̇)*x and 𝓜⁻¹x, in O(n)"),
    ["aba_vjp"], [Q, Qd, Tau, X] -> [Of(3), Nv]
);

algorithm! {
    TorqueChange: Plain;
    TorqueAdjoint: Plain;
    AccelerationChange: Plain;
    AccelerationAdjoint: Plain;
}

impl<S: Scalar> Sweep<S> for TorqueChange {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, change: &[S], out: &mut [S]) {
        let (dq, rest) = change.split_at(m.nv);
        let (dqd, dqdd) = rest.split_at(m.nv);
        torque_change(m, &mut s.linear, [dq, dqd], Some(dqdd), out);
    }
}

impl<S: Scalar> Sweep<S> for TorqueAdjoint {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, y: &[S], out: &mut [S]) {
        torque_adjoint(m, &mut s.linear, y, out);
    }
}

impl<S: Scalar> Sweep<S> for AccelerationChange {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, change: &[S], out: &mut [S]) {
        s.need_gains(m);
        let (dq, rest) = change.split_at(m.nv);
        let (dqd, dtau) = rest.split_at(m.nv);
        torque_change(m, &mut s.linear, [dq, dqd], None, &mut s.scratch.dofs);
        for (x, dtau) in s.scratch.dofs.iter_mut().zip(dtau) {
            *x = *dtau - *x;
        }
        innovations::inward::<S, SPECIAL>(
            m,
            &s.joints,
            &s.riccati.gains,
            &mut s.scratch.waiting,
            &s.scratch.dofs,
            &mut s.scratch.eps,
        );
        innovations::outward::<S, SPECIAL>(
            m,
            &s.joints,
            &s.riccati.gains,
            &s.scratch.eps,
            &mut s.scratch.lambda,
            out,
        );
    }
}

impl<S: Scalar> Sweep<S> for AccelerationAdjoint {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, y: &[S], out: &mut [S]) {
        s.need_gains(m);
        innovations::inward::<S, SPECIAL>(
            m,
            &s.joints,
            &s.riccati.gains,
            &mut s.scratch.waiting,
            y,
            &mut s.scratch.eps,
        );
        innovations::outward::<S, SPECIAL>(
            m,
            &s.joints,
            &s.riccati.gains,
            &s.scratch.eps,
            &mut s.scratch.lambda,
            &mut s.scratch.dofs,
        );
        torque_adjoint(m, &mut s.linear, &s.scratch.dofs, out);
        // 𝓜𝓜⁻¹y is y: in its place goes 𝓜⁻¹y.
        let (changes, by_tau) = out.split_at_mut(2 * m.nv);
        for x in changes {
            *x = -*x;
        }
        by_tau.copy_from_slice(&s.scratch.dofs);
    }
}

#[inline(always)]
fn torque_change<S: Scalar>(
    m: &Compiled,
    linear: &mut Linear<S>,
    [dq, dqd]: [&[S]; 2],
    dqdd: Option<&[S]>,
    out: &mut [S],
) {
    let n = m.bodies.len();
    let Linear {
        columns,
        subtrees,
        own,
        scratch: Scratch { changes, forces, .. },
        ..
    } = linear;
    for k in 0..n {
        let body = &m.bodies[k];
        let (mut theta, mut gamma) = match body.parent {
            Some(p) => changes[p],
            None => (Vec3::ZERO, Motion::ZERO),
        };
        for i in 0..body.dofs {
            let (c, v) = (m.columns.single.start[k] + i, body.v + i);
            let (block, l) = (&columns[c / LANES], c % LANES);
            // 2M̂ reads the angular half of ϑ alone.
            theta = block
                .three(PSI, l)
                .mul_add(dq[v], block.three(H, l).mul_add(dqd[v], theta));
            gamma = block.motion(PSI_RATE, l).mul_add(dq[v], gamma);
            gamma = block.motion(TWICE, l).mul_add(dqd[v], gamma);
            if let Some(dqdd) = dqdd {
                gamma = block.motion(H, l).mul_add(dqdd[v], gamma);
            }
        }
        changes[k] = (theta, gamma);
        let terms = own[k / LANES].terms(k % LANES);
        forces[k] = terms.inertia.times(gamma) + terms.gyro(theta);
    }
    for k in (0..n).rev() {
        let body = &m.bodies[k];
        let rho = forces[k];
        let mut turned = rho;
        for i in 0..body.dofs {
            let (c, v) = (m.columns.single.start[k] + i, body.v + i);
            let h = columns[c / LANES].motion(H, c % LANES);
            out[v] = h.dot(rho);
            if body.parent.is_some() {
                let force = subtrees[c / LANES].force(FORCE, c % LANES);
                turned = h.cross_force(force).mul_add(dq[v], turned);
            }
        }
        if let Some(p) = body.parent {
            forces[p] += turned;
        }
    }
    if let (true, Some(dqdd)) = (m.has_armature, dqdd) {
        for i in 0..m.nv {
            out[i] = S::lift(m.armature[i]).mul_add(dqdd[i], out[i]);
        }
    }
}

#[inline(always)]
fn torque_adjoint<S: Scalar>(m: &Compiled, linear: &mut Linear<S>, y: &[S], out: &mut [S]) {
    let n = m.bodies.len();
    let (by_q, rest) = out.split_at_mut(m.nv);
    let (by_qd, by_qdd) = rest.split_at_mut(m.nv);
    let Linear {
        columns,
        subtrees,
        own,
        scratch: Scratch { changes, forces, .. },
        ..
    } = linear;
    for k in 0..n {
        let body = &m.bodies[k];
        let mut eta = match body.parent {
            Some(p) => changes[p].1,
            None => Motion::ZERO,
        };
        for i in 0..body.dofs {
            let c = m.columns.single.start[k] + i;
            eta = columns[c / LANES].motion(H, c % LANES).mul_add(y[body.v + i], eta);
        }
        changes[k].1 = eta;
    }
    for k in 0..n {
        let eta = changes[k].1;
        let terms = own[k / LANES].terms(k % LANES);
        changes[k].0 = terms.gyro_adjoint(eta);
        forces[k] = terms.inertia.times(eta);
    }
    for k in (0..n).rev() {
        let body = &m.bodies[k];
        // Sums over the subtree: of 2M̂*η, whose linear half is zero, and of Mη.
        let (gyro, momentum) = (changes[k].0, forces[k]);
        let eta_p = match body.parent {
            Some(p) => {
                changes[p].0 += gyro;
                forces[p] += momentum;
                changes[p].1
            }
            None => Motion::ZERO,
        };
        for i in 0..body.dofs {
            let (c, v) = (m.columns.single.start[k] + i, body.v + i);
            let (block, l) = (&columns[c / LANES], c % LANES);
            let h = block.motion(H, l);
            let turned = h.cross_force(subtrees[c / LANES].force(FORCE, l));
            let along = block.motion(PSI_RATE, l).dot(momentum) + block.three(PSI, l).dot(gyro);
            by_q[v] = along + eta_p.dot(turned);
            by_qd[v] = block.motion(TWICE, l).dot(momentum) + h.angular.dot(gyro);
            by_qdd[v] = h.dot(momentum);
        }
    }
    if m.has_armature {
        for i in 0..m.nv {
            by_qdd[i] = S::lift(m.armature[i]).mul_add(y[i], by_qdd[i]);
        }
    }
}
