//! The immutable mechanism, and the one checked way into it.

mod actuation;
mod builder;
mod check;
mod compile;
pub(crate) mod compiled;
mod configuration;
mod dh;
mod edit;
pub mod examples;
mod joint;
mod limits;
mod link;
mod mass_pattern;
mod mechanism;
pub(crate) mod passive;

pub use crate::coupled::model::{Coupling, Function, Law};
pub use actuation::Motor;
pub use builder::Builder;
pub(crate) use builder::per_dof;
#[doc(hidden)]
pub use check::did_you_mean;
pub(crate) use compiled::{Compiled, Part, Placed};
pub(crate) use configuration::{Generator, check_length, turn_of};
pub(crate) use configuration::{all_usable, surely_usable};
pub use dh::{Dh, DhRow};
pub use edit::Base;
pub use joint::{Joint, JointKind};
pub use limits::Bounds;
pub use link::{Frame, Link};
pub use mechanism::{FrameId, JointId, LinkId, Mechanism};
pub(crate) use passive::{Resisted, SLOW};

/// The name of the fixed frame that every mechanism stands in.
pub const WORLD: &str = "world";
