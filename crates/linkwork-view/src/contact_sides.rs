//! From which of its two bodies a contact is told.

use linkwork::Mechanism;
use linkwork::contact::Impulse;
use linkwork::model::FrameId;
use linkwork::spatial::Vec3;

/// A contact is told from the body that can move; of two, from the one that the other holds up.
#[derive(Clone, Debug)]
pub struct Sides {
    mechanism: Mechanism,
    /// Links that no joint moves.
    still: Vec<bool>,
    up: Vec3,
}

/// How far a normal must lean before one body holds up the other.
const LEANS: f64 = 0.1;

impl Sides {
    /// Of a mechanism's links.
    pub fn new(mechanism: &Mechanism) -> Self {
        let mut joints: Vec<Option<(Option<usize>, bool)>> = vec![None; mechanism.links().len()];
        let place = |name: &str| mechanism.link(name).ok().map(|link| link.index());
        for joint in mechanism.joints() {
            if let Some(child) = place(&joint.child) {
                joints[child] = Some((place(&joint.parent), joint.kind.nv() == 0));
            }
        }
        let is_still = |link: usize| {
            let mut at = Some(link);
            while let Some(link) = at {
                match joints[link] {
                    Some((_, false)) => return false,
                    Some((parent, true)) => at = parent,
                    None => at = None,
                }
            }
            true
        };
        let gravity = mechanism.gravity();
        Self {
            still: (0..joints.len()).map(is_still).collect(),
            up: if gravity == Vec3::ZERO {
                gravity
            } else {
                gravity * (-1.0 / gravity.norm())
            },
            mechanism: mechanism.clone(),
        }
    }

    fn is_still(&self, frame: FrameId) -> bool {
        self.mechanism
            .link_of(frame)
            .map_or(true, |link| self.still[link.index()])
    }

    /// Whether a contact is told from the second of its bodies.
    pub fn is_turned(&self, contact: &Impulse) -> bool {
        match (self.is_still(contact.a), self.is_still(contact.b)) {
            (true, false) => true,
            (false, true) => false,
            // The normal leads to the first.
            _ => contact.normal.dot(self.up) < -LEANS,
        }
    }

    /// The force of a contact on the body that it is told from.
    pub fn force(&self, contact: &Impulse, step: f64) -> Vec3 {
        let force = contact.force(step);
        if self.is_turned(contact) { -force } else { force }
    }
}
