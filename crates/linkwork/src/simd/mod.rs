//! Run-time choice of instructions: the one module with `unsafe`.
//!
//! A portable x86-64 binary may not assume AVX2 and FMA, yet the sweeps are written with fused multiply-adds and gain
//! from wide registers, and from the thirty-two registers of AVX-512. A [`Ready`] sweep has been compiled inside a
//! function for each, and outside any such function: same source, same bits, only slower. A sweep and all it calls are
//! `#[inline(always)]`, so that they become part of that function.

mod copies;
mod fills;
mod lanes;
#[cfg(target_arch = "x86_64")]
mod pack;
#[cfg(target_arch = "x86_64")]
mod stream;
#[cfg(target_arch = "x86_64")]
mod transpose;

#[cfg(target_arch = "x86_64")]
pub(crate) use lanes::{F32x8, F32x16, F64x4, F64x8};
pub(crate) use lanes::{Lanes, Places};

use crate::model::{Compiled, Placed};
use crate::scalar::{Builds, Pack, Scalar};
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

/// What the processor was found to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instructions(Level);

#[derive(Clone, Copy, Debug)]
enum Level {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Plain,
}

impl Instructions {
    /// Those of any processor.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self(Level::Plain);

    /// Asks the processor.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                let more = has!("avx512f") && has!("avx512vl") && has!("avx512dq");
                return Self(if more { Level::Avx512 } else { Level::Avx2 });
            }
        }
        Self(Level::Plain)
    }

    /// Whether there is AVX2, with FMA.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn avx2(self) -> bool {
        !matches!(self.0, Level::Plain)
    }

    /// Whether there is AVX-512, and sweeps were compiled for it.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn avx512(self) -> bool {
        matches!(self.0, Level::Avx512) && !cfg!(debug_assertions)
    }
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
        let run = match instructions.0 {
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

/// Work that is compiled for each level of instructions, with what it works on inside.
pub(crate) trait Task {
    /// Does it; every implementation is `#[inline(always)]`.
    fn run(self);

    /// The same for processors on which nothing is fast: less code, if there is a choice.
    #[inline(always)]
    fn run_small(self)
    where
        Self: Sized,
    {
        self.run();
    }
}

impl Instructions {
    /// Does some work on a scalar with what the processor has: AVX2, but for numbers that only AVX-512 has.
    #[inline(always)]
    pub(crate) fn perform<S: Scalar, T: Task>(self, task: T) {
        let perform = match self.0 {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 | Level::Avx2 => const { widely::<S, T>() },
            Level::Plain => const { plainly::<S, T>() },
        };
        // SAFETY: `Instructions` come from `detect` alone, which found the features; lanes are made only where they run.
        unsafe { perform(task) }
    }
}

/// How work on a scalar is done where there is AVX2: chosen here, so that no other code is made.
#[cfg(target_arch = "x86_64")]
const fn widely<S: Scalar, T: Task>() -> unsafe fn(T) {
    match S::BUILDS {
        Builds::Avx512 => perform_avx512::<T>,
        Builds::Once => perform_plain::<T>,
        _ => perform_avx2::<T>,
    }
}

/// How it is done on any processor.
const fn plainly<S: Scalar, T: Task>() -> unsafe fn(T) {
    match S::BUILDS {
        #[cfg(target_arch = "x86_64")]
        Builds::Avx512 => perform_avx512::<T>,
        #[cfg(target_arch = "x86_64")]
        Builds::Avx2 => perform_avx2::<T>,
        _ => perform_plain::<T>,
    }
}

fn perform_plain<T: Task>(task: T) {
    if const { SOFTWARE_FMA } {
        task.run_small();
    } else {
        task.run();
    }
}

/// Whether sweeps for any processor have one code for all joints.
const fn small<S: Scalar>() -> bool {
    SOFTWARE_FMA || !S::SPECIAL
}

/// Whether a fused multiply-add of plain code is a call: then it takes so long that nothing else matters.
const SOFTWARE_FMA: bool = cfg!(all(target_arch = "x86_64", not(target_feature = "fma")));

/// Runs it with AVX-512.
///
/// # Safety
/// The processor must have these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
unsafe fn perform_avx512<T: Task>(task: T) {
    task.run();
}

/// Runs it with AVX2.
///
/// # Safety
/// The processor must have these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn perform_avx2<T: Task>(task: T) {
    task.run();
}
