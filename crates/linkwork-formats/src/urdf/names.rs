//! The names of URDF. Others extend it, so that foreign names are no fault, but misspelt ones are.

use crate::report::Findings;
use crate::vocabulary::{Rule, Unknown, check};
use crate::xml::Element;

const fn rule(element: &'static str, attributes: &'static str, children: &'static str) -> Rule {
    Rule {
        element,
        attributes,
        children,
    }
}

const RULES: &[Rule] = &[
    rule(
        "robot",
        "name version",
        "link joint material transmission gazebo ros2_control sensor robot",
    ),
    rule("link", "name type", "inertial visual collision"),
    rule("inertial", "", "origin mass inertia"),
    rule("origin", "xyz rpy quat_xyzw", ""),
    rule("mass", "value", ""),
    rule("inertia", "ixx ixy ixz iyy iyz izz", ""),
    rule("visual", "name", "origin geometry material"),
    rule("collision", "name", "origin geometry material verbose"),
    rule("geometry", "", "box cylinder sphere capsule mesh"),
    rule("box", "size", ""),
    rule("cylinder", "radius length", ""),
    rule("sphere", "radius", ""),
    rule("capsule", "radius length", ""),
    rule("mesh", "filename scale", ""),
    rule(
        "joint",
        "name type",
        "origin parent child axis calibration dynamics limit mimic safety_controller",
    ),
    rule("parent", "link", ""),
    rule("child", "link", ""),
    rule("axis", "xyz", ""),
    rule(
        "dynamics",
        "damping friction armature spring_stiffness spring_reference",
        "",
    ),
    rule("limit", "lower upper effort velocity acceleration jerk", ""),
    rule("mimic", "joint multiplier offset", ""),
];

/// Reports names that are not known.
pub(super) fn look(root: Element<'_>, f: &mut Findings) {
    check(root, RULES, Unknown::Foreign, Element::children, f);
}
