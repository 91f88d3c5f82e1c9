//! Branches side by side: dynamics of legged machines, whose legs are computed in the lanes of one register.

mod support;

use core::ops::Range;
use linkwork::model::{Joint, JointKind, Link, examples};
use linkwork::spatial::{Force, Inertia, Vec3};
use linkwork::{Error, Mechanism, Reference};
use support::dense::Dense;
use support::random::{Random, random_state};
use support::scale::{forward_scale, inverse_scale};

/// A trunk of a few joints of any kind, and limbs of revolute joints on any of its links: of different lengths, with
/// fingers or without, with rotors at all joints, at none, or at some.
fn legged(seed: u64) -> Mechanism {
    with_limbs(seed, 2..10)
}

/// The same with so many limbs.
fn with_limbs(seed: u64, limbs: Range<usize>) -> Mechanism {
    let random = &mut Random::new(seed);
    let mut builder = Mechanism::builder(format!("legged{seed}")).gravity(random.vector(10.0));
    let rotors = random.chance(0.3);
    let mut links = 0;
    let mut add = |random: &mut Random, kind: JointKind, parent: Option<usize>, rotor: f64| {
        let k = links;
        let mut joint = Joint::new(format!("joint{k}"), kind)
            .between(
                parent.map_or("world".to_owned(), |p| format!("link{p}")),
                format!("link{k}"),
            )
            .placed(random.pose());
        joint.armature = vec![rotor; kind.nv()];
        let taken = core::mem::replace(&mut builder, Mechanism::builder(""));
        builder = taken.link(Link::new(format!("link{k}"), random.inertia())).joint(joint);
        links += 1;
        k
    };
    let base = [JointKind::Free, JointKind::Spherical, JointKind::Planar][random.below(3)];
    let mut trunk = vec![add(random, base, None, 0.0)];
    for _ in 0..random.below(4) {
        let axis = random.direction();
        let kind = if random.chance(0.8) {
            JointKind::Revolute { axis }
        } else {
            JointKind::Prismatic { axis }
        };
        trunk.push(add(random, kind, trunk.last().copied(), 0.0));
    }
    for _ in 0..limbs.start + random.below(limbs.len()) {
        let mut at = trunk[random.below(trunk.len())];
        for _ in 0..1 + random.below(6) {
            let axis = [Vec3::new(0.0, 0.0, 1.0), Vec3::new(1.0, 0.0, 0.0), random.direction()][random.below(3)];
            let rotor = if rotors || random.chance(0.03) {
                random.within(0.1, 0.5)
            } else {
                0.0
            };
            at = add(random, JointKind::Revolute { axis }, Some(at), rotor);
        }
        for _ in 0..random.below(5) {
            let axis = random.direction();
            let rotor = if rotors { 0.1 } else { 0.0 };
            let finger = add(random, JointKind::Revolute { axis }, Some(at), rotor);
            for _ in 0..random.below(3) {
                add(random, JointKind::Revolute { axis }, Some(finger), rotor);
            }
        }
    }
    builder.build().unwrap_or_else(|e| panic!("{seed}: {e}"))
}

/// Joints of one degree of freedom in one or two arms, some with fingers, now and then in another order than that of a sweep.
fn arm(seed: u64) -> Mechanism {
    let random = &mut Random::new(seed);
    let mut builder = Mechanism::builder(format!("arm{seed}")).gravity(random.vector(10.0));
    let (count, is_shuffled) = (2 + random.below(14), random.chance(0.2));
    let mut parts = Vec::new();
    for k in 0..count {
        let parent = match k {
            0 => None,
            _ if random.chance(0.8) => Some(k - 1),
            _ if random.chance(0.2) => None,
            _ => Some(random.below(k)),
        };
        let axis = [Vec3::new(0.0, 0.0, 1.0), Vec3::new(1.0, 0.0, 0.0), random.direction()][random.below(3)];
        let kind = match random.below(6) {
            0 => JointKind::Prismatic { axis },
            1 => JointKind::Helical { axis, pitch: 0.1 },
            _ => JointKind::Revolute { axis },
        };
        let mut joint = Joint::new(format!("joint{k}"), kind)
            .between(
                parent.map_or("world".to_owned(), |p| format!("link{p}")),
                format!("link{k}"),
            )
            .placed(random.pose());
        joint.armature = vec![if random.chance(0.1) { 0.2 } else { 0.0 }];
        parts.push((Link::new(format!("link{k}"), random.inertia()), joint));
    }
    if is_shuffled {
        parts.reverse();
    }
    for (link, joint) in parts {
        builder = builder.link(link).joint(joint);
    }
    builder.build().unwrap_or_else(|e| panic!("{seed}: {e}"))
}

#[test]
fn the_same_accelerations_as_dense_algebra_gives() {
    for seed in 0..150 {
        let mechanism = legged(seed);
        let state = random_state(&mechanism, seed);
        let dense = Dense::new(&mechanism, &state.q, &state.qd);
        let expected = dense.forward_dynamics(&state.tau, None);
        let mut qdd = vec![0.0; mechanism.nv()];
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        let mut moving = posed.moving(&state.qd).unwrap();
        moving.forward_dynamics(&state.tau, &mut qdd).unwrap();
        let scale = forward_scale(&dense, &state.tau);
        for (x, y) in qdd.iter().zip(&expected) {
            assert!((x - y).abs() < 1e-13 * mechanism.nv() as f64 * scale, "{seed}: {x} {y}");
        }
    }
}

#[test]
fn the_bits_of_a_whole_tree() {
    // Several states at once are swept link by link, each state in a lane.
    let some = (0..150).map(legged).chain((0..150).map(arm));
    // Hundreds of links.
    let some = some.chain((0..4).map(|seed| with_limbs(seed, 60..100)));
    for mechanism in some.chain([examples::quadruped(), examples::humanoid(), examples::dual_arm()]) {
        let name = mechanism.name().to_owned();
        let (count, n) = (5, mechanism.nv());
        let states: Vec<_> = (0..count).map(|seed| random_state(&mechanism, seed)).collect();
        let all = |of: fn(&support::random::State) -> &Vec<f64>| -> Vec<f64> {
            states.iter().flat_map(of).copied().collect()
        };
        let [mut forward, mut inverse] = [0; 2].map(|_| vec![0.0; count as usize * n]);
        let (mut batch, q, qd) = (mechanism.batch(), all(|s| &s.q), all(|s| &s.qd));
        batch.forward_dynamics(&q, &qd, &all(|s| &s.tau), &mut forward).unwrap();
        batch.inverse_dynamics(&q, &qd, &all(|s| &s.qdd), &mut inverse).unwrap();
        let mut masses = vec![f64::NAN; count as usize * n * n];
        batch.mass_matrix(&q, &mut masses).unwrap();
        let mut workspace = mechanism.workspace();
        for (i, state) in states.iter().enumerate() {
            let mut alone = vec![0.0; n];
            let mut posed = workspace.at(&state.q).unwrap();
            // Zeros too are written.
            let mut mass = vec![f64::NAN; n * n];
            posed.mass_matrix(&mut mass).unwrap();
            assert_eq!(mass, &masses[i * n * n..][..n * n], "the mass matrix of {name}");
            let mut moving = posed.moving(&state.qd).unwrap();
            moving.forward_dynamics(&state.tau, &mut alone).unwrap();
            assert_eq!(alone, &forward[i * n..][..n], "forward dynamics of {name}");
            moving.inverse_dynamics(&state.qdd, &mut alone).unwrap();
            assert_eq!(alone, &inverse[i * n..][..n], "inverse dynamics of {name}");
        }
    }
}

#[test]
fn forces_on_branches_count() {
    for seed in 0..60 {
        let mechanism = legged(seed);
        let state = random_state(&mechanism, seed);
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        let random = &mut Random::new(seed);
        for i in 0..mechanism.links().len() {
            let frame = mechanism.link(&format!("link{i}")).unwrap();
            let force = Force::new(random.vector(3.0), random.vector(3.0));
            posed.apply_force(frame, Reference::Local, force).unwrap();
        }
        let mut moving = posed.moving(&state.qd).unwrap();
        let (mut fast, mut other) = (vec![0.0; mechanism.nv()], vec![0.0; mechanism.nv()]);
        moving.forward_dynamics(&state.tau, &mut fast).unwrap();
        // The forces' share of T, with and without the forces across the joints; then q̈ by an algorithm that knows no branches.
        let (mut torques, mut again) = (other.clone(), other.clone());
        moving.inverse_dynamics(&fast, &mut torques).unwrap();
        moving.with_accelerations(&fast, &mut again).unwrap();
        moving.forward_dynamics_bias_free(&state.tau, &mut other).unwrap();
        let dense = Dense::new(&mechanism, &state.q, &state.qd);
        let scale = forward_scale(&dense, &state.tau);
        for (x, y) in fast.iter().zip(&other) {
            assert!((x - y).abs() < 1e-13 * mechanism.nv() as f64 * scale, "{seed}: {x} {y}");
        }
        // Pushes of a few newtons, at a few metres, on every link.
        let scale = inverse_scale(&dense, &fast) + 20.0 * mechanism.links().len() as f64;
        for (x, y) in torques.iter().zip(&again) {
            assert!((x - y).abs() < 1e-14 * mechanism.nv() as f64 * scale, "{seed}: {x} {y}");
        }
    }
}

#[test]
fn stages_that_were_there_stay_right() {
    let mechanism = examples::quadruped();
    let state = random_state(&mechanism, 1);
    let n = mechanism.nv();
    let tip = mechanism.frames().last().map(|f| f.name.clone()).unwrap();
    let tip = mechanism.frame(&tip).unwrap();
    let mut answers = Vec::new();
    for forward_first in [true, false] {
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        let mut moving = posed.moving(&state.qd).unwrap();
        let mut qdd = vec![0.0; n];
        if forward_first {
            moving.forward_dynamics(&state.tau, &mut qdd).unwrap();
        }
        let (mut bias, mut inverse) = (vec![0.0; n], vec![0.0; n * n]);
        moving.bias(&mut bias).unwrap();
        moving.mass_matrix_inverse(&mut inverse).unwrap();
        let driven = moving.with_torques(&state.tau, &mut qdd).unwrap();
        let acceleration = driven.acceleration(tip, Reference::Aligned).unwrap();
        moving.forward_dynamics(&state.tau, &mut qdd).unwrap();
        answers.push((bias, inverse, acceleration, qdd));
    }
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn a_joint_that_nothing_resists_is_named() {
    // All the mass of one leg comes to lie on the axis of its hip.
    let mut builder = Mechanism::builder("light")
        .link(Link::new("base", Inertia::sphere(10.0, 0.3)))
        .joint(Joint::new("floating", JointKind::Free).between("world", "base"));
    for leg in 0..4 {
        let (thigh, shin) = (format!("thigh{leg}"), format!("shin{leg}"));
        let aside = if leg == 2 { 0.0 } else { 0.1 };
        let [x, z] = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
        builder = builder
            .link(Link::new(&thigh, Inertia::ZERO))
            .link(Link::new(&shin, Inertia::point(1.0, [0.0, aside, -0.4])))
            .joint(Joint::new(format!("hip{leg}"), JointKind::Revolute { axis: z }).between("base", &thigh))
            .joint(Joint::new(format!("knee{leg}"), JointKind::Revolute { axis: x }).between(&thigh, &shin));
    }
    let mechanism = builder.build().unwrap();
    let n = mechanism.nv();
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(&mechanism.neutral()).unwrap();
    let mut moving = posed.moving(&vec![0.0; n]).unwrap();
    let (tau, mut qdd) = (vec![1.0; n], vec![0.0; n]);
    match moving.forward_dynamics(&tau, &mut qdd) {
        Err(Error::Singular { joint, .. }) => assert_eq!(joint, "hip2"),
        other => panic!("{other:?}"),
    }
    match moving.linearized_under(&tau, &mut qdd).map(drop) {
        Err(Error::Singular { joint, .. }) => assert_eq!(joint, "hip2"),
        other => panic!("{other:?}"),
    }
    let (mut derivatives, mut inverse) = (mechanism.derivatives(), vec![0.0; n * n]);
    let mut linearized = moving.linearized(&tau).unwrap();
    match linearized.forward_derivatives(&mut derivatives) {
        Err(Error::Singular { joint, .. }) => assert_eq!(joint, "hip2"),
        other => panic!("{other:?}"),
    }
    let mut posed = workspace.at(&mechanism.neutral()).unwrap();
    match posed.mass_matrix_inverse(&mut inverse) {
        Err(Error::Singular { joint, .. }) => assert_eq!(joint, "hip2"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn matrices_made_of_tiles_have_the_bits_of_one_column_at_a_time() {
    for seed in 0..60 {
        let mechanism = legged(seed);
        let (count, n) = (3, mechanism.nv());
        let states: Vec<_> = (0..count).map(|seed| random_state(&mechanism, seed)).collect();
        let all = |of: fn(&support::random::State) -> &Vec<f64>| -> Vec<f64> {
            states.iter().flat_map(of).copied().collect()
        };
        let (mut batch, q, qd, tau) = (mechanism.batch(), all(|s| &s.q), all(|s| &s.qd), all(|s| &s.tau));
        let (mut inverses, mut by_motion) = (vec![0.0; 3 * n * n], vec![0.0; 9 * n * n]);
        batch.mass_matrix_inverse(&q, &mut inverses).unwrap();
        batch.forward_derivatives(&q, &qd, &tau, &mut by_motion).unwrap();
        let (mut workspace, mut d) = (mechanism.workspace(), mechanism.derivatives());
        for (i, state) in states.iter().enumerate() {
            let [mut mass, mut inverse, mut again] = [0; 3].map(|_| vec![0.0; n * n]);
            let mut posed = workspace.at(&state.q).unwrap();
            posed.mass_matrix_inverse(&mut inverse).unwrap();
            posed.mass_matrix(&mut mass).unwrap();
            let mut moving = posed.moving(&state.qd).unwrap();
            let mut linearized = moving.linearized_under(&state.tau, &mut vec![0.0; n]).unwrap();
            linearized.forward_derivatives(&mut d).unwrap();
            // Once more, after the factor is known.
            moving.mass_matrix_inverse(&mut again).unwrap();
            assert_eq!(inverse, again, "{seed}");
            assert_eq!(inverse, &inverses[i * n * n..][..n * n], "{seed}");
            let parts = [d.by_q(), d.by_qd(), d.by_input()].concat();
            assert_eq!(parts, &by_motion[3 * i * n * n..][..3 * n * n], "{seed}");
            for (row, found) in [&inverse[..], d.by_input()]
                .into_iter()
                .flat_map(|x| x.chunks(n).enumerate())
            {
                for column in 0..n {
                    let terms = (0..n).map(|k| found[k] * mass[k * n + column]);
                    let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + f64::abs(x)));
                    let unit = if row == column { 1.0 } else { 0.0 };
                    assert!((sum - unit).abs() < 1e-11 * size, "{seed}: {row}, {column}: {sum}");
                }
            }
        }
    }
}
