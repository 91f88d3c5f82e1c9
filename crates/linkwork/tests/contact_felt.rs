//! What sensors feel in steps with contact.

use linkwork::contact::{Contact, Settings, Stepper, Surface};
use linkwork::model::{FrameId, Joint, Link, Mechanism};
use linkwork::spatial::{Inertia, Reference, Vec3};

const G: f64 = 9.81;

/// A trunk with two legs: each a hinge, a shin, and a foot that is welded to it.
fn walker() -> Mechanism {
    let mut builder = Mechanism::builder("walker")
        .link(Link::new("trunk", Inertia::cuboid(4.0, [0.5, 0.2, 0.1])))
        .joint(Joint::free("free").between("world", "trunk"));
    for (leg, x) in [("front", 0.2), ("back", -0.2)] {
        let (shin, foot) = (format!("{leg} shin"), format!("{leg} foot"));
        builder = builder
            .link(Link::new(shin.clone(), Inertia::cuboid(0.7, [0.05, 0.05, 0.3])))
            .link(Link::new(foot.clone(), Inertia::cuboid(0.3, [0.1, 0.06, 0.03])))
            .joint(
                Joint::revolute(format!("{leg} hip"), [0.0, 1.0, 0.0])
                    .between("trunk", shin.clone())
                    .at([x, 0.0, -0.2])
                    .damping(2.0),
            )
            .joint(
                Joint::fixed(format!("{leg} ankle"))
                    .between(shin, foot)
                    .at([0.01, 0.0, -0.17]),
            );
    }
    builder.build().unwrap()
}

/// Contacts of both feet's corners with the ground.
fn corners(m: &Mechanism, q: &[f64]) -> Vec<Contact> {
    let mut workspace = m.workspace();
    let mut posed = workspace.at(q).unwrap();
    let mut all = Vec::new();
    for (f, foot) in ["front foot", "back foot"].into_iter().enumerate() {
        let frame = m.frame(foot).unwrap();
        let pose = posed.pose(frame).unwrap();
        for (i, (x, y)) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
            .into_iter()
            .enumerate()
        {
            let point = pose.point(Vec3::new(0.05 * x, 0.03 * y, -0.015));
            all.push(Contact {
                id: (4 * f + i) as u64,
                a: frame,
                b: FrameId::WORLD,
                point,
                normal: Vec3::new(0.0, 0.0, 1.0),
                gap: point.z,
                surface: Surface::with_friction(0.8),
            });
        }
    }
    all
}

fn stand(m: &Mechanism, steps: usize, torque: impl Fn(usize) -> Vec<f64>) -> (Stepper, Vec<f64>, Vec<f64>) {
    let mut stepper = Stepper::new(m, Settings::new(2e-3)).unwrap();
    let (mut q, mut v) = (m.neutral(), vec![0.0; m.nv()]);
    q[6] = 0.385;
    for i in 0..steps {
        let contacts = corners(m, &q);
        stepper.step(&mut q, &mut v, &torque(i), &contacts).unwrap();
    }
    (stepper, q, v)
}

#[test]
fn at_rest_everything_carries_what_stands_on_it() {
    let m = walker();
    // Hips hold what little they must.
    let (mut stepper, _, v) = stand(&m, 2000, |_| vec![0.0; m.nv()]);
    assert!(v.iter().all(|v| v.abs() < 1e-6), "{v:?}");
    let sensors = stepper.sensors().unwrap();
    let mut lifted = 0.0;
    for leg in ["front", "back"] {
        let foot = m.link(&format!("{leg} foot")).unwrap();
        let wrench = sensors.contact_wrench(foot).unwrap();
        lifted += wrench.force.z;
        // The ankle pushes the foot down with what the ground pushes up, less its weight.
        let ankle = sensors.reaction(m.joint(&format!("{leg} ankle")).unwrap()).unwrap();
        assert!(
            (ankle.force.z + wrench.force.z - 0.3 * G).abs() < 1e-6,
            "{ankle:?} {wrench:?}"
        );
        assert!((ankle.moment + wrench.moment).norm() < 1e-6, "{ankle:?} {wrench:?}");
        // The hip less the shin's weight too.
        let hip = sensors.reaction(m.joint(&format!("{leg} hip")).unwrap()).unwrap();
        assert!((hip.force.z + wrench.force.z - G).abs() < 1e-5, "{hip:?}");
    }
    assert!((lifted - 6.0 * G).abs() < 1e-5, "{lifted}");
    let imu = sensors
        .imu(m.frame("trunk").unwrap(), Vec3::new(0.1, 0.2, 0.3))
        .unwrap();
    assert!((imu.specific_force - Vec3::new(0.0, 0.0, G)).norm() < 1e-5, "{imu:?}");
    assert!(sensors.contact_wrench(m.link("trunk").unwrap()).unwrap().force == Vec3::ZERO);
}

#[test]
fn in_motion_the_free_joint_carries_nothing_and_forces_make_the_momentum_change() {
    let m = walker();
    let drive = |i: usize| {
        let mut torque = vec![0.0; m.nv()];
        torque[6] = 3.0 * (0.05 * i as f64).sin();
        torque[7] = -2.0 * (0.03 * i as f64).cos();
        torque
    };
    for steps in [5, 40, 90, 150] {
        let (mut stepper, ..) = stand(&m, steps, drive);
        let velocity = stepper.report().velocity.clone();
        let sensors = stepper.sensors().unwrap();
        let free = sensors.reaction(m.joint("free").unwrap()).unwrap();
        assert!(
            free.force.norm() < 1e-6 && free.moment.norm() < 1e-6,
            "{steps}: {free:?}"
        );
        // Torques at the hips are those given less damping at the end of the step.
        for (i, leg) in ["front", "back"].into_iter().enumerate() {
            let given = drive(steps - 1)[6 + i] - 2.0 * velocity[6 + i];
            let hip = sensors.reaction(m.joint(&format!("{leg} hip")).unwrap()).unwrap();
            assert!((hip.moment.y - given).abs() < 1e-6, "{steps} {leg}: {hip:?} {given}");
            assert!((sensors.torque()[6 + i] - given).abs() < 1e-6);
        }
        // All that pushes, and gravity, make the centre of mass accelerate.
        let push = sensors.forces().iter().filter(|p| p.frame != FrameId::WORLD);
        let force = push.fold(Vec3::new(0.0, 0.0, -6.0 * G), |sum, p| sum + p.force);
        let mut moved = Vec3::ZERO;
        for link in m.links() {
            let a = sensors
                .acceleration_of(m.frame(&link.name).unwrap(), Reference::Aligned)
                .unwrap();
            moved += a.linear * link.inertia.mass;
        }
        assert!((force - moved).norm() < 1e-6, "{steps}: {force:?} {moved:?}");
    }
}

#[test]
fn a_lever_feels_what_turns() {
    let body = Mechanism::builder("body")
        .link(Link::new("body", Inertia::sphere(1.0, 0.2)))
        .joint(Joint::free("free").between("world", "body"))
        .build()
        .unwrap();
    let mut stepper = Stepper::new(&body, Settings::new(1e-3)).unwrap();
    assert!(stepper.sensors().unwrap_err().to_string().contains("step"));
    let (mut q, mut v) = (body.neutral(), vec![0.0, 0.0, 5.0, 1.0, 0.0, 0.0]);
    for _ in 0..100 {
        stepper.step(&mut q, &mut v, &[0.0; 6], &[]).unwrap();
    }
    // In free flight only the lever is felt: ω × (ω × r).
    let sensors = stepper.sensors().unwrap();
    let imu = sensors
        .imu(body.frame("body").unwrap(), Vec3::new(0.3, 0.0, 0.1))
        .unwrap();
    assert!(
        (imu.specific_force - Vec3::new(-7.5, 0.0, 0.0)).norm() < 1e-6,
        "{imu:?}"
    );
    assert!(
        (imu.angular_velocity - Vec3::new(0.0, 0.0, 5.0)).norm() < 1e-9,
        "{imu:?}"
    );
}
