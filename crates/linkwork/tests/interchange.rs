//! Spatial types survive the way to other crates and back, and mean the same there.

use linkwork::spatial::{Force, Inertia, Motion, Pose, Rotation, Vec3};
use nalgebra::{Isometry3, Point3, Rotation3, UnitQuaternion, Vector3, Vector6};

const SMALL: f64 = 1e-14;

fn poses() -> impl Iterator<Item = Pose> {
    (0..50).map(|i| {
        let t = f64::from(i);
        let turn = Vec3::new(t.sin(), (2.0 * t).cos(), (3.0 * t).sin()) * 1.8;
        Pose::new(Rotation::exp(turn), [t.cos(), t, -t.sin()])
    })
}

fn apart(a: Vec3, b: Vec3) -> f64 {
    (a - b).norm()
}

#[test]
fn poses_move_points_alike_in_nalgebra() {
    let p = Vec3::new(0.3, -0.7, 1.1);
    for pose in poses() {
        let theirs = Isometry3::from(pose);
        let moved = Vec3::from(theirs * Point3::from(p));
        assert!(apart(moved, pose.point(p)) < SMALL * 100.0);
        let back = Pose::from(theirs);
        assert!(apart(back.point(p), pose.point(p)) < SMALL * 100.0);
        let turned = Vec3::from(Rotation3::from(pose.rotation) * Vector3::from(p));
        assert!(apart(turned, pose.rotation * p) < SMALL);
        assert_eq!(Rotation::from(Rotation3::from(pose.rotation)), pose.rotation);
        let turned = Rotation::from(UnitQuaternion::from(pose.rotation)) * p;
        assert!(apart(turned, pose.rotation * p) < SMALL);
    }
}

#[test]
fn spatial_vectors_keep_their_order() {
    let motion = Motion::new([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]);
    let six = Vector6::from(motion);
    assert_eq!(six.as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(Motion::from(six), motion);
    let force = Force::from(six);
    assert_eq!(force.moment, motion.angular);
    assert_eq!(Vector6::from(force), six);
}

#[test]
fn mint_has_the_scalar_of_a_quaternion_apart() {
    for pose in poses() {
        let q = mint::Quaternion::from(pose.rotation);
        let [x, y, z, w] = pose.rotation.to_quaternion();
        assert_eq!((q.v, q.s), (mint::Vector3 { x, y, z }, w));
        let p = Vec3::new(1.0, 2.0, 3.0);
        assert!(apart(Rotation::from(q) * p, pose.rotation * p) < SMALL * 10.0);
        assert_eq!(Vec3::from(mint::Vector3::from(p)), p);
        let columns = mint::ColumnMatrix3::from(pose.rotation);
        assert_eq!(Vec3::from(columns.y), pose.rotation.y);
    }
}

#[test]
fn what_is_written_as_json_is_read_back() {
    for pose in poses() {
        let text = serde_json::to_string(&pose).unwrap();
        let back: Pose = serde_json::from_str(&text).unwrap();
        let p = Vec3::new(0.3, -0.7, 1.1);
        assert!(apart(back.point(p), pose.point(p)) < SMALL * 100.0);
    }
    let body = Inertia::new(2.0, [0.1, 0.2, 0.3], [1.0, 0.1, 0.2, 2.0, 0.3, 2.5]);
    let back: Inertia = serde_json::from_str(&serde_json::to_string(&body).unwrap()).unwrap();
    assert_eq!(back, body);
    let problem = serde_json::from_str::<Rotation>("[0.0, 0.0, 0.0, 2.0]").unwrap_err();
    assert!(problem.to_string().contains("unit quaternion"), "{problem}");
}
