//! Inverse dynamics: T = Hφ(Mφ*(H*q̈ + a) + b), one outward and one inward sweep.  (RK)

use super::branches;
use crate::body::Hinge;
use crate::model::Compiled;
use crate::plan::{Course, Met, Whole};
use crate::scalar::{Pack, Scalar};
use crate::spatial::{Force, Motion, Vec3};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;
use crate::stage::rates;
use crate::sweep::{At, PackedSweep, Sweep, algorithm};

/// q̈ → T. About 175 operations per link, the rates included.
pub(crate) struct Inverse;
/// The same where the rates are there, with the forces across the joints.
pub(crate) struct InverseAgain;
/// T at q̈ = 0.
pub(crate) struct Bias;
/// T at q̈ = 0 without gravity and external forces.
pub(crate) struct Coriolis;
/// T at rest without external forces.
pub(crate) struct Gravity;
/// x → 𝓜x.
pub(crate) struct MassTimes;

algorithm! {
    Inverse: Dynamics, Packed =>
        ("inverse_dynamics", "T", "the torques for the accelerations qdd"), ["rnea"], [Q, Qd, Qdd] -> [Nv];
    InverseAgain: Dynamics;
    Bias: Dynamics with MassTimes =>
        ("bias", "C", "gravity and velocity terms: inverse dynamics without acceleration"),
        ["nle", "nonlinear_effects"], [Q, Qd] -> [Nv];
    Coriolis: Dynamics with MassTimes =>
        ("coriolis", "Cq̇", "the velocity terms alone: Coriolis and centrifugal torques"), [], [Q, Qd] -> [Nv];
    Gravity: Torques =>
        ("gravity_torque", "g", "the torques that hold it still"),
        ["gravity_compensation", "generalized_gravity"], [Q] -> [Nv];
    MassTimes: Torques =>
        ("mass_times", "𝓜x", "the mass matrix times x, in O(n)"), [], [Q, X] -> [Nv];
}

impl<S: Scalar> Sweep<S> for Inverse {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, qdd: &[S], tau: &mut [S]) {
        outward::<S, FRESH, SPECIAL>(m, s, -m.gravity.lift(), Some(qdd), Whole(m.bodies.len()));
        inward::<S, SPECIAL>(m, s, tau);
        add_rotors(m, qdd, tau);
    }
}

/// Branches side by side, where that saves time: the same T to the bit, but the stages of a branch's links stay empty.
impl PackedSweep for Inverse {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, at: At<'_>, qdd: &[f64], tau: &mut [f64]) {
        let Some(b) = &m.bundles else {
            return Self::run::<true>(m, s, at, qdd, tau);
        };
        outward::<f64, FRESH, true>(m, s, -m.gravity, Some(qdd), &b.trunk[..]);
        branches::accelerate::<P>(b, s, qdd);
        branches::project::<P>(b, s, tau);
        inward_along::<f64, true>(m, s, tau, &b.trunk[..]);
        add_rotors(m, qdd, tau);
    }
}

impl<S: Scalar> Sweep<S> for InverseAgain {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, qdd: &[S], tau: &mut [S]) {
        outward_moving::<S, SPECIAL>(m, s, -m.gravity.lift(), Some(qdd));
        inward::<S, SPECIAL>(m, s, tau);
        add_rotors(m, qdd, tau);
    }
}

impl<S: Scalar> Sweep<S> for Bias {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], tau: &mut [S]) {
        outward::<S, FRESH, SPECIAL>(m, s, -m.gravity.lift(), None, Whole(m.bodies.len()));
        inward::<S, SPECIAL>(m, s, tau);
    }
}

impl<S: Scalar> Sweep<S> for Coriolis {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], tau: &mut [S]) {
        let loaded = core::mem::replace(&mut s.loaded, false);
        outward_moving::<S, SPECIAL>(m, s, Vec3::ZERO, None);
        s.loaded = loaded;
        inward::<S, SPECIAL>(m, s, tau);
    }
}

impl<S: Scalar> Sweep<S> for Gravity {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], tau: &mut [S]) {
        let loaded = core::mem::replace(&mut s.loaded, false);
        outward::<S, STILL, SPECIAL>(m, s, -m.gravity.lift(), None, Whole(m.bodies.len()));
        s.loaded = loaded;
        inward::<S, SPECIAL>(m, s, tau);
    }
}

impl<S: Scalar> Sweep<S> for MassTimes {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, x: &[S], out: &mut [S]) {
        let loaded = core::mem::replace(&mut s.loaded, false);
        outward::<S, STILL, SPECIAL>(m, s, Vec3::ZERO, Some(x), Whole(m.bodies.len()));
        s.loaded = loaded;
        inward::<S, SPECIAL>(m, s, out);
        add_rotors(m, x, out);
    }
}

/// Where a and b come from: they are zero, are there already, or are made on the way. Only where they are there are the
/// forces those across the joints; otherwise their torques alone are right.
const STILL: u8 = 0;
const THERE: u8 = 1;
const FRESH: u8 = 2;

/// The outward half, with the rates as a stage.
#[inline(always)]
pub(crate) fn outward_moving<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    base: Vec3<S>,
    qdd: Option<&[S]>,
) {
    s.need_rates(m);
    outward::<S, THERE, SPECIAL>(m, s, base, qdd, Whole(m.bodies.len()));
}

/// Along some links, parents first: α = φ*(p,k) α(p) + a + H*q̈ and f = Mα + b − f_ext, with the base accelerating at
/// `base`.
#[inline(always)]
fn outward<S: Scalar, const RATES: u8, const SPECIAL: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    base: Vec3<S>,
    qdd: Option<&[S]>,
    course: impl Course,
) {
    let n = m.bodies.len();
    let (bodies, rates, joints) = (&m.bodies[..n], &mut s.rates[..n], &s.joints);
    let (alphas, forces, qd) = (&mut s.alpha[..n], &mut s.force[..n], &s.qd[..]);
    let mut last = (Vec3::ZERO, Motion::ZERO);
    for i in 0..course.len() {
        let Met::Link(k) = course.at(i) else { continue };
        let body = &bodies[k];
        let (omega_p, alpha_p) = match body.parent {
            Some(p) if p + 1 == k => last,
            Some(p) => (rates[p].omega, alphas[p]),
            None => (Vec3::ZERO, Motion::new(Vec3::ZERO, base)),
        };
        at_joint!(<S, SPECIAL> bodies, joints, k, joint => {
            let mut alpha = joint.motion_out(alpha_p);
            let (omega, mut own) = match RATES {
                STILL => (Vec3::ZERO, Motion::ZERO),
                THERE => (rates[k].omega, rates[k].a),
                _ => rates::turn(joint, body, omega_p, qd),
            };
            if RATES == FRESH {
                // All that the children need.
                rates[k].omega = omega;
            }
            if let Some(qdd) = qdd {
                own = joint.hinge().add_motion(own, &qdd[body.v..]);
            }
            if RATES != STILL || qdd.is_some() {
                alpha += own;
            }
            alphas[k] = alpha;
            last = (omega, alpha);
            forces[k] = match (RATES, joint.hinge()) {
                (THERE, _) => body.inertia.lift().times(alpha) + rates[k].b,
                (STILL, Hinge::Revolute) => body.laden.eccentric().times(alpha),
                (STILL, Hinge::Prismatic) => body.laden.lift().slide_times(alpha),
                (STILL, _) => body.laden.lift().times(alpha),
                (_, Hinge::Revolute) => body.laden.eccentric().force(omega, alpha),
                (_, Hinge::Prismatic) => body.laden.lift().slide_force(omega, alpha),
                _ => body.laden.lift().times(alpha) + rates::gyroscopic(&body.laden, omega),
            };
        });
    }
    if s.loaded {
        for k in 0..n {
            s.force[k] -= s.loads[k];
        }
    }
}

/// f = f + Σ φ(k,c) f(c), T = H f.
#[inline(always)]
pub(crate) fn inward<S: Scalar, const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, tau: &mut [S]) {
    inward_along::<S, SPECIAL>(m, s, tau, Whole(m.bodies.len()));
}

#[inline(always)]
fn inward_along<S: Scalar, const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, tau: &mut [S], course: impl Course) {
    let n = m.bodies.len();
    let (bodies, joints, forces) = (&m.bodies[..n], &s.joints, &mut s.force[..n]);
    let mut inflow = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting);
    for i in (0..course.len()).rev() {
        let k = match course.at(i) {
            Met::Link(k) => k,
            Met::Branch { root, run, lane } => {
                inflow.hand_in(&bodies[root], s.scratch.abreast.handed_force(run, lane));
                continue;
            }
        };
        let body = &bodies[k];
        let force = inflow.gather(body, forces[k]);
        forces[k] = force;
        at_joint!(<S, SPECIAL> bodies, joints, k, joint => {
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
