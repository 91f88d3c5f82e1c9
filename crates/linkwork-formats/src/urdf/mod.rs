//! URDF: links and joints in a list, with their geometry and transmissions.

mod geometry;
mod joint;
mod names;

use crate::draft::{Draft, Placed};
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::robot::Transmission;
use crate::source::{At, shortened};
use crate::xml::{Document, Element};
use linkwork::model::{Link, Motor};
use linkwork::spatial::{Inertia, Pose, Rotation};
use std::collections::HashMap;

/// Reads a robot.
pub(crate) fn read(document: &Document, f: &mut Findings) -> Draft {
    let root = document.root();
    let mut draft = Draft {
        name: root.attribute("name").unwrap_or_default().into_owned(),
        ..Draft::default()
    };
    if draft.name.is_empty() {
        f.doubt(
            root.at(),
            "missing-name",
            "the robot has no name",
            "write <robot name=\"…\">",
        );
        "robot".clone_into(&mut draft.name);
    }
    let materials = geometry::materials(root, f);
    names::look(root, f);
    for e in root.children() {
        match e.name() {
            "link" => link(e, &materials, &mut draft, f),
            "joint" => joint::read(e, &mut draft, f),
            // Transmissions are read when all joints are known.
            _ => {}
        }
    }
    transmissions(root, &mut draft, f);
    draft
}

/// The only child of a name; further ones are reported.
fn only<'a>(e: Element<'a>, name: &str, owner: At<'_>, f: &mut Findings) -> Option<Element<'a>> {
    let mut all = e.children_named(name);
    let first = all.next();
    if let Some(second) = all.next() {
        let message = format!("it has more than one <{name}>; the first one counts");
        f.doubt(
            owner.seen_at(second.spot()),
            "repeated-element",
            message,
            "remove the others",
        );
    }
    first
}

/// The pose of an element's `<origin>`.
fn origin(e: Element<'_>, owner: At<'_>, f: &mut Findings) -> Pose {
    let Some(origin) = only(e, "origin", owner, f) else {
        return Pose::IDENTITY;
    };
    let xyz = numbers::vector(f, origin, "xyz", owner).unwrap_or_default();
    let rotation = match numbers::several::<4>(f, origin, "quat_xyzw", owner) {
        Some([x, y, z, w]) => {
            let norm = (x * x + y * y + z * z + w * w).sqrt();
            if norm > 1e-6 {
                Rotation::from_quaternion([x, y, z, w].map(|x| x / norm))
            } else {
                let at = owner.seen_at(origin.spot_of("quat_xyzw"));
                f.error(
                    at,
                    "quaternion",
                    "the quaternion has no length",
                    "give x y z w of length one",
                );
                Rotation::IDENTITY
            }
        }
        None => {
            let [roll, pitch, yaw] = numbers::several::<3>(f, origin, "rpy", owner).unwrap_or_default();
            Rotation::from_rpy(roll, pitch, yaw)
        }
    };
    Pose::new(rotation, xyz)
}

type Materials = HashMap<String, [f64; 4]>;

fn link(e: Element<'_>, materials: &Materials, draft: &mut Draft, f: &mut Findings) {
    let name = e.attribute("name").unwrap_or_default().into_owned();
    let at = e.at();
    let inertia = only(e, "inertial", at, f).map_or(Inertia::ZERO, |i| {
        let spot = i.child("inertia").unwrap_or(i).spot();
        draft.inertia_spots.insert(name.clone(), spot);
        inertial(i, at, f)
    });
    geometry::read(e, &name, materials, draft, f);
    draft.links.push(Placed {
        item: Link::new(name, inertia),
        spot: e.spot(),
    });
}

fn inertial(e: Element<'_>, at: At<'_>, f: &mut Findings) -> Inertia {
    let pose = origin(e, at, f);
    let mass = match only(e, "mass", at, f) {
        Some(mass) => numbers::needed(f, mass, "value", at),
        None => {
            f.doubt(
                at.seen_at(e.spot()),
                "missing-mass",
                "its <inertial> has no <mass>",
                "add <mass value=\"…\"/>",
            );
            0.0
        }
    };
    let Some(inertia) = only(e, "inertia", at, f) else {
        let message = "its <inertial> has no <inertia>: it is a point mass";
        f.doubt(
            at.seen_at(e.spot()),
            "missing-inertia",
            message,
            "add <inertia ixx=\"…\" …/>",
        );
        return Inertia::point(mass, pose.translation);
    };
    let missing = |name: &&str| inertia.attribute(name).is_none();
    if let Some(name) = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"].iter().find(|n| missing(n)) {
        let message = format!("its <inertia> has no {name}, which is taken as zero");
        f.doubt(at.seen_at(inertia.spot()), "missing-inertia", message, "give all six");
    }
    let mut moments = [0.0; 6];
    for (moment, name) in moments.iter_mut().zip(["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]) {
        *moment = numbers::number(f, inertia, name, at, Range::Usable).unwrap_or(0.0);
    }
    Inertia::new(mass, [0.0; 3], moments).seen_from(&pose)
}

/// Gears, motors, and rotors that add armature to their joints.
///
/// `<mechanicalReduction>` is read in the actuator, in the joint, or directly in the transmission, as older files have
/// it; `<rotorInertia>` beside it. Where Drake's `drake:gear_ratio` or `drake:rotor_inertia` is given, these alone count, with
/// their `value`s.
fn transmissions(root: Element<'_>, draft: &mut Draft, f: &mut Findings) {
    let places: HashMap<String, usize> = {
        let named = draft.joints.iter().enumerate();
        named.map(|(i, j)| (j.item.name.clone(), i)).collect()
    };
    for e in root.children_named("transmission") {
        let at = e.at();
        let actuators: Vec<_> = e.children_named("actuator").collect();
        for (i, joint) in e.children_named("joint").enumerate() {
            let name = joint.attribute("name").unwrap_or_default();
            let Some(&place) = places.get(&*name) else {
                let message = format!("it drives a joint `{}` that does not exist", shortened(&name));
                let advice = "correct the name, or remove the transmission";
                f.doubt(at.seen_at(joint.spot()), "transmission", message, advice);
                continue;
            };
            let actuator = actuators.get(i.min(actuators.len().saturating_sub(1))).copied();
            let holders = [actuator, Some(joint), Some(e)];
            let mut find = |names: &[&str]| {
                let mut all = holders.iter().flatten().flat_map(|h| names.iter().map(|n| h.child(n)));
                all.find_map(|c| c).and_then(|c| content(c, at, f))
            };
            let reduction = find(&["mechanicalReduction", "mechanical_reduction"]);
            let rotor = find(&["rotorInertia", "rotor_inertia"]);
            let (drake_ratio, drake_rotor) = (find(&["drake:gear_ratio"]), find(&["drake:rotor_inertia"]));
            // Drake reads its own elements alone: a reduction beside them has no part in the inertia of its rotor.
            let (ratio, rotor) = match (drake_ratio, drake_rotor) {
                (None, None) => (reduction, rotor),
                (ratio, rotor) => (ratio, rotor),
            };
            let transmission = Transmission {
                name: e.attribute("name").unwrap_or_default().into_owned(),
                joint: name.into_owned(),
                ratio: ratio.unwrap_or(1.0),
                rotor_inertia: rotor.unwrap_or(0.0),
            };
            let motors = (0..draft.joints[place].item.kind.nv()).map(|dof| {
                let motor = Motor::on(&transmission.joint).named(&transmission.name).dof(dof);
                motor.geared(transmission.ratio)
            });
            draft.motors.get_or_insert_default().extend(motors);
            let armature = transmission.rotor_inertia * transmission.ratio.powi(2);
            let joint = &mut draft.joints[place].item;
            if armature != 0.0 && joint.kind.nv() > 0 {
                match joint.armature.first_mut() {
                    Some(sum) => *sum += armature,
                    None => joint.armature.push(armature),
                }
            }
            draft.transmissions.push(transmission);
        }
    }
}

/// The number in an element's text or in its `value`.
fn content(e: Element<'_>, at: At<'_>, f: &mut Findings) -> Option<f64> {
    if e.attribute("value").is_some() {
        return numbers::number(f, e, "value", at, Range::Usable);
    }
    match numbers::parse(e.text(), Range::Usable) {
        Ok(x) => Some(x),
        Err((problem, advice)) => {
            f.doubt(
                at.seen_at(e.spot()),
                "number",
                format!("<{}>: {problem}", e.name()),
                advice,
            );
            None
        }
    }
}
