//! Mechanisms to start from.
//!
//! [`puma560`] and [`arm7`] have published parameters; the others have plausible numbers of our own.
//!
//! ```
//! use linkwork::model::examples;
//! for (name, example) in examples::all() {
//!     assert!(examples::by_name(name).is_some());
//!     assert!(example().nv() > 0);
//! }
//! ```

mod arms;
mod legged;
mod small;

pub use arms::{arm7, dual_arm, puma560, scara};
pub use legged::{humanoid, quadruped};
pub use small::{cart_pole, double_pendulum, pendulum};

use super::{Builder, Mechanism};

/// A function that makes a mechanism.
pub type Example = fn() -> Mechanism;

/// Every example and its name.
pub fn all() -> [(&'static str, Example); 9] {
    [
        ("pendulum", pendulum),
        ("double_pendulum", double_pendulum),
        ("cart_pole", cart_pole),
        ("scara", scara),
        ("puma560", puma560),
        ("arm7", arm7),
        ("quadruped", quadruped),
        ("humanoid", humanoid),
        ("dual_arm", dual_arm),
    ]
}

/// The example of a name.
pub fn by_name(name: &str) -> Option<Example> {
    all()
        .into_iter()
        .find(|(known, _)| *known == name)
        .map(|(_, example)| example)
}

/// Builds an example; tests build them all.
fn built(builder: Builder) -> Mechanism {
    builder.build().expect("every example is a valid mechanism")
}
