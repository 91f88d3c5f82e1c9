//! A simulation as a picture.

use super::record::Record;
use crate::plot::{CURVES, Curve, Figure, Panel, Picture};
use anyhow::Result;
use std::path::Path;

/// As many points make a smooth line.
const POINTS: usize = 1500;

/// Draws positions, velocities, torques, ν, ε and energy.
pub(crate) fn draw(robot: &str, record: &Record, path: &Path) -> Result<()> {
    let stride = record.rows.div_ceil(POINTS).max(1);
    let thinned = |numbers: &mut dyn Iterator<Item = f64>| -> Vec<f64> {
        let last = record.rows.saturating_sub(1);
        let kept = |i: usize| i.is_multiple_of(stride) || i == last;
        numbers.enumerate().filter(|(i, _)| kept(*i)).map(|(_, x)| x).collect()
    };
    let panel = |name: &str, words: &str| {
        let quantity = record.of(name);
        // Quaternions tell nothing to the eye.
        let shown: Vec<usize> = (0..quantity.labels.len())
            .filter(|i| {
                let label = &quantity.labels[*i];
                name != "q" || ![".qx", ".qy", ".qz", ".qw"].iter().any(|end| label.ends_with(end))
            })
            .collect();
        let curve = |i: &usize| Curve {
            name: quantity.labels[*i].clone(),
            y: thinned(&mut quantity.column(*i)),
        };
        Panel {
            label: format!("{words} ({})", quantity.unit),
            curves: shown.iter().take(CURVES).map(curve).collect(),
            more: shown.len().saturating_sub(CURVES),
        }
    };
    let energies = [
        ("kinetic", record.of("kinetic").numbers.clone()),
        ("potential", record.of("potential").numbers.clone()),
        ("total", record.energies().map(|(k, p)| k + p).collect()),
    ];
    let energies = energies.map(|(name, y)| Curve {
        name: name.into(),
        y: thinned(&mut y.into_iter()),
    });
    let t = thinned(&mut record.times().iter().copied());
    let panels = [
        panel("q", "position"),
        panel("nu", "total rate ν"),
        panel("v", "velocity"),
        panel("eps", "working moment ε"),
        panel("tau", "torque"),
        Panel {
            label: "energy (J)".into(),
            curves: energies.into(),
            more: 0,
        },
    ];
    let figure = Figure {
        title: robot.to_owned(),
        t: &t,
        columns: 2,
        panels: panels.into_iter().filter(|p| !p.curves.is_empty()).collect(),
    };
    figure.write(path)
}
