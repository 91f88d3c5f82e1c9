//! Random robots to try equations on, small ones first.

use crate::model::Generator;
use crate::model::{FrameId, Joint, JointKind, Link, Mechanism};
use crate::spatial::{Inertia, Pose, Rotation, Vec3};
use crate::{Reference, Result};

/// A robot in some state.
pub(crate) struct Trial {
    pub(crate) mechanism: Mechanism,
    pub(crate) q: Vec<f64>,
    pub(crate) qd: Vec<f64>,
    pub(crate) frames: Vec<(FrameId, Reference)>,
}

/// The robot of a number: its size grows with it, and every other one has rotors.
pub(crate) fn trial(number: u64, named: &[String], rotors: bool) -> Result<Trial> {
    let mut from = Generator::new(number.wrapping_mul(0x9e37).wrapping_add(17));
    let n = 1 + (number as usize / 12).min(8);
    let mut builder = Mechanism::builder(format!("robot {number}")).gravity(vector(&mut from, 9.8));
    for k in 0..n {
        // Chains, trees, and several roots now and then.
        let parent = match (k, below(&mut from, 5)) {
            (0, _) => None,
            (1.., 0) if n > 3 => None,
            (_, 1) => Some(below(&mut from, k)),
            _ => Some(k - 1),
        };
        let inner = parent.map_or("world".to_owned(), |p| format!("link{p}"));
        let kind = kind(&mut from);
        let mut joint = Joint::new(format!("joint{k}"), kind)
            .between(inner, format!("link{k}"))
            .placed(pose(&mut from));
        if rotors {
            joint.armature = (0..kind.nv()).map(|_| 0.05 + 0.5 * from.unit()).collect();
        }
        builder = builder
            .link(Link::new(format!("link{k}"), inertia(&mut from)))
            .joint(joint);
    }
    for name in named {
        let on = below(&mut from, n);
        builder = builder.frame(name, format!("link{on}"), pose(&mut from));
    }
    let mechanism = builder.build()?;
    let q = mechanism.random(number);
    let qd = numbers(&mut from, mechanism.nv());
    let names = match named {
        [] => vec![format!("link{}", n - 1)],
        names => names.to_vec(),
    };
    let mut frames = Vec::with_capacity(names.len());
    for name in names {
        frames.push((mechanism.frame(&name)?, Reference::Local));
    }
    Ok(Trial {
        mechanism,
        q,
        qd,
        frames,
    })
}

/// Uniform in [−1, 1).
fn number(from: &mut Generator) -> f64 {
    2.0 * from.unit() - 1.0
}

pub(crate) fn numbers(from: &mut Generator, n: usize) -> Vec<f64> {
    (0..n).map(|_| number(from)).collect()
}

/// A symmetric and positive matrix, row by row.
pub(crate) fn weight(from: &mut Generator, n: usize) -> Vec<f64> {
    let x = numbers(from, n * n);
    let at = |i: usize, j: usize| {
        let sum: f64 = (0..n).map(|k| x[i * n + k] * x[j * n + k]).sum();
        if i == j { sum + 0.1 } else { sum }
    };
    (0..n * n).map(|i| at(i / n, i % n)).collect()
}

fn below(from: &mut Generator, n: usize) -> usize {
    ((from.unit() * n as f64) as usize).min(n.saturating_sub(1))
}

fn vector(from: &mut Generator, size: f64) -> Vec3 {
    Vec3::new(number(from), number(from), number(from)) * size
}

fn pose(from: &mut Generator) -> Pose {
    let turn = Rotation::from_rpy(3.0 * number(from), 1.5 * number(from), 3.0 * number(from));
    Pose::new(turn, vector(from, 0.5))
}

fn direction(from: &mut Generator) -> Vec3 {
    let turn = Rotation::from_rpy(3.0 * number(from), 1.5 * number(from), 3.0 * number(from));
    turn.z
}

fn inertia(from: &mut Generator) -> Inertia {
    let mass = 0.3 + 2.0 * from.unit();
    let [a, b, c] = [0; 3].map(|_| mass * (0.01 + 0.1 * from.unit()));
    let about = Inertia::new(mass, Vec3::ZERO, [b + c, 0.0, 0.0, a + c, 0.0, a + b]);
    about.seen_from(&pose(from))
}

fn kind(from: &mut Generator) -> JointKind {
    let axis = direction(from);
    match below(from, 14) {
        0..=4 => JointKind::Revolute { axis },
        5 | 6 => JointKind::Prismatic { axis },
        7 => JointKind::Helical { axis, pitch: 0.2 },
        8 => JointKind::Cylindrical { axis },
        9 => JointKind::Planar,
        10 => JointKind::Translation,
        11 => JointKind::Free,
        12 => {
            let across = axis.cross(direction(from)) + axis * 0.1;
            JointKind::Universal { axes: [axis, across] }
        }
        _ => JointKind::Spherical,
    }
}
