//! How a contact changes as its two bodies move: point, normal, gap, and with them its impulse.

use super::cone::{ROWS, Region, Rows};
use super::rows::{Along, Point};
use crate::spatial::{Force, Motion, Pose, Vec3};

/// What touches, as far as derivatives need it: how point, normal and gap move with the bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Meeting {
    /// A ball about a place of a, or a corner if the radius is zero, on a plane that is fixed to b.
    BallOnFace {
        /// Of the ball.
        radius: f64,
        /// Whether the contact's point is halfway through the gap; else it is on the ball.
        halfway: bool,
    },
    /// The same the other way round: the plane is fixed to a, the ball to b.
    FaceOnBall {
        /// Of the ball.
        radius: f64,
        /// See above.
        halfway: bool,
    },
    /// Two balls; the point is halfway through the gap.
    Balls {
        /// Of a and b.
        radii: [f64; 2],
    },
}

/// What changes at one end: the displacement of its link, and its velocity at fixed joint rates, both in the link's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndChange {
    pub(super) moved: Motion,
    pub(super) velocity: Motion,
}

impl EndChange {
    pub(super) const ZERO: Self = Self {
        moved: Motion::ZERO,
        velocity: Motion::ZERO,
    };
}

/// One end at the point of linearization, in the world's axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pose: Pose,
    arm: Vec3,
    spin: Vec3,
    speed: Vec3,
}

/// A contact at the point of linearization.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touching {
    pub(super) point: Point,
    pub(super) meeting: Meeting,
    pub(super) ends: [Option<End>; 2],
    /// ∂γ/∂(−u), without what couples sliding to the normal; that coupling, where Coulomb's law slides; ∂γ/∂μ.
    pub(super) g: [Rows; ROWS],
    pub(super) coupling: Rows,
    pub(super) by_friction: Rows,
    /// −∂v̂_n/∂gap, and what is held tangentially times R_t.
    pub(super) opening: f64,
    pub(super) held: Vec3,
    /// Force and moment on a, relative velocity and spin.
    force: Vec3,
    moment: Vec3,
    slip: Vec3,
    spin: Vec3,
}

crate::functions! {
    /// Adds how the wrenches of all contacts change to the forces on links: displacements and velocities of links, and changes of
    /// impulses, if there are some.
    pub(super) fn ChangeAll(
        (touching, (moved, velocity), extra, forces): (&[Touching], (&[Motion], &[Motion]), &[Rows], &mut [Force])
    ) -> () {
        for (i, one) in touching.iter().enumerate() {
            let (mut ends, mut any) = ([EndChange::ZERO; 2], !extra.is_empty());
            for side in 0..2 {
                let Some(k) = one.point.arms.ends[side] else { continue };
                ends[side] = EndChange { moved: moved[k], velocity: velocity[k] };
                any |= moved[k] != Motion::ZERO || velocity[k] != Motion::ZERO;
            }
            if !any {
                continue;
            }
            let changed = one.change(&ends, extra.get(i).unwrap_or(&[0.0; ROWS]));
            for side in 0..2 {
                if let Some(k) = one.point.arms.ends[side] {
                    forces[k] += changed[side];
                }
            }
        }
    }
}

impl Touching {
    pub(super) fn new(point: Point, meeting: Meeting, link: impl Fn(usize) -> Pose, velocities: &[Motion]) -> Self {
        let ends = point.arms.ends.map(|end| {
            end.map(|k| {
                let pose = link(k);
                End {
                    pose,
                    arm: point.given.point - pose.translation,
                    spin: pose.rotation * velocities[k].angular,
                    speed: pose.rotation * velocities[k].linear,
                }
            })
        });
        let mut touching = Self {
            point,
            meeting,
            ends,
            g: [[0.0; ROWS]; ROWS],
            coupling: [0.0; ROWS],
            by_friction: [0.0; ROWS],
            opening: 0.0,
            held: Vec3::ZERO,
            force: Vec3::ZERO,
            moment: Vec3::ZERO,
            slip: Vec3::ZERO,
            spin: Vec3::ZERO,
        };
        [touching.force, touching.moment] = touching.along(&point.gamma);
        for (end, sign) in ends.iter().zip([1.0, -1.0]) {
            if let Some(end) = end {
                touching.slip += (end.speed + end.spin.cross(end.arm)) * sign;
                touching.spin += end.spin * sign;
            }
        }
        touching
    }

    /// The laws of a contact at v⁺: G, what Coulomb's law adds to it, and ∂γ/∂μ.
    pub(super) fn set_laws(&mut self, coulomb: bool, dt: f64) {
        let point = &self.point;
        let (cone, given) = (&point.cone, &point.given);
        let y = cone.pull(&point.u, &point.v_hat);
        let slide = y[1..cone.rows].iter().map(|x| x * x).sum::<f64>().sqrt();
        let weight = point.weight();
        self.g = weight.matrix(cone.rows);
        let slides = point.region == Region::Sliding && slide > 0.0;
        let t: Rows = core::array::from_fn(|i| if i > 0 && slides { y[i] / slide } else { 0.0 });
        if slides && coulomb {
            self.coupling = t.map(|t| cone.mu / cone.r_n * t);
            self.by_friction = t.map(|t| point.gamma[0] * t);
        } else if slides {
            let ratio = cone.r_t / cone.r_n;
            let c = 1.0 + cone.mu * cone.mu * ratio;
            let normal = ratio * slide / c - 2.0 * cone.mu * ratio * point.gamma[0] / c;
            self.by_friction = t.map(|t| (point.gamma[0] + cone.mu * normal) * t);
            self.by_friction[0] = normal;
        }
        let tau = given.surface.relaxation.unwrap_or_else(|| dt.max(0.02));
        self.opening = if given.gap < 0.0 { 1.0 / (dt + tau) } else { 1.0 / dt };
        // v̂_t is R_t times what is held.
        let mut held = [0.0; ROWS];
        held[1..cone.rows].copy_from_slice(&point.v_hat[1..cone.rows]);
        let n = given.normal;
        let [across, _] = point.strain_of(&held);
        self.held = across - n * n.dot(across);
        self.point.weight = weight;
    }

    /// Force and moment of an impulse given by rows.
    #[inline(always)]
    fn along(&self, gamma: &Rows) -> [Vec3; 2] {
        let (mut force, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        let (n, [t0, t1], surface) = (self.point.given.normal, self.point.tangents, &self.point.given.surface);
        let t = [t0, t1];
        for i in 0..self.point.cone.rows {
            match self.point.along[i] {
                Along::Normal => force += n * gamma[i],
                Along::Sliding(j) => force += t[j] * gamma[i],
                Along::Torsion => moment += n * (surface.torsion * gamma[i]),
                Along::Rolling(j) => moment += t[j] * (surface.rolling * gamma[i]),
            }
        }
        [force, moment]
    }

    /// The rows' components of a velocity and a spin.
    #[inline(always)]
    fn components(&self, slip: Vec3, spin: Vec3) -> Rows {
        let (n, t, surface) = (self.point.given.normal, self.point.tangents, &self.point.given.surface);
        let mut out = [0.0; ROWS];
        for i in 0..self.point.cone.rows {
            out[i] = match self.point.along[i] {
                Along::Normal => n.dot(slip),
                Along::Sliding(j) => t[j].dot(slip),
                Along::Torsion => surface.torsion * n.dot(spin),
                Along::Rolling(j) => surface.rolling * t[j].dot(spin),
            };
        }
        out
    }

    /// How the wrenches on the two links change, in their frames, if ends move and impulses change by `extra` besides.
    #[inline(always)]
    pub(super) fn change(&self, ends: &[EndChange; 2], extra: &Rows) -> [Force; 2] {
        let (x, n, gap) = (self.point.given.point, self.point.given.normal, self.point.given.gap);
        // Displacements of the links and of points on them, in the world.
        let mut turned = [Vec3::ZERO; 2];
        let mut shifted = [Vec3::ZERO; 2];
        for side in 0..2 {
            if let Some(end) = &self.ends[side] {
                turned[side] = end.pose.rotation * ends[side].moved.angular;
                shifted[side] = end.pose.rotation * ends[side].moved.linear;
            }
        }
        let of = |side: usize, place: Vec3| match &self.ends[side] {
            Some(end) => shifted[side] + turned[side].cross(place - end.pose.translation),
            None => Vec3::ZERO,
        };
        let share = |halfway: bool| if halfway { 0.5 } else { 0.0 };
        let (dx, dn, dg) = match self.meeting {
            Meeting::BallOnFace { radius, halfway } => {
                let beta = share(halfway);
                let out = radius + beta * gap;
                let centre = x + n * out;
                let (ds, dn) = (of(0, centre), turned[1].cross(n));
                let dg = n.dot(ds - of(1, centre));
                (ds - dn * out - n * (beta * dg), dn, dg)
            }
            Meeting::FaceOnBall { radius, halfway } => {
                let beta = share(halfway);
                let out = radius + beta * gap;
                let centre = x - n * out;
                let (ds, dn) = (of(1, centre), turned[0].cross(n));
                let dg = n.dot(of(0, centre) - ds);
                (ds + dn * out + n * (beta * dg), dn, dg)
            }
            Meeting::Balls { radii } => {
                let out = radii[1] + 0.5 * gap;
                let (one, two) = (x + n * (radii[0] + 0.5 * gap), x - n * out);
                let (da, db) = (of(0, one), of(1, two));
                let apart = da - db;
                let dg = n.dot(apart);
                let dn = (apart - n * dg) * (radii[0] + radii[1] + gap).recip();
                (db + dn * out + n * (0.5 * dg), dn, dg)
            }
        };
        // The relative velocity of the bodies at the point.
        let (mut slip, mut spin) = (Vec3::ZERO, Vec3::ZERO);
        for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
            let Some(end) = &self.ends[side] else { continue };
            let (theta, rotation) = (turned[side], end.pose.rotation);
            let d_spin = rotation * ends[side].velocity.angular + theta.cross(end.spin);
            let d_speed = rotation * ends[side].velocity.linear + theta.cross(end.speed);
            let d_arm = dx - shifted[side];
            slip += (d_speed + d_spin.cross(end.arm) + end.spin.cross(d_arm)) * sign;
            spin += d_spin * sign;
        }
        // The contact's axes turn by n × δn.
        let turn = n.cross(dn);
        let mut du = self.components(slip - turn.cross(self.slip), spin - turn.cross(self.spin));
        du[0] += self.opening * dg;
        // What is held is fixed in the world while the axes turn.
        let kept = self.components(turn.cross(self.held), Vec3::ZERO);
        for i in 1..self.point.cone.rows {
            if let Along::Sliding(_) = self.point.along[i] {
                du[i] += kept[i];
            }
        }
        let mut gamma = *extra;
        for i in 0..self.point.cone.rows {
            for j in 0..self.point.cone.rows {
                gamma[i] -= self.g[i][j] * du[j];
            }
            gamma[i] -= self.coupling[i] * du[0];
        }
        let [mut df, mut dm] = self.along(&gamma);
        df += turn.cross(self.force);
        dm += turn.cross(self.moment);
        let mut out = [Force::ZERO; 2];
        for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
            let Some(end) = &self.ends[side] else { continue };
            let (theta, back) = (turned[side], &end.pose.rotation);
            let whole = self.moment + end.arm.cross(self.force);
            let d_whole = dm + (dx - shifted[side]).cross(self.force) + end.arm.cross(df);
            out[side] = Force {
                moment: back.inverse_mul(d_whole - theta.cross(whole)) * sign,
                force: back.inverse_mul(df - theta.cross(self.force)) * sign,
            };
        }
        out
    }

    /// The transpose of [`Touching::change`] without `extra`: from motions of the two links to what pushes against their
    /// displacements and velocities.
    pub(super) fn adjoint(&self, motions: &[Motion; 2]) -> [[Force; 2]; 2] {
        let (mut moved, mut velocity) = ([Force::ZERO; 2], [Force::ZERO; 2]);
        for side in 0..2 {
            if self.ends[side].is_none() {
                continue;
            }
            let (mut by_moved, mut by_velocity) = ([0.0; 6], [0.0; 6]);
            for i in 0..6 {
                let mut unit = [0.0; 6];
                unit[i] = 1.0;
                let unit = Motion::from_array(unit);
                let mut ends = [EndChange::ZERO; 2];
                ends[side].moved = unit;
                let power = |out: [Force; 2]| motions[0].dot(out[0]) + motions[1].dot(out[1]);
                by_moved[i] = power(self.change(&ends, &[0.0; ROWS]));
                ends[side] = EndChange {
                    moved: Motion::ZERO,
                    velocity: unit,
                };
                by_velocity[i] = power(self.change(&ends, &[0.0; ROWS]));
            }
            moved[side] = Force::from_array(by_moved);
            velocity[side] = Force::from_array(by_velocity);
        }
        [moved, velocity]
    }

    /// What the present impulse does to the links, and what an impulse in rows does.
    pub(super) fn push(&self, gamma: &Rows, forces: &mut [Force]) {
        self.point.push(gamma, forces);
    }
}
