//! Numbers that stay as they are when they are read and written again.
//!
//! A rotation is written with as few decimals as say it within rounding: what a person wrote comes out as it was, and reading
//! does not move the numbers away from where they are rounded to.

use linkwork::spatial::Rotation;
use std::f64::consts::PI;

/// So many rounds are tried; one or two do.
const MOST_ROUNDS: usize = 50;
/// More decimals are lost in the rounding of rotations.
const MOST_DECIMALS: i32 = 15;
/// How far the elements of a rotation may be from those that are written.
const CLOSE: f64 = 1e-15;

/// The numbers that a value is written as, `again` being what reading and writing makes of them.
///
/// They come to some that stay, or to several that follow each other: then the least of these are taken, so that every one
/// of them is written as that one.
pub(super) fn settled<const N: usize>(first: [f64; N], again: impl Fn([f64; N]) -> [f64; N]) -> [f64; N] {
    // Zeros are written without their sign.
    let plain = |x: [f64; N]| x.map(|x| x + 0.0);
    let mut seen = vec![plain(first)];
    while seen.len() < MOST_ROUNDS {
        let next = plain(again(seen[seen.len() - 1]));
        if let Some(start) = seen.iter().position(|x| *x == next) {
            let ring = seen[start..].iter().copied();
            let least = ring.reduce(|a, b| if b < a { b } else { a });
            return least.unwrap_or(next);
        }
        seen.push(next);
    }
    seen[seen.len() - 1]
}

/// A number with so many decimals.
fn rounded(x: f64, decimals: i32) -> f64 {
    let decimals = decimals.clamp(0, MOST_DECIMALS) as usize;
    format!("{x:.decimals$}").parse().unwrap_or(x)
}

fn far(a: &Rotation, b: &Rotation) -> bool {
    let rows = a.to_rows().into_iter().flatten().zip(b.to_rows().into_iter().flatten());
    rows.map(|(x, y)| (x - y).abs()).any(|d| d > CLOSE)
}

/// Roll, pitch and yaw about fixed axes.
pub(super) fn rpy(rotation: &Rotation) -> [f64; 3] {
    settled(angles(rotation), |[roll, pitch, yaw]| {
        angles(&Rotation::from_rpy(roll, pitch, yaw))
    })
}

/// The angles with the fewest decimals.
fn angles(rotation: &Rotation) -> [f64; 3] {
    let with = |decimals| rounded_angles(rotation, decimals);
    let enough = |[roll, pitch, yaw]: &[f64; 3]| !far(&Rotation::from_rpy(*roll, *pitch, *yaw), rotation);
    let few = (0..MOST_DECIMALS).map(with).find(enough);
    few.unwrap_or_else(|| with(MOST_DECIMALS))
}

/// Angles with so many decimals. Where roll and yaw turn about nearly the same axis, yaw is known to fewer, and roll makes up
/// for what yaw is.
fn rounded_angles(rotation: &Rotation, decimals: i32) -> [f64; 3] {
    /// Parts of a turn, which people mean by all their digits.
    const PART: f64 = PI / 12.0;
    let angle = |x: f64, decimals: i32| {
        let part = (x / PART).round() * PART;
        if (x - part).abs() < 6e-16 {
            part
        } else {
            rounded(x, decimals)
        }
    };
    let [[xx, xy, xz], [yx, yy, yz], [zx, _, _]] = rotation.to_rows();
    let known = xx.hypot(yx);
    let yaw = match known < 1e-14 {
        true => 0.0,
        false => angle(yx.atan2(xx), decimals.min(MOST_DECIMALS + known.log10().ceil() as i32)),
    };
    let (sin, cos) = yaw.sin_cos();
    let pitch = (-zx).atan2(cos * xx + sin * yx);
    let roll = (sin * xz - cos * yz).atan2(cos * yy - sin * xy);
    [angle(roll, decimals), angle(pitch, decimals), yaw]
}

/// The quaternion w, x, y, z, its largest number being one: readers make it as long as it should be.
pub(super) fn quaternion(rotation: &Rotation) -> [f64; 4] {
    let again = |q: [f64; 4]| crate::rotations::quaternion(q).map_or(q, |rotation| parts(&rotation));
    settled(parts(rotation), again)
}

/// The quaternion with the fewest decimals.
fn parts(rotation: &Rotation) -> [f64; 4] {
    let [x, y, z, w] = rotation.to_quaternion();
    let q = [w, x, y, z];
    let most = q.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let largest = q.iter().copied().find(|x| x.abs() > (1.0 - 1e-9) * most).unwrap_or(1.0);
    let with = |decimals| q.map(|x| rounded(x / largest, decimals));
    let enough = |q: &[f64; 4]| crate::rotations::quaternion(*q).is_some_and(|r| !far(&r, rotation));
    let few = (0..MOST_DECIMALS).map(with).find(enough);
    few.unwrap_or_else(|| with(MOST_DECIMALS))
}

// Angles as files have them.
#[cfg(test)]
#[allow(clippy::approx_constant)]
mod tests {
    use super::*;

    fn turns() -> impl Iterator<Item = Rotation> {
        let right = std::f64::consts::FRAC_PI_2;
        let special = [
            (0.3, -0.4, 2.0),
            (0.3, right, 0.7),
            (-2.0, -right, 1.0),
            (3.0, 1.5, -3.0),
            (0.0, 0.0, 0.0),
            (right, 0.0, 0.0),
            (2.0 * right, 0.0, -2.0 * right),
            (1.5708, -1.67685e-15, 1.5708),
            (0.4, right - 1e-5, 0.2),
            (0.4, right - 3e-8, -2.2),
            (0.4, 1e-11 - right, 1.2),
        ];
        let many = (0..3000).map(|i| {
            let x = f64::from(i);
            ((1.3 * x).sin() * 3.0, (0.7 * x).cos() * 1.6, (2.9 * x).sin() * 3.1)
        });
        let all = special.into_iter().chain(many);
        all.map(|(roll, pitch, yaw)| Rotation::from_rpy(roll, pitch, yaw))
    }

    fn near(a: &Rotation, b: &Rotation) {
        for (x, y) in a.to_rows().iter().flatten().zip(b.to_rows().iter().flatten()) {
            assert!((x - y).abs() < 4e-15, "{a:?} {b:?}");
        }
    }

    #[test]
    fn angles_are_exact_everywhere_and_stay() {
        for turn in turns() {
            let once = rpy(&turn);
            let back = Rotation::from_rpy(once[0], once[1], once[2]);
            near(&turn, &back);
            assert_eq!(rpy(&back), once);
        }
    }

    #[test]
    fn angles_come_back_as_they_were_written() {
        let right = std::f64::consts::FRAC_PI_2;
        for given in [
            [0.27931, 5.4949e-5, -0.00019159],
            [right, 0.0, -right],
            [1.5708, 0.25, 0.1],
        ] {
            assert_eq!(rpy(&Rotation::from_rpy(given[0], given[1], given[2])), given);
        }
        let quarter = Rotation::from_rpy(right, 0.0, 0.0);
        assert_eq!(quaternion(&quarter), [1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn quaternions_stay() {
        for turn in turns() {
            let once = quaternion(&turn);
            let back = crate::rotations::quaternion(once).expect("it has a length");
            near(&turn, &back);
            assert_eq!(quaternion(&back), once);
        }
    }
}
