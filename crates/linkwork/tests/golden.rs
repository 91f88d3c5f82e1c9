//! Golden numbers: everything the library computes of them, to 1e-10.
#![allow(non_snake_case)]

mod support;

use linkwork::Reference;
use support::golden::{self, Case, Golden};
use support::library::{matrix, motion, pose, six, vector};
use support::matrix::Matrix;
use support::{assert_close, assert_close_of};

const GOLDEN: f64 = 1e-10;
const ENERGY: f64 = 1e-12;

/// Every file and case, with a function that compares numbers of a name.
fn each_case(check: impl Fn(&Golden, &Case, &dyn Fn(&str, &[f64]))) {
    for file in golden::load_all() {
        for (i, case) in file.cases.iter().enumerate() {
            let close = |name: &str, got: &[f64]| {
                let expect = case.expect.vector(name).unwrap();
                assert_close(&format!("{} case {i}: {name}", file.name), got, &expect, GOLDEN);
            };
            check(&file, case, &close);
        }
    }
}

/// The same for files that have matrices.
fn each_case_with_matrices(check: impl Fn(&Golden, &Case, &dyn Fn(&str, &Matrix, &Matrix))) {
    for file in golden::load_all() {
        for (i, case) in file.cases.iter().enumerate() {
            if case.expect.matrix("mass_matrix").is_none() {
                continue;
            }
            let close = |name: &str, got: &Matrix, expect: &Matrix| {
                assert_eq!((got.rows, got.cols), (expect.rows, expect.cols));
                let what = format!("{} case {i}: {name}", file.name);
                assert_close(&what, &got.data, &expect.data, GOLDEN);
            };
            check(&file, case, &close);
        }
    }
}

#[test]
fn torques_of_given_accelerations_are_golden() {
    each_case(|file, case, close| {
        let nv = file.mechanism.nv();
        let mut workspace = file.mechanism.workspace();
        let mut posed = workspace.at(&case.q).unwrap();
        close("gravity_torque", &vector(nv, |out| posed.gravity_torque(out)));
        let mut moving = posed.moving(&case.qd).unwrap();
        close("bias", &vector(nv, |out| moving.bias(out)));
        close(
            "inverse_dynamics",
            &vector(nv, |out| moving.inverse_dynamics(&case.qdd, out)),
        );
        close(
            "inverse_dynamics",
            &vector(nv, |out| moving.with_accelerations(&case.qdd, out).map(drop)),
        );
    });
}

#[test]
fn accelerations_of_given_torques_are_golden_by_every_algorithm() {
    each_case(|file, case, close| {
        let nv = file.mechanism.nv();
        let mut workspace = file.mechanism.workspace();
        // Each from a fresh stage, then all again on what the others left.
        for fresh in [true, false] {
            for algorithm in 0..5 {
                if fresh {
                    workspace = file.mechanism.workspace();
                }
                let mut posed = workspace.at(&case.q).unwrap();
                let mut moving = posed.moving(&case.qd).unwrap();
                let qdd = vector(nv, |out| match algorithm {
                    0 => moving.forward_dynamics(&case.tau, out),
                    1 => moving.forward_dynamics_bias_free(&case.tau, out),
                    2 => moving.forward_dynamics_biased(&case.tau, out),
                    3 => moving.with_torques(&case.tau, out).map(drop),
                    _ => moving.with_torques_bias_free(&case.tau, out).map(drop),
                });
                close("forward_dynamics", &qdd);
            }
        }
    });
}

#[test]
fn plain_functions_are_golden() {
    each_case(|file, case, close| {
        let (m, Case { q, qd, qdd, tau, .. }) = (&file.mechanism, case);
        close("inverse_dynamics", &m.inverse_dynamics(q, qd, qdd).unwrap());
        close("forward_dynamics", &m.forward_dynamics(q, qd, tau).unwrap());
        close("bias", &m.bias(q, qd).unwrap());
        close("gravity_torque", &m.gravity_torque(q).unwrap());
    });
    each_case_with_matrices(|file, case, close| {
        let (m, nv) = (&file.mechanism, file.mechanism.nv());
        let square = |x: Vec<f64>| Matrix::from_slice(nv, nv, &x);
        for (name, got) in [
            ("mass_matrix", m.mass_matrix(&case.q)),
            ("mass_matrix_inverse", m.mass_matrix_inverse(&case.q)),
        ] {
            close(name, &square(got.unwrap()), &case.expect.matrix(name).unwrap());
        }
    });
}

#[test]
fn energies_and_the_centre_of_mass_are_golden() {
    each_case(|file, case, close| {
        let mut workspace = file.mechanism.workspace();
        let mut posed = workspace.at(&case.q).unwrap();
        close("com", &posed.com().to_array());
        let energy = |name: &str, got: f64| {
            let expect = case.expect.number(name).unwrap();
            let what = format!("{} {name}", file.name);
            assert_close_of(&what, &[got], &[expect], expect.abs(), ENERGY);
        };
        energy("potential_energy", posed.potential_energy());
        let mut moving = posed.moving(&case.qd).unwrap();
        energy("kinetic_energy", moving.kinetic_energy());
    });
}

#[test]
fn mass_matrices_and_inertias_are_golden() {
    each_case_with_matrices(|file, case, close| {
        let (m, nv) = (&file.mechanism, file.mechanism.nv());
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&case.q).unwrap();
        let got = matrix(nv, nv, |out| posed.mass_matrix(out));
        close("mass_matrix", &got, &case.expect.matrix("mass_matrix").unwrap());
        let got = matrix(nv, nv, |out| posed.mass_matrix_inverse(out));
        close("inverse", &got, &case.expect.matrix("mass_matrix_inverse").unwrap());
        let per_link = |name| case.expect.matrices(name).unwrap();
        let (P, D, composite) = (per_link("P"), per_link("D"), per_link("composite"));
        for (k, link) in m.links().iter().enumerate() {
            let link = m.link(&link.name).unwrap();
            close("composite", &six(posed.composite_inertia(link).unwrap()), &composite[k]);
            close("P", &six(posed.articulated_inertia(link).unwrap()), &P[k]);
            let joint = m.joint(&format!("joint{k}")).unwrap();
            let d = m.v_range(joint).unwrap().len();
            close("D", &matrix(d, d, |out| posed.joint_inertia(joint, out)), &D[k]);
        }
        let log_det: f64 = D.iter().map(log_det).sum();
        assert_close("log det", &[posed.log_det_mass().unwrap()], &[log_det], GOLDEN);
    });
}

#[test]
fn velocities_poses_and_jacobians_are_golden() {
    each_case_with_matrices(|file, case, close| {
        let (m, nv) = (&file.mechanism, file.mechanism.nv());
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&case.q).unwrap();
        for tip in &case.tips {
            let link = m.link(&tip.link).unwrap();
            close("pose", &pose(posed.pose(link).unwrap()), &tip.pose);
            let J = matrix(6, nv, |out| posed.jacobian(link, Reference::Local, out));
            close("jacobian", &J, &tip.jacobian_body);
            // J𝓜⁻¹J*, a column at a time.
            let mut osim = Matrix::zeros(6, 6);
            for i in 0..6 {
                let column = vector(nv, |out| posed.inverse_mass_times(J.row(i), out));
                osim.set_block(0, i, &Matrix::column(&J.apply(&column)));
            }
            close("J inverse(M) J*", &osim, &tip.osim_inverse_body);
        }
        let mut moving = posed.moving(&case.qd).unwrap();
        for (link, V) in m.links().iter().zip(case.expect.vectors("V").unwrap()) {
            let got = moving.velocity(m.link(&link.name).unwrap(), Reference::Local).unwrap();
            close("V", &Matrix::column(&motion(got)), &Matrix::column(&V));
        }
    });
}

fn log_det(D: &Matrix) -> f64 {
    let L = D.cholesky().unwrap();
    (0..D.rows).map(|i| 2.0 * L.at(i, i).ln()).sum()
}
