//! States after states into lanes, and back: square blocks turned over in registers.
//!
//! Sixteen states go in two halves, eight numbers at a time: few mechanisms have so many more that whole squares pay.

use core::arch::x86_64::*;

/// A block of as many registers as each has lanes, and parts of a register in memory.
macro_rules! block {
    (
        $features:literal, $register:ty = [$element:ty; $n:literal],
        $transpose:ident |$r:ident| $body:block,
        $load:ident |$from:ident, $some:ident| $loaded:expr,
        $store:ident |$to:ident, $value:ident, $few:ident| $stored:expr
    ) => {
        /// Rows become columns.
        ///
        /// # Safety
        /// The processor must have these features.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $transpose($r: [$register; $n]) -> [$register; $n] $body

        /// The first numbers of a slice, and zeros.
        ///
        /// # Safety
        /// The processor must have these features.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $load($from: &[$element]) -> $register {
            let $some = $from.len().min($n);
            let $from = $from.as_ptr();
            // SAFETY: no more numbers are read than there are.
            unsafe { $loaded }
        }

        /// The first numbers of a register, as many as there is room for.
        ///
        /// # Safety
        /// The processor must have these features.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $store($to: &mut [$element], $value: $register) {
            let $few = $to.len().min($n);
            let $to = $to.as_mut_ptr();
            // SAFETY: no more numbers are written than there is room for.
            unsafe { $stored }
        }
    };
}

/// A block of numbers of whole groups of states, one state every `stride` numbers: as many of each as a register has
/// lanes, or as there are.
macro_rules! square {
    ($features:literal, $register:ty = [$element:ty; $n:literal], $transpose:ident, $load:ident, $store:ident,
     $gather:ident, $scatter:ident) => {
        /// States into lanes.
        ///
        /// # Safety
        /// The processor must have these features, and the last state's numbers be there.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $gather(from: *const $element, stride: usize, some: usize) -> [$register; $n] {
            // SAFETY: as the caller says.
            unsafe {
                let mut rows = [$load(&[]); $n];
                for lane in 0..$n {
                    rows[lane] = $load(core::slice::from_raw_parts(from.add(lane * stride), some));
                }
                $transpose(rows)
            }
        }

        /// Lanes into states.
        ///
        /// # Safety
        /// The processor must have these features, and there be room for the last state's numbers.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $scatter(columns: [&$register; $n], to: *mut $element, stride: usize, some: usize) {
            // SAFETY: as the caller says.
            unsafe {
                let mut rows = [*columns[0]; $n];
                for i in 1..$n {
                    rows[i] = *columns[i];
                }
                let rows = $transpose(rows);
                for lane in 0..$n {
                    $store(
                        core::slice::from_raw_parts_mut(to.add(lane * stride), some),
                        rows[lane],
                    );
                }
            }
        }
    };
}

square!(
    "avx2,fma",
    __m256d = [f64; 4],
    transpose_f64x4,
    load_f64x4,
    store_f64x4,
    gather_f64x4,
    scatter_f64x4
);
square!(
    "avx2,fma",
    __m256 = [f32; 8],
    transpose_f32x8,
    load_f32x8,
    store_f32x8,
    gather_f32x8,
    scatter_f32x8
);
/// All ones, then zeros: from n places before the middle, the mask of n lanes.
static MASK64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
static MASK32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn mask64(n: usize) -> __m256i {
    // SAFETY: n ≤ 4, so that four numbers follow.
    unsafe { _mm256_loadu_si256(MASK64.as_ptr().add(4 - n).cast()) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn mask32(n: usize) -> __m256i {
    // SAFETY: n ≤ 8, so that eight numbers follow.
    unsafe { _mm256_loadu_si256(MASK32.as_ptr().add(8 - n).cast()) }
}

block! {
    "avx2,fma", __m256d = [f64; 4],
    transpose_f64x4 |r| {
        let (a, b) = (_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpackhi_pd(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_pd(r[2], r[3]), _mm256_unpackhi_pd(r[2], r[3]));
        [
            _mm256_permute2f128_pd::<0x20>(a, c),
            _mm256_permute2f128_pd::<0x20>(b, d),
            _mm256_permute2f128_pd::<0x31>(a, c),
            _mm256_permute2f128_pd::<0x31>(b, d),
        ]
    },
    load_f64x4 |from, n| if n == 4 { _mm256_loadu_pd(from) } else { _mm256_maskload_pd(from, mask64(n)) },
    store_f64x4 |to, x, n| if n == 4 { _mm256_storeu_pd(to, x) } else { _mm256_maskstore_pd(to, mask64(n), x) }
}

block! {
    "avx2,fma", __m256 = [f32; 8],
    transpose_f32x8 |r| {
        let mut out = r;
        let mut quads = [[r[0]; 4]; 2];
        for (half, quad) in quads.iter_mut().enumerate() {
            let r = [r[4 * half], r[4 * half + 1], r[4 * half + 2], r[4 * half + 3]];
            let (a, b) = (_mm256_unpacklo_ps(r[0], r[1]), _mm256_unpackhi_ps(r[0], r[1]));
            let (c, d) = (_mm256_unpacklo_ps(r[2], r[3]), _mm256_unpackhi_ps(r[2], r[3]));
            let wide = |x| _mm256_castps_pd(x);
            *quad = [
                _mm256_castpd_ps(_mm256_unpacklo_pd(wide(a), wide(c))),
                _mm256_castpd_ps(_mm256_unpackhi_pd(wide(a), wide(c))),
                _mm256_castpd_ps(_mm256_unpacklo_pd(wide(b), wide(d))),
                _mm256_castpd_ps(_mm256_unpackhi_pd(wide(b), wide(d))),
            ];
        }
        for i in 0..4 {
            out[i] = _mm256_permute2f128_ps::<0x20>(quads[0][i], quads[1][i]);
            out[i + 4] = _mm256_permute2f128_ps::<0x31>(quads[0][i], quads[1][i]);
        }
        out
    },
    load_f32x8 |from, n| if n == 8 { _mm256_loadu_ps(from) } else { _mm256_maskload_ps(from, mask32(n)) },
    store_f32x8 |to, x, n| if n == 8 { _mm256_storeu_ps(to, x) } else { _mm256_maskstore_ps(to, mask32(n), x) }
}

/// Rows become columns, from halves of the rows: those that come from memory cost no exchange of their own.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
fn transpose_f64x8(r: [[__m256d; 2]; 8]) -> [__m512d; 8] {
    let mut out = [_mm512_setzero_pd(); 8];
    for half in 0..2 {
        // Halves of rows k and k + 2 of each four, then columns of two rows each.
        let both = |k: usize| _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(r[k][half]), r[k + 2][half]);
        let (a, b, c, d) = (both(0), both(1), both(4), both(5));
        let (even, odd) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let (more_even, more_odd) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
        out[4 * half] = _mm512_shuffle_f64x2::<0x88>(even, more_even);
        out[4 * half + 1] = _mm512_shuffle_f64x2::<0x88>(odd, more_odd);
        out[4 * half + 2] = _mm512_shuffle_f64x2::<0xdd>(even, more_even);
        out[4 * half + 3] = _mm512_shuffle_f64x2::<0xdd>(odd, more_odd);
    }
    out
}

/// States into lanes.
///
/// # Safety
/// The processor must have these features, and the last state's numbers be there.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
pub(super) unsafe fn gather_f64x8(from: *const f64, stride: usize, some: usize) -> [__m512d; 8] {
    let mut rows = [[_mm256_setzero_pd(); 2]; 8];
    for lane in 0..8 {
        // SAFETY: as the caller says; masked lanes are not read.
        unsafe {
            let from = from.add(lane * stride);
            rows[lane] = if some == 8 {
                [_mm256_loadu_pd(from), _mm256_loadu_pd(from.add(4))]
            } else {
                let mask = 0xff_u8 >> (8 - some);
                let rest = from.wrapping_add(4);
                [
                    _mm256_maskz_loadu_pd(mask & 15, from),
                    _mm256_maskz_loadu_pd(mask >> 4, rest),
                ]
            };
        }
    }
    transpose_f64x8(rows)
}

/// Eight numbers of eight states, state by state; the first lane is zero.
///
/// # Safety
/// The processor must have these features.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
pub(super) unsafe fn turned_f64x8(columns: [&__m512d; 8], _: usize) -> [__m512d; 8] {
    let mut rows = [[_mm256_setzero_pd(); 2]; 8];
    for i in 0..8 {
        let from = core::ptr::from_ref(columns[i]).cast::<f64>();
        // SAFETY: a register has two halves.
        rows[i] = unsafe { [_mm256_loadu_pd(from), _mm256_loadu_pd(from.add(4))] };
    }
    transpose_f64x8(rows)
}

/// Lanes into states.
///
/// # Safety
/// The processor must have these features, and there be room for the last state's numbers.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
pub(super) unsafe fn scatter_f64x8(columns: [&__m512d; 8], to: *mut f64, stride: usize, some: usize) {
    // SAFETY: the features are those of this function.
    let (rows, mask) = (unsafe { turned_f64x8(columns, 0) }, (0xff_u16 >> (8 - some)) as u8);
    for lane in 0..8 {
        // SAFETY: as the caller says.
        unsafe {
            let to = to.add(lane * stride);
            if some == 8 {
                _mm512_storeu_pd(to, rows[lane]);
            } else {
                _mm512_mask_storeu_pd(to, mask, rows[lane]);
            }
        }
    }
}

/// Eight numbers of sixteen states, or the other way round: each half of the registers is turned over by itself.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
fn transpose_halves(r: [__m512; 8]) -> [__m512; 8] {
    // quads[a][i]: of rows 4a … 4a + 3 of each half, columns i and i + 4.
    let mut quads = [[r[0]; 4]; 2];
    for a in 0..2 {
        let r = [r[4 * a], r[4 * a + 1], r[4 * a + 2], r[4 * a + 3]];
        let (b, c) = (_mm512_unpacklo_ps(r[0], r[1]), _mm512_unpackhi_ps(r[0], r[1]));
        let (d, e) = (_mm512_unpacklo_ps(r[2], r[3]), _mm512_unpackhi_ps(r[2], r[3]));
        let (b, c, d, e) = (
            _mm512_castps_pd(b),
            _mm512_castps_pd(c),
            _mm512_castps_pd(d),
            _mm512_castps_pd(e),
        );
        quads[a] = [
            _mm512_castpd_ps(_mm512_unpacklo_pd(b, d)),
            _mm512_castpd_ps(_mm512_unpackhi_pd(b, d)),
            _mm512_castpd_ps(_mm512_unpacklo_pd(c, e)),
            _mm512_castpd_ps(_mm512_unpackhi_pd(c, e)),
        ];
    }
    let first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    let mut out = r;
    for i in 0..4 {
        let (a, b) = (_mm512_castps_pd(quads[0][i]), _mm512_castps_pd(quads[1][i]));
        out[i] = _mm512_castpd_ps(_mm512_permutex2var_pd(a, first, b));
        out[i + 4] = _mm512_castpd_ps(_mm512_permutex2var_pd(a, second, b));
    }
    out
}

/// Sixteen numbers of eight states, of those in the lanes from `first` on, state by state.
///
/// # Safety
/// The processor must have these features, and a register have eight lanes from the first one on.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
pub(super) unsafe fn turned_f32x16(columns: [&__m512; 16], first: usize) -> [__m512; 8] {
    let mut rows = [_mm512_setzero_ps(); 8];
    for i in 0..8 {
        let half = |i: usize| core::ptr::from_ref(columns[i]).cast::<f32>().wrapping_add(first);
        // SAFETY: as the caller says.
        let (low, high) = unsafe { (_mm256_loadu_ps(half(i)), _mm256_loadu_ps(half(i + 8))) };
        rows[i] = _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high);
    }
    transpose_halves(rows)
}

/// States into lanes.
///
/// # Safety
/// The processor must have these features, and the last state's numbers be there.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
pub(super) unsafe fn gather_f32x16(from: *const f32, stride: usize, some: usize) -> [__m512; 8] {
    let (mut rows, mask) = ([_mm512_setzero_ps(); 8], (0xff_u16 >> (8 - some)) as u8);
    for lane in 0..8 {
        // SAFETY: as the caller says.
        let (low, high) = unsafe {
            let (low, high) = (from.add(lane * stride), from.add((lane + 8) * stride));
            if some == 8 {
                (_mm256_loadu_ps(low), _mm256_loadu_ps(high))
            } else {
                (_mm256_maskz_loadu_ps(mask, low), _mm256_maskz_loadu_ps(mask, high))
            }
        };
        rows[lane] = _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high);
    }
    transpose_halves(rows)
}

/// Lanes into states.
///
/// # Safety
/// The processor must have these features, and there be room for the last state's numbers.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq")]
pub(super) unsafe fn scatter_f32x16(columns: [&__m512; 8], to: *mut f32, stride: usize, some: usize) {
    let mut rows = [*columns[0]; 8];
    for i in 1..8 {
        rows[i] = *columns[i];
    }
    let (rows, mask) = (transpose_halves(rows), (0xff_u16 >> (8 - some)) as u8);
    for lane in 0..8 {
        // SAFETY: as the caller says.
        unsafe {
            let (low, high) = (to.add(lane * stride), to.add((lane + 8) * stride));
            let halves = (
                _mm512_castps512_ps256(rows[lane]),
                _mm512_extractf32x8_ps::<1>(rows[lane]),
            );
            if some == 8 {
                _mm256_storeu_ps(low, halves.0);
                _mm256_storeu_ps(high, halves.1);
            } else {
                _mm256_mask_storeu_ps(low, mask, halves.0);
                _mm256_mask_storeu_ps(high, mask, halves.1);
            }
        }
    }
}
