//! Operational space against dense definitions and its own laws.
#![allow(non_snake_case)]

mod support;

use linkwork::model::{FrameId, examples};
use linkwork::spatial::{Force, Motion};
use linkwork::workspace::Part;
use linkwork::{Mechanism, Reference};
use support::assert_close;
use support::dense::{Dense, REFERENCES};
use support::golden;
use support::library::{force, matrix, motion, named, six, vector};
use support::matrix::{Matrix, dot};
use support::random::{Random, State, random_state, random_tree, thousand};
use support::worst::Worst;

const TOLERANCE: f64 = 1e-13;
const GOLDEN: f64 = 1e-9;

#[test]
fn the_operational_inertia_inverse_is_golden() {
    let mut seen = 0;
    for file in golden::load_all() {
        for case in &file.cases {
            let mut workspace = file.mechanism.workspace();
            let mut posed = workspace.at(&case.q).unwrap();
            for tip in &case.tips {
                let link = file.mechanism.link(&tip.link).unwrap();
                let got = posed.operational_inertia_inverse(link, Reference::Local).unwrap();
                assert_close(&file.name, &six(got).data, &tip.osim_inverse_body.data, GOLDEN);
                seen += 1;
            }
        }
    }
    assert!(seen > 10);
}

/// All frames of a mechanism, by name.
fn frames(mechanism: &Mechanism) -> Vec<(String, FrameId)> {
    let links = mechanism.links().iter().map(|l| l.name.clone());
    let named = mechanism.frames().iter().map(|f| f.name.clone());
    let names = links.chain(named).chain(["world".to_owned()]);
    names.map(|n| (n.clone(), mechanism.frame(&n).unwrap())).collect()
}

#[test]
fn compliances_of_frames_are_as_defined() {
    let mut worst = Worst::new(TOLERANCE);
    let mut random = Random::new(5);
    for (_, mechanism, State { q, qd, .. }) in thousand().step_by(5) {
        let (dense, nv) = (Dense::new(&mechanism, &q, &qd), mechanism.nv());
        let inverse = dense.mass_matrix().inverse();
        let harm = 1.0 + 1e-3 * dense.mass_matrix().condition();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut all = frames(&mechanism);
        random.shuffle(&mut all);
        all.truncate(4);
        for reference in REFERENCES {
            let ids: Vec<FrameId> = all.iter().map(|f| f.1).collect();
            let mut J = Matrix::zeros(6 * all.len(), nv);
            for (i, (name, _)) in all.iter().enumerate() {
                J.set_block(6 * i, 0, &dense.jacobian(name, reference));
            }
            let expect = &J * &inverse * J.t();
            // Rounding is relative to the terms of the sum.
            let scale = inverse.norm() * J.max_abs().powi(2).max(1.0) * harm;
            let n = 6 * all.len();
            let got = matrix(n, n, |out| {
                posed.operational_inertias_inverse(&ids, named(reference), out)
            });
            assert_eq!(got, got.t());
            worst.check("several frames", mechanism.name(), &got.data, &expect.data, scale);
            for (i, &(_, frame)) in all.iter().enumerate() {
                let one = posed.operational_inertia_inverse(frame, named(reference)).unwrap();
                let expect = expect.block(6 * i, 6 * i, 6, 6);
                assert_eq!(six(one), six(one).t());
                worst.check("one frame", mechanism.name(), &six(one).data, &expect.data, scale);
                let f = random.numbers(6, 5.0);
                let pull = Force::from_array(core::array::from_fn(|i| f[i]));
                let got = vector(nv, |out| {
                    posed.acceleration_by_force(frame, named(reference), pull, out)
                });
                let expect = inverse.apply(&J.block(6 * i, 0, 6, nv).t().apply(&f));
                worst.check("by a force", mechanism.name(), &got, &expect, 5.0 * scale);
            }
        }
    }
}

fn random_motion(random: &mut Random) -> Motion {
    Motion::new(random.vector(1.0), random.vector(1.0))
}

#[test]
fn tasks_obey_the_operational_equations_of_motion() {
    let arm = examples::arm7();
    let tip = arm.frame("flange").unwrap();
    let mut random = Random::new(3);
    for seed in 0..20 {
        let State { q, qd, tau, .. } = random_state(&arm, seed);
        let dense = Dense::new(&arm, &q, &qd);
        let mut workspace = arm.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        for (reference, part) in [
            (Reference::Aligned, Part::All),
            (Reference::Local, Part::Linear),
            (Reference::World, Part::Angular),
        ] {
            let rows = match part {
                Part::All => 0..6,
                Part::Angular => 0..3,
                Part::Linear => 3..6,
            };
            let mut qdd = vec![0.0; 7];
            let x = {
                let seen = moving
                    .with_torques(&tau, &mut qdd)
                    .unwrap()
                    .acceleration(tip, reference)
                    .unwrap();
                motion(seen)
            };
            let mut task = moving.task(tip, reference, part, 0.0).unwrap();
            assert_eq!(task.rank(), rows.len());
            let tolerance = 1e-13 * task.condition().max(100.0);
            // Λẍ + μ + p = J̄*T, along the task's rows.
            let seen = Motion::from_array(core::array::from_fn(|i| if rows.contains(&i) { x[i] } else { 0.0 }));
            let (bias, gravity) = (task.bias().unwrap(), task.gravity().unwrap());
            let left = task.force_for(seen) + bias;
            let right = task.consistent_force(&tau).unwrap();
            assert_close("equation of motion", &force(left), &force(right), tolerance);
            // μ alone, in a world without gravity.
            let light = arm.with_gravity([0.0, 0.0, 0.0]).unwrap();
            let mut other = light.workspace();
            let mut other = other.at(&q).unwrap();
            let mut other = other.moving(&qd).unwrap();
            let expect = other
                .task(light.frame("flange").unwrap(), reference, part, 0.0)
                .unwrap()
                .bias()
                .unwrap();
            let mu = task.coriolis().unwrap();
            let size = force(gravity)
                .iter()
                .chain(&force(bias))
                .fold(0.0_f64, |m, x| m.max(x.abs()));
            support::assert_close_of("mu", &force(mu), &force(expect), size, tolerance);

            // J J̄ = I; the projectors see nothing.
            let wanted = random_motion(&mut random);
            task.dynamically_consistent_inverse(wanted, &mut qdd).unwrap();
            let name = match reference {
                Reference::World => support::dense::Reference::World,
                Reference::Local => support::dense::Reference::Local,
                Reference::Aligned => support::dense::Reference::Aligned,
            };
            let J = dense.jacobian("flange", name);
            let got = J.apply(&qdd);
            assert_close("J J̄", &got[rows.clone()], &motion(wanted)[rows.clone()], tolerance);
            let mut unseen = qd.clone();
            task.nullspace_motion(&mut unseen).unwrap();
            let left = J.apply(&unseen);
            assert!(
                left[rows.clone()].iter().all(|x| x.abs() < 100.0 * tolerance),
                "{left:?}"
            );
            let mut idle = tau.clone();
            task.nullspace_torque(&mut idle).unwrap();
            let moved = J.apply(&dense.mass_matrix().inverse().apply(&idle));
            assert!(
                moved[rows.clone()].iter().all(|x| x.abs() < 1e3 * tolerance),
                "{moved:?}"
            );
            let mut torques = vec![0.0; 7];
            let f = Force::new(random.vector(1.0), random.vector(1.0));
            task.torque(f, &mut torques).unwrap();
            let mut cut = [0.0; 6];
            cut[rows.clone()].copy_from_slice(&force(f)[rows.clone()]);
            assert_close("J*f", &torques, &J.t().apply(&cut), 1e-13);
        }
    }
}

#[test]
fn a_singular_arm_has_a_finite_operational_inertia() {
    let arm = examples::puma560();
    let tip = arm.frame("link6_dh").unwrap();
    // The wrist's first and last axes are in line.
    let q = [0.1, 0.7, 0.4, 0.3, 0.0, 0.2];
    let mut workspace = arm.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let task = posed.task(tip, Reference::Aligned, Part::All, 0.0).unwrap();
    assert!(task.rank() == 5 && task.condition() > 1e12 && task.condition().is_finite());
    let exact = *task.inertia();
    let damped = *posed.task(tip, Reference::Aligned, Part::All, 1e-3).unwrap().inertia();
    for (a, b) in exact.iter().flatten().zip(damped.iter().flatten()) {
        assert!(a.abs() < 1e4 && b.abs() < 1e4);
    }
    // Six directions are damped as if nothing moved there: Λ = 1/damping at most.
    let trace: f64 = (0..6).map(|i| damped[i][i]).sum();
    assert!((900.0..2100.0).contains(&trace), "{trace}");
    for bad in [-1.0, f64::NAN] {
        let text = posed.task(tip, Reference::Aligned, Part::All, bad).err().unwrap();
        let text = text.to_string();
        assert!(text.contains("damping is") && text.contains("not negative"), "{text}");
    }
    // Numbers that are none are refused by name.
    let mut task = posed.task(tip, Reference::Aligned, Part::Linear, 0.0).unwrap();
    let (mut six, none) = ([0.0; 6], [f64::NAN; 6]);
    let refused = [
        (
            task.dynamically_consistent_inverse(Motion::from_array(none), &mut six),
            "x is NaN",
        ),
        (task.torque(Force::from_array(none), &mut six), "force is NaN"),
        (task.nullspace_motion(&mut [0.0; 2]), "x has 2 numbers"),
        (task.nullspace_torque(&mut none.clone()), "tau[0]"),
    ];
    for (refused, words) in refused {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
    // The world cannot be accelerated at all.
    let still = posed.task(FrameId::WORLD, Reference::World, Part::All, 0.0).unwrap();
    assert_eq!((still.rank(), still.inertia()), (0, &[[0.0; 6]; 6]));
}

#[test]
fn compliance_is_power_per_squared_force() {
    // f*Λ⁻¹f is the power that a force f gains per unit of time from rest.
    for seed in 0..50 {
        let mechanism = random_tree(seed, 12);
        let State { q, .. } = random_state(&mechanism, seed);
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut random = Random::new(seed);
        let all = frames(&mechanism);
        let frame = all[random.below(all.len())].1;
        let f = random.numbers(6, 1.0);
        let compliance = six(posed.operational_inertia_inverse(frame, Reference::Aligned).unwrap());
        let pull = Force::from_array(core::array::from_fn(|i| f[i]));
        let nv = mechanism.nv();
        let qdd = vector(nv, |out| {
            posed.acceleration_by_force(frame, Reference::Aligned, pull, out)
        });
        let cost = dot(&qdd, &vector(nv, |out| posed.mass_times(&qdd, out)));
        let gain = dot(&f, &compliance.apply(&f));
        assert!((cost - gain).abs() <= 1e-10 * cost.abs().max(1e-9), "{cost} {gain}");
        assert!(gain >= -1e-12);
    }
}
