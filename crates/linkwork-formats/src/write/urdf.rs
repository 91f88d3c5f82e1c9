//! Writing URDF.

use super::stable_numbers::{rpy, settled};
use super::{escaped, numbers, shape, uniform, vector};
use crate::report::Findings;
use crate::robot::{Geometry, Robot, Role, Shape, Transmission};
use crate::source::At;
use linkwork::model::{Joint, JointKind, WORLD};
use linkwork::spatial::{Pose, Vec3};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Where a limit is asked for and there is none.
const NO_LIMIT: f64 = 1e9;

pub(super) fn write(robot: &Robot, f: &mut Findings) -> String {
    let m = &robot.mechanism;
    let mut out = format!("<?xml version=\"1.0\"?>\n<robot name=\"{}\">\n", escaped(m.name()));
    lost(robot, f);
    // A base that is simply welded to the world is the root of the file; otherwise the world is a link of its own.
    let based: Vec<_> = m.joints().iter().filter(|j| j.parent == WORLD).collect();
    let omitted = match based[..] {
        [only] if only.kind == JointKind::Fixed && only.origin == Pose::IDENTITY && only.name == "root_joint" => {
            Some(only)
        }
        _ => None,
    };
    let on_world =
        m.frames().iter().any(|x| x.link == WORLD) || robot.geometry.iter().any(|g| g.link == WORLD && sayable(g));
    let omitted = omitted.filter(|_| !on_world);
    let mut shapes: HashMap<&str, Vec<&Geometry>> = HashMap::new();
    for g in &robot.geometry {
        shapes.entry(&g.link).or_default().push(g);
    }
    if omitted.is_none() && !m.links().is_empty() {
        link(&mut out, WORLD, None, shapes.get(WORLD), f);
    }
    for l in m.links() {
        let body = (l.inertia != linkwork::spatial::Inertia::ZERO).then_some(&l.inertia);
        link(&mut out, &l.name, body, shapes.get(l.name.as_str()), f);
    }
    for frame in m.frames() {
        let _ = writeln!(out, "  <link name=\"{}\"/>", escaped(&frame.name));
    }
    let transmissions = transmissions(robot, f);
    let geared: HashMap<&str, f64> = transmissions.iter().fold(HashMap::new(), |mut sums, t| {
        *sums.entry(t.joint.as_str()).or_default() += t.rotor_inertia * t.ratio.powi(2);
        sums
    });
    for j in m.joints() {
        if omitted.is_none_or(|o| o.name != j.name) {
            joint(
                &mut out,
                robot,
                j,
                geared.get(j.name.as_str()).copied().unwrap_or(0.0),
                f,
            );
        }
    }
    let joints: HashSet<&str> = m.joints().iter().map(|joint| &*joint.name).collect();
    for frame in m.frames() {
        let name = crate::draft::free_name(&format!("{}_fixed", frame.name), |n| joints.contains(n));
        let weld = Joint::fixed(name).between(&frame.link, &frame.name).placed(frame.pose);
        joint(&mut out, robot, &weld, 0.0, f);
    }
    for t in &transmissions {
        let (name, joint) = (escaped(&t.name), escaped(&t.joint));
        let _ = writeln!(
            out,
            "  <transmission name=\"{name}\"><type>transmission_interface/SimpleTransmission</type><joint name=\"{joint}\"/>\
             <actuator name=\"{name}_motor\"><mechanicalReduction>{:?}</mechanicalReduction><rotorInertia>{:?}</rotorInertia>\
             </actuator></transmission>",
            t.ratio, t.rotor_inertia
        );
    }
    out + "</robot>\n"
}

/// Those of the robot whose joints motors drive, and one for every motor without any.
fn transmissions(robot: &Robot, f: &mut Findings) -> Vec<Transmission> {
    let m = &robot.mechanism;
    let Some(motors) = m.motors() else {
        return robot.transmissions.clone();
    };
    let driven = |joint: &str| motors.iter().any(|motor| motor.joint == joint);
    let moves = |joint: &str| m.joint(joint).is_ok_and(|j| m.joints()[j.index()].kind.nv() > 0);
    let own = robot
        .transmissions
        .iter()
        .filter(|t| driven(&t.joint) || !moves(&t.joint));
    let mut all: Vec<Transmission> = own.cloned().collect();
    let mut last = None;
    for motor in motors {
        let known = |t: &Transmission| t.joint == motor.joint;
        if robot.transmissions.iter().any(known) || last == Some(&motor.joint) {
            continue;
        }
        last = Some(&motor.joint);
        all.push(Transmission {
            name: motor.name.clone(),
            joint: motor.joint.clone(),
            ratio: motor.gear,
            rotor_inertia: 0.0,
        });
    }
    let part = |j: &&Joint| {
        let of = motors.iter().filter(|motor| motor.joint == j.name).count();
        of > 0 && of < j.kind.nv()
    };
    if let Some(joint) = m.joints().iter().find(part) {
        let at = At {
            what: "joint",
            name: &joint.name,
            ..At::FILE
        };
        let message = "motors drive some of its directions; a transmission drives all";
        f.doubt(at, "lost-motor", message, "use the native format");
    }
    if motors.is_empty() && (0..m.joints().len()).any(|j| m.joints()[j].kind.nv() > 0) {
        let message = "URDF cannot say that no joint has a motor";
        f.doubt(At::FILE, "lost-motor", message, "use MJCF or the native format");
    }
    all
}

/// The largest torque of a joint of one degree of freedom: its own limit, or what its motors exert at most.
fn motor_effort(robot: &Robot, j: &Joint, own: Option<f64>) -> Option<f64> {
    let motors = robot.mechanism.motors()?.iter().filter(|motor| motor.joint == j.name);
    let mut most = None;
    for motor in motors {
        *most.get_or_insert(0.0) += motor.gear.abs() * motor.effort_limit;
    }
    most.filter(|x: &f64| x.is_finite() && own.is_none_or(|own| *x < own))
}

/// What URDF cannot say.
fn lost(robot: &Robot, f: &mut Findings) {
    let m = &robot.mechanism;
    if m.gravity() != Vec3::new(0.0, 0.0, -9.81) {
        f.doubt(
            At::FILE,
            "lost-gravity",
            "URDF has no gravity",
            "set it again after loading",
        );
    }
    if !robot.loops.is_empty() {
        let message = format!("URDF has no loops; {} are left out", robot.loops.len());
        f.doubt(At::FILE, "lost-loop", message, "use MJCF or the native format");
    }
    if !m.frames().is_empty() {
        let message = format!("{} named frames are written as links without mass", m.frames().len());
        f.note(At::FILE, "frame-as-link", message, "");
    }
}

fn origin(pose: &Pose) -> String {
    format!(
        "<origin xyz=\"{}\" rpy=\"{}\"/>",
        vector(pose.translation),
        numbers(&rpy(&pose.rotation))
    )
}

fn link(
    out: &mut String,
    name: &str,
    body: Option<&linkwork::spatial::Inertia>,
    shapes: Option<&Vec<&Geometry>>,
    f: &mut Findings,
) {
    let _ = write!(out, "  <link name=\"{}\"", escaped(name));
    let start = out.len();
    *out += ">\n";
    let empty = out.len();
    if let Some(body) = body {
        let [xx, xy, xz, yy, yz, zz] = body.moments;
        let _ = writeln!(
            out,
            "    <inertial><origin xyz=\"{}\" rpy=\"0 0 0\"/><mass value=\"{:?}\"/><inertia ixx=\"{xx:?}\" ixy=\"{xy:?}\" \
             ixz=\"{xz:?}\" iyy=\"{yy:?}\" iyz=\"{yz:?}\" izz=\"{zz:?}\"/></inertial>",
            vector(body.com),
            body.mass
        );
    }
    for g in shapes.into_iter().flatten() {
        if !shape::has_size(g, f) {
            continue;
        }
        let tag = match g.role {
            Role::Visual => "visual",
            Role::Collision => "collision",
        };
        let shape = match &g.shape {
            Shape::Cuboid { edges } => format!("<box size=\"{}\"/>", vector(*edges)),
            Shape::Cylinder { radius, length } => format!("<cylinder radius=\"{radius:?}\" length=\"{length:?}\"/>"),
            Shape::Capsule { radius, length } => format!("<capsule radius=\"{radius:?}\" length=\"{length:?}\"/>"),
            Shape::Sphere { radius } => format!("<sphere radius=\"{radius:?}\"/>"),
            Shape::Mesh { uri, scale, .. } => {
                format!("<mesh filename=\"{}\" scale=\"{}\"/>", escaped(uri), vector(*scale))
            }
            Shape::Ellipsoid { .. } | Shape::Plane => {
                let at = At {
                    what: "link",
                    name,
                    ..At::FILE
                };
                f.doubt(
                    at,
                    "lost-shape",
                    "URDF has no ellipsoids and planes; the shape is left out",
                    "",
                );
                continue;
            }
        };
        let named = if g.name.is_empty() {
            String::new()
        } else {
            format!(" name=\"{}\"", escaped(&g.name))
        };
        let colour = g.colour.map_or_else(String::new, |c| {
            format!(
                "<material name=\"\"><color rgba=\"{}\"/></material>",
                numbers(&shape::colour(c))
            )
        });
        let _ = writeln!(
            out,
            "    <{tag}{named}>{}<geometry>{shape}</geometry>{colour}</{tag}>",
            origin(&g.pose)
        );
    }
    if out.len() == empty {
        out.truncate(start);
        *out += "/>\n";
    } else {
        *out += "  </link>\n";
    }
}

/// Whether URDF has such shapes.
fn sayable(g: &Geometry) -> bool {
    !matches!(g.shape, Shape::Ellipsoid { .. } | Shape::Plane) && shape::extends(g)
}

fn joint(out: &mut String, robot: &Robot, j: &Joint, geared: f64, f: &mut Findings) {
    let at = At {
        what: "joint",
        name: &j.name,
        ..At::FILE
    };
    let limits = j
        .position_limits
        .first()
        .filter(|(l, u)| l.is_finite() || u.is_finite());
    let (kind, axis) = match j.kind {
        JointKind::Fixed => ("fixed", None),
        // Without limits a revolute joint is what URDF calls continuous.
        JointKind::Revolute { axis } if limits.is_none() => ("continuous", Some(axis)),
        JointKind::Revolute { axis } => ("revolute", Some(axis)),
        JointKind::Continuous { axis } => ("continuous", Some(axis)),
        JointKind::Prismatic { axis } => ("prismatic", Some(axis)),
        JointKind::Planar => ("planar", Some(Vec3::new(0.0, 0.0, 1.0))),
        JointKind::Free => ("floating", None),
        other => {
            let message = format!("URDF has no {} joints", other.name());
            f.error(at, "joint-kind", message, "use the native format, or MJCF");
            return;
        }
    };
    let _ = write!(
        out,
        "  <joint name=\"{}\" type=\"{kind}\"><parent link=\"{}\"/><child link=\"{}\"/>{}",
        escaped(&j.name),
        escaped(&j.parent),
        escaped(&j.child),
        origin(&j.origin)
    );
    if let Some(axis) = axis {
        let _ = write!(out, "<axis xyz=\"{}\"/>", vector(axis));
    }
    let mut one = |what: &str, list: &[f64]| {
        uniform(list).unwrap_or_else(|()| {
            f.doubt(
                at,
                "lost-parameter",
                format!("URDF has one {what} for a joint; the first counts"),
                "",
            );
            list.first().copied()
        })
    };
    let (velocity, effort) = (
        one("velocity limit", &j.velocity_limit),
        one("effort limit", &j.effort_limit),
    );
    let passive = [
        ("damping", one("damping", &j.damping)),
        ("friction", one("friction", &j.friction)),
        (
            "armature",
            one("armature", &j.armature)
                .map(|a| settled([a - geared], |[a]| [(a + geared) - geared])[0])
                .filter(|a| *a > 1e-15 * geared),
        ),
        ("spring_stiffness", one("stiffness", &j.stiffness)),
        (
            "spring_reference",
            j.rest
                .first()
                .copied()
                .filter(|_| j.kind.nq() == 1 && !j.stiffness.is_empty()),
        ),
    ];
    let effort = motor_effort(robot, j, effort).or(effort);
    let limited = matches!(kind, "revolute" | "prismatic");
    if limited || velocity.is_some() || effort.is_some() {
        *out += "<limit";
        if limited {
            let (lower, upper) = limits.copied().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            let _ = write!(
                out,
                " lower=\"{:?}\" upper=\"{:?}\"",
                lower.max(-NO_LIMIT),
                upper.min(NO_LIMIT)
            );
        }
        let or_none = |x: Option<f64>| x.unwrap_or(NO_LIMIT).min(NO_LIMIT);
        let _ = write!(
            out,
            " effort=\"{:?}\" velocity=\"{:?}\"/>",
            or_none(effort),
            or_none(velocity)
        );
    }
    if passive.iter().any(|(_, x)| x.is_some()) {
        *out += "<dynamics";
        // Other readers refuse an element that has neither.
        let has = |wanted: &str| passive.iter().any(|(name, x)| *name == wanted && x.is_some());
        if !has("damping") && !has("friction") {
            *out += " damping=\"0.0\"";
        }
        for (name, x) in passive.iter().filter_map(|(name, x)| Some((name, (*x)?))) {
            let _ = write!(out, " {name}=\"{x:?}\"");
        }
        *out += "/>";
    }
    for c in robot.couplings.iter().filter(|c| c.follower == j.name) {
        match (&c.leader, &c.coefficients[..]) {
            (Some(leader), [offset, multiplier]) => {
                let leader = escaped(leader);
                let _ = write!(
                    out,
                    "<mimic joint=\"{leader}\" multiplier=\"{multiplier:?}\" offset=\"{offset:?}\"/>"
                );
            }
            _ => f.doubt(
                at,
                "lost-coupling",
                "URDF couples joints linearly only; the coupling is left out",
                "",
            ),
        }
    }
    *out += "</joint>\n";
}
