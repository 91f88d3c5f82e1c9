//! Operators as sweeps over stages.

pub(crate) mod innovations;
