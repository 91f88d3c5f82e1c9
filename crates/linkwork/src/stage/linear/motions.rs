//! Velocities and accelerations of the links with the coordinates of a vector side by side in a register.
//!
//! What goes from link to link is stored and read back in whole registers; blocks of columns and of links are made from
//! that, four by four.

use super::block::{Block, LANES, blocks, lanes};
use super::spans::base_acceleration;
use super::{ALPHA, ALPHA_P, AXES, H, Linear, PLACE, TAU, V, V_P, first_columns};
use crate::model::Compiled;
use crate::scalar::{Pack, Scalar};
use crate::spatial::{Motion, Vec3};
use crate::stage::world::World;

/// H* of every column, and V and α of every link and, last, of the base: angular and linear parts.
#[derive(Clone, Debug)]
pub(super) struct Motions<S> {
    columns: Vec<Block<S, 2>>,
    links: Vec<Block<S, 4>>,
    /// The parents of the links of every block of columns.
    parents_of: Vec<[usize; LANES]>,
}

impl<S: Scalar> Motions<S> {
    pub(super) fn new(m: &Compiled) -> Self {
        let base = blocks(m.bodies.len()) * LANES;
        let mut parents_of = vec![[base; LANES]; blocks(m.nv)];
        for (k, body) in m.bodies.iter().enumerate() {
            for c in m.columns.single.start[k]..m.columns.single.start[k] + body.dofs {
                parents_of[c / LANES][c % LANES] = body.parent.unwrap_or(base);
            }
        }
        let mut links = vec![Block::ZERO; base + 1];
        let Motion { angular, linear } = base_acceleration(m);
        for (row, x) in [(2, angular), (3, linear)] {
            links[base].0[row] = [x.x, x.y, x.z, S::ZERO];
        }
        Self {
            columns: vec![Block::ZERO; blocks(m.nv) * LANES],
            links,
            parents_of,
        }
    }
}

/// A motion.
#[derive(Clone, Copy)]
struct Twist<P> {
    angular: P,
    linear: P,
}

impl<P: Scalar> Twist<P> {
    #[inline(always)]
    fn of<S: Scalar>(x: Motion<S>) -> Self
    where
        P: Pack<S>,
    {
        let (angular, linear) = (P::three(x.angular.to_array()), P::three(x.linear.to_array()));
        Self { angular, linear }
    }

    /// From two rows.
    #[inline(always)]
    fn read<S: Scalar, const ROWS: usize>(from: &Block<S, ROWS>, row: usize) -> Self
    where
        P: Pack<S>,
    {
        let (angular, linear) = (P::read(&from.0[row]), P::read(&from.0[row + 1]));
        Self { angular, linear }
    }

    #[inline(always)]
    fn write<S: Scalar, const ROWS: usize>(self, to: &mut Block<S, ROWS>, row: usize)
    where
        P: Pack<S>,
    {
        self.angular.write(&mut to.0[row]);
        self.linear.write(&mut to.0[row + 1]);
    }

    #[inline(always)]
    fn times(self, x: P) -> Self {
        Self {
            angular: self.angular * x,
            linear: self.linear * x,
        }
    }

    #[inline(always)]
    fn plus(self, o: Self) -> Self {
        Self {
            angular: self.angular + o.angular,
            linear: self.linear + o.linear,
        }
    }

    /// `self · x + o`.
    #[inline(always)]
    fn mul_add(self, x: P, o: Self) -> Self {
        Self {
            angular: self.angular.mul_add(x, o.angular),
            linear: self.linear.mul_add(x, o.linear),
        }
    }

    /// crm(V) X, as [`Motion::cross`].
    #[inline(always)]
    fn cross<S: Scalar>(self, x: Self) -> Self
    where
        P: Pack<S>,
    {
        Self {
            angular: cross::<S, P>(self.angular, x.angular),
            linear: cross::<S, P>(self.linear, x.angular) + cross::<S, P>(self.angular, x.linear),
        }
    }
}

/// As [`Vec3::cross`].
#[inline(always)]
fn cross<S: Scalar, P: Pack<S>>(a: P, b: P) -> P {
    let (next, last) = (&[1, 2, 0, 3], &[2, 0, 1, 3]);
    a.pick(next).mul_sub(b.pick(last), a.pick(last) * b.pick(next))
}

impl<S: Scalar> Linear<S> {
    /// Outward: V = V(p) + H*q̇ and α = α(p) + H*q̈ + Ψq̇. Then the blocks.
    #[inline(always)]
    pub(super) fn move_together<P: Pack<S>>(
        &mut self,
        m: &Compiled,
        world: &World<S>,
        qd: &[S],
        given: &[S],
        under: bool,
    ) {
        let n = m.bodies.len();
        let (bodies, starts) = (&m.bodies[..n], &m.columns.single.start[..n]);
        let Motions {
            columns,
            links,
            parents_of,
        } = &mut self.scratch.motions;
        let base = links.len() - 1;
        let mut last: [Twist<P>; 2] = [Twist::read(&links[base], 0), Twist::read(&links[base], 2)];
        for k in 0..n {
            let body = &bodies[k];
            let p = body.parent.unwrap_or(base);
            if p + 1 != k {
                last = [Twist::read(&links[p], 0), Twist::read(&links[p], 2)];
            }
            let [v_p, alpha_p] = last;
            let (mut v, mut alpha) = (v_p, alpha_p);
            for i in 0..body.dofs {
                let (dof, c) = (body.v + i, starts[k] + i);
                let (h, qd) = (Twist::of(world.columns[dof]), P::spread(qd[dof]));
                let psi = v_p.cross::<S>(h);
                v = h.mul_add(qd, v);
                alpha = alpha.plus(if under {
                    psi.times(qd)
                } else {
                    psi.mul_add(qd, h.times(P::spread(given[dof])))
                });
                h.write(&mut columns[c], 0);
                self.columns[c / LANES].put(TAU, c % LANES, [given[dof]]);
            }
            v.write(&mut links[k], 0);
            alpha.write(&mut links[k], 2);
            last = [v, alpha];
        }
        for b in 0..parents_of.len() {
            let (block, own) = (&mut self.columns[b], &columns[b * LANES..][..LANES]);
            let own = [&own[0], &own[1], &own[2], &own[3]];
            put::<S, P, 2, _>(own, 0, block, H);
            let [a, c, d, e] = parents_of[b];
            let parents = [&links[a], &links[c], &links[d], &links[e]];
            put::<S, P, 4, _>(parents, 0, block, V_P);
            put::<S, P, 4, _>(parents, 2, block, ALPHA_P);
            first_columns(block, lanes::<S>(b, m.nv));
        }
        for b in 0..blocks(n) {
            let (block, own) = (&mut self.links[b], &links[b * LANES..][..LANES]);
            let own = [&own[0], &own[1], &own[2], &own[3]];
            put::<S, P, 4, _>(own, 0, block, V);
            put::<S, P, 4, _>(own, 2, block, ALPHA);
            let at = |l: usize| &world.poses[(b * LANES + l).min(n - 1)];
            let [i, j, k, l] = [at(0), at(1), at(2), at(3)];
            let (ri, rj, rk, rl) = (&i.rotation, &j.rotation, &k.rotation, &l.rotation);
            put_vectors::<S, P, _>([ri.x, rj.x, rk.x, rl.x], block, AXES);
            put_vectors::<S, P, _>([ri.y, rj.y, rk.y, rl.y], block, AXES + 3);
            put_vectors::<S, P, _>([ri.z, rj.z, rk.z, rl.z], block, AXES + 6);
            let places = [i.translation, j.translation, k.translation, l.translation];
            put_vectors::<S, P, _>(places, block, PLACE);
        }
    }
}

/// Motions in two rows of each of four: six rows of a block, from `to` on.
#[inline(always)]
fn put<S: Scalar, P: Pack<S>, const FROM: usize, const ROWS: usize>(
    from: [&Block<S, FROM>; LANES],
    row: usize,
    block: &mut Block<S, ROWS>,
    to: usize,
) {
    for half in 0..2 {
        let x = [
            P::read(&from[0].0[row + half]),
            P::read(&from[1].0[row + half]),
            P::read(&from[2].0[row + half]),
            P::read(&from[3].0[row + half]),
        ];
        put_rows(x, block, to + 3 * half);
    }
}

/// Four vectors: three rows of a block, from `to` on.
#[inline(always)]
fn put_vectors<S: Scalar, P: Pack<S>, const ROWS: usize>(x: [Vec3<S>; LANES], block: &mut Block<S, ROWS>, to: usize) {
    let [a, b, c, d] = x;
    let x = [
        P::three(a.to_array()),
        P::three(b.to_array()),
        P::three(c.to_array()),
        P::three(d.to_array()),
    ];
    put_rows(x, block, to);
}

/// The same, in registers.
#[inline(always)]
fn put_rows<S: Scalar, P: Pack<S>, const ROWS: usize>(x: [P; LANES], block: &mut Block<S, ROWS>, to: usize) {
    let x = P::transpose(x);
    for i in 0..3 {
        x[i].write(&mut block.0[to + i]);
    }
}
