//! How a loop's impulses change: with where its two links are, with v⁺, and with the velocity and acceleration before the step.
//!
//! ```text
//! γ = −e/R      e = Jv⁺ − v̂ = F·V⁺ + g/τ + what its target moves + ½Δt(F·A + bias)
//! ```
//!
//! A are the accelerations of links at v if joints do not accelerate, but for free roots, whose velocity keeps its direction. All is a
//! function of what the two links do, in their own frames: 48 numbers. It is differentiated by dual numbers once, and then applied.

use super::cone::ROWS;
use super::free_roots::Root;
use super::loops::{Loop, closing_time};
use super::step::Work;
use crate::closed::{ClosedMechanism, Row, Setting, Tie};
use crate::dynamics::augmented::Flow;
use crate::scalar::{Dual, Scalar};
use crate::spatial::{Force, Motion, Pose, Rotation, Vec3};
use crate::workspace::AugmentedMass;

/// What a link does, in its own frame: how far it is displaced, V⁺, V and A.
pub(super) type Doing<S = f64> = [Motion<S>; 4];
/// Numbers of them.
const EACH: usize = 24;

/// A loop at the point of linearization: the wrenches on its links, in their frames, by what both links do.
#[derive(Clone, Debug)]
pub(super) struct Tied {
    pub(super) ends: [Option<usize>; 2],
    by: [[[[f64; 6]; EACH]; 2]; 2],
}

/// One end: its link's place in the world, and the frame's in it. What the world does is nothing.
#[derive(Clone, Copy)]
struct End {
    link: Pose,
    frame: Pose,
    doing: Doing,
}

type Number = Dual<f64>;

/// A number that varies, or not.
fn varied(value: f64, derivative: f64) -> Number {
    Number::new(value, derivative)
}

impl End {
    /// Link and motions, as one of the numbers changes.
    fn varied(&self, which: Option<usize>) -> (Pose<Number>, [Motion<Number>; 3]) {
        let mut change = [[0.0; 6]; 4];
        if let Some(i) = which {
            change[i / 6][i % 6] = 1.0;
        }
        let [moved, ..] = change.map(Motion::from_array);
        let r = &self.link.rotation;
        let vector = |value: Vec3, derivative: Vec3| {
            let (value, derivative) = (value.to_array(), derivative.to_array());
            Vec3::from(core::array::from_fn::<_, 3, _>(|i| varied(value[i], derivative[i])))
        };
        let turned = |column: Vec3, axis: [f64; 3]| vector(column, *r * moved.angular.cross(axis.into()));
        let rotation = Rotation {
            x: turned(r.x, [1.0, 0.0, 0.0]),
            y: turned(r.y, [0.0, 1.0, 0.0]),
            z: turned(r.z, [0.0, 0.0, 1.0]),
        };
        let place = vector(self.link.translation, *r * moved.linear);
        let motions = core::array::from_fn(|n| {
            let (value, change) = (self.doing[n + 1].to_array(), change[n + 1]);
            Motion::from_array(core::array::from_fn(|i| varied(value[i], change[i])))
        });
        (Pose::new(rotation, place), motions)
    }
}

/// The frame's motions at its origin in the world's axes: V⁺, V and V̇.
fn at_frame<S: Scalar>(link: &Pose<S>, [plus, v, a]: [Motion<S>; 3], r: Vec3<S>) -> [Motion<S>; 3] {
    let out = |m: Motion<S>| {
        Motion::new(
            link.rotation * m.angular,
            link.rotation * (m.linear + m.angular.cross(r)),
        )
    };
    let (v_out, mut a_out) = (out(v), out(a));
    // What turns in the world's axes.
    a_out.linear += v_out.angular.cross(v_out.linear);
    [out(plus), v_out, a_out]
}

/// A force at a place, in a link's frame.
fn at_link<S: Scalar>(force: Force<S>, place: Vec3<S>, link: &Pose<S>) -> Force<S> {
    let moment = force.moment + (place - link.translation).cross(force.force);
    Force::new(
        link.rotation.inverse_mul(moment),
        link.rotation.inverse_mul(force.force),
    )
}

impl Tied {
    /// `link` is a body's place in the world.
    pub(super) fn new(
        found: &Loop,
        (tie, setting): (&Tie, &Setting),
        link: impl Fn(usize) -> Pose,
        plus: &[Motion],
        flow: &Flow<f64>,
        frames: [Pose; 2],
        dt: f64,
    ) -> Self {
        let ends: [End; 2] = core::array::from_fn(|side| match found.arms.ends[side] {
            Some(k) => End {
                link: link(k),
                frame: link(k).inverse() * frames[side],
                doing: [Motion::ZERO, plus[k], flow.velocities[k], flow.accelerations[k]],
            },
            None => End {
                link: Pose::IDENTITY,
                frame: frames[side],
                doing: [Motion::ZERO; 4],
            },
        });
        let count = tie.rows.len();
        let mut plain = [Row::default(); ROWS];
        let mut gap_rows = plain;
        let mut gaps = [0.0; ROWS];
        tie.place(setting, &frames[0], &frames[1], &mut plain[..count]);
        tie.gap_changes(setting, &frames[0], &frames[1], &plain[..count], &mut gap_rows[..count]);
        tie.gaps(setting, &frames[0], &frames[1], &mut gaps[..count]);
        let mut tied = Self {
            ends: found.arms.ends,
            by: [[[[0.0; 6]; EACH]; 2]; 2],
        };
        for side in 0..2 {
            if found.arms.ends[side].is_none() {
                continue;
            }
            for which in 0..EACH {
                let mut rows = [Row::<Number>::default(); ROWS];
                let rows = &mut rows[..count];
                let [a, b] = core::array::from_fn(|i| ends[i].varied((i == side).then_some(which)));
                let [fa, fb] = [(a.0, ends[0].frame), (b.0, ends[1].frame)].map(|(link, frame)| link * frame.lift());
                let [ma, mb] = [(&a, ends[0].frame), (&b, ends[1].frame)]
                    .map(|(end, frame)| at_frame(&end.0, end.1, frame.translation.lift()));
                tie.place(setting, &fa, &fb, rows);
                tie.set_in_motion(setting, (&fa, ma[1]), (&fb, mb[1]), rows);
                let half = Number::constant(0.5 * dt);
                // The displacement of the frame's origin, of which the gap knows.
                let shift = [fa, fb].map(|f| f.translation).map(derivative);
                let turn = match which {
                    0..3 => {
                        ends[side].link.rotation
                            * Vec3::from(core::array::from_fn::<_, 3, _>(|i| f64::from(u8::from(i == which))))
                    }
                    _ => Vec3::ZERO,
                };
                for i in 0..found.count {
                    let (r, row) = (found.rows[i], &rows[found.rows[i]]);
                    let gap = Motion::new(turn, shift[side]).dot(gap_rows[r].on(side));
                    let e = row.rate(ma[0], mb[0]) + half * (row.of(ma[2], mb[2]) + row.bias);
                    let de = e.derivative + gap * opening(gaps[r], found.sign, dt);
                    let (_, weight) = found.answer(i, found.u[i]);
                    for (end, (link, frame)) in [(a.0, fa), (b.0, fb)].into_iter().enumerate() {
                        if found.arms.ends[end].is_none() {
                            continue;
                        }
                        let force = at_link(row.on(end), frame.translation, &link).to_array();
                        for c in 0..6 {
                            tied.by[side][end][which][c] +=
                                found.gamma[i] * force[c].derivative - weight * de * force[c].value;
                        }
                    }
                }
            }
        }
        tied
    }

    /// How the wrenches on the two links change.
    pub(super) fn change(&self, doing: &[Doing; 2]) -> [Force; 2] {
        let mut out = [[0.0; 6]; 2];
        for side in 0..2 {
            for which in 0..EACH {
                let x = doing[side][which / 6].to_array()[which % 6];
                for (out, by) in out.iter_mut().zip(&self.by[side]) {
                    for c in 0..6 {
                        out[c] += by[which][c] * x;
                    }
                }
            }
        }
        out.map(Force::from_array)
    }

    /// The transpose: what pushes against what each link does, from motions of both.
    pub(super) fn adjoint(&self, motions: &[Motion; 2]) -> [[Force; 4]; 2] {
        let motions = motions.map(Motion::to_array);
        core::array::from_fn(|side| {
            core::array::from_fn(|n| {
                Force::from_array(core::array::from_fn(|i| {
                    let power = |end: usize| {
                        let by = &self.by[side][end][6 * n + i];
                        (0..6).map(|c| by[c] * motions[end][c]).sum::<f64>()
                    };
                    power(0) + power(1)
                }))
            })
        })
    }
}

/// All loops of a step, and how links move before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ties {
    all: Vec<Tied>,
    flow: Flow<f64>,
    v: Vec<f64>,
}

impl Ties {
    /// The loops of a step that was made from v, links moving as `plus` says after it.
    pub(super) fn new(
        closed: &ClosedMechanism,
        work: &Work,
        v: &[f64],
        plus: &[Motion],
        a: &mut AugmentedMass<'_>,
    ) -> Self {
        let mut x = vec![0.0; v.len()];
        for root in &work.roots {
            root.turn(v, -1.0, &mut x);
        }
        let flow = a.follow(v, &x);
        let mut all = Vec::with_capacity(work.sum.loops.len());
        let mut held = closed.held();
        for found in &work.sum.loops {
            let Some((_, tie, setting)) = held.find(|(place, ..)| *place == found.constraint) else {
                continue;
            };
            let frames = tie.frames.map(|frame| a.frame(frame));
            let link = |k: usize| a.link(k);
            all.push(Tied::new(
                found,
                (tie, setting),
                link,
                plus,
                &flow,
                frames,
                work.settings.step,
            ));
        }
        Self {
            all,
            flow,
            v: v.to_vec(),
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds how impulses change with q and v to the forces on links, displacements and δV⁺ of links being known, the latter in λ.
    pub(super) fn change(&self, roots: &[Root], [dq, dv]: [&[f64]; 2], moved: &[Motion], a: &mut AugmentedMass<'_>) {
        let mut dx = vec![0.0; dv.len()];
        for root in roots {
            root.turn_change(&self.v, dv, &mut dx);
        }
        dx.iter_mut().for_each(|x| *x = -*x);
        let mut flows = vec![[Motion::ZERO; 2]; moved.len()];
        a.follow_change(&self.flow, [dq, dv, &dx], &mut flows);
        let memory = a.memory();
        for tied in &self.all {
            let doing = tied.ends.map(|end| match end {
                Some(k) => [moved[k], memory.lambda[k], flows[k][0], flows[k][1]],
                None => [Motion::ZERO; 4],
            });
            for (end, changed) in tied.ends.iter().zip(tied.change(&doing)) {
                if let Some(k) = *end {
                    memory.forces[k] += changed;
                }
            }
        }
    }

    /// The transpose, from motions of links: forces against displacements are added to those on links, those against δV⁺ to `velocity`,
    /// and what comes by the motion before the step to numbers by q and v.
    pub(super) fn adjoint(
        &self,
        roots: &[Root],
        pulled: &[Motion],
        velocity: &mut [Force],
        [by_q, by_v]: [&mut [f64]; 2],
        a: &mut AugmentedMass<'_>,
    ) {
        let mut flows = vec![[Force::ZERO; 2]; pulled.len()];
        for tied in &self.all {
            let motions = tied.ends.map(|end| end.map_or(Motion::ZERO, |k| pulled[k]));
            for (end, [moved, plus, v, acceleration]) in tied.ends.iter().zip(tied.adjoint(&motions)) {
                if let Some(k) = *end {
                    a.memory().forces[k] += moved;
                    velocity[k] += plus;
                    flows[k][0] += v;
                    flows[k][1] += acceleration;
                }
            }
        }
        let mut by_x = vec![0.0; by_v.len()];
        a.follow_adjoint(&self.flow, &mut flows, [by_q, &mut *by_v, &mut by_x]);
        by_x.iter_mut().for_each(|x| *x = -*x);
        for root in roots {
            root.turn_adjoint(&self.v, &by_x, by_v);
        }
    }
}

/// 𝓐⁻¹x in place, refined by 𝓐 itself: loops are so stiff that an elimination between two links keeps few digits. The links' motions at the
/// result are left in λ.
pub(super) fn refine(a: &mut AugmentedMass<'_>, x: &mut [f64]) {
    let given = x.to_vec();
    let (mut rest, mut step) = (given.clone(), vec![0.0; x.len()]);
    let mut before = f64::INFINITY;
    x.fill(0.0);
    for _ in 0..ROUNDS {
        a.solve_pushed(Some(&rest), false, &mut step);
        let size = step.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        if size.is_nan() || size >= 0.5 * before {
            break;
        }
        before = size;
        x.iter_mut().zip(&step).for_each(|(x, step)| *x += step);
        a.times_unchecked(x, &mut rest);
        for (rest, given) in rest.iter_mut().zip(&given) {
            *rest = given - *rest;
        }
    }
    a.move_links(x);
}

/// As many digits as there are, if each brings three.
const ROUNDS: usize = 6;

fn derivative(x: Vec3<Number>) -> Vec3 {
    Vec3::from(x.to_array().map(|x| x.derivative))
}

/// d(g/τ)/dg, τ being the time in which a gap closes.
fn opening(gap: f64, sign: f64, dt: f64) -> f64 {
    let [time, slope] = closing_time(gap, sign, dt);
    (1.0 - gap * slope / time) / time
}
