//! The immutable mechanism, and the one checked way into it.

mod actuation;
mod builder;
mod bundles;
mod check;
mod compile;
mod compiled;
mod configuration;
mod coupling;
mod dh;
mod edit;
pub mod examples;
mod hinge;
mod in_line;
mod joint;
mod limits;
mod link;
mod mechanism;
mod passive;
mod pattern;
mod pivots;
mod tiles;

pub use actuation::Motor;
pub use builder::Builder;
pub(crate) use builder::per_dof;
pub(crate) use bundles::{Abreast, Borne, Bundles, Course, Each, Met, Passed, Picks, Run, Whole};
#[doc(hidden)]
pub use check::did_you_mean;
pub(crate) use compiled::{Body, Compiled, GAP, Hinge, Layout, PACK, Part, Passage, Placed};
pub(crate) use configuration::{Generator, check_length};
pub(crate) use configuration::{all_usable, surely_usable};
pub use coupling::{Coupling, Function, Law};
pub(crate) use coupling::{Elimination, Embedding, Follower, Piece, Reduction, Station};
pub use dh::{Dh, DhRow};
pub use edit::Base;
pub(crate) use hinge::{Gain, release_base, resolve_base, sizes};
pub(crate) use in_line::InLine;
pub use joint::{Joint, JointKind};
pub use limits::Bounds;
pub use link::{Frame, Link};
pub use mechanism::{FrameId, JointId, LinkId, Mechanism};
pub(crate) use passive::{Resisted, SLOW};
pub(crate) use pattern::{GROUP, Zeros, joins, path_order, waits_for_next, zero_ranges};
pub(crate) use tiles::{TILE, Tile, Tiles};

/// The name of the fixed frame that every mechanism stands in.
pub const WORLD: &str = "world";
