//! Forces from outside, in every kind of axes.

use super::random::Random;
use linkwork::scalar::Scalar;
use linkwork::spatial::Force;
use linkwork::state_space::ExternalForce;
use linkwork::workspace::Configured;
use linkwork::{Mechanism, Reference};

/// One on a random link for each reference, and one more on a frame beside a link's, if there is any.
pub fn random_pushes(mechanism: &Mechanism, seed: u64) -> Vec<ExternalForce> {
    let mut random = Random::new(seed ^ 0x9054);
    let frame = mechanism.frames().first().map(|frame| frame.name.clone());
    let references = [Reference::Local, Reference::Aligned, Reference::World];
    let mut pushes = Vec::new();
    for reference in references {
        let link = &mechanism.links()[random.below(mechanism.links().len())].name;
        for name in [Some(link), frame.as_ref()].into_iter().flatten() {
            pushes.push(ExternalForce {
                frame: mechanism.frame(name).unwrap(),
                reference,
                force: Force::new(random.vector(3.0), random.vector(5.0)),
            });
        }
    }
    pushes
}

/// Lets them act over any numbers: where poses vary, so does what the links see of forces that keep to the world.
pub fn act<S: Scalar>(pushes: &[ExternalForce], at: &mut Configured<'_, S>) {
    for push in pushes {
        let force = Force::from_array(push.force.to_array().map(S::lift));
        at.apply_force(push.frame, push.reference, force).unwrap();
    }
}
