//! Height fields: what stands, rolls and slides on them.

use linkwork::contact::{Settings, Stepper, Surface};
use linkwork::model::{FrameId, Joint, Link, Mechanism};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use linkwork_scene::{ClosedForm, Collider, ColliderShape, HeightField, LeftOut, Narrow, Scene};

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64
}

/// Ground of 9 × 7 points over 4 × 3 m, with hills of some height.
fn hills(seed: &mut u64, high: f64) -> HeightField {
    let heights = (0..63).map(|_| high * random(seed)).collect();
    HeightField::new(7, 9, [2.0, 1.5], heights, 0.5).unwrap()
}

fn body(inertia: Inertia) -> Mechanism {
    Mechanism::builder("body")
        .link(Link::new("body", inertia))
        .joint(Joint::free("free").between("world", "body"))
        .build()
        .unwrap()
}

/// A body with a shape, on ground; where it is after some time, and the deepest that it went in.
fn run(m: &Mechanism, shape: ColliderShape, ground: ColliderShape, q: &mut [f64], v: &mut [f64], seconds: f64) -> f64 {
    let mut base = Collider::on(FrameId::WORLD, ground);
    base.matter.surface = Surface::with_friction(0.5);
    let mut own = Collider::on(m.frame("body").unwrap(), shape);
    own.matter.surface = Surface::with_friction(0.5);
    let mut scene = Scene::new(m, vec![own, base]).unwrap();
    let dt = 2e-3;
    let mut stepper = Stepper::new(m, Settings::new(dt)).unwrap();
    let mut deepest: f64 = 0.0;
    for _ in 0..(seconds / dt) as usize {
        let contacts = scene.contacts(q, v, dt).unwrap().to_vec();
        let report = stepper.step(q, v, &[0.0; 6], &contacts).unwrap();
        deepest = deepest.max(report.residuals.penetration);
    }
    deepest
}

/// The distance of a point from a triangle, by many of its points.
fn sampled(p: Vec3, t: [Vec3; 3]) -> f64 {
    let mut least = f64::INFINITY;
    for i in 0..=60 {
        for j in 0..=60 - i {
            let (x, y) = (f64::from(i) / 60.0, f64::from(j) / 60.0);
            let on = t[0] * (1.0 - x - y) + t[1] * x + t[2] * y;
            least = least.min((p - on).norm());
        }
    }
    least
}

#[test]
fn a_ball_is_as_far_from_the_ground_as_from_its_nearest_triangle() {
    let mut seed = 3;
    let mut found = 0;
    for _ in 0..60 {
        let (rows, columns) = (4, 5);
        let heights: Vec<f64> = (0..rows * columns).map(|_| 0.6 * random(&mut seed)).collect();
        let half = [1.0, 0.8];
        let field = HeightField::new(rows, columns, half, heights.clone(), 0.3).unwrap();
        let place = |r: usize, c: usize| {
            Vec3::new(
                half[0] * (2.0 * c as f64 / (columns - 1) as f64 - 1.0),
                half[1] * (2.0 * r as f64 / (rows - 1) as f64 - 1.0),
                heights[r * columns + c],
            )
        };
        let (x, y) = (
            0.8 * (2.0 * random(&mut seed) - 1.0),
            0.6 * (2.0 * random(&mut seed) - 1.0),
        );
        let centre = Vec3::new(x, y, field.height(x, y).unwrap() + 0.05 + 0.3 * random(&mut seed));
        let mut least = f64::INFINITY;
        for r in 0..rows - 1 {
            for c in 0..columns - 1 {
                let [p, a, b, q] = [place(r, c), place(r, c + 1), place(r + 1, c), place(r + 1, c + 1)];
                least = least.min(sampled(centre, [p, a, b])).min(sampled(centre, [a, q, b]));
            }
        }
        let mut touches = Vec::new();
        let turn = Pose::new(Rotation::about(Vec3::new(0.0, 0.6, 0.8), 0.7), Vec3::new(1.0, 2.0, 3.0));
        let (ball, ground) = (ColliderShape::Sphere { radius: 0.1 }, ColliderShape::HeightField(field));
        let at = turn * Pose::from_translation(centre);
        assert!(ClosedForm.touch(&ball, &at, &ground, &turn, 1.0, &mut touches));
        let gap = touches.iter().fold(f64::INFINITY, |m, t| m.min(t.gap));
        // Samples are a little further away than the nearest point.
        assert!((gap + 0.1 - least).abs() < 0.01, "{gap} {least}");
        found += 1;
        for t in &touches {
            assert!(((at.translation - t.point).norm() - 0.1 - 0.5 * t.gap).abs() < 1e-9);
        }
    }
    assert_eq!(found, 60);
}

#[test]
fn a_block_slides_on_a_flat_field_as_on_a_plane() {
    let half = Vec3::new(0.1, 0.1, 0.1);
    let m = body(Inertia::cuboid(1.0, half * 2.0));
    // Not along the grid, over some forty cells.
    let flat = HeightField::new(41, 41, [2.0, 2.0], vec![0.0; 1681], 0.2).unwrap();
    let mut ends = Vec::new();
    for ground in [ColliderShape::Plane, ColliderShape::HeightField(flat)] {
        let (mut q, mut v) = (m.neutral(), vec![0.0; 6]);
        (q[4], q[5], q[6]) = (-0.513, -0.317, 0.1);
        (v[3], v[4]) = (1.8, 0.7);
        let deepest = run(&m, ColliderShape::Cuboid { half }, ground, &mut q, &mut v, 1.0);
        assert!(deepest < 1e-4, "{deepest:e}");
        assert!(v.iter().all(|v| v.abs() < 1e-4), "{v:?}");
        ends.push(Vec3::new(q[4], q[5], q[6]));
    }
    // v²/(2μg), as on the plane.
    let far = (ends[0] - Vec3::new(-0.513, -0.317, 0.1)).norm();
    assert!(
        (far - (1.8 * 1.8 + 0.7 * 0.7) / (2.0 * 0.5 * 9.81)).abs() < 5e-3,
        "{far}"
    );
    assert!((ends[1] - ends[0]).norm() < 2e-3, "{ends:?}");
}

#[test]
fn all_shapes_come_to_rest_on_hills() {
    let mut seed = 11;
    let shapes = [
        (ColliderShape::Sphere { radius: 0.15 }, Inertia::sphere(1.0, 0.15)),
        (
            ColliderShape::Capsule {
                radius: 0.1,
                half: 0.15,
            },
            Inertia::cylinder(1.0, 0.1, 0.4),
        ),
        (
            ColliderShape::Cuboid {
                half: Vec3::new(0.2, 0.15, 0.1),
            },
            Inertia::cuboid(1.0, [0.4, 0.3, 0.2]),
        ),
        (
            ColliderShape::Cylinder {
                radius: 0.15,
                half: 0.1,
            },
            Inertia::cylinder(1.0, 0.15, 0.2),
        ),
        (
            ColliderShape::Ellipsoid {
                radii: Vec3::new(0.2, 0.15, 0.1),
            },
            Inertia::sphere(1.0, 0.15),
        ),
    ];
    for (shape, inertia) in shapes {
        let m = body(inertia);
        let field = hills(&mut seed, 0.4);
        let (mut q, mut v) = (m.neutral(), vec![0.0; 6]);
        q[6] = field.height(0.0, 0.0).unwrap() + 0.5;
        let deepest = run(
            &m,
            shape.clone(),
            ColliderShape::HeightField(field.clone()),
            &mut q,
            &mut v,
            3.0,
        );
        assert!(deepest < 0.01, "{}: {deepest:e}", shape.name());
        // It is still above ground, unless it rolled off the edge.
        if let Some(z) = field.height(q[4], q[5]) {
            assert!(q[6] > z, "{}: {} {z}", shape.name(), q[6]);
        }
    }
}

#[test]
fn what_is_no_field_and_what_cannot_touch_it_is_said() {
    let bad = |rows, columns, half, count: usize, base| {
        HeightField::new(rows, columns, half, vec![0.0; count], base).unwrap_err()
    };
    assert!(bad(1, 3, [1.0; 2], 3, 0.1).contains("1 × 3"));
    assert!(bad(3, 3, [1.0; 2], 8, 0.1).contains("8 heights"));
    assert!(bad(2, 2, [0.0, 1.0], 4, 0.1).contains("above zero"));
    assert!(bad(2, 2, [1.0; 2], 4, 0.0).contains("above zero"));
    assert!(
        HeightField::new(2, 2, [1.0; 2], vec![f64::NAN; 4], 1.0)
            .unwrap_err()
            .contains("NaN")
    );
    let m = body(Inertia::sphere(1.0, 0.1));
    let field = ColliderShape::HeightField(HeightField::new(2, 2, [1.0; 2], vec![0.0; 4], 1.0).unwrap());
    let scene = Scene::new(
        &m,
        vec![
            Collider::on(m.frame("body").unwrap(), field),
            Collider::ground(Pose::IDENTITY, Surface::default()),
        ],
    );
    assert_eq!(scene.unwrap().left_out(), &[(0, 1, LeftOut::Unknown)]);
}
