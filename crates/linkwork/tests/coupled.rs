//! Joints that follow others, in every algorithm, against R of the dense definitions.
#![allow(non_snake_case)]

mod support;

use linkwork::model::{Coupling, FrameId, Joint, JointKind, Link, examples};
use linkwork::simulate::{Dynamics, Integrator, RungeKutta4, State as Now};
use linkwork::spatial::{Force, Inertia, Pose};
use linkwork::{Mechanism, Reference};
use support::coupled::{Case, cases};
use support::dense::{Dense, REFERENCES, plus};
use support::library::{matrix, motion, named, six, vector};
use support::matrix::dot;
use support::random::Random;
use support::{assert_close, error_of};

#[test]
fn masses_jacobians_and_momenta_are_reduced() {
    let (mut tested, mut curved) = (0, 0);
    for Case {
        coupled,
        y,
        yd,
        R,
        R_rate,
        dense,
        ..
    } in cases()
    {
        let nv = coupled.nv();
        let mut workspace = coupled.workspace();
        let mut posed = workspace.at(&y).unwrap();
        let mass = R.t() * dense.mass_matrix() * &R;
        let name = coupled.name();
        let condition = mass.condition().max(10.0);
        assert_close(
            name,
            &matrix(nv, nv, |out| posed.mass_matrix(out)).data,
            &mass.data,
            1e-12,
        );
        let got = matrix(nv, nv, |out| posed.mass_matrix_inverse(out));
        assert_close(name, &got.data, &mass.inverse().data, 1e-13 * condition);
        assert_eq!(got, got.t());
        assert_close(
            name,
            &vector(nv, |out| posed.mass_times(&yd, out)),
            &mass.apply(&yd),
            1e-11,
        );
        let got = vector(nv, |out| posed.inverse_mass_times(&yd, out));
        assert_close(name, &got, &mass.inverse().apply(&yd), 1e-12 * condition);
        let L = mass.cholesky().unwrap();
        let log_det: f64 = (0..nv).map(|i| 2.0 * L.at(i, i).ln()).sum();
        assert!((posed.log_det_mass().unwrap() - log_det).abs() < 1e-9 * (1.0 + log_det.abs()));

        let link = coupled.links().last().unwrap().name.clone();
        let frame = coupled.frame(&link).unwrap();
        for reference in REFERENCES {
            let J = dense.jacobian(&link, reference) * &R;
            let got = matrix(6, nv, |out| posed.jacobian(frame, named(reference), out));
            assert_close(name, &got.data, &J.data, 1e-12);
            let expect = &J * mass.inverse() * J.t();
            let got = six(posed.operational_inertia_inverse(frame, named(reference)).unwrap());
            let size = expect.max_abs().max(1e-6);
            assert!(error_of(&got.data, &expect.data, size) < 1e-12 * condition);
            let f = [0.3, -0.2, 0.5, 1.0, 0.1, -0.7];
            let got = vector(nv, |out| {
                posed.acceleration_by_force(frame, named(reference), Force::from_array(f), out)
            });
            let expect = mass.inverse().apply(&J.t().apply(&f));
            assert_close(name, &got, &expect, 1e-12 * condition);
        }
        let com = matrix(3, nv, |out| posed.com_jacobian(out));
        assert_close(name, &com.data, &(dense.com_jacobian() * &R).data, 1e-11);
        let got = matrix(6, nv, |out| posed.centroidal_matrix(out));
        assert_close(name, &got.data, &(dense.centroidal() * &R).data, 1e-11);

        let mut moving = posed.moving(&yd).unwrap();
        for reference in REFERENCES {
            let rate = dense.jacobian_rate(&link, reference) * &R + dense.jacobian(&link, reference) * &R_rate;
            let got = matrix(6, nv, |out| moving.jacobian_rate(frame, named(reference), out));
            assert!(error_of(&got.data, &rate.data, rate.max_abs().max(1.0)) < 1e-11);
            let v = motion(moving.velocity(frame, named(reference)).unwrap());
            assert!(
                error_of(
                    &v,
                    &dense.velocity(&link, reference),
                    1.0 + dense.V.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
                ) < 1e-12
            );
        }
        let rate = dense.centroidal_rate() * &R + dense.centroidal() * &R_rate;
        let got = matrix(6, nv, |out| moving.centroidal_matrix_rate(out));
        assert!(error_of(&got.data, &rate.data, rate.max_abs().max(1.0)) < 1e-10);
        assert_close(name, &[moving.kinetic_energy()], &[dense.kinetic_energy()], 1e-12);
        tested += 1;
        curved += usize::from(R_rate.max_abs() > 0.0);
    }
    assert!(tested > 100 && curved > 15, "{tested} {curved}");
}

#[test]
fn dynamics_are_reduced() {
    let mut random = Random::new(8);
    for Case {
        coupled,
        y,
        yd,
        R,
        R_rate,
        dense,
        ..
    } in cases()
    {
        let (nv, name) = (coupled.nv(), coupled.name());
        let (tau, ydd) = (random.numbers(nv, 5.0), random.numbers(nv, 3.0));
        let mass = R.t() * dense.mass_matrix() * &R;
        let bend = R_rate.apply(&yd);
        let bias = R.t().apply(&dense.inverse_dynamics(&bend, None));
        let size = bias.iter().chain(&tau).fold(1.0_f64, |m, x| m.max(x.abs()));
        let scale = size * dense.mass_matrix().max_abs().max(1.0) * R.max_abs().max(1.0).powi(2);

        let mut workspace = coupled.workspace();
        let mut posed = workspace.at(&y).unwrap();
        let close = |what: &str, got: &[f64], expect: &[f64], scale: f64| {
            let error = error_of(got, expect, scale);
            assert!(error < 1e-11, "{name}, {what}: {error:e}\n{got:?}\n{expect:?}");
        };
        let gravity = vector(nv, |out| posed.gravity_torque(out));
        close("gravity", &gravity, &R.t().apply(&dense.gravity_torque()), scale);
        let mut moving = posed.moving(&yd).unwrap();
        close("bias", &vector(nv, |out| moving.bias(out)), &bias, scale);
        let coriolis: Vec<f64> = bias.iter().zip(&gravity).map(|(b, g)| b - g).collect();
        close("coriolis", &vector(nv, |out| moving.coriolis(out)), &coriolis, scale);
        let expect = plus(&mass.apply(&ydd), &bias);
        let got = vector(nv, |out| moving.inverse_dynamics(&ydd, out));
        close("inverse dynamics", &got, &expect, scale);

        let C = matrix(nv, nv, |out| moving.coriolis_matrix(out));
        close("C ẏ", &C.apply(&yd), &coriolis, scale);
        let half = R_rate.t() * dense.mass_matrix() * &R;
        let mass_rate = &half + half.t() + R.t() * dense.mass_matrix_rate() * &R;
        let sum = &C + C.t();
        close("rate of the mass matrix", &sum.data, &mass_rate.data, scale);

        let rest: Vec<f64> = tau.iter().zip(&bias).map(|(t, b)| t - b).collect();
        let ydd = mass.inverse().apply(&rest);
        let scale = scale * mass.inverse().norm();
        let got = vector(nv, |out| moving.inverse_mass_times(&tau, out));
        close("𝓜⁻¹T", &got, &mass.inverse().apply(&tau), scale);
        for algorithm in 0..5 {
            let got = vector(nv, |out| match algorithm {
                0 => moving.forward_dynamics(&tau, out),
                1 => moving.forward_dynamics_bias_free(&tau, out),
                2 => moving.forward_dynamics_biased(&tau, out),
                3 => moving.with_torques(&tau, out).map(drop),
                _ => moving.with_torques_bias_free(&tau, out).map(drop),
            });
            close("forward dynamics", &got, &ydd, scale);
        }
        // Accelerations of links are those of followers and leaders together.
        let qdd = plus(&R.apply(&ydd), &bend);
        let link = coupled.links().last().unwrap().name.clone();
        let frame = coupled.frame(&link).unwrap();
        let mut out = vec![0.0; nv];
        for reference in REFERENCES {
            let expect = dense.acceleration(&link, reference, &qdd);
            let J = dense.jacobian(&link, reference).max_abs().max(1.0);
            let driven = moving.with_torques(&tau, &mut out).unwrap();
            close(
                "acceleration",
                &motion(driven.acceleration(frame, named(reference)).unwrap()),
                &expect,
                scale * J * R.max_abs().max(1.0),
            );
        }
    }
}

#[test]
fn batches_are_reduced_to_the_same_bits() {
    for Case { coupled, .. } in cases().step_by(7) {
        let (nq, nv, states) = (coupled.nq(), coupled.nv(), 21);
        let mut random = Random::new(2);
        let q: Vec<f64> = (0..states).flat_map(|i| coupled.random(i as u64)).collect();
        let (qd, tau) = (random.numbers(states * nv, 1.0), random.numbers(states * nv, 1.0));
        let mut batch = coupled.batch();
        let mut got = vec![0.0; states * nv];
        let mut masses = vec![0.0; states * nv * nv];
        batch.forward_dynamics(&q, &qd, &tau, &mut got).unwrap();
        batch.mass_matrix(&q, &mut masses).unwrap();
        let mut biases = vec![0.0; states * nv];
        batch.bias(&q, &qd, &mut biases).unwrap();
        let (mut workspace, mut bias) = (coupled.workspace(), vec![0.0; nv]);
        for i in 0..states {
            let part = |x: &[f64], n: usize| x[i * n..(i + 1) * n].to_vec();
            let one = coupled
                .forward_dynamics(&part(&q, nq), &part(&qd, nv), &part(&tau, nv))
                .unwrap();
            assert_eq!(one, part(&got, nv), "{}", coupled.name());
            assert_eq!(coupled.mass_matrix(&part(&q, nq)).unwrap(), part(&masses, nv * nv));
            let mut posed = workspace.at(&part(&q, nq)).unwrap();
            posed.moving(&part(&qd, nv)).unwrap().bias(&mut bias).unwrap();
            assert_eq!(bias, part(&biases, nv), "{}", coupled.name());
        }
    }
}

/// A pendulum whose motor sits on the base: a rotor that turns −30 times as fast about the same axis.
fn geared_pendulum() -> Mechanism {
    Mechanism::builder("geared")
        .link(Link::new("arm", Inertia::point(2.0, [0.0, 0.0, -0.5])))
        .link(Link::new(
            "rotor",
            Inertia::new(0.3, [0.0; 3], [1e-3, 0.0, 0.0, 2e-3, 0.0, 1e-3]),
        ))
        .joint(Joint::revolute("swing", [0.0, 1.0, 0.0]).between("world", "arm"))
        .joint(
            Joint::revolute("shaft", [0.0, 1.0, 0.0])
                .between("world", "rotor")
                .at([0.1, 0.0, 0.0]),
        )
        .couple(Coupling::gear("shaft", "swing", -30.0, 0.2))
        .build()
        .unwrap()
}

#[test]
fn a_rotor_weighs_the_square_of_its_ratio() {
    let geared = geared_pendulum();
    assert_eq!((geared.nq(), geared.nv()), (1, 1));
    let mass = geared.mass_matrix(&[0.3]).unwrap()[0];
    assert!((mass - (2.0 * 0.25 + 900.0 * 2e-3)).abs() < 1e-13);
    // As an armature of that size.
    let plain = geared
        .to_builder()
        .build()
        .unwrap()
        .uncoupled()
        .unwrap()
        .lock(&[("shaft", &[0.0])])
        .unwrap();
    let mut with = plain.to_builder();
    with = with.frame("x", "arm", Pose::IDENTITY);
    let plain = with.build().unwrap();
    let free = plain.forward_dynamics(&[0.3], &[1.0], &[0.7]).unwrap()[0];
    let got = geared.forward_dynamics(&[0.3], &[1.0], &[0.7]).unwrap()[0];
    assert!((got * mass - free * 0.5).abs() < 1e-12, "{got} {free}");
    let shaft = geared.joint("shaft").unwrap();
    assert!(geared.v_range(shaft).unwrap().is_empty());
    assert_eq!(geared.all_coordinates(&[0.5]).unwrap(), [0.5, -14.8]);
}

#[test]
fn a_rotor_on_a_moving_link_feels_the_link_turn() {
    // A gyroscope: a spinning rotor on a link that is turned about another axis pushes back.
    let gyro = Mechanism::builder("gyroscope")
        .gravity([0.0; 3])
        .link(Link::new(
            "ring",
            Inertia::new(1.0, [0.0; 3], [0.1, 0.0, 0.0, 0.1, 0.0, 0.1]),
        ))
        .link(Link::new(
            "stage",
            Inertia::new(1.0, [0.0; 3], [0.2, 0.0, 0.0, 0.2, 0.0, 0.2]),
        ))
        .link(Link::new(
            "rotor",
            Inertia::new(0.5, [0.0; 3], [0.01, 0.0, 0.0, 0.01, 0.0, 0.02]),
        ))
        .joint(Joint::revolute("yaw", [1.0, 0.0, 0.0]).between("world", "ring"))
        .joint(Joint::revolute("pitch", [0.0, 1.0, 0.0]).between("ring", "stage"))
        .joint(Joint::revolute("spin", [0.0, 0.0, 1.0]).between("stage", "rotor"))
        .couple(Coupling::gear("spin", "pitch", 50.0, 0.0))
        .build()
        .unwrap();
    let (q, qd) = ([0.0, 0.0], [0.3, 0.7]);
    let bias = gyro.bias(&q, &qd).unwrap();
    let dense = Dense::new(&gyro.uncoupled().unwrap(), &[0.0; 3], &[0.3, 0.7, 35.0]);
    let c = dense.bias();
    assert_close("gyroscopic", &bias, &[c[0], c[1] + 50.0 * c[2]], 1e-12);
    assert!(bias[0].abs() > 0.1);
}

#[test]
fn coupled_mechanisms_keep_their_energy() {
    let four = Mechanism::builder("fingers")
        .link(Link::new("palm", Inertia::cuboid(1.0, [0.1, 0.1, 0.1])))
        .link(Link::new("a", Inertia::point(0.2, [0.1, 0.0, 0.0])))
        .link(Link::new("b", Inertia::point(0.1, [0.1, 0.02, 0.0])))
        .joint(Joint::free("float").between("world", "palm"))
        .joint(
            Joint::revolute("near", [0.0, 0.0, 1.0])
                .between("palm", "a")
                .at([0.1, 0.0, 0.0]),
        )
        .joint(
            Joint::revolute("far", [0.0, 0.3, 1.0])
                .between("a", "b")
                .at([0.1, 0.0, 0.0]),
        )
        .couple(Coupling::polynomial("far", "near", vec![0.1, 0.8, 0.2]))
        .build()
        .unwrap();
    let mut state = Now::at_rest(&four, &four.neutral());
    state.v.copy_from_slice(&[0.5, -0.3, 1.0, 0.2, 0.1, -0.4, 3.0]);
    let energy = |state: &Now| {
        let mut workspace = four.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        let potential = posed.potential_energy();
        potential + posed.moving(&state.v).unwrap().kinetic_energy()
    };
    let start = energy(&state);
    let mut equations = Dynamics::new(&four, ()).unwrap();
    let mut integrator = RungeKutta4::new(&four);
    for _ in 0..2000 {
        integrator.step(&mut equations, &mut state, 5e-4).unwrap();
    }
    assert!(
        (energy(&state) - start).abs() < 1e-8 * (1.0 + start.abs()),
        "{} {start}",
        energy(&state)
    );
}

#[test]
fn springs_dampers_and_edits_follow_too() {
    let geared = geared_pendulum();
    let mut builder = geared.to_builder();
    builder = builder.couple(Coupling::gear("swing", "shaft", 1.0, 0.0));
    let text = builder.build().unwrap_err().to_string();
    assert!(text.contains("follows itself"), "{text}");
    let text = geared
        .to_builder()
        .couple(Coupling::gear("shaft", "swing", 1.0, 0.0))
        .build();
    assert!(text.unwrap_err().to_string().contains("follows two joints"));
    let text = geared
        .to_builder()
        .couple(Coupling::gear("schaft", "swing", 1.0, 0.0))
        .build();
    assert!(text.unwrap_err().to_string().contains("did you mean `shaft`"));
    let arm = examples::quadruped();
    let free = arm
        .joints()
        .iter()
        .find(|j| j.kind == JointKind::Free)
        .unwrap()
        .name
        .clone();
    let other = arm.joints().iter().find(|j| j.kind.nv() == 1).unwrap().name.clone();
    let text = arm.to_builder().couple(Coupling::gear(other, free, 1.0, 0.0)).build();
    assert!(text.unwrap_err().to_string().contains("one coordinate"));
    // Locking the leader locks what follows; followers are not locked alone.
    assert_eq!(geared.lock(&[("swing", &[0.1])]).unwrap().nv(), 0);
    assert!(
        geared
            .lock(&[("shaft", &[0.1])])
            .unwrap_err()
            .to_string()
            .contains("lock that one")
    );
    let two = geared.attach("world", &geared, "other_").unwrap();
    assert_eq!((two.nv(), two.couplings().len()), (2, 2));

    let sprung = Mechanism::builder("sprung")
        .link(Link::new("a", Inertia::point(1.0, [0.1, 0.0, 0.0])))
        .link(Link::new("b", Inertia::point(1.0, [0.1, 0.0, 0.0])))
        .joint(
            Joint::revolute("lead", [0.0, 1.0, 0.0])
                .between("world", "a")
                .spring(2.0, &[0.1])
                .damping(0.3),
        )
        .joint(
            Joint::revolute("follow", [0.0, 1.0, 0.0])
                .between("a", "b")
                .spring(5.0, &[-0.2])
                .damping(0.1),
        )
        .couple(Coupling::gear("follow", "lead", -2.0, 0.4))
        .build()
        .unwrap();
    let (y, yd) = (0.7, 1.3);
    let mut workspace = sprung.workspace();
    let mut posed = workspace.at(&[y]).unwrap();
    let got = vector(1, |out| posed.moving(&[yd]).unwrap().passive_torque(out))[0];
    let follow = -5.0 * (-2.0 * y + 0.4 + 0.2) - 0.1 * -2.0 * yd;
    let expect = -2.0 * (y - 0.1) - 0.3 * yd - 2.0 * follow;
    assert!((got - expect).abs() < 1e-12, "{got} {expect}");
}

#[test]
fn what_is_not_defined_for_followers_says_so() {
    let geared = geared_pendulum();
    let mut workspace = geared.workspace();
    let mut posed = workspace.at(&[0.1]).unwrap();
    let text = posed
        .articulated_inertia(geared.link("arm").unwrap())
        .unwrap_err()
        .to_string();
    assert!(text.contains("follow others") && text.contains("uncoupled"), "{text}");
    let mut out = [0.0];
    // What is defined goes on.
    assert!((posed.log_det_mass().unwrap() - 2.3_f64.ln()).abs() < 1e-12);
    posed.inverse_mass_times(&[1.0], &mut out).unwrap();
    let mut moving = posed.moving(&[0.2]).unwrap();
    moving.articulated_inertia(geared.link("arm").unwrap()).unwrap_err();
    moving.forward_dynamics(&[0.3], &mut out).unwrap();
    moving.articulated_inertia(geared.link("arm").unwrap()).unwrap_err();
    let mut posed = workspace.at(&[0.1]).unwrap();
    posed.log_det_mass().unwrap();
    let frame: FrameId = geared.frame("arm").unwrap();
    let task = posed
        .task(frame, Reference::Aligned, linkwork::workspace::Part::Angular, 0.0)
        .unwrap();
    assert_eq!(task.rank(), 1);
    assert!((task.inertia()[1][1] - 2.3).abs() < 1e-9 && dot(&task.inertia()[0], &[1.0; 6]).abs() < 1e-9);
}
