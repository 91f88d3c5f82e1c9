//! The same laws over every scalar: `f64`, `f32`, dual numbers, duals of duals, and lanes of batches.
//!
//! A law is a residual that is zero. Over dual numbers its derivative along any change of the state is zero too, so that the
//! laws check derivatives that no formula is written for.

mod support;

use linkwork::Mechanism;
use linkwork::scalar::{Dual, Scalar};
use linkwork::workspace::Scaling::Normalized;
use support::random::{Random, State, random_state, thousand};

/// A state whose numbers move along a random direction in the tangent space.
struct Given<S> {
    q: Vec<S>,
    qd: Vec<S>,
    qdd: Vec<S>,
    x: Vec<S>,
}

/// The largest residual of every law, in units of what is summed.
fn laws<S: Scalar>(m: &Mechanism, given: &Given<S>, size: impl Fn(S) -> f64) -> Vec<(&'static str, f64)> {
    let nv = m.nv();
    let zeros = || vec![S::ZERO; nv];
    let mut workspace = m.workspace_of::<S>();
    let mut posed = workspace.at(&given.q).unwrap();
    let mut mass = vec![S::ZERO; nv * nv];
    posed.mass_matrix(&mut mass).unwrap();
    let (mut times, mut back, mut inner, mut factored) = (zeros(), zeros(), zeros(), zeros());
    posed.mass_times(&given.x, &mut times).unwrap();
    posed.inverse_mass_times(&times, &mut back).unwrap();
    // 𝓜x = m(m*x).
    posed.total_rates(Normalized, &given.x, &mut inner).unwrap();
    posed.joint_torques(Normalized, &inner, &mut factored).unwrap();
    let mut moving = posed.moving(&given.qd).unwrap();
    let (mut tau, mut qdd, mut bias, mut still) = (zeros(), zeros(), zeros(), zeros());
    moving.inverse_dynamics(&given.qdd, &mut tau).unwrap();
    moving.forward_dynamics(&tau, &mut qdd).unwrap();
    moving.bias(&mut bias).unwrap();
    moving.mass_times(&given.qdd, &mut still).unwrap();
    let energy = moving.kinetic_energy();
    moving.mass_times(&given.qd, &mut inner).unwrap();

    let largest = |x: &[S]| x.iter().fold(1e-300, |m: f64, x| m.max(size(*x)));
    let apart = |a: &[S], b: &[S]| {
        let difference: Vec<S> = a.iter().zip(b).map(|(a, b)| *a - *b).collect();
        largest(&difference)
    };
    let mut product = zeros();
    for i in 0..nv {
        for j in 0..nv {
            product[i] += mass[i * nv + j] * given.x[j];
        }
    }
    let sum: Vec<S> = bias.iter().zip(&still).map(|(a, b)| *a + *b).collect();
    let mut momentum = S::ZERO;
    for (p, v) in inner.iter().zip(&given.qd) {
        momentum += *p * *v;
    }
    let half = S::lift(0.5) * momentum;
    let condition = condition(m, &given.q.iter().map(|x| x.lane(0)).collect::<Vec<_>>());
    vec![
        ("𝓜x by its elements", apart(&product, &times) / largest(&times)),
        ("𝓜⁻¹𝓜x = x", apart(&back, &given.x) / largest(&given.x) / condition),
        ("mm*x = 𝓜x", apart(&factored, &times) / largest(&times)),
        ("T = 𝓜q̈ + C", apart(&sum, &tau) / (largest(&still) + largest(&bias))),
        (
            "forward dynamics of T gives q̈",
            apart(&qdd, &given.qdd) / largest(&given.qdd) / condition / (1.0 + largest(&bias) / largest(&still)),
        ),
        ("½q̇*𝓜q̇", size(energy - half) / (size(energy) + size(half)).max(1e-300)),
    ]
}

/// How much 𝓜⁻¹ may enlarge what was rounded.
fn condition(m: &Mechanism, q: &[f64]) -> f64 {
    let norm = |x: &[f64]| x.iter().fold(0.0, |sum: f64, x| sum + x * x).sqrt();
    norm(&m.mass_matrix(q).unwrap()) * norm(&m.mass_matrix_inverse(q).unwrap())
}

fn trees() -> impl Iterator<Item = (Mechanism, State, Random)> {
    let some = thousand().step_by(41).filter(|(_, m, _)| m.nv() > 0);
    some.map(|(seed, m, state)| (m, state, Random::new(seed)))
}

/// Runs all laws with numbers made from a value and its changes.
fn check<S: Scalar>(what: &str, tolerance: f64, lift: impl Fn(f64, [f64; 2]) -> S, size: impl Fn(S) -> f64 + Copy) {
    let mut worst: Vec<(&str, f64)> = Vec::new();
    for (m, state, mut random) in trees() {
        // Coordinates of joints with one coordinate each may move freely; a quaternion would leave its sphere.
        let moves: Vec<bool> = (0..m.nq()).map(|_| m.nq() == m.nv()).collect();
        let mut numbers = |x: &[f64], moves: &dyn Fn(usize) -> bool| -> Vec<S> {
            let change = |i: usize, random: &mut Random| match moves(i) {
                true => [random.within(-1.0, 1.0), random.within(-1.0, 1.0)],
                false => [0.0; 2],
            };
            x.iter()
                .enumerate()
                .map(|(i, x)| lift(*x, change(i, &mut random)))
                .collect()
        };
        let x: Vec<f64> = state.tau.clone();
        let given = Given {
            q: numbers(&state.q, &|i| moves[i]),
            qd: numbers(&state.qd, &|_| true),
            qdd: numbers(&state.qdd, &|_| true),
            x: numbers(&x, &|_| true),
        };
        for (i, (law, residual)) in laws(&m, &given, size).into_iter().enumerate() {
            if worst.len() <= i {
                worst.push((law, 0.0));
            }
            worst[i].1 = worst[i].1.max(residual);
            assert!(
                residual < tolerance,
                "{what}, {}: {law} misses by {residual:e}",
                m.name()
            );
        }
    }
    println!("{what}: {worst:?}");
}

#[test]
fn laws_hold_in_double_precision() {
    check("f64", 1e-12, |x, _| x, f64::abs);
}

#[test]
fn laws_hold_in_single_precision() {
    check("f32", 1e-3, |x, _| x as f32, |x| f64::from(x.abs()));
}

#[test]
fn laws_hold_along_every_change_of_the_state() {
    type D = Dual<f64>;
    let size = |x: D| x.value.abs().max(x.derivative.abs());
    check("dual", 1e-10, |x, [d, _]| Dual::new(x, d), size);
}

#[test]
fn laws_hold_along_two_changes_at_once() {
    type D = Dual<Dual<f64>>;
    let one = |x: Dual<f64>| x.value.abs().max(x.derivative.abs());
    let lift = |x: f64, [d, e]: [f64; 2]| D::new(Dual::new(x, d), Dual::new(e, 0.0));
    check("dual of dual", 1e-8, lift, |x: D| one(x.value).max(one(x.derivative)));
}

#[test]
fn laws_hold_in_lanes() {
    for (m, _, mut random) in trees() {
        let (nq, nv, states) = (m.nq(), m.nv(), 21);
        let all: Vec<State> = (0..states).map(|_| random_state(&m, random.bits())).collect();
        let flat = |part: fn(&State) -> &Vec<f64>| all.iter().flat_map(part).copied().collect::<Vec<f64>>();
        let (q, qd, qdd) = (flat(|s| &s.q), flat(|s| &s.qd), flat(|s| &s.qdd));
        let mut batch = m.batch();
        let room = || vec![0.0; states * nv];
        let (mut tau, mut back, mut bias, mut energy) = (room(), room(), room(), vec![0.0; states]);
        let (mut mass, mut inverse) = (vec![0.0; states * nv * nv], vec![0.0; states * nv * nv]);
        batch.inverse_dynamics(&q, &qd, &qdd, &mut tau).unwrap();
        batch.forward_dynamics(&q, &qd, &tau, &mut back).unwrap();
        batch.bias(&q, &qd, &mut bias).unwrap();
        batch.mass_matrix(&q, &mut mass).unwrap();
        batch.mass_matrix_inverse(&q, &mut inverse).unwrap();
        batch.kinetic_energy(&q, &qd, &mut energy).unwrap();
        for s in 0..states {
            let part = |x: &[f64], n: usize| x[s * n..(s + 1) * n].to_vec();
            let (mass, inverse) = (part(&mass, nv * nv), part(&inverse, nv * nv));
            let (qd, qdd, tau, bias) = (part(&qd, nv), part(&qdd, nv), part(&tau, nv), part(&bias, nv));
            let times = |a: &[f64], x: &[f64]| -> Vec<f64> {
                (0..nv).map(|i| (0..nv).map(|j| a[i * nv + j] * x[j]).sum()).collect()
            };
            let largest = |x: &[f64]| x.iter().fold(1e-300, |m: f64, x| m.max(x.abs()));
            let near = |a: &[f64], b: &[f64], size: f64| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * size);
            let condition = condition(&m, &part(&q, nq));
            let still = times(&mass, &qdd);
            let sum: Vec<f64> = still.iter().zip(&bias).map(|(a, b)| a + b).collect();
            let size = largest(&still) + largest(&bias);
            assert!(near(&sum, &tau, size), "{}: T = 𝓜q̈ + C", m.name());
            let again = times(&inverse, &still);
            assert!(near(&again, &qdd, condition * largest(&qdd)), "{}: 𝓜⁻¹𝓜", m.name());
            let rounded = condition * largest(&qdd) * (1.0 + largest(&bias) / largest(&still));
            assert!(near(&part(&back, nv), &qdd, rounded), "{}: q̈", m.name());
            let momentum: f64 = times(&mass, &qd).iter().zip(&qd).map(|(p, v)| p * v).sum();
            let half = 0.5 * momentum;
            assert!(
                (energy[s] - half).abs() <= 1e-12 * (energy[s].abs() + half.abs()),
                "{}",
                m.name()
            );
        }
    }
}
