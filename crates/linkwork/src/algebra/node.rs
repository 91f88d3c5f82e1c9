//! The nodes of a graph: the recursions, what happens link by link, and what lies between.

use super::space::Space;
use super::sum::Vector;
use std::sync::Arc;

/// A node's place in its graph.
pub(crate) type Id = usize;

/// One of the four recursions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Core {
    InPhi,
    InPsi,
    OutPhi,
    OutPsi,
}

impl Core {
    pub(crate) fn inward(self) -> bool {
        matches!(self, Self::InPhi | Self::InPsi)
    }

    pub(crate) fn psi(self) -> bool {
        matches!(self, Self::InPsi | Self::OutPsi)
    }
}

/// What happens link by link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Local {
    H,
    HStar,
    M,
    P,
    PPlus,
    D,
    DInv,
    G,
    GStar,
    TauBar,
    TauBarStar,
    Root,
    RootStar,
    RootInv,
    RootInvStar,
    Upsilon,
    Rotors,
    MInv,
    PInv,
}

impl Local {
    /// Whether it reads what the Riccati equation gives.
    pub(crate) fn needs_riccati(self) -> bool {
        !matches!(self, Self::H | Self::HStar | Self::M | Self::Rotors | Self::MInv)
    }
}

/// What a gradient by joint rates is of: x*Ṗy, x*L̇y with L = D^½, or xy tr(D⁻¹Ḋ) for numbers x and y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Seed {
    P,
    Root,
    LogDet,
}

/// What is asked of the form Y*Ḃc[X]λ: what multiplies Y, λ or X in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TieRate {
    /// Ḃc[X]λ, from λ and X.
    Forces,
    /// Ḃc*[X]Y, from X and Y.
    Rates,
    /// The gradient by X, from λ and Y.
    Gradient,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// The number one.
    Unit,
    /// A vector that is bound, or what an operator acts on.
    Given(Vector),
    /// a₀: the acceleration that stands in for gravity, at the links on the world.
    BaseAcceleration,
    /// a = crm(V)H*q̇, from V and q̇.
    Coriolis(Id, Id),
    /// b = crf(V)MV, and what pushes.
    Gyroscopic(Id),
    Local(Local, Id),
    /// E_φ (inward) or E_φ*.
    Shift(bool, Id),
    Core(Core, Option<Id>, Option<Id>),
    /// A result of a recursion: in joint space, or of the links.
    Joint(Id),
    Link(Id),
    /// Σ of multiples, the scales as bits.
    Combine(Vec<(u64, Id)>, Space),
    /// B and B*.
    Spread(Id),
    Pick(Id),
    /// The pairing of two vectors, and a number times a vector.
    Dot(Id, Id),
    Times(Id, Id),
    /// A dense inverse, by its place among those of the graph, times a vector of joint or tip space.
    Solve(usize, Id),
    /// An augmented inverse, by its place, on a joint vector and forces on links: x = 𝓐⁻¹(t + Hφf), λ = φ*H*x.
    Augmented(usize, Option<Id>, Option<Id>),
    /// diag(w)x, or its inverse.
    Diagonal(Id, bool, Id),
    /// A symmetric matrix that is given, times x.
    Matrix(Id, Id),
    /// A frame's numbers out of those of all frames, and into them.
    Select(Arc<str>, Id),
    Place(Arc<str>, Id),
    /// Bc and Bc*.
    Tie(Id),
    Untie(Id),
    /// v × x of motions, or v ×* f of a force: the vector, and what it acts on.
    Cross(bool, Id, Id),
    /// Ṗ where the joints move as this says: a matrix of every link.
    PRate(Id),
    /// r = M + Σ φrφ*: a matrix of every link.
    Composite,
    /// Υ̇ from Ṗ, where the joints move so: a matrix of every link.
    UpsilonRate(Id, Id),
    /// Ṗ times a motion, or Υ̇ times a force.
    PRateTimes(Id, Id),
    /// The rate of D^½, or its adjoint, times a joint vector.
    RootRate(Id, bool, Id),
    /// The gradient by w of Σ x*Ṗ[w]y and the like.
    RateAdjoint(Vec<(Seed, Id, Id)>),
    /// What of frames' motions moves the axes they are written in.
    Seen(Id),
    /// J̇c q̇ from the velocities of links and what they accelerate by at q̈ = 0.
    ConstraintBias(Id, Id),
    TieRate(TieRate, Id, Id),
    /// log det 𝓜 = Σ log det D.
    LogDet,
}
