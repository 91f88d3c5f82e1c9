//! The chain rule beside dual numbers, and the end of a step beside the simulator's.

use super::super::OperatingPoint;
use super::super::dual_step::Stepper;
use super::*;
use crate::Reference;
use crate::model::{Coupling, Joint, Link, examples};
use crate::simulate::Integrator;
use crate::spatial::{Force, Inertia};

/// Every kind of joint with springs, dampers and friction, and joints that follow others.
fn every_kind() -> Mechanism {
    let mut robot = Mechanism::builder("every kind");
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        robot = robot.link(Link::new(name, Inertia::cuboid(1.0, [0.2, 0.3, 0.4])));
    }
    robot
        .joint(Joint::free("float").between("world", "a"))
        .joint(
            Joint::spherical("ball")
                .between("a", "b")
                .at([0.1, 0.3, -0.2])
                .damping(0.2),
        )
        .joint(Joint::planar("slide").between("b", "c").at([0.3, 0.1, 0.2]))
        .joint(
            Joint::revolute("lead", [0.0, 1.0, 0.0])
                .between("c", "d")
                .at([0.0, 0.1, 0.4])
                .spring(3.0, &[0.2]),
        )
        .joint(
            Joint::revolute("follow", [1.0, 0.0, 0.0])
                .between("d", "e")
                .at([0.2, 0.1, 0.4]),
        )
        .joint(
            Joint::prismatic("rail", [0.0, 0.6, 0.8])
                .between("a", "f")
                .friction(0.3),
        )
        .joint(
            Joint::universal("cross", [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
                .between("f", "g")
                .at([0.2, 0.0, 0.3]),
        )
        .couple(Coupling::polynomial("follow", "lead", vec![0.1, -0.5, 0.3]))
        .build()
        .unwrap()
}

fn compare(m: &Mechanism, point: &OperatingPoint, method: Method, h: f64) {
    let n = m.nv();
    let mut step = StepDerivatives::new(m, method, h).unwrap();
    step.at(&point.q, &point.qd, &point.tau, &point.forces).unwrap();
    let mut oracle = Stepper::new(m, point, &PassiveForces::passive(m), method, h).unwrap();
    oracle.prepare().unwrap();
    for j in 0..3 * n {
        let mut change = vec![0.0; 3 * n];
        change[j] = 1.0;
        let column = oracle.step(&change).unwrap();
        let size = column.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        for (i, x) in column.iter().enumerate() {
            let own = if j < 2 * n {
                step.by_state()[i * 2 * n + j]
            } else {
                step.by_torque()[i * n + j - 2 * n]
            };
            assert!(
                (own - x).abs() < 1e-10 * size,
                "{} {method:?} [{i}, {j}]: {own} {x}",
                m.name()
            );
        }
    }
}

#[test]
fn the_chain_rule_agrees_with_dual_numbers() {
    let robots = [
        examples::double_pendulum(),
        examples::arm7(),
        examples::puma560(),
        examples::humanoid(),
        every_kind(),
    ];
    for m in robots {
        let wave = |size: f64, k: f64| {
            (0..m.nv())
                .map(|i| size * (k * (i as f64 + 1.0)).sin())
                .collect::<Vec<f64>>()
        };
        let (q, qd, tau) = (m.random(3), wave(1.0, 1.7), wave(2.0, 0.9));
        let link = m.link(&m.links().last().unwrap().name).unwrap();
        let push = |reference| ExternalForce {
            frame: link.into(),
            reference,
            force: Force::new([0.3, -0.2, 0.5], [1.0, 2.0, -1.5]),
        };
        let forces = [Reference::Local, Reference::Aligned, Reference::World]
            .map(push)
            .to_vec();
        for method in Method::ALL {
            let free = OperatingPoint {
                q: q.clone(),
                qd: qd.clone(),
                tau: tau.clone(),
                forces: vec![],
            };
            compare(&m, &free, method, 2e-3);
            if m.nv() < 20 {
                let pushed = OperatingPoint {
                    forces: forces.clone(),
                    ..free
                };
                compare(&m, &pushed, method, 1e-2);
            }
        }
    }
}

/// The step that the derivatives are of is the simulator's.
#[test]
fn the_end_is_where_the_simulator_goes() {
    use crate::simulate::{RungeKutta4, SemiImplicitEuler};
    let m = every_kind();
    let (q, qd, tau) = (m.random(5), vec![0.4; m.nv()], vec![0.3; m.nv()]);
    for method in [Method::SemiImplicitEuler, Method::RungeKutta4, Method::ImplicitMidpoint] {
        let held = Held {
            tau: tau.clone(),
            forces: vec![],
        };
        let mut equations = Dynamics::with(&m, held, PassiveForces::passive(&m));
        let mut state = State {
            t: 0.0,
            q: q.clone(),
            v: qd.clone(),
        };
        match method {
            Method::SemiImplicitEuler => SemiImplicitEuler::new(&m)
                .step(&mut equations, &mut state, 5e-3)
                .unwrap(),
            Method::RungeKutta4 => RungeKutta4::new(&m).step(&mut equations, &mut state, 5e-3).unwrap(),
            _ => ImplicitMidpoint::new(&m)
                .step(&mut equations, &mut state, 5e-3)
                .unwrap(),
        }
        let mut step = StepDerivatives::new(&m, method, 5e-3).unwrap();
        step.at(&q, &qd, &tau, &[]).unwrap();
        assert!(m.distance(step.q(), &state.q).unwrap() < 1e-12, "{method:?}");
        for (a, b) in step.qd().iter().zip(&state.v) {
            assert!((a - b).abs() < 1e-11, "{method:?}: {a} {b}");
        }
    }
}
