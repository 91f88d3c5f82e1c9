//! Operators as sweeps over stages.

pub(crate) mod articulate;
pub(crate) mod diagonal;
pub(crate) mod innovations;
