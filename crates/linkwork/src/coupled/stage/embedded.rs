//! What the Riccati recursion determines where couplings are embedded in it.
//!
//! The force on a link is f = Pα + By + z, where y are the accelerations of groups whose joints lie partly outboard of it:
//! each has a column of B. A group's own torque is B*α + Ay − θ, less what was eliminated. Columns pass a joint that moves by
//! itself as z does; a joint of the group adds to them; at the group's closing y is eliminated, as a joint's own coordinate is.

use crate::body::Gain;
use crate::coupled::model::{Embedding, Station};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion};
use crate::stage::crossing::{AnyJoint, Crossing};

/// D⁻¹ and G per degree of freedom that moves by itself, and what groups have instead.
#[derive(Clone, Debug, Default)]
pub(crate) struct Embedded<S> {
    pub(crate) gains: Vec<Gain<S>>,
    /// B, as it leaves each link; where a group closes, as it was there.
    columns: Vec<Force<S>>,
    /// −HB of columns that pass joints, per column and degree of freedom.
    passed: Vec<S>,
    /// A, group by group and then pair by pair.
    a: Vec<S>,
    /// Per group: D⁻¹ and G at its closing, and the sum that D is what is left of.
    pub(crate) closed: Vec<Gain<S>>,
    whole: Vec<S>,
    /// Per group: θ, the torque that is left to move it, and its acceleration.
    theta: Vec<S>,
    pub(crate) y: Vec<S>,
}

impl<S: Scalar> Embedded<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        let Some(e) = m.reduction.as_ref().map(|r| r.embedding(m)) else {
            return Self::default();
        };
        let (groups, zeros) = (e.leaders.len(), |n: usize| vec![S::ZERO; n]);
        Self {
            gains: vec![Gain::default(); m.nv],
            columns: vec![Force::ZERO; e.columns.len()],
            passed: zeros(e.passed),
            a: zeros(e.products),
            closed: vec![Gain::default(); groups],
            whole: zeros(groups),
            theta: zeros(groups),
            y: zeros(groups),
        }
    }

    /// Before a sweep that finds P: nothing is carried.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.columns.fill(Force::ZERO);
        self.a.fill(S::ZERO);
        self.whole.fill(S::ZERO);
    }

    /// Before a sweep that finds z: no torque.
    #[inline(always)]
    pub(crate) fn clear_torques(&mut self) {
        self.theta.fill(S::ZERO);
    }

    /// Eliminates the groups that close at a link: D = A_gg, G = B_g D⁻¹, P loses G B_g*, and the columns that they have to do
    /// with their shares.
    #[inline(always)]
    pub(crate) fn close(&mut self, e: &Embedding, station: &Station, mut p: Articulated<S>) -> Articulated<S> {
        for c in station.start..station.open {
            let (b, group) = (self.columns[c], e.columns[c].group());
            let d_inv = self.a[group].recip();
            let g = (b * d_inv).to_array();
            self.closed[group] = Gain { d_inv, g };
            p.subtract_outer(g, b.to_array());
            let (near, first) = e.neighbours(group);
            for (i, neighbour) in near.iter().enumerate() {
                let (own, column) = (self.a[first + i], neighbour.column as usize);
                let share = own * d_inv;
                self.columns[column] = b.mul_add(-share, self.columns[column]);
                self.a[neighbour.group as usize] -= share * own;
                let mut products = e.products_of(neighbour.group as usize);
                for (j, other) in near.iter().enumerate().skip(i + 1) {
                    let other_own = self.a[first + j];
                    self.a[products.with(other.group)] -= share * other_own;
                }
            }
        }
        p
    }

    /// What their torques do: z gains Gθ, and the others' θ lose A D⁻¹θ.
    #[inline(always)]
    pub(crate) fn close_torques(&mut self, e: &Embedding, station: &Station, mut z: Force<S>) -> Force<S> {
        for column in &e.columns[station.start..station.open] {
            let group = column.group();
            let (gain, theta) = (&self.closed[group], self.theta[group]);
            z = Force::from_array(gain.g).mul_add(theta, z);
            let share = gain.d_inv * theta;
            let (near, first) = e.neighbours(group);
            for (i, neighbour) in near.iter().enumerate() {
                self.theta[neighbour.group as usize] -= self.a[first + i] * share;
            }
        }
        z
    }

    /// Their accelerations, from the link's and those that are known: y = D⁻¹(θ − Ay) − G*α.
    #[inline(always)]
    pub(crate) fn resolve(&mut self, e: &Embedding, station: &Station, alpha: Motion<S>) {
        for column in e.columns[station.start..station.open].iter().rev() {
            let group = column.group();
            let mut left = self.theta[group];
            let (near, first) = e.neighbours(group);
            for (i, neighbour) in near.iter().enumerate() {
                left -= self.a[first + i] * self.y[neighbour.group as usize];
            }
            let gain = &self.closed[group];
            self.y[group] = gain.d_inv.mul_sub(left, alpha.dot(Force::from_array(gain.g)));
        }
    }

    /// At a joint of a group, α = α⁺ + H*ry: B_g gains ru with u = PH*, A_gg what that works against, and A_gj rHB_j.
    #[inline(always)]
    pub(crate) fn lock(
        &mut self,
        e: &Embedding,
        station: &Station,
        own: usize,
        joint: AnyJoint<'_, S>,
        u: Force<S>,
        [ratio, armature]: [S; 2],
    ) {
        let (hinge, mut h) = (joint.hinge(), [S::ZERO; 6]);
        let group = e.columns[own].group();
        for c in station.open..station.end {
            hinge.project(self.columns[c], &mut h);
            let twice = if c == own { h[0] + h[0] } else { h[0] };
            self.a[e.product(group, e.columns[c].group())] += ratio * twice;
        }
        hinge.project(u, &mut h);
        let d = (h[0] + armature) * ratio * ratio;
        self.a[group] += d;
        self.whole[group] += d;
        self.columns[own] = u.mul_add(ratio, self.columns[own]);
    }

    /// What is left of the torque on that joint goes to its group.
    #[inline(always)]
    pub(crate) fn lock_torque(&mut self, e: &Embedding, own: usize, ratio: S, left: S) {
        let theta = &mut self.theta[e.columns[own].group()];
        *theta = ratio.mul_add(left, *theta);
    }

    /// At a joint that moves by itself, B ← (I − GH)B as z does without torque, and A loses (HB)*D⁻¹HB.
    #[inline(always)]
    pub(crate) fn pass(&mut self, e: &Embedding, station: &Station, joint: AnyJoint<'_, S>) {
        let (none, dofs) = ([S::ZERO; 6], joint.body.dofs);
        let gains = &self.gains[joint.body.v..][..dofs];
        let passed = &mut self.passed[station.passed..];
        let columns = &mut self.columns[station.open..station.end];
        for (c, column) in columns.iter_mut().enumerate() {
            joint
                .hinge()
                .innovate(column, &none, gains, &mut passed[c * dofs..][..dofs]);
        }
        for c in 0..columns.len() {
            let (own, after) = passed[c * dofs..columns.len() * dofs].split_at(dofs);
            let group = e.columns[station.open + c].group();
            let mut x = none;
            for i in 0..dofs {
                x[i] = -(own[i] * gains[i].d_inv);
                self.a[group] = x[i].mul_add(own[i], self.a[group]);
            }
            let mut products = e.products_of(group);
            let later = &e.columns[station.open + c + 1..station.end];
            for (other, numbers) in later.iter().zip(after.chunks_exact(dofs)) {
                let product = &mut self.a[products.with(other.group() as u32)];
                for i in 0..dofs {
                    *product = x[i].mul_add(numbers[i], *product);
                }
            }
        }
    }

    /// What its ε does to the columns' groups: θ gains (−HB)D⁻¹ε.
    #[inline(always)]
    pub(crate) fn pass_torque(&mut self, e: &Embedding, station: &Station, joint: AnyJoint<'_, S>, eps: &[S]) {
        let (gains, dofs) = (&self.gains[joint.body.v..], joint.body.dofs);
        for c in station.open..station.end {
            let at = station.passed + (c - station.open) * dofs;
            let theta = &mut self.theta[e.columns[c].group()];
            for i in 0..dofs {
                *theta = (self.passed[at + i] * gains[i].d_inv).mul_add(eps[i], *theta);
            }
        }
    }

    /// ε of that joint once y are known: ε + (−HB)y.
    #[inline(always)]
    pub(crate) fn pass_acceleration(&self, e: &Embedding, station: &Station, dofs: usize, eps: &mut [S]) {
        for c in station.open..station.end {
            let at = station.passed + (c - station.open) * dofs;
            let y = self.y[e.columns[c].group()];
            for i in 0..dofs {
                eps[i] = self.passed[at + i].mul_add(y, eps[i]);
            }
        }
    }

    /// What an acceleration that nobody chooses takes of the groups' torques: θ loses B·a.
    #[inline(always)]
    pub(crate) fn carry(&mut self, e: &Embedding, station: &Station, a: Motion<S>) {
        for c in station.open..station.end {
            self.theta[e.columns[c].group()] -= a.dot(self.columns[c]);
        }
    }

    /// The columns, to the parent's.
    #[inline(always)]
    pub(crate) fn hand_in(&mut self, e: &Embedding, station: &Station, joint: AnyJoint<'_, S>) {
        for c in station.open..station.end {
            let b = joint.force_in(self.columns[c]);
            self.columns[e.columns[c].to()] += b;
        }
    }

    /// Whether any D is unsound, lane by lane: zero where all are sound.
    #[inline(always)]
    pub(crate) fn unsound(&self, e: &Embedding) -> S {
        let mut unsound = S::ZERO;
        for &v in &e.independent {
            unsound += self.gains[v].unsound();
        }
        for (gain, whole) in self.closed.iter().zip(&self.whole) {
            // D > rounding of the whole, both times 1/D.
            let rounding = *whole * gain.d_inv * S::lift(4.0 * S::EPSILON);
            unsound += gain.unsound() + rounding.where_below(1.0, S::ZERO, S::ONE);
        }
        unsound
    }

    /// Whether, in one lane, a group's D is positive and more than rounding.
    pub(crate) fn is_sound(&self, group: usize, lane: usize) -> bool {
        let gain = &self.closed[group];
        let least = 4.0 * S::EPSILON * self.whole[group].lane(lane);
        gain.is_sound(lane) && gain.d_inv.lane(lane).recip() > least
    }
}
