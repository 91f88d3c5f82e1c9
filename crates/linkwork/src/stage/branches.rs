//! Memory of branches side by side.

use crate::body::PACK;
use crate::model::Compiled;
use crate::plan::{Borne, Picks, Run};
use crate::scalar::{Builds, Pack, Register, Scalar};
use crate::spatial::{Articulated, Force, RigidBody};

/// What a sweep leaves in a row for the next one: so many numbers of every lane.
pub(crate) mod at {
    pub(crate) const A: usize = 0;
    pub(crate) const B: usize = 6;
    pub(crate) const GAIN: usize = 12;
    pub(crate) const EPS: usize = 19;
    /// The joints' screws, and T.
    pub(crate) const SCREW: usize = 20;
    pub(crate) const TORQUE: usize = 23;
    pub(crate) const END: usize = 24;
}

/// P and z, as they are handed to a parent; P alone.
const HANDED: usize = 27;
const INERTIA: usize = 21;

/// The rows, what waits for them from other runs, what the chains of every run hand to those they hang on, six numbers of
/// every column of 𝓜, and the elements of these.
#[derive(Clone, Debug)]
pub(crate) struct Abreast<S> {
    pub(crate) rows: Vec<[Register<S>; at::END]>,
    waiting: Vec<[Register<S>; HANDED]>,
    handed: Vec<[Register<S>; HANDED]>,
    pub(crate) columns: Vec<Register<S>>,
}

impl<S: Scalar> Abreast<S> {
    pub(crate) fn new(m: &Compiled) -> Self {
        // Other numbers are swept link by link.
        let bundles = m.bundles.as_ref().filter(|_| matches!(S::BUILDS, Builds::Shipped));
        let [rows, slots, runs, registers] = bundles.map_or([0; 4], |b| [b.rows, b.slots, b.runs.len(), b.registers]);
        let zero = Register([S::ZERO; PACK]);
        Self {
            rows: vec![[zero; at::END]; rows],
            waiting: vec![[zero; HANDED]; slots],
            handed: vec![[zero; HANDED]; runs],
            columns: vec![zero; registers],
        }
    }

    /// Keeps what the chains of a run hand to those they hang on.
    #[inline(always)]
    pub(crate) fn hand<P: Pack<S>>(&mut self, run: usize, p: &Articulated<P>, z: Force<P>) {
        write(&mut self.handed[run], 0, numbers(p, z));
    }

    #[inline(always)]
    pub(crate) fn hand_force<P: Pack<S>>(&mut self, run: usize, f: Force<P>) {
        write(&mut self.handed[run], INERTIA, f.to_array());
    }

    #[inline(always)]
    pub(crate) fn hand_body<P: Pack<S>>(&mut self, run: usize, r: RigidBody<P>) {
        write(&mut self.handed[run], 0, r.to_array());
    }

    /// What one chain handed to the trunk.
    #[inline(always)]
    pub(crate) fn handed(&self, run: usize, lane: usize) -> (Articulated<S>, Force<S>) {
        apart(one_lane(&self.handed[run], lane))
    }

    #[inline(always)]
    pub(crate) fn handed_force(&self, run: usize, lane: usize) -> Force<S> {
        Force::from_array(one_lane(&self.handed[run][INERTIA..], lane))
    }

    #[inline(always)]
    pub(crate) fn handed_body(&self, run: usize, lane: usize) -> RigidBody<S> {
        RigidBody::from_array(one_lane(&self.handed[run], lane))
    }

    /// What chains of other runs hand to a run: that of the first children of its last row, and that of others, which waits.
    #[inline(always)]
    pub(crate) fn gather<P: Pack<S>>(&mut self, run: &Run) -> (Articulated<P>, Force<P>) {
        apart(self.sums(run, 0))
    }

    #[inline(always)]
    pub(crate) fn gather_force<P: Pack<S>>(&mut self, run: &Run) -> Force<P> {
        Force::from_array(self.sums(run, INERTIA))
    }

    #[inline(always)]
    pub(crate) fn gather_body<P: Pack<S>>(&mut self, run: &Run) -> RigidBody<P> {
        RigidBody::from_array(self.sums(run, 0))
    }

    #[inline(always)]
    fn sums<P: Pack<S>, const N: usize>(&mut self, run: &Run, start: usize) -> [P; N] {
        for (slot, others) in &run.others {
            let sum: [P; N] = sum(&self.handed, others, start);
            write(&mut self.waiting[*slot], start, sum);
        }
        sum(&self.handed, &run.borne, start)
    }

    /// What waits there.
    #[inline(always)]
    pub(crate) fn waiting<P: Pack<S>>(&self, slot: usize) -> (Articulated<P>, Force<P>) {
        apart(read(&self.waiting[slot], 0))
    }

    #[inline(always)]
    pub(crate) fn waiting_force<P: Pack<S>>(&self, slot: usize) -> Force<P> {
        Force::from_array(read(&self.waiting[slot], INERTIA))
    }

    #[inline(always)]
    pub(crate) fn waiting_body<P: Pack<S>>(&self, slot: usize) -> RigidBody<P> {
        RigidBody::from_array(read(&self.waiting[slot], 0))
    }

    /// Takes a column over from some lanes of others.
    #[inline(always)]
    pub(crate) fn take_column<P: Pack<S>>(&mut self, column: usize, from: &[(usize, Picks)]) {
        let mut sums = [P::ZERO; 6];
        for (other, picks) in from {
            let (x, real): ([P; 6], P) = (read(&self.columns, 6 * other), ones(picks));
            for i in 0..6 {
                sums[i] = x[i].pick(&picks.lanes).mul_add(real, sums[i]);
            }
        }
        write(&mut self.columns, 6 * column, sums);
    }
}

/// One where a number comes to a lane, zero elsewhere.
#[inline(always)]
fn ones<S: Scalar, P: Pack<S>>(picks: &Picks) -> P {
    let mut ones = [S::ZERO; PACK];
    for lane in 0..PACK {
        ones[lane] = S::lift(picks.real[lane]);
    }
    P::read(&ones)
}

/// Σ of some of the numbers that chains of other runs handed in.
#[inline(always)]
fn sum<S: Scalar, P: Pack<S>, const N: usize>(
    handed: &[[Register<S>; HANDED]],
    borne: &[Borne],
    start: usize,
) -> [P; N] {
    let mut sum = [P::ZERO; N];
    for Borne { run, picks } in borne {
        let (handed, real) = (&handed[*run][start..start + N], ones(picks));
        for i in 0..N {
            let x: P = get(&handed[i]);
            sum[i] = x.pick(&picks.lanes).mul_add(real, sum[i]);
        }
    }
    sum
}

#[inline(always)]
fn one_lane<S: Scalar, const N: usize>(registers: &[Register<S>], lane: usize) -> [S; N] {
    let mut x = [S::ZERO; N];
    for i in 0..N {
        x[i] = registers[i].0[lane];
    }
    x
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
    let (mut x, row) = ([P::ZERO; N], &row[start..start + N]);
    for i in 0..N {
        x[i] = get(&row[i]);
    }
    x
}

/// Over them.
#[inline(always)]
pub(crate) fn write<S: Scalar, P: Pack<S>, const N: usize>(row: &mut [Register<S>], start: usize, x: [P; N]) {
    let row = &mut row[start..start + N];
    for i in 0..N {
        put(&mut row[i], x[i]);
    }
}

/// Takes the columns that pass a link inward, in place: `$f` is one of them, `$inward` what it becomes. Before that its moment
/// about z is kept, where there is room for that.
macro_rules! pass_columns {
    (<$pack:ty> $columns:expr, $turned:expr, $passed:expr, $f:ident => $inward:expr) => {{
        let columns = $columns.as_chunks_mut::<6>().0;
        for (at, &(c, is_part)) in $passed.columns.iter().enumerate() {
            let column = &mut columns[c];
            let $f = Force::from_array(read::<_, $pack, 6>(column, 0));
            if let Some(moment) = $turned.get_mut(at) {
                $f.moment.z.write(&mut moment.0);
            }
            write_column(column, $inward, is_part.then_some($passed.lanes));
        }
    }};
}

pub(crate) use pass_columns;

/// Over a column; only in some lanes, if these are told.
#[inline(always)]
pub(crate) fn write_column<S: Scalar, P: Pack<S>>(column: &mut [Register<S>; 6], f: Force<P>, lanes: Option<u8>) {
    let mut x = f.to_array();
    if let Some(lanes) = lanes {
        for i in 0..6 {
            x[i] = x[i].over(get(&column[i]), lanes);
        }
    }
    write(column, 0, x);
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
