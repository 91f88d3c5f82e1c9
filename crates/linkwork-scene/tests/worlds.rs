//! Many worlds at once, what goes through what, and memory that is not asked for again.

use linkwork::contact::{Settings, Stepper, Surface};
use linkwork::model::{Joint, Link, Mechanism};
use linkwork::spatial::{Inertia, Pose, Vec3};
use linkwork_scene::{Collider, ColliderShape, Scene, Worlds};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting per thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const HALF: f64 = 0.1;

/// Boxes and balls in turns, all free, on the ground.
fn heap(count: usize) -> (Mechanism, Scene) {
    let mut builder = Mechanism::builder("heap");
    for i in 0..count {
        builder = builder
            .link(Link::new(format!("body{i}"), Inertia::cuboid(1.0, [2.0 * HALF; 3])))
            .joint(Joint::free(format!("free{i}")).between("world", format!("body{i}")));
    }
    let m = builder.build().unwrap();
    let mut all: Vec<Collider> = (0..count)
        .map(|i| {
            let shape = match i % 2 {
                0 => ColliderShape::Cuboid {
                    half: Vec3::new(HALF, HALF, HALF),
                },
                _ => ColliderShape::Sphere { radius: HALF },
            };
            Collider::on(m.frame(&format!("body{i}")).unwrap(), shape)
        })
        .collect();
    all.push(Collider::ground(Pose::IDENTITY, Surface::default()));
    let scene = Scene::new(&m, all).unwrap();
    (m, scene)
}

/// Bodies above each other, a little beside, at some heights.
fn start(m: &Mechanism, world: usize) -> Vec<f64> {
    let mut q = m.neutral();
    for (i, q) in q.chunks_mut(7).enumerate() {
        let beside = 0.03 * ((3 * i + world) as f64).sin();
        q[4..].copy_from_slice(&[beside, -0.5 * beside, HALF + 0.01 + 0.25 * i as f64]);
    }
    q
}

#[test]
fn a_world_has_the_same_bits_in_any_company_and_on_any_threads() {
    let (m, scene) = heap(4);
    let (count, steps, nq, nv) = (7, 150, m.nq(), m.nv());
    let q: Vec<f64> = (0..count).flat_map(|world| start(&m, world)).collect();
    let v = vec![0.0; nv * count];
    let torque: Vec<f64> = (0..nv * count * steps).map(|i| 0.01 * (i as f64).sin()).collect();
    let roll = |threads: usize, q: &[f64], v: &[f64], torque: &[f64]| {
        let mut worlds = Worlds::new(&scene, Settings::new(0.005), threads).unwrap();
        let (mut q_out, mut v_out) = (vec![0.0; q.len() * steps], vec![0.0; v.len() * steps]);
        let fared = worlds
            .rollout(q, v, Some(torque), steps, &mut q_out, &mut v_out)
            .unwrap();
        assert!(fared.iter().all(|f| f.crossed == 0 && f.deepest < 0.01), "{fared:?}");
        (q_out, v_out)
    };
    let (q_one, v_one) = roll(1, &q, &v, &torque);
    assert!(roll(3, &q, &v, &torque) == (q_one.clone(), v_one.clone()));
    for world in [0, 4] {
        let (alone, v_alone) = roll(
            1,
            &q[nq * world..nq * (world + 1)],
            &v[..nv],
            &torque[nv * steps * world..nv * steps * (world + 1)],
        );
        assert!(alone[..] == q_one[nq * steps * world..nq * steps * (world + 1)]);
        assert!(v_alone[..] == v_one[nv * steps * world..nv * steps * (world + 1)]);
    }
    // As steps one by one.
    let mut stepper = Stepper::new(&m, Settings::new(0.005)).unwrap();
    let (mut scene, mut q, mut v) = (scene.clone(), q[..nq].to_vec(), vec![0.0; nv]);
    for step in 0..steps {
        let contacts = scene.contacts(&q, &v, 0.005).unwrap();
        let torque = &torque[nv * step..nv * (step + 1)];
        stepper.step(&mut q, &mut v, torque, contacts).unwrap();
    }
    assert!(q[..] == q_one[nq * (steps - 1)..nq * steps]);
}

#[test]
fn a_world_that_fails_is_named_and_spoils_no_other() {
    let (m, scene) = heap(2);
    let mut worlds = Worlds::new(&scene, Settings::new(0.005), 2).unwrap();
    let (steps, nq, nv) = (5, m.nq(), m.nv());
    let mut q = [start(&m, 0), start(&m, 1), start(&m, 2)].concat();
    q[nq] = f64::NAN;
    let (mut q_out, mut v_out) = (vec![0.0; 3 * nq * steps], vec![0.0; 3 * nv * steps]);
    let told = worlds.rollout(&q, &vec![0.0; 3 * nv], None, steps, &mut q_out, &mut v_out);
    let told = told.unwrap_err().to_string();
    assert!(told.contains("world 1 of 3"), "{told}");
    assert!(q_out[nq * steps..2 * nq * steps].iter().all(|x| x.is_nan()));
    assert!(
        q_out[..nq * steps]
            .iter()
            .chain(&q_out[2 * nq * steps..])
            .all(|x| x.is_finite())
    );
    let told = worlds.rollout(&q[1..], &vec![0.0; 3 * nv], None, steps, &mut q_out, &mut v_out);
    assert!(told.unwrap_err().to_string().contains('q'));
}

#[test]
fn what_goes_through_something_in_one_step_is_told() {
    let (m, mut scene) = heap(2);
    let (mut q, v) = (start(&m, 0), vec![0.0; m.nv()]);
    scene.contacts(&q, &v, 0.005).unwrap();
    assert_eq!(scene.crossed(&q).unwrap(), None);
    // Through the ground.
    scene.contacts(&q, &v, 0.005).unwrap();
    let height = q[6];
    q[6] = -0.5;
    let (a, b) = scene.crossed(&q).unwrap().unwrap();
    assert!(scene.colliders()[a].name == "ground" || scene.colliders()[b].name == "ground");
    // Through each other.
    (q[4], q[6], q[11], q[13]) = (-0.5, height, 0.0, height);
    scene.contacts(&q, &v, 0.005).unwrap();
    q[4] = 0.5;
    assert_eq!(scene.crossed(&q).unwrap(), Some((0, 1)));
    // Past each other.
    (q[4], q[5]) = (-0.5, 0.4);
    scene.contacts(&q, &v, 0.005).unwrap();
    q[4] = 0.5;
    assert_eq!(scene.crossed(&q).unwrap(), None);
}

#[test]
fn steps_ask_for_no_memory_while_pairs_come_and_go() {
    let (m, mut scene) = heap(6);
    let mut stepper = Stepper::new(&m, Settings::new(0.005)).unwrap();
    let none = vec![0.0; m.nv()];
    let (mut counts, mut most) = (Vec::new(), 0);
    for run in 0..2 {
        let (mut q, mut v) = (start(&m, 0), vec![0.0; m.nv()]);
        stepper.forget();
        for _ in 0..200 {
            let before = ALLOCATIONS.get();
            let contacts = scene.contacts(&q, &v, 0.005).unwrap();
            let count = contacts.len();
            stepper.step(&mut q, &mut v, &none, contacts).unwrap();
            let asked = ALLOCATIONS.get() - before;
            if run == 0 {
                counts.push(count);
                most = most.max(count);
            } else {
                assert_eq!(asked, 0, "a step with {count} contacts");
            }
        }
    }
    counts.dedup();
    assert!(most > 8 && counts.len() > 3, "{counts:?}");
}
