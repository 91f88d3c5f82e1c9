//! The names of SDF. Others extend it, so that foreign names are no fault, but misspelt ones are.

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
    rule("sdf", "version", "world model actor light"),
    rule(
        "world",
        "name",
        "audio wind include gravity magnetic_field atmosphere gui physics scene light frame model actor plugin road \
         spherical_coordinates state population joint",
    ),
    rule(
        "include",
        "merge",
        "uri name pose static plugin placement_frame experimental",
    ),
    rule(
        "model",
        "name canonical_link placement_frame",
        "static self_collide allow_auto_disable include model enable_wind frame pose link joint plugin gripper",
    ),
    rule("frame", "name attached_to", "pose"),
    rule("pose", "relative_to frame rotation_format degrees", ""),
    rule(
        "link",
        "name",
        "gravity enable_wind self_collide kinematic must_be_base_link velocity_decay pose inertial collision visual \
         sensor projector audio_sink audio_source battery light particle_emitter frame plugin",
    ),
    rule(
        "inertial",
        "auto",
        "mass pose inertia fluid_added_mass density auto_inertia_params frame",
    ),
    rule("inertia", "", "ixx ixy ixz iyy iyz izz"),
    rule(
        "joint",
        "name type",
        "parent child pose gearbox_ratio gearbox_reference_body thread_pitch screw_thread_pitch axis axis2 physics \
         sensor frame plugin",
    ),
    rule(
        "axis",
        "",
        "initial_position xyz use_parent_model_frame dynamics limit mimic",
    ),
    rule(
        "axis2",
        "",
        "initial_position xyz use_parent_model_frame dynamics limit mimic",
    ),
    rule(
        "axis/dynamics",
        "",
        "damping friction spring_reference spring_stiffness",
    ),
    rule(
        "axis2/dynamics",
        "",
        "damping friction spring_reference spring_stiffness",
    ),
    rule("axis/limit", "", "lower upper effort velocity stiffness dissipation"),
    rule("axis2/limit", "", "lower upper effort velocity stiffness dissipation"),
    rule("xyz", "expressed_in", ""),
    rule(
        "visual",
        "name",
        "cast_shadows laser_retro transparency visibility_flags pose material geometry plugin meta",
    ),
    rule(
        "collision",
        "name",
        "laser_retro max_contacts pose geometry surface density auto_inertia_params",
    ),
];

/// Reports names that are not known.
pub(super) fn look(root: Element<'_>, f: &mut Findings) {
    check(root, RULES, Unknown::Foreign, Element::children, f);
}
