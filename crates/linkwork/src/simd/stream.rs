//! Lanes into states past the caches.
//!
//! An ordinary store first reads its line of the cache. Where so much is written that none of it stays there, that is half
//! of the traffic, and whole lines go straight to memory instead. A state may start anywhere in a line: every line is put
//! together from two blocks of numbers, this one and the one before.

use super::lanes::{F32x16, F64x8};
use super::transpose::{turned_f32x16, turned_f64x8};
use core::arch::x86_64::*;

/// Lanes of a group that are turned over together.
const TOGETHER: usize = 8;

/// Lanes into states: the numbers of a line, and the intrinsics.
macro_rules! stream {
    (
        $stream:ident, $edge:ident: $lanes:ident = [$register:ty = [$element:ty; $n:literal]], $turned:ident, $zero:ident,
        join $join:ident by |$shift:ident| $by:expr, part $part:ident by $mask:ty, $past:ident
    ) => {
        /// Lanes into a whole group of states of `each` numbers, one every `stride` numbers; each stands where `place` says.
        ///
        /// # Safety
        /// The processor must have these features, there be room for the last state's numbers, and every place be one of
        /// the lanes.
        #[inline]
        #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
        pub(super) unsafe fn $stream(
            lanes: &[$lanes],
            place: impl Fn(usize) -> usize,
            each: usize,
            states: *mut $element,
            stride: usize,
        ) {
            let (whole, nothing) = (each / $n, $zero());
            for first in (0..<$lanes as crate::scalar::Scalar>::LANES).step_by(TOGETHER) {
                // Where the line is in which each state starts, how far from its start, and what moves numbers there.
                let (mut lines, mut late) = ([states; TOGETHER], [0; TOGETHER]);
                let mut shifts = [_mm512_setzero_si512(); TOGETHER];
                for lane in 0..TOGETHER {
                    let state = states.wrapping_add((first + lane) * stride);
                    late[lane] = state as usize / size_of::<$element>() % $n;
                    lines[lane] = state.wrapping_sub(late[lane]);
                    let $shift = ($n - late[lane]) as _;
                    shifts[lane] = $by;
                }
                let rows = |block: usize| {
                    let (mut columns, start) = ([&nothing; $n], block * $n);
                    for i in 0..$n {
                        if start + i < each {
                            // SAFETY: as the caller says.
                            columns[i] = unsafe { &lanes.get_unchecked(place(start + i)).0 };
                        }
                    }
                    // SAFETY: the features are those of this function, and there are as many lanes from the first one on.
                    unsafe { $turned(columns, first) }
                };
                let at_edge = |block: usize, before, rows| {
                    // SAFETY: the lines are those of states for which there is room.
                    unsafe { $edge(block * $n, each, (lines, late), shifts, before, rows) };
                };
                let mut before = rows(0);
                at_edge(0, [nothing; TOGETHER], before);
                for block in 1..whole {
                    let mut columns = [&nothing; $n];
                    for i in 0..$n {
                        // SAFETY: as the caller says.
                        columns[i] = unsafe { &lanes.get_unchecked(place(block * $n + i)).0 };
                    }
                    // SAFETY: as above; this line starts and ends within its state.
                    unsafe {
                        let rows = $turned(columns, first);
                        for lane in 0..TOGETHER {
                            let line = lines[lane].add(block * $n);
                            $past(line.cast(), $join(before[lane], shifts[lane], rows[lane]));
                        }
                        before = rows;
                    }
                }
                for block in whole.max(1)..whole + 2 {
                    let now = rows(block);
                    at_edge(block, before, now);
                    before = now;
                }
            }
            _mm_sfence();
        }

        /// Those numbers of a line of each state that belong to it; the line starts so many numbers after the first one.
        ///
        /// # Safety
        /// The processor must have these features, and there be room for `each` numbers from where a state starts.
        #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
        unsafe fn $edge(
            start: usize,
            each: usize,
            (lines, late): ([*mut $element; TOGETHER], [usize; TOGETHER]),
            shifts: [__m512i; TOGETHER],
            before: [$register; TOGETHER],
            rows: [$register; TOGETHER],
        ) {
            for lane in 0..TOGETHER {
                let from = late[lane].saturating_sub(start);
                let to = (each + late[lane]).saturating_sub(start).min($n);
                let below = |i: usize| ((1_u32 << i) - 1) as $mask;
                if from >= to {
                    continue;
                }
                // SAFETY: masked numbers are not written.
                unsafe {
                    let x = $join(before[lane], shifts[lane], rows[lane]);
                    $part(lines[lane].wrapping_add(start), below(to) & !below(from), x);
                }
            }
        }
    };
}

stream! {
    stream_f64x8, edge_f64x8: F64x8 = [__m512d = [f64; 8]], turned_f64x8, _mm512_setzero_pd,
    join _mm512_permutex2var_pd by |shift| {
        _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(shift))
    },
    part _mm512_mask_storeu_pd by u8, _mm512_stream_pd
}

stream! {
    stream_f32x16, edge_f32x16: F32x16 = [__m512 = [f32; 16]], turned_f32x16, _mm512_setzero_ps,
    join _mm512_permutex2var_ps by |shift| {
        let up = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        _mm512_add_epi32(up, _mm512_set1_epi32(shift))
    },
    part _mm512_mask_storeu_ps by u16, _mm512_stream_ps
}

#[cfg(test)]
mod tests {
    use super::super::{F64x4, Lanes, Places};
    use super::*;

    /// States of any length and distance, anywhere in a line, some without a place: as by ordinary stores, and nothing
    /// else is written.
    fn as_ordinary_stores<S: Lanes<Element: From<u16> + PartialEq + core::fmt::Debug>>() {
        let number = |i: usize| S::Element::from(i as u16);
        let computed = 150;
        let mut lanes = Vec::new();
        for i in 0..computed {
            lanes.push(S::from_lanes(|lane| number(1 + 16 * i + lane)));
        }
        lanes.push(S::ZERO);
        let untouched = number(9999);
        for each in (1..70).chain([128, 129, 143]) {
            let places = (0..each).map(|i| (i * 37 % (computed + 1)) as u32).collect::<Vec<_>>();
            let places = Places::from(places);
            for (stride, states, at) in [
                (each, S::LANES, 0),
                (each, S::LANES, each % 17),
                (each + 3, S::LANES, 5),
                (each + 64, S::LANES, 9),
                (each, S::LANES - 1, 3),
                (each + 1, 1, 1),
            ] {
                for from in [None, Some(&places)] {
                    let mut wanted = vec![untouched; at + (states - 1) * stride + each + 32];
                    let mut got = wanted.clone();
                    let range = at..at + (states - 1) * stride + each;
                    match from {
                        None => S::store(&lanes[..each], &mut wanted[range.clone()], stride),
                        Some(from) => S::spread(&lanes, from, &mut wanted[range.clone()], stride),
                    }
                    S::stream(&lanes, from, each, &mut got[range], stride);
                    assert_eq!(
                        got, wanted,
                        "{each} numbers every {stride}, {states} states, from {at} on"
                    );
                }
            }
        }
    }

    #[test]
    fn stores_past_the_caches_are_stores() {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512vl") && has!("avx512dq") {
            as_ordinary_stores::<F64x8>();
            as_ordinary_stores::<F32x16>();
        }
        if has!("avx2") && has!("fma") {
            as_ordinary_stores::<F64x4>();
        }
    }
}
