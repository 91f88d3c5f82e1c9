//! What a file describes.

use crate::actuators::{Actuator, Sensor, Tendon};
use crate::draft::free_name;
use crate::keyframe::Keyframe;
use crate::report::Report;
use linkwork::Mechanism;
use linkwork::closed::{ClosedMechanism, Constraint, ConstraintKind, Side};
use linkwork::model::{Law, WORLD};
use linkwork::spatial::{Pose, Vec3};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// A robot as a file describes it.
///
/// ```
/// use linkwork_formats::{Format, Options, read};
/// let urdf = br#"<robot name="rod"><link name="base"/>
///   <link name="rod"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
///   <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"#;
/// let robot = read("rod.urdf", urdf, Format::Urdf, &Options::default())?;
/// assert_eq!(robot.mechanism.nv(), 1);
/// # Ok::<(), linkwork_formats::Refusal>(())
/// ```
#[derive(Clone, Debug)]
pub struct Robot {
    /// Links, joints and frames. Joints that follow others have no coordinates.
    pub mechanism: Mechanism,
    /// What its links look like and collide with.
    pub geometry: Vec<Geometry>,
    /// How shapes touch, by their places in `geometry`, where the file says so.
    pub touches: BTreeMap<usize, Touch>,
    /// Height fields, which only touch: nothing draws them.
    pub terrains: Vec<Terrain>,
    /// Pairs of links that are not to touch.
    pub untouching: Vec<(String, String)>,
    /// The mechanism's couplings, with their names.
    pub couplings: Vec<FileCoupling>,
    /// Loops that links are closed in. The mechanism does not apply them; [`Robot::closed`] does.
    pub loops: Vec<Loop>,
    /// Gears between motors and joints. Their rotors are in the armature of the mechanism's joints.
    pub transmissions: Vec<Transmission>,
    /// States that the file names. The configuration in which an MJCF file is written is the first, as `qpos0`, where it is
    /// not neutral.
    pub keyframes: Vec<Keyframe>,
    /// What the file drives it with, in the order of controls. The mechanism takes torques at joints; a
    /// [`Drivetrain`](crate::Drivetrain) computes them.
    pub actuators: Vec<Actuator>,
    /// What the file measures; [`Sensors`](crate::Sensors) compute it.
    pub sensors: Vec<Sensor>,
    /// The volumes of sites that sensors of touch look at, by the names of their frames.
    pub zones: BTreeMap<String, Shape>,
    /// Its tendons. Springs and the like of those along one joint are part of that joint; those of others are the
    /// [`Drivetrain`](crate::Drivetrain)'s.
    pub tendons: Vec<Tendon>,
    /// The part of its weight that is carried, by the name of a link: MuJoCo's `gravcomp`. The mechanism does not apply it; a
    /// [`Drivetrain`](crate::Drivetrain) does.
    pub floating: BTreeMap<String, f64>,
    /// What was found in the file.
    pub report: Report,
}

/// Ground over a grid, fixed to a link or to the world: heights at points, rows along x from the least y.
#[derive(Clone, Debug, PartialEq)]
pub struct Terrain {
    /// Its name; often empty.
    pub name: String,
    /// The link it is fixed to, or `"world"`.
    pub link: String,
    /// Where it is on the link.
    pub pose: Pose,
    /// Points along y.
    pub rows: usize,
    /// Points along x.
    pub columns: usize,
    /// Half its lengths along x and y, in metres.
    pub half: [f64; 2],
    /// How far it goes on below zero, in metres.
    pub base: f64,
    /// In metres, row by row.
    pub heights: Vec<f64>,
    /// How it touches.
    pub touch: Touch,
}

/// A shape on a link.
///
/// ```
/// use linkwork_formats::{Format, Options, Role, Shape, read};
/// let urdf = br#"<robot name="ball"><link name="ball">
///   <collision><origin xyz="0 0 0.1"/><geometry><sphere radius="0.2"/></geometry></collision></link></robot>"#;
/// let robot = read("ball.urdf", urdf, Format::Urdf, &Options::default())?;
/// let ball = &robot.geometry[0];
/// assert_eq!((ball.link.as_str(), ball.role), ("ball", Role::Collision));
/// assert_eq!(ball.shape, Shape::Sphere { radius: 0.2 });
/// # Ok::<(), linkwork_formats::Refusal>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// Its name; often empty.
    pub name: String,
    /// The link it is fixed to, or `"world"`.
    pub link: String,
    /// What it is for.
    pub role: Role,
    /// Where it is on the link.
    pub pose: Pose,
    /// Its form.
    pub shape: Shape,
    /// Red, green, blue and opacity, zero to one.
    pub colour: Option<[f64; 4]>,
}

/// What a file says of how a shape touches, in MuJoCo's terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Two shapes may touch if one's `kind` shares a bit with the other's `affinity`.
    pub kind: u32,
    /// See `kind`.
    pub affinity: u32,
    /// 1 without friction, 3 with sliding, 4 with torsion, 6 with rolling.
    pub dimensions: u32,
    /// Of sliding, and in metres of torsion and rolling.
    pub friction: [f64; 3],
    /// Of two shapes that of the higher one counts.
    pub priority: i32,
    /// In which a contact comes out, in seconds.
    pub time_constant: Option<f64>,
}

impl Default for Touch {
    fn default() -> Self {
        Self {
            kind: 1,
            affinity: 1,
            dimensions: 3,
            friction: [1.0, 0.005, 0.0001],
            priority: 0,
            time_constant: None,
        }
    }
}

/// What a shape is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// To be seen.
    Visual,
    /// To be touched.
    Collision,
}

/// The form of a shape, about the origin of its frame. Lengths are in metres.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A box with full edge lengths.
    Cuboid {
        /// Along x, y and z.
        edges: Vec3,
    },
    /// A cylinder along z.
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Its full length.
        length: f64,
    },
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A cylinder along z with half balls at its ends.
    Capsule {
        /// Its radius.
        radius: f64,
        /// The length of the cylinder.
        length: f64,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Half axes along x, y and z.
        radii: Vec3,
    },
    /// The x–y plane.
    Plane,
    /// A mesh in a file.
    Mesh {
        /// As the robot's file names it; empty where its triangles stand in that file.
        uri: String,
        /// Where it is, if it was found.
        path: Option<PathBuf>,
        /// Factors along x, y and z.
        scale: Vec3,
    },
}

/// A joint that follows another: q = c₀ + c₁ x + c₂ x² + …, x being the leader's coordinate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileCoupling {
    /// Its name; often empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The joint that follows.
    pub follower: String,
    /// The joint that leads; without one the follower keeps its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<String>,
    /// c₀, c₁, …
    pub coefficients: Vec<f64>,
}

/// Two frames on two links, and what keeps them from moving apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Its name; often empty.
    pub name: String,
    /// What it keeps the frames from doing.
    pub kind: ConstraintKind,
    /// Whether it pulls and pushes, or only one of both.
    pub side: Side,
    /// A link, or `"world"`, and the frame on it.
    pub first: (String, Pose),
    /// Another one.
    pub second: (String, Pose),
}

/// A gear between a motor and a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transmission {
    /// Its name.
    pub name: String,
    /// The joint it drives.
    pub joint: String,
    /// Turns of the motor per turn of the joint.
    pub ratio: f64,
    /// Of the rotor about its own axis, kg m²; the joint's armature is this times the ratio squared.
    #[serde(default)]
    pub rotor_inertia: f64,
}

impl FileCoupling {
    /// As the library's builder takes it; none where there is no leader.
    pub(crate) fn applied(&self) -> Option<linkwork::model::Coupling> {
        let coefficients = self.coefficients.clone();
        Some(linkwork::model::Coupling::polynomial(
            &self.follower,
            self.leader.as_ref()?,
            coefficients,
        ))
    }
}

impl Loop {
    /// Its kind in a word.
    pub fn word(&self) -> &'static str {
        match self.kind {
            ConstraintKind::Weld => "weld",
            ConstraintKind::Hinge { .. } => "hinge",
            ConstraintKind::Slider { .. } => "slider",
            ConstraintKind::Distance { .. } => "distance",
            ConstraintKind::Point => "point",
            ConstraintKind::Directions { .. } => "directions",
            ConstraintKind::Rates { .. } => "rates",
            ConstraintKind::Rolling { .. } => "rolling",
            // The library's list of kinds may grow.
            _ => "other",
        }
    }
}

impl Robot {
    /// The mechanism with its loops closed.
    ///
    /// Every loop adds two frames, named as the loop with `_a` and `_b`; loops without a name are `loop1`, `loop2` …
    pub fn closed(&self) -> linkwork::Result<ClosedMechanism> {
        let mut builder = self.mechanism.to_builder();
        let mut constraints = Vec::new();
        let frames = self.mechanism.frames().iter().map(|frame| &*frame.name);
        let names: HashSet<&str> = frames
            .chain(self.mechanism.links().iter().map(|link| &*link.name))
            .collect();
        for (i, l) in self.loops.iter().enumerate() {
            let name = if l.name.is_empty() {
                format!("loop{}", i + 1)
            } else {
                l.name.clone()
            };
            let ends = [("a", &l.first), ("b", &l.second)].map(|(end, (link, pose))| {
                let taken = |n: &str| n == WORLD || names.contains(n);
                (free_name(&format!("{name}_{end}"), taken), link, pose)
            });
            for (frame, link, pose) in &ends {
                builder = builder.frame(frame.clone(), (*link).clone(), **pose);
            }
            let [(a, ..), (b, ..)] = ends;
            let side = l.side;
            constraints.push(Constraint {
                side,
                ..Constraint::new(name, l.kind, a, b)
            });
        }
        ClosedMechanism::new(builder.build()?, constraints)
    }
}

impl From<Mechanism> for Robot {
    /// A mechanism without geometry, loops or findings.
    fn from(mechanism: Mechanism) -> Self {
        // Functions cannot be written down.
        let couplings = mechanism.couplings().iter().filter_map(|c| match &c.law {
            Law::Polynomial(coefficients) => Some(FileCoupling {
                name: String::new(),
                follower: c.follower.clone(),
                leader: Some(c.leader.clone()),
                coefficients: coefficients.clone(),
            }),
            Law::Function(_) => None,
        });
        Self {
            couplings: couplings.collect(),
            mechanism,
            geometry: Vec::new(),
            touches: BTreeMap::new(),
            untouching: Vec::new(),
            zones: BTreeMap::new(),
            terrains: Vec::new(),
            loops: Vec::new(),
            transmissions: Vec::new(),
            keyframes: Vec::new(),
            actuators: Vec::new(),
            sensors: Vec::new(),
            tendons: Vec::new(),
            floating: BTreeMap::new(),
            report: Report::default(),
        }
    }
}
