//! In which order the independent degrees of freedom of a coupled mechanism are eliminated, and whom each one touches.
//!
//! 𝓜 = mm* of a tree has a number at (p, k) only where p lies on the way of k. With couplings the way of a link is made of
//! the leaders of the degrees of freedom on it, and eliminating makes a forest of these sets again: the elimination forest
//! (Liu), in which every set that belongs to a link lies on one path. Without couplings it is the tree itself.

use crate::model::Compiled;

/// An order of the independent degrees of freedom, from the roots outward, and the forest of their elimination.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elimination {
    /// Per rank: the independent degree of freedom.
    pub(crate) order: Vec<usize>,
    /// Per independent degree of freedom: its rank.
    pub(crate) rank: Vec<usize>,
    /// Per rank: the next one inward on its path, a lower rank.
    pub(crate) parent: Vec<Option<usize>>,
    /// Per rank: where the block of its joint starts. Ranks of a block follow each other.
    pub(crate) block: Vec<usize>,
    /// Per compiled link: the highest rank of its way.
    top: Vec<Option<usize>>,
}

impl Elimination {
    pub(crate) fn new(m: &Compiled, v_from: &[usize], independent: &[usize]) -> Self {
        let n = independent.len();
        let mut all = Self {
            rank: vec![usize::MAX; n],
            parent: vec![None; n],
            ..Self::default()
        };
        for body in &m.bodies {
            let start = all.order.len();
            // The first degree of freedom of a joint is eliminated first, as the pivots of D are.
            for v in (body.v..body.v + body.dofs).rev() {
                if independent[v_from[v]] == v {
                    all.rank[v_from[v]] = all.order.len();
                    all.order.push(v_from[v]);
                    all.block.push(start);
                }
            }
        }
        // Which pairs meet: neighbours in the sorted set of every way.
        let mut meets: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (k, body) in m.bodies.iter().enumerate() {
            let mut top = body.parent.and_then(|p: usize| all.top[p]);
            for v in (body.v..body.v + body.dofs).rev() {
                let own = all.rank[v_from[v]];
                match top {
                    None => {}
                    Some(top) if own > top => meets[top].push(own),
                    Some(_) => {
                        let (below, above) = all.neighbours(m, v_from, k, own);
                        if let Some(below) = below {
                            meets[below].push(own);
                        }
                        if let Some(above) = above {
                            meets[own].push(above);
                        }
                    }
                }
                top = top.max(Some(own));
            }
            all.top.push(top);
        }
        // Outward ends first: each takes the last of its trees so far.
        let mut last: Vec<usize> = (0..n).collect();
        for rank in (0..n).rev() {
            for &outer in &meets[rank] {
                let mut end = outer;
                while last[end] != end {
                    let next = last[end];
                    last[end] = last[next];
                    end = next;
                }
                if end != rank {
                    last[end] = rank;
                    all.parent[end] = Some(rank);
                }
            }
        }
        all
    }

    /// The nearest ranks below and above one on the way of a link.
    fn neighbours(&self, m: &Compiled, v_from: &[usize], link: usize, own: usize) -> (Option<usize>, Option<usize>) {
        let (mut below, mut above, mut next) = (None, None, Some(link));
        while let Some(k) = next {
            let body = &m.bodies[k];
            for v in body.v..body.v + body.dofs {
                let rank = self.rank[v_from[v]];
                if rank < own {
                    below = below.max(Some(rank));
                } else if rank > own {
                    above = Some(above.map_or(rank, |a: usize| a.min(rank)));
                }
            }
            next = body.parent;
        }
        (below, above)
    }

    /// A rank and those inward of it.
    #[inline(always)]
    pub(crate) fn path(&self, rank: usize) -> impl Iterator<Item = usize> + '_ {
        core::iter::successors(Some(rank), |&rank| self.parent[rank])
    }

    /// Those strictly inward of a rank.
    #[inline(always)]
    pub(crate) fn inward(&self, rank: usize) -> impl Iterator<Item = usize> + '_ {
        core::iter::successors(self.parent[rank], |&rank| self.parent[rank])
    }

    /// The path that holds the way of a compiled link, from its end inward, as ranks.
    pub(crate) fn path_of(&self, link: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        core::iter::successors(link.and_then(|k| self.top[k]), |&rank| self.parent[rank])
    }
}
