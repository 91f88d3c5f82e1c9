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

/// Two hands of one tree that press on each other, on a grip of several points: 𝓜(v⁺ − v) = −ΔtC + J*γ, with Jacobians of the frames.
#[test]
fn links_of_one_tree_keep_their_momentum_where_they_touch() {
    let link = |name: &str| {
        let moments = [1e-3, 0.0, 0.0, 2e-3, 0.0, 2e-3];
        Link::new(name, Inertia::new(1.0, [0.1, 0.0, 0.0], moments))
    };
    let hinge = |name: &str, axis: [f64; 3], from: &str, to: &str, at: [f64; 3]| {
        Joint::revolute(name, axis).between(from, to).at(at)
    };
    let mut builder = Mechanism::builder("arms").link(link("body"));
    builder = builder.joint(hinge("turn", [0.0, 0.3, 1.0], "world", "body", [0.0; 3]));
    for (side, y) in [("left", 0.1), ("right", -0.1)] {
        let [upper, fore] = ["upper", "fore"].map(|part| format!("{side}_{part}"));
        builder = builder.link(link(&upper)).link(link(&fore));
        let shoulder = hinge(
            &format!("{side}_shoulder"),
            [0.2, 0.0, 1.0],
            "body",
            &upper,
            [0.0, y, 0.0],
        );
        let elbow = hinge(
            &format!("{side}_elbow"),
            [0.0, 1.0, 0.4],
            &upper,
            &fore,
            [0.3, 0.0, 0.0],
        );
        builder = builder.joint(shoulder).joint(elbow);
    }
    let m = builder.build().unwrap();
    let (a, b) = (m.frame("left_fore").unwrap(), m.frame("right_fore").unwrap());
    let (q, nv) = (vec![0.2, -0.3, 0.4, 0.3, 0.5], m.nv());
    let (mut workspace, none) = (m.workspace(), vec![0.0; nv]);
    let middle = workspace.at(&q).unwrap().pose(a).unwrap().translation;
    for (push, friction) in [(1.0, 0.5), (1.0, 0.05), (0.2, 0.0)] {
        let contact = |id: u64, x: f64, z: f64| Contact {
            id,
            a,
            b,
            point: middle + Vec3::new(x, -0.05, z),
            normal: Vec3::new(0.0, 1.0, 0.0),
            gap: -1e-4,
            surface: Surface::with_friction(friction),
        };
        let contacts = [contact(0, 0.1, 0.0), contact(1, 0.12, 0.02), contact(2, 0.2, -0.01)];
        let v = vec![0.3, -push, 0.5, push, -0.2];
        let mut settings = Settings::new(0.002);
        (settings.gyroscopic, settings.tolerance) = (false, 1e-12);
        let mut stepper = Stepper::new(&m, settings).unwrap();
        let report = stepper.solve(&q, &v, &none, &contacts).unwrap().clone();
        assert!(report.settled, "{friction}: {:?}", report.residuals);
        assert!(report.contacts.iter().any(|c| c.along > 0.0));
        let mut posed = workspace.at(&q).unwrap();
        let dv: Vec<f64> = report.velocity.iter().zip(&v).map(|(new, old)| new - old).collect();
        let (mut rest, mut bias) = (vec![0.0; nv], vec![0.0; nv]);
        posed.mass_times(&dv, &mut rest).unwrap();
        let largest = rest.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for c in &report.contacts {
            let f = c.normal * c.along + c.across;
            for (frame, sign) in [(a, 1.0), (b, -1.0)] {
                let arm = c.point - posed.pose(frame).unwrap().translation;
                let (mut j, moment) = (vec![0.0; 6 * nv], arm.cross(f));
                posed.jacobian(frame, linkwork::Reference::Aligned, &mut j).unwrap();
                let wrench = [moment.x, moment.y, moment.z, f.x, f.y, f.z];
                for i in 0..nv {
                    rest[i] -= sign * (0..6).map(|r| j[r * nv + i] * wrench[r]).sum::<f64>();
                }
            }
        }
        posed.moving(&v).unwrap().bias(&mut bias).unwrap();
        for (rest, bias) in rest.iter().zip(&bias) {
            assert!((rest + 0.002 * bias).abs() < 1e-10 * largest, "{friction}: {rest}");
        }
    }
}
