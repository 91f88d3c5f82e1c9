//! R*XR element by element, for matrices that are zero between branches.
//!
//! Elements that no joint which follows another takes part in are the tree's own. Of the others each is a sum of a few products,
//! found once: whoever has X, dense or as a list of what is not zero, runs through the same sums.

use super::Reduction;
use crate::model::Compiled;
use crate::plan::path_order;
use std::collections::HashMap;

/// Sums of the tree's elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merge {
    pub(crate) sums: Vec<Sum>,
    pub(crate) terms: Vec<Term>,
}

/// An element of the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    /// Where it goes, and where its mirror image; the same if it has none.
    pub(crate) to: u32,
    pub(crate) also: u32,
    /// Where its terms end; they start where those of the sum before end.
    pub(crate) end: u32,
}

/// An element of the tree, and the numbers of R it is multiplied by from the left and from the right.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub(crate) from: u32,
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) by: By,
}

/// Which number of a degree of freedom stands on the right.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    Ratio,
    Rate,
    Bend,
}

/// How lanes compute a matrix with couplings: sums after the tree's elements, and where the users' elements then are.
#[derive(Clone, Debug, Default)]
pub(crate) struct InLanes {
    pub(crate) merge: Merge,
    /// How many elements the tree has.
    pub(crate) tree: usize,
    /// Per element of the users' matrices: its place; one past the last where it is zero.
    pub(crate) sources: Vec<u32>,
    /// Of 𝓜: those of its pattern.
    pub(crate) pattern: Vec<u32>,
}

impl InLanes {
    /// How many numbers there are, sums included.
    pub(crate) fn length(&self) -> usize {
        self.tree + self.merge.sums.len()
    }
}

/// ∂T/∂q, ∂T/∂q̇ and 𝓜, in this order.
const KINDS: usize = 3;
const MASS: usize = 2;

/// An element that is wanted, and one of its terms.
type Wanted = ([usize; 3], Term);

impl Merge {
    /// All terms of the kinds asked for, element by element. `place` tells where the tree's elements are, `to` where a result
    /// and its mirror image go.
    fn new(
        r: &Reduction,
        m: &Compiled,
        kinds: core::ops::Range<usize>,
        place: impl Fn([usize; 3]) -> u32,
        mut to: impl FnMut([usize; 3]) -> [u32; 2],
    ) -> Self {
        let mut leads = vec![false; r.nv];
        let mut bends = vec![false; m.nv];
        for f in &r.followers {
            leads[r.v_from[f.v]] = true;
            bends[f.v] = f.is_curved();
        }
        let layout = &m.columns.single;
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut add = |a: usize, b: usize| {
            let (i, j) = (r.v_from[a], r.v_from[b]);
            if !(leads[i] || leads[j]) {
                return;
            }
            let term = |kind: usize, by: By| Term {
                from: place([kind, a, b]),
                left: a as u32,
                right: b as u32,
                by,
            };
            for kind in kinds.clone() {
                // Of 𝓜 one half is enough.
                if kind == MASS && i > j {
                    continue;
                }
                let element = [kind, i, j];
                wanted.push((element, term(kind, By::Ratio)));
                match kind {
                    0 if bends[b] => {
                        wanted.push((element, term(1, By::Rate)));
                        wanted.push((element, term(MASS, By::Bend)));
                    }
                    // Twice.
                    1 if bends[b] => wanted.extend([(element, term(MASS, By::Rate)); 2]),
                    _ => {}
                }
            }
        };
        for c in 0..layout.dof.len() {
            for other in c..layout.end_at[c] {
                let (a, b) = (layout.dof[c], layout.dof[other]);
                add(a, b);
                if a != b {
                    add(b, a);
                }
            }
        }
        wanted.sort_by_key(|(element, term)| (*element, term.left, term.right));
        let mut merge = Self::default();
        let mut last = None;
        for (element, term) in wanted {
            if last.replace(element) != Some(element) {
                let [to, also] = to(element);
                merge.sums.push(Sum { to, also, end: 0 });
            }
            merge.terms.push(term);
            if let Some(sum) = merge.sums.last_mut() {
                sum.end = merge.terms.len() as u32;
            }
        }
        merge
    }

    /// For 𝓜 alone, dense and row by row.
    pub(crate) fn mass(r: &Reduction, m: &Compiled) -> Self {
        let (n, nv) = (m.nv, r.nv);
        let to = |[_, i, j]: [usize; 3]| [i * nv + j, j * nv + i].map(|x| x as u32);
        Self::new(r, m, MASS..KINDS, |[_, a, b]| (a * n + b) as u32, to)
    }

    /// For three dense matrices one after another.
    pub(crate) fn derivatives(r: &Reduction, m: &Compiled) -> Self {
        let (n, nv) = (m.nv, r.nv);
        let to = |[kind, i, j]: [usize; 3]| {
            let own = (kind * nv + i) * nv + j;
            let also = if kind == MASS { (kind * nv + j) * nv + i } else { own };
            [own as u32, also as u32]
        };
        Self::new(r, m, 0..KINDS, |[kind, a, b]| ((kind * n + a) * n + b) as u32, to)
    }
}

impl InLanes {
    /// For the elements of 𝓜 that lanes compute.
    pub(crate) fn mass(r: &Reduction, m: &Compiled) -> Self {
        let layout = &m.columns.single;
        let mut places = HashMap::new();
        for (i, [row, column]) in path_order(&m.bodies, layout).into_iter().enumerate() {
            let (a, b) = (layout.dof[row], layout.dof[column]);
            places.insert((a.min(b), a.max(b)), i as u32);
        }
        let place = |a: usize, b: usize| places.get(&(a.min(b), a.max(b))).copied();
        let tree = places.len();
        Self::new(r, m, MASS..KINDS, tree, |[_, a, b]: [usize; 3]| place(a, b))
    }

    /// For those of three matrices, given where the dense ones come from in what lanes compute, and how much that is.
    pub(crate) fn derivatives(r: &Reduction, m: &Compiled, tree: usize, sources: &[u32]) -> Self {
        let n = m.nv;
        let place = |[kind, a, b]: [usize; 3]| {
            let from = sources[(kind * n + a) * n + b];
            ((from as usize) < tree).then_some(from)
        };
        Self::new(r, m, 0..KINDS, tree, place)
    }

    fn new(
        r: &Reduction,
        m: &Compiled,
        kinds: core::ops::Range<usize>,
        tree: usize,
        place: impl Fn([usize; 3]) -> Option<u32>,
    ) -> Self {
        let (first, nv, mut next) = (kinds.start, r.nv, tree as u32);
        let at = |[kind, i, j]: [usize; 3]| ((kind - first) * nv + i) * nv + j;
        let none = u32::MAX;
        let mut sources = vec![none; kinds.len() * nv * nv];
        for kind in kinds.clone() {
            for i in 0..nv {
                for j in 0..nv {
                    let own = place([kind, r.independent[i], r.independent[j]]);
                    sources[at([kind, i, j])] = own.unwrap_or(none);
                }
            }
        }
        let to = |[kind, i, j]: [usize; 3]| {
            let own = next;
            sources[at([kind, i, j])] = own;
            if kind == MASS {
                sources[at([kind, j, i])] = own;
            }
            next += 1;
            [own, own]
        };
        let merge = Merge::new(r, m, kinds, |element| place(element).unwrap_or(none), to);
        let end = next;
        sources.iter_mut().filter(|x| **x == none).for_each(|x| *x = end);
        // 𝓜 stands last; below its diagonal, as one state takes it in.
        let mass = sources.len() - nv * nv;
        let pattern = r.pattern(m).iter().map(|&(i, j)| sources[mass + j * nv + i]).collect();
        Self {
            merge,
            tree,
            sources,
            pattern,
        }
    }
}
