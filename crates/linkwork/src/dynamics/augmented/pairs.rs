//! Weights between two moving links.
//!
//! A weight between links a and b adds to M̂ of both, and joins them by a block X: the force on a that a motion of b makes.
//! Free bodies that nothing else hangs on are eliminated first, in the order of fewest neighbours: each leaves
//! M̂(j) − X*M̂⁻¹X at its neighbours and joins every two of them, so that a stack of boxes costs as much as a chain of links.
//! What is left joins links of trees, few in robots: with W = J𝓐₁⁻¹J* of those links
//!
//! ```text
//! 𝓐⁻¹ = 𝓐₁⁻¹ − 𝓐₁⁻¹J*(I + XW)⁻¹XJ𝓐₁⁻¹
//! ```

use super::elimination_order::Draft;
use super::six_by_six::{
    Six, add, apply, apply_transposed, cholesky, decompose, solve_columns, solve_one, substitute, subtract, transposed,
    transposed_times,
};
use super::{Augmented, Tree};
use crate::body::{Gain, Hinge};
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion};

/// Not a node.
const NONE: usize = usize::MAX;

/// A block between two links, a before b: the force on a that a motion of b makes.
#[derive(Clone, Copy, Debug)]
struct Block<S> {
    a: usize,
    b: usize,
    x: Six<S>,
}

/// A neighbour of a node: its node, the block between them, and whether that has the neighbour's rows.
#[derive(Clone, Copy, Debug)]
struct Near {
    node: usize,
    block: usize,
    turned: bool,
}

/// The blocks, and their elimination.
#[derive(Clone, Debug)]
pub(crate) struct Pairs<S> {
    blocks: Vec<Block<S>>,
    /// Per link its node, and whether it is eliminated.
    node: Vec<usize>,
    eliminated: Vec<bool>,
    /// Per node its link; those that are eliminated come first, in their order.
    links: Vec<usize>,
    count: usize,
    /// The pairs that this plan was made for.
    pattern: Vec<(usize, usize)>,
    /// Per block, those that fill in included: the nodes of its rows and columns.
    between: Vec<(usize, usize)>,
    /// Per eliminated node: where its neighbours start.
    starts: Vec<usize>,
    near: Vec<Near>,
    /// Per eliminated node, each of its neighbours and each before that: the block between them.
    fills: Vec<usize>,
    /// Per node: M̂, then its factor; of links in trees, what is added to M̂.
    own: Vec<Six<S>>,
    values: Vec<Six<S>>,
    /// Per neighbour of an eliminated node: M̂⁻¹X.
    gains: Vec<Six<S>>,
    solved: Vec<[S; 6]>,
    /// The nodes that are left and joined; W and the factors of I + XW.
    joined: Vec<usize>,
    w: Vec<S>,
    lu: Vec<S>,
    order: Vec<usize>,
    rest: Vec<S>,
    push: Vec<S>,
    draft: Draft,
}

impl<S: Scalar> Pairs<S> {
    pub(super) fn new(links: usize) -> Self {
        Self {
            blocks: Vec::new(),
            node: vec![NONE; links],
            eliminated: vec![false; links],
            links: Vec::new(),
            count: 0,
            pattern: Vec::new(),
            between: Vec::new(),
            starts: Vec::new(),
            near: Vec::new(),
            fills: Vec::new(),
            own: Vec::new(),
            values: Vec::new(),
            gains: Vec::new(),
            solved: Vec::new(),
            joined: Vec::new(),
            w: Vec::new(),
            lu: Vec::new(),
            order: Vec::new(),
            rest: Vec::new(),
            push: Vec::new(),
            draft: Draft::default(),
        }
    }

    /// No blocks; the plan stays for the case that the same ones come back.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
    }

    /// Between no two links: nothing is eliminated.
    pub(super) fn forget_plan(&mut self) {
        for &k in &self.links {
            (self.node[k], self.eliminated[k]) = (NONE, false);
        }
        self.links.clear();
        self.pattern.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Adds a block: the force on link a that a motion of link b makes, and the transposed the other way.
    pub(crate) fn join(&mut self, a: usize, b: usize, x: &Six<S>) {
        let (a, b, x) = if a < b { (a, b, *x) } else { (b, a, transposed(x)) };
        match self.blocks.iter_mut().rev().find(|block| block.a == a && block.b == b) {
            Some(block) => add(&mut block.x, &x),
            None => self.blocks.push(Block { a, b, x }),
        }
    }

    /// Whether a link is no longer in its tree.
    #[inline(always)]
    pub(super) fn is_eliminated(&self, k: usize) -> bool {
        self.eliminated[k]
    }

    /// Whether blocks join it.
    #[inline(always)]
    pub(super) fn is_node(&self, k: usize) -> bool {
        self.node[k] != NONE
    }

    /// What elimination adds to M̂ of a link that is left.
    #[inline(always)]
    pub(super) fn add_to(&self, k: usize, p: &mut Articulated<S>) {
        if self.node[k] != NONE {
            *p += Articulated::from_rows(&self.own[self.node[k]]);
        }
    }

    /// The forces that links' motions make on each other.
    pub(super) fn push_links(&self, motions: &[Motion<S>], forces: &mut [Force<S>]) {
        for block in &self.blocks {
            forces[block.a] += Force::from_array(apply(&block.x, motions[block.b].to_array()));
            forces[block.b] += Force::from_array(apply_transposed(&block.x, motions[block.a].to_array()));
        }
    }

    /// Which links are eliminated, in which order, and what fills in.
    fn plan(&mut self, m: &Compiled) {
        let same = self.pattern.len() == self.blocks.len()
            && self.pattern.iter().zip(&self.blocks).all(|(p, b)| *p == (b.a, b.b));
        if same {
            return;
        }
        self.forget_plan();
        self.pattern.extend(self.blocks.iter().map(|block| (block.a, block.b)));
        let free = |k: usize| {
            let body = &m.bodies[k];
            body.parent.is_none() && matches!(body.hinge, Hinge::Free) && body.end == k + 1
        };
        let draft = &mut self.draft;
        draft.eliminate(&self.pattern, free, &mut self.fills);
        self.count = draft.order.len();
        // Those that are left, joined or not.
        let left = (0..draft.links.len()).filter(|&i| !free(draft.links[i]));
        draft.order.extend(left);
        draft.node_of.clear();
        draft.node_of.resize(draft.links.len(), 0);
        for (node, &i) in draft.order.iter().enumerate() {
            draft.node_of[i] = node;
        }
        self.links.extend(draft.order.iter().map(|&i| draft.links[i]));
        for (node, &k) in self.links.iter().enumerate() {
            self.node[k] = node;
            self.eliminated[k] = node < self.count;
        }
        let node_of = &draft.node_of;
        self.between.clear();
        self.between
            .extend(draft.between.iter().map(|&(a, b)| (node_of[a], node_of[b])));
        self.starts.clear();
        self.starts.extend_from_slice(&draft.starts);
        self.near.clear();
        for node in 0..self.count {
            let step = &draft.steps[draft.starts[node]..draft.starts[node + 1]];
            self.near.extend(step.iter().map(|&(j, block)| Near {
                node: node_of[j],
                block,
                turned: self.between[block].0 != node,
            }));
        }
        self.joined.clear();
        let left = self
            .between
            .iter()
            .filter(|&&(a, b)| a >= self.count && b >= self.count);
        self.joined.extend(left.flat_map(|&(a, b)| [a, b]));
        self.joined.sort_unstable();
        self.joined.dedup();
    }
}

impl<S: Scalar> Augmented<S> {
    /// Eliminates free bodies, then the trees, then what joins them.
    pub(super) fn factor_pairs(&mut self, tree: Tree<'_, S>) {
        let m = tree.m;
        self.pairs.plan(m);
        if !self.between.rows.is_empty() && !self.pairs.joined.is_empty() {
            // Free bodies join links of trees: those join them likewise.
            self.rows_to_blocks();
            self.pairs.plan(m);
        }
        let mut x = core::mem::replace(&mut self.pairs, Pairs::new(0));
        let zero = [[S::ZERO; 6]; 6];
        x.own.clear();
        x.own.resize(x.links.len(), zero);
        x.values.clear();
        x.values.resize(x.between.len(), zero);
        x.gains.resize(x.near.len(), zero);
        x.solved.resize(x.links.len(), [S::ZERO; 6]);
        for (value, block) in x.values.iter_mut().zip(&x.blocks) {
            *value = block.x;
        }
        for node in 0..x.count {
            let (k, body) = (x.links[node], &m.bodies[x.links[node]]);
            x.own[node] = self.own(body, k).to_rows();
            for i in 0..6 {
                x.own[node][i][i] += self.rotors[body.v + i];
            }
        }
        let mut fill = 0;
        for node in 0..x.count {
            let v = m.bodies[x.links[node]].v;
            let mut own = x.own[node];
            let whole = (own[0][0] + own[1][1] + own[2][2], own[3][3] + own[4][4] + own[5][5]);
            let pivots = cholesky(&mut own);
            for i in 0..6 {
                let (d, whole) = (pivots[i], if i < 3 { whole.0 } else { whole.1 });
                let g = [S::ZERO; 6];
                let gain = Gain { d_inv: d.recip(), g }.judged(d, whole);
                match m.reduction.is_some() {
                    true => self.embedded.gains[v + i] = gain,
                    false => self.gains[v + i] = gain,
                }
            }
            x.own[node] = own;
            let near = x.starts[node]..x.starts[node + 1];
            for at in near.clone() {
                x.gains[at] = solve_columns(&own, &x.oriented(at));
            }
            for at in near.clone() {
                let (one, here) = (x.near[at].node, x.oriented(at));
                let less = transposed_times(&here, &x.gains[at]);
                subtract(&mut x.own[one], &less);
                for other in near.start..at {
                    let less = transposed_times(&here, &x.gains[other]);
                    let block = x.fills[fill];
                    fill += 1;
                    match x.between[block].0 == one {
                        true => subtract(&mut x.values[block], &less),
                        false => subtract(&mut x.values[block], &transposed(&less)),
                    }
                }
            }
        }
        self.pairs = x;
        self.factor_trees(tree);
        self.factor_joined(tree);
        self.factor_rows(tree);
    }

    /// W of the links that are still joined, and I + XW.
    fn factor_joined(&mut self, tree: Tree<'_, S>) {
        let count = self.pairs.joined.len();
        if count == 0 {
            return;
        }
        let n = 6 * count;
        let mut x = core::mem::take(&mut self.pairs.w);
        x.clear();
        x.resize(n * n, S::ZERO);
        let mut tau = core::mem::take(&mut self.wide[0]);
        let mut out = core::mem::take(&mut self.wide[1]);
        tau.fill(S::ZERO);
        for c in 0..n {
            self.forces.fill(Force::ZERO);
            let mut unit = [S::ZERO; 6];
            unit[c % 6] = S::ONE;
            let link = self.pairs.links[self.pairs.joined[c / 6]];
            self.forces[link] = Force::from_array(unit);
            self.solve_trees(tree, &tau, true, &mut out);
            for r in 0..count {
                let link = self.pairs.links[self.pairs.joined[r]];
                let motion = self.lambda[link].to_array();
                for i in 0..6 {
                    x[(6 * r + i) * n + c] = motion[i];
                }
            }
        }
        self.wide = [tau, out];
        let p = &mut self.pairs;
        p.w = x;
        let mut lu = core::mem::take(&mut p.lu);
        lu.clear();
        lu.resize(n * n, S::ZERO);
        for i in 0..n {
            lu[i * n + i] = S::ONE;
        }
        for (block, &(a, b)) in p.between.iter().enumerate() {
            let (Ok(a), Ok(b)) = (p.joined.binary_search(&a), p.joined.binary_search(&b)) else {
                continue;
            };
            for i in 0..6 {
                for j in 0..6 {
                    let x = p.values[block][i][j];
                    for c in 0..n {
                        let (to, from) = ((6 * a + i) * n + c, p.w[(6 * b + j) * n + c]);
                        lu[to] = x.mul_add(from, lu[to]);
                        let (to, from) = ((6 * b + j) * n + c, p.w[(6 * a + i) * n + c]);
                        lu[to] = x.mul_add(from, lu[to]);
                    }
                }
            }
        }
        decompose(&mut lu, n, &mut p.order);
        p.lu = lu;
    }

    /// As [`Augmented::solve`], where links are joined.
    pub(super) fn solve_pairs(&mut self, tree: Tree<'_, S>, tau: &[S], pushed: bool, out: &mut [S]) {
        let m = tree.m;
        if !pushed {
            self.forces.fill(Force::ZERO);
        }
        let p = &mut self.pairs;
        for node in 0..p.count {
            let k = p.links[node];
            let f = self.forces[k].to_array();
            for i in 0..6 {
                p.solved[node][i] = tau[m.bodies[k].v + i] + f[i];
            }
        }
        for node in 0..p.count {
            let solved = solve_one(&p.own[node], p.solved[node]);
            p.solved[node] = solved;
            for at in p.starts[node]..p.starts[node + 1] {
                let (to, less) = (p.near[at].node, apply_transposed(&p.oriented(at), solved));
                if to < p.count {
                    for i in 0..6 {
                        p.solved[to][i] -= less[i];
                    }
                } else {
                    self.forces[p.links[to]] -= Force::from_array(less);
                }
            }
        }
        self.solve_trees(tree, tau, true, out);
        if !self.pairs.joined.is_empty() {
            self.push_joined();
            self.solve_trees(tree, tau, true, out);
        }
        let p = &mut self.pairs;
        for node in (0..p.count).rev() {
            let (k, mut y) = (p.links[node], p.solved[node]);
            for at in p.starts[node]..p.starts[node + 1] {
                let less = apply(&p.gains[at], self.lambda[p.links[p.near[at].node]].to_array());
                for i in 0..6 {
                    y[i] -= less[i];
                }
            }
            self.lambda[k] = Motion::from_array(y);
            out[m.bodies[k].v..][..6].copy_from_slice(&y);
        }
    }

    /// Takes (I + XW)⁻¹X s from the forces, s being the motions of the links that are joined.
    fn push_joined(&mut self) {
        let p = &mut self.pairs;
        let n = 6 * p.joined.len();
        p.rest.clear();
        p.rest.resize(n, S::ZERO);
        for (block, &(a, b)) in p.between.iter().enumerate() {
            let (Ok(at), Ok(to)) = (p.joined.binary_search(&a), p.joined.binary_search(&b)) else {
                continue;
            };
            let x = &p.values[block];
            let (one, two) = (
                apply(x, self.lambda[p.links[b]].to_array()),
                apply_transposed(x, self.lambda[p.links[a]].to_array()),
            );
            for i in 0..6 {
                p.rest[6 * at + i] += one[i];
                p.rest[6 * to + i] += two[i];
            }
        }
        p.push.clear();
        p.push.resize(n, S::ZERO);
        substitute(&p.lu, n, &p.order, &p.rest, &mut p.push);
        for (i, &node) in p.joined.iter().enumerate() {
            let mut f = [S::ZERO; 6];
            f.copy_from_slice(&p.push[6 * i..6 * i + 6]);
            self.forces[p.links[node]] -= Force::from_array(f);
        }
    }

    /// log |det(I + XW)|.
    pub(crate) fn log_det_joined(&self) -> f64 {
        let p = &self.pairs;
        let rows = self.between.log_det();
        if p.is_empty() {
            return rows;
        }
        let n = 6 * p.joined.len();
        rows + (0..n).map(|i| p.lu[i * n + i].lane(0).abs().ln()).sum::<f64>()
    }
}

impl<S: Scalar> Pairs<S> {
    /// X of an eliminated node and its neighbour: the node's rows.
    fn oriented(&self, at: usize) -> Six<S> {
        let near = &self.near[at];
        match near.turned {
            false => self.values[near.block],
            true => transposed(&self.values[near.block]),
        }
    }
}
