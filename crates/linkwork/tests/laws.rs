//! The laws of the algebra, as identities between the library's own results, on a thousand random trees.
#![allow(non_snake_case)]

mod support;

use linkwork::Reference;
use linkwork::model::JointKind;
use support::dense::Dense;
use support::dual::{along, constant, rate, rates, varied};
use support::library::{force, matrix, motion, pose, six, vector};
use support::matrix::{Matrix, dot};
use support::random::{State, thousand};
use support::rigid::{axes, force_in, inverse, spatial_inertia};
use support::scale::{forward_scale, inverse_scale};
use support::worst::Worst;

const TOLERANCE: f64 = 1e-12;

#[test]
fn forward_dynamics_undoes_inverse_dynamics() {
    let mut worst = Worst::new(TOLERANCE);
    for (_, mechanism, State { q, qd, qdd, tau }) in thousand() {
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let dense = Dense::new(&mechanism, &q, &qd);
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let torques = vector(nv, |out| moving.inverse_dynamics(&qdd, out));
        let back = vector(nv, |out| moving.forward_dynamics(&torques, out));
        let scale = forward_scale(&dense, &torques);
        worst.check("forward of inverse", name, &back, &qdd, scale);
        let found = vector(nv, |out| moving.forward_dynamics(&tau, out));
        let back = vector(nv, |out| moving.inverse_dynamics(&found, out));
        let scale = inverse_scale(&dense, &found);
        worst.check("inverse of forward", name, &back, &tau, scale);
    }
}

#[test]
fn the_inverse_of_the_mass_matrix_inverts_it() {
    let mut worst = Worst::new(TOLERANCE);
    for (_, mechanism, State { q, tau, .. }) in thousand() {
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mass = matrix(nv, nv, |out| posed.mass_matrix(out));
        let inverse = matrix(nv, nv, |out| posed.mass_matrix_inverse(out));
        let condition = mass.norm() * inverse.norm();
        let one = &mass * &inverse;
        worst.check("product", name, &one.data, &Matrix::identity(nv).data, condition);
        let x = vector(nv, |out| posed.inverse_mass_times(&tau, out));
        let size = inverse.norm() * 5.0;
        worst.check("column by column", name, &x, &inverse.apply(&tau), size);
        let back = vector(nv, |out| posed.mass_times(&x, out));
        worst.check("back and forth", name, &back, &tau, 5.0 * condition);
    }
}

/// M(k) = P(k) − Σ φ P⁺ φ*, D = HPH* + rotors and det 𝓜 = Π det D, with H read off the Jacobians.
#[test]
fn articulated_inertias_solve_the_riccati_equation() {
    let mut worst = Worst::new(TOLERANCE);
    for (_, mechanism, State { q, .. }) in thousand() {
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mass = matrix(nv, nv, |out| posed.mass_matrix(out));
        let harm = 1.0 + 1e-3 * mass.condition();
        let L = mass.cholesky().unwrap();
        let log_det: f64 = (0..nv).map(|i| 2.0 * L.at(i, i).ln()).sum();
        let found = posed.log_det_mass().unwrap();
        worst.check("log det", name, &[found], &[log_det], nv as f64 * harm);
        if mechanism.joints().iter().any(|j| j.kind == JointKind::Fixed) {
            continue;
        }
        let mut rest: Vec<Matrix> = Vec::new();
        for link in mechanism.links() {
            let id = mechanism.link(&link.name).unwrap();
            rest.push(six(posed.articulated_inertia(id).unwrap()));
        }
        let scale = rest.iter().map(Matrix::max_abs).fold(0.0, f64::max) * harm;
        let (P, mut sum_of_logs) = (rest.clone(), 0.0);
        for joint in mechanism.joints() {
            let (k, id) = (
                mechanism.link(&joint.child).unwrap(),
                mechanism.joint(&joint.name).unwrap(),
            );
            let (v, d) = (mechanism.v_range(id).unwrap(), joint.kind.nv());
            let J = matrix(6, nv, |out| posed.jacobian(k, Reference::Local, out));
            let H = J.block(0, v.start, 6, d).t();
            let rotors = Matrix::from_fn(d, d, |i, j| match (i == j, &joint.armature[..]) {
                (true, [one]) => *one,
                (true, each) if !each.is_empty() => each[i],
                _ => 0.0,
            });
            let D = &H * &P[k.index()] * H.t() + rotors;
            let got = matrix(d, d, |out| posed.joint_inertia(id, out));
            if !matches!(joint.kind, JointKind::Universal { .. }) {
                worst.check("D", name, &got.data, &D.data, D.max_abs() * harm);
            }
            let root = got.cholesky().unwrap();
            sum_of_logs += (0..d).map(|i| 2.0 * root.at(i, i).ln()).sum::<f64>();
            let HP = &H * &P[k.index()];
            let P_plus = &P[k.index()] - HP.t() * D.solve(&HP);
            if let Ok(p) = mechanism.link(&joint.parent) {
                let phi = force_in(&(inverse(&pose(posed.pose(p).unwrap())) * pose(posed.pose(k).unwrap())));
                rest[p.index()] = &rest[p.index()] - &phi * P_plus * phi.t();
            }
        }
        for (link, rest) in mechanism.links().iter().zip(&rest) {
            let own = spatial_inertia(&link.inertia);
            worst.check("M = P − Σ φP⁺φ*", name, &rest.data, &own.data, scale);
        }
        let logs = [sum_of_logs];
        worst.check("Π det D", name, &logs, &[found], nv as f64 * harm);
    }
}

#[test]
fn the_coriolis_matrix_keeps_energy() {
    let mut worst = Worst::new(TOLERANCE);
    for (_, mechanism, State { q, qd, .. }) in thousand() {
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mass = matrix(nv, nv, |out| posed.mass_matrix(out));
        let mut moving = posed.moving(&qd).unwrap();
        let C = matrix(nv, nv, |out| moving.coriolis_matrix(out));
        let mut dual = mechanism.workspace_of();
        let mut posed = dual.at(&along(&mechanism, &q, &qd)).unwrap();
        let mass_rate = rate(nv, nv, |out| posed.mass_matrix(out));
        let scale = mass.max_abs() + mass_rate.max_abs() + C.max_abs();
        // 𝓜̇ = C + C* is the same as 𝓜̇ − 2C = −(𝓜̇ − 2C)*.
        worst.check("𝓜̇ = C + C*", name, &(&C + C.t()).data, &mass_rate.data, scale);
        let coriolis = vector(nv, |out| moving.coriolis(out));
        worst.check("C q̇", name, &C.apply(&qd), &coriolis, scale * nv as f64);
        let gravity = vector(nv, |out| moving.gravity_torque(out));
        let sum: Vec<f64> = coriolis.iter().zip(gravity).map(|(c, g)| c + g).collect();
        let bias = vector(nv, |out| moving.bias(out));
        let size = inverse_scale(&Dense::new(&mechanism, &q, &qd), &vec![0.0; nv]);
        worst.check("bias", name, &bias, &sum, size);
        let kinetic = 0.5 * dot(&qd, &mass.apply(&qd));
        worst.check("½q̇*𝓜q̇", name, &[moving.kinetic_energy()], &[kinetic], kinetic);
    }
}

#[test]
fn momenta_are_their_matrices_times_the_velocity_and_change_at_their_rate() {
    let mut worst = Worst::new(TOLERANCE);
    for (_, mechanism, State { q, qd, .. }) in thousand() {
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mass = posed.mass();
        let A = matrix(6, nv, |out| posed.centroidal_matrix(out));
        let J = matrix(3, nv, |out| posed.com_jacobian(out));
        let mut moving = posed.moving(&qd).unwrap();
        let h = force(moving.centroidal_momentum());
        let size = A.norm() * nv as f64;
        worst.check("A q̇", name, &A.apply(&qd), &h, size);
        let linear = A.block(3, 0, 3, nv);
        worst.check("m J", name, &J.scale(mass).data, &linear.data, size);
        let A_rate = matrix(6, nv, |out| moving.centroidal_matrix_rate(out));
        let mut dual = mechanism.workspace_of();
        let mut posed = dual.at(&along(&mechanism, &q, &qd)).unwrap();
        let expect = rate(6, nv, |out| posed.centroidal_matrix(out));
        let scale = A.max_abs() + expect.max_abs();
        worst.check("Ȧ", name, &A_rate.data, &expect.data, scale);
        let com_rate = rates(&posed.com().to_array());
        worst.check("J q̇", name, &J.apply(&qd), &com_rate, J.norm() * nv as f64);
    }
}

#[test]
fn frames_move_as_their_poses_and_jacobians_change() {
    let mut worst = Worst::new(TOLERANCE);
    for (seed, mechanism, State { q, qd, qdd, .. }) in thousand() {
        let (nv, name) = (mechanism.nv(), mechanism.name());
        let mut workspace = mechanism.workspace();
        let mut dual = mechanism.workspace_of();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let mut varied_pose = dual.at(&along(&mechanism, &q, &qd)).unwrap();
        let mut varied_motion = varied_pose.moving(&varied(&qd, &qdd)).unwrap();
        let links = mechanism.links().iter().map(|l| &l.name);
        let frames: Vec<&String> = links.chain(mechanism.frames().iter().map(|f| &f.name)).collect();
        for i in 0..frames.len().min(4) {
            let frame = mechanism.frame(frames[(i * 7 + seed as usize) % frames.len()]).unwrap();
            let now = pose(moving.pose(frame).unwrap());
            let slope = varied_motion.pose(frame).unwrap();
            let turning = Matrix::from_fn(3, 3, |i, j| slope.rotation.to_rows()[i][j].derivative);
            let w = turning * axes(&now).t();
            let expect = [
                &[w.at(2, 1), w.at(0, 2), w.at(1, 0)][..],
                &rates(&slope.translation.to_array()),
            ];
            let got = motion(moving.velocity(frame, Reference::Aligned).unwrap());
            let J = matrix(6, nv, |out| moving.jacobian(frame, Reference::World, out));
            let reach = 1.0 + J.max_abs();
            worst.check("velocity", name, &got, &expect.concat(), reach * nv as f64);
            for reference in [Reference::World, Reference::Local, Reference::Aligned] {
                let J = matrix(6, nv, |out| moving.jacobian(frame, reference, out));
                let got = motion(moving.velocity(frame, reference).unwrap());
                worst.check("J q̇", name, &got, &J.apply(&qd), reach * nv as f64);
                let J_rate = matrix(6, nv, |out| moving.jacobian_rate(frame, reference, out));
                let expect = rate(6, nv, |out| varied_motion.jacobian(frame, reference, out));
                let scale = reach * (reach + expect.max_abs());
                worst.check("J̇", name, &J_rate.data, &expect.data, scale);
                let expect = rates(&varied_motion.velocity(frame, reference).unwrap().to_array());
                let got: Vec<f64> = (0..6).map(|i| dot(J.row(i), &qdd) + dot(J_rate.row(i), &qd)).collect();
                worst.check("Jq̈ + J̇q̇ is V̇", name, &got, &expect, scale * nv as f64);
                let mut torques = vec![0.0; nv];
                let accelerating = moving.with_accelerations(&qdd, &mut torques).unwrap();
                let found = motion(accelerating.acceleration(frame, reference).unwrap());
                worst.check("acceleration", name, &found, &expect, scale * nv as f64);
            }
        }
    }
}

#[test]
fn gravity_torque_is_the_gradient_of_potential_energy() {
    let mut worst = Worst::new(TOLERANCE);
    for (seed, mechanism, State { q, .. }) in thousand() {
        let nv = mechanism.nv();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let gravity = vector(nv, |out| posed.gravity_torque(out));
        let scale = inverse_scale(&Dense::new(&mechanism, &q, &vec![0.0; nv]), &vec![0.0; nv]);
        let mut dual = mechanism.workspace_of();
        for i in (0..nv).skip(seed as usize % 3).step_by(3) {
            let mut direction = vec![0.0; nv];
            direction[i] = 1.0;
            let mut posed = dual.at(&along(&mechanism, &q, &direction)).unwrap();
            let slope = [posed.potential_energy().derivative];
            worst.check("slope", mechanism.name(), &gravity[i..=i], &slope, scale);
        }
    }
}

#[test]
fn torques_do_the_work_that_becomes_energy() {
    let mut worst = Worst::new(TOLERANCE);
    for (_, mechanism, State { q, qd, tau, .. }) in thousand() {
        let nv = mechanism.nv();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let qdd = vector(nv, |out| moving.forward_dynamics(&tau, out));
        let mut dual = mechanism.workspace_of();
        let mut posed = dual.at(&along(&mechanism, &q, &qd)).unwrap();
        let potential = posed.potential_energy().derivative;
        let mut moving = posed.moving(&varied(&qd, &qdd)).unwrap();
        let kinetic = moving.kinetic_energy().derivative;
        let scale = inverse_scale(&Dense::new(&mechanism, &q, &qd), &qdd) * nv as f64;
        let (gain, work) = ([kinetic + potential], [dot(&tau, &qd)]);
        worst.check("power", mechanism.name(), &gain, &work, scale);
        // At rest in the same place, nothing changes.
        let mut posed = dual.at(&constant(&q)).unwrap();
        assert_eq!(posed.potential_energy().derivative, 0.0);
    }
}
