//! Robot dynamics as operators.
#![deny(unsafe_code)]

mod dynamics;
mod error;
pub mod model;
mod operator;
pub mod scalar;
#[allow(unsafe_code)]
mod simd;
pub mod spatial;
mod stage;
pub mod workspace;

pub use dynamics::kinematics::Reference;
pub use error::{Error, Result};
pub use model::Mechanism;
pub use workspace::Workspace;
