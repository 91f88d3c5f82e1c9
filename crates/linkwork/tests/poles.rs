//! Poles: against matrices made from them, and against what every matrix obeys.
#![allow(non_snake_case)]

mod support;

use linkwork::Mechanism;
use linkwork::model::{Joint, Link};
use linkwork::spatial::Inertia;
use linkwork::state_space::{OperatingPoint, Pole, StateSpace};
use support::random::Random;

fn poles(n: usize, a: &[f64]) -> linkwork::Result<Vec<Pole>> {
    let model = StateSpace {
        states: (0..n).map(|i| i.to_string()).collect(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        a: a.to_vec(),
        b: Vec::new(),
        c: Vec::new(),
        d: Vec::new(),
        step: None,
    };
    model.poles()
}

fn norm(a: &[f64]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// What holds of the poles of every matrix: as many as rows, in order, pairs side by side, and sums of their first and second
/// powers that are traces. Rounding moves the matrix by some 10⁻¹⁵ of its norm for every row.
fn lawful(what: &str, n: usize, a: &[f64]) -> Vec<Pole> {
    let poles = poles(n, a).unwrap();
    assert_eq!(poles.len(), n, "{what}");
    assert!(poles.windows(2).all(|two| two[0].re >= two[1].re), "{what}: {poles:?}");
    let mut i = 0;
    while i < n {
        if poles[i].im == 0.0 {
            i += 1;
            continue;
        }
        assert!(poles[i].im > 0.0 && i + 1 < n, "{what}: {poles:?}");
        assert_eq!(
            (poles[i + 1].re, poles[i + 1].im),
            (poles[i].re, -poles[i].im),
            "{what}"
        );
        i += 2;
    }
    let once: f64 = (0..n).map(|i| a[i * n + i]).sum();
    let twice: f64 = (0..n * n).map(|i| a[i] * a[i % n * n + i / n]).sum();
    let size = 1e-14 * norm(a) * (n as f64 + 1.0);
    let first: f64 = poles.iter().map(|p| p.re).sum();
    let second: f64 = poles.iter().map(|p| p.re * p.re - p.im * p.im).sum();
    assert!((first - once).abs() <= size, "{what}: Σ = {first}, tr A = {once}");
    assert!(
        (second - twice).abs() <= size * norm(a),
        "{what}: Σ² = {second}, tr A² = {twice}"
    );
    poles
}

/// That each pole has its own true one, the nearest of those that are left.
fn assert_matched(what: &str, poles: &[Pole], expect: &[(f64, f64)], tolerance: f64) {
    let mut left = expect.to_vec();
    for pole in poles {
        let far = |at: &(f64, f64)| (pole.re - at.0).hypot(pole.im - at.1);
        let nearest = (0..left.len())
            .min_by(|i, j| far(&left[*i]).total_cmp(&far(&left[*j])))
            .unwrap();
        let miss = far(&left.swap_remove(nearest));
        assert!(
            miss <= tolerance,
            "{what}: {pole:?} is off by {miss:e}; {poles:?} {expect:?}"
        );
    }
}

/// A matrix with blocks on its diagonal.
fn blocks(real: &[f64], pairs: &[(f64, f64)]) -> (usize, Vec<f64>, Vec<(f64, f64)>) {
    let n = real.len() + 2 * pairs.len();
    let (mut a, mut expect) = (vec![0.0; n * n], Vec::new());
    for (i, x) in real.iter().enumerate() {
        a[i * n + i] = *x;
        expect.push((*x, 0.0));
    }
    for (i, (re, im)) in pairs.iter().enumerate() {
        let i = real.len() + 2 * i;
        (a[i * n + i], a[(i + 1) * n + i + 1]) = (*re, *re);
        (a[i * n + i + 1], a[(i + 1) * n + i]) = (*im, -im);
        expect.extend([(*re, *im), (*re, -im)]);
    }
    (n, a, expect)
}

/// Q*AQ by random reflections.
fn mixed(n: usize, mut a: Vec<f64>, random: &mut Random) -> Vec<f64> {
    for _ in 0..4 {
        let v = random.numbers(n, 1.0);
        let square: f64 = v.iter().map(|x| x * x).sum();
        let mut reflect = |start: usize, apart: usize| {
            let along: f64 = (0..n).map(|i| v[i] * a[start + i * apart]).sum();
            (0..n).for_each(|i| a[start + i * apart] -= 2.0 * along / square * v[i]);
        };
        (0..n).for_each(|j| reflect(j, n));
        (0..n).for_each(|i| reflect(i * n, 1));
    }
    a
}

#[test]
fn blocks_mixed_by_reflections_keep_their_poles() {
    // Normal matrices: a pole moves no further than the matrix.
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let pick = random.numbers(12, 1.0);
        let count = |x: f64, most: f64| ((0.5 + 0.5 * x) * most) as usize;
        let real: Vec<f64> = (0..count(pick[0], 6.0))
            .map(|i| match i % 4 {
                0 => 0.0,
                1 => -1.0,
                2 => -1.0 + 1e-9 * pick[1],
                _ => pick[2],
            })
            .collect();
        let pairs: Vec<(f64, f64)> = (0..count(pick[3], 4.0))
            .map(|i| (-0.3 * pick[4 + i].abs(), 10f64.powf(2.0 * pick[8 + i])))
            .collect();
        let (n, a, expect) = blocks(&real, &pairs);
        let a = mixed(n, a, &mut random);
        let got = lawful(&format!("blocks {seed}"), n, &a);
        assert_matched(&format!("blocks {seed}"), &got, &expect, 1e-13 * norm(&a));
    }
}

#[test]
fn sums_of_poles_are_traces_at_any_number_of_states() {
    for n in (0..40).chain([63, 64, 65, 100, 200]) {
        let a = Random::new(n as u64).numbers(n * n, 1.0);
        lawful(&format!("{n} states"), n, &a);
    }
    // Of what is listed in an order of its own, and of zeros.
    for n in [1, 2, 3, 17, 50] {
        assert!(lawful("zeros", n, &vec![0.0; n * n]).iter().all(|p| p.size() == 0.0));
        // A turn of all states: the roots of one.
        let turn: Vec<f64> = (0..n * n)
            .map(|i| f64::from(u8::from((i / n + 1) % n == i % n)))
            .collect();
        let roots: Vec<(f64, f64)> = (0..n)
            .map(|k| (core::f64::consts::TAU * k as f64 / n as f64).sin_cos())
            .map(|(s, c)| (c, s))
            .collect();
        assert_matched("roots of one", &lawful("turn", n, &turn), &roots, 1e-13 * n as f64);
    }
}

#[test]
fn triangular_matrices_show_their_poles_exactly() {
    for n in [1, 2, 7, 30] {
        let random = Random::new(n as u64).numbers(n * n, 1.0);
        // Each scaled: no order of the rows is any hint.
        let size = |i: usize| 10f64.powi((i * 7 % 11) as i32 - 5);
        for upper in [true, false] {
            let keeps = |i: usize| if upper { i % n >= i / n } else { i % n <= i / n };
            let a: Vec<f64> = (0..n * n)
                .map(|i| if keeps(i) { random[i] * size(i / n) } else { 0.0 })
                .collect();
            let mut expect: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
            expect.sort_by(|a, b| b.total_cmp(a));
            let got: Vec<f64> = poles(n, &a).unwrap().iter().map(|p| p.re).collect();
            assert_eq!(got, expect);
        }
    }
}

#[test]
fn defective_poles_are_found_as_well_as_they_can_be() {
    // k equal poles without directions of their own: rounding δ of the matrix moves them by δ^(1/k).
    for k in 1..5 {
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let (n, mut a, expect) = blocks(&vec![-0.5; k], &[(-0.1, 3.0), (0.0, 5.0)]);
            (1..k).for_each(|i| a[(i - 1) * n + i] = 1.0);
            let a = mixed(n, a, &mut random);
            let got = lawful("defective", n, &a);
            let tolerance = 4.0 * (1e-14 * norm(&a)).powf(1.0 / k as f64);
            assert_matched(&format!("{k} equal ones, {seed}"), &got, &expect, tolerance);
        }
    }
    // Critical damping.
    let got = poles(2, &[0.0, 1.0, -0.25, -1.0]).unwrap();
    assert!(got.iter().all(|p| p.re == -0.5 && p.im == 0.0), "{got:?}");
}

#[test]
fn companion_matrices_have_the_roots_of_their_polynomials() {
    // (x − 1)(x − 2) … (x − n): the root k moves by Πk/Π|k − j| of what the coefficients do.
    for n in 1..9_usize {
        let mut c = vec![1.0];
        for k in 1..=n {
            c.push(0.0);
            for i in (1..c.len()).rev() {
                c[i] -= k as f64 * c[i - 1];
            }
        }
        let mut a = vec![0.0; n * n];
        (0..n).for_each(|j| a[j] = -c[j + 1]);
        (1..n).for_each(|i| a[i * n + i - 1] = 1.0);
        let expect: Vec<(f64, f64)> = (1..=n).map(|k| (k as f64, 0.0)).collect();
        let got = lawful("companion", n, &a);
        assert_matched("companion", &got, &expect, 1e-14 * 12f64.powi(n as i32 - 1).max(10.0));
    }
}

#[test]
fn small_poles_of_graded_matrices_keep_their_digits() {
    // D T D⁻¹ has the poles of T, whatever D is.
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let n = 2 + seed as usize % 12;
        let t = random.numbers(n * n, 1.0);
        let expect: Vec<(f64, f64)> = poles(n, &t).unwrap().iter().map(|p| (p.re, p.im)).collect();
        let size: Vec<f64> = random.numbers(n, 60.0).iter().map(|x| x.round().exp2()).collect();
        let a: Vec<f64> = (0..n * n).map(|i| size[i / n] * t[i] / size[i % n]).collect();
        assert_matched("scaled states", &poles(n, &a).unwrap(), &expect, 1e-5);
    }
    // Oscillators of 10⁻⁸ to 10⁸ rad/s, each in its own units.
    let w: Vec<f64> = (-8..9).map(|k| 10f64.powi(k)).collect();
    let n = 2 * w.len();
    let mut a = vec![0.0; n * n];
    for (i, w) in w.iter().enumerate() {
        a[i * n + w_index(i, n)] = 1.0;
        a[w_index(i, n) * n + i] = -w * w;
        // A little of the next one, which only leads one way.
        if i > 0 {
            a[w_index(i, n) * n + i - 1] = *w;
        }
    }
    let got = poles(n, &a).unwrap();
    for w in w {
        let near = got
            .iter()
            .filter(|p| (p.im.abs() / w - 1.0).abs() < 1e-14 && p.re == 0.0);
        assert_eq!(near.count(), 2, "{w}: {got:?}");
    }
}

fn w_index(i: usize, n: usize) -> usize {
    n / 2 + i
}

/// How far A is from having this eigenvalue: 1/‖(A − λ)⁻¹x‖ after some steps of inverse iteration, as a real matrix of
/// twice the size.
fn residual(n: usize, a: &[f64], pole: Pole) -> f64 {
    let w = 2 * n;
    let mut m = vec![0.0; w * w];
    for i in 0..n {
        for j in 0..n {
            let shift = if i == j { pole.re } else { 0.0 };
            m[i * w + j] = a[i * n + j] - shift;
            m[(n + i) * w + n + j] = m[i * w + j];
        }
        (m[i * w + n + i], m[(n + i) * w + i]) = (pole.im, -pole.im);
    }
    let mut x = Random::new(5).numbers(w, 1.0);
    let mut size = f64::INFINITY;
    for transposed in [false, true, false, true, false] {
        let length = norm(&x);
        x.iter_mut().for_each(|x| *x /= length);
        let at = |i: usize, j: usize| if transposed { m[j * w + i] } else { m[i * w + j] };
        x = solved(w, &|i, j| at(i, j), x);
        size = 1.0 / norm(&x);
    }
    size
}

/// M⁻¹x by elimination.
fn solved(n: usize, m: &dyn Fn(usize, usize) -> f64, mut x: Vec<f64>) -> Vec<f64> {
    let mut m: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| m(i, j)).collect()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| m[*i][k].abs().total_cmp(&m[*j][k].abs())).unwrap();
        m.swap(k, pivot);
        x.swap(k, pivot);
        if m[k][k].abs() < 1e-30 {
            m[k][k] = 1e-30;
        }
        for i in k + 1..n {
            let weight = m[i][k] / m[k][k];
            let (above, below) = m.split_at_mut(i);
            (below[0][k..].iter_mut().zip(&above[k][k..])).for_each(|(to, from)| *to -= weight * from);
            x[i] -= weight * x[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| m[k][j] * x[j]).sum();
        x[k] = (x[k] - known) / m[k][k];
    }
    x
}

#[test]
fn damped_ball_joints_keep_their_pole_at_zero() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let mut inertia = |_: usize| {
            let x = random.numbers(5, 1.0);
            Inertia::rod(1.0 + 0.5 * x[0], [x[1], x[2], 0.5 + 0.4 * x[3]]).with(&Inertia::sphere(0.5, 0.2 + 0.1 * x[4]))
        };
        let bodies: Vec<Inertia> = (0..2 + seed as usize % 3).map(&mut inertia).collect();
        let mut builder = Mechanism::builder("ball and hinges");
        for (i, body) in bodies.into_iter().enumerate() {
            let x = random.numbers(6, 1.0);
            let before = if i == 0 {
                "world".to_owned()
            } else {
                format!("link {}", i - 1)
            };
            let joint = if i == 0 {
                Joint::spherical("ball").damping(0.3 + 0.2 * x[0])
            } else {
                let axis = [x[1], x[2], 1.0];
                let hinge = Joint::revolute(format!("hinge {i}"), axis).at([0.0, x[3], 0.7]);
                hinge.damping(0.3 + 0.2 * x[4]).spring(20.0 + 10.0 * x[5], &[0.0])
            };
            builder = builder
                .link(Link::new(format!("link {i}"), body))
                .joint(joint.between(before, format!("link {i}")));
        }
        let robot = builder.build().unwrap();
        let point = OperatingPoint::at_rest(&robot, &robot.random(seed)).unwrap();
        let model = StateSpace::continuous(&robot, &point).unwrap();
        let n = model.states.len();
        let got = lawful(&format!("mechanism {seed}"), n, &model.a);
        // Turning about the vertical changes nothing.
        let least = got.iter().fold(f64::INFINITY, |least, p| least.min(p.size()));
        assert!(least < 1e-12 * norm(&model.a), "{seed}: {least:e} {got:?}");
        for pole in &got {
            let far = residual(n, &model.a, *pole);
            assert!(far < 1e-13 * norm(&model.a), "{seed}: {pole:?} is {far:e} from a pole");
        }
    }
}

#[test]
fn matrices_that_are_not_finite_or_not_square_are_refused() {
    for x in [f64::NAN, f64::INFINITY] {
        assert!(
            poles(2, &[1.0, x, 0.0, 1.0])
                .unwrap_err()
                .to_string()
                .contains("finite")
        );
    }
    assert!(poles(2, &[1.0]).is_err());
    let most = f64::MAX;
    assert!(
        poles(2, &[most; 4])
            .unwrap_err()
            .to_string()
            .contains("beyond all numbers")
    );
}
