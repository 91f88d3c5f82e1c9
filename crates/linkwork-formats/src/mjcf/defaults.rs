//! `<default>` classes, and attributes that may come from them.

use super::includes::Includes;
use crate::report::Findings;
use crate::source::shortened;
use crate::xml::Element;
use std::borrow::Cow;
use std::collections::HashMap;

/// Classes nested deeper than this are refused: every attribute is looked for in all of them.
const DEEPEST: usize = 64;

/// Tags of actuators.
const ACTUATORS: [&str; 13] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
    "orientation",
    "pid",
    "plugin",
];

/// Classes by name.
#[derive(Default)]
pub(super) struct Defaults<'a> {
    classes: Vec<Class<'a>>,
    by_name: HashMap<String, usize>,
}

#[derive(Default)]
struct Class<'a> {
    parent: Option<usize>,
    /// Elements of the class by their tag; where a tag is given again, the later comes first.
    elements: Vec<Element<'a>>,
}

impl<'a> Defaults<'a> {
    /// Adds a `<default>` of the file's top level, and those in it.
    pub(super) fn read(&mut self, includes: &'a Includes, e: Element<'a>, f: &mut Findings) {
        let mut waiting = vec![(e, None, 0)];
        while let Some((e, parent, depth)) = waiting.pop() {
            if depth > DEEPEST {
                let message = format!("default classes are nested more than {DEEPEST} deep");
                f.error(e.at(), "too-deep", message, "flatten them");
                return;
            }
            let name = match (e.attribute("class"), parent) {
                (Some(name), _) => name.into_owned(),
                (None, None) => "main".to_owned(),
                (None, Some(_)) => {
                    f.error(
                        e.at(),
                        "default-class",
                        "a nested <default> has no class",
                        "give it one",
                    );
                    continue;
                }
            };
            let known = self.by_name.get(&name).copied();
            let class = known.unwrap_or_else(|| {
                // Classes of the top level stand under the first one, the main one.
                let parent = parent.or((!self.classes.is_empty()).then_some(0));
                self.classes.push(Class {
                    parent,
                    elements: Vec::new(),
                });
                self.by_name.insert(name, self.classes.len() - 1);
                self.classes.len() - 1
            });
            for child in includes.children(e).into_iter().rev() {
                if child.name() == "default" {
                    waiting.push((child, Some(class), depth + 1));
                } else {
                    self.classes[class].elements.push(child);
                }
            }
        }
    }

    /// An element with the defaults that apply to it: those of its class, of the class of its body, or the main ones.
    pub(super) fn apply(&'a self, e: Element<'a>, body: Option<usize>, f: &mut Findings) -> Defaulted<'a> {
        let class = match e.attribute("class") {
            Some(name) => self.class(e, &name, f),
            None => body,
        };
        Defaulted {
            own: e,
            tag: e.name(),
            class: class.or((!self.classes.is_empty()).then_some(0)),
            defaults: self,
        }
    }

    /// The same, with the defaults of another tag, as tendons of both kinds have.
    pub(super) fn apply_as(&'a self, e: Element<'a>, tag: &'a str, f: &mut Findings) -> Defaulted<'a> {
        let found = self.apply(e, None, f);
        Defaulted { tag, ..found }
    }

    /// The class of a name that an element gives; reported if there is none.
    pub(super) fn class(&self, e: Element<'_>, name: &str, f: &mut Findings) -> Option<usize> {
        let found = self.by_name.get(name).copied();
        if found.is_none() && name != "main" {
            let message = format!("there is no default class `{}`", shortened(name));
            f.error(e.at(), "default-class", message, "correct the name, or add the class");
        }
        found
    }
}

/// An element whose attributes may come from defaults.
#[derive(Clone, Copy)]
pub(super) struct Defaulted<'a> {
    own: Element<'a>,
    tag: &'a str,
    class: Option<usize>,
    defaults: &'a Defaults<'a>,
}

impl<'a> Defaulted<'a> {
    /// The element that has an attribute: itself, or one of its defaults; itself if none has.
    pub(super) fn with(&self, attribute: &str) -> Element<'a> {
        self.holders()
            .find(|e| e.attribute(attribute).is_some())
            .unwrap_or(self.own)
    }

    /// The element that has any of some attributes, if one has.
    pub(super) fn with_any(&self, attributes: &[&str]) -> Option<Element<'a>> {
        self.holders()
            .find(|e| attributes.iter().any(|a| e.attribute(a).is_some()))
    }

    /// An attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<Cow<'a, str>> {
        self.with(name).attribute(name)
    }

    /// What an attribute says, or a shortcut, which says it without: whichever is nearer.
    pub(super) fn type_or_shortcut(&self, attribute: &str, shortcut: &'static str) -> Option<Cow<'a, str>> {
        self.holders().find_map(|e| match e.name() == shortcut {
            true => Some(shortcut.into()),
            false => e.attribute(attribute),
        })
    }

    /// Itself and its defaults, nearest first.
    fn holders(&self) -> impl Iterator<Item = Element<'a>> {
        let mut class = self.class;
        let (defaults, tag) = (self.defaults, self.tag);
        let chain = core::iter::from_fn(move || {
            let current = &defaults.classes[class?];
            class = current.parent;
            Some(current)
        });
        // All actuators share one set of defaults.
        let drives = ACTUATORS.contains(&tag);
        let fits = move |e: &Element<'_>| e.name() == tag || drives && ACTUATORS.contains(&e.name());
        let inherited = chain.flat_map(move |class| class.elements.iter().copied().filter(fits));
        core::iter::once(self.own).chain(inherited)
    }
}
