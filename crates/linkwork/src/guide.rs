//! The guide: what to read first, with code that runs.
//!
//! Start with [`first_hour`]. The chapters are those of `docs/guide` in the repository, and their code is tested.

macro_rules! chapters {
    ($($(#[$about:meta])* $name:ident from $file:literal;)*) => {
        $($(#[$about])*
        ///
        /// [frames and coordinates]: crate::guide::frames_and_coordinates
        /// [dynamics]: crate::guide::dynamics
        /// [loops and gears]: crate::guide::loops_and_gears
        /// [linear models and control]: crate::guide::linear_models_and_control
        /// [inverse kinematics]: crate::guide::inverse_kinematics
        /// [control by tasks]: crate::guide::control_by_tasks
        /// [trajectories]: crate::guide::trajectories
        /// [large batches]: crate::guide::batches
        /// [coming from another library]: crate::guide::coming_from
        ///
        // Tests of these pages are those of linkwork-formats, which some of them need.
        #[cfg_attr(all(doc, not(doctest)), doc = include_str!(concat!("../guide/", $file)))]
        pub mod $name {})*
    };
}

chapters! {
    /// Load a robot, ask it for torques, and keep a workspace in a control loop.
    first_hour from "first-hour.md";
    /// The order of the numbers in q and v, quaternions, frames, and limits.
    frames_and_coordinates from "frames-and-coordinates.md";
    /// Forward and inverse dynamics, the mass matrix, external forces, derivatives.
    dynamics from "dynamics.md";
    /// Joints that follow others, and mechanisms with closed loops.
    loops_and_gears from "loops-and-gears.md";
    /// Linearization, poles, regulators, and simulation under control.
    linear_models_and_control from "linear-models-and-control.md";
    /// Configurations that bring frames to given poses, within limits.
    inverse_kinematics from "inverse-kinematics.md";
    /// Operational-space control, grasps, and adaptive control.
    control_by_tasks from "control-by-tasks.md";
    /// Planning motions, making them as fast as limits allow, and following them.
    trajectories from "trajectories.md";
    /// Thousands of states in one call, rollouts, and many models.
    batches from "batches.md";
    /// What functions of Pinocchio, MuJoCo and Drake are called here.
    coming_from from "coming-from.md";
}
