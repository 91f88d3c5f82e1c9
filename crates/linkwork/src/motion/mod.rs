//! From a goal to a motion: inverse kinematics and [trajectories](Trajectory).
//!
//! Tasks i with errors eᵢ, Jacobians Jᵢ and weights Gᵢ are met by steps of damped least squares,
//!
//! ```text
//! dq = (λI + ΣJᵢ*GᵢJᵢ)⁻¹ ΣJᵢ*Gᵢeᵢ
//! ```
//!
//! which is the mass operator without masses, 𝓐 = A + ΣJ*GJ: two sweeps along the tree, for one hand or for twenty markers,
//! and no matrix is made.
//!
//! ```
//! use linkwork::motion::{InverseKinematics, Task};
//! use linkwork::spatial::{Pose, Rotation};
//! let arm = linkwork::model::examples::arm7();
//! let hand = arm.frame("link7")?;
//! let target = Pose::new(Rotation::from_rpy(3.0, 0.2, 0.4), [0.4, 0.2, 0.4]);
//! let mut ik = InverseKinematics::new(&arm, vec![Task::pose(hand, target)])?;
//! let found = ik.solve_from(&arm.neutral())?;
//! assert!(found.reached, "{found}");
//! let there = arm.workspace().at(&found.q)?.pose(hand)?;
//! assert!((there.translation - target.translation).norm() < 1e-8);
//! # Ok::<(), linkwork::Error>(())
//! ```

mod bounds;
mod centre_of_mass;
mod clearance;
mod in_lanes;
mod inverse_kinematics;
mod lane_steps;
mod least_squares;
mod levels;
mod link_goal;
mod loops;
mod outcome;
mod residual;
mod solve_many;
mod step;
mod task;
mod tracking;
mod trajectory;
mod velocity;

pub use clearance::{Clearance, Near};
pub use inverse_kinematics::{InverseKinematics, SolverOptions};
pub use outcome::{Binding, Outcome, Solution};
pub use residual::Residual;
pub use task::Task;
pub use tracking::{Feedback, Sensitivity, TrackingRegulator, TrackingTorque};
pub use trajectory::{Blend, Knot, LimitUse, Limits, PoseCourse, PoseTrajectory, TimeOptimal, Trajectory};
pub use velocity::Rates;
