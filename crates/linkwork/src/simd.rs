//! Run-time choice of instructions: the one module with `unsafe`.
//!
//! A portable x86-64 binary may not assume AVX2 and FMA, yet the sweeps are written with fused multiply-adds and gain
//! from wide registers, and from the thirty-two registers of AVX-512. [`widest`] runs a sweep inside a function that is
//! compiled for what the processor has, and outside any such function otherwise: same source, same bits, only slower.
//! A sweep and all it calls are `#[inline(always)]`, so that they become part of that function.

use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::stage::Stages;

/// An algorithm: reads stages and an input, fills stages and an output.
pub(crate) trait Sweep<S: Scalar> {
    /// Runs it; every implementation is `#[inline(always)]`.
    fn run(m: &Compiled, stages: &mut Stages<S>, input: &[S], out: &mut [S]);
}

/// Runs a sweep with the widest instructions the processor has.
#[inline]
pub(crate) fn widest<W: Sweep<S>, S: Scalar>(m: &Compiled, stages: &mut Stages<S>, input: &[S], out: &mut [S]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("fma") {
            // SAFETY: the processor has these features.
            return unsafe { avx512::<W, S>(m, stages, input, out) };
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: the processor has these features.
            return unsafe { avx2::<W, S>(m, stages, input, out) };
        }
    }
    W::run(m, stages, input, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
fn avx512<W: Sweep<S>, S: Scalar>(m: &Compiled, stages: &mut Stages<S>, input: &[S], out: &mut [S]) {
    W::run(m, stages, input, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<W: Sweep<S>, S: Scalar>(m: &Compiled, stages: &mut Stages<S>, input: &[S], out: &mut [S]) {
    W::run(m, stages, input, out);
}
