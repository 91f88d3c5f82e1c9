//! Joints that follow others, from the laws of users to the dynamics of what is left independent.
//!
//! Couplings concern every room from the model to the workspace. All of it stands here; each module has the name of the room
//! that it stands beside, and imports only what that room may.

pub(crate) mod dynamics;
pub(crate) mod model;
pub(crate) mod stage;
pub(crate) mod workspace;
