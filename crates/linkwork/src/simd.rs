//! Run-time choice of instructions: the one module with `unsafe`.
//!
//! A portable x86-64 binary may not assume AVX2 and FMA, yet the sweeps are written with fused multiply-adds and gain
//! from wide registers, and from the thirty-two registers of AVX-512. [`widest`] runs a sweep inside a function that is
//! compiled for what the processor has, and outside any such function otherwise: same source, same bits, only slower.
//! A sweep and all it calls are `#[inline(always)]`, so that they become part of that function.

use crate::model::{Compiled, Placed};
use crate::scalar::Scalar;
use crate::spatial::Reference;
use crate::stage::Stages;

/// An algorithm: reads stages and an input, fills stages and an output.
pub(crate) trait Sweep<S: Scalar> {
    /// Runs it; every implementation is `#[inline(always)]`.
    fn run(m: &Compiled, stages: &mut Stages<S>, at: At<'_>, input: &[S], out: &mut [S]);

    /// Runs it with AVX-512.
    ///
    /// # Safety
    /// The processor must have these features.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
    unsafe fn avx512(m: &Compiled, stages: &mut Stages<S>, at: At<'_>, input: &[S], out: &mut [S]) {
        Self::run(m, stages, at, input, out);
    }

    /// Runs it with AVX2.
    ///
    /// # Safety
    /// The processor must have these features.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2(m: &Compiled, stages: &mut Stages<S>, at: At<'_>, input: &[S], out: &mut [S]) {
        Self::run(m, stages, at, input, out);
    }
}

/// What a sweep is asked about, where it matters.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) frame: &'a Placed,
    pub(crate) reference: Reference,
}

/// Runs a sweep with the widest instructions the processor has.
pub(crate) fn widest<W: Sweep<S>, S: Scalar>(
    m: &Compiled,
    stages: &mut Stages<S>,
    at: At<'_>,
    input: &[S],
    out: &mut [S],
) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if S::SHIPPED && has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("avx2") && has!("fma") {
            // SAFETY: the processor has these features.
            return unsafe { W::avx512(m, stages, at, input, out) };
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: the processor has these features.
            return unsafe { W::avx2(m, stages, at, input, out) };
        }
    }
    W::run(m, stages, at, input, out);
}
