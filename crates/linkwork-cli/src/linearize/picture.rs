//! The map of the poles.

use crate::plot::{Area, Drawn, FONT, Picture, tick};
use linkwork::state_space::Pole;
use plotters::prelude::*;

const OPEN: RGBColor = RGBColor(0, 114, 178);
const CLOSED: RGBColor = RGBColor(213, 94, 0);

/// Room about the axes and for their labels, in pixels.
const MARGIN: i32 = 16;
const X_LABELS: i32 = 44;
const Y_LABELS: i32 = 72;

/// Poles as crosses, those with a regulator as circles; the stable side is on the left of the axis, or in the circle.
pub(super) struct Poles<'a> {
    pub(super) name: &'a str,
    pub(super) step: Option<f64>,
    pub(super) open: &'a [Pole],
    pub(super) closed: Option<&'a [Pole]>,
}

impl Picture for Poles<'_> {
    fn size(&self) -> (u32, u32) {
        (760, 640)
    }

    fn draw<B: DrawingBackend>(&self, root: &Area<B>) -> Drawn
    where
        B::ErrorType: 'static,
    {
        let Self {
            name,
            step,
            open,
            closed,
        } = *self;
        root.fill(&WHITE)?;
        let all = open.iter().chain(closed.unwrap_or_default());
        let (mut wide, mut high) = if step.is_some() { (1.1, 1.1) } else { (1e-3, 1e-3) };
        for pole in all {
            wide = (1.15 * pole.re.abs()).max(wide);
            high = (1.15 * pole.im.abs()).max(high);
        }
        // Not so low that everything is squeezed to a line.
        high = high.max(0.25 * wide);
        let title = match closed {
            None => format!("Poles of {name}"),
            Some(_) => format!("Poles of {name}: × alone, ○ with the regulator"),
        };
        let body = root.margin(MARGIN, MARGIN, MARGIN, MARGIN);
        let body = body.titled(&title, (FONT, 20))?;
        if step.is_some() {
            // A circle is round where both axes have one scale.
            let (across, up) = body.dim_in_pixel();
            let across = f64::from(across) - f64::from(Y_LABELS);
            let ratio = across / (f64::from(up) - f64::from(X_LABELS));
            (wide, high) = (wide.max(high * ratio), high.max(wide / ratio));
        }
        let mut chart = ChartBuilder::on(&body)
            .x_label_area_size(X_LABELS)
            .y_label_area_size(Y_LABELS)
            .build_cartesian_2d(-wide..wide, -high..high)?;
        let (x, y) = if step.is_some() {
            ("real", "imaginary")
        } else {
            ("real, 1/s", "imaginary, rad/s")
        };
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .x_desc(x)
            .y_desc(y)
            .label_style((FONT, 13))
            .x_label_formatter(&|x| tick(*x, 2.0 * wide))
            .y_label_formatter(&|y| tick(*y, 2.0 * high))
            .draw()?;
        let edge: Vec<(f64, f64)> = match step {
            None => vec![(0.0, -high), (0.0, high)],
            Some(_) => (0..=180)
                .map(|i| (f64::from(i) * core::f64::consts::TAU / 180.0).sin_cos())
                .map(|(s, c)| (c, s))
                .collect(),
        };
        chart.draw_series(LineSeries::new(edge, BLACK.stroke_width(1)))?;
        chart.draw_series(open.iter().map(|p| Cross::new((p.re, p.im), 6, OPEN.stroke_width(2))))?;
        let closed = closed.unwrap_or_default();
        chart.draw_series(
            closed
                .iter()
                .map(|p| Circle::new((p.re, p.im), 6, CLOSED.stroke_width(2))),
        )?;
        Ok(())
    }
}
