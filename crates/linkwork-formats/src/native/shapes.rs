//! The shapes of a native file, and how they touch.

use super::record::{Numbers, PoseRecord};
use crate::robot::{Geometry, Role, Shape, Terrain, Touch};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GeometryRecord {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    link: String,
    role: Role,
    #[serde(default)]
    pose: PoseRecord,
    shape: ShapeRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    colour: Option<[f64; 4]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    touch: Option<TouchRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum ShapeRecord {
    Box {
        edges: Numbers,
    },
    Cylinder {
        radius: f64,
        length: f64,
    },
    Sphere {
        radius: f64,
    },
    Capsule {
        radius: f64,
        length: f64,
    },
    Ellipsoid {
        radii: Numbers,
    },
    Plane {},
    Mesh {
        uri: String,
        /// Where it was found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<PathBuf>,
        scale: Numbers,
    },
}

impl From<&Shape> for ShapeRecord {
    fn from(shape: &Shape) -> Self {
        match shape {
            Shape::Cuboid { edges } => Self::Box {
                edges: edges.to_array(),
            },
            &Shape::Cylinder { radius, length } => Self::Cylinder { radius, length },
            &Shape::Sphere { radius } => Self::Sphere { radius },
            &Shape::Capsule { radius, length } => Self::Capsule { radius, length },
            Shape::Ellipsoid { radii } => Self::Ellipsoid {
                radii: radii.to_array(),
            },
            Shape::Plane => Self::Plane {},
            Shape::Mesh { uri, path, scale } => Self::Mesh {
                uri: uri.clone(),
                // Other names cannot be written as text.
                path: path.clone().filter(|path| path.to_str().is_some()),
                scale: scale.to_array(),
            },
        }
    }
}

impl ShapeRecord {
    fn shape(self) -> Shape {
        match self {
            Self::Box { edges } => Shape::Cuboid { edges: edges.into() },
            Self::Cylinder { radius, length } => Shape::Cylinder { radius, length },
            Self::Sphere { radius } => Shape::Sphere { radius },
            Self::Capsule { radius, length } => Shape::Capsule { radius, length },
            Self::Ellipsoid { radii } => Shape::Ellipsoid { radii: radii.into() },
            Self::Plane {} => Shape::Plane,
            Self::Mesh { uri, path, scale } => Shape::Mesh {
                uri,
                path,
                scale: scale.into(),
            },
        }
    }
}

impl GeometryRecord {
    pub(super) fn of(g: &Geometry, touch: Option<&Touch>) -> Self {
        Self {
            name: g.name.clone(),
            link: g.link.clone(),
            role: g.role,
            pose: g.pose.into(),
            shape: (&g.shape).into(),
            colour: g.colour,
            touch: touch.map(TouchRecord::from),
        }
    }

    pub(super) fn geometry(self) -> (Geometry, Option<Touch>) {
        let geometry = Geometry {
            name: self.name,
            link: self.link,
            role: self.role,
            pose: self.pose.pose(),
            shape: self.shape.shape(),
            colour: self.colour,
        };
        (geometry, self.touch.map(TouchRecord::touch))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TouchRecord {
    kind: u32,
    affinity: u32,
    dimensions: u32,
    friction: Numbers,
    priority: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_constant: Option<f64>,
}

impl Default for TouchRecord {
    fn default() -> Self {
        Self::from(&Touch::default())
    }
}

impl From<&Touch> for TouchRecord {
    fn from(t: &Touch) -> Self {
        Self {
            kind: t.kind,
            affinity: t.affinity,
            dimensions: t.dimensions,
            friction: t.friction,
            priority: t.priority,
            time_constant: t.time_constant,
        }
    }
}

impl TouchRecord {
    fn touch(self) -> Touch {
        Touch {
            kind: self.kind,
            affinity: self.affinity,
            dimensions: self.dimensions,
            friction: self.friction,
            priority: self.priority,
            time_constant: self.time_constant,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TerrainRecord {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    link: String,
    #[serde(default)]
    pose: PoseRecord,
    rows: usize,
    columns: usize,
    half: [f64; 2],
    base: f64,
    heights: Vec<f64>,
    #[serde(default)]
    touch: TouchRecord,
}

impl From<&Terrain> for TerrainRecord {
    fn from(t: &Terrain) -> Self {
        Self {
            name: t.name.clone(),
            link: t.link.clone(),
            pose: t.pose.into(),
            rows: t.rows,
            columns: t.columns,
            half: t.half,
            base: t.base,
            heights: t.heights.clone(),
            touch: (&t.touch).into(),
        }
    }
}

impl TerrainRecord {
    pub(super) fn terrain(self) -> Result<Terrain, String> {
        let (rows, columns, given) = (self.rows, self.columns, self.heights.len());
        if rows < 2 || columns < 2 || rows.checked_mul(columns) != Some(given) {
            return Err(format!(
                "a terrain of {rows} rows and {columns} columns has {given} heights; it needs two of each and a height for each point"
            ));
        }
        if self.half.iter().any(|x| *x <= 0.0) || self.base < 0.0 {
            return Err("a terrain needs lengths above zero, and a base of zero or more".to_owned());
        }
        Ok(Terrain {
            name: self.name,
            link: self.link,
            pose: self.pose.pose(),
            rows,
            columns,
            half: self.half,
            base: self.base,
            heights: self.heights,
            touch: self.touch.touch(),
        })
    }
}

/// The volume of a frame that sensors of touch look at.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ZoneRecord {
    frame: String,
    shape: ShapeRecord,
}

impl From<(&String, &Shape)> for ZoneRecord {
    fn from((frame, shape): (&String, &Shape)) -> Self {
        Self {
            frame: frame.clone(),
            shape: shape.into(),
        }
    }
}

impl ZoneRecord {
    pub(super) fn zone(self) -> (String, Shape) {
        (self.frame, self.shape.shape())
    }
}
