//! Bodies, and what is on them.

use super::body_inertia::{self, Weight};
use super::body_joints::Coordinate;
use super::compiler::FromGeoms;
use super::expand::{Item, Tree};
use super::orientation::{plain_pose, pose};
use super::{Model, contact, geom, joint, terrain};
use crate::draft::Draft;
use crate::draft::{Placed, free_name};
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::robot::Shape;
use crate::search_paths::SearchPaths;
use crate::source::At;
use linkwork::model::{Frame, JointKind, Link, WORLD};
use linkwork::spatial::Pose;
use std::collections::{HashMap, HashSet};

/// A reader of bodies, and what it has met.
pub(super) struct Bodies<'a> {
    models: &'a [Model<'a>],
    pub(super) tree: &'a Tree<'a>,
    roots: &'a SearchPaths,
    /// Names that were made here.
    links: HashSet<String>,
    joints: HashSet<String>,
    /// Links by name, and where they are in the world as the file is written.
    pub(super) placed: HashMap<String, Pose>,
    /// Sites by name: the link and the place on it.
    pub(super) sites: HashMap<String, (String, Pose)>,
    /// What frames of sites are called that share their names with bodies.
    frame_names: HashMap<String, String>,
    /// `ref` of joints that have one.
    pub(super) references: HashMap<String, f64>,
    /// `springref` of joints that have one.
    pub(super) springs: HashMap<String, f64>,
    /// In MuJoCo's order.
    pub(super) coordinates: Vec<Coordinate>,
    /// Kinds that were left out and reported.
    left_out: HashSet<&'a str>,
}

impl<'a> Bodies<'a> {
    pub(super) fn new(models: &'a [Model<'a>], tree: &'a Tree<'a>, roots: &'a SearchPaths) -> Self {
        let world = (WORLD.to_owned(), Pose::IDENTITY);
        Self {
            models,
            tree,
            roots,
            links: HashSet::new(),
            joints: HashSet::new(),
            placed: HashMap::from([world]),
            sites: HashMap::new(),
            frame_names: HashMap::new(),
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
                    if d.attribute("type").as_deref() == Some("hfield") {
                        if let Some(mut read) = terrain::read(place, e, &d, f) {
                            read.name = tree.name(item).unwrap_or_default();
                            read.link = link.to_owned();
                            read.pose = tree.pose(item) * read.pose;
                            draft.terrains.push(read);
                        }
                        continue;
                    }
                    let read = match place.weighs {
                        true => geom::read(place, e, &d, f),
                        false => f.leniently(|f| geom::read(place, e, &d, f)),
                    };
                    let Some(mut read) = read else { continue };
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
                    draft.touches.insert(draft.geometry.len(), contact::read(&d, e.at(), f));
                    draft.geometry.push(read.geometry);
                }
                "site" => {
                    if let Some(name) = tree.name(item) {
                        let d = model.defaults.apply(e, item.class, f);
                        let place = tree.pose(item) * pose(&model.compiler, &d, e.at(), f);
                        self.sites.insert(name.clone(), (link.to_owned(), place));
                        if let Some(zone) = geom::zone(&d, e.at(), f) {
                            draft.zones.insert(name.clone(), zone);
                        }
                        draft.frames.push(Placed {
                            item: Frame::new(name, link, place),
                            spot: e.spot(),
                        });
                    }
                }
                "composite" | "flexcomp" | "plugin" if self.left_out.insert(e.name()) => {
                    let message = format!("<{}> is not modelled; it is left out", e.name());
                    f.doubt(e.at(), "deformable", message, "the rest of the robot moves without it");
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
                let new = free_name(&wish, |n| taken.contains(n) || self.sites.contains_key(n));
                self.frame_names.insert(frame.item.name.clone(), new.clone());
                if let Some(zone) = draft.zones.remove(&frame.item.name) {
                    draft.zones.insert(new.clone(), zone);
                }
                frame.item.name = new;
            }
        }
    }

    /// The name of the mechanism's frame for a site; other names as they are.
    pub(super) fn frame_of(&self, tag: &str, name: String) -> String {
        match self.frame_names.get(&name).filter(|_| tag == "site") {
            Some(new) => new.clone(),
            None => name,
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
        if let Some(share) = numbers::number(f, e, "gravcomp", at, Range::Usable).filter(|x| *x != 0.0) {
            draft.floating.insert(name.to_owned(), share);
            f.note(at, "gravcomp", "compensation of gravity acts in simulations alone", "");
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
            let (own, frame) = body_inertia::inertial(model, inertial.e, at, f);
            weight.sum = own.seen_from(&tree.pose(inertial));
            weight.frame = frame.map(|x| tree.pose(inertial) * x);
        }
        let (shapes, sites) = (draft.geometry.len(), draft.frames.len());
        self.contents(b, name, from_geoms.then_some(&mut weight), draft, f);
        weight.report_unknown(name, moves, at, f);
        if weight.count > 1 {
            weight.frame = None;
        }
        let mut inertia = body_inertia::bounded(model, weight.sum);
        let free = self.joints_of(b).find(|j| self.is_free(j, f));
        if let Some(free) = free.filter(|j| !carries && inertia.mass > 0.0 && body_inertia::aligns(model, j.e)) {
            // The body's frame moves to its centre of mass, and all that is on it stays where it was.
            let to = weight.frame.map_or_else(
                || body_inertia::principal(&inertia),
                |x| Pose::new(x.rotation, inertia.com),
            );
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

    /// A name that nothing has.
    pub(super) fn fresh(&mut self, wish: &str) -> String {
        let taken = |n: &str| self.links.contains(n) || self.tree.has("body", n) || n == WORLD;
        let name = free_name(wish, taken);
        self.links.insert(name.clone());
        name
    }

    pub(super) fn fresh_joint(&mut self, wish: &str) -> String {
        let name = free_name(wish, |n| self.joints.contains(n) || self.tree.has("joint", n));
        self.joints.insert(name.clone());
        name
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
