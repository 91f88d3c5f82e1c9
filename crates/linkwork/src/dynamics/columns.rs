//! Dense results column by column, several columns to a register: all columns of a subtree pass its joint together.
//!
//! Columns stand in the order of [`Layout`]. Those that have not started yet, and gaps, are nought.

use crate::model::{Compiled, GAP, Gain, Hinge, Layout};
use crate::scalar::{MOST_COLUMNS, Pack, Scalar};
use crate::spatial::{Force, Vec3};
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::joints::Joints;
use crate::stage::riccati::Ancestor;

/// Six numbers of every column, row by row.
struct Columns<'a, S> {
    numbers: &'a mut [S],
    width: usize,
}

impl<'a, S: Scalar> Columns<'a, S> {
    /// All nought.
    #[inline(always)]
    fn new(layout: &Layout, room: &'a mut [S]) -> Self {
        let (numbers, width) = (&mut room[..6 * layout.width], layout.width);
        numbers.fill(S::ZERO);
        Self { numbers, width }
    }

    #[inline(always)]
    fn load<P: Pack<S>>(&self, block: usize) -> Force<P> {
        let mut f = [P::ZERO; 6];
        for (i, f) in f.iter_mut().enumerate() {
            *f = P::read(&self.numbers[i * self.width + block..]);
        }
        Force::from_array(f)
    }

    #[inline(always)]
    fn store<P: Pack<S>>(&mut self, f: Force<P>, block: usize) {
        let f = f.to_array();
        for i in 0..6 {
            f[i].write(&mut self.numbers[i * self.width + block..]);
        }
    }
}

/// Where the registers of a link's subtree start.
#[inline(always)]
fn blocks<S: Scalar, P: Pack<S>>(layout: &Layout, k: usize) -> impl Iterator<Item = usize> + use<S, P> {
    (layout.start[k] / P::COLUMNS * P::COLUMNS..layout.end[k]).step_by(P::COLUMNS)
}

/// H f of one degree of freedom.
#[inline(always)]
fn pick<S: Scalar>(hinge: Hinge, i: usize, f: &Force<S>) -> S {
    if let Some(pitch) = hinge.pitch() {
        return S::lift(pitch).mul_add(f.force.z, f.moment.z);
    }
    match hinge.axes()[i] {
        0 => f.moment.x,
        1 => f.moment.y,
        2 => f.moment.z,
        3 => f.force.x,
        4 => f.force.y,
        _ => f.force.z,
    }
}

#[inline(always)]
fn spread<S: Scalar, P: Pack<S>>(f: Force<S>) -> Force<P> {
    let Force { moment, force } = f;
    Force {
        moment: Vec3::new(P::spread(moment.x), P::spread(moment.y), P::spread(moment.z)),
        force: Vec3::new(P::spread(force.x), P::spread(force.y), P::spread(force.z)),
    }
}

/// Rows of N = I − HψK, each over its subtree. Inward, for T = 1 at each column: ε = T − Hz, z⁺ = z + Gε.
#[inline(always)]
pub(super) fn innovations<S: Scalar, P: Pack<S>>(
    m: &Compiled,
    joints: &Joints<S>,
    gains: &[Gain<S>],
    layout: &Layout,
    room: &mut [S],
    rows: &mut [S],
) {
    let mut columns = Columns::new(layout, room);
    for k in (0..m.bodies.len()).rev() {
        let body = &m.bodies[k];
        at_joint!(m.bodies, joints, k, joint => {
            for block in blocks::<S, P>(layout, k) {
                let mut z = columns.load::<P>(block);
                for i in 0..body.dofs {
                    let at = layout.start[k] + i;
                    let mut eps = -pick(joint.hinge(), i, &z);
                    if let Some(own) = P::one_at(at, block) {
                        eps += own;
                    }
                    z = spread(Force::from_array(gains[body.v + i].g)).mul_add(eps, z);
                    eps.write(&mut rows[at * layout.width + block..]);
                }
                if body.parent.is_some() {
                    columns.store(joint.column_in(z), block);
                }
            }
        });
    }
}

/// N*D⁻¹N, tile by tile: an element is a sum over the common ancestors of its row and its column.
#[inline(always)]
pub(super) fn multiply<S: Scalar, P: Pack<S>>(
    layout: &Layout,
    gains: &[Gain<S>],
    rows: &[S],
    path: &mut Vec<Ancestor<S>>,
    n: usize,
    out: &mut [S],
) {
    for i in (0..layout.width).step_by(P::COLUMNS) {
        find_path::<S, P>(layout, gains, i, path);
        let mut first = 0;
        for j in (i..layout.tree_end[i]).step_by(P::COLUMNS) {
            while path[first].end <= j {
                first += 1;
            }
            let mut tile = [P::ZERO; MOST_COLUMNS];
            for ancestor in &path[first..] {
                let row = &rows[ancestor.row..ancestor.row + layout.width];
                let x = P::spread(ancestor.d_inv) * P::read(&row[j..]);
                let weights = &row[i..i + P::COLUMNS];
                for lane in 0..P::COLUMNS {
                    tile[lane] = P::spread(weights[lane]).mul_add(x, tile[lane]);
                }
            }
            if i == j {
                write_corner::<S, P>(n, layout, &tile, i, out);
            } else {
                write_tile::<S, P>(n, layout, &tile, i, j, out);
                write_tile::<S, P>(n, layout, &P::transpose(tile), j, i, out);
            }
        }
    }
}

/// The rows that reach a register of columns: those of its own degrees of freedom, the outermost first, and of all
/// toward the base.
#[inline(always)]
fn find_path<S: Scalar, P: Pack<S>>(layout: &Layout, gains: &[Gain<S>], block: usize, path: &mut Vec<Ancestor<S>>) {
    path.clear();
    let mut next = layout.outermost[block / P::COLUMNS];
    while next != GAP {
        path.push(Ancestor {
            row: next * layout.width,
            end: layout.end_at[next],
            d_inv: gains[layout.dof[next]].d_inv,
        });
        next = layout.up[next];
    }
}

/// What is right of the diagonal in the tile on it, on both sides.
#[inline(always)]
fn write_corner<S: Scalar, P: Pack<S>>(n: usize, layout: &Layout, tile: &[P; MOST_COLUMNS], i: usize, out: &mut [S]) {
    for row in 0..P::COLUMNS {
        let mut x = [S::ZERO; MOST_COLUMNS];
        tile[row].write(&mut x);
        for column in row..P::COLUMNS {
            let (u, v) = (layout.dof[i + row], layout.dof[i + column]);
            if u != GAP && v != GAP {
                out[u * n + v] = x[column];
                out[v * n + u] = x[column];
            }
        }
    }
}

/// A tile, to the rows and columns of the degrees of freedom from two columns on.
#[inline(always)]
fn write_tile<S: Scalar, P: Pack<S>>(
    n: usize,
    layout: &Layout,
    tile: &[P; MOST_COLUMNS],
    i: usize,
    j: usize,
    out: &mut [S],
) {
    let whole = layout.whole[j / P::COLUMNS];
    for lane in 0..P::COLUMNS {
        let u = layout.dof[i + lane];
        if u == GAP {
            continue;
        }
        if whole {
            tile[lane].write(&mut out[u * n + layout.dof[j]..]);
        } else {
            tile[lane].write_some(&layout.dof[j..], GAP, &mut out[u * n..(u + 1) * n]);
        }
    }
}

/// The upper triangle, row by row in the order of single columns, to both and to the users' order.
#[inline(always)]
pub(super) fn complete<S: Scalar>(m: &Compiled, out: &mut [S], room: &mut [S]) {
    mirror(m.nv, out);
    if !m.columns.in_users_order {
        reorder(&m.columns.single.dof, out, room);
    }
}

/// Copies the upper triangle to the lower.
#[inline(always)]
fn mirror<S: Scalar>(n: usize, out: &mut [S]) {
    for i in 0..n {
        let (upper, lower) = out.split_at_mut((i + 1) * n);
        let row = &upper[i * n + i + 1..];
        for (j, below) in lower.chunks_exact_mut(n).enumerate() {
            below[i] = row[j];
        }
    }
}

/// Rows and columns of a symmetric matrix from the compiled order to the users'.
fn reorder<S: Scalar>(dof: &[usize], out: &mut [S], row: &mut [S]) {
    let n = dof.len();
    for turn in 0..2 {
        for i in 0..n {
            row.copy_from_slice(&out[i * n..(i + 1) * n]);
            for j in 0..n {
                out[i * n + dof[j]] = row[j];
            }
        }
        if turn == 0 {
            for i in 0..n {
                for j in 0..i {
                    out.swap(i * n + j, j * n + i);
                }
            }
        }
    }
}
