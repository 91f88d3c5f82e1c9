//! The laws of the algebra, seen from outside.
//!
//! Each law equates two ways to one quantity that share as little as possible: composite bodies against the Riccati
//! equation, one recursion against another, sweeps against dense matrices, the chain rule against a formula.

use super::Sample;
use super::dense;
use crate::energy::worse;
use crate::random::Random;
use anyhow::Result;
use linkwork::scalar::Dual;
use linkwork::{Mechanism, Workspace};
use serde::Serialize;

/// A law, and how well it holds.
#[derive(Serialize)]
pub(crate) struct Law {
    pub(crate) name: &'static str,
    pub(crate) law: &'static str,
    /// The largest residual, relative to the size of what is rounded and, where something is inverted, to the condition.
    pub(crate) residual: f64,
    pub(crate) tolerance: f64,
    pub(crate) holds: bool,
}

/// Name and formula of each law, in the order of [`Checker::residuals`].
const LAWS: [(&str, &str); 9] = [
    ("inverse", "𝓜 𝓜⁻¹ = I"),
    ("factors", "(I − HψK)* D⁻¹ (I − HψK) 𝓜x = x"),
    ("determinant", "log det 𝓜 = Σ log det D"),
    ("round trip", "forward ∘ inverse dynamics = identity"),
    ("four ways", "four forward dynamics give one q̈"),
    ("kinetic energy", "½ Σ V*MV = ½ q̇*𝓜q̇"),
    ("velocity terms", "C(q, q̇) q̇ = Hφ(Mφ*a + b)"),
    ("skew symmetry", "𝓜̇ = C + C*"),
    ("power", "d/dt (kinetic + potential) = T*q̇"),
];

/// What rounding may leave.
const TOLERANCE: f64 = 1e-12;

/// The worst residual of every law over some states.
pub(crate) fn check(mechanism: &Mechanism, states: &[&Sample]) -> Result<Vec<Law>> {
    let mut checker = Checker::new(mechanism);
    let mut worst = [0.0; LAWS.len()];
    for state in states {
        let residuals = checker.residuals(&state.q, &state.qd)?;
        for (worst, residual) in worst.iter_mut().zip(residuals) {
            *worst = worse(*worst, residual);
        }
    }
    let laws = LAWS.into_iter().zip(worst).map(|((name, law), residual)| Law {
        name,
        law,
        residual,
        tolerance: TOLERANCE,
        holds: residual <= TOLERANCE,
    });
    Ok(laws.collect())
}

struct Checker {
    mechanism: Mechanism,
    workspace: Workspace,
    duals: Workspace<Dual<f64>>,
    random: Random,
}

impl Checker {
    fn new(mechanism: &Mechanism) -> Self {
        Self {
            mechanism: mechanism.clone(),
            workspace: mechanism.workspace(),
            duals: mechanism.workspace_of(),
            random: Random::new(2),
        }
    }

    fn residuals(&mut self, q: &[f64], qd: &[f64]) -> Result<[f64; LAWS.len()]> {
        let n = self.mechanism.nv();
        let (mut mass, mut inverse) = (vec![0.0; n * n], vec![0.0; n * n]);
        let (mut there, mut back) = (vec![0.0; n], vec![0.0; n]);
        let (x, wanted) = (self.random.numbers(n), self.random.numbers(n));

        let mut posed = self.workspace.at(q)?;
        posed.mass_matrix(&mut mass)?;
        posed.mass_matrix_inverse(&mut inverse)?;
        let condition = dense::norm(&mass, n) * dense::norm(&inverse, n);
        let of_inverse = dense::product_less_identity(&mass, &inverse, n) / condition;

        posed.mass_times(&x, &mut there)?;
        posed.inverse_mass_times(&there, &mut back)?;
        let of_factors = dense::distance(&back, &x) / condition;

        let log_det = posed.log_det_mass()?;
        // Each pivot is as uncertain as the mass matrix is ill conditioned.
        let of_determinant = (log_det - dense::log_det(&mass, n)).abs() / condition.max(log_det.abs());

        let mut moving = posed.moving(qd)?;
        let mut tau = vec![0.0; n];
        moving.inverse_dynamics(&wanted, &mut tau)?;
        moving.forward_dynamics(&tau, &mut back)?;
        let scale = dense::norm(&inverse, n) * dense::largest(&tau).max(dense::norm(&mass, n));
        let of_round_trip = dense::distance(&back, &wanted) / scale;

        let mut others = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        moving.forward_dynamics_bias_free(&tau, &mut others[0])?;
        moving.with_torques_bias_free(&tau, &mut others[1])?;
        moving.forward_dynamics_biased(&tau, &mut others[2])?;
        let of_four_ways = others
            .iter()
            .fold(0.0, |m, other| worse(m, dense::distance(other, &back)))
            / scale;

        let kinetic = moving.kinetic_energy();
        let quadratic = 0.5 * dense::dot(qd, &dense::times(&mass, qd));
        let of_kinetic = relative(kinetic - quadratic, kinetic);

        let (mut velocity_terms, mut coriolis) = (vec![0.0; n], vec![0.0; n * n]);
        moving.coriolis(&mut velocity_terms)?;
        moving.coriolis_matrix(&mut coriolis)?;
        let product = dense::times(&coriolis, qd);
        // C is of the size of 𝓜q̇, even where its terms cancel.
        let size = dense::norm(&mass, n) * dense::largest(qd);
        let of_terms = relative(dense::distance(&product, &velocity_terms), size * dense::largest(qd));

        // Along the motion q̇, q̈ that T causes.
        let rates = self.along(q, qd, &back)?;
        let mut lopsided = 0.0;
        for i in 0..n {
            for j in 0..n {
                let skew = rates.mass[i * n + j] - coriolis[i * n + j] - coriolis[j * n + i];
                lopsided = worse(lopsided, skew.abs());
            }
        }
        let of_skew = relative(lopsided, size);

        let power = dense::dot(&tau, qd);
        let parts: f64 = tau.iter().zip(qd).map(|(t, v)| (t * v).abs()).sum();
        let of_power = relative(
            rates.kinetic + rates.potential - power,
            parts + rates.kinetic.abs() + rates.potential.abs(),
        );

        Ok([
            of_inverse,
            of_factors,
            of_determinant,
            of_round_trip,
            of_four_ways,
            of_kinetic,
            of_terms,
            of_skew,
            of_power,
        ])
    }

    /// Time derivatives by dual numbers: q ⊕ εq̇, q̇ + εq̈.
    fn along(&mut self, q: &[f64], qd: &[f64], qdd: &[f64]) -> Result<Rates> {
        let n = qd.len();
        let constant: Vec<_> = q.iter().map(|&x| Dual::constant(x)).collect();
        let step: Vec<_> = qd.iter().map(|&x| Dual::new(0.0, x)).collect();
        let speed: Vec<_> = qd.iter().zip(qdd).map(|(&v, &a)| Dual::new(v, a)).collect();
        let mut moved = constant.clone();
        self.mechanism.integrate(&constant, &step, &mut moved)?;
        let mut mass = vec![Dual::constant(0.0); n * n];
        let mut posed = self.duals.at(&moved)?;
        posed.mass_matrix(&mut mass)?;
        Ok(Rates {
            mass: mass.iter().map(|x| x.derivative).collect(),
            potential: posed.potential_energy().derivative,
            kinetic: posed.moving(&speed)?.kinetic_energy().derivative,
        })
    }
}

struct Rates {
    mass: Vec<f64>,
    kinetic: f64,
    potential: f64,
}

/// A difference against the size of what it is between; nothing against nothing is nothing.
fn relative(difference: f64, size: f64) -> f64 {
    if difference == 0.0 {
        0.0
    } else {
        (difference / size).abs()
    }
}
