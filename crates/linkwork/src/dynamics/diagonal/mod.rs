//! Diagonalized dynamics: the equations of motion in total joint rates, without a mass matrix.  (JR)

pub(crate) mod evaluate;
pub(crate) mod factors;
pub(crate) mod published_recursions;
pub(crate) mod rates;
pub(crate) mod skew;
pub(crate) mod terms;
