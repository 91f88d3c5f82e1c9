//! Six by six, and the small system of links that are joined. Products are not fused: outside of sweeps a fused one is a call.

use crate::scalar::Scalar;

/// Rows of forces and columns of motions, or the other way round.
pub(super) type Six<S> = [[S; 6]; 6];

pub(super) fn transposed<S: Scalar>(x: &Six<S>) -> Six<S> {
    let mut out = [[S::ZERO; 6]; 6];
    for i in 0..6 {
        for j in 0..6 {
            out[j][i] = x[i][j];
        }
    }
    out
}

pub(super) fn add<S: Scalar>(to: &mut Six<S>, x: &Six<S>) {
    for i in 0..6 {
        for j in 0..6 {
            to[i][j] += x[i][j];
        }
    }
}

pub(super) fn subtract<S: Scalar>(from: &mut Six<S>, x: &Six<S>) {
    for i in 0..6 {
        for j in 0..6 {
            from[i][j] -= x[i][j];
        }
    }
}

pub(super) fn apply<S: Scalar>(x: &Six<S>, v: [S; 6]) -> [S; 6] {
    let mut out = [S::ZERO; 6];
    for i in 0..6 {
        for j in 0..6 {
            out[i] += x[i][j] * v[j];
        }
    }
    out
}

pub(super) fn apply_transposed<S: Scalar>(x: &Six<S>, v: [S; 6]) -> [S; 6] {
    let mut out = [S::ZERO; 6];
    for i in 0..6 {
        for j in 0..6 {
            out[j] += x[i][j] * v[i];
        }
    }
    out
}

/// x*y.
pub(super) fn transposed_times<S: Scalar>(x: &Six<S>, y: &Six<S>) -> Six<S> {
    let mut out = [[S::ZERO; 6]; 6];
    for l in 0..6 {
        for i in 0..6 {
            for j in 0..6 {
                out[i][j] += x[l][i] * y[l][j];
            }
        }
    }
    out
}

/// The lower Cholesky factor in place, its diagonal inverted; and the pivots, squares of the diagonal.
pub(crate) fn cholesky<S: Scalar>(x: &mut Six<S>) -> [S; 6] {
    let mut pivots = [S::ZERO; 6];
    for j in 0..6 {
        let mut d = x[j][j];
        for l in 0..j {
            d -= x[j][l] * x[j][l];
        }
        pivots[j] = d;
        let inverse = d.sqrt().recip();
        x[j][j] = inverse;
        for i in j + 1..6 {
            let mut sum = x[i][j];
            for l in 0..j {
                sum -= x[i][l] * x[j][l];
            }
            x[i][j] = sum * inverse;
        }
    }
    pivots
}

pub(crate) fn solve_one<S: Scalar>(l: &Six<S>, mut b: [S; 6]) -> [S; 6] {
    for i in 0..6 {
        for j in 0..i {
            b[i] -= l[i][j] * b[j];
        }
        b[i] = b[i] * l[i][i];
    }
    for i in (0..6).rev() {
        for j in i + 1..6 {
            b[i] -= l[j][i] * b[j];
        }
        b[i] = b[i] * l[i][i];
    }
    b
}

/// (LL*)⁻¹x, all columns side by side.
pub(super) fn solve_columns<S: Scalar>(l: &Six<S>, x: &Six<S>) -> Six<S> {
    let mut out = *x;
    for i in 0..6 {
        for j in 0..i {
            for c in 0..6 {
                let less = l[i][j] * out[j][c];
                out[i][c] -= less;
            }
        }
        for c in 0..6 {
            out[i][c] = out[i][c] * l[i][i];
        }
    }
    for i in (0..6).rev() {
        for j in i + 1..6 {
            for c in 0..6 {
                let less = l[j][i] * out[j][c];
                out[i][c] -= less;
            }
        }
        for c in 0..6 {
            out[i][c] = out[i][c] * l[i][i];
        }
    }
    out
}

/// LU with rows exchanged, in place; `order` says which row came where. Dual numbers choose by their values.
pub(super) fn decompose<S: Scalar>(a: &mut [S], n: usize, order: &mut Vec<usize>) {
    order.clear();
    order.extend(0..n);
    for c in 0..n {
        let size = |r: usize| a[r * n + c].lane(0).abs();
        let best = (c..n).fold(c, |best, r| if size(r) > size(best) { r } else { best });
        if best != c {
            order.swap(c, best);
            for j in 0..n {
                a.swap(c * n + j, best * n + j);
            }
        }
        let inverse = a[c * n + c].recip();
        for r in c + 1..n {
            let factor = a[r * n + c] * inverse;
            a[r * n + c] = factor;
            for j in c + 1..n {
                a[r * n + j] -= factor * a[c * n + j];
            }
        }
    }
}

pub(super) fn substitute<S: Scalar>(lu: &[S], n: usize, order: &[usize], b: &[S], out: &mut [S]) {
    for i in 0..n {
        let mut sum = b[order[i]];
        for j in 0..i {
            sum -= lu[i * n + j] * out[j];
        }
        out[i] = sum;
    }
    for i in (0..n).rev() {
        let mut sum = out[i];
        for j in i + 1..n {
            sum -= lu[i * n + j] * out[j];
        }
        out[i] = sum * lu[i * n + i].recip();
    }
}
