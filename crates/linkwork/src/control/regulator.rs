//! Linear feedback about a configuration.

use super::Controller;
use crate::simulate::Now;
use crate::state_space::{OperatingPoint, StateSpace};
use crate::workspace::Moving;
use crate::{Error, Mechanism, Result};

/// T = T₀ − K[q ⊖ q₀; q̇] at the driven joints: the regulator of least cost for the dynamics linearized about q₀ at rest.
///
/// T₀ holds the robot at q₀, so that [`Controlled`](super::Controlled) goes without gravity.
///
/// ```
/// use linkwork::control::{Controlled, Regulator};
/// use linkwork::model::examples;
/// use linkwork::simulate::{Integrator, RungeKutta4, Dynamics, State};
/// let robot = examples::cart_pole();
/// let law = Regulator::new(&robot, &robot.neutral(), &["rail"], &[1.0; 4], &[0.1])?;
/// let mut equations = Dynamics::new(&robot, Controlled::new(&robot, law).without_gravity())?;
/// let mut state = State::at_rest(&robot, &[0.0, 0.2]);
/// let mut integrator = RungeKutta4::new(&robot);
/// for _ in 0..10_000 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// assert!(state.q.iter().all(|q| q.abs() < 1e-3), "the pole stands");
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "LQR")]
pub struct Regulator {
    mechanism: Mechanism,
    target: Vec<f64>,
    hold: Vec<f64>,
    /// The driven degrees of freedom, and a row of K for each.
    driven: Vec<usize>,
    gain: Vec<f64>,
    x: Vec<f64>,
}

impl Regulator {
    /// About a configuration, with torques at these joints alone, at all that motors drive if there are
    /// none. Weights are those of the 2nv
    /// states, q ⊖ q₀ and then q̇; `effort` has the weights of the torques at the driven joints.
    pub fn new(
        mechanism: &Mechanism,
        target: &[f64],
        driven: &[impl AsRef<str>],
        weights: &[f64],
        effort: &[f64],
    ) -> Result<Self> {
        let point = OperatingPoint::at_rest(mechanism, target)?;
        let mut model = StateSpace::continuous(mechanism, &point)?;
        let all = model.states[..mechanism.nv()].to_vec();
        if !driven.is_empty() {
            model = model.driven_by(driven)?;
        }
        let driven: Vec<usize> = (0..all.len()).filter(|i| model.inputs.contains(&all[*i])).collect();
        // Rows of K in the order of degrees of freedom.
        model = model.driven_by(&driven.iter().map(|i| &*all[*i]).collect::<Vec<_>>())?;
        let largest = point.tau.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let idle = |i: &usize| !driven.contains(i) && point.tau[*i].abs() > 1e-9 * (1.0 + largest);
        if let Some(i) = (0..all.len()).find(idle) {
            return Err(Error::Unsolved {
                what: "a regulator",
                problem: format!(
                    "the robot cannot rest there: `{}` would need {:.6} N m or N but is not driven; choose a configuration in balance, or drive it",
                    all[i], point.tau[i]
                ),
            });
        }
        let states = model.states.len();
        let gain = model.lqr(weights, effort)?;
        Ok(Self {
            mechanism: mechanism.clone(),
            target: target.to_vec(),
            hold: point.tau,
            driven,
            gain,
            x: vec![0.0; states],
        })
    }

    /// The same law for a mechanism with the same joints: one that has the friction which the model was made without.
    pub fn for_plant(mut self, mechanism: &Mechanism) -> Result<Self> {
        let joints = |m: &Mechanism| {
            m.layout()
                .map(|(joint, q, v)| (joint.name.clone(), q, v))
                .collect::<Vec<_>>()
        };
        if joints(mechanism) != joints(&self.mechanism) {
            return Err(mechanism.foreign("regulator"));
        }
        self.mechanism = mechanism.clone();
        Ok(self)
    }

    /// K, driven × states.
    pub fn gain(&self) -> &[f64] {
        &self.gain
    }
}

impl Controller for Regulator {
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        moving.mechanism().check_same(&self.mechanism, "controller")?;
        let (step, rate) = self.x.split_at_mut(now.v.len());
        self.mechanism.difference(&self.target, now.q, step)?;
        rate.copy_from_slice(now.v);
        tau.fill(0.0);
        for (&i, row) in self.driven.iter().zip(self.gain.chunks(self.x.len().max(1))) {
            tau[i] = self.hold[i] - crate::dense::dot(row, &self.x);
        }
        Ok(())
    }
}
