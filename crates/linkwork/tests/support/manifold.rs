//! Configurations, stepped by the exponential of each joint.

use super::matrix::Matrix;
use super::rigid::{tilde, turn, turn_by_quaternion};
use linkwork::Mechanism;
use linkwork::model::JointKind;

/// q after unit time at the constant velocity v.
pub fn step(mechanism: &Mechanism, q: &[f64], v: &[f64]) -> Vec<f64> {
    let mut out = q.to_vec();
    for joint in mechanism.joints() {
        let id = mechanism.joint(&joint.name).unwrap();
        let (at, v) = (mechanism.q_range(id).unwrap(), &v[mechanism.v_range(id).unwrap()]);
        let old = &q[at.clone()];
        let new = match joint.kind {
            JointKind::Spherical => turned(old, v),
            JointKind::Free => {
                // p + R S v, where S is the mean turn on the way.
                let way = turn_by_quaternion(&old[..4]) * mean_turn(&v[..3]);
                let shift = way.apply(&v[3..]);
                let mut new = turned(&old[..4], &v[..3]);
                new.extend((0..3).map(|i| old[4 + i] + shift[i]));
                new
            }
            JointKind::Planar => {
                let z = [0.0, 0.0, 1.0];
                let way = turn(&z, old[0]) * mean_turn(&[0.0, 0.0, v[0]]);
                let shift = way.apply(&[v[1], v[2], 0.0]);
                vec![old[0] + v[0], old[1] + shift[0], old[2] + shift[1]]
            }
            _ => old.iter().zip(v).map(|(q, v)| q + v).collect(),
        };
        out[at].copy_from_slice(&new);
    }
    out
}

/// The quaternion q exp(ω/2).
fn turned(q: &[f64], w: &[f64]) -> Vec<f64> {
    let angle = norm(w);
    let half = 0.5 * angle;
    let s = if angle > 0.0 { half.sin() / angle } else { 0.5 };
    let ([x, y, z, n], [a, b, c, m]) = ([q[0], q[1], q[2], q[3]], [s * w[0], s * w[1], s * w[2], half.cos()]);
    vec![
        n * a + x * m + y * c - z * b,
        n * b + y * m + z * a - x * c,
        n * c + z * m + x * b - y * a,
        n * m - x * a - y * b - z * c,
    ]
}

/// ∫₀¹ exp(s ω̃) ds.
fn mean_turn(w: &[f64]) -> Matrix {
    let t = norm(w);
    let k = tilde(w);
    // (1 − cos t)/t² and (t − sin t)/t³, by series where they cancel.
    let (a, b) = if t < 0.05 {
        let t2 = t * t;
        let a = 0.5 - t2 / 24.0 * (1.0 - t2 / 30.0 * (1.0 - t2 / 56.0));
        let b = 1.0 / 6.0 - t2 / 120.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0));
        (a, b)
    } else {
        ((1.0 - t.cos()) / (t * t), (t - t.sin()) / (t * t * t))
    };
    Matrix::identity(3) + k.scale(a) + (&k * &k).scale(b)
}

fn norm(w: &[f64]) -> f64 {
    w.iter().map(|x| x * x).sum::<f64>().sqrt()
}
