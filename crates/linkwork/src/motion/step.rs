//! One step of damped least squares within limits.

use super::bounds::Limits;
use super::task::{Goal, Seen, Task};
use crate::Result;
use crate::model::Mechanism;
use crate::spatial::{Force, Reference};
use crate::workspace::{Augmented, AugmentedMass, Configured, Masses};

/// A on a joint that is held: what moves it is below the last digit.
const HELD: f64 = 1e30;
/// How often joints that would leave their limits are held and the rest solved again.
const PASSES: usize = 4;

/// Memory of a step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    memory: Augmented,
    pub(super) seen: Vec<Seen>,
    /// Per degree of freedom: the posture's weight times what is left, and the weights.
    posture: Vec<f64>,
    posture_weights: Vec<f64>,
    wide: Vec<f64>,
    /// J*Ge: downhill.
    pub(super) gradient: Vec<f64>,
    rhs: Vec<f64>,
    diagonal: Vec<f64>,
    held: Vec<bool>,
    /// Rows of the centre of mass, and 𝓐⁻¹ of them.
    com: Option<Com>,
    /// The step itself.
    pub(super) dq: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Com {
    task: usize,
    rows: Vec<f64>,
    solved: Vec<f64>,
}

impl Step {
    pub(super) fn new(m: &Mechanism, tasks: &[Task]) -> Self {
        let nv = m.nv();
        let com = tasks.iter().position(|t| matches!(t.goal, Goal::Com { .. }));
        Self {
            memory: m.augmented(),
            seen: vec![Seen::NOTHING; tasks.len()],
            posture: vec![0.0; nv],
            posture_weights: vec![0.0; nv],
            wide: vec![0.0; nv],
            gradient: vec![0.0; nv],
            rhs: vec![0.0; nv],
            diagonal: vec![0.0; nv],
            held: vec![false; nv],
            com: com.map(|task| Com {
                task,
                rows: vec![0.0; 3 * nv],
                solved: vec![0.0; 3 * nv],
            }),
            dq: vec![0.0; nv],
        }
    }

    /// Sees all tasks that count at a configuration: ½Σe*Ge.
    pub(super) fn look(&mut self, posed: &mut Configured<'_>, q: &[f64], tasks: &[Task], all: bool) -> Result<f64> {
        let m = posed.mechanism();
        let mut cost = 0.0;
        self.posture.fill(0.0);
        self.posture_weights.fill(0.0);
        for (task, seen) in tasks.iter().zip(&mut self.seen) {
            *seen = task.see(posed);
            let counts = all || !task.is_preferred;
            if let Goal::Posture { q: target } = &task.goal {
                m.difference(q, target, &mut self.dq)?;
                task.posture_weights(m, &mut self.wide);
                let mut square = 0.0;
                for (i, (e, w)) in self.dq.iter().zip(&self.wide).enumerate() {
                    square += if *w > 0.0 { e * e } else { 0.0 };
                    if counts {
                        cost += 0.5 * w * e * e;
                        self.posture[i] += w * e;
                        self.posture_weights[i] += w;
                    }
                }
                seen.residual.angle = square.sqrt();
            }
            if counts {
                cost += seen.cost();
            }
        }
        Ok(cost)
    }

    /// dq = (λI + ΣJ*GJ)⁻¹ ΣJ*Ge with what limits hold welded, from what was seen here. How much it would move at most.
    pub(super) fn solve(
        &mut self,
        posed: &mut Configured<'_>,
        q: &[f64],
        (tasks, all): (&[Task], bool),
        limits: &Limits,
        lambda: f64,
    ) -> Result<f64> {
        let m = posed.mechanism();
        if let Some(com) = &mut self.com {
            posed.com_jacobian(&mut com.rows)?;
        }
        let mut operator = posed.augment(&mut self.memory, Masses::None)?;
        operator.memory().forces.fill(Force::ZERO);
        for (task, seen) in tasks.iter().zip(&self.seen) {
            let Some(frame) = task.frame().filter(|_| all || !task.is_preferred) else {
                continue;
            };
            let weight = seen.weight();
            match task.other {
                None => operator.weigh(frame, Reference::Aligned, &weight)?,
                Some(other) => operator.weigh_between(frame, other, Reference::Aligned, &weight)?,
            }
            let ends = [Some(frame), task.other].map(|f| f.and_then(|f| m.placed[f.index()].body));
            if ends[0] == ends[1] {
                continue;
            }
            let [turn, push] = seen.force();
            for (k, sign) in ends.into_iter().zip([1.0, -1.0]).filter_map(|(k, s)| Some((k?, s))) {
                // A force at the frame's origin, seen by the link.
                let link = operator.link(k);
                let moment = turn + (seen.at - link.translation).cross(push);
                let force = Force::new(
                    link.rotation.inverse_mul(moment * sign),
                    link.rotation.inverse_mul(push * sign),
                );
                operator.memory().forces[k] += force;
            }
        }
        operator.gather(&mut self.gradient);
        for (g, posture) in self.gradient.iter_mut().zip(&self.posture) {
            *g += posture;
        }
        let com = self.com.as_ref().filter(|com| all || !tasks[com.task].is_preferred);
        if let Some(com) = com {
            let [_, push] = self.seen[com.task].force();
            add_rows(&com.rows, push.to_array(), &mut self.gradient);
        }
        let has_com = com.is_some();
        for (dof, held) in self.held.iter_mut().enumerate() {
            *held = limits.holds(q, dof, self.gradient[dof]);
            self.dq[dof] = 0.0;
        }
        for pass in 0..PASSES {
            for dof in 0..self.held.len() {
                let free = lambda + self.posture_weights[dof];
                self.diagonal[dof] = if self.held[dof] { HELD } else { free };
                self.rhs[dof] = match self.held[dof] {
                    true => HELD * self.dq[dof],
                    false => self.gradient[dof],
                };
            }
            operator.set_diagonal(&self.diagonal);
            operator.factor()?;
            operator.solve_pushed(Some(&self.rhs), false, &mut self.wide);
            if let Some(com) = self.com.as_mut().filter(|_| has_com) {
                com.correct(&mut operator, &self.seen[com.task].g[1], &mut self.wide);
            }
            let mut shortened = false;
            for dof in 0..self.held.len() {
                if self.held[dof] {
                    continue;
                }
                self.dq[dof] = self.wide[dof];
                if let Some(allowed) = limits.shortened(m, q, dof, self.wide[dof]) {
                    // Held where it meets its limit; the others make up for it.
                    self.dq[dof] = allowed;
                    self.held[dof] = true;
                    shortened = true;
                }
            }
            if !shortened || pass + 1 == PASSES {
                break;
            }
        }
        Ok(self.dq.iter().fold(0.0, |most: f64, x| most.max(x.abs())))
    }
}

/// out += C*x.
fn add_rows(rows: &[f64], x: [f64; 3], out: &mut [f64]) {
    for (row, x) in rows.chunks_exact(out.len()).zip(x) {
        for (out, c) in out.iter_mut().zip(row) {
            *out += c * x;
        }
    }
}

impl Com {
    /// (𝓐 + C*GC)⁻¹b from x = 𝓐⁻¹b: x − 𝓐⁻¹C*(I + GW)⁻¹GCx with W = C𝓐⁻¹C*.
    fn correct(&mut self, operator: &mut AugmentedMass<'_>, g: &[[f64; 3]; 3], x: &mut [f64]) {
        let nv = x.len();
        let pairs = self.rows.chunks_exact(nv).zip(self.solved.chunks_exact_mut(nv));
        for (row, solved) in pairs {
            operator.solve_pushed(Some(row), false, solved);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (row, solved) = (
            |i: usize| &self.rows[i * nv..][..nv],
            |i: usize| &self.solved[i * nv..][..nv],
        );
        let w: [[f64; 3]; 3] = [0, 1, 2].map(|i| [0, 1, 2].map(|j| dot(row(i), solved(j))));
        let cx = [0, 1, 2].map(|i| dot(row(i), x));
        let times = |i: usize, v: &dyn Fn(usize) -> f64| (0..3).map(|k| g[i][k] * v(k)).sum::<f64>();
        // [I + GW | GCx], eliminated with pivots: it is similar to a symmetric positive matrix.
        let mut s = [0, 1, 2].map(|i| {
            let at = |j: usize| times(i, &|k| w[k][j]) + if i == j { 1.0 } else { 0.0 };
            [at(0), at(1), at(2), times(i, &|k| cx[k])]
        });
        for c in 0..3 {
            let best = (c..3)
                .max_by(|&a, &b| s[a][c].abs().total_cmp(&s[b][c].abs()))
                .unwrap_or(c);
            s.swap(c, best);
            for r in 0..3 {
                if r != c {
                    let t = s[r][c] / s[c][c];
                    for j in c..4 {
                        s[r][j] -= t * s[c][j];
                    }
                }
            }
        }
        let y = [0, 1, 2].map(|i| -s[i][3] / s[i][i]);
        if y.iter().all(|y| y.is_finite()) {
            add_rows(&self.solved, y, x);
        }
    }
}
