//! SDF: models of links, joints and frames, in models and worlds, with poses relative to any of them.
//!
//! Everything is placed first (`frames`), then joints become a tree that stands on the world (`tree`). A joint that
//! closes a loop becomes a constraint; a link that nothing holds is free, unless its model is static. Names of what is
//! in a model that is not the file's only one are `model::name`.

mod drake;
mod expand;
mod files;
mod frames;
mod geometry;
mod heightmap;
mod inertial;
mod joint;
mod names;
mod text;
mod tree;

use crate::draft::{Draft, Placed};
use crate::report::Findings;
use crate::search_paths::SearchPaths;
use crate::source::{At, shortened};
use crate::xml::{Document, Element};
use expand::Expansion;
use files::Files;
use linkwork::model::{Frame, Link, WORLD};
use linkwork::spatial::Vec3;

/// What a world's gravity is where it does not say.
const GRAVITY: Vec3 = Vec3 {
    x: 0.0,
    y: 0.0,
    z: -9.8,
};

/// Reads a robot.
pub(crate) fn read(document: Document, roots: &SearchPaths, f: &mut Findings) -> Draft {
    let files = Files::load(document, roots, f);
    let root = files.root();
    names::look(root, f);
    let mut draft = Draft::default();
    let mut expansion = Expansion::new(&files);
    let version = files::version(root, f);
    let worlds: Vec<_> = root.children_named("world").collect();
    let models: Vec<_> = root.children_named("model").collect();
    match (&worlds[..], &models[..]) {
        ([world, others @ ..], models) => {
            draft.name = named(*world, "world");
            if let Some(other) = others.first().or(models.first()) {
                let message = "the file has more than one world; the first one counts";
                f.doubt(other.at(), "worlds", message, "split the file");
            }
            let at = At::new(world.spot(), "world", "");
            draft.gravity = Some(text::vector(f, *world, "gravity", at).unwrap_or(GRAVITY));
            expansion.world(*world, version, f);
        }
        ([], [model]) => {
            draft.name = named(*model, "model");
            expansion.model(*model, version, f);
        }
        ([], []) => {
            let message = "the file has no <model> and no <world>";
            f.error(root.at(), "sdf", message, "give the file of the robot");
        }
        ([], models) => {
            draft.name = models.first().map_or_else(String::new, |m| named(*m, "model"));
            models.iter().for_each(|m| expansion.one_of_many(*m, version, f));
        }
    }
    if draft.name.is_empty() {
        "robot".clone_into(&mut draft.name);
    }
    if f.failed() {
        return draft;
    }
    assemble(&expansion, roots, &mut draft, f);
    draft
}

fn named(e: Element<'_>, what: &str) -> String {
    e.attribute("name")
        .filter(|n| !n.is_empty())
        .unwrap_or(what.into())
        .into_owned()
}

/// Places everything, and makes links, joints and frames of it.
fn assemble(expansion: &Expansion<'_>, roots: &SearchPaths, draft: &mut Draft, f: &mut Findings) {
    let Some(places) = frames::resolve(expansion, f) else {
        return;
    };
    for (i, item) in expansion.links.iter().enumerate() {
        let node = &expansion.nodes[item.node];
        let at = At::new(item.e.spot(), "link", &node.name);
        if node.name == WORLD {
            let message = "the name `world` is that of the frame that everything stands in";
            f.error(at, "reserved-name", message, "rename the link");
        }
        let inertia = inertial::read(item, at, f);
        if let Some(e) = item.e.child("inertial") {
            draft.inertia_spots.insert(node.name.clone(), e.spot());
        }
        geometry::read(expansion, i, &places, roots, draft, f);
        draft.links.push(Placed {
            item: Link::new(node.name.clone(), inertia),
            spot: item.e.spot(),
        });
    }
    for &n in &expansion.frames {
        let node = &expansion.nodes[n];
        let (link, pose) = match places.held[n] {
            Some(link) => {
                let inner = expansion.links[link].node;
                let name = expansion.nodes[inner].name.clone();
                (name, places.seen_from(inner, n))
            }
            None => (WORLD.to_owned(), places.poses[n]),
        };
        draft.frames.push(Placed {
            item: Frame::new(node.name.clone(), link, pose),
            spot: node.spot,
        });
    }
    tree::build(expansion, &places, draft, f);
    ignored(expansion, draft, f);
    let mass: f64 = draft.links.iter().map(|l| l.item.inertia.mass).sum();
    if mass == 0.0 && expansion.links.iter().any(|l| !l.fixed) {
        let message = "the robot has no mass at all";
        f.doubt(At::FILE, "no-mass", message, "give its links <inertial>");
    }
}

/// What stands in the file and plays no part, said once for each kind.
fn ignored(expansion: &Expansion<'_>, draft: &mut Draft, f: &mut Findings) {
    for (e, message) in &expansion.ignored {
        let message = format!("<{}> {message}", shortened(e.name()));
        f.doubt(e.at(), "not-modelled", message, "the robot moves without it");
    }
    for item in &expansion.links {
        if item.fixed {
            continue;
        }
        let name = &expansion.nodes[item.node].name;
        let at = At::new(item.e.spot(), "link", name);
        if item.e.child("gravity").and_then(|e| text::flag(f, e, at)) == Some(false) {
            draft.floating.insert(name.clone(), 1.0);
            f.note(
                at,
                "gravcomp",
                "the weight of this link is carried in simulations alone",
                "",
            );
        }
        if item.e.child("kinematic").and_then(|e| text::flag(f, e, at)) == Some(true) {
            f.doubt(
                at,
                "kinematic",
                "kinematic links are not modelled",
                "the link moves as others do",
            );
        }
        if let Some(e) = item.e.child("inertial").and_then(|i| i.child("fluid_added_mass")) {
            f.doubt(
                at.seen_at(e.spot()),
                "medium",
                "added mass of a fluid is not modelled",
                "",
            );
        }
    }
}
