//! Operators as sweeps over stages.

pub(crate) mod diagonal;
pub(crate) mod innovations;
