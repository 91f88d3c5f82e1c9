//! What is on the stage, as JSON: everything that does not change while it moves.
//!
//! Poses are `[x, y, z, qx, qy, qz, qw]`. Links, joints and meshes are told by their numbers; the world is link −1.

use crate::assets::{Assets, Form};
use crate::digest::base64;
use linkwork::Mechanism;
use linkwork::closed::ConstraintKind;
use linkwork::model::{Joint, JointId, JointKind, WORLD};
use linkwork::spatial::{Inertia, Pose, Vec3};
use linkwork_formats::{Geometry, Robot, Role, Shape, Terrain};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The scene of a robot. `mechanism` is the robot's, or that of its closed loops.
pub fn describe(robot: &Robot, mechanism: &Mechanism, assets: &Assets) -> linkwork::Result<Map<String, Value>> {
    let numbers: HashMap<&str, usize> = mechanism
        .links()
        .iter()
        .enumerate()
        .map(|(i, l)| (&*l.name, i))
        .collect();
    let number = |name: &str| numbers.get(name).map_or(-1, |i| *i as i64);
    let mut joints = Vec::with_capacity(mechanism.joints().len());
    for joint in mechanism.joints() {
        joints.push(joint_of(mechanism, joint, number(&joint.parent), number(&joint.child))?);
    }
    let links = mechanism.links().iter().map(|link| {
        let (axes, turn) = ellipsoid(&link.inertia);
        json!({
            "name": link.name,
            "mass": link.inertia.mass,
            "com": link.inertia.com.to_array(),
            "inertia": link.inertia.moments,
            "ellipsoid": axes.map(|axes| json!({ "axes": axes, "turn": turn })),
        })
    });
    let frames = mechanism
        .frames()
        .iter()
        .map(|frame| json!({ "name": frame.name, "link": number(&frame.link), "pose": pose_of(&frame.pose) }));
    let form = Form::of(&robot.geometry);
    let terrains = robot.terrains.iter().map(|t| terrain_of(t, number(&t.link)));
    let shapes = robot.geometry.iter().map(|g| {
        // A plane on a link that stands is part of the world.
        let standing = (g.shape == Shape::Plane).then(|| fixed(mechanism, &g.link)).flatten();
        match standing {
            Some(pose) => {
                let plane = Geometry {
                    pose: pose * g.pose,
                    ..g.clone()
                };
                shape_of(&plane, -1, assets, form(g.role))
            }
            None => shape_of(g, number(&g.link), assets, form(g.role)),
        }
    });
    let loops = robot.loops.iter().map(|l| {
        json!({
            "name": l.name, "kind": l.word(),
            "rule": rule_of(&l.kind),
            "first": { "link": number(&l.first.0), "pose": pose_of(&l.first.1) },
            "second": { "link": number(&l.second.0), "pose": pose_of(&l.second.1) },
        })
    });
    let scene = json!({
        "name": mechanism.name(),
        "world": WORLD,
        "nq": mechanism.nq(),
        "nv": mechanism.nv(),
        "gravity": mechanism.gravity().to_array(),
        "mass": mechanism.links().iter().map(|l| l.inertia.mass).sum::<f64>(),
        "coupled": mechanism.is_coupled(),
        "links": links.collect::<Value>(),
        "joints": joints,
        "frames": frames.collect::<Value>(),
        "geometry": shapes.chain(terrains).collect::<Value>(),
        "loops": loops.collect::<Value>(),
        "meshes": assets.to_json(),
    });
    match scene {
        Value::Object(map) => Ok(map),
        _ => Ok(Map::new()),
    }
}

fn joint_of(mechanism: &Mechanism, joint: &Joint, parent: i64, child: i64) -> linkwork::Result<Value> {
    let id = mechanism.joint(&joint.name)?;
    let (q, v) = (mechanism.q_range(id)?, mechanism.v_range(id)?);
    let follows = mechanism
        .follows(id)?
        .map(|leader| &mechanism.joints()[leader.index()].name);
    let limit = |i: usize| joint.position_limits.get(i).or(joint.position_limits.first());
    // One pair of a ball joint limits the whole angle, and so each component. Numbers without end are null in JSON.
    let whole = joint.kind == JointKind::Spherical && joint.position_limits.len() == 1;
    let limits = (0..joint.kind.nv()).map(|i| limit(i).map(|(a, b)| json!([if whole { -*b } else { *a }, b])));
    let axes: Vec<Vec3> = match joint.kind {
        JointKind::Revolute { axis }
        | JointKind::Continuous { axis }
        | JointKind::Prismatic { axis }
        | JointKind::Helical { axis, .. }
        | JointKind::Cylindrical { axis } => vec![axis],
        JointKind::Universal { axes: [_, second] } => vec![second],
        JointKind::Planar => vec![Vec3::new(0.0, 0.0, 1.0)],
        _ => Vec::new(),
    };
    let unit = |axes: &[Vec3]| -> Vec<[f64; 3]> { axes.iter().map(|a| (*a * (1.0 / a.norm())).to_array()).collect() };
    let (turns, pitch) = match joint.kind {
        JointKind::Universal { axes } => (axes.to_vec(), 0.0),
        JointKind::Helical { axis, pitch } => (vec![axis], pitch),
        _ => (axes.clone(), 0.0),
    };
    let curve = match mechanism.follows(id)? {
        Some(leader) => Some(curve(mechanism, id, &mechanism.joints()[leader.index()])?),
        None => None,
    };
    Ok(json!({
        "name": joint.name,
        "kind": joint.kind.name(),
        "parent": parent,
        "child": child,
        "origin": pose_of(&joint.origin),
        "q": [q.start, q.end],
        "v": [v.start, v.end],
        "width": joint.kind.nq(),
        "limits": limits.collect::<Vec<_>>(),
        "axes": unit(&axes),
        "turns": unit(&turns),
        "pitch": pitch,
        "follows": follows,
        "curve": curve,
        "effort": joint.effort_limit.first(),
    }))
}

/// How a joint follows another: values of the leader's coordinate within its limits, and the follower's with its slope.
fn curve(mechanism: &Mechanism, follower: JointId, leader: &Joint) -> linkwork::Result<Vec<[f64; 3]>> {
    const PARTS: u32 = 256;
    let wide = (-std::f64::consts::PI, std::f64::consts::PI);
    let (low, high) = leader.position_limits.first().copied().unwrap_or(wide);
    let (low, high) = (low.max(-1e3), high.min(1e3));
    let at = |x: f64| mechanism.coupling_at(follower, x).map(|[q, slope, _]| [x, q, slope]);
    let [first, last] = [at(low)?, at(high)?];
    // Most are straight, and two points tell all.
    let straight = |p: [f64; 3]| (first[1] + first[2] * (p[0] - low) - p[1]).abs() < 1e-12;
    if straight(last) && straight(at(0.3 * low + 0.7 * high)?) {
        return Ok(vec![first, last]);
    }
    (0..=PARTS)
        .map(|i| at(low + (high - low) * f64::from(i) / f64::from(PARTS)))
        .collect()
}

/// What a loop holds, in numbers.
fn rule_of(kind: &ConstraintKind) -> Value {
    match kind {
        ConstraintKind::Hinge { axis } | ConstraintKind::Slider { axis } => json!({ "axis": axis.to_array() }),
        ConstraintKind::Distance { length } => json!({ "length": length }),
        ConstraintKind::Directions { turns, shifts } => json!({ "turns": turns, "shifts": shifts }),
        ConstraintKind::Rolling { radius, axis, normal } => {
            json!({ "radius": radius, "axis": axis.map(|a| a.to_array()), "normal": normal.to_array() })
        }
        _ => json!({}),
    }
}

fn terrain_of(terrain: &Terrain, link: i64) -> Value {
    let heights: Vec<u8> = terrain.heights.iter().flat_map(|h| (*h as f32).to_le_bytes()).collect();
    let [x, y] = terrain.half;
    let form = json!({
        "type": "field", "rows": terrain.rows, "columns": terrain.columns,
        "size": [2.0 * x, 2.0 * y, terrain.base], "heights": base64(&heights),
    });
    json!({
        "name": terrain.name, "link": link, "role": "visual", "pose": pose_of(&terrain.pose), "colour": null, "shape": form,
    })
}

/// Where a link is that fixed joints alone hold in the world.
fn fixed(mechanism: &Mechanism, link: &str) -> Option<Pose> {
    let mut pose = Pose::IDENTITY;
    let mut at = link;
    while at != WORLD {
        let joint = mechanism.joints().iter().find(|j| j.child == at)?;
        if joint.kind.nv() > 0 {
            return None;
        }
        pose = joint.origin * pose;
        at = &joint.parent;
    }
    Some(pose)
}

fn shape_of(shape: &Geometry, link: i64, assets: &Assets, kind: Form) -> Value {
    let form = match &shape.shape {
        Shape::Cuboid { edges } => json!({ "type": "box", "size": edges.to_array() }),
        Shape::Cylinder { radius, length } => json!({ "type": "cylinder", "radius": radius, "length": length }),
        Shape::Sphere { radius } => json!({ "type": "sphere", "radius": radius }),
        Shape::Capsule { radius, length } => json!({ "type": "capsule", "radius": radius, "length": length }),
        Shape::Ellipsoid { radii } => json!({ "type": "ellipsoid", "radii": radii.to_array() }),
        Shape::Plane => json!({ "type": "plane" }),
        Shape::Mesh { uri, scale, .. } => {
            json!({ "type": "mesh", "mesh": assets.mesh(uri, kind), "scale": scale.to_array() })
        }
    };
    json!({
        "name": shape.name,
        "link": link,
        "role": match shape.role { Role::Visual => "visual", Role::Collision => "collision" },
        "pose": pose_of(&shape.pose),
        "colour": shape.colour,
        "shape": form,
    })
}

/// A place and a quaternion.
pub(crate) fn pose_of(pose: &Pose) -> [f64; 7] {
    let [x, y, z] = pose.translation.to_array();
    let [qx, qy, qz, qw] = pose.rotation.to_quaternion();
    [x, y, z, qx, qy, qz, qw]
}

/// The half axes of the solid ellipsoid with the same mass and moments, and how it is turned on its link; no axes where no
/// such body exists.
fn ellipsoid(inertia: &Inertia) -> (Option<[f64; 3]>, [f64; 4]) {
    let (moments, axes) = inertia.principal();
    let half = |i: usize| {
        let sum = moments.iter().sum::<f64>() - 2.0 * moments[i];
        (2.5 * sum / inertia.mass).sqrt()
    };
    let half = [half(0), half(1), half(2)];
    (half.iter().all(|x| x.is_finite()).then_some(half), axes.to_quaternion())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_of_even_density_is_its_own_ellipsoid() {
        // A solid ellipsoid with half axes a, b, c has moments m/5 (b² + c²), …
        let [a, b, c] = [0.3, 0.2, 0.1_f64];
        let moment = |x: f64, y: f64| 3.0 / 5.0 * (x * x + y * y);
        let body = Inertia::new(
            3.0,
            [1.0, 2.0, 3.0],
            [moment(b, c), 0.0, 0.0, moment(a, c), 0.0, moment(a, b)],
        );
        let (axes, _) = ellipsoid(&body);
        for (found, known) in axes.expect("it is one").iter().zip([a, b, c]) {
            assert!((found - known).abs() < 1e-14, "{found} {known}");
        }
        assert!(ellipsoid(&Inertia::ZERO).0.is_none());
    }

    #[test]
    fn every_joint_and_shape_knows_its_links() {
        let text = r#"<robot name="r"><link name="base"/><link name="arm">
            <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
            <visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></visual>
            <visual><geometry><mesh filename="gone.stl"/></geometry></visual></link>
            <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 2"/>
            <limit lower="-1" upper="2" effort="5" velocity="1"/></joint></robot>"#;
        let read = linkwork_formats::read(
            "r.urdf",
            text.as_bytes(),
            linkwork_formats::Format::Urdf,
            &Default::default(),
        );
        let robot = read.expect("it is fine");
        let assets = Assets::of(&robot.geometry, None);
        let scene = describe(&robot, &robot.mechanism, &assets).expect("it has what it needs");
        let scene = Value::from(scene);
        let number = |name: &str| robot.mechanism.links().iter().position(|l| l.name == name).unwrap();
        let turning = scene["joints"]
            .as_array()
            .unwrap()
            .iter()
            .find(|j| j["name"] == "j")
            .unwrap();
        assert_eq!(turning["child"], number("arm"));
        assert_eq!(turning["axes"], json!([[0.0, 0.0, 1.0]]));
        assert_eq!(turning["limits"], json!([[-1.0, 2.0]]));
        assert_eq!(scene["geometry"][0]["link"], number("arm"));
        assert_eq!(scene["geometry"][1]["shape"]["mesh"], 0);
        assert!(scene["meshes"][0]["file"].is_null());
    }
}
