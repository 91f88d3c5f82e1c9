//! What linearized dynamics is made of: the point (q, q̇, q̈) in the world's axes at home, where every φ is the identity.
//!
//! Numbers per degree of freedom stand in [`Block`]s of four columns side by side, so that what is done to one column is
//! done to four together.

mod block;
mod factor;
mod gains;
mod motions;
mod scratch;
mod spans;
mod terms;

pub(crate) use block::{
    Block, LANES, bit, bits, blocks, dot, inverse_room, lanes, places, read, square_room, together, turn,
};
pub(crate) use gains::{ARTICULATED, HomeGain};
pub(crate) use scratch::Scratch;
pub(crate) use spans::{Span, Spans};
pub(crate) use terms::{FORCE, TERMS, Terms};

use super::outflow::of_parent;
use super::world::World;
use crate::model::Compiled;
use crate::plan::Tiles;
use crate::scalar::{Pack, Scalar};
use crate::spatial::{Articulated, Force, Motion, Pose, RigidBody};
use gains::Hat;
use spans::base_acceleration;
use terms::at_home;

/// Rows of a column: H*.
pub(crate) const H: usize = 0;
/// Ψ = crm(V(p))H*.
pub(crate) const PSI: usize = 6;
/// Ψ̇ = crm(α(p))H* + crm(V(p))Ψ.
pub(crate) const PSI_RATE: usize = 12;
/// Ψ + Ḣ.
pub(crate) const TWICE: usize = 18;
/// V and α of the parent, what the torques add to α, and the joint's T.
const V_P: usize = 24;
const ALPHA_P: usize = 30;
const LAMBDA_P: usize = 36;
const TAU: usize = 42;
/// The rotor's inertia.
const ARMATURE: usize = 43;
/// How many.
pub(crate) const COLUMN: usize = 44;

/// Rows of a link: axes, place, V, α, what the torques add to it, and its inertia in its own frame.
const AXES: usize = 0;
const PLACE: usize = 9;
const V: usize = 12;
const ALPHA: usize = 18;
const LAMBDA: usize = 24;
const INERTIA: usize = 30;
const LINK: usize = 40;

/// Numbers per column that every pair of an ancestor and a descendant is made of: RΨ̇ + 2R̂Ψ + crf(H*)f and
/// R(Ψ + Ḣ) + 2R̂H*.
pub(crate) const BY_Q: usize = 0;
pub(crate) const BY_QD: usize = 6;
/// RH* and 2R̂*H*; as degrees of freedom are eliminated they become PH* and 2P̂*H*.
pub(crate) const BY_QDD: usize = 12;
pub(crate) const GYRO: usize = 18;
/// Likewise HRH* becomes D, and T − C becomes ε; and the size of the terms of HRH*, kept.
const PIVOT: usize = 21;
const EPS: usize = 22;
const WHOLE: usize = 23;
/// How many.
pub(crate) const PAIR: usize = 24;

/// How many registers the numbers of [`Terms`] take.
const QUADS: usize = TERMS / LANES;

/// Changes of q, q̇ and T: six rows of force or acceleration for each.
pub(crate) const KINDS: usize = 3;
pub(crate) const FLOW: usize = 6 * KINDS;

/// The linearization point: what (q, q̇, q̈) or (q, q̇, T) determines, and memory for the way there and on.
#[derive(Clone, Debug)]
pub(crate) struct Linear<S> {
    /// H*, Ψ, Ψ̇ and Ψ + Ḣ.
    pub(crate) columns: Vec<Block<S, COLUMN>>,
    links: Vec<Block<S, LINK>>,
    /// M, 2M̂ and the force of each link by itself.
    pub(crate) own: Vec<Block<S, TERMS>>,
    /// Their sums over the subtree of every column's link.
    pub(crate) subtrees: Vec<Block<S, TERMS>>,
    /// Whether torques add to α.
    driven: bool,
    /// Room for what is made of the columns.
    pub(crate) pairs: Vec<Block<S, PAIR>>,
    /// P and 2P̂ of every column's link, at home.
    pub(crate) articulated: Vec<Block<S, ARTICULATED>>,
    pub(crate) gains: Vec<HomeGain<S>>,
    /// Of the blocks inward of every column: −HG, the column's force on what is inward. And D⁻¹.
    pub(crate) inward: Vec<[S; LANES]>,
    pub(crate) d_inv: Vec<S>,
    /// Whether `pairs` hold PH* and 2P̂*H* of the point.
    pub(crate) eliminated: bool,
    /// Zero where every pivot is sound.
    pub(crate) unsound: S,
    /// Bit by bit, which columns of each block are of joints with one degree of freedom.
    pub(crate) single: Vec<u8>,
    /// The columns one by one, where several states go at once.
    pub(crate) spans: Spans<S>,
    /// The links of every block of columns.
    links_of: Vec<[usize; LANES]>,
    pub(crate) scratch: Scratch<S>,
}

/// Where the links are, how fast they move, and what pushes them.
type State<'a, S> = (&'a World<S>, &'a [S], Option<&'a [Force<S>]>);

impl<S: Scalar> Linear<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        let (n, nv) = (m.bodies.len(), m.nv);
        let mut links = vec![Block::ZERO; blocks(n)];
        for (k, body) in m.bodies.iter().enumerate() {
            let RigidBody { mass, first, second } = body.inertia.lift();
            let block: &mut Block<S, LINK> = &mut links[k / LANES];
            block.put(INERTIA, k % LANES, [mass]);
            block.put(INERTIA + 1, k % LANES, first.to_array());
            block.put(INERTIA + 4, k % LANES, second);
        }
        let mut columns = vec![Block::ZERO; blocks(nv)];
        for (c, &dof) in m.columns.single.dof.iter().enumerate() {
            columns[c / LANES].put(ARMATURE, c % LANES, [S::lift(m.armature[dof])]);
        }
        let inward = m.columns.tiles.as_ref().map_or(0, Tiles::inward_blocks);
        let mut links_of = vec![[n.saturating_sub(1); LANES]; blocks(nv)];
        for (k, body) in m.bodies.iter().enumerate() {
            for c in m.columns.single.start[k]..m.columns.single.start[k] + body.dofs {
                links_of[c / LANES][c % LANES] = k;
            }
        }
        let mut single = vec![0; blocks(nv)];
        for (body, c) in m.bodies.iter().zip(&m.columns.single.start) {
            if body.dofs == 1 {
                single[c / LANES] |= 1 << (c % LANES);
            }
        }
        Self {
            columns,
            links,
            own: vec![Block::ZERO; blocks(n)],
            subtrees: vec![Block::ZERO; blocks(nv)],
            driven: false,
            pairs: vec![Block::ZERO; blocks(nv)],
            articulated: vec![Block::ZERO; blocks(nv)],
            gains: vec![HomeGain::ZERO; nv],
            inward: vec![[S::ZERO; LANES]; inward],
            d_inv: vec![S::ZERO; nv],
            eliminated: false,
            unsound: S::ZERO,
            single,
            spans: if S::LANES > 1 {
                Spans::new(n, nv)
            } else {
                Spans::new(0, 0)
            },
            links_of,
            scratch: Scratch::new(m),
        }
    }

    /// All but Ψ̇, of the point (q, q̇, q̈): about 500 operations per link; world columns are filled. `under` given torques, q̈
    /// is zero. What goes from link to link is little: V and α outward, sums inward.
    #[inline(always)]
    pub(crate) fn start<P: Pack<S>>(
        &mut self,
        m: &Compiled,
        (world, qd, loads): State<'_, S>,
        given: &[S],
        under: bool,
    ) {
        (self.eliminated, self.driven) = (false, under);
        if const { P::COLUMNS == LANES } {
            self.move_together::<P>(m, world, qd, given, under);
        } else {
            self.move_apart(m, world, qd, given, under);
        }
        self.turn_columns(m);
        for b in 0..self.links.len() {
            self.own[b] = link_terms(&self.links[b], lanes::<S>(b, m.bodies.len()));
        }
        if let Some(loads) = loads {
            self.take_off(world, loads);
        }
        if const { P::COLUMNS == LANES } {
            self.add_up_together::<P>(m);
        } else {
            self.add_up(m);
        }
    }

    /// Ψ̇.
    #[inline(always)]
    pub(crate) fn finish(&mut self, m: &Compiled) {
        for (b, block) in self.columns.iter_mut().enumerate() {
            second_columns::<S, false>(block, lanes::<S>(b, m.nv));
        }
    }

    /// The same about the accelerations that torques cause; they are written to `qdd`.
    #[inline(always)]
    pub(crate) fn finish_under<P: Pack<S>>(&mut self, m: &Compiled, tiles: &Tiles, qdd: &mut [S]) {
        self.eliminate::<P>(m, tiles);
        self.resolve(m, qdd);
        for (b, block) in self.columns.iter_mut().enumerate() {
            second_columns::<S, true>(block, lanes::<S>(b, m.nv));
        }
        for b in 0..self.links.len() {
            accelerate(&self.links[b], &mut self.own[b], lanes::<S>(b, m.bodies.len()));
        }
        self.add_up_forces(m);
    }

    /// Outward: V = V(p) + H*q̇ and α = α(p) + H*q̈ + Ψq̇.
    #[inline(always)]
    fn move_apart(&mut self, m: &Compiled, world: &World<S>, qd: &[S], given: &[S], under: bool) {
        let n = m.bodies.len();
        let (bodies, starts, poses) = (&m.bodies[..n], &m.columns.single.start[..n], &world.poses[..n]);
        let (vs, alphas) = (&mut self.scratch.v[..n], &mut self.scratch.alpha[..n]);
        let base = base_acceleration(m);
        let (mut last_v, mut last_alpha) = (Motion::ZERO, base);
        for k in 0..n {
            let body = &bodies[k];
            let v_p = of_parent(body, k, last_v, vs, Motion::ZERO);
            let alpha_p = of_parent(body, k, last_alpha, alphas, base);
            let (mut v, mut alpha) = (v_p, alpha_p);
            for i in 0..body.dofs {
                let (dof, c) = (body.v + i, starts[k] + i);
                let (block, lane) = (&mut self.columns[c / LANES], c % LANES);
                let (h, qd) = (world.columns[dof], qd[dof]);
                let psi = v_p.cross(h);
                v = h.mul_add(qd, v);
                alpha += if under {
                    psi * qd
                } else {
                    psi.mul_add(qd, h * given[dof])
                };
                block.put(H, lane, h.to_array());
                block.put(PSI, lane, psi.to_array());
                block.put(TWICE, lane, (psi + psi).to_array());
                block.put(V_P, lane, v_p.to_array());
                block.put(ALPHA_P, lane, alpha_p.to_array());
                block.put(TAU, lane, [given[dof]]);
            }
            (vs[k], alphas[k]) = (v, alpha);
            (last_v, last_alpha) = (v, alpha);
            let (link, lane) = (&mut self.links[k / LANES], k % LANES);
            put_pose(link, lane, &poses[k]);
            link.put(V, lane, v.to_array());
            link.put(ALPHA, lane, alpha.to_array());
        }
    }

    /// Ψ + Ḣ where a joint's other motions turn H*: there Ḣ is not Ψ.
    #[inline(always)]
    fn turn_columns(&mut self, m: &Compiled) {
        for (k, body) in m.bodies.iter().enumerate() {
            if body.dofs < 2 {
                continue;
            }
            let (start, v) = (m.columns.single.start[k], self.velocity(k));
            for c in start..start + body.dofs {
                let (block, lane) = (&mut self.columns[c / LANES], c % LANES);
                let twice = block.motion(PSI, lane) + v.cross(block.motion(H, lane));
                block.put(TWICE, lane, twice.to_array());
            }
        }
    }

    /// V of a link.
    #[inline(always)]
    pub(crate) fn velocity(&self, k: usize) -> Motion<S> {
        self.links[k / LANES].motion(V, k % LANES)
    }

    /// α of a link.
    #[inline(always)]
    pub(crate) fn acceleration(&self, k: usize) -> Motion<S> {
        let (link, lane) = (&self.links[k / LANES], k % LANES);
        let alpha = link.motion(ALPHA, lane);
        if self.driven {
            alpha + link.motion(LAMBDA, lane)
        } else {
            alpha
        }
    }

    /// Link by link: external forces.
    #[inline(always)]
    fn take_off(&mut self, world: &World<S>, loads: &[Force<S>]) {
        for (k, load) in loads.iter().enumerate() {
            let (block, lane) = (&mut self.own[k / LANES], k % LANES);
            let left = block.force(FORCE, lane) - load_at_home(&world.poses[k], load);
            block.put(FORCE, lane, left.to_array());
        }
    }

    /// Inward: sums over subtrees. One state takes longer with them in a function of their own.
    #[inline(always)]
    fn add_up(&mut self, m: &Compiled) {
        let n = m.bodies.len();
        let (bodies, starts) = (&m.bodies[..n], &m.columns.single.start[..n]);
        let mut carried = Terms::ZERO;
        for k in (0..n).rev() {
            let body = &bodies[k];
            let mut sum = self.own[k / LANES].terms(k % LANES);
            if body.has_child {
                sum += carried;
            }
            if let Some(slot) = body.branch {
                sum += self.scratch.waiting[slot];
                self.scratch.waiting[slot] = Terms::ZERO;
            }
            for c in starts[k]..starts[k] + body.dofs {
                self.subtrees[c / LANES].put_terms(c % LANES, &sum);
            }
            match body.hands_to {
                Some(slot) => self.scratch.waiting[slot] += sum,
                None => carried = sum,
            }
        }
    }

    /// The same with the numbers of each link in registers.
    #[inline(always)]
    fn add_up_together<P: Pack<S>>(&mut self, m: &Compiled) {
        let n = m.bodies.len();
        for b in 0..blocks(n) {
            let sums = &mut self.scratch.sums[b * LANES..][..LANES];
            for i in 0..QUADS {
                let x = P::transpose(read(&self.own[b].0, LANES * i, 0));
                for l in 0..LANES {
                    x[l].write(&mut sums[l].0[i]);
                }
            }
        }
        let (bodies, sums) = (&m.bodies[..n], &mut self.scratch.sums[..n]);
        let mut sum = [P::ZERO; QUADS];
        for k in (0..n).rev() {
            let body = &bodies[k];
            let mut own: [P; QUADS] = read(&sums[k].0, 0, 0);
            if body.has_child {
                for i in 0..QUADS {
                    own[i] += sum[i];
                }
            }
            if let Some(slot) = body.branch {
                let others = &mut self.scratch.waiting_sums[slot].0;
                for i in 0..QUADS {
                    own[i] += P::read(&others[i]);
                    P::ZERO.write(&mut others[i]);
                }
            }
            for i in 0..QUADS {
                own[i].write(&mut sums[k].0[i]);
            }
            match body.hands_to {
                Some(slot) => {
                    let others = &mut self.scratch.waiting_sums[slot].0;
                    for i in 0..QUADS {
                        (P::read(&others[i]) + own[i]).write(&mut others[i]);
                    }
                }
                None => sum = own,
            }
        }
        for b in 0..blocks(m.nv) {
            let [a, c, d, e] = self.links_of[b];
            let of = [
                &self.scratch.sums[a].0,
                &self.scratch.sums[c].0,
                &self.scratch.sums[d].0,
                &self.scratch.sums[e].0,
            ];
            for i in 0..QUADS {
                let x = [
                    P::read(&of[0][i]),
                    P::read(&of[1][i]),
                    P::read(&of[2][i]),
                    P::read(&of[3][i]),
                ];
                let (x, rows) = (P::transpose(x), &mut self.subtrees[b].0[LANES * i..][..LANES]);
                for r in 0..LANES {
                    x[r].write(&mut rows[r]);
                }
            }
        }
    }

    /// Inward: sums of forces alone.
    #[inline(always)]
    fn add_up_forces(&mut self, m: &Compiled) {
        let n = m.bodies.len();
        let (bodies, starts) = (&m.bodies[..n], &m.columns.single.start[..n]);
        let mut carried = Force::ZERO;
        for k in (0..n).rev() {
            let body = &bodies[k];
            let mut sum = self.own[k / LANES].force(FORCE, k % LANES);
            if body.has_child {
                sum += carried;
            }
            if let Some(slot) = body.branch {
                sum += self.scratch.waiting_forces[slot];
                self.scratch.waiting_forces[slot] = Force::ZERO;
            }
            for c in starts[k]..starts[k] + body.dofs {
                self.subtrees[c / LANES].put(FORCE, c % LANES, sum.to_array());
            }
            match body.hands_to {
                Some(slot) => self.scratch.waiting_forces[slot] += sum,
                None => carried = sum,
            }
        }
    }

    /// Outward, on the way to link k: which columns belong to its ancestors.
    #[inline(always)]
    pub(crate) fn enter(&mut self, m: &Compiled, k: usize) {
        let wide = self.columns.len();
        let level = m.columns.level[k] * wide;
        match m.bodies[k].parent {
            None => self.scratch.inner[level..level + wide].fill(0),
            Some(p) if m.columns.level[p] * wide != level => {
                let from = m.columns.level[p] * wide;
                self.scratch.inner.copy_within(from..from + wide, level);
            }
            Some(_) => {}
        }
    }

    /// Outward, past link k: its own columns too.
    #[inline(always)]
    pub(crate) fn mark(&mut self, m: &Compiled, k: usize) {
        let level = m.columns.level[k] * self.columns.len();
        for c in m.columns.single.start[k]..m.columns.single.start[k] + m.bodies[k].dofs {
            self.scratch.inner[level + c / LANES] |= 1 << (c % LANES);
        }
    }

    /// Inward: P and 2P̂ of every column's link, and what they make of H*; G and D⁻¹ are there.
    #[inline(always)]
    pub(crate) fn articulate(&mut self, m: &Compiled) {
        let n = m.bodies.len();
        let (bodies, starts) = (&m.bodies[..n], &m.columns.single.start[..n]);
        let mut carried = (Articulated::ZERO, Hat::ZERO);
        for k in (0..n).rev() {
            let body = &bodies[k];
            let own = self.own[k / LANES].terms(k % LANES);
            let (mut p, mut hat): (Articulated<S>, _) = (own.inertia.into(), own.hat());
            if body.has_child {
                p += carried.0;
                hat += carried.1;
            }
            if let Some(slot) = body.branch {
                p += self.scratch.waiting_articulated[slot].0;
                hat += self.scratch.waiting_articulated[slot].1;
                self.scratch.waiting_articulated[slot] = (Articulated::ZERO, Hat::ZERO);
            }
            for c in starts[k]..starts[k] + body.dofs {
                self.articulated[c / LANES].put_articulated(c % LANES, &p, &hat);
            }
            for c in starts[k]..starts[k] + body.dofs {
                self.gains[c].release(&mut p, &mut hat);
            }
            match body.hands_to {
                Some(slot) => {
                    self.scratch.waiting_articulated[slot].0 += p;
                    self.scratch.waiting_articulated[slot].1 += hat;
                }
                None => carried = (p, hat),
            }
        }
    }
}

/// φf of an external force.
#[inline(always)]
pub(crate) fn load_at_home<S: Scalar>(pose: &Pose<S>, load: &Force<S>) -> Force<S> {
    let force = pose.rotation * load.force;
    let moment = pose.rotation * load.moment + pose.translation.cross(force);
    Force { moment, force }
}

/// Ψ, and Ψ + Ḣ where that is twice as much.
#[inline(always)]
fn first_columns<S: Scalar>(block: &mut Block<S, COLUMN>, lanes: usize) {
    for l in 0..lanes {
        let psi = block.motion(V_P, l).cross(block.motion(H, l));
        block.put(PSI, l, psi.to_array());
        block.put(TWICE, l, (psi + psi).to_array());
    }
}

/// Ψ̇.
#[inline(always)]
fn second_columns<S: Scalar, const UNDER: bool>(block: &mut Block<S, COLUMN>, lanes: usize) {
    for l in 0..lanes {
        let turned = block.motion(V_P, l).cross(block.motion(PSI, l));
        let mut alpha_p = block.motion(ALPHA_P, l);
        if UNDER {
            alpha_p += block.motion(LAMBDA_P, l);
        }
        let psi_rate = alpha_p.cross(block.motion(H, l)) + turned;
        block.put(PSI_RATE, l, psi_rate.to_array());
    }
}

/// Axes and place of a link.
#[inline(always)]
fn put_pose<S: Scalar>(link: &mut Block<S, LINK>, lane: usize, pose: &Pose<S>) {
    link.put(AXES, lane, pose.rotation.x.to_array());
    link.put(AXES + 3, lane, pose.rotation.y.to_array());
    link.put(AXES + 6, lane, pose.rotation.z.to_array());
    link.put(PLACE, lane, pose.translation.to_array());
}

/// M of a link, at home.
#[inline(always)]
fn inertia_at_home<S: Scalar>(links: &Block<S, LINK>, l: usize) -> RigidBody<S> {
    let inertia = RigidBody {
        mass: links.0[INERTIA][l],
        first: links.three(INERTIA + 1, l),
        second: links.six(INERTIA + 4, l),
    };
    let axes = [links.three(AXES, l), links.three(AXES + 3, l), links.three(AXES + 6, l)];
    at_home(inertia, axes, links.three(PLACE, l))
}

/// M, 2M̂ and Mα + crf(V)MV.
#[inline(always)]
fn link_terms<S: Scalar>(links: &Block<S, LINK>, lanes: usize) -> Block<S, TERMS> {
    let mut out = Block::ZERO;
    for l in 0..lanes {
        let home = inertia_at_home(links, l);
        out.put_terms(l, &Terms::new(home, links.motion(V, l), links.motion(ALPHA, l)));
    }
    out
}

/// f + Mλ.
#[inline(always)]
fn accelerate<S: Scalar>(links: &Block<S, LINK>, own: &mut Block<S, TERMS>, lanes: usize) {
    for l in 0..lanes {
        let force = own.force(FORCE, l) + own.inertia(l).times(links.motion(LAMBDA, l));
        own.put(FORCE, l, force.to_array());
    }
}
