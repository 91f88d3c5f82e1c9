//! Edits give new mechanisms that look and weigh what they should.

mod model_support;

use linkwork::model::{Base, Coupling, Joint, JointKind, Link, Mechanism, examples};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use linkwork::{Error, Result};
use model_support::{gap, pose_of, potential_energy};

fn says(result: Result<Mechanism>, words: &[&str]) -> Error {
    let error = result.expect_err("accepted");
    let message = error.to_string();
    assert!(words.iter().all(|w| message.contains(w)), "{message}");
    error
}

/// q of a mechanism, joint by joint taken from that of another where it has the joint (under a prefix).
fn carried(from: &Mechanism, q: &[f64], to: &Mechanism, prefix: &str) -> Vec<f64> {
    let mut out = to.neutral();
    for joint in to.joints() {
        let name = joint.name.strip_prefix(prefix).unwrap_or(&joint.name);
        if let Ok(source) = from.joint(name) {
            let (a, b) = (
                from.q_range(source).unwrap(),
                to.q_range(to.joint(&joint.name).unwrap()).unwrap(),
            );
            if a.len() == b.len() {
                out[b].copy_from_slice(&q[a]);
            }
        }
    }
    out
}

#[test]
fn locked_joints_stay_where_they_were_put() {
    let (robot, mut fixed) = (examples::humanoid(), Vec::new());
    let q = robot.random(3);
    let names = ["float", "left_knee", "waist_roll", "right_wrist_roll"];
    for name in names {
        fixed.push((name, &q[robot.q_range(robot.joint(name).unwrap()).unwrap()]));
    }
    let locked = robot.lock(&fixed).unwrap();
    assert_eq!(locked.nv(), robot.nv() - 9);
    let there = carried(&robot, &q, &locked, "");
    for name in robot
        .links()
        .iter()
        .map(|l| &l.name)
        .chain(robot.frames().iter().map(|f| &f.name))
    {
        assert!(
            gap(&pose_of(&robot, &q, name), &pose_of(&locked, &there, name)) < 1e-13,
            "{name}"
        );
    }
    let (before, after) = (robot.joint("left_elbow").unwrap(), locked.joint("left_elbow").unwrap());
    assert_eq!(robot.joints()[before.index()], locked.joints()[after.index()]);
    assert_eq!(
        locked.joints()[locked.joint("left_knee").unwrap().index()].kind,
        JointKind::Fixed
    );

    says(
        robot.lock(&[("left_kne", &[0.0])]),
        &["`left_kne`", "did you mean `left_knee`?"],
    );
    says(robot.lock(&[("left_knee", &[0.0, 1.0])]), &["`left_knee`", "2", "1"]);
    says(robot.lock(&[("left_knee", &[f64::NAN])]), &["`left_knee`", "NaN"]);
    says(robot.lock(&[("float", &[0.0; 7])]), &["`float`", "quaternion"]);
}

#[test]
fn an_extracted_limb_moves_as_it_did_on_the_robot() {
    let robot = examples::quadruped();
    let q = robot.random(8);
    for (base, nv) in [(Base::Kept, 3), (Base::Fixed, 2), (Base::Free, 8)] {
        let leg = robot.extract("hind_left_hip", base).unwrap();
        assert_eq!(leg.name(), "quadruped.hind_left_hip");
        let names: Vec<_> = leg.links().iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["hind_left_hip", "hind_left_thigh", "hind_left_shank"]);
        assert_eq!(leg.frames().len(), 1);
        assert_eq!(leg.nv(), nv);
        let there = carried(&robot, &q, &leg, "");
        // Seen from the hip, the foot is where it was.
        let foot =
            |m: &Mechanism, q: &[f64]| pose_of(m, q, "hind_left_hip").inverse() * pose_of(m, q, "hind_left_foot");
        assert!(gap(&foot(&robot, &q), &foot(&leg, &there)) < 1e-14);
        let knee = |m: &Mechanism| m.joints()[m.joint("hind_left_knee").unwrap().index()].clone();
        assert_eq!(knee(&robot), knee(&leg));
        let hip = pose_of(&leg, &there, "hind_left_hip");
        assert!(hip.translation.norm() == 0.0);
    }
    let whole = robot.extract("trunk", Base::Kept).unwrap();
    assert_eq!((whole.nv(), whole.links().len(), whole.frames().len()), (18, 13, 5));
    says(robot.extract("imu", Base::Free), &["`imu`", "that is a frame"]);
}

#[test]
fn an_extracted_joint_keeps_the_one_that_it_follows() {
    let geared = |leader: &str, follower: &str| {
        let gear = Coupling::gear(follower, leader, 0.5, 0.0);
        examples::quadruped().to_builder().couple(gear).build().unwrap()
    };
    let within = geared("hind_left_swing", "hind_left_knee");
    let leg = within.extract("hind_left_hip", Base::Kept).unwrap();
    assert_eq!((leg.nv(), leg.couplings().len()), (2, 1));
    // The leader stays outside, or is replaced.
    let across = geared("front_left_knee", "hind_left_knee");
    let without = ["`hind_left_knee`", "`front_left_knee`", "lock"];
    says(across.extract("hind_left_hip", Base::Kept), &without);
    for base in [Base::Fixed, Base::Free] {
        let replaced = within.extract("hind_left_thigh", base);
        says(replaced, &["`hind_left_knee`", "`hind_left_swing`", "lock"]);
    }
    // A follower may go, and so may one that is replaced.
    assert_eq!(across.extract("front_left_hip", Base::Kept).unwrap().nv(), 3);
    assert_eq!(across.extract("hind_left_shank", Base::Fixed).unwrap().nv(), 0);
}

#[test]
fn a_grafted_mechanism_stands_on_the_frame() {
    let (cart, arm) = (examples::cart_pole(), examples::arm7());
    let seat = Pose::new(Rotation::from_rpy(0.3, -0.2, 1.0), [0.1, 0.0, 0.05]);
    let cart = cart.to_builder().frame("seat", "pole", seat).build().unwrap();
    let both = cart.attach("seat", &arm, "arm_").unwrap();
    assert_eq!((both.nv(), both.gravity()), (9, cart.gravity()));
    let (q_cart, q_arm) = (cart.random(1), arm.random(2));
    let q = [q_cart.clone(), q_arm.clone()].concat();
    for (name, grafted) in [("link7", "arm_link7"), ("flange", "arm_flange"), ("base", "arm_base")] {
        let expect = pose_of(&cart, &q_cart, "seat") * pose_of(&arm, &q_arm, name);
        assert!(gap(&expect, &pose_of(&both, &q, grafted)) < 1e-14);
    }
    let joint = &both.joints()[both.joint("arm_joint4").unwrap().index()];
    assert_eq!(joint.position_limits, arm.joints()[4].position_limits);
    assert_eq!(joint.effort_limit, [176.0]);
    // On the world it just stands beside; without a prefix, names must differ.
    assert_eq!(cart.attach("world", &arm, "").unwrap().nv(), 9);
    says(arm.attach("flange", &arm, ""), &["`base`", "rename"]);
    says(cart.attach("set", &arm, ""), &["`set`", "did you mean `seat`?"]);
    // What needed leave to have odd inertias keeps it.
    assert_eq!(cart.attach("seat", &examples::puma560(), "").unwrap().nv(), 8);
}

#[test]
fn a_payload_weighs_on_its_frame() {
    let arm = examples::arm7();
    let tool = Inertia::point(2.0, [0.0, 0.1, 0.2]);
    let loaded = arm.add_payload("flange", "tool", tool).unwrap();
    assert_eq!(loaded.nv(), 7);
    let q = arm.random(4);
    let at = pose_of(&arm, &q, "flange").point(tool.com);
    let expect = potential_energy(&arm, &q) + 2.0 * 9.81 * at.z;
    assert!((potential_energy(&loaded, &q) - expect).abs() < 1e-12);
    says(arm.add_payload("flange", "link3", tool), &["`link3`", "rename"]);
    says(
        arm.add_payload("flange", "tool", Inertia::point(-1.0, [0.0; 3])),
        &["`tool`", "mass"],
    );
    // On a link without a frame of its own name, and on the world.
    assert!(arm.add_payload("link4", "sleeve", tool).is_ok() && arm.add_payload("world", "stone", tool).is_ok());
}

#[test]
fn gravity_changes_and_nothing_else() {
    let arm = examples::puma560();
    let moon = arm.with_gravity([0.0, 0.0, -1.62]).unwrap();
    assert_eq!(moon.gravity(), Vec3::new(0.0, 0.0, -1.62));
    assert_eq!(
        (moon.joints(), moon.links(), moon.frames()),
        (arm.joints(), arm.links(), arm.frames())
    );
    says(arm.with_gravity([f64::INFINITY, 0.0, 0.0]), &["gravity", "finite"]);
}

#[test]
fn a_floating_base_starts_where_the_fixed_one_stood() {
    let arm = examples::dual_arm();
    let floating = arm.with_floating_base().unwrap();
    assert_eq!((floating.nv(), floating.nq()), (arm.nv() + 6, arm.nq() + 7));
    let q = arm.random(5);
    let there = carried(&arm, &q, &floating, "");
    for name in ["left_flange", "right_link3", "torso"] {
        assert!(gap(&pose_of(&arm, &q, name), &pose_of(&floating, &there, name)) < 1e-14);
    }
    says(examples::pendulum().with_floating_base(), &["`pendulum`", "base link"]);
    // A base without mass cannot float under a hinge, and the reason is given.
    let light = Mechanism::builder("light")
        .link(Link::massless("base"))
        .link(Link::new("arm", Inertia::sphere(1.0, 0.1)))
        .joint(Joint::fixed("mount").between("world", "base"))
        .joint(Joint::revolute("hinge", [0.0, 0.0, 1.0]).between("base", "arm"))
        .build()
        .unwrap();
    says(light.with_floating_base(), &["`mount`", "`base`"]);
}
