//! Rigid transformations as 4×4 and 6×6 matrices, and the motion of one joint.

use super::matrix::{Matrix, dot};
use linkwork::model::JointKind;
use linkwork::spatial::{Inertia, Pose, Vec3};

/// x̃.
pub fn tilde(x: &[f64]) -> Matrix {
    Matrix::from_rows(&[[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])
}

/// [[a, b], [c, d]] of 3×3 blocks.
pub fn blocks(a: &Matrix, b: &Matrix, c: &Matrix, d: &Matrix) -> Matrix {
    let mut x = Matrix::zeros(6, 6);
    x.set_block(0, 0, a);
    x.set_block(0, 3, b);
    x.set_block(3, 0, c);
    x.set_block(3, 3, d);
    x
}

/// A turn about a unit axis (Rodrigues).
pub fn turn(axis: &[f64], angle: f64) -> Matrix {
    let k = tilde(axis);
    Matrix::identity(3) + k.scale(angle.sin()) + (&k * &k).scale(1.0 - angle.cos())
}

/// A turn from a quaternion x, y, z, w: the first four numbers.
pub fn turn_by_quaternion(q: &[f64]) -> Matrix {
    let k = tilde(&q[..3]);
    let twice = 2.0 / dot(&q[..4], &q[..4]);
    Matrix::identity(3) + k.scale(twice * q[3]) + (&k * &k).scale(twice)
}

/// The 4×4 of axes and origin.
pub fn homogeneous(r: &Matrix, p: &[f64]) -> Matrix {
    let mut x = Matrix::identity(4);
    x.set_block(0, 0, r);
    x.set_block(0, 3, &Matrix::column(p));
    x
}

/// The 4×4 of a pose of the library.
pub fn from_pose(x: &Pose) -> Matrix {
    homogeneous(&Matrix::from_rows(&x.rotation.to_rows()), &x.translation.to_array())
}

/// The axes of a 4×4.
pub fn axes(x: &Matrix) -> Matrix {
    x.block(0, 0, 3, 3)
}

/// The origin of a 4×4.
pub fn origin(x: &Matrix) -> Vec<f64> {
    x.block(0, 3, 3, 1).data
}

/// The other frame seen from this one.
pub fn inverse(x: &Matrix) -> Matrix {
    let rt = axes(x).t();
    let p = rt.scale(-1.0).apply(&origin(x));
    homogeneous(&rt, &p)
}

/// The 6×6 that brings forces in from a frame at x: φ. Its transpose takes motions out.
pub fn force_in(x: &Matrix) -> Matrix {
    let (r, p) = (axes(x), tilde(&origin(x)));
    blocks(&r, &(p * &r), &Matrix::zeros(3, 3), &r)
}

/// The 6×6 that brings motions in from a frame at x: φ⁻*.
pub fn motion_in(x: &Matrix) -> Matrix {
    let (r, p) = (axes(x), tilde(&origin(x)));
    blocks(&r, &Matrix::zeros(3, 3), &(p * &r), &r)
}

/// The motion cross product [[ω̃, 0], [ṽ, ω̃]].
pub fn crm(v: &[f64]) -> Matrix {
    let w = tilde(&v[..3]);
    blocks(&w, &Matrix::zeros(3, 3), &tilde(&v[3..]), &w)
}

/// The force cross product [[ω̃, ṽ], [0, ω̃]].
pub fn crf(v: &[f64]) -> Matrix {
    crm(v).t().scale(-1.0)
}

/// M: [[J, m p̃], [−m p̃, m I]].
pub fn spatial_inertia(body: &Inertia) -> Matrix {
    let [xx, xy, xz, yy, yz, zz] = body.moments;
    let about_com = Matrix::from_rows(&[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
    let p = tilde(&body.com.to_array());
    let mp = p.scale(body.mass);
    let j = about_com - &mp * &p;
    blocks(&j, &mp, &mp.scale(-1.0), &Matrix::identity(3).scale(body.mass))
}

fn unit(axis: Vec3) -> Vec<f64> {
    let a = axis.to_array();
    let norm = dot(&a, &a).sqrt();
    a.iter().map(|x| x / norm).collect()
}

/// What one joint's coordinates say.
pub struct Motion {
    /// The link's frame seen from the joint's, 4×4.
    pub pose: Matrix,
    /// H*, 6×d, in the link's frame.
    pub subspace: Matrix,
    /// The rate of H* as seen in the link's frame: zero but for a universal joint.
    pub rate: Matrix,
}

/// A joint at q and q̇ (its own coordinates only).
pub fn motion(kind: &JointKind, q: &[f64], qd: &[f64]) -> Motion {
    let still = [0.0; 3];
    let (eye, none) = (Matrix::identity(3), Matrix::zeros(3, 0));
    // Columns [angular; linear], each a list of 3-vectors.
    let stack = |angular: &Matrix, linear: &Matrix| {
        let mut h = Matrix::zeros(6, angular.cols + linear.cols);
        h.set_block(0, 0, angular);
        h.set_block(3, angular.cols, linear);
        h
    };
    let along = |a: &[f64], s: f64| a.iter().map(|x| x * s).collect::<Vec<f64>>();
    let mut rate = Matrix::zeros(6, kind.nv());
    let (r, p, subspace) = match *kind {
        JointKind::Fixed => (eye, still.to_vec(), Matrix::zeros(6, 0)),
        JointKind::Revolute { axis } | JointKind::Continuous { axis } => {
            let a = unit(axis);
            (turn(&a, q[0]), still.to_vec(), stack(&Matrix::column(&a), &none))
        }
        JointKind::Prismatic { axis } => {
            let a = unit(axis);
            (eye, along(&a, q[0]), stack(&none, &Matrix::column(&a)))
        }
        JointKind::Helical { axis, pitch } => {
            let a = unit(axis);
            let mut h = Matrix::zeros(6, 1);
            h.set_block(0, 0, &Matrix::column(&a));
            h.set_block(3, 0, &Matrix::column(&a).scale(pitch));
            (turn(&a, q[0]), along(&a, pitch * q[0]), h)
        }
        JointKind::Cylindrical { axis } => {
            let a = unit(axis);
            let column = Matrix::column(&a);
            (turn(&a, q[0]), along(&a, q[1]), stack(&column, &column))
        }
        JointKind::Universal { axes: [first, second] } => {
            let (a, b) = (unit(first), unit(second));
            let outer = turn(&b, q[1]);
            // The first axis as the link sees it turns backwards as the second angle grows.
            let seen = outer.t().apply(&a);
            let mut h = Matrix::zeros(6, 2);
            h.set_block(0, 0, &Matrix::column(&seen));
            h.set_block(0, 1, &Matrix::column(&b));
            rate.set_block(0, 0, &Matrix::column(&tilde(&seen).apply(&along(&b, qd[1]))));
            (turn(&a, q[0]) * outer, still.to_vec(), h)
        }
        JointKind::Planar => {
            let z = Matrix::column(&[0.0, 0.0, 1.0]);
            (
                turn(&z.data, q[0]),
                vec![q[1], q[2], 0.0],
                stack(&z, &eye.block(0, 0, 3, 2)),
            )
        }
        JointKind::Translation => (eye.clone(), q.to_vec(), stack(&none, &eye)),
        JointKind::Spherical => (turn_by_quaternion(q), still.to_vec(), stack(&eye, &none)),
        JointKind::Free => (turn_by_quaternion(q), q[4..].to_vec(), stack(&eye, &eye)),
    };
    let pose = homogeneous(&r, &p);
    Motion { pose, subspace, rate }
}
