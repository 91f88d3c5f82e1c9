//! Memory of branches side by side.

use crate::model::{Compiled, PACK};
use crate::scalar::{Builds, Pack, Scalar};
use crate::spatial::{Articulated, Force, RigidBody};

/// A number of every lane.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Register<S>([S; PACK]);

/// What a sweep leaves in a row for the next one: so many numbers of every lane.
pub(crate) mod at {
    pub(crate) const OMEGA: usize = 0;
    pub(crate) const A: usize = 3;
    pub(crate) const B: usize = 9;
    pub(crate) const GAIN: usize = 15;
    pub(crate) const EPS: usize = 22;
    pub(crate) const ALPHA: usize = 23;
    /// The joints' screws, and T.
    pub(crate) const SCREW: usize = 29;
    pub(crate) const TORQUE: usize = 32;
    pub(crate) const END: usize = 33;
}

/// P and z, as they are handed to a parent; P alone.
const HANDED: usize = 27;
const INERTIA: usize = 21;
/// A rigid body.
const BODY: usize = 10;

/// The rows of all bundles, what waits at rows of several children (nought between sweeps), and what the branches of every
/// bundle hand to the trunk.
#[derive(Clone, Debug)]
pub(crate) struct Abreast<S> {
    pub(crate) rows: Vec<[Register<S>; at::END]>,
    waiting: Vec<[Register<S>; HANDED]>,
    handed: Vec<[Register<S>; HANDED]>,
    /// Six numbers of a column, which starts at its row.
    pub(crate) columns: Vec<[Register<S>; 6]>,
}

impl<S: Scalar> Abreast<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        // Other numbers are swept link by link.
        let bundles = m.bundles.as_ref().filter(|_| matches!(S::BUILDS, Builds::Shipped));
        let [rows, slots, count] = bundles.map_or([0; 3], |b| [b.rows, b.slots, b.bundles.len()]);
        let nought = Register([S::ZERO; PACK]);
        Self {
            rows: vec![[nought; at::END]; rows],
            waiting: vec![[nought; HANDED]; slots],
            handed: vec![[nought; HANDED]; count],
            columns: vec![[nought; 6]; rows],
        }
    }

    /// Adds what a row hands to a parent that it does not directly follow.
    #[inline(always)]
    pub(crate) fn leave<P: Pack<S>>(&mut self, slot: usize, p: &Articulated<P>, z: Force<P>) {
        let place = &mut self.waiting[slot];
        let x = numbers(p, z);
        for i in 0..HANDED {
            let sum: P = get(&place[i]);
            put(&mut place[i], sum + x[i]);
        }
    }

    /// Takes what was left there.
    #[inline(always)]
    pub(crate) fn fetch<P: Pack<S>>(&mut self, slot: usize) -> (Articulated<P>, Force<P>) {
        let place = &mut self.waiting[slot];
        let sum = read(place, 0);
        *place = [Register([S::ZERO; PACK]); HANDED];
        apart(sum)
    }

    /// Adds a force alone.
    #[inline(always)]
    pub(crate) fn leave_force<P: Pack<S>>(&mut self, slot: usize, f: Force<P>) {
        let place = &mut self.waiting[slot][INERTIA..];
        let sum: [P; 6] = read(place, 0);
        write(place, 0, (Force::from_array(sum) + f).to_array());
    }

    /// Takes the force that was left there.
    #[inline(always)]
    pub(crate) fn fetch_force<P: Pack<S>>(&mut self, slot: usize) -> Force<P> {
        let place = &mut self.waiting[slot][INERTIA..];
        let sum = read(place, 0);
        write(place, 0, [P::ZERO; 6]);
        Force::from_array(sum)
    }

    /// Keeps the forces that the branches of a bundle hand to the trunk.
    #[inline(always)]
    pub(crate) fn hand_force<P: Pack<S>>(&mut self, bundle: usize, f: Force<P>) {
        write(&mut self.handed[bundle], INERTIA, f.to_array());
    }

    /// The force of the branch in one lane.
    #[inline(always)]
    pub(crate) fn handed_force(&self, bundle: usize, lane: usize) -> Force<S> {
        let mut x = [S::ZERO; 6];
        let registers = &self.handed[bundle];
        for i in 0..6 {
            x[i] = registers[INERTIA + i].0[lane];
        }
        Force::from_array(x)
    }

    /// Adds a rigid body alone.
    #[inline(always)]
    pub(crate) fn leave_body<P: Pack<S>>(&mut self, slot: usize, r: RigidBody<P>) {
        let sum: [P; BODY] = read(&self.waiting[slot], 0);
        let mut sum = RigidBody::from_array(sum);
        sum += r;
        write(&mut self.waiting[slot], 0, sum.to_array());
    }

    /// Takes the rigid body that was left there.
    #[inline(always)]
    pub(crate) fn fetch_body<P: Pack<S>>(&mut self, slot: usize) -> RigidBody<P> {
        let sum = read(&self.waiting[slot], 0);
        write(&mut self.waiting[slot], 0, [P::ZERO; BODY]);
        RigidBody::from_array(sum)
    }

    /// Keeps the composite bodies that the branches of a bundle hand to the trunk.
    #[inline(always)]
    pub(crate) fn hand_body<P: Pack<S>>(&mut self, bundle: usize, r: RigidBody<P>) {
        write(&mut self.handed[bundle], 0, r.to_array());
    }

    /// That of the branch in one lane.
    #[inline(always)]
    pub(crate) fn handed_body(&self, bundle: usize, lane: usize) -> RigidBody<S> {
        let mut x = [S::ZERO; BODY];
        for i in 0..BODY {
            x[i] = self.handed[bundle][i].0[lane];
        }
        RigidBody::from_array(x)
    }

    /// The force in one lane of a column.
    #[inline(always)]
    pub(crate) fn column(&self, row: usize, lane: usize) -> Force<S> {
        let mut x = [S::ZERO; 6];
        for i in 0..6 {
            x[i] = self.columns[row][i].0[lane];
        }
        Force::from_array(x)
    }

    /// Keeps what the branches of a bundle hand to the trunk.
    #[inline(always)]
    pub(crate) fn hand<P: Pack<S>>(&mut self, bundle: usize, p: &Articulated<P>, z: Force<P>) {
        write(&mut self.handed[bundle], 0, numbers(p, z));
    }

    /// What the branch in one lane handed in.
    #[inline(always)]
    pub(crate) fn handed(&self, bundle: usize, lane: usize) -> (Articulated<S>, Force<S>) {
        let mut x = [S::ZERO; HANDED];
        let registers = &self.handed[bundle];
        for i in 0..HANDED {
            x[i] = registers[i].0[lane];
        }
        apart(x)
    }
}

#[inline(always)]
fn get<S: Scalar, P: Pack<S>>(register: &Register<S>) -> P {
    P::read(&register.0)
}

#[inline(always)]
fn put<S: Scalar, P: Pack<S>>(register: &mut Register<S>, x: P) {
    x.write(&mut register.0);
}

/// Numbers of a row, from a place on.
#[inline(always)]
pub(crate) fn read<S: Scalar, P: Pack<S>, const N: usize>(row: &[Register<S>], start: usize) -> [P; N] {
    let mut x = [P::ZERO; N];
    for i in 0..N {
        x[i] = get(&row[start + i]);
    }
    x
}

/// Over them.
#[inline(always)]
pub(crate) fn write<S: Scalar, P: Pack<S>, const N: usize>(row: &mut [Register<S>], start: usize, x: [P; N]) {
    for i in 0..N {
        put(&mut row[start + i], x[i]);
    }
}

#[inline(always)]
fn numbers<S: Scalar>(p: &Articulated<S>, z: Force<S>) -> [S; HANDED] {
    let (a, [b, d, e], c, z) = (p.a, p.b, p.c, z.to_array());
    [
        a[0], a[1], a[2], a[3], a[4], a[5], b[0], b[1], b[2], d[0], d[1], d[2], e[0], e[1], e[2], c[0], c[1], c[2],
        c[3], c[4], c[5], z[0], z[1], z[2], z[3], z[4], z[5],
    ]
}

#[inline(always)]
fn apart<S: Scalar>(x: [S; HANDED]) -> (Articulated<S>, Force<S>) {
    let p = Articulated {
        a: [x[0], x[1], x[2], x[3], x[4], x[5]],
        b: [[x[6], x[7], x[8]], [x[9], x[10], x[11]], [x[12], x[13], x[14]]],
        c: [x[15], x[16], x[17], x[18], x[19], x[20]],
    };
    (p, Force::from_array([x[21], x[22], x[23], x[24], x[25], x[26]]))
}
