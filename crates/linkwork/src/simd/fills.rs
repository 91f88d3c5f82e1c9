//! The sweeps that fill stages, at every level of instructions.

use super::{At, Instructions, Level, Sweep};
use crate::model::Compiled;
use crate::scalar::{Builds, Scalar};
use crate::stage::{Fills, Stages};

macro_rules! fills {
    ($($stage:ident $name:ident $fill:ident),*) => {
        $(struct $name;

        impl<S: Scalar> Sweep<S> for $name {
            #[inline(always)]
            fn run(m: &Compiled, s: &mut Stages<S>, _: At<'_>, _: &[S], _: &mut [S]) {
                s.$fill(m);
            }
        })*

        impl<S: Scalar> Fills<S> {
            const PLAIN: Self = Self {
                $($stage: |m, s| <$name as Sweep<S>>::run(m, s, At::NOWHERE, &[], &mut [])),*
            };

            // SAFETY: `Instructions::fills` alone hands these out, where the features were found.
            #[cfg(target_arch = "x86_64")]
            const AVX2: Self = Self {
                $($stage: |m, s| unsafe { <$name as Sweep<S>>::avx2(m, s, At::NOWHERE, &[], &mut []) }),*
            };

            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            const AVX512: Self = Self {
                $($stage: |m, s| unsafe { <$name as Sweep<S>>::avx512(m, s, At::NOWHERE, &[], &mut []) }),*
            };
        }
    };
}

fills!(
    rates Rates fill_rates,
    velocities Velocities fill_velocities,
    world World fill_world,
    columns Columns fill_columns,
    riccati Riccati fill_riccati,
    gains Gains fill_gains,
    home_gains HomeGains fill_home_gains
);

impl Instructions {
    /// How stages are filled with what the processor has.
    pub(crate) fn fills<S: Scalar>(self) -> &'static Fills<S> {
        match self.0 {
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
            Builds::Avx512 => &Self::AVX512,
            Builds::Shipped if !cfg!(debug_assertions) => &Self::AVX512,
            Builds::Once => &Self::PLAIN,
            _ => &Self::AVX2,
        }
    }

    #[cfg(target_arch = "x86_64")]
    const fn with_avx2() -> &'static Self {
        match S::BUILDS {
            Builds::Avx512 => &Self::AVX512,
            Builds::Once => &Self::PLAIN,
            _ => &Self::AVX2,
        }
    }

    const fn without() -> &'static Self {
        match S::BUILDS {
            #[cfg(target_arch = "x86_64")]
            Builds::Avx512 => &Self::AVX512,
            #[cfg(target_arch = "x86_64")]
            Builds::Avx2 => &Self::AVX2,
            _ => &Self::PLAIN,
        }
    }
}
