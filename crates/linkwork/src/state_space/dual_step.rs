//! A step of an integrator over dual numbers.

use super::{Method, OperatingPoint, passive};
use crate::dense::dot;
use crate::model::{JointId, JointKind, Mechanism};
use crate::scalar::Dual;
use crate::spatial::{Rotation, Vec3};
use crate::{Error, Result, Workspace};

type D = Dual<f64>;

/// Steps from one point in many directions.
pub(super) struct Stepper<'m> {
    mechanism: &'m Mechanism,
    point: OperatingPoint,
    method: Method,
    h: D,
    workspace: Workspace<'m, D>,
    plain: Workspace<'m>,
}

impl<'m> Stepper<'m> {
    pub(super) fn new(mechanism: &'m Mechanism, point: &OperatingPoint, method: Method, h: f64) -> Result<Self> {
        mechanism.check_configuration("q", &point.q)?;
        mechanism.check_vector("qd", &point.qd)?;
        mechanism.check_vector("tau", &point.tau)?;
        Ok(Self {
            mechanism,
            point: point.clone(),
            method,
            h: Dual::constant(h),
            workspace: mechanism.workspace_of(),
            plain: mechanism.workspace(),
        })
    }

    /// How the end of the step answers a change (δq, δq̇, δT) of its start: (δq⁺, δq̇⁺).
    pub(super) fn step(&mut self, change: &[f64]) -> Result<Vec<f64>> {
        let n = self.mechanism.nv();
        let (dq, rest) = change.split_at(n);
        let (dqd, dtau) = rest.split_at(n);
        let still: Vec<D> = self.point.q.iter().map(|x| Dual::constant(*x)).collect();
        let q = self.moved(&still, &vary(&vec![0.0; n], dq))?;
        let (v, tau) = (vary(&self.point.qd, dqd), vary(&self.point.tau, dtau));
        let (q, v) = match self.method {
            Method::SemiImplicitEuler => self.semi_implicit(&q, &v, &tau)?,
            Method::RungeKutta4 => self.runge_kutta(&q, &v, &tau)?,
        };
        let mut out = tangent(self.mechanism, &q);
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
    fn runge_kutta(&mut self, q: &[D], v: &[D], tau: &[D]) -> Result<(Vec<D>, Vec<D>)> {
        let mut stage = vec![(v.to_vec(), self.rates(q, v, tau)?)];
        for part in [0.5, 0.5, 1.0] {
            let last = stage.len() - 1;
            let (u, there) = self.mixed(v, &stage, &[(last, part)]);
            let mut ud = there.clone();
            self.chart_rate(&u, &mut ud)?;
            let at = self.moved(q, &u)?;
            stage.push((ud, self.rates(&at, &there, tau)?));
        }
        let weights = [(0, 1.0 / 6.0), (1, 1.0 / 3.0), (2, 1.0 / 3.0), (3, 1.0 / 6.0)];
        let (u, v) = self.mixed(v, &stage, &weights);
        Ok((self.moved(q, &u)?, v))
    }

    /// u = h Σ w u̇ and v = v₀ + h Σ w v̇.
    fn mixed(&self, v: &[D], stages: &[(Vec<D>, Vec<D>)], weights: &[(usize, f64)]) -> (Vec<D>, Vec<D>) {
        let (mut u, mut there) = (vec![Dual::constant(0.0); v.len()], v.to_vec());
        for &(stage, weight) in weights {
            let weight = self.h * Dual::constant(weight);
            for i in 0..v.len() {
                u[i] += weight * stages[stage].0[i];
                there[i] += weight * stages[stage].1[i];
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
            let range = self.mechanism.v_range(JointId(j));
            if !joint.kind.chart_rate(&u[range.clone()], &mut v[range]) {
                return Err(Error::Joint {
                    joint: joint.name.clone(),
                    problem: "turns almost a whole circle in one step; take a shorter step".into(),
                });
            }
        }
        Ok(())
    }

    /// q̈ under the motors' torques and what the joints do by themselves.
    fn rates(&mut self, q: &[D], v: &[D], tau: &[D]) -> Result<Vec<D>> {
        let n = v.len();
        let value = |x: &[D]| x.iter().map(|x| x.value).collect::<Vec<_>>();
        let (q0, v0) = (value(q), value(v));
        let mut torque = vec![0.0; n];
        self.plain.at(&q0)?.moving(&v0)?.passive_torque(&mut torque)?;
        let (by_q, by_qd) = passive::derivatives(self.mechanism, &q0, &v0)?;
        let dq = tangent(self.mechanism, q);
        let total = |i: usize| {
            let rate = dot(&by_q[i * n..(i + 1) * n], &dq) + by_qd[i] * v[i].derivative;
            tau[i] + Dual::new(torque[i], rate)
        };
        let total: Vec<D> = (0..n).map(total).collect();
        let mut vd = total.clone();
        self.workspace.at(q)?.moving(v)?.forward_dynamics(&total, &mut vd)?;
        Ok(vd)
    }
}

fn vary(x: &[f64], d: &[f64]) -> Vec<D> {
    x.iter().zip(d).map(|(x, d)| Dual::new(*x, *d)).collect()
}

/// The rate of a configuration that varies, in its tangent space.
fn tangent(mechanism: &Mechanism, q: &[D]) -> Vec<f64> {
    let mut out = Vec::with_capacity(mechanism.nv());
    for (j, joint) in mechanism.joints().iter().enumerate() {
        let q = &q[mechanism.q_range(JointId(j))];
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
