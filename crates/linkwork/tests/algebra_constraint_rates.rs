//! Rates of constraints, log det 𝓜 and weights that are whole matrices, against differences, dual numbers and dense
//! algebra, on random trees and where joints follow others.

mod support;

use linkwork::algebra::{Dense, Evaluator, Expression};
use linkwork::closed::{ClosedMechanism, Constraint};
use linkwork::spatial::Pose;
use linkwork::{Mechanism, Reference};
use support::coupled::{Case, cases};
use support::dual::{along, constant, rates};
use support::random::{Random, random_state, random_tree};
use support::{assert_close_of, fully_driven};

fn parse(text: &str) -> Expression {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// Random trees, and mechanisms in which joints follow others by ratios.
fn mechanisms() -> impl Iterator<Item = (u64, Mechanism, Vec<f64>, Vec<f64>)> {
    let trees = (0..40).map(|seed| {
        let mechanism = random_tree(seed, 7);
        let state = random_state(&mechanism, seed);
        (seed, mechanism, state.q, state.qd)
    });
    let followers = cases().step_by(5).map(|c: Case| (c.seed, c.coupled, c.y, c.yd));
    // Where joints follow by curves, derivatives are refused.
    let straight = |m: &Mechanism| Evaluator::<f64>::new(&parse("d(Mass, w)"), m, &[], &[]).is_ok();
    trees.chain(followers.filter(move |(_, m, ..)| straight(m)))
}

/// A constraint of every kind between the last link and one in the middle, or the world.
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
    let kind = match seed % 6 {
        0 => Constraint::point("tie", &a, "there"),
        1 => Constraint::hinge("tie", &a, "there", axis),
        2 => Constraint::slider("tie", &a, "there", axis),
        3 => Constraint::distance("tie", &a, "far", length),
        4 => Constraint::skate("tie", &a, "there"),
        _ => Constraint::weld("tie", &a, "there"),
    };
    ClosedMechanism::new(fully_driven(&with), vec![kind]).ok()
}

/// What something changes by as the configuration moves, by differences of fourth order.
fn difference(mechanism: &Mechanism, q: &[f64], w: &[f64], of: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let h = 1e-3;
    let mut total: Vec<f64> = Vec::new();
    for (step, weight) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
        let mut there = vec![0.0; mechanism.nq()];
        let change: Vec<f64> = w.iter().map(|x| x * h * step).collect();
        mechanism.integrate(q, &change, &mut there).unwrap();
        let x = of(&there);
        total.resize(x.len(), 0.0);
        total
            .iter_mut()
            .zip(&x)
            .for_each(|(t, x)| *t += x * weight / (12.0 * h));
    }
    total
}

#[test]
fn rates_of_constraints_agree_with_differences_dual_numbers_and_dense_algebra() {
    let mut tested = [0; 2];
    for (seed, mechanism, q, qd) in mechanisms() {
        if mechanism.links().len() < 3 {
            continue;
        }
        let Some(closed) = closed(&mechanism, &q, seed) else {
            continue;
        };
        let own = closed.mechanism();
        let (nv, rows) = (own.nv(), closed.rows());
        let mut random = Random::new(seed);
        let (w, t, k) = (
            random.numbers(nv, 1.0),
            random.numbers(nv, 1.0),
            random.numbers(rows, 1.0),
        );
        let dense = Dense::closed(&closed, &q, &qd, &[]).unwrap();
        let jacobian = |q: &[f64]| {
            let dense = Dense::closed(&closed, q, &qd, &[]).unwrap();
            dense.evaluate(&parse("Jc"), &[]).unwrap().data
        };
        let rate = difference(own, &q, &w, jacobian);
        let by_qd = difference(own, &q, &qd, jacobian);
        let scale = 1.0 + size(&rate) + size(&by_qd);
        let times = |matrix: &[f64], x: &[f64]| -> Vec<f64> {
            let row = |r: &[f64]| r.iter().zip(x).map(|(a, b)| a * b).sum();
            matrix.chunks_exact(nv).map(row).collect()
        };
        let back = |matrix: &[f64], x: &[f64]| -> Vec<f64> {
            (0..nv)
                .map(|j| (0..rows).map(|i| matrix[i * nv + j] * x[i]).sum())
                .collect()
        };
        let gradient: Vec<f64> = (0..nv)
            .map(|j| {
                let unit: Vec<f64> = (0..nv).map(|i| if i == j { 1.0 } else { 0.0 }).collect();
                let rate = times(&difference(own, &q, &unit, jacobian), &t);
                rate.iter().zip(&k).map(|(a, b)| a * b).sum()
            })
            .collect();
        let all: [(&str, &[f64]); 3] = [("w", &w), ("T", &t), ("k", &k)];
        let mut workspace = closed.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let mut check = |text: &str, expect: &[f64]| {
            let expression = parse(text);
            let given: Vec<_> = all
                .into_iter()
                .filter(|(n, _)| expression.vectors().iter().any(|v| v.0 == *n))
                .collect();
            let what = format!("{seed}: {text}");
            let of_dense = dense
                .evaluate(&expression, &given)
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_close_of(&format!("{what}, dense"), &of_dense.data, expect, scale, 1e-7);
            let mut run = Evaluator::closed(&expression, &closed, &[], &[]).unwrap_or_else(|e| panic!("{what}: {e}"));
            let mut got = vec![0.0; expect.len()];
            match expression.is_vector() {
                true => moving.tree().evaluate(&mut run, &given, &mut got),
                false => moving.tree().matrix(&mut run, &given, &mut got),
            }
            .unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_close_of(&what, &got, expect, scale, 1e-7);
        };
        check("d(Jc, w)", &rate);
        check("d(Jc, w) T", &times(&rate, &t));
        check("d(Jc^*, w) k", &back(&rate, &k));
        check("d(Jc T)/dq w", &times(&rate, &t));
        check("d(Jc^* k)/dq w", &back(&rate, &k));
        check("dot(Jc)", &by_qd);
        check("Jc_dot T", &times(&by_qd, &t));
        check("Jc_dot^* k", &back(&by_qd, &k));
        check("grad(k^* Jc T)", &gradient);
        let twice: Vec<f64> = {
            // d(J̇c q̇)/dq̇ w = J̇c[w]q̇ + J̇c[q̇]w.
            let (a, b) = (times(&rate, &qd), times(&by_qd, &w));
            a.iter().zip(&b).map(|(a, b)| a + b).collect()
        };
        check("d(Jc_dot qd)/dqd w", &twice);

        // Without differences: the same sweep over dual numbers.
        let mut run = Evaluator::closed(&parse("Jc T"), &closed, &[], &[]).unwrap();
        let mut duals = own.workspace_of::<linkwork::scalar::Dual<f64>>();
        let mut at = duals.at(&along(own, &q, &w)).unwrap();
        let mut x = constant(&vec![0.0; rows]);
        at.evaluate(&mut run, &[("T", &constant(&t))], &mut x).unwrap();
        let mut plain = Evaluator::closed(&parse("d(Jc, w) T"), &closed, &[], &[]).unwrap();
        let mut got = vec![0.0; rows];
        moving
            .tree()
            .evaluate(&mut plain, &[("w", &w), ("T", &t)], &mut got)
            .unwrap();
        assert_close_of(&format!("{seed}: dual numbers"), &got, &rates(&x), scale, 1e-11);
        tested[usize::from(own.is_coupled())] += 1;
    }
    assert!(tested[0] > 20 && tested[1] > 5, "{tested:?}");
}

#[test]
fn log_det_and_its_gradient_agree_with_differences_dual_numbers_and_dense_algebra() {
    let mut tested = [0; 2];
    for (seed, mechanism, q, qd) in mechanisms() {
        let nv = mechanism.nv();
        let w = Random::new(seed).numbers(nv, 1.0);
        let dense = Dense::new(&mechanism, &q, &qd, &[]).unwrap();
        let of = |text: &str| dense.evaluate(&parse(text), &[]).unwrap().data;
        let condition = (1.0 + size(&of("Mass"))) * (1.0 + size(&of("inv(Mass)")));
        if condition > 1e6 {
            continue;
        }
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let log_det = posed.log_det_mass().unwrap();
        let mut gradient = vec![0.0; nv];
        posed.log_det_mass_gradient(&mut gradient).unwrap();
        let rate: f64 = gradient.iter().zip(&w).map(|(a, b)| a * b).sum();
        let differences = difference(&mechanism, &q, &w, |q| {
            let dense = Dense::new(&mechanism, q, &qd, &[]).unwrap();
            dense.evaluate(&parse("logdet(Mass)"), &[]).unwrap().data
        });
        let scale = 1.0 + size(&gradient);
        assert_close_of("gradient", &[rate], &differences, scale * condition, 1e-8);
        let minus: Vec<f64> = gradient.iter().map(|x| -0.5 * x).collect();
        let by_qd = gradient.iter().zip(&qd).map(|(a, b)| a * b).sum();
        let mut moving = posed.moving(&qd).unwrap();
        let expected: [(&str, Vec<f64>); 8] = [
            ("logdet(Mass)", vec![log_det]),
            ("logdet(inv(Mass))", vec![-log_det]),
            ("0.5 logdet(D) + logdet(I + H phi K)", vec![0.5 * log_det]),
            ("logdet(m)", vec![0.5 * log_det]),
            ("grad(logdet(Mass))", gradient.clone()),
            ("-0.5 grad(logdet(Mass))", minus),
            ("d(logdet(Mass), w)", vec![rate]),
            ("dot(logdet(Mass))", vec![by_qd]),
        ];
        for (text, expect) in expected {
            let expression = parse(text);
            let given: Vec<(&str, &[f64])> = match text.contains('w') {
                true => vec![("w", &w)],
                false => Vec::new(),
            };
            let what = format!("{seed}: {text}");
            let of_dense = dense
                .evaluate(&expression, &given)
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_close_of(
                &format!("{what}, dense"),
                &of_dense.data,
                &expect,
                scale * condition,
                1e-11,
            );
            let mut run = Evaluator::new(&expression, &mechanism, &[], &[]).unwrap_or_else(|e| panic!("{what}: {e}"));
            let mut got = vec![0.0; expect.len()];
            moving
                .evaluate(&mut run, &given, &mut got)
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_close_of(&what, &got, &expect, scale * condition, 1e-11);
        }
        let mut run = Evaluator::new(&parse("logdet(Mass)"), &mechanism, &[], &[]).unwrap();
        let mut duals = mechanism.workspace_of::<linkwork::scalar::Dual<f64>>();
        let mut x = constant(&[0.0]);
        duals
            .at(&along(&mechanism, &q, &w))
            .unwrap()
            .evaluate(&mut run, &[], &mut x)
            .unwrap();
        assert_close_of(
            &format!("{seed}: dual numbers"),
            &rates(&x),
            &[rate],
            scale * condition,
            1e-11,
        );
        tested[usize::from(mechanism.is_coupled())] += 1;
    }
    assert!(tested[0] > 20 && tested[1] > 5, "{tested:?}");
}

/// A symmetric and positive matrix, row by row.
fn weight(random: &mut Random, n: usize) -> Vec<f64> {
    let x = random.numbers(n * n, 1.0);
    let at = |i: usize, j: usize| -> f64 { (0..n).map(|k| x[i * n + k] * x[j * n + k]).sum() };
    (0..n * n).map(|i| at(i / n, i % n)).collect()
}

#[test]
fn weights_that_are_whole_matrices_take_two_sweeps_and_agree_with_dense_algebra() {
    let (mut tested, mut joined) = ([0; 2], 0);
    for (seed, mechanism, q, qd) in mechanisms() {
        if mechanism.links().len() < 3 {
            continue;
        }
        let Some(closed) = closed(&mechanism, &q, seed) else {
            continue;
        };
        let own = closed.mechanism();
        let mut random = Random::new(seed);
        let links = own.links();
        let names = [links[links.len() - 1].name.clone(), links[links.len() / 2].name.clone()];
        let frames: Vec<_> = names
            .iter()
            .zip([Reference::Aligned, Reference::Local])
            .map(|(name, r)| (own.frame(name).unwrap(), r))
            .collect();
        let (nv, rows) = (own.nv(), closed.rows());
        let (tips, one, ties, joints) = (
            weight(&mut random, 12),
            weight(&mut random, 6),
            weight(&mut random, rows),
            weight(&mut random, nv),
        );
        let (t, d) = (random.numbers(nv, 1.0), vec![0.7; 12]);
        let dense = Dense::closed(&closed, &q, &qd, &frames).unwrap();
        let of = |text: &str| size(&dense.evaluate(&parse(text), &[]).unwrap().data);
        let condition =
            (1.0 + of("Mass")) * (1.0 + of("inv(Mass)")) * (1.0 + of("J")).powi(2) * (1.0 + of("Jc")).powi(2);
        if condition > 1e8 {
            continue;
        }
        let all: [(&str, &[f64]); 6] = [
            ("W", &tips),
            ("U", &one),
            ("X", &ties),
            ("Y", &joints),
            ("T", &t),
            ("d", &d),
        ];
        let mut workspace = closed.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let mut moving = posed.moving(&qd).unwrap();
        let of_one = format!("inv(Mass + J[{0}]^* sym(U) J[{0}])", names[0]);
        for (text, sweeps) in [
            ("inv(Mass + J^* sym(W) J)", Some(2)),
            ("inv(Mass + J^* sym(W) J) T", Some(2)),
            (
                "inv(Mass + J^* sym(W) J + J^* diag(d:tip) J) (T - J^* sym(W) J T)",
                None,
            ),
            (&of_one, Some(2)),
            ("inv(Mass + Jc^* sym(X) Jc)", Some(2)),
            ("inv(Mass + 2 I + 3 Jc^* sym(X) Jc) T", Some(2)),
            ("inv(Mass + J^* inv(I + J inv(Mass) J^*) J) T", None),
            ("inv(Mass + J^* inv(sym(W:tip) + I) J) T", Some(2)),
            ("sym(Y) inv(Mass) sym(Y) T", None),
            ("inv(sym(Y:joint) + Mass) T", None),
        ] {
            let expression = parse(text);
            let given: Vec<_> = all
                .into_iter()
                .filter(|(n, _)| expression.vectors().iter().any(|v| v.0 == *n))
                .collect();
            let what = format!("{seed}: {text}");
            let expect = dense
                .evaluate(&expression, &given)
                .unwrap_or_else(|e| panic!("{what}: {e}"))
                .data;
            let mut run =
                Evaluator::closed(&expression, &closed, &frames, &[]).unwrap_or_else(|e| panic!("{what}: {e}"));
            if let Some(sweeps) = sweeps {
                assert_eq!(run.algorithm().cost().sweeps, sweeps, "{what}");
                assert!(run.algorithm().solves().is_empty(), "{what}");
            }
            let mut got = vec![0.0; expect.len()];
            match expression.is_vector() {
                true => moving.tree().evaluate(&mut run, &given, &mut got),
                false => moving.tree().matrix(&mut run, &given, &mut got),
            }
            .unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_close_of(&what, &got, &expect, (1.0 + size(&expect)) * condition, 1e-13);
        }
        joined += usize::from(names[0] != names[1]);
        tested[usize::from(own.is_coupled())] += 1;
    }
    assert!(tested[0] > 15 && tested[1] > 5 && joined > 10, "{tested:?} {joined}");
}

#[test]
fn what_is_no_weight_is_refused() {
    let arm = linkwork::model::examples::puma560();
    let frames = [(arm.frame(&arm.links().last().unwrap().name).unwrap(), Reference::Local)];
    let mut run = Evaluator::new(&parse("inv(Mass + J^* sym(W) J) T"), &arm, &frames, &[]).unwrap();
    let mut workspace = arm.workspace();
    let mut posed = workspace.at(&[0.1; 6]).unwrap();
    let (mut out, t) = ([0.0; 6], [1.0; 6]);
    let mut told = |w: &[f64]| {
        posed
            .evaluate(&mut run, &[("W", w), ("T", &t)], &mut out)
            .unwrap_err()
            .to_string()
    };
    let mut w = [0.0; 36];
    (0..6).for_each(|i| w[7 * i] = 1.0);
    w[1] = 0.5;
    assert!(told(&w).contains("not symmetric"), "{}", told(&w));
    w[6] = 0.5;
    w[35] = -1.0;
    assert!(told(&w).contains("not a weight"), "{}", told(&w));
    assert!(told(&w[..30]).contains("needs 36 numbers"), "{}", told(&w[..30]));
    for (text, wanted) in [
        ("sym(W) T + W", "is a matrix"),
        ("sym(J) T", "not a matrix"),
        ("sym(2 W) T", "by name"),
        ("phi sym(W) M", "no matrices"),
        ("logdet(J J^* + Mass)", "leads from"),
        ("logdet(2 Mass)", "n log c"),
        ("d(d(Jc, w), w) T", "second derivatives of constraints"),
    ] {
        let told = text.parse::<Expression>().unwrap_err().to_string();
        assert!(told.contains(wanted), "{text}: {told}");
    }
}
