//! Springs, dampers and torques that fall as velocities grow, all implicit.

use super::step::{State, Work};
use crate::Result;

impl Work {
    /// What springs and dampers are at a configuration: T with the springs' part, and what 𝓐₀ adds to 𝓜.
    pub(super) fn passive(&mut self, given: &State<'_>) -> Result<()> {
        if !self.settings.passive {
            self.newton.diagonal.fill(0.0);
            return Ok(());
        }
        let (passive, dt) = (&given.m.passive, self.settings.step);
        for &[q, v] in &self.springs {
            self.torque[v] -= passive.stiffness[v] * (given.q[q] - passive.rest[q]);
        }
        if self.curved_springs {
            let away = &mut self.room[..given.v.len()];
            given.m.difference(&passive.rest, given.q, away)?;
            for &[_, v] in &self.springs {
                away[v] = 0.0;
            }
            for ((torque, away), k) in self.torque.iter_mut().zip(away).zip(&passive.stiffness) {
                *torque -= k * *away;
            }
        }
        let diagonal = &mut self.newton.diagonal;
        for ((a, d), k) in diagonal.iter_mut().zip(&passive.damping).zip(&passive.stiffness) {
            *a = dt * (d + dt * k);
        }
        for follower in &passive.followers {
            let [at, to] = follower.leader;
            let [q, slope, ..] = follower.follower.at(given.q[at]);
            self.torque[to] -= slope * follower.stiffness * (q - follower.rest);
            diagonal[to] += slope * slope * dt * (follower.damping + dt * follower.stiffness);
        }
        Ok(())
    }

    /// T + Rv − Rv⁺.
    pub(super) fn resist(&mut self, given: &State<'_>) {
        for root in self.roots.iter().filter(|root| root.alone) {
            self.resistance[root.v..root.v + 6].fill(0.0);
        }
        let dt = self.settings.step;
        let diagonal = self.newton.diagonal.iter_mut().zip(&mut self.torque);
        for ((a, torque), (r, v)) in diagonal.zip(self.resistance.iter().zip(given.v)) {
            if *r > 0.0 {
                *a += dt * r;
                *torque += r * v;
            }
        }
    }
}
