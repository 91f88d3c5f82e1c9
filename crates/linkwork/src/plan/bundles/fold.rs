//! Columns of 𝓜 that would leave lanes empty, several to a register.
//!
//! The columns of fingers come to the last links of arms, and go on to the base beside legs that have none. Where they use half
//! of the lanes, or one, as many more stand in the others: lanes of a register that all go along the same chains.

use super::{Abreast, Body, Column, GAP, Line, PACK, Picks, Run};

/// Takes the columns that come to the last row of a run from it, if they can be folded: the run of their ways.
pub(super) fn fold(bodies: &[Body], armature: &[f64], run: &mut Run, columns: &mut Vec<Column>) -> Option<Run> {
    let last = run.rows.last()?;
    let come = columns[last.column + 1..last.come].to_vec();
    let used: Vec<_> = (0..PACK)
        .filter(|&lane| come.iter().any(|c| c.line.dofs[lane] != GAP))
        .collect();
    // No other run may need them.
    let on_trunk = run.rows[0].lanes().all(|lane| run.on_trunk[lane]);
    if come.len() < 2 || used.len() > PACK / 2 || !on_trunk {
        return None;
    }
    let apart = come.len().div_ceil(PACK / used.len());
    let chain = |lane: usize| used[lane % used.len()];
    let start = columns.len();
    for i in 0..apart {
        let each = |lane: usize| come.get(i + apart * (lane / used.len()));
        let pick = |of: &dyn Fn(&Line) -> [usize; PACK]| {
            core::array::from_fn(|lane| each(lane).map_or(GAP, |c| of(&c.line)[chain(lane)]))
        };
        let line = Line {
            dofs: pick(&|line| line.dofs),
            starts: pick(&|line| line.starts),
        };
        let mut from = Vec::new();
        for lane in 0..PACK {
            for (column, picks) in each(lane).into_iter().flat_map(|c| &c.from) {
                // A lane may also be told to come from where there is nothing.
                let source = picks.lanes[chain(lane)];
                if picks.real[chain(lane)] == 1.0 && columns[*column].line.dofs[source] != GAP {
                    let mut one = Picks::NONE;
                    (one.lanes[lane], one.real[lane]) = (source, 1.0);
                    from.push((*column, one));
                }
            }
        }
        columns.push(Column {
            line,
            from: gathered(from),
        });
    }
    let folded = |row: &Abreast| {
        let links = core::array::from_fn(|lane| Some(row.links[chain(lane)]));
        let mut folded = Abreast::new(bodies, armature, links);
        (folded.column, folded.come) = (start, start);
        folded
    };
    let mut rows: Vec<_> = run.rows.iter().map(folded).collect();
    rows.last_mut()?.come = columns.len();
    let last = run.rows.last_mut()?;
    last.come = last.column + 1;
    run.end = last.come;
    Some(Run {
        rows,
        first_row: 0,
        parents: core::array::from_fn(|lane| run.parents[chain(lane)]),
        on_trunk: [true; PACK],
        borne: Vec::new(),
        others: Vec::new(),
        end: columns.len(),
        onward: Vec::new(),
    })
}

/// What comes from the same column at once.
fn gathered(from: Vec<(usize, Picks)>) -> Vec<(usize, Picks)> {
    let mut all: Vec<(usize, Picks)> = Vec::new();
    for (column, picks) in from {
        match all.iter_mut().find(|other| other.0 == column) {
            None => all.push((column, picks)),
            Some((_, other)) => {
                for lane in (0..PACK).filter(|&lane| picks.real[lane] == 1.0) {
                    (other.lanes[lane], other.real[lane]) = (picks.lanes[lane], 1.0);
                }
            }
        }
    }
    all
}
