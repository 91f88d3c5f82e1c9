//! Linkwork from Python: a thin layer that checks and shapes arrays, and calls the library.
//!
//! The package's Python half (`python/linkwork`) makes a method of `Model` for every quantity of the library's list.

mod arrays;
mod build;
mod control;
mod errors;
mod evaluate;
mod expression;
mod files;
mod inertia;
mod inverse_kinematics;
mod linear;
mod methods;
mod model;
mod models;
mod motion;
mod names;
mod one_state;
mod pool;
mod program;
mod scene;
mod state;
mod sweep;
mod trajectory;
mod xla;

use pyo3::prelude::*;

/// The compiled half of the package `linkwork`.
#[pymodule]
mod _linkwork {
    #[pymodule_export]
    use crate::build::Builder;
    #[pymodule_export]
    use crate::control::Controller;
    #[pymodule_export]
    use crate::errors::{Error, FileError};
    #[pymodule_export]
    use crate::evaluate::{dimensions, evaluate, quantities};
    #[pymodule_export]
    use crate::expression::{Compiled, Expression};
    #[pymodule_export]
    use crate::files::{load, read};
    #[pymodule_export]
    use crate::inertia::Inertia;
    #[pymodule_export]
    use crate::inverse_kinematics::{inverse_kinematics, task_velocities};
    #[pymodule_export]
    use crate::linear::{StateSpace, linearize, linearize_step};
    #[pymodule_export]
    use crate::methods::method;
    #[pymodule_export]
    use crate::model::{Model, examples};
    #[pymodule_export]
    use crate::models::{_Models, variations};
    #[pymodule_export]
    use crate::motion::{assemble, manifold, rollout, simulate};
    #[pymodule_export]
    use crate::pool::{set_threads, threads};
    #[pymodule_export]
    use crate::program::program;
    #[pymodule_export]
    use crate::scene::_Scene;
    #[pymodule_export]
    use crate::state::Held;
    #[pymodule_export]
    use crate::sweep::{_Sweep, draw, states_digest};
    #[pymodule_export]
    use crate::trajectory::Trajectory;
    #[pymodule_export]
    use crate::xla::{xla_handler, xla_model};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
