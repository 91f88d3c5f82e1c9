//! MJCF: bodies in bodies, with joints, geoms and defaults.
//!
//! Bodies become links, each with its own frame. A body with several joints stands on as many, with massless links
//! between; a joint away from the body's origin gets a weld back to it. Coordinates are those of the file, `ref`
//! included. What is not modelled is reported.

mod body;
mod compiler;
mod defaults;
mod equality;
mod geom;
mod includes;
mod joint;
mod names;
mod orientation;

use crate::draft::Draft;
use crate::numbers;
use crate::report::Findings;
use crate::roots::Roots;
use crate::source::At;
use crate::xml::{Document, Element};
use compiler::Compiler;
use defaults::Defaults;
use includes::Includes;
use linkwork::spatial::Vec3;

/// What all readers of a file's parts need.
struct Context<'a> {
    includes: &'a Includes,
    compiler: Compiler,
    defaults: Defaults<'a>,
}

/// Reads a robot.
pub(crate) fn read(document: Document, roots: &Roots, f: &mut Findings) -> Draft {
    let includes = Includes::load(document, roots, f);
    let root = includes.root();
    names::look(&includes, root, f);
    let sections = includes.children(root);
    let named = |name: &'static str| sections.iter().copied().filter(move |e| e.name() == name);
    let mut draft = Draft {
        name: root.attribute("model").unwrap_or("mujoco".into()).into_owned(),
        gravity: Some(Vec3::new(0.0, 0.0, -9.81)),
        ..Draft::default()
    };
    let mut compiler = Compiler::default();
    named("compiler").for_each(|e| compiler.read(e, f));
    let mut defaults = Defaults::default();
    named("default").for_each(|e| defaults.read(&includes, e, f));
    let context = Context {
        includes: &includes,
        compiler,
        defaults,
    };
    named("option").for_each(|e| option(&context, e, &mut draft, f));
    let assets = geom::Assets::read(&context, named("asset"), f);
    let mut bodies = body::Bodies::new(&context, &assets);
    named("worldbody").for_each(|e| bodies.read(e, &mut draft, f));
    bodies.finish(&mut draft, f);
    named("equality").for_each(|e| equality::read(&context, e, &bodies, &mut draft, f));
    for (section, what) in [("tendon", "tendons"), ("deformable", "deformable bodies")] {
        if let Some(first) = named(section).find_map(|e| includes.children(e).first().copied()) {
            let code = if section == "tendon" { "tendon" } else { "deformable" };
            f.doubt(
                first.at(),
                code,
                format!("{what} are not modelled"),
                "the rest of the robot moves without them",
            );
        }
    }
    if let Some(first) = named("actuator").find_map(|e| includes.children(e).first().copied()) {
        f.note(
            first.at(),
            "actuator",
            "actuators are not modelled: torques are given at joints",
            "",
        );
    }
    draft
}

/// Gravity, and media that robots move through.
fn option(context: &Context<'_>, e: Element<'_>, draft: &mut Draft, f: &mut Findings) {
    let at = At::new(e.spot(), "option", "");
    if let Some(gravity) = numbers::vector(f, e, "gravity", at) {
        draft.gravity = Some(gravity);
    }
    let disabled = |e: &Element<'_>| e.attribute("gravity").as_deref() == Some("disable");
    if context
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
