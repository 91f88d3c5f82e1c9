//! Expressions and operators as values, where joints follow others.
#![allow(non_snake_case)]

mod support;

use linkwork::Reference;
use linkwork::algebra::{Dense, Evaluator, Expression};
use linkwork::workspace::Scaling;
use support::coupled::{Case, cases};
use support::library::vector;
use support::matrix::Matrix;
use support::random::Random;
use support::{assert_close, assert_close_of};

/// Vectors and operators of every space.
const EXPRESSIONS: [&str; 17] = [
    "H phi M phi^* H^* y",
    "Mass y",
    "inv(Mass) y",
    "inv(Mass) (y - C)",
    "C",
    "g",
    "V",
    "H phi (M phi^* (H^* y + a) + b)",
    "J inv(Mass) J^*",
    "J",
    "B^* phi^* H^* y",
    "phi^* H^* inv(Mass) H phi B",
    "E_phi M phi^* H^* y + phi M V",
    "y^* Mass y",
    "inv(H phi M phi^* H^* + A) y",
    "inv(I + J inv(Mass) J^*) J y",
    "inv(Mass + J^T J)",
];

#[test]
fn expressions_are_those_of_independent_joints() {
    let mut tested = 0;
    for Case {
        seed,
        coupled,
        y,
        yd,
        R,
        dense,
        ..
    } in cases().step_by(6)
    {
        let condition = (R.t() * dense.mass_matrix() * &R).condition().max(10.0);
        if condition > 1e5 {
            continue;
        }
        let link = coupled.links().last().unwrap().name.clone();
        let frames = [(coupled.frame(&link).unwrap(), Reference::Aligned)];
        let x = Random::new(seed).numbers(coupled.nv(), 1.0);
        let oracle = Dense::new(&coupled, &y, &yd, &frames).unwrap();
        let mut workspace = coupled.workspace();
        let mut posed = workspace.at(&y).unwrap();
        let mut moving = posed.moving(&yd).unwrap();
        for text in EXPRESSIONS {
            let expression: Expression = text.parse().unwrap();
            let given: Vec<(&str, &[f64])> = if text.contains('y') {
                vec![("y", &x)]
            } else {
                Vec::new()
            };
            let expect = oracle.evaluate(&expression, &given).unwrap();
            let mut run = Evaluator::new(&expression, &coupled, &frames, &[]).unwrap();
            let mut got = vec![0.0; expect.data.len()];
            if expression.is_vector() {
                moving.evaluate(&mut run, &given, &mut got).unwrap();
            } else {
                moving.matrix(&mut run, &given, &mut got).unwrap();
            }
            let scale = expect.data.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            let what = format!("{}: {text}", coupled.name());
            assert_close_of(&what, &got, &expect.data, scale * condition, 1e-12);
        }
        // What is computed elsewhere.
        let mut c = vec![0.0; coupled.nv()];
        let mut run = Evaluator::new(&"C".parse().unwrap(), &coupled, &[], &[]).unwrap();
        moving.evaluate(&mut run, &[], &mut c).unwrap();
        let bias = vector(coupled.nv(), |out| moving.bias(out));
        let scale = bias.iter().fold(1.0, |m: f64, x| m.max(x.abs())) * condition;
        assert_close_of("C", &c, &bias, scale, 1e-12);
        tested += 1;
    }
    assert!(tested > 20, "{tested}");
}

#[test]
fn operators_as_values_factor_the_coupled_mass_matrix() {
    for Case {
        coupled, y, R, dense, ..
    } in cases().step_by(9)
    {
        let nv = coupled.nv();
        let mass = R.t() * dense.mass_matrix() * &R;
        let condition = mass.condition().max(10.0);
        let mut workspace = coupled.workspace();
        let mut posed = workspace.at(&y).unwrap();
        let of = posed.operators(&[]).unwrap();
        let dense_of = |data: Vec<f64>| Matrix::from_slice(nv, nv, &data);
        let got = dense_of(
            (of.h() * of.phi() * of.m() * of.phi().adjoint() * of.h().adjoint())
                .to_dense()
                .unwrap(),
        );
        let rotors = dense_of(of.rotors().to_dense().unwrap());
        assert_close(coupled.name(), &(&got + &rotors).data, &mass.data, 1e-12);
        assert_close(coupled.name(), &of.mass().to_dense().unwrap(), &mass.data, 1e-12);
        let (m, l) = (of.mass_factor(), of.mass_factor_inverse());
        assert_close(
            coupled.name(),
            &(&m * m.adjoint()).to_dense().unwrap(),
            &mass.data,
            1e-12,
        );
        let inverse = (l.adjoint() * &l).to_dense().unwrap();
        assert_close(coupled.name(), &inverse, &mass.inverse().data, 1e-12 * condition);
        let d = dense_of(of.d().to_dense().unwrap());
        let one = dense_of((of.d() * of.d().inverse().unwrap()).to_dense().unwrap());
        assert_close("D", &one.data, &Matrix::identity(nv).data, 1e-12 * condition);
        let x = vec![1.0; nv];
        let text = of.psi().apply(&x, &mut [0.0]).err().unwrap().to_string();
        assert!(
            text.contains("ψ is not defined") && text.contains("uncoupled"),
            "{text}"
        );
        drop(of);
        for joint in coupled.joints() {
            let id = coupled.joint(&joint.name).unwrap();
            let range = coupled.v_range(id).unwrap();
            let own = vector(range.len() * range.len(), |out| posed.joint_inertia(id, out));
            let block = d.block(range.start, range.start, range.len(), range.len());
            assert_close_of("D of a joint", &own, &block.data, d.max_abs(), 1e-11);
        }
        let nu = vector(nv, |out| posed.total_rates(Scaling::Normalized, &x, out));
        assert!(nu.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn a_given_velocity_holds_for_all_that_depends_on_it() {
    for Case { coupled, y, yd, .. } in cases().step_by(31) {
        let nv = coupled.nv();
        let mut c = Evaluator::new(&"C + Mass qd".parse().unwrap(), &coupled, &[], &[]).unwrap();
        let (mut workspace, mut other) = (coupled.workspace(), coupled.workspace());
        let fast: Vec<f64> = yd.iter().map(|x| 3.0 * x + 0.1).collect();
        let mut posed = other.at(&y).unwrap();
        let mut moving = posed.moving(&fast).unwrap();
        let expect = vector(nv, |out| moving.evaluate(&mut c, &[], out));
        let mut posed = workspace.at(&y).unwrap();
        let got = vector(nv, |out| posed.evaluate(&mut c, &[("qd", &fast)], out));
        assert_eq!(got, expect, "at rest");
        let mut moving = posed.moving(&yd).unwrap();
        let bias = vector(nv, |out| moving.bias(out));
        let got = vector(nv, |out| moving.evaluate(&mut c, &[("qd", &fast)], out));
        assert_eq!(got, expect, "moving otherwise");
        assert_eq!(vector(nv, |out| moving.bias(out)), bias);
        let wrong = moving.evaluate(&mut c, &[("qd", &[f64::NAN; 99])], &mut vec![0.0; nv]);
        let problem = wrong.unwrap_err().to_string();
        assert!(problem.contains("qd") && problem.contains("99"), "{problem}");
    }
}

#[test]
fn what_only_a_tree_has_is_refused_by_name() {
    let Case { coupled, .. } = cases().next().unwrap();
    for (text, name) in [
        ("H psi", "ψ"),
        ("P", "P"),
        ("tau_bar", "τ̄"),
        ("G D", "G"),
        ("H phi K", "K"),
    ] {
        let expression: Expression = text.parse().unwrap();
        let problem = Evaluator::<f64>::new(&expression, &coupled, &[], &[]).err();
        let problem = problem.unwrap_or_else(|| panic!("{text}")).to_string();
        assert!(problem.contains(&format!("{name} is not defined")), "{problem}");
    }
}
