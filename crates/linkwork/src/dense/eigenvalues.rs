//! Eigenvalues of a real matrix: split into groups of states that act on each other, balanced, brought to Hessenberg form by
//! reflections, then QR steps of two conjugate shifts at once, in real numbers all along.

use super::francis;
use crate::{Error, Result};

/// A complex number: a pole, an eigenvalue of A.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pole {
    /// The real part: growth, in 1/s for a continuous model.
    pub re: f64,
    /// The imaginary part, in rad/s for a continuous model.
    pub im: f64,
}

impl Pole {
    /// Its size: of a continuous model's pole, the natural frequency in rad/s.
    pub fn size(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// The damping ratio −re/|pole| of a continuous model's pole: 1 where nothing oscillates, 0 without damping, negative
    /// where motions grow. Zero at the origin.
    pub fn damping(self) -> f64 {
        let size = self.size();
        if size == 0.0 { 0.0 } else { -self.re / size }
    }
}

/// The eigenvalues of an n × n matrix, those of the largest real part first, then those nearest to the axis; the members of
/// a pair side by side and exactly conjugate, that above the axis first.
pub(crate) fn of(n: usize, a: &[f64]) -> Result<Vec<Pole>> {
    if a.len() != n * n {
        return Err(Error::Length {
            argument: "a",
            needed: n * n,
            given: a.len(),
        });
    }
    if let Some(x) = a.iter().find(|x| !x.is_finite()) {
        return Err(unsolved(format!("A has a number {x}; give finite ones")));
    }
    // By a power of two, so that squares neither vanish nor overflow.
    let size = a.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let scale = if size > 0.0 {
        size.log2().round().clamp(-1000.0, 1000.0).exp2()
    } else {
        1.0
    };
    let mut upper = Vec::with_capacity(n);
    for members in components(n, a) {
        let k = members.len();
        let element = |i: usize| a[members[i / k] * n + members[i % k]] / scale;
        let mut h: Vec<f64> = (0..k * k).map(element).collect();
        balance(k, &mut h);
        hessenberg(k, &mut h);
        let poles = francis::upper_half(k, &mut h);
        upper.extend(poles.ok_or_else(|| {
            unsolved("QR steps do not settle; look for huge and tiny numbers side by side in A".into())
        })?);
    }
    for pole in &mut upper {
        // No negative zeros.
        (pole.re, pole.im) = (pole.re * scale + 0.0, pole.im * scale);
        if !(pole.re.is_finite() && pole.im.is_finite()) {
            return Err(unsolved("some are beyond all numbers; take other units".into()));
        }
    }
    upper.sort_by(|a, b| b.re.total_cmp(&a.re).then(a.im.total_cmp(&b.im)));
    let mut poles = Vec::with_capacity(n);
    for pole in upper {
        poles.push(pole);
        if pole.im > 0.0 {
            poles.push(Pole { im: -pole.im, ..pole });
        }
    }
    Ok(poles)
}

fn unsolved(problem: String) -> Error {
    Error::Unsolved {
        what: "the poles",
        problem,
    }
}

/// States that act on each other, directly or by way of others. Listed in a fitting order they make A block triangular, so
/// that each group has its own eigenvalues: those of states that nothing leads back to are exact.
///
/// First every state is followed to all that it leads to, and noted when it is left; then, from the last noted, all that lead
/// to it and are still without a group have their way back from it too.
fn components(n: usize, a: &[f64]) -> Vec<Vec<usize>> {
    let (mut left, mut seen) = (Vec::with_capacity(n), vec![false; n]);
    for root in 0..n {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        let mut path = vec![(root, 0)];
        while let Some((i, from)) = path.pop() {
            match (from..n).find(|j| !seen[*j] && a[i * n + j] != 0.0) {
                Some(j) => {
                    seen[j] = true;
                    path.extend([(i, j + 1), (j, 0)]);
                }
                None => left.push(i),
            }
        }
    }
    let mut groups = Vec::new();
    for root in left.into_iter().rev() {
        if !seen[root] {
            continue;
        }
        seen[root] = false;
        let (mut group, mut done) = (vec![root], 0);
        while done < group.len() {
            let i = group[done];
            for j in 0..n {
                if seen[j] && a[j * n + i] != 0.0 {
                    seen[j] = false;
                    group.push(j);
                }
            }
            done += 1;
        }
        group.sort_unstable();
        groups.push(group);
    }
    groups
}

/// The units of states, powers of two, in which rows and columns of A weigh alike.
pub(crate) fn balancing(n: usize, a: &[f64]) -> Vec<f64> {
    balance(n, &mut a.to_vec())
}

/// Scales rows and columns by powers of two until both weigh alike: AᵢⱼDⱼ/Dᵢ. Gives D.
fn balance(n: usize, a: &mut [f64]) -> Vec<f64> {
    let mut units = vec![1.0; n];
    // By squares of what is left of the diagonal, relative to the largest: tiny elements then do not sum up to a large one.
    let size = |x: &dyn Fn(usize) -> f64, i: usize| {
        let others = || (0..n).filter(|j| *j != i).map(|j| x(j).abs());
        let most = others().fold(0.0, f64::max);
        if most == 0.0 {
            return 0.0;
        }
        most * others().map(|x| (x / most) * (x / most)).sum::<f64>().sqrt()
    };
    for _ in 0..30 {
        let mut settled = true;
        for i in 0..n {
            let (row, column) = (size(&|j| a[i * n + j], i), size(&|j| a[j * n + i], i));
            if row == 0.0 || column == 0.0 {
                continue;
            }
            let scale = (0.5 * (row / column).log2()).round().clamp(-500.0, 500.0).exp2();
            if scale == 1.0 || column * scale + row / scale > 0.95 * (column + row) {
                continue;
            }
            settled = false;
            units[i] *= scale;
            for j in 0..n {
                a[i * n + j] /= scale;
                a[j * n + i] *= scale;
            }
        }
        if settled {
            break;
        }
    }
    units
}

/// Q*AQ with zeros below the first subdiagonal, by reflections I − vv* of all rows and columns below the k-th.
fn hessenberg(n: usize, a: &mut [f64]) {
    let mut along = vec![0.0; n];
    for k in 0..n.saturating_sub(2) {
        let mut v: Vec<f64> = (k + 1..n).map(|i| a[i * n + k]).collect();
        if v[1..].iter().all(|x| *x == 0.0) {
            continue;
        }
        let size = v.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        v.iter_mut().for_each(|x| *x /= size);
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let first = if v[0] > 0.0 { -norm } else { norm };
        v[0] -= first;
        // v*v = 2 norm |v₀|, to become 2.
        let scale = 1.0 / (norm * v[0].abs()).sqrt();
        v.iter_mut().for_each(|x| *x *= scale);
        let (above, below) = a.split_at_mut((k + 1) * n);
        along.fill(0.0);
        for (v, row) in v.iter().zip(below.chunks(n)) {
            (along[k + 1..].iter_mut().zip(&row[k + 1..])).for_each(|(sum, x)| *sum += v * x);
        }
        for (v, row) in v.iter().zip(below.chunks_mut(n)) {
            (row[k + 1..].iter_mut().zip(&along[k + 1..])).for_each(|(x, sum)| *x -= v * sum);
            row[k] = 0.0;
        }
        below[k] = first * size;
        for row in above.chunks_mut(n).chain(below.chunks_mut(n)) {
            let along: f64 = v.iter().zip(&row[k + 1..]).map(|(v, x)| v * x).sum();
            v.iter().zip(&mut row[k + 1..]).for_each(|(v, x)| *x -= along * v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_of_a_companion_matrix_are_the_roots() {
        // (x − 1)(x − 2)(x + 3)(x² + 2x + 5): 1, 2, −3, −1 ± 2i.
        let c = [-30.0, 23.0, 8.0, 2.0, -2.0];
        let mut a = vec![0.0; 25];
        for i in 0..5 {
            a[i * 5 + 4] = c[i];
            if i > 0 {
                a[i * 5 + i - 1] = 1.0;
            }
        }
        let poles = of(5, &a).unwrap();
        let roots = [(2.0, 0.0), (1.0, 0.0), (-1.0, 2.0), (-1.0, -2.0), (-3.0, 0.0)];
        assert_eq!(poles.len(), 5);
        for (pole, (re, im)) in poles.iter().zip(roots) {
            assert!((pole.re - re).hypot(pole.im - im) < 1e-12, "{poles:?}");
        }
    }

    #[test]
    fn a_turning_block_has_poles_on_the_axis_and_defective_ones_are_found() {
        let poles = of(
            4,
            &[
                0.0, 2.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0,
            ],
        )
        .unwrap();
        let near = |re: f64, im: f64| poles.iter().any(|p| (p.re - re).hypot(p.im - im) < 1e-12);
        assert!(near(0.0, 2.0) && near(0.0, -2.0) && near(0.0, 0.0), "{poles:?}");
        assert!(of(0, &[]).unwrap().is_empty());
    }

    #[test]
    fn eigenvalues_have_the_scale_of_their_matrix() {
        for scale in [1e-300, 1e-200, 1e-30, 1e30, 1e200, 1e300] {
            let a = [1.0, 2.0, 0.0, -2.0, 1.0, 0.5, 0.0, 0.3, 4.0];
            let poles = of(3, &a.map(|x| scale * x)).unwrap();
            for (got, expect) in poles.iter().zip(of(3, &a).unwrap()) {
                let (re, im) = (got.re / scale - expect.re, got.im / scale - expect.im);
                let near = re.hypot(im) < 1e-13;
                assert!(near, "{scale}: {got:?} {expect:?}");
            }
        }
        assert!(of(1, &[f64::NAN]).is_err() && of(2, &[1.0]).is_err());
    }
}
