//! How a follower's coordinate comes from its leader's.

use crate::scalar::Scalar;
use std::sync::Arc;

/// How a follower's coordinate q comes from its leader's, y.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// q = c₀ + c₁y + c₂y² + …
    Polynomial(Vec<f64>),
    /// Any smooth function with its derivatives.
    Function(Function),
}

/// A smooth function of one number, known with some of its derivatives.
#[derive(Clone)]
pub struct Function {
    /// Writes g, g′, g″ … to as many numbers as are known.
    values: Arc<Values>,
    known: usize,
}

type Values = dyn Fn(f64, &mut [f64]) + Send + Sync;

impl core::fmt::Debug for Function {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "a function with {} derivatives", self.derivatives())
    }
}

/// Functions are the same if they are the same piece of code with the same data.
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.values, &other.values)
    }
}

impl Function {
    /// A function that gives [g, g′, g″, …] at y.
    pub fn new<const N: usize>(g: impl Fn(f64) -> [f64; N] + Send + Sync + 'static) -> Self {
        let values = move |y: f64, out: &mut [f64]| {
            let all = g(y);
            let known = out.len().min(N);
            out[..known].copy_from_slice(&all[..known]);
        };
        Self {
            values: Arc::new(values),
            known: N.min(MOST),
        }
    }

    /// How many derivatives it gives.
    pub fn derivatives(&self) -> usize {
        self.known.saturating_sub(1)
    }
}

/// The most numbers of a function that are used: g and five derivatives.
const MOST: usize = 6;

/// 0!, 1!, …
const FACTORIALS: [f64; MOST] = [1.0, 1.0, 2.0, 6.0, 24.0, 120.0];

impl Law {
    /// How many derivatives are known.
    fn derivatives(&self) -> usize {
        match self {
            Self::Polynomial(_) => usize::MAX,
            Self::Function(g) => g.derivatives(),
        }
    }

    /// Whether it is more than a ratio and an offset.
    pub(crate) fn is_curved(&self) -> bool {
        !matches!(self, Self::Polynomial(c) if c.len() <= 2)
    }

    /// The coefficients of its Taylor series about y; those that are not known are zero.
    fn series(&self, y: f64) -> [f64; MOST] {
        let mut t = [0.0; MOST];
        match self {
            Self::Polynomial(c) => {
                for c in c.iter().rev() {
                    for k in (1..MOST).rev() {
                        t[k] = t[k] * y + t[k - 1];
                    }
                    t[0] = t[0] * y + c;
                }
            }
            Self::Function(g) => {
                (g.values)(y, &mut t[..g.known]);
                t.iter_mut().zip(FACTORIALS).for_each(|(t, f)| *t /= f);
            }
        }
        t
    }
}

/// How many derivatives of laws one after another are known: of several, no more than a series has.
pub(crate) fn derivatives(laws: &[Law]) -> usize {
    let most = if laws.len() > 1 { MOST - 1 } else { usize::MAX };
    laws.iter().map(Law::derivatives).fold(most, usize::min)
}

/// q and its first three derivatives at y, by laws of which each takes what the one before gives.
#[inline(always)]
pub(crate) fn at<S: Scalar>(laws: &[Law], y: S) -> [S; 4] {
    match laws {
        [Law::Polynomial(c)] => polynomial(c, y),
        _ => chain(laws, y),
    }
}

#[inline(always)]
fn polynomial<S: Scalar>(coefficients: &[f64], y: S) -> [S; 4] {
    if let [offset, ratio] = *coefficients {
        return [S::lift(ratio) * y + S::lift(offset), S::lift(ratio), S::ZERO, S::ZERO];
    }
    let [mut q, mut slope, mut half, mut sixth] = [S::ZERO; 4];
    for c in coefficients.iter().rev() {
        sixth = sixth.mul_add(y, half);
        half = half.mul_add(y, slope);
        slope = slope.mul_add(y, q);
        q = q.mul_add(y, S::lift(*c));
    }
    [q, slope, half + half, S::lift(6.0) * sixth]
}

/// The series about the plain part of y, which is exact in what numbers carry beside it.
#[inline(never)]
fn chain<S: Scalar>(laws: &[Law], y: S) -> [S; 4] {
    let about = y.lane(0);
    let mut series = [0.0; MOST];
    (series[0], series[1]) = (about, 1.0);
    for law in laws {
        let outer = law.series(series[0]);
        series = substituted(&outer, &series);
    }
    let beside = y - S::lift(about);
    core::array::from_fn(|order| {
        // Σ t_k k!/(k − order)! beside^(k − order).
        let last = (order + S::ORDER).min(MOST - 1);
        let weight = |k: usize| S::lift(series[k] * FACTORIALS[k] / FACTORIALS[k - order]);
        (order..=last)
            .rev()
            .fold(S::ZERO, |sum, k| sum.mul_add(beside, weight(k)))
    })
}

/// The series of outer(inner), `outer` being about inner's first coefficient.
fn substituted(outer: &[f64; MOST], inner: &[f64; MOST]) -> [f64; MOST] {
    let mut sum = [0.0; MOST];
    for c in outer.iter().rev() {
        let mut next = [0.0; MOST];
        for (i, a) in sum.iter().enumerate() {
            // Without its first coefficient, inner starts with the first power.
            for (j, b) in inner.iter().enumerate().skip(1).take(MOST - 1 - i) {
                next[i + j] += a * b;
            }
        }
        next[0] += c;
        sum = next;
    }
    sum
}

/// Laws and one more after them, as few as possible: ratios and offsets go into their neighbours.
pub(crate) fn after(outer: &Law, inner: &[Law]) -> Vec<Law> {
    let mut laws = inner.to_vec();
    match (laws.last_mut(), outer) {
        (Some(Law::Polynomial(a)), Law::Polynomial(b)) if a.len() <= 2 || b.len() <= 2 => *a = composed(b, a),
        _ => laws.push(outer.clone()),
    }
    laws
}

/// The coefficients of outer(inner(y)).
fn composed(outer: &[f64], inner: &[f64]) -> Vec<f64> {
    let mut sum: Vec<f64> = Vec::new();
    for c in outer.iter().rev() {
        let mut next = vec![0.0; sum.len() + inner.len().max(1)];
        for (i, a) in sum.iter().enumerate() {
            for (j, b) in inner.iter().enumerate() {
                next[i + j] += a * b;
            }
        }
        next[0] += c;
        sum = next;
    }
    while sum.len() > 2 && sum.last() == Some(&0.0) {
        sum.pop();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Dual;

    fn sine() -> Law {
        Law::Function(Function::new(|y: f64| {
            let (s, c) = y.sin_cos();
            [s, c, -s, -c, s, c]
        }))
    }

    #[test]
    fn chains_of_laws_have_the_derivatives_of_the_whole() {
        // sin(1 + y + 2y²), by a function of a polynomial.
        let laws = after(&sine(), &[Law::Polynomial(vec![1.0, 1.0, 2.0])]);
        for y in [-0.7, 0.0, 0.4] {
            let u: f64 = 1.0 + y + 2.0 * y * y;
            let (s, c, d) = (u.sin(), u.cos(), 1.0 + 4.0 * y);
            let expect = [s, c * d, -s * d * d + 4.0 * c, -c * d * d * d - 12.0 * s * d];
            let got = at(&laws, y);
            for (got, expect) in got.iter().zip(expect) {
                assert!((got - expect).abs() < 1e-12, "{got} {expect}");
            }
            // What duals carry beside is the next derivative.
            let dual = at(&laws, Dual::variable(y));
            for k in 0..3 {
                assert!((dual[k].derivative - got[k + 1]).abs() < 1e-12);
            }
            let second = at(&laws, Dual::new(Dual::variable(y), Dual::constant(1.0)));
            assert!((second[1].derivative.derivative - got[3]).abs() < 1e-11);
        }
    }

    #[test]
    fn polynomials_agree_with_their_series() {
        let laws = [Law::Polynomial(vec![0.3, -1.0, 0.5, 2.0, -0.7])];
        for y in [-1.3_f64, 0.2] {
            for (a, b) in at(&laws, y).iter().zip(chain(&laws, y)) {
                assert!((a - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn chains_know_no_more_derivatives_than_their_series() {
        use crate::model::{Coupling, examples};
        let curve = Law::Polynomial(vec![0.1, 0.7, 0.3, 0.2]);
        assert_eq!(derivatives(core::slice::from_ref(&curve)), usize::MAX);
        assert_eq!(derivatives(&[curve.clone(), curve]), MOST - 1);
        let curve = |follower: &str, leader: &str| Coupling::polynomial(follower, leader, vec![0.1, 0.7, 0.3, 0.2]);
        let one = examples::arm7().to_builder().couple(curve("joint4", "joint2"));
        one.clone().build().unwrap().check_derivatives(50, "a test").unwrap();
        let two = one.couple(curve("joint6", "joint4")).build().unwrap();
        two.check_derivatives(5, "a test").unwrap();
        let text = two.check_derivatives(6, "a test").unwrap_err().to_string();
        assert!(text.contains("`joint6`") && text.contains("5 derivatives"), "{text}");
        assert!(text.contains("a test needs 6"), "{text}");
        // Ratios go into their neighbours.
        let gear = Coupling::gear("joint6", "joint4", 2.0, 0.0);
        let geared = examples::arm7()
            .to_builder()
            .couple(curve("joint4", "joint2"))
            .couple(gear);
        geared.build().unwrap().check_derivatives(50, "a test").unwrap();
    }
}
