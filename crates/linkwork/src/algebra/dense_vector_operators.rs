//! Operators that a vector makes, as dense matrices.

use super::dense::Dense;
use super::dense_matrix::Matrix;
use super::op::Op;
use super::space::Space;
use super::vector_operators::By;
use crate::spatial::{Force, Motion, Pose, Rotation};
use crate::{Error, Result};

/// 6×6 blocks on the diagonal, each made by six numbers.
fn blocks(v: &[f64], make: impl Fn([f64; 6], [f64; 6]) -> [f64; 6]) -> Matrix {
    let mut all = Matrix::zeros(v.len(), v.len());
    for (k, six) in v.chunks_exact(6).enumerate() {
        let six = core::array::from_fn(|i| six[i]);
        for j in 0..6 {
            let unit = core::array::from_fn(|i| if i == j { 1.0 } else { 0.0 });
            for (i, x) in make(six, unit).into_iter().enumerate() {
                all.set(6 * k + i, 6 * k + j, x);
            }
        }
    }
    all
}

/// Where a link is after it has moved for some time, seen from where it was.
fn moved(by: &[f64], time: f64) -> Pose {
    let by = Motion::from_array(core::array::from_fn(|i| by[i])) * time;
    Pose::exp(by)
}

fn crf(v: &[f64]) -> Matrix {
    blocks(v, |v, f| {
        Motion::from_array(v).cross_force(Force::from_array(f)).to_array()
    })
}

#[allow(non_snake_case)]
impl Dense {
    /// The operator that a vector makes.
    pub(super) fn made_by(&self, by: By, v: &[f64]) -> Result<Matrix> {
        let n = self.size(Space::Joint);
        let unit = |i: usize| -> Vec<f64> { (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect() };
        // One column for each joint.
        let columns = |of: &dyn Fn(&[f64]) -> Result<Matrix>, y: &[f64]| -> Result<Matrix> {
            let y = Matrix::column(y);
            let each: Vec<Matrix> = (0..n).map(|i| Ok(&of(&unit(i))? * &y)).collect::<Result<_>>()?;
            let rows = each.first().map_or(0, |c| c.rows);
            Ok(Matrix::from_fn(rows, n, |i, j| each[j].at(i, 0)))
        };
        Ok(match by {
            By::Crm => blocks(v, |v, x| Motion::from_array(v).cross(Motion::from_array(x)).to_array()),
            By::Crf => crf(v),
            By::Bar => blocks(v, |f, x| {
                Motion::from_array(x).cross_force(Force::from_array(f)).to_array()
            }),
            By::Times(space) => Matrix::identity(self.size(space)).scaled(v[0]),
            By::Diagonal => Matrix::from_fn(v.len(), v.len(), |i, j| if i == j { v[i] } else { 0.0 }),
            By::PDot => self.p_dot(v)?,
            By::PDq(adjoint) => {
                let all = columns(&|w| self.p_dot(w), v)?;
                if adjoint { all.transposed() } else { all }
            }
            By::UpsilonDot => self.upsilon_dot(v)?,
            By::UpsilonDq(adjoint) => {
                let all = columns(&|w| self.upsilon_dot(w), v)?;
                if adjoint { all.transposed() } else { all }
            }
            By::RootDot(adjoint) => {
                let rate = self.root_dot(v)?;
                if adjoint { rate.transposed() } else { rate }
            }
            By::RootDq(star, adjoint) => {
                let of = |w: &[f64]| -> Result<Matrix> {
                    let rate = self.root_dot(w)?;
                    Ok(if star { rate.transposed() } else { rate })
                };
                let all = columns(&of, v)?;
                if adjoint { all.transposed() } else { all }
            }
            By::TiesDot(adjoint) => {
                let rate = self.ties_dot(v);
                if adjoint { rate.transposed() } else { rate }
            }
            By::TiesDq(adjoint) | By::TiesStarDq(adjoint) => {
                let (n, v) = (self.size(Space::Motion), Matrix::column(v));
                let each: Vec<Matrix> = (0..n)
                    .map(|i| {
                        let unit: Vec<f64> = (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
                        let rate = self.ties_dot(&unit);
                        match by {
                            By::TiesDq(_) => &rate * &v,
                            _ => &rate.transposed() * &v,
                        }
                    })
                    .collect();
                let rows = each.first().map_or(0, |c| c.rows);
                let all = Matrix::from_fn(rows, n, |i, j| each[j].at(i, 0));
                if adjoint { all.transposed() } else { all }
            }
        })
    }

    /// The rate of Bc where the links move as this, by differences of fourth order.
    fn ties_dot(&self, moves: &[f64]) -> Matrix {
        let rows = self.size(Space::Constraint);
        let mut all = Matrix::zeros(self.size(Space::Motion), rows);
        let h = 1e-3;
        for (tie, ends) in &self.ends {
            for (step, weight) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
                // Where the frames are then, and where the links are, seen from where they are now.
                let there = ends.map(|(k, seen, pose)| {
                    let link = match k {
                        Some(k) => moved(&moves[6 * k..6 * k + 6], h * step),
                        None => Pose::IDENTITY,
                    };
                    let from = pose * seen.inverse();
                    (link, from * link * seen)
                });
                for (equation, column) in tie.equations.iter().zip(tie.rows.clone()) {
                    let row = equation.row(&there[0].1, &there[1].1);
                    for (side, (k, _, pose)) in ends.iter().enumerate() {
                        let Some(k) = k else { continue };
                        let (link, at) = &there[side];
                        let aligned = Pose::new(Rotation::IDENTITY, at.translation);
                        // The link then, in the world.
                        let world = *pose * ends[side].1.inverse() * *link;
                        let f = (world.inverse() * aligned).force_in(row.on(side)).to_array();
                        for (i, f) in f.into_iter().enumerate() {
                            let sum = all.at(6 * k + i, column) + f * weight / (12.0 * h);
                            all.set(6 * k + i, column, sum);
                        }
                    }
                }
            }
        }
        all
    }

    /// tr(𝓜⁻¹ ∂𝓜/∂q) along every joint, 𝓜 = HφMφ*H* and φ̇ = φE_φcrf(Δ)φ.
    pub(super) fn log_det_gradient(&self) -> Result<Vec<f64>> {
        if self.is_curved {
            return Err(Error::Coupled {
                what: "a derivative, where joints follow by curves",
                mechanism: self.mechanism.name().to_owned(),
            });
        }
        let (H, M, phi, E_phi) = (
            self.operator(Op::H)?,
            self.operator(Op::M)?,
            self.operator(Op::Phi)?,
            self.operator(Op::EPhi)?,
        );
        let inverse = self.operator(Op::MassInv)?;
        let n = self.size(Space::Joint);
        let along = |i: usize| {
            let delta: Vec<f64> = (0..H.columns).map(|j| H.at(i, j)).collect();
            let phi_dot = &(&(&phi * &E_phi) * &crf(&delta)) * &phi;
            let half = &(&(&(&H * &phi_dot) * &M) * &phi.transposed()) * &H.transposed();
            let both = &inverse * &(&half + &half.transposed());
            (0..n).map(|i| both.at(i, i)).sum::<f64>()
        };
        Ok((0..n).map(along).collect())
    }

    /// Ṗ = E_ψṖE_ψ* + E_φ(X + X*)E_φ*, X = crf(H*w)P⁺, summed along the mechanism.
    fn p_dot(&self, w: &[f64]) -> Result<Matrix> {
        let delta = (&self.operator(Op::H)?.transposed() * &Matrix::column(w)).data;
        let X = &crf(&delta) * &self.operator(Op::PPlus)?;
        let (E_phi, E_psi) = (self.operator(Op::EPhi)?, self.operator(Op::EPsi)?);
        let source = &(&E_phi * &(&X + &X.transposed())) * &E_phi.transposed();
        let mut total = source.clone();
        for _ in 0..self.size(Space::Motion) / 6 {
            total = &source + &(&(&E_psi * &total) * &E_psi.transposed());
        }
        Ok(total)
    }

    /// The rate of the blocks on the diagonal of ψ*H*D⁻¹Hψ.
    fn upsilon_dot(&self, w: &[f64]) -> Result<Matrix> {
        let (H, D_inv, psi) = (self.operator(Op::H)?, self.operator(Op::DInv)?, self.operator(Op::Psi)?);
        let (E_phi, E_psi, tau_bar) = (
            self.operator(Op::EPhi)?,
            self.operator(Op::EPsi)?,
            self.operator(Op::TauBar)?,
        );
        let delta = (&H.transposed() * &Matrix::column(w)).data;
        let P_dot = self.p_dot(w)?;
        let gain = &(&(&P_dot * &H.transposed()) * &D_inv) * &H;
        let E_psi_dot = &(&(&E_phi * &crf(&delta)) * &tau_bar) - &(&E_psi * &gain);
        let psi_dot = &(&psi * &E_psi_dot) * &psi;
        let D_inv_dot = (&(&D_inv * &(&(&H * &P_dot) * &H.transposed())) * &D_inv).scaled(-1.0);
        let H_psi = &H * &psi;
        let half = &(&(&H * &psi_dot).transposed() * &D_inv) * &H_psi;
        let whole = &(&half + &half.transposed()) + &(&(&H_psi.transposed() * &D_inv_dot) * &H_psi);
        let mut blocks = Matrix::zeros(whole.rows, whole.columns);
        for k in 0..whole.rows / 6 {
            blocks.set_block(6 * k, 6 * k, &whole.block(6 * k, 6 * k, 6, 6));
        }
        Ok(blocks)
    }

    /// L̇ = LΦ(L⁻¹ḊL⁻*).
    fn root_dot(&self, w: &[f64]) -> Result<Matrix> {
        let (H, L) = (self.operator(Op::H)?, self.operator(Op::Root)?);
        let L_inv = self.operator(Op::RootInv)?;
        let D_dot = &(&H * &self.p_dot(w)?) * &H.transposed();
        let A = &(&L_inv * &D_dot) * &L_inv.transposed();
        let taken = |i: usize, j: usize| match i.cmp(&j) {
            core::cmp::Ordering::Less => 0.0,
            core::cmp::Ordering::Equal => 0.5 * A.at(i, j),
            core::cmp::Ordering::Greater => A.at(i, j),
        };
        Ok(&L * &Matrix::from_fn(A.rows, A.columns, taken))
    }
}
