//! Motors: what the model says of them holds everywhere.

use linkwork::closed::{ClosedMechanism, Constraint};
use linkwork::control::{ComputedTorque, Controlled, Controller, JointPd, PoseControl, RateDamping, Regulator};
use linkwork::model::{Coupling, Joint, Link, Motor, examples};
use linkwork::simulate::{Drive, Now};
use linkwork::spatial::{Inertia, Pose};
use linkwork::state_space::{OperatingPoint, StateSpace};
use linkwork::workspace::Moving;
use linkwork::{Error, Mechanism, Result};

/// Two rods and a mirror of the second.
fn coupled() -> linkwork::model::Builder {
    let rod = |name: &str| Link::new(name, Inertia::rod(1.0, [0.0, 0.0, -1.0]));
    let pin = |name: &str| Joint::revolute(name, [0.0, 1.0, 0.0]);
    Mechanism::builder("coupled")
        .link(rod("a"))
        .link(rod("b"))
        .link(rod("c"))
        .joint(pin("first").between("world", "a"))
        .joint(pin("second").between("a", "b").at([0.0, 0.0, -1.0]).effort_limit(30.0))
        .joint(pin("third").between("b", "c").at([0.0, 0.0, -1.0]).effort_limit(5.0))
        .couple(Coupling::gear("third", "second", -3.0, 0.2))
}

#[test]
fn what_the_model_does_not_say_follows_from_the_kinds_of_joints() {
    let quadruped = examples::quadruped();
    assert!(quadruped.motors().is_none());
    let float = quadruped.v_range(quadruped.joint("float").unwrap()).unwrap();
    let undriven: Vec<usize> = (0..quadruped.nv()).filter(|&i| !quadruped.is_driven(i)).collect();
    assert_eq!(undriven, float.clone().collect::<Vec<_>>());
    assert!(float.clone().all(|i| quadruped.motor_limits()[i] == 0.0));
    assert_eq!(quadruped.motor_limits()[float.end], 45.0);
    assert_eq!(quadruped.driven_dofs().len(), 12);
    let arm = examples::arm7();
    assert_eq!(arm.driven_dofs(), (0..7).collect::<Vec<_>>());
    assert!(!arm.with_floating_base().unwrap().is_driven(0));
    assert_eq!(coupled().build().unwrap().driven_dofs(), [0, 1]);
    assert_eq!(examples::cart_pole().driven_dofs(), [0], "nothing drives the pole");
}

#[test]
fn motors_of_followers_drive_their_leaders() {
    let robot = coupled()
        .motor(Motor::on("third").geared(2.0).effort_limit(1.0))
        .build()
        .unwrap();
    assert_eq!(robot.driven_dofs(), [1]);
    assert_eq!(robot.motor_limits(), [0.0, 6.0]);
    let both = coupled()
        .motor(Motor::on("third"))
        .motor(Motor::on("second").geared(10.0).effort_limit(1.0))
        .motor(Motor::on("second").geared(-10.0).effort_limit(1.5))
        .build()
        .unwrap();
    assert_eq!(both.motor_limits(), [0.0, 25.0 + 3.0 * 5.0]);
    let curved = coupled().motor(Motor::on("third"));
    let curved = linkwork::model::Builder::couple(
        curved.build().unwrap().uncoupled().unwrap().to_builder(),
        Coupling::polynomial("third", "second", vec![0.0, 1.0, 1.0]),
    );
    let text = curved.build().unwrap_err().to_string();
    assert!(
        text.contains("`third`") && text.contains("put the motor on `second`"),
        "{text}"
    );
}

#[test]
fn motors_that_make_no_sense_are_refused_by_name() {
    for (motor, word) in [
        (Motor::on("frist"), "did you mean `first`"),
        (Motor::on("first").dof(1), "degree of freedom 1"),
        (Motor::on("first").geared(0.0), "gear"),
        (Motor::on("first").geared(f64::NAN), "gear"),
        (Motor::on("first").effort_limit(-1.0), "effort limit"),
        (Motor::on("first").effort_limit(f64::NAN), "effort limit"),
    ] {
        let text = coupled().motor(motor.named("m")).build().unwrap_err().to_string();
        assert!(text.contains("`m`") && text.contains(word), "{text}");
    }
}

#[test]
fn motors_stay_with_their_joints_when_a_mechanism_is_edited() {
    let cart = examples::cart_pole();
    let locked = cart.lock(&[("rail", &[0.3])]).unwrap();
    assert_eq!(
        (locked.driven_dofs(), locked.motors().map(<[Motor]>::len)),
        (vec![], Some(0))
    );
    let carried = cart.attach("cart", &examples::double_pendulum(), "arm_").unwrap();
    assert_eq!(
        carried.driven_dofs(),
        [0, 2, 3],
        "the arm's joints have motors, the pole has none"
    );
    let arm = examples::quadruped().attach("trunk", &cart, "x_").unwrap();
    assert_eq!(arm.driven_dofs().len(), 13);
    let leg = examples::quadruped()
        .extract("front_left_hip", linkwork::model::Base::Kept)
        .unwrap();
    assert_eq!(leg.driven_dofs(), [0, 1, 2]);
    let pole = cart.extract("pole", linkwork::model::Base::Kept).unwrap();
    assert!(pole.driven_dofs().is_empty());
}

#[test]
fn joints_can_be_said_to_be_driven() {
    let quadruped = examples::quadruped();
    assert_eq!(
        quadruped.driven_by(&["float"]).unwrap().driven_dofs(),
        (0..6).collect::<Vec<_>>()
    );
    assert_eq!(
        quadruped.driven_by(&["float[5]", "float[0]"]).unwrap().driven_dofs(),
        [0, 5]
    );
    for (names, word) in [
        (vec!["flaot"], "did you mean `float`"),
        (vec!["float", "float"], "name it once"),
        (vec!["float[1]", "float"], "name it once"),
        (vec!["float[6]"], "float[6]"),
    ] {
        let text = quadruped.driven_by(&names).unwrap_err().to_string();
        assert!(text.contains(word), "{text}");
    }
    // The motor that a joint has stays as it is.
    let geared = coupled()
        .motor(Motor::on("first").geared(7.0).effort_limit(2.0))
        .build()
        .unwrap();
    assert_eq!(geared.driven_by(&["first"]).unwrap().motor_limits(), [14.0, 0.0]);
}

fn refuses<T>(made: Result<T>, joint: &str) {
    match made {
        Err(Error::NotDriven { joint: named, .. }) => assert_eq!(named, joint),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a controller drives what no motor drives"),
    }
}

#[test]
fn controllers_refuse_what_no_motor_drives_by_the_name_of_the_joint() {
    let robot = examples::quadruped();
    let (n, q) = (robot.nv(), robot.neutral());
    let ones = vec![1.0; n];
    refuses(JointPd::new(&robot, &q, &ones, &ones), "float");
    refuses(ComputedTorque::new(&robot, &q, &ones, &ones), "float");
    refuses(RateDamping::new(&robot, 1.0), "float");
    let frame = robot.frame("imu").unwrap();
    refuses(PoseControl::new(&robot, frame, Pose::IDENTITY, &ones, 1.0), "float");
    refuses(PoseControl::tuned(&robot, frame, Pose::IDENTITY, &q, 1.0), "float");
    let some: Vec<f64> = (0..n).map(|i| f64::from(robot.is_driven(i))).collect();
    assert!(JointPd::new(&robot, &q, &some, &some).is_ok());
    let text = Regulator::new(&robot, &q, &[] as &[&str], &vec![1.0; 2 * n], &[1.0; 12]).unwrap_err();
    assert!(text.to_string().contains("`float[5]` would need"), "{text}");
    // With a motor there nothing is refused.
    let held = robot
        .driven_by(&robot.joints().iter().map(|j| &*j.name).collect::<Vec<_>>())
        .unwrap();
    assert!(ComputedTorque::new(&held, &q, &ones, &ones).is_ok());
}

/// Asks for a torque at one degree of freedom.
struct Asks(usize);

impl Controller for Asks {
    fn torques(&mut self, _: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        tau[self.0] = 2.0;
        Ok(())
    }
}

#[test]
fn a_controlled_robot_gets_torques_where_motors_are() {
    let robot = examples::quadruped();
    let (q, v) = (robot.random(3), vec![0.0; robot.nv()]);
    let drive = |dof: usize| -> Result<Vec<f64>> {
        let mut control = Controlled::new(&robot, Asks(dof));
        let mut workspace = robot.workspace();
        let mut posed = workspace.at(&q)?;
        let mut tau = vec![0.0; robot.nv()];
        control.drive(Now { t: 0.0, q: &q, v: &v }, &mut posed.moving(&v)?, &mut tau)?;
        Ok(tau)
    };
    refuses(drive(5), "float");
    let tau = drive(8).unwrap();
    assert_eq!(tau[..6], [0.0; 6], "nothing holds the base");
    assert!(tau[6..].iter().any(|x| x.abs() > 0.1), "gravity is held at the legs");
}

#[test]
fn linear_models_have_the_motors_as_inputs() {
    let robot = examples::cart_pole();
    let upright = OperatingPoint::at_rest(&robot, &robot.neutral()).unwrap();
    let model = StateSpace::continuous(&robot, &upright).unwrap();
    assert_eq!((model.inputs.as_slice(), model.b.len()), (&["rail".to_owned()][..], 4));
    let full = robot.driven_by(&["rail", "hinge"]).unwrap();
    let whole = StateSpace::continuous(&full, &upright).unwrap();
    let first: Vec<f64> = whole.b.chunks(2).map(|row| row[0]).collect();
    assert_eq!(model.b, first);
    assert_eq!(whole.driven_by(&["rail"]).unwrap(), model);
}

#[test]
fn closed_inverse_dynamics_refuses_joints_without_motors() {
    let robot = coupled().motor(Motor::on("first")).build().unwrap();
    let robot = robot
        .to_builder()
        .frame("end", "c", Pose::from_translation([0.0, 0.0, -1.0]))
        .build()
        .unwrap();
    let closed = ClosedMechanism::new(robot, vec![Constraint::distance("string", "world", "end", 2.0)]).unwrap();
    let q = closed.assemble(&[0.3, 0.4]).unwrap();
    let mut workspace = closed.workspace();
    let mut posed = workspace.at(&q).unwrap();
    let mut moving = posed.moving(&[0.0; 2]).unwrap();
    let (mut qdd, mut tau) = ([0.0; 2], [0.0; 2]);
    moving.forward_dynamics(&[0.5, 0.0], &mut qdd).unwrap();
    refuses(moving.inverse_dynamics(&qdd, &[0, 1], &mut tau), "second");
    let driven = closed.mechanism().driven_dofs();
    moving.inverse_dynamics(&qdd, &driven, &mut tau).unwrap();
    assert!((tau[0] - 0.5).abs() < 1e-9 && tau[1] == 0.0, "{tau:?}");
}
