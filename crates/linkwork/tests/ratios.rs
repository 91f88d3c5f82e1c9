//! What large ratios, locked loops, times that are no numbers and tolerances below rounding lead to.

mod support;

use linkwork::closed::{ClosedMechanism, Constraint};
use linkwork::model::{Coupling, Joint, Link, examples};
use linkwork::simulate::{DormandPrince, Dynamics, Integrator, RungeKutta4, State, Tolerance};
use linkwork::spatial::{Inertia, Pose};
use linkwork::{Error, Mechanism};

/// An arm of three links with a rotor beside its elbow, geared by a ratio.
fn geared(ratio: f64) -> Mechanism {
    try_geared(ratio).unwrap()
}

fn try_geared(ratio: f64) -> linkwork::Result<Mechanism> {
    let rod = |name: &str| Link::new(name, Inertia::rod(1.0, [0.0, 0.0, -1.0]));
    let pin = |name: &str| Joint::revolute(name, [0.0, 1.0, 0.0]);
    Mechanism::builder("geared")
        .link(rod("a"))
        .link(rod("b"))
        .link(rod("c"))
        .link(Link::new("rotor", Inertia::cuboid(1e-3, [0.01; 3])))
        .joint(pin("first").between("world", "a"))
        .joint(pin("second").between("a", "b").at([0.0, 0.0, -1.0]))
        .joint(pin("third").between("b", "c").at([0.0, 0.0, -1.0]))
        .joint(pin("spin").between("a", "rotor").at([0.0, 0.0, -0.9]))
        .couple(Coupling::gear("spin", "second", ratio, 0.0))
        .build()
}

#[test]
fn the_inverse_of_a_coupled_mass_matrix_keeps_its_digits_at_large_ratios() {
    for power in 0..=8 {
        let robot = geared(10f64.powi(power));
        let q = [0.3, -0.8, 0.5];
        let (mass, inverse) = (robot.mass_matrix(&q).unwrap(), robot.mass_matrix_inverse(&q).unwrap());
        // 𝓜𝓜⁻¹ = I, element by element in units of what is summed.
        for i in 0..3 {
            for j in 0..3 {
                let terms = (0..3).map(|k| mass[i * 3 + k] * inverse[k * 3 + j]);
                let size = terms.clone().fold(0.0, |s: f64, x| s + x.abs());
                let expect = if i == j { 1.0 } else { 0.0 };
                let error = (terms.sum::<f64>() - expect).abs() / size.max(1.0);
                assert!(error < 1e-10, "10^{power}: {error:e} at {i}, {j}");
            }
        }
        // And as forward dynamics has it.
        let mut column = [0.0; 3];
        robot
            .workspace()
            .at(&q)
            .unwrap()
            .inverse_mass_times(&[0.0, 1.0, 0.0], &mut column)
            .unwrap();
        support::assert_close("a column", &inverse[3..6], &column, 1e-12);
    }
}

#[test]
fn an_inverse_that_is_not_finite_is_an_error() {
    // Up to 1e30 the builder takes a ratio, and the inverse is finite or refused; what is larger is refused by name.
    for power in [9, 12, 16, 20, 25, 29] {
        let robot = geared(10f64.powi(power));
        let mut workspace = robot.workspace();
        let mut posed = workspace.at(&[0.3, -0.8, 0.5]).unwrap();
        let mut inverse = [f64::NAN; 9];
        match posed.mass_matrix_inverse(&mut inverse) {
            Ok(()) => assert!(inverse.iter().all(|x| x.is_finite()), "10^{power}: {inverse:?}"),
            Err(problem) => assert!(matches!(problem, Error::Singular { .. }), "10^{power}: {problem}"),
        }
        let mut column = [f64::NAN; 3];
        match posed.inverse_mass_times(&[1.0, 2.0, 3.0], &mut column) {
            Ok(()) => assert!(column.iter().all(|x| x.is_finite()), "10^{power}: {column:?}"),
            Err(problem) => assert!(matches!(problem, Error::Singular { .. }), "10^{power}: {problem}"),
        }
    }
    for power in [31, 100, 154, 300] {
        let problem = try_geared(10f64.powi(power)).unwrap_err();
        assert!(
            matches!(&problem, Error::Joint { joint, .. } if joint == "spin"),
            "10^{power}: {problem}"
        );
    }
}

#[test]
fn inverse_dynamics_takes_what_forward_dynamics_gives_on_a_locked_mechanism() {
    // A triangle of rods, which cannot move.
    let rod = |name: &str| Link::new(name, Inertia::rod(1e-3, [1.0, 0.0, 0.0]));
    let pin = |name: &str| Joint::revolute(name, [0.0, 0.0, 1.0]);
    let chain = Mechanism::builder("triangle")
        .gravity([0.0, -9.81, 0.0])
        .link(rod("a"))
        .link(rod("b"))
        .joint(pin("one").between("world", "a"))
        .joint(pin("two").between("a", "b").at([1.0, 0.0, 0.0]))
        .frame("end", "b", Pose::from_translation([1.0, 0.0, 0.0]))
        .frame("ground", "world", Pose::from_translation([1.2, 0.0, 0.0]))
        .build()
        .unwrap();
    let closed = ClosedMechanism::new(chain, vec![Constraint::point("pin", "end", "ground")]).unwrap();
    let q = closed.assemble(&[0.9, -1.8]).unwrap();
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    assert_eq!(posed.report().unwrap().freedom, 0);
    let mut moving = posed.moving(&[0.0; 2]).unwrap();
    let (mut qdd, mut tau) = ([0.0; 2], [0.0; 2]);
    for torque in [0.0, 0.1, -3.0] {
        moving.forward_dynamics(&[torque, -torque], &mut qdd).unwrap();
        moving.inverse_dynamics(&qdd, &[0, 1], &mut tau).unwrap();
    }
    // What breaks the loop is refused as ever.
    assert!(moving.inverse_dynamics(&[1.0, 0.0], &[0, 1], &mut tau).is_err());
}

#[test]
fn a_step_at_no_time_is_refused() {
    let robot = examples::pendulum();
    let mut equations = Dynamics::new(&robot, ()).unwrap();
    for t in [f64::NAN, f64::INFINITY] {
        let mut state = State {
            t,
            ..State::at_rest(&robot, &[0.1])
        };
        let problem = RungeKutta4::new(&robot)
            .step(&mut equations, &mut state, 1e-3)
            .unwrap_err();
        assert!(
            matches!(
                problem,
                Error::Parameter {
                    argument: "state.t",
                    ..
                }
            ),
            "{problem}"
        );
    }
}

#[test]
fn a_tolerance_below_rounding_is_refused() {
    let robot = examples::pendulum();
    let mut equations = Dynamics::new(&robot, ()).unwrap();
    let mut state = State::at_rest(&robot, &[1.0]);
    let tolerance = Tolerance {
        relative: 1e-18,
        absolute: 1e-19,
    };
    let mut integrator = DormandPrince::new(&robot).tolerance(tolerance);
    let problem = integrator
        .step(&mut equations, &mut state, 1.0)
        .unwrap_err()
        .to_string();
    assert!(problem.contains("below rounding"), "{problem}");
}

#[test]
fn a_mass_too_small_to_compute_with_is_refused() {
    let built = Mechanism::builder("dust")
        .link(Link::new(
            "grain",
            Inertia::new(5e-324, [0.1, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]),
        ))
        .joint(Joint::revolute("pin", [0.0, 0.0, 1.0]).between("world", "grain"))
        .build();
    let text = built.unwrap_err().to_string();
    assert!(text.contains("`grain`") && text.contains("too little"), "{text}");
}
