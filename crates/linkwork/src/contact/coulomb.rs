//! Coulomb's law by passes that each are convex.
//!
//! Convex friction makes what slides separate at μ times its speed. First the bounds b = μγ_n of friction are held and found as a
//! fixed point; where that does not settle, the cone is shifted: v̂_n less μ times the sliding speed. Both end at the same law.

use super::Settings;
use super::anderson::Mixing;
use super::cone::{Law, ROWS, Region};
use super::newton::{Newton, Sum};
use super::operator::Operator;
use super::rows::Point;
use crate::Result;

/// The most passes of each kind.
const HELD: usize = 8;
const SHIFTED: usize = 20;

/// How the passes went.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passes {
    pub(super) settled: bool,
    pub(super) count: usize,
    pub(super) change: f64,
}

impl Passes {
    /// Where there is nothing to settle.
    pub(super) fn none() -> Self {
        Self {
            settled: true,
            ..Self::default()
        }
    }
}

/// Numbers per contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Coulomb {
    /// μγ_n of the last step, where there was one: where bounds start.
    pub(super) bounds: Vec<f64>,
    trial: Vec<f64>,
    next: Vec<f64>,
    /// The contacts that slide, how their normal impulses follow from bounds, and by what bounds are to change.
    sliding: Vec<usize>,
    small: Vec<f64>,
    /// Innovations of the tangents, weighed, of one of them, and of a normal: nv each.
    slid: Vec<f64>,
    eps: Vec<f64>,
    more: Vec<f64>,
    /// v̂_n before the cones are shifted.
    before: Vec<f64>,
    mixing: Mixing,
}

/// The largest difference, relative to the largest number.
fn change(x: &[f64], y: &[f64]) -> f64 {
    let largest = y.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    let most = x.iter().zip(y).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
    if largest > 0.0 { most / largest } else { most }
}

/// How much of the differences matters that bounds of friction have from those that were held: a contact within both sticks by
/// either.
fn change_of_bounds(points: &[Point], held: &[f64], next: &[f64]) -> f64 {
    let largest = next.iter().fold(0.0, |most: f64, b| most.max(*b));
    let mut most: f64 = 0.0;
    for ((point, held), next) in points.iter().zip(held).zip(next) {
        let slide = point.gamma[1..point.cone.rows].iter().map(|x| x * x).sum::<f64>();
        if point.region == Region::Sliding || slide > next * next {
            most = most.max((held - next).abs());
        }
    }
    if largest > 0.0 { most / largest } else { most }
}

/// No more contacts than this slide at once for bounds to be found by Newton's method: each takes two sweeps.
const FEW: usize = 12;

/// b ← A⁻¹b by elimination; whether there is one.
fn solve(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    for c in 0..n {
        let best = (c..n).fold(c, |best, r| {
            if a[r * n + c].abs() > a[best * n + c].abs() {
                r
            } else {
                best
            }
        });
        if a[best * n + c].abs() <= 1e-12 || a[best * n + c].is_nan() {
            return false;
        }
        for k in c..n {
            a.swap(c * n + k, best * n + k);
        }
        b.swap(c, best);
        for r in c + 1..n {
            let factor = a[r * n + c] / a[c * n + c];
            for k in c..n {
                a[r * n + k] -= factor * a[c * n + k];
            }
            b[r] -= factor * b[c];
        }
    }
    for r in (0..n).rev() {
        let done: f64 = (r + 1..n).map(|k| a[r * n + k] * b[k]).sum();
        b[r] = (b[r] - done) / a[r * n + r];
    }
    b.iter().all(|x| x.is_finite())
}

/// Newton's method on the law itself gives up when what is left did not halve more often than this.
const STALLS: usize = 1;

/// A pass need be no more exact than this share of what the last one changed.
const EXACT: f64 = 1e-2;

impl Coulomb {
    /// From the present v to a velocity that obeys Coulomb's law.
    pub(super) async fn solve(
        &mut self,
        newton: &mut Newton,
        a: &mut impl Operator,
        sum: &mut Sum,
        settings: &Settings,
    ) -> Result<Passes> {
        let mut passes = Passes::default();
        self.trial.clear();
        self.trial.extend_from_slice(&self.bounds);
        self.mixing.restart();
        let mut tolerance = settings.tolerance.max(EXACT);
        let (mut last, mut follows, mut smooth) = (f64::INFINITY, true, sum.loops.is_empty());
        if smooth && self.descend(newton, a, sum, settings).await? {
            (passes.count, passes.settled) = (1, true);
            return Ok(passes);
        }
        for _ in 0..HELD {
            for (point, b) in sum.points.iter_mut().zip(&self.trial) {
                point.law = Law::Bound(*b);
            }
            passes.count += 1;
            newton.minimize(a, sum, settings, tolerance).await?;
            self.find_bounds(sum);
            passes.change = change_of_bounds(&sum.points, &self.trial, &self.next);
            if passes.change <= settings.coulomb_tolerance {
                // The bounds are right: what is left is to be as exact as was asked for.
                let minimal = newton.minimize(a, sum, settings, settings.tolerance).await?;
                self.find_bounds(sum);
                passes.change = change_of_bounds(&sum.points, &self.trial, &self.next);
                if minimal && passes.change <= settings.coulomb_tolerance {
                    passes.settled = true;
                    return Ok(passes);
                }
            }
            if smooth && self.descend(newton, a, sum, settings).await? {
                passes.change = 0.0;
                passes.settled = true;
                return Ok(passes);
            }
            smooth = false;
            tolerance = (EXACT * passes.change).clamp(settings.tolerance, EXACT.max(settings.tolerance));
            // By Newton's method on the bounds as long as that helps, then from the last trials.
            follows &= passes.change < 0.5 * last;
            last = passes.change;
            if !(follows && self.follow(newton, a, sum).await?) {
                self.mixing.advance(&mut self.trial, &self.next);
            }
        }
        self.shift(newton, a, sum, settings, passes).await
    }

    /// Goes to where contacts do what they did in the last step: if they still do, that was nearly all. Velocities before a step do not
    /// tell, for contacts are so stiff that what turns with its link seems to slide, or to part. Loops are stiffer still, and a step that
    /// went wrong would cost digits: not with them.
    pub(super) async fn leap(&mut self, newton: &mut Newton, a: &mut impl Operator, sum: &mut Sum) -> Result<()> {
        if !sum.loops.is_empty() {
            return Ok(());
        }
        let mut any = false;
        for (point, b) in sum.points.iter_mut().zip(&self.bounds) {
            point.law = match point.before {
                Region::Apart => Law::Coulomb,
                Region::Sliding if point.slides() => Law::Slide(*b),
                _ => Law::Stick,
            };
            any |= point.before != Region::Apart;
        }
        if any {
            newton.answer(a, sum).await;
            if self.direct(newton, a, sum).await? {
                newton.leap(a, sum).await;
            }
        }
        Ok(())
    }

    /// The step of Newton's method at the present impulses; whether there is one.
    async fn direct(&mut self, newton: &mut Newton, a: &mut impl Operator, sum: &mut Sum) -> Result<bool> {
        newton.factor(a, sum).await?;
        self.sliding.clear();
        let slides = sum.points.iter().enumerate().filter(|(_, p)| p.weight.drag != 0.0);
        self.sliding.extend(slides.map(|(i, _)| i));
        if self.sliding.len() > FEW {
            return Ok(false);
        }
        newton.descend(a, sum, &[], &[]).await;
        if self.sliding.is_empty() {
            return Ok(true);
        }
        self.more.clear();
        for &i in &self.sliding {
            let point = &sum.points[i];
            self.more.push(-point.weight.drag * point.velocity(&a.motions())[0]);
        }
        self.find_small(newton, a, sum).await;
        if !solve(&mut self.small, &mut self.more) {
            return Ok(false);
        }
        newton.descend(a, sum, &self.sliding, &self.more).await;
        Ok(true)
    }

    /// Newton's method on the law itself, bounds being those of the normal impulses at hand: near the end it is much faster than passes,
    /// but nothing falls on its way. Whether it arrived; if not, the bounds are those where it gave up.
    async fn descend(
        &mut self,
        newton: &mut Newton,
        a: &mut impl Operator,
        sum: &mut Sum,
        settings: &Settings,
    ) -> Result<bool> {
        sum.points.iter_mut().for_each(|point| point.law = Law::Coulomb);
        newton.answer(a, sum).await;
        let (mut last, mut stalls) = (f64::INFINITY, 0);
        let arrived = loop {
            let left = newton.measure();
            if left <= settings.tolerance {
                break true;
            }
            stalls += usize::from(left.is_nan() || left > 0.5 * last);
            if stalls > STALLS {
                break false;
            }
            last = left;
            if !self.direct(newton, a, sum).await? {
                break false;
            }
            newton.arrive(a, sum).await;
        };
        for point in &mut sum.points {
            point.law = Law::Bound(point.cone.mu * point.gamma[0]);
        }
        Ok(arrived)
    }

    /// I + μ/R_n J_n𝓐⁻¹J*t of contacts that slide, after a factor.
    async fn find_small(&mut self, newton: &mut Newton, a: &mut impl Operator, sum: &Sum) {
        let n = self.sliding.len();
        self.small.clear();
        self.small.resize(n * n, 0.0);
        if a.has_innovations() {
            return self.couple(newton.v.len(), a, sum).await;
        }
        for c in 0..n {
            newton.slide(a, &sum.points[self.sliding[c]]).await;
            for r in 0..n {
                let point = &sum.points[self.sliding[r]];
                let normal = point.velocity(&a.motions())[0];
                let own = if r == c { 1.0 } else { 0.0 };
                self.small[r * n + c] = own + point.cone.mu / point.cone.r_n * normal;
            }
        }
    }

    /// Bounds b + δb with δb = (I − μ∂γ_n/∂b)⁻¹(μγ_n − b), and the velocity with them; whether there is such a step. A contact that
    /// slides along t has the impulse bt: ∂v/∂b = 𝓐⁻¹J*t.
    async fn follow(&mut self, newton: &mut Newton, a: &mut impl Operator, sum: &mut Sum) -> Result<bool> {
        self.sliding.clear();
        for (i, point) in sum.points.iter().enumerate() {
            if point.region == Region::Sliding && point.gamma[0] > 0.0 {
                self.sliding.push(i);
            }
        }
        let n = self.sliding.len();
        if n == 0 || n > FEW {
            return Ok(false);
        }
        newton.factor(a, sum).await?;
        self.more.clear();
        self.more
            .extend(self.sliding.iter().map(|&i| self.next[i] - self.trial[i]));
        self.find_small(newton, a, sum).await;
        if !solve(&mut self.small, &mut self.more) {
            return Ok(false);
        }
        for (trial, next) in self
            .trial
            .iter_mut()
            .zip(&self.next)
            .enumerate()
            .filter_map(|(i, pair)| {
                // Those that stick take what they have.
                (!self.sliding.contains(&i)).then_some(pair)
            })
        {
            *trial = *next;
        }
        for (&i, more) in self.sliding.iter().zip(&mut self.more) {
            *more = more.max(-self.trial[i]);
            self.trial[i] += *more;
        }
        newton.follow(a, sum, &self.sliding, &self.more).await;
        Ok(true)
    }

    /// I + μ/R_n J_n𝓐⁻¹J*t of contacts that slide, from innovations: each along the ways of two links to the root.
    async fn couple(&mut self, nv: usize, a: &mut impl Operator, sum: &Sum) {
        let n = self.sliding.len();
        self.slid.resize(n * nv, 0.0);
        self.eps.resize(2 * nv, 0.0);
        let (eps, rest) = self.eps.split_at_mut(nv);
        for (&i, slid) in self.sliding.iter().zip(self.slid.chunks_exact_mut(nv)) {
            let point = &sum.points[i];
            a.innovations(point.arms.ends, &point.along(&point.weight.t), eps, slid)
                .await;
        }
        let mut normal = [0.0; ROWS];
        normal[0] = 1.0;
        for (r, &i) in self.sliding.iter().enumerate() {
            let point = &sum.points[i];
            a.innovations(point.arms.ends, &point.along(&normal), eps, rest).await;
            for (c, slid) in self.slid.chunks_exact(nv).take(n).enumerate() {
                let yields: f64 = eps.iter().zip(slid).map(|(x, y)| x * y).sum();
                let own = if r == c { 1.0 } else { 0.0 };
                self.small[r * n + c] = own + point.cone.mu / point.cone.r_n * yields;
            }
        }
    }

    /// μγ_n.
    fn find_bounds(&mut self, sum: &Sum) {
        self.next.clear();
        self.next.extend(sum.points.iter().map(|p| p.cone.mu * p.gamma[0]));
    }

    /// The cone, shifted by the sliding speed.
    async fn shift(
        &mut self,
        newton: &mut Newton,
        a: &mut impl Operator,
        sum: &mut Sum,
        settings: &Settings,
        mut passes: Passes,
    ) -> Result<Passes> {
        self.before.clear();
        self.before.extend(sum.points.iter().map(|p| p.v_hat[0]));
        let slip = |p: &Point| {
            let rows = 1..p.cone.rows;
            let square = rows
                .map(|i| (p.u[i] + p.cone.r_t * p.gamma[i] - p.v_hat[i]).powi(2))
                .sum::<f64>();
            p.cone.mu * square.sqrt()
        };
        self.trial.clear();
        self.trial.extend(sum.points.iter().map(slip));
        self.mixing.restart();
        for _ in 0..SHIFTED {
            for ((point, v_hat), shift) in sum.points.iter_mut().zip(&self.before).zip(&self.trial) {
                point.law = Law::Cone;
                point.v_hat[0] = v_hat - shift;
            }
            passes.count += 1;
            let minimal = newton.minimize(a, sum, settings, settings.tolerance).await?;
            self.next.clear();
            self.next.extend(sum.points.iter().map(slip));
            passes.change = change(&self.trial, &self.next);
            if minimal && passes.change <= settings.coulomb_tolerance {
                passes.settled = true;
                break;
            }
            self.mixing.advance(&mut self.trial, &self.next);
        }
        for (point, v_hat) in sum.points.iter_mut().zip(&self.before) {
            point.v_hat[0] = *v_hat;
        }
        Ok(passes)
    }
}
