//! Numbers from registers to their places in a matrix, by lists that are checked once.

use crate::scalar::MOST_COLUMNS as LANES;
#[cfg(target_arch = "x86_64")]
use crate::stage::abreast::Register;

/// How many noughts times four are written at once.
const PART: usize = 8;

/// Whence and where to. Sources are counted in numbers, four to a register.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "one number to a register"))]
pub(crate) struct Copies {
    tiles: Vec<Tile<LANES>>,
    halves: [Vec<Tile<2>>; 2],
    singles: Vec<[u32; 2]>,
    /// Where four noughts go, and one.
    fours: Vec<[u32; PART]>,
    ones: Vec<u32>,
    /// How many of the last part are not there yet; it tells another place as often.
    missing: usize,
    /// How many numbers there must be at least on either side.
    sources: usize,
    places: usize,
}

/// Four registers whose numbers stand side by side, lane by lane: where each lane starts.
#[derive(Clone, Copy, Debug)]
struct Tile<const N: usize> {
    from: [u32; LANES],
    to: [u32; N],
}

impl Copies {
    /// Four registers, each lane of which goes to a place of its own.
    pub(crate) fn add_tile(&mut self, registers: [usize; LANES], to: [usize; LANES]) {
        let from = registers.map(|register| self.source(register, 0));
        let to = to.map(|to| self.place(to, LANES));
        self.tiles.push(Tile { from, to });
    }

    /// The same for the first two lanes, or the last two.
    pub(crate) fn add_half(&mut self, half: usize, registers: [usize; LANES], to: [usize; 2]) {
        let from = registers.map(|register| self.source(register, 0));
        let to = to.map(|to| self.place(to, LANES));
        self.halves[half].push(Tile { from, to });
    }

    /// One lane of a register.
    pub(crate) fn add_single(&mut self, register: usize, lane: usize, to: usize) {
        let single = [self.source(register, lane), self.place(to, 1)];
        self.singles.push(single);
    }

    /// Noughts from one place to another.
    pub(crate) fn add_noughts(&mut self, range: core::ops::Range<usize>) {
        if range.len() < LANES {
            for at in range {
                let at = self.place(at, 1);
                self.ones.push(at);
            }
        } else {
            // The last four may overlap those before them.
            let last = range.end - LANES;
            for at in (range.start..last).step_by(LANES).chain([last]) {
                let at = self.place(at, LANES);
                match self.fours.last_mut() {
                    Some(part) if self.missing > 0 => {
                        part[PART - self.missing] = at;
                        self.missing -= 1;
                    }
                    _ => {
                        self.fours.push([at; PART]);
                        self.missing = PART - 1;
                    }
                }
            }
        }
    }

    /// How many parts the noughts have.
    pub(crate) fn parts(&self) -> usize {
        self.fours.len()
    }

    fn source(&mut self, register: usize, lane: usize) -> u32 {
        assert!(lane < LANES && register < (u32::MAX as usize) / LANES);
        self.sources = self.sources.max(LANES * (register + 1));
        (LANES * register + lane) as u32
    }

    fn place(&mut self, to: usize, count: usize) -> u32 {
        assert!(to < u32::MAX as usize);
        self.places = self.places.max(to + count);
        to as u32
    }
}

#[cfg(target_arch = "x86_64")]
impl Copies {
    /// Some of the noughts, with AVX2; no more if there are none left.
    ///
    /// # Safety
    /// The processor must have it.
    #[inline(always)]
    pub(super) unsafe fn fill(&self, part: usize, places: &mut [f64]) {
        use core::arch::x86_64::*;
        assert!(self.places <= places.len());
        if part < self.fours.len() {
            for at in self.fours[part] {
                // SAFETY: no place is beyond that end, which has grown with every one that was added.
                unsafe { _mm256_storeu_pd(places.as_mut_ptr().add(at as usize), _mm256_setzero_pd()) };
            }
        }
    }

    /// All of them, with AVX2.
    ///
    /// # Safety
    /// The processor must have it.
    #[inline(always)]
    pub(super) unsafe fn copy(&self, sources: &[Register<f64>], places: &mut [f64]) {
        use core::arch::x86_64::*;
        assert!(self.sources <= LANES * sources.len() && self.places <= places.len());
        // SAFETY: a register is four numbers and no more; no source and no place is beyond those ends, which have grown with
        // every one that was added.
        unsafe {
            let (from, to) = (sources.as_ptr().cast::<f64>(), places.as_mut_ptr());
            let read = |i: u32| _mm256_loadu_pd(from.add(i as usize));
            for Tile {
                from: [a, b, c, d],
                to: places,
            } in &self.tiles
            {
                let rows = super::transpose::transpose_f64x4([read(*a), read(*b), read(*c), read(*d)]);
                for lane in 0..LANES {
                    _mm256_storeu_pd(to.add(places[lane] as usize), rows[lane]);
                }
            }
            for (half, tiles) in self.halves.iter().enumerate() {
                let from = from.add(2 * half);
                for tile in tiles {
                    let read = |i: usize| _mm_loadu_pd(from.add(tile.from[i] as usize));
                    let first = _mm256_set_m128d(read(2), read(0));
                    let second = _mm256_set_m128d(read(3), read(1));
                    _mm256_storeu_pd(to.add(tile.to[0] as usize), _mm256_unpacklo_pd(first, second));
                    _mm256_storeu_pd(to.add(tile.to[1] as usize), _mm256_unpackhi_pd(first, second));
                }
            }
            for place in &self.ones {
                *to.add(*place as usize) = 0.0;
            }
            for [source, place] in &self.singles {
                *to.add(*place as usize) = *from.add(*source as usize);
            }
        }
    }
}
