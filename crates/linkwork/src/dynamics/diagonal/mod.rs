//! Diagonalized dynamics: the equations of motion in total joint rates, without a mass matrix.  (JR)

pub(crate) mod evaluate;
pub(crate) mod terms;
