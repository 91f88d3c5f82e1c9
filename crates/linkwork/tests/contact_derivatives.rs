//! Derivatives of a step with contact: the golden ones, differences, and the transpose.

mod support;

use linkwork::Mechanism;
use linkwork::contact::{Change, Contact, Friction, Meeting, Settings, Start, Stepper, Surface};
use linkwork::model::{Coupling, FrameId, Joint, Link};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use support::golden_contact::{NAMES, load, rows};

/// The largest difference, relative to the largest number.
fn error(found: &[f64], expect: &[f64]) -> f64 {
    let size = expect.iter().fold(1e-12, |most: f64, x| most.max(x.abs()));
    let worst = found.iter().zip(expect).map(|(x, y)| (x - y).abs());
    worst.fold(0.0, f64::max) / size
}

#[test]
fn matrices_products_and_adjoints_are_those_of_the_golden_numbers() {
    let mut count = 0;
    for golden in NAMES.map(load) {
        let (name, file, m) = (golden.name, &golden.file, &golden.mechanism);
        if file["derivatives"].is_null() {
            continue;
        }
        count += 1;
        let nv = m.nv();
        let mut stepper = Stepper::new(m, golden.settings).unwrap();
        let mut step = stepper
            .derivatives(&golden.q, &golden.v, &golden.torque, &golden.contacts, &golden.meetings)
            .unwrap();
        let mut found = [(); 3].map(|()| vec![0.0; nv * nv]);
        let [by_q, by_v, by_torque] = &mut found;
        step.matrices(by_q, by_v, by_torque).unwrap();
        for (found, key) in found.iter().zip(["dvplus_dq", "dvplus_dv", "dvplus_dtorque"]) {
            let expect = rows(&file["derivatives"][key]).concat();
            assert!(
                error(found, &expect) < 1e-8,
                "{name}: {key}: {:e}",
                error(found, &expect)
            );
        }
        // Products are those of the matrices, and so are adjoints.
        let direction = |seed: usize| -> Vec<f64> { (0..nv).map(|i| ((i * 7 + seed) as f64).sin()).collect() };
        let (dq, dv, dt, y) = (direction(1), direction(2), direction(3), direction(4));
        let times = |a: &[f64], x: &[f64]| -> Vec<f64> {
            a.chunks(nv)
                .map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
                .collect()
        };
        let expect: Vec<f64> = (0..nv)
            .map(|i| times(&found[0], &dq)[i] + times(&found[1], &dv)[i] + times(&found[2], &dt)[i])
            .collect();
        let mut product = vec![0.0; nv];
        let change = Change {
            q: Some(&dq),
            v: Some(&dv),
            torque: Some(&dt),
            ..Change::default()
        };
        step.change(&change, &mut product).unwrap();
        assert!(
            error(&product, &expect) < 1e-10,
            "{name}: {:e}",
            error(&product, &expect)
        );
        let gradient = step.adjoint(&y).unwrap();
        for (found, matrix) in [&gradient.q, &gradient.v, &gradient.torque].into_iter().zip(&found) {
            let expect: Vec<f64> = (0..nv)
                .map(|j| (0..nv).map(|i| matrix[i * nv + j] * y[i]).sum())
                .collect();
            assert!(error(found, &expect) < 1e-10, "{name}: {:e}", error(found, &expect));
        }
    }
    assert_eq!(count, 5);
}

/// A two-link arm on a free body with a round foot, a corner and a ball that touch the ground and a block.
struct World {
    m: Mechanism,
    q: Vec<f64>,
    v: Vec<f64>,
    torque: Vec<f64>,
    friction: Vec<f64>,
}

const FOOT: f64 = 0.05;

/// With a knee in the hip that follows it, if asked for.
fn robot(scale: f64, follows: bool) -> Mechanism {
    let mut builder = Mechanism::builder("robot");
    if follows {
        let knee = Joint::revolute("knee", [0.0, 1.0, 0.0])
            .between("thigh", "leg")
            .damping(0.2)
            .spring(5.0, &[0.1]);
        builder = builder
            .link(Link::new(
                "thigh",
                Inertia::new(0.4, [0.01, 0.0, 0.02], [0.002, 0.0, 0.0, 0.002, 0.0, 0.001]),
            ))
            .joint(knee)
            .couple(Coupling::gear("knee", "hip", 0.5, 0.0));
    }
    builder
        .link(Link::new(
            "base",
            Inertia::new(3.0 * scale, [0.02, 0.01, -0.03], [0.05, 0.001, 0.0, 0.06, 0.002, 0.04]),
        ))
        .link(Link::new(
            "leg",
            Inertia::new(0.7, [0.0, 0.0, -0.1], [0.01, 0.0, 0.0, 0.01, 0.0, 0.002]),
        ))
        .link(Link::new("block", Inertia::cuboid(2.0, [0.4, 0.4, 0.1])))
        .joint(Joint::free("float").between("world", "base"))
        .joint(
            Joint::revolute("hip", [0.0, 1.0, 0.0])
                .between("base", if follows { "thigh" } else { "leg" })
                .at([0.05, 0.0, -0.1])
                .damping(0.3)
                .spring(20.0, &[0.1]),
        )
        .joint(Joint::free("block free").between("world", "block"))
        .build()
        .unwrap()
}

impl World {
    fn new(sliding: bool, follows: bool) -> Self {
        let m = robot(1.0, follows);
        let ratio = if follows { 1.5 } else { 1.0 };
        let mut q = m.neutral();
        // The block lies on the ground, the foot stands on it, the base's corner is on the ground beside.
        let axis: Vec3 = Vec3::new(0.36, 0.48, 0.8);
        let turn = Rotation::about(axis, 0.05);
        q[..4].copy_from_slice(&turn.to_quaternion());
        q[4..7].copy_from_slice(&[0.0, 0.0, 0.4475]);
        q[7] = 0.05 / ratio;
        q[8..12].copy_from_slice(&Rotation::about(Vec3::new(0.0, 1.0, 0.0), 0.02).to_quaternion());
        q[12..15].copy_from_slice(&[0.05, 0.0, 0.0545]);
        let mut v = vec![0.0; m.nv()];
        v[0] = 0.2;
        v[3] = if sliding { 1.5 } else { 0.01 };
        v[6] = 0.3 / ratio;
        v[10] = if sliding { -0.8 } else { 0.0 };
        let torque = (0..m.nv()).map(|i| 0.3 * (i as f64).cos()).collect();
        Self {
            m,
            q,
            v,
            torque,
            friction: vec![0.4; 6],
        }
    }

    fn contacts(&self, q: &[f64]) -> (Vec<Contact>, Vec<Meeting>) {
        let mut workspace = self.m.workspace();
        let mut posed = workspace.at(q).unwrap();
        let [leg, block] = ["leg", "block"].map(|name| self.m.frame(name).unwrap());
        let at: Pose = posed.pose(leg).unwrap();
        let below: Pose = posed.pose(block).unwrap();
        let (mut contacts, mut meetings) = (Vec::new(), Vec::new());
        // The foot, a ball on the block's upper face.
        let (centre, n) = (at.point(Vec3::new(0.0, 0.0, -0.2)), below.rotation.z);
        let gap = (centre - below.translation).dot(n) - 0.05 - FOOT;
        let surface = |i: usize| Surface::with_friction(self.friction[i]);
        contacts.push(Contact {
            id: 0,
            a: leg,
            b: block,
            point: centre - n * (FOOT + 0.5 * gap),
            normal: n,
            gap,
            surface: surface(0),
        });
        meetings.push(Meeting::BallOnFace {
            radius: FOOT,
            halfway: true,
        });
        // The block's lower corners on the ground.
        for (i, (x, y)) in [(-0.2, -0.2), (0.2, -0.2), (-0.2, 0.2), (0.2, 0.2)]
            .into_iter()
            .enumerate()
        {
            let corner = below.point(Vec3::new(x, y, -0.05));
            contacts.push(Contact {
                id: 1 + i as u64,
                a: block,
                b: FrameId::WORLD,
                point: corner,
                normal: Vec3::new(0.0, 0.0, 1.0),
                gap: corner.z,
                surface: surface(1 + i),
            });
            meetings.push(Meeting::BallOnFace {
                radius: 0.0,
                halfway: false,
            });
        }
        // The other way round: a corner of the leg's heel pressed by a plane of the block would be the same as above; take a ball
        // of the block against a ball of the leg.
        let (one, two) = (
            at.point(Vec3::new(0.08, 0.0, -0.2)),
            below.point(Vec3::new(0.16, 0.0, 0.0)),
        );
        let (r_a, r_b) = (0.03, 0.095);
        let between = one - two;
        let d = between.norm();
        let n = between * d.recip();
        let gap = d - r_a - r_b;
        contacts.push(Contact {
            id: 9,
            a: leg,
            b: block,
            point: two + n * (r_b + 0.5 * gap),
            normal: n,
            gap,
            surface: surface(5),
        });
        meetings.push(Meeting::Balls { radii: [r_a, r_b] });
        (contacts, meetings)
    }

    fn settings(&self, friction: Friction) -> Settings {
        let mut settings = Settings::new(0.005);
        settings.friction = friction;
        (settings.gyroscopic, settings.memory, settings.loads) = (false, false, false);
        (settings.tolerance, settings.coulomb_tolerance) = (1e-14, 1e-13);
        settings.start = Start::Free;
        settings
    }
}

#[test]
fn derivatives_are_those_of_differences() {
    let mut slid = 0;
    for friction in [Friction::Convex, Friction::Coulomb] {
        for (sliding, follows) in [(false, false), (true, false), (false, true), (true, true)] {
            let world = World::new(sliding, follows);
            let (m, nv) = (&world.m, world.m.nv());
            let settings = world.settings(friction);
            let (contacts, meetings) = world.contacts(&world.q);
            // R is held: differences take it from the point.
            let plus = |m: &Mechanism, q: &[f64], v: &[f64], torque: &[f64], friction: &[f64]| -> Vec<f64> {
                let base = World::new(sliding, follows);
                let (given, _) = base.contacts(&base.q);
                let mut stepper = Stepper::new(&base.m, settings).unwrap();
                let held = stepper.solve(&base.q, &base.v, &base.torque, &given).unwrap();
                let held = held.contacts.iter().map(|c| c.compliance).collect();
                let mut world = World::new(sliding, follows);
                (world.m, world.friction) = (m.clone(), friction.to_vec());
                let mut stepper = Stepper::new(m, settings).unwrap();
                stepper.hold_compliance(held);
                let (contacts, _) = world.contacts(q);
                let report = stepper.solve(q, v, torque, &contacts).unwrap();
                report.velocity.clone()
            };
            let mut stepper = Stepper::new(m, settings).unwrap();
            let report = stepper.solve(&world.q, &world.v, &world.torque, &contacts).unwrap();
            slid += report
                .contacts
                .iter()
                .filter(|c| format!("{:?}", c.region) == "Sliding")
                .count();
            let mut step = stepper
                .derivatives(&world.q, &world.v, &world.torque, &contacts, &meetings)
                .unwrap();
            let what = format!("{friction:?}, sliding {sliding}, follows {follows}");
            let compare = |key: &str, found: &[f64], ahead: Vec<f64>, behind: Vec<f64>, h: f64| {
                let expect: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * h)).collect();
                // Bounds of friction are found to their tolerance, and differences divide that by h.
                let rounding = settings.coulomb_tolerance / h;
                let size = expect.iter().chain(found).fold(5e-3, |most: f64, x| most.max(x.abs()));
                let worst = found
                    .iter()
                    .zip(&expect)
                    .map(|(x, y)| (x - y).abs())
                    .fold(0.0, f64::max);
                assert!(
                    worst < 2e-6 * size + rounding,
                    "{what}: {key}: {worst:e} of {size:e}\n{found:?}\n{expect:?}"
                );
            };
            let h = 1e-6;
            let mut out = vec![0.0; nv];
            for j in 0..nv {
                let mut unit = vec![0.0; nv];
                unit[j] = 1.0;
                let moved = |h: f64| {
                    let step: Vec<f64> = unit.iter().map(|x| h * x).collect();
                    let mut q = world.q.clone();
                    m.integrate(&world.q, &step, &mut q).unwrap();
                    q
                };
                let added = |x: &[f64], h: f64| -> Vec<f64> { x.iter().zip(&unit).map(|(x, u)| x + h * u).collect() };
                let change = Change {
                    q: Some(&unit),
                    ..Change::default()
                };
                step.change(&change, &mut out).unwrap();
                let [ahead, behind] = [h, -h].map(|h| plus(m, &moved(h), &world.v, &world.torque, &world.friction));
                compare(&format!("q {j}"), &out, ahead, behind, h);
                let change = Change {
                    v: Some(&unit),
                    ..Change::default()
                };
                step.change(&change, &mut out).unwrap();
                let [ahead, behind] =
                    [h, -h].map(|h| plus(m, &world.q, &added(&world.v, h), &world.torque, &world.friction));
                compare(&format!("v {j}"), &out, ahead, behind, h);
                let change = Change {
                    torque: Some(&unit),
                    ..Change::default()
                };
                step.change(&change, &mut out).unwrap();
                let [ahead, behind] =
                    [1e-4, -1e-4].map(|h| plus(m, &world.q, &world.v, &added(&world.torque, h), &world.friction));
                compare(&format!("T {j}"), &out, ahead, behind, 1e-4);
            }
            for i in 0..contacts.len() {
                let mut unit = vec![0.0; contacts.len()];
                unit[i] = 1.0;
                let change = Change {
                    friction: Some(&unit),
                    ..Change::default()
                };
                step.change(&change, &mut out).unwrap();
                let [ahead, behind] = [h, -h].map(|h| {
                    let mut friction = world.friction.clone();
                    friction[i] += h;
                    plus(m, &world.q, &world.v, &world.torque, &friction)
                });
                compare(&format!("friction {i}"), &out, ahead, behind, h);
            }
            // The mass of the base, and its moments with it.
            let whole = robot(1.0, follows).inertial_parameters();
            let more = robot(1.0 + 1e-5, follows).inertial_parameters();
            let unit: Vec<f64> = whole.iter().zip(&more).map(|(a, b)| (b - a) / 1e-5).collect();
            let change = Change {
                inertia: Some(&unit),
                ..Change::default()
            };
            step.change(&change, &mut out).unwrap();
            let [ahead, behind] = [1e-5, -1e-5].map(|h| {
                plus(
                    &robot(1.0 + h, follows),
                    &world.q,
                    &world.v,
                    &world.torque,
                    &world.friction,
                )
            });
            compare("mass", &out, ahead, behind, 1e-5);
            // Matrices have the products of units as columns.
            let [mut by_q, mut by_v, mut by_torque] = [(); 3].map(|()| vec![0.0; nv * nv]);
            step.matrices(&mut by_q, &mut by_v, &mut by_torque).unwrap();
            for j in 0..nv {
                let mut unit = vec![0.0; nv];
                unit[j] = 1.0;
                for (key, matrix) in [("q", &by_q), ("v", &by_v), ("T", &by_torque)] {
                    let only = |name: &str| (key == name).then_some(&unit[..]);
                    let change = Change {
                        q: only("q"),
                        v: only("v"),
                        torque: only("T"),
                        ..Change::default()
                    };
                    step.change(&change, &mut out).unwrap();
                    let column: Vec<f64> = matrix.chunks(nv).map(|row| row[j]).collect();
                    let worst = error(&column, &out);
                    assert!(worst < 1e-9, "{what}: column {j} by {key}: {worst:e}");
                }
            }
            // Gradients are the transpose of products.
            let y: Vec<f64> = (0..nv).map(|i| (1.0 + i as f64).sin()).collect();
            let gradient = step.adjoint(&y).unwrap();
            let by_inertia = step.inertia_adjoint(&y).unwrap();
            let dq: Vec<f64> = (0..nv).map(|i| (2.0 + i as f64).cos()).collect();
            let d_mu: Vec<f64> = (0..contacts.len()).map(|i| 1.0 - 0.3 * i as f64).collect();
            let change = Change {
                q: Some(&dq),
                v: Some(&y),
                torque: Some(&dq),
                friction: Some(&d_mu),
                inertia: Some(&unit),
            };
            step.change(&change, &mut out).unwrap();
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let expect = dot(&y, &out);
            let found = dot(&gradient.q, &dq)
                + dot(&gradient.v, &y)
                + dot(&gradient.torque, &dq)
                + dot(&gradient.friction, &d_mu)
                + dot(&by_inertia, &unit);
            assert!(
                (found - expect).abs() < 1e-9 * (1.0 + expect.abs()),
                "{what}: {found} {expect}"
            );
        }
    }
    assert!(slid > 3, "{slid} contacts slid");
}

#[test]
fn what_is_not_differentiated_is_refused() {
    let world = World::new(true, false);
    let (contacts, meetings) = world.contacts(&world.q);
    let mut stepper = Stepper::new(&world.m, Settings::new(0.005)).unwrap();
    let told = stepper
        .derivatives(&world.q, &world.v, &world.torque, &contacts, &meetings)
        .unwrap_err();
    assert!(told.to_string().contains("gyroscopic"), "{told}");
    let told = stepper
        .derivatives(&world.q, &world.v, &world.torque, &contacts, &[])
        .unwrap_err();
    assert!(told.to_string().contains("meetings"), "{told}");
}
