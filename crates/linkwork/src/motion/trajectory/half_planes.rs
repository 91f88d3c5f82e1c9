//! The highest and lowest point of an intersection of half planes.

/// p u + r x ≤ w, and who asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfPlane {
    pub(super) p: f64,
    pub(super) r: f64,
    pub(super) w: f64,
    pub(super) owner: usize,
}

/// Rounding of a sum of products.
const ROUNDING: f64 = 1e-11;

impl HalfPlane {
    fn excess(&self, (u, x): (f64, f64)) -> f64 {
        let size = (self.p * u).abs() + (self.r * x).abs() + self.w.abs();
        self.p * u + self.r * x - self.w - ROUNDING * size
    }
}

/// The point (u, x) with the largest x·`up` within all half planes and |u| ≤ `widest`, 0 ≤ x ≤ `highest`; or the owner of the
/// half plane that leaves nothing. One half plane after another: where the best point so far is outside, the next one is on the
/// line (Seidel 1991).
pub(super) fn extreme(planes: &[HalfPlane], widest: f64, highest: f64, up: f64) -> Result<(f64, f64), usize> {
    let mut best = (0.0, if up > 0.0 { highest } else { 0.0 });
    for (i, plane) in planes.iter().enumerate() {
        if plane.excess(best) <= 0.0 {
            continue;
        }
        best = on_line(plane, &planes[..i], widest, highest, up).ok_or(plane.owner)?;
    }
    Ok(best)
}

/// The same on the line of one half plane.
fn on_line(line: &HalfPlane, others: &[HalfPlane], widest: f64, highest: f64, up: f64) -> Option<(f64, f64)> {
    // In units in which the box is a square, so that lines are well conditioned.
    let (p, r) = (line.p * widest, line.r * highest);
    let square = p * p + r * r;
    if square.is_nan() || square <= 0.0 {
        return None;
    }
    let (foot, way) = ((p * line.w / square, r * line.w / square), (-r, p));
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let boxed = [(1.0, 0.0, 1.0), (-1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.0, -1.0, 0.0)];
    let others = others.iter().map(|o| (o.p * widest, o.r * highest, o.w));
    for (a, b, w) in boxed.into_iter().chain(others) {
        let (rate, room) = (a * way.0 + b * way.1, w - a * foot.0 - b * foot.1);
        let size = (a * a + b * b).sqrt() * square.sqrt();
        let slack = ROUNDING * ((a * foot.0).abs() + (b * foot.1).abs() + w.abs());
        if rate.abs() <= ROUNDING * size {
            if room < -slack {
                return None;
            }
        } else if rate > 0.0 {
            high = high.min((room + slack) / rate);
        } else {
            low = low.max((room + slack) / rate);
        }
    }
    if low > high {
        return None;
    }
    let along = if way.1 * up > 0.0 {
        high
    } else if way.1 * up < 0.0 {
        low
    } else {
        0.0_f64.clamp(low, high)
    };
    let x = (foot.1 + along * way.1).clamp(0.0, 1.0);
    Some(((foot.0 + along * way.0) * widest, x * highest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_found_and_contradictions_named() {
        let plane = |p, r, w, owner| HalfPlane { p, r, w, owner };
        // x ≤ 3 − |u|, x ≥ 1 + u/2.
        let roof = [
            plane(1.0, 1.0, 3.0, 0),
            plane(-1.0, 1.0, 3.0, 1),
            plane(0.5, -1.0, -1.0, 2),
        ];
        let (u, x) = extreme(&roof, 1e6, 1e6, 1.0).unwrap();
        assert!(u.abs() < 1e-4 && (x - 3.0).abs() < 1e-4, "{u} {x}");
        let (u, x) = extreme(&roof, 1e6, 1e6, -1.0).unwrap();
        assert!(x.abs() < 1e-4 || (u + 8.0 / 3.0).abs() < 1e-4, "{u} {x}");
        let none = [plane(0.0, 1.0, 1.0, 7), plane(0.0, -1.0, -2.0, 8)];
        assert_eq!(extreme(&none, 10.0, 10.0, 1.0), Err(8));
        // An equation as two half planes.
        let equal = [
            plane(1.0, 2.0, 4.0, 0),
            plane(-1.0, -2.0, -4.0, 0),
            plane(-1.0, 0.0, 0.0, 1),
        ];
        let (u, x) = extreme(&equal, 100.0, 100.0, 1.0).unwrap();
        assert!(u.abs() < 1e-8 && (x - 2.0).abs() < 1e-8);
    }
}
