//! Restitution: how fast contacts close, and how fast they open again.

use super::operator::Operator;
use super::step::{State, Work};

impl Work {
    /// How fast contacts close before and without the step.
    pub(super) async fn measure_closing(&mut self, given: &State<'_>, a: &mut impl Operator) {
        self.closing.clear();
        a.move_links(&self.newton.v_star).await;
        for point in &self.sum.points {
            self.closing.push([0.0, point.velocity(&a.motions())[0]]);
        }
        a.move_links(given.v).await;
        for (closing, point) in self.closing.iter_mut().zip(&self.sum.points) {
            closing[0] = point.velocity(&a.motions())[0];
        }
    }

    /// v̂_n of contacts that bounce, so that the height of a ball falls by e² whatever the step.
    pub(super) fn bounce(&mut self, share: f64) {
        let dt = self.settings.step;
        let threshold = self.settings.bounce_speed.unwrap_or(2.0 * 9.81 * dt);
        for (point, [v, v_star]) in self.sum.points.iter_mut().zip(&self.closing) {
            let (e, g) = (share * point.given.surface.restitution, point.given.gap);
            point.v_hat[0] = point.v_hat_n;
            if e == 0.0 || g + dt * v_star >= 0.0 || -v <= threshold {
                continue;
            }
            let a = ((v - v_star) / dt).max(0.0);
            let kept = 0.5 * v * v + a * g - 0.5 * a * dt * v;
            let square = 0.25 * (a * dt).powi(2) + 2.0 * (e * e * kept - a * g);
            let back = square.sqrt() - 0.5 * a * dt;
            if square >= 0.0 && back > 0.0 {
                point.v_hat[0] = back + point.cone.r_n / point.w_n * (back - v_star);
            }
        }
    }

    /// ½v*𝓜v.
    pub(super) async fn kinetic(&mut self, a: &mut impl Operator, v: &[f64]) -> f64 {
        let n = v.len();
        a.move_links(v).await;
        a.mass_times_moved(v, &mut self.room[..n]).await;
        0.5 * v.iter().zip(&self.room).map(|(v, p)| v * p).sum::<f64>()
    }
}
