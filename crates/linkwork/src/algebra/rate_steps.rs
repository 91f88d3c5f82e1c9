//! What is rare and long at one link: rates of P, gradients of what is linear in them, Υ, and inverses of inertias.
//!
//! None of it is part of the loop along the links: that would be the slower for all else.

use super::joint_algebra::{Few, Joint};
use super::link_operators::solve;
use super::node::{Local, Seed};
use super::program::{Slot, Step};
use super::run::{Known, Memory, times_upsilon};
use crate::body::Body;
use crate::scalar::Scalar;
use crate::simd::{Instructions, Task};
use crate::spatial::{Articulated, Force, Motion};
use crate::stage::crossing::Crossing;

/// Rates are summed over children: they start from zero.
pub(super) fn clear_rates<S: Scalar>(n: usize, steps: &[Step], memory: &mut Memory<S>) {
    for step in steps {
        if let Step::PRate { to, .. } | Step::Composite { to } = step {
            (0..n).for_each(|k| memory.matrices[k * memory.room.matrices + to] = Articulated::ZERO);
        }
    }
}

/// A step that is rare, at one link.
struct Rare<'a, S: 'static> {
    s: &'a Known<'a, S>,
    body: &'a Body,
    k: usize,
    /// None for Υ(k) itself.
    step: Option<&'a Step>,
    memory: &'a mut Memory<S>,
}

/// Whether a step is done by [`rare_step`].
#[inline(always)]
pub(super) fn is_rare(step: &Step) -> bool {
    match step {
        Step::PRate { .. } | Step::UpsilonRate { .. } | Step::RateAdjoint { .. } | Step::RootRate { .. } => true,
        Step::Composite { .. } => true,
        Step::Local { local, .. } => matches!(local, Local::Upsilon | Local::MInv | Local::PInv),
        _ => false,
    }
}

/// Does a rare step, or Υ(k) where there is none, with what the processor has.
#[inline(never)]
pub(super) fn rare_step<S: Scalar>(
    instructions: Instructions,
    s: &Known<'_, S>,
    (body, k): (&Body, usize),
    step: Option<&Step>,
    memory: &mut Memory<S>,
) {
    instructions.perform::<S, _>(Rare {
        s,
        body,
        k,
        step,
        memory,
    });
}

impl<S: Scalar> Task for Rare<'_, S> {
    #[inline(always)]
    fn run(self) {
        let Self {
            s,
            body,
            k,
            step,
            memory,
        } = self;
        match step {
            None => upsilon(s, body, k, memory),
            Some(&Step::PRate { along, to }) => p_rate(s, body, k, (along, to), memory),
            Some(&Step::Composite { to }) => composite(s, body, k, to, memory),
            Some(&Step::UpsilonRate { of_p, along, to }) => upsilon_rate(s, body, k, (of_p, along, to), memory),
            Some(Step::RateAdjoint { seeds, room, to }) => rate_adjoint(s, body, k, (seeds, *room, *to), memory),
            Some(&Step::RootRate { rate, star, from, to }) => root_rate(s, body, k, (rate, star, from, to), memory),
            Some(&Step::Local { local, from, to }) => {
                let f = memory.force(k, from);
                let x = match local {
                    Local::Upsilon => times_upsilon(&memory.upsilon[k], f),
                    Local::MInv => solve(&Articulated::from(body.inertia.lift::<S>()), f),
                    _ => solve(&s.riccati.p[k], f),
                };
                memory.set_motion(k, to, x);
            }
            Some(_) => {}
        }
    }
}

/// Υ(k) = H*D⁻¹H + ψ*(p, k)Υ(p)ψ(p, k).
#[inline(always)]
fn upsilon<S: Scalar>(s: &Known<'_, S>, body: &Body, k: usize, memory: &mut Memory<S>) {
    let (at, joint) = s.at(body, k);
    for j in 0..6 {
        let mut unit = [S::ZERO; 6];
        unit[j] = S::ONE;
        let f = Force::from_array(unit);
        let mut v = Motion::ZERO;
        if let Some(p) = body.parent {
            let inner = times_upsilon(&memory.upsilon[p], joint.force_in(at.tau_bar(f)));
            v = at.tau_bar_star(joint.motion_out(inner));
        }
        memory.upsilon[k][j] = body.hinge.add_motion(v, &at.d_inv(at.h(f))).to_array();
    }
}

/// X A X*, by the columns of A.
#[inline(always)]
fn both_sides<S: Scalar>(a: &Articulated<S>, x: impl Fn([S; 6]) -> [S; 6]) -> Articulated<S> {
    let mut rows = a.to_rows();
    for row in &mut rows {
        *row = x(*row);
    }
    // Rows of A X* are columns of X A.
    let mut columns = [[S::ZERO; 6]; 6];
    for j in 0..6 {
        for i in 0..6 {
            columns[j][i] = rows[i][j];
        }
        columns[j] = x(columns[j]);
    }
    Articulated::from_rows(&columns)
}

/// Inward: Ṗ(k) = Σ φλ̇⁺(c)φ*,  λ̇⁺ = τ̄Ṗτ̄* + crf(Δ)P⁺ − P⁺crm(Δ),  Δ = H*w.
#[inline(always)]
fn p_rate<S: Scalar>(s: &Known<'_, S>, body: &Body, k: usize, (along, to): (Slot, usize), memory: &mut Memory<S>) {
    let Some(p) = body.parent else { return };
    let (at, joint) = s.at(body, k);
    let own = memory.matrices[k * memory.room.matrices + to];
    let delta = at.hinge.motion(&memory.few::<false>(body, along));
    let mut rest = both_sides(&own, |f| at.tau_bar(Force::from_array(f)).to_array());
    rest += s.riccati.p_plus[k].carried_by(delta);
    memory.matrices[p * memory.room.matrices + to] += joint.carry_whole_in(rest);
}

/// Inward: r(k) = M(k) + Σ φr(c)φ*.
#[inline(always)]
fn composite<S: Scalar>(s: &Known<'_, S>, body: &Body, k: usize, to: usize, memory: &mut Memory<S>) {
    let places = memory.room.matrices;
    memory.matrices[k * places + to] += Articulated::from(body.inertia.lift::<S>());
    if let Some(p) = body.parent {
        let (_, joint) = s.at(body, k);
        let carried = joint.carry_whole_in(memory.matrices[k * places + to]);
        memory.matrices[p * places + to] += carried;
    }
}

/// Outward: the rate of Υ(k) = H*D⁻¹H + τ̄*Zτ̄ with Z = φ*Υ(p)φ; that of Z has φ*Υ̇(p)φ and −crm(Δ)Z + Z crf(Δ), that of τ̄ is −ĠH.
#[inline(always)]
fn upsilon_rate<S: Scalar>(
    s: &Known<'_, S>,
    body: &Body,
    k: usize,
    (of_p, along, to): (usize, Slot, usize),
    memory: &mut Memory<S>,
) {
    let (at, joint) = s.at(body, k);
    let p_rate = memory.matrices[k * memory.room.matrices + of_p];
    let delta = at.hinge.motion(&memory.few::<false>(body, along));
    let mut columns = [[S::ZERO; 6]; 6];
    for j in 0..6 {
        let f = Force::from_array(unit(j));
        let felt = at.hinge.motion(&at.d_inv(at.h(f)));
        let changed = p_rate.times(felt);
        // −H*D⁻¹ḊD⁻¹H f.
        let mut sum = at.hinge.motion(&negative(at.d_inv(at.h(changed))));
        if let Some(p) = body.parent {
            let carried = |f: Force<S>| joint.motion_out(times_upsilon(&memory.upsilon[p], joint.force_in(f)));
            let rate = memory.matrices[p * memory.room.matrices + to];
            let u = at.tau_bar(f);
            let z = carried(u);
            let own = Motion::from_array(rate.times(Motion::from_array(joint.force_in(u).to_array())).to_array());
            let turned = joint.motion_out(own) - delta.cross(z) + carried(delta.cross_force(u));
            // τ̄ changes by −ĠH, Ġ = τ̄ṖH*D⁻¹.
            sum += at.tau_bar_star(turned - carried(at.tau_bar(changed)));
            let back = at.d_inv(at.h(p_rate.times(at.tau_bar_star(z))));
            sum += at.hinge.motion(&negative(back));
        }
        columns[j] = sum.to_array();
    }
    memory.matrices[k * memory.room.matrices + to] = Articulated::from_rows(&columns);
}

/// Outward: W(k) = Σ sym(x y*) + τ̄*Zτ̄ with Z = φ*W(p)φ, and the gradient −2 H Σ crf(z)p⁺ over columns z of Z and p⁺ of P⁺.
#[inline(always)]
fn rate_adjoint<S: Scalar>(
    s: &Known<'_, S>,
    body: &Body,
    k: usize,
    (seeds, room, to): (&[(Seed, Slot, Slot)], usize, Slot),
    memory: &mut Memory<S>,
) {
    let (at, joint) = s.at(body, k);
    let mut own = [[S::ZERO; 6]; 6];
    for &(seed, x, y) in seeds {
        match seed {
            Seed::P => add_dyad(&mut own, memory.motion(k, x).to_array(), memory.motion(k, y).to_array()),
            Seed::Root => {
                let (x, y) = (memory.few::<false>(body, x), memory.few::<false>(body, y));
                add_root_dyads(&mut own, &at, x, y);
            }
            // tr(D⁻¹HṖH*).
            Seed::LogDet => {
                let weight = memory.numbers[x] * memory.numbers[y];
                for i in 0..at.dofs() {
                    let column = at.hinge.motion(&at.d_inv(unit(i)));
                    let own_motion = at.hinge.motion(&unit(i));
                    add_dyad(&mut own, (column * weight).to_array(), own_motion.to_array());
                }
            }
        }
    }
    let mut own = Articulated::from_rows(&own);
    let mut gradient = [S::ZERO; 6];
    if let Some(p) = body.parent {
        let parent = memory.matrices[p * memory.room.matrices + room];
        let seen = both_sides(&parent, |v| joint.motion_out(Motion::from_array(v)).to_array());
        let mut sum = Force::ZERO;
        for j in 0..6 {
            let (z, p) = (seen.column(j), s.riccati.p_plus[k].column(j));
            sum += Motion::from_array(z).cross_force(Force::from_array(p));
        }
        gradient = at.h(sum * S::lift(-2.0));
        own += both_sides(&seen, |v| at.tau_bar_star(Motion::from_array(v)).to_array());
    }
    memory.matrices[k * memory.room.matrices + room] = own;
    memory.set_few::<false>(body, to, &gradient);
}

/// Adds ½(xy* + yx*).
#[inline(always)]
fn add_dyad<S: Scalar>(to: &mut [[S; 6]; 6], x: [S; 6], y: [S; 6]) {
    let half = S::lift(0.5);
    for i in 0..6 {
        for j in 0..6 {
            to[i][j] += half * (x[i] * y[j] + y[i] * x[j]);
        }
    }
}

/// A unit vector.
#[inline(always)]
fn unit<S: Scalar>(i: usize) -> [S; 6] {
    let mut x = [S::ZERO; 6];
    x[i] = S::ONE;
    x
}

#[inline(always)]
fn negative<S: Scalar>(mut x: Few<S>) -> Few<S> {
    for x in &mut x {
        *x = -*x;
    }
    x
}

/// How much of an element of A enters Φ(A): the lower triangle, with half of the diagonal.
#[inline(always)]
fn taken<S: Scalar>(i: usize, j: usize) -> S {
    match i.cmp(&j) {
        core::cmp::Ordering::Less => S::ZERO,
        core::cmp::Ordering::Equal => S::lift(0.5),
        core::cmp::Ordering::Greater => S::ONE,
    }
}

/// x*L̇y = (L*x)*Φ(A)y, A = L⁻¹HṖH*L⁻*, as weights on Ṗ.
#[inline(always)]
fn add_root_dyads<S: Scalar>(to: &mut [[S; 6]; 6], at: &Joint<'_, S>, x: Few<S>, y: Few<S>) {
    let x = at.root_star(x);
    for i in 0..at.dofs() {
        let first = at.hinge.motion(&at.root_inv_star(unit(i)));
        for j in 0..=i {
            let second = at.hinge.motion(&at.root_inv_star(unit(j)));
            let weight = taken::<S>(i, j) * x[i] * y[j];
            add_dyad(to, (first * weight).to_array(), second.to_array());
        }
    }
}

/// L̇ = LΦ(L⁻¹ḊL⁻*) times a vector of the joint, or its adjoint.
#[inline(always)]
fn root_rate<S: Scalar>(
    s: &Known<'_, S>,
    body: &Body,
    k: usize,
    (rate, star, from, to): (usize, bool, Slot, Slot),
    memory: &mut Memory<S>,
) {
    let (at, _) = s.at(body, k);
    let p_rate = memory.matrices[k * memory.room.matrices + rate];
    let mut x = memory.few::<false>(body, from);
    if star {
        x = at.root_star(x);
    }
    let mut y = [S::ZERO; 6];
    for j in 0..at.dofs() {
        let column = p_rate.times(at.hinge.motion(&at.root_inv_star(unit(j))));
        let column = at.root_inv(at.h(column));
        for i in 0..at.dofs() {
            let a = taken::<S>(i, j) * column[i];
            match star {
                true => y[j] += a * x[i],
                false => y[i] += a * x[j],
            }
        }
    }
    let y = if star { y } else { at.root(y) };
    memory.set_few::<false>(body, to, &y);
}
