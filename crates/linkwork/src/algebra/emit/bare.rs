//! Functions of emitted Rust that has no standard library.

/// Newton's iteration on 1/√x from the exponent's half, then one step on √x: within one unit in the last place.
pub(super) const BARE_ROOT: &str = "
/// The root of a number; of what is negative or not a number, not a number.
#[inline(always)]
#[allow(clippy::all)]
fn root(x: f64) -> f64 {
    if !(x > 0.0) {
        return if x == 0.0 { 0.0 } else { f64::NAN };
    }
    if x == f64::INFINITY {
        return x;
    }
    let mut y = f64::from_bits(0x5fe6eb50c7b537a9 - (x.to_bits() >> 1));
    let half = 0.5 * x;
    for _ in 0..5 {
        y *= 1.5 - half * y * y;
    }
    let z = x * y;
    z + 0.5 * y * (x - z * z)
}
";

/// 2 artanh((m − 1)/(m + 1)) for m between √½ and √2, and what the exponent adds.
pub(super) const BARE_LOGARITHM: &str = "
/// The natural logarithm of a normal number; of what is not positive, not a number.
#[inline(always)]
#[allow(clippy::all)]
fn logarithm(x: f64) -> f64 {
    if !(x > 0.0) {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return x;
    }
    let bits = x.to_bits() + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    let exponent = (bits >> 52) as i64 - 1023;
    let m = f64::from_bits((bits & 0x000fffffffffffff) + 0x3fe6a09e667f3bcd);
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut sum = 0.0;
    let mut n = 21.0;
    while n > 2.0 {
        sum = (sum + 1.0 / n) * z;
        n -= 2.0;
    }
    let e = exponent as f64;
    e * 6.93147180369123816490e-01 + (2.0 * s + (2.0 * s * sum + e * 1.90821492927058770002e-10))
}
";
