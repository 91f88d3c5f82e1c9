//! More known answers of contact: impacts in a row, energy, heavy on light, a long time at rest.

mod support;

use linkwork::Mechanism;
use linkwork::contact::{Contact, Settings, Stepper, Surface};
use linkwork::model::{Joint, Link};
use linkwork::spatial::{Inertia, Rotation, Vec3};
use support::contacts::{Shape, World, boxes, place};

#[test]
fn the_last_ball_of_newtons_cradle_leaves_with_the_speed_of_the_first() {
    let (count, radius, gap) = (5, 0.05, 5e-4);
    let mut builder = Mechanism::builder("cradle").gravity([0.0; 3]);
    for i in 0..count {
        builder = builder
            .link(Link::new(format!("ball{i}"), Inertia::sphere(1.0, radius)))
            .joint(Joint::prismatic(format!("along{i}"), [1.0, 0.0, 0.0]).between("world", format!("ball{i}")));
    }
    let m = builder.build().unwrap();
    let surface = Surface {
        friction: 0.0,
        restitution: 1.0,
        ..Surface::default()
    };
    let dt = 1e-4;
    let mut stepper = Stepper::new(&m, Settings::new(dt)).unwrap();
    let mut q: Vec<f64> = (0..count).map(|i| i as f64 * (2.0 * radius + gap)).collect();
    let mut v = vec![0.0; count];
    (q[0], v[0]) = (-0.02, 1.0);
    for _ in 0..600 {
        let contacts: Vec<Contact> = (1..count)
            .map(|i| Contact {
                id: i as u64,
                a: m.frame(&format!("ball{i}")).unwrap(),
                b: m.frame(&format!("ball{}", i - 1)).unwrap(),
                point: Vec3::new(0.5 * (q[i] + q[i - 1]), 0.0, 0.0),
                normal: Vec3::new(1.0, 0.0, 0.0),
                gap: q[i] - q[i - 1] - 2.0 * radius,
                surface,
            })
            .collect();
        assert!(
            stepper
                .step(&mut q, &mut v, &vec![0.0; count], &contacts)
                .unwrap()
                .settled
        );
    }
    assert!((v[count - 1] - 1.0).abs() < 1e-3, "{v:?}");
    assert!(v[..count - 1].iter().all(|v| v.abs() < 1e-3), "{v:?}");
}

#[test]
fn energy_never_rises_while_a_box_comes_to_rest() {
    let half = Vec3::new(0.1, 0.15, 0.07);
    let m = boxes(&[(1.0, half)]);
    let axes = [
        Vec3::new(0.0, 1.0, 0.0),
        Vec3::new(0.6, 0.8, 0.0),
        Vec3::new(0.48, 0.6, 0.64),
    ];
    for (dt, axis) in [0.002, 0.01].into_iter().flat_map(|dt| axes.map(|axis| (dt, axis))) {
        let mut world = World::new(
            &m,
            Settings::new(dt),
            vec![Shape::Block {
                link: "box0".into(),
                half,
            }],
        );
        world.q = place(Vec3::new(0.0, 0.0, 0.4), Rotation::about(axis, 0.7));
        world.v.copy_from_slice(&[1.0, 2.0, -1.0, 0.7, 0.0, 0.0]);
        let (start, tau) = (world.energy(), f64::max(dt, 0.02));
        let mut last = start;
        for step in 0..(3.0 / dt) as usize {
            let mechanical = world.energy();
            // What is held elastically: gaps that are inside, and the strain that was remembered.
            let held: f64 = world
                .stepper
                .report()
                .contacts
                .iter()
                .filter(|c| c.along > 0.0)
                .map(|c| {
                    let [_, r_t] = c.compliance;
                    0.5 * r_t * c.across.dot(c.across)
                })
                .sum();
            let report = world.step(&[0.0; 6]);
            let inside: f64 = report
                .contacts
                .iter()
                .filter(|c| c.gap < 0.0)
                .map(|c| 0.5 * c.gap * c.gap / (c.compliance[0] * dt * (dt + tau)))
                .sum();
            let whole = mechanical + inside + held;
            assert!(
                whole <= last + 1e-4 * start,
                "{dt}, {axis:?}, step {step}: {last} to {whole}"
            );
            last = whole;
        }
        assert!(world.v.iter().all(|v| v.abs() < 1e-2), "{dt}: {:?}", world.v);
    }
}

#[test]
fn a_million_times_its_weight_stands_on_a_light_box() {
    let half = Vec3::new(0.1, 0.1, 0.1);
    let m = boxes(&[(1.0, half), (1e6, half)]);
    let shapes = (0..2).map(|i| Shape::Block {
        link: format!("box{i}"),
        half,
    });
    let mut world = World::new(&m, Settings::new(0.001), shapes.collect());
    world.q = [
        place(Vec3::new(0.0, 0.0, 0.1), Rotation::IDENTITY),
        place(Vec3::new(0.0, 0.0, 0.3), Rotation::IDENTITY),
    ]
    .concat();
    world.stacked = vec![(1, 0)];
    world.margin = 0.01;
    let mut worst: f64 = 0.0;
    for i in 0..1000 {
        let report = world.step(&[0.0; 12]);
        if i > 200 {
            worst = worst.max(report.residuals.penetration);
        }
    }
    assert!(worst < 1e-3, "{worst:e}");
    assert!((world.q[13] - 0.3).abs() < 2e-3, "{:?}", world.q);
}
