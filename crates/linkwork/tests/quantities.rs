//! The list of quantities: names, shapes, and that one state and many give the same.

mod support;

use linkwork::batch::Real;
use linkwork::closed::{ClosedMechanism, Constraint};
use linkwork::model::{JointKind, examples};
use linkwork::quantity::{BatchEvaluation, Evaluation, Given, Input, Quantity};
use linkwork::spatial::Pose;
use linkwork::{Error, Mechanism, Reference};
use std::collections::HashSet;
use support::random::{Random, random_tree};

/// Numbers for every input of some states.
struct Inputs([Vec<f64>; 6]);

impl Inputs {
    fn new(mechanism: &Mechanism, states: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (nv, n) = (mechanism.nv(), states);
        let q = (0..states).flat_map(|i| mechanism.random(seed + i as u64)).collect();
        let mut numbers = |n: usize| (0..n).map(|_| random.within(-1.0, 1.0)).collect::<Vec<f64>>();
        Self([
            q,
            numbers(nv * n),
            numbers(nv * n),
            numbers(nv * n),
            numbers(nv * n),
            numbers(3 * nv * n),
        ])
    }

    fn given<T>(lists: &[Vec<T>; 6]) -> Given<'_, T> {
        let [q, qd, qdd, tau, x, change] = lists;
        Given {
            q,
            qd,
            qdd,
            tau,
            x,
            change,
            reference: Reference::Aligned,
            ..Given::default()
        }
    }
}

#[test]
fn names_and_aliases_are_unique_and_lead_to_their_quantities() {
    let mut names = HashSet::new();
    for quantity in Quantity::all() {
        for name in quantity.aliases.iter().chain([&quantity.name]) {
            assert!(names.insert(*name), "{name} is taken twice");
            assert_eq!(Quantity::find(name).unwrap().name, quantity.name);
        }
        assert!(quantity.takes(Input::Q), "{}", quantity.name);
        assert!(!quantity.about.is_empty() && !quantity.symbol.is_empty());
    }
    let problem = Quantity::find("mass_matrx").unwrap_err().to_string();
    assert!(
        problem.contains("did you mean") && problem.contains("mass_matrix"),
        "{problem}"
    );
}

/// Every quantity of one state, and of the same state among others, in `T`.
fn check<T: Real>(mechanism: &Mechanism, closed: Option<&ClosedMechanism>, tolerance: f64, seed: u64) -> usize {
    let states = 19;
    let inputs = Inputs::new(mechanism, states, seed);
    let rounded: [Vec<T>; 6] = inputs
        .0
        .each_ref()
        .map(|list| list.iter().map(|x| T::lift(*x)).collect());
    let tip = mechanism.link_ids().next_back().unwrap();
    let single = |kind: &JointKind| !matches!(kind, JointKind::Fixed | JointKind::Universal { .. });
    let own = mechanism.layout().zip(mechanism.joint_ids());
    let joint = own
        .filter(|((j, _, v), _)| single(&j.kind) && !v.is_empty())
        .map(|(_, id)| id)
        .last();
    let mut one = closed.map_or_else(|| Evaluation::new(mechanism), Evaluation::of_closed);
    let mut many = closed.map_or_else(|| BatchEvaluation::<T>::new(mechanism), BatchEvaluation::of_closed);
    many = many.with_threads(2);
    let mut computed = 0;
    for quantity in Quantity::all().filter(|q| closed.is_some() || !q.is_of_loops()) {
        let given = Given {
            frame: tip.into(),
            joint,
            ..Inputs::given(&rounded)
        };
        let size: usize = many.dimensions(quantity, &given).unwrap().iter().product();
        let mut all = vec![T::ZERO; states * size];
        let done = many.evaluate(quantity, &given, &mut all);
        for state in 0..states {
            let lists: [Vec<f64>; 6] = core::array::from_fn(|i| {
                let n = rounded[i].len() / states;
                rounded[i][n * state..n * (state + 1)]
                    .iter()
                    .map(|x| x.lane(0))
                    .collect()
            });
            let given = Given {
                frame: tip.into(),
                joint,
                ..Inputs::given(&lists)
            };
            let alone = match (one.compute(quantity, &given), &done) {
                (Ok(alone), Ok(())) => alone,
                // What has no meaning for a mechanism has none in any number of states.
                (Err(_), Err(_)) => continue,
                (a, b) => panic!("{}: {:?} for one, {b:?} for many", quantity.name, a.err()),
            };
            computed += 1;
            let scale = alone.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            for (a, b) in alone.iter().zip(&all[size * state..]) {
                let apart = (a - b.lane(0)).abs();
                assert!(
                    apart <= tolerance * scale,
                    "{} of {}: {a} {}",
                    quantity.name,
                    mechanism.name(),
                    b.lane(0)
                );
            }
        }
    }
    computed / states
}

#[test]
fn one_state_and_many_give_the_same() {
    for seed in 0..4 {
        let tree = random_tree(seed, 8);
        assert!(check::<f64>(&tree, None, 1e-9, seed) >= 40);
        check::<f32>(&tree, None, 2e-2, seed);
    }
    let robots = [examples::puma560(), examples::arm7(), examples::quadruped()];
    for robot in robots {
        assert!(check::<f64>(&robot, None, 1e-10, 7) >= 50, "{}", robot.name());
    }
}

#[test]
fn loops_have_quantities_of_their_own() {
    let arm = examples::arm7();
    let q = arm.random(3);
    let at = arm
        .workspace()
        .at(&q)
        .unwrap()
        .pose(arm.frame("flange").unwrap())
        .unwrap();
    let held = arm
        .to_builder()
        .frame("hook", "world", Pose::from_translation(at.translation))
        .build()
        .unwrap();
    let closed = ClosedMechanism::new(held, vec![Constraint::point("held", "flange", "hook")]).unwrap();
    let mut evaluation = Evaluation::of_closed(&closed);
    let zero = [0.0; 7];
    let given = Given {
        q: &q,
        qd: &zero,
        tau: &zero,
        x: &zero,
        ..Given::default()
    };
    let mut ask = |name: &str| evaluation.compute(Quantity::find(name).unwrap(), &given).unwrap();
    assert_eq!((ask("constraint_rank"), ask("freedom")), (vec![3.0], vec![4.0]));
    assert_eq!(ask("multipliers").len(), 3);
    // J q̈ = 0 at rest.
    let (jacobian, qdd) = (ask("constraint_jacobian"), ask("closed_forward_dynamics"));
    for row in jacobian.chunks(7) {
        assert!(row.iter().zip(&qdd).map(|(a, b)| a * b).sum::<f64>().abs() < 1e-9);
    }
    let refused = Evaluation::new(&arm).compute(Quantity::find("multipliers").unwrap(), &given);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let arm = examples::puma560();
    let mut evaluation = Evaluation::new(&arm);
    let given = Given {
        q: &[0.1; 6],
        qd: &[0.0; 5],
        ..Given::default()
    };
    let ask = |evaluation: &mut Evaluation, name: &str| {
        let problem = evaluation.compute(Quantity::find(name).unwrap(), &given).unwrap_err();
        problem.to_string()
    };
    assert_eq!(ask(&mut evaluation, "bias"), "qd has 5 numbers but needs 6");
    assert_eq!(ask(&mut evaluation, "mass_times"), "x has 0 numbers but needs 6");
    assert!(ask(&mut evaluation, "block_p").contains("say which"));
    let mut out = [0.0; 2];
    let mut many = BatchEvaluation::<f64>::new(&arm);
    let q = [[0.1; 6], [f64::NAN; 6]].concat();
    let given = Given {
        q: &q,
        ..Given::default()
    };
    let problem = many
        .evaluate(Quantity::find("log_det").unwrap(), &given, &mut out)
        .unwrap_err();
    assert!(problem.to_string().starts_with("state 1: "), "{problem}");
    assert!(out[0].is_finite() && out[1].is_nan());
}
