//! A step's derivatives, by the implicit function theorem.
//!
//! ```text
//! F = Δt ID(q, v, ā) + A v⁺ − ΔtT − J*γ = 0      ā = (v⁺ − v)/Δt − x(v)      δv⁺ = −𝓐⁻¹(F_q δq + F_v δv + F_T δT + …)
//! ```
//!
//! with 𝓐 = 𝓐₀ + ΣJ*GJ at v⁺, loops among J. Under Coulomb's law G couples sliding to the normal impulse and is not symmetric: each contact that
//! slides adds a product of two vectors to 𝓐, which is solved beside it. R, the law of each contact, and what is remembered of it
//! are held.

use super::ball_limits::TurnChange;
use super::cone::{Law, ROWS};
use super::contact_derivatives::{ChangeAll, Meeting, Touching};
use super::loop_derivatives::{Ties, refine};
use super::rows::Hold;
use super::step::{State, Stepper, Work};
use super::{Contact, Friction};
use crate::dense::{self, Lu};
use crate::model::Mechanism;
use crate::spatial::{Force, Motion};
use crate::workspace::{Augmented, Masses, Posed};
use crate::{Error, Result};

/// A step's derivatives at a state. v⁺ is in the axes of the start of the step; changes of q are tangent, in the coordinates of v.
pub struct ContactDerivatives<'a> {
    pub(super) m: &'a Mechanism,
    pub(super) posed: Posed<'a>,
    memory: &'a mut Augmented,
    pub(super) work: &'a mut Work,
    pub(super) v: Vec<f64>,
    /// ā.
    pub(super) acceleration: Vec<f64>,
    pub(super) touching: Vec<Touching>,
    /// The loops, if there are some.
    pub(super) ties: Ties,
    /// Of each contact given: its place in `touching`, if it bears anything.
    places: Vec<Option<usize>>,
    pub(super) velocities: Vec<Motion>,
    pub(super) totals: Vec<Force>,
    /// Per degree of freedom: what springs and limits add to F_q.
    pub(super) springs: Vec<f64>,
    /// What limits of ball joints add to −F_q.
    pub(super) turns: Vec<TurnChange>,
    /// The contacts that slide by Coulomb's law, 𝓐⁻¹J*t for each, and I + ΣJ𝓐⁻¹J*t with its transpose.
    sliding: Vec<usize>,
    slid: Vec<f64>,
    small: [Lu; 2],
    room: [Vec<f64>; 4],
    /// How links are displaced.
    moved: Vec<Motion>,
}

impl core::fmt::Debug for ContactDerivatives<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ContactDerivatives")
            .field("mechanism", &self.m.name())
            .field("contacts", &self.places.len())
            .finish_non_exhaustive()
    }
}

/// A change of what a step starts from. What is left out does not change.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change<'a> {
    /// δq, nv numbers in the coordinates of v.
    pub q: Option<&'a [f64]>,
    /// δv.
    pub v: Option<&'a [f64]>,
    /// δT.
    pub torque: Option<&'a [f64]>,
    /// δμ, one number per contact.
    pub friction: Option<&'a [f64]>,
    /// δπ, ten numbers per link as in [`Mechanism::inertial_parameters`].
    pub inertia: Option<&'a [f64]>,
}

/// The gradient of a number by what a step starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradient {
    /// By q, in the coordinates of v.
    pub q: Vec<f64>,
    /// By v.
    pub v: Vec<f64>,
    /// By T.
    pub torque: Vec<f64>,
    /// By μ, one number per contact.
    pub friction: Vec<f64>,
}

fn refused(problem: impl Into<String>) -> Error {
    Error::Unsolved {
        what: "derivatives of a step with contact",
        problem: problem.into(),
    }
}

impl Stepper {
    /// Makes a step as [`Stepper::solve`] does, and differentiates it. `meetings` says of each contact what touches.
    ///
    /// Velocity terms must be explicit: `gyroscopic` off, unless nothing moves fast. Joints that follow others other than in
    /// proportion, springs of joints that turn about more than one axis, and contacts that bounce are refused.
    pub fn derivatives(
        &mut self,
        q: &[f64],
        v: &[f64],
        torque: &[f64],
        contacts: &[Contact],
        meetings: &[Meeting],
    ) -> Result<ContactDerivatives<'_>> {
        if meetings.len() != contacts.len() {
            return Err(Error::Length {
                argument: "meetings",
                needed: contacts.len(),
                given: meetings.len(),
            });
        }
        let m = &self.mechanism;
        if m.compiled.reduction.as_ref().is_some_and(|r| r.is_curved) {
            return Err(refused(
                "joints that follow others by curves are not differentiated; take ones that follow in proportion",
            ));
        }
        for joint in m.joints() {
            if joint.kind.is_curved() && joint.stiffness.iter().any(|k| *k != 0.0) {
                return Err(refused(format!(
                    "the spring of joint `{}` is not differentiated; only joints whose coordinates are their own tangents",
                    joint.name
                )));
            }
        }
        self.solve(q, v, torque, contacts)?;
        let turning = self.work.roots.iter().any(|root| root.alone)
            || self.work.is_fast(&State {
                m: &self.mechanism,
                closed: None,
                q,
                v,
            });
        if self.work.settings.gyroscopic && turning {
            return Err(refused(
                "velocity terms are implicit here; set `gyroscopic` to false for derivatives",
            ));
        }
        let (m, work) = (&self.mechanism, &mut self.work);
        let mut posed = self.workspace.at(q)?;
        let (nv, dt) = (m.nv(), work.settings.step);
        let plus = work.newton.v.clone();
        // Laws at v⁺, as symmetric weights.
        let coulomb = work.settings.friction == Friction::Coulomb;
        let mut a = posed.augment(&mut self.augmented, Masses::Kept)?;
        a.move_links(&plus);
        let velocities = a.memory().lambda.clone();
        let mut touching: Vec<Touching> = Vec::new();
        let (mut places, mut sliding) = (vec![None; contacts.len()], Vec::new());
        for (i, place) in work.places.iter().enumerate() {
            let Some(at) = *place else { continue };
            let point = &mut work.sum.points[at];
            if point.gamma[0] <= 0.0 {
                continue;
            }
            if coulomb {
                point.law = Law::Bound(point.cone.mu * point.gamma[0]);
            }
            if point.v_hat[0] != point.v_hat_n {
                return Err(refused(format!("contact {i} bounces, which is not differentiated")));
            }
            let mut one = Touching::new(*point, meetings[i], |k| a.link(k), &velocities);
            one.set_laws(coulomb, dt);
            places[i] = Some(touching.len());
            if one.coupling.iter().any(|x| *x != 0.0) {
                sliding.push(touching.len());
            }
            touching.push(one);
        }
        let ties = match &self.closed {
            Some(closed) => Ties::new(closed, work, v, &velocities, &mut a),
            None => Ties::default(),
        };
        // 𝓐, with the symmetric weights of what touches.
        a.memory().clear_weights();
        for one in &touching {
            one.point.weigh(&one.point.weight, &mut a);
        }
        for tie in &work.sum.loops {
            tie.weigh(&mut a);
        }
        let mut turns = Vec::new();
        for turned in &work.turns {
            let point = &work.sum.points[turned.point];
            if point.gamma[0] > 0.0 {
                point.weigh(&point.weight(), &mut a);
                turns.push(TurnChange::new(turned, point, &plus, dt)?);
            }
        }
        let mut diagonal = work.newton.diagonal.clone();
        let mut springs: Vec<f64> = match work.settings.passive {
            true => m.passive.stiffness.iter().map(|k| dt * k).collect(),
            false => vec![0.0; nv],
        };
        for follower in m.passive.followers.iter().filter(|_| work.settings.passive) {
            let [at, to] = follower.leader;
            let [_, slope, ..] = follower.follower.at(q[at]);
            springs[to] += dt * slope * slope * follower.stiffness;
        }
        for line in &work.sum.lines {
            let (_, g) = line.answer(plus[line.v]);
            diagonal[line.v] += line.slope * line.slope * g;
            if let Hold::Limit(gap) = line.hold {
                let time = if gap < 0.0 { dt + dt.max(0.02) } else { dt };
                springs[line.v] += line.slope * line.slope * g / time;
            }
        }
        a.set_diagonal(&diagonal);
        a.factor()?;
        let forces = &mut a.memory().forces;
        forces.fill(Force::ZERO);
        for one in &touching {
            one.push(&one.point.gamma, forces);
        }
        for tie in &work.sum.loops {
            tie.arms.push(tie.count, &tie.gamma, forces);
        }
        a.total_forces();
        let totals = a.memory().forces.clone();
        let mut acceleration: Vec<f64> = plus.iter().zip(v).map(|(new, old)| (new - old) / dt).collect();
        for root in &work.roots {
            root.turn(v, -1.0, &mut acceleration);
        }
        let mut out = ContactDerivatives {
            m,
            posed,
            memory: &mut self.augmented,
            work,
            v: v.to_vec(),
            acceleration,
            touching,
            ties,
            places,
            velocities,
            totals,
            springs,
            turns,
            sliding,
            slid: Vec::new(),
            small: [(); 2].map(|()| Lu::new(0)),
            room: [(); 4].map(|()| vec![0.0; 3 * nv]),
            moved: Vec::new(),
        };
        out.couple()?;
        Ok(out)
    }
}

impl ContactDerivatives<'_> {
    /// v⁺, in the axes of the start of the step.
    pub fn velocity(&self) -> &[f64] {
        &self.work.report.velocity
    }

    /// 𝓐⁻¹J*t of contacts that slide by Coulomb's law, and the small matrix that joins them.
    fn couple(&mut self) -> Result<()> {
        let (nv, count) = (self.v.len(), self.sliding.len());
        self.slid = vec![0.0; nv * count];
        self.small = [(); 2].map(|()| Lu::new(count));
        for c in 0..count {
            let mut a = self.posed.resume(self.memory);
            a.memory().forces.fill(Force::ZERO);
            let one = &self.touching[self.sliding[c]];
            one.push(&one.coupling, &mut a.memory().forces);
            let column = &mut self.slid[c * nv..(c + 1) * nv];
            match self.ties.is_empty() {
                true => a.solve_pushed(None, true, column),
                false => {
                    a.gather(column);
                    refine(&mut a, column);
                }
            }
            for r in 0..count {
                let normal = self.touching[self.sliding[r]].point.velocity(&a.memory().lambda)[0];
                let sum = normal + if r == c { 1.0 } else { 0.0 };
                self.small[0].matrix()[r * count + c] = sum;
                self.small[1].matrix()[c * count + r] = sum;
            }
        }
        let sound = self.small.iter_mut().all(Lu::factor);
        match sound {
            true => Ok(()),
            false => Err(refused(
                "sliding contacts jam: v⁺ is not determined by what they start from",
            )),
        }
    }

    /// 𝓐⁻¹x, in place.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        let (nv, count) = (x.len(), self.sliding.len());
        let mut a = self.posed.resume(self.memory);
        match self.ties.is_empty() {
            true => {
                let out = &mut self.room[3][..nv];
                a.solve_pushed(Some(x), false, out);
                x.copy_from_slice(out);
            }
            false => refine(&mut a, x),
        }
        if count > 0 {
            let mut s: Vec<f64> = self
                .sliding
                .iter()
                .map(|&i| self.touching[i].point.velocity(&a.memory().lambda)[0])
                .collect();
            self.small[0].solve(&mut s);
            for (s, column) in s.iter().zip(self.slid.chunks(nv)) {
                for (x, z) in x.iter_mut().zip(column) {
                    *x -= s * z;
                }
            }
        }
    }

    /// 𝓐⁻*x, in place.
    fn solve_transposed(&mut self, x: &mut [f64]) {
        let (nv, count) = (x.len(), self.sliding.len());
        let mut a = self.posed.resume(self.memory);
        a.memory().forces.fill(Force::ZERO);
        if count > 0 {
            let dot = |z: &[f64]| z.iter().zip(&*x).map(|(z, x)| z * x).sum::<f64>();
            let mut s: Vec<f64> = self.slid.chunks(nv).map(dot).collect();
            self.small[1].solve(&mut s);
            for (s, &i) in s.iter().zip(&self.sliding) {
                let mut normal = [0.0; ROWS];
                normal[0] = -s;
                self.touching[i].push(&normal, &mut a.memory().forces);
            }
        }
        let out = &mut self.room[3][..nv];
        if self.ties.is_empty() {
            a.solve_pushed(Some(x), count > 0, out);
            return x.copy_from_slice(out);
        }
        a.gather(out);
        x.iter_mut().zip(out).for_each(|(x, pushed)| *x += *pushed);
        refine(&mut a, x);
    }

    /// δv⁺ for a change, in O(n).
    pub fn change(&mut self, change: &Change<'_>, out: &mut [f64]) -> Result<()> {
        let (m, nv, dt) = (self.m, self.v.len(), self.work.settings.step);
        for (argument, x) in [("q", change.q), ("v", change.v), ("torque", change.torque)] {
            x.map_or(Ok(()), |x| m.check_vector(argument, x))?;
        }
        let lengths = [
            ("friction", change.friction.map(<[f64]>::len), self.places.len()),
            ("inertia", change.inertia.map(<[f64]>::len), 10 * m.links().len()),
            ("out", Some(out.len()), nv),
        ];
        for (argument, given, needed) in lengths {
            if let Some(given) = given.filter(|given| *given != needed) {
                return Err(Error::Length {
                    argument,
                    needed,
                    given,
                });
            }
        }
        out.fill(0.0);
        if change.q.is_some() || change.v.is_some() {
            let mut room = core::mem::take(&mut self.room[0]);
            let (dq, rest) = room.split_at_mut(nv);
            let (dv, da) = rest.split_at_mut(nv);
            fill(dq, change.q);
            fill(dv, change.v);
            da.fill(0.0);
            for root in &self.work.roots {
                root.turn_change(&self.v, dv, da);
            }
            for (da, dv) in da.iter_mut().zip(&*dv) {
                *da = -*da - dv / dt;
            }
            let done = self
                .posed
                .moving(&self.v)?
                .linearized(&self.acceleration)?
                .torque_change(&room, out);
            for i in 0..nv {
                out[i] = -dt * out[i] - self.springs[i] * room[i];
            }
            self.turns.iter().for_each(|turn| turn.add(false, &room[..nv], out));
            self.room[0] = room;
            done?;
        }
        if let Some(torque) = change.torque {
            for (out, dt_t) in out.iter_mut().zip(torque) {
                *out += dt * dt_t;
            }
        }
        if let Some(inertia) = change.inertia {
            let mut regressor = vec![0.0; nv * inertia.len()];
            self.posed
                .moving(&self.v)?
                .linearized(&self.acceleration)?
                .regressor(&mut regressor)?;
            for (out, row) in out.iter_mut().zip(regressor.chunks(inertia.len().max(1))) {
                *out -= dt * row.iter().zip(inertia).map(|(y, p)| y * p).sum::<f64>();
            }
        }
        self.add_impulses([change.q, change.v], change.friction, out);
        self.solve(out);
        Ok(())
    }

    /// Adds δ(J*γ) at fixed v⁺.
    pub(super) fn add_impulses(&mut self, [dq, dv]: [Option<&[f64]>; 2], friction: Option<&[f64]>, out: &mut [f64]) {
        let known = dq.is_none() && friction.is_none();
        if (self.touching.is_empty() || known) && (self.ties.is_empty() || (known && dv.is_none())) {
            return;
        }
        let nv = self.v.len();
        let mut room = core::mem::take(&mut self.room[1]);
        let (step, rest) = room.split_at_mut(nv);
        let (faster, tau) = rest.split_at_mut(nv);
        fill(step, dq);
        let mut a = self.posed.resume(self.memory);
        a.move_links(step);
        let mut moved = core::mem::take(&mut self.moved);
        moved.clear();
        moved.extend_from_slice(&a.memory().lambda);
        a.bend(&self.velocities, step);
        let mut extra = Vec::new();
        if let Some(friction) = friction {
            extra.resize(self.touching.len(), [0.0; ROWS]);
            for (place, d_mu) in self.places.iter().zip(friction) {
                if let Some(at) = *place {
                    extra[at] = self.touching[at].by_friction.map(|x| x * d_mu);
                }
            }
        }
        let (wide, memory) = (a.instructions(), a.memory());
        memory.forces.fill(Force::ZERO);
        let motions = (&moved[..], &memory.lambda[..]);
        wide.call(
            ChangeAll,
            (&self.touching[..], motions, &extra[..], &mut memory.forces[..]),
        );
        if !self.ties.is_empty() {
            fill(faster, dv);
            self.ties.change(&self.work.roots, [step, faster], &moved, &mut a);
        }
        a.gather_change(&self.totals, step, tau);
        for (out, tau) in out.iter_mut().zip(&*tau) {
            *out += tau;
        }
        self.moved = moved;
        self.room[1] = room;
    }

    /// The gradient of y·v⁺, in O(n).
    pub fn adjoint(&mut self, y: &[f64]) -> Result<Gradient> {
        let (m, nv, dt) = (self.m, self.v.len(), self.work.settings.step);
        m.check_vector("y", y)?;
        let mut w = y.to_vec();
        self.solve_transposed(&mut w);
        let mut back = vec![0.0; 3 * nv];
        self.posed
            .moving(&self.v)?
            .linearized(&self.acceleration)?
            .torque_adjoint(&w, &mut back)?;
        let (by_q, rest) = back.split_at(nv);
        let (by_v, mass) = rest.split_at(nv);
        let mut turned = vec![0.0; nv];
        for root in &self.work.roots {
            root.turn_adjoint(&self.v, mass, &mut turned);
        }
        let mut gradient = Gradient {
            q: (0..nv).map(|i| -dt * by_q[i] - self.springs[i] * w[i]).collect(),
            v: (0..nv).map(|i| mass[i] + dt * (turned[i] - by_v[i])).collect(),
            torque: w.iter().map(|w| dt * w).collect(),
            friction: vec![0.0; self.places.len()],
        };
        self.turns.iter().for_each(|turn| turn.add(true, &w, &mut gradient.q));
        if self.touching.is_empty() && self.ties.is_empty() {
            return Ok(gradient);
        }
        let mut a = self.posed.resume(self.memory);
        a.move_links(&w);
        let pulled = a.memory().lambda.clone();
        let mut velocity = vec![Force::ZERO; pulled.len()];
        a.memory().forces.fill(Force::ZERO);
        for one in &self.touching {
            let motions = one.point.arms.ends.map(|end| end.map_or(Motion::ZERO, |k| pulled[k]));
            let [moved, bent] = one.adjoint(&motions);
            for (side, end) in one.point.arms.ends.iter().enumerate() {
                if let Some(k) = *end {
                    a.memory().forces[k] += moved[side];
                    velocity[k] += bent[side];
                }
            }
        }
        let mut tau = vec![0.0; nv];
        if !self.ties.is_empty() {
            let by = [&mut gradient.q[..], &mut gradient.v[..]];
            self.ties.adjoint(&self.work.roots, &pulled, &mut velocity, by, &mut a);
        }
        a.gather(&mut tau);
        a.memory().forces.copy_from_slice(&velocity);
        a.total_forces();
        velocity.copy_from_slice(&a.memory().forces);
        a.add_across(&self.velocities, &velocity, &mut tau);
        a.add_across(&pulled, &self.totals, &mut tau);
        for (q, tau) in gradient.q.iter_mut().zip(&tau) {
            *q += tau;
        }
        for (friction, place) in gradient.friction.iter_mut().zip(&self.places) {
            if let Some(at) = *place {
                let (one, by) = (&self.touching[at], &self.touching[at].by_friction);
                let pulled = one.point.velocity(&pulled);
                *friction = pulled.iter().zip(by).map(|(u, by)| u * by).sum();
            }
        }
        Ok(gradient)
    }

    /// The gradient of y·v⁺ by the links' inertial parameters, ten numbers each as in [`Mechanism::inertial_parameters`].
    pub fn inertia_adjoint(&mut self, y: &[f64]) -> Result<Vec<f64>> {
        let (nv, count) = (self.v.len(), 10 * self.m.links().len());
        self.m.check_vector("y", y)?;
        let mut w = y.to_vec();
        self.solve_transposed(&mut w);
        let (mut regressor, mut out) = (vec![0.0; nv * count], vec![0.0; count]);
        self.posed
            .moving(&self.v)?
            .linearized(&self.acceleration)?
            .regressor(&mut regressor)?;
        for (row, w) in regressor.chunks(count.max(1)).zip(&w) {
            dense::add_scaled(&mut out, -self.work.settings.step * w, row);
        }
        Ok(out)
    }
}

fn fill(to: &mut [f64], from: Option<&[f64]>) {
    match from {
        Some(from) => to.copy_from_slice(from),
        None => to.fill(0.0),
    }
}
