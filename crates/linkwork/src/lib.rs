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
//! - [`model`]: build a [`Mechanism`], or take one of [`model::examples`].
//! - [`Mechanism::workspace`]: all memory, allocated once; [`Workspace::at`] a configuration it answers what depends on q,
//!   [`workspace::Posed::moving`] what depends on q̇ too, and [`workspace::Moving::with_torques`] what depends on torques.
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
//! None is on by default. `lanes`: [`Batch`] takes several states to a register; without it states are computed one by one,
//! `f32` through `f64`. `algebra`: the room of that name, expressions of operators and their compiler. Each takes as long to build
//! as a good part of the rest. `serde`, `nalgebra`, `mint`: spatial types to and from other crates.
//!
//! A guide with the first hour, frames and coordinates, dynamics, loops, control, batches, and tables for people who come from
//! Pinocchio, MuJoCo or Drake is in `docs/guide` of the repository; robot files are read by the crate `linkwork-formats`.
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
pub use spatial::Reference;
pub use workspace::Workspace;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/diagonalized.md")]
struct DiagonalizedChapter;
