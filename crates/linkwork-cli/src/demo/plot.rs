//! The motion as a picture: joint positions, energies, and what the integrator loses.

use super::Sample;
use crate::plot::{CURVES, Curve, Figure, Panel, Picture, prefixed};
use anyhow::Result;
use linkwork::Mechanism;
use linkwork::model::JointKind;
use std::path::Path;

/// Draws a picture to a file.
pub(crate) fn draw(robot: &Mechanism, story: &str, samples: &[Sample], out: &Path) -> Result<()> {
    let t: Vec<f64> = samples.iter().map(|s| s.t).collect();
    let (positions, unit, more) = positions(robot, samples);
    let energies = [
        ("kinetic", samples.iter().map(|s| s.kinetic).collect::<Vec<_>>()),
        ("potential", samples.iter().map(|s| s.potential).collect()),
        ("total", samples.iter().map(|s| s.kinetic + s.potential).collect()),
    ];
    let energies = energies.map(|(name, y)| Curve { name: name.into(), y });
    let start = energies[2].y.first().copied().unwrap_or(0.0);
    let mut drift: Vec<f64> = energies[2].y.iter().map(|e| e - start).collect();
    let largest = drift.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let (scale, prefix) = prefixed(largest);
    drift.iter_mut().for_each(|x| *x /= scale);
    let drift = Curve {
        name: "total − start".into(),
        y: drift,
    };
    let panel = |label: String, curves: Vec<Curve>, more: usize| Panel { label, curves, more };
    let figure = Figure {
        title: format!("{}, {story}", robot.name()),
        t: &t,
        columns: 1,
        panels: vec![
            panel(format!("joint position ({unit})"), positions, more),
            panel("energy (J)".into(), energies.into(), 0),
            panel(format!("energy drift ({prefix}J)"), vec![drift], 0),
        ],
    };
    figure.write(out)
}

/// The coordinates that are angles or lengths, as many as can be told apart; their unit; how many were left out.
fn positions(robot: &Mechanism, samples: &[Sample]) -> (Vec<Curve>, &'static str, usize) {
    let mut curves = Vec::new();
    let (mut angles, mut lengths, mut more) = (false, false, 0);
    let mut at = 0;
    for joint in robot.joints() {
        let labels: &[&str] = match joint.kind {
            JointKind::Cylindrical { .. } => &[" angle", " slide"],
            JointKind::Universal { .. } => &[" first", " second"],
            JointKind::Planar => &[" angle", " x", " y"],
            JointKind::Translation => &[" x", " y", " z"],
            // Quaternions tell nothing to the eye.
            JointKind::Fixed | JointKind::Spherical | JointKind::Free => &[],
            _ => &[""],
        };
        for (i, label) in labels.iter().enumerate() {
            if curves.len() == CURVES {
                more += 1;
                continue;
            }
            let is_length = match joint.kind {
                JointKind::Prismatic { .. } | JointKind::Translation => true,
                JointKind::Cylindrical { .. } | JointKind::Planar => i > 0,
                _ => false,
            };
            lengths |= is_length;
            angles |= !is_length;
            curves.push((format!("{}{label}", joint.name), is_length, at + i));
        }
        at += joint.kind.nq();
    }
    let mixed = angles && lengths;
    let unit = match (angles, lengths) {
        (true, true) => "rad, m",
        (false, true) => "m",
        _ => "rad",
    };
    let curve = |(name, is_length, i): (String, bool, usize)| Curve {
        name: if mixed {
            format!("{name} ({})", if is_length { "m" } else { "rad" })
        } else {
            name
        },
        y: samples.iter().map(|s| s.q[i]).collect(),
    };
    (curves.into_iter().map(curve).collect(), unit, more)
}
