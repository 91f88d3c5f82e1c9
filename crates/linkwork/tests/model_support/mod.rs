//! Dense geometry to compare with: 3×3 matrices by Rodrigues' formula, poses by walking inward from each link.
#![allow(dead_code)]

use linkwork::Mechanism;
use linkwork::model::{JointKind, WORLD};
use linkwork::spatial::{Pose, Rotation, Vec3};

/// R = I + sin θ k̃ + (1 − cos θ) k̃².
pub(crate) fn rodrigues(axis: Vec3, angle: f64) -> Rotation {
    let k = axis * (1.0 / axis.norm());
    let (s, c) = angle.sin_cos();
    let column = |e: Vec3| e + k.cross(e) * s + k.cross(k.cross(e)) * (1.0 - c);
    Rotation {
        x: column(Vec3::new(1.0, 0.0, 0.0)),
        y: column(Vec3::new(0.0, 1.0, 0.0)),
        z: column(Vec3::new(0.0, 0.0, 1.0)),
    }
}

pub(crate) fn joint_pose(kind: JointKind, q: &[f64]) -> Pose {
    let turn = |axis: Vec3, angle| Pose::from_rotation(rodrigues(axis, angle));
    let slide = |axis: Vec3, x: f64| Pose::from_translation(axis * (x / axis.norm()));
    let quaternion = |q: &[f64]| {
        let v = Vec3::new(q[0], q[1], q[2]);
        let angle = 2.0 * v.norm().atan2(q[3]);
        if v.norm() < 1e-14 {
            Pose::IDENTITY
        } else {
            turn(v, angle)
        }
    };
    match kind {
        JointKind::Fixed => Pose::IDENTITY,
        JointKind::Revolute { axis } | JointKind::Continuous { axis } => turn(axis, q[0]),
        JointKind::Prismatic { axis } => slide(axis, q[0]),
        JointKind::Helical { axis, pitch } => slide(axis, pitch * q[0]) * turn(axis, q[0]),
        JointKind::Cylindrical { axis } => slide(axis, q[1]) * turn(axis, q[0]),
        JointKind::Universal { axes } => turn(axes[0], q[0]) * turn(axes[1], q[1]),
        JointKind::Planar => Pose::from_translation([q[1], q[2], 0.0]) * turn(Vec3::new(0.0, 0.0, 1.0), q[0]),
        JointKind::Translation => Pose::from_translation([q[0], q[1], q[2]]),
        JointKind::Spherical => quaternion(q),
        JointKind::Free => Pose::from_translation([q[4], q[5], q[6]]) * quaternion(q),
    }
}

/// Where a link or frame is in the world.
pub(crate) fn pose_of(mechanism: &Mechanism, q: &[f64], name: &str) -> Pose {
    let (mut link, mut pose) = (name.to_owned(), Pose::IDENTITY);
    if let Some(frame) = mechanism.frames().iter().find(|f| f.name == name) {
        (link, pose) = (frame.link.clone(), frame.pose);
    }
    while link != WORLD {
        let joint = mechanism.joints().iter().find(|j| j.child == link).unwrap();
        let at = mechanism.q_range(mechanism.joint(&joint.name).unwrap()).unwrap();
        pose = joint.origin * joint_pose(joint.kind, &q[at]) * pose;
        link = joint.parent.clone();
    }
    pose
}

pub(crate) fn gap(a: &Pose, b: &Pose) -> f64 {
    let turned = (a.rotation.x - b.rotation.x).norm() + (a.rotation.y - b.rotation.y).norm();
    turned + (a.translation - b.translation).norm()
}

/// −Σ m g·c.
pub(crate) fn potential_energy(mechanism: &Mechanism, q: &[f64]) -> f64 {
    let links = mechanism.links().iter();
    let energy = links.map(|l| {
        let com = pose_of(mechanism, q, &l.name).point(l.inertia.com);
        -l.inertia.mass * mechanism.gravity().dot(com)
    });
    energy.sum()
}

/// The gradient of the potential energy, by central differences with one step of extrapolation.
pub(crate) fn gravity_torque(mechanism: &Mechanism, q: &[f64]) -> Vec<f64> {
    let slope = |i: usize, h: f64| {
        let energy = |step: f64| {
            let mut v = vec![0.0; mechanism.nv()];
            v[i] = step;
            let mut out = q.to_vec();
            mechanism.integrate(q, &v, &mut out).unwrap();
            potential_energy(mechanism, &out)
        };
        (energy(h) - energy(-h)) / (2.0 * h)
    };
    let h = 1e-3;
    (0..mechanism.nv())
        .map(|i| (4.0 * slope(i, h) - slope(i, 2.0 * h)) / 3.0)
        .collect()
}

/// The mass matrix Σ J*MJ + armature from world-frame velocities of mass centres, one-axis joints only.
pub(crate) fn mass_matrix(mechanism: &Mechanism, q: &[f64]) -> Vec<Vec<f64>> {
    let n = mechanism.nv();
    let mut mass = vec![vec![0.0; n]; n];
    for link in mechanism.links() {
        let pose = pose_of(mechanism, q, &link.name);
        let com = pose.point(link.inertia.com);
        // (ω, v of the mass centre) in the world, per unit rate of each joint inward.
        let mut columns = vec![(Vec3::ZERO, Vec3::ZERO); n];
        let mut at = link.name.clone();
        while at != WORLD {
            let joint = mechanism.joints().iter().find(|j| j.child == at).unwrap();
            let outer = pose_of(mechanism, q, &at);
            let dof = mechanism.v_range(mechanism.joint(&joint.name).unwrap()).unwrap().start;
            match joint.kind {
                JointKind::Fixed => {}
                JointKind::Revolute { axis } | JointKind::Continuous { axis } => {
                    let w = outer.rotation * (axis * (1.0 / axis.norm()));
                    columns[dof] = (w, w.cross(com - outer.translation));
                }
                JointKind::Prismatic { axis } => {
                    columns[dof] = (Vec3::ZERO, outer.rotation * (axis * (1.0 / axis.norm())));
                }
                _ => panic!("one-axis joints only"),
            }
            at = joint.parent.clone();
        }
        let [xx, xy, xz, yy, yz, zz] = link.inertia.moments;
        for i in 0..n {
            let w = pose.rotation.inverse_mul(columns[i].0);
            let turned = Vec3::new(
                xx * w.x + xy * w.y + xz * w.z,
                xy * w.x + yy * w.y + yz * w.z,
                xz * w.x + yz * w.y + zz * w.z,
            );
            for k in 0..n {
                let rotation = pose.rotation.inverse_mul(columns[k].0).dot(turned);
                mass[i][k] += rotation + link.inertia.mass * columns[i].1.dot(columns[k].1);
            }
        }
    }
    for joint in mechanism.joints() {
        for dof in mechanism.v_range(mechanism.joint(&joint.name).unwrap()).unwrap() {
            mass[dof][dof] += joint.armature.first().copied().unwrap_or(0.0);
        }
    }
    mass
}
