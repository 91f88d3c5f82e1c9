//! Trajectories: exact derivatives, continuity, known splines.

use linkwork::Mechanism;
use linkwork::model::{Coupling, Joint, Link, examples};
use linkwork::motion::{Blend, Knot, PoseTrajectory, Trajectory};
use linkwork::spatial::{Inertia, Pose};

/// Every kind of joint with several coordinates, and one that follows another.
fn every_kind() -> Mechanism {
    let body = |name: &str| Link::new(name, Inertia::cuboid(1.0, [0.2, 0.3, 0.4]));
    Mechanism::builder("every kind")
        .link(body("a"))
        .link(body("b"))
        .link(body("c"))
        .link(body("d"))
        .link(body("e"))
        .joint(Joint::free("float").between("world", "a"))
        .joint(Joint::spherical("ball").between("a", "b"))
        .joint(Joint::planar("slide").between("b", "c"))
        .joint(Joint::revolute("lead", [0.0, 1.0, 0.0]).between("c", "d"))
        .joint(Joint::revolute("follow", [1.0, 0.0, 0.0]).between("d", "e"))
        .couple(Coupling::polynomial("follow", "lead", vec![0.1, -0.5, 0.3]))
        .build()
        .unwrap()
}

struct At {
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
}

fn at(course: &Trajectory, t: f64) -> At {
    let m = course.mechanism();
    let (mut q, mut v, mut a) = (vec![0.0; m.nq()], vec![0.0; m.nv()], vec![0.0; m.nv()]);
    course.at(t, &mut q, &mut v, &mut a).unwrap();
    At { q, v, a }
}

fn near(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() < tolerance, "{what} {i}: {a} {b}");
    }
}

fn all_kinds_of_course(m: &Mechanism) -> Vec<(&'static str, Trajectory, bool)> {
    let times = [0.0, 0.9, 1.7, 3.1];
    let waypoints: Vec<Vec<f64>> = (0..4)
        .map(|seed| {
            // Near each other, so that no rotation is more than half a turn.
            let (from, to) = (m.random(1), m.random(11 + seed));
            let mut q = m.neutral();
            m.interpolate(&from, &to, 0.35, &mut q).unwrap();
            q
        })
        .collect();
    let blends = |blend| Trajectory::linear_with_blends(m, &times, &waypoints, 0.4, blend).unwrap();
    vec![
        ("cubic", Trajectory::cubic_spline(m, &times, &waypoints).unwrap(), true),
        (
            "quintic",
            Trajectory::quintic_spline(m, &times, &waypoints).unwrap(),
            true,
        ),
        ("path", Trajectory::path_through(m, &waypoints).unwrap(), true),
        ("parabolic", blends(Blend::Parabolic), false),
        ("blended", blends(Blend::Quintic), true),
    ]
}

/// q̇ and q̈ are the derivatives of q on the manifold, by central differences.
#[test]
fn velocities_and_accelerations_are_derivatives() {
    let m = every_kind();
    for (name, course, _) in all_kinds_of_course(&m) {
        let h = 1e-5;
        for i in 0..40 {
            let t = course.start_time() + course.duration() * (i as f64 + 0.437) / 40.0;
            if course.times().iter().any(|knot| (knot - t).abs() < 2.0 * h) {
                continue;
            }
            let (now, before, after) = (at(&course, t), at(&course, t - h), at(&course, t + h));
            let (mut back, mut on) = (vec![0.0; m.nv()], vec![0.0; m.nv()]);
            m.difference(&now.q, &before.q, &mut back).unwrap();
            m.difference(&now.q, &after.q, &mut on).unwrap();
            let slope: Vec<f64> = on.iter().zip(&back).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            near(&slope, &now.v, 1e-6, &format!("{name}: velocity at {t}"));
            let bend: Vec<f64> = after
                .v
                .iter()
                .zip(&before.v)
                .map(|(a, b)| (a - b) / (2.0 * h))
                .collect();
            near(&bend, &now.a, 1e-5, &format!("{name}: acceleration at {t}"));
            m.normalise(&mut now.q.clone()).unwrap();
        }
    }
}

/// Nothing jumps at a knot, but for the acceleration of parabolic blends; quaternions keep their sign.
#[test]
fn courses_are_smooth_at_their_knots() {
    let m = every_kind();
    for (name, course, smooth) in all_kinds_of_course(&m) {
        for knot in &course.times()[1..course.times().len() - 1] {
            let (before, after) = (at(&course, knot - 1e-9), at(&course, knot + 1e-9));
            near(&before.q, &after.q, 1e-7, &format!("{name}: q at {knot}"));
            near(&before.v, &after.v, 1e-6, &format!("{name}: velocity at {knot}"));
            if smooth {
                near(&before.a, &after.a, 1e-5, &format!("{name}: acceleration at {knot}"));
            }
        }
    }
}

/// Third and fourth derivatives of a quintic spline are continuous too, which makes its jerk the least.
#[test]
fn a_quintic_spline_has_four_continuous_derivatives() {
    let m = examples::double_pendulum();
    let waypoints = [[0.0, 0.0], [0.7, -0.4], [0.2, 0.9], [1.0, 0.5], [0.0, 0.1]];
    let course = Trajectory::quintic_spline(&m, &[0.0, 0.5, 1.4, 2.0, 3.1], &waypoints).unwrap();
    // Exact on each side: accelerations are cubics, whose differences at four points give the derivatives.
    let derivatives = |t: f64, h: f64| {
        let a: Vec<Vec<f64>> = (0..4).map(|i| at(&course, t + h * (i as f64 + 1e-6)).a).collect();
        let first = |j: usize| (-11.0 * a[0][j] + 18.0 * a[1][j] - 9.0 * a[2][j] + 2.0 * a[3][j]) / (6.0 * h);
        let second = |j: usize| (2.0 * a[0][j] - 5.0 * a[1][j] + 4.0 * a[2][j] - a[3][j]) / (h * h);
        [first(0), first(1), second(0), second(1)]
    };
    for knot in [0.5, 1.4, 2.0] {
        let (before, after) = (derivatives(knot, -0.02), derivatives(knot, 0.02));
        let size = before.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        near(&before, &after, 1e-4 * size, "third and fourth derivative");
    }
    for (i, waypoint) in waypoints.iter().enumerate() {
        near(&at(&course, course.times()[i]).q, waypoint, 1e-12, "waypoint");
    }
    for t in [0.0, 3.1] {
        near(&at(&course, t).v, &[0.0; 2], 1e-12, "rest");
        near(&at(&course, t).a, &[0.0; 2], 1e-11, "rest");
    }
}

/// The textbook's numbers: 10σ³ − 15σ⁴ + 6σ⁵; the cubic between two rests 3σ² − 2σ³; blends at their known distance.
#[test]
fn known_courses_have_their_known_values() {
    let m = examples::pendulum();
    let quick = Trajectory::minimum_jerk(&m, &[0.0], &[2.0], 4.0).unwrap();
    let s: f64 = 0.3;
    let known = 2.0 * (10.0 * s.powi(3) - 15.0 * s.powi(4) + 6.0 * s.powi(5));
    assert!((at(&quick, 4.0 * s).q[0] - known).abs() < 1e-14);
    assert!(
        (at(&quick, 2.0).v[0] - 1.875 * 2.0 / 4.0).abs() < 1e-14,
        "the known peak of velocity"
    );
    let cubic = Trajectory::cubic_spline(&m, &[0.0, 4.0], &[[0.0], [2.0]]).unwrap();
    assert!((at(&cubic, 4.0 * s).q[0] - 2.0 * (3.0 * s * s - 2.0 * s.powi(3))).abs() < 1e-14);
    let waypoints = [[0.0], [1.0], [0.0]];
    let blended = |blend| Trajectory::linear_with_blends(&m, &[0.0, 2.0, 4.0], &waypoints, 0.5, blend).unwrap();
    let slope = 1.0 / 1.75;
    let parabolic = at(&blended(Blend::Parabolic), 2.0);
    assert!((1.0 - parabolic.q[0] - 0.5 / 8.0 * 2.0 * slope).abs() < 1e-12);
    assert!((parabolic.a[0] + 2.0 * slope / 0.5).abs() < 1e-12);
    let quintic = at(&blended(Blend::Quintic), 2.0);
    assert!((1.0 - quintic.q[0] - 0.5 * 3.0 / 32.0 * 2.0 * slope).abs() < 1e-12);
    for blend in [Blend::Parabolic, Blend::Quintic] {
        let course = blended(blend);
        assert!((at(&course, 1.0).v[0] - slope).abs() < 1e-12 && at(&course, 1.0).a[0].abs() < 1e-10);
        assert!((course.end_time() - 4.0).abs() < 1e-12 && at(&course, 4.0).q[0].abs() < 1e-12);
    }
}

/// Along one axis a spherical joint goes as a revolute one does.
#[test]
fn rotations_about_one_axis_are_plain_splines() {
    let ball = Mechanism::builder("ball")
        .link(Link::new("ball", Inertia::cuboid(1.0, [0.1, 0.2, 0.3])))
        .joint(Joint::spherical("j").between("world", "ball"))
        .build()
        .unwrap();
    let pendulum = examples::pendulum();
    let (angles, times) = ([0.0, 1.2, -0.4, 0.9], [0.0, 1.0, 2.5, 3.0]);
    let axis = [0.6, 0.0, 0.8];
    let turned = |a: &f64| {
        let (s, c) = (0.5 * a).sin_cos();
        [s * axis[0], s * axis[1], s * axis[2], c]
    };
    let turns: Vec<[f64; 4]> = angles.iter().map(turned).collect();
    let plain: Vec<[f64; 1]> = angles.iter().map(|a| [*a]).collect();
    for (curved, straight) in [
        (
            Trajectory::cubic_spline(&ball, &times, &turns).unwrap(),
            Trajectory::cubic_spline(&pendulum, &times, &plain).unwrap(),
        ),
        (
            Trajectory::quintic_spline(&ball, &times, &turns).unwrap(),
            Trajectory::quintic_spline(&pendulum, &times, &plain).unwrap(),
        ),
    ] {
        for i in 0..=30 {
            let (a, b) = (at(&curved, 0.1 * i as f64), at(&straight, 0.1 * i as f64));
            let angle = 2.0 * (a.q[0] * axis[0] + a.q[2] * axis[2]).atan2(a.q[3]);
            assert!((angle - b.q[0]).abs() < 1e-12, "{angle} {}", b.q[0]);
            near(&a.v, &axis.map(|x| x * b.v[0]), 1e-11, "velocity");
            near(&a.a, &axis.map(|x| x * b.a[0]), 1e-10, "acceleration");
        }
    }
}

#[test]
fn courses_can_be_joined_stretched_and_read_back() {
    let m = every_kind();
    let course = all_kinds_of_course(&m).remove(1).1;
    let (times, bases, coefficients) = course.polynomials();
    let again = Trajectory::from_polynomials(&m, times, bases, coefficients).unwrap();
    let slow = course.clone().stretched(2.0).unwrap().shifted(5.0).unwrap();
    let back = Trajectory::minimum_jerk(&m, course.end(), &m.random(1), 2.0).unwrap();
    let both = course.clone().then(&back).unwrap();
    assert!((both.duration() - course.duration() - 2.0).abs() < 1e-12);
    for t in [0.2, 1.0, 3.0] {
        let (a, b, c, d) = (at(&course, t), at(&again, t), at(&slow, 5.0 + 2.0 * t), at(&both, t));
        near(&a.q, &b.q, 1e-15, "q read back");
        near(&a.a, &b.a, 1e-12, "acceleration read back");
        near(
            &a.v,
            &c.v.iter().map(|x| 2.0 * x).collect::<Vec<_>>(),
            1e-12,
            "stretched",
        );
        near(&a.q, &d.q, 1e-15, "joined");
    }
    near(&at(&both, 99.0).q, back.end(), 1e-12, "end");
    near(&at(&both, 99.0).v, &vec![0.0; m.nv()], 1e-15, "rest after the end");
    assert!(back.clone().then(&back).is_err(), "it would jump");
}

/// A line of the hand: its origin on a straight line, also between knots, within the tolerance asked for.
#[test]
fn joints_follow_a_line_of_the_hand() {
    let arm = examples::arm7();
    let hand = arm.frame("link7").unwrap();
    let start = [0.0, 0.5, 0.0, -1.2, 0.0, 0.9, 0.0];
    let pose = |q: &[f64]| arm.workspace().at(q).unwrap().pose(hand).unwrap();
    let (a, b) = (pose(&start), pose(&[0.3, 0.6, 0.1, -1.0, 0.1, 0.8, 0.2]));
    let line = PoseTrajectory::new(&[a, b], |body, q| Trajectory::quintic_spline(body, &[0.0, 2.0], q)).unwrap();
    let course = line.follow(&arm, hand, &start, 1e-5).unwrap();
    assert!(line.path(&arm, hand, &start, 1e-5).is_err(), "it rests at its ends");
    let straight = PoseTrajectory::new(&[a, b], Trajectory::path_through).unwrap();
    let path = straight.path(&arm, hand, &start, 1e-5).unwrap();
    let mut workspace = arm.workspace();
    let way = (b.translation - a.translation) * (1.0 / (b.translation - a.translation).norm());
    for i in 0..=100 {
        let t = 0.02 * i as f64;
        let there = workspace.at(&at(&course, t).q).unwrap().pose(hand).unwrap();
        let wanted = line.at(t).unwrap();
        assert!((there.translation - wanted.pose.translation).norm() < 2e-5, "at {t}");
        let on = path.start_time() + path.duration() * i as f64 / 100.0;
        let off = workspace.at(&at(&path, on).q).unwrap().pose(hand).unwrap().translation - a.translation;
        assert!((off - way * off.dot(way)).norm() < 2e-5);
    }
    let far = Pose::new(a.rotation, [4.0, 0.0, 0.4]);
    let away = PoseTrajectory::new(&[a, far], |body, q| Trajectory::quintic_spline(body, &[0.0, 2.0], q)).unwrap();
    let told = away.follow(&arm, hand, &start, 1e-5).unwrap_err().to_string();
    assert!(told.contains("t = ") && told.contains("reach"), "{told}");
}

#[test]
fn bad_courses_are_refused_in_words() {
    let m = examples::double_pendulum();
    let two = [[0.0, 0.0], [1.0, 1.0]];
    let said = |r: linkwork::Result<Trajectory>| r.unwrap_err().to_string();
    assert!(said(Trajectory::cubic_spline(&m, &[0.0, 0.0], &two)).contains("rising"));
    assert!(said(Trajectory::cubic_spline(&m, &[0.0], &two)).contains("times"));
    assert!(said(Trajectory::cubic_spline(&m, &[0.0], &two[..1])).contains("two waypoints"));
    assert!(said(Trajectory::cubic_spline(&m, &[0.0, f64::NAN], &two)).contains("finite"));
    assert!(said(Trajectory::minimum_jerk(&m, &[0.0, 0.0], &[1.0, f64::NAN], 1.0)).contains("elbow"));
    assert!(said(Trajectory::path_through(&m, &[[0.0, 0.0], [0.0, 0.0]])).contains("leave one out"));
    let blends = |seconds| Trajectory::linear_with_blends(&m, &[0.0, 1.0], &two, seconds, Blend::Quintic);
    assert!(said(blends(0.6)).contains("shorter blends"));
    let mut course = Trajectory::start(&m, 0.0, &[0.0; 2]).unwrap();
    let to = Knot {
        q: &[1.0; 2],
        qd: &[0.0; 2],
        qdd: &[0.0; 2],
    };
    assert!(course.push(-1.0, [&[0.0; 2], &[0.0; 2]], to).is_err());
    assert!(course.at(0.0, &mut [0.0; 2], &mut [0.0; 2], &mut [0.0]).is_err());
}
