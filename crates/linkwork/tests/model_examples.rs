//! The built-in mechanisms: published numbers come out, and tables mean what they say.

mod model_support;

use linkwork::model::{Builder, Dh, DhRow, examples};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use model_support::{gap, gravity_torque, mass_matrix, pose_of, rodrigues};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

#[test]
fn every_example_builds_and_has_its_degrees_of_freedom() {
    let expect = [1, 2, 2, 4, 6, 7, 18, 37, 15];
    for ((name, example), nv) in examples::all().into_iter().zip(expect) {
        let m = example();
        assert_eq!((m.name(), m.nv()), (name, nv));
        assert!(examples::by_name(name).is_some());
        assert!(m.links().iter().map(|l| l.inertia.mass).sum::<f64>() > 0.0);
    }
    assert!(examples::by_name("centipede").is_none());
}

#[test]
fn puma_holds_itself_with_the_published_torques() {
    let puma = examples::puma560();
    let q = [0.0, FRAC_PI_4, PI, 0.0, FRAC_PI_4, 0.0];
    let expect = [0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0];
    for (found, expect) in gravity_torque(&puma, &q).iter().zip(expect) {
        assert!((found - expect).abs() < 5e-5, "{found} {expect}");
    }
}

#[test]
fn puma_has_the_published_mass_matrix() {
    let mass = mass_matrix(&examples::puma560(), &[0.0, FRAC_PI_4, PI, 0.0, FRAC_PI_4, 0.0]);
    let expect = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0, 0.0],
        [-0.4044, 4.4137, 0.3509, 0.0, 0.0024, 0.0],
        [0.1006, 0.3509, 0.9378, 0.0, 0.0015, 0.0],
        [-0.0025, 0.0, 0.0, 0.1925, 0.0, 0.0],
        [0.0, 0.0024, 0.0015, 0.0, 0.1713, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.1941],
    ];
    for i in 0..6 {
        for k in 0..6 {
            assert!(
                (mass[i][k] - expect[i][k]).abs() < 6e-5,
                "{i} {k}: {} {}",
                mass[i][k],
                expect[i][k]
            );
        }
    }
}

fn z(angle: f64, d: f64) -> Pose {
    Pose::new(rodrigues(Vec3::new(0.0, 0.0, 1.0), angle), [0.0, 0.0, d])
}

fn x(angle: f64, a: f64) -> Pose {
    Pose::new(rodrigues(Vec3::new(1.0, 0.0, 0.0), angle), [a, 0.0, 0.0])
}

#[test]
fn tables_of_both_conventions_place_frames_and_masses() {
    let rows = [
        DhRow::revolute(0.3, 0.1, FRAC_PI_2).offset(0.2),
        DhRow::revolute(-0.1, 0.5, -0.7),
        DhRow::prismatic(0.4, 0.2, PI).offset(0.6),
        DhRow::revolute(0.0, 0.0, -FRAC_PI_2).offset(-1.0),
    ];
    let com = Vec3::new(0.1, -0.2, 0.3);
    let moments = [0.5, 0.01, -0.02, 0.6, 0.03, 0.7];
    let rows = rows.map(|r| r.inertia(Inertia::new(2.0, com, moments)).motor(1e-4, -50.0));
    for convention in [Dh::Standard, Dh::Modified] {
        let m = Builder::from_dh("table", convention, &rows).build().unwrap();
        assert_eq!(m.joints()[2].armature, [0.25]);
        for seed in 0..20 {
            let q = m.random(seed);
            let mut expect = Pose::IDENTITY;
            for (i, row) in rows.iter().enumerate() {
                let (theta, d) = if row.prismatic {
                    (row.theta, row.d + q[i])
                } else {
                    (row.theta + q[i], row.d)
                };
                expect = match convention {
                    Dh::Standard => expect * z(theta, d) * x(row.alpha, row.a),
                    Dh::Modified => expect * x(row.alpha, row.a) * z(theta, d),
                };
                let frame = pose_of(&m, &q, &format!("link{}_dh", i + 1));
                assert!(gap(&frame, &expect) < 1e-14, "{convention:?} {i}");
                // The body given in frame i is the body of the link.
                let link = pose_of(&m, &q, &format!("link{}", i + 1));
                let there = m.links()[i].inertia.seen_from(&link);
                let given = row.inertia.seen_from(&expect);
                assert!((there.com - given.com).norm() < 1e-14);
                let off = there
                    .moments
                    .iter()
                    .zip(given.moments)
                    .fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
                assert!(off < 1e-14);
            }
        }
    }
}

#[test]
fn the_seven_joint_arm_stands_upright() {
    let arm = examples::arm7();
    let flange = pose_of(&arm, &arm.neutral(), "flange");
    let expect = Pose::new(Rotation::IDENTITY, [0.0, 0.0, 1.306]);
    assert!((flange.translation - expect.translation).norm() < 1e-15);
    assert!((flange.rotation.z - expect.rotation.z).norm() < 1e-15);
}

#[test]
fn walking_machines_are_mirror_images_and_stand_straight() {
    let (dog, man) = (examples::quadruped(), examples::humanoid());
    let pairs = [
        (&dog, "front_left_foot", "front_right_foot"),
        (&man, "left_sole", "right_sole"),
        (&man, "left_grip", "right_grip"),
    ];
    for (m, left, right) in pairs {
        let q = m.neutral();
        let (l, r) = (pose_of(m, &q, left).translation, pose_of(m, &q, right).translation);
        assert!((l - Vec3::new(r.x, -r.y, r.z)).norm() < 1e-15 && l.y > 0.0 && l.z < 0.0);
    }
    for (m, low, high) in [(&dog, 30.0, 36.0), (&man, 50.0, 70.0)] {
        let mass: f64 = m.links().iter().map(|l| l.inertia.mass).sum();
        assert!(low < mass && mass < high, "{mass}");
    }
}

#[test]
fn the_arms_of_the_dual_arm_point_outward() {
    let m = examples::dual_arm();
    let q = m.neutral();
    let (l, r) = (
        pose_of(&m, &q, "left_flange").translation,
        pose_of(&m, &q, "right_flange").translation,
    );
    assert!((l - Vec3::new(0.0, 1.506, 1.2)).norm() < 1e-14 && (r - Vec3::new(0.0, -1.506, 1.2)).norm() < 1e-14);
}
