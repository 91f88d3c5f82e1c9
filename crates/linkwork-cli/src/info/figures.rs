//! Mass, reach and condition.

use linkwork::Mechanism;
use linkwork::model::{JointKind, WORLD};
use std::collections::HashMap;

pub(super) struct Figures {
    /// Of all links.
    pub(super) mass: f64,
    /// Of those that can move.
    pub(super) moving_mass: f64,
    /// How far the furthest link's origin or centre of mass can be from the base at most.
    pub(super) reach: f64,
    /// Of the mass matrix at the neutral configuration; none where nothing moves or it cannot be inverted.
    pub(super) condition: Option<f64>,
}

impl Figures {
    pub(super) fn of(m: &Mechanism) -> Self {
        let mut workspace = m.workspace();
        let neutral = m.neutral();
        let moving_mass = workspace.at(&neutral).map_or(0.0, |posed| posed.mass());
        Self {
            mass: m.links().iter().map(|l| l.inertia.mass).sum(),
            moving_mass,
            reach: reach(m),
            condition: condition(m),
        }
    }
}

/// The longest sum of distances from joint to joint, outward from a base. Free, planar and translation joints start a
/// new base.
fn reach(m: &Mechanism) -> f64 {
    let links: HashMap<&str, usize> = m
        .links()
        .iter()
        .enumerate()
        .map(|(i, l)| (l.name.as_str(), i))
        .collect();
    let holder: HashMap<&str, usize> = m
        .joints()
        .iter()
        .enumerate()
        .map(|(i, j)| (j.child.as_str(), i))
        .collect();
    let mut known: Vec<Option<f64>> = vec![None; m.links().len()];
    let mut longest: f64 = 0.0;
    for link in m.links() {
        let mut path = Vec::new();
        let mut at = link.name.as_str();
        while at != WORLD && known[links[at]].is_none() {
            path.push(at);
            at = &m.joints()[holder[at]].parent;
        }
        let mut distance = if at == WORLD {
            0.0
        } else {
            known[links[at]].unwrap_or(0.0)
        };
        for at in path.into_iter().rev() {
            let joint = &m.joints()[holder[at]];
            let slide = match (joint.kind, joint.position_limits.first()) {
                (JointKind::Prismatic { .. }, Some((a, b))) if a.is_finite() && b.is_finite() => a.abs().max(b.abs()),
                _ => 0.0,
            };
            let unbound = matches!(joint.kind, JointKind::Free | JointKind::Planar | JointKind::Translation);
            distance = if unbound || joint.parent == WORLD {
                slide
            } else {
                distance + joint.origin.translation.norm() + slide
            };
            known[links[at]] = Some(distance);
        }
        let com = if link.inertia.mass > 0.0 {
            link.inertia.com.norm()
        } else {
            0.0
        };
        longest = longest.max(known[links[link.name.as_str()]].unwrap_or(0.0) + com);
    }
    longest
}

fn condition(m: &Mechanism) -> Option<f64> {
    if m.nv() == 0 {
        return None;
    }
    let conditioning = m.workspace().at(&m.neutral()).ok()?.conditioning().ok()?;
    Some(conditioning.condition).filter(|c| c.is_finite())
}
