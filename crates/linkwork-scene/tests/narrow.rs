//! How shapes meet, against distances found by other means.

use linkwork::spatial::{Pose, Rotation, Vec3};
use linkwork_scene::{ClosedForm, ColliderShape, Narrow, TouchPoint};

struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.number()
    }
    fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(
            self.within(-size, size),
            self.within(-size, size),
            self.within(-size, size),
        )
    }
    fn pose(&mut self, size: f64) -> Pose {
        let axis = self.vector(1.0);
        let axis = axis * axis.norm().max(1e-6).recip();
        Pose::new(Rotation::about(axis, self.within(0.0, 3.0)), self.vector(size))
    }
    fn shape(&mut self, kind: usize) -> ColliderShape {
        let mut size = || self.within(0.1, 0.5);
        match kind {
            0 => ColliderShape::Sphere { radius: size() },
            1 => ColliderShape::Capsule {
                radius: size(),
                half: size(),
            },
            2 => ColliderShape::Cuboid {
                half: Vec3::new(size(), size(), size()),
            },
            3 => ColliderShape::Cylinder {
                radius: size(),
                half: size(),
            },
            _ => ColliderShape::Ellipsoid {
                radii: Vec3::new(size(), size(), size()),
            },
        }
    }
}

/// The nearest point of a solid shape, in its frame.
fn nearest(shape: &ColliderShape, p: Vec3) -> Vec3 {
    let ball = |p: Vec3, c: Vec3, radius: f64| {
        let d = p - c;
        if d.norm() <= radius {
            p
        } else {
            c + d * (radius / d.norm())
        }
    };
    match *shape {
        ColliderShape::Sphere { radius } => ball(p, Vec3::ZERO, radius),
        ColliderShape::Capsule { radius, half } => ball(p, Vec3::new(0.0, 0.0, p.z.clamp(-half, half)), radius),
        ColliderShape::Cuboid { half } => Vec3::new(
            p.x.clamp(-half.x, half.x),
            p.y.clamp(-half.y, half.y),
            p.z.clamp(-half.z, half.z),
        ),
        ColliderShape::Cylinder { radius, half } => {
            let across = p.x.hypot(p.y);
            let scale = if across > radius { radius / across } else { 1.0 };
            Vec3::new(p.x * scale, p.y * scale, p.z.clamp(-half, half))
        }
        _ => unreachable!(),
    }
}

/// The distance of two solid shapes by projecting to and fro; zero where they meet.
fn distance(a: &ColliderShape, at: &Pose, b: &ColliderShape, bt: &Pose) -> f64 {
    let onto = |shape: &ColliderShape, pose: &Pose, p: Vec3| {
        pose.point(nearest(shape, pose.rotation.inverse_mul(p - pose.translation)))
    };
    let mut p = at.translation;
    let mut q = p;
    for _ in 0..3000 {
        q = onto(b, bt, p);
        p = onto(a, at, q);
    }
    (p - q).norm()
}

fn touch(a: &ColliderShape, at: &Pose, b: &ColliderShape, bt: &Pose, margin: f64) -> Vec<TouchPoint> {
    let mut out = Vec::new();
    assert!(ClosedForm.touch(a, at, b, bt, margin, &mut out));
    out
}

#[test]
fn the_nearest_point_of_two_shapes_that_are_apart_is_at_their_distance() {
    let mut random = Random(1);
    let mut met = 0;
    for _ in 0..3000 {
        let (i, j) = ((random.number() * 4.0) as usize, (random.number() * 4.0) as usize);
        let (a, b) = (random.shape(i), random.shape(j));
        if !ClosedForm.knows(&a, &b) {
            continue;
        }
        let (at, bt) = (random.pose(0.8), random.pose(0.8));
        let apart = distance(&a, &at, &b, &bt);
        let found = touch(&a, &at, &b, &bt, 10.0);
        let gap = found.iter().fold(f64::INFINITY, |least, t| least.min(t.gap));
        let boxes = matches!((&a, &b), (ColliderShape::Cuboid { .. }, ColliderShape::Cuboid { .. }));
        if boxes && apart > 1e-3 {
            // Faces that do not lie over each other have no points; those that do are no nearer than the boxes.
            assert!(gap >= -0.01, "{a:?} {b:?}: {gap} {apart}");
        } else if apart > 1e-3 {
            met += 1;
            let low = 0.98 * apart;
            assert!(
                gap <= 1.02 * apart + 1e-3 && gap >= low - 1e-3,
                "{a:?} {b:?}: {gap} {apart}"
            );
        } else {
            assert!(gap < 1e-2, "{a:?} {b:?}: {gap} {apart}");
        }
        for t in &found {
            assert!((t.normal.norm() - 1.0).abs() < 1e-9);
        }
    }
    assert!(met > 300, "{met}");
}

#[test]
fn exchanged_shapes_have_turned_normals() {
    let mut random = Random(2);
    for _ in 0..500 {
        let (i, j) = ((random.number() * 4.0) as usize, (random.number() * 4.0) as usize);
        let (a, b) = (random.shape(i), random.shape(j));
        if !ClosedForm.knows(&a, &b) {
            continue;
        }
        let (at, bt) = (random.pose(0.5), random.pose(0.5));
        let (one, two) = (touch(&a, &at, &b, &bt, 0.1), touch(&b, &bt, &a, &at, 0.1));
        let least = |all: &[TouchPoint]| all.iter().fold(f64::INFINITY, |least: f64, t| least.min(t.gap));
        if one.is_empty() || two.is_empty() {
            continue;
        }
        assert!(
            (least(&one) - least(&two)).abs() < 2e-3,
            "{a:?} {b:?} {} {}",
            least(&one),
            least(&two)
        );
    }
}

#[test]
fn every_shape_stands_on_a_plane_at_its_support() {
    let mut random = Random(3);
    for _ in 0..500 {
        let kind = (random.number() * 5.0) as usize;
        let (shape, at, plane) = (random.shape(kind), random.pose(1.0), random.pose(1.0));
        let found = touch(&shape, &at, &ColliderShape::Plane, &plane, 10.0);
        let gap = found.iter().fold(f64::INFINITY, |least: f64, t| least.min(t.gap));
        // The lowest of many points of the surface.
        let mut lowest = f64::INFINITY;
        for _ in 0..4000 {
            let d = random.vector(1.0);
            let d = d * d.norm().max(1e-9).recip();
            let p = match shape {
                ColliderShape::Ellipsoid { radii } => Vec3::new(radii.x * d.x, radii.y * d.y, radii.z * d.z),
                _ => nearest(&shape, d * 10.0),
            };
            lowest = lowest.min((at.point(p) - plane.translation).dot(plane.rotation.z));
        }
        assert!(gap <= lowest + 1e-9 && gap > lowest - 0.05, "{shape:?}: {gap} {lowest}");
    }
}

#[test]
fn a_box_on_a_box_touches_at_four_points_that_keep_their_numbers() {
    let half = Vec3::new(0.1, 0.1, 0.1);
    let cube = ColliderShape::Cuboid { half };
    let below = Pose::IDENTITY;
    let mut known: Option<Vec<u32>> = None;
    for i in 0..50 {
        let x = i as f64;
        let turn = Rotation::about(Vec3::new(0.0, 0.0, 1.0), 1e-7 * x.sin());
        let above = Pose::new(turn, [1e-8 * x, -1e-8 * x.cos(), 0.2 - 1e-6]);
        let found = touch(&cube, &above, &cube, &below, 0.01);
        assert_eq!(found.len(), 4, "{found:?}");
        let mut features: Vec<u32> = found.iter().map(|t| t.feature).collect();
        features.sort_unstable();
        assert_eq!(*known.get_or_insert(features.clone()), features);
        for t in found {
            assert!((t.gap + 1e-6).abs() < 1e-7 && (t.normal.z - 1.0).abs() < 1e-12);
        }
    }
    // Turned by an eighth, the overlap has eight corners.
    let turn = Rotation::about(Vec3::new(0.0, 0.0, 1.0), std::f64::consts::FRAC_PI_4);
    let found = touch(&cube, &Pose::new(turn, [0.0, 0.0, 0.2]), &cube, &below, 0.01);
    assert_eq!(found.len(), 8);
    let mut features: Vec<u32> = found.iter().map(|t| t.feature).collect();
    features.sort_unstable();
    features.dedup();
    assert_eq!(features.len(), 8);
}

/// Points all over the surface of a shape, of corners and rims too.
fn surface(shape: &ColliderShape, random: &mut Random, count: usize) -> Vec<Vec3> {
    (0..count)
        .map(|_| match shape {
            ColliderShape::Hull(hull) => {
                // Any mean of corners: inside, and on the corners now and then.
                let corners = hull.corners();
                let pick = |random: &mut Random| corners[(random.number() * corners.len() as f64) as usize];
                let (p, q) = (pick(random), pick(random));
                p + (q - p) * random.number().round()
            }
            ColliderShape::Ellipsoid { radii } => {
                let d = random.vector(1.0);
                let d = d * d.norm().max(1e-9).recip();
                Vec3::new(d.x * radii.x, d.y * radii.y, d.z * radii.z)
            }
            ColliderShape::Cylinder { radius, half } => {
                let angle = random.within(0.0, 6.3);
                let z = if random.number() < 0.5 { *half } else { -half };
                let r = radius * random.number().sqrt();
                match random.number() < 0.5 {
                    true => Vec3::new(radius * angle.cos(), radius * angle.sin(), random.within(-half, *half)),
                    false => Vec3::new(r * angle.cos(), r * angle.sin(), z),
                }
            }
            other => nearest(other, random.vector(3.0)),
        })
        .collect()
}

fn hull(random: &mut Random) -> ColliderShape {
    let points: Vec<Vec3> = (0..14).map(|_| random.vector(0.5)).collect();
    ColliderShape::Hull(linkwork_scene::Hull::of(&points).unwrap())
}

/// What holds of any two convex bodies: along the normal nothing of a is nearer to b than the gap says, some point of each is
/// there, and where they are apart no two points are nearer to each other.
#[test]
fn convex_shapes_meet_along_their_normal_at_their_gap() {
    let mut random = Random(5);
    let (mut apart, mut inside) = (0, 0);
    for trial in 0..1500 {
        let i = [2, 3, 4, 5, 0, 1][trial % 6];
        let j = [3, 4, 5][(trial / 6) % 3];
        let make = |kind: usize, random: &mut Random| if kind == 5 { hull(random) } else { random.shape(kind) };
        let (a, b) = (make(i, &mut random), make(j, &mut random));
        let (at, bt) = (random.pose(0.9), random.pose(0.9));
        let found = touch(&a, &at, &b, &bt, 10.0);
        assert!(!found.is_empty(), "{a:?} {b:?}");
        let least = found.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)).unwrap();
        let n = least.normal;
        assert!((n.norm() - 1.0).abs() < 1e-9);
        let on = |shape: &ColliderShape, pose: &Pose, random: &mut Random| -> Vec<Vec3> {
            surface(shape, random, 4000)
                .into_iter()
                .map(|p| pose.point(p))
                .collect()
        };
        let (pa, pb) = (on(&a, &at, &mut random), on(&b, &bt, &mut random));
        let low = pa.iter().fold(f64::INFINITY, |m, p| m.min(p.dot(n)));
        let high = pb.iter().fold(f64::NEG_INFINITY, |m, p| m.max(p.dot(n)));
        // Samples are inside of the shapes: what they leave between them along the normal is no less than the gap.
        assert!(
            low - high >= least.gap - 1e-6,
            "{a:?} {b:?}: {} {}",
            low - high,
            least.gap
        );
        assert!(
            low - high < least.gap + 0.12,
            "{a:?} {b:?}: {} {}",
            low - high,
            least.gap
        );
        if least.gap > 1e-3 {
            apart += 1;
            let nearest = pa.iter().take(300).fold(f64::INFINITY, |m, p| {
                pb.iter().take(300).fold(m, |m, q| m.min((*p - *q).norm()))
            });
            assert!(nearest >= least.gap - 1e-6, "{a:?} {b:?}: {nearest} {}", least.gap);
        } else if least.gap < -1e-3 {
            inside += 1;
            // No direction of many leads out sooner.
            for _ in 0..60 {
                let d = random.vector(1.0);
                let d = d * d.norm().max(1e-6).recip();
                let low = pa.iter().fold(f64::INFINITY, |m, p| m.min(p.dot(d)));
                let high = pb.iter().fold(f64::NEG_INFINITY, |m, p| m.max(p.dot(d)));
                assert!(
                    low - high <= least.gap + 0.12,
                    "{a:?} {b:?}: {} {}",
                    low - high,
                    least.gap
                );
            }
        }
    }
    assert!(apart > 300 && inside > 200, "{apart} {inside}");
}

/// A box as the hull of its corners is where the box is.
#[test]
fn hulls_of_boxes_meet_as_boxes_do() {
    let mut random = Random(9);
    let as_hull = |half: Vec3| {
        let corners: Vec<Vec3> = (0..8)
            .map(|i| {
                let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                Vec3::new(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z)
            })
            .collect();
        ColliderShape::Hull(linkwork_scene::Hull::of(&corners).unwrap())
    };
    for _ in 0..300 {
        let size = |random: &mut Random| {
            Vec3::new(
                random.within(0.1, 0.4),
                random.within(0.1, 0.4),
                random.within(0.1, 0.4),
            )
        };
        let (ha, ball) = (size(&mut random), random.within(0.05, 0.2));
        let (at, bt) = (random.pose(0.5), random.pose(0.5));
        let ball = ColliderShape::Sphere { radius: ball };
        let least = |found: Vec<TouchPoint>| found.iter().fold(f64::INFINITY, |m, t| m.min(t.gap));
        let known = least(touch(&ball, &at, &ColliderShape::Cuboid { half: ha }, &bt, 10.0));
        let got = least(touch(&ball, &at, &as_hull(ha), &bt, 10.0));
        assert!((known - got).abs() < 1e-6, "{known} {got}");
    }
    // Flat on flat: four points, at the right depth.
    let (big, small) = (Vec3::new(0.5, 0.5, 0.1), Vec3::new(0.1, 0.2, 0.1));
    let above = Pose::from_translation([0.1, 0.0, 0.199]);
    for (a, b) in [
        (as_hull(small), as_hull(big)),
        (ColliderShape::Cuboid { half: small }, as_hull(big)),
        (as_hull(small), ColliderShape::Cuboid { half: big }),
    ] {
        let found = touch(&a, &above, &b, &Pose::IDENTITY, 0.01);
        assert_eq!(found.len(), 4, "{found:?}");
        for t in found {
            assert!((t.gap + 0.001).abs() < 1e-9 && t.normal.z > 0.999_999, "{t:?}");
            assert!(
                (t.point.x - 0.1).abs() - 0.1 < 1e-9 && (t.point.z - 0.0995).abs() < 1e-9,
                "{t:?}"
            );
        }
    }
    // A cylinder stands on a box on its rim, and lies on it along a line.
    let can = ColliderShape::Cylinder { radius: 0.1, half: 0.2 };
    let stand = touch(
        &can,
        &Pose::from_translation([0.0, 0.0, 0.3]),
        &ColliderShape::Cuboid { half: big },
        &Pose::IDENTITY,
        0.01,
    );
    assert!(stand.len() >= 6, "{stand:?}");
    let lying = Pose::new(
        Rotation::about(Vec3::new(0.0, 1.0, 0.0), core::f64::consts::FRAC_PI_2),
        [0.0, 0.0, 0.2],
    );
    let lies = touch(
        &can,
        &lying,
        &ColliderShape::Cuboid { half: big },
        &Pose::IDENTITY,
        0.01,
    );
    assert_eq!(lies.len(), 2, "{lies:?}");
    assert!(lies.iter().all(|t| t.gap.abs() < 1e-9));
}
