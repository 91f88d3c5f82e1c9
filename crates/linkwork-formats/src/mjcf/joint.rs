//! Joints of MJCF.

use super::Model;
use super::defaults::Defaulted;
use super::expand::Item;
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::source::{At, shortened};
use crate::xml::Element;
use linkwork::model::{Joint, JointKind};
use linkwork::spatial::{Pose, Rotation, Vec3};

/// A joint, and where it is on its body.
pub(super) struct Read {
    pub(super) joint: Joint,
    pub(super) anchor: Vec3,
    /// The displacement that the file's own pose of the body stands for: `ref`.
    pub(super) reference: f64,
    /// The displacement at which springs rest, those of tendons too: `springref`.
    pub(super) spring: f64,
    /// The time constant and damping ratio that its spring and damper are to have: `springdamper`.
    pub(super) tuned: Option<[f64; 2]>,
}

/// Whether an element is a joint.
pub(super) fn is_joint(e: Element<'_>) -> bool {
    matches!(e.name(), "joint" | "freejoint")
}

/// The kind of a joint, along z if along anything; none where it is not known.
pub(super) fn kind_of<'a>(model: &'a Model<'a>, item: &Item<'a>, f: &mut Findings) -> Option<JointKind> {
    let d = model.defaults.apply(item.e, item.class, f);
    let axis = Vec3::new(0.0, 0.0, 1.0);
    match (item.e.name(), d.attribute("type").as_deref()) {
        ("freejoint", _) | (_, Some("free")) => Some(JointKind::Free),
        (_, None | Some("hinge")) => Some(JointKind::Revolute { axis }),
        (_, Some("slide")) => Some(JointKind::Prismatic { axis }),
        (_, Some("ball")) => Some(JointKind::Spherical),
        _ => None,
    }
}

impl Read {
    /// Moves it out of the frames that it stands in.
    pub(super) fn within(&mut self, frames: &Pose) {
        if self.joint.kind == JointKind::Free {
            return;
        }
        self.anchor = frames.point(self.anchor);
        if let JointKind::Revolute { axis } | JointKind::Prismatic { axis } = &mut self.joint.kind {
            *axis = frames.rotation * *axis;
        }
    }

    /// Whether it is a free joint whose linear part has to do with the axes of the world.
    pub(super) fn splits(&self) -> bool {
        let some = |list: &[f64]| list.iter().any(|x| *x != 0.0);
        self.joint.kind == JointKind::Free && (some(&self.joint.armature) || some(&self.joint.stiffness))
    }
}

/// Reads a `<joint>` or `<freejoint>`; its name and links are still to be given.
pub(super) fn read(model: &Model<'_>, e: Element<'_>, d: &Defaulted<'_>, f: &mut Findings) -> Option<Read> {
    let at = e.at();
    let written = match e.name() {
        "freejoint" => "free".into(),
        _ => d.attribute("type").unwrap_or("hinge".into()),
    };
    let free = written == "free";
    let axis = match numbers::vector(f, d.with("axis"), "axis", at) {
        Some(axis) if !free => axis,
        _ => Vec3::new(0.0, 0.0, 1.0),
    };
    let kind = match &*written {
        "hinge" => JointKind::Revolute { axis },
        "slide" => JointKind::Prismatic { axis },
        "ball" => JointKind::Spherical,
        "free" => JointKind::Free,
        other => {
            let message = format!("unknown joint type `{}`", shortened(other));
            f.error(
                at.seen_at(d.with("type").spot()),
                "joint-type",
                message,
                "types are hinge, slide, ball and free",
            );
            return None;
        }
    };
    let mut joint = Joint::new(e.attribute("name").unwrap_or_default(), kind);
    if e.name() == "freejoint" {
        return Some(Read {
            joint,
            anchor: Vec3::ZERO,
            reference: 0.0,
            spring: 0.0,
            tuned: None,
        });
    }
    let angle = if matches!(kind, JointKind::Revolute { .. } | JointKind::Spherical) {
        model.compiler.angle
    } else {
        1.0
    };
    let [damping, stiffness] = ["damping", "stiffness"].map(|name| {
        let given = numbers::list(f, d.with(name), name, at, Range::Usable).unwrap_or_default();
        Some(linear(&given, name, at.seen_at(d.with(name).spot_of(name)), f)).filter(|x| *x != 0.0)
    });
    let mut number = |name| numbers::number(f, d.with(name), name, at, Range::Usable).filter(|x| *x != 0.0);
    joint.armature.extend(number("armature"));
    joint.damping.extend(damping);
    joint.friction.extend(number("frictionloss"));
    let one = joint.kind.nq() == 1;
    let spring = number("springref").filter(|_| one).unwrap_or(0.0) * angle;
    if let Some(stiffness) = stiffness {
        joint.stiffness.push(stiffness);
        joint.rest.extend(Some(spring).filter(|x| *x != 0.0));
    }
    let reference = number("ref").filter(|_| one).unwrap_or(0.0) * angle;
    let anchor = if free {
        None
    } else {
        numbers::vector(f, d.with("pos"), "pos", at)
    };
    limits(model, d, &mut joint, angle, at, f);
    let tuned = numbers::several::<2>(f, d.with("springdamper"), "springdamper", at);
    let tuned = tuned.filter(|both| both.iter().all(|x| *x > 0.0));
    if tuned.is_some() {
        // They stand in the place of the joint's own.
        joint.stiffness.clear();
        joint.damping.clear();
        joint.rest = Some(spring).filter(|x| *x != 0.0).into_iter().collect();
    }
    Some(Read {
        joint,
        anchor: anchor.unwrap_or_default(),
        reference,
        spring,
        tuned,
    })
}

/// The first coefficient of a force that may grow faster than what causes it; the rest is reported.
pub(super) fn linear(given: &[f64], name: &str, at: At<'_>, f: &mut Findings) -> f64 {
    if given.iter().skip(1).any(|x| *x != 0.0) {
        let message = format!("only the first number of {name} is modelled, which forces grow by in proportion");
        f.doubt(
            at,
            "unmodelled-attribute",
            message,
            "the robot moves without the others",
        );
    }
    given.first().copied().unwrap_or(0.0)
}

/// Ranges, where they count: if `limited` says so, or is left to the compiler and a range is there.
fn limits(model: &Model<'_>, d: &Defaulted<'_>, joint: &mut Joint, angle: f64, at: At<'_>, f: &mut Findings) {
    let counts = |switch: &str, range: &str| match d.attribute(switch).as_deref() {
        Some("true") => true,
        Some("false") => false,
        _ => model.compiler.limits && d.attribute(range).is_some(),
    };
    if counts("limited", "range") {
        let range = numbers::several::<2>(f, d.with("range"), "range", at);
        match (joint.kind, range) {
            (JointKind::Revolute { .. } | JointKind::Prismatic { .. }, Some([lower, upper])) => {
                let [lower, upper] = [lower, upper].map(|x| numbers::reachable(x * angle));
                joint.position_limits = vec![(lower, upper)];
            }
            // Of the whole angle.
            (JointKind::Spherical, Some([lower, upper])) => {
                joint.position_limits = vec![(0.0, numbers::reachable(lower.max(upper) * angle).max(0.0))];
            }
            _ => {}
        }
    }
    if counts("actuatorfrclimited", "actuatorfrcrange")
        && let Some([lower, upper]) = numbers::several::<2>(f, d.with("actuatorfrcrange"), "actuatorfrcrange", at)
        && joint.kind.nv() == 1
    {
        joint.effort_limit = vec![lower.abs().max(upper.abs())];
    }
}

/// The pose of the joint's moving side for a displacement, about the joint's own origin.
pub(super) fn displaced(kind: JointKind, by: f64) -> Pose {
    match kind {
        JointKind::Revolute { axis } if by != 0.0 && axis.norm() > 0.0 => {
            Pose::from_rotation(Rotation::about(axis, by))
        }
        JointKind::Prismatic { axis } if by != 0.0 && axis.norm() > 0.0 => {
            Pose::from_translation(axis * (by / axis.norm()))
        }
        _ => Pose::IDENTITY,
    }
}
