//! Writing SDF 1.11: one model, each link placed by its parent link, each joint in the frame of its child.

use super::stable_numbers::{rpy, settled};
use super::{carried, escaped, numbers, vector};
use crate::draft::free_name;
use crate::report::Findings;
use crate::robot::{Geometry, Loop, Robot, Role, Shape};
use crate::source::At;
use linkwork::closed::ConstraintKind;
use linkwork::model::{Joint, JointKind, WORLD};
use linkwork::spatial::{Inertia, Pose, Vec3};
use std::collections::{HashMap, HashSet};
use std::f64::consts::TAU;
use std::fmt::Write;

pub(super) fn write(robot: &Robot, f: &mut Findings) -> String {
    let m = &robot.mechanism;
    let mut names = Names::of(robot, f);
    let mut out = format!(
        "<?xml version=\"1.0\"?>\n<sdf version=\"1.11\" xmlns:drake=\"http://drake.mit.edu\">\n<model name=\"{}\">\n",
        escaped(&m.name().replace("::", "__"))
    );
    lost(robot, f);
    let mut shapes: HashMap<&str, Vec<&Geometry>> = HashMap::new();
    for g in &robot.geometry {
        shapes.entry(&g.link).or_default().push(g);
    }
    let holders: HashMap<&str, &Joint> = m.joints().iter().map(|j| (&*j.child, j)).collect();
    let mut joints = String::new();
    for j in m.joints() {
        joint(&mut out, &mut joints, robot, j, &mut names, f);
    }
    for l in m.links() {
        let (base, pose) = names.ends.get(&l.name).cloned().unwrap_or_else(|| {
            let holder = holders.get(l.name.as_str());
            holder.map_or((WORLD.to_owned(), Pose::IDENTITY), |j| {
                (names.link(&j.parent), j.origin)
            })
        });
        let name = names.link(&l.name);
        link(
            &mut out,
            &name,
            (&base, &pose),
            &l.inertia,
            shapes.get(l.name.as_str()),
            f,
        );
    }
    for frame in m.frames().iter().filter(|x| x.link != WORLD) {
        let (name, link) = (escaped(&names.frame(&frame.name)), escaped(&names.link(&frame.link)));
        let _ = writeln!(
            out,
            "  <frame name=\"{name}\" attached_to=\"{link}\">{}</frame>",
            pose(&frame.pose, "")
        );
    }
    out += &joints;
    loops(&mut out, robot, &mut names, f);
    out + "</model>\n</sdf>\n"
}

/// Names as SDF takes them: those of links, joints and frames all differ, and none has `::`.
struct Names {
    links: HashMap<String, String>,
    frames: HashMap<String, String>,
    joints: HashMap<String, String>,
    taken: HashSet<String>,
    /// Links that stand on another than their joint's parent, and where.
    ends: HashMap<String, (String, Pose)>,
}

impl Names {
    fn of(robot: &Robot, f: &mut Findings) -> Self {
        let m = &robot.mechanism;
        let mut taken: HashSet<String> = HashSet::from([WORLD.to_owned()]);
        let mut changed = 0;
        let mut give = |name: &str, what: &str| {
            let mut wish = name.replace("::", "__");
            if taken.contains(&wish) {
                wish = format!("{wish}_{what}");
            }
            let new = free_name(&wish, |n| taken.contains(n));
            changed += usize::from(new != name);
            taken.insert(new.clone());
            (name.to_owned(), new)
        };
        let links = m.links().iter().map(|l| give(&l.name, "link")).collect();
        let frames = m.frames().iter().map(|x| give(&x.name, "frame")).collect();
        let joints = m.joints().iter().map(|j| give(&j.name, "joint")).collect();
        if changed > 0 {
            let message = format!("{changed} names are changed: in SDF all must differ, and none may have `::`");
            f.note(At::FILE, "renamed", message, "");
        }
        Self {
            links,
            frames,
            joints,
            taken,
            ends: HashMap::new(),
        }
    }

    fn link(&self, name: &str) -> String {
        self.links.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    fn frame(&self, name: &str) -> String {
        self.frames.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    fn joint(&self, name: &str) -> String {
        self.joints.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    fn fresh(&mut self, wish: &str) -> String {
        let name = free_name(&wish.replace("::", "__"), |n| self.taken.contains(n));
        self.taken.insert(name.clone());
        name
    }
}

/// What SDF cannot say.
fn lost(robot: &Robot, f: &mut Findings) {
    let m = &robot.mechanism;
    if m.gravity() != Vec3::new(0.0, 0.0, -9.81) {
        let message = "a model of SDF has no gravity";
        f.doubt(
            At::FILE,
            "lost-gravity",
            message,
            "set it again after loading, or include the model in a <world>",
        );
    }
    if !robot.transmissions.is_empty() {
        let message = "transmissions are written as the inertia of rotors at their joints";
        f.note(At::FILE, "transmission", message, "");
    }
    let moving = m.joints().iter().filter(|j| j.kind.nv() > 0);
    let mut free = moving.map(|j| j.kind == JointKind::Free);
    if free.by_ref().skip_while(|free| *free).any(|free| free) {
        let message = "coordinates of free links come first in SDF: their order changes";
        f.doubt(At::FILE, "order", message, "refer to joints by name");
    }
    let on_world = m.frames().iter().filter(|x| x.link == WORLD).count()
        + robot.geometry.iter().filter(|g| g.link == WORLD).count();
    if on_world > 0 {
        let message = format!("a model of SDF has nothing on the world; {on_world} frames or shapes are left out");
        f.doubt(At::FILE, "lost-shape", message, "");
    }
}

fn pose(pose: &Pose, relative_to: &str) -> String {
    let base = match relative_to {
        "" | WORLD => String::new(),
        name => format!(" relative_to=\"{}\"", escaped(name)),
    };
    format!(
        "<pose{base}>{} {}</pose>",
        vector(pose.translation),
        numbers(&rpy(&pose.rotation))
    )
}

fn link(
    out: &mut String,
    name: &str,
    (base, place): (&str, &Pose),
    body: &Inertia,
    shapes: Option<&Vec<&Geometry>>,
    f: &mut Findings,
) {
    let [xx, xy, xz, yy, yz, zz] = body.moments;
    let _ = write!(
        out,
        "  <link name=\"{}\">{}\n    <inertial><pose>{} 0 0 0</pose><mass>{:?}</mass><inertia><ixx>{xx:?}</ixx><ixy>{xy:?}</ixy>\
         <ixz>{xz:?}</ixz><iyy>{yy:?}</iyy><iyz>{yz:?}</iyz><izz>{zz:?}</izz></inertia></inertial>\n",
        escaped(name),
        pose(place, base),
        vector(body.com),
        body.mass
    );
    let shapes = shapes.into_iter().flatten().filter(|g| super::shape::has_size(g, f));
    for (i, g) in shapes.collect::<Vec<_>>().into_iter().enumerate() {
        let tag = match g.role {
            Role::Visual => "visual",
            Role::Collision => "collision",
        };
        let named = if g.name.is_empty() {
            format!("{tag}{}", i + 1)
        } else {
            escaped(&g.name)
        };
        let colour = g
            .colour
            .filter(|_| g.role == Role::Visual)
            .map_or_else(String::new, |c| {
                format!(
                    "<material><diffuse>{}</diffuse></material>",
                    numbers(&super::shape::colour(c))
                )
            });
        if g.colour.is_some() && g.role == Role::Collision {
            f.note(At::FILE, "lost-colour", "collisions of SDF have no colour", "");
        }
        let _ = writeln!(
            out,
            "    <{tag} name=\"{named}\">{}<geometry>{}</geometry>{colour}</{tag}>",
            pose(&g.pose, ""),
            shape(&g.shape)
        );
    }
    *out += "  </link>\n";
}

fn shape(shape: &Shape) -> String {
    let round = |tag: &str, r: f64, l: f64| format!("<{tag}><radius>{r:?}</radius><length>{l:?}</length></{tag}>");
    match shape {
        Shape::Cuboid { edges } => format!("<box><size>{}</size></box>", vector(*edges)),
        Shape::Cylinder { radius, length } => round("cylinder", *radius, *length),
        Shape::Capsule { radius, length } => round("capsule", *radius, *length),
        Shape::Sphere { radius } => format!("<sphere><radius>{radius:?}</radius></sphere>"),
        Shape::Ellipsoid { radii } => format!("<ellipsoid><radii>{}</radii></ellipsoid>", vector(*radii)),
        Shape::Plane => "<plane><normal>0 0 1</normal><size>1 1</size></plane>".to_owned(),
        Shape::Mesh { uri, scale, .. } => format!(
            "<mesh><uri>{}</uri><scale>{}</scale></mesh>",
            escaped(uri),
            vector(*scale)
        ),
    }
}

/// One or several joints of SDF, which stand on links without mass.
fn joint(links: &mut String, out: &mut String, robot: &Robot, j: &Joint, names: &mut Names, f: &mut Findings) {
    let at = At {
        what: "joint",
        name: &j.name,
        ..At::FILE
    };
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Vec3::from);
    let parts: Vec<(&str, Vec<Vec3>)> = match j.kind {
        JointKind::Free if j.parent == WORLD => return,
        JointKind::Free => {
            let message = "in SDF only links on the world are free";
            f.error(at, "joint-kind", message, "use the native format");
            return;
        }
        JointKind::Fixed => vec![("fixed", vec![])],
        JointKind::Revolute { axis } => vec![("revolute", vec![axis])],
        JointKind::Continuous { axis } => vec![("continuous", vec![axis])],
        JointKind::Prismatic { axis } => vec![("prismatic", vec![axis])],
        JointKind::Helical { axis, .. } => vec![("screw", vec![axis])],
        JointKind::Universal { axes } => vec![("universal", axes.to_vec())],
        JointKind::Spherical => vec![("ball", vec![])],
        JointKind::Cylindrical { axis } => vec![("revolute", vec![axis]), ("prismatic", vec![axis])],
        JointKind::Translation => [x, y, z].map(|a| ("prismatic", vec![a])).to_vec(),
        JointKind::Planar => {
            let message =
                "SDF has no planar joints: its coordinates become x, y, angle, with rates in the parent's axes";
            f.doubt(at, "planar-joint", message, "use the native format to keep them");
            vec![("prismatic", vec![x]), ("prismatic", vec![y]), ("revolute", vec![z])]
        }
    };
    let (mut parent, mut origin) = (names.link(&j.parent), j.origin);
    let mut place = 0;
    for (i, (kind, axes)) in parts.iter().enumerate() {
        let last = i + 1 == parts.len();
        let name = if parts.len() == 1 {
            names.joint(&j.name)
        } else {
            names.fresh(&format!("{}_{}", j.name, i + 1))
        };
        let child = if last {
            names.link(&j.child)
        } else {
            names.fresh(&format!("{}_{}", j.child, i + 1))
        };
        if !last {
            link(links, &child, (&parent, &origin), &Inertia::ZERO, None, f);
        } else if i > 0 {
            names.ends.insert(j.child.clone(), (parent.clone(), Pose::IDENTITY));
        }
        let _ = write!(
            out,
            "  <joint name=\"{}\" type=\"{kind}\"><parent>{}</parent><child>{}</child>",
            escaped(&name),
            escaped(&parent),
            escaped(&child)
        );
        if let JointKind::Helical { pitch, .. } = j.kind {
            let [turn] = settled([pitch * TAU], |[turn]| [turn / TAU * TAU]);
            let _ = write!(out, "<screw_thread_pitch>{turn:?}</screw_thread_pitch>");
        }
        for (tag, axis) in ["axis", "axis2"].iter().zip(axes) {
            write_axis(out, robot, j, tag, *axis, place, names, f);
            place += 1;
        }
        let rotor = pick(&j.armature, place.saturating_sub(1));
        if rotor != 0.0 && axes.len() == 1 {
            let _ = write!(
                out,
                "<drake:rotor_inertia>{rotor:?}</drake:rotor_inertia><drake:gear_ratio>1.0</drake:gear_ratio>"
            );
        } else if j.armature.iter().any(|a| *a != 0.0) {
            f.doubt(at, "lost-parameter", "SDF has rotors at joints with one axis only", "");
        }
        let springs = [&j.damping, &j.friction, &j.stiffness];
        let limited = j.position_limits.iter().any(|(l, u)| l.is_finite() || u.is_finite());
        let sprung = springs.iter().any(|l| l.iter().any(|x| *x != 0.0));
        if axes.is_empty() && j.kind.nv() > 0 && (sprung || limited) {
            f.doubt(
                at,
                "lost-parameter",
                "balls of SDF have no damping, friction, springs or limits",
                "",
            );
        }
        *out += "</joint>\n";
        (parent, origin) = (child, Pose::IDENTITY);
    }
}

/// The number of a list for one of a joint's axes.
fn pick(list: &[f64], axis: usize) -> f64 {
    list.get(axis).or(list.first()).copied().unwrap_or(0.0)
}

#[allow(clippy::too_many_arguments)]
fn write_axis(
    out: &mut String,
    robot: &Robot,
    j: &Joint,
    tag: &str,
    axis: Vec3,
    place: usize,
    names: &Names,
    f: &mut Findings,
) {
    let _ = write!(out, "<{tag}><xyz>{}</xyz>", vector(axis));
    let limits = j.position_limits.get(place).or(j.position_limits.first());
    let bound = |out: &mut String, name: &str, x: Option<f64>| {
        if let Some(x) = x.filter(|x| x.is_finite()) {
            let _ = write!(out, "<{name}>{x:?}</{name}>");
        }
    };
    let effort = j.effort_limit.get(place).or(j.effort_limit.first()).copied();
    let velocity = j.velocity_limit.get(place).or(j.velocity_limit.first()).copied();
    *out += "<limit>";
    bound(out, "lower", limits.map(|l| l.0));
    bound(out, "upper", limits.map(|l| l.1));
    bound(out, "effort", effort);
    bound(out, "velocity", velocity);
    *out += "</limit>";
    let springs = [
        ("damping", pick(&j.damping, place)),
        ("friction", pick(&j.friction, place)),
        ("spring_reference", j.rest.get(place).copied().unwrap_or(0.0)),
        ("spring_stiffness", pick(&j.stiffness, place)),
    ];
    if springs.iter().any(|(_, x)| *x != 0.0) {
        *out += "<dynamics>";
        for (name, x) in springs {
            let _ = write!(out, "<{name}>{x:?}</{name}>");
        }
        *out += "</dynamics>";
    }
    for c in robot.couplings.iter().filter(|c| c.follower == j.name) {
        match (&c.leader, &c.coefficients[..]) {
            (Some(leader), [offset, multiplier]) => {
                let _ = write!(
                    out,
                    "<mimic joint=\"{}\" axis=\"axis\"><multiplier>{multiplier:?}</multiplier><offset>{offset:?}</offset>\
                     <reference>0</reference></mimic>",
                    escaped(&names.joint(leader))
                );
            }
            _ => {
                let at = At {
                    what: "joint",
                    name: &j.name,
                    ..At::FILE
                };
                let message = "SDF couples joints linearly only; the coupling is left out";
                f.doubt(at, "lost-coupling", message, "");
            }
        }
    }
    let _ = write!(out, "</{tag}>");
}

/// Loops as joints, which give a link a second parent.
fn loops(out: &mut String, robot: &Robot, names: &mut Names, f: &mut Findings) {
    if robot.loops.is_empty() {
        return;
    }
    let places = places(robot);
    let mut groups = Groups::of(robot);
    for (i, l) in robot.loops.iter().enumerate() {
        let at = At {
            what: "loop",
            name: &l.name,
            ..At::FILE
        };
        let Some((kind, axis)) = as_joint(l, &places) else {
            let message = "SDF closes loops by joints that hold where all coordinates are zero; it is left out";
            f.doubt(at, "lost-loop", message, "use MJCF or the native format");
            continue;
        };
        if groups.join(&l.first.0, &l.second.0) {
            let message = "it joins a link that is free: in SDF it is the joint that holds it, and its coordinates are the link's";
            f.doubt(at, "loop-as-joint", message, "use MJCF or the native format");
        }
        // A joint's child is a link.
        let (first, second) = if l.second.0 == WORLD {
            (&l.second, &l.first)
        } else {
            (&l.first, &l.second)
        };
        let wish = if l.name.is_empty() {
            format!("loop{}", i + 1)
        } else {
            l.name.clone()
        };
        let child = names.link(&second.0);
        let _ = write!(
            out,
            "  <joint name=\"{}\" type=\"{kind}\"><parent>{}</parent><child>{}</child>{}",
            escaped(&names.fresh(&wish)),
            escaped(&names.link(&first.0)),
            escaped(&child),
            pose(&second.1, "")
        );
        if let Some(axis) = axis {
            let _ = write!(out, "<axis><xyz>{}</xyz></axis>", vector(axis));
        }
        *out += "</joint>\n";
    }
}

/// Links that joints of SDF hold together, with the world or among themselves.
struct Groups<'a>(HashMap<&'a str, &'a str>);

impl<'a> Groups<'a> {
    fn of(robot: &'a Robot) -> Self {
        let held = robot.mechanism.joints().iter().filter(|j| j.kind != JointKind::Free);
        Self(held.map(|j| (&*j.child, &*j.parent)).collect())
    }

    fn root(&self, mut link: &'a str) -> &'a str {
        while let Some(parent) = self.0.get(link) {
            link = parent;
        }
        link
    }

    /// Joins the groups of two links; whether they were apart.
    fn join(&mut self, a: &'a str, b: &'a str) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        let apart = a != b;
        if apart {
            // The world is no link's child.
            let (inner, outer) = if b == WORLD { (b, a) } else { (a, b) };
            self.0.insert(outer, inner);
        }
        apart
    }
}

/// The joint that a loop is, if its frames coincide as they must.
fn as_joint(l: &Loop, places: &HashMap<&str, Pose>) -> Option<(&'static str, Option<Vec3>)> {
    const CLOSE: f64 = 1e-9;
    let [a, b] = [&l.first, &l.second].map(|(link, pose)| Some(*places.get(link.as_str())? * *pose));
    let apart = a?.inverse() * b?;
    let turned = Pose::from_rotation(apart.rotation);
    let straight = (0..3).all(|i| (turned.rotation.to_rows()[i][i] - 1.0).abs() < CLOSE);
    if apart.translation.norm() > CLOSE {
        return None;
    }
    match l.kind {
        ConstraintKind::Point => Some(("ball", None)),
        ConstraintKind::Weld if straight => Some(("fixed", None)),
        ConstraintKind::Hinge { axis } if straight => Some(("revolute", Some(axis))),
        ConstraintKind::Slider { axis } if straight => Some(("prismatic", Some(axis))),
        _ => None,
    }
}

/// Where links are when all coordinates are zero.
fn places(robot: &Robot) -> HashMap<&str, Pose> {
    let m = &robot.mechanism;
    let index: HashMap<&str, usize> = m.links().iter().enumerate().map(|(i, l)| (&*l.name, i)).collect();
    let carried = carried(robot);
    let mut places = HashMap::from([(WORLD, Pose::IDENTITY)]);
    let mut waiting = vec![(m.links().len(), Pose::IDENTITY)];
    while let Some((place, pose)) = waiting.pop() {
        for joint in &carried[place] {
            let child = pose * joint.origin;
            places.insert(&joint.child, child);
            waiting.push((index[joint.child.as_str()], child));
        }
    }
    places
}
