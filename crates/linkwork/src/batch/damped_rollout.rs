//! One model rolled forward with its damping: for models whose joints follow others, which do not stand side by side in registers.

use super::rollout::{Course, Drives, Held, Judge, Rolling, Rollout, Torques};
use super::threads::Failures;
use crate::Result;
use crate::model::Mechanism;
use crate::workspace::Workspace;

/// Memory for one model.
pub(crate) struct Damped {
    workspace: Workspace,
    rolling: Rolling<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
    driven: Vec<f64>,
}

impl Damped {
    pub(crate) fn new(model: &Mechanism) -> Self {
        let zeros = |n: usize| vec![0.0; n];
        Self {
            workspace: model.workspace(),
            rolling: Rolling::new(model),
            q: zeros(model.nq()),
            v: zeros(model.nv()),
            tau: zeros(model.nv()),
            driven: zeros(model.nv()),
        }
    }

    /// Rolls one state forward; where it fails, the rest is NaN.
    pub(crate) fn rollout(
        &mut self,
        rollout: Rollout,
        [q, qd]: [&[f64]; 2],
        tau: Option<&[f64]>,
        outs: [&mut [f64]; 2],
    ) -> Result<()> {
        let lengths = [outs[0].len(), outs[1].len()];
        let course = Course::new(self.workspace.mechanism(), rollout, q, qd, tau, lengths)?;
        if rollout.steps == 0 {
            return Ok(());
        }
        let mut failures = Failures::default();
        let instructions = self.workspace.instructions();
        let held = Held {
            rolling: &mut self.rolling,
            q: &mut self.q,
            v: &mut self.v,
            tau: &mut self.tau,
        };
        let drives = Resisted {
            torques: Torques(&mut self.workspace),
            driven: &mut self.driven,
        };
        course.roll_group(instructions, drives, held, 0, outs, &mut failures);
        failures.first.map_or(Ok(()), |(_, problem)| Err(problem))
    }
}

/// Constant torques, less the damping of the joints and of those that follow them.
struct Resisted<'a> {
    torques: Torques<'a, f64>,
    driven: &'a mut [f64],
}

impl Drives<f64> for Resisted<'_> {
    fn mechanism(&self) -> &Mechanism {
        self.torques.mechanism()
    }

    fn accelerations(&mut self, q: &[f64], v: &[f64], tau: &[f64], vd: &mut [f64], judge: &mut Judge<'_>) {
        let passive = &self.torques.mechanism().passive;
        for (i, driven) in self.driven.iter_mut().enumerate() {
            *driven = tau[i] - passive.damping[i] * v[i];
        }
        for resisted in &passive.followers {
            let [at, to] = resisted.leader;
            let [_, slope, ..] = resisted.follower.at(q[at]);
            self.driven[to] -= slope * slope * resisted.damping * v[to];
        }
        self.torques.accelerations(q, v, self.driven, vd, judge);
    }
}
