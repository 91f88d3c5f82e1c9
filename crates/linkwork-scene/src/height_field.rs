//! Height fields: ground over a grid.

use crate::hull::Hull;
use crate::shape::ColliderShape;
use linkwork::spatial::Vec3;
use std::sync::Arc;

/// Ground over a grid about the origin: heights at its points, triangles between them, and solid below down to a base.
///
/// ```
/// use linkwork_scene::HeightField;
/// // A ramp: two by two points, four by two metres.
/// let field = HeightField::new(2, 2, [2.0, 1.0], vec![0.0, 1.0, 0.0, 1.0], 0.5).unwrap();
/// assert_eq!(field.height(1.0, 0.0), Some(0.75));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField(Arc<Grid>);

#[derive(Debug, PartialEq)]
struct Grid {
    rows: usize,
    columns: usize,
    half: [f64; 2],
    heights: Vec<f64>,
    low: f64,
    high: f64,
    /// Two per cell, what is below a triangle: the one at its least x and y first.
    prisms: Vec<Prism>,
}

/// What is below a triangle.
#[derive(Debug, PartialEq)]
pub(crate) struct Prism {
    pub(crate) shape: ColliderShape,
    pub(crate) normal: Vec3,
    pub(crate) top: f64,
}

/// The fewest and the most points along a side.
const FEWEST: usize = 2;
const MOST: usize = 4096;

impl HeightField {
    /// Heights row by row, rows along x from the least y, over a rectangle of these half lengths along x and y; solid down to `base`
    /// below zero or the lowest point. The reason if it is none.
    pub fn new(
        rows: usize,
        columns: usize,
        half: [f64; 2],
        heights: Vec<f64>,
        base: f64,
    ) -> core::result::Result<Self, String> {
        let sides = FEWEST..=MOST;
        if !sides.contains(&rows) || !sides.contains(&columns) {
            return Err(format!(
                "a height field of {rows} × {columns} points; it has {FEWEST} to {MOST} along each side"
            ));
        }
        if heights.len() != rows * columns {
            return Err(format!(
                "a height field of {rows} × {columns} points has {} heights",
                heights.len()
            ));
        }
        let sound = |x: &f64| *x > 0.0 && x.is_finite();
        if !half.iter().all(sound) || !sound(&base) {
            return Err(format!(
                "a height field of half lengths {half:?} and base {base}; all must be above zero"
            ));
        }
        if let Some(x) = heights.iter().find(|x| !x.is_finite()) {
            return Err(format!("a height is {x}"));
        }
        let low = heights.iter().fold(0.0, |m: f64, x| m.min(*x)) - base;
        let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let place = |r: usize, c: usize| {
            let share = |i: usize, n: usize, half: f64| half * (2.0 * i as f64 / (n - 1) as f64 - 1.0);
            Vec3::new(
                share(c, columns, half[0]),
                share(r, rows, half[1]),
                heights[r * columns + c],
            )
        };
        let mut prisms = Vec::with_capacity(2 * (rows - 1) * (columns - 1));
        for r in 0..rows - 1 {
            for c in 0..columns - 1 {
                let [p, x, y, q] = [place(r, c), place(r, c + 1), place(r + 1, c), place(r + 1, c + 1)];
                prisms.push(Prism::under([p, x, y], low));
                prisms.push(Prism::under([x, q, y], low));
            }
        }
        Ok(Self(Arc::new(Grid {
            rows,
            columns,
            half,
            heights,
            low,
            high,
            prisms,
        })))
    }

    /// The height above a point of the rectangle; none beside it.
    pub fn height(&self, x: f64, y: f64) -> Option<f64> {
        let grid = &*self.0;
        let along = |x: f64, half: f64, n: usize| {
            let s = (x / half + 1.0) * 0.5 * (n - 1) as f64;
            (0.0..=(n - 1) as f64).contains(&s).then(|| {
                let cell = (s as usize).min(n - 2);
                (cell, s - cell as f64)
            })
        };
        let ((c, s), (r, t)) = (
            along(x, grid.half[0], grid.columns)?,
            along(y, grid.half[1], grid.rows)?,
        );
        let z = |r: usize, c: usize| grid.heights[r * grid.columns + c];
        let [p, a, b, q] = [z(r, c), z(r, c + 1), z(r + 1, c), z(r + 1, c + 1)];
        Some(match s + t <= 1.0 {
            true => p + s * (a - p) + t * (b - p),
            false => q + (1.0 - s) * (b - q) + (1.0 - t) * (a - q),
        })
    }

    /// The middle of a box that holds it, and half its edges.
    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        let Grid { half, low, high, .. } = &*self.0;
        (
            Vec3::new(0.0, 0.0, 0.5 * (low + high)),
            Vec3::new(half[0], half[1], 0.5 * (high - low)),
        )
    }

    /// The radius of a ball about the origin that holds it.
    pub(crate) fn reach(&self) -> f64 {
        let (middle, half) = self.bounds();
        Vec3::new(half.x, half.y, middle.z.abs() + half.z).norm()
    }

    /// What is below the triangles that a box may touch, with their numbers.
    pub(crate) fn below(&self, middle: Vec3, half: Vec3) -> impl Iterator<Item = (usize, &Prism)> {
        let grid = &*self.0;
        let cells = |x: f64, h: f64, side: f64, n: usize| {
            let at = |x: f64| ((x / side + 1.0) * 0.5 * (n - 1) as f64).floor();
            let (from, to) = (at(x - h).max(0.0), at(x + h).min((n - 2) as f64));
            from as usize..(to + 1.0).max(from) as usize
        };
        let bottom = middle.z - half.z;
        let columns = cells(middle.x, half.x, grid.half[0], grid.columns);
        let rows = match bottom <= grid.high {
            true => cells(middle.y, half.y, grid.half[1], grid.rows),
            false => 0..0,
        };
        rows.flat_map(move |r| {
            let columns = columns.clone();
            columns.flat_map(move |c| {
                let first = 2 * (r * (grid.columns - 1) + c);
                first..first + 2
            })
        })
        .map(|i| (i, &grid.prisms[i]))
        .filter(move |(_, prism)| prism.top >= bottom)
    }
}

impl Prism {
    fn under(top: [Vec3; 3], low: f64) -> Self {
        let n = (top[1] - top[0]).cross(top[2] - top[0]);
        let all = top.into_iter().chain(top.map(|p| Vec3::new(p.x, p.y, low)));
        Self {
            shape: ColliderShape::Hull(Hull::of_corners(all.collect())),
            normal: n * n.norm().recip(),
            top: top.iter().fold(f64::NEG_INFINITY, |m, p| m.max(p.z)),
        }
    }
}
