//! The users' degrees of freedom as those of a tree: the elimination forest, for dense algorithms that go along paths.

use super::Reduction;
use crate::body::{GAP, Layout, runs};
use crate::model::Compiled;
use crate::plan::{MOST_SEEN, Seen, TILE, Tiles};

/// What 𝓜⁻¹ and products with it need.
#[derive(Clone, Debug)]
pub(crate) struct Reduced {
    pub(crate) tiles: Tiles,
    /// Per column of these: the independent degree of freedom.
    pub(crate) dof: Vec<usize>,
    pub(crate) in_users_order: bool,
    /// Per column: how many from it on follow each other in the users' order.
    pub(crate) runs: Vec<usize>,
    /// Per block of four columns in the users' order: the blocks of rows where 𝓜 and ∂T are not zero.
    rows: Vec<u32>,
    starts: Vec<u32>,
}

impl Reduced {
    /// None where elimination could lose digits, or is longer than sweeps.
    pub(super) fn new(r: &Reduction, m: &Compiled) -> Option<Self> {
        m.columns.tiles.as_ref()?;
        let most = bounds(r, m)?;
        let (layout, first) = forest(r);
        let mut column = vec![0; r.nv];
        for (c, &dof) in layout.dof.iter().enumerate() {
            column[dof] = c;
        }
        let pattern = r.pattern(m);
        let pair = |&(i, j): &(usize, usize)| {
            let (a, b) = (column[i], column[j]);
            [a.min(b) as u32, a.max(b) as u32]
        };
        let elements = pattern.iter().map(pair).collect();
        let most = layout.dof.iter().map(|&dof| most[dof]).collect();
        let (rows, starts) = blocks(r.nv, pattern);
        Some(Self {
            in_users_order: layout.dof.iter().enumerate().all(|(i, &v)| i == v),
            tiles: Tiles::of(&layout, first, most, elements),
            runs: runs(&layout.dof),
            dof: layout.dof,
            rows,
            starts,
        })
    }

    /// The blocks of rows that those columns of ∂T and 𝓜 have.
    #[inline(always)]
    pub(crate) fn rows(&self, block: usize) -> &[u32] {
        &self.rows[self.starts[block] as usize..self.starts[block + 1] as usize]
    }
}

/// Per independent degree of freedom, what resists it at most; none if D could be a small difference of such.
///
/// D of a group is at least what resists those of its links that hang where the group closes: with what is inward at rest
/// these move by ratios alone.
fn bounds(r: &Reduction, m: &Compiled) -> Option<Vec<f64>> {
    let bounds = Seen::new(&m.bodies).bounds(&m.bodies, &m.armature);
    let mut by_dof = vec![[0.0; 2]; m.nv];
    let mut parent = vec![None; m.nv];
    for (k, body) in m.bodies.iter().enumerate() {
        for i in 0..body.dofs {
            by_dof[body.v + i] = bounds[m.columns.single.start[k] + i];
            parent[body.v + i] = body.parent;
        }
    }
    let mut ratio = vec![1.0; m.nv];
    let mut members: Vec<Vec<usize>> = r.independent.iter().map(|&v| vec![v]).collect();
    for f in &r.followers {
        if f.is_curved() {
            return None;
        }
        ratio[f.v] = f.at(0.0)[1];
        members[r.v_from[f.v]].push(f.v);
    }
    let mut most = Vec::with_capacity(r.nv);
    for links in &members {
        let [&[v], ..] = [&links[..]] else {
            let closing = links.iter().map(|&v| parent[v]).reduce(|a, b| m.fork(a, b)).flatten();
            let [mut least, mut seen] = [0.0; 2];
            for &v in links {
                let square = ratio[v] * ratio[v];
                seen += links.len() as f64 * square * by_dof[v][1];
                if parent[v] == closing {
                    least += square * by_dof[v][0];
                }
            }
            if seen > MOST_SEEN * least {
                return None;
            }
            most.push(seen);
            continue;
        };
        most.push(by_dof[v][1]);
    }
    Some(most)
}

/// The elimination forest with each subtree in a row, joints of several degrees of freedom in the users' order; and per column
/// the first one of its joint.
fn forest(r: &Reduction) -> (Layout, Vec<usize>) {
    let e = &r.elimination;
    let n = e.order.len();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut waiting = Vec::new();
    for rank in (0..n).rev() {
        match e.parent[rank] {
            Some(p) => children[p].push(rank),
            None => waiting.push(rank),
        }
    }
    let (mut layout, mut first) = (Layout::default(), Vec::with_capacity(n));
    let mut place = vec![0; n];
    let mut ranks = Vec::with_capacity(n);
    while let Some(rank) = waiting.pop() {
        place[rank] = ranks.len();
        ranks.push(rank);
        waiting.extend(&children[rank]);
        first.push(place[e.block[rank]]);
    }
    layout.end_at = (1..=n).collect();
    for c in (0..n).rev() {
        if let Some(p) = e.parent[ranks[c]] {
            let end = layout.end_at[c].max(layout.end_at[place[p]]);
            layout.end_at[place[p]] = end;
        }
    }
    layout.dof = ranks.iter().map(|&rank| e.order[rank]).collect();
    layout.up = vec![GAP; n];
    // Within a joint every order is as good.
    let mut start = 0;
    while start < n {
        let end = (start..n).find(|&c| first[c] != start).unwrap_or(n);
        layout.dof[start..end].sort_unstable();
        start = end;
    }
    (layout, first)
}

/// Per block of columns, the blocks of rows that a pattern touches, in order.
fn blocks(nv: usize, pattern: &[(usize, usize)]) -> (Vec<u32>, Vec<u32>) {
    let wide = nv.div_ceil(TILE);
    let mut touched = vec![false; wide * wide];
    for &(i, j) in pattern {
        touched[i / TILE * wide + j / TILE] = true;
        touched[j / TILE * wide + i / TILE] = true;
    }
    let (mut rows, mut starts) = (Vec::new(), vec![0]);
    for block in 0..wide {
        rows.extend((0..wide as u32).filter(|&row| touched[row as usize * wide + block]));
        starts.push(rows.len() as u32);
    }
    (rows, starts)
}
