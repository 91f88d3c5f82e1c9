//! Loops of closed mechanisms as rows of a step: equalities with a trace of compliance.
//!
//! A row asks for g = 0 at the end of the step: Jv⁺ = −g/Δt − ½Δt(J̇v + what a target that moves adds), the last for the way bends
//! within the step. What is left open is of third order in Δt, and the next step takes it back. Large gaps close within some
//! hundredths of a second, so that a loop that starts open is not torn together. Rows of velocities alone have no g.

use super::cone::{ROWS, Rows};
use super::operator::Weights;
use super::rows::{Arms, Term, back};
use super::step::{State, Work};
use crate::closed::{ClosedMechanism, Row};
use crate::model::FrameId;
use crate::spatial::{Force, Motion, Pose, Vec3};
use crate::workspace::{Augmented, Masses, Posed};
use crate::{Reference, Result};

/// R over what a row yields.
const TRACE: f64 = 1e-7;
/// Rows that yield less than this share of what their frames do cannot move.
const DEAD: f64 = 1e-12;
/// Gaps beyond this, in metres and radians, close in `SLOWLY` seconds and not in one step.
const WIDE: f64 = 1e-4;
const SLOWLY: f64 = 0.02;

/// A constraint as rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    /// Its place among the constraints.
    pub(super) constraint: usize,
    pub(super) arms: Arms,
    pub(super) frames: [FrameId; 2],
    /// Their origins in the world, and B there in its axes.
    pub(super) points: [Vec3; 2],
    forces: [[Force; ROWS]; 2],
    /// How many rows can move, and which of the constraint's they are.
    pub(super) count: usize,
    pub(super) rows: [usize; ROWS],
    /// The sign that impulses have; zero for any.
    pub(super) sign: f64,
    /// Zero for rows that do not act.
    pub(super) r: Rows,
    pub(super) v_hat: Rows,
    pub(super) u: Rows,
    pub(super) du: Rows,
    pub(super) gamma: Rows,
    pub(super) next: Rows,
    /// The largest gap before the step.
    pub(super) gap: f64,
}

impl Loop {
    /// γ and G of a row at a velocity.
    #[inline]
    pub(super) fn answer(&self, i: usize, u: f64) -> (f64, f64) {
        let y = -(u - self.v_hat[i]) / self.r[i];
        match self.sign * y < 0.0 {
            true => (0.0, 0.0),
            false => (y, 1.0 / self.r[i]),
        }
    }

    /// γ at a share of the step along dv, kept in `next`.
    pub(super) fn try_at(&mut self, t: f64) {
        for i in 0..self.count {
            (self.next[i], _) = self.answer(i, self.u[i] + t * self.du[i]);
        }
    }

    /// Adds BGB* to the links, and what joins them.
    pub(super) fn weigh(&self, operator: &mut impl Weights) {
        let b = &self.arms.b;
        let mut terms = [Term::NONE; ROWS];
        for i in 0..self.count {
            let (_, weight) = self.answer(i, self.u[i]);
            terms[i] = Term {
                weight,
                x: [b[0][i], b[1][i]],
            };
        }
        self.arms.weigh(&terms[..self.count], operator);
    }

    /// The impulse on one of its frames.
    pub(super) fn on(&self, side: usize) -> Force {
        let rows = self.forces[side][..self.count].iter().zip(&self.gamma);
        rows.fold(Force::ZERO, |sum, (force, gamma)| force.mul_add(*gamma, sum))
    }

    /// Its part of the function that is minimized.
    pub(super) fn energy(&self) -> f64 {
        let part = |i: usize| {
            let y = -(self.u[i] - self.v_hat[i]) / self.r[i];
            0.5 * self.r[i] * (y * y - (y - self.gamma[i]).powi(2))
        };
        (0..self.count).map(part).sum()
    }
}

/// What loops are at a state.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops {
    rows: Vec<Row>,
    gaps: Vec<f64>,
    both: Vec<f64>,
}

/// A force at a place, in a link's frame.
fn at_link(force: Force, place: Vec3, link: &Pose) -> [f64; 6] {
    let moment = force.moment + (place - link.translation).cross(force.force);
    let (m, f) = (back(&link.rotation, moment), back(&link.rotation, force.force));
    [m.x, m.y, m.z, f.x, f.y, f.z]
}

impl Work {
    /// The rows of the constraints that are on.
    pub(super) fn find_loops(
        &mut self,
        closed: &ClosedMechanism,
        given: &State<'_>,
        posed: &mut Posed<'_>,
        memory: &mut Augmented,
    ) -> Result<()> {
        let dt = self.settings.step;
        self.sum.loops.clear();
        let x = &mut self.room[..given.v.len()];
        x.fill(0.0);
        for root in &self.roots {
            root.turn(given.v, -1.0, x);
        }
        for (place, tie, setting) in closed.held() {
            let count = tie.rows.len();
            let known = &mut self.loops;
            known.rows.clear();
            known.rows.resize(count, Row::default());
            known.gaps.resize(count, 0.0);
            known.both.resize(144, 0.0);
            posed.operational_inertias_inverse(&tie.frames, Reference::Aligned, &mut known.both)?;
            let mut moving = posed.moving(given.v)?;
            let [pa, pb] = tie.frames.map(|frame| moving.pose_of(frame));
            let [va, vb] = tie.frames.map(|frame| moving.velocity_of(frame, Reference::Aligned));
            let [aa, ab] = tie.frames.map(|frame| moving.velocity_product(frame));
            tie.place(setting, &pa, &pb, &mut known.rows);
            tie.set_in_motion(setting, (&pa, va), (&pb, vb), &mut known.rows);
            let gap = tie.gaps(setting, &pa, &pb, &mut known.gaps);
            let mut a = posed.augment(memory, Masses::Kept)?;
            let (sign, ends) = (tie.side.sign(), tie.frames.map(|f| given.m.placed[f.index()].body));
            // What free roots are turned by while their velocity keeps its direction.
            a.move_links(x);
            let mut found = Loop {
                constraint: place,
                arms: Arms {
                    ends,
                    b: [[[0.0; 6]; ROWS]; 2],
                },
                frames: tie.frames,
                points: [pa.translation, pb.translation],
                forces: [[Force::ZERO; ROWS]; 2],
                count: 0,
                rows: [0; ROWS],
                sign,
                r: [0.0; ROWS],
                v_hat: [0.0; ROWS],
                u: [0.0; ROWS],
                du: [0.0; ROWS],
                gamma: [0.0; ROWS],
                next: [0.0; ROWS],
                gap,
            };
            for (r, (row, gap)) in known.rows.iter().zip(&known.gaps).enumerate() {
                let w = yielded(&known.both, row);
                if w <= DEAD * loosest(&known.both, row) || w <= 0.0 {
                    continue;
                }
                let i = found.count;
                found.count += 1;
                found.rows[i] = r;
                found.r[i] = TRACE * w;
                for (side, place) in [pa.translation, pb.translation].into_iter().enumerate() {
                    found.forces[side][i] = row.on(side);
                    if let Some(k) = ends[side] {
                        found.arms.b[side][i] = at_link(row.on(side), place, &a.link(k));
                    }
                }
                let [time, _] = closing_time(*gap, sign, dt);
                let bends = row.of(aa, ab) + row.bias + turned(&found.arms, i, &a.memory().lambda);
                found.v_hat[i] = -gap / time - row.drift - 0.5 * dt * bends;
            }
            if found.count > 0 {
                self.sum.loops.push(found);
            }
        }
        Ok(())
    }
}

/// In which time a gap closes, and how that changes with the gap. A one-sided row that is open may close by as much as there is.
pub(super) fn closing_time(gap: f64, sign: f64, dt: f64) -> [f64; 2] {
    match sign * gap > 0.0 {
        true => [dt, 0.0],
        false => {
            let size = gap.abs() + WIDE;
            let slope = SLOWLY * WIDE / (size * size);
            [dt + SLOWLY * gap.abs() / size, slope.copysign(gap)]
        }
    }
}

/// A row of motions of links.
fn turned(arms: &Arms, row: usize, motions: &[Motion]) -> f64 {
    let mut sum = 0.0;
    for (end, b) in arms.ends.iter().zip(&arms.b) {
        if let Some(k) = *end {
            sum += super::rows::dot(&b[row], &motions[k].to_array());
        }
    }
    sum
}

/// What a row yields, from J𝓜⁻¹J* of its two frames.
fn yielded(both: &[f64], row: &Row) -> f64 {
    let force: [f64; 12] = core::array::from_fn(|i| row.on(i / 6).to_array()[i % 6]);
    (0..12)
        .map(|i| force[i] * (0..12).map(|j| both[12 * i + j] * force[j]).sum::<f64>())
        .sum()
}

/// What its frames yield in their loosest directions to forces and moments as large.
fn loosest(both: &[f64], row: &Row) -> f64 {
    (0..2)
        .map(|side| {
            let trace = |at: usize| (0..3).map(|i| both[13 * (6 * side + at + i)]).sum::<f64>();
            let (m, f) = (row.on(side).moment, row.on(side).force);
            m.dot(m) * trace(0) + f.dot(f) * trace(3)
        })
        .sum()
}
