//! Diagonalized dynamics of mechanisms in which joints follow others.
#![allow(non_snake_case)]

mod support;

use linkwork::Mechanism;
use linkwork::model::{Coupling, Joint, Link, examples};
use linkwork::simulate::{Diagonalized, Dynamics, Integrator, RungeKutta4, State};
use linkwork::spatial::Inertia;
use linkwork::workspace::Scaling::{self, Normalized, Unnormalized};
use support::coupled::{Case, cases};
use support::dense::plus;
use support::dual::{D, along, constant, rate, varied};
use support::library::{matrix, vector};
use support::matrix::{Matrix, dot};
use support::random::Random;
use support::{assert_close, assert_close_of};

/// A matrix by its products with unit vectors.
fn whole(n: usize, mut product: impl FnMut(&[f64], &mut [f64])) -> Matrix {
    let mut all = Matrix::zeros(n, n);
    for j in 0..n {
        let (mut one, mut out) = (vec![0.0; n], vec![0.0; n]);
        one[j] = 1.0;
        product(&one, &mut out);
        (0..n).for_each(|i| all.set(i, j, out[i]));
    }
    all
}

#[test]
fn the_factor_of_what_is_independent_and_all_that_follows_from_it() {
    let mut tested = 0;
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
        let mass = R.t() * dense.mass_matrix() * &R;
        let condition = mass.condition().max(10.0);
        if condition > 1e5 {
            continue;
        }
        let tolerance = 1e-12 * condition;
        let mut workspace = coupled.workspace();
        let mut posed = workspace.at(&y).unwrap();
        let m = whole(nv, |x, out| posed.joint_torques(Normalized, x, out).unwrap());
        assert_close(name, &(&m * m.t()).data, &mass.data, 1e-12);
        let U = whole(nv, |x, out| posed.joint_torques(Unnormalized, x, out).unwrap());
        // D, joint by joint.
        let mut inertia = Matrix::zeros(nv, nv);
        for joint in coupled.joints() {
            let id = coupled.joint(&joint.name).unwrap();
            let range = coupled.v_range(id).unwrap();
            let d = matrix(range.len(), range.len(), |out| posed.joint_inertia(id, out));
            inertia.set_block(range.start, range.start, &d);
        }
        assert_close(name, &(&U * &inertia * U.t()).data, &mass.data, 1e-11);
        for scaling in [Normalized, Unnormalized] {
            let factor = if scaling == Normalized { &m } else { &U };
            let identity = Matrix::identity(nv);
            let rates = whole(nv, |x, out| posed.total_rates(scaling, x, out).unwrap());
            assert_close_of(name, &rates.data, &factor.t().data, factor.max_abs(), 1e-12);
            let back = whole(nv, |x, out| posed.joint_rates(scaling, x, out).unwrap());
            assert_close(name, &(&rates * &back).data, &identity.data, tolerance);
            let work = whole(nv, |x, out| posed.working_moments(scaling, x, out).unwrap());
            assert_close(name, &(factor * &work).data, &identity.data, tolerance);
        }
        let nu = vector(nv, |out| posed.total_rates(Normalized, &yd, out));
        assert_close(name, &[0.5 * dot(&nu, &nu)], &[dense.kinetic_energy()], 1e-11);

        // Rates: along the motion, by dual numbers.
        let mut random = Random::new(seed);
        let (tau, x) = (random.numbers(nv, 5.0), random.numbers(nv, 1.0));
        let bias = R.t().apply(&dense.inverse_dynamics(&R_rate.apply(&yd), None));
        let rest: Vec<f64> = tau.iter().zip(&bias).map(|(t, b)| t - b).collect();
        let ydd = mass.inverse().apply(&rest);
        let mut dual = coupled.workspace_of::<D>();
        let mut moved = dual.at(&along(&coupled, &y, &yd)).unwrap();
        let size = |x: &[f64]| x.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        let scale = size(&ydd) * size(&m.data).max(size(&inertia.data)) + size(&tau).max(size(&bias));
        let mut moving = posed.moving(&yd).unwrap();
        for scaling in [Normalized, Unnormalized] {
            let close = |what: &str, got: &[f64], expect: &[f64]| {
                assert_close_of(
                    &format!("{name}, {what}, {scaling:?}"),
                    got,
                    expect,
                    scale * condition,
                    1e-11,
                );
            };
            let expect = rate(nv, 1, |out| moved.total_rates(scaling, &varied(&yd, &ydd), out));
            let got = vector(nv, |out| moving.total_accelerations(scaling, &tau, out));
            close("total accelerations", &got, &expect.data);
            let qdd = vector(nv, |out| moving.forward_dynamics_diagonalized(scaling, &tau, out));
            close("forward dynamics", &qdd, &ydd);
            let expect = rate(nv, 1, |out| moved.joint_torques(scaling, &constant(&x), out));
            close(
                "rate of m",
                &vector(nv, |out| moving.factor_rate_times(scaling, &x, out)),
                &expect.data,
            );
            // 𝒞 = ε − ν̇, or κ − Dξ̇.
            let work = vector(nv, |out| moving.working_moments(scaling, &tau, out));
            let driven = if scaling == Normalized {
                got
            } else {
                inertia.apply(&got)
            };
            let c = vector(nv, |out| moving.diagonal_coriolis(scaling, out));
            close("coriolis", &plus(&c, &driven), &work);
        }
        let c = matrix(nv, nv, |out| moving.diagonal_coriolis_matrix(out));
        let sum = &c + c.t();
        assert_close_of(
            name,
            &sum.data,
            &Matrix::zeros(nv, nv).data,
            c.max_abs().max(1.0),
            1e-11 * condition,
        );
        let gravity = vector(nv, |out| moving.gravity_torque(out));
        let still = vector(nv, |out| moving.working_moments(Normalized, &gravity, out));
        let all = vector(nv, |out| moving.diagonal_coriolis(Normalized, out));
        assert_close_of(name, &plus(&c.apply(&nu), &still), &all, scale * condition, 1e-11);
        let table = moving.total_rate_table(&tau).unwrap();
        assert_eq!(table.len(), nv);
        for (row, nu) in table.iter().zip(&nu) {
            assert!((row.nu - nu).abs() < 1e-12 * (1.0 + nu.abs()));
        }
        tested += 1;
    }
    assert!(tested > 80, "{tested}");
}

#[test]
fn the_mass_matrix_changes_along_each_independent_coordinate() {
    for Case { coupled, y, .. } in cases().step_by(3) {
        let nv = coupled.nv();
        let mut workspace = coupled.workspace();
        let mut posed = workspace.at(&y).unwrap();
        let mut dual = coupled.workspace_of::<D>();
        for joint in coupled.joints() {
            let id = coupled.joint(&joint.name).unwrap();
            for index in 0..coupled.v_range(id).unwrap().len() {
                let mut one = vec![0.0; nv];
                one[coupled.v_range(id).unwrap().start + index] = 1.0;
                let mut moved = dual.at(&along(&coupled, &y, &one)).unwrap();
                let expect = rate(nv, nv, |out| moved.mass_matrix(out));
                let got = matrix(nv, nv, |out| posed.mass_matrix_derivative(id, index, out));
                let size = expect.max_abs().max(1.0);
                assert_close_of(coupled.name(), &got.data, &expect.data, size, 1e-11);
            }
        }
    }
}

/// An arm beside a geared pair: what the pair does not touch.
#[test]
fn without_couplings_the_factor_is_that_of_the_tree() {
    let arm = examples::puma560();
    let rod = Inertia::rod(1.0, [0.0, 0.0, -1.0]);
    let both = arm
        .to_builder()
        .link(Link::new("a", rod))
        .link(Link::new("b", rod))
        .joint(Joint::revolute("lead", [0.0, 1.0, 0.0]).between("world", "a"))
        .joint(
            Joint::revolute("follow", [0.0, 1.0, 0.0])
                .between("a", "b")
                .at([0.0, 0.0, -1.0]),
        )
        .couple(Coupling::gear("follow", "lead", 2.0, 0.0))
        .build()
        .unwrap();
    let (q, qd) = ([0.3, -0.5, 0.8, 0.1, 1.1, -0.2], [0.5, 1.0, -0.3, 0.2, 0.9, -1.2]);
    let more = |x: &[f64]| [x, &[0.4]].concat();
    let (mut alone, mut beside) = (arm.workspace(), both.workspace());
    let (mut alone, mut beside) = (alone.at(&q).unwrap(), beside.at(&more(&q)).unwrap());
    let (mut alone, mut beside) = (alone.moving(&qd).unwrap(), beside.moving(&more(&qd)).unwrap());
    for scaling in [Normalized, Unnormalized] {
        let expect = vector(6, |out| alone.total_rates(scaling, &qd, out));
        let got = vector(7, |out| beside.total_rates(scaling, &more(&qd), out));
        assert_close("total rates", &got[..6], &expect, 1e-12);
        let expect = vector(6, |out| alone.diagonal_coriolis(scaling, out));
        let got = vector(7, |out| beside.diagonal_coriolis(scaling, out));
        assert_close("𝒞", &got[..6], &expect, 1e-11);
    }
    let text = beside
        .diagonal_coriolis_terms(Normalized, &mut [0.0; 35])
        .unwrap_err()
        .to_string();
    assert!(text.contains("diagonal_coriolis"), "{text}");
}

/// A double pendulum with a rotor on the base that its second joint turns: as if that joint had an armature.
fn geared(is_rotor: bool) -> Mechanism {
    let rod = Inertia::rod(1.0, [0.0, 0.0, -1.0]);
    let y = [0.0, 1.0, 0.0];
    let elbow = Joint::revolute("elbow", y)
        .between("upper", "lower")
        .at([0.0, 0.0, -1.0]);
    let mut builder = Mechanism::builder("pendulum")
        .link(Link::new("upper", rod))
        .link(Link::new("lower", rod))
        .joint(Joint::revolute("shoulder", y).between("world", "upper"))
        .joint(if is_rotor { elbow } else { elbow.armature(0.3 * 9.0) });
    if is_rotor {
        builder = builder
            .link(Link::new(
                "rotor",
                Inertia::new(0.4, [0.0; 3], [0.3, 0.0, 0.0, 0.3, 0.0, 0.3]),
            ))
            .joint(Joint::revolute("shaft", y).between("world", "rotor"))
            .couple(Coupling::gear("shaft", "elbow", -3.0, 0.0));
    }
    builder.build().unwrap()
}

#[test]
fn a_geared_rotor_on_the_base_is_an_armature_in_curvature_and_motion() {
    let (rotor, armature) = (geared(true), geared(false));
    let (a, b) = (
        rotor.curvature(&[0.3, 0.8]).unwrap(),
        armature.curvature(&[0.3, 0.8]).unwrap(),
    );
    assert!(!a.is_flat());
    assert!((a.symbol(0, 1, 0, 1) - b.symbol(0, 1, 0, 1)).abs() < 1e-12 * a.largest());
    // The same motion, through the diagonalized equations of one and the standard ones of the other.
    let mut standard = Dynamics::new(&armature, ()).unwrap();
    let mut expect = State::at_rest(&armature, &[1.2, -0.4]);
    for scaling in [Normalized, Unnormalized] {
        let mut diagonal = Diagonalized::new(&rotor, scaling, ()).unwrap();
        let mut state = diagonal.state(0.0, &[1.2, -0.4], &[0.0, 0.0]).unwrap();
        let mut rk = RungeKutta4::new(&rotor);
        for _ in 0..500 {
            rk.step(&mut diagonal, &mut state, 1e-3).unwrap();
        }
        if expect.t == 0.0 {
            let mut rk = RungeKutta4::new(&armature);
            for _ in 0..500 {
                rk.step(&mut standard, &mut expect, 1e-3).unwrap();
            }
        }
        assert_close("motion", &state.q, &expect.q, 1e-9);
    }
    let _: Scaling = Normalized;
}
