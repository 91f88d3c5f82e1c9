//! Linear models under forces from outside, against dual numbers through the plain dynamics.

mod support;

use linkwork::model::{Joint, Link, examples};
use linkwork::spatial::{Force, Inertia, Pose};
use linkwork::state_space::{ExternalForce, Method, OperatingPoint, StateSpace};
use linkwork::{Mechanism, Reference};
use support::coupled::cases;
use support::dual::{D, along, constant, rate, varied};
use support::library::vector;
use support::matrix::Matrix;
use support::pushes::{act, random_pushes};
use support::random::{Random, random_state, random_tree};
use support::worst::Worst;

/// That the lower half of A is how q̈ answers small changes, whatever the forces keep to.
fn check(worst: &mut Worst, mechanism: &Mechanism, point: &OperatingPoint, seed: u64) {
    let (n, name) = (mechanism.nv(), mechanism.name());
    let change = Random::new(seed).numbers(2 * n, 1.0);
    let mut workspace = mechanism.workspace_of::<D>();
    let mut posed = workspace.at(&along(mechanism, &point.q, &change[..n])).unwrap();
    act(&point.forces, &mut posed);
    let mut moving = posed.moving(&varied(&point.qd, &change[n..])).unwrap();
    let expect = rate(n, 1, |out| moving.forward_dynamics(&constant(&point.tau), out));
    let model = StateSpace::continuous(mechanism, point).unwrap();
    let lower = &model.a[2 * n * n..];
    let rows = lower.chunks(2 * n);
    let got: Vec<f64> = rows
        .map(|row| row.iter().zip(&change).map(|(a, x)| a * x).sum())
        .collect();
    let mass = Matrix::from_slice(n, n, &mechanism.mass_matrix(&point.q).unwrap());
    let size = lower.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    worst.check("A", name, &got, &expect.data, size * mass.condition().max(1.0));
}

#[test]
fn models_answer_forces_that_keep_to_links_or_to_the_world() {
    let mut worst = Worst::new(1e-12);
    for seed in 0..200 {
        let mechanism = random_tree(seed, 12);
        let state = random_state(&mechanism, seed);
        let point = OperatingPoint {
            q: state.q,
            qd: state.qd,
            tau: state.tau,
            forces: random_pushes(&mechanism, seed),
        };
        check(&mut worst, &mechanism, &point, seed);
    }
    for case in cases().step_by(3) {
        let point = OperatingPoint {
            tau: vec![1.0; case.yd.len()],
            forces: random_pushes(&case.coupled, case.seed),
            q: case.y,
            qd: case.yd,
        };
        check(&mut worst, &case.coupled, &point, case.seed);
    }
}

#[test]
fn points_at_rest_are_held_against_forces() {
    for seed in 0..40 {
        let mechanism = random_tree(seed, 8);
        let (n, q) = (mechanism.nv(), random_state(&mechanism, seed).q);
        let pushes = random_pushes(&mechanism, seed);
        let point = OperatingPoint::at_rest_under(&mechanism, &q, &pushes).unwrap();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        act(&pushes, &mut posed);
        let mut moving = posed.moving(&point.qd).unwrap();
        let qdd = vector(n, |out| moving.forward_dynamics(&point.tau, out));
        let mass = Matrix::from_slice(n, n, &mechanism.mass_matrix(&q).unwrap());
        let size = point.tau.iter().fold(1.0, |most: f64, x| most.max(x.abs())) * mass.inverse().norm();
        let fastest = qdd.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        assert!(fastest <= 1e-12 * size * mass.condition().max(1.0), "{seed}: {fastest}");
    }
}

/// A bob of 2 kg on a rod of 0.5 m without weight, drawn down by 7 N more than by gravity: ω² = (g + 7/2)/0.5.
#[test]
fn a_pendulum_that_is_drawn_down_swings_faster() {
    let pendulum = Mechanism::builder("pendulum")
        .link(Link::new("bob", Inertia::point(2.0, [0.0, 0.0, -0.5])))
        .joint(Joint::revolute("hinge", [0.0, 1.0, 0.0]).between("world", "bob"))
        .frame("end", "bob", Pose::from_translation([0.0, 0.0, -0.5]))
        .gravity([0.0, 0.0, -9.81])
        .build()
        .unwrap();
    let frame = pendulum.frame("end").unwrap();
    let force = Force::new([0.0; 3], [0.0, 0.0, -7.0]);
    let squares = |reference| {
        let push = ExternalForce {
            frame,
            reference,
            force,
        };
        let point = OperatingPoint::at_rest_under(&pendulum, &[0.0], &[push]).unwrap();
        let h = 1e-3;
        let continuous = StateSpace::continuous(&pendulum, &point).unwrap();
        let step = StateSpace::of_step(&pendulum, &point, Method::RungeKutta4, h).unwrap();
        let turn = step.poles().unwrap()[0];
        [-continuous.a[2], (turn.im.abs().atan2(turn.re) / h).powi(2)]
    };
    for (reference, expect) in [(Reference::Aligned, (9.81 + 3.5) / 0.5), (Reference::Local, 9.81 / 0.5)] {
        let [continuous, step] = squares(reference);
        assert!((continuous - expect).abs() < 1e-12 * expect, "{continuous} {expect}");
        // Steps of order four turn by ωh (1 − (ωh)⁴/120) each.
        assert!((step - expect).abs() < 1e-7 * expect, "{step} {expect}");
    }
}

#[test]
fn pushes_that_make_no_sense_are_refused() {
    let (small, large) = (examples::cart_pole(), examples::humanoid());
    let last = &large.links().last().unwrap().name;
    let mut push = ExternalForce {
        frame: large.frame(last).unwrap(),
        reference: Reference::Aligned,
        force: Force::ZERO,
    };
    let refused = |push: ExternalForce| {
        let q = small.neutral();
        let mut point = OperatingPoint::at_rest(&small, &q).unwrap();
        point.forces = vec![push];
        let step = |method| StateSpace::of_step(&small, &point, method, 0.01).unwrap_err();
        let texts = [
            OperatingPoint::at_rest_under(&small, &q, &[push]).unwrap_err(),
            StateSpace::continuous(&small, &point).unwrap_err(),
            step(Method::RungeKutta4),
            step(Method::ImplicitMidpoint),
        ];
        let [first, rest @ ..] = texts.map(|e| e.to_string());
        assert!(rest.iter().all(|text| *text == first), "{first} {rest:?}");
        first
    };
    let text = refused(push);
    assert!(
        text.contains("another mechanism") && text.contains("cart_pole"),
        "{text}"
    );
    push.frame = small.frame("tip").unwrap();
    push.force.force.x = f64::NAN;
    let text = refused(push);
    assert!(text.starts_with("force is NaN"), "{text}");
}
