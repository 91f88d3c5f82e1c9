//! Masses and moments that no body has.

use super::{Draft, link_at};
use crate::report::{Findings, Remedy, Severity};
use linkwork::spatial::{Inertia, Pose};

/// How far principal moments may break their inequalities, as a part of their sum.
const TOLERANCE: f64 = 1e-9;
/// Moments below this part of the mass, in m², are rounding.
const ROUNDING: f64 = 1e-16;

impl Draft {
    /// Checks every link's mass and moments; whether all are such that the library takes them without being told to.
    pub(super) fn inertias(&mut self, f: &mut Findings) -> bool {
        let mut physical = true;
        let mut massless = Vec::new();
        for i in 0..self.links.len() {
            let link = &mut self.links[i];
            let body = link.item.inertia;
            if body == Inertia::ZERO {
                massless.push(i);
                continue;
            }
            let spot = self.inertia_spots.get(&link.item.name).copied().unwrap_or(link.spot);
            let at = link_at(link).seen_at(spot);
            if body.mass < 0.0 {
                let message = format!("the mass is {} kg", body.mass);
                let remedy = Remedy::Repair("it is now zero, and so are the moments");
                if f.judge(at, "negative-mass", message, "give a positive mass", remedy) < Severity::Error {
                    link.item.inertia = Inertia::ZERO;
                }
                continue;
            }
            let ([least, middle, most], _) = body.principal();
            if body.mass == 0.0 {
                let message =
                    format!("the link has moments of inertia {least:.3e}, {middle:.3e}, {most:.3e} but no mass");
                f.doubt(
                    at,
                    "moments-without-mass",
                    message,
                    "give it a mass, or remove its moments",
                );
            }
            let slack = TOLERANCE * (least.abs() + middle.abs() + most.abs()) + ROUNDING * body.mass;
            let shown = format!("{least:.4e}, {middle:.4e}, {most:.4e} kg m²");
            let (code, message) = if least < -slack {
                (
                    "negative-moment",
                    format!("a principal moment of inertia is negative: {shown}"),
                )
            } else if most > least + middle + slack {
                let message =
                    format!("no body has principal moments of inertia {shown}: one exceeds the sum of the others");
                ("triangle-inequality", message)
            } else {
                // Rounding may still be too much for the library's own check.
                if least < -TOLERANCE * (middle.abs() + most.abs()) || most > (least + middle) * (1.0 + TOLERANCE) {
                    physical = false;
                }
                continue;
            };
            let nearest = nearest(&body);
            let ([a, b, c], _) = nearest.principal();
            let how = format!("they are now {a:.4e}, {b:.4e}, {c:.4e} kg m², the nearest that a body can have");
            let advice =
                "check that ixx … izz are about the centre of mass, in kg m², and turned as the inertial frame";
            match f.judge(at, code, message, advice, Remedy::KeepOrRepair(&how)) {
                Severity::Repair => link.item.inertia = nearest,
                _ => physical = false,
            }
        }
        let moves = self.joints.iter().find(|j| j.item.kind.nv() > 0);
        if let Some(joint) = moves.filter(|_| massless.len() == self.links.len()) {
            let message = "no link of the robot has mass, though joints move";
            let advice = "give links masses; `--collision-density` finds those of closed collision shapes";
            f.doubt(super::joint_at(joint), "massless-robot", message, advice);
        }
        self.note_massless(&massless, f);
        physical
    }

    /// Links without mass, all in one finding: most are mere frames.
    fn note_massless(&self, massless: &[usize], f: &mut Findings) {
        let Some(&first) = massless.first() else { return };
        let count = massless.len();
        let names: Vec<_> = massless
            .iter()
            .take(3)
            .map(|&i| crate::source::shortened(&self.links[i].item.name))
            .collect();
        let more = if count > 3 { ", …" } else { "" };
        let message = match count {
            1 => "the link has no mass".to_owned(),
            _ => format!("{count} links have no mass: {}{more}", names.join(", ")),
        };
        let advice = "this is harmless for links that are only frames";
        f.note(link_at(&self.links[first]), "massless-link", message, advice);
    }
}

/// The nearest rotational inertia that a body can have, the distance being that of the matrices (Frobenius).
///
/// Second moments of mass s, with principal moments of inertia λ_i = s_j + s_k, are zero or more. The nearest such λ
/// has the same axes, and minimises |λ(s) − λ|² over s ≥ 0: of the eight ways to set some s to zero, the best that
/// leaves the others positive.
pub(crate) fn nearest(body: &Inertia) -> Inertia {
    let (l, axes) = body.principal();
    let mut best = (f64::INFINITY, [0.0; 3]);
    for held in 0..8_u8 {
        let s = least_squares(l, held);
        if s.iter().any(|x| *x < 0.0) {
            continue;
        }
        let candidate = [s[1] + s[2], s[0] + s[2], s[0] + s[1]];
        let distance: f64 = (0..3).map(|i| (candidate[i] - l[i]).powi(2)).sum();
        if distance < best.0 {
            best = (distance, candidate);
        }
    }
    let [x, y, z] = best.1;
    let straight = Inertia::new(body.mass, [0.0; 3], [x, 0.0, 0.0, y, 0.0, z]);
    let turned = straight.seen_from(&Pose::from_rotation(axes));
    Inertia::new(body.mass, body.com, turned.moments)
}

/// The second moments that fit best, those whose bit is set held at zero.
fn least_squares(l: [f64; 3], held: u8) -> [f64; 3] {
    let free: Vec<usize> = (0..3).filter(|i| held & (1 << i) == 0).collect();
    let mut s = [0.0; 3];
    match free[..] {
        [] => {}
        // λ_j = λ_k = s_i for the two others.
        [i] => s[i] = 0.5 * (l[(i + 1) % 3] + l[(i + 2) % 3]),
        // With s_k = 0: λ_i = s_j, λ_j = s_i, λ_k = s_i + s_j; normal equations 2 s_i + s_j = λ_j + λ_k and so on.
        [i, j] => {
            let k = 3 - i - j;
            let (a, b) = (l[j] + l[k], l[i] + l[k]);
            s[i] = (2.0 * a - b) / 3.0;
            s[j] = (2.0 * b - a) / 3.0;
        }
        _ => {
            let half = 0.5 * (l[0] + l[1] + l[2]);
            s = l.map(|x| half - x);
        }
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::spatial::{Rotation, Vec3};

    #[test]
    fn the_nearest_inertia_is_physical_and_no_other_is_nearer() {
        let turn = Pose::from_rotation(Rotation::about(Vec3::new(1.0, 2.0, -0.5), 0.8));
        for l in [
            [-0.02, 0.05, 0.1],
            [1.0, 1.0, 5.0],
            [-1.0, -2.0, -3.0],
            [0.0, 0.0, 1.0],
            [1.0, 2.0, 2.5],
        ] {
            let body = Inertia::new(1.0, [0.1, 0.2, 0.3], [l[0], 0.0, 0.0, l[1], 0.0, l[2]]).seen_from(&turn);
            let repaired = nearest(&body);
            let ([a, b, c], _) = repaired.principal();
            assert!(a >= -1e-15 && c <= a + b + 1e-15, "{a} {b} {c}");
            assert_eq!((repaired.mass, repaired.com), (body.mass, body.com));
            let distance = |x: &[f64; 6]| {
                let weight = [1.0, 2.0, 2.0, 1.0, 2.0, 1.0];
                (0..6)
                    .map(|i| weight[i] * (x[i] - body.moments[i]).powi(2))
                    .sum::<f64>()
            };
            let best = distance(&repaired.moments);
            // Other bodies near the answer, all of them sums of point masses, are further away.
            for i in 0..200 {
                let angle = f64::from(i);
                let nudge = Vec3::new(angle.sin(), (1.7 * angle).sin(), (2.3 * angle).cos()) * 0.05;
                let [x, y, z] = nudge.to_array();
                let point = [y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y];
                let other: [f64; 6] = core::array::from_fn(|k| repaired.moments[k] + point[k]);
                assert!(distance(&other) >= best - 1e-14, "{l:?}");
                let shrunk = repaired.moments.map(|m| m * 0.99);
                assert!(distance(&shrunk) >= best - 1e-14, "{l:?}");
            }
        }
        let sound = Inertia::cuboid(2.0, [0.1, 0.2, 0.3]);
        let kept = nearest(&sound).moments;
        assert!((0..6).all(|i| (kept[i] - sound.moments[i]).abs() < 1e-16));
    }
}
