//! Derivatives of steps in a scene, against differences.

use linkwork::Mechanism;
use linkwork::contact::{Change, Settings, Stepper, Surface};
use linkwork::model::{Joint, Link};
use linkwork::spatial::{Inertia, Pose, Vec3};
use linkwork_scene::{Collider, ColliderShape, Scene};

/// A ball, a capsule and a box that lie on the ground, and a ball on the first.
fn scene(ground_first: bool) -> (Mechanism, Scene, Vec<f64>) {
    let half = Vec3::new(0.1, 0.08, 0.05);
    let names = ["ball", "capsule", "box", "upper"];
    let mut builder = Mechanism::builder("things");
    for name in names {
        builder = builder
            .link(Link::new(name, Inertia::cuboid(1.0, Vec3::new(0.2, 0.16, 0.1))))
            .joint(Joint::free(name).between("world", name));
    }
    let m = builder.build().unwrap();
    let shapes = [
        ColliderShape::Sphere { radius: 0.1 },
        ColliderShape::Capsule {
            radius: 0.05,
            half: 0.1,
        },
        ColliderShape::Cuboid { half },
        ColliderShape::Sphere { radius: 0.07 },
    ];
    let mut all: Vec<Collider> = names
        .iter()
        .zip(shapes)
        .map(|(name, shape)| Collider::on(m.frame(name).unwrap(), shape))
        .collect();
    let ground = Collider::ground(Pose::IDENTITY, Surface::default());
    all.insert(if ground_first { 0 } else { 4 }, ground);
    let lying = (0.5f64).sqrt();
    let q = [
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0999],
        [lying, 0.0, 0.0, lying, 1.0, 0.0, 0.0499],
        [0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0499],
        [0.0, 0.0, 0.0, 1.0, 0.01, 0.02, 0.2681],
    ];
    (m.clone(), Scene::new(&m, all).unwrap(), q.concat())
}

#[test]
fn a_scene_tells_how_its_contacts_move() {
    for ground_first in [false, true] {
        let (m, mut scene, q) = scene(ground_first);
        let nv = m.nv();
        let wave = |a: f64| -> Vec<f64> { (0..nv).map(|i| (a * i as f64 + 0.3).sin()).collect() };
        let (v, tau): (Vec<f64>, Vec<f64>) = (wave(0.7).iter().map(|x| 0.1 * x).collect(), wave(1.3));
        let mut settings = Settings::new(0.005);
        (settings.gyroscopic, settings.memory, settings.loads) = (false, false, false);
        settings.tolerance = 1e-13;
        settings.coulomb_tolerance = 1e-12;
        let mut stepper = Stepper::new(&m, settings).unwrap();
        let contacts = scene.contacts(&q, &v, 0.005).unwrap().to_vec();
        assert!(contacts.len() >= 8, "{}", contacts.len());
        let meetings = scene.meetings(&contacts).unwrap();
        let report = stepper.solve(&q, &v, &tau, &contacts).unwrap();
        let held = report.contacts.iter().map(|c| c.compliance).collect();
        let dq = wave(2.1);
        let mut change = vec![0.0; nv];
        let mut derivatives = stepper.derivatives(&q, &v, &tau, &contacts, &meetings).unwrap();
        let by = Change {
            q: Some(&dq),
            ..Change::default()
        };
        derivatives.change(&by, &mut change).unwrap();
        stepper.hold_compliance(held);
        let h = 1e-7;
        let mut at = |sign: f64| {
            let (step, mut moved): (Vec<f64>, _) = (dq.iter().map(|x| sign * h * x).collect(), q.clone());
            m.integrate(&q, &step, &mut moved).unwrap();
            let contacts = scene.contacts(&moved, &v, 0.005).unwrap().to_vec();
            stepper.solve(&moved, &v, &tau, &contacts).unwrap().velocity.clone()
        };
        let (after, before) = (at(1.0), at(-1.0));
        let most = change.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        for i in 0..nv {
            let difference = (after[i] - before[i]) / (2.0 * h);
            assert!(
                (difference - change[i]).abs() < 2e-4 * most,
                "{i}: {difference} {}",
                change[i]
            );
        }
    }
}

#[test]
fn what_is_not_differentiated_is_named() {
    let m = Mechanism::builder("roller")
        .link(Link::new("roller", Inertia::cylinder(1.0, 0.1, 0.2)))
        .joint(Joint::free("free").between("world", "roller"))
        .build()
        .unwrap();
    let roller = Collider {
        name: "drum".into(),
        ..Collider::on(
            m.frame("roller").unwrap(),
            ColliderShape::Cylinder { radius: 0.1, half: 0.1 },
        )
    };
    let mut scene = Scene::new(&m, vec![roller, Collider::ground(Pose::IDENTITY, Surface::default())]).unwrap();
    let q = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.1];
    let contacts = scene.contacts(&q, &[0.0; 6], 0.005).unwrap().to_vec();
    let problem = scene.meetings(&contacts).unwrap_err().to_string();
    assert!(problem.contains("drum") && problem.contains("ground"), "{problem}");
}
