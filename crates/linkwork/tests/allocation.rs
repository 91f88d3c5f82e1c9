//! In-place functions allocate nothing once workspace and buffers are there.

mod support;

use linkwork::algebra::{Evaluator, Expression};
use linkwork::batch::{Rollout, RolloutMethod};
use linkwork::model::{Coupling, Joint, JointKind, Link, Mechanism};
use linkwork::scalar::Scalar;
use linkwork::simulate::{
    Diagonalized, DormandPrince, Dynamics, ImplicitMidpoint, Integrator, RungeKutta4, SemiImplicitEuler, State,
};
use linkwork::spatial::{Force, Inertia, Pose, Rotation, Vec3};
use linkwork::workspace::Scaling;
use linkwork::{Reference, Result};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::random::random_state;

/// The system's allocator, counting per thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn tally() {
    // A thread that is ending has nothing left to count with.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every call is handed on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        tally();
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        tally();
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Runs, and asserts that nothing was allocated.
#[track_caller]
fn quietly<T>(what: &str, work: impl FnOnce() -> Result<T>) -> T {
    let before = ALLOCATIONS.get();
    let result = work();
    let after = ALLOCATIONS.get();
    assert_eq!(after - before, 0, "{what} allocates");
    result.unwrap_or_else(|e| panic!("{what}: {e}"))
}

/// Two trees with every kind of joint, springs, dampers, rotors and a frame.
fn every_kind() -> Mechanism {
    let axis = Vec3::new(0.1, 0.2, 1.0);
    let kinds = [
        JointKind::Free,
        JointKind::Revolute { axis },
        JointKind::Fixed,
        JointKind::Prismatic { axis },
        JointKind::Spherical,
        JointKind::Helical { axis, pitch: 0.1 },
        JointKind::Cylindrical { axis },
        JointKind::Universal {
            axes: [axis, Vec3::new(1.0, 0.0, 0.0)],
        },
        JointKind::Planar,
        JointKind::Translation,
        JointKind::Continuous { axis },
    ];
    let mut builder = Mechanism::builder("every kind");
    for tree in ["a", "b"] {
        for (k, kind) in kinds.into_iter().enumerate() {
            let inner = match k {
                0 => "world".to_owned(),
                // A branch now and then.
                k if k % 4 == 0 => format!("{tree}{}", k - 2),
                k => format!("{tree}{}", k - 1),
            };
            let name = format!("{tree}{k}");
            let at = Pose::new(Rotation::from_rpy(0.3, 0.2, k as f64), [0.1, 0.2, 0.3]);
            let mut joint = Joint::new(&name, kind).between(inner, &name).placed(at);
            if kind.nv() > 0 {
                joint = joint.armature(0.1).damping(0.2);
                (joint.friction, joint.stiffness) = (vec![0.1], vec![1.0]);
            }
            builder = builder
                .link(Link::new(&name, Inertia::cuboid(1.0, [0.1, 0.2, 0.3])))
                .joint(joint);
        }
        builder = builder.frame(format!("{tree} tip"), format!("{tree}10"), Pose::IDENTITY);
    }
    builder.build().unwrap()
}

/// The same with gears, a curve and a follower of a follower.
fn every_kind_coupled() -> Mechanism {
    every_kind()
        .to_builder()
        .couple(Coupling::gear("a1", "b10", -0.5, 0.1))
        .couple(Coupling::gear("b10", "a3", 2.0, 0.0))
        .couple(Coupling::polynomial("b5", "b1", vec![0.1, 0.7, 0.2]))
        .build()
        .unwrap()
}

#[test]
fn configurations_change_in_place() {
    let mechanism = every_kind();
    let (a, b) = (random_state(&mechanism, 1), random_state(&mechanism, 2));
    let (mut q, mut v) = (a.q.clone(), a.qd.clone());
    quietly("integrate", || mechanism.integrate(&a.q, &a.qd, &mut q));
    quietly("difference", || mechanism.difference(&a.q, &b.q, &mut v));
    quietly("interpolate", || mechanism.interpolate(&a.q, &b.q, 0.3, &mut q));
    quietly("distance", || mechanism.distance(&a.q, &b.q));
    quietly("normalise", || mechanism.normalise(&mut q));
}

/// Every in-place method of every view, on any scalar.
fn every_method<S: Scalar>(mechanism: &Mechanism) {
    let nv = mechanism.nv();
    let state = random_state(mechanism, 3);
    let [q, qd, qdd, tau] =
        [&state.q, &state.qd, &state.qdd, &state.tau].map(|x| x.iter().map(|x| S::lift(*x)).collect::<Vec<S>>());
    let (mut one, mut square) = (vec![S::ZERO; nv], vec![S::ZERO; nv * nv]);
    let mut entries = vec![S::ZERO; mechanism.mass_pattern().len()];
    let (mut six, mut three) = (vec![S::ZERO; 6 * nv], vec![S::ZERO; 3 * nv]);
    let (change, mut derivatives) = (vec![S::ONE; 3 * nv], mechanism.derivatives_of::<S>());
    let frame = mechanism.frame("a tip").unwrap();
    let links: Vec<_> = mechanism
        .links()
        .iter()
        .map(|l| mechanism.link(&l.name).unwrap())
        .collect();
    let joints: Vec<_> = mechanism
        .joints()
        .iter()
        .map(|j| mechanism.joint(&j.name).unwrap())
        .collect();
    let push = Force::<S>::ZERO;
    let mut workspace = mechanism.workspace_of::<S>();
    // The second time everything has been computed before.
    for round in 0..3 {
        let mut posed = quietly("at", || workspace.at(&q));
        let references = [Reference::World, Reference::Local, Reference::Aligned];
        for reference in references {
            if round == 2 {
                quietly("push", || posed.apply_force(frame, reference, push));
            }
            quietly("jacobian", || posed.jacobian(frame, reference, &mut six));
        }
        let _ = quietly("pose", || Ok(posed.pose(frame).unwrap()));
        quietly("poses", || {
            posed.poses();
            Ok(())
        });
        quietly("prepare_jacobians", || {
            posed.prepare_jacobians();
            Ok(())
        });
        quietly("mass", || Ok(posed.mass()));
        quietly("com", || Ok(posed.com()));
        quietly("com_jacobian", || posed.com_jacobian(&mut three));
        quietly("centroidal_matrix", || posed.centroidal_matrix(&mut six));
        quietly("potential_energy", || Ok(posed.potential_energy()));
        quietly("gravity_torque", || posed.gravity_torque(&mut one));
        quietly("mass_matrix", || posed.mass_matrix(&mut square));
        quietly("mass_matrix_entries", || posed.mass_matrix_entries(&mut entries));
        quietly("mass_matrix_inverse", || posed.mass_matrix_inverse(&mut square));
        quietly("mass_times", || posed.mass_times(&qd, &mut one));
        quietly("inverse_mass_times", || posed.inverse_mass_times(&qd, &mut one));
        quietly("operational_inertia_inverse", || {
            posed.operational_inertia_inverse(frame, Reference::Local)
        });
        quietly("acceleration_by_force", || {
            posed.acceleration_by_force(frame, Reference::Local, Force::ZERO, &mut one)
        });
        quietly("log_det_mass", || posed.log_det_mass());
        for &link in &links {
            quietly("composite_inertia", || Ok(posed.composite_inertia(link).unwrap()));
            if !mechanism.is_coupled() {
                quietly("articulated_inertia", || posed.articulated_inertia(link));
            }
        }
        for &joint in &joints {
            let d = mechanism.v_range(joint).unwrap().len();
            quietly("joint_inertia", || posed.joint_inertia(joint, &mut square[..d * d]));
        }

        let mut moving = quietly("moving", || posed.moving(&qd));
        for reference in references {
            quietly("velocity", || Ok(moving.velocity(frame, reference).unwrap()));
            quietly("jacobian_rate", || moving.jacobian_rate(frame, reference, &mut six));
        }
        quietly("kinetic_energy", || Ok(moving.kinetic_energy()));
        quietly("centroidal_momentum", || Ok(moving.centroidal_momentum()));
        quietly("momentum", || Ok(moving.momentum()));
        quietly("centroidal_matrix_rate", || moving.centroidal_matrix_rate(&mut six));
        quietly("inverse_dynamics", || moving.inverse_dynamics(&qdd, &mut one));
        quietly("bias", || moving.bias(&mut one));
        quietly("coriolis", || moving.coriolis(&mut one));
        quietly("coriolis_matrix", || moving.coriolis_matrix(&mut square));
        quietly("linearized", || {
            let mut linearized = moving.linearized_under(&tau, &mut one)?;
            linearized.inverse_derivatives(&mut derivatives)?;
            linearized.forward_derivatives(&mut derivatives)?;
            linearized.torque_adjoint(&tau, &mut three)?;
            linearized.acceleration_change(&change, &mut one)?;
            linearized.acceleration_adjoint(&tau, &mut three)?;
            linearized.torque_change(&change, &mut one)
        });
        quietly("forward_dynamics", || moving.forward_dynamics(&tau, &mut one));
        quietly("bias-free", || moving.forward_dynamics_bias_free(&tau, &mut one));
        quietly("biased", || moving.forward_dynamics_biased(&tau, &mut one));
        for how in ["driven", "driven_bias_free", "accelerating"] {
            let accelerating = quietly(how, || match how {
                "driven" => moving.with_torques(&tau, &mut one),
                "driven_bias_free" => moving.with_torques_bias_free(&tau, &mut one),
                _ => moving.with_accelerations(&qdd, &mut one),
            });
            for reference in references {
                quietly("acceleration", || {
                    Ok(accelerating.acceleration(frame, reference).unwrap())
                });
            }
            for &joint in joints.iter().filter(|&&j| !mechanism.v_range(j).unwrap().is_empty()) {
                quietly("reaction", || accelerating.reaction(joint));
            }
        }
    }
}

#[test]
fn every_view_computes_in_place() {
    let mechanism = every_kind();
    every_method::<f64>(&mechanism);
    every_method::<f64>(&every_kind_coupled());
    for mechanism in [mechanism, every_kind_coupled()] {
        let (state, n) = (random_state(&mechanism, 4), mechanism.nv());
        let (mut workspace, mut out, mut by_q) = (mechanism.workspace(), vec![0.0; n], vec![0.0; n * n]);
        let mut posed = workspace.at(&state.q).unwrap();
        let mut moving = posed.moving(&state.qd).unwrap();
        quietly("passive_torque", || moving.passive_torque(&mut out));
        quietly("passive_derivatives", || {
            moving.passive_derivatives(&mut by_q, &mut out)
        });
    }
}

#[test]
fn second_derivatives_are_found_in_place() {
    for mechanism in [every_kind(), every_kind_coupled()] {
        let (state, nv) = (random_state(&mechanism, 8), mechanism.nv());
        let (mut second, mut rates) = (mechanism.second_order(), mechanism.derivative_rates());
        let (mut qdd, mut dqdd, mut product) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; 3 * nv]);
        let (frame, d) = (mechanism.frame("a tip").unwrap(), &state.qdd);
        for _ in 0..2 {
            quietly("second derivatives", || {
                let mut posed = second.at(&state.q, d)?;
                posed.apply_force(frame, Reference::World, Force::new([1.0; 3], [2.0; 3]))?;
                let mut moving = posed.moving(&state.qd, d)?;
                moving.linearized(&state.qdd, d)?.torque_adjoint(d, &mut product)?;
                let mut linearized = moving.linearized_under(&state.tau, d, &mut qdd, &mut dqdd)?;
                linearized.acceleration_adjoint(d, &mut product)?;
                linearized.inverse_derivatives(&mut rates)?;
                linearized.forward_derivatives(&mut rates)
            });
        }
    }
}

#[test]
fn integrators_step_in_place() {
    steps_in_place(&every_kind());
    steps_in_place(&every_kind_coupled());
}

fn steps_in_place(mechanism: &Mechanism) {
    let mut start = State::at_rest(mechanism, &random_state(mechanism, 5).q);
    start.v.fill(0.1);
    let mut equations = Dynamics::new(mechanism, ()).unwrap();
    let (mut euler, mut runge_kutta) = (SemiImplicitEuler::new(mechanism), RungeKutta4::new(mechanism));
    let (mut midpoint, mut adaptive) = (ImplicitMidpoint::new(mechanism), DormandPrince::new(mechanism));
    let mut state = start.clone();
    quietly("Euler", || euler.step(&mut equations, &mut state, 1e-4));
    quietly("Runge–Kutta", || runge_kutta.step(&mut equations, &mut state, 1e-4));
    quietly("midpoint", || midpoint.step(&mut equations, &mut state, 1e-4));
    state.clone_from(&start);
    quietly("Dormand–Prince", || adaptive.step(&mut equations, &mut state, 1e-4));
    quietly("dense output", || adaptive.interpolate(0.5 * state.t, &mut start));
}

#[test]
fn diagonalized_equations_step_in_place() {
    diagonalized_steps_in_place(&every_kind());
    diagonalized_steps_in_place(&every_kind_coupled());
}

fn diagonalized_steps_in_place(mechanism: &Mechanism) {
    let start = random_state(mechanism, 6);
    for scaling in [Scaling::Normalized, Scaling::Unnormalized] {
        let mut equations = Diagonalized::new(mechanism, scaling, ()).unwrap();
        let mut state = equations.state(0.0, &start.q, &vec![0.1; mechanism.nv()]).unwrap();
        let (mut fixed, mut adaptive) = (RungeKutta4::new(mechanism), DormandPrince::new(mechanism));
        for _ in 0..3 {
            quietly("Runge–Kutta", || fixed.step(&mut equations, &mut state, 1e-4));
            let end = state.t + 1e-4;
            quietly("Dormand–Prince", || adaptive.step(&mut equations, &mut state, end));
        }
    }
}

#[test]
fn compiled_expressions_run_in_place() {
    let mechanism = every_kind();
    let state = random_state(&mechanism, 7);
    let frames = [
        (mechanism.frame("a tip").unwrap(), Reference::World),
        (mechanism.frame("b tip").unwrap(), Reference::Local),
    ];
    let f = [0.3; 12];
    for text in [
        "inv(Mass) (T - C)",
        "inv(Mass) J^* f",
        "J inv(Mass) J^* f",
        "T^* inv(Mass) T",
        "sqrt(D)' (I + H phi K)^* qd",
        "P phi^* E_psi^* Υ ψ (b + M a) - E_phi^2 b",
        "V",
        "d(inv(Mass) (T - C))/dq T",
        "grad(qd^* ell T)",
        "dot(m)^* qd",
    ] {
        let expression: Expression = text.parse().unwrap();
        let mut run = Evaluator::new(&expression, &mechanism, &frames, &[]).unwrap();
        let inputs = run.algorithm().inputs();
        let mut given: Vec<(&str, &[f64])> = vec![("T", &state.tau), ("f", &f)];
        given.retain(|(name, _)| inputs.iter().any(|(input, _)| input == name));
        let mut out = vec![0.0; run.len()];
        let mut workspace = mechanism.workspace();
        for _ in 0..2 {
            let mut posed = workspace.at(&state.q).unwrap();
            let mut moving = posed.moving(&state.qd).unwrap();
            quietly(text, || moving.evaluate(&mut run, &given, &mut out));
        }
        assert!(out.iter().all(|x| x.is_finite()), "{text}");
    }
}

#[test]
fn inverses_between_sweeps_run_again_in_place() {
    let mechanism = every_kind();
    let state = random_state(&mechanism, 7);
    let frames = [(mechanism.frame("a tip").unwrap(), Reference::World)];
    let f = [0.3; 6];
    for text in [
        "inv(I_t + J J^*) f",
        "J^* pinv(J J^*) f",
        "inv(Mass + J^* diag(f) J) (T - C - J^* f)",
        "inv(I + J[a tip] inv(Mass) J[a tip]^*) S[a tip] f",
        "p = T^* qd; qdd = inv(Mass) (T - C)",
    ] {
        let expression: Expression = text.parse().unwrap();
        let mut run = Evaluator::new(&expression, &mechanism, &frames, &[]).unwrap();
        let inputs = run.algorithm().inputs();
        let mut given: Vec<(&str, &[f64])> = vec![("T", &state.tau), ("f", &f)];
        given.retain(|(name, _)| inputs.iter().any(|(input, _)| input == name));
        let (mut first, mut again) = (vec![0.0; run.len()], vec![0.0; run.len()]);
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        let mut moving = posed.moving(&state.qd).unwrap();
        moving.evaluate(&mut run, &given, &mut first).unwrap();
        quietly(text, || moving.evaluate(&mut run, &given, &mut again));
        assert!(first == again && first.iter().all(|x| x.is_finite()), "{text}");
    }
}

#[test]
fn expressions_of_coupled_mechanisms_run_again_in_place() {
    let mechanism = every_kind_coupled();
    let state = random_state(&mechanism, 7);
    let frames = [(mechanism.frame("a tip").unwrap(), Reference::World)];
    let f = [0.3; 6];
    for text in [
        "inv(Mass) (T - C)",
        "J inv(Mass) J^* f",
        "H phi (M phi^* (H^* qd + a) + b)",
        "inv(D) T + 2 inv(Mass) (T - D qd)",
        "0.5 qd^* Mass qd",
    ] {
        let expression: Expression = text.parse().unwrap();
        let mut run = Evaluator::new(&expression, &mechanism, &frames, &[]).unwrap();
        let inputs = run.algorithm().inputs();
        let mut given: Vec<(&str, &[f64])> = vec![("T", &state.tau), ("f", &f)];
        given.retain(|(name, _)| inputs.iter().any(|(input, _)| input == name));
        let (mut first, mut again) = (vec![0.0; run.len()], vec![0.0; run.len()]);
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        let mut moving = posed.moving(&state.qd).unwrap();
        moving.evaluate(&mut run, &given, &mut first).unwrap();
        quietly(text, || moving.evaluate(&mut run, &given, &mut again));
        assert!(first == again && first.iter().all(|x| x.is_finite()), "{text}");
    }
}

#[test]
fn states_that_go_through_double_precision_roll_in_place() {
    let mechanism = every_kind_coupled();
    let rollout = Rollout {
        method: RolloutMethod::RungeKutta4,
        dt: 1e-3,
        steps: 2,
    };
    let states = 3;
    let q: Vec<f32> = (0..states)
        .flat_map(|_| mechanism.neutral())
        .map(|x| x as f32)
        .collect();
    let (nq, nv) = (states * mechanism.nq(), states * mechanism.nv());
    let (qd, tau) = (vec![0.1_f32; nv], vec![0.2_f32; 2 * nv]);
    let (mut q_out, mut qd_out) = (vec![0.0; 2 * nq], vec![0.0; 2 * nv]);
    let mut batch = mechanism.batch_of::<f32>().with_threads(1);
    let mut roll = || batch.rollout(rollout, &q, &qd, Some(&tau), &mut q_out, &mut qd_out);
    roll().unwrap();
    quietly("rollout", roll);
}

#[test]
fn the_allocator_counts() {
    let before = ALLOCATIONS.get();
    let x = std::hint::black_box(vec![1.0; 100]);
    assert!(ALLOCATIONS.get() > before && x.len() == 100);
}

#[test]
fn inverse_kinematics_allocates_nothing_once_made() -> Result<()> {
    use linkwork::model::examples;
    use linkwork::motion::{InverseKinematics, Rates, Task};
    let m = examples::humanoid();
    let mut names = m.links().iter().rev();
    let mut next = || m.frame(&names.next().expect("there are links enough").name);
    let (a, b) = (next()?, next()?);
    let tasks = vec![
        Task::position(a, [0.3, 0.2, 0.9]),
        Task::direction(b, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
        Task::centre_of_mass([0.0, 0.0, 0.8]).axis_weights([1.0, 1.0, 0.0]),
        Task::posture(m.neutral()).weight(0.01).preferred(),
    ];
    let mut ik = InverseKinematics::new(&m, tasks)?;
    let mut q = m.neutral();
    m.clamp(&mut q)?;
    let start = q.clone();
    quietly("the first solution", || ik.solve(&mut q));
    q.copy_from_slice(&start);
    quietly("another", || ik.solve(&mut q));
    let tasks = vec![
        Task::position(a, [0.3, 0.2, 0.9]),
        Task::direction(b, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]).level(1),
        Task::posture(m.neutral()).level(2).preferred(),
    ];
    let mut ik = InverseKinematics::new(&m, tasks)?;
    let (mut v, rates) = (vec![0.0; m.nv()], Rates::default());
    quietly("velocities by levels", || ik.velocity(&start, &rates, &mut v));
    q.copy_from_slice(&start);
    quietly("a solution by levels", || ik.solve(&mut q));
    let next = Task::position(a, [0.3, 0.1, 0.9]);
    quietly("another target", || ik.set(0, next));
    Ok(())
}

#[test]
fn trajectories_and_derivatives_of_steps_allocate_nothing_once_made() -> Result<()> {
    use linkwork::motion::Trajectory;
    use linkwork::state_space::{ExternalForce, Method, StepDerivatives};
    for mechanism in [every_kind(), every_kind_coupled()] {
        let near = |share| {
            let mut q = mechanism.neutral();
            mechanism.interpolate(&mechanism.neutral(), &mechanism.random(3), share, &mut q)?;
            Ok(q)
        };
        let (q0, q1): (Vec<f64>, Vec<f64>) = (near(0.1)?, near(0.4)?);
        let course = Trajectory::minimum_jerk(&mechanism, &q0, &q1, 2.0)?;
        let nv = mechanism.nv();
        let (mut q, mut qd, mut qdd, tau) = (q0.clone(), vec![0.0; nv], vec![0.0; nv], vec![0.1; nv]);
        quietly("a trajectory", || course.at(0.7, &mut q, &mut qd, &mut qdd));
        let push = ExternalForce {
            frame: mechanism.frame("a tip")?,
            reference: Reference::Aligned,
            force: Force::new([0.1; 3], [1.0; 3]),
        };
        for method in Method::ALL {
            let mut step = StepDerivatives::new(&mechanism, method, 1e-3)?;
            step.at(&q, &qd, &tau, &[push])?;
            quietly("derivatives of a step", || step.at(&q, &qd, &tau, &[push]));
        }
    }
    Ok(())
}
