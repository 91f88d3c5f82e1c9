//! Lists of numbers in registers and their places in a matrix, whose ends are known: to be checked once.

use super::MOST_COLUMNS as LANES;

/// A number of every lane.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Register<S>(pub(crate) [S; LANES]);

/// How many zeros times eight are written at once.
const PART: usize = 8;
const EIGHT: usize = 2 * LANES;

/// Whence and where to. Sources are counted in numbers, four to a register.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    tiles: Vec<Tile<LANES>>,
    halves: [Vec<Tile<2>>; 2],
    singles: Vec<[u32; 2]>,
    /// Where eight zeros go, four, and one.
    eights: Vec<[u32; PART]>,
    fours: Vec<u32>,
    ones: Vec<u32>,
    /// How many of the last part are not there yet; it tells another place as often.
    missing: usize,
    /// How many numbers there must be at least on either side.
    sources: usize,
    places: usize,
}

/// Four registers whose numbers stand side by side, lane by lane: where each lane starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile<const N: usize> {
    pub(crate) from: [u32; LANES],
    pub(crate) to: [u32; N],
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "one number to a register"))]
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

    /// Zeros from one place to another. The last ones of a range may overlap those before them.
    pub(crate) fn add_zeros(&mut self, range: core::ops::Range<usize>) {
        let by = |count: usize| {
            let last = range.end - count;
            (range.start..last).step_by(count).chain([last])
        };
        match range.len() {
            ..LANES => {
                for at in range {
                    let at = self.place(at, 1);
                    self.ones.push(at);
                }
            }
            LANES..EIGHT => {
                for at in by(LANES) {
                    let at = self.place(at, LANES);
                    self.fours.push(at);
                }
            }
            _ => {
                for at in by(EIGHT) {
                    let at = self.place(at, EIGHT);
                    match self.eights.last_mut() {
                        Some(part) if self.missing > 0 => {
                            part[PART - self.missing] = at;
                            self.missing -= 1;
                        }
                        _ => {
                            self.eights.push([at; PART]);
                            self.missing = PART - 1;
                        }
                    }
                }
            }
        }
    }

    /// How many parts the zeros have that go by eights.
    pub(crate) fn parts(&self) -> usize {
        self.eights.len()
    }

    /// Where eight zeros go.
    #[inline(always)]
    pub(crate) fn part(&self, part: usize) -> Option<&[u32; PART]> {
        self.eights.get(part)
    }

    /// How many numbers there must be at least, where they come from and where they go.
    #[inline(always)]
    pub(crate) fn ends(&self) -> [usize; 2] {
        [self.sources, self.places]
    }

    #[inline(always)]
    pub(crate) fn tiles(&self) -> &[Tile<LANES>] {
        &self.tiles
    }

    /// The first two lanes of some, and the last two of others.
    #[inline(always)]
    pub(crate) fn halves(&self) -> &[Vec<Tile<2>>; 2] {
        &self.halves
    }

    /// Sources and places.
    #[inline(always)]
    pub(crate) fn singles(&self) -> &[[u32; 2]] {
        &self.singles
    }

    /// Where four zeros go, and where one goes.
    #[inline(always)]
    pub(crate) fn zeros(&self) -> [&[u32]; 2] {
        [&self.fours, &self.ones]
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
