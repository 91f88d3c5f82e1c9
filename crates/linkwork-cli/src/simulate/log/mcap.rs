//! MCAP, which Foxglove, Rerun and the tools of ROS 2 open: states on the topic `/state`, poses of all links on `/tf`, joints
//! with one coordinate on `/joint_states`, and the robot as URDF on `/robot_description`, kept for who listens late. An
//! attachment holds the robot in the native format, without loss. Where bodies can touch, `/contacts` has their forces as arrows and
//! `/contact_points` as numbers; what the robot stands on and among is on `/scene`.
//!
//! Messages are in CDR, as those of ROS 2: a head of four bytes, then numbers in little-endian order, each at a multiple
//! of its own size.

use super::joint_states::{JOINT_STATES, JointStates};
use super::markers::{MARKERS, POINTS, write_forces, write_points, write_surroundings};
use super::{Described, NATIVE, Stream};
use crate::simulate::contact_run::Bearing;
use crate::simulate::record::{Quantity, Record};
use anyhow::Result;
use linkwork::{Mechanism, Workspace};
use mcap::records::MessageHeader;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io::{BufWriter, Seek, Write};

pub(super) struct Mcap<W: Write + Seek> {
    file: mcap::Writer<BufWriter<W>>,
    states: u16,
    poses: u16,
    joints: u16,
    joint_states: JointStates,
    /// Forces and points, where anything can touch.
    contacts: Option<[u16; 2]>,
    /// Metres to a newton.
    scale: f64,
    workspace: Workspace,
    width: usize,
    /// Where q stands in a row.
    q: std::ops::Range<usize>,
    sequence: u32,
    message: Cdr,
    /// States in a chunk, and in the present one: what a reader can tell of a file that was cut short.
    chunk: u32,
    filled: u32,
}

impl<W: Write + Seek> Mcap<W> {
    /// Chunks hold a second of states, or a thousand.
    pub(super) fn new(out: W, form: &Record, mechanism: &Mechanism, robot: &Described, rate: f64) -> Result<Self> {
        let out = BufWriter::with_capacity(1 << 18, out);
        let library = concat!("linkwork ", env!("CARGO_PKG_VERSION"));
        let options = mcap::WriteOptions::new().compression(None).library(library);
        let mut file = options.profile("ros2").create(out)?;
        let states = channel(&mut file, "linkwork/msg/State", "/state", &state_schema(form), &[])?;
        let poses = channel(&mut file, "tf2_msgs/msg/TFMessage", "/tf", TRANSFORMS, &[])?;
        let joints = channel(
            &mut file,
            "sensor_msgs/msg/JointState",
            "/joint_states",
            JOINT_STATES,
            &[],
        )?;
        if let Some(urdf) = &robot.urdf {
            let kept = [("offered_qos_profiles", LATCHED)];
            let channel_id = channel(
                &mut file,
                "std_msgs/msg/String",
                "/robot_description",
                "string data\n",
                &kept,
            )?;
            let mut message = Cdr::default();
            message.begin();
            message.text(urdf);
            file.write_to_known_channel(&first(channel_id), &message.bytes)?;
        }
        let scale = ARROW / (9.81 * mechanism.links().iter().map(|l| l.inertia.mass).sum::<f64>()).max(1e-9);
        let contacts = match robot.touches {
            true => {
                let about = format!("{scale:e}");
                let about = [("metres_per_newton", &*about)];
                let forces = channel(
                    &mut file,
                    "visualization_msgs/msg/MarkerArray",
                    "/contacts",
                    MARKERS,
                    &about,
                )?;
                let points = channel(&mut file, "sensor_msgs/msg/PointCloud2", CONTACT_POINTS, POINTS, &[])?;
                Some([forces, points])
            }
            false => None,
        };
        if !robot.surroundings.is_empty() {
            let kept = [("offered_qos_profiles", LATCHED)];
            let scene = channel(
                &mut file,
                "visualization_msgs/msg/MarkerArray",
                "/scene",
                MARKERS,
                &kept,
            )?;
            let mut message = Cdr::default();
            message.begin();
            write_surroundings(&mut message, &robot.surroundings);
            file.write_to_known_channel(&first(scene), &message.bytes)?;
        }
        if let Some(native) = &robot.native {
            file.attach(&mcap::Attachment {
                log_time: 0,
                create_time: 0,
                name: NATIVE.to_owned(),
                media_type: "application/json".to_owned(),
                data: Cow::Borrowed(native.as_bytes()),
            })?;
            let home = robot.home.iter().map(|h| ("home".to_owned(), h.display().to_string()));
            file.write_metadata(&mcap::records::Metadata {
                name: NATIVE.to_owned(),
                metadata: home.collect(),
            })?;
        }
        let before = form.quantities.iter().take_while(|q| q.name != "q");
        let start = before.map(Quantity::width).sum();
        Ok(Self {
            file,
            states,
            poses,
            joints,
            joint_states: JointStates::new(mechanism, form),
            contacts,
            scale,
            workspace: mechanism.workspace(),
            width: form.width(),
            q: start..start + mechanism.nq(),
            sequence: 0,
            message: Cdr::default(),
            chunk: rate.clamp(1.0, 1000.0) as u32,
            filled: 0,
        })
    }
}

/// A channel of a message of ROS.
fn channel<W: Write + Seek>(
    file: &mut mcap::Writer<W>,
    name: &str,
    topic: &str,
    schema: &str,
    about: &[(&str, &str)],
) -> Result<u16> {
    let schema = file.add_schema(name, "ros2msg", schema.as_bytes())?;
    let about = about.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    Ok(file.add_channel(schema, topic, "cdr", &about.collect::<BTreeMap<_, _>>())?)
}

impl<W: Write + Seek + Send> Stream for Mcap<W> {
    fn add(&mut self, rows: &[f64], contacts: &[Vec<Bearing>]) -> Result<()> {
        for (i, row) in rows.chunks(self.width).enumerate() {
            let time = (1e9 * row[0]).round() as u64;
            let header = |channel_id| MessageHeader {
                channel_id,
                sequence: self.sequence,
                log_time: time,
                publish_time: time,
            };
            let message = &mut self.message;
            message.begin();
            row.iter().for_each(|x| message.double(*x));
            self.file.write_to_known_channel(&header(self.states), &message.bytes)?;
            message.begin();
            let mut posed = self.workspace.at(&row[self.q.clone()])?;
            let mechanism = posed.mechanism();
            message.word(mechanism.links().len() as u32);
            for (link, pose) in mechanism.links().iter().zip(posed.poses()) {
                message.word((time / 1_000_000_000) as u32);
                message.word((time % 1_000_000_000) as u32);
                message.text("world");
                message.text(&link.name);
                let turn = pose.rotation.to_quaternion();
                pose.translation
                    .to_array()
                    .into_iter()
                    .chain(turn)
                    .for_each(|x| message.double(x));
            }
            self.file.write_to_known_channel(&header(self.poses), &message.bytes)?;
            message.begin();
            self.joint_states.write(message, time, row)?;
            self.file.write_to_known_channel(&header(self.joints), &message.bytes)?;
            if let (Some([forces, points]), Some(bearing)) = (self.contacts, contacts.get(i)) {
                message.begin();
                write_forces(message, time, bearing, self.scale);
                self.file.write_to_known_channel(&header(forces), &message.bytes)?;
                message.begin();
                write_points(message, time, bearing);
                self.file.write_to_known_channel(&header(points), &message.bytes)?;
            }
            self.sequence = self.sequence.wrapping_add(1);
            self.filled += 1;
            if self.filled == self.chunk {
                self.file.flush()?;
                self.filled = 0;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        // Whole chunks are with the system already.
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.file.finish()?;
        Ok(())
    }
}

/// Of a message at the beginning.
fn first(channel_id: u16) -> MessageHeader {
    MessageHeader {
        channel_id,
        sequence: 0,
        log_time: 0,
        publish_time: 0,
    }
}

/// The topic of contact points.
pub(crate) const CONTACT_POINTS: &str = "/contact_points";
/// The length of an arrow that is as much as the robot weighs, in metres.
const ARROW: f64 = 0.5;

/// A message that is being written.
#[derive(Default)]
pub(super) struct Cdr {
    bytes: Vec<u8>,
}

/// Little-endian, plain.
const HEAD: [u8; 4] = [0, 1, 0, 0];

impl Cdr {
    fn begin(&mut self) {
        self.bytes.clear();
        self.bytes.extend(HEAD);
    }

    /// Places are counted after the head.
    fn align(&mut self, size: usize) {
        while !(self.bytes.len() - HEAD.len()).is_multiple_of(size) {
            self.bytes.push(0);
        }
    }

    pub(super) fn word(&mut self, x: u32) {
        self.align(4);
        self.bytes.extend(x.to_le_bytes());
    }

    pub(super) fn byte(&mut self, x: u8) {
        self.bytes.push(x);
    }

    pub(super) fn single(&mut self, x: f32) {
        self.align(4);
        self.bytes.extend(x.to_le_bytes());
    }

    pub(super) fn double(&mut self, x: f64) {
        self.align(8);
        self.bytes.extend(x.to_le_bytes());
    }

    /// Its length, its bytes, and a zero that counts.
    pub(super) fn text(&mut self, text: &str) {
        self.word(text.len() as u32 + 1);
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }
}

const RULE: &str = "\n================================================================================\nMSG: ";

/// A field for every number, in groups: viewers address them as `/state.q.elbow`.
fn state_schema(form: &Record) -> String {
    let (mut fields, mut groups) = (String::new(), String::new());
    for quantity in &form.quantities {
        if quantity.is_number() {
            fields += &format!("float64 {}  # {}\n", quantity.name, quantity.unit);
        } else if quantity.width() > 0 {
            let group = format!("linkwork/{}", capital(quantity.name));
            fields += &format!("{group} {}  # {}\n", quantity.name, quantity.unit);
            groups += &format!("{RULE}{group}\n");
            let mut taken = HashSet::new();
            for label in &quantity.labels {
                groups += &format!("float64 {}\n", identifier(label, &mut taken));
            }
        }
    }
    fields + &groups
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// A label as the name of a field: letters, digits and underscores, not taken yet.
pub(crate) fn identifier(label: &str, taken: &mut HashSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: String = label.chars().map(plain).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "joint_");
    }
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// One message that is kept for who subscribes later, as ROS 2's recorder writes it.
const LATCHED: &str = "\
- history: 1
  depth: 1
  reliability: 1
  durability: 1
  deadline:
    sec: 9223372036
    nsec: 854775807
  lifespan:
    sec: 9223372036
    nsec: 854775807
  liveliness: 1
  liveliness_lease_duration:
    sec: 9223372036
    nsec: 854775807
  avoid_ros_namespace_conventions: false
";

/// ROS's own message for poses.
const TRANSFORMS: &str = "\
geometry_msgs/TransformStamped[] transforms
================================================================================
MSG: geometry_msgs/TransformStamped
std_msgs/Header header
string child_frame_id
geometry_msgs/Transform transform
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
================================================================================
MSG: geometry_msgs/Transform
geometry_msgs/Vector3 translation
geometry_msgs/Quaternion rotation
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
";

#[cfg(test)]
mod tests {
    use super::super::sink::tests::Failing;
    use super::*;
    use ::mcap::read::{ChunkFlattener, Options};
    use ::mcap::records::Record as Part;
    use linkwork::model::examples;
    use linkwork_formats::Robot;

    /// The states that a reader finds in a file, whole or not, and whether it is whole.
    fn told(bytes: &[u8], channel: u16) -> (usize, bool) {
        let Ok(parts) = ChunkFlattener::new_with_options(bytes, Options::IgnoreEndMagic.into()) else {
            return (0, false);
        };
        let parts = parts.map_while(std::result::Result::ok);
        let states = parts.filter(|part| matches!(part, Part::Message { header, .. } if header.channel_id == channel));
        (states.count(), bytes.ends_with(::mcap::MAGIC))
    }

    #[test]
    fn states_are_there_however_many_writes_succeed() {
        let robot = Robot::from(examples::double_pendulum());
        let form = Record::new(&robot.mechanism, &[], &[]);
        let described = Described::of(&robot, "double_pendulum", false, None);
        let mut most = 0;
        for writes in (1..40).map(Some).chain([None]) {
            let sink = Failing::after(writes);
            // A state to a chunk.
            let Ok(file) = Mcap::new(sink.clone(), &form, &robot.mechanism, &described, 1.0) else {
                continue;
            };
            let (channel, mut file) = (file.states, Box::new(file));
            let mut added = 0;
            let rows = (0..20).map(|i| (0..form.width()).map(|k| (i + k) as f64).collect::<Vec<f64>>());
            let failed = rows.into_iter().any(|row| {
                let failed = file.add(&row, &[]).is_err();
                added += usize::from(!failed);
                failed
            });
            let failed = failed || file.finish().is_err();
            let (found, whole) = told(&sink.taken(), channel);
            assert_eq!(whole, !failed, "{writes:?}: a loss is an error");
            assert!(found == added || found == added + 1, "{writes:?}: {found} of {added}");
            most = most.max(found);
        }
        assert_eq!(most, 20);
    }
}
