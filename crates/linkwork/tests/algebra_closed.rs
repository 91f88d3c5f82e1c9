//! The formulas of closed chains, typed and compiled, against closed mechanisms and dense algebra.

mod support;

use linkwork::algebra::{Dense, Evaluator, Expression};
use linkwork::closed::{ClosedMechanism, Constraint};
use linkwork::spatial::Pose;
use linkwork::{Mechanism, Reference};
use support::coupled::{Case, cases};
use support::fully_driven;
use support::random::{Random, random_state, random_tree};

fn parse(text: &str) -> Expression {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// Constraints of every kind between the last link and one in the middle, or the world, closed at a configuration.
fn closed(mechanism: &Mechanism, q: &[f64], seed: u64) -> Option<ClosedMechanism> {
    let links = mechanism.links();
    let a = links[links.len() - 1].name.clone();
    let b = match seed % 3 {
        0 => "world".to_owned(),
        _ => links[links.len() / 2].name.clone(),
    };
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q).unwrap();
    let at_a = posed.pose(mechanism.frame(&a).unwrap()).unwrap();
    let at_b = posed.pose(mechanism.frame(&b).unwrap()).unwrap();
    let far = Pose::from_translation([0.3, -0.2, 0.5]);
    let with = mechanism
        .to_builder()
        .frame("there", &b, at_b.inverse() * at_a)
        .frame("far", &b, at_b.inverse() * at_a * far)
        .build()
        .unwrap();
    let axis = [0.3, -0.5, 0.8];
    let length = (0.3_f64 * 0.3 + 0.2 * 0.2 + 0.5 * 0.5).sqrt();
    let kind = match seed % 5 {
        0 => Constraint::point("tie", &a, "there"),
        1 => Constraint::hinge("tie", &a, "there", axis),
        2 => Constraint::slider("tie", &a, "there", axis),
        3 => Constraint::distance("tie", &a, "far", length),
        _ => Constraint::weld("tie", &a, "there"),
    };
    ClosedMechanism::new(fully_driven(&with), vec![kind]).ok()
}

const EXPRESSIONS: [&str; 12] = [
    "Jc",
    "Jc^* k:constraint",
    "Jc_dot qd",
    "Jc inv(Mass) (T - C) + Jc_dot qd",
    "Jc inv(Mass) Jc^*",
    "Bc^* phi^* H^* T",
    "H phi Bc k",
    "inv(Mass + Jc^* Jc)",
    "inv(Mass + Jc^* diag(w:constraint) Jc) (T - C)",
    "inv(I + Jc inv(Mass) Jc^*)",
    "pinv(Jc) k",
    "(Jc_dot qd)^* k",
];

#[test]
fn constraints_as_operators_agree_with_dense_algebra_and_the_closed_mechanism() {
    let (mut tested, mut solved) = (0, 0);
    let trees = (0..40).map(|seed| {
        let mechanism = random_tree(seed, 8);
        let state = random_state(&mechanism, seed);
        (seed, mechanism, state.q, state.qd)
    });
    let followers = cases().step_by(11).map(|c: Case| (c.seed, c.coupled, c.y, c.yd));
    for (seed, mechanism, q, qd) in trees.chain(followers) {
        if mechanism.links().len() < 3 {
            continue;
        }
        let Some(closed) = closed(&mechanism, &q, seed) else {
            continue;
        };
        let (nv, rows) = (closed.mechanism().nv(), closed.rows());
        let mut random = Random::new(seed);
        let (t, k) = (random.numbers(nv, 1.0), random.numbers(rows, 1.0));
        let w: Vec<f64> = random.numbers(rows, 1.0).iter().map(|x| 0.2 + x.abs()).collect();
        let dense = Dense::closed(&closed, &q, &qd, &[]).unwrap();
        let of = |text: &str| dense.evaluate(&parse(text), &[]).unwrap();
        let condition = (1.0 + size(&of("Mass").data)) * (1.0 + size(&of("inv(Mass)").data));
        let condition = condition * (1.0 + size(&of("Jc").data)).powi(2);
        if condition > 1e8 {
            continue;
        }
        let mut workspace = closed.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut jacobian = vec![0.0; rows * nv];
        posed.jacobian(&mut jacobian).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let all: [(&str, &[f64]); 3] = [("T", &t), ("k", &k), ("w", &w)];
        let independent = dense
            .evaluate(&parse("inv(Jc Jc^*)"), &[])
            .is_ok_and(|x| size(&x.data) < 1e6);
        for text in EXPRESSIONS {
            // A pseudo-inverse jumps where rows become dependent.
            if text.contains("pinv") && !independent {
                continue;
            }
            let expression = parse(text);
            let given: Vec<_> = all
                .into_iter()
                .filter(|(n, _)| expression.vectors().iter().any(|v| v.0 == *n))
                .collect();
            let expect = dense.evaluate(&expression, &given).unwrap().data;
            let mut run = Evaluator::closed(&expression, &closed, &[], &[]).unwrap_or_else(|e| panic!("{text}: {e}"));
            let mut got = vec![0.0; expect.len()];
            let done = match expression.is_vector() {
                true => moving.tree().evaluate(&mut run, &given, &mut got),
                false => moving.tree().matrix(&mut run, &given, &mut got),
            };
            done.unwrap_or_else(|e| panic!("{seed}: {text}: {e}"));
            let error = got.iter().zip(&expect).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            // Rates come from differences of fourth order in the dense algebra.
            let speed = 1.0 + size(&qd);
            let allowed = 1e-13 * condition * (1.0 + size(&expect)) + 1e-9 * speed.powi(5);
            assert!(error <= allowed, "{seed}: {text}: {error:e}, {condition:e}");
            if text == "Jc" {
                let error = got
                    .iter()
                    .zip(&jacobian)
                    .fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
                assert!(error <= 1e-12 * (1.0 + size(&jacobian)), "{seed}: {error:e}");
            }
            tested += 1;
        }
        solved += usize::from(forward(&closed, &q, &qd, &t, condition));
    }
    assert!(tested > 300 && solved > 15, "{tested}, {solved}");
}

/// Constrained forward dynamics by its formulas, and as closed mechanisms have it; false where the rows are dependent.
fn forward(closed: &ClosedMechanism, q: &[f64], qd: &[f64], tau: &[f64], condition: f64) -> bool {
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(q).unwrap();
    if posed.report().unwrap().rank < closed.rows() {
        return false;
    }
    let mut moving = posed.moving(qd).unwrap();
    let nv = qd.len();
    let (mut qdd, mut force) = (vec![0.0; nv], vec![0.0; closed.rows()]);
    let lambda = "-inv(Jc inv(Mass) Jc^*) (Jc inv(Mass) (T - C) + Jc_dot qd)";
    let mut run = Evaluator::closed(&parse(lambda), closed, &[], &[]).unwrap();
    if moving.tree().evaluate(&mut run, &[("T", tau)], &mut force).is_err() {
        return false;
    }
    let text = format!("inv(Mass) (T - C + Jc^* ({lambda}))");
    let mut run = Evaluator::closed(&parse(&text), closed, &[], &[]).unwrap();
    assert!(run.algorithm().cost().sweeps <= 5, "{}", run.algorithm().cost().sweeps);
    moving.tree().evaluate(&mut run, &[("T", tau)], &mut qdd).unwrap();
    let mut expect = vec![0.0; nv];
    let multipliers = moving.forward_dynamics(tau, &mut expect).unwrap().all().to_vec();
    let scale = (1.0 + size(&expect)) * condition.powi(2) * 1e-13;
    for (a, b) in qdd.iter().zip(&expect) {
        assert!((a - b).abs() <= scale, "{a} instead of {b}");
    }
    let scale = (1.0 + size(&multipliers)) * condition.powi(2) * 1e-13;
    for (a, b) in force.iter().zip(&multipliers) {
        assert!((a - b).abs() <= scale, "{a} instead of {b}");
    }
    true
}

#[test]
fn the_effective_inertia_of_a_grasp_by_named_frames() {
    let arm = linkwork::model::examples::arm7();
    let links: Vec<String> = arm.links().iter().map(|l| l.name.clone()).collect();
    let (left, right) = (&links[3], &links[6]);
    let frames = [
        (arm.frame(left).unwrap(), Reference::World),
        (arm.frame(right).unwrap(), Reference::World),
    ];
    // What holds both moves with them: the sum of their inertias, of the differences the compliance.
    let text = format!("(J[{left}] - J[{right}]) inv(Mass) (J[{left}] - J[{right}])^*");
    let (q, qd) = (arm.random(4), vec![0.0; 7]);
    let dense = Dense::new(&arm, &q, &qd, &frames).unwrap();
    let expect = dense.evaluate(&parse(&text), &[]).unwrap();
    let mut run = Evaluator::new(&parse(&text), &arm, &frames, &[]).unwrap();
    let mut got = vec![0.0; 36];
    arm.workspace().at(&q).unwrap().matrix(&mut run, &[], &mut got).unwrap();
    let scale = size(&expect.data);
    assert!(got.iter().zip(&expect.data).all(|(a, b)| (a - b).abs() < 1e-11 * scale));
}
