//! Curves as a picture: just enough SVG for the examples.

#![allow(dead_code, unreachable_pub)]

use std::fmt::Write;

/// A picture of curves in a plane, or over time.
pub struct Drawing {
    title: String,
    labels: [String; 2],
    /// Whether a metre is as long up as it is across.
    square: bool,
    curves: Vec<(String, &'static str, f64, Vec<[f64; 2]>)>,
}

const SIZE: [f64; 2] = [720.0, 440.0];
const MARGIN: f64 = 60.0;
pub const BLUE: &str = "#3366cc";
pub const RED: &str = "#cc3333";
pub const GREEN: &str = "#2a8a4a";
pub const GREY: &str = "#aaaaaa";

impl Drawing {
    pub fn new(title: &str, x: &str, y: &str) -> Self {
        Self {
            title: title.into(),
            labels: [x.into(), y.into()],
            square: false,
            curves: Vec::new(),
        }
    }

    pub fn in_metres(mut self) -> Self {
        self.square = true;
        self
    }

    /// Adds a curve; one without a name is not in the legend.
    pub fn curve(&mut self, name: &str, colour: &'static str, width: f64, points: Vec<[f64; 2]>) {
        self.curves.push((name.into(), colour, width, points));
    }

    /// Writes the picture.
    pub fn save(&self, path: &str) -> std::io::Result<()> {
        let all = || self.curves.iter().flat_map(|c| &c.3);
        let range = |i: usize| {
            let (low, high) = all().fold((f64::MAX, f64::MIN), |(a, b), p| (a.min(p[i]), b.max(p[i])));
            let room = 0.05 * (high - low).max(1e-9);
            [low - room, high + room]
        };
        let mut ranges = [range(0), range(1)];
        let inner = [SIZE[0] - 2.0 * MARGIN, SIZE[1] - 2.0 * MARGIN];
        if self.square {
            let scale = [0, 1].map(|i| (ranges[i][1] - ranges[i][0]) / inner[i]);
            let most = scale[0].max(scale[1]);
            for i in 0..2 {
                let more = 0.5 * (most - scale[i]) * inner[i];
                ranges[i] = [ranges[i][0] - more, ranges[i][1] + more];
            }
        }
        let at = |p: &[f64; 2]| {
            let part = [0, 1].map(|i| (p[i] - ranges[i][0]) / (ranges[i][1] - ranges[i][0]));
            (MARGIN + part[0] * inner[0], SIZE[1] - MARGIN - part[1] * inner[1])
        };
        let mut svg = String::new();
        let [w, h] = SIZE;
        let _ = writeln!(
            svg,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {w} {h}' font-family='sans-serif' font-size='13'>"
        );
        let _ = writeln!(
            svg,
            "<rect width='{w}' height='{h}' fill='white'/><text x='{}' y='28' font-size='17'>{}</text>",
            MARGIN, self.title
        );
        let part = |i: usize, value: f64| (value - ranges[i][0]) / (ranges[i][1] - ranges[i][0]);
        for (value, label) in ticks(ranges[0]) {
            let x = MARGIN + part(0, value) * inner[0];
            let _ = writeln!(
                svg,
                "<path d='M{x:.1} {} V{MARGIN}' stroke='#eeeeee'/><text x='{x:.1}' y='{}' text-anchor='middle'>{label}</text>",
                h - MARGIN,
                h - MARGIN + 18.0
            );
        }
        for (value, label) in ticks(ranges[1]) {
            let y = h - MARGIN - part(1, value) * inner[1];
            let _ = writeln!(
                svg,
                "<path d='M{MARGIN} {y:.1} H{}' stroke='#eeeeee'/><text x='{}' y='{:.1}' text-anchor='end'>{label}</text>",
                w - MARGIN,
                MARGIN - 6.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text x='{}' y='{}' text-anchor='middle'>{}</text>",
            w / 2.0,
            h - 16.0,
            self.labels[0]
        );
        let _ = writeln!(
            svg,
            "<text x='16' y='{}' transform='rotate(-90 16 {})' text-anchor='middle'>{}</text>",
            h / 2.0,
            h / 2.0,
            self.labels[1]
        );
        // The legend stands in a line above the curves, where it hides none.
        let mut start = MARGIN;
        for (name, colour, width, points) in &self.curves {
            let mut path = String::new();
            for (i, p) in points.iter().enumerate() {
                let (x, y) = at(p);
                let _ = write!(path, "{}{x:.2} {y:.2} ", if i == 0 { 'M' } else { 'L' });
            }
            let _ = writeln!(
                svg,
                "<path d='{path}' fill='none' stroke='{colour}' stroke-width='{width}' stroke-linejoin='round'/>"
            );
            if !name.is_empty() {
                let _ = writeln!(
                    svg,
                    "<path d='M{start} 45 h18' stroke='{colour}' stroke-width='{width}'/><text x='{}' y='49' fill='{colour}'>{name}</text>",
                    start + 24.0
                );
                start += 44.0 + 7.2 * name.chars().count() as f64;
            }
        }
        svg += "</svg>\n";
        std::fs::write(path, svg)?;
        println!("picture in {path}");
        Ok(())
    }
}

/// Round numbers in a range, some five of them, as they are written.
fn ticks([low, high]: [f64; 2]) -> Vec<(f64, String)> {
    let rough = (high - low) / 5.0;
    let ten = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|x| x * ten).into_iter().find(|s| *s >= rough);
    let step = step.unwrap_or(10.0 * ten);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last)
        .map(|k| (k as f64 * step, format!("{:.digits$}", k as f64 * step)))
        .collect()
}
