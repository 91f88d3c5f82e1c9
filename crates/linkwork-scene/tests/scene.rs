//! Scenes: which pairs are looked at, and what becomes of bodies that touch.

use linkwork::contact::{Settings, Stepper, Surface};
use linkwork::model::{Joint, Link, Mechanism};
use linkwork::spatial::{Inertia, Pose, Vec3};
use linkwork_formats::{Format, Options, read};
use linkwork_scene::{ClosedForm, Collider, ColliderShape, Ground, LeftOut, Scene, colliders};

fn run(scene: &mut Scene, stepper: &mut Stepper, q: &mut [f64], v: &mut [f64], torque: &[f64], seconds: f64) -> f64 {
    let dt = stepper.settings().step;
    let mut deepest: f64 = 0.0;
    for _ in 0..(seconds / dt).round() as usize {
        let contacts = scene.contacts(q, v, dt).unwrap().to_vec();
        let report = stepper.step(q, v, torque, &contacts).unwrap();
        assert!(report.settled, "{report:?}");
        deepest = deepest.max(report.residuals.penetration);
    }
    deepest
}

#[test]
fn shapes_of_every_kind_come_to_rest_on_the_ground() {
    let half = Vec3::new(0.1, 0.15, 0.2);
    let shapes = [
        ColliderShape::Sphere { radius: 0.1 },
        ColliderShape::Capsule {
            radius: 0.05,
            half: 0.1,
        },
        ColliderShape::Cuboid { half },
        ColliderShape::Cylinder { radius: 0.1, half: 0.1 },
        ColliderShape::Ellipsoid { radii: half },
    ];
    for shape in shapes {
        let m = Mechanism::builder("one")
            .link(Link::new("body", Inertia::cuboid(1.0, [0.2, 0.2, 0.2])))
            .joint(Joint::free("free").between("world", "body"))
            .build()
            .unwrap();
        let mut collider = Collider::on(m.frame("body").unwrap(), shape.clone());
        collider.matter.surface.rolling = 0.01;
        let ground = Collider::ground(Pose::IDENTITY, Surface::default());
        let mut scene = Scene::new(&m, vec![collider, ground]).unwrap();
        let mut stepper = Stepper::new(&m, Settings::new(0.005)).unwrap();
        let (mut q, mut v) = (m.neutral(), vec![0.0; 6]);
        q[6] = 0.5;
        v[0] = 1.0;
        let deepest = run(&mut scene, &mut stepper, &mut q, &mut v, &[0.0; 6], 4.0);
        assert!(deepest < 2e-3, "{shape:?}: {deepest}");
        let speed = v.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        // An ellipsoid goes on rocking.
        let rocks = matches!(shape, ColliderShape::Ellipsoid { .. });
        assert!(speed < 0.05 || rocks, "{shape:?}: {v:?}");
        assert!(q[6] > 0.04 && q[6] < 0.3, "{shape:?}: {q:?}");
    }
}

#[test]
fn five_boxes_stand_on_each_other_for_ten_seconds() {
    let half = Vec3::new(0.1, 0.1, 0.1);
    let mut builder = Mechanism::builder("stack");
    for i in 0..5 {
        builder = builder
            .link(Link::new(format!("box{i}"), Inertia::cuboid(1.0, half * 2.0)))
            .joint(Joint::free(format!("free{i}")).between("world", format!("box{i}")));
    }
    let m = builder.build().unwrap();
    let mut all: Vec<Collider> = (0..5)
        .map(|i| Collider::on(m.frame(&format!("box{i}")).unwrap(), ColliderShape::Cuboid { half }))
        .collect();
    all.push(Collider::ground(Pose::IDENTITY, Surface::default()));
    let mut scene = Scene::new(&m, all).unwrap();
    let mut stepper = Stepper::new(&m, Settings::new(0.01)).unwrap();
    let (mut q, mut v) = (m.neutral(), vec![0.0; 30]);
    for i in 0..5 {
        q[7 * i + 6] = 0.1 + 0.2 * i as f64;
    }
    run(&mut scene, &mut stepper, &mut q, &mut v, &[0.0; 30], 10.0);
    for i in 0..5 {
        let at = &q[7 * i + 4..7 * i + 7];
        assert!(
            at[0].hypot(at[1]) < 1e-4 && (at[2] - 0.1 - 0.2 * i as f64).abs() < 1e-3,
            "{i}: {at:?}"
        );
    }
}

/// A gripper of two fingers, and a box between them on the ground.
fn gripper() -> Mechanism {
    let x = [1.0, 0.0, 0.0];
    Mechanism::builder("gripper")
        .link(Link::new("hand", Inertia::cuboid(1.0, [0.1, 0.1, 0.1])))
        .link(Link::new("left", Inertia::cuboid(0.2, [0.02, 0.04, 0.1])))
        .link(Link::new("right", Inertia::cuboid(0.2, [0.02, 0.04, 0.1])))
        .link(Link::new("box", Inertia::cuboid(1.0, [0.1, 0.1, 0.1])))
        .joint(
            Joint::prismatic("lift", [0.0, 0.0, 1.0])
                .between("world", "hand")
                .at([0.0, 0.0, 0.3]),
        )
        .joint(
            Joint::prismatic("close left", x)
                .between("hand", "left")
                .at([-0.08, 0.0, -0.25]),
        )
        .joint(
            Joint::prismatic("close right", x)
                .between("hand", "right")
                .at([0.08, 0.0, -0.25]),
        )
        .joint(Joint::free("free").between("world", "box"))
        .build()
        .unwrap()
}

#[test]
fn a_gripper_lifts_a_box_by_friction_and_drops_it_when_friction_is_halved() {
    for (friction, holds) in [(0.8, true), (0.4, false)] {
        let m = gripper();
        let on = |link: &str, half: Vec3| {
            let mut collider = Collider::on(m.frame(link).unwrap(), ColliderShape::Cuboid { half });
            collider.matter.surface = Surface::with_friction(friction);
            collider
        };
        let finger = Vec3::new(0.01, 0.02, 0.05);
        let all = vec![
            on("left", finger),
            on("right", finger),
            on("box", Vec3::new(0.05, 0.05, 0.05)),
            Collider::ground(Pose::IDENTITY, Surface::with_friction(friction)),
        ];
        let mut scene = Scene::new(&m, all).unwrap();
        let dt = 0.002;
        let mut stepper = Stepper::new(&m, Settings::new(dt)).unwrap();
        let (mut q, mut v) = (m.neutral(), vec![0.0; 9]);
        q[9] = 0.05;
        let start = q[0];
        for i in 0..1000 {
            // Fingers squeeze with 8 N each; the hand follows a height, all of its weight carried.
            let t = f64::from(i) * dt;
            let goal = start + 0.1 * (t - 0.3).clamp(0.0, 1.0);
            let weight = if t > 0.3 { 1.4 + 1.0 } else { 1.4 };
            let lift = weight * 9.81 + 400.0 * (goal - q[0]) - 40.0 * v[0];
            let torque = [lift, 8.0, -8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            let contacts = scene.contacts(&q, &v, dt).unwrap().to_vec();
            stepper.step(&mut q, &mut v, &torque, &contacts).unwrap();
        }
        let raised = q[9] - 0.05;
        assert!(
            if holds { raised > 0.05 } else { raised < 0.01 },
            "{friction}: {raised} {q:?}"
        );
    }
}

const WORLD: &str = r#"<mujoco model="toy">
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.7 0.01 0.001"/>
    <body name="base">
      <freejoint/>
      <geom name="trunk" type="box" size="0.1 0.1 0.05" mass="1" friction="0.3"/>
      <body name="arm" pos="0.3 0 0">
        <joint type="hinge" axis="0 1 0"/>
        <geom name="rod" type="capsule" size="0.02 0.1" mass="0.1" condim="4"/>
        <body name="hand" pos="0.2 0 0">
          <joint type="hinge" axis="0 1 0"/>
          <geom name="palm" type="sphere" size="0.03" mass="0.1" contype="2" conaffinity="2"/>
        </body>
      </body>
    </body>
  </worldbody>
  <contact><exclude body1="arm" body2="world"/></contact>
</mujoco>"#;

#[test]
fn a_file_says_what_touches_and_how() {
    let robot = read("toy.xml", WORLD.as_bytes(), Format::Mjcf, &Options::default()).unwrap();
    let (all, ground, notes) = colliders(&robot).unwrap();
    assert_eq!((all.len(), ground), (4, Ground::Present), "{notes:?}");
    let scene = Scene::with(&robot.mechanism, all, &robot.untouching, Box::new(ClosedForm)).unwrap();
    let why = |a: &str, b: &str| {
        let at = |name: &str| scene.colliders().iter().position(|c| c.name == name).unwrap();
        let pair = (at(a).min(at(b)), at(a).max(at(b)));
        scene
            .left_out()
            .iter()
            .find(|(i, j, _)| (*i, *j) == pair)
            .map(|(.., why)| *why)
    };
    assert_eq!(why("floor", "trunk"), None);
    assert_eq!(why("floor", "rod"), Some(LeftOut::Excluded));
    assert_eq!(why("floor", "palm"), Some(LeftOut::Masked));
    assert_eq!(why("trunk", "rod"), Some(LeftOut::Adjacent));
    let mut scene = scene;
    let mut q = robot.mechanism.neutral();
    q[6] = 0.05;
    let v = vec![0.0; robot.mechanism.nv()];
    let contacts = scene.contacts(&q, &v, 0.01).unwrap();
    assert!(!contacts.is_empty());
    // The greater friction of the two holds.
    assert!(contacts.iter().all(|c| c.surface.friction == 0.7));
    let torsion = scene
        .colliders()
        .iter()
        .find(|c| c.name == "rod")
        .unwrap()
        .matter
        .surface
        .torsion;
    assert!((torsion - 0.005).abs() < 1e-12, "{torsion}");
}

#[test]
fn what_starts_inside_is_named_and_bad_shapes_are_refused() {
    let robot = read("toy.xml", WORLD.as_bytes(), Format::Mjcf, &Options::default()).unwrap();
    let (all, ..) = colliders(&robot).unwrap();
    let mut scene = Scene::new(&robot.mechanism, all).unwrap();
    let mut q = robot.mechanism.neutral();
    q[6] = -0.1;
    let (a, b, depth) = scene.deepest(&q).unwrap().unwrap();
    let names = [a, b].map(|i| scene.colliders()[i].name.clone());
    assert!(names.contains(&"floor".to_owned()) && depth > 0.1, "{names:?} {depth}");
    let flat = Collider::on(
        robot.mechanism.frame("arm").unwrap(),
        ColliderShape::Cuboid {
            half: Vec3::new(0.1, 0.0, 0.1),
        },
    );
    assert!(Scene::new(&robot.mechanism, vec![flat]).is_err());
    assert!(scene.contacts(&q, &[0.0; 3], 0.01).is_err());
    assert!(scene.contacts(&q, &vec![0.0; robot.mechanism.nv()], -1.0).is_err());
}
