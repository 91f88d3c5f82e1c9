//! What an algorithm says of itself, beside it: how it meets couplings, how it is built, and what users call it.

use super::Ready;
use crate::model::Mechanism;

/// A sweep that is declared, by [`algorithm!`].
pub(crate) trait Algorithm {
    /// What it takes and gives per degree of freedom: how it meets joints that follow others, or that it is refused there.
    const SHAPE: Shape;
    /// Another sweep that its shape needs where couplings are curved; most need none and name themselves.
    type Partner: Algorithm;
    /// It over `f64`, compiled.
    const F64: Ready<f64>;
    /// What users know it as, if they can ask for it by name.
    const KNOWN: Option<Known>;
}

/// What a sweep takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing per degree of freedom, or what its caller takes care of.
    Plain,
    /// What couplings leave undefined: refused before it is run.
    Tree,
    /// Motions, if anything, to torques.
    Torques,
    /// Accelerations, if anything, to torques, velocity terms included; if nothing, its partner is 𝓜x.
    Dynamics,
    /// Rows of one number per degree of freedom: velocities per q̇.
    Columns,
    /// The rates of such rows; its partner gives the rows.
    ColumnsRate,
    /// A matrix that takes motions to torques.
    Form,
    /// The matrix whose product with q̇ is the velocity terms; its partner gives 𝓜.
    CoriolisForm,
    /// Torques to accelerations, by 𝓜⁻¹ alone or with velocity terms.
    Motions,
    Forward,
    /// The same as T' = T − C and 𝓜⁻¹T'.
    BiasFree,
    /// 𝓜⁻¹.
    Inverse,
}

impl Shape {
    /// Whether no force and no mass is in what it gives per degree of freedom.
    pub(crate) const fn is_kinematic(self) -> bool {
        matches!(self, Self::Plain | Self::Columns | Self::ColumnsRate)
    }

    /// Whether it divides by D, which may be zero.
    pub(crate) const fn divides(self) -> bool {
        matches!(self, Self::Motions | Self::Forward | Self::BiasFree | Self::Inverse)
    }
}

/// How a quantity is known to users.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// What it is called, what the papers call it, and what it is, in one line.
    pub(crate) head: (&'static str, &'static str, &'static str),
    /// What others call it.
    pub(crate) aliases: &'static [&'static str],
    /// What it depends on.
    pub(crate) inputs: &'static [Input],
    /// The dimensions of its result.
    pub(crate) shape: &'static [Size],
}

impl Known {
    /// How many numbers its result has for a mechanism; zero if that depends on more than the mechanism.
    pub(crate) fn len(&self, mechanism: &Mechanism) -> usize {
        self.shape.iter().map(|size| size.len(mechanism).unwrap_or(0)).product()
    }
}

/// What a quantity may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// The configuration, nq numbers.
    Q,
    /// The velocity, nv numbers.
    Qd,
    /// The acceleration, nv numbers.
    Qdd,
    /// The torques, nv numbers.
    Tau,
    /// A vector of nv numbers that an operator is applied to.
    X,
    /// Changes of q, of q̇, and of q̈ or T, one after another: 3 nv numbers.
    Change,
    /// A frame.
    Frame,
    /// The axes and the point that a frame is seen in.
    Reference,
    /// A joint.
    Joint,
}

/// A dimension of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Size {
    /// This many.
    Of(usize),
    /// The degrees of freedom.
    Nv,
    /// The links.
    Links,
    /// Ten numbers for every link.
    Parameters,
    /// The elements of 𝓜 that [`Mechanism::mass_pattern`](crate::model::Mechanism::mass_pattern) lists.
    Pattern,
    /// The degrees of freedom of the joint.
    Dofs,
    /// The equations of the constraints.
    Constraints,
}

impl Input {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Q => "q",
            Self::Qd => "qd",
            Self::Qdd => "qdd",
            Self::Tau => "tau",
            Self::X => "x",
            Self::Change => "change",
            Self::Frame => "frame",
            Self::Reference => "reference",
            Self::Joint => "joint",
        }
    }

    /// How many numbers it has; none if it is not made of numbers.
    pub fn len(self, mechanism: &Mechanism) -> Option<usize> {
        match self {
            Self::Q => Some(mechanism.nq()),
            Self::Qd | Self::Qdd | Self::Tau | Self::X => Some(mechanism.nv()),
            Self::Change => Some(3 * mechanism.nv()),
            Self::Frame | Self::Reference | Self::Joint => None,
        }
    }
}

impl Size {
    /// How many that are, where the mechanism alone says it.
    pub(crate) fn len(self, mechanism: &Mechanism) -> Option<usize> {
        match self {
            Self::Of(n) => Some(n),
            Self::Nv => Some(mechanism.nv()),
            Self::Links => Some(mechanism.links().len()),
            Self::Parameters => Some(10 * mechanism.links().len()),
            Self::Pattern => Some(mechanism.mass_pattern_length()),
            Self::Dofs | Self::Constraints => None,
        }
    }
}

/// Declares a quantity that is more than one sweep, beside the sweeps that it is made of.
macro_rules! known {
    ($head:tt, [$($alias:literal),*], [$($input:ident),*] -> [$($size:expr),*]) => {{
        #[allow(unused_imports)]
        use $crate::sweep::Size::{Nv, Of, Pattern};
        $crate::sweep::Known {
            head: $head,
            aliases: &[$($alias),*],
            inputs: &[$($crate::sweep::Input::$input),*],
            shape: &[$($size),*],
        }
    }};
}
pub(crate) use known;

/// Declares sweeps, each by its shape and how it is built; one that is a quantity also by what users know of it.
///
/// ```text
/// algorithm! {
///     Coriolis: Dynamics with MassTimes =>
///         ("coriolis", "Cq̇", "the velocity terms alone"), ["coriolis_torque"], [Q, Qd] -> [Nv];
///     Inverse: Dynamics, Packed;
/// }
/// ```
///
/// A sweep is run seldom; `Often`; or often and with several columns to a register, `Packed`. Only the latter two are worth
/// the time for every set of instructions.
macro_rules! algorithm {
    ($(
        $sweep:ident: $shape:ident $(with $partner:path)? $(, $built:ident)?
        $(=> $head:tt, [$($alias:literal),*], [$($input:ident),*] -> [$($size:expr),*])?;
    )*) => {
        $(impl $crate::sweep::Algorithm for $sweep {
            const SHAPE: $crate::sweep::Shape = $crate::sweep::Shape::$shape;
            type Partner = $crate::sweep::algorithm!(@partner $sweep $(, $partner)?);
            const F64: $crate::sweep::Ready<f64> = $crate::sweep::algorithm!(@ready $sweep $(, $built)?);
            const KNOWN: Option<$crate::sweep::Known> = $crate::sweep::algorithm!(
                @known $($head, [$($alias),*], [$($input),*] -> [$($size),*])?
            );
        })*
    };
    (@partner $own:path) => { $own };
    (@partner $own:path, $other:path) => { $other };
    (@ready $sweep:path) => { $crate::sweep::Ready::seldom::<$sweep>() };
    (@ready $sweep:path, Often) => { $crate::sweep::Ready::new::<$sweep>() };
    (@ready $sweep:path, Packed) => { $crate::sweep::Ready::new::<$crate::sweep::Packed<$sweep>>() };
    (@known) => { None };
    (@known $($known:tt)+) => { Some($crate::sweep::known!($($known)+)) };
}
pub(crate) use algorithm;
