//! Eigenvalues of a real Hessenberg matrix by steps of Francis.
//!
//! A step is QR with a shift and its conjugate at once, H ← Q\*HQ where the first column of Q is that of (H − σ)(H − σ̄):
//! real all along. A reflection of three rows and columns begins it, and others chase what sticks out below the subdiagonal
//! down and out. Elements of the subdiagonal fade, until blocks of one and two rows are left; the roots of a block of two are
//! real, or exactly conjugate. About 10n³ operations for all, as rows and columns outside of the block in work are left alone.

use super::Pole;

/// Steps for each block before giving up; a few are usual.
const STEPS: usize = 90;
/// From this one on, what is rounding of the whole matrix counts as faded, not only what is rounding of its neighbours.
const PATIENCE: usize = 30;

/// The eigenvalues of an n × n Hessenberg matrix, which is used up: of each pair, the one above the axis alone. None if
/// steps do not settle.
pub(crate) fn upper_half(n: usize, h: &mut [f64]) -> Option<Vec<Pole>> {
    let norm = h.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let mut poles = Vec::with_capacity(n);
    let (mut end, mut steps) = (n, 0);
    while end > 0 {
        let floor = if steps < PATIENCE { 0.0 } else { f64::EPSILON * norm };
        let start = (1..end).rev().find(|i| has_faded(n, h, *i, floor)).unwrap_or(0);
        if start > 0 {
            h[start * n + start - 1] = 0.0;
        }
        match end - start {
            1 => poles.push(Pole {
                re: h[start * n + start],
                im: 0.0,
            }),
            2 => roots(block(n, h, start), &mut poles),
            _ => {
                steps += 1;
                if steps > STEPS {
                    return None;
                }
                let shift = shift(n, h, start, end, steps);
                step(n, h, start, end, shift);
                continue;
            }
        }
        (end, steps) = (start, 0);
    }
    Some(poles)
}

/// Rows and columns i and i + 1.
fn block(n: usize, h: &[f64], i: usize) -> [f64; 4] {
    [
        h[i * n + i],
        h[i * n + i + 1],
        h[(i + 1) * n + i],
        h[(i + 1) * n + i + 1],
    ]
}

/// Whether leaving out the coupling of row i to the one before changes eigenvalues by no more than rounding.
///
/// By itself it must be small against its neighbours on the diagonal; and with the element across, whose product with it is
/// what moves eigenvalues that are apart, small against the lesser of them. So small eigenvalues of graded matrices keep
/// their digits.
fn has_faded(n: usize, h: &[f64], i: usize, floor: f64) -> bool {
    let [a, b, c, d] = block(n, h, i - 1).map(f64::abs);
    if c <= floor.max(f64::MIN_POSITIVE) {
        return true;
    }
    if c > f64::EPSILON * (a + d) {
        return false;
    }
    let apart = (h[(i - 1) * n + i - 1] - h[i * n + i]).abs();
    let (more, less) = (d.max(apart), d.min(apart));
    let (wide, thin) = (b.max(c), b.min(c));
    let sum = more + wide;
    thin * (wide / sum) <= f64::EPSILON * (less * (more / sum))
}

/// σ: the eigenvalue of the last two rows that is nearest to the last element. Every tenth step takes another, which breaks
/// cycles.
fn shift(n: usize, h: &[f64], start: usize, end: usize, steps: usize) -> Pole {
    if steps.is_multiple_of(10) {
        let at_end = steps.is_multiple_of(20);
        let i = if at_end { end - 1 } else { start + 2 };
        let near = h[i * n + i - 1].abs() + h[(i - 1) * n + i - 2].abs();
        let corner = if at_end { i } else { start };
        let re = h[corner * n + corner] + 0.75 * near;
        return Pole { re, im: 0.66 * near };
    }
    let last = block(n, h, end - 2);
    let mut two = Vec::with_capacity(2);
    roots(last, &mut two);
    let from = |pole: &&Pole| (pole.re - last[3]).abs();
    let near = two.iter().min_by(|a, b| from(a).total_cmp(&from(b)));
    near.copied().unwrap_or_default()
}

/// The eigenvalues of [[a, b], [c, d]]: two real ones, or that above the axis.
///
/// With p = ½(a − d) they are d + p ± √(p² + bc). Which of both it is, is told from the factors of p² + bc, so that nothing
/// overflows; where these cancel but for rounding, the roots are equal.
fn roots([a, b, c, d]: [f64; 4], out: &mut Vec<Pole>) {
    let p = 0.5 * (a - d);
    let q = b.abs().sqrt() * c.abs().sqrt();
    let real = |re: f64| Pole { re, im: 0.0 };
    let crosses = (b > 0.0) == (c > 0.0);
    let (less, more) = (p.abs() - q, p.abs() + q);
    let root = if crosses {
        p.hypot(q)
    } else if less.abs() <= 4.0 * f64::EPSILON * more {
        0.0
    } else {
        less.abs().sqrt() * more.sqrt()
    };
    if !crosses && less < 0.0 && root > 0.0 {
        let re = d + p;
        return out.push(Pole { re, im: root });
    }
    if root == 0.0 {
        return out.extend([real(d + p); 2]);
    }
    // The lesser of both by the product, which does not cancel.
    let far = if p < 0.0 { p - root } else { p + root };
    let product = if crosses { q * (q / far) } else { -q * (q / far) };
    out.extend([real(d + far), real(d - product)]);
}

/// H ← Q*HQ for the rows and columns start..end, three of them at least.
fn step(n: usize, h: &mut [f64], start: usize, end: usize, shift: Pole) {
    let (first, mut column) = beginning(n, h, start, end, shift);
    for k in first..end - 1 {
        // What sticks out in the column before, of two rows at the very end.
        let rows = (end - k).min(3);
        if k > first {
            column = core::array::from_fn(|i| if i < rows { h[(k + i) * n + k - 1] } else { 0.0 });
        }
        let Some((v, left)) = reflection(column) else { continue };
        if k > first {
            h[k * n + k - 1] = left;
            (1..rows).for_each(|i| h[(k + i) * n + k - 1] = 0.0);
        } else if k > start {
            // Of the row before, whose other couplings are as small as rounding.
            h[k * n + k - 1] *= 1.0 - v[0] * v[0];
        }
        reflect_rows(&mut h[k * n..(k + rows) * n], n, k..end, v);
        let below = (k + 4).min(end);
        for row in h[start * n..below * n].chunks_exact_mut(n) {
            reflect(&mut row[k..k + rows], v);
        }
    }
}

/// Where a step may begin, and the column that it begins with, a multiple of that of (H − σ)(H − σ̄): as far down as two
/// couplings in a row are so small that what this leaves above is rounding.
fn beginning(n: usize, h: &[f64], start: usize, end: usize, Pole { re, im }: Pole) -> (usize, [f64; 3]) {
    let column = |m: usize| {
        let [a, b, c, d] = block(n, h, m);
        let size = (a - re).abs() + im + c.abs();
        let c = c / size;
        let x = c * b + (a - re) * ((a - re) / size) + im * (im / size);
        let column = [x, c * ((a - re) + (d - re)), c * h[(m + 2) * n + m + 1]];
        let sum = column.iter().map(|x| x.abs()).sum::<f64>();
        column.map(|x| x / sum)
    };
    let leaves_nothing = |m: usize, column: &[f64; 3]| {
        let diagonal = |i: usize| h[i * n + i].abs();
        let coupling = h[m * n + m - 1].abs() * (column[1].abs() + column[2].abs());
        coupling <= f64::EPSILON * column[0].abs() * (diagonal(m - 1) + diagonal(m) + diagonal(m + 1))
    };
    for m in (start + 1..end - 2).rev() {
        let begins = column(m);
        if leaves_nothing(m, &begins) {
            return (m, begins);
        }
    }
    (start, column(start))
}

/// v of length √2 such that (I − vv*)x has zeros but for its first element, and that element; none if x has nothing but
/// zeros.
fn reflection(x: [f64; 3]) -> Option<([f64; 3], f64)> {
    let size = x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if size == 0.0 || !size.is_finite() {
        return None;
    }
    let mut v = x.map(|x| x / size);
    let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let left = if v[0] > 0.0 { -norm } else { norm };
    v[0] -= left;
    // v*v = 2 norm |v₀|.
    let scale = 1.0 / (norm * v[0].abs()).sqrt();
    Some((v.map(|x| x * scale), left * size))
}

/// x ← x − (v·x)v of one row.
fn reflect(x: &mut [f64], v: [f64; 3]) {
    if let [x0, x1, x2] = x {
        let along = v[0] * *x0 + v[1] * *x1 + v[2] * *x2;
        *x0 -= along * v[0];
        *x1 -= along * v[1];
        *x2 -= along * v[2];
    } else if let [x0, x1] = x {
        let along = v[0] * *x0 + v[1] * *x1;
        *x0 -= along * v[0];
        *x1 -= along * v[1];
    }
}

/// The same of every column of two or three rows.
fn reflect_rows(rows: &mut [f64], n: usize, columns: core::ops::Range<usize>, v: [f64; 3]) {
    let (first, rest) = rows.split_at_mut(n);
    let (second, third) = rest.split_at_mut(n);
    let pairs = first[columns.clone()].iter_mut().zip(&mut second[columns.clone()]);
    if third.is_empty() {
        for (x0, x1) in pairs {
            let along = v[0] * *x0 + v[1] * *x1;
            *x0 -= along * v[0];
            *x1 -= along * v[1];
        }
    } else {
        for ((x0, x1), x2) in pairs.zip(&mut third[columns]) {
            let along = v[0] * *x0 + v[1] * *x1 + v[2] * *x2;
            *x0 -= along * v[0];
            *x1 -= along * v[1];
            *x2 -= along * v[2];
        }
    }
}
