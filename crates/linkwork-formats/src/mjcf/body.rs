//! Bodies, and what is on them.

use super::compiler::FromGeoms;
use super::expand::{Item, Tree};
use super::orientation::{plain_pose, pose};
use super::{Model, geom, joint};
use crate::draft::Draft;
use crate::draft::{Placed, free_name};
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::robot::Shape;
use crate::roots::Roots;
use crate::source::{At, Spot, shortened};
use crate::xml::Element;
use linkwork::model::{Frame, Joint, JointKind, Link, WORLD};
use linkwork::spatial::{Inertia, Pose, Rotation};
use std::collections::{HashMap, HashSet};

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

/// A reader of bodies, and what it has met.
pub(super) struct Bodies<'a> {
    models: &'a [Model<'a>],
    pub(super) tree: &'a Tree<'a>,
    roots: &'a Roots,
    /// Names that were made here.
    links: HashSet<String>,
    joints: HashSet<String>,
    /// Links by name, and where they are in the world as the file is written.
    pub(super) placed: HashMap<String, Pose>,
    /// Sites by name: the link and the place on it.
    pub(super) sites: HashMap<String, (String, Pose)>,
    /// `ref` of joints that have one.
    pub(super) references: HashMap<String, f64>,
    /// `springref` of joints that have one.
    pub(super) springs: HashMap<String, f64>,
    /// In MuJoCo's order.
    pub(super) coordinates: Vec<Coordinate>,
    /// Kinds that were left out and reported.
    left_out: HashSet<&'a str>,
}

/// What a body weighs.
#[derive(Default)]
struct Weight {
    sum: Inertia,
    /// The frame of its inertia, where one element tells it.
    frame: Option<Pose>,
    /// How many geoms counted.
    count: usize,
    /// Geoms whose body could not be told, and why.
    unknown: Vec<(Spot, String)>,
}

impl<'a> Bodies<'a> {
    pub(super) fn new(models: &'a [Model<'a>], tree: &'a Tree<'a>, roots: &'a Roots) -> Self {
        let world = (WORLD.to_owned(), Pose::IDENTITY);
        Self {
            models,
            tree,
            roots,
            links: HashSet::new(),
            joints: HashSet::new(),
            placed: HashMap::from([world]),
            sites: HashMap::new(),
            references: HashMap::new(),
            springs: HashMap::new(),
            coordinates: Vec::new(),
            left_out: HashSet::new(),
        }
    }

    pub(super) fn model(&self, item: &Item<'_>) -> &'a Model<'a> {
        &self.models[self.tree.spaces[item.space].model]
    }

    /// Reads all bodies: depth first, in the order of the file.
    pub(super) fn read(&mut self, draft: &mut Draft, f: &mut Findings) {
        let count = self.tree.bodies.len();
        let mut names = vec![WORLD.to_owned()];
        let (mut moves, mut carries) = (vec![false; count], vec![false; count]);
        for body in &self.tree.bodies[1..] {
            carries[body.parent] = true;
        }
        self.contents(0, WORLD, None, draft, f);
        for b in 1..count {
            let parent = self.tree.bodies[b].parent;
            let name = match self.tree.name(&self.tree.bodies[b].item) {
                Some(name) => name,
                None => self.fresh(&format!("body{b}")),
            };
            moves[b] = moves[parent] || self.joints_of(b).next().is_some();
            self.body(b, &name, &names[parent], (moves[b], carries[b]), draft, f);
            names.push(name);
        }
        self.frames(draft);
    }

    fn joints_of(&self, body: usize) -> impl Iterator<Item = Item<'a>> + use<'a> {
        let items = self.tree.bodies[body].items.iter().copied();
        items.filter(|i| joint::is_joint(i.e))
    }

    /// Reads geoms and sites of a body; `weight` takes up what its geoms weigh.
    fn contents(
        &mut self,
        body: usize,
        link: &str,
        mut weight: Option<&mut Weight>,
        draft: &mut Draft,
        f: &mut Findings,
    ) {
        let tree = self.tree;
        for item in &tree.bodies[body].items {
            let (e, model) = (item.e, self.model(item));
            match e.name() {
                "geom" => {
                    let d = model.defaults.apply(e, item.class, f);
                    let place = geom::Place {
                        model,
                        roots: self.roots,
                        weighs: weight.is_some(),
                    };
                    let Some(mut read) = geom::read(place, e, &d, f) else {
                        continue;
                    };
                    if let Some(weight) = weight.as_deref_mut() {
                        if let Some(own) = &read.inertia {
                            weight.sum = weight.sum.with(&own.seen_from(&tree.pose(item)));
                            weight.count += 1;
                            let meshed = matches!(read.geometry.shape, Shape::Mesh { .. });
                            weight.frame = (!meshed).then_some(tree.pose(item) * read.geometry.pose);
                        }
                        weight.unknown.extend(read.unknown.map(|why| (e.spot(), why)));
                    }
                    read.geometry.name = tree.name(item).unwrap_or_default();
                    read.geometry.link = link.to_owned();
                    read.geometry.pose = tree.pose(item) * read.geometry.pose;
                    draft.geometry.push(read.geometry);
                }
                "site" => {
                    if let Some(name) = tree.name(item) {
                        let d = model.defaults.apply(e, item.class, f);
                        let place = tree.pose(item) * pose(&model.compiler, &d, e.at(), f);
                        self.sites.insert(name.clone(), (link.to_owned(), place));
                        draft.frames.push(Placed {
                            item: Frame::new(name, link, place),
                            spot: e.spot(),
                        });
                    }
                }
                "composite" | "flexcomp" | "plugin" => {
                    if self.left_out.insert(e.name()) {
                        let message = format!("<{}> is not modelled; it is left out", e.name());
                        f.doubt(e.at(), "deformable", message, "the rest of the robot moves without it");
                    }
                }
                _ => {}
            }
        }
    }

    /// Sites and bodies have names of their own kind; frames and links share theirs.
    fn frames(&mut self, draft: &mut Draft) {
        let mut taken: HashSet<String> = draft.links.iter().map(|l| l.item.name.clone()).collect();
        taken.insert(WORLD.to_owned());
        for frame in &mut draft.frames {
            if taken.contains(&frame.item.name) {
                let wish = format!("{}_site", frame.item.name);
                frame.item.name = free_name(&wish, |n| taken.contains(n) || self.sites.contains_key(n));
            }
        }
    }

    /// Reads a body.
    fn body(
        &mut self,
        b: usize,
        name: &str,
        parent: &str,
        (moves, carries): (bool, bool),
        draft: &mut Draft,
        f: &mut Findings,
    ) {
        let tree = self.tree;
        let body = &tree.bodies[b];
        let (e, model) = (body.item.e, self.model(&body.item));
        let at = e.at();
        let mut place = tree.pose(&body.item) * plain_pose(&model.compiler, e, at, f);
        if numbers::number(f, e, "gravcomp", at, Range::Usable).is_some_and(|x| x != 0.0) {
            f.doubt(
                at,
                "gravcomp",
                "compensation of gravity is not modelled",
                "the body falls as others do",
            );
        }
        let inertial = body.items.iter().find(|i| i.e.name() == "inertial");
        let from_geoms = match model.compiler.from_geoms {
            FromGeoms::Never => false,
            FromGeoms::Always => true,
            FromGeoms::Missing => inertial.is_none(),
        };
        let mut weight = Weight::default();
        if let Some(inertial) = inertial.filter(|_| !from_geoms) {
            draft.inertia_spots.insert(name.to_owned(), inertial.e.spot());
            let (own, frame) = self.inertial(model, inertial.e, at, f);
            weight.sum = own.seen_from(&tree.pose(inertial));
            weight.frame = frame.map(|x| tree.pose(inertial) * x);
        }
        let (shapes, sites) = (draft.geometry.len(), draft.frames.len());
        self.contents(b, name, from_geoms.then_some(&mut weight), draft, f);
        self.unknown_weight(&weight, name, moves, at, f);
        if weight.count > 1 {
            weight.frame = None;
        }
        let mut inertia = bounded(model, weight.sum);
        let free = self.joints_of(b).find(|j| self.is_free(j, f));
        if let Some(free) = free.filter(|j| !carries && inertia.mass > 0.0 && aligns(model, j.e)) {
            // The body's frame moves to its centre of mass, and all that is on it stays where it was.
            let to = weight
                .frame
                .map_or_else(|| principal(&inertia), |x| Pose::new(x.rotation, inertia.com));
            let back = to.inverse();
            (place, inertia) = (place * to, inertia.seen_from(&back));
            draft.geometry[shapes..].iter_mut().for_each(|g| g.pose = back * g.pose);
            for frame in &mut draft.frames[sites..] {
                frame.item.pose = back * frame.item.pose;
                if let Some((_, on)) = self.sites.get_mut(&frame.item.name) {
                    *on = frame.item.pose;
                }
            }
            let message = "the frame of the body is moved to its centre of mass, as align says";
            f.note(free.e.at(), "aligned-body", message, "");
        }
        let start = self.placed.get(parent).copied().unwrap_or_default() * place;
        self.placed.insert(name.to_owned(), start);
        let link_place = draft.links.len();
        let joints: Vec<_> = self.joints_of(b).collect();
        self.stand(&joints, name, parent, place, e.spot(), draft, f);
        draft.links.insert(
            link_place.min(draft.links.len()),
            Placed {
                item: Link::new(name, inertia),
                spot: e.spot(),
            },
        );
    }

    fn is_free(&self, item: &Item<'a>, f: &mut Findings) -> bool {
        joint::kind_of(self.model(item), item, f) == Some(JointKind::Free)
    }

    /// Reports geoms whose bodies could not be told. A body that moves and weighs nothing else cannot be used.
    fn unknown_weight(&self, weight: &Weight, name: &str, moves: bool, at: At<'_>, f: &mut Findings) {
        let Some((spot, first)) = weight.unknown.first() else {
            return;
        };
        let more = match weight.unknown.len() {
            1 => String::new(),
            n => format!(" (and {} more of this body)", n - 1),
        };
        let advice = "make the mesh readable, or give the body an <inertial>";
        let at = at.seen_at(*spot);
        if moves && weight.sum.mass <= 0.0 {
            let message = format!(
                "all mass of the moving body `{}` is that of a mesh which cannot be used: {first}{more}",
                shortened(name)
            );
            f.error(at, "mesh-inertia", message, advice);
        } else {
            let message = format!("the mass of a mesh is not known and counts as nothing: {first}{more}");
            f.doubt(at, "mesh-inertia", message, advice);
        }
    }

    /// A name that nothing has.
    fn fresh(&mut self, wish: &str) -> String {
        let taken = |n: &str| self.links.contains(n) || self.tree.has("body", n) || n == WORLD;
        let name = free_name(wish, taken);
        self.links.insert(name.clone());
        name
    }

    fn fresh_joint(&mut self, wish: &str) -> String {
        let name = free_name(wish, |n| self.joints.contains(n) || self.tree.has("joint", n));
        self.joints.insert(name.clone());
        name
    }

    /// The joints that a body stands on, with massless links between them.
    #[allow(clippy::too_many_arguments)]
    fn stand(
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

    /// A body's own inertia, and its frame if that is told by more than six moments.
    fn inertial(&self, model: &Model<'_>, e: Element<'_>, at: At<'_>, f: &mut Findings) -> (Inertia, Option<Pose>) {
        let place = plain_pose(&model.compiler, e, at, f);
        let mass = numbers::needed(f, e, "mass", at);
        let mut full = false;
        let moments = if let Some([xx, yy, zz, xy, xz, yz]) = numbers::several(f, e, "fullinertia", at) {
            full = true;
            [xx, xy, xz, yy, yz, zz]
        } else if let Some([xx, yy, zz]) = numbers::several(f, e, "diaginertia", at) {
            [xx, 0.0, 0.0, yy, 0.0, zz]
        } else {
            let message = "its <inertial> has neither diaginertia nor fullinertia: it is a point mass";
            f.doubt(at.seen_at(e.spot()), "missing-inertia", message, "give one of them");
            [0.0; 6]
        };
        let own = Inertia::new(mass, [0.0; 3], moments).seen_from(&place);
        (own, (!full).then_some(place))
    }

    /// What can be done only when all bodies are known.
    pub(super) fn finish(&self, draft: &mut Draft, f: &mut Findings) {
        let Some(total) = self.models[0].compiler.total_mass else {
            return;
        };
        let sum: f64 = draft.links.iter().map(|l| l.item.inertia.mass).sum();
        if sum <= 0.0 {
            f.doubt(
                At::FILE,
                "total-mass",
                "settotalmass is given, but nothing has mass",
                "give masses",
            );
            return;
        }
        for link in &mut draft.links {
            let body = &mut link.item.inertia;
            body.mass *= total / sum;
            body.moments = body.moments.map(|m| m * (total / sum));
        }
    }
}

/// Whether a free joint moves its body's frame to the centre of mass.
fn aligns(model: &Model<'_>, joint: Element<'_>) -> bool {
    match joint.attribute("align").as_deref() {
        Some("true") => true,
        Some("false") => false,
        _ => model.compiler.align,
    }
}

/// The centre of mass and the principal axes, largest moment first.
fn principal(body: &Inertia) -> Pose {
    let (_, axes) = body.principal();
    let turn = Rotation {
        x: axes.z,
        y: axes.y,
        z: axes.z.cross(axes.y),
    };
    Pose::new(turn, body.com)
}

/// A body as the compiler's options bound and balance it.
fn bounded(model: &Model<'_>, body: Inertia) -> Inertia {
    let c = &model.compiler;
    let ([a, b, d], axes) = body.principal();
    let broken = c.balance && d > a + b;
    let small = a < c.least_inertia;
    let mass = body.mass.max(c.least_mass);
    if !broken && !small {
        return Inertia { mass, ..body };
    }
    let mean = (a + b + d) / 3.0;
    let [x, y, z] = if broken {
        [mean; 3]
    } else {
        [a, b, d].map(|m| m.max(c.least_inertia))
    };
    let straight = Inertia::new(mass, [0.0; 3], [x, 0.0, 0.0, y, 0.0, z]);
    Inertia {
        com: body.com,
        ..straight.seen_from(&Pose::from_rotation(axes))
    }
}
