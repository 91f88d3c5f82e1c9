//! Diagonalized dynamics where joints follow others.
//!
//! 𝓜 = mm* is unique once the order of elimination is: tips first, as in a tree. Of R*𝓜R it is a sparse factor, filled along
//! the paths of the elimination forest, and its rate comes from the same lines over dual numbers. Then
//!
//! ```text
//! ν̇ = ℓ(T − C) + ṁ*q̇        𝒞 = ℓC − ṁ*q̇        c = ℓC(q, q̇)ℓ* − ṁ*ℓ*
//! ```

use crate::Result;
use crate::coupled::model::Reduction;
use crate::coupled::stage::Coupled;
use crate::dynamics::composite::MassMatrix;
use crate::dynamics::coriolis::CoriolisMatrix;
use crate::dynamics::inverse::{Bias, Coriolis, Gravity};
use crate::dynamics::kinematics::JacobianOf;
use crate::model::FrameId;
use crate::scalar::{Dual, Scalar};
use crate::spatial::Reference;
use crate::stage::diagonal::Scaling;
use crate::workspace::View;

/// One of the four products with m and ℓ.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Product {
    /// m*
    TotalRates,
    /// ℓ*
    JointRates,
    /// ℓ
    WorkingMoments,
    /// m
    JointTorques,
}

/// Users' order to that of ranks.
fn ranked<T: Copy>(r: &Reduction, x: impl Fn(usize) -> T, out: &mut [T]) {
    for (out, &dof) in out.iter_mut().zip(&r.elimination.order) {
        *out = x(dof);
    }
}

/// And back.
fn unranked<S: Scalar>(r: &Reduction, x: impl Fn(usize) -> S, out: &mut [S]) {
    for (rank, &dof) in r.elimination.order.iter().enumerate() {
        out[dof] = x(rank);
    }
}

impl<S: Scalar> View<'_, S> {
    /// 𝓜 = mm*; an error where nothing resists a joint.
    pub(crate) fn need_coupled_factor(&mut self) -> Result<()> {
        if self.stages.coupled.m.is_filled {
            return Ok(());
        }
        self.fill_mass();
        let Some((r, mut c)) = self.take_coupled() else {
            return Ok(());
        };
        let (nv, mass) = (r.nv, core::mem::take(&mut c.mass));
        c.m.fill(&r.elimination, |i, j| mass[i * nv + j]);
        c.mass = mass;
        self.stages.coupled = c;
        self.check_coupled_factor(r)
    }

    fn fill_mass(&mut self) {
        let mut mass = core::mem::take(&mut self.stages.coupled.mass);
        mass.resize(self.nv() * self.nv(), S::ZERO);
        self.sweep::<MassMatrix>(&[], &mut mass);
        self.stages.coupled.mass = mass;
    }

    /// An error where nothing resists a joint, if the factor was made.
    pub(crate) fn check_coupled_factor(&self, r: &Reduction) -> Result<()> {
        if !self.stages.coupled.m.is_filled {
            return Ok(());
        }
        let Some(rank) = self.stages.coupled.m.unsound(r.nv) else {
            return Ok(());
        };
        let dof = r.independent[r.elimination.order[rank]];
        Err(self.singular(dof, self.stages.coupled.m.pivot(r.nv, rank)))
    }

    /// The same with its rate.
    fn need_coupled_factor_rate(&mut self) -> Result<()> {
        self.need_coupled_factor()?;
        if self.stages.coupled.m_rate.is_filled {
            return Ok(());
        }
        let nv = self.nv();
        let mut coriolis = core::mem::take(&mut self.stages.coupled.coriolis);
        coriolis.resize(nv * nv, S::ZERO);
        self.sweep::<CoriolisMatrix>(&[], &mut coriolis);
        let Some((r, mut c)) = self.take_coupled() else {
            return Ok(());
        };
        let mass = core::mem::take(&mut c.mass);
        // 𝓜̇ = C + C*.
        let number = |i: usize, j: usize| Dual::new(mass[i * nv + j], coriolis[i * nv + j] + coriolis[j * nv + i]);
        c.m_rate.fill(&r.elimination, number);
        (c.mass, c.coriolis) = (mass, coriolis);
        self.stages.coupled = c;
        Ok(())
    }

    /// A product with m or ℓ.
    pub(crate) fn coupled_product(&mut self, product: Product, scaling: Scaling, x: &[S], out: &mut [S]) -> Result<()> {
        self.need_coupled_factor()?;
        let Some((r, mut c)) = self.take_coupled() else {
            return Ok(());
        };
        let mut y = core::mem::take(&mut c.ranked);
        ranked(r, |dof| x[dof], &mut y);
        match product {
            Product::TotalRates => c.m.total_rates(&r.elimination, scaling, &mut y),
            Product::JointRates => c.m.joint_rates(&r.elimination, scaling, &mut y),
            Product::WorkingMoments => c.m.working_moments(&r.elimination, scaling, &mut y),
            Product::JointTorques => c.m.joint_torques(&r.elimination, scaling, &mut y),
        }
        unranked(r, |rank| y[rank], out);
        c.ranked = y;
        self.stages.coupled = c;
        Ok(())
    }

    /// The rate of such a product, of a vector and its rate.
    fn coupled_product_rate(
        c: &mut Coupled<S>,
        r: &Reduction,
        product: Product,
        scaling: Scaling,
        x: impl Fn(usize) -> Dual<S>,
        out: &mut [S],
    ) {
        let mut y = core::mem::take(&mut c.ranked_rate);
        ranked(r, x, &mut y);
        match product {
            Product::TotalRates => c.m_rate.total_rates(&r.elimination, scaling, &mut y),
            Product::JointRates => c.m_rate.joint_rates(&r.elimination, scaling, &mut y),
            Product::WorkingMoments => c.m_rate.working_moments(&r.elimination, scaling, &mut y),
            Product::JointTorques => c.m_rate.joint_torques(&r.elimination, scaling, &mut y),
        }
        unranked(r, |rank| y[rank].derivative, out);
        c.ranked_rate = y;
    }

    /// ṁx, or the rate of I + HφK times x.
    pub(crate) fn coupled_factor_rate(&mut self, scaling: Scaling, x: &[S], out: &mut [S]) -> Result<()> {
        self.need_coupled_factor_rate()?;
        let Some((r, mut c)) = self.take_coupled() else {
            return Ok(());
        };
        let still = |dof: usize| Dual::constant(x[dof]);
        Self::coupled_product_rate(&mut c, r, Product::JointTorques, scaling, still, out);
        self.stages.coupled = c;
        Ok(())
    }

    /// ν̇ = ℓ(T − C) + ṁ*q̇, or ξ̇ = D⁻¹κ + (rate of (I + HφK)*)q̇.
    pub(crate) fn coupled_total_accelerations(&mut self, scaling: Scaling, tau: &[S], out: &mut [S]) -> Result<()> {
        self.need_coupled_factor_rate()?;
        self.sweep::<Bias>(&[], out);
        for (out, tau) in out.iter_mut().zip(tau) {
            *out = *tau - *out;
        }
        self.coupled_rates_from(scaling, out)
    }

    /// Torques less all velocity terms → the total accelerations.
    fn coupled_rates_from(&mut self, scaling: Scaling, out: &mut [S]) -> Result<()> {
        let Some((r, mut c)) = self.take_coupled() else {
            return Ok(());
        };
        let (e, mut y) = (&r.elimination, core::mem::take(&mut c.ranked));
        ranked(r, |dof| out[dof], &mut y);
        // ε, which is ν̇ but for the rate of m; of ξ it is m_bb^-*ε.
        c.m.working_moments(e, Scaling::Normalized, &mut y);
        if scaling == Scaling::Unnormalized {
            c.m.joint_rates_within(e, &mut y);
        }
        let yd = core::mem::take(&mut c.yd);
        let still = |dof: usize| Dual::constant(yd[dof]);
        Self::coupled_product_rate(&mut c, r, Product::TotalRates, scaling, still, out);
        for (rank, &dof) in e.order.iter().enumerate() {
            out[dof] += y[rank];
        }
        (c.ranked, c.yd) = (y, yd);
        self.stages.coupled = c;
        Ok(())
    }

    /// q̈ by ν̇ or ξ̇ and the rate of q̇ = ℓ*ν.
    pub(crate) fn coupled_forward_diagonalized(&mut self, scaling: Scaling, tau: &[S], qdd: &mut [S]) -> Result<()> {
        self.coupled_total_accelerations(scaling, tau, qdd)?;
        let Some((r, mut c)) = self.take_coupled() else {
            return Ok(());
        };
        let mut total = core::mem::take(&mut c.ranked);
        ranked(r, |dof| c.yd[dof], &mut total);
        c.m.total_rates(&r.elimination, scaling, &mut total);
        let mut rates = core::mem::take(&mut c.load_change);
        rates.copy_from_slice(qdd);
        let varying = |dof: usize| Dual::new(total[r.elimination.rank[dof]], rates[dof]);
        Self::coupled_product_rate(&mut c, r, Product::JointRates, scaling, varying, qdd);
        (c.ranked, c.load_change) = (total, rates);
        self.stages.coupled = c;
        Ok(())
    }

    /// 𝒞 = ε − ν̇, or κ − Dξ̇, under gravity alone.
    pub(crate) fn coupled_diagonal_coriolis(&mut self, scaling: Scaling, out: &mut [S]) -> Result<()> {
        self.need_coupled_factor_rate()?;
        let mut gravity = core::mem::take(&mut self.stages.coupled.load_change);
        self.sweep::<Coriolis>(&[], out);
        self.sweep::<Gravity>(&[], &mut gravity);
        for (out, gravity) in out.iter_mut().zip(&gravity) {
            *out = -(*out + *gravity);
        }
        self.coupled_rates_from(scaling, out)?;
        let Some((r, mut c)) = self.take_coupled() else {
            return Ok(());
        };
        ranked(r, |dof| out[dof], &mut c.ranked);
        if scaling == Scaling::Unnormalized {
            let Coupled { m, ranked, .. } = &mut *c;
            m.inertias(&r.elimination, ranked);
        }
        unranked(r, |rank| -c.ranked[rank], out);
        c.load_change = gravity;
        self.stages.coupled = c;
        Ok(())
    }

    /// c = ℓC(q, q̇)ℓ* − ṁ*ℓ*, column by column.
    pub(crate) fn coupled_skew_matrix(&mut self, out: &mut [S]) -> Result<()> {
        self.need_coupled_factor_rate()?;
        let Some((r, mut c)) = self.take_coupled() else {
            return Ok(());
        };
        let (nv, e) = (r.nv, &r.elimination);
        let (mut x, mut moved) = (core::mem::take(&mut c.load_change), core::mem::take(&mut c.ranked));
        for column in 0..nv {
            // q̇ = ℓ*e.
            moved.fill(S::ZERO);
            moved[e.rank[column]] = S::ONE;
            c.m.joint_rates(e, Scaling::Normalized, &mut moved);
            unranked(r, |rank| moved[rank], &mut x);
            ranked(
                r,
                |dof| {
                    let row = &c.coriolis[dof * nv..(dof + 1) * nv];
                    row.iter().zip(&x).fold(S::ZERO, |sum, (c, x)| c.mul_add(*x, sum))
                },
                &mut moved,
            );
            c.m.working_moments(e, Scaling::Normalized, &mut moved);
            let mut rate = core::mem::take(&mut c.held);
            let still = |dof: usize| Dual::constant(x[dof]);
            let room = &mut rate[..nv];
            Self::coupled_product_rate(&mut c, r, Product::TotalRates, Scaling::Normalized, still, room);
            for (row, rate) in rate[..nv].iter().enumerate() {
                out[row * nv + column] = moved[e.rank[row]] - *rate;
            }
            c.held = rate;
        }
        (c.load_change, c.ranked) = (x, moved);
        self.stages.coupled = c;
        Ok(())
    }

    /// D of a joint whose independent degrees of freedom start at a place.
    pub(crate) fn coupled_joint_inertia(&mut self, start: usize, d: usize, out: &mut [S]) -> Result<()> {
        self.need_coupled_factor()?;
        let Some((r, c)) = self.take_coupled() else {
            return Ok(());
        };
        for i in 0..d {
            for j in 0..d {
                let [a, b] = [i, j].map(|k| r.elimination.rank[start + k]);
                out[i * d + j] = c.m.joint_inertia(&r.elimination, a, b);
            }
        }
        self.stages.coupled = c;
        Ok(())
    }

    /// Forces on a frame about its origin in the world's axes, six numbers each → ℓJ*f along the frame's way.
    pub(crate) fn coupled_innovations(&mut self, frame: FrameId, forces: &[S], out: &mut [S]) {
        let nv = self.nv();
        let mut jacobian = core::mem::take(&mut self.stages.scratch.columns);
        jacobian.clear();
        jacobian.resize(6 * nv, S::ZERO);
        self.sweep_at::<JacobianOf>(frame, Reference::Aligned, &[], &mut jacobian);
        let link = self.mechanism.placed[frame.index()].body;
        let Some((r, mut c)) = self.take_coupled() else { return };
        let (e, mut x) = (&r.elimination, core::mem::take(&mut c.ranked));
        if let Some(top) = e.path_of(link).next() {
            let length = e.path(top).count();
            for (force, out) in forces.chunks_exact(6).zip(out.chunks_exact_mut(length)) {
                for rank in e.path(top) {
                    x[rank] = (0..6).fold(S::ZERO, |sum, i| {
                        force[i].mul_add(jacobian[i * nv + e.order[rank]], sum)
                    });
                }
                c.m.working_moments_along(e, top, &mut x);
                for (rank, out) in e.path(top).zip(out.iter_mut().rev()) {
                    *out = x[rank];
                }
            }
        }
        c.ranked = x;
        self.stages.coupled = c;
        self.stages.scratch.columns = jacobian;
    }

    /// How much the softest degree of freedom yields.
    pub(crate) fn coupled_softest(&self) -> f64 {
        self.stages.coupled.m.softest(self.nv())
    }
}
