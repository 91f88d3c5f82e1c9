//! Batches: every state gets the bits that it would get alone.

#![allow(non_snake_case)]

mod support;

use linkwork::batch::{Batch, Real};
use linkwork::model::{FrameId, examples};
use linkwork::scalar::Scalar;
use linkwork::{Error, Mechanism, Reference};
use support::random::{State, random_state, random_tree};

/// States one after the other.
struct States<T> {
    q: Vec<T>,
    qd: Vec<T>,
    qdd: Vec<T>,
    tau: Vec<T>,
}

fn states<T: Scalar>(mechanism: &Mechanism, count: usize) -> States<T> {
    let (mut q, mut qd, mut qdd, mut tau) = (vec![], vec![], vec![], vec![]);
    let lift = |x: &f64| T::lift(*x);
    for seed in 0..count {
        let state: State = random_state(mechanism, seed as u64);
        q.extend(state.q.iter().map(lift));
        qd.extend(state.qd.iter().map(lift));
        qdd.extend(state.qdd.iter().map(lift));
        tau.extend(state.tau.iter().map(lift));
    }
    States { q, qd, qdd, tau }
}

/// Every quantity of a batch, with its name and its numbers per state.
fn everything<T: Real>(batch: &mut Batch<T>, s: &States<T>, count: usize) -> Vec<(&'static str, usize, Vec<T>)> {
    let mechanism = &batch.mechanism().clone();
    let n = mechanism.nv();
    let frames = frames(mechanism);
    let tip = frames[frames.len() - 1];
    let mut all = Vec::new();
    let mut ask = |name, size, f: &mut dyn FnMut(&mut [T]) -> linkwork::Result<()>| {
        let mut out = vec![T::ZERO; size * count];
        f(&mut out).unwrap_or_else(|e| panic!("{name}: {e}"));
        all.push((name, size, out));
    };
    ask("poses", 12 * frames.len(), &mut |o| batch.poses(&frames, &s.q, o));
    ask("jacobian", 6 * n, &mut |o| {
        batch.jacobian(tip, Reference::Local, &s.q, o)
    });
    ask("velocity", 6, &mut |o| {
        batch.velocity(tip, Reference::Aligned, &s.q, &s.qd, o)
    });
    ask("centre of mass", 3, &mut |o| batch.com(&s.q, o));
    ask("potential energy", 1, &mut |o| batch.potential_energy(&s.q, o));
    ask("kinetic energy", 1, &mut |o| batch.kinetic_energy(&s.q, &s.qd, o));
    ask("inverse dynamics", n, &mut |o| {
        batch.inverse_dynamics(&s.q, &s.qd, &s.qdd, o)
    });
    ask("forward dynamics", n, &mut |o| {
        batch.forward_dynamics(&s.q, &s.qd, &s.tau, o)
    });
    ask("bias", n, &mut |o| batch.bias(&s.q, &s.qd, o));
    ask("gravity torque", n, &mut |o| batch.gravity_torque(&s.q, o));
    ask("mass matrix", n * n, &mut |o| batch.mass_matrix(&s.q, o));
    ask("mass matrix entries", mechanism.mass_pattern().len(), &mut |o| {
        batch.mass_matrix_entries(&s.q, o)
    });
    ask("inverse", n * n, &mut |o| batch.mass_matrix_inverse(&s.q, o));
    ask("inverse derivatives", 3 * n * n, &mut |o| {
        batch.inverse_derivatives(&s.q, &s.qd, &s.qdd, o)
    });
    ask("forward derivatives", 3 * n * n, &mut |o| {
        batch.forward_derivatives(&s.q, &s.qd, &s.tau, o)
    });
    ask("torque adjoint", 3 * n, &mut |o| {
        batch.torque_adjoint(&s.q, &s.qd, &s.qdd, &s.tau, o)
    });
    ask("acceleration adjoint", 3 * n, &mut |o| {
        batch.acceleration_adjoint(&s.q, &s.qd, &s.tau, &s.qdd, o)
    });
    all
}

fn frames(mechanism: &Mechanism) -> Vec<FrameId> {
    let links = mechanism.links().iter();
    links.map(|link| mechanism.frame(&link.name).unwrap()).collect()
}

/// The same from a workspace, state by state.
fn alone<T: Real>(mechanism: &Mechanism, s: &States<T>, i: usize) -> Vec<Vec<T>> {
    let (nq, n) = (mechanism.nq(), mechanism.nv());
    let part = |x: &[T], each: usize| x[i * each..(i + 1) * each].to_vec();
    let (q, qd) = (part(&s.q, nq), part(&s.qd, n));
    let (qdd, tau) = (part(&s.qdd, n), part(&s.tau, n));
    let mut workspace = mechanism.workspace_of::<T>();
    let frames = frames(mechanism);
    let tip = frames[frames.len() - 1];
    let mut posed = workspace.at(&q).unwrap();
    let mut poses = Vec::new();
    for &frame in &frames {
        let pose = posed.pose(frame).unwrap();
        let (r, p) = (pose.rotation, pose.translation);
        poses.extend([
            r.x.x, r.y.x, r.z.x, p.x, r.x.y, r.y.y, r.z.y, p.y, r.x.z, r.y.z, r.z.z, p.z,
        ]);
    }
    let mut jacobian = vec![T::ZERO; 6 * n];
    posed.jacobian(tip, Reference::Local, &mut jacobian).unwrap();
    let com = posed.com().to_array().to_vec();
    let potential = vec![posed.potential_energy()];
    let (mut gravity, mut mass, mut inverse) = (vec![T::ZERO; n], vec![T::ZERO; n * n], vec![T::ZERO; n * n]);
    posed.gravity_torque(&mut gravity).unwrap();
    posed.mass_matrix(&mut mass).unwrap();
    let mut entries = vec![T::ZERO; mechanism.mass_pattern().len()];
    posed.mass_matrix_entries(&mut entries).unwrap();
    posed.mass_matrix_inverse(&mut inverse).unwrap();
    let mut moving = posed.moving(&qd).unwrap();
    let velocity = moving.velocity(tip, Reference::Aligned).unwrap().to_array().to_vec();
    let kinetic = vec![moving.kinetic_energy()];
    let (mut torque, mut acceleration, mut bias) = (vec![T::ZERO; n], vec![T::ZERO; n], vec![T::ZERO; n]);
    moving.inverse_dynamics(&qdd, &mut torque).unwrap();
    moving.bias(&mut bias).unwrap();
    moving.forward_dynamics(&tau, &mut acceleration).unwrap();
    let (mut by, mut derivatives) = (mechanism.derivatives_of::<T>(), Vec::new());
    moving.linearized(&qdd).unwrap().inverse_derivatives(&mut by).unwrap();
    derivatives.push([by.by_q(), by.by_qd(), by.by_input()].concat());
    let mut again = vec![T::ZERO; n];
    let mut linearized = moving.linearized_under(&tau, &mut again).unwrap();
    linearized.forward_derivatives(&mut by).unwrap();
    derivatives.push([by.by_q(), by.by_qd(), by.by_input()].concat());
    let mut adjoint = vec![T::ZERO; 3 * n];
    let mut linearized = moving.linearized(&qdd).unwrap();
    linearized.torque_adjoint(&tau, &mut adjoint).unwrap();
    derivatives.push(adjoint.clone());
    let mut linearized = moving.linearized(&acceleration).unwrap();
    linearized.acceleration_adjoint(&qdd, &mut adjoint).unwrap();
    derivatives.push(adjoint);
    let mut all = vec![
        poses,
        jacobian,
        velocity,
        com,
        potential,
        kinetic,
        torque,
        acceleration,
        bias,
        gravity,
        mass,
        entries,
        inverse,
    ];
    all.extend(derivatives);
    all
}

fn lanes_equal_one_by_one<T: Real>(mechanism: &Mechanism, count: usize) {
    let s = states::<T>(mechanism, count);
    let mut batch = mechanism.batch_of::<T>().with_threads(1);
    let together = everything(&mut batch, &s, count);
    for i in 0..count {
        for ((name, size, all), one) in together.iter().zip(alone(mechanism, &s, i)) {
            assert_eq!(
                &all[i * size..(i + 1) * size],
                &one[..],
                "{name} of state {i} of `{}`",
                mechanism.name()
            );
        }
    }
}

#[test]
fn lanes_give_the_bits_of_one_state_at_a_time() {
    for (_, example) in examples::all() {
        lanes_equal_one_by_one::<f64>(&example(), 9);
        lanes_equal_one_by_one::<f32>(&example(), 19);
    }
    for seed in 0..40 {
        lanes_equal_one_by_one::<f64>(&random_tree(seed, 12), 1 + seed as usize % 11);
    }
}

#[test]
fn adjoints_are_products_with_the_transposed_derivatives() {
    for mechanism in [examples::arm7(), examples::quadruped(), random_tree(5, 12)] {
        let (count, n) = (20, mechanism.nv());
        let s = states::<f64>(&mechanism, count);
        let mut batch = mechanism.batch();
        let (mut matrices, mut adjoints) = (vec![0.0; 3 * n * n * count], vec![0.0; 3 * n * count]);
        let compare = |matrices: &[f64], adjoints: &[f64], x: &[f64], what: &str| {
            for (i, x) in x.chunks(n).enumerate() {
                for kind in 0..3 {
                    let matrix = &matrices[(3 * i + kind) * n * n..][..n * n];
                    for column in 0..n {
                        let terms = (0..n).map(|row| matrix[row * n + column] * x[row]);
                        let (sum, size) =
                            terms.fold((0.0, 1.0), |(sum, size): (f64, f64), t| (sum + t, size + t.abs()));
                        let got = adjoints[(3 * i + kind) * n + column];
                        assert!(
                            (got - sum).abs() < 1e-8 * size,
                            "{what} of `{}`: {got} {sum}",
                            mechanism.name()
                        );
                    }
                }
            }
        };
        batch.inverse_derivatives(&s.q, &s.qd, &s.qdd, &mut matrices).unwrap();
        batch
            .torque_adjoint(&s.q, &s.qd, &s.qdd, &s.tau, &mut adjoints)
            .unwrap();
        compare(&matrices, &adjoints, &s.tau, "(∂T)*x");
        batch.forward_derivatives(&s.q, &s.qd, &s.tau, &mut matrices).unwrap();
        batch
            .acceleration_adjoint(&s.q, &s.qd, &s.tau, &s.qdd, &mut adjoints)
            .unwrap();
        compare(&matrices, &adjoints, &s.qdd, "(∂q̈)*x");
    }
}

#[test]
fn entries_of_the_mass_matrix_are_all_that_is_not_zero() {
    let coupled = support::coupled::cases().map(|case| case.coupled);
    for mechanism in (0..60).map(|seed| random_tree(seed, 12)).chain(coupled) {
        let (n, name) = (mechanism.nv(), mechanism.name());
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&mechanism.random(7)).unwrap();
        let pattern = mechanism.mass_pattern();
        let (mut mass, mut entries) = (vec![0.0; n * n], vec![0.0; pattern.len()]);
        posed.mass_matrix(&mut mass).unwrap();
        posed.mass_matrix_entries(&mut entries).unwrap();
        let mut met = vec![false; n * n];
        for (&(row, column), &x) in pattern.iter().zip(&entries) {
            assert!(!met[row * n + column], "`{name}`: ({row}, {column}) twice");
            assert_eq!(mass[row * n + column], x, "`{name}`: ({row}, {column})");
            (met[row * n + column], met[column * n + row]) = (true, true);
        }
        for (i, x) in mass.iter().enumerate().filter(|(i, _)| !met[*i]) {
            assert_eq!(*x, 0.0, "`{name}`: ({}, {})", i / n, i % n);
        }
        let least = posed.mass_matrix_entries(&mut entries[1..]).unwrap_err();
        assert!(matches!(least, Error::Length { argument: "out", .. }), "{least}");
    }
}

#[test]
fn threads_and_the_size_of_a_batch_change_no_bit() {
    let mechanism = examples::humanoid();
    let whole = states::<f64>(&mechanism, 103);
    let expect = everything(&mut mechanism.batch().with_threads(1), &whole, 103);
    for threads in [2, 4] {
        assert_eq!(
            everything(&mut mechanism.batch().with_threads(threads), &whole, 103),
            expect
        );
    }
    let (nq, n) = (mechanism.nq(), mechanism.nv());
    for (first, count) in [(0, 1), (5, 3), (17, 50)] {
        let part = |x: &[f64], each: usize| x[first * each..(first + count) * each].to_vec();
        let some = States {
            q: part(&whole.q, nq),
            qd: part(&whole.qd, n),
            qdd: part(&whole.qdd, n),
            tau: part(&whole.tau, n),
        };
        let got = everything(&mut mechanism.batch(), &some, count);
        for ((name, size, all), (_, _, some)) in expect.iter().zip(got) {
            assert_eq!(&all[first * size..(first + count) * size], &some[..], "{name}");
        }
    }
}

#[test]
fn results_larger_than_the_caches_are_the_same() {
    let mechanism = examples::humanoid();
    let (n, count) = (mechanism.nv(), 1 + (26 << 20) / (8 * mechanism.nv() * mechanism.nv()));
    let s = states::<f64>(&mechanism, count);
    let mut batch = mechanism.batch().with_threads(1);
    let (mut whole, mut parts) = (vec![0.0; count * n * n], vec![0.0; count * n * n]);
    batch.mass_matrix(&s.q, &mut whole).unwrap();
    for (q, part) in s.q.chunks(100 * mechanism.nq()).zip(parts.chunks_mut(100 * n * n)) {
        batch.mass_matrix(q, part).unwrap();
    }
    assert!(whole == parts, "some bits differ");
}

#[test]
fn a_bad_state_is_named_and_spoils_no_other() {
    let mechanism = examples::quadruped();
    let (nq, n, count) = (mechanism.nq(), mechanism.nv(), 21);
    let mut s = states::<f64>(&mechanism, count);
    let mut batch = mechanism.batch().with_threads(2);
    let mut expect = vec![0.0; n * count];
    batch.forward_dynamics(&s.q, &s.qd, &s.tau, &mut expect).unwrap();
    s.q[3 * nq] = 7.0;
    s.qd[11 * n + 2] = f64::NAN;
    s.tau[18 * n] = f64::INFINITY;
    let mut got = vec![0.0; n * count];
    let error = batch.forward_dynamics(&s.q, &s.qd, &s.tau, &mut got).unwrap_err();
    let Error::State {
        index,
        failed,
        states,
        problem,
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((*index, *failed, *states), (3, 3, count));
    assert!(matches!(**problem, Error::Quaternion { .. }), "{problem}");
    for i in 0..count {
        let range = i * n..(i + 1) * n;
        if [3, 11, 18].contains(&i) {
            assert!(got[range].iter().all(|x| x.is_nan()));
        } else {
            assert_eq!(got[range.clone()], expect[range]);
        }
    }
}

#[test]
fn lengths_that_do_not_fit_are_refused() {
    let arm = examples::arm7();
    let mut batch = arm.batch();
    let mut out = [0.0; 14];
    let short = batch.gravity_torque(&[0.0; 13], &mut out).unwrap_err();
    assert_eq!(short.to_string(), "q has 13 numbers but needs 7");
    let short = batch.bias(&[0.0; 14], &[0.0; 7], &mut out).unwrap_err();
    assert_eq!(short.to_string(), "qd has 7 numbers but needs 14");
    batch.gravity_torque(&[], &mut []).unwrap();
}
