//! How elements of 𝓜 get from registers into rows.
//!
//! A sweep over lanes leaves every element in a register with those of other lanes. Four registers whose elements stand side
//! by side in a row of 𝓜, and likewise in every lane, are written as a square tile: four numbers at once.

use super::{Abreast, Column, GAP, Layout, Line, PACK, Run};
use crate::model::nought_ranges;
use crate::scalar::Copies;

/// All elements of columns in lanes.
pub(super) fn copies(runs: &[Run], folded: &[Run], columns: &[Column], layout: &Layout) -> Copies {
    let mut list = List(Copies::default());
    for run in runs {
        list.add_rows(run, columns);
        list.add_trunk(run, columns);
    }
    for run in folded {
        list.add_folded(run, columns);
        list.add_trunk(run, columns);
    }
    nought_ranges(layout)
        .into_iter()
        .for_each(|range| list.0.add_noughts(range));
    list.0
}

struct List(Copies);

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
            if end - first < PACK {
                for at in first..end {
                    (0..PACK).for_each(|lane| self.add_single(elements[at].1, lane, place(at, lane)));
                }
            } else {
                // The last one may overlap the one before it.
                for at in (first..end - PACK).step_by(PACK).chain([end - PACK]) {
                    let from = core::array::from_fn(|j| elements[at + j].1);
                    self.add_tile(from, core::array::from_fn(|lane| place(at, lane)));
                }
            }
            first = end;
        }
    }

    fn add_tile(&mut self, from: [usize; PACK], to: [usize; PACK]) {
        if !to.contains(&GAP) {
            return self.0.add_tile(from, to);
        }
        for half in [0, 1] {
            match [to[2 * half], to[2 * half + 1]] {
                to if !to.contains(&GAP) => self.0.add_half(half, from, to),
                to => {
                    for (i, to) in to.into_iter().enumerate().filter(|(_, to)| *to != GAP) {
                        (0..PACK).for_each(|j| self.add_single(from[j], 2 * half + i, to + j));
                    }
                }
            }
        }
    }

    fn add_single(&mut self, register: usize, lane: usize, to: usize) {
        if to != GAP {
            self.0.add_single(register, lane, to);
        }
    }
}
