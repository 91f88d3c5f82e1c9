//! The minimum of the convex step, by Newton's method with a line search.

use super::Settings;
use super::cone::{ROWS, Rows};
use super::rows::{Line, Point};
use crate::Result;
use crate::spatial::Force;
use crate::workspace::AugmentedMass;

/// Numbers per degree of freedom.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    /// The velocity that is sought.
    pub(super) v: Vec<f64>,
    pub(super) v_star: Vec<f64>,
    /// 𝓐₀v*.
    pub(super) momentum: Vec<f64>,
    /// What 𝓐₀ adds to 𝓜.
    pub(super) diagonal: Vec<f64>,
    /// 1/D of 𝓐₀.
    pub(super) scale: Vec<f64>,
    /// 𝓐₀(v − v*), J*γ, the gradient, the step, 𝓐₀ of the step.
    pub(super) moved: Vec<f64>,
    pub(super) pushed: Vec<f64>,
    gradient: Vec<f64>,
    pub(super) dv: Vec<f64>,
    a0dv: Vec<f64>,
    room: Vec<f64>,
    pub(super) iterations: usize,
    pub(super) evaluations: usize,
    pub(super) left: f64,
}

impl Newton {
    pub(super) fn new(nv: usize) -> Self {
        let zeros = || vec![0.0; nv];
        Self {
            v: zeros(),
            v_star: zeros(),
            momentum: zeros(),
            diagonal: zeros(),
            scale: zeros(),
            moved: zeros(),
            pushed: zeros(),
            gradient: zeros(),
            dv: zeros(),
            a0dv: zeros(),
            room: zeros(),
            iterations: 0,
            evaluations: 0,
            left: 0.0,
        }
    }

    /// Takes in v as it is, with 𝓐₀(v − v*) known: the contacts' velocities and 𝓐₀v*.
    pub(super) fn start(&mut self, a: &mut AugmentedMass<'_>, points: &mut [Point]) {
        a.move_links(&self.v);
        for point in points.iter_mut() {
            point.u = point.velocity(&a.memory().lambda);
        }
        a.mass_times_moved(&self.v, &mut self.momentum);
        for i in 0..self.v.len() {
            self.momentum[i] += self.diagonal[i] * self.v[i] - self.moved[i];
        }
    }

    /// v⁺ = v*, for there are no rows.
    pub(super) fn rest_free(&mut self) {
        self.v.copy_from_slice(&self.v_star);
        self.moved.fill(0.0);
        (self.iterations, self.evaluations, self.left) = (0, 0, 0.0);
    }

    /// γ of all rows at v, and J*γ.
    pub(super) fn answer(&mut self, a: &mut AugmentedMass<'_>, points: &mut [Point], lines: &mut [Line]) {
        self.evaluations += 1;
        let forces = &mut a.memory().forces;
        forces.fill(Force::ZERO);
        for point in points.iter_mut() {
            point.answer();
            if point.gamma != [0.0; ROWS] {
                point.push(&point.gamma, forces);
            }
        }
        a.gather(&mut self.pushed);
        for line in lines.iter_mut() {
            (line.gamma, _) = line.answer(self.v[line.v]);
            self.pushed[line.v] += line.slope * line.gamma;
        }
    }

    /// The length of a covector in the norm of 1/D.
    fn length(&self, x: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.v.len() {
            let x = x(i);
            sum += self.scale[i] * x * x;
        }
        sum.sqrt()
    }

    /// Goes on from v to the minimum; whether it settled.
    pub(super) fn minimize(
        &mut self,
        a: &mut AugmentedMass<'_>,
        points: &mut [Point],
        lines: &mut [Line],
        settings: &Settings,
    ) -> Result<bool> {
        let n = self.v.len();
        for iteration in 0.. {
            self.answer(a, points, lines);
            for i in 0..n {
                self.gradient[i] = self.moved[i] - self.pushed[i];
            }
            let size = self
                .length(|i| self.momentum[i])
                .max(self.length(|i| self.moved[i] + self.momentum[i]))
                .max(self.length(|i| self.pushed[i]));
            let left = self.length(|i| self.gradient[i]);
            self.left = if size > 0.0 { left / size } else { 0.0 };
            if left <= settings.tolerance * size {
                return Ok(true);
            }
            if iteration >= settings.iterations || !left.is_finite() {
                return Ok(false);
            }
            self.iterations += 1;
            self.step(a, points, lines)?;
        }
        Ok(false)
    }

    /// One step: dv = −𝓐⁻¹ gradient, as far as the line search says.
    fn step(&mut self, a: &mut AugmentedMass<'_>, points: &mut [Point], lines: &[Line]) -> Result<()> {
        let n = self.v.len();
        self.factor(a, points, lines)?;
        for i in 0..n {
            self.room[i] = -self.gradient[i];
        }
        a.solve_pushed(Some(&self.room), false, &mut self.dv);
        for point in points.iter_mut() {
            point.du = point.velocity(&a.memory().lambda);
        }
        a.mass_times_moved(&self.dv, &mut self.a0dv);
        for i in 0..n {
            self.a0dv[i] += self.diagonal[i] * self.dv[i];
        }
        let t = self.search(points, lines);
        for i in 0..n {
            self.v[i] += t * self.dv[i];
            self.moved[i] += t * self.a0dv[i];
        }
        for point in points.iter_mut() {
            for i in 0..point.cone.rows {
                point.u[i] += t * point.du[i];
            }
        }
        Ok(())
    }

    /// 𝓐 = 𝓐₀ + ΣJ*GJ at the present velocity.
    pub(super) fn factor(&mut self, a: &mut AugmentedMass<'_>, points: &[Point], lines: &[Line]) -> Result<()> {
        let memory = a.memory();
        memory.clear_weights();
        for point in points {
            point.weigh(&point.weight(), a);
        }
        self.room.copy_from_slice(&self.diagonal);
        let mut any = self.diagonal.iter().any(|x| *x != 0.0);
        for line in lines {
            let (_, g) = line.answer(self.v[line.v]);
            self.room[line.v] += line.slope * line.slope * g;
            any |= g != 0.0;
        }
        if any || a.memory().has_diagonal {
            a.set_diagonal(&self.room);
            a.memory().has_diagonal = any;
        }
        a.factor()
    }

    /// How far to go along dv: the slope is monotone, and zero at the best place.
    fn search(&mut self, points: &[Point], lines: &[Line]) -> f64 {
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let (at, along) = (dot(&self.moved, &self.dv), dot(&self.dv, &self.a0dv));
        let first = dot(&self.gradient, &self.dv);
        let mut count = 0;
        let mut slope = |t: f64, curved: bool| {
            count += 1;
            let (mut slope, mut bend) = (at + t * along, along);
            for point in points {
                let mut u: Rows = point.u;
                for i in 0..point.cone.rows {
                    u[i] += t * point.du[i];
                }
                let y = point.cone.pull(&u, &point.v_hat);
                let (gamma, _) = point.cone.project(point.law, &y);
                for i in 0..point.cone.rows {
                    slope -= point.du[i] * gamma[i];
                }
                if curved {
                    let g = point.cone.weight(point.law, &y);
                    for i in 0..point.cone.rows {
                        for j in 0..point.cone.rows {
                            bend += point.du[i] * g[i][j] * point.du[j];
                        }
                    }
                }
            }
            for line in lines {
                let dv = self.dv[line.v];
                let (gamma, g) = line.answer(self.v[line.v] + t * dv);
                slope -= line.slope * dv * gamma;
                bend += (line.slope * dv).powi(2) * g;
            }
            (slope, bend)
        };
        let (mut low, mut high, mut t) = (0.0, 1.0, 1.0);
        let (whole, bend) = slope(1.0, true);
        if whole > 0.5 * first.abs() {
            let goal = 0.1 * first.abs();
            t = 1.0 - whole / bend;
            for _ in 0..40 {
                if !(t > low && t < high) {
                    t = 0.5 * (low + high);
                }
                let (here, bend) = slope(t, true);
                if here.abs() <= goal {
                    break;
                }
                if here > 0.0 {
                    high = t;
                } else {
                    low = t;
                }
                t -= here / bend;
            }
        }
        self.evaluations += count;
        t
    }
}
