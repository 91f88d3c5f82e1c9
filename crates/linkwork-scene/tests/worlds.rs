//! Many worlds at once, what goes through what, and memory that is not asked for again.

use linkwork::contact::{Settings, SideBySide, Stepper, Surface};
use linkwork::model::{Joint, Link, Mechanism};
use linkwork::spatial::{Inertia, Pose, Vec3};
use linkwork_formats::{Format, Options, read};
use linkwork_scene::{ClosedForm, Collider, ColliderShape, Scene, Worlds, colliders};
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

/// The quadruped of the race, which falls from different heights, slides, turns over and is driven.
fn quadrupeds(count: usize) -> (Scene, Vec<f64>, Vec<f64>) {
    let text = include_str!("../examples/contact_race/quadruped.xml");
    let robot = read("quadruped", text.as_bytes(), Format::Mjcf, &Options::default()).unwrap();
    let (all, ..) = colliders(&robot).unwrap();
    let m = &robot.mechanism;
    let scene = Scene::with(m, all, &robot.untouching, Box::new(ClosedForm)).unwrap();
    let start = robot.keyframes.first().map_or_else(|| m.neutral(), |key| key.q.clone());
    let (mut q, mut v) = (start.repeat(count), vec![0.0; m.nv() * count]);
    for (i, (q, v)) in q.chunks_mut(m.nq()).zip(v.chunks_mut(m.nv())).enumerate() {
        let wave = |k: usize| ((7 * i + k) as f64).sin();
        q[6] += 0.05 * wave(0).abs() - 0.02;
        v[..6].copy_from_slice(&[
            3.0 * wave(1),
            2.0 * wave(2),
            wave(3),
            2.0 * wave(4),
            wave(5),
            -wave(6).abs(),
        ]);
        if i % 5 == 3 {
            // Upside down, so that the trunk lands on its corners.
            q[..4].copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
        }
    }
    (scene, q, v)
}

#[test]
fn worlds_side_by_side_have_the_bits_of_single_steps() {
    let (count, steps) = (21, 120);
    let (scene, q, v) = quadrupeds(count);
    let (m, settings) = (scene.mechanism().clone(), Settings::new(0.002));
    let (nq, nv) = (m.nq(), m.nv());
    let torque: Vec<f64> = (0..nv * count * steps)
        .map(|i| {
            if i % nv < 6 {
                0.0
            } else {
                20.0 * (0.013 * i as f64).sin()
            }
        })
        .collect();
    let roll = |threads: usize, worlds: core::ops::Range<usize>| {
        let part = |x: &[f64], each: usize| x[each * worlds.start..each * worlds.end].to_vec();
        let (q, v, torque) = (part(&q, nq), part(&v, nv), part(&torque, nv * steps));
        let (mut q_out, mut v_out) = (vec![0.0; q.len() * steps], vec![0.0; v.len() * steps]);
        let mut all = Worlds::new(&scene, settings, threads).unwrap();
        let fared = all
            .rollout(&q, &v, Some(&torque), steps, &mut q_out, &mut v_out)
            .unwrap();
        (q_out, v_out, fared)
    };
    let (q_all, v_all, fared) = roll(1, 0..count);
    assert!(roll(2, 0..count) == (q_all.clone(), v_all.clone(), fared.clone()));
    for part in [3..4, 5..14] {
        let (q, v, some) = roll(1, part.clone());
        assert!(
            q[..] == q_all[nq * steps * part.start..nq * steps * part.end],
            "{part:?}"
        );
        assert!(
            v[..] == v_all[nv * steps * part.start..nv * steps * part.end],
            "{part:?}"
        );
        assert!(some[..] == fared[part]);
    }
    let (mut touched, mut most) = (0, 0);
    for world in 0..count {
        let mut stepper = Stepper::new(&m, settings).unwrap();
        let (mut q, mut v) = (q[nq * world..][..nq].to_vec(), v[nv * world..][..nv].to_vec());
        let (mut scene, mut iterations, mut deepest) = (scene.clone(), 0, 0.0);
        for step in 0..steps {
            let at = world * steps + step;
            let report = scene
                .step(&mut stepper, &mut q, &mut v, &torque[nv * at..][..nv])
                .unwrap();
            assert!(
                q[..] == q_all[nq * at..][..nq] && v[..] == v_all[nv * at..][..nv],
                "{world}, {step}"
            );
            iterations += report.iterations;
            deepest = report.residuals.penetration.max(deepest);
            touched += usize::from(report.contacts.iter().any(|c| c.along > 0.0));
            most = most.max(report.iterations);
        }
        assert_eq!((iterations, deepest), (fared[world].iterations, fared[world].deepest));
    }
    // They did different things.
    assert!(touched > count * steps / 4 && most > 5, "{touched} {most}");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        let stepper = Stepper::new(&m, settings).unwrap();
        assert!(SideBySide::new(&stepper, &[]).is_some_and(|group| group.worlds() >= 4));
    }
}

#[test]
fn a_world_that_fails_beside_others_spoils_none() {
    let (count, steps) = (9, 10);
    let (scene, mut q, v) = quadrupeds(count);
    let (nq, nv) = (scene.mechanism().nq(), scene.mechanism().nv());
    let mut worlds = Worlds::new(&scene, Settings::new(0.002), 1).unwrap();
    let (mut q_out, mut v_out) = (vec![0.0; nq * count * steps], vec![0.0; nv * count * steps]);
    worlds.rollout(&q, &v, None, steps, &mut q_out, &mut v_out).unwrap();
    let good = q_out.clone();
    q[2 * nq + 6] = f64::NAN;
    let mut torque = vec![0.0; nv * count * steps];
    torque[nv * (steps * 4 + 3) + 7] = f64::INFINITY;
    let told = worlds.rollout(&q, &v, Some(&torque), steps, &mut q_out, &mut v_out);
    let told = told.unwrap_err().to_string();
    assert!(told.contains("world 2 of 9"), "{told}");
    for (world, (found, good)) in q_out.chunks(nq * steps).zip(good.chunks(nq * steps)).enumerate() {
        let sound = match world {
            2 => 0,
            4 => 3,
            _ => steps,
        };
        assert!(found[..nq * sound] == good[..nq * sound], "world {world}");
        assert!(found[nq * sound..].iter().all(|x| x.is_nan()), "world {world}");
    }
}
