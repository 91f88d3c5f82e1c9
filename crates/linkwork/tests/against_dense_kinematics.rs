//! Poses, velocities, Jacobians, momentum and energy against their dense definitions, on a thousand random trees.
#![allow(non_snake_case)]

mod support;

use support::dense::{Dense, REFERENCES};
use support::library::{force, matrix, motion, named, pose, vector};
use support::matrix::Matrix;
use support::random::{State, thousand};
use support::rigid::{axes, origin};
use support::worst::Worst;

const TOLERANCE: f64 = 1e-13;

/// How far, how fast and how hard a mechanism moves: what rounding is relative to.
struct Extent {
    reach: f64,
    speed: f64,
    acceleration: f64,
    mass: f64,
}

impl Extent {
    fn of(dense: &Dense, qdd: &[f64]) -> Self {
        let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let reach = 1.0 + dense.world.iter().map(|x| largest(&origin(x))).fold(0.0, f64::max);
        let speed = 1.0 + largest(&dense.V);
        let pull = largest(&dense.accelerations(qdd)) + largest(&dense.gravity);
        Self {
            reach,
            speed,
            acceleration: pull + speed * speed,
            mass: dense.mass().max(f64::MIN_POSITIVE),
        }
    }
}

/// A few frames of a large mechanism, all of a small one.
fn some(dense: &Dense, seed: u64) -> impl Iterator<Item = &str> {
    let all = dense.frames.len();
    let step = all.div_ceil(13);
    let names = dense.frames.iter().map(|f| f.0.as_str());
    names.skip(seed as usize % step).step_by(step)
}

#[test]
fn frames_are_and_move_as_defined() {
    let mut worst = Worst::new(TOLERANCE);
    for (seed, mechanism, State { q, qd, .. }) in thousand() {
        let (dense, nv) = (Dense::new(&mechanism, &q, &qd), mechanism.nv());
        let Extent { reach, speed, .. } = Extent::of(&dense, &qd);
        let mut check = |what, got: &[f64], expect: &[f64], scale| {
            worst.check(what, mechanism.name(), got, expect, scale);
        };
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut poses = vec![Default::default(); mechanism.links().len()];
        poses.copy_from_slice(posed.poses());
        for (k, of_link) in poses.into_iter().enumerate() {
            let (got, expect) = (pose(of_link), &dense.world[k]);
            check("axes", &axes(&got).data, &axes(expect).data, 1.0);
            check("origin", &origin(&got), &origin(expect), reach);
        }
        for name in some(&dense, seed) {
            let frame = mechanism.frame(name).unwrap();
            let (got, expect) = (pose(posed.pose(frame).unwrap()), dense.pose(name));
            check("axes", &axes(&got).data, &axes(&expect).data, 1.0);
            check("origin", &origin(&got), &origin(&expect), reach);
            for reference in REFERENCES {
                let got = matrix(6, nv, |out| posed.jacobian(frame, named(reference), out));
                let expect = dense.jacobian(name, reference);
                check("jacobian", &got.data, &expect.data, reach);
            }
        }
        let mut moving = posed.moving(&qd).unwrap();
        for name in some(&dense, seed) {
            let frame = mechanism.frame(name).unwrap();
            for reference in REFERENCES {
                let got = motion(moving.velocity(frame, named(reference)).unwrap());
                check("velocity", &got, &dense.velocity(name, reference), reach * speed);
            }
        }
    }
}

#[test]
fn jacobians_change_and_frames_accelerate_as_defined() {
    let mut worst = Worst::new(TOLERANCE);
    for (seed, mechanism, State { q, qd, qdd, tau }) in thousand() {
        let (dense, nv) = (Dense::new(&mechanism, &q, &qd), mechanism.nv());
        let extent = Extent::of(&dense, &qdd);
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        // For large mechanisms one frame in thirteen, each in one reference.
        let few = mechanism.links().len() > 12;
        let sample: Vec<_> = some(&dense, seed)
            .flat_map(|name| REFERENCES.map(|r| (name, r)))
            .enumerate()
            .filter(|(i, _)| !few || (i + seed as usize).is_multiple_of(6))
            .map(|(_, x)| x)
            .collect();
        for &(name, reference) in &sample {
            let frame = mechanism.frame(name).unwrap();
            let got = matrix(6, nv, |out| moving.jacobian_rate(frame, named(reference), out));
            let expect = dense.jacobian_rate(name, reference);
            let scale = extent.reach * extent.speed;
            worst.check("jacobian rate", mechanism.name(), &got.data, &expect.data, scale);
        }
        let mut torques = vec![0.0; nv];
        let mut check = |what, accelerating: linkwork::workspace::Accelerating, qdd: &[f64], scale: f64| {
            for &(name, reference) in &sample {
                let frame = mechanism.frame(name).unwrap();
                let got = motion(accelerating.acceleration(frame, named(reference)).unwrap());
                let expect = dense.acceleration(name, reference, qdd);
                worst.check(what, mechanism.name(), &got, &expect, extent.reach * scale);
            }
        };
        let accelerating = moving.with_accelerations(&qdd, &mut torques).unwrap();
        check("acceleration", accelerating, &qdd, extent.acceleration);
        // Driven by torques, at the accelerations that the library itself found for them.
        for bias_free in [false, true] {
            let mut found = vec![0.0; nv];
            let of_torques = vector(nv, |out| moving.forward_dynamics(&tau, out));
            let scale = Extent::of(&dense, &of_torques).acceleration;
            if bias_free {
                let driven = moving.with_torques_bias_free(&tau, &mut found).unwrap();
                check("acceleration, bias-free", driven, &of_torques, scale);
            } else {
                let driven = moving.with_torques(&tau, &mut found).unwrap();
                check("acceleration, driven", driven, &of_torques, scale);
            }
        }
    }
}

#[test]
fn momentum_and_energy_are_as_defined() {
    let mut worst = Worst::new(TOLERANCE);
    for (_, mechanism, State { q, qd, .. }) in thousand() {
        let (dense, nv) = (Dense::new(&mechanism, &q, &qd), mechanism.nv());
        let extent = Extent::of(&dense, &qd);
        let Extent { reach, speed, mass, .. } = extent;
        let mut check = |what, got: &[f64], expect: &[f64], scale| {
            worst.check(what, mechanism.name(), got, expect, scale);
        };
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        check("mass", &[posed.mass()], &[dense.mass()], mass);
        check("com", &posed.com().to_array(), &dense.com(), reach);
        let got = matrix(3, nv, |out| posed.com_jacobian(out));
        check("com jacobian", &got.data, &dense.com_jacobian().data, reach);
        let A = dense.centroidal();
        let got = matrix(6, nv, |out| posed.centroidal_matrix(out));
        check("centroidal matrix", &got.data, &A.data, mass * reach * reach);
        let weight = mass * dense.gravity.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        let potential = [posed.potential_energy()];
        check(
            "potential energy",
            &potential,
            &[dense.potential_energy()],
            weight * reach,
        );

        let mut moving = posed.moving(&qd).unwrap();
        let kinetic = dense.kinetic_energy();
        check("kinetic energy", &[moving.kinetic_energy()], &[kinetic], kinetic);
        let (scale, h) = (mass * reach * speed, A.apply(&qd));
        check("centroidal momentum", &force(moving.centroidal_momentum()), &h, scale);
        // About the world's origin: the momentum passes through the centre of mass.
        let lever = Matrix::column(&support::rigid::tilde(&dense.com()).apply(&h[3..]));
        let about = Matrix::column(&h[..3]) + lever;
        let expect = [about.data, h[3..].to_vec()].concat();
        check("momentum", &force(moving.momentum()), &expect, scale * reach);
        let got = matrix(6, nv, |out| moving.centroidal_matrix_rate(out));
        let expect = dense.centroidal_rate();
        check("centroidal rate", &got.data, &expect.data, mass * reach * reach * speed);
    }
}
