//! Weights between two links of trees, row by row.
//!
//! A row with the Jacobian j and the weight w adds j*wj to 𝓐₁ = LDL*, L = I + HφK. Its innovations e = L⁻¹j* stand on the ways of its
//! two links to the root, and with those of all rows in E
//!
//! ```text
//! 𝓐⁻¹ = L⁻*(D + EGE*)⁻¹L⁻¹        (D + EGE*)⁻¹ = D⁻¹ − D⁻¹E(G⁻¹ + E*D⁻¹E)⁻¹E*D⁻¹
//! ```
//!
//! A solution takes its two sweeps, with small products between them.

use super::{Augmented, Pass, Tree};
use crate::body::Gain;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion};
use crate::stage::crossing::{AnyJoint, Crossing};

/// A weight on one direction, w xx*, x being a force on each of two links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<S> {
    pub(crate) ends: [usize; 2],
    pub(crate) x: [[S; 6]; 2],
    pub(crate) weight: S,
}

/// The rows, and what elimination makes of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Between<S> {
    pub(crate) rows: Vec<Row<S>>,
    /// Per row: e over the degrees of freedom, and D⁻¹e.
    eps: Vec<S>,
    scaled: Vec<S>,
    /// The Cholesky factor of G⁻¹ + E*D⁻¹E, its diagonal inverted.
    lower: Vec<S>,
    rest: Vec<S>,
}

impl<S: Scalar> Between<S> {
    /// The forces that links' motions make on each other.
    pub(super) fn push_links(&self, motions: &[Motion<S>], forces: &mut [Force<S>]) {
        for row in &self.rows {
            let mut along = S::ZERO;
            for (&k, x) in row.ends.iter().zip(&row.x) {
                along += motions[k].dot(Force::from_array(*x));
            }
            for (&k, x) in row.ends.iter().zip(&row.x) {
                forces[k] = Force::from_array(*x).mul_add(row.weight * along, forces[k]);
            }
        }
    }

    /// log det(I + GE*D⁻¹E).
    pub(super) fn log_det(&self) -> f64 {
        let n = self.rows.len();
        let own = |i: usize| self.rows[i].weight.lane(0).ln() - 2.0 * self.lower[i * n + i].lane(0).ln();
        (0..n).map(own).sum()
    }

    /// ε − Ec, c = (G⁻¹ + E*D⁻¹E)⁻¹E*D⁻¹ε.
    #[inline(always)]
    pub(super) fn correct(&mut self, eps: &mut [S]) {
        let (n, nv, lower) = (self.rows.len(), eps.len(), &self.lower);
        self.rest.clear();
        for scaled in self.scaled.chunks_exact(nv) {
            let mut sum = S::ZERO;
            for (x, e) in scaled.iter().zip(&*eps) {
                sum = x.mul_add(*e, sum);
            }
            self.rest.push(sum);
        }
        let rest = &mut self.rest;
        for i in 0..n {
            for j in 0..i {
                rest[i] = (-lower[i * n + j]).mul_add(rest[j], rest[i]);
            }
            rest[i] = rest[i] * lower[i * n + i];
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                rest[i] = (-lower[j * n + i]).mul_add(rest[j], rest[i]);
            }
            rest[i] = rest[i] * lower[i * n + i];
        }
        for (row, c) in self.eps.chunks_exact(nv).zip(rest) {
            for (eps, e) in eps.iter_mut().zip(row) {
                *eps = (-*c).mul_add(*e, *eps);
            }
        }
    }

    /// The factor of G⁻¹ + E*D⁻¹E.
    #[inline(always)]
    fn factor(&mut self, gains: &[Gain<S>]) {
        let (n, nv) = (self.rows.len(), gains.len());
        self.scaled.clear();
        for row in self.eps.chunks_exact(nv) {
            self.scaled
                .extend(row.iter().zip(gains).map(|(e, gain)| *e * gain.d_inv));
        }
        self.lower.clear();
        self.lower.resize(n * n, S::ZERO);
        let lower = &mut self.lower;
        for (i, row) in self.eps.chunks_exact(nv).enumerate() {
            for (j, other) in self.scaled.chunks_exact(nv).enumerate().take(i + 1) {
                let mut sum = S::ZERO;
                for (x, y) in row.iter().zip(other) {
                    sum = x.mul_add(*y, sum);
                }
                lower[i * n + j] = sum;
            }
            lower[i * n + i] += self.rows[i].weight.recip();
        }
        for j in 0..n {
            for l in 0..j {
                let x = lower[j * n + l];
                for i in j..n {
                    lower[i * n + j] = (-lower[i * n + l]).mul_add(x, lower[i * n + j]);
                }
            }
            let inverse = lower[j * n + j].sqrt().recip();
            lower[j * n + j] = inverse;
            for i in j + 1..n {
                lower[i * n + j] = lower[i * n + j] * inverse;
            }
        }
    }
}

/// ε of forces on at most two links, over all degrees of freedom: along the ways to the root.
#[inline(always)]
fn innovate<S: Scalar>(
    Tree { m, joints, .. }: Tree<'_, S>,
    gains: &[Gain<S>],
    ends: [Option<usize>; 2],
    x: &[[S; 6]; 2],
    eps: &mut [S],
) {
    let none = [S::ZERO; 6];
    let [mut one, mut two] = ends;
    let [mut z, mut y] = [-Force::from_array(x[0]), -Force::from_array(x[1])];
    // A parent has the smaller number.
    while let Some(k) = one.max(two) {
        let both = one == two;
        let mut f = if both {
            z + y
        } else if one > two {
            z
        } else {
            y
        };
        let (body, joint) = (&m.bodies[k], AnyJoint::new(m, joints, k));
        body.hinge.innovate(&mut f, &none, &gains[body.v..], &mut eps[body.v..]);
        if body.parent.is_some() {
            f = joint.force_in(f);
        }
        if both {
            (one, two, z) = (body.parent, None, f);
        } else if one > two {
            (one, z) = (body.parent, f);
        } else {
            (two, y) = (body.parent, f);
        }
    }
}

/// E and the small system.
struct FactorRows;

impl<S: Scalar> Pass<S> for FactorRows {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, tree: Tree<'_, S>, a: &mut Augmented<S>) {
        let Augmented { between, gains, .. } = a;
        let nv = gains.len();
        between.eps.clear();
        between.eps.resize(nv * between.rows.len(), S::ZERO);
        for (row, eps) in between.rows.iter().zip(between.eps.chunks_exact_mut(nv)) {
            innovate(tree, gains, row.ends.map(Some), &row.x, eps);
        }
        between.factor(gains);
    }
}

/// L⁻¹J*f of a force on at most two links; then (D + EGE*)⁻¹ of it.
struct InnovationsOf<'a, S> {
    ends: [Option<usize>; 2],
    x: &'a [[S; 6]; 2],
    eps: &'a mut [S],
    weighed: &'a mut [S],
}

impl<S: Scalar> Pass<S> for InnovationsOf<'_, S> {
    #[inline(always)]
    fn run<const SPECIAL: bool>(self, tree: Tree<'_, S>, a: &mut Augmented<S>) {
        let Self { ends, x, eps, weighed } = self;
        eps.fill(S::ZERO);
        innovate(tree, &a.gains, ends, x, eps);
        weighed.copy_from_slice(eps);
        if !a.between.rows.is_empty() {
            a.between.correct(weighed);
        }
        for (weighed, gain) in weighed.iter_mut().zip(&a.gains) {
            *weighed = *weighed * gain.d_inv;
        }
    }
}

impl<S: Scalar> Augmented<S> {
    /// E and the small system, where there are rows.
    pub(super) fn factor_rows(&mut self, tree: Tree<'_, S>) {
        if !self.between.rows.is_empty() {
            self.perform(tree, FactorRows);
        }
    }

    /// Rows as weights on links and blocks between them.
    pub(super) fn rows_to_blocks(&mut self) {
        let rows = core::mem::take(&mut self.between.rows);
        for Row { ends, x, weight } in &rows {
            for (&k, x) in ends.iter().zip(x) {
                let mut own = Articulated::ZERO;
                own.add_square(*weight, x);
                self.weigh(k, &own);
            }
            let mut joined = [[S::ZERO; 6]; 6];
            for r in 0..6 {
                for c in 0..6 {
                    joined[r][c] = *weight * x[0][r] * x[1][c];
                }
            }
            self.pairs.join(ends[0], ends[1], &joined);
        }
        self.between.rows = rows;
        self.between.rows.clear();
    }

    /// e = L⁻¹J*f of a force on at most two links, and (D + EGE*)⁻¹e, over all degrees of freedom: e₁*(D + EGE*)⁻¹e₂ = J₁𝓐⁻¹J₂*. After
    /// a factor, where no free body is paired and no joint follows another.
    pub(crate) fn innovations(
        &mut self,
        tree: Tree<'_, S>,
        ends: [Option<usize>; 2],
        x: &[[S; 6]; 2],
        eps: &mut [S],
        weighed: &mut [S],
    ) {
        let pass = InnovationsOf { ends, x, eps, weighed };
        self.perform(tree, pass);
    }
}
