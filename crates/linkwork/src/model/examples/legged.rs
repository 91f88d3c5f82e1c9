//! Walking machines. Their numbers are our own, of the size of real ones.

use super::built;
use crate::Mechanism;
use crate::model::{Builder, Joint, Link};
use crate::spatial::{Inertia, Pose, Vec3};

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// A box whose centre is somewhere on its link.
fn brick(name: String, mass: f64, centre: [f64; 3], edges: [f64; 3]) -> Link {
    Link::new(
        name,
        Inertia::cuboid(mass, edges).seen_from(&Pose::from_translation(centre)),
    )
}

/// A joint with what electric drives of such machines have.
fn drive(name: String, axis: [f64; 3], limits: [f64; 2], torque: f64) -> Joint {
    Joint::revolute(name, axis)
        .position_limits(limits[0], limits[1])
        .effort_limit(torque)
        .velocity_limit(20.0)
        .armature(1e-4 * torque)
}

/// A quadruped of about 33 kg: a free base and three joints in each leg (hip about x, thigh and shank about y);
/// 18 degrees of freedom. At q = 0 the legs are straight down.
pub fn quadruped() -> Mechanism {
    let mut robot = Mechanism::builder("quadruped")
        .link(brick("trunk".into(), 18.0, [0.0; 3], [0.55, 0.25, 0.15]))
        .joint(Joint::free("float").between("world", "trunk"))
        .frame("imu", "trunk", Pose::from_translation([0.05, 0.0, 0.08]));
    for (end, x) in [("front", 0.28), ("hind", -0.28)] {
        for (side, y) in [("left", 1.0), ("right", -1.0)] {
            let name = |part: &str| format!("{end}_{side}_{part}");
            robot = robot
                .link(brick(name("hip"), 1.4, [0.0, 0.02 * y, 0.0], [0.1, 0.1, 0.1]))
                .link(brick(name("thigh"), 1.8, [0.0, 0.01 * y, -0.1], [0.06, 0.05, 0.28]))
                .link(brick(name("shank"), 0.5, [0.0, 0.0, -0.14], [0.03, 0.03, 0.3]))
                .joint(
                    drive(name("abduction"), X, [-0.8, 0.8], 45.0)
                        .between("trunk", name("hip"))
                        .at([x, 0.08 * y, 0.0]),
                )
                .joint(
                    drive(name("swing"), Y, [-1.6, 3.2], 45.0)
                        .between(name("hip"), name("thigh"))
                        .at([0.0, 0.09 * y, 0.0]),
                )
                .joint(
                    drive(name("knee"), Y, [-2.7, 0.0], 65.0)
                        .between(name("thigh"), name("shank"))
                        .at([0.0, 0.0, -0.28]),
                )
                .frame(name("foot"), name("shank"), Pose::from_translation([0.0, 0.0, -0.3]));
        }
    }
    built(robot)
}

/// A humanoid of about 60 kg and 1.6 m: a free pelvis, six joints in each leg, three in the waist, seven in each arm
/// and two in the neck; 37 degrees of freedom. At q = 0 it stands with arms hanging.
pub fn humanoid() -> Mechanism {
    let mut robot = Mechanism::builder("humanoid")
        .link(brick("pelvis".into(), 9.0, [0.0, 0.0, 0.02], [0.18, 0.26, 0.16]))
        .joint(Joint::free("float").between("world", "pelvis"));
    robot = chain(robot, "", "pelvis", 1.0, &TORSO);
    for (prefix, side) in [("left_", 1.0), ("right_", -1.0)] {
        robot = chain(robot, prefix, "pelvis", side, &LEG);
        robot = chain(robot, prefix, "chest", side, &ARM);
    }
    for prefix in ["left_", "right_"] {
        robot = robot
            .frame(
                format!("{prefix}sole"),
                format!("{prefix}foot"),
                Pose::from_translation([0.03, 0.0, -0.08]),
            )
            .frame(
                format!("{prefix}grip"),
                format!("{prefix}hand"),
                Pose::from_translation(Vec3::new(0.0, 0.0, -0.1)),
            );
    }
    built(chain(robot, "", "chest", 1.0, &HEAD).frame("eyes", "head", Pose::from_translation([0.09, 0.0, 0.1])))
}

/// One link of a limb and the joint that holds it: names, axis, place on the link before, limits and torque; mass,
/// centre and edges of its box. Lengths along y are for the left side, and so are angles about x and z.
struct Segment {
    joint: &'static str,
    link: &'static str,
    axis: [f64; 3],
    at: [f64; 3],
    limits: [f64; 2],
    torque: f64,
    mass: f64,
    centre: [f64; 3],
    edges: [f64; 3],
}

/// A limb; `side` is −1 for the right one, a mirror image of the left.
fn chain(mut robot: Builder, prefix: &str, root: &str, side: f64, segments: &[Segment]) -> Builder {
    let mut inner = root.to_owned();
    for s in segments {
        let link = format!("{prefix}{}", s.link);
        let mirrored = |[x, y, z]: [f64; 3]| [x, side * y, z];
        // A mirror turns angles about y over not at all, the others round.
        let limits = if side < 0.0 && s.axis != Y {
            [-s.limits[1], -s.limits[0]]
        } else {
            s.limits
        };
        robot = robot
            .link(brick(link.clone(), s.mass, mirrored(s.centre), s.edges))
            .joint(
                drive(format!("{prefix}{}", s.joint), s.axis, limits, s.torque)
                    .between(inner, link.clone())
                    .at(mirrored(s.at)),
            );
        inner = link;
    }
    robot
}

/// Shortens the tables below.
macro_rules! segments {
    ($($joint:literal $link:literal $axis:ident $at:tt $limits:tt $torque:literal $mass:literal $centre:tt $edges:tt)*) => {
        [$(Segment {
            joint: $joint, link: $link, axis: $axis, at: $at, limits: $limits, torque: $torque,
            mass: $mass, centre: $centre, edges: $edges,
        }),*]
    };
}

#[rustfmt::skip]
const TORSO: [Segment; 3] = segments![
    "waist_yaw"   "waist"   Z [0.0, 0.0, 0.12] [-1.2, 1.2]  120.0 1.5  [0.0, 0.0, 0.02] [0.12, 0.14, 0.06]
    "waist_roll"  "abdomen" X [0.0, 0.0, 0.05] [-0.5, 0.5]  120.0 1.5  [0.0, 0.0, 0.02] [0.12, 0.14, 0.06]
    "waist_pitch" "chest"   Y [0.0, 0.0, 0.05] [-0.4, 1.2]  150.0 14.0 [0.0, 0.0, 0.18] [0.2, 0.3, 0.36]
];

#[rustfmt::skip]
const HEAD: [Segment; 2] = segments![
    "neck_yaw"   "neck" Z [0.0, 0.0, 0.38] [-1.4, 1.4] 10.0 0.8 [0.0, 0.0, 0.03] [0.08, 0.08, 0.08]
    "neck_pitch" "head" Y [0.0, 0.0, 0.06] [-0.8, 0.8] 10.0 3.2 [0.02, 0.0, 0.1] [0.18, 0.15, 0.22]
];

#[rustfmt::skip]
const LEG: [Segment; 6] = segments![
    "hip_yaw"     "hip"      Z [0.0, 0.09, -0.06] [-0.8, 0.8] 80.0  1.2 [0.0, 0.0, -0.02]  [0.1, 0.1, 0.08]
    "hip_roll"    "haunch"   X [0.0, 0.0, -0.04]  [-0.4, 0.9] 120.0 1.4 [0.0, 0.0, 0.0]    [0.1, 0.1, 0.1]
    "hip_pitch"   "thigh"    Y [0.0, 0.0, 0.0]    [-1.9, 0.6] 150.0 5.0 [0.0, 0.01, -0.17] [0.12, 0.12, 0.36]
    "knee"        "shank"    Y [0.0, 0.0, -0.36]  [0.0, 2.4]  150.0 3.0 [0.0, 0.0, -0.16]  [0.09, 0.09, 0.34]
    "ankle_pitch" "ankle"    Y [0.0, 0.0, -0.35]  [-0.9, 0.7] 90.0  0.5 [0.0, 0.0, 0.0]    [0.06, 0.06, 0.06]
    "ankle_roll"  "foot"     X [0.0, 0.0, 0.0]    [-0.4, 0.4] 60.0  1.1 [0.03, 0.0, -0.05] [0.22, 0.1, 0.05]
];

#[rustfmt::skip]
const ARM: [Segment; 7] = segments![
    "shoulder_pitch" "clavicle"  Y [0.0, 0.19, 0.3]   [-3.0, 1.5] 60.0 1.0 [0.0, 0.03, 0.0]  [0.09, 0.1, 0.09]
    "shoulder_roll"  "shoulder"  X [0.0, 0.05, 0.0]   [-0.3, 2.8] 60.0 0.9 [0.0, 0.0, -0.03] [0.09, 0.09, 0.1]
    "shoulder_yaw"   "upper_arm" Z [0.0, 0.0, -0.1]   [-1.6, 1.6] 40.0 1.6 [0.0, 0.0, -0.08] [0.08, 0.08, 0.2]
    "elbow"          "elbow"     Y [0.0, 0.0, -0.18]  [-2.3, 0.0] 40.0 0.7 [0.0, 0.0, -0.03] [0.07, 0.07, 0.1]
    "forearm_yaw"    "forearm"   Z [0.0, 0.0, -0.08]  [-1.9, 1.9] 20.0 0.9 [0.0, 0.0, -0.07] [0.06, 0.06, 0.16]
    "wrist_pitch"    "wrist"     Y [0.0, 0.0, -0.15]  [-1.0, 1.0] 10.0 0.2 [0.0, 0.0, -0.01] [0.05, 0.05, 0.05]
    "wrist_roll"     "hand"      X [0.0, 0.0, -0.02]  [-0.6, 0.6] 10.0 0.5 [0.0, 0.0, -0.06] [0.08, 0.03, 0.14]
];
