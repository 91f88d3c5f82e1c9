//! What touches, as derivatives of steps need it.

use crate::scene::Scene;
use crate::shape::ColliderShape;
use linkwork::contact::{Contact, Meeting};
use linkwork::{Error, Result};

impl Scene {
    /// How contacts of this scene move with their bodies, for [`Stepper::derivatives`](linkwork::contact::Stepper::derivatives):
    /// balls and capsules on planes, corners of boxes and hulls on planes, and balls on each other. An error names a pair of others.
    pub fn meetings(&self, contacts: &[Contact]) -> Result<Vec<Meeting>> {
        contacts.iter().map(|contact| self.meeting(contact.id)).collect()
    }

    fn meeting(&self, id: u64) -> Result<Meeting> {
        let Some([a, b]) = self.colliders_of(id) else {
            return Err(refused(format!("contact {id} is not one of this scene")));
        };
        // The radius of what stands on a plane with a point that is fixed to it, but for the ball about that point.
        let ball = |shape: &ColliderShape| match shape {
            ColliderShape::Sphere { radius } | ColliderShape::Capsule { radius, .. } => Some(*radius),
            ColliderShape::Cuboid { .. } | ColliderShape::Hull(_) => Some(0.0),
            _ => None,
        };
        let halfway = false;
        let met = match (&a.shape, &b.shape) {
            (shape, ColliderShape::Plane) => ball(shape).map(|radius| Meeting::BallOnFace { radius, halfway }),
            (ColliderShape::Plane, shape) => ball(shape).map(|radius| Meeting::FaceOnBall { radius, halfway }),
            (ColliderShape::Sphere { radius: one }, ColliderShape::Sphere { radius: two }) => {
                Some(Meeting::Balls { radii: [*one, *two] })
            }
            _ => None,
        };
        met.ok_or_else(|| {
            refused(format!(
                "`{}` touches `{}`, a {} on a {}; differentiated are spheres, capsules, boxes and hulls on planes, and spheres on each other",
                a.name,
                b.name,
                a.shape.name(),
                b.shape.name()
            ))
        })
    }
}

fn refused(problem: String) -> Error {
    Error::Unsolved {
        what: "derivatives of a step with contact",
        problem,
    }
}
