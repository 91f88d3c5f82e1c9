//! Distances between shapes as a task: who knows shapes says what is near, and steps lead apart.

use super::step::Step;
use super::task::unsolved;
use crate::model::FrameId;
use crate::spatial::{Force, Reference, Vec3};
use crate::workspace::AugmentedMass;
use crate::{Mechanism, Result};
use core::fmt;

/// Two shapes that are near each other, on the links of two frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// A frame on the link of the first.
    pub a: FrameId,
    /// A frame on the link of the second, or the world's.
    pub b: FrameId,
    /// Where they are nearest, in the world.
    pub point: Vec3,
    /// From the second to the first, of length one: the gap grows with the velocity of a against b along it.
    pub normal: Vec3,
    /// How far apart they are, in metres; negative inside.
    pub gap: f64,
}

/// What knows the shapes of a robot and its surroundings, as `linkwork_scene::Scene` does.
pub trait Clearance: Send + Sync {
    /// Adds the pairs that are nearer than a margin at q, each by the place where it is nearest.
    fn near(&mut self, q: &[f64], margin: f64, out: &mut Vec<Near>) -> Result<()>;

    /// The same for another thread.
    fn another(&self) -> Box<dyn Clearance>;
}

/// Shapes that a solver keeps clear of.
pub(super) struct Shapes(pub(super) Box<dyn Clearance>);

impl Clone for Shapes {
    fn clone(&self) -> Self {
        Self(self.0.another())
    }
}

impl fmt::Debug for Shapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shapes")
    }
}

/// What a step knows of shapes: the pairs that are too near, and what the step does for their gaps.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    pub(super) shapes: Option<Shapes>,
    pub(super) near: Vec<Near>,
    effects: Vec<f64>,
}

impl Gaps {
    /// Finds what is nearer than a margin at q: per pair what is left to the margin, and the most of it.
    pub(super) fn look(&mut self, q: &[f64], margin: f64, left: &mut Vec<f64>) -> Result<f64> {
        let Some(shapes) = &mut self.shapes else {
            return Err(unsolved(
                "a task keeps clear of shapes, but the solver knows none; give them by `InverseKinematics::avoiding`"
                    .to_owned(),
            ));
        };
        self.near.clear();
        shapes.0.near(q, margin, &mut self.near)?;
        left.clear();
        left.extend(self.near.iter().map(|near| margin - near.gap));
        self.effects.resize(left.len(), 0.0);
        Ok(left.iter().fold(0.0, |most: f64, x| most.max(*x)))
    }

    /// The pair that is nearest, by the names of its links.
    pub(super) fn nearest(&self, name: impl Fn(FrameId) -> String) -> Option<String> {
        let nearest = self.near.iter().min_by(|a, b| a.gap.total_cmp(&b.gap))?;
        Some(format!("`{}` and `{}`", name(nearest.a), name(nearest.b)))
    }

    /// Weighs the gaps that are too small, and pushes at them.
    pub(super) fn weigh(
        &self,
        m: &Mechanism,
        weight: f64,
        left: &[f64],
        operator: &mut AugmentedMass<'_>,
    ) -> Result<()> {
        for (near, left) in self.near.iter().zip(left) {
            let (n, arm) = (near.normal, near.point.cross(near.normal));
            let row = [arm.x, arm.y, arm.z, n.x, n.y, n.z];
            let square = row.map(|x| row.map(|y| weight * x * y));
            operator.weigh_between(near.a, near.b, Reference::World, &square)?;
            let ends = [near.a, near.b].map(|f| m.placed[f.index()].body);
            if ends[0] == ends[1] {
                continue;
            }
            for (k, sign) in ends.into_iter().zip([1.0, -1.0]) {
                let Some(k) = k else { continue };
                let (link, push) = (operator.link(k), n * (sign * weight * left));
                let moment = (near.point - link.translation).cross(push);
                let force = Force::new(link.rotation.inverse_mul(moment), link.rotation.inverse_mul(push));
                operator.memory().forces[k] += force;
            }
        }
        Ok(())
    }

    /// What the links' motions do for the gaps.
    pub(super) fn effects(&mut self, m: &Mechanism, operator: &mut AugmentedMass<'_>) -> &[f64] {
        for (near, effect) in self.near.iter().zip(&mut self.effects) {
            let mut at = |frame: FrameId| {
                let Some(k) = m.placed[frame.index()].body else {
                    return Vec3::ZERO;
                };
                let (link, moved) = (operator.link(k), operator.memory().lambda[k]);
                let turn = link.rotation * moved.angular;
                link.rotation * moved.linear + turn.cross(near.point - link.translation)
            };
            *effect = near.normal.dot(at(near.a) - at(near.b));
        }
        &self.effects
    }
}

impl Step {
    /// Keeps clear of shapes.
    pub(super) fn avoid(&mut self, shapes: Box<dyn Clearance>) {
        self.gaps.shapes = Some(Shapes(shapes));
    }
}
