//! P, D, G and P⁺ as a stage of their own, for operators that read them again and again.

use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::simd::{At, Sweep};
use crate::stage::Stages;

/// Fills the Riccati stage.
pub(crate) struct Articulate;

impl<S: Scalar> Sweep<S> for Articulate {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
        s.need_riccati(m);
    }
}
