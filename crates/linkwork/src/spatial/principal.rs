//! Principal moments and axes.

use super::{Inertia, Rotation, Vec3};

impl Inertia {
    /// The principal moments about the centre of mass, ascending, and their axes.
    ///
    /// ```
    /// use linkwork::spatial::Inertia;
    /// let (moments, axes) = Inertia::new(1.0, [0.0; 3], [2.0, 1.0, 0.0, 2.0, 0.0, 5.0]).principal();
    /// assert!((moments[0] - 1.0).abs() < 1e-15 && (moments[1] - 3.0).abs() < 1e-15);
    /// assert!((axes.z.z - 1.0).abs() < 1e-15);
    /// ```
    pub fn principal(&self) -> ([f64; 3], Rotation) {
        let m = &self.moments;
        let largest = m.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return ([m[0], m[3], m[5]], Rotation::IDENTITY);
        }
        // Scaled, so that squares neither overflow nor vanish.
        let [xx, xy, xz, yy, yz, zz] = m.map(|x| x / largest);
        let mut a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
        let mut axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        // Convergence is quadratic: four or five rounds suffice.
        for _ in 0..10 {
            if a[0][1] == 0.0 && a[0][2] == 0.0 && a[1][2] == 0.0 {
                break;
            }
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                turn(&mut a, &mut axes, p, q);
            }
        }
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &k| a[i][i].total_cmp(&a[k][k]));
        let [x, y] = [order[0], order[1]].map(|i| Vec3::from(axes[i]));
        let rotation = Rotation { x, y, z: x.cross(y) };
        (order.map(|i| a[i][i] * largest), rotation)
    }
}

/// Turns in the plane of p and q until a[p][q] vanishes; rows of `axes` turn along.
fn turn(a: &mut [[f64; 3]; 3], axes: &mut [[f64; 3]; 3], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let half = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
    let t = if half.is_finite() {
        half.signum() / (half.abs() + half.hypot(1.0))
    } else {
        0.0
    };
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    let r = 3 - p - q;
    let (off, rp, rq) = (a[p][q], a[r][p], a[r][q]);
    a[p][p] -= t * off;
    a[q][q] += t * off;
    (a[p][q], a[q][p]) = (0.0, 0.0);
    (a[r][p], a[r][q]) = (c * rp - s * rq, s * rp + c * rq);
    (a[p][r], a[q][r]) = (a[r][p], a[r][q]);
    for i in 0..3 {
        let (x, y) = (axes[p][i], axes[q][i]);
        (axes[p][i], axes[q][i]) = (c * x - s * y, s * x + c * y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spatial::Pose;

    #[test]
    fn principal_moments_do_not_depend_on_the_axes() {
        for moments in [
            [1.0, 2.0, 3.0],
            [0.0, 1.0, 1.0],
            [2.0, 2.0, 2.0],
            [1e-12, 1.0, 1.0],
            [-0.5, 0.1, 4.0],
        ] {
            for angle in [0.0, 1e-8, 0.7, 2.0] {
                let body = Inertia::new(1.0, [0.0; 3], [moments[0], 0.0, 0.0, moments[1], 0.0, moments[2]]);
                let turned = body.seen_from(&Pose::from_rotation(Rotation::about(Vec3::new(1.0, -2.0, 0.5), angle)));
                for scale in [1.0, 1e-200, 1e200] {
                    let scaled = Inertia::new(1.0, [0.0; 3], turned.moments.map(|x| x * scale));
                    let (found, axes) = scaled.principal();
                    for (a, b) in found.iter().zip(moments) {
                        assert!((a / scale - b).abs() < 2e-15 * 4.0, "{found:?} {moments:?}");
                    }
                    let [x, y, z] = found.map(|m| m / scale);
                    let straight = Inertia::new(1.0, [0.0; 3], [x, 0.0, 0.0, y, 0.0, z]);
                    let back = straight.seen_from(&Pose::from_rotation(axes)).moments;
                    for (a, b) in back.iter().zip(turned.moments) {
                        assert!((a - b).abs() < 1e-14, "{back:?} {:?}", turned.moments);
                    }
                }
            }
        }
    }
}
