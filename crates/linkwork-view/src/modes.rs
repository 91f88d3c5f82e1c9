//! Modes of a robot about a configuration at which its motors hold it: poles, and how it moves in each.
//!
//! With q = q₀ ⊕ x e^{λt} the linear model q̈ = A₂₁ δq + A₂₂ q̇ asks for (λ² − λA₂₂ − A₂₁) x = 0. Poles λ are the library's; x is
//! found by inverse iteration, in complex numbers. Closed loops leave only some directions free: x = N y, and the model is
//! that of y.

use linkwork::closed::ClosedMechanism;
use linkwork::state_space::{OperatingPoint, Pole, StateSpace};
use linkwork::{Error, Mechanism, Result};

/// A pole and its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigenmode {
    /// The pole; of a conjugate pair, the one above the real axis.
    pub pole: Pole,
    /// Re x, nv numbers; the largest size in x is one.
    pub re: Vec<f64>,
    /// Im x.
    pub im: Vec<f64>,
    /// How well the equation holds, as a part of the size of its terms.
    pub residual: f64,
}

/// Modes of more coordinates than these are not worked out while somebody waits.
const MOST: usize = 150;

/// The largest change of a coordinate in a mode that is shown, rad or m.
const SWING: f64 = 0.35;

impl Eigenmode {
    /// δq after some seconds of showing it, and its rate: three turns of an oscillation, at most one in a second, or two
    /// seconds; then again.
    pub(crate) fn swung(&self, elapsed: f64) -> (Vec<f64>, Vec<f64>) {
        let at = |s: f64| -> Vec<f64> {
            let (size, angle) = if self.pole.im > 0.0 {
                let hertz = (self.pole.im / std::f64::consts::TAU).min(1.0);
                let turns = (s * hertz).rem_euclid(3.0);
                let growth = self.pole.re / self.pole.im * std::f64::consts::TAU;
                let from = if growth > 0.0 { turns - 3.0 } else { turns };
                ((growth * from).exp(), std::f64::consts::TAU * turns)
            } else if self.pole.re.abs() < 1e-6 {
                // It drifts: to and fro.
                ((std::f64::consts::PI * s).sin(), 0.0)
            } else {
                let s = s.rem_euclid(2.0);
                let from = if self.pole.re > 0.0 { s - 2.0 } else { -s };
                ((2.0 * from).exp(), 0.0)
            };
            let (sin, cos) = angle.sin_cos();
            self.re
                .iter()
                .zip(&self.im)
                .map(|(re, im)| SWING * size * (re * cos - im * sin))
                .collect()
        };
        let h = 1e-3;
        let (now, next) = (at(elapsed), at(elapsed + h));
        let rate = now.iter().zip(next).map(|(a, b)| (b - a) / h).collect();
        (now, rate)
    }
}

/// The modes of a mechanism at rest, slowest first.
pub fn modes(mechanism: &Mechanism, closed: Option<&ClosedMechanism>, q: &[f64]) -> Result<Vec<Eigenmode>> {
    let nv = mechanism.nv();
    if nv > MOST {
        let problem = format!(
            "modes are worked out for up to {MOST} coordinates, and `{}` has {nv}",
            mechanism.name()
        );
        return Err(Error::Drive { problem });
    }
    let model = match closed {
        None => open(mechanism, q)?,
        Some(closed) => constrained(closed, q)?,
    };
    let mut modes = Vec::new();
    for (i, pole) in model.poles()?.into_iter().filter(|p| p.im >= 0.0).enumerate() {
        modes.push(model.mode(pole, i));
    }
    modes.sort_by(|a, b| a.pole.size().total_cmp(&b.pole.size()));
    Ok(modes)
}

/// ẍ = A₂₁x + A₂₂ẋ, each n × n, and the directions that x counts, n of nv numbers.
struct Model {
    n: usize,
    by_x: Vec<f64>,
    by_rate: Vec<f64>,
    directions: Vec<Vec<f64>>,
}

fn open(mechanism: &Mechanism, q: &[f64]) -> Result<Model> {
    let n = mechanism.nv();
    let model = StateSpace::continuous(mechanism, &OperatingPoint::at_rest(mechanism, q)?)?;
    let block = |at: usize| {
        (n..2 * n)
            .flat_map(|i| model.a[i * 2 * n + at..i * 2 * n + at + n].to_vec())
            .collect()
    };
    let directions = (0..n).map(|i| (0..n).map(|k| f64::from(u8::from(i == k))).collect());
    Ok(Model {
        n,
        by_x: block(0),
        by_rate: block(n),
        directions: directions.collect(),
    })
}

fn constrained(closed: &ClosedMechanism, q: &[f64]) -> Result<Model> {
    let mechanism = closed.mechanism();
    let nv = mechanism.nv();
    let (zero, mut tau) = (vec![0.0; nv], vec![0.0; nv]);
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(q)?;
    let mut moving = posed.moving(&zero)?;
    // Motors and springs together hold every joint: then no loop carries anything.
    moving.bias(&mut tau)?;
    let (mut stiff, mut damp) = (vec![0.0; nv * nv], vec![0.0; nv]);
    moving.passive_derivatives(&mut stiff, &mut damp)?;
    let linear = closed.linearize(q, &zero, &tau)?;
    let mut columns = Vec::new();
    let n = closed.workspace().at(q)?.free_directions(&mut columns);
    let directions = orthonormal(&columns, n, nv);
    // What springs and dampers of the joints add: ∂q̈/∂T times their derivatives.
    let product =
        |i: usize, k: usize, by: &[f64]| -> f64 { (0..nv).map(|j| linear.by_tau[i * nv + j] * by[j * nv + k]).sum() };
    let mut full = [vec![0.0; nv * nv], vec![0.0; nv * nv]];
    for i in 0..nv {
        for k in 0..nv {
            full[0][i * nv + k] = linear.by_q[i * nv + k] + product(i, k, &stiff);
            full[1][i * nv + k] = linear.by_qd[i * nv + k] + linear.by_tau[i * nv + k] * damp[k];
        }
    }
    let reduced = |a: &[f64]| -> Vec<f64> {
        let times = |x: &[f64]| -> Vec<f64> { (0..nv).map(|i| dot(&a[i * nv..(i + 1) * nv], x)).collect() };
        let moved: Vec<_> = directions.iter().map(|x| times(x)).collect();
        directions
            .iter()
            .flat_map(|y| moved.iter().map(|x| dot(y, x)).collect::<Vec<_>>())
            .collect()
    };
    Ok(Model {
        n,
        by_x: reduced(&full[0]),
        by_rate: reduced(&full[1]),
        directions,
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Directions of unit length at right angles that span the same, by Gram and Schmidt twice.
fn orthonormal(columns: &[f64], n: usize, nv: usize) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    for k in 0..n {
        let mut x: Vec<f64> = columns[k * nv..(k + 1) * nv].to_vec();
        for _ in 0..2 {
            for y in &found {
                let part = dot(y, &x);
                x.iter_mut().zip(y).for_each(|(x, y)| *x -= part * y);
            }
        }
        let length = dot(&x, &x).sqrt();
        found.push(x.iter().map(|x| x / length).collect());
    }
    found
}

type Complex = (f64, f64);

fn times((a, b): Complex, (c, d): Complex) -> Complex {
    (a * c - b * d, a * d + b * c)
}

fn over(a: Complex, (c, d): Complex) -> Complex {
    let size = c * c + d * d;
    times(a, (c / size, -d / size))
}

impl Model {
    fn poles(&self) -> Result<Vec<Pole>> {
        let n = self.n;
        let mut a = vec![0.0; 4 * n * n];
        for i in 0..n {
            a[i * 2 * n + n + i] = 1.0;
            let row = (n + i) * 2 * n;
            a[row..row + n].copy_from_slice(&self.by_x[i * n..(i + 1) * n]);
            a[row + n..row + 2 * n].copy_from_slice(&self.by_rate[i * n..(i + 1) * n]);
        }
        let states = (0..2 * n).map(|i| i.to_string()).collect();
        let (inputs, outputs) = (Vec::new(), Vec::new());
        StateSpace {
            states,
            inputs,
            outputs,
            a,
            b: Vec::new(),
            c: Vec::new(),
            d: Vec::new(),
            step: None,
        }
        .poles()
    }

    /// λ² − λA₂₂ − A₂₁.
    fn pencil(&self, pole: Complex) -> Vec<Complex> {
        let (n, square) = (self.n, times(pole, pole));
        let element = |i: usize| {
            let rate = times(pole, (self.by_rate[i], 0.0));
            let own = if i / n == i % n { square } else { (0.0, 0.0) };
            (own.0 - rate.0 - self.by_x[i], own.1 - rate.1)
        };
        (0..n * n).map(element).collect()
    }

    /// The shape of a pole. Poles that occur several times start in different directions.
    fn mode(&self, pole: Pole, seed: usize) -> Eigenmode {
        let n = self.n;
        let at = (pole.re, pole.im);
        let largest = self.by_x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let rates = self.by_rate.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let size = pole.size();
        // A step aside, so that there is something to divide by: small beside the pole, and beside the slowest ones, at
        // which dampers hold springs.
        let slowest = largest.sqrt().min(largest / rates.max(f64::MIN_POSITIVE));
        let aside = 1e-9 * (size + slowest).max(1e-9);
        let solver = Lu::new(self.pencil((at.0 + aside, at.1 + 0.5 * aside)), n);
        let mut state = seed as u64 + 1;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut x: Vec<Complex> = (0..n)
            .map(|_| (random(), if pole.im == 0.0 { 0.0 } else { random() }))
            .collect();
        for _ in 0..3 {
            solver.solve(&mut x);
            unit(&mut x);
        }
        let pencil = self.pencil(at);
        let left = (0..n).map(|i| {
            let sum = (0..n)
                .map(|k| times(pencil[i * n + k], x[k]))
                .fold((0.0, 0.0), |s, y| (s.0 + y.0, s.1 + y.1));
            sum.0.hypot(sum.1)
        });
        let residual = left.fold(0.0, f64::max) / (size * size + size * rates + largest).max(f64::MIN_POSITIVE);
        let nv = self.directions.first().map_or(0, Vec::len);
        let mut whole = vec![(0.0, 0.0); nv];
        for (direction, y) in self.directions.iter().zip(&x) {
            for (sum, d) in whole.iter_mut().zip(direction) {
                *sum = (sum.0 + d * y.0, sum.1 + d * y.1);
            }
        }
        unit(&mut whole);
        let (re, im) = whole.into_iter().unzip();
        Eigenmode { pole, re, im, residual }
    }
}

/// Scales so that the largest element is one.
fn unit(x: &mut [Complex]) {
    let Some(most) = x
        .iter()
        .copied()
        .max_by(|a, b| a.0.hypot(a.1).total_cmp(&b.0.hypot(b.1)))
    else {
        return;
    };
    if most != (0.0, 0.0) {
        x.iter_mut().for_each(|x| *x = over(*x, most));
    }
}

/// A complex matrix in factors, rows exchanged.
struct Lu {
    n: usize,
    a: Vec<Complex>,
    rows: Vec<usize>,
}

impl Lu {
    fn new(mut a: Vec<Complex>, n: usize) -> Self {
        let size = |x: Complex| x.0.hypot(x.1);
        let scale = a.iter().map(|x| size(*x)).fold(0.0, f64::max);
        let mut rows: Vec<usize> = (0..n).collect();
        for k in 0..n {
            let best = (k..n)
                .max_by(|i, j| size(a[i * n + k]).total_cmp(&size(a[j * n + k])))
                .unwrap_or(k);
            rows.swap(k, best);
            for j in 0..n {
                a.swap(k * n + j, best * n + j);
            }
            if size(a[k * n + k]) < 1e-300 + 1e-18 * scale {
                a[k * n + k] = (1e-300 + 1e-18 * scale, 0.0);
            }
            for i in k + 1..n {
                let factor = over(a[i * n + k], a[k * n + k]);
                a[i * n + k] = factor;
                for j in k + 1..n {
                    let less = times(factor, a[k * n + j]);
                    a[i * n + j] = (a[i * n + j].0 - less.0, a[i * n + j].1 - less.1);
                }
            }
        }
        Self { n, a, rows }
    }

    fn solve(&self, x: &mut [Complex]) {
        let n = self.n;
        let mut y: Vec<Complex> = self.rows.iter().map(|i| x[*i]).collect();
        for i in 0..n {
            for k in 0..i {
                let less = times(self.a[i * n + k], y[k]);
                y[i] = (y[i].0 - less.0, y[i].1 - less.1);
            }
        }
        for i in (0..n).rev() {
            for k in i + 1..n {
                let less = times(self.a[i * n + k], y[k]);
                y[i] = (y[i].0 - less.0, y[i].1 - less.1);
            }
            y[i] = over(y[i], self.a[i * n + i]);
        }
        x.copy_from_slice(&y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::closed::Constraint;
    use linkwork::model::{Joint, Link, examples};
    use linkwork::spatial::Inertia;

    #[test]
    fn every_mode_solves_its_equation() {
        for (name, example) in examples::all() {
            let robot = example();
            let found = modes(&robot, None, &robot.random(5)).expect(name);
            assert!(found.len() >= robot.nv(), "{name}");
            for mode in found {
                assert!(mode.residual < 1e-6, "{name}: {:?} {}", mode.pole, mode.residual);
            }
        }
    }

    #[test]
    fn a_hanging_double_pendulum_swings_as_the_textbook_says() {
        // Two rods of length 1 and mass 1 that hang: ω² = (g/l) · 3(1 ± 2/√7)… of the pencil of 𝓜 and the stiffness.
        let rod = Inertia::rod(1.0, [0.0, 0.0, -1.0]);
        let robot = Mechanism::builder("two rods")
            .link(Link::new("a", rod))
            .link(Link::new("b", rod))
            .joint(Joint::revolute("j1", [0.0, 1.0, 0.0]).between("world", "a"))
            .joint(
                Joint::revolute("j2", [0.0, 1.0, 0.0])
                    .between("a", "b")
                    .at([0.0, 0.0, -1.0]),
            )
            .build()
            .unwrap();
        let found = modes(&robot, None, &[0.0, 0.0]).unwrap();
        let g = -robot.gravity().z;
        for (mode, sign) in found.iter().zip([-1.0, 1.0]) {
            let known = (3.0 * g * (1.0 + sign * 2.0 / 7.0_f64.sqrt())).sqrt();
            assert!((mode.pole.im - known).abs() < 1e-9 * known, "{} {known}", mode.pole.im);
            // Slow: both to the same side; fast: against each other.
            assert_eq!((mode.re[0] * mode.re[1]).signum(), -sign);
        }
    }

    #[test]
    fn a_hanging_four_bar_moves_in_one_mode_within_its_loop() {
        // A parallelogram of massless cranks but for points at their ends: all of it swings as one simple pendulum.
        let point = Inertia::point(1.0, [0.0, 0.0, -1.0]);
        let y = [0.0, 1.0, 0.0];
        let robot = Mechanism::builder("swing")
            .link(Link::new("left", point))
            .link(Link::new("right", point))
            .joint(Joint::revolute("l", y).between("world", "left"))
            .joint(Joint::revolute("r", y).between("world", "right").at([1.0, 0.0, 0.0]))
            .frame("a", "left", linkwork::spatial::Pose::from_translation([0.0, 0.0, -1.0]))
            .frame(
                "b",
                "right",
                linkwork::spatial::Pose::from_translation([0.0, 0.0, -1.0]),
            )
            .build()
            .unwrap();
        let closed = ClosedMechanism::new(robot, vec![Constraint::distance("rod", "a", "b", 1.0)]).unwrap();
        let found = modes(closed.mechanism(), Some(&closed), &[0.0, 0.0]).unwrap();
        assert_eq!(found.len(), 1);
        let known = (-closed.mechanism().gravity().z).sqrt();
        assert!((found[0].pole.im - known).abs() < 1e-9, "{:?}", found[0].pole);
        assert!((found[0].re[0] - found[0].re[1]).abs() < 1e-9);
    }
}
