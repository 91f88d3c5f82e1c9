//! How elements of 𝓜 get from registers into rows.
//!
//! A sweep over lanes leaves every element in a register with those of other lanes. Up to four registers whose elements stand
//! side by side in a row of 𝓜, and likewise in every lane, are written as a square tile: four numbers at once. Where there are
//! fewer than four, zeros are written behind them, if they belong there or if what does comes later; a lane that has none is
//! written where another one will be.

use super::{Abreast, Column, GAP, Layout, Line, PACK, Run};
use crate::plan::zero_ranges;
use crate::scalar::Copies;

/// All elements of columns in lanes; one register is zero.
pub(super) fn copies(runs: &[Run], folded: &[Run], columns: &[Column], layout: &Layout, zero: usize) -> Copies {
    let mut list = List::default();
    for run in runs {
        list.add_rows(run, columns);
        list.add_trunk(run, columns);
    }
    for run in folded {
        list.add_folded(run, columns);
        list.add_trunk(run, columns);
    }
    let mut copies = list.in_order(layout, zero);
    zero_ranges(layout)
        .into_iter()
        .for_each(|range| copies.add_zeros(range));
    copies
}

/// Up to four elements of a row, lane by lane: their registers, and where the first one goes.
#[derive(Clone, Copy)]
struct Piece {
    from: [usize; PACK],
    count: usize,
    to: [usize; PACK],
}

/// Which lanes of registers are written at once: all, or half of them. In this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lanes {
    All,
    First,
    Last,
}

impl Piece {
    /// None where one lane alone has a place.
    fn lanes(&self) -> Option<Lanes> {
        match self.to.map(|to| to != GAP) {
            [true, true, false, false] => Some(Lanes::First),
            [false, false, true, true] => Some(Lanes::Last),
            has if has.into_iter().filter(|&has| has).count() > 1 => Some(Lanes::All),
            _ => None,
        }
    }

    /// The places of the elements.
    fn places(&self) -> impl Iterator<Item = usize> {
        let Self { to, count, .. } = *self;
        (to.into_iter().filter(|&to| to != GAP)).flat_map(move |to| to..to + count)
    }

    /// The places behind them that are written too, but for those that a later lane writes again.
    fn beyond(&self) -> impl Iterator<Item = usize> {
        let Self { to, count, .. } = *self;
        let is_again = move |lane: usize, at: usize| {
            to[lane + 1..]
                .iter()
                .any(|&to| to != GAP && (to..to + count).contains(&at))
        };
        let lanes = (0..PACK).filter(move |&lane| to[lane] != GAP);
        lanes.flat_map(move |lane| (to[lane] + count..to[lane] + PACK).filter(move |&at| !is_again(lane, at)))
    }

    /// Lanes without a place are written where one is that comes later, of this piece or of the next.
    fn fill_gaps(&mut self, next: Option<&Self>) -> bool {
        let mut later = next.map_or(GAP, |next| next.to[PACK - 1]);
        for to in self.to.iter_mut().rev() {
            if *to == GAP {
                *to = later;
            }
            later = *to;
        }
        !self.to.contains(&GAP)
    }
}

#[derive(Default)]
struct List(Vec<Piece>);

impl List {
    /// Elements between a run's own links, and between these and what comes to them.
    fn add_rows(&mut self, run: &Run, columns: &[Column]) {
        let line = |c: usize| &columns[c].line;
        let register = |i: usize, c: usize| run.rows[i].elements + (c - run.rows[i].column);
        for (i, row) in run.rows.iter().enumerate() {
            let inner = run.rows[..i].iter().enumerate();
            let inner = inner.map(|(j, other)| (line(other.column), register(j, row.column)));
            let outer = (row.column..run.end).map(|c| (line(c), register(i, c)));
            self.add(line(row.column), &inner.chain(outer).collect::<Vec<_>>());
            for c in row.column + 1..row.come {
                let inner = run.rows[..=i].iter().enumerate();
                let inner = inner.map(|(j, other)| (line(other.column), register(j, c)));
                self.add(line(c), &inner.collect::<Vec<_>>());
            }
        }
    }

    /// Elements between links and what has been folded.
    fn add_folded(&mut self, run: &Run, columns: &[Column]) {
        let register = |row: &Abreast, c: usize| row.elements + (c - row.column);
        let all = run.rows[0].column..run.end;
        for row in &run.rows {
            let across = all.clone().map(|c| (&columns[c].line, register(row, c)));
            self.add(&row.line, &across.collect::<Vec<_>>());
        }
        for c in all {
            let along = run.rows.iter().map(|row| (&row.line, register(row, c)));
            self.add(&columns[c].line, &along.collect::<Vec<_>>());
        }
    }

    /// Elements between a run's columns and the trunk.
    fn add_trunk(&mut self, run: &Run, columns: &[Column]) {
        let mut rows = vec![Vec::new(); columns.len()];
        for passed in run.onward.iter().rev() {
            for (i, line) in passed.lines.iter().enumerate() {
                let mut across = Vec::new();
                for (at, &(c, _)) in passed.columns.iter().enumerate() {
                    let register = match passed.elements {
                        Some(start) => start + i * passed.columns.len() + at,
                        None => 6 * c + i,
                    };
                    across.push((&columns[c].line, register));
                    rows[c].push((line, register));
                }
                self.add(line, &across);
            }
        }
        for (column, row) in columns.iter().zip(&rows) {
            self.add(&column.line, row);
        }
    }

    /// The elements of one row of every lane, in some columns, each of which has a register.
    fn add(&mut self, row: &Line, elements: &[(&Line, usize)]) {
        let place = |at: usize, lane: usize| match (row.starts[lane], elements[at].0.dofs[lane]) {
            (GAP, _) | (_, GAP) => GAP,
            (start, v) => start + v,
        };
        let follows = |&at: &usize| {
            (0..PACK).all(|lane| match (place(at, lane), place(at + 1, lane)) {
                (GAP, next) => next == GAP,
                (last, next) => last + 1 == next,
            })
        };
        let mut first = 0;
        while first < elements.len() {
            let end = (first..elements.len() - 1).find(|at| !follows(at));
            let end = end.map_or(elements.len(), |at| at + 1);
            // The last one may overlap the one before it.
            let last = end.saturating_sub(PACK).max(first);
            for at in (first..last).step_by(PACK).chain([last]) {
                let count = PACK.min(end - at);
                self.0.push(Piece {
                    from: core::array::from_fn(|j| elements[at + j.min(count - 1)].1),
                    count,
                    to: core::array::from_fn(|lane| place(at, lane)),
                });
            }
            first = end;
        }
    }

    /// Pieces one after the other, so that every element is written after all that is written where it belongs.
    fn in_order(self, layout: &Layout, zero: usize) -> Copies {
        let mut pieces = self.0;
        pieces.sort_by_key(|piece| (piece.lanes(), piece.count == PACK, piece.to));
        // Which piece is the last to write an element; zeros, and elements that are written one by one, are right after all.
        let n = layout.dof.len();
        let mut written_by = vec![usize::MAX; n * n];
        for (i, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.lanes().is_some()) {
            piece.places().for_each(|at| written_by[at] = i);
        }
        let (mut kept, mut singles): (Vec<(Lanes, Piece)>, _) = (Vec::new(), Vec::new());
        for (i, piece) in pieces.iter().enumerate().rev() {
            let mut whole = *piece;
            let fits = |at: usize| written_by.get(at).is_some_and(|&by| by > i);
            let lanes = piece.lanes().filter(|_| piece.beyond().all(fits));
            let next = kept.last().filter(|next| Some(next.0) == lanes).map(|next| &next.1);
            match lanes {
                Some(Lanes::All) if !whole.fill_gaps(next) => singles.push(piece),
                Some(lanes) => {
                    whole.from[piece.count..].fill(zero);
                    kept.push((lanes, whole));
                    continue;
                }
                None => singles.push(piece),
            }
            piece.places().for_each(|at| written_by[at] = usize::MAX);
        }
        let mut copies = Copies::default();
        for (lanes, Piece { from, to, .. }) in kept.into_iter().rev() {
            match lanes {
                Lanes::All => copies.add_tile(from, to),
                Lanes::First => copies.add_half(0, from, [to[0], to[1]]),
                Lanes::Last => copies.add_half(1, from, [to[2], to[3]]),
            }
        }
        for piece in singles {
            for (lane, &to) in piece.to.iter().enumerate().filter(|(_, to)| **to != GAP) {
                (0..piece.count).for_each(|j| copies.add_single(piece.from[j], lane, to + j));
            }
        }
        copies
    }
}
