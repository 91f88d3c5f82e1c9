//! To and from the types of other crates, each behind a feature of its name.

#[cfg(feature = "mint")]
mod mint;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "serde")]
mod serde;
