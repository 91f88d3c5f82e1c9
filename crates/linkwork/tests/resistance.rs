//! Stops and dry friction in simulation, of joints and of those that follow them.

use linkwork::model::{Coupling, Joint, Link, Mechanism};
use linkwork::simulate::{DormandPrince, Dynamics, Integrator, PassiveForces, RungeKutta4, SemiImplicitEuler, State};
use linkwork::spatial::Inertia;

/// The equations of a mechanism for explicit steps of a millisecond.
fn stepped(robot: &Mechanism) -> Dynamics<()> {
    let resistance = PassiveForces::of(robot).unwrap().for_steps(1e-3);
    Dynamics::with(robot, (), resistance)
}

fn slide(name: &str, axis: [f64; 3]) -> Joint {
    Joint::prismatic(name, axis).between("world", format!("{name}_block"))
}

/// Blocks of 1 kg on slides.
fn blocks(gravity: [f64; 3], joints: Vec<Joint>, couplings: Vec<Coupling>) -> Mechanism {
    let mut builder = Mechanism::builder("blocks").gravity(gravity);
    for joint in joints {
        let block = Link::new(format!("{}_block", joint.name), Inertia::point(1.0, [0.0; 3]));
        builder = builder.link(block).joint(joint);
    }
    for coupling in couplings {
        builder = builder.couple(coupling);
    }
    builder.build().unwrap()
}

/// Steps for some seconds; how often the velocity turns round, and the states.
fn motion(integrator: &mut impl Integrator, robot: &Mechanism, start: State, seconds: f64) -> (usize, Vec<State>) {
    let (mut equations, mut state) = (stepped(robot), start);
    let (mut states, mut turns) = (vec![], 0);
    for _ in 0..(seconds * 1e3) as usize {
        let before = state.v[0];
        integrator.step(&mut equations, &mut state, 1e-3).unwrap();
        turns += usize::from(before * state.v[0] < 0.0);
        states.push(state.clone());
    }
    (turns, states)
}

#[test]
fn a_stop_gives_back_a_small_share_of_any_speed() {
    let joint = slide("x", [1.0, 0.0, 0.0]).position_limits(-0.5, 0.5);
    let robot = blocks([0.0; 3], vec![joint], vec![]);
    for v in [3.0_f64, -3.0, 0.3, -1e-3] {
        let start = State {
            t: 0.0,
            q: vec![0.5 * v.signum() - 1e-3 * v],
            v: vec![v],
        };
        let mut equations = Dynamics::new(&robot, ()).unwrap();
        let mut integrator = DormandPrince::new(&robot);
        let (mut state, mut deepest) = (start.clone(), 0.0_f64);
        while state.t < 0.1 {
            integrator.step(&mut equations, &mut state, 0.1).unwrap();
            deepest = deepest.max(state.q[0].abs() - 0.5);
        }
        let (back, deep) = (-state.v[0] / v, deepest / (5e-3 * v.abs()));
        println!("{v} m/s: {back} back, {deep} T deep");
        assert!((back - 0.071).abs() < 1e-3 && (0.31..0.33).contains(&deep));
        // Coarse steps give back as little.
        let (_, fourth) = motion(&mut RungeKutta4::new(&robot), &robot, start.clone(), 0.1);
        let (_, first) = motion(&mut SemiImplicitEuler::new(&robot), &robot, start, 0.1);
        for states in [fourth, first] {
            let back = -states[99].v[0] / v;
            assert!((0.06..0.08).contains(&back), "{back}");
        }
    }
}

#[test]
fn a_follower_on_a_curve_rests_on_its_stop() {
    for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] {
        let y = slide("y", axis).position_limits(-1.0, 1.0);
        let joints = vec![slide("x", [1.0, 0.0, 0.0]), y];
        let curve = Coupling::polynomial("y", "x", vec![0.0, 0.0, 0.0, 5.0]);
        let robot = blocks([9.81, 0.0, 0.0], joints, vec![curve]);
        let start = State::at_rest(&robot, &[0.1]);
        let (turns, states) = motion(&mut RungeKutta4::new(&robot), &robot, start, 10.0);
        let y = |state: &State| 5.0 * state.q[0].powi(3);
        let (deepest, end) = (states.iter().map(y).fold(0.0, f64::max), &states[9999]);
        println!("{turns} turns, up to {deepest}, rests at {}", y(end));
        assert!(turns <= 4 && deepest < 1.03, "{turns} {deepest}");
        assert!((1.0..1.002).contains(&y(end)) && end.v[0].abs() < 1e-9, "{end:?}");
    }
}

#[test]
fn a_follower_is_stopped_where_its_slope_turns_to_zero() {
    // y = 2 − x² may not come near its top, at x = 0; nor y = x³ beyond where it stands.
    let hill = Coupling::polynomial("y", "x", vec![2.0, 0.0, -1.0]);
    let ledge = Coupling::polynomial("y", "x", vec![0.0, 0.0, 0.0, 1.0]);
    for (curve, limit, edge) in [(hill.clone(), 1.99, -0.1), (hill, 1.9999, -0.01), (ledge, 0.0, 0.0)] {
        let y = slide("y", [0.0, 1.0, 0.0]).position_limits(f64::NEG_INFINITY, limit);
        let robot = blocks([0.0; 3], vec![slide("x", [1.0, 0.0, 0.0]), y], vec![curve]);
        let mut start = State::at_rest(&robot, &[edge - 0.1]);
        start.v[0] = 0.5;
        let (_, states) = motion(&mut RungeKutta4::new(&robot), &robot, start, 1.0);
        let (end, deepest) = (&states[999], states.iter().map(|s| s.q[0] - edge).fold(0.0, f64::max));
        println!("limit {limit}: {deepest} deep, leaves at {}", end.v[0]);
        assert!(deepest < 0.02 && end.v[0] < 0.0 && end.v[0] > -0.3, "{deepest} {end:?}");
        // At the very top there is no way out, and nothing is pushed.
        let top = State::at_rest(&robot, &[0.0]);
        let (_, states) = motion(&mut RungeKutta4::new(&robot), &robot, top, 0.01);
        assert_eq!(states[9].q, [0.0]);
    }
}

#[test]
fn friction_of_followers_on_curves_comes_to_rest_as_that_of_gears_does() {
    let gear = Coupling::gear("y", "x", 1.0, 0.0);
    let function = Coupling::function("y", "x", |y| [y, 1.0, 0.0, 0.0]);
    for own in [0.0, 50.0] {
        for coupling in [gear.clone(), function.clone()] {
            let [mut x, mut y] = [slide("x", [1.0, 0.0, 0.0]), slide("y", [0.0, 1.0, 0.0])];
            (x.friction, y.friction) = (vec![own], vec![200.0]);
            let robot = blocks([9.81, 0.0, 0.0], vec![x, y], vec![coupling]);
            let mut start = State::at_rest(&robot, &[0.0]);
            start.v[0] = 1.0;
            let (turns, fourth) = motion(&mut RungeKutta4::new(&robot), &robot, start.clone(), 1.0);
            let (more, first) = motion(&mut SemiImplicitEuler::new(&robot), &robot, start, 1.0);
            for states in [fourth, first] {
                // It creeps: the weight is a small share of the friction.
                let (before, end) = (&states[998], &states[999]);
                assert!((before.v[0] - end.v[0]).abs() < 1e-12, "{before:?} {end:?}");
            }
            assert!(turns + more == 0, "{turns} {more}");
        }
    }
}
