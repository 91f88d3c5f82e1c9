//! The rows of a step: contacts with what their directions yield, limits that are near, and dry friction.

use super::Contact;
use super::cone::Region;
use super::operator::Operator;
use super::rows::{Hold, Line, Point, Six, about, apply, dot};
use super::step::{State, Work};
use crate::coupled::model::Follower;
use crate::model::{FrameId, JointId, Mechanism, per_dof};
use crate::spatial::{Force, Vec3};
use crate::{Reference, Result};

/// A position limit: of a degree of freedom, or of one that follows it.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    pub(super) joint: JointId,
    pub(super) q: usize,
    pub(super) v: usize,
    pub(super) limits: (f64, f64),
    pub(super) follower: Option<Follower>,
}

/// What links yield to forces.
#[derive(Clone, Debug, Default)]
pub(super) struct Yields {
    /// J𝓜⁻¹J* of every link at its home; where joints are coupled, of the present contact's two frames.
    own: Vec<Six>,
    /// The frames of one tree, or of coupled ones, that were asked for last, and J𝓜⁻¹J* of both: 12 × 12.
    pair: Option<[FrameId; 2]>,
    both: Vec<f64>,
}

impl Yields {
    /// Those of all links.
    async fn find(&mut self, a: &mut impl Operator, links: usize) -> Result<()> {
        self.own.resize(links, [[0.0; 6]; 6]);
        a.find_yields(&mut self.own).await
    }

    /// The four blocks of `both`.
    fn block(&self, r: usize, c: usize) -> Six {
        core::array::from_fn(|i| core::array::from_fn(|j| self.both[12 * (6 * r + i) + 6 * c + j]))
    }
}

crate::functions! {
    /// The rows of all contacts.
    fn PlaceAll<O: Operator>((points, contacts, m, a): (&mut [Point], &[Contact], &Mechanism, &O)) -> () {
        for (point, contact) in points.iter_mut().zip(contacts) {
            point.place(m, contact, |k| a.link(k));
        }
    }

    /// What the directions of all contacts yield, where no joint follows another.
    fn SetYields<O: Operator>((points, yields, at, m): (&mut [Point], &Yields, &O, &Mechanism)) -> () {
        let root = |k: usize| m.compiled.bodies[k].root;
        for point in points {
            match point.arms.ends {
                [Some(a), Some(b)] if a == b => {}
                [Some(a), Some(b)] if root(a) == root(b) => {
                    let arm = point.given.point - at.home(a);
                    point.set_yields(|f: Vec3| at.yield_between(a, b, Force::from_array(about(arm, f))));
                }
                [a, b] => {
                    let own = |end: Option<usize>| end.map(|k| (&yields.own[k], at.home(k)));
                    point.set_yield([own(a), own(b)], None);
                }
            }
        }
    }
}

/// Beyond this load, in weights of its own body, a contact becomes stiffer, and by no more than `STIFFEST`.
const LOADED: f64 = 100.0;
const STIFFEST: f64 = 1e-3;
/// A direction that yields less than this share of another does not move.
const DEAD: f64 = 1e-12;

impl Work {
    /// The contacts' rows, and what their directions yield.
    pub(super) async fn find_points(
        &mut self,
        given: &State<'_>,
        a: &mut impl Operator,
        contacts: &[Contact],
    ) -> Result<()> {
        self.places.clear();
        self.sum.points.resize_with(contacts.len(), Point::empty);
        if contacts.is_empty() {
            return Ok(());
        }
        a.begin()?;
        let wide = a.instructions();
        wide.call(PlaceAll, (&mut self.sum.points[..], contacts, given.m, &*a));
        let (compiled, coupled) = (&given.m.compiled, given.m.is_coupled());
        let yields = &mut self.yields;
        yields.pair = None;
        yields.both.resize(144, 0.0);
        if !coupled {
            yields.find(a, compiled.bodies.len()).await?;
            for k in self.sum.points.iter().flat_map(|point| point.arms.ends).flatten() {
                a.take_yield(k, &mut yields.own);
            }
            wide.call(SetYields, (&mut self.sum.points[..], &*yields, &*a, given.m));
        }
        for point in self.sum.points.iter_mut().filter(|_| coupled) {
            let Some((mut posed, _)) = a.alone() else {
                unreachable!("couplings are stepped alone");
            };
            if let [Some(a), Some(b)] = point.arms.ends
                && a == b
            {
                continue;
            }
            let frames = [point.given.a, point.given.b];
            if let Some(side) = (0..2).find(|side| point.arms.ends[1 - side].is_none()) {
                let w = posed.operational_inertia_inverse(frames[side], Reference::Aligned)?;
                let mut own = [None; 2];
                own[side] = point.arms.ends[side].map(|_| (&w, posed.pose_of(frames[side]).translation));
                point.set_yield(own, None);
                continue;
            }
            if yields.pair != Some(frames) {
                posed.operational_inertias_inverse(&frames, Reference::Aligned, &mut yields.both)?;
                yields.pair = Some(frames);
            }
            let at = frames.map(|frame| posed.pose_of(frame).translation);
            let own = [0, 1].map(|side| (yields.block(side, side), at[side]));
            point.set_yield(
                [0, 1].map(|side| Some((&own[side].0, own[side].1))),
                Some(&yields.block(0, 1)),
            );
        }
        // What cannot move is no contact; what cannot slide has no friction.
        for point in &mut self.sum.points {
            if point.w_t <= DEAD * point.w_n {
                point.cone.rows = 1;
                point.cone.mu = 0.0;
            }
        }
        let mut kept = 0;
        for i in 0..self.sum.points.len() {
            let point = &self.sum.points[i];
            let moves = point.w_n > DEAD * point.w_t && point.w_n > 0.0;
            self.places.push(moves.then_some(kept));
            if moves {
                if kept != i {
                    self.sum.points.swap(kept, i);
                }
                kept += 1;
            }
        }
        self.sum.points.truncate(kept);
        let gravity = given.m.gravity().norm().max(1e-3);
        for point in &mut self.sum.points {
            let held = self.memory.binary_search_by_key(&point.given.id, |held| held.id).ok();
            let held = held.map(|i| self.memory[i]);
            let mut rho = self.settings.rho;
            if let (true, Some(held)) = (self.settings.loads, &held) {
                let load = held.normal * point.w_n / (gravity * self.settings.step);
                // In steps of ten: a compliance that follows the load would feed what rocks.
                if load > LOADED {
                    let tens = (load / LOADED).log10().round();
                    rho *= 10f64.powf(-tens).max(STIFFEST);
                }
            }
            point.set_compliance(&self.settings, rho);
            point.before = held.map_or(Region::Apart, |held| held.region);
            if let (true, Some(held)) = (self.settings.memory, &held) {
                point.remember(held.strain);
            }
        }
        for (place, [r_n, r_t]) in self.places.iter().zip(&self.held_compliance) {
            if let Some(at) = *place {
                (self.sum.points[at].cone.r_n, self.sum.points[at].cone.r_t) = (*r_n, *r_t);
            }
        }
        let (points, memory) = (&self.sum.points, &self.memory);
        self.coulomb.bounds.clear();
        self.coulomb.bounds.extend(points.iter().map(|point| {
            let held = memory.binary_search_by_key(&point.given.id, |held| held.id);
            held.map_or(0.0, |i| point.cone.mu * memory[i].normal)
        }));
        Ok(())
    }

    /// Limits that are near, and dry friction.
    pub(super) async fn find_lines(&mut self, given: &State<'_>, a: &mut impl Operator) -> Result<()> {
        let (dt, settings) = (self.settings.step, self.settings);
        self.sum.lines.clear();
        if settings.joint_limits {
            for stop in &self.stops {
                let (y, speed) = (given.q[stop.q], given.v[stop.v]);
                let [at, slope] = match &stop.follower {
                    Some(follower) => {
                        let [q, slope, ..] = follower.at(y);
                        [q, slope]
                    }
                    None => [y, 1.0],
                };
                let near = (2.0 * dt * (slope * speed).abs()).max(0.1);
                for (gap, slope) in [(at - stop.limits.0, slope), (stop.limits.1 - at, -slope)] {
                    if gap < near && slope != 0.0 {
                        self.sum.lines.push(Line {
                            joint: stop.joint,
                            v: stop.v,
                            slope,
                            hold: Hold::Limit(gap),
                            r: settings.rho,
                            v_hat: if gap < 0.0 {
                                -gap / (dt + dt.max(0.02))
                            } else {
                                -gap / dt
                            },
                            gamma: 0.0,
                            g: 0.0,
                            next: 0.0,
                        });
                    }
                }
            }
        }
        if settings.joint_friction {
            let own = given.m.passive.friction.iter().enumerate().map(|(v, f)| (v, 1.0, *f));
            let followers = given.m.passive.followers.iter().map(|f| {
                let [_, slope, ..] = f.follower.at(given.q[f.leader[0]]);
                (f.leader[1], slope, f.friction)
            });
            for (v, slope, friction) in own.chain(followers) {
                if friction > 0.0 && slope != 0.0 {
                    self.sum.lines.push(Line {
                        joint: given.m.joint_of_dof(v).0,
                        v,
                        slope,
                        hold: Hold::Friction(dt * friction),
                        r: settings.sigma,
                        v_hat: 0.0,
                        gamma: 0.0,
                        g: 0.0,
                        next: 0.0,
                    });
                }
            }
        }
        if self.sum.lines.is_empty() {
            return Ok(());
        }
        let (compiled, coupled) = (&given.m.compiled, given.m.is_coupled());
        if !coupled && self.sum.points.is_empty() {
            self.yields.find(a, compiled.bodies.len()).await?;
        }
        for line in &mut self.sum.lines {
            let body = &compiled.bodies[self.bodies[line.v]];
            let w = match body.dofs {
                // [𝓜⁻¹]_jj = D⁻¹ + G*Υ(p)G, at home.
                1 if !coupled => {
                    let (d_inv, g) = a.home_gain(line.v);
                    let g = g.to_array();
                    d_inv
                        + body.parent.map_or(0.0, |p| {
                            a.take_yield(p, &mut self.yields.own);
                            dot(&g, &apply(&self.yields.own[p], &g))
                        })
                }
                _ => {
                    a.inverse_mass_element(self.bodies[line.v], line.v, &mut self.room)
                        .await?
                }
            };
            line.r *= w * line.slope * line.slope;
        }
        Ok(())
    }
}

/// Limits of joints whose coordinates they are limits of.
pub(super) fn stops(m: &Mechanism) -> Vec<Stop> {
    let mut stops = Vec::new();
    for (j, joint) in m.joints().iter().enumerate() {
        let joint_id = m.joint_at(j);
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let limits = per_dof(&joint.position_limits, joint.kind.nv(), free);
        if limits.iter().all(|(a, b)| a.is_infinite() && b.is_infinite()) || joint.kind.is_curved() {
            continue;
        }
        if let Some(leader) = m.leader_of(j) {
            let (q, v) = (m.q_of(leader).start, m.v_of(leader).start);
            let follower = m.compiled.reduction.as_ref().and_then(|r| {
                let at = r.v_start[j];
                r.followers.iter().find(|f| f.v == at).cloned()
            });
            if let Some(follower) = follower {
                stops.push(Stop {
                    joint: joint_id,
                    q,
                    v,
                    limits: limits[0],
                    follower: Some(follower),
                });
            }
            continue;
        }
        let (q, v) = (m.q_of(j).start, m.v_of(j).start);
        stops.extend(limits.into_iter().enumerate().map(|(i, limits)| Stop {
            joint: joint_id,
            q: q + i,
            v: v + i,
            limits,
            follower: None,
        }));
    }
    stops
}
