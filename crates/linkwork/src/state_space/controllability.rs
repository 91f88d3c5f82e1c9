//! What inputs reach.
//!
//! B is brought to a triangle by elimination: its pivots are states that inputs set at will, whatever else acts on them, so
//! that these are as good as inputs of the others. With x = [p; r], pivots and the rest, and L = B_r B_p⁻¹, the rest less what
//! inputs do to it directly, z = r − Lp, obeys
//!
//! ```text
//! ż = Ãz + B̃p      Ã = A_rr − LA_pr      B̃ = A_rp + A_rr L − L(A_pp + A_pr L)
//! ```
//!
//! which is the same question with fewer states, until B̃ is zero. What states are measured in changes nothing: a number is
//! zero if it is 10⁻¹⁰ of those that it is a sum of. O(n³) for all.

use crate::dense::balancing;

/// What is left of a sum that cancels.
const NOTHING: f64 = 1e-10;

/// The number of states that inputs do not reach, and Ã of them, whose poles no feedback moves.
pub(super) fn unreached(n: usize, m: usize, a: &[f64], b: &[f64]) -> (usize, Vec<f64>) {
    let size = balancing(n, a);
    let mut pair = Pair {
        n,
        m,
        a: a.to_vec(),
        b: b.to_vec(),
        terms: b.iter().map(|x| x.abs()).collect(),
        size,
    };
    while pair.n > 0 && pair.reduce() {}
    (pair.n, pair.a)
}

/// A and B, the sums of the sizes of what B's elements are sums of, and the sizes of states by which pivots are chosen.
struct Pair {
    n: usize,
    m: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    terms: Vec<f64>,
    size: Vec<f64>,
}

impl Pair {
    /// To the states that are no pivots of B; false if B is zero.
    fn reduce(&mut self) -> bool {
        let (n, m) = (self.n, self.m);
        // L of all rows to the pivots found so far, by columns; what is left of B is swept along.
        let (mut pivots, mut l): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        let (mut b, mut terms) = (self.b.clone(), self.terms.clone());
        let mut is_pivot = vec![false; n];
        let heavy = |b: &[f64], j: usize| (0..n).map(|i| (b[i * m + j] / self.size[i]).abs()).fold(0.0, f64::max);
        let weights: Vec<f64> = (0..m).map(|j| heavy(&b, j)).collect();
        loop {
            for (b, terms) in b.iter_mut().zip(&terms) {
                if b.abs() <= NOTHING * terms {
                    *b = 0.0;
                }
            }
            let mut best = (0.0, 0, 0);
            for i in (0..n).filter(|i| !is_pivot[*i]) {
                for j in 0..m {
                    let x = b[i * m + j];
                    let weight = if x == 0.0 {
                        0.0
                    } else {
                        (x / self.size[i]).abs() / weights[j]
                    };
                    if weight > best.0 {
                        best = (weight, i, j);
                    }
                }
            }
            let (weight, p, column) = best;
            if weight == 0.0 {
                break;
            }
            is_pivot[p] = true;
            let row: Vec<f64> = b[p * m..(p + 1) * m].to_vec();
            let row_terms: Vec<f64> = terms[p * m..(p + 1) * m].to_vec();
            let ratios: Vec<f64> = (0..n)
                .map(|i| {
                    if is_pivot[i] {
                        0.0
                    } else {
                        b[i * m + column] / row[column]
                    }
                })
                .collect();
            for (i, ratio) in ratios.iter().enumerate().filter(|(_, ratio)| **ratio != 0.0) {
                for j in 0..m {
                    b[i * m + j] -= ratio * row[j];
                    terms[i * m + j] += ratio.abs() * row_terms[j];
                }
                b[i * m + column] = 0.0;
            }
            pivots.push(p);
            l.push(ratios);
        }
        if pivots.is_empty() {
            return false;
        }
        self.keep(&pivots, l, &is_pivot);
        true
    }

    /// Ã and B̃.
    fn keep(&mut self, pivots: &[usize], mut l: Vec<Vec<f64>>, is_pivot: &[bool]) {
        let (n, m) = (self.n, pivots.len());
        // A pivot's row was taken off by the rows of earlier ones before it was one.
        for k in (0..m).rev() {
            for later in k + 1..m {
                let through = core::mem::take(&mut l[k][pivots[later]]);
                if through != 0.0 {
                    let (before, after) = l.split_at_mut(later);
                    (before[k].iter_mut().zip(&after[0])).for_each(|(x, y)| *x -= through * y);
                }
            }
        }
        let rest: Vec<usize> = (0..n).filter(|i| !is_pivot[*i]).collect();
        // Columns of A[.., pivots] + A[.., rest] L, with the sizes of their terms.
        let (mut input, mut terms) = (vec![0.0; n * m], vec![0.0; n * m]);
        for i in 0..n {
            let row = &self.a[i * n..(i + 1) * n];
            for k in 0..m {
                let (mut sum, mut size) = (row[pivots[k]], row[pivots[k]].abs());
                for j in &rest {
                    let term = row[*j] * l[k][*j];
                    sum += term;
                    size += term.abs();
                }
                (input[i * m + k], terms[i * m + k]) = (sum, size);
            }
        }
        let small = rest.len();
        let (mut a, mut b, mut all) = (vec![0.0; small * small], vec![0.0; small * m], vec![0.0; small * m]);
        for (to, i) in rest.iter().enumerate() {
            for (column, j) in rest.iter().enumerate() {
                a[to * small + column] = self.a[i * n + j];
            }
            b[to * m..(to + 1) * m].copy_from_slice(&input[i * m..(i + 1) * m]);
            all[to * m..(to + 1) * m].copy_from_slice(&terms[i * m..(i + 1) * m]);
            for (k, p) in pivots.iter().enumerate() {
                let ratio = l[k][*i];
                if ratio == 0.0 {
                    continue;
                }
                for (column, j) in rest.iter().enumerate() {
                    a[to * small + column] -= ratio * self.a[p * n + j];
                }
                for column in 0..m {
                    b[to * m + column] -= ratio * input[p * m + column];
                    all[to * m + column] += ratio.abs() * terms[p * m + column];
                }
            }
        }
        let size = rest.iter().map(|i| self.size[*i]).collect();
        (self.n, self.m) = (small, m);
        (self.a, self.b, self.terms, self.size) = (a, b, all, size);
    }
}
