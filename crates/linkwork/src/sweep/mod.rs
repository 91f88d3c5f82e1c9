//! Algorithms as sweeps over stages, and their compiled forms.
//!
//! A [`Ready`] sweep has been compiled inside a function for each set of instructions, and outside any such function: same
//! source, same bits, only slower. A sweep and all it calls are `#[inline(always)]`, so that they become part of that
//! function.

mod algorithm;
mod fills;

pub(crate) use algorithm::{Algorithm, Known, Shape, algorithm, known};
pub use algorithm::{Input, Size};

use crate::model::{Compiled, Placed};
use crate::scalar::{Builds, Pack, Scalar};
#[cfg(target_arch = "x86_64")]
use crate::simd::F64x4;
use crate::simd::{Instructions, Level, small};
use crate::spatial::{Pose, Reference};
use crate::stage::Stages;
use core::marker::PhantomData;

/// An algorithm: reads stages and an input, fills stages and an output.
pub(crate) trait Sweep<S: Scalar> {
    /// Runs it; every implementation is `#[inline(always)]`. `SPECIAL` has code of its own for the commonest joints,
    /// otherwise there is one for all: faster, or small. The bits are the same.
    fn run<const SPECIAL: bool>(m: &Compiled, stages: &mut Stages<S>, at: At<'_>, input: &[S], out: &mut [S]);

    /// Runs it on any processor: a function that is compiled once, as `run` would be wherever it is referred to.
    fn plain<const SPECIAL: bool>(m: &Compiled, stages: &mut Stages<S>, at: At<'_>, input: &[S], out: &mut [S]) {
        Self::run::<SPECIAL>(m, stages, at, input, out);
    }

    /// Runs it with AVX-512.
    ///
    /// # Safety
    /// The processor must have these features.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
    unsafe fn avx512<const SPECIAL: bool>(
        m: &Compiled,
        stages: &mut Stages<S>,
        at: At<'_>,
        input: &[S],
        out: &mut [S],
    ) {
        Self::run::<SPECIAL>(m, stages, at, input, out);
    }

    /// Runs it with AVX2.
    ///
    /// # Safety
    /// The processor must have these features.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2<const SPECIAL: bool>(m: &Compiled, stages: &mut Stages<S>, at: At<'_>, input: &[S], out: &mut [S]) {
        Self::run::<SPECIAL>(m, stages, at, input, out);
    }
}

/// A sweep over `f64` that may take several columns to a register.
pub(crate) trait PackedSweep: Sweep<f64> {
    /// Runs it, `#[inline(always)]`.
    fn packed<P: Pack<f64>>(m: &Compiled, stages: &mut Stages<f64>, at: At<'_>, input: &[f64], out: &mut [f64]);
}

/// Such a sweep, packed where the processor has the registers.
pub(crate) struct Packed<W>(PhantomData<W>);

impl<W: PackedSweep> Sweep<f64> for Packed<W> {
    #[inline(always)]
    fn run<const SPECIAL: bool>(m: &Compiled, stages: &mut Stages<f64>, at: At<'_>, input: &[f64], out: &mut [f64]) {
        W::run::<SPECIAL>(m, stages, at, input, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
    unsafe fn avx512<const SPECIAL: bool>(
        m: &Compiled,
        stages: &mut Stages<f64>,
        at: At<'_>,
        input: &[f64],
        out: &mut [f64],
    ) {
        W::packed::<F64x4>(m, stages, at, input, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2<const SPECIAL: bool>(
        m: &Compiled,
        stages: &mut Stages<f64>,
        at: At<'_>,
        input: &[f64],
        out: &mut [f64],
    ) {
        W::packed::<F64x4>(m, stages, at, input, out);
    }
}

/// What a sweep is asked about, where it matters.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) frame: &'a Placed,
    pub(crate) reference: Reference,
}

impl At<'_> {
    /// Where it does not matter.
    pub(crate) const NOWHERE: Self = At {
        frame: &Placed {
            body: None,
            pose: Pose::IDENTITY,
        },
        reference: Reference::World,
    };
}

/// A compiled sweep.
type Run<S> = unsafe fn(&Compiled, &mut Stages<S>, At<'_>, &[S], &mut [S]);

/// A sweep, compiled for each level of instructions.
#[derive(Debug)]
pub(crate) struct Ready<S: 'static> {
    #[cfg(target_arch = "x86_64")]
    avx512: Run<S>,
    #[cfg(target_arch = "x86_64")]
    avx2: Run<S>,
    plain: Run<S>,
}

impl<S: Scalar> Ready<S> {
    /// Compiles a sweep. Only what is shipped, in a release build, is worth the time for every set of instructions.
    pub(crate) const fn new<W: Sweep<S>>() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let (avx512, avx2, plain): (Run<S>, Run<S>, Run<S>) = match S::BUILDS {
                Builds::Shipped if !cfg!(debug_assertions) => (W::avx512::<true>, W::avx2::<true>, plain::<S, W>()),
                Builds::Shipped | Builds::Portable if S::SPECIAL => (W::avx2::<true>, W::avx2::<true>, plain::<S, W>()),
                Builds::Shipped | Builds::Portable => (W::avx2::<false>, W::avx2::<false>, W::plain::<false>),
                Builds::Once => (W::plain::<true>, W::plain::<true>, W::plain::<true>),
                Builds::Anywhere => (W::plain::<false>, W::plain::<false>, W::plain::<false>),
                Builds::Avx2 => (W::avx2::<true>, W::avx2::<true>, W::avx2::<true>),
                Builds::Avx512 => (W::avx512::<true>, W::avx512::<true>, W::avx512::<true>),
            };
            Self { avx512, avx2, plain }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self { plain: plain::<S, W>() }
    }

    /// Compiles a sweep that is not worth the time for AVX-512.
    pub(crate) const fn seldom<W: Sweep<S>>() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx512: W::avx2::<true>,
            #[cfg(target_arch = "x86_64")]
            avx2: W::avx2::<true>,
            plain: plain::<S, W>(),
        }
    }

    /// Runs it with what the processor has.
    #[inline(always)]
    pub(crate) fn run(
        &self,
        instructions: Instructions,
        m: &Compiled,
        stages: &mut Stages<S>,
        at: At<'_>,
        input: &[S],
        out: &mut [S],
    ) {
        let run = match instructions.level() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => self.avx512,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => self.avx2,
            Level::Plain => self.plain,
        };
        // SAFETY: `Instructions` come from `detect` alone, which found the features that `run` was compiled for.
        unsafe { run(m, stages, at, input, out) }
    }
}

/// A sweep for any processor.
const fn plain<S: Scalar, W: Sweep<S>>() -> Run<S> {
    if small::<S>() {
        W::plain::<false>
    } else {
        W::plain::<true>
    }
}
