//! The motion as a picture: joint positions, energies, and what the integrator loses.

use super::Sample;
use anyhow::{Result, anyhow};
use linkwork::Mechanism;
use linkwork::model::JointKind;
use plotters::coord::Shift;
use plotters::prelude::*;

const SIZE: (u32, u32) = (1000, 960);
const LEGEND: i32 = 170;
const FONT: &str = "Helvetica, Arial, sans-serif";
const TITLE: i32 = 56;

/// Colours that people with colour-blindness can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
    RGBColor(150, 120, 60),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A named line.
struct Curve {
    name: String,
    y: Vec<f64>,
}

/// A picture in SVG.
pub(crate) fn draw(robot: &Mechanism, story: &str, samples: &[Sample]) -> Result<String> {
    let mut picture = String::new();
    {
        let root = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
        // The errors of plotters borrow the backend: only their words leave.
        compose(&root, robot, story, samples).map_err(|e| anyhow!("cannot draw the plot: {e}"))?;
        root.present().map_err(|e| anyhow!("cannot draw the plot: {e}"))?;
    }
    Ok(picture)
}

fn compose(
    root: &Area<'_>,
    robot: &Mechanism,
    story: &str,
    samples: &[Sample],
) -> Result<(), Box<dyn std::error::Error>> {
    root.fill(&WHITE)?;
    let title = format!("{}, {story}", robot.name());
    root.draw(&Text::new(title, (28, 20), (FONT, 22).into_font()))?;
    let (_, body) = root.split_vertically(TITLE);
    let t: Vec<f64> = samples.iter().map(|s| s.t).collect();

    let height = body.dim_in_pixel().1 as i32;
    let (top, rest) = body.split_vertically(height * 42 / 100);
    let (middle, bottom) = rest.split_vertically(height * 32 / 100);

    let (positions, unit, more) = positions(robot, samples);
    panel(&top, &t, &positions, &format!("joint position ({unit})"), more)?;

    let energies = [
        ("kinetic", samples.iter().map(|s| s.kinetic).collect::<Vec<_>>()),
        ("potential", samples.iter().map(|s| s.potential).collect()),
        ("total", samples.iter().map(|s| s.kinetic + s.potential).collect()),
    ];
    let energies = energies.map(|(name, y)| Curve { name: name.into(), y });
    panel(&middle, &t, &energies, "energy (J)", 0)?;

    let start = energies[2].y.first().copied().unwrap_or(0.0);
    let mut drift: Vec<f64> = energies[2].y.iter().map(|e| e - start).collect();
    let largest = drift.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let (scale, prefix) = prefixed(largest);
    drift.iter_mut().for_each(|x| *x /= scale);
    let drift = [Curve {
        name: "total − start".into(),
        y: drift,
    }];
    panel(&bottom, &t, &drift, &format!("energy drift ({prefix}J)"), 0)
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
            if curves.len() == COLOURS.len() {
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

/// One set of axes with its curves and legend.
fn panel(
    area: &Area<'_>,
    t: &[f64],
    curves: &[Curve],
    label: &str,
    more: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let width = area.dim_in_pixel().0 as i32;
    let (left, right) = area.split_horizontally(width - LEGEND);
    let all = curves.iter().flat_map(|c| &c.y).copied();
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(y), h.max(y)));
    let margin = if high > low { 0.06 * (high - low) } else { 0.5 };
    let (low, high) = if low <= high {
        (low - margin, high + margin)
    } else {
        (-1.0, 1.0)
    };
    let end = t.last().copied().unwrap_or(1.0);
    let mut chart = ChartBuilder::on(&left)
        .margin_top(8)
        .margin_right(12)
        .margin_left(12)
        .margin_bottom(10)
        .x_label_area_size(44)
        .y_label_area_size(68)
        .build_cartesian_2d(0.0..end, low..high)?;
    chart
        .configure_mesh()
        .x_desc("time (s)")
        .y_desc(label)
        .label_style((FONT, 14))
        .axis_desc_style((FONT, 15))
        .bold_line_style(RGBColor(222, 222, 222))
        .light_line_style(TRANSPARENT)
        .axis_style(RGBColor(90, 90, 90))
        .x_labels(11)
        .y_labels(7)
        .y_label_formatter(&|y| plain(*y))
        .x_label_formatter(&|x| plain(*x))
        .draw()?;
    for (i, curve) in curves.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let points = t.iter().copied().zip(curve.y.iter().copied());
        chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        let y = 22 + 22 * i as i32;
        right.draw(&PathElement::new(vec![(2, y), (26, y)], colour.stroke_width(3)))?;
        right.draw(&Text::new(curve.name.clone(), (34, y - 7), (FONT, 14).into_font()))?;
    }
    if more > 0 {
        let y = 22 + 22 * curves.len() as i32;
        let note = format!("and {more} more");
        right.draw(&Text::new(
            note,
            (34, y - 7),
            (FONT, 14).into_font().color(&RGBColor(110, 110, 110)),
        ))?;
    }
    Ok(())
}

/// A tick's number without noise from rounding.
fn plain(x: f64) -> String {
    let rounded = (x * 1e9).round() / 1e9;
    // No −0.
    format!("{}", rounded + 0.0)
}

/// The unit prefix for numbers of a size.
fn prefixed(size: f64) -> (f64, &'static str) {
    const PREFIXES: [(f64, &str); 6] = [
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
        (1e-12, "p"),
        (1e-15, "f"),
    ];
    let fitting = PREFIXES.into_iter().find(|(scale, _)| size >= *scale);
    fitting.unwrap_or((1e-15, "f"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_plain_numbers() {
        assert_eq!(plain(0.1 + 0.2), "0.3");
        assert_eq!(plain(-0.0), "0");
        assert_eq!(prefixed(3e-8), (1e-9, "n"));
        assert_eq!(prefixed(0.0), (1e-15, "f"));
    }
}
