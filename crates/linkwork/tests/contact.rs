//! Known answers of contact and friction.

mod support;

use linkwork::contact::{Friction, Settings, Surface};
use linkwork::model::{Joint, Link};
use linkwork::spatial::{Inertia, Rotation, Vec3};
use linkwork::{Mechanism, contact::Region};
use support::contacts::{Shape, World, ball, boxes, place};

const G: f64 = 9.81;

fn convex(step: f64) -> Settings {
    let mut settings = Settings::new(step);
    settings.friction = Friction::Convex;
    settings
}

fn block(index: usize, half: Vec3) -> Shape {
    let link = format!("box{index}");
    Shape::Block { link, half }
}

fn flat() -> Vec3 {
    Vec3::new(0.2, 0.2, 0.05)
}

/// A block on the floor.
fn sliding(m: &Mechanism, settings: Settings) -> World<'_> {
    let mut world = World::new(m, settings, vec![block(0, flat())]);
    world.q = place(Vec3::new(0.0, 0.0, 0.05), Rotation::IDENTITY);
    world
}

#[test]
fn a_sliding_block_stops_where_friction_says() {
    let m = boxes(&[(1.0, flat())]);
    let expect = 2.0 * 2.0 / (2.0 * 0.5 * G);
    for dt in [0.01, 0.001] {
        for settings in [convex(dt), Settings::new(dt)] {
            let coulomb = settings.friction == Friction::Coulomb;
            let mut world = sliding(&m, settings);
            world.v[3] = 2.0;
            let mut highest: f64 = 0.0;
            for _ in 0..(0.6 / dt) as usize {
                world.run(dt);
                highest = highest.max(world.q[6] - 0.05);
            }
            let way = world.q[4];
            let first_order = 0.5 * dt * 2.0;
            assert!(
                (way - (expect - first_order)).abs() < 2e-3 * expect,
                "{dt} {coulomb}: {way}"
            );
            assert!(world.v[3].abs() < 1e-6, "{}", world.v[3]);
            // Convex friction hops; Coulomb's does not.
            assert!(
                if coulomb { highest < 1e-5 } else { highest > 1e-2 },
                "{dt} {coulomb}: {highest}"
            );
        }
    }
}

#[test]
fn a_block_holds_on_a_slope_below_its_friction_and_slides_above() {
    let (mu, dt) = (0.5, 0.01);
    let m = boxes(&[(1.0, flat())]);
    for (ratio, memory) in [(0.99, true), (0.99, false), (1.01, true)] {
        let angle = f64::atan(ratio * mu);
        let mut settings = Settings::new(dt);
        settings.memory = memory;
        let mut world = World::new(&m, settings, vec![block(0, flat())]);
        world.normal = Vec3::new(-angle.sin(), 0.0, angle.cos());
        let turn = Rotation::about(Vec3::new(0.0, 1.0, 0.0), -angle);
        world.q = place(world.normal * 0.05, turn);
        world.run(1.0);
        let speed = Vec3::new(world.v[3], world.v[4], world.v[5]).norm();
        if ratio > 1.0 {
            let expect = G * (angle.sin() - mu * angle.cos());
            assert!((speed - expect).abs() < 5e-4, "{speed} {expect}");
        } else {
            assert!(speed < if memory { 1e-12 } else { 1e-4 }, "{memory}: {speed:e}");
        }
    }
}

#[test]
fn a_sphere_goes_from_sliding_to_rolling_at_five_sevenths_of_its_speed() {
    let m = ball(1.0, 0.1);
    for dt in [0.01, 0.001] {
        let mut world = World::new(
            &m,
            Settings::new(dt),
            vec![Shape::Ball {
                link: "ball".into(),
                at: Vec3::ZERO,
                radius: 0.1,
            }],
        );
        world.q[6] = 0.1;
        world.v[3] = 2.0;
        world.run(0.6);
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&world.q).unwrap();
        let turned = posed.pose(m.frame("ball").unwrap()).unwrap().rotation;
        let along = turned * Vec3::new(world.v[3], world.v[4], world.v[5]);
        assert!((along.x - 10.0 / 7.0).abs() < 1e-5, "{dt}: {}", along.x);
        let before = along.x;
        world.run(0.4);
        let mut posed = workspace.at(&world.q).unwrap();
        let turned = posed.pose(m.frame("ball").unwrap()).unwrap().rotation;
        let along = turned * Vec3::new(world.v[3], world.v[4], world.v[5]);
        assert!(
            (along.x - before).abs() < 1e-6,
            "a rolling ball keeps its speed: {} {before}",
            along.x
        );
    }
}

#[test]
fn a_sphere_rolls_down_a_slope_at_five_sevenths_of_free_fall() {
    let m = ball(1.0, 0.1);
    let angle = 20f64.to_radians();
    for dt in [0.01, 0.001] {
        let mut world = World::new(
            &m,
            Settings::new(dt),
            vec![Shape::Ball {
                link: "ball".into(),
                at: Vec3::ZERO,
                radius: 0.1,
            }],
        );
        world.normal = Vec3::new(angle.sin(), 0.0, angle.cos());
        let at = world.normal * 0.1;
        world.q[4..7].copy_from_slice(&at.to_array());
        world.run(1.0);
        let speed = Vec3::new(world.v[3], world.v[4], world.v[5]).norm();
        let expect = 5.0 / 7.0 * G * angle.sin();
        assert!((speed - expect).abs() < 1e-4, "{dt}: {speed} {expect}");
    }
}

#[test]
fn a_block_pushed_high_tips_and_pushed_low_slides() {
    let half = Vec3::new(0.1, 0.2, 0.2);
    let m = boxes(&[(1.0, half)]);
    let mu = 0.5;
    // Pushed just beyond friction at a height z, it tips if z > b/μ.
    for (z, tips) in [
        (0.05, false),
        (0.1, false),
        (0.18, false),
        (0.22, true),
        (0.3, true),
        (0.38, true),
    ] {
        let mut world = World::new(&m, Settings::new(0.002), vec![block(0, half)]);
        world.q = place(Vec3::new(0.0, 0.0, 0.2), Rotation::IDENTITY);
        world.surface = Surface::with_friction(mu);
        // At the threshold of tipping f z = m g b, of sliding f = μ m g.
        let force = 1.02 * G * mu.min(half.x / z);
        for _ in 0..100 {
            // Along the world's x at height z, in the body's axes about its origin.
            let mut workspace = m.workspace();
            let mut posed = workspace.at(&world.q).unwrap();
            let pose = posed.pose(m.frame("box0").unwrap()).unwrap();
            let push = Vec3::new(force, 0.0, 0.0);
            let arm = Vec3::new(0.0, 0.0, z - 0.2);
            let (n, f) = (
                pose.rotation.inverse_mul(arm.cross(push)),
                pose.rotation.inverse_mul(push),
            );
            world.step(&[n.x, n.y, n.z, f.x, f.y, f.z]);
        }
        let turned = world.v[1].abs() > 1e-2;
        let slid = world.q[4] > 1e-3 && !turned;
        assert_eq!((turned, slid), (tips, !tips), "{z}: v {:?} q {:?}", world.v, world.q);
    }
}

#[test]
fn spin_stops_after_the_time_that_torsion_takes() {
    let m = ball(1.0, 0.1);
    let mut world = World::new(
        &m,
        Settings::new(0.005),
        vec![Shape::Ball {
            link: "ball".into(),
            at: Vec3::ZERO,
            radius: 0.1,
        }],
    );
    world.surface.torsion = 0.02;
    world.q[6] = 0.1;
    world.v[2] = 50.0;
    let inertia = 0.4 * 0.01;
    let expect = inertia * 50.0 / (0.5 * G * 0.02);
    let mut t = 0.0;
    while world.v[2] > 1e-6 && t < 5.0 {
        world.run(0.005);
        t += 0.005;
    }
    assert!((t - expect).abs() < 0.01, "{t} {expect}");
    assert!((world.q[6] - 0.1).abs() < 1e-4);
}

#[test]
fn rolling_friction_stops_a_ball() {
    let m = ball(1.0, 0.1);
    let mut world = World::new(
        &m,
        Settings::new(0.005),
        vec![Shape::Ball {
            link: "ball".into(),
            at: Vec3::ZERO,
            radius: 0.1,
        }],
    );
    world.surface.rolling = 0.01;
    world.q[6] = 0.1;
    (world.v[3], world.v[1]) = (1.0, 10.0);
    world.run(4.0);
    assert!(world.v.iter().all(|x| x.abs() < 1e-6), "{:?}", world.v);
    // It decelerates by about μ r/R g 5/7 of a rolling ball's.
    let way = world.q[4];
    let expect = 1.0 / (2.0 * 0.5 * 0.1 * G * 5.0 / 7.0);
    assert!((way - expect).abs() < 0.05 * expect, "{way} {expect}");
}

#[test]
fn a_ball_bounces_to_e_squared_of_its_height() {
    let m = ball(1.0, 0.1);
    for (dt, stiffness) in [(0.001, None), (0.01, None), (0.001, Some(1e6)), (0.001, Some(1e4))] {
        let mut world = World::new(
            &m,
            Settings::new(dt),
            vec![Shape::Ball {
                link: "ball".into(),
                at: Vec3::ZERO,
                radius: 0.1,
            }],
        );
        world.surface.restitution = 0.7;
        world.surface.stiffness = stiffness;
        world.q[6] = 0.6;
        world.margin = 1.0;
        let (mut heights, mut highest, mut rising) = (Vec::new(), 0.0f64, false);
        for _ in 0..(1.6 / dt) as usize {
            world.run(dt);
            if world.v[5] > 0.0 {
                rising = true;
                highest = highest.max(world.q[6] - 0.1);
            } else if rising {
                heights.push(highest.max(world.q[6] - 0.1));
                (rising, highest) = (false, 0.0);
            }
        }
        for (height, expect) in heights.iter().zip([0.245, 0.12005, 0.05882]) {
            assert!(
                (height - expect).abs() < 0.01 * expect,
                "{dt} {stiffness:?}: {heights:?}"
            );
        }
        assert!(heights.len() >= 3);
    }
}

#[test]
fn boxes_come_to_rest_on_a_corner_from_a_gram_to_ten_tonnes() {
    for (mass, side) in [(1e-3, 0.005), (1.0, 0.1), (100.0, 0.5), (1e4, 2.0)] {
        let half = Vec3::new(side, side, side);
        let m = boxes(&[(mass, half)]);
        for dt in [0.001, 0.01] {
            let mut world = World::new(&m, Settings::new(dt), vec![block(0, half)]);
            let turn = Rotation::about(Vec3::new(1.0, 0.4, 0.0) * (1.16f64).sqrt().recip(), 0.7);
            world.q = place(Vec3::new(0.0, 0.0, 2.5 * side), turn);
            world.margin = side;
            let mut deepest: f64 = 0.0;
            let start = world.energy();
            for _ in 0..(0.7 / dt) as usize {
                let report = world.step(&[0.0; 6]);
                assert!(report.settled && report.iterations < 60, "{mass} {dt}: {report:?}");
                deepest = deepest.max(report.residuals.penetration);
                assert!(world.energy() <= start + 1e-3 * start.abs());
            }
            assert!(deepest < 5e-3 * side, "{mass} {dt}: {deepest}");
        }
    }
}

/// Boxes on each other, box0 on the floor.
fn stack(m: &Mechanism, settings: Settings, halves: &[Vec3]) -> World<'static> {
    let m: &'static Mechanism = Box::leak(Box::new(m.clone()));
    let mut world = World::new(
        m,
        settings,
        halves.iter().enumerate().map(|(i, h)| block(i, *h)).collect(),
    );
    let mut height = 0.0;
    world.q.clear();
    for half in halves {
        world
            .q
            .extend(place(Vec3::new(0.0, 0.0, height + half.z), Rotation::IDENTITY));
        height += 2.0 * half.z;
    }
    world.stacked = (1..halves.len()).map(|i| (i, i - 1)).collect();
    world.margin = 0.01;
    world
}

#[test]
fn twenty_boxes_stand_on_each_other() {
    let half = Vec3::new(0.1, 0.1, 0.1);
    let m = boxes(&[(1.0, half); 20]);
    let mut world = stack(&m, Settings::new(0.01), &[half; 20]);
    // Disturbed, then at rest.
    for i in 0..20 {
        world.v[6 * i + 3] = 0.02 * (i as f64).sin();
    }
    let report = world.run(1.5);
    let force: f64 = report
        .contacts
        .iter()
        .filter(|c| c.id < 1_000_000)
        .map(|c| c.along / 0.01)
        .sum();
    assert!((force - 20.0 * G).abs() < 0.1, "{force}");
    assert!(report.residuals.penetration < 2e-4, "{}", report.residuals.penetration);
    assert!(world.v.iter().all(|x| x.abs() < 1e-3), "{:?}", world.v);
}

#[test]
fn heavy_boxes_stand_on_light_ones() {
    let half = Vec3::new(0.1, 0.1, 0.1);
    for (ratio, deepest) in [(1e3, 1e-3), (1e-3, 1e-3), (1e-6, 1e-3)] {
        let m = boxes(&[(1.0, half), (ratio, half)]);
        let mut world = stack(&m, Settings::new(0.01), &[half; 2]);
        let mut worst: f64 = 0.0;
        for i in 0..100 {
            let report = world.step(&[0.0; 12]);
            assert!(report.settled, "{ratio}: {report:?}");
            if i > 50 {
                worst = worst.max(report.residuals.penetration);
            }
        }
        assert!(worst < deepest, "{ratio}: {worst:e}");
        assert!(
            (world.q[6] - 0.1).abs() < 2e-3 && (world.q[13] - 0.3).abs() < 4e-3,
            "{ratio}: {:?}",
            world.q
        );
    }
}

#[test]
fn a_tumbling_body_keeps_its_energy() {
    let m = boxes(&[(1.0, Vec3::new(0.1, 0.2, 0.35))]);
    let mut world = World::new(&m, Settings::new(0.01), vec![]);
    world.v[..3].copy_from_slice(&[0.1, 20.0, 0.1]);
    let kinetic = |world: &World<'_>| {
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&world.q).unwrap();
        posed.moving(&world.v).unwrap().kinetic_energy() - 0.5 * world.v[3..].iter().map(|x| x * x).sum::<f64>()
    };
    let before = kinetic(&world);
    world.run(2.0);
    assert!(
        (kinetic(&world) / before - 1.0).abs() < 1e-4,
        "{}",
        kinetic(&world) / before
    );
}

#[test]
fn a_body_thrown_while_it_spins_flies_straight() {
    // Its mass is away from its origin, and it starts inside no contact.
    let m = Mechanism::builder("thrown")
        .gravity([0.0; 3])
        .link(Link::new(
            "body",
            Inertia::new(2.0, [0.1, -0.2, 0.05], [0.2, 0.0, 0.0, 0.3, 0.0, 0.4]),
        ))
        .joint(Joint::free("free").between("world", "body"))
        .build()
        .unwrap();
    let mut world = World::new(&m, Settings::new(0.01), vec![]);
    world.v.copy_from_slice(&[3.0, 20.0, -5.0, 1.0, 2.0, 3.0]);
    let momentum = |world: &World<'_>| {
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&world.q).unwrap();
        posed.moving(&world.v).unwrap().momentum().force
    };
    let before = momentum(&world);
    world.run(1.0);
    assert!((momentum(&world) - before).norm() < 1e-9 * before.norm());
}

#[test]
fn a_planar_body_keeps_its_momentum() {
    let m = Mechanism::builder("puck")
        .link(Link::new("puck", Inertia::cylinder(1.0, 0.1, 0.02)))
        .joint(Joint::planar("ice").between("world", "puck"))
        .build()
        .unwrap();
    let mut world = World::new(&m, Settings::new(0.01), vec![]);
    world.v.copy_from_slice(&[50.0, 1.0, 0.0]);
    world.run(1.0);
    assert!(
        (world.q[1] - 1.0).abs() < 1e-9 && world.q[2].abs() < 1e-9,
        "{:?}",
        world.q
    );
    assert!((world.v[1].hypot(world.v[2]) - 1.0).abs() < 1e-9);
}

#[test]
fn the_rod_of_painleve_slides_below_the_critical_friction_and_jams_above() {
    // A slender rod, 30° off the vertical, its lower tip sliding: critical μ = 1.35.
    let (mass, half) = (1.0, 0.5);
    let m = Mechanism::builder("rod")
        .link(Link::new("rod", Inertia::cuboid(mass, [1e-3, 1e-3, 2.0 * half])))
        .joint(Joint::free("free").between("world", "rod"))
        .build()
        .unwrap();
    for (mu, jams) in [(0.5, false), (0.9, false), (1.2, false), (1.5, true), (2.0, true)] {
        let mut world = World::new(
            &m,
            Settings::new(1e-4),
            vec![Shape::Ball {
                link: "rod".into(),
                at: Vec3::new(0.0, 0.0, -half),
                radius: 0.0,
            }],
        );
        world.surface = Surface::with_friction(mu);
        let turn = Rotation::about(Vec3::new(0.0, 1.0, 0.0), 30f64.to_radians());
        world.q = place(turn * Vec3::new(0.0, 0.0, half), turn);
        // Its tip goes ahead of it, pushed.
        let along = turn.inverse_mul(Vec3::new(-2.0, 0.0, 0.0));
        world.v[3..].copy_from_slice(&along.to_array());
        let mut largest: f64 = 0.0;
        let mut sticks = false;
        for _ in 0..20 {
            let report = world.step(&[0.0; 6]);
            assert!(report.iterations < 500);
            largest = largest.max(report.contacts[0].along);
            sticks |= report.contacts[0].region == Region::Sticking;
        }
        let impact = largest > 0.05;
        assert_eq!((impact, sticks), (jams, jams), "{mu}: {largest:e}");
    }
}

#[test]
fn joints_stop_at_limits_and_by_dry_friction() {
    let axis = [0.0, 0.0, 1.0];
    let wheel = |joint: Joint| {
        Mechanism::builder("wheel")
            .gravity([0.0; 3])
            .link(Link::new("wheel", Inertia::cylinder(1.0, 0.2, 0.1)))
            .joint(joint.between("world", "wheel"))
            .build()
            .unwrap()
    };
    let inertia = 0.5 * 0.04;
    let m = wheel(Joint::revolute("hub", axis).friction(0.05));
    let dt = 0.01;
    let mut world = World::new(&m, Settings::new(dt), vec![]);
    world.v[0] = 5.0;
    world.run(3.0);
    let expect = inertia * 25.0 / (2.0 * 0.05) - 0.5 * dt * 5.0;
    assert!(
        (world.q[0] - expect).abs() < 2e-3 * expect && world.v[0].abs() < 1e-9,
        "{} {expect}",
        world.q[0]
    );

    let m = wheel(Joint::revolute("hub", axis).position_limits(-1.0, 1.0));
    let mut world = World::new(&m, Settings::new(dt), vec![]);
    world.v[0] = 5.0;
    for _ in 0..100 {
        world.step(&[0.3]);
    }
    assert!(
        (world.q[0] - 1.0).abs() < 1e-4 && world.v[0].abs() < 1e-6,
        "{:?} {:?}",
        world.q,
        world.v
    );
}

/// The example quadruped with springs and dampers for motors, standing.
fn standing_quadruped() -> (Mechanism, Vec<f64>) {
    let given = linkwork::model::examples::quadruped();
    let mut builder = Mechanism::builder("quadruped");
    for link in given.links() {
        builder = builder.link(link.clone());
    }
    let mut stance = given.neutral();
    for joint in given.joints() {
        let mut joint = joint.clone();
        if joint.kind.nv() == 1 {
            let rest = match joint.name.rsplit('_').next() {
                Some("swing") => 0.7,
                Some("knee") => -1.4,
                _ => 0.1,
            };
            (joint.stiffness, joint.damping, joint.rest) = (vec![300.0], vec![6.0], vec![rest]);
        }
        builder = builder.joint(joint);
    }
    let m = builder.build().unwrap();
    for (j, joint) in m.joints().iter().enumerate() {
        if joint.kind.nv() == 1 {
            let id = m.joint(&m.joints()[j].name).unwrap();
            stance[m.q_range(id).unwrap().start] = joint.rest[0];
        }
    }
    stance[6] = 0.48;
    (m, stance)
}

#[test]
fn a_quadruped_that_stands_for_a_thousand_seconds_does_not_drift() {
    let (m, stance) = standing_quadruped();
    let shanks = m.links().iter().filter(|link| link.name.ends_with("shank"));
    let feet = shanks.map(|link| Shape::Ball {
        link: link.name.clone(),
        at: Vec3::new(0.0, 0.0, -0.3),
        radius: 0.02,
    });
    let mut world = World::new(&m, Settings::new(0.02), feet.collect());
    world.q = stance;
    world.surface = Surface::with_friction(0.7);
    world.run(15.0);
    let (before, none) = (world.q.clone(), vec![0.0; m.nv()]);
    let (mut iterations, steps) = (0, 50_000);
    // A thousand seconds.
    for _ in 0..steps {
        let contacts = world.contacts();
        let report = world
            .stepper
            .step(&mut world.q, &mut world.v, &none, &contacts)
            .unwrap();
        iterations += report.iterations;
        assert_eq!(report.contacts.len(), 4);
    }
    let drift = (4..7).map(|i| (world.q[i] - before[i]).abs()).fold(0.0, f64::max);
    assert!(drift < 1e-6, "{drift:e}");
    assert!(iterations < 3 * steps, "{iterations}");
}
