//! Pictures, SVG or PNG by the name of the file, and curves over time as such.

use crate::user_error::UserError;
use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use std::path::Path;
use std::sync::Once;

/// One set of axes.
pub(crate) struct Panel {
    pub(crate) label: String,
    pub(crate) curves: Vec<Curve>,
    /// How many curves were left out.
    pub(crate) more: usize,
}

/// A named line.
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) y: Vec<f64>,
}

/// Panels below and beside each other, over the same times.
pub(crate) struct Figure<'a> {
    pub(crate) title: String,
    pub(crate) t: &'a [f64],
    pub(crate) columns: usize,
    pub(crate) panels: Vec<Panel>,
}

/// As many curves can be told apart.
pub(crate) const CURVES: usize = COLOURS.len();

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

const WIDTH: u32 = 960;
const HEIGHT: u32 = 300;
const TITLE: u32 = 56;
const LEGEND: i32 = 190;
/// About so many numbers beside the axis.
const Y_LABELS: usize = 6;
/// In an SVG the reader's own font; in a PNG the embedded one, which stands for all.
pub(crate) const FONT: &str = "sans-serif";

/// Lets plots know how wide letters are, whatever the system has.
fn know_font() {
    static FONTS: Once = Once::new();
    FONTS.call_once(|| {
        for style in [FontStyle::Normal, FontStyle::Bold] {
            let known = register_font(FONT, style, epaint_default_fonts::HACK_REGULAR);
            debug_assert!(known.is_ok(), "the embedded font is sound");
        }
    });
}

pub(crate) type Area<B> = DrawingArea<B, Shift>;
pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The picture's format, known by its file's name before anything is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Svg,
    Png,
}

impl Format {
    pub(crate) fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(UserError::usage(
                format!("no picture can be written to `{}`", path.display()),
                "name a file that ends in .svg or .png",
            )),
        }
    }
}

/// What is drawn alike in every format.
pub(crate) trait Picture {
    /// Width and height, in pixels.
    fn size(&self) -> (u32, u32);

    fn draw<B: DrawingBackend>(&self, root: &Area<B>) -> Drawn
    where
        B::ErrorType: 'static;

    /// Writes the picture.
    fn write(&self, path: &Path) -> Result<()> {
        let bytes = match Format::of(path)? {
            Format::Svg => self.svg()?.into_bytes(),
            Format::Png => self.png()?,
        };
        crate::atomic_file::write(path, &bytes)
    }

    fn svg(&self) -> Result<String> {
        let mut picture = String::new();
        {
            let root = SVGBackend::with_string(&mut picture, self.size()).into_drawing_area();
            self.compose(&root)?;
        }
        Ok(picture)
    }

    fn png(&self) -> Result<Vec<u8>> {
        let (width, height) = self.size();
        let mut pixels = vec![255; (3 * width * height) as usize];
        {
            let root = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
            self.compose(&root)?;
        }
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&pixels)?;
        Ok(bytes)
    }

    fn compose<B: DrawingBackend>(&self, root: &Area<B>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        know_font();
        // The errors of plotters borrow the backend: only their words leave.
        let drawn = self.draw(root).map_err(|e| anyhow!("cannot draw the plot: {e}"));
        drawn.and_then(|()| root.present().map_err(|e| anyhow!("cannot draw the plot: {e}")))
    }
}

impl Picture for Figure<'_> {
    fn size(&self) -> (u32, u32) {
        let rows = self.panels.len().div_ceil(self.columns) as u32;
        (self.columns as u32 * WIDTH, TITLE + rows * HEIGHT)
    }

    fn draw<B: DrawingBackend>(&self, root: &Area<B>) -> Drawn
    where
        B::ErrorType: 'static,
    {
        root.fill(&WHITE)?;
        root.draw(&Text::new(self.title.clone(), (28, 20), (FONT, 22).into_font()))?;
        let (_, body) = root.split_vertically(TITLE);
        let rows = self.panels.len().div_ceil(self.columns);
        for (area, shown) in body.split_evenly((rows, self.columns)).iter().zip(&self.panels) {
            shown.draw(area, self.t)?;
        }
        Ok(())
    }
}

impl Panel {
    /// Axes, curves and a legend.
    fn draw<B: DrawingBackend>(&self, area: &Area<B>, t: &[f64]) -> Drawn
    where
        B::ErrorType: 'static,
    {
        let width = area.dim_in_pixel().0 as i32;
        let (left, right) = area.split_horizontally(width - LEGEND);
        let all = self.curves.iter().flat_map(|c| &c.y).copied();
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(y), h.max(y)));
        let size = low.abs().max(high.abs());
        // A line that is flat but for rounding is drawn flat.
        let margin = if high - low > 1e-12 * size {
            0.06 * (high - low)
        } else {
            0.1 * size.max(1.0)
        };
        let (low, high) = if low <= high {
            (low - margin, high + margin)
        } else {
            (-1.0, 1.0)
        };
        let (begin, end) = (t.first().copied().unwrap_or(0.0), t.last().copied().unwrap_or(1.0));
        let end = if end > begin { end } else { begin + 1.0 };
        let rows: Vec<String> = RangedCoordf64::from(low..high)
            .key_points(Y_LABELS)
            .into_iter()
            .map(|y| tick(y, high - low))
            .collect();
        let mut chart = ChartBuilder::on(&left)
            .margin_top(8)
            .margin_right(12)
            .margin_left(12)
            .margin_bottom(10)
            .x_label_area_size(44)
            .y_label_area_size(room_for(&rows))
            .build_cartesian_2d(begin..end, low..high)?;
        chart
            .configure_mesh()
            .x_desc("time (s)")
            .y_desc(&self.label)
            .label_style((FONT, 14))
            .axis_desc_style((FONT, 15))
            .bold_line_style(RGBColor(222, 222, 222))
            .light_line_style(TRANSPARENT)
            .axis_style(RGBColor(90, 90, 90))
            .x_labels(11)
            .y_labels(Y_LABELS)
            .y_label_formatter(&|y| tick(*y, high - low))
            .x_label_formatter(&|x| tick(*x, end - begin))
            .draw()?;
        let spacing = if self.curves.len() + usize::from(self.more > 0) > 10 {
            20
        } else {
            22
        };
        let at = |i: usize| 22 + spacing * i as i32;
        let beside = Pos::new(HPos::Left, VPos::Center);
        for (i, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let points = t.iter().copied().zip(curve.y.iter().copied());
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
            right.draw(&PathElement::new(vec![(2, at(i)), (26, at(i))], colour.stroke_width(3)))?;
            let name = shortened(&curve.name);
            right.draw(&Text::new(
                name,
                (34, at(i)),
                TextStyle::from((FONT, 14).into_font()).pos(beside),
            ))?;
        }
        if self.more > 0 {
            let grey = (FONT, 14).into_font().color(&RGBColor(110, 110, 110));
            let note = format!("and {} more", self.more);
            right.draw(&Text::new(note, (34, at(self.curves.len())), grey.pos(beside)))?;
        }
        Ok(())
    }
}

/// How wide numbers and the title beside an axis are, in pixels: each letter of the embedded font is as wide as the next.
fn room_for(labels: &[String]) -> u32 {
    let longest = labels.iter().map(|l| l.chars().count()).max().unwrap_or(0) as u32;
    (9 * longest + 40).max(72)
}

/// A name that fits into the legend.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 22;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// A tick's number on an axis of some length.
pub(crate) fn tick(x: f64, span: f64) -> String {
    plain(x, (2.0 - span.log10()).floor().clamp(0.0, 12.0) as usize)
}

/// A tick's number without noise from rounding, and without a −0.
fn plain(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    match text {
        "-0" => "0".to_owned(),
        text if text.len() > 9 => format!("{x:.2e}"),
        text => text.to_owned(),
    }
}

/// The unit prefix for numbers of a size.
pub(crate) fn prefixed(size: f64) -> (f64, &'static str) {
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
        assert_eq!(plain(0.1 + 0.2, 3), "0.3");
        assert_eq!(plain(-0.0, 2), "0");
        assert_eq!(plain(1200.0, 0), "1200");
        assert_eq!(plain(3e8, 2), "300000000");
        assert_eq!(plain(3e10, 2), "3.00e10");
        assert_eq!(prefixed(3e-8), (1e-9, "n"));
        assert_eq!(prefixed(0.0), (1e-15, "f"));
    }

    /// Numbers of nine letters end before the axis' title begins.
    #[test]
    fn long_numbers_leave_room_for_the_title() {
        let of = |label: &str| Panel {
            label: label.to_owned(),
            curves: vec![Curve {
                name: "a".to_owned(),
                y: vec![-1.23456e7, -1.23450e7],
            }],
            more: 0,
        };
        let columns = |label: &str| -> Vec<usize> {
            let figure = Figure {
                title: String::new(),
                t: &[0.0, 1.0],
                columns: 1,
                panels: vec![of(label)],
            };
            let bytes = figure.png().unwrap();
            let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            let dark = |x: usize| pixels[3 * x..].iter().step_by(3 * WIDTH as usize).any(|p| *p < 200);
            (0..WIDTH as usize).filter(|&x| dark(x)).collect()
        };
        let (bare, titled) = (columns(""), columns("torque"));
        let title: Vec<usize> = titled.iter().copied().filter(|x| !bare.contains(x)).collect();
        assert!(!title.is_empty(), "the title is drawn");
        let number = bare.iter().min().unwrap();
        assert!(title.iter().max().unwrap() + 2 < *number, "{title:?} reaches {number}");
    }

    /// Letters leave ink where the system has no fonts at all.
    #[test]
    fn text_is_drawn_in_a_png() {
        let figure = |title: &str| Figure {
            title: title.to_owned(),
            t: &[0.0, 1.0],
            columns: 1,
            panels: vec![],
        };
        let ink = |bytes: Vec<u8>| {
            let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            pixels.iter().filter(|x| **x < 128).count()
        };
        assert_eq!(ink(figure("").png().unwrap()), 0);
        assert!(ink(figure("ν and ε").png().unwrap()) > 100);
    }
}
