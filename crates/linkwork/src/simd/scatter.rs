//! Numbers from registers to their places in a matrix, by lists that are checked once.
#![cfg(target_arch = "x86_64")]

use crate::scalar::{Copies, MOST_COLUMNS as LANES, Register, Tile};

/// Some of the zeros, with AVX2; no more if there are none left.
///
/// # Safety
/// The processor must have it.
#[inline(always)]
pub(super) unsafe fn fill(copies: &Copies, part: usize, places: &mut [f64]) {
    use core::arch::x86_64::*;
    let [_, end] = copies.ends();
    assert!(end <= places.len());
    if let Some(part) = copies.part(part) {
        for at in part {
            // SAFETY: no place is beyond that end, which has grown with every one that was added, all eight of it.
            unsafe {
                let at = places.as_mut_ptr().add(*at as usize);
                _mm256_storeu_pd(at, _mm256_setzero_pd());
                _mm256_storeu_pd(at.add(LANES), _mm256_setzero_pd());
            }
        }
    }
}

/// Numbers to their places, and the zeros that stand alone, with AVX2.
///
/// # Safety
/// The processor must have it.
#[inline(always)]
pub(super) unsafe fn copy(copies: &Copies, sources: &[Register<f64>], places: &mut [f64]) {
    use core::arch::x86_64::*;
    let [sources_end, end] = copies.ends();
    assert!(sources_end <= LANES * sources.len() && end <= places.len());
    // SAFETY: a register is four numbers and no more; no source and no place is beyond those ends, which have grown with
    // every one that was added.
    unsafe {
        let (from, to) = (sources.as_ptr().cast::<f64>(), places.as_mut_ptr());
        let read = |i: u32| _mm256_loadu_pd(from.add(i as usize));
        for Tile {
            from: [a, b, c, d],
            to: places,
        } in copies.tiles()
        {
            let rows = super::transpose::transpose_f64x4([read(*a), read(*b), read(*c), read(*d)]);
            for lane in 0..LANES {
                _mm256_storeu_pd(to.add(places[lane] as usize), rows[lane]);
            }
        }
        for (half, tiles) in copies.halves().iter().enumerate() {
            let from = from.add(2 * half);
            for tile in tiles {
                let read = |i: usize| _mm_loadu_pd(from.add(tile.from[i] as usize));
                let first = _mm256_set_m128d(read(2), read(0));
                let second = _mm256_set_m128d(read(3), read(1));
                _mm256_storeu_pd(to.add(tile.to[0] as usize), _mm256_unpacklo_pd(first, second));
                _mm256_storeu_pd(to.add(tile.to[1] as usize), _mm256_unpackhi_pd(first, second));
            }
        }
        let [fours, ones] = copies.zeros();
        for place in fours {
            _mm256_storeu_pd(to.add(*place as usize), _mm256_setzero_pd());
        }
        for place in ones {
            *to.add(*place as usize) = 0.0;
        }
        for [source, place] in copies.singles() {
            *to.add(*place as usize) = *from.add(*source as usize);
        }
    }
}
