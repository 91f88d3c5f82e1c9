//! Contacts, limits and dry friction as rows of one sum.

use super::cone::{Cone, Law, ROWS, Region, Rows};
use super::{Contact, Settings};
use crate::model::{JointId, Mechanism};
use crate::spatial::{Articulated, Force, Motion, Pose, Rotation, Vec3};
use crate::workspace::AugmentedMass;
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

/// A contact as rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) given: Contact,
    /// The links' bodies; none for the world.
    pub(super) ends: [Option<usize>; 2],
    /// Per end and row: B as [moment; force] in the link's compiled frame; of b with the sign turned.
    pub(super) b: [[[f64; 6]; ROWS]; 2],
    pub(super) along: [Along; ROWS],
    pub(super) tangents: [Vec3; 2],
    pub(super) cone: Cone,
    pub(super) law: Law,
    pub(super) w_n: f64,
    pub(super) w_t: f64,
    /// Of the normal, before restitution and the passes of Coulomb's law.
    pub(super) v_hat_n: f64,
    pub(super) v_hat: Rows,
    /// Jv, J dv, γ.
    pub(super) u: Rows,
    pub(super) du: Rows,
    pub(super) gamma: Rows,
    pub(super) region: Region,
}

/// Six by six.
pub(super) type Six = [[f64; 6]; 6];

// Products here are not fused: outside of sweeps a fused one is a call.

pub(super) fn dot(x: &[f64; 6], y: &[f64; 6]) -> f64 {
    let [a, b, c] = [0, 2, 4].map(|i| x[i] * y[i] + x[i + 1] * y[i + 1]);
    a + b + c
}

pub(super) fn apply(w: &Six, x: &[f64; 6]) -> [f64; 6] {
    core::array::from_fn(|i| dot(&w[i], x))
}

/// Σ x y*.
fn product(x: &[[f64; 6]], y: &[[f64; 6]]) -> Six {
    let mut out = [[0.0; 6]; 6];
    for (x, y) in x.iter().zip(y) {
        for r in 0..6 {
            for c in 0..6 {
                out[r][c] += x[r] * y[c];
            }
        }
    }
    out
}

/// A vector seen from axes that are turned.
fn back(turn: &Rotation, v: Vec3) -> Vec3 {
    let along = |axis: Vec3| axis.x * v.x + axis.y * v.y + axis.z * v.z;
    Vec3::new(along(turn.x), along(turn.y), along(turn.z))
}

/// Two directions across a unit normal.
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

impl Point {
    /// The rows at a configuration; R and v̂ are still to come.
    pub(super) fn new(m: &Mechanism, given: Contact, link: impl Fn(usize) -> Pose) -> Self {
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
        let ends = [given.a, given.b].map(|frame| m.placed[frame.index()].body);
        let mut b = [[[0.0; 6]; ROWS]; 2];
        for (side, end) in ends.iter().enumerate() {
            let Some(k) = *end else { continue };
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
        Self {
            given,
            ends,
            b,
            along: lines.map(|(along, ..)| along),
            tangents: [t1, t2],
            cone: Cone {
                rows,
                mu: surface.friction,
                r_n: 1.0,
                r_t: 1.0,
            },
            law: Law::Cone,
            w_n: 0.0,
            w_t: 0.0,
            v_hat_n: 0.0,
            v_hat: [0.0; ROWS],
            u: [0.0; ROWS],
            du: [0.0; ROWS],
            gamma: [0.0; ROWS],
            region: Region::Apart,
        }
    }

    /// The relative velocity for some motions of links.
    pub(super) fn velocity(&self, motions: &[Motion]) -> Rows {
        let mut u = [0.0; ROWS];
        for (end, b) in self.ends.iter().zip(&self.b) {
            let Some(k) = *end else { continue };
            let motion = motions[k].to_array();
            for i in 0..self.cone.rows {
                u[i] += dot(&b[i], &motion);
            }
        }
        u
    }

    /// Adds what an impulse does to the links.
    pub(super) fn push(&self, gamma: &Rows, forces: &mut [Force]) {
        for (end, b) in self.ends.iter().zip(&self.b) {
            let Some(k) = *end else { continue };
            let mut sum = forces[k].to_array();
            for i in 0..self.cone.rows {
                for c in 0..6 {
                    sum[c] += b[i][c] * gamma[i];
                }
            }
            forces[k] = Force::from_array(sum);
        }
    }

    /// γ at u.
    pub(super) fn answer(&mut self) {
        let y = self.cone.pull(&self.u, &self.v_hat);
        (self.gamma, self.region) = self.cone.project(self.law, &y);
    }

    /// G at u.
    pub(super) fn weight(&self) -> [Rows; ROWS] {
        self.cone.weight(self.law, &self.cone.pull(&self.u, &self.v_hat))
    }

    /// Adds BGB* to the links, and what joins them.
    pub(super) fn weigh(&self, g: &[Rows; ROWS], operator: &mut AugmentedMass<'_>) {
        let n = self.cone.rows;
        if g.iter().take(n).flatten().all(|x| *x == 0.0) {
            return;
        }
        let b = &self.b;
        let memory = operator.memory();
        for (side, end) in self.ends.iter().enumerate() {
            let Some(k) = *end else { continue };
            // BG, and BGB* of this end.
            let mut bg = [[0.0; 6]; ROWS];
            for j in 0..n {
                for i in 0..n {
                    for c in 0..6 {
                        bg[j][c] += g[i][j] * b[side][i][c];
                    }
                }
            }
            memory.weigh(k, &Articulated::from_rows(&product(&bg[..n], &b[side][..n])));
            if let (0, Some(other)) = (side, self.ends[1]) {
                memory.pairs.join(k, other, &product(&bg[..n], &b[1][..n]));
            }
        }
    }

    /// What the directions yield, from J𝓜⁻¹J* of the ends in the world's axes at some places, and what joins them.
    pub(super) fn set_yield(&mut self, own: [Option<(&Six, Vec3)>; 2], joined: Option<&Six>) {
        let value = |f: Vec3| {
            let (mut sum, mut rows) = (0.0, [[0.0; 6]; 2]);
            for (side, own) in own.into_iter().enumerate() {
                let Some((w, at)) = own else { continue };
                let arm = self.given.point - at;
                rows[side] = [
                    arm.y * f.z - arm.z * f.y,
                    arm.z * f.x - arm.x * f.z,
                    arm.x * f.y - arm.y * f.x,
                    f.x,
                    f.y,
                    f.z,
                ];
                sum += dot(&rows[side], &apply(w, &rows[side]));
            }
            if let Some(w) = joined {
                sum -= 2.0 * dot(&rows[0], &apply(w, &rows[1]));
            }
            sum
        };
        self.w_n = value(self.given.normal);
        self.w_t = 0.5 * (value(self.tangents[0]) + value(self.tangents[1]));
    }

    /// R and v̂ of the normal.
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
}

impl Line {
    /// γ and G at a velocity of the degree of freedom.
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
        let length = contact.normal.norm();
        if (length - 1.0).abs() > 1e-6 {
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
