//! Operators that a vector makes, in a graph.

use super::graph::{Graph, Sharing};
use super::node::{Id, Node, Seed, TieRate};
use super::space::Space;
use super::sum::Sum;
use super::vector_operators::By;

impl Graph {
    /// A vector that stands inside of a factor.
    pub(super) fn inner(&mut self, vector: &Sum) -> Id {
        // However little is shared otherwise, it is computed once.
        let sharing = self.sharing;
        if sharing == Sharing::None {
            self.sharing = Sharing::Equal;
        }
        let unit = self.add(Node::Unit, Space::Number);
        let id = self.sum(vector, unit);
        self.sharing = sharing;
        id
    }

    /// The operator that a vector makes, times x.
    pub(super) fn made_by(&mut self, by: By, vector: &Sum, x: Id) -> Id {
        let v = self.inner(vector);
        match by {
            By::Crm => self.cross(false, v, x),
            By::Crf => self.cross(true, v, x),
            By::Bar => self.cross(true, x, v),
            By::Times(_) => self.times(v, x),
            By::Diagonal => {
                let space = self.spaces[x];
                self.add(Node::Diagonal(v, false, x), space)
            }
            By::PDot => self.p_rate_times(v, x),
            By::PDq(false) => self.p_rate_times(x, v),
            By::UpsilonDot => self.upsilon_rate_times(v, x),
            // The adjoint is refused where expressions are read.
            By::UpsilonDq(_) => self.upsilon_rate_times(x, v),
            By::PDq(true) => self.rate_adjoint(vec![(Seed::P, x, v)]),
            By::RootDot(star) => self.root_rate(v, star, x),
            By::RootDq(star, false) => self.root_rate(x, star, v),
            // x*L̇*y = y*L̇x.
            By::RootDq(true, true) => self.rate_adjoint(vec![(Seed::Root, v, x)]),
            By::RootDq(false, true) => self.rate_adjoint(vec![(Seed::Root, x, v)]),
            By::TiesDot(false) => self.tie_rate(TieRate::Forces, x, v),
            By::TiesDot(true) => self.tie_rate(TieRate::Rates, v, x),
            By::TiesDq(false) => self.tie_rate(TieRate::Forces, v, x),
            By::TiesDq(true) => self.tie_rate(TieRate::Gradient, v, x),
            By::TiesStarDq(false) => self.tie_rate(TieRate::Rates, x, v),
            By::TiesStarDq(true) => self.tie_rate(TieRate::Gradient, x, v),
        }
    }

    pub(super) fn tie_rate(&mut self, of: TieRate, a: Id, b: Id) -> Id {
        let space = match of {
            TieRate::Rates => Space::Constraint,
            TieRate::Forces | TieRate::Gradient => Space::Force,
        };
        self.add(Node::TieRate(of, a, b), space)
    }

    /// v × x of motions, or v ×* f of a force.
    pub(super) fn cross(&mut self, force: bool, v: Id, x: Id) -> Id {
        let space = self.spaces[x];
        self.add(Node::Cross(force, v, x), space)
    }

    /// Ṗ[w] x.
    pub(super) fn p_rate_times(&mut self, w: Id, x: Id) -> Id {
        let rate = self.add(Node::PRate(w), Space::Motion);
        self.add(Node::PRateTimes(rate, x), Space::Force)
    }

    /// Υ̇[w] f.
    fn upsilon_rate_times(&mut self, w: Id, f: Id) -> Id {
        let of_p = self.add(Node::PRate(w), Space::Motion);
        let rate = self.add(Node::UpsilonRate(of_p, w), Space::Motion);
        self.add(Node::PRateTimes(rate, f), Space::Motion)
    }

    fn root_rate(&mut self, w: Id, star: bool, x: Id) -> Id {
        let rate = self.add(Node::PRate(w), Space::Motion);
        self.add(Node::RootRate(rate, star, x), Space::Joint)
    }

    pub(super) fn rate_adjoint(&mut self, seeds: Vec<(Seed, Id, Id)>) -> Id {
        self.add(Node::RateAdjoint(seeds), Space::Joint)
    }
}
