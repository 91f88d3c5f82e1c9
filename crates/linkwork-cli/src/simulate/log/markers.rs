//! Contacts and surroundings as messages of ROS: forces as arrows and shapes as markers, which Foxglove and RViz draw, and contact points
//! with their forces as a cloud, which Rerun draws too.

use super::mcap::Cdr;
use crate::simulate::contact_run::Bearing;
use linkwork::model::WORLD;
use linkwork::spatial::{Pose, Rotation, Vec3};
use linkwork_formats::{Geometry, Robot, Role, Shape, Terrain};

/// A thing to be drawn, on a link or in the world.
pub(crate) struct Marker {
    link: String,
    pose: Pose,
    kind: Kind,
    /// Full lengths along x, y and z.
    size: Vec3,
    colour: [f64; 4],
    mesh: String,
    /// Corners of triangles.
    corners: Vec<Vec3>,
}

/// What a marker is, by its number in ROS.
#[derive(Clone, Copy)]
enum Kind {
    Arrow = 0,
    Cube = 1,
    Sphere = 2,
    Cylinder = 3,
    Mesh = 10,
    Triangles = 11,
}

/// A plane is drawn so wide, and so thick, in metres.
const PLANE: [f64; 2] = [20.0, 1e-3];
const GREY: [f64; 4] = [0.7, 0.73, 0.77, 1.0];
const GREEN: [f64; 4] = [0.09, 0.64, 0.29, 1.0];

/// The shapes that a description in URDF does not draw: those of the world, those that URDF has no word for, all where there is no
/// such description, and a ground.
pub(crate) fn surroundings(robot: &Robot, described: bool, ground: Option<f64>) -> Vec<Marker> {
    let seen = |link: &str| robot.geometry.iter().any(|g| g.link == link && g.role == Role::Visual);
    let drawn = |g: &&Geometry| {
        let unknown = matches!(g.shape, Shape::Plane | Shape::Ellipsoid { .. } | Shape::Capsule { .. });
        let wanted = !described || unknown || g.link == WORLD;
        wanted && (g.role == Role::Visual || !seen(&g.link))
    };
    let mut out: Vec<Marker> = robot.geometry.iter().filter(drawn).flat_map(markers).collect();
    out.extend(robot.terrains.iter().map(terrain));
    if let Some(height) = ground {
        let pose = Pose::from_translation([0.0, 0.0, height]);
        out.push(plane(WORLD, &pose, GREY));
    }
    out
}

/// The surface of a height field.
fn terrain(terrain: &Terrain) -> Marker {
    let (rows, columns, [x, y]) = (terrain.rows, terrain.columns, terrain.half);
    let along = |i: usize, n: usize, half: f64| half * (2.0 * i as f64 / (n - 1).max(1) as f64 - 1.0);
    let at = |row: usize, column: usize| {
        let height = terrain.heights[row * columns + column];
        Vec3::new(along(column, columns, x), along(row, rows, y), height)
    };
    let cells = (1..rows).flat_map(|row| (1..columns).map(move |column| (row, column)));
    let corners = cells.flat_map(|(r, c)| {
        let (low, high) = (at(r - 1, c), at(r, c - 1));
        [at(r - 1, c - 1), low, high, high, low, at(r, c)]
    });
    Marker {
        corners: corners.collect(),
        kind: Kind::Triangles,
        size: Vec3::new(1.0, 1.0, 1.0),
        pose: terrain.pose,
        ..plane(&terrain.link, &terrain.pose, GREY)
    }
}

fn plane(link: &str, pose: &Pose, colour: [f64; 4]) -> Marker {
    let [wide, thick] = PLANE;
    Marker {
        link: link.to_owned(),
        pose: *pose * Pose::from_translation([0.0, 0.0, -0.5 * thick]),
        kind: Kind::Cube,
        size: Vec3::new(wide, wide, thick),
        colour,
        mesh: String::new(),
        corners: Vec::new(),
    }
}

/// A shape: a capsule is three markers.
fn markers(shape: &Geometry) -> Vec<Marker> {
    let colour = shape.colour.unwrap_or(GREY);
    let at = |z: f64, kind: Kind, size: Vec3| Marker {
        link: shape.link.clone(),
        pose: shape.pose * Pose::from_translation([0.0, 0.0, z]),
        kind,
        size,
        colour,
        mesh: String::new(),
        corners: Vec::new(),
    };
    match &shape.shape {
        Shape::Cuboid { edges } => vec![at(0.0, Kind::Cube, *edges)],
        Shape::Sphere { radius } => vec![at(0.0, Kind::Sphere, Vec3::new(1.0, 1.0, 1.0) * (2.0 * radius))],
        Shape::Ellipsoid { radii } => vec![at(0.0, Kind::Sphere, *radii * 2.0)],
        Shape::Cylinder { radius, length } => {
            vec![at(0.0, Kind::Cylinder, Vec3::new(2.0 * radius, 2.0 * radius, *length))]
        }
        Shape::Capsule { radius, length } => {
            let ball = Vec3::new(1.0, 1.0, 1.0) * (2.0 * radius);
            vec![
                at(0.0, Kind::Cylinder, Vec3::new(ball.x, ball.x, *length)),
                at(0.5 * length, Kind::Sphere, ball),
                at(-0.5 * length, Kind::Sphere, ball),
            ]
        }
        Shape::Plane => vec![plane(&shape.link, &shape.pose, colour)],
        Shape::Mesh { uri, path, scale } => {
            let whole = path.as_ref().and_then(|p| p.canonicalize().ok());
            let mesh = match whole {
                Some(whole) if !uri.contains("://") => format!("file://{}", whole.display()),
                _ => uri.clone(),
            };
            vec![Marker {
                mesh,
                ..at(0.0, Kind::Mesh, *scale)
            }]
        }
    }
}

fn header(message: &mut Cdr, time: u64, frame: &str) {
    message.word((time / 1_000_000_000) as u32);
    message.word((time % 1_000_000_000) as u32);
    message.text(frame);
}

/// A marker with two points, or none.
fn write(message: &mut Cdr, time: u64, space: &str, id: usize, marker: &Marker, ends: &[Vec3]) {
    header(message, time, &marker.link);
    message.text(space);
    message.word(id as u32);
    message.word(marker.kind as u32);
    // To be added, or to take the place of the one with its number.
    message.word(0);
    let place = marker.pose.translation.to_array();
    let numbers = place.into_iter().chain(marker.pose.rotation.to_quaternion());
    numbers.chain(marker.size.to_array()).for_each(|x| message.double(x));
    rest(message, marker.colour, ends, &marker.mesh);
}

/// All of a marker after its size.
fn rest(message: &mut Cdr, colour: [f64; 4], ends: &[Vec3], mesh: &str) {
    colour.into_iter().for_each(|x| message.single(x as f32));
    // Without an end, and fixed to its frame.
    message.word(0);
    message.word(0);
    message.byte(1);
    message.word(ends.len() as u32);
    ends.iter().flat_map(|p| p.to_array()).for_each(|x| message.double(x));
    message.word(0);
    // No texture: its name, its picture and its coordinates.
    message.text("");
    header(message, 0, "");
    message.text("");
    message.word(0);
    message.word(0);
    message.text("");
    message.text(mesh);
    message.text("");
    message.word(0);
    message.byte(1);
}

/// All surroundings.
pub(super) fn write_surroundings(message: &mut Cdr, markers: &[Marker]) {
    message.word(markers.len() as u32);
    for (id, marker) in markers.iter().enumerate() {
        write(message, 0, "scene", id, marker, &marker.corners);
    }
}

/// Forces as arrows, so many metres to a newton; older ones go.
pub(super) fn write_forces(message: &mut Cdr, time: u64, contacts: &[Bearing], scale: f64) {
    message.word(contacts.len() as u32 + 1);
    header(message, time, WORLD);
    message.text("contacts");
    message.word(0);
    message.word(0);
    // Delete all.
    message.word(3);
    for x in [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0] {
        message.double(x);
    }
    rest(message, [0.0; 4], &[], "");
    for (id, contact) in contacts.iter().enumerate() {
        let marker = Marker {
            link: WORLD.to_owned(),
            pose: Pose::new(Rotation::IDENTITY, Vec3::ZERO),
            kind: Kind::Arrow,
            // The shaft's and the head's diameter, and the head's length.
            size: Vec3::new(0.01, 0.025, 0.03),
            colour: GREEN,
            mesh: String::new(),
            corners: Vec::new(),
        };
        let ends = [contact.point, contact.point + contact.force * scale];
        write(message, time, "contacts", id + 1, &marker, &ends);
    }
}

/// The numbers of a point of the cloud.
pub(crate) const FIELDS: [&str; 7] = ["x", "y", "z", "fx", "fy", "fz", "gap"];

/// Points with their forces.
pub(super) fn write_points(message: &mut Cdr, time: u64, contacts: &[Bearing]) {
    const FLOAT32: u8 = 7;
    header(message, time, WORLD);
    message.word(1);
    message.word(contacts.len() as u32);
    message.word(FIELDS.len() as u32);
    for (i, name) in FIELDS.iter().enumerate() {
        message.text(name);
        message.word(4 * i as u32);
        message.byte(FLOAT32);
        message.word(1);
    }
    message.byte(0);
    let step = 4 * FIELDS.len();
    message.word(step as u32);
    message.word((step * contacts.len()) as u32);
    message.word((step * contacts.len()) as u32);
    for contact in contacts {
        let numbers = contact.point.to_array().into_iter().chain(contact.force.to_array());
        for x in numbers.chain([contact.gap]) {
            for byte in (x as f32).to_le_bytes() {
                message.byte(byte);
            }
        }
    }
    message.byte(1);
}

/// ROS's own message for clouds of points.
pub(super) const POINTS: &str = "\
std_msgs/Header header
uint32 height
uint32 width
sensor_msgs/PointField[] fields
bool is_bigendian
uint32 point_step
uint32 row_step
uint8[] data
bool is_dense
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
================================================================================
MSG: sensor_msgs/PointField
uint8 INT8=1
uint8 UINT8=2
uint8 INT16=3
uint8 UINT16=4
uint8 INT32=5
uint8 UINT32=6
uint8 FLOAT32=7
uint8 FLOAT64=8
string name
uint32 offset
uint8 datatype
uint32 count
";

/// ROS's own message for things to be drawn.
pub(super) const MARKERS: &str = "\
visualization_msgs/Marker[] markers
================================================================================
MSG: visualization_msgs/Marker
int32 ARROW=0
int32 CUBE=1
int32 SPHERE=2
int32 CYLINDER=3
int32 MESH_RESOURCE=10
int32 TRIANGLE_LIST=11
int32 ADD=0
int32 MODIFY=0
int32 DELETE=2
int32 DELETEALL=3
std_msgs/Header header
string ns
int32 id
int32 type
int32 action
geometry_msgs/Pose pose
geometry_msgs/Vector3 scale
std_msgs/ColorRGBA color
builtin_interfaces/Duration lifetime
bool frame_locked
geometry_msgs/Point[] points
std_msgs/ColorRGBA[] colors
string texture_resource
sensor_msgs/CompressedImage texture
visualization_msgs/UVCoordinate[] uv_coordinates
string text
string mesh_resource
visualization_msgs/MeshFile mesh_file
bool mesh_use_embedded_materials
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
================================================================================
MSG: builtin_interfaces/Duration
int32 sec
uint32 nanosec
================================================================================
MSG: geometry_msgs/Pose
geometry_msgs/Point position
geometry_msgs/Quaternion orientation
================================================================================
MSG: geometry_msgs/Point
float64 x
float64 y
float64 z
================================================================================
MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
================================================================================
MSG: geometry_msgs/Quaternion
float64 x
float64 y
float64 z
float64 w
================================================================================
MSG: std_msgs/ColorRGBA
float32 r
float32 g
float32 b
float32 a
================================================================================
MSG: sensor_msgs/CompressedImage
std_msgs/Header header
string format
uint8[] data
================================================================================
MSG: visualization_msgs/UVCoordinate
float32 u
float32 v
================================================================================
MSG: visualization_msgs/MeshFile
string filename
uint8[] data
";
