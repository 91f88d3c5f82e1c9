//! Everything that can be asked of a state, by name.
//!
//! [`Quantity::all`] is the one list: what a quantity is called here and elsewhere, what it takes, and the shape of what it
//! gives. The program's `eval`, batches and the Python package read it.
//!
//! ```
//! use linkwork::quantity::{Evaluation, Given, Quantity};
//! let arm = linkwork::model::examples::puma560();
//! let quantity = Quantity::find("rnea")?; // inverse_dynamics
//! let mut evaluation = Evaluation::new(&arm);
//! let given = Given { q: &[0.1; 6], qd: &[0.0; 6], qdd: &[0.0; 6], ..Given::default() };
//! let tau = evaluation.compute(quantity, &given)?;
//! assert_eq!(tau.len(), 6);
//! # Ok::<(), linkwork::Error>(())
//! ```

mod batch;
mod closed;
mod derivatives;
mod diagonalized;
mod dynamics;
mod evaluation;
mod kinematics;
mod lanes;
mod many_models;
mod operational;
mod single_sweeps;

pub use crate::sweep::{Input, Size};
pub use batch::BatchEvaluation;
pub use evaluation::{Evaluation, Room};
pub use many_models::ModelsEvaluation;

use crate::closed::ClosedPosed;
use crate::model::{FrameId, JointId, Mechanism};
use crate::scalar::Scalar;
use crate::sweep::Known;
use crate::workspace::Moving;
use crate::{Error, Reference, Result};

/// Something that can be computed for a state of a mechanism.
///
/// ```
/// use linkwork::quantity::Quantity;
/// assert_eq!(Quantity::find("rnea")?.name, "inverse_dynamics"); // by any of its names
/// println!("{} quantities", Quantity::all().count());
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Quantity {
    /// What it is called.
    pub name: &'static str,
    /// What the papers call it.
    pub symbol: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What others call it.
    pub aliases: &'static [&'static str],
    /// What it depends on.
    pub inputs: &'static [Input],
    /// The dimensions of its result, none for a number; elements are row by row.
    pub shape: &'static [Size],
    compute: Compute,
}

/// What quantities are computed from: for one state, or for many one after another. What a quantity does not take may be
/// left empty.
///
/// ```
/// use linkwork::quantity::{Given, Input};
/// let given = Given { q: &[0.1, 0.2], qd: &[0.0, 0.5], ..Given::default() };
/// assert_eq!(given.numbers(Input::Qd), [0.0, 0.5]);
/// assert!(given.numbers(Input::Tau).is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Given<'a, T = f64> {
    /// The configuration.
    pub q: &'a [T],
    /// The velocity.
    pub qd: &'a [T],
    /// The acceleration.
    pub qdd: &'a [T],
    /// The torques.
    pub tau: &'a [T],
    /// A vector that an operator is applied to.
    pub x: &'a [T],
    /// Changes of q, q̇ and q̈ or T.
    pub change: &'a [T],
    /// The frame.
    pub frame: FrameId,
    /// Its axes and point.
    pub reference: Reference,
    /// The joint.
    pub joint: Option<JointId>,
}

impl<T> Default for Given<'_, T> {
    fn default() -> Self {
        Self {
            q: &[],
            qd: &[],
            qdd: &[],
            tau: &[],
            x: &[],
            change: &[],
            frame: FrameId::WORLD,
            reference: Reference::Local,
            joint: None,
        }
    }
}

impl<'a, T> Given<'a, T> {
    /// The numbers of an input; empty for what is not made of numbers.
    pub fn numbers(&self, input: Input) -> &'a [T] {
        match input {
            Input::Q => self.q,
            Input::Qd => self.qd,
            Input::Qdd => self.qdd,
            Input::Tau => self.tau,
            Input::X => self.x,
            Input::Change => self.change,
            Input::Frame | Input::Reference | Input::Joint => &[],
        }
    }

    /// The joint, which is needed.
    fn joint(&self) -> Result<JointId> {
        self.joint.ok_or(Error::Missing { input: "joint" })
    }
}

/// For one state of a tree, or of one whose loops are closed.
#[derive(Clone, Copy)]
enum Compute {
    Call(Call<f64>),
    Tree(OfTree),
    Closed(OfClosed),
}

type OfTree = fn(&mut Moving<'_>, &Given<'_>, &mut Room, &mut [f64]) -> Result<()>;
type OfClosed = fn(&mut ClosedPosed<'_>, &Given<'_>, &mut Room, &mut [f64]) -> Result<()>;

/// A quantity that is one call of a view, over some scalar.
pub type Call<S> = fn(&mut Moving<'_, S>, &Given<'_, S>, &mut [S]) -> Result<()>;

/// Functions over any scalar, and how they are found by the names of their quantities: the table takes them over `f64`, and
/// whoever else asks compiles them for a scalar of its own.
macro_rules! calls {
    ($($name:ident: |$m:ident, $given:pat_param, $out:ident| $call:expr;)*) => {
        $(fn $name<S: $crate::scalar::Scalar>(
            $m: &mut $crate::workspace::Moving<'_, S>,
            $given: &$crate::quantity::Given<'_, S>,
            $out: &mut [S],
        ) -> $crate::Result<()> {
            $call
        })*

        pub(super) fn over<S: $crate::scalar::Scalar>(name: &str) -> Option<$crate::quantity::Call<S>> {
            match name {
                $(stringify!($name) => Some($name::<S>),)*
                _ => None,
            }
        }
    };
}
use calls;

impl Quantity {
    const fn new(
        (name, symbol, about): (&'static str, &'static str, &'static str),
        aliases: &'static [&'static str],
        inputs: &'static [Input],
        shape: &'static [Size],
        compute: OfTree,
    ) -> Self {
        Self {
            name,
            symbol,
            about,
            aliases,
            inputs,
            shape,
            compute: Compute::Tree(compute),
        }
    }

    const fn call(
        head: (&'static str, &'static str, &'static str),
        aliases: &'static [&'static str],
        inputs: &'static [Input],
        shape: &'static [Size],
        call: Call<f64>,
    ) -> Self {
        Self {
            compute: Compute::Call(call),
            ..Self::new(head, aliases, inputs, shape, |_, _, _, _| Ok(()))
        }
    }

    /// One that is declared beside its algorithm.
    const fn declared(known: Known, compute: Compute) -> Self {
        let (name, symbol, about) = known.head;
        Self {
            name,
            symbol,
            about,
            aliases: known.aliases,
            inputs: known.inputs,
            shape: known.shape,
            compute,
        }
    }

    const fn closed(
        (name, symbol, about): (&'static str, &'static str, &'static str),
        inputs: &'static [Input],
        shape: &'static [Size],
        compute: OfClosed,
    ) -> Self {
        Self {
            name,
            symbol,
            about,
            aliases: &[],
            inputs,
            shape,
            compute: Compute::Closed(compute),
        }
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        let families: [&[Self]; 7] = [
            kinematics::QUANTITIES,
            dynamics::QUANTITIES,
            derivatives::QUANTITIES,
            diagonalized::QUANTITIES,
            diagonalized::BLOCKS.as_flattened(),
            operational::QUANTITIES,
            closed::QUANTITIES,
        ];
        let own = families.into_iter().flatten();
        single_sweeps::QUANTITIES.iter().flatten().chain(own)
    }

    /// Finds one by its name or an alias.
    pub fn find(name: &str) -> Result<&'static Self> {
        let found = Self::all().find(|q| q.name == name || q.aliases.contains(&name));
        found.ok_or_else(|| Error::Quantity {
            name: name.to_owned(),
            hint: crate::model::did_you_mean(
                name,
                Self::all().flat_map(|q| q.aliases.iter().chain([&q.name]).copied()),
            ),
        })
    }

    /// Whether it takes this.
    pub fn takes(&self, input: Input) -> bool {
        self.inputs.contains(&input)
    }

    /// Whether it is of mechanisms whose loops are closed.
    pub fn is_of_loops(&self) -> bool {
        matches!(self.compute, Compute::Closed(_))
    }

    /// Whether many states are computed several to a register; others are computed one by one, on all threads.
    pub fn has_lanes(&self) -> bool {
        lanes::in_lanes::<f64>(self.name).is_some()
    }

    /// It over another scalar, such as a number that counts operations or a dual one, if it is a sweep of the dynamics or one call of a view.
    ///
    /// ```
    /// use linkwork::quantity::{Given, Quantity};
    /// let arm = linkwork::model::examples::puma560();
    /// let gravity = Quantity::find("gravity_torque")?.over::<f64>().expect("it is one call");
    /// let mut out = [0.0; 6];
    /// gravity(&mut arm.workspace().at(&[0.3; 6])?.moving(&[0.0; 6])?, &Given::default(), &mut out)?;
    /// assert!(out[1].abs() > 1.0);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn over<S: Scalar>(&self) -> Option<Call<S>> {
        let families = [
            single_sweeps::over::<S>,
            dynamics::over::<S>,
            derivatives::over::<S>,
            diagonalized::over::<S>,
        ];
        families.into_iter().find_map(|over| over(self.name))
    }

    /// The dimensions for a mechanism, and a joint where its inputs name one.
    pub fn dimensions(&self, mechanism: &Mechanism, joint: Option<JointId>) -> Result<Vec<usize>> {
        let size = |size: &Size| match (size, size.len(mechanism)) {
            (_, Some(n)) => Ok(n),
            (Size::Dofs, None) => {
                let joint = joint.ok_or(Error::Missing { input: "joint" })?;
                Ok(mechanism.v_range(joint)?.len())
            }
            (_, None) => Err(self.needs_loops(mechanism)),
        };
        self.shape.iter().map(size).collect()
    }

    fn needs_loops(&self, mechanism: &Mechanism) -> Error {
        Error::Unsupported {
            mechanism: mechanism.name().to_owned(),
            what: self.name,
            needs: "a mechanism whose loops are closed; give a `ClosedMechanism`, or a file that has loops",
        }
    }
}

impl core::fmt::Debug for Compute {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Call(_) => "Call",
            Self::Tree(_) => "Tree",
            Self::Closed(_) => "Closed",
        })
    }
}
