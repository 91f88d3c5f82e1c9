//! Four columns of one state in a register.

use super::lanes::F64x4;
use super::scatter;
use crate::scalar::{Copies, Pack, Register, Scalar, put};

/// Ones in the columns that the lowest bits tell.
#[inline(always)]
fn mask(bits: u8) -> core::arch::x86_64::__m256d {
    const MASKS: [[u64; 4]; 16] = {
        let (mut masks, mut i) = ([[0; 4]; 16], 0);
        while i < 64 {
            if ((i / 4) >> (i % 4)) & 1 != 0 {
                masks[i / 4][i % 4] = u64::MAX;
            }
            i += 1;
        }
        masks
    };
    // SAFETY: any bits are a mask.
    unsafe { core::mem::transmute::<[u64; 4], core::arch::x86_64::__m256d>(MASKS[usize::from(bits & 15)]) }
}

impl Pack<f64> for F64x4 {
    const COLUMNS: usize = 4;

    #[inline(always)]
    fn spread(x: f64) -> Self {
        Self::lift(x)
    }

    #[inline(always)]
    fn one_at(column: usize, block: usize) -> Option<Self> {
        const ONES: [[f64; 4]; 4] = [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
        ];
        match column.wrapping_sub(block) {
            lane @ 0..4 => Some(Self::from_array(ONES[lane])),
            _ => None,
        }
    }

    #[inline(always)]
    fn read(from: &[f64]) -> Self {
        let from = &from[..4];
        // SAFETY: the number exists, and so do the instructions; four numbers are there. As numbers one by one they might
        // also be read in pieces.
        Self(unsafe { core::arch::x86_64::_mm256_loadu_pd(from.as_ptr()) })
    }

    #[inline(always)]
    fn write(self, to: &mut [f64]) {
        put(self.to_array(), to);
    }

    #[inline(always)]
    fn three([x, y, z]: [f64; 3]) -> Self {
        // SAFETY: the number exists, and so do the instructions.
        Self(unsafe { core::arch::x86_64::_mm256_set_pd(z, z, y, x) })
    }

    #[inline(always)]
    fn read_rows(from: &[f64], apart: usize) -> [Self; 4] {
        let from = &from[..3 * apart + 4];
        let mut rows = [Self::ZERO; 4];
        for i in 0..4 {
            // SAFETY: the number exists, and so do the instructions; the last row ends where the slice does.
            rows[i] = Self(unsafe { core::arch::x86_64::_mm256_loadu_pd(from.as_ptr().add(i * apart)) });
        }
        rows
    }

    #[inline(always)]
    fn write_rows(rows: [Self; 4], to: &mut [f64], apart: usize) {
        let to = &mut to[..3 * apart + 4];
        for i in 0..4 {
            // SAFETY: the number exists, and so do the instructions; the last row ends where the slice does.
            unsafe { core::arch::x86_64::_mm256_storeu_pd(to.as_mut_ptr().add(i * apart), rows[i].0) };
        }
    }

    #[inline(always)]
    fn write_some(self, places: &[usize], none: usize, to: &mut [f64]) {
        let x = self.to_array();
        for i in 0..4 {
            if places[i] != none {
                to[places[i]] = x[i];
            }
        }
    }

    #[inline(always)]
    fn keep(self, bits: u8) -> Self {
        // SAFETY: the number exists, and so do the instructions; any bits are a mask.
        Self(unsafe { core::arch::x86_64::_mm256_and_pd(self.0, mask(bits)) })
    }

    #[inline(always)]
    fn over(self, other: Self, bits: u8) -> Self {
        // SAFETY: as above.
        Self(unsafe { core::arch::x86_64::_mm256_blendv_pd(other.0, self.0, mask(bits)) })
    }

    #[inline(always)]
    fn pick(self, columns: &[usize; 4]) -> Self {
        use core::arch::x86_64::*;
        // SAFETY: the number exists, and so do the instructions; four columns are read, and any bits are an index.
        Self(unsafe {
            // Halves 2i and 2i + 1 of every column i.
            let twice = _mm256_slli_epi64::<1>(_mm256_loadu_si256(columns.as_ptr().cast()));
            let both = _mm256_or_si256(twice, _mm256_slli_epi64::<32>(twice));
            let halves = _mm256_add_epi64(both, _mm256_set1_epi64x(1 << 32));
            _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(self.0), halves))
        })
    }

    #[inline(always)]
    fn write_first(self, places: &[usize], to: &mut [f64]) {
        let x = self.to_array();
        for i in 0..places.len().min(4) {
            to[places[i]] = x[i];
        }
    }

    #[inline(always)]
    fn fill(copies: &Copies, part: usize, to: &mut [f64]) {
        // SAFETY: whoever has such numbers has the instructions.
        unsafe { scatter::fill(copies, part, to) };
    }

    #[inline(always)]
    fn copy(copies: &Copies, from: &[Register<f64>], to: &mut [f64]) {
        // SAFETY: whoever has such numbers has the instructions.
        unsafe { scatter::copy(copies, from, to) };
    }

    #[inline(always)]
    fn transpose(rows: [Self; 4]) -> [Self; 4] {
        let [a, b, c, d] = rows;
        // SAFETY: the numbers exist, and so do the instructions.
        let [a, b, c, d] = unsafe { super::transpose::transpose_f64x4([a.0, b.0, c.0, d.0]) };
        [Self(a), Self(b), Self(c), Self(d)]
    }
}
