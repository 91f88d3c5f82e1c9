//! The gains of joint controllers.

use super::{Control, QUICKNESS};
use crate::user_error::UserError;
use anyhow::Result;
use linkwork::Mechanism;

impl Control {
    /// Gains of every degree of freedom for the pd controller, none where no motor is: critically damped where only one was
    /// given, and for 10 rad/s where none was, with the diagonal of 𝓜 at the target.
    pub(super) fn joint_gains(&self, mechanism: &Mechanism, target: &[f64]) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = mechanism.nv();
        let mut mass = vec![0.0; n * n];
        mechanism.workspace().at(target)?.mass_matrix(&mut mass)?;
        let gains = |i: usize| {
            let m = mass[i * (n + 1)];
            match (self.kp, self.kd) {
                _ if !mechanism.is_driven(i) => (0.0, 0.0),
                (Some(kp), Some(kd)) => (kp, kd),
                (Some(kp), None) => (kp, 2.0 * (kp * m).sqrt()),
                (None, Some(kd)) => (0.25 * kd * kd / m, kd),
                (None, None) => (QUICKNESS * QUICKNESS * m, 2.0 * QUICKNESS * m),
            }
        };
        let (kp, kd): (Vec<f64>, Vec<f64>) = (0..n).map(gains).unzip();
        self.check_gains(mechanism, &kp, &kd)?;
        Ok((kp, kd))
    }

    /// Refuses gains at which a motor meets its limit within what steps can tell apart, and names those that would do.
    fn check_gains(&self, mechanism: &Mechanism, kp: &[f64], kd: &[f64]) -> Result<()> {
        /// Positions and velocities that differ by less are the same to a step, in rad or m, and that per second.
        const RESOLVED: f64 = 1e-9;
        if self.no_effort_limits {
            return Ok(());
        }
        let effort = mechanism.effort_limits();
        // How many times too large each gain of each joint is.
        let beyond = |i: usize| {
            [kp[i], kd[i]].map(|gain| {
                if effort[i] > 0.0 {
                    gain * RESOLVED / effort[i]
                } else {
                    0.0
                }
            })
        };
        let worst = |i: &usize| beyond(*i).into_iter().fold(0.0, f64::max);
        let Some(i) = (0..kp.len()).max_by(|a, b| worst(a).total_cmp(&worst(b))) else {
            return Ok(());
        };
        let [stiff, damped] = beyond(i);
        if stiff.max(damped) <= 1.0 {
            return Ok(());
        }
        let named = mechanism.layout().find(|(_, _, v)| v.contains(&i));
        let joint = named.map_or_else(String::new, |(joint, ..)| joint.name.clone());
        let given = |gain: Option<f64>| {
            if gain.is_some() {
                ""
            } else {
                ", which the other asks for"
            }
        };
        let problem = format!(
            "--kp {:.3e}{} and --kd {:.3e}{} bring joint `{joint}` to its effort limit of {} within less than steps can tell apart",
            kp[i],
            given(self.kp),
            kd[i],
            given(self.kd),
            effort[i]
        );
        // Where one is found from the other it grows with its square.
        let most = |gain: f64| format!("{:.1e}", 0.9 * gain);
        let hint = match (self.kp, self.kd) {
            (None, _) if stiff > 1.0 => format!(
                "give --kd of at most {}, or --kp of at most {} beside it, or --no-effort-limits",
                most(kd[i] / stiff.sqrt()),
                most(kp[i] / stiff)
            ),
            _ => format!(
                "give --kp of at most {} and --kd of at most {}, or --no-effort-limits",
                most(kp[i] / stiff.max(1.0)),
                most(kd[i] / damped.max(1.0))
            ),
        };
        Err(UserError::usage(problem, hint))
    }
}
