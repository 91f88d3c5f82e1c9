//! The native format: everything a robot has, in JSON, without loss.
//!
//! Numbers are written so that reading gives the same bits; rotations are written as matrices, row by row. Limits that
//! are not there are `null`. The schema is `crates/linkwork-formats/robot.schema.json`, which [`SCHEMA`] holds.

mod record;
mod shapes;

use crate::draft::{Draft, Placed};
use crate::keyframe::{KeyDraft, Keyframe};
use crate::report::Findings;
use crate::robot::Robot;
use crate::source::{At, Source, Spot};
use linkwork::spatial::Vec3;
use record::{FloatRecord, FrameRecord, JointRecord, LinkRecord, LoopRecord, MotorRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use shapes::{GeometryRecord, TerrainRecord, ZoneRecord};
use std::rc::Rc;

/// The JSON schema of the native format.
pub const SCHEMA: &str = include_str!("../robot.schema.json");

const FORMAT: &str = "linkwork-robot";
const VERSION: u32 = 1;

/// A robot as JSON, a line for each link, joint and so on: tools that compare lines then see what changed.
pub(crate) fn write(robot: &Robot) -> Result<String, serde_json::Error> {
    let m = &robot.mechanism;
    let mut parts = vec![
        part("format", &FORMAT)?,
        part("version", &VERSION)?,
        part("name", &m.name())?,
        part("gravity", &m.gravity().to_array())?,
    ];
    let shapes = robot.geometry.iter().enumerate();
    let shapes = shapes.map(|(i, g)| GeometryRecord::of(g, robot.touches.get(&i)));
    let lists = [
        list("links", m.links().iter().map(LinkRecord::from))?,
        list("joints", m.joints().iter().map(JointRecord::from))?,
        list("frames", m.frames().iter().map(FrameRecord::from))?,
        list("couplings", robot.couplings.iter())?,
        list("loops", robot.loops.iter().map(LoopRecord::from))?,
        list("transmissions", robot.transmissions.iter())?,
        list("keyframes", robot.keyframes.iter())?,
        list("actuators", robot.actuators.iter())?,
        list("sensors", robot.sensors.iter())?,
        list("tendons", robot.tendons.iter())?,
        list("floating", robot.floating.iter().map(FloatRecord::from))?,
        list("geometry", shapes)?,
        list("terrains", robot.terrains.iter().map(TerrainRecord::from))?,
        list("untouching", robot.untouching.iter())?,
        list("zones", robot.zones.iter().map(ZoneRecord::from))?,
    ];
    parts.extend(lists.into_iter().flatten());
    match m.motors() {
        None => {}
        Some([]) => parts.push("\"motors\": []".to_owned()),
        Some(motors) => parts.extend(list("motors", motors.iter().map(MotorRecord::from))?),
    }
    Ok(format!("{{\n  {}\n}}\n", parts.join(",\n  ")))
}

fn part(key: &str, value: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(format!("\"{key}\": {}", serde_json::to_string(value)?))
}

/// A list with a line for each entry; none where it is empty.
fn list(key: &str, entries: impl Iterator<Item = impl Serialize>) -> Result<Option<String>, serde_json::Error> {
    let lines: Vec<_> = entries.map(|e| serde_json::to_string(&e)).collect::<Result<_, _>>()?;
    let whole = format!("\"{key}\": [\n    {}\n  ]", lines.join(",\n    "));
    Ok((!lines.is_empty()).then_some(whole))
}

/// A file as read: parts keep their text, so that what is wrong in them can be shown.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read<'a> {
    #[serde(rename = "$schema", default)]
    _schema: Option<String>,
    format: String,
    version: u32,
    name: String,
    #[serde(default)]
    gravity: Option<[f64; 3]>,
    #[serde(borrow, default)]
    links: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    joints: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    frames: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    couplings: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    loops: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    transmissions: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    keyframes: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    actuators: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    sensors: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    tendons: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    floating: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    motors: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    geometry: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    terrains: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    untouching: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    zones: Vec<&'a RawValue>,
}

/// Reads a robot; none where the text is not of this format.
pub(crate) fn read(source: Source, f: &mut Findings) -> Option<Draft> {
    let source = Rc::new(source);
    let start = f.source(source.clone());
    let text = source.text.as_str();
    let read: Read<'_> = match serde_json::from_str(text) {
        Ok(read) => read,
        Err(problem) => {
            blame(&problem, text, start, "robot", f);
            return None;
        }
    };
    let whole = At::new(start, "robot", "");
    if read.format != FORMAT || read.version != VERSION {
        let message = format!(
            "this is format `{}`, version {}",
            crate::source::shortened(&read.format),
            read.version
        );
        f.error(
            whole,
            "version",
            message,
            "give a file of format `linkwork-robot`, version 1",
        );
        return None;
    }
    let mut parts = Parts { text, start, f };
    let mut draft = Draft {
        name: read.name,
        gravity: read.gravity.map(Vec3::from),
        links: parts.all("link", &read.links, |r: LinkRecord| Ok(r.link())),
        joints: parts.all("joint", &read.joints, JointRecord::joint),
        frames: parts.all("frame", &read.frames, |r: FrameRecord| Ok(r.frame())),
        couplings: parts.all("coupling", &read.couplings, Ok),
        ..Draft::default()
    };
    let loops = parts.all("loop", &read.loops, LoopRecord::closed);
    draft.loops = loops.into_iter().map(|p| p.item).collect();
    let transmissions = parts.all("transmission", &read.transmissions, Ok);
    draft.transmissions = transmissions.into_iter().map(|p| p.item).collect();
    let keyframes = parts.all("keyframe", &read.keyframes, |k: Keyframe| Ok(KeyDraft::from(k)));
    draft.keyframes = keyframes.into_iter().map(|p| p.item).collect();
    draft.actuators = parts
        .all("actuator", &read.actuators, Ok)
        .into_iter()
        .map(|p| p.item)
        .collect();
    draft.sensors = parts
        .all("sensor", &read.sensors, Ok)
        .into_iter()
        .map(|p| p.item)
        .collect();
    draft.tendons = parts
        .all("tendon", &read.tendons, Ok)
        .into_iter()
        .map(|p| p.item)
        .collect();
    let floating = parts.all("floating", &read.floating, |r: FloatRecord| Ok((r.link, r.share)));
    draft.floating = floating.into_iter().map(|p| p.item).collect();
    draft.motors = read.motors.map(|motors| {
        let motors = parts.all("motor", &motors, |r: MotorRecord| Ok(r.motor()));
        motors.into_iter().map(|p| p.item).collect()
    });
    let geometry = parts.all("geometry", &read.geometry, |r: GeometryRecord| Ok(r.geometry()));
    for (i, (shape, touch)) in geometry.into_iter().map(|p| p.item).enumerate() {
        draft.geometry.push(shape);
        draft.touches.extend(touch.map(|touch| (i, touch)));
    }
    let terrains = parts.all("terrain", &read.terrains, TerrainRecord::terrain);
    draft.terrains = terrains.into_iter().map(|p| p.item).collect();
    let apart = parts.all("pair", &read.untouching, Ok);
    draft.untouching = apart.into_iter().map(|p| p.item).collect();
    let zones = parts.all("zone", &read.zones, |r: ZoneRecord| Ok(r.zone()));
    draft.zones = zones.into_iter().map(|p| p.item).collect();
    Some(draft)
}

struct Parts<'a> {
    text: &'a str,
    start: Spot,
    f: &'a mut Findings,
}

impl Parts<'_> {
    /// Reads a list; entries that are wrong are reported and left out.
    fn all<R: DeserializeOwned, T>(
        &mut self,
        what: &'static str,
        raw: &[&RawValue],
        turn: impl Fn(R) -> Result<T, String>,
    ) -> Vec<Placed<T>> {
        let mut found = Vec::with_capacity(raw.len());
        for raw in raw {
            let inner = raw.get();
            let offset = (inner.as_ptr() as usize - self.text.as_ptr() as usize) as u32;
            let spot = Spot { offset, ..self.start };
            match serde_json::from_str::<R>(inner) {
                Ok(record) => match turn(record) {
                    Ok(item) => found.push(Placed { item, spot }),
                    Err(problem) => self.f.error(At::new(spot, what, ""), "native", problem, ""),
                },
                Err(problem) => blame(&problem, inner, spot, what, self.f),
            }
        }
        found
    }
}

/// Reports an error of the JSON reader at its place.
fn blame(problem: &serde_json::Error, text: &str, start: Spot, what: &str, f: &mut Findings) {
    let mut offset = 0;
    for _ in 1..problem.line() {
        offset += text[offset..].find('\n').map_or(0, |i| i + 1);
    }
    let offset = start.offset + (offset + problem.column().saturating_sub(1)) as u32;
    let message = problem.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let at = At::new(Spot { offset, ..start }, what, "");
    f.error(
        at,
        "native",
        crate::source::shortened_to(message, 300),
        "see the schema of the native format",
    );
}
