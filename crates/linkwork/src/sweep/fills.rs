//! The sweeps that fill stages, at every level of instructions.

use super::{At, Sweep};
use crate::model::Compiled;
use crate::scalar::{Builds, Scalar};
use crate::simd::{Instructions, Level, small};
use crate::stage::{Fills, Stages, each_stage};

macro_rules! fills {
    ($($stage:ident $name:ident $need:ident $fill:ident),*) => {
        $(struct $name;

        impl<S: Scalar> Sweep<S> for $name {
            #[inline(always)]
            fn run<const SPECIAL: bool>(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
                s.$fill::<SPECIAL>(m);
            }
        })*

        impl<S: Scalar> Fills<S> {
            const fn plain<const SPECIAL: bool>() -> Self {
                Self {
                    $($stage: |m, s| <$name as Sweep<S>>::run::<SPECIAL>(m, s, At::NOWHERE, &[], &mut [])),*
                }
            }

            // SAFETY: `Instructions::fills` alone hands these out, where the features were found.
            #[cfg(target_arch = "x86_64")]
            const fn avx2<const SPECIAL: bool>() -> Self {
                Self {
                    $($stage: |m, s| unsafe { <$name as Sweep<S>>::avx2::<SPECIAL>(m, s, At::NOWHERE, &[], &mut []) }),*
                }
            }

            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            const fn avx512() -> Self {
                Self {
                    $($stage: |m, s| unsafe { <$name as Sweep<S>>::avx512::<true>(m, s, At::NOWHERE, &[], &mut []) }),*
                }
            }
        }
    };
}

each_stage!(fills);

impl Instructions {
    /// How stages are filled with what the processor has.
    pub(crate) fn fills<S: Scalar>(self) -> &'static Fills<S> {
        match self.level() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => const { Fills::with_avx512() },
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => const { Fills::with_avx2() },
            Level::Plain => const { Fills::without() },
        }
    }
}

/// Which of them a scalar is compiled for: chosen here, so that no others are made.
impl<S: Scalar> Fills<S> {
    #[cfg(target_arch = "x86_64")]
    const fn with_avx512() -> &'static Self {
        match S::BUILDS {
            Builds::Avx512 => const { &Self::avx512() },
            Builds::Shipped if !cfg!(debug_assertions) => const { &Self::avx512() },
            _ => Self::with_avx2(),
        }
    }

    #[cfg(target_arch = "x86_64")]
    const fn with_avx2() -> &'static Self {
        match S::BUILDS {
            Builds::Avx512 | Builds::Once | Builds::Anywhere => Self::without(),
            _ if S::SPECIAL => const { &Self::avx2::<true>() },
            _ => const { &Self::avx2::<false>() },
        }
    }

    const fn without() -> &'static Self {
        match S::BUILDS {
            #[cfg(target_arch = "x86_64")]
            Builds::Avx512 => const { &Self::avx512() },
            #[cfg(target_arch = "x86_64")]
            Builds::Avx2 => const { &Self::avx2::<true>() },
            Builds::Once => const { &Self::plain::<true>() },
            Builds::Anywhere => const { &Self::plain::<false>() },
            _ if small::<S>() => const { &Self::plain::<false>() },
            _ => const { &Self::plain::<true>() },
        }
    }
}
