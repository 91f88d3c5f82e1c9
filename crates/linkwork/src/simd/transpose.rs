//! States after states into lanes, and back: square blocks turned over in registers.

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

        /// The first numbers of a slice, and noughts.
        ///
        /// # Safety
        /// The processor must have these features.
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
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $store($to: &mut [$element], $value: $register) {
            let $few = $to.len().min($n);
            let $to = $to.as_mut_ptr();
            // SAFETY: no more numbers are written than there is room for.
            unsafe { $stored }
        }
    };
}

/// All ones, then noughts: from n places before the middle, the mask of n lanes.
static MASK64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
static MASK32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

#[target_feature(enable = "avx2,fma")]
unsafe fn mask64(n: usize) -> __m256i {
    // SAFETY: n ≤ 4, so that four numbers follow.
    unsafe { _mm256_loadu_si256(MASK64.as_ptr().add(4 - n).cast()) }
}

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

block! {
    "avx2,fma,avx512f,avx512vl,avx512dq", __m512d = [f64; 8],
    transpose_f64x8 |r| {
        let mut out = r;
        for odd in 0..2 {
            // Column pairs of two rows each, then of four, then of eight.
            let pair = |i: usize| {
                if odd == 0 {
                    _mm512_unpacklo_pd(r[i], r[i + 1])
                } else {
                    _mm512_unpackhi_pd(r[i], r[i + 1])
                }
            };
            let (a, b, c, d) = (pair(0), pair(2), pair(4), pair(6));
            let (low, high) = (_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0xdd>(a, b));
            let (low2, high2) = (_mm512_shuffle_f64x2::<0x88>(c, d), _mm512_shuffle_f64x2::<0xdd>(c, d));
            out[odd] = _mm512_shuffle_f64x2::<0x88>(low, low2);
            out[odd + 4] = _mm512_shuffle_f64x2::<0xdd>(low, low2);
            out[odd + 2] = _mm512_shuffle_f64x2::<0x88>(high, high2);
            out[odd + 6] = _mm512_shuffle_f64x2::<0xdd>(high, high2);
        }
        out
    },
    load_f64x8 |from, n| _mm512_maskz_loadu_pd((0xff_u16 >> (8 - n)) as u8, from),
    store_f64x8 |to, x, n| _mm512_mask_storeu_pd(to, (0xff_u16 >> (8 - n)) as u8, x)
}

block! {
    "avx2,fma,avx512f,avx512vl,avx512dq", __m512 = [f32; 16],
    transpose_f32x16 |r| {
        let mut out = r;
        // quads[a][c]: rows 4a … 4a + 3 of columns c, c + 4, c + 8, c + 12.
        let mut quads = [[r[0]; 4]; 4];
        for (part, quad) in quads.iter_mut().enumerate() {
            let r = [r[4 * part], r[4 * part + 1], r[4 * part + 2], r[4 * part + 3]];
            let (a, b) = (_mm512_unpacklo_ps(r[0], r[1]), _mm512_unpackhi_ps(r[0], r[1]));
            let (c, d) = (_mm512_unpacklo_ps(r[2], r[3]), _mm512_unpackhi_ps(r[2], r[3]));
            let wide = |x| _mm512_castps_pd(x);
            *quad = [
                _mm512_castpd_ps(_mm512_unpacklo_pd(wide(a), wide(c))),
                _mm512_castpd_ps(_mm512_unpackhi_pd(wide(a), wide(c))),
                _mm512_castpd_ps(_mm512_unpacklo_pd(wide(b), wide(d))),
                _mm512_castpd_ps(_mm512_unpackhi_pd(wide(b), wide(d))),
            ];
        }
        for i in 0..4 {
            let [a, b, c, d] = [quads[0][i], quads[1][i], quads[2][i], quads[3][i]];
            let (even, odd) = (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
            let (even2, odd2) = (_mm512_shuffle_f32x4::<0x88>(c, d), _mm512_shuffle_f32x4::<0xdd>(c, d));
            out[i] = _mm512_shuffle_f32x4::<0x88>(even, even2);
            out[i + 8] = _mm512_shuffle_f32x4::<0xdd>(even, even2);
            out[i + 4] = _mm512_shuffle_f32x4::<0x88>(odd, odd2);
            out[i + 12] = _mm512_shuffle_f32x4::<0xdd>(odd, odd2);
        }
        out
    },
    load_f32x16 |from, n| _mm512_maskz_loadu_ps((0xffff_u32 >> (16 - n)) as u16, from),
    store_f32x16 |to, x, n| _mm512_mask_storeu_ps(to, (0xffff_u32 >> (16 - n)) as u16, x)
}
