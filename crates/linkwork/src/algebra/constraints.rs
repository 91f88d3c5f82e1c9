//! The constraints of a closed mechanism as operators: Bc puts their forces on links, Bc* gives their rates.

use super::node::TieRate;
use super::run::Memory;
use crate::closed::{ClosedMechanism, Row, Tie};
use crate::model::FrameId;
use crate::scalar::{Dual, Scalar};
use crate::spatial::{Force, Motion, Pose, Rotation, Vec3};
use crate::stage::Stages;
use core::ops::Range;
use std::sync::Arc;

/// A frame of a constraint: its link, and where it is, in the world's axes, seen from that link and from the world.
type End<S> = (Option<usize>, Pose<S>, Pose<S>);

/// The rows of all constraints at a configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ties<S> {
    ties: Arc<[Tie]>,
    rows: Vec<Row<S>>,
    /// Per constraint and side.
    ends: Vec<[End<S>; 2]>,
}

impl<S: Scalar> Ties<S> {
    pub(crate) fn new(closed: Option<&ClosedMechanism>) -> Self {
        let ties: Arc<[Tie]> = closed.map_or_else(|| Arc::from([]), |c| c.active_ties().into());
        let rows = ties.last().map_or(0, |tie| tie.rows.end);
        Self {
            rows: vec![Row::default(); rows],
            ends: vec![[(None, Pose::IDENTITY, Pose::IDENTITY); 2]; ties.len()],
            ties,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes in where the links are.
    pub(crate) fn place(&mut self, mechanism: &crate::Mechanism, stages: &Stages<S>) {
        for (tie, ends) in self.ties.iter().zip(&mut self.ends) {
            for (end, frame) in ends.iter_mut().zip(tie.frames) {
                let frame = &mechanism.placed[frame.index()];
                let local = frame.pose.lift();
                *end = match frame.body {
                    None => (None, local, local),
                    Some(k) => {
                        let (link, home) = (stages.world.poses[k], stages.world.homes[k]);
                        let at = link * local;
                        let aligned = link.inverse() * Pose::new(Rotation::IDENTITY, at.translation);
                        (Some(k), aligned, Pose::new(at.rotation, at.translation + home))
                    }
                };
            }
            let [a, b] = ends;
            for (row, equation) in self.rows[tie.rows.clone()].iter_mut().zip(&tie.equations) {
                *row = equation.row(&a.2, &b.2);
            }
        }
    }

    /// The weights that rows with these weights put on links and between them.
    pub(crate) fn each_end(&self, mut see: impl FnMut(usize, [Option<(usize, Force<S>)>; 2])) {
        for (tie, ends) in self.ties.iter().zip(&self.ends) {
            for row in tie.rows.clone() {
                let at = |side: usize| {
                    let (k, seat, _) = ends[side];
                    k.map(|k| (k, seat.force_in(self.rows[row].on(side))))
                };
                see(row, [at(0), at(1)]);
            }
        }
    }

    /// Where the frames of all constraints sit, two for each.
    pub(super) fn seats(&self, to: &mut Vec<(Option<usize>, Pose<S>)>) {
        to.clear();
        to.extend(self.ends.iter().flatten().map(|&(k, seat, _)| (k, seat)));
    }

    /// For each frame of each constraint that moves: the frame, its link, its rows, and their forces about the frame's origin
    /// in the world's axes, six numbers each.
    pub(super) fn each_frame(&self, mut see: impl FnMut(FrameId, usize, Range<usize>, &[S])) {
        let mut forces = [S::ZERO; 36];
        for (tie, ends) in self.ties.iter().zip(&self.ends) {
            for (side, &(k, ..)) in ends.iter().enumerate() {
                let Some(k) = k else { continue };
                let rows = &self.rows[tie.rows.clone()];
                for (row, six) in rows.iter().zip(forces.chunks_exact_mut(6)) {
                    six.copy_from_slice(&row.on(side).to_array());
                }
                see(tie.frames[side], k, tie.rows.clone(), &forces[..6 * rows.len()]);
            }
        }
    }

    /// A multiple of what is known between all frames, between the rows.
    pub(super) fn contract(&self, of_frames: &[S], scale: S, out: &mut [S]) {
        let (rows, width) = (self.count(), 12 * self.ties.len());
        for (t, tie) in self.ties.iter().enumerate() {
            for r in tie.rows.clone() {
                for (u, other) in self.ties.iter().enumerate() {
                    // What the other's frames feel of this row.
                    let mut felt = [Force::ZERO; 2];
                    for (b, felt) in felt.iter_mut().enumerate() {
                        let mut sum = [S::ZERO; 6];
                        for a in 0..2 {
                            let f = self.rows[r].on(a).to_array();
                            for (i, f) in f.into_iter().enumerate() {
                                let row = &of_frames[(12 * t + 6 * a + i) * width + 12 * u + 6 * b..][..6];
                                for j in 0..6 {
                                    sum[j] += f * row[j];
                                }
                            }
                        }
                        *felt = Force::from_array(sum);
                    }
                    for s in other.rows.clone() {
                        let mut sum = S::ZERO;
                        for (b, felt) in felt.iter().enumerate() {
                            let (g, felt) = (self.rows[s].on(b).to_array(), felt.to_array());
                            for j in 0..6 {
                                sum += g[j] * felt[j];
                            }
                        }
                        out[r * rows + s] = scale * sum;
                    }
                }
            }
        }
    }

    /// Bc λ.
    #[inline(always)]
    pub(super) fn spread(&self, memory: &mut Memory<S>, from: usize, to: usize) {
        let rows = self.count();
        for (tie, ends) in self.ties.iter().zip(&self.ends) {
            for (side, &(k, seat, _)) in ends.iter().enumerate() {
                let Some(k) = k else { continue };
                let mut f = Force::ZERO;
                for row in tie.rows.clone() {
                    f = self.rows[row].on(side).mul_add(memory.constraint[from * rows + row], f);
                }
                let sum = memory.force(k, to) + seat.force_in(f);
                memory.set_force(k, to, sum);
            }
        }
    }

    /// Bc*V.
    #[inline(always)]
    pub(super) fn pick(&self, memory: &mut Memory<S>, from: usize, to: usize) {
        let rows = self.count();
        for (tie, ends) in self.ties.iter().zip(&self.ends) {
            let [a, b] = [motion(memory, ends[0], from), motion(memory, ends[1], from)];
            for row in tie.rows.clone() {
                memory.constraint[to * rows + row] = self.rows[row].of(a, b);
            }
        }
    }

    /// Of the form Y*Ḃc[X]λ, what multiplies Y, λ or X, from the two others.
    ///
    /// A row's force turns with the link that it is seen from: as the frames move by u it changes by ḟ − ω × f.
    pub(super) fn change(&self, memory: &mut Memory<S>, of: TieRate, (first, second): (usize, usize), to: usize) {
        let (rows, links) = (self.count(), memory.room.link);
        if of != TieRate::Rates {
            memory
                .link
                .iter_mut()
                .skip(to)
                .step_by(links)
                .for_each(|x| *x = [S::ZERO; 6]);
        }
        for (tie, ends) in self.ties.iter().zip(&self.ends) {
            let own = tie.rows.clone();
            match of {
                TieRate::Forces => {
                    let moves = ends.map(|end| motion(memory, end, second));
                    for (side, &(k, seat, _)) in ends.iter().enumerate() {
                        let Some(k) = k else { continue };
                        let mut f = Force::ZERO;
                        for (i, row) in own.clone().enumerate() {
                            let changed = self.changed(tie, ends, moves, i, side);
                            f = changed.mul_add(memory.constraint[first * rows + row], f);
                        }
                        let sum = memory.force(k, to) + seat.force_in(f);
                        memory.set_force(k, to, sum);
                    }
                }
                TieRate::Rates => {
                    let moves = ends.map(|end| motion(memory, end, first));
                    let seen = ends.map(|end| motion(memory, end, second));
                    for (i, row) in own.enumerate() {
                        let each = [0, 1].map(|side| seen[side].dot(self.changed(tie, ends, moves, i, side)));
                        memory.constraint[to * rows + row] = each[0] + each[1];
                    }
                }
                TieRate::Gradient => {
                    let seen = ends.map(|end| motion(memory, end, second));
                    for (moved, &(k, seat, _)) in ends.iter().enumerate() {
                        let Some(k) = k else { continue };
                        let mut gradient = [S::ZERO; 6];
                        for (j, gradient) in gradient.iter_mut().enumerate() {
                            let mut moves = [Motion::ZERO; 2];
                            moves[moved] = Motion::from_array(core::array::from_fn(|i| S::lift(f64::from(i == j))));
                            for (i, row) in own.clone().enumerate() {
                                let lambda = memory.constraint[first * rows + row];
                                for (side, seen) in seen.iter().enumerate() {
                                    *gradient += lambda * seen.dot(self.changed(tie, ends, moves, i, side));
                                }
                            }
                        }
                        let sum = memory.force(k, to) + seat.force_in(Force::from_array(gradient));
                        memory.set_force(k, to, sum);
                    }
                }
            }
        }
    }

    /// How one row's force on one frame changes as both frames move, seen from the link that carries it.
    fn changed(&self, tie: &Tie, ends: &[End<S>; 2], moves: [Motion<S>; 2], row: usize, side: usize) -> Force<S> {
        let [a, b] = [0, 1].map(|i| moving(&ends[i].2, moves[i]));
        let f = tie.equations[row].row(&a, &b).on(side);
        let rate = |x: Vec3<Dual<S>>| Vec3::from(x.to_array().map(|x| x.derivative));
        let value = |x: Vec3<Dual<S>>| Vec3::from(x.to_array().map(|x| x.value));
        let turn = moves[side].angular;
        let each = |x: Vec3<Dual<S>>| rate(x) - turn.cross(value(x));
        let [angular, linear] = halves(f).map(each);
        Force::new(angular, linear)
    }

    /// What the rows accelerate by, from velocities of links and their accelerations at q̈ = 0.
    #[inline(always)]
    pub(super) fn bias(&mut self, memory: &mut Memory<S>, (velocity, acceleration): (usize, usize), to: usize) {
        let rows = self.count();
        for (tie, ends) in self.ties.iter().zip(&self.ends) {
            let velocities = [motion(memory, ends[0], velocity), motion(memory, ends[1], velocity)];
            let mut accelerations = [
                motion(memory, ends[0], acceleration),
                motion(memory, ends[1], acceleration),
            ];
            for (a, v) in accelerations.iter_mut().zip(velocities) {
                // Of the point, not of the field.
                a.linear += v.angular.cross(v.linear);
            }
            let own = &mut self.rows[tie.rows.clone()];
            let [va, vb] = velocities;
            for (row, equation) in own.iter_mut().zip(&tie.equations) {
                row.bias = equation.bias((&ends[0].2, va), (&ends[1].2, vb));
            }
            for row in tie.rows.clone() {
                let Row { bias, .. } = self.rows[row];
                let [a, b] = accelerations;
                memory.constraint[to * rows + row] = self.rows[row].of(a, b) + bias;
            }
        }
    }
}

/// A force's moment, and the force.
fn halves<S: Scalar>(f: Force<S>) -> [Vec3<S>; 2] {
    let [a, b, c, d, e, g] = f.to_array();
    [[a, b, c].into(), [d, e, g].into()]
}

/// A pose that moves, in the world's axes.
fn moving<S: Scalar>(pose: &Pose<S>, by: Motion<S>) -> Pose<Dual<S>> {
    let dual = |x: Vec3<S>, rate: Vec3<S>| {
        let (x, rate) = (x.to_array(), rate.to_array());
        Vec3::from(core::array::from_fn(|i| Dual::new(x[i], rate[i])))
    };
    let axis = |x: Vec3<S>| dual(x, by.angular.cross(x));
    let Rotation { x, y, z } = pose.rotation;
    let rotation = Rotation {
        x: axis(x),
        y: axis(y),
        z: axis(z),
    };
    Pose::new(rotation, dual(pose.translation, by.linear))
}

/// What a frame does, in the world's axes.
#[inline(always)]
fn motion<S: Scalar>(memory: &Memory<S>, end: End<S>, slot: usize) -> Motion<S> {
    let (k, seat, _) = end;
    match k {
        Some(k) => seat.motion_out(memory.motion(k, slot)),
        None => Motion::ZERO,
    }
}
