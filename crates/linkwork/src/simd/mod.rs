//! Registers, and the run-time choice of instructions.
//!
//! A portable x86-64 binary may not assume AVX2 and FMA, yet the sweeps are written with fused multiply-adds and gain
//! from wide registers, and from the thirty-two registers of AVX-512. A [`Task`] is compiled inside a function for each,
//! and outside any such function: same source, same bits, only slower.

mod lanes;
#[cfg(target_arch = "x86_64")]
mod pack;
mod places;
mod scatter;
#[cfg(target_arch = "x86_64")]
mod stream;
#[cfg(target_arch = "x86_64")]
mod transpose;

pub(crate) use lanes::Lanes;
#[cfg(target_arch = "x86_64")]
pub(crate) use lanes::{F32x8, F32x16, F64x4, F64x8};
pub(crate) use places::Places;

use crate::scalar::{Builds, Scalar};

/// What the processor was found to have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instructions(Level);

/// The sets of instructions that code is compiled for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Level {
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

    /// The best set that the processor has.
    #[inline(always)]
    pub(crate) fn level(self) -> Level {
        self.0
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

    /// Calls a function, compiled for what the processor has.
    #[inline(always)]
    pub(crate) fn call<A, F: Function<A>>(self, function: F, input: A) -> F::Out {
        let mut out = None;
        self.perform::<f64, _>(Call(function, input, &mut out));
        match out {
            Some(out) => out,
            None => unreachable!("a task runs once"),
        }
    }

    /// The same for work that is done in lanes wherever there are any: for single numbers it is compiled for any processor alone.
    #[inline(always)]
    pub(crate) fn perform_in_lanes<S: Scalar, T: Task>(self, task: T) {
        let perform = const { plainly::<S, T>() };
        // SAFETY: lanes are made only where they run.
        unsafe { perform(task) }
    }
}

/// A function of one argument, as a type: a function that is passed as such is called from code for the processor, and no part of it.
pub trait Function<A> {
    /// What it gives.
    type Out;

    /// Its value; every implementation is `#[inline(always)]`.
    fn of(self, input: A) -> Self::Out;
}

/// Makes types of functions.
#[doc(hidden)]
#[macro_export]
macro_rules! functions {
    ($($(#[$meta:meta])* $seen:vis fn $name:ident$(<$($kind:ident: $bound:path),+>)?($input:tt: $takes:ty $(,)?) -> $gives:ty $body:block)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        $seen struct $name;

        impl$(<$($kind: $bound),+>)? $crate::Function<$takes> for $name {
            type Out = $gives;

            #[inline(always)]
            fn of(self, $input: $takes) -> $gives $body
        }
    )*};
}

/// A function, what it takes, and where what it gives goes.
struct Call<'a, F, A, T>(F, A, &'a mut Option<T>);

impl<A, F: Function<A>> Task for Call<'_, F, A, F::Out> {
    #[inline(always)]
    fn run(self) {
        *self.2 = Some(self.0.of(self.1));
    }
}

/// How work on a scalar is done where there is AVX2: chosen here, so that no other code is made.
#[cfg(target_arch = "x86_64")]
const fn widely<S: Scalar, T: Task>() -> unsafe fn(T) {
    match S::BUILDS {
        Builds::Avx512 => perform_avx512::<T>,
        Builds::Once | Builds::Anywhere => perform_plain::<T>,
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
pub(crate) const fn small<S: Scalar>() -> bool {
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
