//! Contacts, limits and dry friction as rows of one sum.

use super::cone::{Cone, Law, ROWS, Region, Rows, Weight};
use super::operator::{Forces, Motions, Weights};
use super::{Contact, Settings};
use crate::model::{FrameId, JointId, Mechanism};
use crate::spatial::{Articulated, Pose, Rotation, Vec3};
use crate::{Error, Result};

/// What a row measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Along {
    #[default]
    Normal,
    Sliding(usize),
    Torsion,
    Rolling(usize),
}

/// Where impulses act on two links: B of every row at both ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arms {
    /// The links' bodies; none for the world.
    pub(super) ends: [Option<usize>; 2],
    /// Per end and row: B as [moment; force] in the link's compiled frame; of b with the sign turned.
    pub(super) b: [[[f64; 6]; ROWS]; 2],
}

/// A contact as rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) given: Contact,
    pub(super) arms: Arms,
    pub(super) along: [Along; ROWS],
    pub(super) tangents: [Vec3; 2],
    pub(super) cone: Cone,
    pub(super) law: Law,
    /// What it did in the last step.
    pub(super) before: Region,
    pub(super) w_n: f64,
    pub(super) w_t: f64,
    /// Of the normal, before restitution and the passes of Coulomb's law.
    pub(super) v_hat_n: f64,
    pub(super) v_hat: Rows,
    /// Jv and γ there.
    pub(super) u: Rows,
    pub(super) gamma: Rows,
    pub(super) region: Region,
    /// G, J dv and GJ dv, and γ further along dv.
    pub(super) weight: Weight,
    pub(super) du: Rows,
    pub(super) gdu: Rows,
    pub(super) next: (Rows, Region),
}

/// Six by six.
pub(super) type Six = [[f64; 6]; 6];

// Products here are not fused: outside of sweeps a fused one is a call. Arrays are filled in loops, for `map` is one too.

#[inline(always)]
pub(super) fn dot(x: &[f64; 6], y: &[f64; 6]) -> f64 {
    (x[0] * y[0] + x[1] * y[1]) + (x[2] * y[2] + x[3] * y[3]) + (x[4] * y[4] + x[5] * y[5])
}

#[inline(always)]
pub(super) fn apply(w: &Six, x: &[f64; 6]) -> [f64; 6] {
    let mut out = [0.0; 6];
    for i in 0..6 {
        out[i] = dot(&w[i], x);
    }
    out
}

/// A vector seen from axes that are turned.
#[inline(always)]
pub(super) fn back(turn: &Rotation, v: Vec3) -> Vec3 {
    let along = |axis: Vec3| axis.x * v.x + axis.y * v.y + axis.z * v.z;
    Vec3::new(along(turn.x), along(turn.y), along(turn.z))
}

/// A force that acts at some place, as moment and force.
#[inline(always)]
pub(super) fn about(arm: Vec3, f: Vec3) -> [f64; 6] {
    [
        arm.y * f.z - arm.z * f.y,
        arm.z * f.x - arm.x * f.z,
        arm.x * f.y - arm.y * f.x,
        f.x,
        f.y,
        f.z,
    ]
}

/// Two directions across a unit normal.
#[inline(always)]
pub(super) fn tangents(n: Vec3) -> [Vec3; 2] {
    let along = if n.x.abs() < 0.9 {
        Vec3::new(1.0, 0.0, 0.0)
    } else {
        Vec3::new(0.0, 1.0, 0.0)
    };
    let across = along - n * n.dot(along);
    let first = across * across.norm().recip();
    [first, n.cross(first)]
}

impl Arms {
    /// The relative velocity for some motions of links.
    #[inline(always)]
    pub(super) fn velocity(&self, rows: usize, motions: &(impl Motions + ?Sized)) -> Rows {
        let mut u = [0.0; ROWS];
        for (end, b) in self.ends.iter().zip(&self.b) {
            let Some(k) = *end else { continue };
            let motion = motions.motion(k);
            for (u, b) in u[..rows].iter_mut().zip(b) {
                *u += dot(b, &motion);
            }
        }
        u
    }

    /// Adds what the difference of two impulses does to the links.
    #[inline(always)]
    pub(super) fn push_between(&self, rows: usize, old: &Rows, new: &Rows, forces: &mut (impl Forces + ?Sized)) {
        let mut gamma = [0.0; ROWS];
        for i in 0..rows {
            gamma[i] = old[i] - new[i];
        }
        self.push(rows, &gamma, forces);
    }

    /// Adds what an impulse does to the links.
    #[inline(always)]
    pub(super) fn push(&self, rows: usize, gamma: &Rows, forces: &mut (impl Forces + ?Sized)) {
        for (end, b) in self.ends.iter().zip(&self.b) {
            let Some(k) = *end else { continue };
            let mut sum = forces.force(k);
            for (gamma, b) in gamma[..rows].iter().zip(b) {
                for c in 0..6 {
                    sum[c] += b[c] * gamma;
                }
            }
            forces.set_force(k, sum);
        }
    }

    /// Adds Σ w xx* to the links, or between them.
    #[inline(always)]
    pub(super) fn weigh(&self, terms: &[Term], operator: &mut impl Weights) {
        if let [Some(one), Some(two)] = self.ends {
            if operator.joins_by_rows([one, two]) {
                for term in terms.iter().filter(|term| term.weight != 0.0) {
                    operator.weigh_row([one, two], term.x, term.weight);
                }
                return;
            }
            let mut joined = [[0.0; 6]; 6];
            for Term { weight, x } in terms {
                for r in 0..6 {
                    let left = weight * x[0][r];
                    for c in 0..6 {
                        joined[r][c] += left * x[1][c];
                    }
                }
            }
            operator.join(one, two, &joined);
        }
        for side in 0..2 {
            let Some(k) = self.ends[side] else { continue };
            let mut own = Articulated::ZERO;
            for term in terms {
                own.add_square(term.weight, &term.x[side]);
            }
            operator.weigh(k, &own);
        }
    }
}

/// A weight on one direction, w xx*, x at both ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) weight: f64,
    pub(super) x: [[f64; 6]; 2],
}

impl Term {
    pub(super) const NONE: Self = Self {
        weight: 0.0,
        x: [[0.0; 6]; 2],
    };
}

/// A weight along the direction of sliding below this share of that across it is rounding.
const ROUNDING: f64 = 1e-12;

impl Point {
    /// No contact yet.
    pub(super) fn empty() -> Self {
        let zero = Vec3::ZERO;
        Self {
            given: Contact {
                id: 0,
                a: FrameId::WORLD,
                b: FrameId::WORLD,
                point: zero,
                normal: zero,
                gap: 0.0,
                surface: super::Surface::default(),
            },
            arms: Arms {
                ends: [None; 2],
                b: [[[0.0; 6]; ROWS]; 2],
            },
            along: [Along::Normal; ROWS],
            tangents: [zero; 2],
            cone: Cone {
                rows: 1,
                mu: 0.0,
                r_n: 1.0,
                r_t: 1.0,
            },
            law: Law::Cone,
            before: Region::Apart,
            w_n: 0.0,
            w_t: 0.0,
            v_hat_n: 0.0,
            v_hat: [0.0; ROWS],
            u: [0.0; ROWS],
            gamma: [0.0; ROWS],
            region: Region::Apart,
            weight: Weight::default(),
            du: [0.0; ROWS],
            gdu: [0.0; ROWS],
            next: ([0.0; ROWS], Region::Apart),
        }
    }

    /// The rows of a contact at a configuration, in the place of another's; R and v̂ are still to come.
    #[inline(always)]
    pub(super) fn place(&mut self, m: &Mechanism, given: &Contact, link: impl Fn(usize) -> Pose) {
        let (n, surface) = (given.normal, &given.surface);
        let [t1, t2] = tangents(n);
        let zero = Vec3::ZERO;
        let mut lines = [(Along::Normal, zero, n); ROWS];
        let mut rows = 1;
        let mut add = |along, moment, force| {
            lines[rows] = (along, moment, force);
            rows += 1;
        };
        if surface.friction > 0.0 {
            add(Along::Sliding(0), zero, t1);
            add(Along::Sliding(1), zero, t2);
            if surface.torsion > 0.0 {
                add(Along::Torsion, n * surface.torsion, zero);
            }
            if surface.rolling > 0.0 {
                add(Along::Rolling(0), t1 * surface.rolling, zero);
                add(Along::Rolling(1), t2 * surface.rolling, zero);
            }
        }
        let body = |frame: FrameId| m.placed[frame.index()].body;
        let ends = [body(given.a), body(given.b)];
        let b = &mut self.arms.b;
        for side in 0..2 {
            let Some(k) = ends[side] else { continue };
            let pose = link(k);
            let (turn, sign) = (&pose.rotation, if side == 0 { 1.0 } else { -1.0 });
            let arm = back(turn, given.point - pose.translation);
            for (b, (_, moment, force)) in b[side].iter_mut().zip(&lines[..rows]) {
                let (f, m) = (back(turn, *force) * sign, back(turn, *moment) * sign);
                *b = [
                    m.x + (arm.y * f.z - arm.z * f.y),
                    m.y + (arm.z * f.x - arm.x * f.z),
                    m.z + (arm.x * f.y - arm.y * f.x),
                    f.x,
                    f.y,
                    f.z,
                ];
            }
        }
        for (along, line) in self.along.iter_mut().zip(&lines) {
            *along = line.0;
        }
        self.given = *given;
        self.arms.ends = ends;
        self.tangents = [t1, t2];
        self.cone = Cone {
            rows,
            mu: surface.friction,
            r_n: 1.0,
            r_t: 1.0,
        };
        (self.law, self.before) = (Law::Cone, Region::Apart);
        (self.w_n, self.w_t, self.v_hat_n) = (0.0, 0.0, 0.0);
        (self.u, self.du, self.gdu) = ([0.0; ROWS], [0.0; ROWS], [0.0; ROWS]);
        (self.gamma, self.region) = ([0.0; ROWS], Region::Apart);
        self.weight = Weight::default();
        self.next = ([0.0; ROWS], Region::Apart);
    }

    /// The relative velocity for some motions of links.
    #[inline(always)]
    pub(super) fn velocity(&self, motions: &(impl Motions + ?Sized)) -> Rows {
        self.arms.velocity(self.cone.rows, motions)
    }

    /// Adds what an impulse does to the links.
    #[inline(always)]
    pub(super) fn push(&self, gamma: &Rows, forces: &mut (impl Forces + ?Sized)) {
        self.arms.push(self.cone.rows, gamma, forces);
    }

    /// An impulse as forces on both links.
    pub(super) fn along(&self, gamma: &Rows) -> [[f64; 6]; 2] {
        let mut sum = [[0.0; 6]; 2];
        for (sum, b) in sum.iter_mut().zip(&self.arms.b) {
            for (gamma, b) in gamma[..self.cone.rows].iter().zip(b) {
                for c in 0..6 {
                    sum[c] += b[c] * gamma;
                }
            }
        }
        sum
    }

    /// γ at a share of the step along dv, kept in `next`.
    #[inline(always)]
    pub(super) fn try_at(&mut self, t: f64) {
        let mut u = self.u;
        for i in 0..self.cone.rows {
            u[i] += t * self.du[i];
        }
        let y = self.cone.pull(&u, &self.v_hat);
        self.next = self.cone.project(self.law, &y);
    }

    /// Whether y has a direction of sliding at u.
    pub(super) fn slides(&self) -> bool {
        (1..self.cone.rows).any(|i| self.u[i] != self.v_hat[i])
    }

    /// J dv*GJ dv at a share of the step, after [`Point::try_at`].
    #[inline(always)]
    pub(super) fn bend(&self, t: f64) -> f64 {
        let mut u = self.u;
        for i in 0..self.cone.rows {
            u[i] += t * self.du[i];
        }
        let y = self.cone.pull(&u, &self.v_hat);
        let weight = self.cone.weight(self.law, &y, (&self.next.0, self.next.1));
        let g = weight.times(self.cone.rows, &self.du);
        (0..self.cone.rows).map(|i| self.du[i] * g[i]).sum()
    }

    /// G at u, where γ is known.
    #[inline(always)]
    pub(super) fn weight(&self) -> Weight {
        let y = self.cone.pull(&self.u, &self.v_hat);
        self.cone.weight(self.law, &y, (&self.gamma, self.region))
    }

    /// Adds BGB* to the links, or between them.
    #[inline(always)]
    pub(super) fn weigh(&self, g: &Weight, operator: &mut impl Weights) {
        if g.is_none() {
            return;
        }
        let (n, b) = (self.cone.rows, &self.arms.b);
        let mut terms = [Term::NONE; ROWS + 1];
        let mut count = 0;
        let mut add = |weight: f64, x: [[f64; 6]; 2]| {
            if weight != 0.0 {
                (terms[count].weight, terms[count].x) = (weight, x);
                count += 1;
            }
        };
        let row = |i: usize| [b[0][i], b[1][i]];
        if g.along == 0.0 && g.coupled == 0.0 {
            for i in 1..n {
                add(g.across, row(i));
            }
            add(g.normal, row(0));
            return self.arms.weigh(&terms[..count], operator);
        }
        // With t the direction of sliding, s = Σt_ib_i and s_j = Σu_ib_i of directions u across t: squares, none of them negative,
        // normal (b + lean s)² + (along + across − lean coupled) s² + Σ across s_j².
        let combined = |u: &Rows| {
            let mut sum = [[0.0; 6]; 2];
            for side in 0..2 {
                for i in 1..n {
                    for c in 0..6 {
                        sum[side][c] += u[i] * b[side][i][c];
                    }
                }
            }
            sum
        };
        let lean = if g.normal > 0.0 { g.coupled / g.normal } else { 0.0 };
        let slid = combined(&g.t);
        let mut both = row(0);
        for side in 0..2 {
            for c in 0..6 {
                both[side][c] += lean * slid[side][c];
            }
        }
        add(g.normal, both);
        let along = g.across + g.along - lean * g.coupled;
        if along > ROUNDING * g.across {
            add(along, slid);
        }
        // A reflection that takes an axis to t takes the others across it.
        let mut w = g.t;
        w[1] += if g.t[1] < 0.0 { -1.0 } else { 1.0 };
        let square: f64 = w[1..n].iter().map(|x| x * x).sum();
        for j in 2..n {
            let mut u = [0.0; ROWS];
            for i in 1..n {
                u[i] = -2.0 * w[i] * w[j] / square;
            }
            u[j] += 1.0;
            add(g.across, combined(&u));
        }
        self.arms.weigh(&terms[..count], operator);
    }

    /// What the directions yield, from J𝓜⁻¹J* of the ends in the world's axes at some places, and what joins them.
    #[inline(always)]
    pub(super) fn set_yield(&mut self, own: [Option<(&Six, Vec3)>; 2], joined: Option<&Six>) {
        let point = self.given.point;
        self.set_yields(|f: Vec3| {
            let (mut sum, mut rows) = (0.0, [[0.0; 6]; 2]);
            for side in 0..2 {
                let Some((w, at)) = own[side] else { continue };
                rows[side] = about(point - at, f);
                sum += dot(&rows[side], &apply(w, &rows[side]));
            }
            if let Some(w) = joined {
                sum -= 2.0 * dot(&rows[0], &apply(w, &rows[1]));
            }
            sum
        });
    }

    /// What the directions yield, from what one does.
    #[inline(always)]
    pub(super) fn set_yields(&mut self, value: impl Fn(Vec3) -> f64) {
        self.w_n = value(self.given.normal);
        self.w_t = 0.5 * (value(self.tangents[0]) + value(self.tangents[1]));
    }

    /// R and v̂ of the normal.
    #[inline(always)]
    pub(super) fn set_compliance(&mut self, settings: &Settings, rho: f64) {
        let (dt, surface) = (settings.step, &self.given.surface);
        let tau = surface.relaxation.unwrap_or_else(|| dt.max(0.02));
        self.cone.r_n = rho * self.w_n;
        if let Some(k) = surface.stiffness {
            self.cone.r_n = self.cone.r_n.max(1.0 / (dt * k * (dt + tau)));
        }
        self.cone.r_t = settings.sigma * self.w_t;
        let g = self.given.gap;
        self.v_hat_n = if g < 0.0 { -g / (dt + tau) } else { -g / dt };
        self.v_hat = [0.0; ROWS];
        self.v_hat[0] = self.v_hat_n;
    }

    /// What holds tangentially, in the world: sliding force, moment of torsion and of rolling.
    pub(super) fn strain(&self) -> [Vec3; 2] {
        self.strain_of(&self.gamma)
    }

    /// The same of an impulse given by rows.
    pub(super) fn strain_of(&self, gamma: &Rows) -> [Vec3; 2] {
        let mut strain = [Vec3::ZERO; 2];
        for i in 1..self.cone.rows {
            match self.along[i] {
                Along::Normal => {}
                Along::Sliding(j) => strain[0] += self.tangents[j] * gamma[i],
                Along::Torsion => strain[1] += self.given.normal * gamma[i],
                Along::Rolling(j) => strain[1] += self.tangents[j] * gamma[i],
            }
        }
        strain
    }

    /// v̂_t = R_tγ_t of a strain that is remembered.
    pub(super) fn remember(&mut self, strain: [Vec3; 2]) {
        for i in 1..self.cone.rows {
            let held = match self.along[i] {
                Along::Normal => 0.0,
                Along::Sliding(j) => strain[0].dot(self.tangents[j]),
                Along::Torsion => strain[1].dot(self.given.normal),
                Along::Rolling(j) => strain[1].dot(self.tangents[j]),
            };
            self.v_hat[i] = self.cone.r_t * held;
        }
    }
}

/// What a row of one joint does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hold {
    /// γ ≥ 0 at a limit, at this distance.
    Limit(f64),
    /// |γ| ≤ the bound.
    Friction(f64),
}

/// A row on one degree of freedom: u = slope v.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) joint: JointId,
    pub(super) v: usize,
    pub(super) slope: f64,
    pub(super) hold: Hold,
    pub(super) r: f64,
    pub(super) v_hat: f64,
    pub(super) gamma: f64,
    /// G, and γ further along dv.
    pub(super) g: f64,
    pub(super) next: f64,
}

impl Line {
    /// γ and G at a velocity of the degree of freedom.
    #[inline(always)]
    pub(super) fn answer(&self, v: f64) -> (f64, f64) {
        let y = -(self.slope * v - self.v_hat) / self.r;
        match self.hold {
            Hold::Limit(_) if y > 0.0 => (y, 1.0 / self.r),
            Hold::Limit(_) => (0.0, 0.0),
            Hold::Friction(bound) if y.abs() <= bound => (y, 1.0 / self.r),
            Hold::Friction(bound) => (bound.copysign(y), 0.0),
        }
    }

    /// Its part of the function that is minimized.
    pub(super) fn energy(&self, v: f64) -> f64 {
        let y = -(self.slope * v - self.v_hat) / self.r;
        let (gamma, _) = self.answer(v);
        0.5 * self.r * (y * y - (y - gamma).powi(2))
    }
}

/// An error unless contacts are sound and their ids differ; `order` is left sorted by id.
pub(super) fn check(m: &Mechanism, contacts: &[Contact], order: &mut Vec<usize>) -> Result<()> {
    let bad = |i: usize, problem: String| Error::Unsolved {
        what: "a step with contact",
        problem: format!("contact {i} (id {}) {problem}", contacts[i].id),
    };
    for (i, contact) in contacts.iter().enumerate() {
        if !(contact.point.is_finite() && contact.normal.is_finite() && contact.gap.is_finite()) {
            return Err(bad(i, "has a point, normal or gap that is not finite".into()));
        }
        // Not fused, and no root: those are calls.
        let n = contact.normal;
        if (n.x * n.x + n.y * n.y + n.z * n.z - 1.0).abs() > 2e-6 {
            let length = n.norm();
            return Err(bad(
                i,
                format!("has a normal of length {length}; it must be of unit length"),
            ));
        }
        contact.surface.check()?;
        m.own_frame(contact.a)?;
        m.own_frame(contact.b)?;
    }
    order.clear();
    order.extend(0..contacts.len());
    order.sort_unstable_by_key(|&i| contacts[i].id);
    match order.windows(2).find(|w| contacts[w[0]].id == contacts[w[1]].id) {
        Some(w) => Err(bad(w[1], format!("has the id of contact {}; ids must differ", w[0]))),
        None => Ok(()),
    }
}
