//! Integrators: their orders, what they keep, and known answers.

mod support;

use linkwork::Error;
use linkwork::model::{Joint, Link, Mechanism, examples};
use linkwork::simulate::{
    Diagonalized, DormandPrince, Dynamics, Equations, ImplicitMidpoint, Integrator, Now, PassiveForces, RungeKutta4,
    SemiImplicitEuler, State, Tolerance,
};
use linkwork::spatial::{Inertia, Vec3};
use linkwork::workspace::{Moving, Scaling};
use support::random::{random_state, random_tree};

/// The equations of a mechanism without anything that resists.
fn free(mechanism: &Mechanism) -> Dynamics<()> {
    Dynamics::with(mechanism, (), PassiveForces::none(mechanism))
}

fn run(integrator: &mut impl Integrator, equations: &mut impl Equations, from: &State, h: f64, steps: usize) -> State {
    let mut state = from.clone();
    for _ in 0..steps {
        integrator.step(equations, &mut state, h).unwrap();
    }
    state
}

fn adaptively(integrator: &mut DormandPrince, equations: &mut impl Equations, from: &State, end: f64) -> State {
    let mut state = from.clone();
    while state.t < end {
        integrator.step(equations, &mut state, end).unwrap();
    }
    assert_eq!(state.t, end);
    state
}

/// How far two states are from each other.
fn apart(mechanism: &Mechanism, a: &State, b: &State) -> f64 {
    let v = a.v.iter().zip(&b.v).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    mechanism.distance(&a.q, &b.q).unwrap() + v.sqrt()
}

fn energy(mechanism: &Mechanism, state: &State) -> f64 {
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(&state.q).unwrap();
    let potential = posed.potential_energy();
    potential + posed.moving(&state.v).unwrap().kinetic_energy()
}

/// A point of 1 kg at the end of a rod without mass, of 1 m along −z at q = 0.
fn bob() -> Inertia {
    Inertia::new(1.0, [0.0, 0.0, -1.0], [0.0; 6])
}

/// Points on rods without mass.
fn point_pendulum(n: usize) -> Mechanism {
    let mut builder = Mechanism::builder("points").gravity([0.0, 0.0, -9.81]);
    for i in 0..n {
        let (name, parent) = (
            format!("rod{i}"),
            if i == 0 {
                "world".to_owned()
            } else {
                format!("rod{}", i - 1)
            },
        );
        let at = [0.0, 0.0, if i == 0 { 0.0 } else { -1.0 }];
        let joint = Joint::revolute(format!("hinge{i}"), [0.0, 1.0, 0.0]);
        builder = builder
            .link(Link::new(&name, bob()))
            .joint(joint.between(parent, name).at(at));
    }
    builder.build().unwrap()
}

/// A body with principal moments of inertia 1, 2 and 3, free in space.
fn racket() -> Mechanism {
    let body = Inertia::new(1.0, [0.0; 3], [1.0, 0.0, 0.0, 2.0, 0.0, 3.0]);
    Mechanism::builder("racket")
        .gravity(Vec3::ZERO)
        .link(Link::new("body", body))
        .joint(Joint::free("float").between("world", "body"))
        .build()
        .unwrap()
}

/// A state of a random tree with many kinds of joints, slow enough for coarse steps.
fn tree(seed: u64) -> (Mechanism, State) {
    let mechanism = random_tree(seed, 6);
    let given = random_state(&mechanism, seed);
    let v = given.qd.iter().map(|v| 0.3 * v).collect();
    (mechanism.clone(), State { t: 0.0, q: given.q, v })
}

#[test]
fn errors_fall_with_the_order_of_the_method() {
    // Free, spherical and planar joints put the manifold to the test.
    let arm = examples::arm7().with_floating_base().unwrap();
    let mut start = State::at_rest(&arm, &arm.random(5));
    start
        .v
        .iter_mut()
        .enumerate()
        .for_each(|(i, v)| *v = 0.7 - 0.1 * i as f64);
    let mut cases = vec![(arm, start)];
    cases.extend((0..6).map(tree));
    for (robot, start) in &cases {
        let mut equations = free(robot);
        let exact = run(&mut RungeKutta4::new(robot), &mut equations, start, 0.25 / 2000.0, 2000);
        let mut order = |integrator: &mut dyn FnMut(&mut Dynamics<()>, f64, usize) -> State, n: usize| {
            let coarse = apart(robot, &exact, &integrator(&mut equations, 0.25 / n as f64, n));
            let fine = apart(robot, &exact, &integrator(&mut equations, 0.125 / n as f64, 2 * n));
            println!("{}: {coarse:e} {fine:e}", robot.name());
            (coarse / fine).log2()
        };
        let first = order(
            &mut |e, h, n| run(&mut SemiImplicitEuler::new(robot), e, start, h, n),
            400,
        );
        assert!(
            (0.8..1.2).contains(&first),
            "semi-implicit Euler on {}: {first}",
            robot.name()
        );
        let second = order(
            &mut |e, h, n| run(&mut ImplicitMidpoint::new(robot), e, start, h, n),
            100,
        );
        assert!(
            (1.8..2.2).contains(&second),
            "implicit midpoint on {}: {second}",
            robot.name()
        );
        let fourth = order(&mut |e, h, n| run(&mut RungeKutta4::new(robot), e, start, h, n), 40);
        assert!(
            (3.6..4.6).contains(&fourth),
            "Runge–Kutta on {}: {fourth}",
            robot.name()
        );
    }
}

#[test]
fn a_pendulum_is_where_it_must_be() {
    let robot = point_pendulum(1);
    // At (−1, 0): a turn about y moves −z towards −x.
    let start = State::at_rest(&robot, &[std::f64::consts::FRAC_PI_2]);
    let end = adaptively(&mut DormandPrince::new(&robot), &mut free(&robot), &start, 10.0);
    let (x, z) = (-end.q[0].sin(), -end.q[0].cos());
    let error = (x + 0.275087462576).abs().max((z + 0.961419205099).abs());
    println!("({x}, {z}): {error:e}");
    assert!(error < 1e-9, "({x}, {z})");
}

#[test]
fn a_double_pendulum_keeps_its_energy() {
    for robot in [point_pendulum(2), examples::double_pendulum()] {
        let start = State::at_rest(&robot, &[std::f64::consts::FRAC_PI_2, 0.0]);
        let before = energy(&robot, &start);
        let mut equations = free(&robot);
        let mut integrator = DormandPrince::new(&robot);
        let mut state = start.clone();
        let (mut worst, mut steps) = (0.0_f64, 0);
        while state.t < 10.0 {
            integrator.step(&mut equations, &mut state, 10.0).unwrap();
            worst = worst.max((energy(&robot, &state) - before).abs());
            steps += 1;
        }
        println!(
            "{}: {worst:e} J in {steps} steps, {} rejected",
            robot.name(),
            integrator.rejected()
        );
        assert!(worst < 1e-9, "{worst:e}");
        let mut drift = |n: usize| {
            let end = run(&mut RungeKutta4::new(&robot), &mut equations, &start, 2.0 / n as f64, n);
            (energy(&robot, &end) - before).abs()
        };
        let order = (drift(1000) / drift(2000)).log2();
        println!("{}: drift falls as dt^{order}", robot.name());
        assert!(order > 3.7, "{order}");
    }
}

#[test]
fn a_tennis_racket_keeps_energy_and_momentum() {
    let robot = racket();
    let mut start = State::at_rest(&robot, &robot.neutral());
    start.v[..3].copy_from_slice(&[0.01, 5.0, 0.01]);
    let measure = |state: &State| {
        let mut workspace = robot.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        let mut moving = posed.moving(&state.v).unwrap();
        (moving.kinetic_energy(), moving.momentum().moment)
    };
    let (energy, momentum) = measure(&start);
    let mut equations = free(&robot);
    let mut flips = 0;
    let check = |name: &str, state: &State| {
        let (e, m) = measure(state);
        let norm = state.q[..4].iter().map(|x| x * x).sum::<f64>().sqrt();
        let (de, dm) = ((e - energy).abs() / energy, (m - momentum).norm() / momentum.norm());
        if state.t > 99.0 {
            println!("{name}: energy {de:e}, momentum {dm:e}, quaternion {:e}", norm - 1.0);
        }
        assert!(
            de < 1e-10 && dm < 1e-10 && (norm - 1.0).abs() < 1e-14,
            "{name}: {de:e} {dm:e} {norm}"
        );
    };
    let mut integrator = RungeKutta4::new(&robot);
    let mut state = start.clone();
    for _ in 0..100 {
        let side = state.v[1] > 0.0;
        state = run(&mut integrator, &mut equations, &state, 1e-3, 1000);
        flips += u32::from((state.v[1] > 0.0) != side);
        check("Runge–Kutta", &state);
    }
    assert!(flips > 10, "it must tumble: {flips}");
}

#[test]
fn the_midpoint_rule_keeps_what_is_quadratic_and_goes_back_the_way_it_came() {
    let robot = racket();
    let mut start = State::at_rest(&robot, &robot.neutral());
    start.v[..3].copy_from_slice(&[0.01, 5.0, 0.01]);
    let mut equations = free(&robot);
    let mut integrator = ImplicitMidpoint::new(&robot);
    let end = run(&mut integrator, &mut equations, &start, 1e-2, 1000);
    assert!((energy(&robot, &end) / energy(&robot, &start) - 1.0).abs() < 1e-12);
    for (robot, start) in (0..4).map(tree) {
        let mut equations = free(&robot);
        let mut integrator = ImplicitMidpoint::new(&robot);
        let there = run(&mut integrator, &mut equations, &start, 2e-3, 50);
        let back = run(&mut integrator, &mut equations, &there, -2e-3, 50);
        let error = apart(&robot, &start, &back);
        println!("{}: back within {error:e}", robot.name());
        assert!(error < 1e-9, "{error:e}");
    }
}

#[test]
fn dense_output_is_as_good_as_order_four() {
    let (robot, start) = tree(2);
    let mut equations = free(&robot);
    let exact = |t: f64| {
        let mut state = start.clone();
        if t > 0.0 {
            state = run(&mut RungeKutta4::new(&robot), &mut free(&robot), &start, t / 400.0, 400);
        }
        state
    };
    // The error between the ends of one step falls with its fifth power.
    let mut worst = |h: f64| {
        let loose = Tolerance {
            relative: 1e3,
            absolute: 1e3,
        };
        let mut integrator = DormandPrince::new(&robot).tolerance(loose);
        let mut state = start.clone();
        integrator.step(&mut equations, &mut state, h).unwrap();
        assert_eq!(state.t, h, "one step");
        let mut between = state.clone();
        (1..10).fold(0.0_f64, |worst, i| {
            let t = h * f64::from(i) / 10.0;
            integrator.interpolate(t, &mut between).unwrap();
            worst.max(apart(&robot, &exact(t), &between))
        })
    };
    let (coarse, fine) = (worst(0.04), worst(0.02));
    println!("{coarse:e} {fine:e}");
    assert!((4.5..6.5).contains(&(coarse / fine).log2()), "{coarse:e} {fine:e}");
    // Ends are met, and other times refused.
    let mut integrator = DormandPrince::new(&robot);
    let mut state = start.clone();
    integrator.step(&mut equations, &mut state, 1.0).unwrap();
    let mut at = state.clone();
    integrator.interpolate(0.0, &mut at).unwrap();
    assert!(apart(&robot, &at, &start) < 1e-15);
    integrator.interpolate(state.t, &mut at).unwrap();
    assert_eq!(at, state);
    assert!(integrator.interpolate(state.t + 1e-3, &mut at).is_err());
}

#[test]
fn adaptive_steps_keep_the_tolerance() {
    let (robot, start) = tree(3);
    let exact = run(
        &mut RungeKutta4::new(&robot),
        &mut free(&robot),
        &start,
        1.0 / 8000.0,
        8000,
    );
    for tolerance in [1e-5, 1e-7, 1e-9] {
        let tolerance = Tolerance {
            relative: tolerance,
            absolute: tolerance,
        };
        let mut integrator = DormandPrince::new(&robot).tolerance(tolerance);
        let end = adaptively(&mut integrator, &mut free(&robot), &start, 1.0);
        let error = apart(&robot, &exact, &end);
        println!("{:e}: {error:e}", tolerance.relative);
        assert!(error < 300.0 * tolerance.relative, "{error:e}");
    }
}

/// A drive that shakes every joint.
fn shake(now: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]) -> linkwork::Result<()> {
    tau.iter_mut()
        .enumerate()
        .for_each(|(i, tau)| *tau = 0.1 * (3.0 * now.t + i as f64).sin());
    Ok(())
}

#[test]
fn all_integrators_agree_under_a_drive_that_varies_in_time() {
    let (robot, start) = tree(4);
    let equations = || Dynamics::with(&robot, shake, PassiveForces::none(&robot));
    let exact = adaptively(&mut DormandPrince::new(&robot), &mut equations(), &start, 0.5);
    let apart = |state: State| apart(&robot, &exact, &state);
    let fourth = apart(run(&mut RungeKutta4::new(&robot), &mut equations(), &start, 1e-3, 500));
    let second = apart(run(
        &mut ImplicitMidpoint::new(&robot),
        &mut equations(),
        &start,
        1e-3,
        500,
    ));
    let first = apart(run(
        &mut SemiImplicitEuler::new(&robot),
        &mut equations(),
        &start,
        1e-3,
        500,
    ));
    println!("{fourth:e} {second:e} {first:e}");
    assert!(fourth < 1e-6 && second < 1e-2 && first < 0.5);
}

#[test]
fn the_implicit_rule_bears_what_explicit_ones_do_not() {
    let rod = Inertia::rod(1.0, [0.0, 0.0, -1.0]);
    let robot = Mechanism::builder("stiff")
        .link(Link::new("rod", rod))
        .joint(
            Joint::revolute("hinge", [0.0, 1.0, 0.0])
                .between("world", "rod")
                .damping(1e5),
        )
        .build()
        .unwrap();
    let start = State::at_rest(&robot, &[1.0]);
    let mut implicit = ImplicitMidpoint::new(&robot);
    let end = run(
        &mut implicit,
        &mut Dynamics::new(&robot, ()).unwrap(),
        &start,
        1e-2,
        100,
    );
    // It creeps: 1e5 q̇ = −½ g sin q.
    let creep = -0.5 * 9.80665 * 1.0_f64.sin() / 1e5;
    assert!(
        (end.q[0] - 1.0 - creep).abs() < 0.02 * creep.abs(),
        "{}",
        end.q[0] - 1.0
    );
    let mut equations = Dynamics::new(&robot, ()).unwrap();
    let mut explicit = RungeKutta4::new(&robot);
    let mut state = start;
    let failed = (0..100).find_map(|_| explicit.step(&mut equations, &mut state, 1e-2).err());
    let message = failed.expect("it grows without bound").to_string();
    assert!(
        message.contains("hinge") && message.contains("shorter steps"),
        "{message}"
    );
}

#[test]
fn the_implicit_rule_comes_to_rest_by_friction_and_stops() {
    // The arm falls, slides to rest against its friction, and lies on its stops.
    let robot = examples::puma560();
    let start = State::at_rest(&robot, &robot.random(2));
    let mut equations = Dynamics::new(&robot, ()).unwrap();
    let end = run(&mut ImplicitMidpoint::new(&robot), &mut equations, &start, 1e-3, 1500);
    let exact = adaptively(&mut DormandPrince::new(&robot), &mut equations, &start, 1.5);
    let error = apart(&robot, &exact, &end);
    println!("apart by {error:e}");
    assert!(error < 0.1, "{error}");
}

#[test]
fn stops_hold_and_friction_stops() {
    let rod = Inertia::rod(1.0, [0.0, 0.0, -1.0]);
    let hinge = || Joint::revolute("hinge", [0.0, 1.0, 0.0]).between("world", "rod");
    let build = |joint: Joint| {
        let builder = Mechanism::builder("rod").link(Link::new("rod", rod)).joint(joint);
        builder.build().unwrap()
    };
    // It falls from 1 rad onto its stop at 0.5 rad, and rests there.
    let robot = build(hinge().position_limits(0.5, 2.0));
    let start = State::at_rest(&robot, &[1.0]);
    let resistance = PassiveForces::of(&robot).unwrap().for_steps(1e-3);
    let mut equations = Dynamics::with(&robot, (), resistance);
    let mut state = start.clone();
    let mut integrator = RungeKutta4::new(&robot);
    let mut deepest = 0.0_f64;
    for _ in 0..2000 {
        integrator.step(&mut equations, &mut state, 1e-3).unwrap();
        deepest = deepest.max(0.5 - state.q[0]);
    }
    println!("deepest {deepest}, rests at {}", state.q[0]);
    assert!(deepest < 0.02 && (state.q[0] - 0.5).abs() < 1e-3 && state.v[0].abs() < 1e-6);
    let adaptive = adaptively(&mut DormandPrince::new(&robot), &mut equations, &start, 2.0);
    assert!(apart(&robot, &adaptive, &state) < 1e-6);
    // Friction of more than the weight holds it; less lets it go.
    for (friction, falls) in [(6.0, false), (2.0, true)] {
        let mut joint = hinge();
        joint.friction = vec![friction];
        let robot = build(joint);
        let resistance = PassiveForces::of(&robot).unwrap().for_steps(1e-3);
        let mut equations = Dynamics::with(&robot, (), resistance);
        let start = State::at_rest(&robot, &[1.0]);
        let end = run(&mut RungeKutta4::new(&robot), &mut equations, &start, 1e-3, 300);
        println!("friction {friction}: {} after 0.3 s", end.q[0]);
        assert_eq!((end.q[0] - 1.0).abs() > 0.05, falls);
    }
}

#[test]
fn wrong_states_and_steps_are_refused() {
    let robot = examples::double_pendulum();
    let mut equations = free(&robot);
    let mut state = State::at_rest(&robot, &[0.1, 0.2]);
    let mut integrator = RungeKutta4::new(&robot);
    assert!(integrator.step(&mut equations, &mut state, f64::NAN).is_err());
    state.q.push(0.0);
    let message = integrator
        .step(&mut equations, &mut state, 0.1)
        .unwrap_err()
        .to_string();
    assert!(message.contains('q'), "{message}");
    let mut state = State::at_rest(&robot, &[0.1, 0.2]);
    assert!(
        DormandPrince::new(&robot)
            .step(&mut equations, &mut state, 0.0)
            .is_err()
    );
    state.v[0] = f64::INFINITY;
    let before = state.clone();
    let message = integrator
        .step(&mut equations, &mut state, 0.1)
        .unwrap_err()
        .to_string();
    assert!(message.contains("shoulder") && state == before, "{message}");
    let racket = racket();
    let mut spinning = State::at_rest(&racket, &racket.neutral());
    spinning.v[2] = 1000.0;
    let message = integrator_of(&racket)
        .step(&mut free(&racket), &mut spinning, 0.1)
        .unwrap_err();
    assert!(message.to_string().contains("circle"), "{message}");
}

#[test]
fn steps_go_forward_and_the_midpoint_rule_back_too() {
    let robot = examples::double_pendulum();
    for h in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let mut state = State::at_rest(&robot, &[0.1, 0.2]);
        let mut equations = free(&robot);
        let fourth = RungeKutta4::new(&robot).step(&mut equations, &mut state, h);
        let first = SemiImplicitEuler::new(&robot).step(&mut equations, &mut state, h);
        let second = ImplicitMidpoint::new(&robot).step(&mut equations, &mut state, h);
        assert!(
            matches!(fourth, Err(Error::Duration { argument: "h", .. })),
            "{fourth:?}"
        );
        assert!(matches!(first, Err(Error::Duration { argument: "h", .. })), "{first:?}");
        assert_eq!(second.is_ok(), h < 0.0, "{second:?}");
    }
}

#[test]
fn a_state_that_is_not_finite_is_not_blamed_on_steps() {
    let robot = examples::double_pendulum();
    for bad in [f64::NAN, f64::INFINITY, 1e61] {
        for (argument, index) in [("state.q", 0), ("state.v", 1)] {
            let mut state = State::at_rest(&robot, &[0.1, 0.2]);
            let numbers = if index == 0 { &mut state.q } else { &mut state.v };
            numbers[index] = bad;
            let name = format!(
                "{argument}[{index}] (joint `{}`) is {bad:e}",
                robot.joints()[index].name
            );
            let mut equations = free(&robot);
            for result in [
                RungeKutta4::new(&robot).step(&mut equations, &mut state, 1e-3),
                SemiImplicitEuler::new(&robot).step(&mut equations, &mut state, 1e-3),
                ImplicitMidpoint::new(&robot).step(&mut equations, &mut state, 1e-3),
                DormandPrince::new(&robot).step(&mut equations, &mut state, 1.0),
            ] {
                let message = result.unwrap_err().to_string();
                assert!(message.starts_with(&name), "{message}");
            }
        }
    }
}

#[test]
fn a_step_that_ends_out_of_bounds_is_too_long() {
    let robot = point_pendulum(1);
    let mut state = State::at_rest(&robot, &[1.0]);
    let mut equations = Dynamics::with(
        &robot,
        |_: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]| {
            tau[0] = 1e59;
            Ok(())
        },
        PassiveForces::none(&robot),
    );
    let before = state.clone();
    let message = SemiImplicitEuler::new(&robot)
        .step(&mut equations, &mut state, 100.0)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("hinge0") && message.contains("shorter steps"),
        "{message}"
    );
    assert_eq!(state, before);
}

#[test]
fn a_drive_that_gives_no_number_is_named() {
    let robot = examples::double_pendulum();
    let drive = |bad: f64| {
        move |now: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]| {
            tau[1] = if now.t < 0.1 { 0.0 } else { bad };
            Ok(())
        }
    };
    for bad in [f64::NAN, f64::NEG_INFINITY] {
        for t in [0.0, 0.2] {
            let mut state = State::at_rest(&robot, &[0.1, 0.2]);
            state.t = t;
            let mut standard = Dynamics::with(&robot, drive(bad), PassiveForces::none(&robot));
            let mut diagonal = Diagonalized::with(&robot, Scaling::Normalized, drive(bad), PassiveForces::none(&robot));
            let mut from = [(); 5].map(|()| state.clone());
            for result in [
                RungeKutta4::new(&robot).step(&mut standard, &mut from[0], 0.15),
                SemiImplicitEuler::new(&robot).step(&mut standard, &mut from[1], 0.15),
                ImplicitMidpoint::new(&robot).step(&mut standard, &mut from[2], 0.25),
                DormandPrince::new(&robot)
                    .longest_step(0.15)
                    .step(&mut standard, &mut from[3], 1.0),
                RungeKutta4::new(&robot).step(&mut diagonal, &mut from[4], 0.15),
            ] {
                // The first step of Euler's method and of the adaptive one may end before the drive fails.
                let Err(error) = result else {
                    assert_eq!(t, 0.0);
                    continue;
                };
                let message = error.to_string();
                let elbow = format!("the drive gives joint `{}` a torque of {bad}", robot.joints()[1].name);
                assert!(message.contains(&elbow) && !message.contains("shorter"), "{message}");
            }
        }
    }
}

fn integrator_of(mechanism: &Mechanism) -> RungeKutta4 {
    RungeKutta4::new(mechanism)
}
