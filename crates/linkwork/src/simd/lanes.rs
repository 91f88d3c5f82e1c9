//! Several numbers side by side in one register.
//!
//! Each lane computes exactly what the plain number would: the same operations, each rounded the same. Such a number
//! exists only where the processor has its instructions: [`super::Instructions`] are asked before one is made.

use super::places::Places;
use crate::scalar::angle::Quadrants;
use crate::scalar::{Builds, Scalar};
use core::fmt;
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A scalar made of plain numbers.
pub(crate) trait Lanes: Scalar {
    /// One of them.
    type Element: Scalar;
    /// Lane by lane.
    fn from_lanes(lane: impl Fn(usize) -> Self::Element) -> Self;
    /// What stands in a lane.
    fn element(self, lane: usize) -> Self::Element;
    /// The same of a number in memory, of which only that is read.
    #[inline(always)]
    fn at(&self, lane: usize) -> Self::Element {
        self.element(lane)
    }
    /// Exchanges what stands in a lane.
    fn put(&mut self, lane: usize, x: Self::Element);
    /// States of `lanes.len()` numbers, one every `stride` numbers and to each lane; the last one also in the lanes left
    /// over.
    fn load(states: &[Self::Element], stride: usize, lanes: &mut [Self]);
    /// Lanes into states of `lanes.len()` numbers, one every `stride` numbers, as many as there is room for.
    fn store(lanes: &[Self], states: &mut [Self::Element], stride: usize);
    /// The same for states whose numbers stand in the lanes where `from` says; the last of the lanes are zeros.
    fn spread(lanes: &[Self], from: &Places, states: &mut [Self::Element], stride: usize);
    /// Either of them for states of `each` numbers, past the caches where the processor can.
    #[inline]
    fn stream(lanes: &[Self], from: Option<&Places>, each: usize, states: &mut [Self::Element], stride: usize) {
        match from {
            None => Self::store(&lanes[..each], states, stride),
            Some(from) => Self::spread(lanes, from, states, stride),
        }
    }
}

macro_rules! single_lane {
    ($($float:ty),*) => {$(
        impl Lanes for $float {
            type Element = Self;

            #[inline(always)]
            fn from_lanes(lane: impl Fn(usize) -> Self) -> Self {
                lane(0)
            }

            #[inline(always)]
            fn element(self, _: usize) -> Self {
                self
            }

            #[inline(always)]
            fn put(&mut self, _: usize, x: Self) {
                *self = x;
            }

            fn load(states: &[Self], _: usize, lanes: &mut [Self]) {
                lanes.copy_from_slice(&states[..lanes.len()]);
            }

            fn store(lanes: &[Self], states: &mut [Self], _: usize) {
                states[..lanes.len()].copy_from_slice(lanes);
            }

            fn spread(lanes: &[Self], from: &Places, states: &mut [Self], _: usize) {
                for (x, &from) in states.iter_mut().zip(&from.0) {
                    *x = lanes[from as usize];
                }
            }
        }
    )*};
}

single_lane!(f64, f32);

/// A number for each lane of a register: the register, its element, how many, and the intrinsics.
macro_rules! lanes {
    (
        $(#[$about:meta])*
        $name:ident: $register:ty = [$element:ty; $n:literal], $builds:ident, sine $sine:ident below $reducible:ident,
        $set:ident, $add:ident, $sub:ident, $mul:ident, $div:ident, $root:ident, $fma:ident, $fms:ident,
        $features:literal, $gather:ident, $scatter:ident by $w:literal, $(past $stream:ident,)?
        below |$x:ident, $bound:ident, $yes:ident, $no:ident| $below:expr, within |$of:ident, $edge:ident| $within:expr,
        unfold |$shifted:ident, $sin:ident, $cos:ident| $unfold:expr
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(crate) struct $name(pub(in crate::simd) $register);

        impl $name {
            #[inline(always)]
            pub(crate) fn from_array(x: [$element; $n]) -> Self {
                // SAFETY: a register holds any such numbers, in this order.
                Self(unsafe { core::mem::transmute::<[$element; $n], $register>(x) })
            }

            #[inline(always)]
            pub(crate) fn to_array(self) -> [$element; $n] {
                // SAFETY: as above.
                unsafe { core::mem::transmute::<$register, [$element; $n]>(self.0) }
            }

            /// Sines and cosines one by one, where an angle is too large for all lanes to go together.
            #[cold]
            #[inline(never)]
            fn sin_cos_one_by_one(x: [$element; $n], sin: &mut [$element; $n], cos: &mut [$element; $n]) {
                for i in 0..$n {
                    (sin[i], cos[i]) = Scalar::sin_cos(x[i]);
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_array().fmt(f)
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::ZERO
            }
        }

        impl PartialEq for $name {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                let (a, b) = (self.to_array(), other.to_array());
                let mut same = true;
                for i in 0..Self::LANES {
                    same &= a[i] == b[i];
                }
                same
            }
        }

        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                // SAFETY: the number exists, and so do the instructions (here and below).
                Self(unsafe { $sub($set(-0.0), self.0) })
            }
        }

        impl Add for $name {
            type Output = Self;
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                // SAFETY: as in `neg`.
                Self(unsafe { $add(self.0, b.0) })
            }
        }

        impl Sub for $name {
            type Output = Self;
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                // SAFETY: as in `neg`.
                Self(unsafe { $sub(self.0, b.0) })
            }
        }

        impl Mul for $name {
            type Output = Self;
            #[inline(always)]
            fn mul(self, b: Self) -> Self {
                // SAFETY: as in `neg`.
                Self(unsafe { $mul(self.0, b.0) })
            }
        }

        impl AddAssign for $name {
            #[inline(always)]
            fn add_assign(&mut self, b: Self) {
                *self = *self + b;
            }
        }

        impl SubAssign for $name {
            #[inline(always)]
            fn sub_assign(&mut self, b: Self) {
                *self = *self - b;
            }
        }

        impl Scalar for $name {
            // SAFETY: any bits are numbers.
            const ZERO: Self = Self(unsafe { core::mem::transmute::<[$element; $n], $register>([0.0; $n]) });
            // SAFETY: as above.
            const ONE: Self = Self(unsafe { core::mem::transmute::<[$element; $n], $register>([1.0; $n]) });
            const LANES: usize = $n;
            const EPSILON: f64 = <$element as Scalar>::EPSILON;
            const BUILDS: Builds = Builds::$builds;

            #[inline(always)]
            fn lift(x: f64) -> Self {
                // SAFETY: as in `neg`.
                Self(unsafe { $set(x as $element) })
            }

            #[inline(always)]
            fn lane(self, lane: usize) -> f64 {
                self.to_array()[lane] as f64
            }

            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                // SAFETY: as in `neg`.
                Self(unsafe { $fma(self.0, b.0, c.0) })
            }

            #[inline(always)]
            fn mul_sub(self, b: Self, c: Self) -> Self {
                // SAFETY: as in `neg`.
                Self(unsafe { $fms(self.0, b.0, c.0) })
            }

            #[inline(always)]
            fn recip(self) -> Self {
                // SAFETY: as in `neg`.
                Self(unsafe { $div($set(1.0), self.0) })
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: as in `neg`.
                Self(unsafe { $root(self.0) })
            }

            fn ln(self) -> Self {
                let mut x = self.to_array();
                for x in &mut x {
                    *x = x.ln();
                }
                Self::from_array(x)
            }

            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                use crate::scalar::angle;
                let $of = self.0;
                // SAFETY: as in `neg`.
                let small = unsafe {
                    let $edge = $set(angle::$reducible);
                    $within
                };
                if small {
                    return angle::$sine(self);
                }
                let x = self.to_array();
                let (mut sin, mut cos) = (x, x);
                Self::sin_cos_one_by_one(x, &mut sin, &mut cos);
                (Self::from_array(sin), Self::from_array(cos))
            }

            #[inline(always)]
            fn where_below(self, bound: f64, yes: Self, no: Self) -> Self {
                let ($x, $yes, $no) = (self.0, yes.0, no.0);
                // SAFETY: as in `neg`.
                unsafe {
                    let $bound = $set(bound as $element);
                    Self($below)
                }
            }
        }

        impl Quadrants for $name {
            #[inline(always)]
            fn unfold(shifted: Self, sin: Self, cos: Self) -> (Self, Self) {
                let ($shifted, $sin, $cos) = (shifted.0, sin.0, cos.0);
                // SAFETY: as in `neg`.
                let (sin, cos) = unsafe { $unfold };
                (Self(sin), Self(cos))
            }
        }

        impl Lanes for $name {
            type Element = $element;

            #[inline(always)]
            fn from_lanes(lane: impl Fn(usize) -> $element) -> Self {
                let mut x = [0.0; $n];
                for (i, x) in x.iter_mut().enumerate() {
                    *x = lane(i);
                }
                Self::from_array(x)
            }

            #[inline(always)]
            fn element(self, lane: usize) -> $element {
                self.to_array()[lane]
            }

            #[inline(always)]
            fn at(&self, lane: usize) -> $element {
                let numbers: *const [$element; $n] = core::ptr::from_ref(&self.0).cast();
                // SAFETY: a register is as large and at least as aligned as so many numbers.
                unsafe { (*numbers)[lane] }
            }

            #[inline(always)]
            fn put(&mut self, lane: usize, x: $element) {
                let numbers: *mut [$element; $n] = core::ptr::from_mut(&mut self.0).cast();
                // SAFETY: a register is as large and at least as aligned as so many numbers.
                unsafe { (*numbers)[lane] = x };
            }

            fn load(states: &[$element], stride: usize, lanes: &mut [Self]) {
                // SAFETY: as in `neg`.
                unsafe { $name::load_block(states, stride, lanes) }
            }

            fn store(lanes: &[Self], states: &mut [$element], stride: usize) {
                // SAFETY: as in `neg`.
                unsafe { $name::store_block(lanes, states, stride) }
            }

            fn spread(lanes: &[Self], from: &Places, states: &mut [$element], stride: usize) {
                // SAFETY: as in `neg`.
                unsafe { $name::spread_block(lanes, from, states, stride) }
            }

            $(fn stream(
                lanes: &[Self],
                from: Option<&Places>,
                each: usize,
                states: &mut [$element],
                stride: usize,
            ) {
                if states.len() < ($n - 1) * stride + each {
                    return match from {
                        None => Self::store(&lanes[..each], states, stride),
                        Some(from) => Self::spread(lanes, from, states, stride),
                    };
                }
                let states = states.as_mut_ptr();
                match from {
                    None => {
                        assert!(each <= lanes.len(), "{BEYOND}");
                        // SAFETY: as in `neg`; there is room for all states, and the numbers are there.
                        unsafe { $stream(lanes, |i| i, each, states, stride) }
                    }
                    Some(from) => {
                        assert!(each <= from.0.len() && from.1 < lanes.len(), "{BEYOND}");
                        let from = &from.0;
                        // SAFETY: as above; there are as many places, of as many lanes.
                        unsafe { $stream(lanes, |i| *from.get_unchecked(i) as usize, each, states, stride) }
                    }
                }
            })?
        }

        // Arrays of registers stay registers where every index is known: whole blocks of whole groups are taken by
        // themselves, and so are states that are shorter than a block; what is left, at the end of a batch, goes number
        // by number.
        impl $name {
            #[target_feature(enable = $features)]
            unsafe fn load_block(states: &[$element], stride: usize, lanes: &mut [Self]) {
                let each = lanes.len();
                let last = (states.len() - each) / stride;
                if last + 1 < $n {
                    for (i, x) in lanes.iter_mut().enumerate() {
                        *x = Self::from_lanes(|lane| states[lane.min(last) * stride + i]);
                    }
                    return;
                }
                if each < $w {
                    // SAFETY: the features are those of this function, and there are as many states.
                    let columns = unsafe { $gather(states.as_ptr(), stride, each) };
                    for i in 0..$w {
                        if i < each {
                            lanes[i].0 = columns[i];
                        }
                    }
                    return;
                }
                for i in blocks(each, $w) {
                    // SAFETY: as above; a block ends within its state.
                    let columns = unsafe { $gather(states.as_ptr().add(i), stride, $w) };
                    let to = &mut lanes[i..i + $w];
                    for j in 0..$w {
                        to[j].0 = columns[j];
                    }
                }
            }

            #[target_feature(enable = $features)]
            unsafe fn store_block(lanes: &[Self], states: &mut [$element], stride: usize) {
                let (each, mut columns) = (lanes.len(), [&Self::ZERO.0; $w]);
                if states.len() < ($n - 1) * stride + each {
                    for (i, x) in lanes.iter().enumerate() {
                        x.put_some(i, each, states, stride);
                    }
                    return;
                }
                if each < $w {
                    for i in 0..$w {
                        if i < each {
                            columns[i] = &lanes[i].0;
                        }
                    }
                    // SAFETY: the features are those of this function, and there is room for as many states.
                    return unsafe { $scatter(columns, states.as_mut_ptr(), stride, each) };
                }
                for i in blocks(each, $w) {
                    let from = &lanes[i..i + $w];
                    for j in 0..$w {
                        columns[j] = &from[j].0;
                    }
                    // SAFETY: as above; a block ends within its state.
                    unsafe { $scatter(columns, states.as_mut_ptr().add(i), stride, $w) };
                }
            }

            #[target_feature(enable = $features)]
            unsafe fn spread_block(
                lanes: &[Self],
                Places(from, most): &Places,
                states: &mut [$element],
                stride: usize,
            ) {
                let (each, nothing, mut columns) = (from.len(), lanes.len() - 1, [&Self::ZERO.0; $w]);
                if states.len() < ($n - 1) * stride + each {
                    for (i, from) in from.iter().enumerate() {
                        lanes[*from as usize].put_some(i, each, states, stride);
                    }
                    return;
                }
                if each < $w {
                    for i in 0..$w {
                        if i < each {
                            columns[i] = &lanes[from[i] as usize].0;
                        }
                    }
                    // SAFETY: the features are those of this function, and there is room for as many states.
                    return unsafe { $scatter(columns, states.as_mut_ptr(), stride, each) };
                }
                assert!(*most <= nothing, "{BEYOND}");
                for i in blocks(each, $w) {
                    let from = &from[i..i + $w];
                    if from[0] as usize == nothing && least(from) == nothing {
                        // SAFETY: as below.
                        unsafe { $scatter([&Self::ZERO.0; $w], states.as_mut_ptr().add(i), stride, $w) };
                        continue;
                    }
                    for j in 0..$w {
                        // SAFETY: there are as many lanes, as was asserted.
                        columns[j] = unsafe { &lanes.get_unchecked(from[j] as usize).0 };
                    }
                    // SAFETY: the features are those of this function, and there is room for as many states, in each of
                    // which the block ends.
                    unsafe { $scatter(columns, states.as_mut_ptr().add(i), stride, $w) };
                }
            }

            /// The i-th number of as many states of so many numbers as there is room for.
            fn put_some(self, i: usize, each: usize, states: &mut [$element], stride: usize) {
                for (lane, x) in self.to_array().into_iter().enumerate() {
                    if lane * stride + each <= states.len() {
                        states[lane * stride + i] = x;
                    }
                }
            }
        }
    };
}

/// What is wrong where a place is too large.
#[cfg(target_arch = "x86_64")]
const BEYOND: &str = "a number beyond those computed";

/// The smallest of some places.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn least(places: &[u32]) -> usize {
    let mut least = u32::MAX;
    for &place in places {
        least = place.min(least);
    }
    least as usize
}

/// Where blocks of n numbers start that cover so many, which are no fewer: the last one may overlap the one before.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn blocks(numbers: usize, n: usize) -> impl Iterator<Item = usize> {
    let last = numbers - n;
    (0..numbers.div_ceil(n)).map(move |block| (block * n).min(last))
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{F32x8, F32x16, F64x4, F64x8};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use crate::simd::stream::{stream_f32x16, stream_f64x8};
    use crate::simd::transpose::*;
    use core::arch::x86_64::*;

    lanes! {
        /// Four doubles, with AVX2.
        F64x4: __m256d = [f64; 4], Avx2, sine sin_cos below REDUCIBLE,
        _mm256_set1_pd, _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd, _mm256_div_pd, _mm256_sqrt_pd,
        _mm256_fmadd_pd, _mm256_fmsub_pd,
        "avx2,fma", gather_f64x4, scatter_f64x4 by 4,
        below |x, bound, yes, no| _mm256_blendv_pd(no, yes, _mm256_cmp_pd::<_CMP_LT_OQ>(x, bound)),
        within |x, edge| {
            let size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LE_OQ>(size, edge)) == 0xf
        },
        unfold |shifted, sin, cos| {
            let (q, one, two) = (_mm256_castpd_si256(shifted), _mm256_set1_epi64x(1), _mm256_set1_epi64x(2));
            let odd = _mm256_castsi256_pd(_mm256_slli_epi64::<63>(q));
            let sign = |q| _mm256_castsi256_pd(_mm256_slli_epi64::<62>(_mm256_and_si256(q, two)));
            (
                _mm256_xor_pd(_mm256_blendv_pd(sin, cos, odd), sign(q)),
                _mm256_xor_pd(_mm256_blendv_pd(cos, sin, odd), sign(_mm256_add_epi64(q, one))),
            )
        }
    }

    lanes! {
        /// Eight floats, with AVX2.
        F32x8: __m256 = [f32; 8], Avx2, sine sin_cos_single below REDUCIBLE_SINGLE,
        _mm256_set1_ps, _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_div_ps, _mm256_sqrt_ps,
        _mm256_fmadd_ps, _mm256_fmsub_ps,
        "avx2,fma", gather_f32x8, scatter_f32x8 by 8,
        below |x, bound, yes, no| _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_LT_OQ>(x, bound)),
        within |x, edge| {
            let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), x);
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(size, edge)) == 0xff
        },
        unfold |shifted, sin, cos| {
            let (q, one, two) = (_mm256_castps_si256(shifted), _mm256_set1_epi32(1), _mm256_set1_epi32(2));
            let odd = _mm256_castsi256_ps(_mm256_slli_epi32::<31>(q));
            let sign = |q| _mm256_castsi256_ps(_mm256_slli_epi32::<30>(_mm256_and_si256(q, two)));
            (
                _mm256_xor_ps(_mm256_blendv_ps(sin, cos, odd), sign(q)),
                _mm256_xor_ps(_mm256_blendv_ps(cos, sin, odd), sign(_mm256_add_epi32(q, one))),
            )
        }
    }

    lanes! {
        /// Eight doubles, with AVX-512.
        F64x8: __m512d = [f64; 8], Avx512, sine sin_cos below REDUCIBLE,
        _mm512_set1_pd, _mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd, _mm512_div_pd, _mm512_sqrt_pd,
        _mm512_fmadd_pd, _mm512_fmsub_pd,
        "avx2,fma,avx512f,avx512vl,avx512dq", gather_f64x8, scatter_f64x8 by 8, past stream_f64x8,
        below |x, bound, yes, no| _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(x, bound), no, yes),
        within |x, edge| _mm512_cmp_pd_mask::<_CMP_LE_OQ>(_mm512_abs_pd(x), edge) == 0xff,
        unfold |shifted, sin, cos| {
            let (q, one, two) = (_mm512_castpd_si512(shifted), _mm512_set1_epi64(1), _mm512_set1_epi64(2));
            let odd = _mm512_test_epi64_mask(q, one);
            let sign = |q| _mm512_castsi512_pd(_mm512_slli_epi64::<62>(_mm512_and_si512(q, two)));
            (
                _mm512_xor_pd(_mm512_mask_blend_pd(odd, sin, cos), sign(q)),
                _mm512_xor_pd(_mm512_mask_blend_pd(odd, cos, sin), sign(_mm512_add_epi64(q, one))),
            )
        }
    }

    lanes! {
        /// Sixteen floats, with AVX-512.
        F32x16: __m512 = [f32; 16], Avx512, sine sin_cos_single below REDUCIBLE_SINGLE,
        _mm512_set1_ps, _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps, _mm512_div_ps, _mm512_sqrt_ps,
        _mm512_fmadd_ps, _mm512_fmsub_ps,
        "avx2,fma,avx512f,avx512vl,avx512dq", gather_f32x16, scatter_f32x16 by 8, past stream_f32x16,
        below |x, bound, yes, no| _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(x, bound), no, yes),
        within |x, edge| _mm512_cmp_ps_mask::<_CMP_LE_OQ>(_mm512_abs_ps(x), edge) == 0xffff,
        unfold |shifted, sin, cos| {
            let (q, one, two) = (_mm512_castps_si512(shifted), _mm512_set1_epi32(1), _mm512_set1_epi32(2));
            let odd = _mm512_test_epi32_mask(q, one);
            let sign = |q| _mm512_castsi512_ps(_mm512_slli_epi32::<30>(_mm512_and_si512(q, two)));
            (
                _mm512_xor_ps(_mm512_mask_blend_ps(odd, sin, cos), sign(q)),
                _mm512_xor_ps(_mm512_mask_blend_ps(odd, cos, sin), sign(_mm512_add_epi32(q, one))),
            )
        }
    }
}
