//! Compiled expressions in batches: every state gets the bits that it would get alone.

mod support;

use linkwork::algebra::{BatchEvaluator, Evaluates, Evaluator, Expression};
use linkwork::model::{Coupling, FrameId, examples};
use linkwork::{Error, Mechanism, Reference};
use support::coupled::{Case, cases};
use support::random::{Random, random_state, random_tree};

const EXPRESSIONS: [&str; 11] = [
    "inv(Mass) (T - C)",
    "H phi (M phi^* (H^* qdd + a) + b)",
    "-inv(Mass) J^* f",
    "J inv(Mass) J^* f",
    "inv(sqrt(D)) (I - H psi K) T",
    "0.5 qd^* Mass qd",
    "P psi^* H^* qd - 2 E_psi E_phi M V",
    "inv(I + J J^*) f",
    "pinv(J) f",
    "d(Mass qdd + C, w)",
    "dot(ell) T",
];

/// Vectors of some states, state after state.
fn vectors<T: Evaluates>(run: &Evaluator, states: usize, seed: u64) -> Vec<(String, usize, Vec<T>)> {
    let mut random = Random::new(seed);
    let inputs = run.algorithm().inputs().into_iter();
    inputs
        .map(|(name, space)| {
            let each = run.size(space);
            let numbers = random.numbers(each * states, 1.0);
            (name, each, numbers.into_iter().map(T::lift).collect())
        })
        .collect()
}

fn configurations<T: Evaluates>(mechanism: &Mechanism, states: usize) -> Vec<T> {
    let each = (0..states).flat_map(|i| random_state(mechanism, i as u64).q);
    each.map(T::lift).collect()
}

fn frames(mechanism: &Mechanism) -> Vec<(FrameId, Reference)> {
    let link = |name: &str| mechanism.frame(name).unwrap();
    let links = mechanism.links();
    vec![
        (link(&links[links.len() - 1].name), Reference::Aligned),
        (link(&links[links.len() / 2].name), Reference::Local),
    ]
}

fn same_bits<T: Evaluates>(mechanism: &Mechanism, counts: &[usize], expressions: &[&str]) {
    let (nq, frames) = (mechanism.nq(), frames(mechanism));
    for text in expressions {
        let expression: Expression = text.parse().unwrap();
        let plain = Evaluator::<f64>::new(&expression, mechanism, &frames, &[]).unwrap();
        let mut one = Evaluator::<T>::new(&expression, mechanism, &frames, &[]).unwrap();
        let mut workspace = mechanism.workspace_of::<T>();
        let size = one.len();
        for &states in counts {
            let q = configurations::<T>(mechanism, states);
            let given = vectors::<T>(&plain, states, 5);
            let mut expect = vec![T::ZERO; states * size];
            for i in 0..states {
                let own: Vec<(&str, &[T])> = given
                    .iter()
                    .map(|(name, each, x)| (&name[..], &x[i * each..(i + 1) * each]))
                    .collect();
                let mut posed = workspace.at(&q[i * nq..(i + 1) * nq]).unwrap();
                posed
                    .evaluate(&mut one, &own, &mut expect[i * size..(i + 1) * size])
                    .unwrap();
            }
            let all: Vec<(&str, &[T])> = given.iter().map(|(name, _, x)| (&name[..], &x[..])).collect();
            for threads in [1, 3] {
                let batch = BatchEvaluator::<T>::new(&expression, mechanism, &frames, &[]).unwrap();
                let mut batch = batch.with_threads(threads).unwrap();
                let mut got = vec![T::ZERO; states * size];
                batch.evaluate(&q, &all, &mut got).unwrap();
                assert!(
                    got.iter().zip(&expect).all(|(x, y)| x == y && x.is_finite()),
                    "{}: `{text}`, {states} states on {threads} threads",
                    mechanism.name()
                );
            }
        }
    }
}

#[test]
fn every_state_gets_the_bits_that_it_would_get_alone() {
    same_bits::<f64>(&examples::puma560(), &[0, 1, 7, 35], &EXPRESSIONS);
    for seed in [3, 8, 20] {
        same_bits::<f64>(&random_tree(seed, 8), &[19], &EXPRESSIONS);
    }
    same_bits::<f32>(&examples::arm7(), &[1, 37], &EXPRESSIONS);
}

#[test]
fn joints_that_follow_others_are_no_exception() {
    let expressions = [
        "inv(Mass) (T - C)",
        "H phi (M phi^* (H^* qdd + a) + b)",
        "J inv(Mass) J^* f",
        "0.5 qd^* Mass qd",
        "V",
    ];
    for Case { coupled, .. } in cases().step_by(23) {
        same_bits::<f64>(&coupled, &[0, 1, 19], &expressions);
    }
    let Case { coupled, .. } = cases().next().unwrap();
    let batch = BatchEvaluator::<f64>::new(&"H psi K T".parse().unwrap(), &coupled, &[], &[]);
    let problem = batch.err().unwrap().to_string();
    assert!(problem.contains("K is not defined"), "{problem}");
}

#[test]
fn f32_goes_through_f64_where_joints_follow_others() {
    let arm = examples::arm7().to_builder();
    let arm = arm
        .couple(Coupling::gear("joint7", "joint1", 0.5, 0.2))
        .build()
        .unwrap();
    let expression: Expression = "inv(Mass) (T - C)".parse().unwrap();
    let (states, nv) = (11, arm.nv());
    let q = configurations::<f32>(&arm, states);
    let (qd, tau) = (vec![0.25_f32; nv * states], vec![0.5_f32; nv * states]);
    let mut got = vec![0.0_f32; nv * states];
    let mut batch = BatchEvaluator::<f32>::new(&expression, &arm, &[], &[]).unwrap();
    batch.evaluate(&q, &[("qd", &qd), ("T", &tau)], &mut got).unwrap();
    for (got, q) in got.chunks(nv).zip(q.chunks(nv)) {
        let q: Vec<f64> = q.iter().map(|x| f64::from(*x)).collect();
        let expect = arm.forward_dynamics(&q, &vec![0.25; nv], &vec![0.5; nv]).unwrap();
        let size = expect.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let close = |(got, expect): (&f32, &f64)| (f64::from(*got) - expect).abs() < 1e-5 * size;
        assert!(got.iter().zip(&expect).all(close), "{got:?} {expect:?}");
    }
}

#[test]
fn a_bad_state_does_not_spoil_the_others() {
    let arm = examples::puma560();
    let expression: Expression = "inv(Mass) (T - C)".parse().unwrap();
    let mut batch = BatchEvaluator::<f64>::new(&expression, &arm, &[], &[]).unwrap();
    let states = 20;
    let q = configurations::<f64>(&arm, states);
    let (qd, mut tau) = (vec![0.3; 6 * states], vec![1.0; 6 * states]);
    let (mut expect, mut got) = (vec![0.0; 6 * states], vec![0.0; 6 * states]);
    batch.evaluate(&q, &[("qd", &qd), ("T", &tau)], &mut expect).unwrap();
    let mut wrong = q.clone();
    (wrong[6 * 4], tau[6 * 11 + 2]) = (f64::NAN, f64::INFINITY);
    let error = batch
        .evaluate(&wrong, &[("qd", &qd), ("T", &tau)], &mut got)
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::State {
                index: 4,
                failed: 2,
                states: 20,
                ..
            }
        ),
        "{error}"
    );
    for (i, (got, expect)) in got.chunks(6).zip(expect.chunks(6)).enumerate() {
        if [4, 11].contains(&i) {
            assert!(got.iter().all(|x| x.is_nan()));
        } else {
            assert_eq!(got, expect);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let arm = examples::puma560();
    let expression: Expression = "inv(Mass) (T - C)".parse().unwrap();
    let mut batch = BatchEvaluator::<f64>::new(&expression, &arm, &[], &[]).unwrap();
    let (q, x, mut out) = (vec![0.1; 60], vec![0.1; 60], vec![0.0; 60]);
    let mut says = |q: &[f64], given: &[(&str, &[f64])], words: &str| {
        let error = batch.evaluate(q, given, &mut out).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    says(&q, &[("T", &x)], "qd");
    says(
        &q,
        &[("qd", &x), ("T", &x[..59])],
        "6 numbers for each of 10 states, not 59",
    );
    says(&q, &[("qd", &x), ("T", &x), ("f", &x)], "does not use it");
    says(&q[..59], &[("qd", &x), ("T", &x)], "q");
}
