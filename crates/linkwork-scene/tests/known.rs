//! Known answers that need shapes: a house of cards, and motions that MuJoCo agrees on.

use linkwork::contact::{Settings, Stepper, Surface};
use linkwork::model::{Joint, Link, Mechanism};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use linkwork_formats::{Format, Options, read};
use linkwork_scene::{ClosedForm, Collider, ColliderShape, Scene, colliders};
use std::process::Command;

/// Two cards that lean on each other, 20° off the vertical.
fn card_house(friction: f64) -> f64 {
    let half = Vec3::new(0.003, 0.04, 0.06);
    let mut builder = Mechanism::builder("cards");
    for i in 0..2 {
        builder = builder
            .link(Link::new(format!("card{i}"), Inertia::cuboid(0.01, half * 2.0)))
            .joint(Joint::free(format!("free{i}")).between("world", format!("card{i}")));
    }
    let m = builder.build().unwrap();
    let on = |i: usize| {
        let mut collider = Collider::on(m.frame(&format!("card{i}")).unwrap(), ColliderShape::Cuboid { half });
        collider.matter.surface = Surface::with_friction(friction);
        collider
    };
    let ground = Collider::ground(Pose::IDENTITY, Surface::with_friction(friction));
    let mut scene = Scene::new(&m, vec![on(0), on(1), ground]).unwrap();
    let (mut q, mut v) = (m.neutral(), vec![0.0; 12]);
    let (angle, height) = (20f64.to_radians(), |s: f64, c: f64| half.z * c + half.x * s);
    for (i, q) in q.chunks_mut(7).enumerate() {
        let side = if i == 0 { 1.0 } else { -1.0 };
        // The inner upper edges meet at x = 0.
        let turn = Rotation::about(Vec3::new(0.0, 1.0, 0.0), side * angle);
        let edge = turn * Vec3::new(side * half.x, 0.0, half.z);
        q[..4].copy_from_slice(&turn.to_quaternion());
        q[4..].copy_from_slice(&[-edge.x, 0.0, height(angle.sin(), angle.cos())]);
    }
    let top = q[6];
    let mut stepper = Stepper::new(&m, Settings::new(0.002)).unwrap();
    for _ in 0..1000 {
        let contacts = scene.contacts(&q, &v, 0.002).unwrap();
        stepper.step(&mut q, &mut v, &[0.0; 12], contacts).unwrap();
    }
    top - q[6]
}

#[test]
fn a_house_of_two_cards_stands_with_friction_and_falls_without() {
    // It takes μ ≥ ½ tan 20° = 0.18 on the ground.
    let fallen = card_house(0.6);
    assert!(fallen.abs() < 2e-3, "{fallen}");
    let fallen = card_house(0.1);
    assert!(fallen > 0.02, "{fallen}");
}

const ROLLING: &str = r#"<mujoco model="rolling">
  <option timestep="0.001"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.5 0.005 0.0001"/>
    <body name="ball" pos="0 0 0.3">
      <freejoint/>
      <geom type="sphere" size="0.1" mass="1" friction="0.5 0.005 0.0001"/>
    </body>
  </worldbody>
</mujoco>"#;

/// A ball that is thrown, lands, slides and rolls: where it is every tenth of a second.
const PEER: &str = r"
import mujoco, sys
m = mujoco.MjModel.from_xml_string(sys.argv[1])
d = mujoco.MjData(m)
d.qvel[0] = 0.7
for i in range(1, 1001):
    mujoco.mj_step(m, d)
    if i % 100 == 0:
        print(d.qpos[0], d.qpos[2], d.qvel[0])
";

#[test]
fn a_ball_lands_and_rolls_as_in_mujoco() {
    let Some(python) = std::env::var_os("LINKWORK_REFERENCE_PYTHON") else {
        eprintln!("skipped: LINKWORK_REFERENCE_PYTHON is not set");
        return;
    };
    let told = Command::new(python).args(["-c", PEER, ROLLING]).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let theirs: Vec<[f64; 3]> = told
        .lines()
        .map(|line| {
            let numbers: Vec<f64> = line.split_whitespace().map(|x| x.parse().unwrap()).collect();
            numbers.try_into().unwrap()
        })
        .collect();
    assert_eq!(theirs.len(), 10, "{told}");
    let robot = read("rolling", ROLLING.as_bytes(), Format::Mjcf, &Options::default()).unwrap();
    let (all, ..) = colliders(&robot).unwrap();
    let m = &robot.mechanism;
    let mut scene = Scene::with(m, all, &robot.untouching, Box::new(ClosedForm)).unwrap();
    let mut stepper = Stepper::new(m, Settings::new(0.001)).unwrap();
    let start = robot.keyframes.first().map(|key| key.q.clone());
    let (mut q, mut v) = (start.unwrap_or_else(|| m.neutral()), vec![0.0; 6]);
    v[3] = 0.7;
    let ball = m.frame("ball").unwrap();
    let mut workspace = m.workspace();
    for (i, [x, z, speed]) in theirs.into_iter().enumerate() {
        for _ in 0..100 {
            let contacts = scene.contacts(&q, &v, 0.001).unwrap();
            stepper.step(&mut q, &mut v, &[0.0; 6], contacts).unwrap();
        }
        let mut posed = workspace.at(&q).unwrap();
        let at = posed.pose(ball).unwrap();
        let along = at.rotation * Vec3::new(v[3], v[4], v[5]);
        let t = 0.1 * (i + 1) as f64;
        // MuJoCo's contact is soft: it goes in and comes back a little, and so lands and slips a little later.
        assert!((at.translation.z - z).abs() < 0.01, "{t}: {} {z}", at.translation.z);
        assert!((at.translation.x - x).abs() < 0.01, "{t}: {} {x}", at.translation.x);
        assert!((along.x - speed).abs() < 0.02, "{t}: {} {speed}", along.x);
        if t < 0.15 {
            // In the air: the same method, to rounding.
            assert!((at.translation.z - z).abs() < 1e-12);
        }
    }
}
