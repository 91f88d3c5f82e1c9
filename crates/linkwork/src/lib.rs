//! Robot dynamics as operators: kinematics and dynamics of articulated mechanisms by the spatial operator algebra.
//!
//! Stack the spatial velocities V, accelerations α and forces f of all links. Then
//!
//! ```text
//! V = φ*H*q̇      α = φ*(H*q̈ + a)      f = φ(Mα + b)      T = H f
//! 𝓜q̈ + C = T     𝓜 = HφMφ*H* = (I + HφK) D (I + HφK)*     𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK)
//! ```
//!
//! and every operator *is* a sweep along the mechanism: φ from the tips to the base, φ* from the base to the tips, the
//! others link by link. Forward dynamics, 𝓜⁻¹x and log det 𝓜 cost time proportional to the number of links.
//!
//! # Where to start
//!
//! Read [`guide::first_hour`], then the chapter for your task: [frames and coordinates](guide::frames_and_coordinates),
//! [dynamics](guide::dynamics), [loops and gears](guide::loops_and_gears),
//! [linear models and control](guide::linear_models_and_control), [inverse kinematics](guide::inverse_kinematics),
//! [control by tasks](guide::control_by_tasks), [trajectories](guide::trajectories), [large batches](guide::batches). If you
//! know Pinocchio, MuJoCo or Drake, [this table](guide::coming_from) has the names of their functions beside ours. Robot files
//! (URDF, SDF, MJCF, xacro) are read by the crate `linkwork-formats`.
//!
//! # What is where
//!
//! - [`model`]: build a [`Mechanism`], or take one of [`model::examples`].
//! - [`Mechanism::workspace`] allocates all memory once. [`Workspace::at`] sets a configuration q and returns a view of what q
//!   determines, [`workspace::Posed::moving`] adds a velocity q̇, and [`workspace::Moving::with_torques`] adds torques.
//! - [`simulate`]: motion in time; [`contact`]: steps with contact and friction; [`motion`]: inverse kinematics.
//! - [`scalar`]: the same sweeps over `f64`, `f32`, dual numbers, and a counter of operations.
//! - [`quantity`]: every quantity by name, for one state or many; [`Batch`]: many states at once.
//! - [`closed`]: loops; [`control`] and [`state_space`]: controllers and linear models; `algebra`: operators as values.
//! - [`spatial`]: vectors, rotations, poses, motions, forces and inertias.
//!
//! ```
//! let arm = linkwork::model::examples::puma560();
//! let q = [0.0, 0.785398, 3.141593, 0.0, 0.785398, 0.0];
//! let mut workspace = arm.workspace();
//! let mut posed = workspace.at(&q)?;
//! let mut torque = [0.0; 6];
//! posed.gravity_torque(&mut torque)?;
//! assert!((torque[1] - 31.6399).abs() < 1e-3);
//! let tip = posed.pose(arm.frame("link6_dh")?)?;
//! println!("the wrist is at {:?}", tip.translation);
//! # Ok::<(), linkwork::Error>(())
//! ```
//!
//! # Features
//!
//! None is on by default: `lanes` and `algebra` together nearly double the time of a build.
//!
//! | feature | what it adds |
//! |---|---|
//! | `lanes` | [`Batch`] computes several states in one vector register. Without it states are computed one by one, and those in `f32` are computed in `f64`. |
//! | `algebra` | The module `algebra`: expressions of operators, and their compiler. |
//! | `serde`, `nalgebra`, `mint` | Conversions of the types in [`spatial`] to and from these crates. |
#![deny(unsafe_code)]
#![cfg_attr(
    not(all(feature = "algebra", feature = "lanes")),
    allow(
        dead_code,
        unused_imports,
        reason = "much of what the algorithms offer is read by these two alone"
    )
)]

#[cfg(feature = "algebra")]
pub mod algebra;
pub mod batch;
mod body;
pub mod closed;
pub mod contact;
pub mod control;
mod coupled;
mod dense;
mod dynamics;
mod error;
pub mod guide;
pub mod model;
pub mod motion;
mod plan;
pub mod quantity;
pub mod reference;
pub mod scalar;
#[allow(unsafe_code)]
mod simd;
pub mod simulate;
pub mod spatial;
mod stage;
pub mod state_space;
#[allow(unsafe_code)]
mod sweep;
pub mod workspace;

pub use batch::Batch;
pub use error::{Error, Result};
pub use model::Mechanism;
#[doc(hidden)]
pub use simd::Function;
pub use spatial::Reference;
pub use workspace::Workspace;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/diagonalized.md")]
struct DiagonalizedChapter;
