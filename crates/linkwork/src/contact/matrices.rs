//! The matrices of a step's derivatives.

use super::impulse_matrix::{AddImpulses, Parts};
use super::step_derivatives::ContactDerivatives;
use crate::workspace::Derivatives;
use crate::{Error, Result};

crate::functions! {
    /// `out` = AB, n × n each.
    fn Product((n, a, b, out): (usize, &[f64], &[f64], &mut [f64])) -> () {
        out.fill(0.0);
        for i in 0..n {
            let out = &mut out[i * n..(i + 1) * n];
            for k in 0..n {
                let (weight, b) = (a[i * n + k], &b[k * n..(k + 1) * n]);
                for (out, b) in out.iter_mut().zip(b) {
                    *out = weight.mul_add(*b, *out);
                }
            }
        }
    }
}

impl ContactDerivatives<'_> {
    /// ∂v⁺/∂q, ∂v⁺/∂v and ∂v⁺/∂T, nv × nv each, row by row: 𝓐⁻¹ in O(n²), and its products with how the equations change.
    pub fn matrices(&mut self, by_q: &mut [f64], by_v: &mut [f64], by_torque: &mut [f64]) -> Result<()> {
        let (nv, dt) = (self.v.len(), self.work.settings.step);
        for (argument, given) in [
            ("by_q", by_q.len()),
            ("by_v", by_v.len()),
            ("by_torque", by_torque.len()),
        ] {
            if given != nv * nv {
                return Err(Error::Length {
                    argument,
                    needed: nv * nv,
                    given,
                });
            }
        }
        let mut inverse: Derivatives = self.m.derivatives();
        self.posed
            .moving(&self.v)?
            .linearized(&self.acceleration)?
            .inverse_derivatives(&mut inverse)?;
        let mass = inverse.by_input();
        // −F_q, and −F_v: 𝓜 and, of a free root, Δt𝓜 times how x changes.
        let mut changes: [Vec<f64>; 2] = [
            inverse.by_q().iter().map(|x| -dt * x).collect(),
            mass.iter().zip(inverse.by_qd()).map(|(m, x)| m - dt * x).collect(),
        ];
        let tied = !self.ties.is_empty();
        if !tied {
            self.add_impulse_matrix(&mut changes[0]);
        }
        let [mut column, mut unit, mut turned] = [(); 3].map(|()| vec![0.0; nv]);
        for j in 0..nv {
            unit[j] = 1.0;
            column.fill(0.0);
            if tied {
                self.add_impulses([Some(&unit), None], None, &mut column);
            }
            column[j] -= self.springs[j];
            self.turns.iter().for_each(|turn| turn.add(false, &unit, &mut column));
            add(&column, &mut changes[0], j);
            column.fill(0.0);
            self.add_impulses([None, Some(&unit)], None, &mut column);
            turned.fill(0.0);
            for root in &self.work.roots {
                root.turn_change(&self.v, &unit, &mut turned);
            }
            for (k, x) in turned.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                for i in 0..nv {
                    column[i] += dt * x * mass[i * nv + k];
                }
            }
            add(&column, &mut changes[1], j);
            unit[j] = 0.0;
        }
        if tied {
            // So stiff that each solution is refined.
            for (from, to) in changes.iter().zip([&mut *by_q, &mut *by_v]) {
                for j in 0..nv {
                    for i in 0..nv {
                        column[i] = from[i * nv + j];
                    }
                    self.solve(&mut column);
                    put(&column, to, j);
                }
            }
        }
        for j in 0..nv {
            column.fill(0.0);
            column[j] = 1.0;
            self.solve(&mut column);
            put(&column, by_torque, j);
        }
        if !tied {
            for (from, to) in changes.iter().zip([by_q, by_v]) {
                self.posed.call(Product, (nv, &*by_torque, &from[..], to));
            }
        }
        by_torque.iter_mut().for_each(|x| *x *= dt);
        Ok(())
    }

    /// Adds how J*γ of contacts changes with q.
    fn add_impulse_matrix(&mut self, out: &mut [f64]) {
        let m = &self.m.compiled;
        let users: Vec<_> = (0..m.nv).map(|v| self.posed.follows(v)).collect();
        let (world, wide) = self.posed.world();
        let parts = Parts {
            m,
            world,
            touching: &self.touching,
            velocities: &self.velocities,
            totals: &self.totals,
            users: &users,
            n: self.v.len(),
        };
        wide.call(AddImpulses, (&parts, out));
    }
}

fn put(column: &[f64], matrix: &mut [f64], j: usize) {
    for (row, x) in matrix.chunks_mut(column.len()).zip(column) {
        row[j] = *x;
    }
}

fn add(column: &[f64], matrix: &mut [f64], j: usize) {
    for (row, x) in matrix.chunks_mut(column.len()).zip(column) {
        row[j] += *x;
    }
}
