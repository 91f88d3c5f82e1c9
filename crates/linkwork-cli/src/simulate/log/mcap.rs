//! MCAP, which Foxglove, Rerun and the tools of ROS 2 open: states on the topic `/state`, poses of all links on `/tf`, joints
//! with one coordinate on `/joint_states`, and the robot as URDF on `/robot_description`, kept for who listens late. An
//! attachment holds the robot in the native format, without loss.
//!
//! Messages are in CDR, as those of ROS 2: a head of four bytes, then numbers in little-endian order, each at a multiple
//! of its own size.

use super::joint_states::{JOINT_STATES, JointStates};
use super::{Described, NATIVE, Stream};
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
        let mut channel = |name: &str, topic: &str, schema: &str, about: &[(&str, &str)]| -> Result<u16> {
            let schema = file.add_schema(name, "ros2msg", schema.as_bytes())?;
            let about = about
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect::<BTreeMap<_, _>>();
            Ok(file.add_channel(schema, topic, "cdr", &about)?)
        };
        let states = channel("linkwork/msg/State", "/state", &state_schema(form), &[])?;
        let poses = channel("tf2_msgs/msg/TFMessage", "/tf", TRANSFORMS, &[])?;
        let joints = channel("sensor_msgs/msg/JointState", "/joint_states", JOINT_STATES, &[])?;
        if let Some(urdf) = &robot.urdf {
            let kept = [("offered_qos_profiles", LATCHED)];
            let channel_id = channel("std_msgs/msg/String", "/robot_description", "string data\n", &kept)?;
            let header = MessageHeader {
                channel_id,
                sequence: 0,
                log_time: 0,
                publish_time: 0,
            };
            let mut message = Cdr::default();
            message.begin();
            message.text(urdf);
            file.write_to_known_channel(&header, &message.bytes)?;
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

impl<W: Write + Seek + Send> Stream for Mcap<W> {
    fn add(&mut self, rows: &[f64]) -> Result<()> {
        for row in rows.chunks(self.width) {
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
