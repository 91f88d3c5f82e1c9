//! What belongs to one mechanism is refused by every other, also by one that has as many links, joints and frames.

use linkwork::algebra::{Dense, Evaluator, Expression};
use linkwork::closed::{ClosedMechanism, ClosedMotion};
use linkwork::control::{ComputedTorque, Controlled, Controller, JointPd, PoseControl, RateDamping, Regulator, Trial};
use linkwork::model::{FrameId, JointId, LinkId, examples};
use linkwork::simulate::{
    DormandPrince, Dynamics, ImplicitMidpoint, Integrator, PassiveForces, RungeKutta4, SemiImplicitEuler, State,
};
use linkwork::spatial::{Force, Pose};
use linkwork::state_space::{ExternalForce, OperatingPoint, StateSpace};
use linkwork::workspace::{Block, Part, Seen};
use linkwork::{Error, Mechanism, Reference};

/// Two robots that are equal but not the same, and ids of the second.
struct Pair {
    own: Mechanism,
    frame: FrameId,
    link: LinkId,
    joint: JointId,
    other: Mechanism,
}

fn pair() -> Pair {
    let (own, other) = (examples::arm7(), examples::arm7());
    Pair {
        frame: other.frame("flange").unwrap(),
        link: other.link_ids().next().unwrap(),
        joint: other.joint_ids().next().unwrap(),
        own,
        other,
    }
}

#[track_caller]
fn refused<T>(answer: linkwork::Result<T>) {
    match answer {
        Err(problem @ Error::Foreign { .. }) => assert!(problem.to_string().contains("another mechanism"), "{problem}"),
        Err(problem) => panic!("it was refused for another reason: {problem}"),
        Ok(_) => panic!("it was accepted"),
    }
}

#[test]
fn clones_share_their_ids() {
    let arm = examples::arm7();
    let clone = arm.clone();
    let frame = clone.frame("flange").unwrap();
    assert!(arm.workspace().at(&arm.neutral()).unwrap().pose(frame).is_ok());
    assert!(arm.q_range(clone.joint_ids().next_back().unwrap()).is_ok());
    assert!(arm.workspace().at(&arm.neutral()).unwrap().pose(FrameId::WORLD).is_ok());
}

#[test]
fn an_edited_mechanism_refuses_ids_of_the_one_it_came_from() {
    let arm = examples::arm7();
    let frame = arm.frame("flange").unwrap();
    let locked = arm.lock(&[("joint7", &[0.0])]).unwrap();
    refused(locked.workspace().at(&locked.neutral()).unwrap().pose(frame));
}

#[test]
fn mechanisms_refuse_joints_of_others() {
    let Pair { own, joint, .. } = pair();
    refused(own.q_range(joint));
    refused(own.v_range(joint));
    refused(own.follows(joint));
    refused(own.coupling_at(joint, 0.0));
}

#[test]
fn views_refuse_what_is_of_others() {
    let Pair {
        own,
        frame,
        link,
        joint,
        ..
    } = pair();
    let at = Reference::Local;
    let (mut six, mut seven, mut many) = ([0.0; 42], [0.0; 7], [0.0; 49]);
    let mut workspace = own.workspace();
    let mut posed = workspace.at(&[0.3; 7]).unwrap();
    refused(posed.pose(frame));
    refused(posed.pose(link));
    refused(posed.jacobian(frame, at, &mut six));
    refused(posed.apply_force(frame, at, Force::ZERO));
    refused(posed.composite_inertia(link));
    refused(posed.articulated_inertia(link));
    refused(posed.joint_inertia(joint, &mut [0.0]));
    refused(posed.block(joint, Block::P));
    refused(posed.mass_matrix_derivative(joint, 0, &mut many));
    refused(posed.operational_inertia_inverse(frame, at));
    refused(posed.operational_inertias_inverse(&[frame], at, &mut [0.0; 36]));
    refused(posed.acceleration_by_force(frame, at, Force::ZERO, &mut seven));
    refused(posed.task(frame, at, Part::Linear, 0.0).map(drop));
    refused(posed.operators(&[(frame, at)]).map(drop));
    let mut moving = posed.moving(&[0.1; 7]).unwrap();
    refused(moving.velocity(frame, at));
    refused(moving.jacobian_rate(frame, at, &mut six));
    refused(moving.block_rate(joint, Block::P, Seen::Locally));
    refused(moving.task(frame, at, Part::Linear, 0.0).map(drop));
    let accelerating = moving.with_torques(&[0.0; 7], &mut seven).unwrap();
    refused(accelerating.acceleration(frame, at));
    refused(accelerating.reaction(joint));
    let mut linearized = moving.linearized(&[0.0; 7]).unwrap();
    refused(linearized.torque_by_force(frame, at, &mut six));
    refused(linearized.acceleration_by_force(frame, at, &mut six));
    let mut second = own.second_order();
    let mut along = second.at(&[0.3; 7], &[0.1; 7]).unwrap();
    refused(along.apply_force(frame, at, Force::ZERO));
}

#[test]
fn batches_expressions_and_linear_models_refuse_frames_of_others() {
    let Pair { own, frame, .. } = pair();
    let (q, mut out) = ([0.3; 7], [0.0; 42]);
    let mut batch = own.batch();
    refused(batch.poses(&[frame], &q, &mut out[..12]));
    refused(batch.jacobian(frame, Reference::Local, &q, &mut out));
    refused(batch.velocity(frame, Reference::Local, &q, &q, &mut out[..6]));
    let expression: Expression = "J^* f".parse().unwrap();
    refused(Evaluator::<f64>::new(&expression, &own, &[(frame, Reference::Local)], &["f"]).map(drop));
    refused(Dense::new(&own, &q, &q, &[(frame, Reference::Local)]).map(drop));
    let push = ExternalForce {
        frame,
        reference: Reference::Local,
        force: Force::ZERO,
    };
    refused(OperatingPoint::at_rest_under(&own, &q, &[push]));
    let mut point = OperatingPoint::at_rest(&own, &q).unwrap();
    point.forces.push(push);
    refused(StateSpace::continuous(&own, &point));
}

#[test]
fn steps_refuse_integrators_resistances_and_controllers_of_others() {
    let Pair { own, other, frame, .. } = pair();
    let start = State::at_rest(&own, &[0.3; 7]);
    let free = || Dynamics::with(&own, (), PassiveForces::none(&own));
    let mut state = start.clone();
    refused(RungeKutta4::new(&other).step(&mut free(), &mut state, 1e-3));
    refused(SemiImplicitEuler::new(&other).step(&mut free(), &mut state, 1e-3));
    refused(ImplicitMidpoint::new(&other).step(&mut free(), &mut state, 1e-3));
    refused(DormandPrince::new(&other).step(&mut free(), &mut state, 1e-3));
    let mut resisted = Dynamics::with(&own, (), PassiveForces::of(&other).unwrap());
    refused(RungeKutta4::new(&own).step(&mut resisted, &mut state, 1e-3));
    let open = ClosedMechanism::new(own.clone(), Vec::new()).unwrap();
    let mut held = ClosedMotion::with(&open, (), PassiveForces::none(&other));
    refused(RungeKutta4::new(&own).step(&mut held, &mut state, 1e-3));
    assert_eq!(state, start);

    refused(PoseControl::new(&own, frame, Pose::IDENTITY, &[1.0; 7], 1.0));
    refused(PoseControl::tuned(&own, frame, Pose::IDENTITY, &[0.3; 7], 1.0));
    refused(Trial::new(&own, &[0.3; 7], &[0.4; 7], frame, 1.0));
    fn driven(own: &Mechanism, controller: impl Controller) {
        let mut equations = Dynamics::new(own, Controlled::new(own, controller)).unwrap();
        let mut state = State::at_rest(own, &[0.3; 7]);
        refused(RungeKutta4::new(own).step(&mut equations, &mut state, 1e-3));
    }
    let (q, gains) = ([0.3; 7], [1.0; 7]);
    driven(&own, JointPd::new(&other, &q, &gains, &gains).unwrap());
    driven(&own, ComputedTorque::new(&other, &q, &gains, &gains).unwrap());
    driven(&own, RateDamping::new(&other, 1.0).unwrap());
    driven(
        &own,
        PoseControl::new(&other, frame, Pose::IDENTITY, &gains, 1.0).unwrap(),
    );
    driven(
        &own,
        Regulator::new(&other, &q, &[] as &[&str], &[1.0; 14], &gains).unwrap(),
    );
    let foreign = Controlled::new(&other, JointPd::new(&own, &q, &gains, &gains).unwrap());
    let mut equations = Dynamics::new(&own, foreign).unwrap();
    refused(RungeKutta4::new(&own).step(&mut equations, &mut state, 1e-3));
}
