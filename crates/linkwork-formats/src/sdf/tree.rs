//! Joints as a tree on the world, and loops that other joints close.

use super::drake;
use super::expand::{Expansion, JointItem};
use super::frames::{Direction, Places, lost};
use super::joint::{self, Motion};
use super::text;
use crate::draft::{Draft, Placed, free_name};
use crate::report::Findings;
use crate::robot::{FileCoupling, Loop};
use crate::source::{At, shortened};
use linkwork::closed::{ConstraintKind, Side};
use linkwork::model::{Joint, JointKind, Link, WORLD};
use linkwork::spatial::{Pose, Vec3};
use std::collections::HashSet;

/// A joint and what it connects; links are counted from one, the world is zero.
struct Edge {
    /// Which of the file's joints.
    joint: usize,
    ends: [usize; 2],
    motion: Motion,
    role: Role,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// It holds its child, or, if turned around, its parent.
    Holds {
        turned: bool,
    },
    Closes,
}

/// Adds all joints and loops to the draft.
pub(super) fn build(x: &Expansion<'_>, places: &Places, draft: &mut Draft, f: &mut Findings) {
    let mut edges = edges(x, places, f);
    if f.failed() {
        return;
    }
    let roots = span(x, &mut edges);
    let mut maker = Maker {
        x,
        places,
        links: draft.links.iter().map(|l| l.item.name.clone()).collect(),
        joints: x.joints.iter().map(|j| x.nodes[j.node].name.clone()).collect(),
    };
    maker.links.extend(draft.frames.iter().map(|l| l.item.name.clone()));
    for (i, (link, held)) in roots.into_iter().enumerate() {
        let number = if i == 0 { String::new() } else { (i + 1).to_string() };
        let name = maker.fresh_joint(&format!("root_joint{number}"));
        let kind = if held { JointKind::Fixed } else { JointKind::Free };
        let joint = Joint::new(name, kind)
            .between(WORLD, maker.name(link))
            .placed(places.poses[maker.node(link)]);
        let spot = x.links[link - 1].e.spot();
        draft.joints.push(Placed { item: joint, spot });
    }
    for edge in edges.iter().filter(|e| e.role != Role::Closes) {
        maker.hold(edge, draft, f);
    }
    let first = draft.loops.len();
    for edge in edges.iter().filter(|e| e.role == Role::Closes) {
        maker.close(edge, draft, f);
    }
    drake::constraints(x, places, draft, f);
    if draft.loops.len() > first {
        let message = match draft.loops.len() - first {
            1 => "it closes a loop; the mechanism is the open tree".to_owned(),
            n => format!("{n} constraints close loops; the mechanism is the open tree"),
        };
        let edge = edges
            .iter()
            .find(|e| e.role == Role::Closes && !matches!(e.motion, Motion::Gearbox(..)));
        let other = x.constraints.first().map_or(At::FILE, |c| c.e.at());
        let at = edge.map_or(other, |e| maker.at(&x.joints[e.joint]));
        f.note(
            at,
            "closed-loop",
            message,
            "`linkwork simulate` and `Robot::closed` close them",
        );
    }
    for edge in &edges {
        match edge.motion {
            Motion::Gearbox(axes, ratio) => maker.gears(edge, axes, ratio, &edges, draft, f),
            _ => maker.mimic(edge, draft, f),
        }
    }
}

/// What every joint connects, and how; joints of static models are left out.
fn edges(x: &Expansion<'_>, places: &Places, f: &mut Findings) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (i, item) in x.joints.iter().enumerate().filter(|(_, j)| !j.fixed) {
        let mut end = |name: &str| match x.find(item.node, name) {
            Some(node) => Some(places.held[node].map_or(0, |link| link + 1)),
            None => {
                lost(x, item.node, name, f);
                None
            }
        };
        let (Some(parent), Some(child)) = (end(&item.parent), end(&item.child)) else {
            continue;
        };
        let Some(motion) = joint::motion(x, item, f) else {
            continue;
        };
        if parent == child {
            let name = x
                .links
                .get(child.wrapping_sub(1))
                .map_or(WORLD, |l| &*x.nodes[l.node].name);
            let message = format!("it connects link `{}` to itself", shortened(name));
            let at = At::new(item.e.spot(), "joint", &x.nodes[item.node].name);
            f.error(at, "self-loop", message, "give it another parent or child");
            continue;
        }
        edges.push(Edge {
            joint: i,
            ends: [parent, child],
            motion,
            role: Role::Closes,
        });
    }
    edges
}

/// Chooses the joints of the tree; gives the links that no joint holds, and whether they are fixed.
///
/// A link is held by the first joint that has it as its child, and other joints close loops. Each tree starts at the world, or
/// at its first link that is no joint's child.
fn span(x: &Expansion<'_>, edges: &mut [Edge]) -> Vec<(usize, bool)> {
    let n = x.links.len() + 1;
    let mut group: Vec<usize> = (0..n).collect();
    for (i, link) in x.links.iter().enumerate() {
        if link.fixed {
            group[i + 1] = 0;
        }
    }
    let mut carried = vec![Vec::new(); n];
    let mut is_child = vec![false; n];
    // Screws and planes, which no constraint stands for here; then the first joint that holds each link; then what is left.
    for pass in 0..3 {
        for (i, edge) in edges.iter_mut().enumerate() {
            let able = match edge.motion {
                Motion::Screw(..) | Motion::Planar(_) => pass == 0,
                Motion::Gearbox(..) => false,
                _ => pass == 2 || pass == 1 && !is_child[edge.ends[1]] && edge.ends[1] != 0,
            };
            let [a, b] = edge.ends.map(|end| find(&mut group, end));
            if !able || a == b {
                continue;
            }
            group[a.max(b)] = a.min(b);
            edge.role = Role::Holds { turned: false };
            carried[edge.ends[0]].push(i);
            carried[edge.ends[1]].push(i);
            is_child[edge.ends[1]] = true;
        }
    }
    let mut met = vec![false; n];
    let mut roots = Vec::new();
    let mut walk = |start: usize, met: &mut Vec<bool>| {
        let mut waiting = vec![start];
        while let Some(link) = waiting.pop() {
            for &i in &carried[link] {
                let turned = edges[i].ends[1] == link;
                let other = edges[i].ends[usize::from(!turned)];
                if !met[other] {
                    met[other] = true;
                    edges[i].role = Role::Holds { turned };
                    waiting.push(other);
                }
            }
        }
    };
    met[0] = true;
    for (i, link) in x.links.iter().enumerate().filter(|(_, l)| l.fixed) {
        met[i + 1] = true;
        roots.push((i + 1, link.fixed));
    }
    walk(0, &mut met);
    for &(link, _) in &roots {
        walk(link, &mut met);
    }
    for any in [false, true] {
        for link in 1..n {
            if !met[link] && (any || !is_child[link]) {
                met[link] = true;
                roots.push((link, false));
                walk(link, &mut met);
            }
        }
    }
    roots
}

/// The group of a link, the way there shortened.
fn find(group: &mut [usize], mut i: usize) -> usize {
    while group[i] != i {
        group[i] = group[group[i]];
        i = group[i];
    }
    i
}

/// Makes joints.
struct Maker<'a, 'x> {
    x: &'a Expansion<'x>,
    places: &'a Places,
    /// Names that are taken.
    links: HashSet<String>,
    joints: HashSet<String>,
}

impl Maker<'_, '_> {
    fn name(&self, link: usize) -> String {
        match link {
            0 => WORLD.to_owned(),
            _ => self.x.nodes[self.x.links[link - 1].node].name.clone(),
        }
    }

    fn node(&self, link: usize) -> usize {
        match link {
            0 => super::expand::WORLD,
            _ => self.x.links[link - 1].node,
        }
    }

    fn at<'a>(&'a self, item: &JointItem<'_>) -> At<'a> {
        At::new(item.e.spot(), "joint", &self.x.nodes[item.node].name)
    }

    fn fresh_joint(&mut self, wish: &str) -> String {
        let name = free_name(wish, |n| self.joints.contains(n));
        self.joints.insert(name.clone());
        name
    }

    /// Adds a joint of the tree; away from its link's origin it gets a link without mass and a weld.
    fn hold(&mut self, edge: &Edge, draft: &mut Draft, f: &mut Findings) {
        let item = &self.x.joints[edge.joint];
        let name = self.x.nodes[item.node].name.clone();
        let spot = item.e.spot();
        let turned = edge.role == Role::Holds { turned: true };
        let [mut inner, mut outer] = edge.ends;
        if turned {
            (inner, outer) = (outer, inner);
            let message = format!(
                "it holds its parent link `{}`, which nothing else does",
                shortened(&self.name(outer))
            );
            f.note(
                At::new(spot, "joint", &name),
                "turned-joint",
                message,
                "its coordinates keep their meaning",
            );
        }
        let (from, to) = (self.node(inner), self.node(outer));
        if let Motion::Planar(nodes) = edge.motion {
            if turned {
                let message = "nothing else holds the parent of this planar joint, which is held by its child alone";
                let advice = "exchange parent and child";
                f.error(At::new(spot, "joint", &name), "turned-joint", message, advice);
                return;
            }
            let [on, moves] = nodes;
            let ends = [self.places.seen_from(from, on), self.places.seen_from(moves, to)];
            self.plane(item, [inner, outer], ends, draft, f);
            return;
        }
        let anchor = self.places.seen_from(to, item.node).translation;
        // Seen the other way around a joint moves against its axis; coordinates stay the same.
        let sign = if turned { -1.0 } else { 1.0 };
        let local = |axis: Direction| self.places.along(to, axis) * sign;
        let across = |axis: Vec3| anchor - axis * (axis.dot(anchor) / axis.dot(axis));
        let (kind, away) = match edge.motion {
            Motion::Fixed | Motion::Planar(_) | Motion::Gearbox(..) => (JointKind::Fixed, Vec3::ZERO),
            Motion::Revolute(a) => (JointKind::Revolute { axis: local(a) }, across(local(a))),
            Motion::Continuous(a) => (JointKind::Continuous { axis: local(a) }, across(local(a))),
            Motion::Prismatic(a) => (JointKind::Prismatic { axis: local(a) }, Vec3::ZERO),
            Motion::Screw(a, pitch) => {
                let axis = local(a);
                (JointKind::Helical { axis, pitch }, across(axis))
            }
            Motion::Universal([a, b]) => {
                let axes = if turned {
                    [local(b), local(a)]
                } else {
                    [local(a), local(b)]
                };
                (JointKind::Universal { axes }, anchor)
            }
            Motion::Ball => (JointKind::Spherical, anchor),
        };
        if turned && matches!(kind, JointKind::Universal { .. } | JointKind::Spherical) {
            let message = "seen from its child, its coordinates are those of the opposite motion";
            f.doubt(
                At::new(spot, "joint", &name),
                "turned-joint",
                message,
                "exchange parent and child",
            );
        }
        let mut joint = Joint::new(name, kind).between(self.name(inner), self.name(outer));
        joint::resistances(item, &mut joint, f);
        if away.norm() <= 1e-12 * (1.0 + anchor.norm()) {
            joint.origin = self.places.seen_from(from, to);
            draft.joints.push(Placed { item: joint, spot });
            return;
        }
        let between = free_name(&format!("{}_1", joint.child), |n| self.links.contains(n));
        self.links.insert(between.clone());
        let weld = self.fresh_joint(&format!("{}_fixed", joint.child));
        let weld = Joint::fixed(weld).between(&between, &joint.child).at(-away);
        joint.origin = self.places.seen_from(from, to) * Pose::from_translation(away);
        joint.child.clone_from(&between);
        draft.links.push(Placed {
            item: Link::massless(between),
            spot,
        });
        draft.joints.push(Placed { item: joint, spot });
        draft.joints.push(Placed { item: weld, spot });
    }

    /// Adds a planar joint of Drake's: two slides along x and y of a frame of one link, and a turn about z, which carries a
    /// frame of the other. Where the file says that the other link is plays no part.
    fn plane(
        &mut self,
        item: &JointItem<'_>,
        [inner, outer]: [usize; 2],
        [from, to]: [Pose; 2],
        draft: &mut Draft,
        f: &mut Findings,
    ) {
        let (name, spot) = (self.x.nodes[item.node].name.clone(), item.e.spot());
        let damping = drake::damping(item.e, self.at(item), f);
        let along = [
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(0.0, 1.0, 0.0),
            Vec3::new(0.0, 0.0, 1.0),
        ];
        let names = [
            self.fresh_joint(&format!("{name}_x")),
            self.fresh_joint(&format!("{name}_y")),
            name,
        ];
        let weld = self.fresh_joint(&format!("{}_fixed", self.name(outer)));
        let (mut parent, mut origin) = (self.name(inner), from);
        for (i, (name, axis)) in names.into_iter().zip(along).enumerate() {
            let kind = if i < 2 {
                JointKind::Prismatic { axis }
            } else {
                JointKind::Revolute { axis }
            };
            let link = free_name(&format!("{}_{}", self.name(outer), i + 1), |n| self.links.contains(n));
            self.links.insert(link.clone());
            let mut joint = Joint::new(name, kind).between(&parent, &link).placed(origin);
            joint.damping.extend(Some(damping[i]).filter(|x| *x != 0.0));
            draft.links.push(Placed {
                item: Link::massless(link.clone()),
                spot,
            });
            draft.joints.push(Placed { item: joint, spot });
            (parent, origin) = (link, Pose::IDENTITY);
        }
        let weld = Joint::fixed(weld).between(parent, self.name(outer)).placed(to);
        draft.joints.push(Placed { item: weld, spot });
    }

    /// Adds the constraint of a joint that closes a loop.
    fn close(&mut self, edge: &Edge, draft: &mut Draft, f: &mut Findings) {
        let item = &self.x.joints[edge.joint];
        let at = self.at(item);
        let local = |axis: Direction| self.places.along(item.node, axis);
        // Seen from the joint.
        let end = |link: usize, on: Option<Vec3>| {
            let place = self.places.seen_from(self.node(link), item.node);
            let shifted = on.map(|on| place * Pose::from_translation(on));
            (self.name(link), shifted.unwrap_or(place))
        };
        let constraint = |name: &str, kind: ConstraintKind, on: [Option<Vec3>; 2]| Loop {
            name: name.to_owned(),
            kind,
            side: Side::Both,
            first: end(edge.ends[0], on[0]),
            second: end(edge.ends[1], on[1]),
        };
        let name = self.x.nodes[item.node].name.as_str();
        let kind = match edge.motion {
            Motion::Gearbox(..) => return,
            Motion::Fixed => ConstraintKind::Weld,
            Motion::Revolute(a) | Motion::Continuous(a) => ConstraintKind::Hinge { axis: local(a) },
            Motion::Prismatic(a) => ConstraintKind::Slider { axis: local(a) },
            Motion::Ball | Motion::Universal(_) => ConstraintKind::Point,
            Motion::Screw(..) | Motion::Planar(_) => {
                let message = "a screw or a planar joint closes a loop, for which there is no constraint";
                f.error(at, "loop", message, "close the loop at another joint");
                return;
            }
        };
        draft.loops.push(constraint(name, kind, [None; 2]));
        if let Motion::Universal([a, b]) = edge.motion {
            // Beside the point, the two axes stay at their angle: so do points on them keep their distance.
            let [first, second] = [a, b].map(|axis| local(axis) * (1.0 / local(axis).norm()));
            let length = (first - second).norm();
            let kind = ConstraintKind::Distance { length };
            draft
                .loops
                .push(constraint(&format!("{name}_cross"), kind, [Some(first), Some(second)]));
        }
        let mut probe = Joint::revolute(name, [0.0, 0.0, 1.0]);
        joint::resistances(item, &mut probe, f);
        let passive = [&probe.damping, &probe.friction, &probe.stiffness, &probe.armature];
        if passive.iter().any(|list| !list.is_empty()) {
            let message = "its spring, damping, friction or rotor is left out, as it closes a loop";
            f.doubt(at, "lost-parameter", message, "give them to another joint of the loop");
        }
    }

    /// Couples the two joints that gears run between: θ₂ = −ratio θ₁, both angles seen from the reference body.
    fn gears(
        &self,
        edge: &Edge,
        axes: [Direction; 2],
        ratio: f64,
        edges: &[Edge],
        draft: &mut Draft,
        f: &mut Findings,
    ) {
        let item = &self.x.joints[edge.joint];
        let at = self.at(item);
        let name = item
            .e
            .child("gearbox_reference_body")
            .map_or_else(String::new, |e| e.content().into_owned());
        let body = self
            .x
            .find(item.node, &name)
            .map(|n| self.places.held[n].map_or(0, |l| l + 1));
        let turns = |link: usize, along: Direction| {
            edges.iter().find_map(|e| {
                let (Motion::Revolute(axis) | Motion::Continuous(axis)) = e.motion else {
                    return None;
                };
                let sense = if e.ends == [body?, link] {
                    1.0
                } else if e.ends == [link, body?] {
                    -1.0
                } else {
                    return None;
                };
                let same = if self.places.along(axis.node, along).dot(axis.along) < 0.0 {
                    -1.0
                } else {
                    1.0
                };
                let name = self.x.nodes[self.x.joints[e.joint].node].name.clone();
                (e.role != Role::Closes).then_some((name, sense * same))
            })
        };
        let (Some((leader, a)), Some((follower, b))) = (turns(edge.ends[0], axes[0]), turns(edge.ends[1], axes[1]))
        else {
            let message = "its gears do not run between two revolute joints of <gearbox_reference_body>";
            f.doubt(
                at,
                "gearbox",
                format!("{message}: it is left out"),
                "name the body that both turn on",
            );
            return;
        };
        let coefficients = vec![0.0, -ratio * a * b];
        draft.couplings.push(Placed {
            item: FileCoupling {
                name: self.x.nodes[item.node].name.clone(),
                follower,
                leader: Some(leader),
                coefficients,
            },
            spot: item.e.spot(),
        });
    }

    /// Couples a joint that mimics another.
    fn mimic(&self, edge: &Edge, draft: &mut Draft, f: &mut Findings) {
        let item = &self.x.joints[edge.joint];
        let at = self.at(item);
        let standard = item.e.child("axis").and_then(|a| a.child("mimic"));
        let Some(e) = standard.or_else(|| item.e.child("drake:mimic")) else {
            return;
        };
        if e.attribute("axis").is_some_and(|a| a != "axis") {
            let message = "following the second axis of a joint is not modelled: it moves on its own";
            f.doubt(at.seen_at(e.spot()), "coupling", message, "");
            return;
        }
        let wanted = e.attribute("joint").unwrap_or_default();
        let leader = self.x.find(item.node, &wanted).map(|n| self.x.nodes[n].name.clone());
        let mut number = |name: &str, none: f64| {
            let written = crate::numbers::number(f, e, name, at, crate::numbers::Range::Usable);
            written.or_else(|| text::number(f, e, name, at)).unwrap_or(none)
        };
        let (ratio, offset) = (number("multiplier", 1.0), number("offset", 0.0));
        let reference = number("reference", 0.0);
        draft.couplings.push(Placed {
            item: FileCoupling {
                name: String::new(),
                follower: self.x.nodes[item.node].name.clone(),
                leader: Some(leader.unwrap_or_else(|| wanted.into_owned())),
                coefficients: vec![offset - ratio * reference, ratio],
            },
            spot: e.spot(),
        });
    }
}
