//! How articulated inertias change.

use super::{Articulated, ArticulatedAboutZ, Force, Motion};
use crate::scalar::Scalar;

impl<S: Scalar> Articulated<S> {
    /// crf(Δ)P − P crm(Δ): what a motion Δ of its frame makes of an inertia that stays where it is.
    #[inline(always)]
    pub(crate) fn carried_by(&self, delta: Motion<S>) -> Self {
        let mut x = [[S::ZERO; 6]; 6];
        for j in 0..6 {
            x[j] = delta.cross_force(Force::from_array(self.column(j))).to_array();
        }
        Self::from_halves(&x)
    }

    /// Adds crf(Δ)P − P crm(Δ), Δ a turn about z.
    #[inline(always)]
    pub(crate) fn add_turned(&mut self, p: &Self, rate: S) {
        let turned = |x: S| (x + x) * rate;
        for (own, p) in [(&mut self.a, &p.a), (&mut self.c, &p.c)] {
            let twice = turned(p[1]);
            own[0] -= twice;
            own[1] = rate.mul_add(p[0] - p[3], own[1]);
            own[2] = (-rate).mul_add(p[4], own[2]);
            own[3] += twice;
            own[4] = rate.mul_add(p[2], own[4]);
        }
        let (own, p) = (&mut self.b, &p.b);
        let (sum, difference) = ((p[0][1] + p[1][0]) * rate, (p[0][0] - p[1][1]) * rate);
        own[0][0] -= sum;
        own[1][1] += sum;
        own[0][1] += difference;
        own[1][0] += difference;
        own[0][2] = (-rate).mul_add(p[1][2], own[0][2]);
        own[1][2] = rate.mul_add(p[0][2], own[1][2]);
        own[2][0] = (-rate).mul_add(p[2][1], own[2][0]);
        own[2][1] = rate.mul_add(p[2][0], own[2][1]);
    }

    /// Adds crf(Δ)P − P crm(Δ), Δ a slide along z.
    #[inline(always)]
    pub(crate) fn add_slid(&mut self, p: &Self, rate: S) {
        let (b, c, twice) = (&p.b, &p.c, rate + rate);
        self.a[0] = (-twice).mul_add(b[0][1], self.a[0]);
        self.a[1] = rate.mul_add(b[0][0] - b[1][1], self.a[1]);
        self.a[2] = (-rate).mul_add(b[2][1], self.a[2]);
        self.a[3] = twice.mul_add(b[1][0], self.a[3]);
        self.a[4] = rate.mul_add(b[2][0], self.a[4]);
        let rows = [[c[0], c[1], c[2]], [c[1], c[3], c[4]]];
        for j in 0..3 {
            self.b[0][j] = (-rate).mul_add(rows[1][j], self.b[0][j]);
            self.b[1][j] = rate.mul_add(rows[0][j], self.b[1][j]);
        }
    }

    /// X + X*, X given by columns.
    #[inline(always)]
    fn from_halves(x: &[[S; 6]; 6]) -> Self {
        let mut sum = Self::ZERO;
        let mut n = 0;
        for i in 0..3 {
            for j in i..3 {
                sum.a[n] = x[i][j] + x[j][i];
                sum.c[n] = x[i + 3][j + 3] + x[j + 3][i + 3];
                n += 1;
            }
            for j in 0..3 {
                sum.b[i][j] = x[i][j + 3] + x[j + 3][i];
            }
        }
        sum
    }

    /// P − g v* − v g*.
    #[inline(always)]
    pub(crate) fn subtract_both(&mut self, g: &[S; 6], v: &[S; 6]) {
        let less = |i: usize, j: usize, p: S| (-g[i]).mul_add(v[j], (-v[i]).mul_add(g[j], p));
        let mut n = 0;
        for i in 0..3 {
            for j in i..3 {
                self.a[n] = less(i, j, self.a[n]);
                self.c[n] = less(i + 3, j + 3, self.c[n]);
                n += 1;
            }
            for j in 0..3 {
                self.b[i][j] = less(i, j + 3, self.b[i][j]);
            }
        }
    }
}

impl<S: Scalar> ArticulatedAboutZ<S> {
    /// Behind a revolute joint about z, from P⁺ and Ṗ:  τ̄Ṗτ̄* + crf(Δ)P⁺ − P⁺crm(Δ). It stays free about z.
    ///
    /// With u̇ = Ṗe_z and ḋ = e_z·u̇ the first term is Ṗ − gv* − vg*, v = u̇ − ½ḋg; the others turn P⁺ about z.
    #[inline(always)]
    pub(crate) fn rate(&self, p_rate: &Articulated<S>, g: &[S; 6], qd: S) -> Self {
        let (a, b, c) = (&p_rate.a, &p_rate.b, &p_rate.c);
        let less_half = -(S::lift(0.5) * a[5]);
        // Without the third, which is not kept.
        let v = [
            less_half.mul_add(g[0], a[2]),
            less_half.mul_add(g[1], a[4]),
            S::ZERO,
            less_half.mul_add(g[3], b[2][0]),
            less_half.mul_add(g[4], b[2][1]),
            less_half.mul_add(g[5], b[2][2]),
        ];
        let less = |i: usize, j: usize, p: S| (-g[i]).mul_add(v[j], (-v[i]).mul_add(g[j], p));
        let twice = |i: usize, p: S| (-(g[i] + g[i])).mul_add(v[i], p);
        let p = self;
        let turned_a = (p.a[1] + p.a[1]) * qd;
        let turned_b = (p.b[0][1] + p.b[1][0]) * qd;
        let shear_b = (p.b[0][0] - p.b[1][1]) * qd;
        let turned_c = (p.c[1] + p.c[1]) * qd;
        Self {
            a: [
                twice(0, a[0] - turned_a),
                less(0, 1, qd.mul_add(p.a[0] - p.a[2], a[1])),
                twice(1, a[3] + turned_a),
            ],
            b: [
                [
                    less(0, 3, b[0][0] - turned_b),
                    less(0, 4, b[0][1] + shear_b),
                    less(0, 5, (-qd).mul_add(p.b[1][2], b[0][2])),
                ],
                [
                    less(1, 3, b[1][0] + shear_b),
                    less(1, 4, b[1][1] + turned_b),
                    less(1, 5, qd.mul_add(p.b[0][2], b[1][2])),
                ],
            ],
            c: [
                twice(3, c[0] - turned_c),
                less(3, 4, qd.mul_add(p.c[0] - p.c[3], c[1])),
                less(3, 5, (-qd).mul_add(p.c[4], c[2])),
                twice(4, c[3] + turned_c),
                less(4, 5, qd.mul_add(p.c[2], c[4])),
                twice(5, c[5]),
            ],
        }
    }
}
