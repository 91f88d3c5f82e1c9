//! How operators change in time, along a simulated motion of revolute chains: each row of the table of derivatives, as
//! the links see it and in fixed axes.
#![allow(non_snake_case)]

mod support;

use linkwork::Mechanism;
use linkwork::algebra::{Operator, Operators, Typed};
use linkwork::scalar::Dual;
use linkwork::workspace::Scaling::Normalized;
use support::arm::general_arm;
use support::dual::along;
use support::matrix::Matrix;
use support::rigid::{crf, tilde};
use support::worst::Worst;

fn dense<R: Typed, D: Typed>(operator: &Operator<'_, R, D>) -> Matrix {
    let (columns, rows) = operator.sizes().unwrap();
    Matrix::from_slice(rows, columns, &operator.to_dense().unwrap())
}

/// Value and rate of an operator over dual numbers.
fn rate<R: Typed, D: Typed>(operator: &Operator<'_, R, D, Dual<f64>>) -> Matrix {
    let (columns, rows) = operator.sizes().unwrap();
    let numbers = operator.to_dense().unwrap();
    Matrix::from_fn(rows, columns, |i, j| numbers[i * columns + j].derivative)
}

/// 6×6 blocks on the diagonal.
fn diagonal(blocks: impl Iterator<Item = Matrix>) -> Matrix {
    let blocks: Vec<Matrix> = blocks.collect();
    let mut all = Matrix::zeros(6 * blocks.len(), 6 * blocks.len());
    for (k, block) in blocks.iter().enumerate() {
        all.set_block(6 * k, 6 * k, block);
    }
    all
}

/// A few states of a free fall.
fn flow(arm: &Mechanism) -> Vec<(Vec<f64>, Vec<f64>)> {
    let n = arm.nv();
    let (mut q, mut qd) = (vec![0.3; n], vec![0.7; n]);
    let mut states = Vec::new();
    for step in 0..60 {
        let qdd = arm.forward_dynamics(&q, &qd, &vec![0.0; n]).unwrap();
        let h = 0.002;
        for i in 0..n {
            qd[i] += h * qdd[i];
        }
        let by: Vec<f64> = qd.iter().map(|v| v * h).collect();
        let mut next = q.clone();
        arm.integrate(&q, &by, &mut next).unwrap();
        q = next;
        if step % 12 == 0 {
            states.push((q.clone(), qd.clone()));
        }
    }
    states
}

#[test]
fn operators_change_as_the_table_says() {
    let mut worst = Worst::new(1e-10);
    for n in [2, 4, 6] {
        let arm = general_arm(n);
        for (q, qd) in flow(&arm) {
            let mut workspace = arm.workspace();
            let mut posed = workspace.at(&q).unwrap();
            let velocities: Vec<Vec<f64>> = {
                let mut moving = posed.moving(&qd).unwrap();
                let each = arm.links().iter().map(|l| {
                    let frame = arm.frame(&l.name).unwrap();
                    moving
                        .velocity(frame, linkwork::Reference::Local)
                        .unwrap()
                        .to_array()
                        .to_vec()
                });
                each.collect()
            };
            let o = posed.operators(&[]).unwrap();
            let mut dual = arm.workspace_of::<Dual<f64>>();
            let mut moved = dual.at(&along(&arm, &q, &qd)).unwrap();
            let d: Operators<'_, '_, Dual<f64>> = moved.operators(&[]).unwrap();
            let (H, P, G, M, D) = (
                dense(&o.h()),
                dense(&o.p()),
                dense(&o.g()),
                dense(&o.m()),
                dense(&o.d()),
            );
            let (E_phi, E_psi, phi, tau_bar) = (
                dense(&o.e_phi()),
                dense(&o.e_psi()),
                dense(&o.phi()),
                dense(&o.tau_bar()),
            );
            let D_inv = D.inverse();
            // The joint's own rate, and the link's angular velocity.
            let own = H.t().apply(&qd);
            let spin = diagonal((0..n).map(|k| crf(&own[6 * k..6 * k + 6])));
            let Omega = diagonal((0..n).map(|k| {
                let w = tilde(&velocities[k][..3]);
                let mut both = Matrix::zeros(6, 6);
                both.set_block(0, 0, &w);
                both.set_block(3, 3, &w);
                both
            }));
            // λ̇ = E_ψλ̇E_ψ* + X + X*, X = Ω_δP.
            let X = &spin * &P;
            let source = &X + X.t();
            let mut lambda = source.clone();
            for _ in 0..n {
                lambda = &E_psi * &lambda * E_psi.t() + &source;
            }
            let P_rate = &E_psi * &lambda * E_psi.t();
            let G_rate = &tau_bar * &P_rate * H.t() * &D_inv;
            let name = arm.name();
            let mut check = |what: &'static str, got: &Matrix, expect: &Matrix| {
                let size = got.max_abs().max(expect.max_abs()).max(1.0);
                worst.check(what, name, &got.data, &expect.data, size);
            };
            let zero = |x: &Matrix| x.scale(0.0);
            let E_phi_rate = &E_phi * &spin;
            let E_psi_rate = &E_psi * (&spin * &tau_bar - &P_rate * H.t() * &D_inv * &H);
            let local = [
                ("E_φ", rate(&d.e_phi()), E_phi_rate.clone()),
                ("φ", rate(&d.phi()), &phi * &E_phi * &spin * &phi),
                ("H", rate(&d.h()), zero(&H)),
                ("M", rate(&d.m()), zero(&M)),
                ("P", rate(&d.p()), P_rate.clone()),
                ("D", rate(&d.d()), &H * &P_rate * H.t()),
                ("G", rate(&d.g()), G_rate.clone()),
                ("τ̄", rate(&d.tau_bar()), (&G_rate * &H).scale(-1.0)),
                ("E_ψ", rate(&d.e_psi()), E_psi_rate),
            ];
            for (what, got, expect) in &local {
                check(what, got, expect);
            }
            // In fixed axes the links' axes R turn too: Ṙ = R Ω̃, so that R X R* changes by R(Ẋ + ΩX − XΩ)R*.
            let added = [
                &Omega * &E_phi - &E_phi * &Omega,
                &phi * (&Omega * &E_phi - &E_phi * &Omega) * &phi,
                (&H * &Omega).scale(-1.0),
                &Omega * &M - &M * &Omega,
                &Omega * &P - &P * &Omega,
                zero(&D),
                &Omega * &G,
                &Omega * &tau_bar - &tau_bar * &Omega,
                &Omega * &E_psi - &E_psi * &Omega,
            ];
            let turned = |x: &Matrix| -> Matrix {
                // Which sides are link space decides which sides turn.
                let left = if x.rows == 6 * n {
                    Omega.clone()
                } else {
                    Matrix::zeros(x.rows, x.rows)
                };
                let right = if x.cols == 6 * n {
                    Omega.clone()
                } else {
                    Matrix::zeros(x.cols, x.cols)
                };
                &left * x - x * &right
            };
            for (x, expect) in [&E_phi, &phi, &H, &M, &P, &D, &G, &tau_bar, &E_psi]
                .into_iter()
                .zip(&added)
            {
                check("in fixed axes", &turned(x), expect);
            }
        }
    }
}

/// The sum in print for the skew matrix, D^-½HψPΩ_δψ*H*D^-½ as operators, is made of the joints' own rates alone. Where only
/// the joint at the base turns it is zero off the diagonal, and the matrix that gives 𝒞 = cν is not.
#[test]
fn own_rates_alone_do_not_make_the_skew_matrix() {
    let arm = general_arm(2);
    let (q, qd) = ([0.3, 1.1], [1.0, 0.0]);
    let mut workspace = arm.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let printed = {
        let o = posed.operators(&[]).unwrap();
        let (H, psi, P) = (dense(&o.h()), dense(&o.psi()), dense(&o.p()));
        let own = H.t().apply(&qd);
        let spin = diagonal((0..2).map(|k| crf(&own[6 * k..6 * k + 6])));
        &H * &psi * &P * &spin * psi.t() * H.t()
    };
    assert!(printed.at(0, 1).abs() < 1e-15 && printed.at(1, 0).abs() < 1e-15);
    let mut c = [0.0; 4];
    let mut moving = posed.moving(&qd).unwrap();
    moving.diagonal_coriolis_matrix(&mut c).unwrap();
    assert!(c[1].abs() > 0.05, "{c:?}");
    // And that matrix is right: cν and the terms of 𝒞 but for gravity.
    let (mut nu, mut terms) = ([0.0; 2], [0.0; 10]);
    moving.total_rates(Normalized, &qd, &mut nu).unwrap();
    moving.diagonal_coriolis_terms(Normalized, &mut terms).unwrap();
    for i in 0..2 {
        let expect: f64 = (0..4).map(|row| terms[2 * row + i]).sum();
        assert!((c[2 * i] * nu[0] + c[2 * i + 1] * nu[1] - expect).abs() < 1e-12);
    }
}
