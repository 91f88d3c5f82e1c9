//! The innovations operators of a dense mechanism, and its diagonalized coordinates.
//!
//! A universal joint is one joint here: `revolutes_for_universals` gives the mechanism whose operators treat it as two.

use super::dense::{Dense, plus};
use super::matrix::Matrix;
use super::rigid::{axes, crf, crm};

/// What the Riccati equation gives, per link in its own frame, and stacked.
pub struct Riccati {
    pub P: Vec<Matrix>,
    pub P_plus: Vec<Matrix>,
    /// d×d, rotors included; empty for fixed joints.
    pub D: Vec<Matrix>,
    /// 6×d.
    pub G: Vec<Matrix>,
    pub tau_bar: Vec<Matrix>,
    /// E_φ, 6L×6L.
    pub E_phi: Matrix,
    /// E_ψ = E_φτ̄.
    pub E_psi: Matrix,
    /// ψ = (I − E_ψ)⁻¹.
    pub psi: Matrix,
    /// K = E_φG, 6L×nv.
    pub K: Matrix,
    /// diag P, 6L×6L.
    pub P_all: Matrix,
    /// diag D, nv×nv.
    pub D_all: Matrix,
    /// diag G, 6L×nv.
    pub G_all: Matrix,
}

impl Riccati {
    pub fn new(of: &Dense) -> Self {
        let n = of.links();
        let mut P: Vec<Matrix> = (0..n).map(|k| of.own(&of.M, k)).collect();
        let mut P_plus = P.clone();
        let (mut D, mut G) = (vec![Matrix::zeros(0, 0); n], vec![Matrix::zeros(6, 0); n]);
        let mut tau_bar = vec![Matrix::identity(6); n];
        let (mut E_phi, mut E_psi) = (Matrix::zeros(6 * n, 6 * n), Matrix::zeros(6 * n, 6 * n));
        let mut K = Matrix::zeros(6 * n, of.nv);
        let (mut P_all, mut D_all) = (Matrix::zeros(6 * n, 6 * n), Matrix::zeros(of.nv, of.nv));
        let mut G_all = K.clone();
        for &k in of.order.iter().rev() {
            let v = of.dofs[k].clone();
            let H = of.H.block(v.start, 6 * k, v.len(), 6);
            let PH = &P[k] * H.t();
            D[k] = &H * &PH + Matrix::diagonal(&of.armature[v.clone()]);
            G[k] = D[k].solve(&PH.t()).t();
            tau_bar[k] = Matrix::identity(6) - &G[k] * &H;
            P_plus[k] = &P[k] - &G[k] * &D[k] * G[k].t();
            P_all.set_block(6 * k, 6 * k, &P[k]);
            D_all.set_block(v.start, v.start, &D[k]);
            G_all.set_block(6 * k, v.start, &G[k]);
            if let Some(p) = of.parent[k] {
                let phi = of.phi.block(6 * p, 6 * k, 6, 6);
                P[p] = &P[p] + &phi * &P_plus[k] * phi.t();
                E_phi.set_block(6 * p, 6 * k, &phi);
                E_psi.set_block(6 * p, 6 * k, &(&phi * &tau_bar[k]));
                K.set_block(6 * p, v.start, &(&phi * &G[k]));
            }
        }
        // Column k of ψ is the parent's column through ψ(p, k), and itself.
        let mut psi = Matrix::identity(6 * n);
        for &k in &of.order {
            if let Some(p) = of.parent[k] {
                let step = E_psi.block(6 * p, 6 * k, 6, 6);
                let column = psi.block(0, 6 * p, 6 * n, 6) * step;
                psi.set_block(0, 6 * k, &column);
                psi.set_block(6 * k, 6 * k, &Matrix::identity(6));
            }
        }
        Self {
            P,
            P_plus,
            D,
            G,
            tau_bar,
            E_phi,
            E_psi,
            psi,
            K,
            P_all,
            D_all,
            G_all,
        }
    }

    /// ξ = (I + HφK)*q̇.
    pub fn xi(&self, of: &Dense) -> Vec<f64> {
        plus(&of.qd, &(&of.H * &of.phi * &self.K).t().apply(&of.qd))
    }

    /// κ = (I − HψK)T.
    pub fn kappa(&self, of: &Dense, tau: &[f64]) -> Vec<f64> {
        (Matrix::identity(of.nv) - &of.H * &self.psi * &self.K).apply(tau)
    }

    /// The lower Cholesky factors of D, stacked.
    pub fn D_root(&self, of: &Dense) -> Matrix {
        let mut L = Matrix::zeros(of.nv, of.nv);
        for k in 0..of.links() {
            let at = of.dofs[k].start;
            L.set_block(at, at, &self.D[k].cholesky().unwrap());
        }
        L
    }

    /// ν = L*ξ.
    pub fn nu(&self, of: &Dense) -> Vec<f64> {
        self.D_root(of).t().apply(&self.xi(of))
    }

    /// ε = L⁻¹κ.
    pub fn eps(&self, of: &Dense, tau: &[f64]) -> Vec<f64> {
        self.D_root(of).solve(&Matrix::column(&self.kappa(of, tau))).data
    }

    /// log det 𝓜 = Σ log det D.
    pub fn log_det(&self) -> f64 {
        let root = |D: &Matrix| D.cholesky().unwrap();
        let log = |L: &Matrix| (0..L.rows).map(|i| 2.0 * L.at(i, i).ln()).sum::<f64>();
        self.D.iter().map(root).map(|L| log(&L)).sum()
    }

    /// Ṗ and Ḋ per link, as the links see them, along q̇.
    pub fn rates(&self, of: &Dense) -> (Vec<Matrix>, Vec<Matrix>) {
        let mut P_rate = vec![Matrix::zeros(6, 6); of.links()];
        let mut D_rate = self.D.clone();
        for &k in of.order.iter().rev() {
            let v = of.dofs[k].clone();
            let H = of.H.block(v.start, 6 * k, v.len(), 6);
            let H_rate = of.H_rate.block(v.start, 6 * k, v.len(), 6);
            let (P, G) = (&self.P[k], &self.G[k]);
            // P⁺ = P − U D⁻¹ U*, U = PH*.
            let U_rate = &P_rate[k] * H.t() + P * H_rate.t();
            let half = &H_rate * P * H.t();
            D_rate[k] = &H * &P_rate[k] * H.t() + &half + half.t();
            let loss = &U_rate * G.t();
            let own = &P_rate[k] - (&loss + loss.t()) + G * &D_rate[k] * G.t();
            if let Some(p) = of.parent[k] {
                let delta = H.t().apply(&of.qd[v]);
                let turned = crf(&delta) * &self.P_plus[k] - &self.P_plus[k] * crm(&delta);
                let phi = of.phi.block(6 * p, 6 * k, 6, 6);
                P_rate[p] = &P_rate[p] + &phi * (own + turned) * phi.t();
            }
        }
        (P_rate, D_rate)
    }

    /// 𝒞(q, ξ) = H[p_A − Ṗτ̄*V⁺], gravity included, for joints whose H is constant.
    pub fn coriolis_xi(&self, of: &Dense) -> Vec<f64> {
        let (P_rate, _) = self.rates(of);
        let mut z = of.b.clone();
        let mut out = vec![0.0; of.nv];
        for k in 0..of.links() {
            let lift = axes(&of.world[k]).t().scale(-1.0).apply(&of.gravity);
            let weight = of.own(&of.M, k).apply(&[vec![0.0; 3], lift].concat());
            z[6 * k..6 * k + 6].iter_mut().zip(weight).for_each(|(z, w)| *z += w);
        }
        for &k in of.order.iter().rev() {
            let (v, at) = (of.dofs[k].clone(), 6 * k..6 * k + 6);
            let H = of.H.block(v.start, 6 * k, v.len(), 6);
            let own = Matrix::column(&z[at.clone()]);
            let V_plus = Matrix::column(&of.V[at.clone()]) - H.t() * Matrix::column(&of.qd[v.clone()]);
            let moved = &P_rate[k] * self.tau_bar[k].t() * V_plus;
            out[v].copy_from_slice(&(&H * (&own - moved)).data);
            if let Some(p) = of.parent[k] {
                // z⁺ = z + P⁺a + Gε, ε = −Hz.
                let z_plus = &self.tau_bar[k] * own + &self.P_plus[k] * Matrix::column(&of.a[at]);
                let into = of.phi.block(6 * p, 6 * k, 6, 6) * z_plus;
                z[6 * p..6 * p + 6].iter_mut().zip(into.data).for_each(|(z, x)| *z += x);
            }
        }
        out
    }

    /// 𝒞(q, ν) = L⁻¹𝒞(q, ξ) − L̇*ξ, L̇ = L Φ(L⁻¹ḊL⁻*).
    pub fn coriolis_nu(&self, of: &Dense) -> Vec<f64> {
        let (_, D_rate) = self.rates(of);
        let L = self.D_root(of);
        let mut L_rate = L.clone();
        for k in 0..of.links() {
            let (d, at) = (of.dofs[k].len(), of.dofs[k].start);
            let own = L.block(at, at, d, d);
            let half = own.solve(&D_rate[k]);
            let x = own.solve(&half.t());
            let lower = Matrix::from_fn(d, d, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Greater => x.at(i, j),
                std::cmp::Ordering::Equal => 0.5 * x.at(i, j),
                std::cmp::Ordering::Less => 0.0,
            });
            L_rate.set_block(at, at, &(own * lower));
        }
        let first = L.solve(&Matrix::column(&self.coriolis_xi(of)));
        (first - L_rate.t() * Matrix::column(&self.xi(of))).data
    }
}

/// r(k), the inertia of each link's subtree as one rigid body, 6×6 in the link's frame.
pub fn composites(of: &Dense) -> Vec<Matrix> {
    let all = |k: usize| {
        let row = of.phi.block(6 * k, 0, 6, 6 * of.links());
        &row * &of.M * row.t()
    };
    (0..of.links()).map(all).collect()
}
