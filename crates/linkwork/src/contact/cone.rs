//! The laws of one contact: which impulse answers a relative velocity.
//!
//! With y = −R⁻¹(Jv − v̂), R = diag(R_n, R_t, …), the impulse γ = P(y) is the projection onto a cone ‖γ_t‖ ≤ μγ_n in the norm of R,
//! or onto a bound ‖γ_t‖ ≤ b that is held while γ_n ≥ 0.

/// The most rows of a contact: normal, two of sliding, one of torsion, two of rolling.
pub(super) const ROWS: usize = 6;

/// Numbers per row, the normal one first.
pub(super) type Rows = [f64; ROWS];

/// What a contact is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Region {
    /// No impulse.
    #[default]
    Apart,
    /// Held in place.
    Sticking,
    /// The impulse is on the edge of the cone.
    Sliding,
}

/// How friction is bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Law {
    /// ‖γ_t‖ ≤ μγ_n.
    Cone,
    /// ‖γ_t‖ ≤ b.
    Bound(f64),
    /// Held whatever it takes, γ = y: a guess.
    Stick,
    /// Slides along y whatever it takes, ‖γ_t‖ = μy_n, turning as with this bound: a guess.
    Slide(f64),
    /// ‖γ_t‖ ≤ μγ_n, and γ_n as if there were no friction: no projection, and G is not symmetric.
    Coulomb,
}

/// One contact's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cone {
    pub(super) rows: usize,
    pub(super) mu: f64,
    pub(super) r_n: f64,
    pub(super) r_t: f64,
}

/// G = ∂γ/∂y R⁻¹ of a contact: G_nn, G_tn = `coupled` t, G_tt = `across` I + `along` tt*, with t the direction of sliding; by Coulomb's
/// law also `drag` t in G_tn alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weight {
    pub(super) normal: f64,
    pub(super) coupled: f64,
    pub(super) across: f64,
    pub(super) along: f64,
    pub(super) drag: f64,
    pub(super) t: Rows,
}

impl Weight {
    /// Whether there is none.
    #[inline(always)]
    pub(super) fn is_none(&self) -> bool {
        self.normal == 0.0 && self.across == 0.0 && self.along == 0.0
    }

    /// Gx, of the rows that there are.
    #[inline(always)]
    pub(super) fn times(&self, rows: usize, x: &Rows) -> Rows {
        let mut out = [0.0; ROWS];
        let mut slid = 0.0;
        for i in 1..rows {
            slid += self.t[i] * x[i];
        }
        out[0] = self.normal * x[0] + self.coupled * slid;
        let pull = (self.coupled + self.drag) * x[0] + self.along * slid;
        for i in 1..rows {
            out[i] = self.across * x[i] + pull * self.t[i];
        }
        out
    }

    /// As a matrix, row by row.
    pub(super) fn matrix(&self, rows: usize) -> [Rows; ROWS] {
        let mut g = [[0.0; ROWS]; ROWS];
        for j in 0..rows {
            let mut unit = [0.0; ROWS];
            unit[j] = 1.0;
            let column = self.times(rows, &unit);
            (0..rows).for_each(|i| g[i][j] = column[i]);
        }
        g
    }
}

impl Cone {
    /// y for a relative velocity.
    #[inline(always)]
    pub(super) fn pull(&self, u: &Rows, v_hat: &Rows) -> Rows {
        let mut y = [0.0; ROWS];
        y[0] = -(u[0] - v_hat[0]) / self.r_n;
        for i in 1..self.rows {
            y[i] = -(u[i] - v_hat[i]) / self.r_t;
        }
        y
    }

    #[inline(always)]
    fn slide(&self, y: &Rows) -> f64 {
        let mut sum = 0.0;
        for x in &y[1..self.rows] {
            sum += x * x;
        }
        sum.sqrt()
    }

    /// What bounds friction, where γ_n is known.
    #[inline(always)]
    fn bound(&self, law: Law, gamma: &Rows) -> f64 {
        match law {
            Law::Bound(b) | Law::Slide(b) => b,
            Law::Cone | Law::Coulomb | Law::Stick => self.mu * gamma[0],
        }
    }

    /// γ = P(y), and the region it is in.
    #[inline(always)]
    pub(super) fn project(&self, law: Law, y: &Rows) -> (Rows, Region) {
        let (y_r, y_n) = (self.slide(y), y[0]);
        let mut gamma = *y;
        match law {
            Law::Stick => (gamma, Region::Sticking),
            Law::Slide(_) => {
                let scale = self.mu * y_n / y_r;
                gamma[1..self.rows].iter_mut().for_each(|x| *x *= scale);
                (gamma, Region::Sliding)
            }
            Law::Cone => {
                let mu_hat = self.mu * self.r_t / self.r_n;
                if y_n <= -mu_hat * y_r {
                    return ([0.0; ROWS], Region::Apart);
                }
                if y_r <= self.mu * y_n {
                    return (gamma, Region::Sticking);
                }
                gamma[0] = (y_n + mu_hat * y_r) / (1.0 + self.mu * mu_hat);
                let scale = self.mu * gamma[0] / y_r;
                gamma[1..self.rows].iter_mut().for_each(|x| *x *= scale);
                (gamma, Region::Sliding)
            }
            Law::Bound(_) | Law::Coulomb => {
                gamma[0] = y_n.max(0.0);
                let b = self.bound(law, &gamma);
                let inside = y_r <= b;
                if !inside {
                    let scale = b / y_r;
                    gamma[1..self.rows].iter_mut().for_each(|x| *x *= scale);
                }
                let region = match (gamma[0] > 0.0 || b > 0.0, inside) {
                    (false, _) => Region::Apart,
                    (true, true) => Region::Sticking,
                    (true, false) => Region::Sliding,
                };
                (gamma, region)
            }
        }
    }

    /// G at y, whose projection is known.
    #[inline(always)]
    pub(super) fn weight(&self, law: Law, y: &Rows, (gamma, region): (&Rows, Region)) -> Weight {
        let (n_inv, t_inv) = (1.0 / self.r_n, 1.0 / self.r_t);
        let slides = match law {
            Law::Cone => region == Region::Sliding,
            Law::Coulomb if y[0] <= 0.0 => return Weight::default(),
            Law::Stick => false,
            Law::Slide(_) => true,
            // Apart, friction of a bound of zero has no direction that matters.
            Law::Bound(_) | Law::Coulomb => self.slide(y) > self.bound(law, gamma),
        };
        let mut weight = Weight {
            normal: n_inv,
            across: t_inv,
            ..Weight::default()
        };
        if slides {
            let y_r = self.slide(y);
            for i in 1..self.rows {
                weight.t[i] = y[i] / y_r;
            }
            match law {
                Law::Cone => {
                    let mu_hat = self.mu * self.r_t / self.r_n;
                    let c = 1.0 + self.mu * mu_hat;
                    weight.normal = n_inv / c;
                    weight.coupled = self.mu / c * n_inv;
                    weight.across = self.mu * gamma[0] / y_r * t_inv;
                    weight.along = self.mu * mu_hat / c * t_inv - weight.across;
                }
                Law::Bound(_) | Law::Coulomb | Law::Stick | Law::Slide(_) => {
                    weight.across = self.bound(law, gamma) / y_r * t_inv;
                    weight.along = -weight.across;
                }
            }
        }
        match law {
            Law::Cone if region == Region::Apart => return Weight::default(),
            Law::Bound(_) if y[0] <= 0.0 => weight.normal = 0.0,
            Law::Coulomb | Law::Slide(_) if slides => weight.drag = self.mu * n_inv,
            _ => {}
        }
        weight
    }

    /// ½‖y‖²_R − ½‖y − P(y)‖²_R.
    pub(super) fn energy(&self, law: Law, y: &Rows) -> f64 {
        let (gamma, _) = self.project(law, y);
        let term = |i: usize| {
            let r = if i == 0 { self.r_n } else { self.r_t };
            0.5 * r * (y[i] * y[i] - (y[i] - gamma[i]).powi(2))
        };
        (0..self.rows).map(term).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{Cone, Law, ROWS, Region};

    /// Numbers of both signs, of some spread.
    fn numbers(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }

    #[test]
    fn the_impulse_is_the_nearest_point_of_the_cone() {
        let mut seed = 1;
        for _ in 0..2000 {
            let cone = Cone {
                rows: 3,
                mu: numbers(&mut seed).abs(),
                r_n: 0.1 + numbers(&mut seed).abs(),
                r_t: 0.1 + numbers(&mut seed).abs(),
            };
            let mut y = [0.0; ROWS];
            (0..3).for_each(|i| y[i] = numbers(&mut seed));
            let (gamma, region) = cone.project(Law::Cone, &y);
            // In the cone, and the rest y − γ in its polar: it pulls along no direction of the cone.
            let slide = gamma[1].hypot(gamma[2]);
            assert!(slide <= cone.mu * gamma[0] + 1e-12 && gamma[0] >= 0.0, "{region:?}");
            let rest = [
                cone.r_n * (y[0] - gamma[0]),
                cone.r_t * (y[1] - gamma[1]),
                cone.r_t * (y[2] - gamma[2]),
            ];
            let along: f64 = (0..3).map(|i| rest[i] * gamma[i]).sum();
            assert!(along.abs() < 1e-12, "{along}");
            assert!(rest[0] + cone.mu * rest[1].hypot(rest[2]) <= 1e-12);
        }
    }

    #[test]
    fn the_weight_is_the_derivative_of_the_impulse() {
        let mut seed = 2;
        for _ in 0..2000 {
            let cone = Cone {
                rows: 5,
                mu: numbers(&mut seed).abs(),
                r_n: 0.1 + numbers(&mut seed).abs(),
                r_t: 0.1 + numbers(&mut seed).abs(),
            };
            let mut y = [0.0; ROWS];
            (0..5).for_each(|i| y[i] = numbers(&mut seed));
            for law in [Law::Cone, Law::Bound(0.3), Law::Coulomb] {
                let (gamma, region) = cone.project(law, &y);
                let g = cone.weight(law, &y, (&gamma, region)).matrix(5);
                for j in 0..5 {
                    let r = if j == 0 { cone.r_n } else { cone.r_t };
                    let h = 1e-7;
                    let [ahead, behind] = [h, -h].map(|h| {
                        let mut moved = y;
                        moved[j] += h;
                        cone.project(law, &moved)
                    });
                    if ahead.1 != behind.1 || (y[0].abs() < 1e-6) {
                        continue;
                    }
                    for i in 0..5 {
                        let slope = (ahead.0[i] - behind.0[i]) / (2.0 * h) / r;
                        assert!((slope - g[i][j]).abs() < 1e-5, "{law:?} {i} {j}: {slope} {}", g[i][j]);
                        assert!(law == Law::Coulomb || (g[i][j] - g[j][i]).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn without_friction_nothing_pulls() {
        let cone = Cone {
            rows: 3,
            mu: 0.0,
            r_n: 1.0,
            r_t: 1.0,
        };
        let (gamma, region) = cone.project(Law::Cone, &[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!((gamma, region), ([0.0; ROWS], Region::Apart));
    }
}
