//! Dynamics of several models of one tree side by side: the sweeps of [`super::forward`], [`super::inverse`] and
//! [`super::composite`], with numbers of its own in every lane.

use crate::body::{Body, Gain, Hinge, Passage, sizes};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{
    Apart, Articulated, Flat, Force, Leaning, Motion, Pose, Quarter, RigidBody, Rotation, Screw, Tilt, Turn, Vec3,
};
use crate::stage::inflow::{Inflow, Waiting};
use crate::stage::joints::displacement;
use crate::stage::way_to_parent::{Across, Ways, centripetal};

/// Numbers of a link that may differ between models: cos θ, sin θ, θ, the shifts, the tilt, the screw before, what is aside,
/// the inertia, and the placement of roots and of joints that are no screw.
pub(crate) const NUMBERS: usize = 35;

/// Where they start.
mod at {
    pub(super) const COS: usize = 0;
    pub(super) const SIN: usize = 1;
    pub(super) const THETA: usize = 2;
    pub(super) const SHIFT: usize = 3;
    pub(super) const ALONG: usize = 4;
    pub(super) const ACROSS: usize = 5;
    pub(super) const LEAN: usize = 6;
    pub(super) const BEFORE: usize = 8;
    pub(super) const ASIDE: usize = 11;
    pub(super) const INERTIA: usize = 13;
    pub(super) const PLACEMENT: usize = 23;
}

/// The numbers of one model: those of its links, then armatures, damping and gravity.
pub(crate) fn numbers(m: &Compiled, damping: &[f64]) -> Vec<f64> {
    let mut all = Vec::with_capacity(length(m));
    for body in &m.bodies {
        let (sin, cos) = body.theta.sin_cos();
        all.extend([cos, sin, body.theta, body.shift, body.along, body.across]);
        all.extend([body.lean.cos, body.lean.sin]);
        all.extend(
            body.before
                .map_or([1.0, 0.0, 0.0], |z| [z.turn.cos, z.turn.sin, z.shift]),
        );
        all.extend(body.aside.unwrap_or_default());
        all.push(body.inertia.mass);
        all.extend(body.inertia.first.to_array());
        all.extend(body.inertia.second);
        let Pose {
            rotation: r,
            translation,
        } = body.placement;
        all.extend([r.x, r.y, r.z, translation].into_iter().flat_map(Vec3::to_array));
    }
    all.extend(&m.armature);
    all.extend(damping);
    all.extend(m.gravity.to_array());
    all
}

/// How many those are.
pub(crate) fn length(m: &Compiled) -> usize {
    NUMBERS * m.bodies.len() + 2 * m.nv + 3
}

/// What all models have in common of the way from a link to its parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    route: Route,
    before: bool,
    across: bool,
    aside: bool,
    rotors: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Root,
    Flat,
    Quarter,
    Lean,
    General,
}

impl Common {
    /// Of a link of one model.
    pub(crate) fn new(body: &Body, armature: &[f64]) -> Self {
        use Passage::*;
        Self {
            route: match body.passage {
                Root => Route::Root,
                General => Route::General,
                TurnFlat | ScrewFlat => Route::Flat,
                TurnQuarter | SlideQuarter | ScrewQuarter => Route::Quarter,
                TurnLean | ScrewLean | ScrewSkew => Route::Lean,
            },
            before: body.before.is_some(),
            across: body.across != 0.0,
            aside: body.aside.is_some(),
            rotors: armature[body.v..body.v + body.dofs].iter().any(|&x| x != 0.0),
        }
    }

    /// Of links of two models; none if one hangs on its parent in quite another way.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        let route = match (self.route, other.route) {
            (a, b) if a == b => a,
            (Route::Root | Route::General, _) | (_, Route::Root | Route::General) => return None,
            _ => Route::Lean,
        };
        Some(Self {
            route,
            before: self.before || other.before,
            across: self.across || other.across,
            aside: self.aside || other.aside,
            rotors: self.rotors || other.rotors,
        })
    }
}

/// The models of as many states as there are lanes.
#[derive(Clone, Copy)]
pub(crate) struct Several<'a, S> {
    pub(crate) m: &'a Compiled,
    pub(crate) common: &'a [Common],
    /// [`numbers`] of every lane.
    pub(crate) numbers: &'a [S],
}

impl<'a, S: Scalar> Several<'a, S> {
    #[inline(always)]
    fn link(self, k: usize) -> &'a [S] {
        &self.numbers[k * NUMBERS..][..NUMBERS]
    }

    #[inline(always)]
    fn armature(self, v: usize) -> &'a [S] {
        &self.numbers[NUMBERS * self.m.bodies.len() + v..]
    }

    #[inline(always)]
    pub(crate) fn damping(self) -> &'a [S] {
        &self.armature(self.m.nv)[..self.m.nv]
    }

    #[inline(always)]
    fn base(self) -> Motion<S> {
        let g = self.armature(2 * self.m.nv);
        Motion::new([S::ZERO; 3], [-g[0], -g[1], -g[2]])
    }

    #[inline(always)]
    fn inertia(self, k: usize) -> RigidBody<S> {
        let x = &self.link(k)[at::INERTIA..][..10];
        RigidBody {
            mass: x[0],
            first: Vec3::new(x[1], x[2], x[3]),
            second: [x[4], x[5], x[6], x[7], x[8], x[9]],
        }
    }

    #[inline(always)]
    fn placement(self, k: usize) -> Pose<S> {
        let x = &self.link(k)[at::PLACEMENT..][..12];
        let vector = |i: usize| Vec3::new(x[i], x[i + 1], x[i + 2]);
        let rotation = Rotation {
            x: vector(0),
            y: vector(3),
            z: vector(6),
        };
        Pose {
            rotation,
            translation: vector(9),
        }
    }

    /// The way to a moving parent, but for the turn of its tilt.
    #[inline(always)]
    fn way<T>(self, k: usize, turn: T, z: Screw<S>) -> Ways<S, T> {
        let (x, common) = (self.link(k), &self.common[k]);
        let mut before = None;
        if common.before {
            before = Some(Screw::new(x[at::BEFORE], x[at::BEFORE + 1], x[at::BEFORE + 2]));
        }
        let mut across = None;
        if common.across {
            across = Some(x[at::ACROSS]);
        }
        let mut aside = None;
        if common.aside {
            aside = Some([x[at::ASIDE], x[at::ASIDE + 1]]);
        }
        let along = x[at::ALONG];
        let turn = Apart { turn, along, across };
        Ways {
            before,
            tilt: Tilt { turn, along: 0.0 },
            aside,
            z,
        }
    }
}

/// What one state of every lane determines, and room for sweeps.
#[derive(Clone, Debug)]
pub(crate) struct Memory<S> {
    screws: Vec<Screw<S>>,
    general: Vec<Pose<S>>,
    rates: Vec<(Vec3<S>, Motion<S>, Force<S>)>,
    alpha: Vec<Motion<S>>,
    force: Vec<Force<S>>,
    pub(crate) gains: Vec<Gain<S>>,
    eps: Vec<S>,
    waiting: Waiting<S>,
    waiting_too: Waiting<S>,
}

impl<S: Scalar> Memory<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        let n = m.bodies.len();
        Self {
            screws: vec![Screw::new(S::ONE, S::ZERO, S::ZERO); n],
            general: vec![Pose::IDENTITY; n],
            rates: vec![(Vec3::ZERO, Motion::ZERO, Force::ZERO); n],
            alpha: vec![Motion::ZERO; n],
            force: vec![Force::ZERO; n],
            gains: vec![Gain::default(); m.nv],
            eps: vec![S::ZERO; m.nv],
            waiting: Waiting::new(m.branches),
            waiting_too: Waiting::new(m.branches),
        }
    }
}

/// Runs one of two expressions: with the way to a moving parent, or with the placement of a joint that is no screw.
macro_rules! at_link {
    ($several:expr, $memory:expr, $k:expr, way $way:ident => $by_way:expr, pose $pose:ident => $by_pose:expr) => {{
        let z = $memory.screws[$k];
        match $several.common[$k].route {
            Route::Flat => {
                let $way = $several.way($k, Flat, z);
                $by_way
            }
            Route::Quarter => {
                let $way = $several.way($k, Quarter, z);
                $by_way
            }
            Route::Lean => {
                let x = $several.link($k);
                let turn = Turn {
                    cos: x[at::LEAN],
                    sin: x[at::LEAN + 1],
                };
                let $way = $several.way($k, Leaning(turn), z);
                $by_way
            }
            Route::Root | Route::General => {
                let $pose = &$memory.general[$k];
                $by_pose
            }
        }
    }};
}

impl<S: Scalar> Several<'_, S> {
    /// The joints' own motions.
    #[inline(always)]
    pub(crate) fn pose(self, memory: &mut Memory<S>, q: &[S]) {
        for (k, body) in self.m.bodies.iter().enumerate() {
            let (x, q) = (self.link(k), &q[body.q..]);
            let (mut turn, mut shift) = ([x[at::COS], x[at::SIN]], x[at::SHIFT]);
            if matches!(
                body.hinge,
                Hinge::Revolute | Hinge::Helical { .. } | Hinge::Cylindrical | Hinge::Planar
            ) {
                let (sin, cos) = (q[0] + x[at::THETA]).sin_cos();
                turn = [cos, sin];
            }
            match body.hinge {
                Hinge::Prismatic => shift += q[0],
                Hinge::Cylindrical => shift += q[1],
                Hinge::Helical { pitch } => shift = q[0].mul_add(S::lift(pitch), shift),
                _ => {}
            }
            let z = Screw::new(turn[0], turn[1], shift);
            memory.screws[k] = z;
            match self.common[k].route {
                Route::Root => memory.general[k] = z.after_pose(&self.placement(k)),
                Route::General => memory.general[k] = self.placement(k) * displacement(body.hinge, z.turn, q),
                _ => {}
            }
        }
    }

    /// ω, a and b of every link.
    #[inline(always)]
    fn rates(self, memory: &mut Memory<S>, qd: &[S]) {
        for (k, body) in self.m.bodies.iter().enumerate() {
            let mut inner = None;
            if let Some(p) = body.parent {
                let w = memory.rates[p].0;
                inner = Some(at_link!(self, memory, k,
                way way => way.spin_out(w),
                pose pose => {
                    let c = centripetal(w, pose.translation);
                    (pose.rotation.inverse_mul(w), pose.rotation.inverse_mul(c))
                }));
            }
            let (omega, a) = body.hinge.step(inner, &qd[body.v..]);
            let inertia = self.inertia(k);
            let [xx, _, _, yy, _, zz] = inertia.second;
            let b = inertia.gyroscopic([zz - yy, xx - zz, yy - xx], omega);
            memory.rates[k] = (omega, a, b);
        }
    }

    /// α(k) before the joint's own acceleration: φ*α(p) + a.
    #[inline(always)]
    fn carried_out(self, memory: &Memory<S>, k: usize, base: Motion<S>) -> Motion<S> {
        let alpha = match self.m.bodies[k].parent {
            Some(p) => memory.alpha[p],
            None => base,
        };
        let alpha = at_link!(self, memory, k, way way => way.motion_out(alpha), pose pose => pose.motion_out(alpha));
        alpha + memory.rates[k].1
    }

    #[inline(always)]
    fn force_in(self, memory: &Memory<S>, k: usize, f: Force<S>) -> Force<S> {
        at_link!(self, memory, k, way way => way.force_in(f), pose pose => pose.force_in(f))
    }

    /// T for given accelerations, of a state that is [posed](Several::pose).
    #[inline(always)]
    pub(crate) fn inverse(self, memory: &mut Memory<S>, qd: &[S], qdd: &[S], tau: &mut [S]) {
        self.rates(memory, qd);
        let base = self.base();
        for (k, body) in self.m.bodies.iter().enumerate() {
            let alpha = self.carried_out(memory, k, base);
            let alpha = body.hinge.add_motion(alpha, &qdd[body.v..]);
            memory.alpha[k] = alpha;
            memory.force[k] = self.inertia(k).times(alpha) + memory.rates[k].2;
        }
        for (k, body) in self.m.bodies.iter().enumerate().rev() {
            let f = memory.force[k];
            body.hinge.project(f, &mut tau[body.v..]);
            if let Some(p) = body.parent {
                let f = self.force_in(memory, k, f);
                memory.force[p] += f;
            }
        }
        let rotors = self.armature(0);
        for v in 0..self.m.nv {
            tau[v] = rotors[v].mul_add(qdd[v], tau[v]);
        }
    }

    /// q̈ under given torques; zero is returned where every pivot is sound.
    #[inline(always)]
    pub(crate) fn forward(self, memory: &mut Memory<S>, qd: &[S], tau: &[S], qdd: &mut [S]) -> S {
        self.rates(memory, qd);
        self.inward(memory, tau);
        let (base, mut unsound) = (self.base(), S::ZERO);
        for (k, body) in self.m.bodies.iter().enumerate() {
            let mut alpha = self.carried_out(memory, k, base);
            let v = body.v;
            body.hinge
                .resolve(&mut alpha, &memory.eps[v..], &memory.gains[v..], &mut qdd[v..]);
            memory.alpha[k] = alpha;
            for gain in &memory.gains[v..v + body.dofs] {
                unsound += gain.unsound();
            }
        }
        unsound
    }

    /// P = M + Σ φP⁺φ*, D and G; z = b + Σ φz⁺ and ε.
    #[inline(always)]
    fn inward(self, memory: &mut Memory<S>, tau: &[S]) {
        let mut waiting = core::mem::take(&mut memory.waiting);
        let mut waiting_too = core::mem::take(&mut memory.waiting_too);
        let mut p_in = Inflow::<S, Articulated<S>>::new(&mut waiting);
        let mut z_in = Inflow::<S, Force<S>>::new(&mut waiting_too);
        for (k, body) in self.m.bodies.iter().enumerate().rev() {
            let (v, (_, a, b)) = (body.v, memory.rates[k]);
            let p = p_in.gather(body, self.inertia(k));
            let mut z = z_in.gather(body, b);
            let (gains, eps) = (&mut memory.gains[v..], &mut memory.eps[v..]);
            if matches!(body.hinge, Hinge::Revolute) && !self.common[k].rotors {
                let d_inv = p.a[5].recip();
                let (g, rest) = p.release_about_z(d_inv);
                gains[0] = Gain { d_inv, g }.judged(p.a[5], sizes(&p)[0]);
                body.hinge.innovate(&mut z, &tau[v..], gains, eps);
                if body.parent.is_some() {
                    let z_plus = rest.times(a) + z;
                    let (p, z) = at_link!(self, memory, k,
                        way way => (way.carry_in_about_z(rest), way.force_in(z_plus)),
                        pose pose => (Articulated::from(rest).through(pose), pose.force_in(z_plus)));
                    p_in.hand_in(body, p);
                    z_in.hand_in(body, z);
                }
                continue;
            }
            let p_plus = self.release(k, p, gains);
            body.hinge.innovate(&mut z, &tau[v..], gains, eps);
            if body.parent.is_some() {
                let z_plus = p_plus.times(a) + z;
                let (p, z) = at_link!(self, memory, k,
                    way way => (way.carry_in(p_plus), way.force_in(z_plus)),
                    pose pose => (p_plus.through(pose), pose.force_in(z_plus)));
                p_in.hand_in(body, p);
                z_in.hand_in(body, z);
            }
        }
        (memory.waiting, memory.waiting_too) = (waiting, waiting_too);
    }

    /// D, G and P⁺, as [`Hinge::release`], with rotors of their own in every lane.
    #[inline(always)]
    fn release(self, k: usize, mut p: Articulated<S>, gains: &mut [Gain<S>]) -> Articulated<S> {
        let body = &self.m.bodies[k];
        if !self.common[k].rotors {
            return body.hinge.release(p, &[0.0; 6], gains);
        }
        let (sizes, rotors) = (sizes(&p), self.armature(body.v));
        for (i, &axis) in body.hinge.axes().iter().enumerate() {
            let mut u = p.column(axis);
            let (mut d, mut whole) = (u[axis], sizes[axis / 3]);
            if let Some(pitch) = body.hinge.pitch() {
                let (h, other) = (S::lift(pitch), p.column(5));
                whole = (h * h).mul_add(sizes[1], whole);
                for j in 0..6 {
                    u[j] = h.mul_add(other[j], u[j]);
                }
                d = h.mul_add(u[5], u[2]);
            }
            d += rotors[i];
            gains[i] = Gain::new(d.recip(), u).judged(d, whole);
            p.subtract_outer(gains[i].g, u);
        }
        p
    }

    /// 𝓜, dense and row by row, in memory that is zero where it is zero.
    #[inline(always)]
    pub(crate) fn mass(self, memory: &mut Memory<S>, out: &mut [S]) {
        let n = self.m.nv;
        let mut waiting = core::mem::take(&mut memory.waiting);
        let mut inflow = Inflow::<S, RigidBody<S>>::new(&mut waiting);
        for (k, body) in self.m.bodies.iter().enumerate().rev() {
            let r = inflow.gather(body, self.inertia(k));
            for i in 0..body.dofs {
                let (column, mut f) = (body.v + i, body.hinge.column_of(&r, i));
                let mut h = [S::ZERO; 6];
                body.hinge.project(f, &mut h);
                for j in 0..=i {
                    (out[(body.v + j) * n + column], out[column * n + body.v + j]) = (h[j], h[j]);
                }
                out[column * n + column] += self.armature(0)[column];
                let mut from = k;
                while let Some(p) = self.m.bodies[from].parent {
                    let inner = &self.m.bodies[p];
                    f = self.force_in(memory, from, f);
                    inner.hinge.project(f, &mut h);
                    for j in 0..inner.dofs {
                        let row = inner.v + j;
                        (out[row * n + column], out[column * n + row]) = (h[j], h[j]);
                    }
                    from = p;
                }
            }
            if body.parent.is_some() {
                let r = at_link!(self, memory, k, way way => way.carry_rigid_in(r), pose pose => r.through(pose));
                inflow.hand_in(body, r);
            }
        }
        memory.waiting = waiting;
    }
}
