//! Six-dimensional algebra that knows no tree.
//!
//! Motions and forces are angular first and are different types: they cannot be added, and only their pairing is a
//! number (power). Rigid transformations are stored as a rotation and a vector, never as 6×6.

mod articulated;
mod articulated_rate;
mod eccentric;
mod frame_rows;
mod inertia;
#[cfg(any(feature = "serde", feature = "nalgebra", feature = "mint"))]
mod interchange;
mod lie;
mod pose;
mod principal;
mod reference;
mod rotation;
mod screw;
mod vector;
mod wrench;

pub(crate) use articulated::{Articulated, ArticulatedAboutZ};
pub(crate) use eccentric::{ECCENTRIC, Eccentric};
pub(crate) use frame_rows::{Row, Rows};
pub use inertia::Inertia;
pub(crate) use inertia::RigidBody;
pub(crate) use lie::{ShortTurn, along_screw};
pub use pose::Pose;
pub use reference::Reference;
pub use rotation::Rotation;
pub(crate) use screw::{Apart, ConstantTurn, Flat, Lean, Leaning, PlanarTurn, Quarter, Screw, Skew, Tilt, Turn};
pub use vector::Vec3;
pub use wrench::{Force, Motion};
