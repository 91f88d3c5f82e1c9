//! Dense results column by column: all columns of a subtree pass its joint together.
//!
//! Those that have not started yet are zero.

use crate::body::{Gain, Hinge};
use crate::model::Compiled;
use crate::scalar::{Scalar, zeros};
use crate::spatial::Force;
use crate::stage::crossing::{Crossing, at_joint};
use crate::stage::joints::Joints;

/// Six numbers of every column, row by row.
struct Columns<'a, S> {
    numbers: &'a mut [S],
    width: usize,
}

impl<'a, S: Scalar> Columns<'a, S> {
    /// All zero.
    #[inline(always)]
    fn new(width: usize, room: &'a mut [S]) -> Self {
        let numbers = &mut room[..6 * width];
        zeros(numbers);
        Self { numbers, width }
    }

    #[inline(always)]
    fn load(&self, column: usize) -> Force<S> {
        let mut f = [S::ZERO; 6];
        for i in 0..6 {
            f[i] = self.numbers[i * self.width + column];
        }
        Force::from_array(f)
    }

    #[inline(always)]
    fn store(&mut self, f: Force<S>, column: usize) {
        let f = f.to_array();
        for i in 0..6 {
            self.numbers[i * self.width + column] = f[i];
        }
    }
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

/// Rows of N = I − HψK, each over its subtree. Inward, for T = 1 at each column: ε = T − Hz, z⁺ = z + Gε.
#[inline(always)]
pub(super) fn innovations<S: Scalar, const SPECIAL: bool>(
    m: &Compiled,
    joints: &Joints<S>,
    gains: &[Gain<S>],
    room: &mut [S],
    rows: &mut [S],
) {
    let (n, layout) = (m.nv, &m.columns.single);
    let mut columns = Columns::new(n, room);
    for k in (0..m.bodies.len()).rev() {
        let body = &m.bodies[k];
        at_joint!(<S, SPECIAL> m.bodies, joints, k, joint => {
            for column in layout.start[k]..layout.end[k] {
                let mut z = columns.load(column);
                for i in 0..body.dofs {
                    let at = layout.start[k] + i;
                    let mut eps = -pick(joint.hinge(), i, &z);
                    if at == column {
                        eps += S::ONE;
                    }
                    z = Force::from_array(gains[body.v + i].g).mul_add(eps, z);
                    rows[at * n + column] = eps;
                }
                if body.parent.is_some() {
                    columns.store(joint.force_in(z), column);
                }
            }
        });
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
