//! Eigenvalues of a real matrix: balanced, brought to Hessenberg form by reflections, then complex QR steps with shifts.

use crate::{Error, Result};
use core::ops::{Add, Mul, Sub};

/// A complex number: a pole, an eigenvalue of A.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pole {
    /// The real part: growth, in 1/s for a continuous model.
    pub re: f64,
    /// The imaginary part, in rad/s for a continuous model.
    pub im: f64,
}

impl Pole {
    /// Its size: of a continuous model's pole, the natural frequency in rad/s.
    pub fn size(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// The damping ratio −re/|pole| of a continuous model's pole: 1 where nothing oscillates, 0 without damping, negative
    /// where motions grow. Nought at the origin.
    pub fn damping(self) -> f64 {
        let size = self.size();
        if size == 0.0 { 0.0 } else { -self.re / size }
    }

    fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    fn conjugate(self) -> Self {
        Self::new(self.re, -self.im)
    }

    fn scaled(self, s: f64) -> Self {
        Self::new(self.re * s, self.im * s)
    }

    /// The root with a positive real part.
    fn sqrt(self) -> Self {
        let size = self.size();
        let re = ((size + self.re.abs()) * 0.5).sqrt();
        if re == 0.0 {
            return Self::default();
        }
        let other = self.im / (2.0 * re);
        if self.re >= 0.0 {
            Self::new(re, other)
        } else {
            Self::new(other.abs(), if self.im < 0.0 { -re } else { re })
        }
    }
}

impl Add for Pole {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.re + o.re, self.im + o.im)
    }
}

impl Sub for Pole {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.re - o.re, self.im - o.im)
    }
}

impl Mul for Pole {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}

/// Steps for each eigenvalue before giving up; a few are usual.
const STEPS: usize = 60;

/// The eigenvalues of an n × n matrix, those of the largest real part first.
pub(crate) fn of(n: usize, a: &[f64]) -> Result<Vec<Pole>> {
    if a.len() != n * n {
        return Err(Error::Length {
            argument: "a",
            needed: n * n,
            given: a.len(),
        });
    }
    if let Some(x) = a.iter().find(|x| !x.is_finite()) {
        return Err(Error::Unsolved {
            what: "the poles",
            problem: format!("A has a number {x}; give finite ones"),
        });
    }
    // By a power of two, so that squares neither vanish nor overflow.
    let size = a.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let scale = if size > 0.0 {
        size.log2().round().clamp(-1000.0, 1000.0).exp2()
    } else {
        1.0
    };
    let mut h: Vec<f64> = a.iter().map(|x| x / scale).collect();
    balance(n, &mut h);
    hessenberg(n, &mut h);
    let mut h: Vec<Pole> = h.into_iter().map(|x| Pole::new(x, 0.0)).collect();
    let norm = h.iter().fold(0.0_f64, |m, x| m.max(x.size()));
    let mut poles = Vec::with_capacity(n);
    let (mut end, mut steps) = (n, 0);
    while end > 0 {
        // The last row whose coupling to the one before has faded.
        let faded = |i: usize| {
            let near = h[(i - 1) * n + i - 1].size() + h[i * n + i].size();
            let scale = if near == 0.0 { norm } else { near };
            h[i * n + i - 1].size() <= f64::EPSILON * scale
        };
        let start = (1..end).rev().find(|i| faded(*i)).unwrap_or(0);
        if start + 1 == end {
            end -= 1;
            poles.push(h[end * n + end]);
            steps = 0;
            continue;
        }
        steps += 1;
        if steps > STEPS {
            return Err(Error::Unsolved {
                what: "the poles",
                problem: "QR steps do not settle; look for huge and tiny numbers side by side in A".into(),
            });
        }
        let shift = shift(n, &h, end, steps);
        step(n, &mut h, start, end, shift);
    }
    pair(&mut poles, norm);
    poles.iter_mut().for_each(|pole| *pole = pole.scaled(scale));
    let order = |a: &Pole, b: &Pole| b.re.total_cmp(&a.re);
    poles.sort_by(|a, b| {
        order(a, b)
            .then(a.im.abs().total_cmp(&b.im.abs()))
            .then(b.im.total_cmp(&a.im))
    });
    Ok(poles)
}

/// A real matrix has real eigenvalues and conjugate pairs: takes off what rounding made of that.
fn pair(poles: &mut [Pole], norm: f64) {
    let rounding = 1e3 * f64::EPSILON * norm;
    for i in 0..poles.len() {
        if poles[i].im.abs() <= rounding.min(1e-7 * poles[i].size()) {
            poles[i].im = 0.0;
        }
        if poles[i].im <= 0.0 {
            continue;
        }
        let from = |j: &usize| (poles[*j].conjugate() - poles[i]).size();
        let below = (0..poles.len()).filter(|j| poles[*j].im < 0.0);
        if let Some(j) = below.min_by(|a, b| from(a).total_cmp(&from(b))) {
            let mean = (poles[i] + poles[j].conjugate()).scaled(0.5);
            (poles[i], poles[j]) = (mean, mean.conjugate());
        }
    }
}

/// Scales rows and columns by powers of two until both weigh alike.
fn balance(n: usize, a: &mut [f64]) {
    for _ in 0..30 {
        let mut settled = true;
        for i in 0..n {
            let off = |j: usize| j != i;
            let row: f64 = (0..n).filter(|j| off(*j)).map(|j| a[i * n + j].abs()).sum();
            let column: f64 = (0..n).filter(|j| off(*j)).map(|j| a[j * n + i].abs()).sum();
            if row == 0.0 || column == 0.0 {
                continue;
            }
            let scale = (0.5 * (row / column).log2()).round().clamp(-500.0, 500.0).exp2();
            if scale == 1.0 || column * scale + row / scale > 0.95 * (column + row) {
                continue;
            }
            settled = false;
            for j in 0..n {
                a[i * n + j] /= scale;
                a[j * n + i] *= scale;
            }
        }
        if settled {
            break;
        }
    }
}

/// Q*AQ with noughts below the first subdiagonal.
fn hessenberg(n: usize, a: &mut [f64]) {
    for k in 0..n.saturating_sub(2) {
        let mut v: Vec<f64> = (k + 1..n).map(|i| a[i * n + k]).collect();
        let norm = v.iter().fold(0.0_f64, |sum, x| sum.hypot(*x));
        if norm == 0.0 {
            continue;
        }
        v[0] += if v[0] > 0.0 { norm } else { -norm };
        let square: f64 = v.iter().map(|x| x * x).sum();
        for j in 0..n {
            let along: f64 = v.iter().enumerate().map(|(i, x)| x * a[(k + 1 + i) * n + j]).sum();
            let w = 2.0 * along / square;
            v.iter().enumerate().for_each(|(i, x)| a[(k + 1 + i) * n + j] -= w * x);
        }
        for row in a.chunks_mut(n) {
            let along: f64 = v.iter().zip(&row[k + 1..]).map(|(v, x)| v * x).sum();
            let w = 2.0 * along / square;
            v.iter().zip(&mut row[k + 1..]).for_each(|(v, x)| *x -= w * v);
        }
    }
}

/// Wilkinson's shift: the eigenvalue of the last 2×2 that is nearer to the last element; now and then another.
fn shift(n: usize, h: &[Pole], end: usize, steps: usize) -> Pole {
    let (a, b) = (h[(end - 2) * n + end - 2], h[(end - 2) * n + end - 1]);
    let (c, d) = (h[(end - 1) * n + end - 2], h[(end - 1) * n + end - 1]);
    if steps.is_multiple_of(11) {
        return Pole::new(d.size() + c.size(), b.size());
    }
    let half = (a - d).scaled(0.5);
    let root = (half * half + b * c).sqrt();
    let (low, high) = (d + half - root, d + half + root);
    if (low - d).size() < (high - d).size() {
        low
    } else {
        high
    }
}

/// H − σ = QR, H ← RQ + σ, for the rows and columns start..end.
fn step(n: usize, h: &mut [Pole], start: usize, end: usize, shift: Pole) {
    for i in start..end {
        h[i * n + i] = h[i * n + i] - shift;
    }
    let mut turns = Vec::with_capacity(end - start);
    for k in start..end - 1 {
        let (x, y) = (h[k * n + k], h[(k + 1) * n + k]);
        let r = x.size().hypot(y.size());
        let (c, s) = if r == 0.0 {
            (Pole::new(1.0, 0.0), Pole::default())
        } else {
            (x.scaled(1.0 / r), y.scaled(1.0 / r))
        };
        for j in k..end {
            let (u, v) = (h[k * n + j], h[(k + 1) * n + j]);
            h[k * n + j] = c.conjugate() * u + s.conjugate() * v;
            h[(k + 1) * n + j] = c * v - s * u;
        }
        turns.push((c, s));
    }
    for (k, (c, s)) in (start..).zip(turns) {
        for i in start..(k + 2).min(end) {
            let (u, v) = (h[i * n + k], h[i * n + k + 1]);
            h[i * n + k] = u * c + v * s;
            h[i * n + k + 1] = v * c.conjugate() - u * s.conjugate();
        }
    }
    for i in start..end {
        h[i * n + i] = h[i * n + i] + shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_of_a_companion_matrix_are_the_roots() {
        // (x − 1)(x − 2)(x + 3)(x² + 2x + 5): 1, 2, −3, −1 ± 2i.
        let c = [-30.0, 23.0, 8.0, 2.0, -2.0];
        let mut a = vec![0.0; 25];
        for i in 0..5 {
            a[i * 5 + 4] = c[i];
            if i > 0 {
                a[i * 5 + i - 1] = 1.0;
            }
        }
        let poles = of(5, &a).unwrap();
        let roots = [(2.0, 0.0), (1.0, 0.0), (-1.0, 2.0), (-1.0, -2.0), (-3.0, 0.0)];
        assert_eq!(poles.len(), 5);
        for (pole, (re, im)) in poles.iter().zip(roots) {
            assert!((pole.re - re).hypot(pole.im - im) < 1e-12, "{poles:?}");
        }
    }

    #[test]
    fn a_turning_block_has_poles_on_the_axis_and_defective_ones_are_found() {
        let poles = of(
            4,
            &[
                0.0, 2.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0,
            ],
        )
        .unwrap();
        let near = |re: f64, im: f64| poles.iter().any(|p| (p.re - re).hypot(p.im - im) < 1e-12);
        assert!(near(0.0, 2.0) && near(0.0, -2.0) && near(0.0, 0.0), "{poles:?}");
        assert!(of(0, &[]).unwrap().is_empty());
    }

    #[test]
    fn eigenvalues_have_the_scale_of_their_matrix() {
        for scale in [1e-300, 1e-200, 1e-30, 1e30, 1e200, 1e300] {
            let a = [1.0, 2.0, 0.0, -2.0, 1.0, 0.5, 0.0, 0.3, 4.0];
            let poles = of(3, &a.map(|x| scale * x)).unwrap();
            for (got, expect) in poles.iter().zip(of(3, &a).unwrap()) {
                let near = (got.scaled(1.0 / scale) - expect).size() < 1e-13;
                assert!(near, "{scale}: {got:?} {expect:?}");
            }
        }
        assert!(of(1, &[f64::NAN]).is_err() && of(2, &[1.0]).is_err());
    }
}
