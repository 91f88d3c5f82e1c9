//! What a step with contact asks a configuration for, beside 𝓐.

use super::{Configured, Posed, View};
use crate::Result;
use crate::dynamics::forward::Gains;
use crate::dynamics::operational::{Compliances, HomeGains};
use crate::scalar::Scalar;
use crate::simd::Instructions;
use crate::spatial::{Force, Pose, Vec3};
use crate::stage::crossing::{AnyJoint, Crossing};
use crate::stage::world::World;

impl<S: Scalar> Posed<'_, S> {
    /// The same view, lent.
    pub(crate) fn again(&mut self) -> Posed<'_, S> {
        let view = &mut self.0.view;
        let view = View {
            stages: &mut *view.stages,
            ..*view
        };
        Posed(Configured { view })
    }
}

impl<S: Scalar> Configured<'_, S> {
    /// Where links are in the world, and the motions that joints allow.
    pub(crate) fn world(&mut self) -> (&World<S>, Instructions) {
        self.prepare_jacobians();
        (&self.view.stages.world, self.view.instructions)
    }

    /// The users' degree of freedom that one of all joints follows, and its ratio.
    pub(crate) fn follows(&self, v: usize) -> (usize, S) {
        match &self.view.mechanism.compiled.reduction {
            None => (v, S::ONE),
            Some(r) => (r.v_from[v], self.view.stages.coupled.ratio[v]),
        }
    }

    /// What the processor has.
    pub(crate) fn instructions(&self) -> Instructions {
        self.view.instructions
    }

    /// What pushes a link from outside, in its compiled frame.
    pub(crate) fn load(&self, body: usize) -> Force<S> {
        self.view.stages.loads[body]
    }

    /// What pushes all links.
    pub(crate) fn loads(&self) -> &[Force<S>] {
        &self.view.stages.loads
    }

    /// Pushes on all links, in their compiled frames.
    pub(crate) fn add_loads(&mut self, loads: &[Force<S>]) {
        let stages = &mut *self.view.stages;
        for (sum, load) in stages.loads.iter_mut().zip(loads) {
            *sum += *load;
        }
        stages.loaded = true;
    }

    /// J𝓜⁻¹J* of every link at its home, in the world's axes; not of mechanisms with couplings.
    pub(crate) fn compliances(&mut self, out: &mut [[[S; 6]; 6]]) -> Result<()> {
        self.compliances_unchecked(out);
        self.view.check_pivots()
    }

    /// The same where D is checked by the caller.
    pub(crate) fn compliances_unchecked(&mut self, out: &mut [[[S; 6]; 6]]) {
        self.view.need::<HomeGains>();
        self.view
            .sweep::<Compliances>(&[], out.as_flattened_mut().as_flattened_mut());
    }

    /// D⁻¹ and G of a degree of freedom at home, after [`Configured::compliances`].
    pub(crate) fn home_gain(&self, dof: usize) -> (S, Force<S>) {
        let stages = &self.view.stages;
        (stages.riccati.gains[dof].d_inv, stages.home_gains[dof].g)
    }

    /// What two links of one tree yield to a force on the one and its opposite on the other, at home in the world's axes, after
    /// [`Configured::compliances`].
    #[inline(always)]
    pub(crate) fn yield_between(&self, a: usize, b: usize, force: Force<S>) -> S {
        let (m, s) = (&self.view.mechanism.compiled, &*self.view.stages);
        let (mut one, mut two) = (Some(a), Some(b));
        let (mut z, mut y, mut sum) = (-force, force, S::ZERO);
        // A parent has the smaller number.
        while let Some(k) = one.max(two) {
            if one == two {
                (two, z) = (None, z + y);
            }
            let f = if one > two { &mut z } else { &mut y };
            let body = &m.bodies[k];
            for v in body.v..body.v + body.dofs {
                let (h, g) = (s.world.columns[v].to_array(), s.home_gains[v].g.to_array());
                let mut z = f.to_array();
                // Not fused: outside of sweeps a fused product is a call.
                let along = (h[0] * z[0] + h[1] * z[1] + h[2] * z[2]) + (h[3] * z[3] + h[4] * z[4] + h[5] * z[5]);
                for i in 0..6 {
                    z[i] -= g[i] * along;
                }
                *f = Force::from_array(z);
                sum += along * along * s.riccati.gains[v].d_inv;
            }
            if one > two {
                one = body.parent;
            } else {
                two = body.parent;
            }
        }
        sum
    }

    /// A link's compiled frame in the world, once the links' places are known.
    #[inline(always)]
    pub(crate) fn link(&self, k: usize) -> Pose<S> {
        let (pose, home) = (self.view.stages.world.poses[k], self.view.stages.world.homes[k]);
        Pose::new(pose.rotation, pose.translation + home)
    }

    /// Where a link's home is.
    pub(crate) fn home(&self, body: usize) -> Vec3<S> {
        self.view.stages.world.homes[body]
    }

    /// D⁻¹ of 𝓜 per degree of freedom; not of mechanisms with couplings.
    pub(crate) fn inverse_mass_pivots(&mut self, out: &mut [S]) {
        self.view.need::<Gains>();
        for (out, gain) in out.iter_mut().zip(&self.view.stages.riccati.gains) {
            *out = gain.d_inv;
        }
    }

    /// An element of the diagonal of 𝓜⁻¹: what one degree of freedom yields to its own torque. Along its way to the root.
    pub(crate) fn inverse_mass_element(&mut self, body: usize, dof: usize, room: &mut [S]) -> Result<S> {
        if self.view.mechanism.is_coupled() {
            let (unit, out) = room.split_at_mut(self.view.nv());
            unit.fill(S::ZERO);
            unit[dof] = S::ONE;
            self.inverse_mass_times(unit, &mut out[..unit.len()])?;
            return Ok(out[dof]);
        }
        self.view.need::<Gains>();
        let (m, s) = (&self.view.mechanism.compiled, &*self.view.stages);
        let (mut z, mut sum, mut next) = (Force::ZERO, S::ZERO, Some(body));
        let mut tau = [S::ZERO; 6];
        tau[dof - m.bodies[body].v] = S::ONE;
        while let Some(k) = next {
            let (body, joint, mut eps) = (&m.bodies[k], AnyJoint::new(m, &s.joints, k), [S::ZERO; 6]);
            let gains = &s.riccati.gains[body.v..];
            body.hinge.innovate(&mut z, &tau, gains, &mut eps);
            for i in 0..body.dofs {
                sum = (eps[i] * eps[i]).mul_add(gains[i].d_inv, sum);
            }
            tau = [S::ZERO; 6];
            if body.parent.is_some() {
                z = joint.force_in(z);
            }
            next = body.parent;
        }
        Ok(sum)
    }
}
