//! 𝓐 = 𝓜 + A + ΣJ*GJ against dense algebra: on random trees, with followers, between moving links and free bodies.
#![allow(non_snake_case)]

mod support;

use linkwork::model::{FrameId, Joint, Link, Mechanism, examples};
use linkwork::scalar::{Count, Dual};
use linkwork::spatial::Inertia;
use linkwork::workspace::Masses;
use linkwork::{Error, Reference};
use support::arm::general_arm;
use support::coupled;
use support::dual::{along, constant, rates};
use support::library::{matrix, vector};
use support::matrix::Matrix;
use support::random::{Random, random_state, random_tree, thousand};
use support::worst::Worst;

/// A weight on a frame, or between two.
struct Weight {
    frame: FrameId,
    other: Option<FrameId>,
    reference: Reference,
    g: [[f64; 6]; 6],
}

/// Symmetric, not negative, of any rank.
fn weight(random: &mut Random, size: f64) -> [[f64; 6]; 6] {
    let mut g = [[0.0; 6]; 6];
    for _ in 0..1 + random.below(6) {
        let u = random.numbers(6, 1.0);
        for i in 0..6 {
            for j in 0..6 {
                g[i][j] += size * u[i] * u[j];
            }
        }
    }
    g
}

fn references(random: &mut Random) -> Reference {
    [Reference::Local, Reference::Aligned, Reference::World][random.below(3)]
}

fn random_weights(m: &Mechanism, random: &mut Random, pairs: usize) -> Vec<Weight> {
    let links = m.links();
    let any = |random: &mut Random| m.frame(&links[random.below(links.len())].name).unwrap();
    let size = |random: &mut Random| 10f64.powf(random.within(-2.0, 2.0));
    (0..1 + random.below(4) + pairs)
        .map(|i| {
            let size = size(random);
            Weight {
                frame: any(random),
                other: (i < pairs).then(|| any(random)),
                reference: references(random),
                g: weight(random, size),
            }
        })
        .collect()
}

/// The rows that a weight looks through.
fn rows(m: &Mechanism, q: &[f64], w: &Weight) -> Matrix {
    let (mut workspace, nv) = (m.workspace(), m.nv());
    let mut posed = workspace.at(q).unwrap();
    let mut jacobian = |frame, reference| matrix(6, nv, |out| posed.jacobian(frame, reference, out));
    let own = jacobian(w.frame, w.reference);
    let Some(other) = w.other else { return own };
    // The other link's motion at the world's origin, then where and as the first frame's is taken.
    let far = jacobian(other, Reference::World);
    let pose = posed.pose(w.frame).unwrap();
    let at = match w.reference {
        Reference::World => [0.0; 3],
        _ => [pose.translation.x, pose.translation.y, pose.translation.z],
    };
    let axes = match w.reference {
        Reference::Local => pose.rotation.to_rows(),
        _ => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    };
    Matrix::from_fn(6, nv, |i, j| {
        let (half, axis) = (i / 3, i % 3);
        let column = |part: usize, row: usize| far.at(3 * part + row, j);
        let moved = |row: usize| {
            let (a, b) = ((row + 1) % 3, (row + 2) % 3);
            match half {
                0 => column(0, row),
                _ => column(1, row) + column(0, a) * at[b] - column(0, b) * at[a],
            }
        };
        own.at(i, j) - (0..3).map(|row| axes[row][axis] * moved(row)).sum::<f64>()
    })
}

fn dense(m: &Mechanism, q: &[f64], masses: Masses, a: &[f64], weights: &[Weight]) -> Matrix {
    let nv = m.nv();
    let mut workspace = m.workspace();
    let mut posed = workspace.at(q).unwrap();
    let mut sum = match masses {
        Masses::Kept => matrix(nv, nv, |out| posed.mass_matrix(out)),
        Masses::None => Matrix::zeros(nv, nv),
    };
    for i in 0..nv {
        sum.set(i, i, sum.at(i, i) + a[i]);
    }
    for w in weights {
        let J = rows(m, q, w);
        let more = &(&J.t() * &Matrix::from_rows(&w.g)) * &J;
        sum = Matrix::from_fn(nv, nv, |i, j| sum.at(i, j) + more.at(i, j));
    }
    sum
}

fn check(worst: &mut Worst, m: &Mechanism, q: &[f64], x: &[f64], masses: Masses, a: &[f64], weights: &[Weight]) {
    let (nv, A) = (m.nv(), dense(m, q, masses, a, weights));
    let (mut workspace, mut memory) = (m.workspace(), m.augmented());
    let mut posed = workspace.at(q).unwrap();
    let mut operator = posed.augment(&mut memory, masses).unwrap();
    if a.iter().any(|x| *x != 0.0) {
        operator.add_diagonal(a).unwrap();
    }
    for w in weights {
        match w.other {
            None => operator.weigh(w.frame, w.reference, &w.g).unwrap(),
            Some(other) => operator.weigh_between(w.frame, other, w.reference, &w.g).unwrap(),
        }
    }
    let harm = 1.0 + 1e-2 * A.condition();
    let inverse = A.inverse();
    let got = vector(nv, |out| operator.times(x, out));
    worst.check("product", m.name(), &got, &A.apply(x), A.norm());
    let got = vector(nv, |out| operator.solve(x, out));
    worst.check(
        "solution",
        m.name(),
        &got,
        &inverse.apply(x),
        inverse.norm() * 5.0 * harm,
    );
    let L = A.cholesky().unwrap();
    let log_det: f64 = (0..nv).map(|i| 2.0 * L.at(i, i).ln()).sum();
    worst.check(
        "log det",
        m.name(),
        &[operator.log_det().unwrap()],
        &[log_det],
        nv as f64 * harm,
    );
}

#[test]
fn weights_on_links_and_joints_are_as_defined() {
    let mut worst = Worst::new(1e-12);
    for (seed, m, state) in thousand() {
        let mut random = Random::new(seed);
        let weights = random_weights(&m, &mut random, 0);
        let damped: Vec<f64> = random.numbers(m.nv(), 1.0).iter().map(|x| x.abs()).collect();
        let none = vec![0.0; m.nv()];
        let a = if random.chance(0.5) { &damped } else { &none };
        check(&mut worst, &m, &state.q, &state.tau, Masses::Kept, a, &weights);
        let damped: Vec<f64> = damped.iter().map(|x| 0.01 + x).collect();
        check(&mut worst, &m, &state.q, &state.tau, Masses::None, &damped, &weights);
    }
}

#[test]
fn weights_between_moving_links_are_as_defined() {
    let mut worst = Worst::new(1e-11);
    for seed in 0..200 {
        let m = random_tree(seed, 12);
        let (mut random, state) = (Random::new(seed), random_state(&m, seed));
        let pairs = 1 + random.below(3);
        let weights = random_weights(&m, &mut random, pairs);
        let a = vec![0.1; m.nv()];
        check(&mut worst, &m, &state.q, &state.tau, Masses::Kept, &a, &weights);
        check(&mut worst, &m, &state.q, &state.tau, Masses::None, &a, &weights);
    }
}

/// An arm, and free bodies beside it.
fn arm_and_boxes(boxes: usize) -> Mechanism {
    let mut builder = examples::puma560().to_builder();
    for i in 0..boxes {
        builder = builder
            .link(Link::new(
                format!("box{i}"),
                Inertia::cuboid(1.0 + i as f64, [0.1, 0.2, 0.3]),
            ))
            .joint(Joint::free(format!("free{i}")).between("world", format!("box{i}")));
    }
    builder.build().unwrap()
}

#[test]
fn free_bodies_that_touch_each_other_and_an_arm_are_eliminated_as_defined() {
    let mut worst = Worst::new(1e-11);
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let m = arm_and_boxes(1 + random.below(6));
        let state = random_state(&m, seed);
        let pairs = 1 + random.below(8);
        let weights = random_weights(&m, &mut random, pairs);
        let a: Vec<f64> = random.numbers(m.nv(), 1.0).iter().map(|x| x.abs()).collect();
        check(&mut worst, &m, &state.q, &state.tau, Masses::Kept, &a, &weights);
        check(
            &mut worst,
            &m,
            &state.q,
            &state.tau,
            Masses::Kept,
            &vec![0.0; m.nv()],
            &weights,
        );
    }
}

#[test]
fn followers_are_part_of_it() {
    let mut worst = Worst::new(1e-11);
    for (seed, case) in coupled::cases().enumerate() {
        let (m, mut random) = (&case.coupled, Random::new(seed as u64));
        let tau = random.numbers(m.nv(), 1.0);
        let pairs = random.below(3);
        let weights = random_weights(m, &mut random, pairs);
        let a: Vec<f64> = random.numbers(m.nv(), 1.0).iter().map(|x| 0.01 + x.abs()).collect();
        check(&mut worst, m, &case.y, &tau, Masses::Kept, &a, &weights);
        check(&mut worst, m, &case.y, &tau, Masses::None, &a, &weights);
    }
}

#[test]
fn dual_numbers_give_the_rate_of_a_solution() {
    for seed in 0..30 {
        let m = arm_and_boxes(2);
        let (mut random, state) = (Random::new(seed), random_state(&m, seed));
        let weights = random_weights(&m, &mut random, 2);
        let n = m.nv();
        let at = |q: &[f64]| {
            let A = dense(&m, q, Masses::Kept, &vec![0.2; n], &weights);
            A.inverse().apply(&state.tau)
        };
        let h = 1e-6;
        let moved = |t: f64| {
            let step: Vec<f64> = state.qd.iter().map(|x| t * x).collect();
            let mut q = state.q.clone();
            m.integrate(&state.q, &step, &mut q).unwrap();
            at(&q)
        };
        let (ahead, behind) = (moved(h), moved(-h));
        let expect: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * h)).collect();

        let (mut workspace, mut memory) = (m.workspace_of::<Dual<f64>>(), m.augmented_of::<Dual<f64>>());
        let q = along(&m, &state.q, &state.qd);
        let mut posed = workspace.at(&q).unwrap();
        let mut operator = posed.augment(&mut memory, Masses::Kept).unwrap();
        operator.add_diagonal(&constant(&vec![0.2; n])).unwrap();
        for w in &weights {
            let g = w.g.map(|row| row.map(Dual::constant));
            match w.other {
                None => operator.weigh(w.frame, w.reference, &g).unwrap(),
                Some(other) => operator.weigh_between(w.frame, other, w.reference, &g).unwrap(),
            }
        }
        let mut out = constant(&vec![0.0; n]);
        operator.solve(&constant(&state.tau), &mut out).unwrap();
        support::assert_close("rate", &rates(&out), &expect, 1e-6);
    }
}

#[test]
fn weights_on_one_link_in_three_cost_less_than_a_third_more() {
    let m = general_arm(30);
    let mut random = Random::new(1);
    let mut numbers = |n: usize| random.numbers(n, 1.0).into_iter().map(Count).collect::<Vec<_>>();
    let (q, x) = (numbers(30), numbers(30));
    let mut out = vec![Count(0.0); 30];
    let mut workspace = m.workspace_of::<Count>();
    let mut posed = workspace.at(&q).unwrap();
    let plain = Count::operations(|| posed.inverse_mass_times(&x, &mut out).unwrap());
    let mut memory = m.augmented_of::<Count>();
    let mut operator = posed.augment(&mut memory, Masses::Kept).unwrap();
    for link in m.links().iter().step_by(3) {
        let g = weight(&mut Random::new(2), 1.0).map(|row| row.map(Count));
        operator
            .weigh(m.link(&link.name).unwrap(), Reference::Local, &g)
            .unwrap();
    }
    let weighted = Count::operations(|| operator.solve(&x, &mut out).unwrap());
    assert!(
        weighted.total() as f64 <= 1.3 * plain.total() as f64,
        "{weighted:?} {plain:?}"
    );
}

#[test]
fn what_nothing_resists_is_named() {
    let m = examples::puma560();
    let (mut workspace, mut memory) = (m.workspace(), m.augmented());
    let q = m.neutral();
    let mut posed = workspace.at(&q).unwrap();
    let mut operator = posed.augment(&mut memory, Masses::None).unwrap();
    let problem = operator.solve(&[1.0; 6], &mut [0.0; 6]).unwrap_err();
    assert!(matches!(problem, Error::Singular { .. }), "{problem}");
    let mut skew = [[0.0; 6]; 6];
    skew[0][1] = 1.0;
    let tip = m.frame("link6_dh").unwrap();
    assert!(operator.weigh(tip, Reference::Local, &skew).is_err());
    assert!(operator.add_diagonal(&[-1.0; 6]).is_err());
    let other = examples::arm7();
    let mut memory = other.augmented();
    assert!(posed.augment(&mut memory, Masses::Kept).is_err());
}
