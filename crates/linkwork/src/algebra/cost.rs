//! What steps cost at a link on a revolute joint in general position: multiplications and additions.
//!
//! A division or root counts as a multiplication, a change of sign as nothing, as the counting scalar has it; a test
//! holds the two against each other.

use super::graph::{Core, Graph, Id, Local, Node};
use super::schedule::{Keeps, joint_result};
use super::space::Space;
use core::ops::Add;

/// What an algorithm costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Ways along the links.
    pub sweeps: usize,
    /// Multiplications per link.
    pub multiplications: usize,
    /// Additions per link.
    pub additions: usize,
}

impl Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            sweeps: self.sweeps + other.sweeps,
            multiplications: self.multiplications + other.multiplications,
            additions: self.additions + other.additions,
        }
    }
}

/// A sweep more is worth so many operations per link.
const SWEEP: usize = 30;

impl Cost {
    /// One number to compare by.
    pub fn total(self) -> usize {
        self.multiplications + self.additions + SWEEP * self.sweeps
    }
}

const fn operations(multiplications: usize, additions: usize) -> Cost {
    Cost {
        sweeps: 0,
        multiplications,
        additions,
    }
}

/// φ f and φ*V.
const TRANSPORT: Cost = operations(20, 12);
/// M V, P V and Υ f.
const RIGID: Cost = operations(24, 18);
const FULL: Cost = operations(36, 30);
/// The Riccati recursion, and that of Υ.
const RICCATI: Cost = operations(116, 100);
const UPSILON: Cost = operations(534, 402);

/// The Riccati recursion and that of Υ together.
pub(super) const OF_UPSILON: (usize, usize) = (
    RICCATI.multiplications + UPSILON.multiplications,
    RICCATI.additions + UPSILON.additions,
);
/// r; Ṗ, and the gradient by the joints' rates of what is linear in it.
const COMPOSITE: Cost = operations(120, 138);
const P_RATE: Cost = operations(300, 303);
const P_RATE_ADJOINT: Cost = operations(426, 345);

/// The stages that must be there.
pub(crate) fn stages(keeps: Keeps) -> Cost {
    let mut total = Cost::default();
    if keeps.gains {
        total = total + RICCATI;
    }
    if keeps.upsilon {
        total = total + UPSILON;
    }
    total
}

/// One node.
pub(crate) fn node(graph: &Graph, id: Id) -> Cost {
    let size = match graph.spaces[id] {
        Space::Joint => 1,
        Space::Motion | Space::Force => 6,
        _ => 0,
    };
    match &graph.nodes[id] {
        Node::Unit | Node::Given(_) | Node::BaseAcceleration => operations(0, 0),
        Node::Joint(_) | Node::Link(_) | Node::Spread(_) | Node::Pick(_) | Node::Solve(..) => operations(0, 0),
        Node::Select(..) | Node::Place(..) | Node::Tie(_) | Node::Untie(_) | Node::ConstraintBias(..) => {
            operations(0, 0)
        }
        Node::TieRate(..) | Node::LogDet | Node::Matrix(..) => operations(0, 0),
        // Elimination once, then ψ inward and ψ* outward.
        Node::Augmented(which, t, x) => {
            let first = (0..id).all(|n| !matches!(graph.nodes[n], Node::Augmented(w, ..) if w == *which));
            let more = operations(0, usize::from(t.is_some()) + if x.is_some() { 6 } else { 0 });
            let sweeps = TRANSPORT + operations(6, 6) + TRANSPORT + operations(7, 7) + more;
            if first { RICCATI + sweeps } else { sweeps }
        }
        Node::Diagonal(..) => operations(size, 0),
        Node::Cross(..) if size > 0 => operations(18, 12),
        Node::Cross(..) | Node::Seen(_) => operations(0, 0),
        Node::PRate(_) => P_RATE,
        Node::Composite => COMPOSITE,
        Node::UpsilonRate(..) => operations(2634, 2124),
        Node::PRateTimes(..) => FULL,
        Node::RootRate(..) => operations(45, 31),
        Node::RateAdjoint(seeds) => {
            let each = seeds.iter().fold(operations(0, 0), |sum, _| sum + operations(108, 72));
            P_RATE_ADJOINT + each
        }
        Node::Coriolis(..) => operations(4, 0),
        Node::Gyroscopic(_) => RIGID + operations(18, 12),
        Node::Local(local, _) => operator(*local),
        Node::Shift(..) => TRANSPORT,
        Node::Core(core, t, x) => recursion(graph, id, *core, t.is_some(), x.is_some()),
        Node::Combine(terms, _) => {
            let scaled = terms.iter().filter(|t| f64::from_bits(t.0).abs() != 1.0).count();
            operations(size * scaled, size * terms.len().saturating_sub(1))
        }
        Node::Dot(a, _) => match graph.spaces[*a] {
            Space::Joint => operations(1, 1),
            Space::Motion | Space::Force => operations(6, 6),
            _ => operations(0, 0),
        },
        Node::Times(..) => operations(size, 0),
    }
}

fn operator(local: Local) -> Cost {
    match local {
        Local::H | Local::HStar => operations(0, 0),
        Local::M => RIGID,
        Local::P | Local::PPlus | Local::Upsilon => FULL,
        Local::MInv | Local::PInv => operations(98, 86),
        Local::DInv | Local::Rotors => operations(1, 0),
        Local::D | Local::RootInv | Local::RootInvStar => operations(2, 0),
        Local::Root | Local::RootStar => operations(3, 0),
        Local::G => operations(6, 0),
        Local::GStar => operations(6, 5),
        Local::TauBar | Local::TauBarStar => operations(6, 6),
    }
}

fn recursion(graph: &Graph, id: Id, core: Core, t: bool, x: bool) -> Cost {
    let joint = joint_result(graph, id);
    let add = |yes: bool, additions: usize| operations(0, if yes { additions } else { 0 });
    let mut total = TRANSPORT + add(x, 6);
    match core {
        Core::InPsi => total = total + operations(6, 6) + add(t, 1),
        Core::InPhi => {
            if t {
                total = total + operations(6, 6);
            }
            total = total + add(t && joint, 1);
        }
        Core::OutPsi => total = total + operations(6, 5) + add(t, 1) + add(true, 1),
        Core::OutPhi => {
            if joint {
                total = total + operations(6, 5) + add(t, 1);
            }
            total = total + add(t, 1);
        }
    }
    total
}
