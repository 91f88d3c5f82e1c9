//! The joints that bodies stand on.

use super::body::Bodies;
use super::expand::Item;
use super::joint;
use crate::draft::{Draft, Placed};
use crate::report::Findings;
use crate::source::{At, Spot, shortened};
use linkwork::model::{Joint, JointKind, Link, WORLD};
use linkwork::spatial::Pose;

/// A joint as MuJoCo numbers its coordinates, and where it stands.
pub(super) struct Coordinate {
    pub(super) kind: Coordinates,
    pub(super) spot: Spot,
    pub(super) space: usize,
}

/// The numbers of a joint in MuJoCo's qpos.
pub(super) enum Coordinates {
    /// x, y, z, w, x, y, z of a body of the world: joints of the draft, and where the body stands as the file is written.
    Free { joint: String, place: Pose },
    /// The same where a translation and a ball joint stand for it.
    Split {
        position: String,
        orientation: String,
        place: Pose,
    },
    /// w, x, y, z.
    Ball { joint: String },
    /// One displacement, and what it is as the file is written.
    One { joint: String, reference: f64 },
}

impl<'a> Bodies<'a> {
    /// The joints that a body stands on, with massless links between them.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn stand(
        &mut self,
        joints: &[Item<'a>],
        body: &str,
        parent: &str,
        place: Pose,
        spot: Spot,
        draft: &mut Draft,
        f: &mut Findings,
    ) {
        let mut read = Vec::new();
        for item in joints {
            let model = self.model(item);
            let d = model.defaults.apply(item.e, item.class, f);
            if let Some(mut joint) = joint::read(model, item.e, &d, f) {
                joint.joint.name = self.tree.name(item).unwrap_or_default();
                joint.within(&self.tree.pose(item));
                read.push((joint, item.e.spot(), item.space));
            }
        }
        if let Some((_, second, _)) = read.iter().find(|(r, ..)| r.joint.kind.nv() == 6)
            && (read.len() > 1 || parent != WORLD)
        {
            let at = At::new(*second, "body", body);
            f.error(
                at,
                "free-joint",
                "a free joint is for a body of the world, and is its only joint",
                "move or replace it",
            );
            return;
        }
        let count = read.len();
        let split = matches!(&read[..], [(r, ..)] if r.splits());
        if split && let Some((joint, spot, space)) = read.pop() {
            if joint.tuned.is_some() {
                let at = At::new(spot, "joint", &joint.joint.name);
                f.doubt(
                    at,
                    "unmodelled-attribute",
                    "springdamper of a free joint is not modelled",
                    "",
                );
            }
            self.split(joint.joint, body, place, (spot, space), draft, f);
            return;
        }
        let (mut parent, mut origin, mut last) = (parent.to_owned(), place, Default::default());
        for (
            i,
            (
                joint::Read {
                    mut joint,
                    anchor,
                    reference,
                    spring,
                    tuned,
                },
                spot,
                space,
            ),
        ) in read.into_iter().enumerate()
        {
            if joint.name.is_empty() {
                let number = if i == 0 { String::new() } else { (i + 1).to_string() };
                joint.name = self.fresh_joint(&format!("{body}_joint{number}"));
            }
            draft.tuned.extend(tuned.map(|tuned| (joint.name.clone(), tuned)));
            if spring != 0.0 {
                self.springs.insert(joint.name.clone(), spring);
            }
            if reference != 0.0 {
                self.references.insert(joint.name.clone(), reference);
            }
            joint.origin = origin * Pose::from_translation(anchor - last) * joint::displaced(joint.kind, -reference);
            joint.parent = parent;
            let kind = match joint.kind {
                JointKind::Free => Coordinates::Free {
                    joint: joint.name.clone(),
                    place,
                },
                JointKind::Spherical => Coordinates::Ball {
                    joint: joint.name.clone(),
                },
                _ => Coordinates::One {
                    joint: joint.name.clone(),
                    reference,
                },
            };
            self.coordinates.push(Coordinate { kind, spot, space });
            let at_body = i + 1 == count && anchor.norm() == 0.0;
            joint.child = if at_body {
                body.to_owned()
            } else {
                self.fresh(&format!("{body}_{}", i + 1))
            };
            if !at_body {
                draft.links.push(Placed {
                    item: Link::massless(joint.child.clone()),
                    spot,
                });
            }
            (parent, origin, last) = (joint.child.clone(), Pose::IDENTITY, anchor);
            draft.joints.push(Placed { item: joint, spot });
        }
        if parent != body {
            let name = self.fresh_joint(&format!("{body}_fixed"));
            let back = origin * Pose::from_translation(-last);
            draft.joints.push(Placed {
                item: Joint::fixed(name).between(parent, body).placed(back),
                spot,
            });
        }
    }

    /// A free joint with armature or a spring, whose linear parts are along the axes of the world: a translation, and a
    /// ball joint.
    fn split(
        &mut self,
        joint: Joint,
        body: &str,
        place: Pose,
        (spot, space): (Spot, usize),
        draft: &mut Draft,
        f: &mut Findings,
    ) {
        let orientation = match &*joint.name {
            "" => self.fresh_joint(&format!("{body}_joint")),
            name => name.to_owned(),
        };
        let position = self.fresh_joint(&format!("{orientation}_position"));
        let between = self.fresh(&format!("{body}_1"));
        let message = format!(
            "a free joint with armature or a spring acts along the axes of the world: it is read as a translation `{}` and a \
             ball joint `{}`",
            shortened(&position),
            shortened(&orientation)
        );
        f.note(At::new(spot, "joint", &orientation), "split-free-joint", message, "");
        let part = |name: &str, kind| Joint {
            name: name.to_owned(),
            kind,
            position_limits: Vec::new(),
            ..joint.clone()
        };
        let turn = Pose::from_rotation(place.rotation);
        let along = part(&position, JointKind::Translation).between(WORLD, &between);
        let about = part(&orientation, JointKind::Spherical).between(&between, body);
        draft.joints.push(Placed {
            item: along.placed(Pose::from_translation(place.translation)),
            spot,
        });
        draft.joints.push(Placed {
            item: about.placed(turn),
            spot,
        });
        draft.links.push(Placed {
            item: Link::massless(between),
            spot,
        });
        let kind = Coordinates::Split {
            position,
            orientation,
            place,
        };
        self.coordinates.push(Coordinate { kind, spot, space });
    }
}
