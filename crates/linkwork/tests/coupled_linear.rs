//! Linearized dynamics of mechanisms in which joints follow others, against dual numbers in what is independent.
#![allow(non_snake_case)]

mod support;

use linkwork::model::{Coupling, examples};
use linkwork::scalar::Scalar;
use linkwork::simulate::{Dynamics, Integrator, RungeKutta4, SemiImplicitEuler, State};
use linkwork::spatial::Force;
use linkwork::state_space::{Method, OperatingPoint, StateSpace};
use linkwork::workspace::Posed;
use linkwork::{Mechanism, Reference};
use support::assert_close;
use support::coupled::{Case, cases};
use support::dense::{REFERENCES, plus};
use support::dual::{D, along, constant, rate, varied};
use support::library::{named, vector};
use support::matrix::{Matrix, dot};
use support::random::Random;
use support::worst::Worst;

/// A force on the last link that keeps to it.
fn push<S: Scalar>(posed: &mut Posed<'_, S>) {
    let link = posed.mechanism().links().last().unwrap().name.clone();
    let frame = posed.mechanism().frame(&link).unwrap();
    let force = Force::from_array([0.3, -0.2, 0.5, 1.0, 0.1, -0.7].map(S::lift));
    posed.apply_force(frame, Reference::Local, force).unwrap();
}

#[test]
fn derivatives_products_and_transposes_go_through_couplings() {
    let mut worst = Worst::new(1e-11);
    let (mut tested, mut curved) = (0, 0);
    for Case {
        seed,
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
        let mut random = Random::new(seed);
        let ydd = random.numbers(nv, 2.0);
        let mass = R.t() * dense.mass_matrix() * &R;
        let condition = mass.condition().max(10.0);
        let (mut by_torque, mut by_motion) = (coupled.derivatives(), coupled.derivatives());
        let mut workspace = coupled.workspace();
        let mut posed = workspace.at(&y).unwrap();
        push(&mut posed);
        let mut moving = posed.moving(&yd).unwrap();
        let tau = vector(nv, |out| moving.inverse_dynamics(&ydd, out));
        let mut linear = moving.linearized(&ydd).unwrap();
        linear.inverse_derivatives(&mut by_torque).unwrap();
        linear.forward_derivatives(&mut by_motion).unwrap();
        let size = |m: &[f64]| m.iter().fold(1.0, |a: f64, x| a.max(x.abs()));
        let torques = size(by_torque.by_q()).max(size(by_torque.by_qd())).max(mass.max_abs());
        let motions = torques * mass.inverse().norm().max(1.0);

        // Column by column, by dual numbers through the nonlinear functions.
        let mut dual = coupled.workspace_of::<D>();
        for j in 0..nv {
            let mut one = vec![0.0; nv];
            one[j] = 1.0;
            for by_velocity in [false, true] {
                let q = if by_velocity {
                    constant(&y)
                } else {
                    along(&coupled, &y, &one)
                };
                let v = if by_velocity { varied(&yd, &one) } else { constant(&yd) };
                let mut posed = dual.at(&q).unwrap();
                push(&mut posed);
                let mut moving = posed.moving(&v).unwrap();
                let inverse = rate(nv, 1, |out| moving.inverse_dynamics(&constant(&ydd), out));
                let forward = rate(nv, 1, |out| moving.forward_dynamics(&constant(&tau), out));
                let column = |m: &[f64]| (0..nv).map(|i| m[i * nv + j]).collect::<Vec<_>>();
                let [t, a] = match by_velocity {
                    false => [column(by_torque.by_q()), column(by_motion.by_q())],
                    true => [column(by_torque.by_qd()), column(by_motion.by_qd())],
                };
                worst.check("torques", name, &t, &inverse.data, torques);
                worst.check("motions", name, &a, &forward.data, motions * condition);
            }
        }
        assert_close(name, by_torque.by_input(), &mass.data, 1e-11);
        assert_close(name, by_motion.by_input(), &mass.inverse().data, 1e-12 * condition);

        // Products and their transposes are those of the matrices.
        let (change, x) = (random.numbers(3 * nv, 1.0), random.numbers(nv, 1.0));
        for (d, size, is_forward) in [(&by_torque, torques, false), (&by_motion, motions * condition, true)] {
            let parts = [d.by_q(), d.by_qd(), d.by_input()].map(|m| Matrix::from_slice(nv, nv, m));
            let mut sum = vec![0.0; nv];
            for (m, x) in parts.iter().zip(change.chunks(nv)) {
                sum = plus(&sum, &m.apply(x));
            }
            let back: Vec<f64> = parts.iter().flat_map(|m| m.t().apply(&x)).collect();
            let got = vector(nv, |out| match is_forward {
                false => linear.torque_change(&change, out),
                true => linear.acceleration_change(&change, out),
            });
            worst.check("products", name, &got, &sum, size);
            let got = vector(3 * nv, |out| match is_forward {
                false => linear.torque_adjoint(&x, out),
                true => linear.acceleration_adjoint(&x, out),
            });
            worst.check("transposes", name, &got, &back, size);
        }
        tested += 1;
        curved += usize::from(R_rate.max_abs() > 0.0);
    }
    assert!(tested > 100 && curved > 60, "{tested} {curved}");
}

#[test]
fn torques_and_accelerations_answer_external_forces() {
    let mut worst = Worst::new(1e-11);
    for case in cases().step_by(5) {
        let Case { coupled, y, yd, R, .. } = &case;
        let (nv, name) = (coupled.nv(), coupled.name());
        let mass = R.t() * case.dense.mass_matrix() * R;
        let condition = mass.condition().max(10.0);
        let link = coupled.links().last().unwrap().name.clone();
        let frame = coupled.frame(&link).unwrap();
        let mut random = Random::new(case.seed);
        let (tau, start) = (random.numbers(nv, 1.0), random.numbers(6, 3.0));
        let (mut ydd, mut workspace) = (vec![0.0; nv], coupled.workspace());
        let mut posed = workspace.at(y).unwrap();
        let mut moving = posed.moving(yd).unwrap();
        let mut linear = moving.linearized_under(&tau, &mut ydd).unwrap();
        let mut dual = coupled.workspace_of::<D>();
        for of_dense in REFERENCES {
            let reference = named(of_dense);
            let by_torque = vector(6 * nv, |out| linear.torque_by_force(frame, reference, out));
            let by_motion = vector(6 * nv, |out| linear.acceleration_by_force(frame, reference, out));
            // −R*J* and 𝓜⁻¹R*J* by their definitions.
            let push = R.t() * case.dense.jacobian(&link, of_dense).t();
            let expect = mass.inverse() * &push;
            let sizes = [push.max_abs().max(1.0), expect.max_abs().max(1.0) * condition];
            let torque: Vec<f64> = push.data.iter().map(|x| -x).collect();
            worst.check("∂T/∂f", name, &by_torque, &torque, sizes[0]);
            worst.check("∂q̈/∂f", name, &by_motion, &expect.data, sizes[1]);
            for i in 0..6 {
                // The force varies from some value on along one of its coordinates.
                let mut f: [D; 6] = core::array::from_fn(|k| D::constant(start[k]));
                f[i].derivative = 1.0;
                let mut posed = dual.at(&constant(y)).unwrap();
                posed.apply_force(frame, reference, Force::from_array(f)).unwrap();
                let mut moving = posed.moving(&constant(yd)).unwrap();
                let torque = rate(nv, 1, |out| moving.inverse_dynamics(&constant(&ydd), out));
                let motion = rate(nv, 1, |out| moving.forward_dynamics(&constant(&tau), out));
                let column = |m: &[f64]| (0..nv).map(|j| m[6 * j + i]).collect::<Vec<f64>>();
                worst.check("∂T/∂f by duals", name, &column(&by_torque), &torque.data, sizes[0]);
                worst.check("∂q̈/∂f by duals", name, &column(&by_motion), &motion.data, sizes[1]);
            }
        }
    }
}

#[test]
fn the_regressor_is_that_of_the_tree_seen_by_leaders() {
    for Case {
        coupled,
        tree,
        y,
        yd,
        q,
        R,
        R_rate,
        ..
    } in cases().step_by(5)
    {
        let (nv, n) = (coupled.nv(), tree.nv());
        let columns = 10 * coupled.links().len();
        let ydd = Random::new(3).numbers(nv, 2.0);
        let qdd = plus(&R.apply(&ydd), &R_rate.apply(&yd));
        let mut workspace = coupled.workspace();
        let mut posed = workspace.at(&y).unwrap();
        let mut moving = posed.moving(&yd).unwrap();
        let got = vector(nv * columns, |out| moving.linearized(&ydd).unwrap().regressor(out));
        let mut workspace = tree.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&R.apply(&yd)).unwrap();
        let all = vector(n * columns, |out| moving.linearized(&qdd).unwrap().regressor(out));
        let expect = R.t() * Matrix::from_slice(n, columns, &all);
        assert_close(coupled.name(), &got, &expect.data, 1e-12);
    }
}

#[test]
fn linear_models_follow_couplings_springs_and_steps() {
    let wave = |y: f64| {
        [
            y + 0.5 * y.sin(),
            1.0 + 0.5 * y.cos(),
            -0.5 * y.sin(),
            -0.5 * y.cos(),
            0.5 * y.sin(),
        ]
    };
    let plain = examples::arm7();
    let mut builder = Mechanism::builder("sprung");
    for (link, joint) in plain.links().iter().zip(plain.joints()) {
        builder = builder.link(link.clone());
        builder = builder.joint(match joint.kind.nv() {
            1 => joint.clone().spring(3.0, &[0.2]).damping(0.4).friction(0.1),
            _ => joint.clone(),
        });
    }
    builder = builder.couple(Coupling::function("joint4", "joint2", wave));
    builder = builder.couple(Coupling::gear("joint6", "joint5", -0.7, 0.3));
    let arm = builder.build().unwrap();
    let nv = arm.nv();
    assert_eq!(nv, 5);
    let mut random = Random::new(4);
    let point = OperatingPoint {
        q: random.numbers(nv, 0.8),
        qd: random.numbers(nv, 0.5),
        tau: random.numbers(nv, 2.0),
        forces: Vec::new(),
    };
    let model = StateSpace::continuous(&arm, &point).unwrap();
    assert_eq!(model.inputs, ["joint1", "joint2", "joint3", "joint5", "joint7"]);
    // A ẋ by differences of the nonlinear equations.
    let rates = |q: &[f64], qd: &[f64]| {
        let mut workspace = arm.workspace();
        let mut posed = workspace.at(q).unwrap();
        let mut moving = posed.moving(qd).unwrap();
        let passive = vector(nv, |out| moving.passive_torque(out));
        vector(nv, |out| moving.forward_dynamics(&plus(&passive, &point.tau), out))
    };
    let direction = random.numbers(2 * nv, 1.0);
    let at = |h: f64| {
        let q: Vec<f64> = point.q.iter().zip(&direction).map(|(x, d)| x + h * d).collect();
        let qd: Vec<f64> = point.qd.iter().zip(&direction[nv..]).map(|(x, d)| x + h * d).collect();
        rates(&q, &qd)
    };
    let (up, down) = (at(1e-5), at(-1e-5));
    for i in 0..nv {
        let expect = (up[i] - down[i]) / 2e-5;
        let got = dot(&model.a[(nv + i) * 2 * nv..(nv + i + 1) * 2 * nv], &direction);
        assert!((got - expect).abs() < 1e-5 * (1.0 + expect.abs()), "{got} {expect}");
    }
    // One step of an integrator, by differences of the step.
    let h = 0.02;
    for method in [Method::SemiImplicitEuler, Method::RungeKutta4] {
        let model = StateSpace::of_step(&arm, &point, method, h).unwrap();
        let step = |e: f64| {
            let mut state = State {
                t: 0.0,
                q: point.q.iter().zip(&direction).map(|(x, d)| x + e * d).collect(),
                v: point.qd.iter().zip(&direction[nv..]).map(|(x, d)| x + e * d).collect(),
            };
            let tau = point.tau.clone();
            let hold =
                move |_: linkwork::simulate::Now<'_>, _: &mut linkwork::workspace::Moving<'_>, out: &mut [f64]| {
                    out.copy_from_slice(&tau);
                    Ok(())
                };
            let mut equations = Dynamics::new(&arm, hold).unwrap();
            match method {
                Method::SemiImplicitEuler => SemiImplicitEuler::new(&arm)
                    .step(&mut equations, &mut state, h)
                    .map(drop),
                _ => RungeKutta4::new(&arm).step(&mut equations, &mut state, h).map(drop),
            }
            .unwrap();
            [state.q, state.v].concat()
        };
        let (up, down) = (step(1e-5), step(-1e-5));
        for i in 0..2 * nv {
            let expect = (up[i] - down[i]) / 2e-5;
            let got = dot(&model.a[i * 2 * nv..(i + 1) * 2 * nv], &direction);
            assert!(
                (got - expect).abs() < 1e-6 * (1.0 + expect.abs()),
                "{method:?} {got} {expect}"
            );
        }
    }
}

#[test]
fn functions_say_when_they_know_too_few_derivatives_or_no_value() {
    let arm = |coupling: Coupling| examples::arm7().to_builder().couple(coupling).build();
    let poor = arm(Coupling::function("joint4", "joint2", |y: f64| [y, 1.0]));
    let text = poor.unwrap_err().to_string();
    assert!(text.contains("joint4") && text.contains("g″"), "{text}");
    let two = arm(Coupling::function("joint4", "joint2", |y: f64| {
        [y.sin(), y.cos(), -y.sin()]
    }))
    .unwrap();
    let (q, qd) = (vec![0.1; 6], vec![0.2; 6]);
    two.forward_dynamics(&q, &qd, &qd).unwrap();
    let mut workspace = two.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let text = posed.moving(&qd).unwrap().linearized(&qd).err().unwrap().to_string();
    assert!(
        text.contains("joint4") && text.contains("2 derivatives") && text.contains("needs 3"),
        "{text}"
    );
    let text = two.workspace_of::<D>().at(&constant(&q)).err().unwrap().to_string();
    assert!(text.contains("needs 3"), "{text}");
    // Outside of where the function is defined.
    let root = |y: f64| {
        [
            (1.0 - y * y).sqrt(),
            -y / (1.0 - y * y).sqrt(),
            -(1.0 - y * y).powf(-1.5),
        ]
    };
    let half = arm(Coupling::function("joint4", "joint2", root)).unwrap();
    let mut far = q.clone();
    far[1] = 1.5;
    let text = half.workspace().at(&far).err().unwrap().to_string();
    assert!(
        text.contains("joint4") && text.contains("1.5") && text.contains("joint2"),
        "{text}"
    );
    let mut out = vec![0.0; 12];
    let both = [q, far].concat();
    let text = half.batch().gravity_torque(&both, &mut out).unwrap_err().to_string();
    assert!(
        text.contains("joint4") && out[0].is_finite() && out[6].is_nan(),
        "{text}"
    );
}
