//! Bodies as they stand once frames, replicas and attached models are written out.

use super::Model;
use super::orientation::{euler, plain_pose};
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::source::shortened;
use crate::xml::Element;
use linkwork::spatial::{Pose, Vec3};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// More elements than these, replicas included, are refused.
const MOST: usize = 300_000;
/// More replicas than these are refused.
const MOST_SPACES: usize = 20_000;
/// More attached models than these are refused.
const MOST_ATTACHED: usize = 1000;
/// Models that attach models, deeper than this, are refused.
const DEEPEST: usize = 16;

/// Where names have a prefix and a suffix: the main model, a model that it attaches, or a replica.
#[derive(Clone, Debug, Default)]
pub(super) struct Space {
    pub(super) model: usize,
    prefix: String,
    suffix: String,
    /// Of a replica, what it is a replica in.
    outer: Option<usize>,
    /// How many models are around this one.
    depth: usize,
    /// The numbers of the replica and of those that it is in, outermost first.
    order: Vec<usize>,
}

/// An element of a body, and what encloses it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    pub(super) e: Element<'a>,
    pub(super) space: usize,
    /// Of the enclosing `<frame>`s, in the body: see [`Tree::pose`].
    frame: u32,
    /// The default class of what has none of its own.
    pub(super) class: Option<usize>,
}

/// A body; the first one is the world.
#[derive(Debug)]
pub(super) struct Body<'a> {
    /// The body itself, in its parent; `class` is for what is in it.
    pub(super) item: Item<'a>,
    pub(super) parent: usize,
    /// Joints, geoms, sites and so on, in the order of the file.
    pub(super) items: Vec<Item<'a>>,
}

/// All bodies, depth first in the order of the file, as MuJoCo numbers them.
pub(super) struct Tree<'a> {
    models: &'a [Model<'a>],
    pub(super) bodies: Vec<Body<'a>>,
    pub(super) spaces: Vec<Space>,
    /// Poses of frames; the first is none at all.
    frames: Vec<Pose>,
    /// Names with prefix and suffix, by the tag of what they name.
    names: HashMap<&'static str, HashSet<String>>,
    /// By the space around all replicas, a tag and a name as written: the replicas that have it.
    replicas: HashMap<(usize, &'static str, String), Vec<usize>>,
    /// How many models are attached.
    attached: usize,
}

/// Names of these are kept.
const NAMED: [&str; 4] = ["body", "joint", "site", "geom"];

struct Work<'a> {
    e: Element<'a>,
    parent: usize,
    space: usize,
    frame: u32,
    class: Option<usize>,
}

/// What may stand in a body; nothing else is kept.
const CONTENTS: [&str; 12] = [
    "body",
    "frame",
    "replicate",
    "attach",
    "joint",
    "freejoint",
    "geom",
    "site",
    "inertial",
    "composite",
    "flexcomp",
    "plugin",
];

impl<'a> Tree<'a> {
    /// The bodies of a model, and of those that it attaches.
    pub(super) fn expand(models: &'a [Model<'a>], model: usize, f: &mut Findings) -> Self {
        let worlds: Vec<_> = models[model].section("worldbody").collect();
        let root = models[model].includes.root();
        let main = Space {
            model,
            ..Space::default()
        };
        let item = Item {
            e: worlds.first().copied().unwrap_or(root),
            space: 0,
            frame: 0,
            class: None,
        };
        let mut this = Self {
            models,
            bodies: vec![Body {
                item,
                parent: 0,
                items: Vec::new(),
            }],
            spaces: vec![main],
            frames: vec![Pose::IDENTITY],
            names: NAMED.iter().map(|n| (*n, HashSet::new())).collect(),
            replicas: HashMap::new(),
            attached: 0,
        };
        let mut waiting = Vec::new();
        for world in worlds.into_iter().rev() {
            let class = this.class(world, 0, None, f);
            this.push_children(world, 0, 0, 0, class, &mut waiting);
        }
        let mut met = 0;
        while let Some(work) = waiting.pop() {
            met += 1;
            if met > MOST || this.spaces.len() > MOST_SPACES {
                let message = format!("more than {MOST} elements, or {MOST_SPACES} replicas, come of this model");
                f.error(work.e.at(), "too-large", message, "replicate less");
                break;
            }
            this.take(work, &mut waiting, f);
        }
        this
    }

    pub(super) fn model(&self, space: usize) -> &'a Model<'a> {
        &self.models[self.spaces[space].model]
    }

    fn push_children(
        &self,
        e: Element<'a>,
        parent: usize,
        space: usize,
        frame: u32,
        class: Option<usize>,
        waiting: &mut Vec<Work<'a>>,
    ) {
        let children = self.model(space).includes.children(e).into_iter().rev();
        waiting.extend(children.filter(|c| CONTENTS.contains(&c.name())).map(|e| Work {
            e,
            parent,
            space,
            frame,
            class,
        }));
    }

    /// The class for what is in an element.
    fn class(&self, e: Element<'_>, space: usize, outer: Option<usize>, f: &mut Findings) -> Option<usize> {
        match e.attribute("childclass") {
            Some(name) => self.model(space).defaults.class(e, &name, f).or(outer),
            None => outer,
        }
    }

    fn take(&mut self, work: Work<'a>, waiting: &mut Vec<Work<'a>>, f: &mut Findings) {
        let Work {
            e,
            parent,
            space,
            frame,
            class,
        } = work;
        let tag = match e.name() {
            "freejoint" => Some("joint"),
            name => NAMED.into_iter().find(|n| *n == name),
        };
        if let (Some(tag), Some(name)) = (tag, e.attribute("name").filter(|n| !n.is_empty())) {
            self.add_name(tag, space, &name);
        }
        let item = Item { e, space, frame, class };
        match e.name() {
            "body" => {
                let class = self.class(e, space, class, f);
                let body = self.bodies.len();
                self.bodies.push(Body {
                    item: Item { class, ..item },
                    parent,
                    items: Vec::new(),
                });
                self.push_children(e, body, space, 0, class, waiting);
            }
            "frame" => {
                let own = plain_pose(&self.model(space).compiler, e, e.at(), f);
                let class = self.class(e, space, class, f);
                let frame = self.add_frame(self.frames[frame as usize] * own);
                self.push_children(e, parent, space, frame, class, waiting);
            }
            "replicate" => self.replicate(&item, parent, waiting, f),
            "attach" => self.attach(&item, parent, waiting, f),
            _ => self.bodies[parent].items.push(item),
        }
    }

    /// So many copies, each further by the same step; their names end in their number, with leading zeros.
    fn replicate(&mut self, item: &Item<'a>, parent: usize, waiting: &mut Vec<Work<'a>>, f: &mut Findings) {
        let Item { e, space, class, .. } = *item;
        let pose = self.pose(item);
        let (at, model) = (e.at(), self.model(space));
        let count = numbers::number(f, e, "count", at, Range::Usable).unwrap_or(0.0);
        if !(1.0..=MOST_SPACES as f64).contains(&count) || count.fract() != 0.0 {
            let message = format!("count is {count}");
            let advice = format!("give a whole number from 1 to {MOST_SPACES}");
            f.error(at.seen_at(e.spot_of("count")), "replicate", message, &advice);
            return;
        }
        let joint = model
            .includes
            .children(e)
            .into_iter()
            .find(|c| matches!(c.name(), "joint" | "freejoint"));
        if let Some(joint) = joint {
            let message = "a joint stands in a <replicate> without a body of its own";
            f.error(joint.at(), "replicate", message, "put a body around it");
            return;
        }
        let count = count as usize;
        let offset = numbers::vector(f, e, "offset", at).unwrap_or(Vec3::ZERO);
        let angles = numbers::several::<3>(f, e, "euler", at).unwrap_or_default();
        // As MuJoCo does: each copy is turned by as many times the angles, and steps along the axes of the one before.
        let turn = |i: usize| {
            let angle = i as f64 * model.compiler.angle;
            euler(model.compiler.euler, angles.map(|a| a * angle))
        };
        let mut position = Vec3::ZERO;
        let separator = e.attribute("sep").unwrap_or_default();
        let class = self.class(e, space, class, f);
        let digits = count.to_string().len();
        let mut copies = Vec::with_capacity(count.min(1000));
        for i in 0..count {
            let frame = self.add_frame(pose * Pose::new(turn(i), position));
            copies.push((self.spaces.len(), frame));
            position += turn(i) * offset;
            let outer = &self.spaces[space];
            self.spaces.push(Space {
                suffix: format!("{separator}{i:0digits$}{}", outer.suffix),
                outer: Some(space),
                order: outer.order.iter().copied().chain([i]).collect(),
                ..outer.clone()
            });
            if self.spaces.len() > MOST_SPACES {
                return;
            }
        }
        for (space, frame) in copies.into_iter().rev() {
            self.push_children(e, parent, space, frame, class, waiting);
        }
    }

    /// A body of another model, a frame of it, or all that stands on its world.
    fn attach(&mut self, item: &Item<'a>, parent: usize, waiting: &mut Vec<Work<'a>>, f: &mut Findings) {
        let Item { e, space, frame, .. } = *item;
        let at = e.at();
        let wanted = e.attribute("model").unwrap_or_default();
        let Some(&model) = self.model(space).models.get(&*wanted) else {
            let message = format!("there is no <model> asset `{}`", shortened(&wanted));
            f.error(at, "attach", message, "add it to <asset>, or correct the name");
            return;
        };
        let outer = &self.spaces[space];
        self.attached += 1;
        if self.attached > MOST_ATTACHED {
            let message = format!("more than {MOST_ATTACHED} models are attached");
            f.error(at, "too-large", message, "attach fewer");
            return;
        }
        if outer.depth >= DEEPEST {
            let message = format!("models are attached to models more than {DEEPEST} deep, or in a circle");
            f.error(at, "attach", message, "attach fewer");
            return;
        }
        let prefix = e.attribute("prefix").unwrap_or_default();
        let inner = self.spaces.len();
        self.spaces.push(Space {
            model,
            prefix: format!("{}{prefix}", outer.prefix),
            suffix: outer.suffix.clone(),
            outer: None,
            depth: outer.depth + 1,
            order: Vec::new(),
        });
        let named =
            |tag: &str, e: Element<'_>, name: &str| e.name() == tag && e.attribute("name").as_deref() == Some(name);
        let wish = [("body", e.attribute("body")), ("frame", e.attribute("frame"))];
        let wish = wish.into_iter().find_map(|(tag, name)| Some((tag, name?)));
        let mut stack: Vec<_> = self.models[model].section("worldbody").map(|w| (w, None)).collect();
        stack.reverse();
        let Some((tag, name)) = wish else {
            for (world, _) in stack {
                let class = self.class(world, inner, None, f);
                self.push_children(world, parent, inner, frame, class, waiting);
            }
            return;
        };
        // Classes of bodies around the one that is wanted apply to it.
        while let Some((candidate, class)) = stack.pop() {
            if named(tag, candidate, &name) {
                waiting.push(Work {
                    e: candidate,
                    parent,
                    space: inner,
                    frame,
                    class,
                });
                return;
            }
            let class = self.class(candidate, inner, class, f);
            stack.extend(
                self.models[model]
                    .includes
                    .children(candidate)
                    .into_iter()
                    .map(|c| (c, class))
                    .rev(),
            );
        }
        let message = format!("model `{}` has no {tag} `{}`", shortened(&wanted), shortened(&name));
        f.error(at, "attach", message, "correct the name");
    }

    fn add_frame(&mut self, pose: Pose) -> u32 {
        self.frames.push(pose);
        self.frames.len() as u32 - 1
    }

    /// The pose of the frames that an element stands in, in its body.
    pub(super) fn pose(&self, item: &Item<'_>) -> Pose {
        self.frames[item.frame as usize]
    }

    /// The name of an element, with its prefix and suffix.
    pub(super) fn name(&self, item: &Item<'_>) -> Option<String> {
        let name = item.e.attribute("name").filter(|n| !n.is_empty())?;
        Some(self.spaces[item.space].full(&name))
    }

    /// Whether anything of a kind has a name.
    pub(super) fn has(&self, tag: &str, name: &str) -> bool {
        self.names.get(tag).is_some_and(|names| names.contains(name))
    }

    /// The full name that a reference means where it stands, if there is such a thing.
    pub(super) fn resolve(&self, space: usize, tag: &str, name: &str) -> Option<String> {
        let mut next = Some(space);
        while let Some(s) = next {
            let full = self.spaces[s].full(name);
            if self.has(tag, &full) {
                return Some(full);
            }
            next = self.spaces[s].outer;
        }
        None
    }

    /// The elements of a section, as often as they count: those of the main model; those of it that refer to what is in a
    /// replica, once for each; and those of attached models all of whose references are there. `references` gives the
    /// kinds and names that an element refers to. As in MuJoCo, what refers to several replicas, or to one and to what is
    /// in none, does not count.
    pub(super) fn elements(
        &self,
        section: &'static str,
        references: impl Fn(Element<'a>) -> Vec<(&'static str, String)>,
        f: &mut Findings,
    ) -> Vec<Item<'a>> {
        let mut found = Vec::new();
        for base in self.bases() {
            let model = self.model(base);
            // By replica, so that each one's elements stand together, as MuJoCo has them.
            let mut repeated: BTreeMap<(&[usize], usize), Vec<Element<'a>>> = BTreeMap::new();
            let mut item = |e, space| {
                found.push(Item {
                    e,
                    space,
                    frame: 0,
                    class: None,
                });
            };
            for e in model.items(section) {
                let wanted = references(e);
                let own = |(tag, name): &(&str, String)| self.has(tag, &self.spaces[base].full(name));
                let replicas: BTreeSet<usize> = wanted
                    .iter()
                    .filter(|w| !own(w))
                    .filter_map(|(tag, name)| self.replicas.get(&(base, *tag, name.clone())))
                    .flatten()
                    .copied()
                    .collect();
                // What the main model refers to and is not there is reported by its reader.
                if replicas.is_empty() && (base == 0 || wanted.iter().all(own)) {
                    item(e, base);
                }
                let complete = |s: &usize| wanted.iter().all(|(t, n)| self.has(t, &self.spaces[*s].full(n)));
                let (whole, parts): (Vec<usize>, Vec<usize>) = replicas.into_iter().partition(complete);
                if whole.is_empty() && !parts.is_empty() {
                    let message = "it refers to a replica and to what is not in it; it is left out, as MuJoCo does";
                    f.doubt(
                        e.at(),
                        "replicate",
                        message,
                        "put all that it refers to into one replica",
                    );
                }
                for space in whole {
                    repeated.entry((&self.spaces[space].order, space)).or_default().push(e);
                }
            }
            for ((_, space), elements) in repeated {
                elements.into_iter().for_each(|e| item(e, space));
            }
        }
        found
    }

    /// Takes in the names of elements of a section.
    pub(super) fn add_names(&mut self, tag: &'static str, items: &[Item<'a>]) {
        for item in items {
            let Some(name) = item.e.attribute("name").filter(|n| !n.is_empty()) else {
                continue;
            };
            self.add_name(tag, item.space, &name);
        }
    }

    fn add_name(&mut self, tag: &'static str, space: usize, name: &str) {
        let full = self.spaces[space].full(name);
        self.names.entry(tag).or_default().insert(full);
        if self.spaces[space].outer.is_some() {
            let key = (self.base(space), tag, name.to_owned());
            self.replicas.entry(key).or_default().push(space);
        }
    }

    /// The main model and those that are attached.
    pub(super) fn bases(&self) -> impl Iterator<Item = usize> + use<'_, 'a> {
        (0..self.spaces.len()).filter(|&s| self.spaces[s].outer.is_none())
    }

    /// The space around all replicas that a space is in.
    pub(super) fn base(&self, mut space: usize) -> usize {
        while let Some(outer) = self.spaces[space].outer {
            space = outer;
        }
        space
    }
}

impl Space {
    /// A name with prefix and suffix.
    pub(super) fn full(&self, name: &str) -> String {
        format!("{}{name}{}", self.prefix, self.suffix)
    }
}
