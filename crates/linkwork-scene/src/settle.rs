//! Out of what a start is inside of.

use crate::scene::Scene;
use linkwork::closed::ClosedMechanism;
use linkwork::contact::{Contact, Friction, Settings, Stepper, Surface};
use linkwork::{Error, Result};

/// The time of a step, in which half of what is inside comes out.
const STEP: f64 = 0.01;
/// Deep enough to go on, in metres.
const DONE: f64 = 1e-5;

impl Scene {
    /// Moves a configuration out of what it is inside of, by as little as the masses say: contacts without friction push,
    /// nothing falls and nothing keeps its speed. How deep the deepest pair was is the result; an error names the pair that
    /// could not be parted.
    pub fn settle(&mut self, q: &mut [f64]) -> Result<f64> {
        self.settle_closed(q, None)
    }

    /// The same while loops stay closed, whose tree the scene is of.
    pub fn settle_closed(&mut self, q: &mut [f64], closed: Option<&ClosedMechanism>) -> Result<f64> {
        const STEPS: usize = 400;
        let m = self.mechanism().clone();
        let Some((.., first)) = self.deepest(q)? else {
            return Ok(0.0);
        };
        let mut settings = Settings::new(STEP);
        (settings.passive, settings.joint_friction, settings.memory) = (false, false, false);
        (settings.gyroscopic, settings.friction) = (false, Friction::Convex);
        let mut stepper = match closed {
            Some(closed) => Stepper::closed(closed, settings)?,
            None => Stepper::new(&m, settings)?,
        };
        let still = vec![0.0; m.nv()];
        let mut v = still.clone();
        let slippery = Surface {
            friction: 0.0,
            relaxation: Some(STEP),
            ..Surface::default()
        };
        for _ in 0..STEPS {
            let Some((.., depth)) = self.deepest(q)? else {
                return Ok(first);
            };
            if depth <= DONE {
                return Ok(first);
            }
            let push = |contact: &Contact| Contact {
                surface: slippery,
                ..*contact
            };
            let contacts: Vec<Contact> = self.contacts(q, &still, STEP)?.iter().map(push).collect();
            v.copy_from_slice(&still);
            // What holds against gravity: T = C at rest.
            stepper.step_driven(q, &mut v, &contacts, |moving, tau| moving.bias(tau))?;
            stepper.forget();
        }
        match self.deepest(q)? {
            Some((a, b, depth)) if depth > DONE => Err(Error::Unsolved {
                what: "settling",
                problem: format!(
                    "`{}` is still {depth:.2e} m inside `{}`; start elsewhere",
                    self.colliders()[a].name,
                    self.colliders()[b].name
                ),
            }),
            _ => Ok(first),
        }
    }
}
