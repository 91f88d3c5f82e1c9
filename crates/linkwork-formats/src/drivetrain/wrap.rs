//! Ways of tendons around balls and cylinders, as MuJoCo 3 finds them: the shortest one over the surface on one side, or
//! through a ring where the point that tells the side is inside.

use linkwork::spatial::{Pose, Vec3};

/// Smaller numbers are none.
const SMALL: f64 = 1e-15;
/// How near to its edge a way through a ring begins to be looked for, how near is near enough, and how often it is tried.
const EDGE: f64 = 1.0 - 1e-7;
const NEAR: f64 = 1e-6;
const MOST_TRIES: usize = 20;

type Flat = [f64; 2];

/// What a tendon goes around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Round {
    Ball {
        radius: f64,
    },
    /// Along z.
    Cylinder {
        radius: f64,
    },
}

/// Where a tendon between two points meets and leaves a round thing at a pose, and how long it is between; none where it goes
/// straight. `side` is a point on the side that it has to pass, or inside what it has to pass through.
pub(super) fn around(round: Round, at: &Pose, ends: [Vec3; 2], side: Option<Vec3>) -> Option<([Vec3; 2], f64)> {
    let back = at.inverse();
    let [from, to] = ends.map(|p| back.point(p));
    if from.norm() < SMALL || to.norm() < SMALL {
        return None;
    }
    let (radius, [x, y]) = match round {
        Round::Ball { radius } => (radius, plane(from, to)),
        Round::Cylinder { radius } => (radius, [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)]),
    };
    let flat = |p: Vec3| [p.dot(x), p.dot(y)];
    let side = side.map(|p| back.point(p));
    let (points, mut length) = match side {
        Some(side) if side.norm() < radius => {
            let point = through(flat(from), flat(to), radius)?;
            ([point; 2], 0.0)
        }
        _ => over(
            [flat(from), flat(to)],
            side.map(|s| scaled(unit(flat(s)), radius)),
            radius,
        )?,
    };
    let mut points = points.map(|[a, b]| x * a + y * b);
    if let Round::Cylinder { .. } = round {
        // Rolled out flat, the way is straight: it climbs evenly.
        let way = |a: Vec3, b: Vec3| (a.x - b.x).hypot(a.y - b.y);
        let (before, after) = (way(from, points[0]), way(to, points[1]));
        let climb = (to.z - from.z) / (before + length + after);
        points[0].z = from.z + climb * before;
        points[1].z = from.z + climb * (before + length);
        length = length.hypot(points[1].z - points[0].z);
    }
    Some((points.map(|p| at.point(p)), length))
}

/// The axes of the plane through the centre of a ball and two points.
fn plane(from: Vec3, to: Vec3) -> [Vec3; 2] {
    let x = from * from.norm().recip();
    let mut normal = from.cross(to);
    if normal.norm() < SMALL {
        // Any plane does: one that is not along the largest number.
        let [a, b, c] = x.to_array().map(f64::abs);
        normal = x.cross(if b > a && b > c {
            Vec3::new(1.0, 0.0, 1.0)
        } else if c > a && c > b {
            Vec3::new(1.0, 1.0, 0.0)
        } else {
            Vec3::new(0.0, 1.0, 1.0)
        });
    }
    let y = (normal * normal.norm().recip()).cross(x);
    [x, y * y.norm().recip()]
}

fn dot(a: Flat, b: Flat) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn minus(a: Flat, b: Flat) -> Flat {
    [a[0] - b[0], a[1] - b[1]]
}

fn scaled(a: Flat, by: f64) -> Flat {
    [a[0] * by, a[1] * by]
}

/// Of length one; along x where it has none.
fn unit(a: Flat) -> Flat {
    let length = a[0].hypot(a[1]);
    if length < SMALL {
        [1.0, 0.0]
    } else {
        scaled(a, length.recip())
    }
}

/// Whether two pieces cross.
fn cross([a, b]: [Flat; 2], [c, d]: [Flat; 2]) -> bool {
    let (first, second, between) = (minus(b, a), minus(d, c), minus(a, c));
    let det = second[1] * first[0] - second[0] * first[1];
    if det.abs() < SMALL {
        return false;
    }
    let s = (second[0] * between[1] - second[1] * between[0]) / det;
    let t = (first[0] * between[1] - first[1] * between[0]) / det;
    (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)
}

/// Around a circle about the origin: the points of contact, and the length of the arc.
fn over([a, b]: [Flat; 2], side: Option<Flat>, radius: f64) -> Option<([Flat; 2], f64)> {
    let (far_a, far_b, square, way) = (dot(a, a), dot(b, b), radius * radius, minus(b, a));
    let apart = dot(way, way);
    if far_a < square || far_b < square || radius < SMALL || apart < SMALL {
        return None;
    }
    // The point of the straight way nearest to the centre: if it is outside, and on the right side, nothing is in the way.
    let part = (-dot(way, a) / apart).clamp(0.0, 1.0);
    let nearest = [a[0] + part * way[0], a[1] + part * way[1]];
    if dot(nearest, nearest) > square && side.is_none_or(|s| dot(s, nearest) >= 0.0) {
        return None;
    }
    let [root_a, root_b] = [far_a, far_b].map(|far| radius * (far - square).max(0.0).sqrt());
    let ways = [1.0, -1.0].map(|sign| {
        let turned =
            |p: Flat, root: f64, far: f64| [(p[0] * square + root * p[1]) / far, (p[1] * square - root * p[0]) / far];
        [turned(a, sign * root_a, far_a), turned(b, -sign * root_b, far_b)]
    });
    let merit = ways.map(|[p, q]| match side {
        _ if cross([a, p], [b, q]) => -1e4,
        Some(side) => dot(unit([p[0] + q[0], p[1] + q[1]]), side),
        None => -dot(minus(p, q), minus(p, q)),
    });
    let better = usize::from(merit[0] <= merit[1]);
    let [p, q] = ways[better];
    if cross([a, p], [b, q]) {
        return None;
    }
    let mut angle = dot(unit(p), unit(q)).clamp(-1.0, 1.0).acos();
    let turn = p[1] * q[0] - p[0] * q[1];
    if (turn > 0.0 && better == 1) || (turn < 0.0 && better == 0) {
        angle = 2.0 * core::f64::consts::PI - angle;
    }
    Some(([p, q], angle * radius))
}

/// Through a ring about the origin: the one point where it is touched from inside, which the angles of both straight pieces
/// are equal at.
fn through(a: Flat, b: Flat, radius: f64) -> Option<Flat> {
    let (far_a, far_b, way) = (dot(a, a).sqrt(), dot(b, b).sqrt(), minus(b, a));
    let apart = dot(way, way);
    if far_a <= radius || far_b <= radius || radius < SMALL {
        return None;
    }
    if apart > SMALL {
        let part = -dot(way, a) / apart;
        let nearest = [a[0] + part * way[0], a[1] + part * way[1]];
        if part > 0.0 && part < 1.0 && dot(nearest, nearest).sqrt() <= radius {
            return None;
        }
    }
    let middle = Some(scaled(unit([0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])]), radius));
    // asin(αz) + asin(βz) − 2 asin(z) + γ = 0, γ being the angle between the points.
    let (alpha, beta) = (radius / far_a, radius / far_b);
    let cosine = (far_a * far_a + far_b * far_b - apart) / (2.0 * far_a * far_b);
    if cosine < -1.0 + SMALL {
        return None;
    }
    if cosine > 1.0 - SMALL {
        return middle;
    }
    let gamma = cosine.acos();
    let miss = |z: f64| (alpha * z).asin() + (beta * z).asin() - 2.0 * z.asin() + gamma;
    let (mut z, mut f, mut tries) = (EDGE, miss(EDGE), 0);
    if f > 0.0 {
        return middle;
    }
    while f.abs() > NEAR {
        let root = |c: f64| (1.0 - c * c * z * z).max(0.0).sqrt().max(SMALL);
        let slope = alpha / root(alpha) + beta / root(beta) - 2.0 / root(1.0);
        let next = z - f / slope;
        if tries == MOST_TRIES || slope > -SMALL || next > z {
            return middle;
        }
        (z, f, tries) = (next, miss(next), tries + 1);
        if f > NEAR {
            return middle;
        }
    }
    let (first, share) = match a[0] * b[1] - a[1] * b[0] > 0.0 {
        true => (unit(a), alpha),
        false => (unit(b), beta),
    };
    let (sin, cos) = (z.asin() - (share * z).asin()).sin_cos();
    Some([
        radius * (cos * first[0] - sin * first[1]),
        radius * (sin * first[0] + cos * first[1]),
    ])
}
