//! Forward dynamics, four ways.  (RK)

use super::{branches, inverse};
use crate::body::{Gain, Hinge, release_base, resolve_base};
use crate::dynamics::innovations;
use crate::model::Compiled;
use crate::plan::{Course, Met, Whole};
use crate::scalar::{Pack, Scalar};
use crate::spatial::{Articulated, Force, Motion, Vec3};
use crate::stage::Stages;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::inflow::Inflow;
use crate::stage::outflow::of_parent;
use crate::stage::riccati;
use crate::sweep::{At, Known, PackedSweep, Sweep, algorithm, known};

/// T → q̈, biased, without D'Alembert forces (the articulated body algorithm): after the rates, one inward and one
/// outward sweep. About 470 operations per link.
pub(crate) struct Forward;
/// The same with the Riccati stage, keeping z⁺ for the reaction forces.
pub(crate) struct ForwardKeeping;
/// T → q̈, bias-free: T' = T − C by inverse dynamics, then 𝓜⁻¹T'. Also leaves every link's acceleration in `alpha`.
pub(crate) struct ForwardBiasFree;
/// T → q̈, biased: ζ = Mφ*a + b, ε = T − Hψ(KT + ζ), q̈ = (I − HψK)*D⁻¹ε.
pub(crate) struct ForwardBiased;

/// D and G.
pub(crate) struct Gains;
/// One number: zero where every pivot of D is sound.
pub(crate) struct Pivots;
/// After [`ForwardKeeping`], link by link: f = P⁺(α⁺ + a) + z + Gε = P⁺α⁺ + z⁺.
pub(crate) struct Reactions;
/// After [`ForwardBiasFree`]: f = Mα + b − f_ext + Σ φ f(c).
pub(crate) struct ForcesFromAccelerations;

/// [`Forward`], refined where that is needed.
pub(crate) const FORWARD_DYNAMICS: Known = known!(
    ("forward_dynamics", "q̈", "the accelerations under the torques tau"),
    ["aba"], [Q, Qd, Tau] -> [Nv]
);

algorithm! {
    Forward: Forward, Packed;
    ForwardKeeping: Forward;
    ForwardBiasFree: BiasFree;
    ForwardBiased: BiasFree;
    Gains: Plain;
    Pivots: Plain, Often;
    Reactions: Plain;
    ForcesFromAccelerations: Plain;
}

impl<S: Scalar> Sweep<S> for Gains {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        s.need_gains(m);
    }
}

impl<S: Scalar> Sweep<S> for Pivots {
    #[inline(always)]
    fn run<const SPECIAL: bool>(_: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], out: &mut [S]) {
        if s.filled.has_pivots_at_home() {
            out[0] = s.linear.unsound;
            return;
        }
        let mut unsound = S::ZERO;
        for gain in &s.riccati.gains {
            unsound += gain.unsound();
        }
        out[0] = unsound;
    }
}

impl<S: Scalar> Sweep<S> for Reactions {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        let base = Motion::new(Vec3::ZERO, -m.gravity.lift());
        for k in 0..m.bodies.len() {
            let alpha_p = m.bodies[k].parent.map_or(base, |p| s.alpha[p]);
            let alpha_plus = at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => joint.motion_out(alpha_p));
            s.force[k] += s.riccati.p_plus[k].times(alpha_plus);
        }
    }
}

impl<S: Scalar> Sweep<S> for ForcesFromAccelerations {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        for (k, body) in m.bodies.iter().enumerate() {
            let own = body.inertia.lift().times(s.alpha[k]) + s.rates[k].b;
            s.force[k] = if s.loaded { own - s.loads[k] } else { own };
        }
        let mut inflow = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting);
        for k in (0..m.bodies.len()).rev() {
            let body = &m.bodies[k];
            let force = inflow.gather(body, s.force[k]);
            s.force[k] = force;
            if body.parent.is_some() {
                at_joint!(<S, SPECIAL> m.bodies, s.joints, k, joint => inflow.hand_in(body, joint.force_in(force)));
            }
        }
    }
}

impl<S: Scalar> Sweep<S> for Forward {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, tau: &[S], qdd: &mut [S]) {
        s.need_rates(m);
        let all = Whole(m.bodies.len());
        let unsound = if const { S::LANES > 1 } {
            inward::<S, true, true, SPECIAL>(m, s, tau, all);
            outward::<S, true, SPECIAL>(m, s, qdd, all)
        } else {
            inward::<S, true, false, SPECIAL>(m, s, tau, all);
            outward::<S, false, SPECIAL>(m, s, qdd, all)
        };
        s.filled.tell_gains();
        s.judge(unsound);
    }
}

/// Branches side by side, where that saves time: the same q̈ to the bit, but the stages of a branch's links stay empty.
impl PackedSweep for Forward {
    #[inline(always)]
    fn packed<P: Pack<f64>>(m: &Compiled, s: &mut Stages<f64>, at: At<'_>, tau: &[f64], qdd: &mut [f64]) {
        let Some(b) = &m.bundles else {
            return Self::run::<true>(m, s, at, tau, qdd);
        };
        s.fill_rates_of::<true>(m, &b.trunk[..]);
        branches::rates::<P>(b, s, tau);
        branches::inward::<P>(b, s);
        inward::<f64, true, true, true>(m, s, tau, &b.trunk[..]);
        let unsound = outward::<f64, true, true>(m, s, qdd, &b.trunk[..]) + branches::outward::<P>(b, s, qdd);
        s.judge(unsound);
    }
}

impl<S: Scalar> Sweep<S> for ForwardKeeping {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, tau: &[S], qdd: &mut [S]) {
        s.need_rates(m);
        s.need_riccati(m);
        inward::<S, false, false, SPECIAL>(m, s, tau, Whole(m.bodies.len()));
        let unsound = outward::<S, false, SPECIAL>(m, s, qdd, Whole(m.bodies.len()));
        s.judge(unsound);
    }
}

impl<S: Scalar> Sweep<S> for ForwardBiasFree {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, tau: &[S], qdd: &mut [S]) {
        s.need_gains(m);
        inverse::outward_moving::<S, SPECIAL>(m, s, -m.gravity.lift(), None);
        inverse::inward::<S, SPECIAL>(m, s, qdd);
        for i in 0..m.nv {
            s.scratch.dofs[i] = tau[i] - qdd[i];
        }
        innovations::inward::<S, SPECIAL>(
            m,
            &s.joints,
            &s.riccati.gains,
            &mut s.scratch.waiting,
            &s.scratch.dofs,
            &mut s.scratch.eps,
        );
        innovations::outward::<S, SPECIAL>(
            m,
            &s.joints,
            &s.riccati.gains,
            &s.scratch.eps,
            &mut s.scratch.lambda,
            qdd,
        );
        for k in 0..m.bodies.len() {
            s.alpha[k] += s.scratch.lambda[k];
        }
    }
}

impl<S: Scalar> Sweep<S> for ForwardBiased {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, tau: &[S], qdd: &mut [S]) {
        s.need_gains(m);
        inverse::outward_moving::<S, SPECIAL>(m, s, -m.gravity.lift(), None);
        let (joints, gains, eps) = (&s.joints, &s.riccati.gains, &mut s.scratch.eps);
        let mut inflow = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting);
        for k in (0..m.bodies.len()).rev() {
            let body = &m.bodies[k];
            let v = body.v;
            // ζ(k) is what the outward half of inverse dynamics left.
            let mut z = inflow.gather(body, s.force[k]);
            at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
                joint.hinge().innovate(&mut z, &tau[v..], &gains[v..], &mut eps[v..]);
                if body.parent.is_some() {
                    inflow.hand_in(body, joint.force_in(z));
                }
            });
        }
        innovations::outward::<S, SPECIAL>(
            m,
            &s.joints,
            &s.riccati.gains,
            &s.scratch.eps,
            &mut s.scratch.lambda,
            qdd,
        );
    }
}

/// z = b − f_ext + Σ φ z⁺;  ε = T − H z;  z⁺ = z + P⁺a + Gε. `FRESH` also runs the Riccati recursion on the way;
/// otherwise P⁺ is there, and z⁺ is kept beside it. Free bases are `FLOATING` in code of their own.
#[inline(always)]
fn inward<S: Scalar, const FRESH: bool, const FLOATING: bool, const SPECIAL: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    tau: &[S],
    course: impl Course,
) {
    let n = m.bodies.len();
    let (bodies, rates, joints) = (&m.bodies[..n], &s.rates[..n], &s.joints);
    let (gains, eps) = (&mut s.riccati.gains[..], &mut s.scratch.eps[..]);
    let (p_pluses, z_pluses) = (&s.riccati.p_plus[..n], &mut s.force[..n]);
    let mut p_in = Inflow::<S, Articulated<S>>::new(&mut s.scratch.waiting);
    let mut z_in = Inflow::<S, Force<S>>::new(&mut s.scratch.waiting_too);
    for i in (0..course.len()).rev() {
        let k = match course.at(i) {
            Met::Link(k) => k,
            Met::Branch { root, run, lane } => {
                let (p, z) = s.scratch.abreast.handed(run, lane);
                p_in.hand_in(&bodies[root], p);
                z_in.hand_in(&bodies[root], z);
                continue;
            }
        };
        let (body, rate) = (&bodies[k], &rates[k]);
        let v = body.v;
        let b = if s.loaded { rate.b - s.loads[k] } else { rate.b };
        if FLOATING && body.floats {
            release_base(&p_in.gather(body, body.inertia.lift::<S>()), &mut gains[v..]);
            let mut z = z_in.gather(body, b);
            Hinge::Free.innovate(&mut z, &tau[v..], &gains[v..], &mut eps[v..]);
            continue;
        }
        at_joint!(<S, SPECIAL> bodies, joints, k, joint => {
            let p_plus = if FRESH {
                riccati::step(joint, body, m, &mut p_in, gains, |_| {})
            } else {
                joint.rest(&p_pluses[k])
            };
            let mut z = z_in.gather(body, b);
            joint.hinge().innovate(&mut z, &tau[v..], &gains[v..], &mut eps[v..]);
            // Behind a root nobody asks for z⁺ but the reaction forces.
            if !FRESH || body.parent.is_some() {
                let z_plus = joint.rest_times(&p_plus, rate.a) + z;
                if !FRESH {
                    z_pluses[k] = z_plus;
                }
                if body.parent.is_some() {
                    z_in.hand_in(body, joint.force_in(z_plus));
                }
            }
        });
    }
}

/// α⁺ = φ*(p,k) α(p);  q̈ = D⁻¹ε − G*(α⁺ + a);  α = α⁺ + a + H*q̈. Zero is returned where every
/// pivot is sound.
#[inline(always)]
fn outward<S: Scalar, const FLOATING: bool, const SPECIAL: bool>(
    m: &Compiled,
    s: &mut Stages<S>,
    qdd: &mut [S],
    course: impl Course,
) -> S {
    let n = m.bodies.len();
    let (bodies, rates, joints, alphas) = (&m.bodies[..n], &s.rates[..n], &s.joints, &mut s.alpha[..n]);
    let (gains, eps) = (&s.riccati.gains[..], &s.scratch.eps[..]);
    let base = Motion::new(Vec3::ZERO, -m.gravity.lift());
    let (mut unsound, mut last) = (S::ZERO, base);
    for i in 0..course.len() {
        let Met::Link(k) = course.at(i) else { continue };
        let body = &bodies[k];
        let v = body.v;
        let alpha_p = of_parent(body, k, last, alphas, base);
        if FLOATING && body.floats {
            let mut alpha = joints.general[body.general].motion_out(base) + rates[k].a;
            resolve_base(&mut alpha, &eps[v..], &gains[v..], &mut qdd[v..]);
            (alphas[k], last) = (alpha, alpha);
            unsound += judge(&gains[v..v + 6]);
            continue;
        }
        at_joint!(<S, SPECIAL> bodies, joints, k, joint => {
            let mut alpha = joint.motion_out(alpha_p) + rates[k].a;
            joint.hinge().resolve(&mut alpha, &eps[v..], &gains[v..], &mut qdd[v..]);
            (alphas[k], last) = (alpha, alpha);
            unsound += judge(&gains[v..v + joint.hinge().axes().len()]);
        });
    }
    unsound
}

/// Zero where some pivots are sound; where that would count, it is not asked.
#[inline(always)]
fn judge<S: Scalar>(gains: &[Gain<S>]) -> S {
    let mut unsound = S::ZERO;
    if const { Stages::<S>::JUDGES } {
        for gain in gains {
            unsound += gain.unsound();
        }
    }
    unsound
}
