//! MJCF: bodies in bodies, with joints, geoms and defaults.
//!
//! Bodies become links, each with its own frame. A body with several joints stands on as many, with massless links
//! between; a joint away from the body's origin gets a weld back to it. Coordinates are those of the file, `ref`
//! included. What is not modelled is reported.

mod actuators;
mod assets;
mod attached_models;
mod body;
mod body_inertia;
mod body_joints;
mod compiler;
mod contact;
mod defaults;
mod driven_joints;
mod equality;
mod expand;
mod geom;
mod includes;
mod joint;
mod keyframes;
mod motor;
mod muscle;
mod names;
mod orientation;
mod principal_axes;
mod terrain;

use crate::draft::Draft;
use crate::numbers;
use crate::report::Findings;
use crate::search_paths::SearchPaths;
use crate::source::At;
use crate::xml::{Document, Element};
use actuators::Drives;
use assets::Assets;
use compiler::Compiler;
use defaults::Defaults;
use expand::Tree;
use includes::Includes;
use linkwork::spatial::Vec3;
use std::collections::HashMap;

/// A model: that of the robot's file, or one that it attaches.
struct Model<'a> {
    includes: &'a Includes,
    compiler: Compiler,
    defaults: Defaults<'a>,
    assets: Assets,
    /// `<model>` assets by name.
    models: HashMap<String, usize>,
    /// Where its file is, seen from that of the robot.
    directory: String,
}

impl<'a> Model<'a> {
    /// What stands in its sections of a name.
    fn items(&self, name: &'static str) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let includes = self.includes;
        self.section(name).flat_map(move |e| includes.children(e))
    }

    /// Its sections of a name.
    fn section(&self, name: &'static str) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let all = self.includes.children(self.includes.root());
        all.into_iter().filter(move |e| e.name() == name)
    }
}

/// Reads a robot; none where a part of it could not be read, so that all else would be guesses.
pub(crate) fn read(document: Document, roots: &SearchPaths, f: &mut Findings) -> Option<Draft> {
    let loaded = attached_models::load(document, roots, f);
    if f.failed() {
        return None;
    }
    for one in &loaded {
        names::look(&one.includes, one.includes.root(), f);
    }
    let models = attached_models::prepare(&loaded, roots, f);
    let main = &models[0];
    let root = main.includes.root();
    let mut draft = Draft {
        name: root.attribute("model").unwrap_or("mujoco".into()).into_owned(),
        gravity: Some(Vec3::new(0.0, 0.0, -9.81)),
        ..Draft::default()
    };
    main.section("option").for_each(|e| option(main, e, &mut draft, f));
    let mut tree = Tree::expand(&models, 0, f);
    let drives = Drives::find(&mut tree, f);
    let mut bodies = body::Bodies::new(&models, &tree, roots);
    bodies.read(&mut draft, f);
    bodies.finish(&mut draft, f);
    drives.read(&bodies, &mut draft, f);
    driven_joints::read(&mut draft, f);
    contact::excluded(main.items("contact"), &mut draft, f);
    equality::read(&bodies, &mut draft, f);
    keyframes::read(&models, &bodies, &drives.actuators, &mut draft, f);
    if let Some(first) = main.items("deformable").next() {
        let message = "deformable bodies and skins are not modelled";
        f.doubt(
            first.at(),
            "deformable",
            message,
            "the rest of the robot moves without them",
        );
    }
    Some(draft)
}

/// Gravity, and media that robots move through.
fn option(model: &Model<'_>, e: Element<'_>, draft: &mut Draft, f: &mut Findings) {
    let at = At::new(e.spot(), "option", "");
    if let Some(gravity) = numbers::vector(f, e, "gravity", at) {
        draft.gravity = Some(gravity);
    }
    let disabled = |e: &Element<'_>| e.attribute("gravity").as_deref() == Some("disable");
    if model
        .includes
        .children(e)
        .iter()
        .filter(|e| e.name() == "flag")
        .any(disabled)
    {
        draft.gravity = Some(Vec3::ZERO);
    }
    for name in ["density", "viscosity"] {
        if numbers::number(f, e, name, at, numbers::Range::Usable).is_some_and(|x| x != 0.0) {
            let message = format!("the {name} of the medium is not modelled");
            f.doubt(
                at.seen_at(e.spot_of(name)),
                "medium",
                message,
                "the robot moves without resistance",
            );
        }
    }
}
