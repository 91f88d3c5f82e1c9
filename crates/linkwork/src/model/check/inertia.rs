//! Which mass distributions a body can have.

use super::{LARGEST, usable};
use crate::model::Link;
use crate::{Error, Result};

/// How far principal moments may break their inequalities, as a part of their sum.
const TOLERANCE: f64 = 1e-9;

/// Refuses masses and moments that no body has.
///
/// Mass is nought or more. Principal moments are nought or more, and none exceeds the sum of the others: a thin plate
/// reaches equality. Moments without mass are accepted as the limit of a light, wide body: rotors are written so.
/// With `any_positive` the sum of the others may be exceeded.
pub(super) fn check(link: &Link, any_positive: bool) -> Result<()> {
    let fail = |problem: String| {
        let link = link.name.clone();
        Err(Error::Inertia { link, problem })
    };
    let body = &link.inertia;
    if !(body.mass <= LARGEST && body.mass >= 0.0) {
        return fail(format!(
            "has mass {}; give a finite number of kg, nought or more and at most 1e30",
            body.mass
        ));
    }
    if !usable(body.com) {
        let com = body.com.to_array();
        return fail(format!(
            "has its centre of mass at {com:?}; every component must be finite and at most 1e30 m"
        ));
    }
    if let Some(x) = body.moments.iter().find(|x| x.is_nan() || x.abs() > LARGEST) {
        return fail(format!(
            "has a moment of inertia of {x}; every moment must be finite and at most 1e30 kg m²"
        ));
    }
    let [least, middle, most] = principal(&body.moments);
    let slack = TOLERANCE * (least.abs() + middle.abs() + most.abs());
    if least < -slack {
        return fail(format!(
            "has a negative principal moment of inertia: {least:e}, {middle:e}, {most:e}; \
             moments are xx, xy, xz, yy, yz, zz about the centre of mass"
        ));
    }
    if !any_positive && most > least + middle + slack {
        return fail(format!(
            "has principal moments of inertia {least:e}, {middle:e}, {most:e}: \
             no body has one above the sum of the other two; check that the moments are xx, xy, xz, yy, yz, zz about \
             the centre of mass, or accept identified parameters as they are with Builder::any_positive_inertia"
        ));
    }
    Ok(())
}

/// The eigenvalues of a symmetric matrix xx, xy, xz, yy, yz, zz, ascending, by Jacobi's rotations.
fn principal(m: &[f64; 6]) -> [f64; 3] {
    let largest = m.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    if largest == 0.0 {
        return [0.0; 3];
    }
    // Scaled, so that squares neither overflow nor vanish.
    let [xx, xy, xz, yy, yz, zz] = m.map(|x| x / largest);
    let mut a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    // Convergence is quadratic: four or five rounds suffice.
    for _ in 0..10 {
        if a[0][1] == 0.0 && a[0][2] == 0.0 && a[1][2] == 0.0 {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            turn(&mut a, p, q);
        }
    }
    let mut values = [a[0][0], a[1][1], a[2][2]].map(|x| x * largest);
    values.sort_by(f64::total_cmp);
    values
}

/// Turns in the plane of p and q until a[p][q] vanishes.
fn turn(a: &mut [[f64; 3]; 3], p: usize, q: usize) {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spatial::{Inertia, Pose, Rotation, Vec3};

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
                    let found = principal(&turned.moments.map(|x| x * scale));
                    for (a, b) in found.iter().zip(moments) {
                        assert!((a / scale - b).abs() < 2e-15 * 4.0, "{found:?} {moments:?}");
                    }
                }
            }
        }
    }
}
