//! Limits on the whole angle of ball joints: rows of moments between two links.
//!
//! With θ the angle of the joint's rotation and a its axis, the same in the frames of both links,
//!
//! ```text
//! θ̇ = a·ω        u = −a·ω ≥ −(limit − θ)/Δt        δa = S δφ,   S = ½ã + ½cot(θ/2)(I − aa*)
//! ```
//!
//! δφ being a turn of the outer link in its own axes. A row acts on the links as a contact without friction does, with a moment in the place
//! of a force.

use super::report::{JointImpulse, JointRow};
use super::rows::{Point, back};
use super::step::{State, Work};
use crate::model::{FrameId, JointId, Mechanism, turn_of};
use crate::spatial::Vec3;
use crate::workspace::{Augmented, Masses, Posed};
use crate::{Error, Result};

/// A ball joint whose angle is limited.
#[derive(Clone, Debug)]
pub(super) struct BallStop {
    joint: JointId,
    /// Of the outer link and the inner one.
    frames: [FrameId; 2],
    q: usize,
    v: usize,
    limit: f64,
}

/// One that is near its limit: the place of its row among the points, and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turned {
    pub(super) joint: JointId,
    pub(super) point: usize,
    pub(super) v: usize,
    angle: f64,
    axis: Vec3,
}

/// The ball joints with limits.
pub(super) fn ball_stops(m: &Mechanism) -> Vec<BallStop> {
    let mut stops = Vec::new();
    for (j, joint) in m.joints().iter().enumerate() {
        let Some(limit) = joint.turn_limit() else { continue };
        let frame = |name: &str| m.frame(name).unwrap_or(FrameId::WORLD);
        stops.push(BallStop {
            joint: m.joint_at(j),
            frames: [frame(&joint.child), frame(&joint.parent)],
            q: m.q_of(j).start,
            v: m.v_of(j).start,
            limit,
        });
    }
    stops
}

impl Work {
    /// The rows of ball joints that are near their limits, behind those of contacts.
    pub(super) fn find_turns(
        &mut self,
        given: &State<'_>,
        posed: &mut Posed<'_>,
        memory: &mut Augmented,
    ) -> Result<()> {
        self.turns.clear();
        if !self.settings.joint_limits {
            return Ok(());
        }
        let dt = self.settings.step;
        for stop in &self.ball_stops {
            let (angle, axis) = turn_of(&given.q[stop.q..stop.q + 4]);
            let v = stop.v;
            let rate = axis.dot(Vec3::new(given.v[v], given.v[v + 1], given.v[v + 2]));
            let gap = stop.limit - angle;
            if gap >= (2.0 * dt * rate.abs()).max(0.1) {
                continue;
            }
            let n = given.v.len();
            let (push, moved) = self.room.split_at_mut(n);
            push.fill(0.0);
            push[v..v + 3].copy_from_slice(&axis.to_array());
            posed.inverse_mass_times(push, &mut moved[..n])?;
            let w = axis.dot(Vec3::new(moved[v], moved[v + 1], moved[v + 2]));
            if !(w > 0.0 && w.is_finite()) {
                continue;
            }
            let along = posed.pose_of(stop.frames[0]).rotation * axis;
            let a = posed.augment(memory, Masses::Kept)?;
            let mut point = Point::empty();
            point.arms.ends = stop.frames.map(|frame| given.m.placed[frame.index()].body);
            for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
                let Some(k) = point.arms.ends[side] else { continue };
                let moment = back(&a.link(k).rotation, along) * sign;
                point.arms.b[side][0] = [moment.x, moment.y, moment.z, 0.0, 0.0, 0.0];
            }
            point.given.gap = gap;
            (point.w_n, point.w_t) = (w, w);
            point.set_compliance(&self.settings, self.settings.rho);
            self.turns.push(Turned {
                joint: stop.joint,
                point: self.sum.points.len(),
                v,
                angle,
                axis,
            });
            self.sum.points.push(point);
            self.coulomb.bounds.push(0.0);
        }
        Ok(())
    }

    /// What limits of ball joints did, per degree of freedom; their part of the function that is minimized.
    pub(super) fn tell_turns(&mut self) -> f64 {
        let mut energy = 0.0;
        for turned in &self.turns {
            let point = &self.sum.points[turned.point];
            energy += point.cone.energy(point.law, &point.cone.pull(&point.u, &point.v_hat));
            let impulse = turned.axis * -point.gamma[0];
            for (i, impulse) in impulse.to_array().into_iter().enumerate() {
                self.report.joints.push(JointImpulse {
                    joint: turned.joint,
                    row: JointRow::Limit,
                    dof: turned.v + i,
                    impulse,
                });
            }
        }
        energy
    }
}

/// δ(J*γ) = K δφ of a limit that bears something, at fixed v⁺.
#[derive(Clone, Copy, Debug)]
pub(super) struct TurnChange {
    v: usize,
    k: [[f64; 3]; 3],
}

impl TurnChange {
    /// At the end of a step of length `dt`; an error where the axis is not determined.
    pub(super) fn new(turned: &Turned, point: &Point, plus: &[f64], dt: f64) -> Result<Self> {
        let (a, gap, gamma) = (turned.axis, point.given.gap, point.gamma[0]);
        let half = 0.5 * turned.angle;
        let cotangent = 0.5 / half.tan();
        if !cotangent.is_finite() {
            return Err(Error::Unsolved {
                what: "derivatives of a step with contact",
                problem: "a ball joint stands at its limit without being turned, where no axis is determined; widen its limit".into(),
            });
        }
        let time = if gap < 0.0 { dt + dt.max(0.02) } else { dt };
        let v = Vec3::new(plus[turned.v], plus[turned.v + 1], plus[turned.v + 2]);
        let a_row = a.to_array();
        let mut k = [[0.0; 3]; 3];
        for c in 0..3 {
            let mut unit = [0.0; 3];
            unit[c] = 1.0;
            let unit = Vec3::from(unit);
            let bent = a.cross(unit) * 0.5 + (unit - a * a.dot(unit)) * cotangent;
            // δγ = (v⁺·δa + a·δφ/T)/R.
            let more = (v.dot(bent) + a.dot(unit) / time) / point.cone.r_n;
            let bent = bent.to_array();
            for r in 0..3 {
                k[r][c] = -a_row[r] * more - gamma * bent[r];
            }
        }
        Ok(Self { v: turned.v, k })
    }

    /// Adds K δφ, or its transpose.
    pub(super) fn add(&self, transposed: bool, x: &[f64], out: &mut [f64]) {
        for r in 0..3 {
            for c in 0..3 {
                let k = if transposed { self.k[c][r] } else { self.k[r][c] };
                out[self.v + r] += k * x[self.v + c];
            }
        }
    }
}
