//! Keyframes: named states, in MuJoCo's order of coordinates.

use super::Model;
use super::body::Bodies;
use super::body_joints::{Coordinate, Coordinates};
use super::expand::{Item, Tree};
use super::joint;
use crate::draft::Draft;
use crate::keyframe::{KeyDraft, WRITTEN};
use crate::numbers::Range;
use crate::report::Findings;
use crate::rotations::quaternion;
use crate::source::{At, Spot, shortened};
use crate::xml::Element;
use linkwork::model::JointKind;
use linkwork::spatial::{Rotation, Vec3};
use std::collections::HashMap;

/// x, y, z, w of a rotation.
fn xyzw(r: Rotation) -> Vec<f64> {
    r.to_quaternion().to_vec()
}

impl Coordinate {
    /// How many numbers of qpos and of qvel are its own.
    fn sizes(&self) -> [usize; 2] {
        match self.kind {
            Coordinates::Free { .. } | Coordinates::Split { .. } => [7, 6],
            Coordinates::Ball { .. } => [4, 3],
            Coordinates::One { .. } => [1, 1],
        }
    }

    /// Puts its part of qpos and qvel into a keyframe; whether it could.
    fn put(&self, qpos: Option<&[f64]>, qvel: Option<&[f64]>, key: &mut KeyDraft) -> bool {
        match &self.kind {
            Coordinates::Free { joint, place }
            | Coordinates::Split {
                orientation: joint,
                place,
                ..
            } => {
                let mut turned = place.rotation;
                if let Some(&[x, y, z, a, b, c, d]) = qpos {
                    let Some(turn) = quaternion([a, b, c, d]) else {
                        return false;
                    };
                    turned = turn;
                    let own = place.rotation.inverse() * turn;
                    let away = Vec3::new(x, y, z) - place.translation;
                    match &self.kind {
                        Coordinates::Split { position, .. } => {
                            key.q.insert(position.clone(), away.to_array().to_vec());
                            key.q.insert(joint.clone(), xyzw(own));
                        }
                        _ => {
                            let mut q = xyzw(own);
                            q.extend((place.rotation.inverse() * away).to_array());
                            key.q.insert(joint.clone(), q);
                        }
                    }
                }
                if let Some(&[vx, vy, vz, wx, wy, wz]) = qvel {
                    let linear = Vec3::new(vx, vy, vz);
                    match &self.kind {
                        Coordinates::Split { position, .. } => {
                            key.v.insert(position.clone(), linear.to_array().to_vec());
                            key.v.insert(joint.clone(), vec![wx, wy, wz]);
                        }
                        // Linear velocities are along the axes of the world there, and along the body's here.
                        _ => {
                            let [x, y, z] = (turned.inverse() * linear).to_array();
                            key.v.insert(joint.clone(), vec![wx, wy, wz, x, y, z]);
                        }
                    }
                }
            }
            Coordinates::Ball { joint } => {
                if let Some(&[a, b, c, d]) = qpos {
                    let Some(turn) = quaternion([a, b, c, d]) else {
                        return false;
                    };
                    key.q.insert(joint.clone(), xyzw(turn));
                }
                key.v.extend(qvel.map(|v| (joint.clone(), v.to_vec())));
            }
            Coordinates::One { joint, .. } => {
                key.q.extend(qpos.map(|q| (joint.clone(), q.to_vec())));
                key.v.extend(qvel.map(|v| (joint.clone(), v.to_vec())));
            }
        }
        true
    }
}

/// Adds the configuration that the file is written in, where it is not neutral, and all keyframes.
pub(super) fn read(
    models: &[Model<'_>],
    bodies: &Bodies<'_>,
    actuators: &[Item<'_>],
    draft: &mut Draft,
    f: &mut Findings,
) {
    let written: HashMap<String, Vec<f64>> = bodies
        .coordinates
        .iter()
        .filter_map(|c| match &c.kind {
            Coordinates::One { joint, reference } if *reference != 0.0 => Some((joint.clone(), vec![*reference])),
            _ => None,
        })
        .collect();
    if !written.is_empty() {
        draft.keyframes.push(KeyDraft {
            name: WRITTEN.to_owned(),
            q: written.clone(),
            ..KeyDraft::default()
        });
    }
    let mut number = 0;
    for space in bodies.tree.bases() {
        let model = bodies.tree.model(space);
        let keys: Vec<_> = model.items("keyframe").collect();
        if keys.is_empty() {
            continue;
        }
        // What the numbers of this model's own keyframes are about.
        let order: Vec<Option<&Coordinate>>;
        let sizes: Vec<[usize; 2]>;
        if space == 0 {
            order = bodies.coordinates.iter().map(Some).collect();
            sizes = bodies.coordinates.iter().map(Coordinate::sizes).collect();
        } else {
            let own = Tree::expand(models, bodies.tree.spaces[space].model, &mut Findings::new(f.mode));
            let known: HashMap<Spot, &Coordinate> = {
                let here = bodies.coordinates.iter().filter(|c| c.space == space);
                here.map(|c| (c.spot, c)).collect()
            };
            let mut quiet = Findings::new(f.mode);
            let joints: Vec<_> = own
                .bodies
                .iter()
                .flat_map(|b| &b.items)
                .filter(|i| joint::is_joint(i.e))
                .collect();
            order = joints.iter().map(|i| known.get(&i.e.spot()).copied()).collect();
            sizes = joints
                .iter()
                .map(|i| match joint::kind_of(own.model(i.space), i, &mut quiet) {
                    Some(JointKind::Free) => [7, 6],
                    Some(JointKind::Spherical) => [4, 3],
                    _ => [1, 1],
                })
                .collect();
        }
        for e in keys {
            let name = match e.attribute("name").filter(|n| !n.is_empty()) {
                Some(name) => bodies.tree.spaces[space].full(&name),
                None => number.to_string(),
            };
            number += 1;
            let mut key = KeyDraft {
                name,
                time: one(e, "time", f).unwrap_or(0.0),
                q: written.clone(),
                ..KeyDraft::default()
            };
            let (qpos, qvel) = (list(e, "qpos", f), list(e, "qvel", f));
            let totals = [0, 1].map(|i| sizes.iter().map(|s| s[i]).sum::<usize>());
            if !(fits(e, "qpos", qpos.as_deref(), totals[0], f) && fits(e, "qvel", qvel.as_deref(), totals[1], f)) {
                continue;
            }
            let mut at = [0, 0];
            for (coordinate, size) in order.iter().zip(&sizes) {
                let part =
                    |list: &Option<Vec<f64>>, i: usize| list.as_ref().map(|l| l[at[i]..at[i] + size[i]].to_vec());
                let (q, v) = (part(&qpos, 0), part(&qvel, 1));
                if let Some(c) = coordinate
                    && !c.put(q.as_deref(), v.as_deref(), &mut key)
                {
                    let message = "a quaternion of qpos has no length; the joint is left neutral";
                    f.doubt(
                        e.at().seen_at(e.spot_of("qpos")),
                        "keyframe",
                        message,
                        "give w, x, y, z of length one",
                    );
                }
                at = [at[0] + size[0], at[1] + size[1]];
            }
            key.ctrl = controls(e, space, actuators, bodies, f);
            draft.keyframes.push(key);
        }
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for key in &mut draft.keyframes {
        let count = seen.entry(key.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            let message = format!("two keyframes are named `{}`", shortened(&key.name));
            key.name = format!("{}_{count}", key.name);
            f.doubt(At::FILE, "keyframe", message, "rename one of them");
        }
    }
}

/// What a key tells actuators: those of its own model, in their order; the others are told nothing.
fn controls(e: Element<'_>, space: usize, actuators: &[Item<'_>], bodies: &Bodies<'_>, f: &mut Findings) -> Vec<f64> {
    let Some(given) = list(e, "ctrl", f) else {
        return Vec::new();
    };
    let mine = |i: &Item<'_>| bodies.tree.base(i.space) == space;
    let count = actuators.iter().filter(|i| mine(i)).count();
    // A model that is attached in part may have lost actuators; then which numbers are left cannot be told here.
    if given.len() != count {
        if space == 0 {
            fits(e, "ctrl", Some(&given), count, f);
        }
        return Vec::new();
    }
    let mut given = given.into_iter();
    actuators
        .iter()
        .map(|i| if mine(i) { given.next().unwrap_or(0.0) } else { 0.0 })
        .collect()
}

fn list(e: Element<'_>, name: &str, f: &mut Findings) -> Option<Vec<f64>> {
    crate::numbers::all(f, e, name, e.at(), Range::Usable)
}

fn one(e: Element<'_>, name: &str, f: &mut Findings) -> Option<f64> {
    crate::numbers::number(f, e, name, e.at(), Range::Usable)
}

fn fits(e: Element<'_>, name: &str, given: Option<&[f64]>, needed: usize, f: &mut Findings) -> bool {
    let Some(given) = given.filter(|g| g.len() != needed) else {
        return true;
    };
    let message = format!(
        "{name} has {} numbers, but the model has {needed}; the keyframe is left out",
        given.len()
    );
    f.doubt(
        e.at().seen_at(e.spot_of(name)),
        "keyframe",
        message,
        "give a number for each coordinate",
    );
    false
}
