//! Laws of configurations: integrate and difference are inverse, and both are what the geometry says.

mod model_support;

use linkwork::model::{Coupling, Joint, Link, Mechanism};
use linkwork::scalar::{Dual, Scalar};
use linkwork::spatial::{Inertia, Motion, Pose, Vec3};
use linkwork::{Error, Result};
use model_support::{gap, joint_pose, pose_of, rodrigues};
use std::f64::consts::PI;

const AXIS: [f64; 3] = [0.3, -0.5, 2.0];

/// Every kind of joint, one after the other.
fn zoo() -> Mechanism {
    let joints = [
        Joint::free("free"),
        Joint::revolute("revolute", AXIS).position_limits(-0.4, 2.0),
        Joint::continuous("continuous", AXIS),
        Joint::fixed("fixed"),
        Joint::prismatic("prismatic", AXIS).position_limits(0.1, 0.2),
        Joint::helical("helical", AXIS, 0.3),
        Joint::cylindrical("cylindrical", AXIS),
        Joint::universal("universal", AXIS, [1.0, 0.2, 0.0]),
        Joint::planar("planar"),
        Joint::translation("translation"),
        Joint::spherical("spherical"),
    ];
    let mut builder = Mechanism::builder("zoo");
    let mut inner = "world".to_owned();
    for joint in joints {
        let name = format!("{}_link", joint.name);
        builder = builder
            .link(Link::new(&name, Inertia::sphere(1.0, 0.2)))
            .joint(joint.between(inner, &name).at([0.1, 0.2, 0.3]));
        inner = name;
    }
    builder.build().unwrap()
}

/// A vector of numbers between −1 and 1, from a mechanism's own generator.
fn random_step(m: &Mechanism, seed: u64, scale: f64) -> Vec<f64> {
    let numbers = (0..).flat_map(|i| m.random(seed.wrapping_mul(1000) + i));
    numbers.take(m.nv()).map(|x| scale * (x * 7.3).sin()).collect()
}

fn step(m: &Mechanism, q: &[f64], v: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; m.nq()];
    m.integrate(q, v, &mut out).unwrap();
    out
}

fn between(m: &Mechanism, q0: &[f64], q1: &[f64]) -> Vec<f64> {
    let mut v = vec![0.0; m.nv()];
    m.difference(q0, q1, &mut v).unwrap();
    v
}

fn largest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}

#[test]
fn difference_undoes_integrate() {
    let m = zoo();
    for seed in 0..200 {
        for scale in [0.0, 1e-160, 1e-12, 1e-6, 1e-3, 0.1, 0.26, 1.0, 1.7] {
            let (q, v) = (m.random(seed), random_step(&m, seed, scale));
            let back = between(&m, &q, &step(&m, &q, &v));
            assert!(largest(&v, &back) < 2e-14, "{seed} {scale}: {v:?} {back:?}");
        }
    }
}

#[test]
fn integrate_undoes_difference() {
    let m = zoo();
    for seed in 0..300 {
        let (q0, q1) = (m.random(seed), m.random(seed + 1000));
        let q = step(&m, &q0, &between(&m, &q0, &q1));
        // Quaternions have two signs and a planar angle many turns: compare poses.
        for joint in m.joints() {
            let at = m.q_range(m.joint(&joint.name).unwrap()).unwrap();
            let (a, b) = (joint_pose(joint.kind, &q[at.clone()]), joint_pose(joint.kind, &q1[at]));
            // Far along a tight screw the translation of a turn near π is ill-conditioned by no more than a few.
            assert!(gap(&a, &b) < 1e-13, "{seed} {}: {}", joint.name, gap(&a, &b));
        }
    }
}

#[test]
fn a_free_step_is_the_exponential_of_a_twist() {
    let m = Mechanism::builder("body")
        .link(Link::new("body", Inertia::sphere(1.0, 0.1)))
        .joint(Joint::free("float").between("world", "body"))
        .build()
        .unwrap();
    for (seed, scale) in [(1, 0.01), (2, 0.5), (3, 2.0), (4, 5.0)] {
        let (q, v) = (m.random(seed), random_step(&m, seed, scale));
        // The power series of the 4×4 matrix [ω̃ u; 0 0], applied to the link's axes and origin.
        let (w, u) = (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]));
        let exp = |start: Vec3, point: f64| {
            let (mut term, mut sum, mut h) = (start, start, point);
            for k in 1..80 {
                term = (w.cross(term) + u * h) * (1.0 / f64::from(k));
                h = 0.0;
                sum += term;
            }
            sum
        };
        let start = pose_of(&m, &q, "body");
        let end = pose_of(&m, &step(&m, &q, &v), "body");
        let moved = start.point(exp(Vec3::ZERO, 1.0));
        assert!((moved - end.translation).norm() < 1e-13 * (1.0 + scale.exp()), "{seed}");
        let x = start.rotation * exp(Vec3::new(1.0, 0.0, 0.0), 0.0);
        assert!((x - end.rotation.x).norm() < 1e-13 * (1.0 + scale.exp()), "{seed}");
    }
}

#[test]
fn half_turns_and_tiny_turns_are_exact() {
    let m = Mechanism::builder("ball")
        .link(Link::new("ball", Inertia::sphere(1.0, 0.1)))
        .joint(Joint::spherical("socket").between("world", "ball"))
        .build()
        .unwrap();
    let q0 = m.random(3);
    for axis in [[1.0, 0.0, 0.0], [0.6, 0.0, -0.8], [0.0, -1.0, 0.0]] {
        for angle in [1e-300, 1e-20, 1e-9, 1e-4, 3.0, PI - 1e-6, PI - 1e-12, PI] {
            let v = axis.map(|x| x * angle);
            let mut back = between(&m, &q0, &step(&m, &q0, &v));
            if angle == PI && largest(&back, &v) > 1.0 {
                // Half a turn is the same both ways round.
                back.iter_mut().for_each(|x| *x = -*x);
            }
            assert!(largest(&back, &v) < 1e-15 * (1.0 + 8.0 * angle), "{angle}: {back:?}");
        }
    }
    // The long way round comes back as the short one, and so does the other sign of a quaternion.
    let v = between(&m, &q0, &step(&m, &q0, &[0.0, 0.0, 1.5 * PI]));
    assert!((v[2] + 0.5 * PI).abs() < 1e-14);
    let other: Vec<f64> = q0.iter().map(|x| -x).collect();
    assert!(m.distance(&q0, &other).unwrap() < 1e-15);
}

#[test]
fn dual_numbers_through_integrate_give_its_derivative() {
    let m = zoo();
    for (seed, scale) in [(1, 0.0), (2, 1e-9), (3, 0.3), (4, 1.5)] {
        let (q, v, dv) = (
            m.random(seed),
            random_step(&m, seed, scale),
            random_step(&m, seed + 50, 1.0),
        );
        let lift = |x: &[f64], dx: &[f64]| x.iter().zip(dx).map(|(x, d)| Dual::new(*x, *d)).collect::<Vec<_>>();
        let mut out = vec![Dual::constant(0.0); m.nq()];
        m.integrate(&lift(&q, &vec![0.0; m.nq()]), &lift(&v, &dv), &mut out)
            .unwrap();
        let h = 1e-4;
        let at = |t: f64| step(&m, &q, &v.iter().zip(&dv).map(|(v, d)| v + t * d).collect::<Vec<_>>());
        let (a, b, c, d) = (at(-2.0 * h), at(-h), at(h), at(2.0 * h));
        for i in 0..m.nq() {
            let slope = (8.0 * (c[i] - b[i]) - (d[i] - a[i])) / (12.0 * h);
            assert!(
                (out[i].derivative - slope).abs() < 1e-10,
                "{seed} {i}: {} {slope}",
                out[i].derivative
            );
        }
    }
}

#[test]
fn single_precision_follows_double() {
    let m = zoo();
    let (q, v) = (m.random(5), random_step(&m, 5, 0.7));
    let short = |x: &[f64]| x.iter().map(|x| f32::lift(*x)).collect::<Vec<f32>>();
    let mut out = vec![0.0_f32; m.nq()];
    m.integrate(&short(&q), &short(&v), &mut out).unwrap();
    let out: Vec<f64> = out.iter().map(|x| f64::from(*x)).collect();
    assert!(largest(&out, &step(&m, &q, &v)) < 1e-5);
}

#[test]
fn a_step_moves_a_planar_link_along_an_arc() {
    let m = Mechanism::builder("disc")
        .link(Link::new("disc", Inertia::sphere(1.0, 0.1)))
        .joint(Joint::planar("table").between("world", "disc"))
        .build()
        .unwrap();
    // A quarter of a circle of radius 1, heading along x at first.
    let q = step(&m, &[0.0, 0.0, 0.0], &[PI / 2.0, PI / 2.0, 0.0]);
    assert!(largest(&q, &[PI / 2.0, 1.0, 1.0]) < 1e-15);
    let v = between(&m, &[3.0, 0.5, 0.0], &[-3.0, 0.5, 0.0]);
    assert!((v[0] - (2.0 * PI - 6.0)).abs() < 1e-14);
}

#[test]
fn interpolation_meets_both_ends_and_goes_straight_between() {
    let m = zoo();
    for seed in 0..50 {
        let (q0, q1) = (m.random(seed), m.random(seed + 77));
        let at = |t: f64| {
            let mut q = vec![0.0; m.nq()];
            m.interpolate(&q0, &q1, t, &mut q).unwrap();
            q
        };
        let whole = m.distance(&q0, &q1).unwrap();
        assert!(m.distance(&at(0.0), &q0).unwrap() < 1e-14);
        assert!(m.distance(&at(1.0), &q1).unwrap() < 1e-12);
        assert!((m.distance(&q0, &at(0.25)).unwrap() - 0.25 * whole).abs() < 1e-12);
        assert!((m.distance(&at(0.25), &at(0.5)).unwrap() - 0.25 * whole).abs() < 1e-12);
    }
}

#[test]
fn distance_is_symmetric_and_zero_only_at_home() {
    let m = zoo();
    for seed in 0..50 {
        let (q0, q1) = (m.random(seed), m.random(seed + 7));
        let (there, back) = (m.distance(&q0, &q1).unwrap(), m.distance(&q1, &q0).unwrap());
        assert!((there - back).abs() < 1e-12 * there && there > 0.1);
        assert!(m.distance(&q0, &q0).unwrap() < 1e-15);
    }
}

#[test]
fn random_configurations_repeat_and_respect_limits() {
    let mut ball = Joint::spherical("ball");
    ball.position_limits = vec![(-0.1, 0.1), (0.2, 0.3), (0.0, f64::INFINITY)];
    let m = Mechanism::builder("limits")
        .link(Link::new("a", Inertia::sphere(1.0, 0.2)))
        .link(Link::new("b", Inertia::sphere(1.0, 0.2)))
        .joint(ball.between("world", "a"))
        .joint(
            Joint::prismatic("slide", AXIS)
                .position_limits(5.0, f64::INFINITY)
                .between("a", "b"),
        )
        .build()
        .unwrap();
    let zoo = zoo();
    assert_eq!(zoo.random(42), zoo.random(42));
    assert_ne!(zoo.random(42), zoo.random(43));
    for seed in 0..500 {
        let q = zoo.random(seed);
        let of = |name: &str| &q[zoo.q_range(zoo.joint(name).unwrap()).unwrap()];
        assert!((-0.4..=2.0).contains(&of("revolute")[0]));
        assert!((0.1..=0.2).contains(&of("prismatic")[0]));
        assert!((-PI..=PI).contains(&of("continuous")[0]));
        assert!(of("translation").iter().all(|x| x.abs() <= 1.0));
        let norm = of("spherical").iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((norm - 1.0).abs() < 1e-15);

        let q = m.random(seed);
        let v = between(&m, &m.neutral(), &q);
        assert!(
            v[0].abs() < 0.1 + 1e-12 && (0.2 - 1e-12..0.3 + 1e-12).contains(&v[1]) && v[2] > 0.0,
            "{v:?}"
        );
        assert!((5.0..=7.0).contains(&q[4]));
    }
    // Uniform rotations: the mean of the rotation matrix is zero.
    let mean = (0..2000).fold(Vec3::ZERO, |sum, seed| {
        let q = zoo.random(seed);
        let at = zoo.q_range(zoo.joint("spherical").unwrap()).unwrap();
        let kind = zoo.joints().last().unwrap().kind;
        sum + joint_pose(kind, &q[at]).rotation.x * (1.0 / 2000.0)
    });
    assert!(mean.norm() < 0.06);
}

/// Slides x and y within limits, one of which follows the other, and one after them.
fn train(x: (f64, f64), y: (f64, f64), coupling: Coupling) -> Mechanism {
    let slide = |name: &str| Joint::prismatic(name, AXIS).between("world", format!("{name}_block"));
    let mut builder = Mechanism::builder("train").couple(coupling);
    for joint in [
        slide("x").position_limits(x.0, x.1),
        slide("y").position_limits(y.0, y.1),
        slide("last"),
    ] {
        let block = Link::new(joint.child.clone(), Inertia::sphere(1.0, 0.2));
        builder = builder.link(block).joint(joint);
    }
    builder.build().unwrap()
}

#[test]
fn random_configurations_respect_the_limits_of_followers() {
    const NONE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    let gear = |ratio, offset| Coupling::gear("y", "x", ratio, offset);
    let cubic = Coupling::polynomial("y", "x", vec![0.0, 0.0, 0.0, 5.0]);
    for (x, y, coupling) in [
        ((-3.0, 3.0), (-0.5, 0.5), gear(1.0, 0.0)),
        ((-3.0, 3.0), (-0.5, 2.0), gear(-2.0, 1.0)),
        (NONE, (10.0, 12.0), gear(1.0, 0.0)),
        (NONE, (f64::NEG_INFINITY, -4.0), gear(2.0, 0.0)),
        ((-3.0, 3.0), (-1.0, 1.0), cubic.clone()),
        ((-3.0, 3.0), (0.2, 0.3), cubic.clone()),
    ] {
        let m = train(x, y, coupling.clone());
        for seed in 0..200 {
            let q = m.random(seed);
            assert_eq!(q, m.random(seed));
            let all = m.all_coordinates(&q).unwrap();
            assert!(x.0 <= all[0] && all[0] <= x.1, "{coupling:?}: {all:?}");
            assert!(y.0 <= all[1] && all[1] <= y.1, "{coupling:?}: {all:?}");
        }
    }
    // A chain: z = 10 (0.5 x) within ±1 lets x go to 0.2 alone.
    let chain = train((-3.0, 3.0), (-0.5, 0.5), gear(0.5, 0.0)).to_builder();
    let z = Joint::prismatic("z", AXIS).between("world", "z_block");
    let chain = chain
        .link(Link::new("z_block", Inertia::sphere(1.0, 0.2)))
        .joint(z.position_limits(-1.0, 1.0))
        .couple(Coupling::gear("z", "y", 10.0, 0.0))
        .build()
        .unwrap();
    assert!((0..200).all(|seed| chain.random(seed)[0].abs() <= 0.2));
    // Where limits exclude each other, or nothing is found, those of the leader hold, and the numbers are the usual ones.
    let usual = train((-3.0, 3.0), NONE, gear(1.0, 0.0));
    for coupling in [gear(1.0, 10.0), Coupling::polynomial("y", "x", vec![9.0, 0.0, 1.0])] {
        let m = train((-3.0, 3.0), (-0.5, 0.5), coupling);
        assert!((0..20).all(|seed| m.random(seed)[0] == usual.random(seed)[0]));
    }
}

#[test]
fn neutral_is_where_frames_meet() {
    let m = zoo();
    let q = m.neutral();
    for joint in m.joints() {
        let at = m.q_range(m.joint(&joint.name).unwrap()).unwrap();
        assert!(gap(&joint_pose(joint.kind, &q[at]), &Pose::IDENTITY) == 0.0);
    }
    // And a small step from it moves as the degrees of freedom say.
    let (v, h) = (random_step(&m, 9, 1.0), 1e-6);
    let q = step(&m, &q, &v.iter().map(|x| x * h).collect::<Vec<_>>());
    let free = m.v_range(m.joint("free").unwrap()).unwrap();
    let twist = Motion::from_array(std::array::from_fn(|i| v[free.start + i]));
    let pose = joint_pose(m.joints()[0].kind, &q[..7]);
    assert!((pose.translation - twist.linear * h).norm() < 1e-11);
    assert!((pose.rotation.x - rodrigues(twist.angular, h * twist.angular.norm()).x).norm() < 1e-15);
}

#[test]
fn quaternions_are_normalised_within_a_tolerance_and_refused_beyond() {
    let m = zoo();
    let at = m.q_range(m.joint("spherical").unwrap()).unwrap();
    let scaled = |factor: f64| {
        let mut q = m.random(1);
        q[at.clone()].iter_mut().for_each(|x| *x *= factor);
        q
    };
    let mut q = scaled(1.0 + 9e-4);
    m.normalise(&mut q).unwrap();
    assert!(largest(&q, &m.random(1)) < 1e-15);
    let error = m.normalise(&mut scaled(1.002)).unwrap_err();
    assert!(matches!(&error, Error::Quaternion { joint, index, .. } if joint == "spherical" && *index == at.start));
    // Nearly unit quaternions step as unit ones.
    let v = random_step(&m, 2, 0.5);
    assert!(largest(&step(&m, &scaled(0.9995), &v), &step(&m, &m.random(1), &v)) < 1e-15);
}

#[test]
fn wrong_arguments_are_named() {
    let m = zoo();
    let (q, v) = (m.random(1), vec![0.0; m.nv()]);
    let mut out = q.clone();
    let says = |result: Result<()>, words: [&str; 2]| {
        let message = result.unwrap_err().to_string();
        assert!(words.iter().all(|w| message.contains(w)), "{message}");
    };
    says(m.integrate(&q[1..], &v, &mut out), ["q has", "needs"]);
    says(m.integrate(&q, &v[1..], &mut out), ["v has", "needs"]);
    says(m.integrate(&q, &v, &mut out[1..]), ["out has", "needs"]);
    let mut bad = v.clone();
    bad[m.v_range(m.joint("planar").unwrap()).unwrap().start + 1] = f64::INFINITY;
    says(m.integrate(&q, &bad, &mut out), ["v[", "`planar`"]);
    let mut bad = q.clone();
    bad[m.q_range(m.joint("helical").unwrap()).unwrap().start] = f64::NAN;
    says(m.integrate(&bad, &v, &mut out), ["q[", "`helical`"]);
    says(m.difference(&q, &bad, &mut v.clone()), ["q1[", "`helical`"]);
    says(m.distance(&bad, &q).map(|_| ()), ["q0[", "`helical`"]);
    says(m.normalise(&mut bad), ["q[", "NaN"]);
    says(m.interpolate(&q, &q, f64::NAN, &mut out), ["t is NaN", "finite"]);
}
