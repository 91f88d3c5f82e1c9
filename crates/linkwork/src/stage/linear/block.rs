//! Columns side by side.

use crate::model::Compiled;
use crate::scalar::{Builds, Pack, Scalar};
use crate::spatial::{Force, Motion, Vec3};

/// Columns in a block.
pub(crate) const LANES: usize = crate::plan::TILE;

/// Rows of numbers, one number per column of a block.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Block<S, const ROWS: usize>(pub(crate) [[S; LANES]; ROWS]);

impl<S: Scalar, const ROWS: usize> Block<S, ROWS> {
    pub(crate) const ZERO: Self = Self([[S::ZERO; LANES]; ROWS]);

    /// Six rows of one column, from `row` on.
    #[inline(always)]
    pub(crate) fn six(&self, row: usize, lane: usize) -> [S; 6] {
        let x = &self.0;
        [
            x[row][lane],
            x[row + 1][lane],
            x[row + 2][lane],
            x[row + 3][lane],
            x[row + 4][lane],
            x[row + 5][lane],
        ]
    }

    #[inline(always)]
    pub(crate) fn three(&self, row: usize, lane: usize) -> Vec3<S> {
        Vec3::new(self.0[row][lane], self.0[row + 1][lane], self.0[row + 2][lane])
    }

    #[inline(always)]
    pub(crate) fn motion(&self, row: usize, lane: usize) -> Motion<S> {
        Motion::from_array(self.six(row, lane))
    }

    #[inline(always)]
    pub(crate) fn force(&self, row: usize, lane: usize) -> Force<S> {
        Force::from_array(self.six(row, lane))
    }

    /// Writes rows of one column, from `row` on.
    #[inline(always)]
    pub(crate) fn put<const N: usize>(&mut self, row: usize, lane: usize, x: [S; N]) {
        for i in 0..N {
            self.0[row + i][lane] = x[i];
        }
    }
}

/// Whether a column of a block is among those that the bits tell.
#[inline(always)]
pub(crate) fn bit(bits: u8, lane: usize) -> bool {
    (bits >> lane) & 1 != 0
}

/// Bits for the columns from..to of a block, as far as they are in it.
#[inline(always)]
pub(crate) fn bits(block: usize, from: usize, to: usize) -> u8 {
    let first = block * LANES;
    let below = |c: usize| (1_u32 << c.saturating_sub(first).min(LANES)) - 1;
    (below(to) & !below(from)) as u8
}

/// Whether the columns of a block are taken together, all of them: then that costs no more than one.
#[inline(always)]
pub(crate) fn together<S: Scalar>() -> bool {
    matches!(S::BUILDS, Builds::Shipped)
}

/// How many columns of a block to work on: all where they are taken together, else those that are there.
#[inline(always)]
pub(crate) fn lanes<S: Scalar>(block: usize, columns: usize) -> usize {
    if together::<S>() {
        LANES
    } else {
        LANES.min(columns - block * LANES)
    }
}

/// Where registers start in a block of which so many columns are left: at each of them, or once where one takes them all.
#[inline(always)]
pub(crate) fn places<S: Scalar, P: Pack<S>>(columns: usize) -> core::ops::Range<usize> {
    0..if const { P::COLUMNS == LANES } {
        1
    } else {
        LANES.min(columns)
    }
}

/// Blocks for so many columns.
pub(crate) fn blocks(columns: usize) -> usize {
    columns.div_ceil(LANES)
}

/// Numbers in a square of tiles.
pub(crate) fn square_room(columns: usize) -> usize {
    LANES * LANES * blocks(columns) * blocks(columns)
}

/// Numbers that 𝓜⁻¹ is made in: such a square, and a dense matrix where users have another order.
pub(crate) fn inverse_room(m: &Compiled) -> usize {
    let dense = if m.columns.in_users_order { 0 } else { m.nv * m.nv };
    square_room(m.nv) + dense
}

/// Some rows of a block, from `row` on: the columns from `place` on.
#[inline(always)]
pub(crate) fn read<S: Scalar, P: Pack<S>, const N: usize>(block: &[[S; LANES]], row: usize, place: usize) -> [P; N] {
    let (mut some, block) = ([P::ZERO; N], &block[row..row + N]);
    for i in 0..N {
        some[i] = P::read(&block[i][place..]);
    }
    some
}

#[inline(always)]
pub(crate) fn turn<S: Scalar, P: Pack<S>>(x: [S; 3], y: [P; 3]) -> P {
    P::spread(x[0]).mul_add(y[0], P::spread(x[1]).mul_add(y[1], P::spread(x[2]) * y[2]))
}

#[inline(always)]
pub(crate) fn dot<S: Scalar, P: Pack<S>>(x: [S; 6], y: [P; 6]) -> P {
    turn([x[0], x[1], x[2]], [y[0], y[1], y[2]]) + turn([x[3], x[4], x[5]], [y[3], y[4], y[5]])
}
