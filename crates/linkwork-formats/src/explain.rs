//! What each kind of finding means.

/// Every kind of finding, and what it means.
#[rustfmt::skip]
pub const KINDS: &[(&str, &str)] = &[
    ("actuator", "The file describes actuators. `Drivetrain` computes what they exert; those whose target is missing are left out. Elsewhere torques are given at joints."),
    ("aligned-body", "A free body's frame was moved to its centre of mass and principal axes, as MuJoCo does for `align` and `alignfree`. Its coordinates are those of the new frame."),
    ("attach", "A model cannot be attached: the `<model>` asset, the body or the frame is not there, or models attach each other in a circle. Correct the name."),
    ("closed-loop", "Constraints close loops. The mechanism is the open tree; `linkwork simulate` and `Robot::closed` close them."),
    ("collision-inertia", "A link without inertia got that of its collision shapes, as was asked for."),
    ("colour", "A colour is not four numbers. It is ignored; nothing moves by it."),
    ("compiler", "`<compiler>` says something that is not known, so that numbers could be misread. Correct it."),
    ("constraint", "A constraint names a body or site that is not there. Correct the name."),
    ("contact-pair", "A `<pair>` of contacts names a geom that is not there, or gives numbers that two shapes cannot share. It is left out."),
    ("coupling", "A joint follows another in a way that cannot be computed: a joint is missing, has several coordinates, or follows twice. The coupling is left out."),
    ("coupling-applied", "Joints follow others, as mimic joints do. They have no coordinates of their own."),
    ("coupling-cycle", "Joints follow each other in a circle. The couplings are left out."),
    ("coupling-ignored", "Couplings were left out, as was asked for: their joints move on their own."),
    ("cycle", "Links hold each other in a ring, so that none stands on the world. Remove one of the joints; a loop is closed by a constraint."),
    ("default-class", "A default class is not there, or has no name. Correct the name."),
    ("deformable", "Flexible bodies, composites, skins and plugins are not modelled. The rest of the robot moves without them."),
    ("duplicate-name", "Two things have the same name, so that references to it are ambiguous. Rename one."),
    ("empty-robot", "The file has no links. Check that it is the one meant, and that it was expanded without errors."),
    ("encoding", "The file is not UTF-8. Save it so."),
    ("excluded-pair", "An `<exclude>` names a body that is not there. It is ignored."),
    ("folded-tendon", "A tendon along one joint alone became the spring, damper, friction and armature of that joint, which is the same."),
    ("frame-as-link", "URDF has no frames; they were written as links without mass on fixed joints."),
    ("frame-cycle", "Frames are given relative to each other in a circle, so that none has a place. Give one of them relative to the model."),
    ("free-joint", "A free joint is for a body that stands on the world, and is its only joint. Move or replace it."),
    ("friction", "A coefficient of friction is negative or no number. The usual one is taken."),
    ("gearbox", "A gearbox of SDF lacks its ratio or its reference body, or joins what cannot be coupled."),
    ("geometry", "A shape cannot be read. Where it gives its body mass this is an error, else it is left out."),
    ("gravcomp", "The weight of this link is carried, wholly or in part. `Drivetrain` and simulations apply it; elsewhere the link has its weight."),
    ("height-field", "A height field cannot be made: its asset or file is missing, or its heights are not as many as its points. It is left out, and nothing stands on it."),
    ("held-joint", "A constraint holds the joint at one place, so that it is fixed."),
    ("ignored-name", "An element or attribute that is not known, and does not look misspelt, was ignored."),
    ("inactive-constraint", "A constraint is switched off in the file, and left out."),
    ("include", "A file that this one needs cannot be read. Files may lie in the robot's directory, in its repository (the directory around it that has `.git`), and in directories given by `--package`; `--anywhere` allows all. Nothing else is reported then, as much would follow from it."),
    ("joint-kind", "The format that is written has no such joint."),
    ("joint-type", "The type of a joint is missing or not known."),
    ("keyframe", "A keyframe is not a state of this robot: it has too many or too few numbers, or a quaternion without length. It is left out, or the joint is neutral."),
    ("kinematic", "A link moves by commands alone in Gazebo; here it moves as its mass says."),
    ("least-mass", "MuJoCo refuses moving bodies without mass; they were written with a mass and moments too small to matter."),
    ("long-name", "A name is longer than 1024 bytes."),
    ("loop", "A loop joins a link that is not there."),
    ("loop-as-joint", "A loop joins a link that is free to others. In SDF every joint holds what nothing else does: read again, the loop is the joint of that link, which has its coordinates."),
    ("lost-colour", "The format that is written has no colour for this shape."),
    ("lost-coupling", "The format that is written cannot say this coupling."),
    ("lost-gravity", "The format that is written has no gravity."),
    ("lost-loop", "The format that is written cannot say this loop."),
    ("lost-mesh", "The format that is written cannot open this mesh, or its file was not found: the shape is left out."),
    ("lost-motor", "The format that is written cannot say this motor."),
    ("lost-parameter", "The format that is written has one number for all degrees of freedom of a joint."),
    ("lost-shape", "The format that is written has no such shape."),
    ("many-loops", "Loops that share links are solved together: memory grows with the square of their equations, and the time of a step with the cube. More than 4,096 equations are refused when loops are closed."),
    ("massless-link", "Links have no mass. This is harmless for links that are only frames, and wrong for bodies."),
    ("massless-robot", "Joints move, but no link has mass: the robot has no dynamics. Give links masses; for URDF whose meshes are closed, `--collision-density` can find them."),
    ("mechanism", "The library's own check refused the robot, for the reason that is given."),
    ("medium", "Air or water resist motion in MuJoCo; this is not modelled."),
    ("mesh", "A mesh asset says something that is not known."),
    ("mesh-inertia", "The mass of a mesh is not known: its file is missing or damaged, its triangles face inwards, or its format cannot be read (STL, OBJ, MSH and COLLADA can). A moving body that has no other mass is refused, since all its dynamics would be wrong. Make the mesh readable, or give the body an `<inertial>`."),
    ("mesh-not-found", "Files of meshes were not found. Shapes that only look like something do not matter for dynamics. Give the directory of their package by `--package`."),
    ("missing-attribute", "An element lacks a number that it needs."),
    ("missing-axis", "A joint that moves has no `<axis>`; z is taken."),
    ("missing-frame", "Something refers to a frame that is not there. Correct the name."),
    ("missing-inertia", "An `<inertial>` lacks moments: they are taken as zero, or the body as a point mass."),
    ("missing-limit", "A revolute or prismatic joint has no `<limit>`: it moves without bounds."),
    ("missing-link", "A joint names a link that is not there."),
    ("missing-mass", "An `<inertial>` has no mass."),
    ("missing-name", "Something has no name; it got one, or needs one."),
    ("moments-without-mass", "A link has moments of inertia but no mass, which no body has."),
    ("motor", "A motor drives a joint that is not there, that cannot be driven, or a degree of freedom that it does not have. It is left out."),
    ("mujocoinclude", "The file is a part of an MJCF file. Give the one that includes it."),
    ("muscle", "A muscle does not say between which lengths it works, which MuJoCo finds by simulation. They are found from the limits of joints; write `lengthrange` for MuJoCo's very numbers."),
    ("native", "A part of a native file is not as its schema says."),
    ("negative-mass", "A mass or density is negative."),
    ("negative-moment", "A principal moment of inertia is negative, which no body has. Check that the moments are about the centre of mass, and their signs. `--repair` takes the nearest that a body can have."),
    ("negative-parameter", "Damping, friction, armature, stiffness or a limit is negative. It is left out."),
    ("no-inertia", "A joint moves nothing that has inertia, so that forces would give infinite acceleration. It got a small armature. Give the links that it moves mass, or make it fixed."),
    ("no-mass", "Joints move, but no link has mass: the robot has no dynamics. Give its links `<inertial>`."),
    ("no-range", "The limits of a joint are the same, so that it cannot move."),
    ("not-modelled", "The file describes something that is not modelled. The robot moves without it."),
    ("not-written", "The format that is written has keyframes, actuators, sensors or tendons that this program does not write. The native format keeps them."),
    ("number", "A word is not a number, or not one that can be computed with."),
    ("number-count", "An attribute has too few or too many numbers."),
    ("open-mesh", "A mesh has holes, or triangles that face different ways, so that the volume it encloses is doubtful. Close it, or give the body an `<inertial>`."),
    ("order", "Coordinates follow the tree in the format that is written: their order changes."),
    ("orientation", "An orientation is given twice, or has no direction."),
    ("placement-frame", "A model is placed by a frame that it does not have. Name one of its frames."),
    ("planar-joint", "A planar joint was written as three joints."),
    ("quaternion", "A quaternion has no length."),
    ("range", "The smaller end of a range is above the larger. The range is ignored."),
    ("renamed", "A name is not allowed in the format that is written, and was changed."),
    ("repeated-element", "An element that may stand once stands several times. The first one counts."),
    ("replicate", "A `<replicate>` cannot be written out, or something refers to a replica and to what is not in it, which MuJoCo leaves out."),
    ("reserved-name", "SDF keeps this name for itself. Rename the link."),
    ("scale", "A scale has more than three numbers. The first three count."),
    ("sdf", "The file is SDF."),
    ("self-loop", "A joint connects a link to itself."),
    ("sensor-target", "A sensor measures something that the file does not have. It gives nothing; correct the name."),
    ("shape-inertia", "Inertia is to be found from shapes whose volume is not known. Give the link an `<inertial>`."),
    ("shell", "`shellinertia` is not for meshes, whose asset says how they are filled. It is ignored."),
    ("split-free-joint", "A free joint with armature or a spring acts along the axes of the world in MuJoCo. It is read as a translation and a ball joint, which do so; q holds the position first, then the quaternion."),
    ("spring-damper", "The spring and damper of a joint are told by a time constant and a damping ratio, which could not be turned into numbers."),
    ("swapped-limits", "A lower limit is above the upper one. It is left out; `--repair` exchanges them."),
    ("tendon", "Springs, dampers, friction and limits of a tendon over several joints or past sites are those of `Drivetrain` alone. Armature is not modelled: the robot moves without it."),
    ("thread-pitch", "The pitch of a screw joint is missing or is not a length per turn."),
    ("too-deep", "Elements or classes are nested too deeply."),
    ("too-large", "More comes of the file than can be meant."),
    ("too-many", "Models include each other so often that the robot would have no end."),
    ("too-many-couplings", "More joints follow others than a dense system can hold. The couplings are left out."),
    ("total-mass", "A total mass is to be set, but nothing has mass."),
    ("transmission", "A transmission drives a joint that is not there. It is left out."),
    ("triangle-inequality", "A principal moment of inertia exceeds the sum of the others, which no body has. Often the moments are not about the centre of mass, or in other units. `--repair` takes the nearest that a body can have."),
    ("turned-joint", "A joint connects its links the other way round than the tree goes; its axis was turned, and its coordinate keeps its sign."),
    ("two-parents", "Two joints hold one link. Keep one of them; a loop is closed by a constraint."),
    ("two-roots", "Several links are held by no joint. Each is welded to the world."),
    ("undriven", "No motor drives some joints, as the file says which ones have motors. `--driven` says otherwise."),
    ("unknown-attribute", "An attribute is not known, and looks misspelt. It is ignored."),
    ("unknown-element", "An element is not known, and looks misspelt. It is ignored."),
    ("unknown-format", "The root element is that of no robot."),
    ("unmodelled-actuator", "An actuator does more than its force, gain and bias say, as adhesion, plugins and motors with a state do."),
    ("unmodelled-attribute", "An attribute changes how the robot moves in MuJoCo, and is not modelled."),
    ("unmodelled-sensor", "A sensor measures what is not computed, such as distances and touch. `Sensors` lists it as left out."),
    ("unphysical-inertia", "The moments of a link belong to no body, which MuJoCo refuses. Convert with `--repair`."),
    ("unreadable", "The file cannot be opened."),
    ("unsupported-constraint", "A constraint is not modelled. The robot moves without it."),
    ("version", "The native file is of another version."),
    ("word", "A word stands where true or false, or a number, should."),
    ("world-link", "A link that a joint holds is named as the world. It got another name."),
    ("world-mass", "The root link `world` has mass, which plays no part, as the world does not move."),
    ("worlds", "A file has several worlds. The first is taken."),
    ("xacro", "The file is xacro. Expand it first."),
    ("xml", "The file is not well-formed XML."),
    ("zero-axis", "The axis of a joint has no direction."),
];

/// What a kind of finding means, by its code.
pub fn explain(code: &str) -> Option<&'static str> {
    KINDS.iter().find(|(known, _)| *known == code).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    /// The codes that readers and writers give: the second argument of a finding.
    fn used() -> BTreeSet<String> {
        let (mut found, mut waiting) = (
            BTreeSet::new(),
            vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")],
        );
        while let Some(path) = waiting.pop() {
            if path.is_dir() {
                waiting.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
                continue;
            }
            if path.ends_with("explain.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for call in [
                "f.error(",
                "f.doubt(",
                "f.note(",
                "f.judge(",
                "findings.error(",
                "findings.doubt(",
            ] {
                for piece in text.split(call).skip(1) {
                    let (mut depth, mut commas) = (0, 0);
                    let second = piece.char_indices().find_map(|(i, c)| {
                        depth += i32::from(c == '(') - i32::from(c == ')');
                        commas += i32::from(c == ',' && depth == 0);
                        (commas == 1 || depth < 0).then_some(i)
                    });
                    let rest = second.map_or("", |i| piece[i..].trim_start_matches([',', ' ', '\n']));
                    if let Some(code) = rest.strip_prefix('"').and_then(|r| r.split('"').next()) {
                        found.insert(code.to_owned());
                    }
                }
            }
        }
        found
    }

    #[test]
    fn every_kind_of_finding_is_explained() {
        let used = used();
        assert!(used.len() > 60, "{used:?}");
        let missing: Vec<_> = used.iter().filter(|code| explain(code).is_none()).collect();
        assert!(missing.is_empty(), "say in KINDS what these mean: {missing:?}");
        assert!(KINDS.is_sorted_by_key(|(code, _)| code));
    }
}
