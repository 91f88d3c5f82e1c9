//! Curvature of the mass matrix as a metric: whether coordinates exist in which it is the identity everywhere.
//! (Jain and Rodriguez, *Diagonalized Lagrangian Robot Dynamics*, section 2.5)

use crate::model::{JointKind, Mechanism};
use crate::scalar::{Dual, Scalar};
use crate::spatial::Motion;
use crate::{Error, Result};

/// More degrees of freedom than this are refused: R has nv⁴ numbers.
const MOST: usize = 24;

/// The Riemann symbols R_hijk of the metric 𝓜 at a configuration, in the directions of v.
///
/// Global coordinates with ½q̇\*𝓜q̇ = ½ẏ\*ẏ exist around q just where they vanish on a neighbourhood. Diagonalized equations
/// need no such coordinates: their ν are not the rates of anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Curvature {
    n: usize,
    symbols: Vec<f64>,
    /// The largest sum of terms without signs, or number of 𝓜, which rounding is relative to.
    size: f64,
}

impl Curvature {
    /// R_hijk.
    pub fn symbol(&self, h: usize, i: usize, j: usize, k: usize) -> f64 {
        self.symbols[((h * self.n + i) * self.n + j) * self.n + k]
    }

    /// All of them, nv⁴ numbers; the last index varies fastest.
    pub fn symbols(&self) -> &[f64] {
        &self.symbols
    }

    /// The largest symbol, without sign.
    pub fn largest(&self) -> f64 {
        self.symbols.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
    }

    /// Whether all symbols vanish but for rounding.
    pub fn is_flat(&self) -> bool {
        self.largest() <= 1e-12 * self.size
    }
}

type Number = Dual<f64>;

impl Mechanism {
    /// The curvature of the mass matrix at q. Its second derivatives are exact, by dual numbers along the Coriolis matrix.
    ///
    /// ```
    /// use linkwork::model::examples;
    /// assert!(!examples::double_pendulum().curvature(&[0.3, 0.8])?.is_flat());
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn curvature(&self, q: &[f64]) -> Result<Curvature> {
        let n = self.nv();
        if n > MOST {
            return Err(Error::Unsupported {
                mechanism: self.name().to_owned(),
                what: "curvature of this size",
                needs: "at most 24 degrees of freedom, as it has nv⁴ numbers; make some joints fixed",
            });
        }
        let metric = Metric::new(self, q)?;
        let inverse = self.mass_matrix_inverse(q)?;
        let bracket = brackets(self);
        let c = |i: usize, j: usize, k: usize| bracket[(i * n + j) * n + k];
        // ⟨[e_i, e_j], e_k⟩ of a metric given by g or by its derivative.
        let lowered = |g: &dyn Fn(usize, usize) -> f64, i: usize, j: usize, k: usize| -> f64 {
            (0..n).map(|l| c(i, j, l) * g(l, k)).sum()
        };
        // Γ_ij,k = ⟨∇_i e_j, e_k⟩ by Koszul's formula, and its derivatives along e_h.
        let gamma = |g: &dyn Fn(usize, usize) -> f64, d: &dyn Fn(usize, usize, usize) -> f64, i, j, k| {
            0.5 * (d(i, j, k) + d(j, i, k) - d(k, i, j) + lowered(g, i, j, k)
                - lowered(g, i, k, j)
                - lowered(g, j, k, i))
        };
        let fill = |f: &dyn Fn(usize, usize, usize) -> f64| -> Vec<f64> {
            let index = |x: usize| (x / (n * n), x / n % n, x % n);
            (0..n * n * n).map(index).map(|(i, j, k)| f(i, j, k)).collect()
        };
        let at = |x: &[f64], i: usize, j: usize, k: usize| x[(i * n + j) * n + k];
        let value = |i: usize, j: usize| metric.value[i * n + j];
        let first = fill(&|i, j, k| gamma(&value, &|a, b, c| metric.first(a, b, c), i, j, k));
        let rates: Vec<Vec<f64>> = (0..n)
            .map(|h| {
                let g = |i: usize, j: usize| metric.first(h, i, j);
                fill(&|i, j, k| gamma(&g, &|a, b, c| metric.second(h, a, b, c), i, j, k))
            })
            .collect();
        // Γ_ij,l 𝓜⁻¹_lm.
        let raised = fill(&|i, j, m| (0..n).map(|l| at(&first, i, j, l) * inverse[l * n + m]).sum());
        let mut curvature = Curvature {
            n,
            symbols: Vec::with_capacity(n.pow(4)),
            size: metric.value.iter().fold(0.0, |most: f64, x| most.max(x.abs())),
        };
        for index in 0..n.pow(4) {
            let (h, i, j, k) = (index / n.pow(3), index / (n * n) % n, index / n % n, index % n);
            let pairs = |a: usize, b: usize| (0..n).map(|m| at(&raised, a, i, m) * at(&first, b, h, m)).sum::<f64>();
            let along: f64 = (0..n).map(|l| c(j, k, l) * at(&first, l, i, h)).sum();
            let terms = [
                at(&rates[j], k, i, h),
                -at(&rates[k], j, i, h),
                pairs(j, k),
                -pairs(k, j),
                -along,
            ];
            curvature.symbols.push(terms.iter().sum());
            curvature.size = curvature.size.max(terms.iter().map(|x| x.abs()).sum());
        }
        Ok(curvature)
    }
}

/// 𝓜 and its derivatives along the directions of v, one after the other.
struct Metric {
    n: usize,
    value: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Metric {
    fn new(mechanism: &Mechanism, q: &[f64]) -> Result<Self> {
        let n = mechanism.nv();
        let mut workspace = mechanism.workspace_of::<Number>();
        let still: Vec<Number> = q.iter().map(|x| Number::constant(*x)).collect();
        let (mut moved, mut step) = (still.clone(), vec![Number::ZERO; n]);
        let mut matrix = vec![Number::ZERO; n * n];
        let (mut value, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
        for a in 0..n {
            step[a] = Number::variable(0.0);
            mechanism.integrate(&still, &step, &mut moved)?;
            step[a] = Number::ZERO;
            let mut posed = workspace.at(&moved)?;
            posed.mass_matrix(&mut matrix)?;
            value = matrix.iter().map(|x| x.value).collect();
            first.extend(matrix.iter().map(|x| x.derivative));
            // At a velocity of one along b, C + C* is e_b 𝓜.
            for b in 0..n {
                step[b] = Number::ONE;
                posed.moving(&step)?.coriolis_matrix(&mut matrix)?;
                step[b] = Number::ZERO;
                let rate = |x: usize| matrix[x].derivative + matrix[x % n * n + x / n].derivative;
                second.extend((0..n * n).map(rate));
            }
        }
        Ok(Self {
            n,
            value,
            first,
            second,
        })
    }

    /// e_a 𝓜_ij.
    fn first(&self, a: usize, i: usize, j: usize) -> f64 {
        self.first[(a * self.n + i) * self.n + j]
    }

    /// e_a(e_b 𝓜_ij).
    fn second(&self, a: usize, b: usize, i: usize, j: usize) -> f64 {
        self.second[((a * self.n + b) * self.n + i) * self.n + j]
    }
}

/// [e_i, e_j] = Σ c_ijk e_k: the velocities of planar, spherical and free joints, being in the link's axes, do not commute.
fn brackets(mechanism: &Mechanism) -> Vec<f64> {
    let n = mechanism.nv();
    let mut c = vec![0.0; n * n * n];
    for (joint, start) in mechanism.joints().iter().zip(&mechanism.v_start) {
        if !matches!(joint.kind, JointKind::Planar | JointKind::Spherical | JointKind::Free) {
            continue;
        }
        let axes = joint.kind.axes();
        let unit = |i: usize| {
            let mut x = [0.0; 6];
            x[axes[i]] = 1.0;
            Motion::from_array(x)
        };
        for i in 0..axes.len() {
            for j in 0..axes.len() {
                let turned = unit(i).cross(unit(j)).to_array();
                for (k, axis) in axes.iter().enumerate() {
                    c[((start + i) * n + start + j) * n + start + k] = turned[*axis];
                }
            }
        }
    }
    c
}
