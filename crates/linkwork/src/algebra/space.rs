//! The spaces that operators lead between, as values and as types.

use core::fmt;
use core::fmt::Debug;

/// A space of vectors.
///
/// A link has motions and forces; an operator that takes one is not given the other. In joint and tip space both have
/// the same coordinates and are not told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// One number.
    Number,
    /// One number per degree of freedom, in the order of q̇: n in all.
    Joint,
    /// A motion [ω; v] of every moving link, in its own frame: 6N in all.
    Motion,
    /// A force [N; F] on every moving link, in its own frame: 6N in all.
    Force,
    /// A motion of, or a force on, every chosen frame: 6 times the number of frames.
    Tip,
    /// A motion of, or a force on, one frame by name: 6.
    Frame,
    /// One number per row of the constraints of a closed mechanism.
    Constraint,
    /// The numbers of a symmetric matrix of joint space, row by row: n².
    JointSquare,
    /// The same of tip space.
    TipSquare,
    /// The same of one frame: 36.
    FrameSquare,
    /// The same of constraint space.
    ConstraintSquare,
}

impl Space {
    /// Where the adjoint of a vector lives.
    pub fn dual(self) -> Self {
        match self {
            Self::Motion => Self::Force,
            Self::Force => Self::Motion,
            other => other,
        }
    }

    /// The space of symmetric matrices that lead from this one to itself; of links there are none.
    pub(crate) fn square(self) -> Option<Self> {
        Some(match self {
            Self::Joint => Self::JointSquare,
            Self::Tip => Self::TipSquare,
            Self::Frame => Self::FrameSquare,
            Self::Constraint => Self::ConstraintSquare,
            _ => return None,
        })
    }

    /// The space that a matrix leads from and to, if it is one of matrices.
    pub fn side(self) -> Option<Self> {
        Some(match self {
            Self::JointSquare => Self::Joint,
            Self::TipSquare => Self::Tip,
            Self::FrameSquare => Self::Frame,
            Self::ConstraintSquare => Self::Constraint,
            _ => return None,
        })
    }

    /// Its name in an expression, as in `x:joint`; of matrices, that of their side.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Joint | Self::JointSquare => "joint",
            Self::Motion => "motion",
            Self::Force => "force",
            Self::Tip | Self::TipSquare => "tip",
            Self::Frame | Self::FrameSquare => "frame",
            Self::Constraint | Self::ConstraintSquare => "constraint",
        }
    }

    /// By its name in an expression: `x:joint`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "number" => Self::Number,
            "joint" => Self::Joint,
            "motion" => Self::Motion,
            "force" => Self::Force,
            "tip" => Self::Tip,
            "frame" => Self::Frame,
            "constraint" => Self::Constraint,
            _ => return None,
        })
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "a number",
            Self::Joint => "joint space (n)",
            Self::Motion => "link space (6N, motions)",
            Self::Force => "link space (6N, forces)",
            Self::Tip => "tip space (6 × frames)",
            Self::Frame => "the space of one frame (6)",
            Self::Constraint => "constraint space (a number per row)",
            Self::JointSquare => "matrices of joint space (n × n, row by row)",
            Self::TipSquare => "matrices of tip space (6 × frames squared, row by row)",
            Self::FrameSquare => "matrices of one frame (6 × 6, row by row)",
            Self::ConstraintSquare => "matrices of constraint space (rows × rows, row by row)",
        })
    }
}

/// Which way an operator looks along the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Link by link.
    Memoryless,
    /// Causal: from the tips to the base.
    Inward,
    /// Anticausal: from the base to the tips.
    Outward,
    /// Both ways.
    Both,
}

impl Direction {
    /// Of a product or a sum.
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Memoryless, d) | (d, Self::Memoryless) => d,
            (a, b) if a == b => a,
            _ => Self::Both,
        }
    }

    /// Of the adjoint.
    pub fn reversed(self) -> Self {
        match self {
            Self::Inward => Self::Outward,
            Self::Outward => Self::Inward,
            other => other,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memoryless => "memoryless",
            Self::Inward => "causal (inward)",
            Self::Outward => "anticausal (outward)",
            Self::Both => "both causal and anticausal",
        })
    }
}

/// A space as a type, so that products of operators that do not fit do not compile.
pub trait Typed: Copy + Debug {
    /// The same as a value.
    const SPACE: Space;
    /// Where adjoints live.
    type Dual: Typed<Dual = Self>;
}

macro_rules! typed {
    ($($(#[$doc:meta])* $name:ident($space:ident) is $dual:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Typed for $name {
            const SPACE: Space = Space::$space;
            type Dual = $dual;
        }
    )*};
}

typed! {
    /// One number.
    NumberSpace(Number) is NumberSpace,
    /// Joint space, n.
    JointSpace(Joint) is JointSpace,
    /// Motions of links, 6N.
    MotionSpace(Motion) is ForceSpace,
    /// Forces on links, 6N.
    ForceSpace(Force) is MotionSpace,
    /// Tip space, 6 × frames.
    TipSpace(Tip) is TipSpace,
}
