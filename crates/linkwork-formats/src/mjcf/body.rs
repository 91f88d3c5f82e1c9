//! Bodies, and what is on them.

use super::compiler::FromGeoms;
use super::geom::{self, Assets};
use super::orientation::{plain_pose, pose};
use super::{Context, joint};
use crate::draft::Draft;
use crate::draft::{Placed, free_name};
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::source::{At, Spot};
use crate::xml::Element;
use linkwork::model::{Frame, Joint, Link, WORLD};
use linkwork::spatial::{Inertia, Pose};
use std::collections::{HashMap, HashSet};

/// What encloses an element.
#[derive(Clone)]
struct Scope {
    link: String,
    /// Of the enclosing `<frame>`s, in the link.
    pose: Pose,
    class: Option<usize>,
}

/// A reader of bodies, and what it has met.
pub(super) struct Bodies<'a> {
    context: &'a Context<'a>,
    assets: &'a Assets,
    names: HashSet<String>,
    joint_names: HashSet<String>,
    count: usize,
    /// Links by name, and where they are in the world as the file is written.
    pub(super) placed: HashMap<String, Pose>,
    /// Sites by name: the link and the place on it.
    pub(super) sites: HashMap<String, (String, Pose)>,
    /// `ref` of joints that have one.
    pub(super) references: HashMap<String, f64>,
}

impl<'a> Bodies<'a> {
    pub(super) fn new(context: &'a Context<'a>, assets: &'a Assets) -> Self {
        let world = (WORLD.to_owned(), Pose::IDENTITY);
        Self {
            context,
            assets,
            names: context.includes.names("body"),
            joint_names: context.includes.names("joint"),
            count: 0,
            placed: HashMap::from([world]),
            sites: HashMap::new(),
            references: HashMap::new(),
        }
    }

    /// Reads a `<worldbody>`: bodies depth first, in the order of the file, without recursion.
    pub(super) fn read(&mut self, world: Element<'a>, draft: &mut Draft, f: &mut Findings) {
        let scope = Scope {
            link: WORLD.to_owned(),
            pose: Pose::IDENTITY,
            class: None,
        };
        let mut waiting = self.contents(world, &scope, None, draft, f);
        waiting.reverse();
        while let Some((e, scope)) = waiting.pop() {
            let mut inner = self.body(e, &scope, draft, f);
            inner.reverse();
            waiting.append(&mut inner);
        }
    }

    /// Reads what is in a body, and gives the bodies in it; `inertia` takes up what its geoms weigh.
    fn contents(
        &mut self,
        e: Element<'a>,
        scope: &Scope,
        mut inertia: Option<&mut Inertia>,
        draft: &mut Draft,
        f: &mut Findings,
    ) -> Vec<(Element<'a>, Scope)> {
        let mut bodies = Vec::new();
        let mut waiting = vec![(e, scope.clone())];
        while let Some((e, scope)) = waiting.pop() {
            for child in self.context.includes.children(e) {
                let at = child.at();
                match child.name() {
                    "geom" => {
                        let d = self.context.defaults.apply(child, scope.class, f);
                        let Some(mut read) = geom::read(self.context, self.assets, child, &d, f) else {
                            continue;
                        };
                        let lost = read.unknown && inertia.is_some();
                        if let (Some(sum), Some(own)) = (inertia.as_deref_mut(), &read.inertia) {
                            *sum = sum.with(&own.seen_from(&scope.pose));
                        }
                        if lost {
                            let message = "the mass of a mesh is not computed; it counts as nothing";
                            f.doubt(at, "mesh-inertia", message, "give the body an <inertial>");
                        }
                        read.geometry.link.clone_from(&scope.link);
                        read.geometry.pose = scope.pose * read.geometry.pose;
                        draft.geometry.push(read.geometry);
                    }
                    "site" => self.site(child, &scope, draft, f),
                    "body" => bodies.push((child, scope.clone())),
                    "frame" => {
                        let place = plain_pose(&self.context.compiler, child, at, f);
                        let class = self.class(child, scope.class, f);
                        let pose = scope.pose * place;
                        let link = scope.link.clone();
                        waiting.push((child, Scope { link, pose, class }));
                    }
                    "replicate" | "attach" | "composite" | "flexcomp" => {
                        let message = format!("<{}> is not read", child.name());
                        f.error(
                            at,
                            "unsupported",
                            message,
                            "write its bodies out: `mj_saveLastXML` of MuJoCo does so",
                        );
                    }
                    _ => {}
                }
            }
        }
        bodies
    }

    /// The class for what is in an element.
    fn class(&self, e: Element<'_>, outer: Option<usize>, f: &mut Findings) -> Option<usize> {
        match e.attribute("childclass") {
            Some(name) => self.context.defaults.class(e, &name, f).or(outer),
            None => outer,
        }
    }

    fn site(&mut self, e: Element<'a>, scope: &Scope, draft: &mut Draft, f: &mut Findings) {
        let Some(name) = e.attribute("name") else { return };
        let d = self.context.defaults.apply(e, scope.class, f);
        let place = scope.pose * pose(&self.context.compiler, &d, e.at(), f);
        self.sites.insert(name.to_string(), (scope.link.clone(), place));
        // Sites and bodies have names of their own kind; frames and links share theirs.
        let taken = &self.names;
        let unique = match taken.contains(&*name) || &*name == WORLD {
            true => free_name(&format!("{name}_site"), |n| taken.contains(n)),
            false => name.into_owned(),
        };
        self.names.insert(unique.clone());
        draft.frames.push(Placed {
            item: Frame::new(unique, scope.link.clone(), place),
            spot: e.spot(),
        });
    }

    /// Reads a body and gives the bodies in it.
    fn body(
        &mut self,
        e: Element<'a>,
        outer: &Scope,
        draft: &mut Draft,
        f: &mut Findings,
    ) -> Vec<(Element<'a>, Scope)> {
        self.count += 1;
        let at = e.at();
        let name = match e.attribute("name") {
            Some(name) if !name.is_empty() => name.into_owned(),
            _ => self.fresh(&format!("body{}", self.count)),
        };
        let place = outer.pose * plain_pose(&self.context.compiler, e, at, f);
        let start = self.placed.get(&outer.link).copied().unwrap_or_default() * place;
        self.placed.insert(name.clone(), start);
        let scope = Scope {
            link: name.clone(),
            pose: Pose::IDENTITY,
            class: self.class(e, outer.class, f),
        };
        if numbers::number(f, e, "gravcomp", at, Range::Usable).is_some_and(|x| x != 0.0) {
            f.doubt(
                at,
                "gravcomp",
                "compensation of gravity is not modelled",
                "the body falls as others do",
            );
        }
        let children = self.context.includes.children(e);
        let joints: Vec<_> = children
            .iter()
            .copied()
            .filter(|c| matches!(c.name(), "joint" | "freejoint"))
            .collect();
        let link_place = draft.links.len();
        self.stand(&joints, &scope, outer.link.clone(), place, e.spot(), draft, f);
        let inertial = children.iter().copied().find(|c| c.name() == "inertial");
        let from_geoms = match self.context.compiler.from_geoms {
            FromGeoms::Never => false,
            FromGeoms::Always => true,
            FromGeoms::Missing => inertial.is_none(),
        };
        let mut inertia = Inertia::ZERO;
        let sum = from_geoms.then_some(&mut inertia);
        let bodies = self.contents(e, &scope, sum, draft, f);
        if !from_geoms && let Some(inertial) = inertial {
            draft.inertia_spots.insert(name.clone(), inertial.spot());
            inertia = self.inertial(inertial, at, f);
        }
        draft.links.insert(
            link_place.min(draft.links.len()),
            Placed {
                item: Link::new(name, self.bounded(inertia)),
                spot: e.spot(),
            },
        );
        bodies
    }

    /// A name that nothing has.
    fn fresh(&mut self, wish: &str) -> String {
        let name = free_name(wish, |n| self.names.contains(n) || n == WORLD);
        self.names.insert(name.clone());
        name
    }

    fn fresh_joint(&mut self, wish: &str) -> String {
        let name = free_name(wish, |n| self.joint_names.contains(n));
        self.joint_names.insert(name.clone());
        name
    }

    /// The joints that a body stands on, with massless links between them.
    #[allow(clippy::too_many_arguments)]
    fn stand(
        &mut self,
        joints: &[Element<'a>],
        scope: &Scope,
        parent: String,
        place: Pose,
        spot: Spot,
        draft: &mut Draft,
        f: &mut Findings,
    ) {
        let body = &scope.link;
        let mut read = Vec::new();
        for &e in joints {
            let d = self.context.defaults.apply(e, scope.class, f);
            if let Some(joint) = joint::read(self.context, e, &d, f) {
                read.push((joint, e.spot()));
            }
        }
        if let Some((_, second)) = read.iter().find(|(r, _)| r.joint.kind.nv() == 6)
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
        let (mut parent, mut origin, mut last) = (parent, place, Default::default());
        for (
            i,
            (
                joint::Read {
                    mut joint,
                    anchor,
                    reference,
                },
                spot,
            ),
        ) in read.into_iter().enumerate()
        {
            if joint.name.is_empty() {
                let number = if i == 0 { String::new() } else { (i + 1).to_string() };
                joint.name = self.fresh_joint(&format!("{body}_joint{number}"));
            }
            if reference != 0.0 {
                self.references.insert(joint.name.clone(), reference);
            }
            joint.origin = origin * Pose::from_translation(anchor - last) * joint::displaced(joint.kind, -reference);
            joint.parent = parent;
            let at_body = i + 1 == count && anchor.norm() == 0.0;
            joint.child = if at_body {
                body.clone()
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
        if parent != *body {
            let name = self.fresh_joint(&format!("{body}_fixed"));
            let back = origin * Pose::from_translation(-last);
            draft.joints.push(Placed {
                item: Joint::fixed(name).between(parent, body.clone()).placed(back),
                spot,
            });
        }
    }

    fn inertial(&self, e: Element<'_>, at: At<'_>, f: &mut Findings) -> Inertia {
        let place = plain_pose(&self.context.compiler, e, at, f);
        let mass = numbers::needed(f, e, "mass", at);
        let moments = if let Some([xx, yy, zz, xy, xz, yz]) = numbers::several(f, e, "fullinertia", at) {
            [xx, xy, xz, yy, yz, zz]
        } else if let Some([xx, yy, zz]) = numbers::several(f, e, "diaginertia", at) {
            [xx, 0.0, 0.0, yy, 0.0, zz]
        } else {
            let message = "its <inertial> has neither diaginertia nor fullinertia: it is a point mass";
            f.doubt(at.seen_at(e.spot()), "missing-inertia", message, "give one of them");
            [0.0; 6]
        };
        Inertia::new(mass, [0.0; 3], moments).seen_from(&place)
    }

    /// A body as the compiler's options bound and balance it.
    fn bounded(&self, body: Inertia) -> Inertia {
        let c = &self.context.compiler;
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

    /// What can be done only when all bodies are known.
    pub(super) fn finish(&self, draft: &mut Draft, f: &mut Findings) {
        let Some(total) = self.context.compiler.total_mass else {
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
