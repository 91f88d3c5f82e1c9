//! Several statements, several results, and what they share.

mod support;

use linkwork::algebra::{BatchEvaluator, Dense, Evaluator, Expression, Space};
use linkwork::closed::{ClosedMechanism, Constraint};
use support::random::{Random, random_state, random_tree};

fn parse(text: &str) -> Expression {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(1.0, |m: f64, x| m.max(x.abs()))
}

const SCRIPT: &str = "
    let free = inv(Mass) (T - C)
    let W = H psi
    power = qd^* T
    qdd = free
    u, h = V, phi^* H^* free
    z = W b + W M V";

#[test]
fn several_results_are_those_of_each_alone() {
    for seed in 0..25 {
        let mechanism = random_tree(seed, 7);
        let state = random_state(&mechanism, seed);
        let script = parse(SCRIPT);
        let dense = Dense::new(&mechanism, &state.q, &state.qd, &[]).unwrap();
        let tau = Random::new(seed).numbers(mechanism.nv(), 1.0);
        let given: [(&str, &[f64]); 1] = [("T", &tau)];
        let expect = dense.evaluate(&script, &given).unwrap().data;
        let mut run = Evaluator::new(&script, &mechanism, &[], &[]).unwrap();
        assert_eq!(run.len(), expect.len());
        let mut got = vec![f64::NAN; expect.len()];
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        posed
            .moving(&state.qd)
            .unwrap()
            .evaluate(&mut run, &given, &mut got)
            .unwrap();
        let of = |text: &str| size(&dense.evaluate(&parse(text), &[]).unwrap().data);
        let condition = of("Mass") * of("inv(Mass)");
        for (a, b) in got.iter().zip(&expect) {
            assert!(
                (a - b).abs() <= 1e-13 * condition * size(&expect),
                "{seed}: {a} instead of {b}"
            );
        }
    }
}

#[test]
fn results_share_their_sweeps() {
    let both = "free = inv(Mass) (T - C); alpha = phi^* (H^* free + a)";
    let both = parse(both).compile(false, &[]);
    assert!(both.cost().sweeps <= 4, "{}", both.cost().sweeps);
    let each = ["inv(Mass) (T - C)", "phi^* (H^* inv(Mass) (T - C) + a)"];
    let apart: usize = each
        .iter()
        .map(|text| parse(text).compile(false, &[]).cost().total())
        .sum();
    assert!(both.cost().total() < apart);
    let names: Vec<_> = both
        .expression()
        .results()
        .into_iter()
        .map(|r| (r.0.unwrap(), r.1))
        .collect();
    assert_eq!(
        names,
        [("free".to_owned(), Space::Joint), ("alpha".to_owned(), Space::Motion)]
    );
    let told = both.explain(linkwork::algebra::Look::Plain);
    assert!(told.contains("free") && told.contains("alpha"), "{told}");
    // What is printed can be read again.
    assert_eq!(
        parse(&both.rewritten().to_string()).results(),
        both.expression().results()
    );
}

#[test]
fn constrained_dynamics_as_a_script_is_that_of_the_closed_mechanism() {
    let arm = linkwork::model::examples::arm7();
    let tip = arm.links().last().unwrap().name.clone();
    let closed = ClosedMechanism::new(arm, vec![Constraint::point("grip", tip, "world")]).unwrap();
    let script = parse(
        "let free = inv(Mass) (T - C)
         lambda = -inv(Jc inv(Mass) Jc^*) (Jc free + Jc_dot qd)
         qdd = free + inv(Mass) Jc^* lambda",
    );
    let mut run = Evaluator::closed(&script, &closed, &[], &[]).unwrap();
    let sweeps = run.algorithm().cost().sweeps;
    assert!(
        sweeps <= 5,
        "{sweeps}: {}",
        run.algorithm().explain(linkwork::algebra::Look::Plain)
    );
    let mut random = Random::new(7);
    let (q, qd, tau) = (random.numbers(7, 1.0), random.numbers(7, 1.0), random.numbers(7, 5.0));
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let mut moving = posed.moving(&qd).unwrap();
    let (mut out, mut qdd) = ([0.0; 10], [0.0; 7]);
    moving.tree().evaluate(&mut run, &[("T", &tau)], &mut out).unwrap();
    let lambda = moving.forward_dynamics(&tau, &mut qdd).unwrap().all().to_vec();
    for (a, b) in out.iter().zip(lambda.iter().chain(&qdd)) {
        assert!(
            (a - b).abs() < 1e-9 * size(&lambda).max(size(&qdd)),
            "{a} instead of {b}"
        );
    }
}

#[test]
fn batches_give_all_results_of_each_state() {
    let arm = linkwork::model::examples::arm7();
    let script = parse("p = qd^* T; qdd = inv(Mass) (T - C)");
    let mut batch = BatchEvaluator::<f64>::new(&script, &arm, &[], &[]).unwrap();
    let mut random = Random::new(3);
    let (q, qd, tau) = (
        random.numbers(35, 1.0),
        random.numbers(35, 1.0),
        random.numbers(35, 1.0),
    );
    let mut out = vec![0.0; 40];
    batch.evaluate(&q, &[("qd", &qd), ("T", &tau)], &mut out).unwrap();
    let mut run = Evaluator::new(&script, &arm, &[], &[]).unwrap();
    for i in 0..5 {
        let mut one = [0.0; 8];
        let part = 7 * i..7 * i + 7;
        let mut workspace = arm.workspace();
        let mut posed = workspace.at(&q[part.clone()]).unwrap();
        let given: [(&str, &[f64]); 2] = [("qd", &qd[part.clone()]), ("T", &tau[part])];
        posed.evaluate(&mut run, &given, &mut one).unwrap();
        assert_eq!(one, out[8 * i..8 * i + 8]);
    }
}

#[test]
fn what_is_wrong_with_a_script_is_shown_where_it_is() {
    for (text, start, reason) in [
        ("let L = J J^*", 12, "no result"),
        ("a1 = T; a1 = T", 8, "given twice"),
        ("let Mass = D; Mass T", 4, "has a meaning already"),
        ("let T = qd; T", 4, "has a meaning already"),
        ("p, q = T", 0, "2 names for 1 expressions"),
        ("p = T; Mass", 7, "needs a name"),
        ("p = T; q = Mass", 11, "is an operator"),
        ("p = T; s = inv(J) f", 11, "not square"),
        ("let x", 4, "needs a name, `=` and an expression"),
        ("1x = T", 0, "is not a name"),
    ] {
        match text.parse::<Expression>() {
            Err(linkwork::Error::Expression {
                start: found, problem, ..
            }) => {
                assert_eq!(found, start, "{text}: {problem}");
                assert!(problem.contains(reason), "{text}: {problem}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}
