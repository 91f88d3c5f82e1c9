//! How a mechanism would move without contacts.

use super::operator::Operator;
use super::step::{State, TURNS, Work};
use crate::Result;
use crate::spatial::Motion;

impl Work {
    /// v* = v + 𝓐₀⁻¹ of what drives, where it is needed; single free bodies turn by themselves.
    pub(super) async fn free_velocity(&mut self, given: &State<'_>, a: &mut impl Operator) -> Result<()> {
        if self.knows_free && !self.all_alone() {
            a.factor().await?;
            a.solve(Some(&self.drive), false, &mut self.newton.v_star).await;
            for (v_star, v) in self.newton.v_star.iter_mut().zip(given.v) {
                *v_star += v;
            }
        }
        if !self.settings.gyroscopic {
            return Ok(());
        }
        for (root, load) in self.roots.iter().zip(&self.loads).filter(|(root, _)| root.alone) {
            let v_star = &mut self.newton.v_star;
            root.fall(
                given.m,
                given.q,
                given.v,
                (&self.torque, *load),
                self.settings.step,
                v_star,
            );
            let gained = core::array::from_fn(|i| v_star[root.v + i] - given.v[root.v + i]);
            let momentum = given.m.compiled.bodies[root.body]
                .inertia
                .times(Motion::from_array(gained));
            self.drive[root.v..root.v + 6].copy_from_slice(&momentum.to_array());
        }
        Ok(())
    }

    /// C at ½(v + v*), so that what turns does not gain energy; once more where much turns.
    pub(super) async fn turn_implicitly(&mut self, given: &State<'_>, a: &mut impl Operator) -> Result<()> {
        let n = given.v.len();
        let fastest = given.v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let times = if fastest * self.settings.step < TURNS { 1 } else { 2 };
        let mut middle = core::mem::take(&mut self.middle);
        for _ in 0..times {
            for i in 0..n {
                middle[i] = 0.5 * (given.v[i] + self.newton.v_star[i]);
            }
            self.drive(given, &middle, a).await?;
            self.free_velocity(given, a).await?;
        }
        self.middle = middle;
        Ok(())
    }
}
