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

pub use error::{Error, Result};
pub use model::Mechanism;
pub use spatial::Reference;
pub use workspace::Workspace;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
