//! Writing MJCF.

use super::{carried, escaped, numbers, uniform, vector};
use crate::report::Findings;
use crate::robot::{Geometry, Robot, Role, Shape};
use crate::source::At;
use linkwork::closed::ConstraintKind;
use linkwork::model::{Frame, Joint, JointKind, Link, WORLD};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use std::collections::HashMap;
use std::fmt::Write;

/// What stands on a link beside its joints.
#[derive(Default)]
struct On<'a> {
    frames: Vec<&'a Frame>,
    shapes: Vec<&'a Geometry>,
    /// Ends of loops, with the names of their sites.
    ends: Vec<(String, Pose)>,
}

pub(super) fn write(robot: &Robot, f: &mut Findings) -> String {
    let m = &robot.mechanism;
    let mut out = format!("<mujoco model=\"{}\">\n", escaped(m.name()));
    // Shapes have no mass here: links have.
    out += "  <compiler angle=\"radian\" inertiafromgeom=\"false\"/>\n";
    let _ = writeln!(out, "  <option gravity=\"{}\"/>", vector(m.gravity()));
    assets(&mut out, robot);
    let mut on: HashMap<&str, On<'_>> = HashMap::new();
    for frame in m.frames() {
        on.entry(&frame.link).or_default().frames.push(frame);
    }
    for shape in &robot.geometry {
        on.entry(&shape.link).or_default().shapes.push(shape);
    }
    for (i, l) in robot.loops.iter().enumerate() {
        for (end, (link, pose)) in [("a", &l.first), ("b", &l.second)] {
            on.entry(link)
                .or_default()
                .ends
                .push((format!("loop{}_{end}", i + 1), *pose));
        }
    }
    out += "  <worldbody>\n";
    bodies(&mut out, robot, &on, f);
    out += "  </worldbody>\n";
    equality(&mut out, robot, f);
    out + "</mujoco>\n"
}

/// Where the meshes of shapes are named.
fn mesh_name(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Mesh { uri, scale, .. } => Some(format!("{uri} {}", vector(*scale))),
        _ => None,
    }
}

fn assets(out: &mut String, robot: &Robot) {
    let mut known = std::collections::BTreeSet::new();
    for g in &robot.geometry {
        if let (Shape::Mesh { uri, scale, .. }, Some(name)) = (&g.shape, mesh_name(&g.shape)) {
            let entry = format!(
                "    <mesh name=\"{}\" file=\"{}\" scale=\"{}\"/>\n",
                escaped(&name),
                escaped(uri),
                vector(*scale)
            );
            known.insert(entry);
        }
    }
    if !known.is_empty() {
        *out += "  <asset>\n";
        known.iter().for_each(|entry| *out += entry);
        *out += "  </asset>\n";
    }
}

/// All bodies, depth first, without recursion.
fn bodies(out: &mut String, robot: &Robot, on: &HashMap<&str, On<'_>>, f: &mut Findings) {
    let m = &robot.mechanism;
    let carried = carried(robot);
    let place: HashMap<&str, usize> = m.links().iter().enumerate().map(|(i, l)| (&*l.name, i)).collect();
    let world = m.links().len();
    contents(out, on.get(WORLD), 2);
    enum Step<'a> {
        Open(&'a Joint),
        Close,
    }
    let mut waiting: Vec<Step<'_>> = carried[world].iter().rev().map(|j| Step::Open(j)).collect();
    let (mut depth, mut order) = (2, Vec::new());
    while let Some(step) = waiting.pop() {
        match step {
            Step::Close => {
                depth -= 1;
                let _ = writeln!(out, "{:1$}</body>", "", 2 * depth.min(20));
            }
            Step::Open(joint) => {
                let l = place[&*joint.child];
                body(out, &m.links()[l], joint, on.get(joint.child.as_str()), depth, f);
                if joint.kind.nv() > 0 {
                    order.push(joint.name.as_str());
                }
                depth += 1;
                waiting.push(Step::Close);
                waiting.extend(carried[l].iter().rev().map(|j| Step::Open(j)));
            }
        }
    }
    let moving = m.joints().iter().filter(|j| j.kind.nv() > 0).map(|j| j.name.as_str());
    if !moving.eq(order.iter().copied()) {
        let message = "coordinates follow the tree in MJCF: their order changes";
        f.doubt(At::FILE, "order", message, "refer to joints by name");
    }
}

fn quaternion(r: &Rotation) -> String {
    let [x, y, z, w] = r.to_quaternion();
    numbers(&[w, x, y, z])
}

fn placed(pose: &Pose) -> String {
    match pose.rotation == Rotation::IDENTITY {
        true => format!("pos=\"{}\"", vector(pose.translation)),
        false => format!(
            "pos=\"{}\" quat=\"{}\"",
            vector(pose.translation),
            quaternion(&pose.rotation)
        ),
    }
}

fn body(out: &mut String, link: &Link, joint: &Joint, on: Option<&On<'_>>, depth: usize, f: &mut Findings) {
    let _ = writeln!(
        out,
        "{:3$}<body name=\"{}\" {}>",
        "",
        escaped(&link.name),
        placed(&joint.origin),
        2 * depth.min(20)
    );
    let indent = 2 * (depth + 1).min(20);
    if link.inertia != Inertia::ZERO {
        let [xx, xy, xz, yy, yz, zz] = link.inertia.moments;
        let _ = writeln!(
            out,
            "{:indent$}<inertial pos=\"{}\" mass=\"{:?}\" fullinertia=\"{}\"/>",
            "",
            vector(link.inertia.com),
            link.inertia.mass,
            numbers(&[xx, yy, zz, xy, xz, yz])
        );
    }
    joints(out, joint, indent, f);
    contents(out, on, depth + 1);
}

/// A joint, as one or several of MJCF.
fn joints(out: &mut String, joint: &Joint, indent: usize, f: &mut Findings) {
    let at = At {
        what: "joint",
        name: &joint.name,
        ..At::FILE
    };
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Vec3::from);
    let parts: Vec<(&str, Option<Vec3>)> = match joint.kind {
        JointKind::Fixed => Vec::new(),
        JointKind::Revolute { axis } | JointKind::Continuous { axis } => vec![("hinge", Some(axis))],
        JointKind::Prismatic { axis } => vec![("slide", Some(axis))],
        JointKind::Cylindrical { axis } => vec![("hinge", Some(axis)), ("slide", Some(axis))],
        JointKind::Universal { axes: [a, b] } => vec![("hinge", Some(a)), ("hinge", Some(b))],
        JointKind::Translation => vec![("slide", Some(x)), ("slide", Some(y)), ("slide", Some(z))],
        JointKind::Spherical => vec![("ball", None)],
        JointKind::Free if joint.parent == WORLD => vec![("free", None)],
        JointKind::Planar => {
            let message =
                "MJCF has no planar joints: its coordinates become x, y, angle, with rates in the parent's axes";
            f.doubt(at, "planar-joint", message, "use the native format to keep them");
            vec![("slide", Some(x)), ("slide", Some(y)), ("hinge", Some(z))]
        }
        other => {
            let message = format!(
                "MJCF has no {} joints{}",
                other.name(),
                if other == JointKind::Free { " within a tree" } else { "" }
            );
            f.error(at, "joint-kind", message, "use the native format");
            return;
        }
    };
    let several = parts.len() > 1;
    for (i, (kind, axis)) in parts.iter().enumerate() {
        let name = if several {
            format!("{}_{}", joint.name, i + 1)
        } else {
            joint.name.clone()
        };
        let _ = write!(out, "{:indent$}<joint name=\"{}\" type=\"{kind}\"", "", escaped(&name));
        if let Some(axis) = axis {
            let _ = write!(out, " axis=\"{}\"", vector(*axis));
        }
        let mut one = |what: &str, list: &[f64]| match several {
            true => list.get(i).or(list.first()).copied().filter(|x| *x != 0.0),
            false => uniform(list).unwrap_or_else(|()| {
                f.doubt(
                    at,
                    "lost-parameter",
                    format!("MJCF has one {what} for a joint; the first counts"),
                    "",
                );
                list.first().copied()
            }),
        };
        for (attribute, list) in [
            ("armature", &joint.armature),
            ("damping", &joint.damping),
            ("frictionloss", &joint.friction),
            ("stiffness", &joint.stiffness),
        ] {
            if let Some(value) = one(attribute, list) {
                let _ = write!(out, " {attribute}=\"{value:?}\"");
            }
        }
        let rest = joint.rest.get(i).filter(|_| axis.is_some());
        if let Some(rest) = rest.filter(|x| **x != 0.0) {
            let _ = write!(out, " springref=\"{rest:?}\"");
        }
        let limits = joint.position_limits.get(i).or(joint.position_limits.first());
        if let Some((lower, upper)) = limits.filter(|(l, u)| axis.is_some() && (l.is_finite() || u.is_finite())) {
            let _ = write!(out, " range=\"{:?} {:?}\"", lower.max(-1e9), upper.min(1e9));
        }
        if let Some(effort) = one("effort limit", &joint.effort_limit).filter(|x| axis.is_some() && x.is_finite()) {
            let _ = write!(out, " actuatorfrcrange=\"{:?} {effort:?}\"", -effort);
        }
        *out += "/>\n";
    }
}

/// Sites and geoms of a link.
fn contents(out: &mut String, on: Option<&On<'_>>, depth: usize) {
    let Some(on) = on else { return };
    let indent = 2 * depth.min(20);
    for frame in &on.frames {
        let _ = writeln!(
            out,
            "{:indent$}<site name=\"{}\" {}/>",
            "",
            escaped(&frame.name),
            placed(&frame.pose)
        );
    }
    for (name, pose) in &on.ends {
        let _ = writeln!(out, "{:indent$}<site name=\"{}\" {}/>", "", escaped(name), placed(pose));
    }
    for g in &on.shapes {
        let half = |edges: Vec3| vector(edges * 0.5);
        let shape = match &g.shape {
            Shape::Cuboid { edges } => format!("type=\"box\" size=\"{}\"", half(*edges)),
            Shape::Cylinder { radius, length } => {
                format!("type=\"cylinder\" size=\"{}\"", numbers(&[*radius, 0.5 * length]))
            }
            Shape::Capsule { radius, length } => {
                format!("type=\"capsule\" size=\"{}\"", numbers(&[*radius, 0.5 * length]))
            }
            Shape::Sphere { radius } => format!("type=\"sphere\" size=\"{radius:?}\""),
            Shape::Ellipsoid { radii } => format!("type=\"ellipsoid\" size=\"{}\"", vector(*radii)),
            Shape::Plane => "type=\"plane\" size=\"1 1 1\"".to_owned(),
            Shape::Mesh { .. } => format!(
                "type=\"mesh\" mesh=\"{}\"",
                escaped(&mesh_name(&g.shape).unwrap_or_default())
            ),
        };
        let touch = if g.role == Role::Visual {
            " contype=\"0\" conaffinity=\"0\""
        } else {
            ""
        };
        let colour = g
            .colour
            .map_or_else(String::new, |c| format!(" rgba=\"{}\"", numbers(&c)));
        let name = if g.name.is_empty() {
            String::new()
        } else {
            format!(" name=\"{}\"", escaped(&g.name))
        };
        let _ = writeln!(
            out,
            "{:indent$}<geom{name} {shape} {}{touch}{colour}/>",
            "",
            placed(&g.pose)
        );
    }
}

fn equality(out: &mut String, robot: &Robot, f: &mut Findings) {
    let mut lines = String::new();
    let named = |name: &str| {
        if name.is_empty() {
            String::new()
        } else {
            format!(" name=\"{}\"", escaped(name))
        }
    };
    for c in &robot.couplings {
        if c.coefficients.len() > 5 {
            let at = At {
                what: "joint",
                name: &c.follower,
                ..At::FILE
            };
            f.doubt(
                at,
                "lost-coupling",
                "MJCF couples joints by polynomials up to the fourth degree; this one is left out",
                "",
            );
            continue;
        }
        let mut five = [0.0; 5];
        five[..c.coefficients.len()].copy_from_slice(&c.coefficients);
        let leader = c
            .leader
            .as_ref()
            .map_or_else(String::new, |l| format!(" joint2=\"{}\"", escaped(l)));
        let _ = writeln!(
            lines,
            "    <joint{} joint1=\"{}\"{leader} polycoef=\"{}\"/>",
            named(&c.name),
            escaped(&c.follower),
            numbers(&five)
        );
    }
    for (i, l) in robot.loops.iter().enumerate() {
        let kind = match l.kind {
            ConstraintKind::Weld => "weld",
            ConstraintKind::Point => "connect",
            _ => {
                let at = At {
                    what: "loop",
                    name: &l.name,
                    ..At::FILE
                };
                f.doubt(
                    at,
                    "lost-loop",
                    "MJCF has points and welds only; the loop is left out",
                    "use the native format",
                );
                continue;
            }
        };
        let _ = writeln!(
            lines,
            "    <{kind}{} site1=\"loop{n}_a\" site2=\"loop{n}_b\"/>",
            named(&l.name),
            n = i + 1
        );
    }
    if !lines.is_empty() {
        let _ = write!(out, "  <equality>\n{lines}  </equality>\n");
    }
}
