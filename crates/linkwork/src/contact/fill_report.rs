//! What is kept of a step, and what is told.

use super::Contact;
use super::cone::{ROWS, Region};
use super::coulomb::Passes;
use super::report::{Impulse, JointImpulse, JointRow, LoopEnd, LoopImpulse, Residuals};
use super::rows::{Along, Hold, Point};
use super::step::{Held, Work};
use crate::spatial::Vec3;

impl Work {
    /// What is remembered, sorted by id.
    pub(super) fn keep(&mut self) {
        self.memory.clear();
        for &i in &self.order {
            let Some(point) = self.places.get(i).copied().flatten().map(|at| &self.sum.points[at]) else {
                continue;
            };
            if point.gamma[0] > 0.0 {
                self.memory.push(Held {
                    id: point.given.id,
                    strain: point.strain(),
                    normal: point.gamma[0],
                    region: point.region,
                });
            }
        }
    }

    /// Fills the report.
    pub(super) fn tell(&mut self, passes: Passes, guarded: usize, pulled: f64, contacts: &[Contact]) {
        let (report, newton) = (&mut self.report, &self.newton);
        report.settled = passes.settled;
        report.iterations = newton.iterations;
        report.evaluations = newton.evaluations;
        report.passes = passes.count;
        report.guarded = guarded;
        report.residuals = Default::default();
        report.residuals.gradient = newton.left;
        report.residuals.coulomb = passes.change;
        report.velocity.copy_from_slice(&newton.v);
        report.free_velocity.clear();
        let mut objective = pulled;
        if self.knows_free {
            report.free_velocity.extend_from_slice(&newton.v_star);
        }
        report.contacts.clear();
        for (contact, place) in contacts.iter().zip(&self.places) {
            let zero = Vec3::ZERO;
            let mut told = Impulse {
                id: contact.id,
                a: contact.a,
                b: contact.b,
                point: contact.point,
                normal: contact.normal,
                gap: contact.gap,
                along: 0.0,
                across: zero,
                moment: zero,
                velocity: zero,
                region: Region::Apart,
                friction: contact.surface.friction,
                compliance: [0.0; 2],
                yields: [0.0; 2],
            };
            report.residuals.penetration = report.residuals.penetration.max(-contact.gap);
            if let Some(point) = place.map(|at| &self.sum.points[at]) {
                point.tell(&mut told);
                point.judge(&mut report.residuals);
                if self.knows_free {
                    objective += point.cone.energy(point.law, &point.cone.pull(&point.u, &point.v_hat));
                }
            }
            report.contacts.push(told);
        }
        report.joints.clear();
        for line in &self.sum.lines {
            objective += line.energy(newton.v[line.v]);
            report.joints.push(JointImpulse {
                joint: line.joint,
                row: match line.hold {
                    Hold::Limit(_) => JointRow::Limit,
                    Hold::Friction(_) => JointRow::Friction,
                },
                dof: line.v,
                impulse: line.slope * line.gamma,
            });
        }
        objective += self.tell_turns();
        let report = &mut self.report;
        report.loops.clear();
        for tie in &self.sum.loops {
            objective += tie.energy();
            report.residuals.closure = report.residuals.closure.max(tie.gap);
            let mut impulses = [0.0; ROWS];
            for (i, &row) in tie.rows[..tie.count].iter().enumerate() {
                impulses[row] = tie.gamma[i];
            }
            report.loops.push(LoopImpulse {
                constraint: tie.constraint,
                gap: tie.gap,
                impulses,
                ends: [0, 1].map(|side| LoopEnd {
                    frame: tie.frames[side],
                    point: tie.points[side],
                    impulse: tie.on(side),
                }),
            });
        }
        report.objective = self.knows_free.then_some(objective);
    }
}

impl Point {
    fn tell(&self, told: &mut Impulse) {
        let strain = self.strain();
        told.along = self.gamma[0];
        [told.across, told.moment] = strain;
        // Rolling and torsion are impulses of arms.
        let surface = &self.given.surface;
        let (n, moment) = (self.given.normal, strain[1]);
        let spin = n * moment.dot(n);
        told.moment = spin * surface.torsion + (moment - spin) * surface.rolling;
        told.velocity = n * self.u[0];
        for i in 1..self.cone.rows {
            if let Along::Sliding(j) = self.along[i] {
                told.velocity += self.tangents[j] * self.u[i];
            }
        }
        told.region = self.region;
        told.compliance = [self.cone.r_n, self.cone.r_t];
        told.yields = [self.w_n, self.w_t];
    }

    fn judge(&self, worst: &mut Residuals) {
        let (u, gamma, cone) = (&self.u, &self.gamma, &self.cone);
        let rest = u[0] + cone.r_n * gamma[0] - self.v_hat[0];
        let normal = if gamma[0] > 0.0 { rest.abs() } else { (-rest).max(0.0) };
        let length = |x: &[f64; ROWS]| x[1..cone.rows].iter().map(|x| x * x).sum::<f64>().sqrt();
        let (held, bound) = (length(gamma), cone.mu * gamma[0]);
        worst.normal = worst.normal.max(normal);
        worst.excess = worst.excess.max(held - bound);
        if self.region == Region::Sliding {
            worst.deficit = worst.deficit.max(bound - held);
            // The velocity against which friction works, compliance and memory taken away.
            let mut slip = [0.0; ROWS];
            for i in 1..cone.rows {
                slip[i] = u[i] + cone.r_t * gamma[i] - self.v_hat[i];
            }
            let work: f64 = (1..cone.rows).map(|i| gamma[i] * slip[i]).sum();
            worst.dissipation = worst.dissipation.max((work + bound * length(&slip)).abs());
        }
    }
}
