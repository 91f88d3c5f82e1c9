//! Writing MJCF.

use super::joint_stacks::stack;
use super::mujoco::{self, LEAST_MASS, Mesh, Meshes};
use super::stable_numbers::quaternion;
use super::{carried, escaped, numbers, shape, uniform, vector};
use crate::draft::free_name;
use crate::report::Findings;
use crate::robot::{Geometry, Loop, Robot, Role, Shape, Touch};
use crate::source::At;
use linkwork::closed::ConstraintKind;
use linkwork::model::{Frame, Joint, JointKind, Link, WORLD};
use linkwork::spatial::{Inertia, Pose, Vec3};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// A loop that MJCF can say.
struct Closed<'a> {
    closes: &'a Loop,
    word: &'static str,
    /// The names of the sites at its ends.
    sites: [String; 2],
}

/// Loops that MJCF can say; others are told of.
fn closed<'a>(robot: &'a Robot, f: &mut Findings) -> Vec<Closed<'a>> {
    let frames: HashMap<&str, &Frame> = robot.mechanism.frames().iter().map(|x| (&*x.name, x)).collect();
    let mut all = Vec::new();
    for closes in &robot.loops {
        let word = match closes.kind {
            ConstraintKind::Weld => "weld",
            ConstraintKind::Point => "connect",
            _ => {
                let at = At {
                    what: "loop",
                    name: &closes.name,
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
        let n = all.len() + 1;
        let sites = [("a", &closes.first), ("b", &closes.second)].map(|(end, (link, pose))| {
            // A site that an earlier conversion wrote for it is there already.
            let other = |name: &str| {
                let frame = frames.get(name);
                frame.is_some_and(|frame| frame.link != *link || frame.pose != *pose)
            };
            free_name(&format!("loop{n}_{end}"), other)
        });
        all.push(Closed { closes, word, sites });
    }
    all
}

/// What stands on a link beside its joints.
#[derive(Default)]
struct On<'a> {
    frames: Vec<&'a Frame>,
    /// With names that no other shape has, and how they touch.
    shapes: Vec<(&'a Geometry, String, Touch)>,
    /// Ends of loops, with the names of their sites.
    ends: Vec<(String, Pose)>,
}

pub(super) fn write(robot: &Robot, f: &mut Findings) -> String {
    let m = &robot.mechanism;
    let mut out = format!("<mujoco model=\"{}\">\n", escaped(m.name()));
    // Shapes have no mass here: links have.
    out += "  <compiler angle=\"radian\" inertiafromgeom=\"false\"/>\n";
    let _ = writeln!(out, "  <option gravity=\"{}\"/>", vector(m.gravity()));
    let meshes = Meshes::of(robot, f);
    assets(&mut out, &meshes);
    let mut on: HashMap<&str, On<'_>> = HashMap::new();
    for frame in m.frames() {
        on.entry(&frame.link).or_default().frames.push(frame);
    }
    let named = robot.geometry.iter().zip(mujoco::unique(robot.geometry.iter()));
    for (i, (shape, name)) in named.enumerate() {
        let touch = robot.touches.get(&i).copied().unwrap_or_default();
        on.entry(&shape.link).or_default().shapes.push((shape, name, touch));
    }
    let closed = closed(robot, f);
    for l in &closed {
        for ((link, pose), name) in [&l.closes.first, &l.closes.second].into_iter().zip(&l.sites) {
            if !m.frames().iter().any(|frame| frame.name == *name) {
                on.entry(link).or_default().ends.push((name.clone(), *pose));
            }
        }
    }
    out += "  <worldbody>\n";
    bodies(&mut out, robot, &on, &meshes, f);
    out += "  </worldbody>\n";
    contact(&mut out, robot);
    equality(&mut out, robot, &closed, f);
    actuators(&mut out, robot, f);
    out + "</mujoco>\n"
}

fn assets(out: &mut String, meshes: &Meshes) {
    let mut lines = String::new();
    for Mesh { name, file, scale } in meshes.all() {
        // Open and flat meshes have no volume.
        let _ = writeln!(
            lines,
            "    <mesh name=\"{}\" file=\"{}\" scale=\"{}\" inertia=\"shell\"/>",
            escaped(name),
            escaped(file),
            vector(*scale)
        );
    }
    if !lines.is_empty() {
        let _ = write!(out, "  <asset>\n{lines}  </asset>\n");
    }
}

/// All bodies, depth first, without recursion.
fn bodies(out: &mut String, robot: &Robot, on: &HashMap<&str, On<'_>>, meshes: &Meshes, f: &mut Findings) {
    let m = &robot.mechanism;
    let carried = carried(robot);
    let place: HashMap<&str, usize> = m.links().iter().enumerate().map(|(i, l)| (&*l.name, i)).collect();
    let world = m.links().len();
    contents(out, on.get(WORLD), meshes, 2, f);
    let named: HashSet<&str> = robot.untouching.iter().flat_map(|(a, b)| [&**a, &**b]).collect();
    let mut massless = 0;
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
                let joints = stack(joint, |joint| {
                    let l = place[&*joint.child];
                    let alone =
                        carried[l].len() == 1 && !on.contains_key(&*joint.child) && !named.contains(&*joint.child);
                    (&m.links()[l], alone.then(|| carried[l][0]))
                });
                let child = &*joints[joints.len() - 1].child;
                let l = place[child];
                massless += usize::from(body(out, &m.links()[l], &joints, depth, f));
                contents(out, on.get(child), meshes, depth + 1, f);
                order.extend(joints.iter().filter(|j| j.kind.nv() > 0).map(|j| j.name.as_str()));
                depth += 1;
                waiting.push(Step::Close);
                waiting.extend(carried[l].iter().rev().map(|j| Step::Open(j)));
            }
        }
    }
    if massless > 0 {
        let message =
            format!("{massless} links that move have no mass, which MuJoCo refuses: they get {LEAST_MASS:e} kg");
        f.note(At::FILE, "least-mass", message, "");
    }
    let moving = m.joints().iter().filter(|j| j.kind.nv() > 0).map(|j| j.name.as_str());
    if !moving.eq(order.iter().copied()) {
        let message = "coordinates follow the tree in MJCF: their order changes";
        f.doubt(At::FILE, "order", message, "refer to joints by name");
    }
}

fn placed(pose: &Pose) -> String {
    let position = vector(pose.translation);
    match quaternion(&pose.rotation) {
        [1.0, 0.0, 0.0, 0.0] => format!("pos=\"{position}\""),
        turn => format!("pos=\"{position}\" quat=\"{}\"", numbers(&turn)),
    }
}

/// Opens a body; whether it has no mass and should.
fn body(out: &mut String, link: &Link, stands_on: &[&Joint], depth: usize, f: &mut Findings) -> bool {
    let _ = writeln!(
        out,
        "{:3$}<body name=\"{}\" {}>",
        "",
        escaped(&link.name),
        placed(&stands_on[0].origin),
        2 * depth.min(20)
    );
    let indent = 2 * (depth + 1).min(20);
    let at = At {
        what: "link",
        name: &link.name,
        ..At::FILE
    };
    let mut inertia = mujoco::within(&link.inertia, at, f);
    let moves = stands_on[0].kind.nv() > 0;
    let massless = moves && (inertia.mass < LEAST_MASS || inertia.principal().0[0] < LEAST_MASS);
    if massless {
        inertia.mass = inertia.mass.max(LEAST_MASS);
        [0, 3, 5]
            .into_iter()
            .for_each(|i| inertia.moments[i] += 2.0 * LEAST_MASS);
    }
    if inertia != Inertia::ZERO {
        let [xx, xy, xz, yy, yz, zz] = inertia.moments;
        let moments = match mujoco::is_diagonal(&inertia) {
            true => format!("diaginertia=\"{}\"", numbers(&[xx, yy, zz])),
            false => format!("fullinertia=\"{}\"", numbers(&[xx, yy, zz, xy, xz, yz])),
        };
        let _ = writeln!(
            out,
            "{:indent$}<inertial pos=\"{}\" mass=\"{:?}\" {moments}/>",
            "",
            vector(inertia.com),
            inertia.mass,
        );
    }
    stands_on.iter().for_each(|joint| joints(out, joint, indent, f));
    massless
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
            let _ = write!(out, " axis=\"{}\"", vector(mujoco::direction(*axis)));
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
            // MuJoCo wants some way between the two.
            let (lower, upper) = (lower.max(-1e9), upper.min(1e9));
            let upper = upper.max(lower + 1e-9 * (1.0 + lower.abs()));
            let _ = write!(out, " range=\"{lower:?} {upper:?}\"");
        }
        if let (JointKind::Spherical, &[(_, upper)]) = (joint.kind, &joint.position_limits[..])
            && upper.is_finite()
        {
            let _ = write!(out, " range=\"0 {:?}\"", upper.max(1e-9));
        }
        let effort = one("effort limit", &joint.effort_limit).filter(|x| axis.is_some() && x.is_finite());
        if joint.effort_limit.contains(&0.0) {
            f.doubt(at, "lost-parameter", "MJCF has no effort limit of 0", "");
        }
        // MuJoCo's numbers end somewhere.
        if let Some(effort) = effort.map(|x| x.min(1e30)).filter(|x| *x > 0.0) {
            let _ = write!(out, " actuatorfrcrange=\"{:?} {effort:?}\"", -effort);
        }
        *out += "/>\n";
    }
}

/// Sites and geoms of a link.
fn contents(out: &mut String, on: Option<&On<'_>>, meshes: &Meshes, depth: usize, f: &mut Findings) {
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
    for (g, name, touch) in &on.shapes {
        if !shape::has_size(g, f) {
            continue;
        }
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
            Shape::Mesh { uri, scale, .. } => match meshes.name(uri, *scale) {
                Some(mesh) => format!("type=\"mesh\" mesh=\"{}\"", escaped(mesh)),
                None => continue,
            },
        };
        let touch = touching(g.role, touch);
        let colour = g
            .colour
            .map_or_else(String::new, |c| format!(" rgba=\"{}\"", numbers(&shape::colour(c))));
        let name = if name.is_empty() {
            String::new()
        } else {
            format!(" name=\"{}\"", escaped(name))
        };
        let _ = writeln!(
            out,
            "{:indent$}<geom{name} {shape} {}{touch}{colour}/>",
            "",
            placed(&g.pose)
        );
    }
}

/// What a geom says of how it touches, where that is not MuJoCo's own.
fn touching(role: Role, touch: &Touch) -> String {
    let usual = Touch::default();
    let mut out = String::new();
    let (kind, affinity) = match role {
        Role::Visual => (0, 0),
        Role::Collision => (touch.kind, touch.affinity),
    };
    for (name, own, other) in [
        ("contype", kind, usual.kind),
        ("conaffinity", affinity, usual.affinity),
        ("condim", touch.dimensions, usual.dimensions),
    ] {
        if own != other {
            let _ = write!(out, " {name}=\"{own}\"");
        }
    }
    if touch.priority != usual.priority {
        let _ = write!(out, " priority=\"{}\"", touch.priority);
    }
    if touch.friction != usual.friction {
        let _ = write!(out, " friction=\"{}\"", numbers(&touch.friction));
    }
    if let Some(time) = touch.time_constant {
        let _ = write!(out, " solref=\"{time:?} 1\"");
    }
    out
}

/// Pairs of bodies that do not touch.
fn contact(out: &mut String, robot: &Robot) {
    if robot.untouching.is_empty() {
        return;
    }
    *out += "  <contact>\n";
    for (a, b) in &robot.untouching {
        let _ = writeln!(out, "    <exclude body1=\"{}\" body2=\"{}\"/>", escaped(a), escaped(b));
    }
    *out += "  </contact>\n";
}

/// Motors, where the model says any; a section without any says that there are none.
fn actuators(out: &mut String, robot: &Robot, f: &mut Findings) {
    let m = &robot.mechanism;
    let Some(motors) = m.motors() else { return };
    let mut taken = HashSet::new();
    *out += "  <actuator>\n";
    for motor in motors {
        let Some(joint) = m.joint(&motor.joint).ok().map(|j| &m.joints()[j.index()]) else {
            continue;
        };
        let axis = |places: usize| {
            let mut gear = [0.0; 6];
            gear[places + motor.dof] = motor.gear;
            numbers(&gear)
        };
        let (name, gear) = match joint.kind {
            JointKind::Spherical => (joint.name.clone(), axis(0)),
            JointKind::Free if motor.dof < 3 => (joint.name.clone(), axis(3)),
            JointKind::Free => {
                let at = At {
                    what: "joint",
                    name: &joint.name,
                    ..At::FILE
                };
                let message = "MJCF drives free joints along the world's axes; its motor is left out";
                f.doubt(at, "lost-motor", message, "use the native format");
                continue;
            }
            // x, y, angle there; angle, x, y here.
            JointKind::Planar => (
                format!("{}_{}", joint.name, [3, 1, 2][motor.dof]),
                format!("{:?}", motor.gear),
            ),
            kind if kind.nv() > 1 => (format!("{}_{}", joint.name, motor.dof + 1), format!("{:?}", motor.gear)),
            _ => (joint.name.clone(), format!("{:?}", motor.gear)),
        };
        let own = if !motor.name.is_empty() && taken.insert(&motor.name) {
            format!(" name=\"{}\"", escaped(&motor.name))
        } else {
            String::new()
        };
        let limit = if motor.effort_limit.is_finite() && motor.effort_limit > 0.0 {
            let most = motor.effort_limit.min(1e30);
            format!(" ctrllimited=\"true\" ctrlrange=\"{:?} {most:?}\"", -most)
        } else {
            String::new()
        };
        let _ = writeln!(
            out,
            "    <motor{own} joint=\"{}\" gear=\"{gear}\"{limit}/>",
            escaped(&name)
        );
    }
    *out += "  </actuator>\n";
}

fn equality(out: &mut String, robot: &Robot, closed: &[Closed<'_>], f: &mut Findings) {
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
    for Closed { closes, word, sites } in closed {
        let [first, second] = sites.each_ref().map(|name| escaped(name));
        let name = named(&closes.name);
        let _ = writeln!(lines, "    <{word}{name} site1=\"{first}\" site2=\"{second}\"/>");
    }
    if !lines.is_empty() {
        let _ = write!(out, "  <equality>\n{lines}  </equality>\n");
    }
}
