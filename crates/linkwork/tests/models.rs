//! Many models of one tree in one batch: every result is that of the model by itself.

mod support;

use linkwork::batch::{Models, Rollout, RolloutMethod, Variation};
use linkwork::model::{Coupling, Joint, Link, Mechanism, examples};
use linkwork::spatial::{Pose, Vec3};
use linkwork::{Error, Result};
use support::random::{Random, random_tree};

/// The same tree with other masses, lengths, rotors, damping and gravity.
fn varied(base: &Mechanism, random: &mut Random) -> Result<Mechanism> {
    let mut builder = Mechanism::builder(base.name())
        .gravity(random.vector(10.0))
        .any_positive_inertia();
    for link in base.links() {
        let inertia = if link.inertia.mass > 0.0 {
            random.inertia()
        } else {
            link.inertia
        };
        builder = builder.link(Link::new(&link.name, inertia));
    }
    for joint in base.joints() {
        let mut joint: Joint = joint.clone();
        let moved = joint.origin.translation + random.vector(0.1);
        joint.origin = Pose::new(joint.origin.rotation, moved);
        // What only its rotor resists keeps one.
        let has_rotor = joint.armature.iter().any(|&x| x > 0.0) || random.chance(0.5);
        let armature = if has_rotor { random.within(0.05, 0.2) } else { 0.0 };
        builder = builder.joint(joint.armature(armature).damping(random.within(0.0, 0.5)));
    }
    builder.build()
}

/// Some models of a tree, and a state of each.
fn fleet(base: &Mechanism, count: usize, seed: u64) -> (Vec<Mechanism>, [Vec<f64>; 4]) {
    let mut random = Random::new(seed);
    let mut models = vec![base.clone()];
    // What nothing resists is no model.
    for _ in 0..20 * count {
        models.extend(varied(base, &mut random));
    }
    models.truncate(count);
    let q = models
        .iter()
        .enumerate()
        .flat_map(|(i, m)| m.random(i as u64))
        .collect();
    let vectors = [(); 3].map(|()| random.numbers(count * base.nv(), 1.0));
    let [a, b, c] = vectors;
    (models, [q, a, b, c])
}

fn models_of(base: &Mechanism, each: &[Mechanism]) -> Models {
    let mut models = Models::new(base).unwrap().with_threads(2);
    each.iter().for_each(|model| models.push(model).unwrap());
    models
}

fn close(got: &[f64], expect: &[f64], scale: f64, what: &str) {
    for (i, (got, expect)) in got.iter().zip(expect).enumerate() {
        assert!(
            (got - expect).abs() <= scale,
            "{what} {i}: {got} {expect}, scale {scale}"
        );
    }
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(1.0, |most: f64, x| most.max(x.abs()))
}

#[test]
fn every_model_has_its_own_dynamics() {
    let mut trees = 0;
    for seed in 0..40 {
        let base = random_tree(seed, 9);
        let (nq, n, count) = (base.nq(), base.nv(), 19);
        if n == 0 {
            continue;
        }
        let (each, [q, qd, qdd, tau]) = fleet(&base, count, seed);
        if each.len() < count {
            continue;
        }
        trees += 1;
        let mut models = models_of(&base, &each);
        let [mut torques, mut bias, mut hold, mut free] = [(); 4].map(|()| vec![0.0; count * n]);
        let mut mass = vec![0.0; count * n * n];
        models.inverse_dynamics(&q, &qd, &qdd, &mut torques).unwrap();
        models.bias(&q, &qd, &mut bias).unwrap();
        models.gravity_torque(&q, &mut hold).unwrap();
        models.mass_matrix(&q, &mut mass).unwrap();
        models.forward_dynamics(&q, &qd, &tau, &mut free).unwrap();
        for (i, model) in each.iter().enumerate() {
            let part = |x: &[f64], size: usize| x[i * size..(i + 1) * size].to_vec();
            let (mut expect, mut all) = (vec![0.0; n], vec![0.0; n * n]);
            let mut workspace = model.workspace();
            let q = part(&q, nq);
            workspace.at(&q).unwrap().mass_matrix(&mut all).unwrap();
            let scale = 1e-12 * n as f64 * size(&all);
            close(&part(&mass, n * n), &all, scale, "𝓜");
            workspace.at(&q).unwrap().gravity_torque(&mut expect).unwrap();
            close(&part(&hold, n), &expect, 10.0 * scale, "gravity");
            let mut posed = workspace.at(&q).unwrap();
            let mut moving = posed.moving(&part(&qd, n)).unwrap();
            moving.bias(&mut expect).unwrap();
            close(&part(&bias, n), &expect, 10.0 * scale, "bias");
            moving.inverse_dynamics(&part(&qdd, n), &mut expect).unwrap();
            close(&part(&torques, n), &expect, 10.0 * scale, "T");
            // What forward dynamics gives needs the torques it was given.
            let free = part(&free, n);
            moving.inverse_dynamics(&free, &mut expect).unwrap();
            close(&part(&tau, n), &expect, 100.0 * scale * size(&free), "T(q̈)");
        }
    }
    assert!(trees > 20, "{trees}");
}

#[test]
fn models_are_rolled_with_their_own_damping() {
    let base = examples::quadruped();
    let (nq, n, count, steps) = (base.nq(), base.nv(), 11, 8);
    let (mut each, [q, qd, _, tau]) = fleet(&base, count, 3);
    each.truncate(count);
    let mut models = models_of(&base, &each);
    let tau: Vec<f64> = (0..steps).flat_map(|_| tau.clone()).collect();
    let dt = 1e-3;
    for method in [RolloutMethod::SemiImplicitEuler, RolloutMethod::RungeKutta4] {
        let rollout = Rollout { method, dt, steps };
        let (mut q_out, mut qd_out) = (vec![0.0; count * steps * nq], vec![0.0; count * steps * n]);
        models
            .rollout(rollout, &q, &qd, Some(&tau), &mut q_out, &mut qd_out)
            .unwrap();
        for (i, model) in each.iter().enumerate() {
            let mut workspace = model.workspace();
            let (mut at, mut v) = (q[i * nq..(i + 1) * nq].to_vec(), qd[i * n..(i + 1) * n].to_vec());
            let mut rates = |q: &[f64], v: &[f64], tau: &[f64]| {
                let mut passive = vec![0.0; n];
                let mut posed = workspace.at(q).unwrap();
                let mut moving = posed.moving(v).unwrap();
                moving.passive_torque(&mut passive).unwrap();
                passive.iter_mut().zip(tau).for_each(|(x, tau)| *x += tau);
                let mut qdd = vec![0.0; n];
                moving.forward_dynamics(&passive, &mut qdd).unwrap();
                qdd
            };
            for step in 0..steps {
                let tau = &tau[(i * steps + step) * n..][..n];
                if method == RolloutMethod::SemiImplicitEuler {
                    let qdd = rates(&at, &v, tau);
                    v.iter_mut().zip(qdd).for_each(|(v, a)| *v += dt * a);
                    let u: Vec<f64> = v.iter().map(|v| dt * v).collect();
                    let before = at.clone();
                    model.integrate(&before, &u, &mut at).unwrap();
                    let [q_got, v_got] = [
                        &q_out[(i * steps + step) * nq..][..nq],
                        &qd_out[(i * steps + step) * n..][..n],
                    ];
                    close(q_got, &at, 1e-11 * size(&at), "q");
                    close(v_got, &v, 1e-9 * size(&v), "v");
                }
            }
            assert!(q_out.iter().chain(&qd_out).all(|x| x.is_finite()));
        }
    }
    // Without damping, a model rolls as in a batch of its own.
    let plain: Vec<Mechanism> = [-9.0, -3.0, 0.0]
        .map(|g| base.with_gravity([0.0, 0.0, g]).unwrap())
        .into();
    let mut models = models_of(&base, &plain);
    let rollout = Rollout {
        method: RolloutMethod::RungeKutta4,
        dt,
        steps,
    };
    let (mut q_out, mut qd_out) = (vec![0.0; 3 * steps * nq], vec![0.0; 3 * steps * n]);
    models
        .rollout(rollout, &q[..3 * nq], &qd[..3 * n], None, &mut q_out, &mut qd_out)
        .unwrap();
    for (i, model) in plain.iter().enumerate() {
        let (mut q_own, mut qd_own) = (vec![0.0; steps * nq], vec![0.0; steps * n]);
        let (q, qd) = (&q[i * nq..(i + 1) * nq], &qd[i * n..(i + 1) * n]);
        model
            .batch()
            .rollout(rollout, q, qd, None, &mut q_own, &mut qd_own)
            .unwrap();
        close(&q_out[i * steps * nq..][..steps * nq], &q_own, 1e-11, "q");
        close(
            &qd_out[i * steps * n..][..steps * n],
            &qd_own,
            1e-9 * size(&qd_own),
            "v",
        );
    }
}

#[test]
fn what_is_no_model_of_the_tree_is_refused() {
    let arm = examples::arm7();
    let mut models = Models::<f64>::new(&arm).unwrap();
    models.push(&arm).unwrap();
    let error = models.push(&examples::scara()).unwrap_err();
    assert!(matches!(error, Error::Models { model: 1, .. }), "{error}");
    let gear = Coupling::gear("joint4", "joint2", 2.0, 0.0);
    let coupled = arm.to_builder().couple(gear).build().unwrap();
    assert!(matches!(models.push(&coupled), Err(Error::Coupled { .. })));
    assert!(matches!(Models::<f64>::new(&coupled), Err(Error::Coupled { .. })));
    let mut out = [0.0; 14];
    let error = models.gravity_torque(&[0.0; 14], &mut out).unwrap_err();
    assert_eq!(error.to_string(), "q has 14 numbers but needs 7");
}

#[test]
fn a_bad_state_is_named_and_spoils_no_other() {
    let arm = examples::arm7();
    let each = vec![arm.clone(); 12];
    let mut models = models_of(&arm, &each);
    let (mut q, zero, mut good, mut got) = (vec![0.3; 84], vec![0.0; 84], vec![0.0; 84], vec![0.0; 84]);
    models.forward_dynamics(&q, &zero, &zero, &mut good).unwrap();
    q[5 * 7 + 2] = f64::NAN;
    let error = models.forward_dynamics(&q, &zero, &zero, &mut got).unwrap_err();
    assert!(
        matches!(
            error,
            Error::State {
                index: 5,
                failed: 1,
                ..
            }
        ),
        "{error}"
    );
    for i in 0..84 {
        let bad = i / 7 == 5;
        assert!(if bad { got[i].is_nan() } else { got[i] == good[i] }, "{i}");
    }
}

#[test]
fn floats_are_as_exact_as_they_can_be() {
    let arm = examples::arm7();
    let heavy = arm.with_gravity(Vec3::new(0.0, 0.0, -12.0)).unwrap();
    let mut models = Models::<f32>::new(&arm).unwrap();
    models.push(&heavy).unwrap();
    let (mut out, mut expect) = ([0.0_f32; 7], [0.0; 7]);
    models.gravity_torque(&[0.4; 7], &mut out).unwrap();
    heavy
        .workspace()
        .at(&[0.4; 7])
        .unwrap()
        .gravity_torque(&mut expect)
        .unwrap();
    for (x, y) in out.iter().zip(expect) {
        assert!((f64::from(*x) - y).abs() < 1e-4, "{x} {y}");
    }
}

/// Lists of all that models of a tree may differ in, of the models one after another.
fn lists(each: &[Mechanism]) -> [Vec<f64>; 6] {
    let own: Vec<_> = each.iter().map(Variation::own).collect();
    std::array::from_fn(|kind| own.iter().flat_map(|lists| lists[kind].clone()).collect())
}

#[test]
fn a_variation_makes_the_models_that_have_its_numbers() {
    let mut trees = 0;
    for seed in 0..30 {
        let base = random_tree(seed, 9);
        let (each, [q, qd, tau, _]) = fleet(&base, 5, seed);
        if each.len() < 5 || base.nv() == 0 {
            continue;
        }
        trees += 1;
        let [_, inertia, origin, armature, damping, gravity] = &lists(&each);
        let variation = Variation {
            mass: None,
            inertia: Some(inertia),
            origin: Some(origin),
            armature: Some(armature),
            damping: Some(damping),
            gravity: Some(gravity),
        };
        // Inertias of random models belong to no body: the tree must not mind.
        let tree = base.to_builder().any_positive_inertia().build().unwrap();
        let (n, mut found, mut wanted) = (each.len(), vec![0.0; tau.len()], vec![0.0; tau.len()]);
        let mut varied = Models::varied(&tree, &variation, n).unwrap();
        varied.forward_dynamics(&q, &qd, &tau, &mut found).unwrap();
        models_of(&base, &each)
            .forward_dynamics(&q, &qd, &tau, &mut wanted)
            .unwrap();
        for (i, (a, b)) in found.iter().zip(&wanted).enumerate() {
            assert!((a - b).abs() <= 1e-7 * (1.0 + b.abs()), "seed {seed}, {i}: {a} {b}");
        }
    }
    assert!(trees > 10, "{trees} trees");
}

#[test]
fn a_variation_that_does_not_fit_is_told() {
    let arm = examples::arm7();
    let [mass, inertia, ..] = Variation::own(&arm);
    let short = Variation {
        mass: Some(&mass[1..]),
        ..Variation::default()
    };
    assert!(matches!(
        Models::<f64>::varied(&arm, &short, 1),
        Err(Error::Length { argument: "mass", .. })
    ));
    let both = Variation {
        mass: Some(&mass),
        inertia: Some(&inertia),
        ..Variation::default()
    };
    assert!(matches!(both.model(&arm, 0), Err(Error::Models { model: 0, .. })));
    let negative: Vec<f64> = mass.iter().map(|m| -m).collect();
    let heavy_and_less = [mass.clone(), negative].concat();
    let variation = Variation {
        mass: Some(&heavy_and_less),
        ..Variation::default()
    };
    assert!(matches!(
        Models::<f64>::varied(&arm, &variation, 2),
        Err(Error::Models { model: 1, .. })
    ));
}
