//! The minimum of the convex step, by Newton's method with a line search.
//!
//! With dv = −𝓐⁻¹g the gradient g follows from the impulses alone: 𝓐₀dv = −g − J*GJ dv, and so after a share t of the step
//!
//! ```text
//! g ← (1 − t)g + J*(γ − tGJ dv − γ⁺)        slope(t) = g·dv + t(−g·dv − dv*J*GJ dv) + J dv·(γ − γ(t))
//! ```
//!
//! Where no contact changes its region in a whole step, the bracket is zero and nothing is left to be swept.

use super::Settings;
use super::cone::{ROWS, Rows};
use super::loops::Loop;
use super::operator::Operator;
use super::point_loops::{
    AdvancePoints, ArriveAtPoints, BendOfPoints, ComparePoints, CurveOfPoints, MovePoints, PushPoints, SlopeOfPoints,
    StartPoints, TryPoints, WeighPoints,
};
use super::rows::{Line, Point};
use crate::Result;
use crate::simd::Instructions;

/// All rows of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) points: Vec<Point>,
    pub(super) lines: Vec<Line>,
    pub(super) loops: Vec<Loop>,
}

impl Sum {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.points.is_empty() && self.lines.is_empty() && self.loops.is_empty()
    }
}

/// Numbers per degree of freedom.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    /// The velocity that is sought.
    pub(super) v: Vec<f64>,
    pub(super) v_star: Vec<f64>,
    /// What 𝓐₀ adds to 𝓜.
    pub(super) diagonal: Vec<f64>,
    /// 1/D of 𝓐₀.
    pub(super) scale: Vec<f64>,
    /// 𝓐₀(v − v*) − J*γ, and the step; 𝓐₀(v − v*) alone only where that is followed.
    pub(super) gradient: Vec<f64>,
    moved: Vec<f64>,
    dv: Vec<f64>,
    a0dv: Vec<f64>,
    room: Vec<f64>,
    /// What the gradient is measured by, and whether it is followed by 𝓐₀dv: where more is asked for than the short way
    /// gives, and with loops, which are so stiff that 𝓐⁻¹ is rounded.
    size: f64,
    exact: bool,
    pub(super) iterations: usize,
    pub(super) evaluations: usize,
    pub(super) left: f64,
}

/// Differences of impulses below this share of the largest are rounding.
const ROUNDING: f64 = 1e-13;
/// Where less than this is asked for, the gradient is followed by 𝓐₀dv itself.
pub(super) const EXACT: f64 = 1e-11;

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl Newton {
    pub(super) fn new(nv: usize) -> Self {
        let zeros = || vec![0.0; nv];
        Self {
            v: zeros(),
            v_star: zeros(),
            diagonal: zeros(),
            scale: zeros(),
            gradient: zeros(),
            moved: zeros(),
            dv: zeros(),
            a0dv: zeros(),
            room: zeros(),
            size: 0.0,
            exact: false,
            iterations: 0,
            evaluations: 0,
            left: 0.0,
        }
    }

    /// Takes in v as it is, with 𝓐₀(v − v*) in the place of the gradient: the velocities of all rows, and no impulses yet.
    pub(super) async fn start(&mut self, a: &mut impl Operator, sum: &mut Sum, settings: &Settings) {
        self.exact = !sum.loops.is_empty() || settings.tolerance < EXACT;
        self.moved.copy_from_slice(&self.gradient);
        let energy = a.move_with_energy(&self.v).await;
        let wide = a.instructions();
        let motions = a.motions();
        wide.call(StartPoints, (&mut sum.points[..], &motions));
        for tie in &mut sum.loops {
            tie.u = tie.arms.velocity(tie.count, &motions);
            tie.gamma = [0.0; ROWS];
        }
        for line in &mut sum.lines {
            line.gamma = 0.0;
        }
        // 𝓐₀(v − v*) and the momentum 𝓐₀v, by their own norms.
        let held = self.diagonal.iter().zip(&self.v).map(|(a, v)| a * v * v).sum::<f64>();
        self.size = self.length(&self.gradient).max((energy + held).sqrt());
    }

    /// v⁺ = v*, for there are no rows.
    pub(super) fn rest_free(&mut self) {
        self.v.copy_from_slice(&self.v_star);
        self.gradient.fill(0.0);
        (self.iterations, self.evaluations, self.left) = (0, 0, 0.0);
    }

    /// γ of all rows at v, and the gradient with them.
    pub(super) async fn answer(&mut self, a: &mut impl Operator, sum: &mut Sum) {
        self.evaluations += 1;
        a.instructions().call(TryPoints, &mut sum.points[..]);
        sum.loops.iter_mut().for_each(|tie| tie.try_at(0.0));
        for line in &mut sum.lines {
            (line.next, _) = line.answer(self.v[line.v]);
        }
        self.take_in(a, sum).await;
    }

    /// Takes in the next impulses, and adds J* of what they differ by to the gradient; or all of it, where that is followed.
    async fn take_in(&mut self, a: &mut impl Operator, sum: &mut Sum) {
        if self.exact {
            self.gradient.copy_from_slice(&self.moved);
            sum.points.iter_mut().for_each(|point| point.gamma = [0.0; ROWS]);
            sum.loops.iter_mut().for_each(|tie| tie.gamma = [0.0; ROWS]);
            sum.lines.iter_mut().for_each(|line| line.gamma = 0.0);
        }
        let (mut largest, mut differ): (f64, f64) = (0.0, 0.0);
        let mut compare = |old: &Rows, new: &Rows, rows: usize| {
            for i in 0..rows {
                largest = largest.max(new[i].abs());
                differ = differ.max((old[i] - new[i]).abs());
            }
        };
        for tie in &sum.loops {
            compare(&tie.gamma, &tie.next, tie.count);
        }
        let wide = a.instructions();
        let [most, change] = wide.call(ComparePoints, &sum.points[..]);
        (largest, differ) = (largest.max(most), differ.max(change));
        if differ > ROUNDING * largest {
            a.clear_forces();
            {
                let mut forces = a.forces();
                wide.call(PushPoints, (&sum.points[..], &mut forces));
                for tie in &sum.loops {
                    tie.arms.push_between(tie.count, &tie.gamma, &tie.next, &mut forces);
                }
            }
            a.gather(&mut self.room).await;
            for (gradient, more) in self.gradient.iter_mut().zip(&self.room) {
                *gradient += more;
            }
        }
        for point in &mut sum.points {
            (point.gamma, point.region) = point.next;
        }
        for tie in &mut sum.loops {
            tie.gamma = tie.next;
        }
        for line in &mut sum.lines {
            self.gradient[line.v] += line.slope * (line.gamma - line.next);
            line.gamma = line.next;
        }
    }

    /// The length of a covector in the norm of 1/D.
    fn length(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.scale).map(|(x, s)| s * x * x).sum::<f64>().sqrt()
    }

    /// Goes on from v to the minimum; whether it settled.
    pub(super) async fn minimize(
        &mut self,
        a: &mut impl Operator,
        sum: &mut Sum,
        settings: &Settings,
        tolerance: f64,
    ) -> Result<bool> {
        self.answer(a, sum).await;
        for iteration in 0.. {
            let left = self.measure();
            if left <= tolerance {
                return Ok(true);
            }
            if iteration >= settings.iterations || !left.is_finite() {
                return Ok(false);
            }
            self.iterations += 1;
            self.step(a, sum).await?;
        }
        Ok(false)
    }

    /// One step: dv = −𝓐⁻¹ gradient, as far as the line search says.
    async fn step(&mut self, a: &mut impl Operator, sum: &mut Sum) -> Result<()> {
        self.factor(a, sum).await?;
        for (room, gradient) in self.room.iter_mut().zip(&self.gradient) {
            *room = -gradient;
        }
        a.solve(Some(&self.room), false, &mut self.dv).await;
        self.move_rows(a, sum).await;
        let wide = a.instructions();
        let t = self.search(wide, sum, self.exact);
        self.go(wide, sum, t);
        self.take_in(a, sum).await;
        Ok(())
    }

    /// J dv, from the links' motions at dv.
    async fn move_rows(&mut self, a: &mut impl Operator, sum: &mut Sum) {
        let wide = a.instructions();
        {
            let motions = a.motions();
            wide.call(MovePoints, (&mut sum.points[..], &motions));
            for tie in &mut sum.loops {
                tie.du = tie.arms.velocity(tie.count, &motions);
            }
        }
        if self.exact {
            self.find_a0dv(a).await;
        }
    }

    /// 𝓐₀dv, from the links' motions at dv.
    async fn find_a0dv(&mut self, a: &mut impl Operator) {
        a.mass_times_moved(&self.dv, &mut self.a0dv).await;
        for ((a0dv, held), dv) in self.a0dv.iter_mut().zip(&self.diagonal).zip(&self.dv) {
            *a0dv += held * dv;
        }
    }

    /// Goes a share of the way along dv; impulses are then those that the gradient is told by, until others are taken in.
    fn go(&mut self, wide: Instructions, sum: &mut Sum, t: f64) {
        let exact = self.exact;
        for (v, dv) in self.v.iter_mut().zip(&self.dv) {
            *v += t * dv;
        }
        wide.call(AdvancePoints, (&mut sum.points[..], t, exact));
        if exact {
            for (moved, a0dv) in self.moved.iter_mut().zip(&self.a0dv) {
                *moved += t * a0dv;
            }
            for tie in &mut sum.loops {
                for i in 0..tie.count {
                    tie.u[i] += t * tie.du[i];
                }
            }
        } else {
            for gradient in &mut self.gradient {
                *gradient *= 1.0 - t;
            }
            for line in &mut sum.lines {
                line.gamma -= t * line.g * line.slope * self.dv[line.v];
            }
        }
    }

    /// What is left of the gradient, relative to what drives.
    pub(super) fn measure(&mut self) -> f64 {
        let left = self.length(&self.gradient);
        self.left = if self.size > 0.0 { left / self.size } else { 0.0 };
        if self.size > 0.0 || left == 0.0 {
            self.left
        } else {
            f64::MAX
        }
    }

    /// −𝓐⁻¹ gradient after [`Newton::factor`], the bounds of contacts that slide changed by so much: the links' motions are left in λ.
    pub(super) async fn descend(&mut self, a: &mut impl Operator, sum: &Sum, sliding: &[usize], more: &[f64]) {
        for (room, gradient) in self.room.iter_mut().zip(&self.gradient) {
            *room = -gradient;
        }
        if !more.is_empty() {
            a.clear_forces();
            let mut forces = a.forces();
            for (&i, more) in sliding.iter().zip(more) {
                let (point, mut push) = (&sum.points[i], [0.0; ROWS]);
                for j in 1..point.cone.rows {
                    push[j] = more * point.weight.t[j];
                }
                point.push(&push, &mut forces);
            }
        }
        a.solve(Some(&self.room), !more.is_empty(), &mut self.dv).await;
    }

    /// Goes all of that way.
    pub(super) async fn leap(&mut self, a: &mut impl Operator, sum: &mut Sum) {
        self.iterations += 1;
        self.move_rows(a, sum).await;
        self.go(a.instructions(), sum, 1.0);
    }

    /// Goes all of that way, to the impulses that are there.
    pub(super) async fn arrive(&mut self, a: &mut impl Operator, sum: &mut Sum) {
        self.iterations += 1;
        self.evaluations += 1;
        self.move_rows(a, sum).await;
        for (v, dv) in self.v.iter_mut().zip(&self.dv) {
            *v += dv;
        }
        let (wide, exact) = (a.instructions(), self.exact);
        a.clear_forces();
        let [largest, differ] = {
            let mut forces = a.forces();
            let told = wide.call(ArriveAtPoints, (&mut sum.points[..], exact, &mut forces));
            for tie in &mut sum.loops {
                for i in 0..tie.count {
                    tie.u[i] += tie.du[i];
                }
                tie.try_at(0.0);
                tie.gamma = tie.next;
                tie.arms.push_between(tie.count, &[0.0; ROWS], &tie.gamma, &mut forces);
            }
            told
        };
        if exact || differ > ROUNDING * largest {
            a.gather(&mut self.gradient).await;
        } else {
            self.gradient.fill(0.0);
        }
        if exact {
            for (moved, a0dv) in self.moved.iter_mut().zip(&self.a0dv) {
                *moved += a0dv;
            }
            for (gradient, moved) in self.gradient.iter_mut().zip(&self.moved) {
                *gradient += moved;
            }
        }
        for line in &mut sum.lines {
            (line.next, _) = line.answer(self.v[line.v]);
            let told = if exact {
                0.0
            } else {
                line.gamma - line.g * line.slope * self.dv[line.v]
            };
            self.gradient[line.v] += line.slope * (told - line.next);
            line.gamma = line.next;
        }
    }

    /// 𝓐⁻¹J*t of a contact that slides along t, after [`Newton::factor`]: the links' motions are left in λ.
    pub(super) async fn slide(&mut self, a: &mut impl Operator, point: &Point) {
        a.clear_forces();
        point.push(&point.weight.t, &mut a.forces());
        a.solve(None, true, &mut self.dv).await;
    }

    /// A whole step with the bounds of some contacts that slide changed by so much, after [`Newton::factor`]: dv = 𝓐⁻¹(J*tδb − g).
    pub(super) async fn follow(&mut self, a: &mut impl Operator, sum: &mut Sum, sliding: &[usize], more: &[f64]) {
        self.iterations += 1;
        a.clear_forces();
        let mut forces = a.forces();
        for (&i, more) in sliding.iter().zip(more) {
            let point = &mut sum.points[i];
            for j in 1..point.cone.rows {
                point.next.0[j] = more * point.weight.t[j];
                point.gamma[j] += point.next.0[j];
            }
            point.next.0[0] = 0.0;
            point.push(&point.next.0, &mut forces);
        }
        drop(forces);
        for (room, gradient) in self.room.iter_mut().zip(&self.gradient) {
            *room = -gradient;
        }
        a.solve(Some(&self.room), true, &mut self.dv).await;
        self.move_rows(a, sum).await;
        self.go(a.instructions(), sum, 1.0);
    }

    /// 𝓐 = 𝓐₀ + ΣJ*GJ at the present velocity.
    pub(super) async fn factor(&mut self, a: &mut impl Operator, sum: &mut Sum) -> Result<()> {
        a.clear_weights();
        let wide = a.instructions();
        {
            let mut weights = a.weights();
            wide.call(WeighPoints, (&mut sum.points[..], &mut weights));
            for tie in &sum.loops {
                tie.weigh(&mut weights);
            }
        }
        self.room.copy_from_slice(&self.diagonal);
        let mut any = self.diagonal.iter().any(|x| *x != 0.0);
        for line in &mut sum.lines {
            (_, line.g) = line.answer(self.v[line.v]);
            self.room[line.v] += line.slope * line.slope * line.g;
            any |= line.g != 0.0;
        }
        if any || a.has_diagonal() {
            a.set_diagonal(&self.room);
        }
        a.factor().await
    }

    /// How far to go along dv: the slope is monotone, and zero at the best place. The impulses there are in `next`.
    fn search(&mut self, wide: Instructions, sum: &mut Sum, exact: bool) -> f64 {
        let first = dot(&self.gradient, &self.dv);
        let along = match exact {
            true => dot(&self.dv, &self.a0dv),
            false => {
                let points = wide.call(CurveOfPoints, &sum.points[..]);
                let lines = sum
                    .lines
                    .iter()
                    .map(|l| l.g * (l.slope * self.dv[l.v]).powi(2))
                    .sum::<f64>();
                -first - points - lines
            }
        };
        let (mut low, mut high, mut t) = (0.0, 1.0, 1.0);
        let whole = self.slope(wide, sum, first, along, 1.0);
        if whole > 0.5 * first.abs() {
            let goal = 0.1 * first.abs();
            t = 1.0 - whole / (along + self.bend(wide, sum, 1.0));
            let mut looked = 1.0;
            for _ in 0..40 {
                if !(t > low && t < high) {
                    t = 0.5 * (low + high);
                }
                let here = self.slope(wide, sum, first, along, t);
                looked = t;
                if here.abs() <= goal || high - low < 1e-12 {
                    break;
                }
                if here > 0.0 {
                    high = t;
                } else {
                    low = t;
                }
                let next = t - here / (along + self.bend(wide, sum, t));
                if next == t {
                    break;
                }
                t = next;
            }
            // If the rounds ran out the last look was elsewhere.
            if looked != t {
                self.slope(wide, sum, first, along, t);
            }
        }
        t
    }

    /// The slope at a share of the step.
    fn slope(&mut self, wide: Instructions, sum: &mut Sum, first: f64, along: f64, t: f64) -> f64 {
        self.evaluations += 1;
        let mut slope = first + t * along + wide.call(SlopeOfPoints, (&mut sum.points[..], t));
        for tie in &mut sum.loops {
            tie.try_at(t);
            for i in 0..tie.count {
                slope += tie.du[i] * (tie.gamma[i] - tie.next[i]);
            }
        }
        for line in &mut sum.lines {
            let dv = self.dv[line.v];
            (line.next, _) = line.answer(self.v[line.v] + t * dv);
            slope += line.slope * dv * (line.gamma - line.next);
        }
        slope
    }

    /// What rows add to how the slope changes there.
    fn bend(&self, wide: Instructions, sum: &Sum, t: f64) -> f64 {
        let points = wide.call(BendOfPoints, (&sum.points[..], t));
        let ties = sum
            .loops
            .iter()
            .flat_map(|tie| (0..tie.count).map(|i| tie.du[i].powi(2) * tie.answer(i, tie.u[i] + t * tie.du[i]).1));
        let lines = sum.lines.iter().map(|line| {
            let dv = self.dv[line.v];
            let (_, g) = line.answer(self.v[line.v] + t * dv);
            (line.slope * dv).powi(2) * g
        });
        points + ties.sum::<f64>() + lines.sum::<f64>()
    }
}
