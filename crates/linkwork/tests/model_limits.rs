//! Limits in the order of coordinates, models changed by name, and turns and displacements as exponentials.

use linkwork::Mechanism;
use linkwork::model::{Coupling, Joint, Link, examples};
use linkwork::scalar::{Dual, Scalar};
use linkwork::spatial::{Inertia, Motion, Pose, Rotation, Vec3};

/// Two fingers, of which one follows the other at twice its speed, on a free palm.
fn gripper() -> Mechanism {
    let finger = |name: &str| Link::new(name, Inertia::point(0.1, [0.0, 0.0, 0.05]));
    let slide = |name: &str| Joint::prismatic(name, [1.0, 0.0, 0.0]).between("palm", name);
    Mechanism::builder("gripper")
        .link(Link::new("palm", Inertia::sphere(1.0, 0.1)))
        .link(finger("left"))
        .link(finger("right"))
        .joint(Joint::free("base").between("world", "palm"))
        .joint(slide("left").position_limits(-0.04, 0.03).effort_limit(20.0))
        .joint(slide("right").position_limits(-0.02, 0.05).velocity_limit(0.5))
        .couple(Coupling::gear("right", "left", -2.0, 0.0))
        .build()
        .unwrap()
}

#[test]
fn limits_stand_where_their_coordinates_do_and_followers_narrow_them() {
    let gripper = gripper();
    let bounds = gripper.position_bounds();
    assert_eq!((gripper.nq(), bounds.lower.len()), (8, 8));
    assert!(bounds.lower[..7].iter().all(|x| *x == f64::NEG_INFINITY));
    // −2 y in [−0.02, 0.05] and y in [−0.04, 0.03].
    assert!((bounds.lower[7] + 0.025).abs() < 1e-15 && (bounds.upper[7] - 0.01).abs() < 1e-15);
    assert_eq!(gripper.effort_limits()[6], 20.0);
    assert!(gripper.effort_limits()[..6].iter().all(|x| x.is_infinite()));
    assert_eq!(gripper.velocity_names()[5..], ["base[5]", "left"]);
    assert_eq!(gripper.position_names().len(), 8);
    let mut q = gripper.neutral();
    q[7] = 1.0;
    assert!(gripper.clamp(&mut q).unwrap() && (q[7] - 0.01).abs() < 1e-15);
    assert!(!gripper.clamp(&mut q).unwrap());
    assert!(gripper.clamp(&mut [0.0; 3]).is_err());
    for seed in 0..50 {
        assert!(
            !gripper.clamp(&mut gripper.random(seed)).unwrap(),
            "random ones are within"
        );
    }
}

#[test]
fn links_and_joints_are_changed_by_name() {
    let gripper = gripper();
    let heavy = gripper.with_inertia("palm", Inertia::sphere(2.0, 0.1)).unwrap();
    let q = gripper.neutral();
    let mass = |m: &Mechanism| m.mass_matrix(&q).unwrap()[3 * 7 + 3];
    assert!((mass(&heavy) - mass(&gripper) - 1.0).abs() < 1e-12);
    let stiff = gripper.with_joint("left", |joint| joint.armature(0.3)).unwrap();
    let last = |m: &Mechanism| m.mass_matrix(&q).unwrap()[48];
    assert!((last(&stiff) - last(&gripper) - 0.3).abs() < 1e-12);
    let problem = gripper.with_joint("left", |_| Joint::free("other")).unwrap_err();
    assert!(problem.to_string().contains("leave its name"), "{problem}");
    let problem = gripper.with_inertia("plam", Inertia::sphere(2.0, 0.1)).unwrap_err();
    assert!(problem.to_string().contains("did you mean"), "{problem}");
}

#[test]
fn logarithms_undo_exponentials_up_to_half_a_turn() {
    for k in 0..2000_usize {
        let x = |i: usize| (1.7 * (k * 7 + i) as f64).sin();
        let axis = Vec3::new(x(0), x(1), x(2));
        let angle = std::f64::consts::PI * k as f64 / 2000.0;
        let w = axis * (angle / axis.norm());
        let v = Motion::new(w, [3.0 * x(3), x(4), x(5)]);
        assert!((Rotation::exp(w).log() - w).norm() < 2e-12, "{angle}");
        let error = (Pose::exp(v).log() - v).to_array();
        // Near half a turn the way back is as ill conditioned as 1/(π − θ).
        assert!(error.iter().all(|x| x.abs() < 1e-11), "{angle}: {error:?}");
        let (a, b) = (Pose::exp(v), Pose::exp(v * 0.3));
        let half = a.interpolate(&b, 0.5);
        let (to, from) = (half.error(&b).to_array(), a.error(&half).to_array());
        assert!(to.iter().zip(from).all(|(x, y)| (x - y).abs() < 1e-9));
        assert!(
            (a.rotation.interpolate(&b.rotation, 1.0).inverse() * b.rotation)
                .log()
                .norm()
                < 1e-12
        );
    }
}

#[test]
fn a_free_joint_moves_by_the_exponential() {
    let robot = examples::quadruped();
    let q = robot.random(5);
    let v: Vec<f64> = (0..robot.nv())
        .map(|i| if i < 6 { 0.3 * (i as f64 + 1.0).cos() } else { 0.0 })
        .collect();
    let mut moved = q.clone();
    robot.integrate(&q, &v, &mut moved).unwrap();
    let base = robot.links()[0].name.clone();
    let at = |q: &[f64]| {
        robot
            .workspace()
            .at(q)
            .unwrap()
            .pose(robot.link(&base).unwrap())
            .unwrap()
    };
    let step = at(&q).error(&at(&moved)).to_array();
    assert!(step.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-12), "{step:?}");
}

#[test]
fn the_exponential_has_its_derivative_at_zero() {
    let zero = Dual {
        value: 0.0,
        derivative: 1.0,
    };
    let still = Dual::<f64>::constant(0.0);
    let turn = Rotation::exp(Vec3::new(still, still, zero));
    assert_eq!((turn.x.y.derivative, turn.x.x.derivative), (1.0, 0.0));
    assert_eq!(turn.z.z.lane(0), 1.0);
}
