//! Inverse dynamics: T = Hφ(Mφ*(H*q̈ + a) + b), one outward and one inward sweep.  [spec 3]

use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::simd::Sweep;
use crate::spatial::{Force, Motion, Vec3};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;

/// q̈ → T. About 190 operations per link, the rates included.
pub(crate) struct Inverse;
/// T at q̈ = 0.
pub(crate) struct Bias;
/// T at q̈ = 0 without gravity and external forces.
pub(crate) struct Coriolis;
/// T at rest without external forces.
pub(crate) struct Gravity;
/// x → 𝓜x.
pub(crate) struct MassTimes;

impl<S: Scalar> Sweep<S> for Inverse {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, qdd: &[S], tau: &mut [S]) {
        s.need_rates(m);
        outward::<S, true>(m, s, -m.gravity.lift(), Some(qdd));
        inward(m, s, tau);
        add_rotors(m, qdd, tau);
    }
}

impl<S: Scalar> Sweep<S> for Bias {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], tau: &mut [S]) {
        s.need_rates(m);
        outward::<S, true>(m, s, -m.gravity.lift(), None);
        inward(m, s, tau);
    }
}

impl<S: Scalar> Sweep<S> for Coriolis {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], tau: &mut [S]) {
        s.need_rates(m);
        let loaded = core::mem::replace(&mut s.loaded, false);
        outward::<S, true>(m, s, Vec3::ZERO, None);
        s.loaded = loaded;
        inward(m, s, tau);
    }
}

impl<S: Scalar> Sweep<S> for Gravity {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, _: &[S], tau: &mut [S]) {
        let loaded = core::mem::replace(&mut s.loaded, false);
        outward::<S, false>(m, s, -m.gravity.lift(), None);
        s.loaded = loaded;
        inward(m, s, tau);
    }
}

impl<S: Scalar> Sweep<S> for MassTimes {
    #[inline(always)]
    fn run(m: &Compiled, s: &mut Stages<S>, x: &[S], out: &mut [S]) {
        let loaded = core::mem::replace(&mut s.loaded, false);
        outward::<S, false>(m, s, Vec3::ZERO, Some(x));
        s.loaded = loaded;
        inward(m, s, out);
        add_rotors(m, x, out);
    }
}

/// α = φ*(p,k) α(p) + a + H*q̈ and f = Mα + b − f_ext, with the base accelerating at `base`. Without `MOVING`, a and b are
/// nought.
#[inline(always)]
pub(crate) fn outward<S: Scalar, const MOVING: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    base: Vec3<S>,
    qdd: Option<&[S]>,
) {
    let n = m.bodies.len();
    let (bodies, rates) = (&m.bodies[..n], &s.rates[..n]);
    let (alphas, forces, joints) = (&mut s.alpha[..n], &mut s.force[..n], &s.joints);
    for k in 0..n {
        let body = &bodies[k];
        let alpha_p = body.parent.map_or(Motion::new(Vec3::ZERO, base), |p| alphas[p]);
        at_joint!(bodies, joints, k, joint => {
            let mut alpha = joint.motion_out(alpha_p);
            if MOVING {
                alpha += rates[k].a;
            }
            if let Some(qdd) = qdd {
                alpha = joint.hinge().add_motion(alpha, &qdd[body.v..]);
            }
            alphas[k] = alpha;
            let inertial = body.inertia.lift().times(alpha);
            forces[k] = if MOVING { inertial + rates[k].b } else { inertial };
        });
    }
    if s.loaded {
        for (force, load) in s.force.iter_mut().zip(&s.loads) {
            *force -= *load;
        }
    }
}

/// f = f + Σ φ(k,c) f(c), T = H f.
#[inline(always)]
pub(crate) fn inward<S: Scalar>(m: &Compiled, s: &mut Stages<S>, tau: &mut [S]) {
    let n = m.bodies.len();
    let (bodies, joints, forces) = (&m.bodies[..n], &s.joints, &mut s.force[..n]);
    let mut inflow = Inflow::<S, Force<S>>::new(&mut s.waiting);
    for k in (0..n).rev() {
        let body = &bodies[k];
        let force = inflow.gather(body, forces[k]);
        forces[k] = force;
        at_joint!(bodies, joints, k, joint => {
            joint.hinge().project(force, &mut tau[body.v..]);
            if body.parent.is_some() {
                inflow.hand_in(body, joint.force_in(force));
            }
        });
    }
}

/// T += armature · q̈.
#[inline(always)]
pub(crate) fn add_rotors<S: Scalar>(m: &Compiled, qdd: &[S], tau: &mut [S]) {
    if m.has_armature {
        for i in 0..m.nv {
            tau[i] = S::lift(m.armature[i]).mul_add(qdd[i], tau[i]);
        }
    }
}
