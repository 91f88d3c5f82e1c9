//! The names of MJCF, as far as it is read; `reference.py` compares them with MuJoCo's own.

use super::includes::Includes;
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

const BODY: &str =
    "inertial joint freejoint geom attach site camera light plugin composite flexcomp body frame replicate";
const JOINT: &str = "actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis class damping frictionloss \
group limited margin name pos range ref solimpfriction solimplimit solreffriction solreflimit springdamper springref \
springyield stiffness type user";
const GEOM: &str = "adhesion axisangle castshadow class conaffinity condim contype density euler fitscale fluidcoef fluidshape \
friction fromto gap group hfield margin mass material mesh name pos priority quat rgba shellinertia size solimp solmix \
solref surfacevel type user xyaxes zaxis";
const SITE: &str = "axisangle class euler fromto group material mesh name pos quat rgba size type user xyaxes zaxis";
const MESH: &str = "builtin class content_type face file inertia material maxhullvert name normal params refpos \
refquat scale smoothnormal texcoord vertex";
const MATERIAL: &str =
    "class emission metallic name reflectance rgba roughness shininess specular texrepeat texture texuniform";

/// Sections without a rule are not read, and may hold anything.
pub(super) const RULES: &[Rule] = &[
    rule(
        "mujoco",
        "model",
        "compiler option size statistic visual default extension asset worldbody deformable contact tendon equality \
         actuator sensor custom keyframe",
    ),
    rule(
        "compiler",
        "alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict convexhull coordinate \
         discardvisual eulerseq exactmeshinertia fitaabb fusestatic inertiafromgeom inertiagrouprange meshdir passthrough \
         savecanonical savecompiled saveinertial settotalmass strippath texturedir usethread",
        "lengthrange",
    ),
    rule(
        "option",
        "actuatorgroupdisable apirate ccd_iterations ccd_tolerance collision cone density gravity impratio integrator \
         iterations jacobian ls_iterations ls_tolerance magnetic mpr_iterations mpr_tolerance noslip_iterations \
         noslip_tolerance o_friction o_margin o_solimp o_solref sdf_initpoints sdf_iterations sleep_tolerance solver \
         timestep tolerance viscosity wind",
        "flag",
    ),
    rule(
        "flag",
        "actuation autoreset clampctrl constraint contact damper diagexact energy equality eulerdamp filterparent \
         frictionloss fwdinv gravity invdiscrete ipc island limit midphase multiccd nativeccd override passive refsafe \
         sensor sleep spring warmstart",
        "",
    ),
    rule(
        "default",
        "class",
        "default mesh texture material joint geom site camera light pair equality tendon general motor position velocity \
         intvelocity orientation pid damper cylinder muscle adhesion dcmotor plugin",
    ),
    rule("default/equality", "active solimp solref", ""),
    rule("asset", "", "mesh hfield skin texture material model"),
    rule("mesh", MESH, "plugin"),
    rule("material", MATERIAL, "layer"),
    rule(
        "worldbody",
        "axisangle childclass euler name pos quat xyaxes zaxis",
        BODY,
    ),
    rule(
        "body",
        "axisangle childclass euler fuse gravcomp mocap name pos quat simple sleep user xyaxes zaxis",
        BODY,
    ),
    rule("frame", "axisangle childclass euler name pos quat xyaxes zaxis", BODY),
    rule(
        "inertial",
        "axisangle diaginertia euler fullinertia mass pos quat xyaxes zaxis",
        "",
    ),
    rule("joint", JOINT, ""),
    rule("freejoint", "align group name", ""),
    rule("geom", GEOM, "plugin"),
    rule("site", SITE, ""),
    rule(
        "equality",
        "",
        "connect weld joint tendon flex flexvert flexstrain distance",
    ),
    rule(
        "connect",
        "active anchor body1 body2 class name site1 site2 solimp solref",
        "",
    ),
    rule(
        "weld",
        "active anchor body1 body2 class name relpose site1 site2 solimp solref torquescale",
        "",
    ),
    rule(
        "equality/joint",
        "active class joint1 joint2 name polycoef solimp solref",
        "",
    ),
];

/// Attributes that change how a robot moves and are not modelled, unless they say this.
const UNMODELLED: [(&str, &str, &str); 3] = [
    ("joint", "springyield", ""),
    ("geom", "fluidshape", "none"),
    ("body", "mocap", "false"),
];

/// Reports names that are not known, and those that are but go unheeded.
pub(super) fn look<'a>(includes: &'a Includes, root: Element<'a>, f: &mut Findings) {
    check(root, RULES, Unknown::Wrong, |e| includes.children(e), f);
    for e in includes.elements() {
        for (element, attribute, harmless) in UNMODELLED {
            if e.name() == element && e.attribute(attribute).is_some_and(|a| a != harmless) {
                let at = e.at().seen_at(e.spot_of(attribute));
                let message = format!("{attribute} is not modelled");
                f.doubt(at, "unmodelled-attribute", message, "the robot moves without it");
            }
        }
    }
}
