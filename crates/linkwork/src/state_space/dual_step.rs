//! A step of an integrator over dual numbers: what [`super::StepDerivatives`] is compared with.

use super::{Method, OperatingPoint, external_force};
use crate::dense::Lu;
use crate::dense::dot;
use crate::model::{JointKind, Mechanism};
use crate::scalar::Dual;
use crate::simulate::{A3, A4, A5, A6, A7, Dynamics, ImplicitMidpoint, Integrator, Now, PassiveForces, State};
use crate::spatial::{Rotation, Vec3};
use crate::workspace::Moving;
use crate::{Error, Result, Workspace};

type D = Dual<f64>;

/// Steps from one point in many directions.
pub(super) struct Stepper {
    mechanism: Mechanism,
    point: OperatingPoint,
    resistance: PassiveForces,
    method: Method,
    h: D,
    workspace: Workspace,
    /// Of the implicit rule: u and w, and the factors of I − ½h ∂(q̇, v̇)/∂(u, w).
    middle: Vec<f64>,
    matrix: Lu,
}

/// The weights of the stages before each stage, and those of the result.
type Tableau = (&'static [&'static [f64]], &'static [f64]);
const CLASSICAL: Tableau = (
    &[&[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
    &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
);
const DORMAND_PRINCE: Tableau = (&[&[0.2], &A3, &A4, &A5, &A6], &A7);

impl Stepper {
    pub(super) fn new(
        mechanism: &Mechanism,
        point: &OperatingPoint,
        resistance: &PassiveForces,
        method: Method,
        h: f64,
    ) -> Result<Self> {
        resistance.check(mechanism)?;
        mechanism.check_configuration("q", &point.q)?;
        mechanism.check_vector("qd", &point.qd)?;
        mechanism.check_vector("tau", &point.tau)?;
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&point.q)?;
        external_force::act(&point.forces, &mut posed)?;
        Ok(Self {
            mechanism: mechanism.clone(),
            point: point.clone(),
            resistance: resistance.clone().without_stops(),
            method,
            h: Dual::constant(h),
            workspace,
            middle: Vec::new(),
            matrix: Lu::new(if method == Method::ImplicitMidpoint {
                2 * mechanism.nv()
            } else {
                0
            }),
        })
    }

    /// What all directions have in common: the middle of an implicit step, and how its equations answer it.
    pub(super) fn prepare(&mut self) -> Result<()> {
        if self.method != Method::ImplicitMidpoint {
            return Ok(());
        }
        let (n, h) = (self.mechanism.nv(), self.h.value);
        let (still, tau) = (self.start(&vec![0.0; n])?, vary(&self.point.tau, &vec![0.0; n]));
        self.middle = self.solve_middle()?;
        for j in 0..2 * n {
            let mut x = vary(&self.middle, &vec![0.0; 2 * n]);
            x[j].derivative = 1.0;
            let rates = self.middle_rates(&still, &x, &tau)?;
            let matrix = self.matrix.matrix();
            for (i, rate) in rates.iter().enumerate() {
                let one = f64::from(u8::from(i == j));
                matrix[i * 2 * n + j] = one - 0.5 * h * rate.derivative;
            }
        }
        match self.matrix.factor() {
            true => Ok(()),
            false => Err(Error::Step {
                t: 0.0,
                problem: "the implicit equations of this step have no solution nearby; take shorter steps".into(),
            }),
        }
    }

    /// u and w, by the simulator's own step.
    fn solve_middle(&self) -> Result<Vec<f64>> {
        let point = &self.point;
        let hold = |_: Now<'_>, moving: &mut Moving<'_>, out: &mut [f64]| {
            out.copy_from_slice(&point.tau);
            external_force::act(&point.forces, moving)
        };
        let mut equations = Dynamics::with(&self.mechanism, hold, self.resistance.clone());
        let (q, v) = (self.point.q.clone(), self.point.qd.clone());
        let mut state = State { t: 0.0, q, v };
        ImplicitMidpoint::new(&self.mechanism).step(&mut equations, &mut state, self.h.value)?;
        let n = self.mechanism.nv();
        let mut x = vec![0.0; 2 * n];
        let (u, w) = x.split_at_mut(n);
        self.mechanism.difference(&self.point.q, &state.q, u)?;
        u.iter_mut().for_each(|u| *u *= 0.5);
        for ((w, before), after) in w.iter_mut().zip(&self.point.qd).zip(&state.v) {
            *w = 0.5 * (before + after);
        }
        Ok(x)
    }

    /// q̇ and v̇ at q ⊕ u and w.
    fn middle_rates(&mut self, q: &[D], x: &[D], tau: &[D]) -> Result<Vec<D>> {
        let (u, w) = x.split_at(self.mechanism.nv());
        let at = self.moved(q, u)?;
        let vd = self.rates(&at, w, tau)?;
        Ok(w.iter().copied().chain(vd).collect())
    }

    /// x = (0, v) + ½h (q̇, v̇) answers a change as its own equations say; then q ⊕ 2u and 2w − v.
    fn implicit_midpoint(&mut self, q: &[D], v: &[D], tau: &[D]) -> Result<(Vec<D>, Vec<D>)> {
        let n = v.len();
        let mut x = vary(&self.middle, &vec![0.0; 2 * n]);
        let rates = self.middle_rates(q, &x, tau)?;
        let mut change: Vec<f64> = rates.iter().map(|rate| 0.5 * self.h.value * rate.derivative).collect();
        for (change, v) in change[n..].iter_mut().zip(v) {
            *change += v.derivative;
        }
        self.matrix.solve(&mut change);
        for (x, change) in x.iter_mut().zip(&change) {
            x.derivative = *change;
        }
        let u: Vec<D> = x[..n].iter().map(|u| *u + *u).collect();
        let after = x[n..].iter().zip(v).map(|(w, v)| *w + *w - *v).collect();
        Ok((self.moved(q, &u)?, after))
    }

    /// q ⊕ δq.
    fn start(&self, dq: &[f64]) -> Result<Vec<D>> {
        let still: Vec<D> = self.point.q.iter().map(|x| Dual::constant(*x)).collect();
        self.moved(&still, &vary(&vec![0.0; dq.len()], dq))
    }

    /// How the end of the step answers a change (δq, δq̇, δT) of its start: (δq⁺, δq̇⁺).
    pub(super) fn step(&mut self, change: &[f64]) -> Result<Vec<f64>> {
        let n = self.mechanism.nv();
        let (dq, rest) = change.split_at(n);
        let (dqd, dtau) = rest.split_at(n);
        let q = self.start(dq)?;
        let (v, tau) = (vary(&self.point.qd, dqd), vary(&self.point.tau, dtau));
        let (q, v) = match self.method {
            Method::SemiImplicitEuler => self.semi_implicit(&q, &v, &tau)?,
            Method::RungeKutta4 => self.runge_kutta(CLASSICAL, &q, &v, &tau)?,
            Method::DormandPrince => self.runge_kutta(DORMAND_PRINCE, &q, &v, &tau)?,
            Method::ImplicitMidpoint => self.implicit_midpoint(&q, &v, &tau)?,
        };
        let mut out = tangent(&self.mechanism, &q);
        out.extend(v.iter().map(|x| x.derivative));
        Ok(out)
    }

    fn semi_implicit(&mut self, q: &[D], v: &[D], tau: &[D]) -> Result<(Vec<D>, Vec<D>)> {
        let vd = self.rates(q, v, tau)?;
        let v: Vec<D> = v.iter().zip(&vd).map(|(v, vd)| *v + self.h * *vd).collect();
        let u: Vec<D> = v.iter().map(|v| self.h * *v).collect();
        Ok((self.moved(q, &u)?, v))
    }

    /// In the coordinates u around the start of the step.
    fn runge_kutta(&mut self, (before, last): Tableau, q: &[D], v: &[D], tau: &[D]) -> Result<(Vec<D>, Vec<D>)> {
        let mut stages = vec![(v.to_vec(), self.rates(q, v, tau)?)];
        for weights in before {
            let (u, there) = self.mixed(v, &stages, weights);
            let mut ud = there.clone();
            self.chart_rate(&u, &mut ud)?;
            let at = self.moved(q, &u)?;
            let vd = self.rates(&at, &there, tau)?;
            stages.push((ud, vd));
        }
        let (u, v) = self.mixed(v, &stages, last);
        Ok((self.moved(q, &u)?, v))
    }

    /// u = h Σ w u̇ and v = v₀ + h Σ w v̇.
    fn mixed(&self, v: &[D], stages: &[(Vec<D>, Vec<D>)], weights: &[f64]) -> (Vec<D>, Vec<D>) {
        let (mut u, mut there) = (vec![Dual::constant(0.0); v.len()], v.to_vec());
        for ((ud, vd), weight) in stages.iter().zip(weights) {
            let weight = self.h * Dual::constant(*weight);
            for i in 0..v.len() {
                u[i] += weight * ud[i];
                there[i] += weight * vd[i];
            }
        }
        (u, there)
    }

    fn moved(&self, q: &[D], u: &[D]) -> Result<Vec<D>> {
        let mut out = q.to_vec();
        self.mechanism.integrate(q, u, &mut out)?;
        Ok(out)
    }

    fn chart_rate(&self, u: &[D], v: &mut [D]) -> Result<()> {
        for (j, joint) in self.mechanism.joints().iter().enumerate() {
            let range = self.mechanism.v_of(j);
            if !joint.kind.chart_rate(&u[range.clone()], &mut v[range]) {
                return Err(Error::Joint {
                    joint: joint.name.clone(),
                    problem: "turns almost a whole circle in one step; take a shorter step".into(),
                });
            }
        }
        Ok(())
    }

    /// q̈ under the motors' torques, what the joints do by themselves, and forces from outside.
    fn rates(&mut self, q: &[D], v: &[D], tau: &[D]) -> Result<Vec<D>> {
        let n = v.len();
        let value = |x: &[D]| x.iter().map(|x| x.value).collect::<Vec<_>>();
        let (q0, v0) = (value(q), value(v));
        let (mut torque, mut vd, mut rate) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        let (mut by_q, mut by_qd) = (vec![0.0; n * n], vec![0.0; n]);
        self.resistance.derivatives(&q0, &v0, &mut by_q, &mut by_qd)?;
        let mut posed = self.workspace.at(&q0)?;
        external_force::act(&self.point.forces, &mut posed)?;
        external_force::add_derivatives(&self.point.forces, &mut posed, &mut vec![0.0; 6 * n], &mut by_q)?;
        let mut change = tangent(&self.mechanism, q);
        change.extend(v.iter().map(|v| v.derivative));
        for i in 0..n {
            let aside = dot(&by_q[i * n..(i + 1) * n], &change[..n]) + by_qd[i] * v[i].derivative;
            change.push(tau[i].derivative + aside);
        }
        let mut moving = posed.moving(&v0)?;
        torque.iter_mut().zip(tau).for_each(|(torque, tau)| *torque = tau.value);
        self.resistance.add(&q0, &v0, &mut torque)?;
        let mut linearized = moving.linearized_under(&torque, &mut vd)?;
        linearized.acceleration_change(&change, &mut rate)?;
        Ok(vary(&vd, &rate))
    }
}

fn vary(x: &[f64], d: &[f64]) -> Vec<D> {
    x.iter().zip(d).map(|(x, d)| Dual::new(*x, *d)).collect()
}

/// The rate of a configuration that varies, in its tangent space.
fn tangent(mechanism: &Mechanism, q: &[D]) -> Vec<f64> {
    let mut out = Vec::with_capacity(mechanism.nv());
    for (j, joint) in mechanism.joints().iter().enumerate() {
        let q = &q[mechanism.q_of(j)];
        let three = |i: usize| {
            let value = Vec3::new(q[i].value, q[i + 1].value, q[i + 2].value);
            let rate = Vec3::new(q[i].derivative, q[i + 1].derivative, q[i + 2].derivative);
            (value, rate)
        };
        match joint.kind {
            JointKind::Spherical | JointKind::Free => {
                // 2 q* ⊗ q̇.
                let ((x, xd), w, wd) = (three(0), q[3].value, q[3].derivative);
                let turn = (xd * w - x * wd - x.cross(xd)) * 2.0;
                out.extend(turn.to_array());
                if joint.kind == JointKind::Free {
                    let rotation = Rotation::from_quaternion([x.x, x.y, x.z, w]);
                    out.extend(rotation.inverse_mul(three(4).1).to_array());
                }
            }
            JointKind::Planar => {
                let (s, c) = q[0].value.sin_cos();
                let (x, y) = (q[1].derivative, q[2].derivative);
                out.extend([q[0].derivative, c * x + s * y, c * y - s * x]);
            }
            _ => out.extend(q.iter().map(|x| x.derivative)),
        }
    }
    out
}
