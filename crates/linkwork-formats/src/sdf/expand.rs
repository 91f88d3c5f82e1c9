//! Models in models, includes included, as flat lists of everything that has a place and a name.

use super::files::{Files, Version, uri, version};
use super::text;
use crate::report::Findings;
use crate::source::{At, Spot, shortened};
use crate::xml::Element;
use linkwork::spatial::Pose;
use std::collections::HashMap;

/// Models nested deeper than this are refused.
const DEEPEST: usize = 64;
/// More things than this from included files are refused: a few files can include each other very often.
const MOST_INCLUDED: usize = 50_000;
/// The world's node, and its scope.
pub(super) const WORLD: usize = 0;

/// Something that has a pose.
pub(super) struct Node {
    /// With the names of the models around it.
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) spot: Spot,
    /// Where its names are looked up.
    pub(super) scope: usize,
    /// What `__model__` means there.
    pub(super) model: usize,
    pub(super) pose: Pose,
    /// What the pose is relative to, if that is said.
    pub(super) relative_to: Option<String>,
    /// What it is relative to if not; none for the frame that it is attached to.
    pub(super) base: Option<usize>,
}

/// What it is.
pub(super) enum Kind {
    World,
    /// A model: its scope, the frame that its pose is about, its canonical link, and what stands in for that.
    Model {
        inner: usize,
        placement: Option<String>,
        canonical: Option<String>,
        first: Option<usize>,
    },
    Link(usize),
    Joint(usize),
    Frame {
        attached_to: Option<String>,
    },
}

pub(super) struct LinkItem<'a> {
    pub(super) e: Element<'a>,
    pub(super) node: usize,
    /// Whether its model is static.
    pub(super) fixed: bool,
    /// The file it stands in.
    pub(super) file: usize,
}

pub(super) struct JointItem<'a> {
    pub(super) e: Element<'a>,
    pub(super) node: usize,
    pub(super) version: Version,
    pub(super) parent: String,
    pub(super) child: String,
    /// Whether its model is static: nothing moves.
    pub(super) fixed: bool,
}

/// A constraint of Drake's, and the node that names are seen from.
pub(super) struct ConstraintItem<'a> {
    pub(super) e: Element<'a>,
    pub(super) node: usize,
}

/// The models of a file, expanded.
pub(super) struct Expansion<'a> {
    files: &'a Files,
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<LinkItem<'a>>,
    pub(super) joints: Vec<JointItem<'a>>,
    pub(super) constraints: Vec<ConstraintItem<'a>>,
    /// The nodes of frames, without those of links, joints and models.
    pub(super) frames: Vec<usize>,
    /// By scope and name, a node.
    names: Vec<HashMap<String, usize>>,
    /// What is not modelled, once for each kind, and what to say of it.
    pub(super) ignored: Vec<(Element<'a>, &'static str)>,
    included: usize,
}

/// Where a model stands.
#[derive(Clone)]
struct Around {
    scope: usize,
    model: usize,
    /// `a::b::`
    prefix: String,
    fixed: bool,
    version: Version,
    file: usize,
    depth: usize,
}

/// What an include says about the model that it brings.
#[derive(Default)]
struct Override<'a> {
    name: Option<String>,
    pose: Option<Element<'a>>,
    fixed: Option<bool>,
    placement: Option<String>,
    merged: bool,
}

impl<'a> Expansion<'a> {
    pub(super) fn new(files: &'a Files) -> Self {
        let world = Node {
            name: linkwork::model::WORLD.to_owned(),
            kind: Kind::World,
            spot: Spot::default(),
            scope: 0,
            model: 0,
            pose: Pose::IDENTITY,
            relative_to: None,
            base: Some(WORLD),
        };
        Self {
            files,
            nodes: vec![world],
            links: Vec::new(),
            joints: Vec::new(),
            constraints: Vec::new(),
            frames: Vec::new(),
            names: vec![HashMap::new()],
            ignored: Vec::new(),
            included: 0,
        }
    }

    /// The directory of the file that a link stands in; none for the first.
    pub(super) fn folder(&self, link: &LinkItem<'_>) -> Option<&std::path::Path> {
        self.files.folder(link.file)
    }

    /// The file's only model, whose names stand alone.
    pub(super) fn model(&mut self, e: Element<'a>, version: Version, f: &mut Findings) {
        self.read_model(e, &outermost(version), &Override::default(), false, f);
    }

    /// One of several models.
    pub(super) fn one_of_many(&mut self, e: Element<'a>, version: Version, f: &mut Findings) {
        self.read_model(e, &outermost(version), &Override::default(), true, f);
    }

    /// Everything of a world.
    pub(super) fn world(&mut self, e: Element<'a>, version: Version, f: &mut Findings) {
        let around = outermost(version);
        for child in e.children() {
            match child.name() {
                "model" => {
                    self.read_model(child, &around, &Override::default(), true, f);
                }
                "include" => {
                    self.include(child, &around, f);
                }
                "frame" => self.frame(child, &around, f),
                "joint" => self.joint(child, &around, f),
                "population" => self.ignore(child, "is not expanded"),
                "state" => self.ignore(child, "of a running simulation plays no part"),
                _ => {}
            }
        }
    }

    fn ignore(&mut self, e: Element<'a>, message: &'static str) {
        if !self.ignored.iter().any(|(other, _)| other.name() == e.name()) {
            self.ignored.push((e, message));
        }
    }

    /// Adds a node, under its name in its scope unless that is taken.
    fn add(&mut self, e: Element<'a>, local: &str, kind: Kind, base: Option<usize>, around: &Around) -> usize {
        let index = self.nodes.len();
        self.names[around.scope].entry(local.to_owned()).or_insert(index);
        self.nodes.push(Node {
            name: format!("{}{local}", around.prefix),
            kind,
            spot: e.spot(),
            scope: around.scope,
            model: around.model,
            pose: Pose::IDENTITY,
            relative_to: None,
            base,
        });
        index
    }

    /// Reads the `<pose>` of an element into its node.
    fn pose(&mut self, node: usize, pose: Option<Element<'a>>, f: &mut Findings) {
        let Some(e) = pose else { return };
        let name = self.nodes[node].name.clone();
        self.nodes[node].pose = text::pose(f, e, At::new(e.spot(), "pose of", &name));
        // Up to 1.6 the attribute was `frame`.
        let other = e.attribute("relative_to").or_else(|| e.attribute("frame"));
        self.nodes[node].relative_to = other.filter(|o| !o.is_empty()).map(|o| o.into_owned());
    }

    /// Reads a model with all that is in it; gives its node.
    fn read_model(
        &mut self,
        e: Element<'a>,
        around: &Around,
        over: &Override<'a>,
        prefixed: bool,
        f: &mut Findings,
    ) -> Option<usize> {
        if around.depth > DEEPEST {
            let message = format!("models are nested or include each other more than {DEEPEST} deep");
            f.error(
                e.at(),
                "too-deep",
                message,
                "flatten the file, and look for models that include themselves",
            );
            return None;
        }
        let mut local = match &over.name {
            Some(name) => name.clone(),
            None => e.attribute("name").unwrap_or_default().into_owned(),
        };
        if prefixed && !over.merged && self.names[around.scope].contains_key(&local) {
            local = self.other_name(e, &local, around.scope, f);
        }
        let given = e.child("static").and_then(|s| text::flag(f, s, e.at()));
        let attribute = |name: &str| e.attribute(name).filter(|n| !n.is_empty()).map(|n| n.into_owned());
        let inner = if over.merged { around.scope } else { self.names.len() };
        let kind = Kind::Model {
            inner,
            placement: over.placement.clone().or_else(|| attribute("placement_frame")),
            canonical: attribute("canonical_link"),
            first: None,
        };
        let label = if over.merged {
            format!("_merged__{local}__model__")
        } else {
            local.clone()
        };
        let node = self.add(e, &label, kind, Some(around.model), around);
        self.pose(node, over.pose.or_else(|| e.child("pose")), f);
        if !over.merged {
            self.names.push(HashMap::new());
        }
        let inside = Around {
            scope: inner,
            model: node,
            prefix: if prefixed && !over.merged {
                format!("{}{local}::", around.prefix)
            } else {
                around.prefix.clone()
            },
            fixed: around.fixed || over.fixed.or(given).unwrap_or(false),
            depth: around.depth + 1,
            version: around.version,
            file: around.file,
        };
        for child in e.children() {
            let first = match child.name() {
                "link" => Some(self.link(child, &inside, f)),
                "model" => self.read_model(child, &inside, &Override::default(), true, f),
                "include" => self.include(child, &inside, f),
                "frame" => {
                    self.frame(child, &inside, f);
                    None
                }
                "joint" => {
                    self.joint(child, &inside, f);
                    None
                }
                "drake:joint" if child.attribute("type").as_deref() == Some("planar") => {
                    self.joint(child, &inside, f);
                    None
                }
                "drake:ball_constraint" => {
                    let label = format!("_constraint__{}__", self.constraints.len());
                    let kind = Kind::Frame { attached_to: None };
                    let node = self.add(child, &label, kind, Some(inside.model), &inside);
                    self.constraints.push(ConstraintItem { e: child, node });
                    None
                }
                name if name.starts_with("drake:") && (name.ends_with("joint") || name.ends_with("constraint")) => {
                    self.ignore(child, "is not modelled");
                    None
                }
                "drake:linear_bushing_rpy" => {
                    self.ignore(child, "is not modelled");
                    None
                }
                _ => None,
            };
            if let Kind::Model { first: slot, .. } = &mut self.nodes[node].kind {
                *slot = slot.or(first);
            }
            self.included += usize::from(around.file != 0);
            if self.too_much(child, f) {
                return None;
            }
        }
        Some(node)
    }

    /// A name for a model whose own is taken.
    fn other_name(&self, e: Element<'a>, name: &str, scope: usize, f: &mut Findings) -> String {
        let tried = (2..100).map(|i| format!("{name}_{i}"));
        let mut free = tried.filter(|n| !self.names[scope].contains_key(n));
        let new = free.next().unwrap_or_else(|| name.to_owned());
        let how = format!("this one is now `{}`", shortened(&new));
        let remedy = crate::report::Remedy::Change(&how);
        let message = "another model, link, joint or frame beside it has the same name";
        f.judge(e.at(), "duplicate-name", message, "rename one of them", remedy);
        new
    }

    /// Whether included files bring more than is allowed; reported if so.
    fn too_much(&self, e: Element<'_>, f: &mut Findings) -> bool {
        if self.included <= MOST_INCLUDED {
            return false;
        }
        let message = format!("included files bring more than {MOST_INCLUDED} parts");
        f.error(e.at(), "too-many", message, "look for models that include each other");
        true
    }

    fn link(&mut self, e: Element<'a>, around: &Around, f: &mut Findings) -> usize {
        let local = e.attribute("name").unwrap_or_default().into_owned();
        let node = self.add(e, &local, Kind::Link(self.links.len()), Some(around.model), around);
        self.links.push(LinkItem {
            e,
            node,
            fixed: around.fixed,
            file: around.file,
        });
        self.pose(node, e.child("pose"), f);
        node
    }

    fn frame(&mut self, e: Element<'a>, around: &Around, f: &mut Findings) {
        let local = e.attribute("name").unwrap_or_default().into_owned();
        let attached_to = e
            .attribute("attached_to")
            .filter(|a| !a.is_empty())
            .map(|a| a.into_owned());
        let kind = Kind::Frame {
            attached_to: attached_to.clone(),
        };
        let node = self.add(e, &local, kind, Some(around.model), around);
        self.pose(node, e.child("pose"), f);
        if self.nodes[node].relative_to.is_none() {
            self.nodes[node].relative_to = attached_to;
        }
        self.frames.push(node);
    }

    fn joint(&mut self, e: Element<'a>, around: &Around, f: &mut Findings) {
        let local = e.attribute("name").unwrap_or_default().into_owned();
        let end = |name: &str| e.child(name).map_or_else(String::new, |x| x.content().into_owned());
        let (parent, child) = match e.name() {
            "drake:joint" => (end("drake:parent"), end("drake:child")),
            _ => (end("parent"), end("child")),
        };
        let node = self.add(e, &local, Kind::Joint(self.joints.len()), Some(around.model), around);
        self.pose(node, e.child("pose"), f);
        if self.nodes[node].relative_to.is_none() {
            self.nodes[node].relative_to = Some(child.clone());
        }
        for (what, name) in [("parent", &parent), ("child", &child)] {
            if name.is_empty() {
                let message = format!("the joint has no {what} link");
                f.error(e.at(), "missing-link", message, "name one");
            }
        }
        self.joints.push(JointItem {
            e,
            node,
            version: around.version,
            parent,
            child,
            fixed: around.fixed,
        });
    }

    /// Brings in the model of another file.
    fn include(&mut self, e: Element<'a>, around: &Around, f: &mut Findings) -> Option<usize> {
        let uri = uri(e);
        let Some((root, file)) = self.files.included(e) else {
            self.missing(e, &uri, around, f);
            return None;
        };
        let at = e.at();
        if root.name() != "sdf" {
            let message = format!("`{}` is not an SDF file", shortened(&uri));
            f.error(
                at,
                "include",
                message,
                "convert it first: `linkwork convert robot.urdf robot.sdf`",
            );
            return None;
        }
        let version = version(root, f);
        let mut models = root.children_named("model");
        let model = models.next();
        let (Some(model), None) = (model, models.next()) else {
            if root.child("light").is_none() && root.child("actor").is_none() {
                let message = format!("`{}` does not hold one model", shortened(&uri));
                f.error(at, "include", message, "include a file with one <model>");
            }
            return None;
        };
        let content = |name: &str| {
            e.child(name)
                .map(|x| x.content().into_owned())
                .filter(|x| !x.is_empty())
        };
        let over = Override {
            name: content("name"),
            pose: e.child("pose"),
            fixed: e.child("static").and_then(|s| text::flag(f, s, at)),
            placement: content("placement_frame"),
            merged: matches!(e.attribute("merge").as_deref(), Some("true" | "1")),
        };
        let around = Around {
            version,
            file,
            ..around.clone()
        };
        self.read_model(model, &around, &over, true, f)
    }

    /// An include of a file that is not there: in a world the rest goes on, in a model a part is missing.
    fn missing(&mut self, e: Element<'a>, uri: &str, around: &Around, f: &mut Findings) {
        let scenery = ["model://sun", "model://ground_plane"]
            .iter()
            .any(|s| uri.trim_end_matches('/') == *s);
        let message = format!("the included file `{}` was not found", shortened(uri));
        let advice = if uri.starts_with("http") {
            "fetch it, and include it from its directory"
        } else {
            "give the directory that it is in with --package NAME=PATH, or put it beside this file"
        };
        if scenery && around.depth == 0 {
            f.note(e.at(), "include", format!("{message}: it is left out"), advice);
        } else if around.depth == 0 {
            let remedy = crate::report::Remedy::Change("it is left out");
            f.judge(e.at(), "include", message, advice, remedy);
        } else {
            f.error(e.at(), "include", message, advice);
        }
    }

    /// The node that a name means, seen from another.
    pub(super) fn find(&self, from: usize, name: &str) -> Option<usize> {
        let node = &self.nodes[from];
        self.find_in(node.scope, node.model, name)
    }

    /// The node that a name means in a scope whose model is known.
    pub(super) fn find_in(&self, scope: usize, model: usize, name: &str) -> Option<usize> {
        match name {
            "__model__" => return Some(model),
            "world" => return Some(WORLD),
            _ => {}
        }
        if let Some(&found) = self.names[scope].get(name) {
            return Some(found);
        }
        // `a::b` is b in the model a; a name of a file that was flattened may hold `::` itself.
        for (at, _) in name.match_indices("::").take(DEEPEST) {
            let (outer, rest) = (&name[..at], &name[at + 2..]);
            if let Some(&found) = self.names[scope].get(outer)
                && let Kind::Model { inner, .. } = self.nodes[found].kind
            {
                return self.find_in(inner, found, rest);
            }
        }
        None
    }
}

fn outermost(version: Version) -> Around {
    Around {
        scope: 0,
        model: WORLD,
        prefix: String::new(),
        fixed: false,
        version,
        file: 0,
        depth: 0,
    }
}
