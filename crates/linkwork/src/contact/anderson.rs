//! Anderson mixing: a fixed point x = g(x) from a few of the last trials.

/// How many trials are mixed.
const DEPTH: usize = 3;

/// The last trials and what was left of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Mixing {
    trials: Vec<Vec<f64>>,
    rests: Vec<Vec<f64>>,
    count: usize,
}

impl Mixing {
    /// Forgets.
    pub(super) fn restart(&mut self) {
        self.count = 0;
    }

    /// Replaces x by the next trial, none of its numbers negative, given g(x).
    pub(super) fn advance(&mut self, x: &mut [f64], g: &[f64]) {
        let n = x.len();
        let slots = DEPTH + 1;
        self.trials.resize(slots, Vec::new());
        self.rests.resize(slots, Vec::new());
        let now = self.count % slots;
        self.trials[now].clear();
        self.trials[now].extend_from_slice(x);
        self.rests[now].clear();
        self.rests[now].extend(g.iter().zip(x.iter()).map(|(g, x)| g - x));
        self.count += 1;
        let depth = (self.count - 1).min(DEPTH);
        // min ‖f − Σθ(f − f_before)‖ by normal equations with a trace of damping.
        let before = |j: usize| (now + slots - 1 - j) % slots;
        let rest = &self.rests[now];
        let change = |j: usize, i: usize| rest[i] - self.rests[before(j)][i];
        let mut a = [[0.0; DEPTH + 1]; DEPTH];
        let mut trace = 0.0;
        for r in 0..depth {
            for c in 0..depth {
                a[r][c] = (0..n).map(|i| change(r, i) * change(c, i)).sum();
            }
            a[r][DEPTH] = (0..n).map(|i| change(r, i) * rest[i]).sum();
            trace += a[r][r];
        }
        let mut theta = [0.0; DEPTH];
        if trace > 0.0 {
            for r in 0..depth {
                a[r][r] += 1e-12 * trace;
            }
            for c in 0..depth {
                let best = (c..depth).fold(c, |best, r| if a[r][c].abs() > a[best][c].abs() { r } else { best });
                a.swap(c, best);
                if a[c][c] == 0.0 {
                    continue;
                }
                for r in 0..depth {
                    if r == c {
                        continue;
                    }
                    let factor = a[r][c] / a[c][c];
                    for k in c..=DEPTH {
                        a[r][k] -= factor * a[c][k];
                    }
                }
            }
            for r in 0..depth {
                theta[r] = if a[r][r] == 0.0 { 0.0 } else { a[r][DEPTH] / a[r][r] };
            }
        }
        for i in 0..n {
            let mut next = x[i] + rest[i];
            for j in 0..depth {
                let moved = self.trials[now][i] - self.trials[before(j)][i];
                next -= theta[j] * (moved + change(j, i));
            }
            x[i] = if next.is_finite() { next.max(0.0) } else { g[i].max(0.0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mixing;

    #[test]
    fn a_linear_map_that_plain_repetition_diverges_on_is_solved() {
        let map = |x: &[f64]| vec![1.0 + 0.4 * x[1], 5.0 - 1.5 * x[0] - 0.3 * x[1]];
        let (mut x, mut mixing) = (vec![0.0, 0.0], Mixing::default());
        for _ in 0..12 {
            let g = map(&x);
            mixing.advance(&mut x, &g);
        }
        let g = map(&x);
        assert!(x.iter().zip(&g).all(|(x, g)| (x - g).abs() < 1e-8), "{x:?} {g:?}");
    }
}
