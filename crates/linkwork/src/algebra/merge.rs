//! Sums in a graph: as recursions are linear, sums of their results become recursions on sums.

use super::graph::{Graph, Sharing};
use super::node::{Id, Node};
use super::space::Space;

impl Graph {
    /// Σ of multiples: opened, gathered, and merged where the sharing says so.
    pub(super) fn combine(&mut self, terms: Vec<(f64, Id)>, space: Space) -> Id {
        if self.sharing == Sharing::None {
            return self.combined(terms, space);
        }
        let mut flat: Vec<(f64, Id)> = Vec::new();
        for (scale, id) in terms {
            let inner = match &self.nodes[id] {
                // Sums of sums are opened where that lets recursions meet; otherwise the inner one is there already.
                Node::Combine(inner, _) if self.sharing == Sharing::Linear => {
                    inner.iter().map(|&(s, i)| (f64::from_bits(s) * scale, i)).collect()
                }
                _ => vec![(scale, id)],
            };
            for (scale, id) in inner {
                match flat.iter_mut().find(|f| f.1 == id) {
                    Some(like) => like.0 += scale,
                    None => flat.push((scale, id)),
                }
            }
        }
        flat.retain(|f| f.0 != 0.0);
        if self.sharing == Sharing::Linear
            && self.merges > 0
            && let Some(merged) = self.merged(&flat, space)
        {
            return merged;
        }
        flat.sort_by_key(|f| f.1);
        self.combined(flat, space)
    }

    fn combined(&mut self, terms: Vec<(f64, Id)>, space: Space) -> Id {
        if let [(scale, id)] = terms[..]
            && scale == 1.0
        {
            return id;
        }
        let terms = terms.into_iter().map(|(s, i)| (s.to_bits(), i)).collect();
        self.add(Node::Combine(terms, space), space)
    }

    /// Two results of one kind, added: the result of the sum.
    fn merged(&mut self, terms: &[(f64, Id)], space: Space) -> Option<Id> {
        for i in 0..terms.len() {
            for j in i + 1..terms.len() {
                let Some(both) = self.merge(terms[i], terms[j]) else {
                    continue;
                };
                self.merges = self.merges.saturating_sub(1);
                let mut rest: Vec<(f64, Id)> = terms.to_vec();
                rest.remove(j);
                rest[i] = both;
                return Some(self.combine(rest, space));
            }
        }
        None
    }

    fn merge(&mut self, (a, x): (f64, Id), (b, y): (f64, Id)) -> Option<(f64, Id)> {
        match (self.nodes[x].clone(), self.nodes[y].clone()) {
            (Node::Local(l, u), Node::Local(m, v)) if l == m => {
                let (scale, inner) = self.weighted((a, u), (b, v));
                Some((scale, self.local(l, inner)))
            }
            (Node::Shift(d, u), Node::Shift(e, v)) if d == e => {
                let (scale, inner) = self.weighted((a, u), (b, v));
                Some((scale, self.shift(d, inner)))
            }
            (Node::Joint(u), Node::Joint(v)) => self.merge_cores((a, u), (b, v), true),
            (Node::Link(u), Node::Link(v)) => self.merge_cores((a, u), (b, v), false),
            (Node::Spread(u), Node::Spread(v)) => {
                let (scale, inner) = self.weighted((a, u), (b, v));
                Some((scale, self.add(Node::Spread(inner), Space::Force)))
            }
            (Node::Pick(u), Node::Pick(v)) => {
                let (scale, inner) = self.weighted((a, u), (b, v));
                Some((scale, self.add(Node::Pick(inner), Space::Tip)))
            }
            (Node::Tie(u), Node::Tie(v)) => {
                let (scale, inner) = self.weighted((a, u), (b, v));
                Some((scale, self.add(Node::Tie(inner), Space::Force)))
            }
            (Node::Untie(u), Node::Untie(v)) => {
                let (scale, inner) = self.weighted((a, u), (b, v));
                Some((scale, self.add(Node::Untie(inner), Space::Constraint)))
            }
            (Node::Matrix(u, s), Node::Matrix(v, t)) if u == v => {
                let (scale, inner) = self.weighted((a, s), (b, t));
                let space = self.spaces[x];
                Some((scale, self.add(Node::Matrix(u, inner), space)))
            }
            (Node::Seen(u), Node::Seen(v)) => {
                let (scale, inner) = self.weighted((a, u), (b, v));
                Some((scale, self.add(Node::Seen(inner), Space::Tip)))
            }
            (Node::Cross(force, u, s), Node::Cross(other, v, t)) if force == other && u == v => {
                let (scale, inner) = self.weighted((a, s), (b, t));
                Some((scale, self.cross(force, u, inner)))
            }
            (Node::Cross(force, u, s), Node::Cross(other, v, t)) if force == other && s == t => {
                let (scale, inner) = self.weighted((a, u), (b, v));
                Some((scale, self.cross(force, inner, s)))
            }
            (Node::PRateTimes(u, s), Node::PRateTimes(v, t)) if u == v => {
                let (scale, inner) = self.weighted((a, s), (b, t));
                let space = self.spaces[x];
                Some((scale, self.add(Node::PRateTimes(u, inner), space)))
            }
            (Node::RateAdjoint(s), Node::RateAdjoint(t)) => {
                // Scales go into the first of each pair.
                let mut seeds = Vec::with_capacity(s.len() + t.len());
                for (scale, (kind, x, y)) in s.into_iter().map(|s| (a, s)).chain(t.into_iter().map(|t| (b, t))) {
                    let space = self.spaces[x];
                    let x = self.combine(vec![(scale, x)], space);
                    seeds.push((kind, x, y));
                }
                Some((1.0, self.rate_adjoint(seeds)))
            }
            (Node::Place(f, u), Node::Place(g, v)) if f == g => {
                let (scale, inner) = self.weighted((a, u), (b, v));
                Some((scale, self.add(Node::Place(f, inner), Space::Tip)))
            }
            (Node::Solve(which, u), Node::Solve(other, v)) if which == other => {
                let (scale, inner) = self.weighted((a, u), (b, v));
                let space = self.spaces[x];
                Some((scale, self.add(Node::Solve(which, inner), space)))
            }
            _ => None,
        }
    }

    fn merge_cores(&mut self, (a, u): (f64, Id), (b, v): (f64, Id), joint: bool) -> Option<(f64, Id)> {
        if let (Node::Augmented(which, t, x), Node::Augmented(other, s, y)) = (&self.nodes[u], &self.nodes[v]) {
            if which != other {
                return None;
            }
            let (which, t, x, s, y) = (*which, *t, *x, *s, *y);
            let (t, x) = (
                self.pair((a, t), (b, s), Space::Joint),
                self.pair((a, x), (b, y), Space::Force),
            );
            let node = self.add(Node::Augmented(which, t, x), Space::Motion);
            let result = match joint {
                true => self.add(Node::Joint(node), Space::Joint),
                false => self.add(Node::Link(node), Space::Motion),
            };
            return Some((1.0, result));
        }
        let (Node::Core(kind, t, x), Node::Core(other, s, y)) = (self.nodes[u].clone(), self.nodes[v].clone()) else {
            return None;
        };
        if kind != other {
            return None;
        }
        // A shared scale stays outside.
        let (a, b, outside) = if a.abs() == b.abs() {
            (1.0, b / a, a)
        } else {
            (a, b, 1.0)
        };
        let t = self.pair((a, t), (b, s), Space::Joint);
        let link = if kind.inward() { Space::Force } else { Space::Motion };
        let x = self.pair((a, x), (b, y), link);
        Some((outside, self.recursion(kind, t, x, joint)))
    }

    fn pair(&mut self, (a, x): (f64, Option<Id>), (b, y): (f64, Option<Id>), space: Space) -> Option<Id> {
        let terms: Vec<(f64, Id)> = [x.map(|x| (a, x)), y.map(|y| (b, y))].into_iter().flatten().collect();
        if terms.is_empty() {
            return None;
        }
        Some(self.combine(terms, space))
    }

    fn weighted(&mut self, (a, u): (f64, Id), (b, v): (f64, Id)) -> (f64, Id) {
        let space = self.spaces[u];
        if a.abs() == b.abs() {
            return (a, self.combine(vec![(1.0, u), (b / a, v)], space));
        }
        (1.0, self.combine(vec![(a, u), (b, v)], space))
    }
}
