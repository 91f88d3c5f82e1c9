//! MCAP, which Foxglove and others open: states on the topic `/state`, poses of all links on `/tf`, both as JSON.

use crate::simulate::record::{Quantity, Record};
use anyhow::Result;
use linkwork::Mechanism;
use mcap::records::MessageHeader;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{Seek, Write};

pub(super) fn write(out: &mut (impl Write + Seek), record: &Record, mechanism: &Mechanism) -> Result<()> {
    let library = concat!("linkwork ", env!("CARGO_PKG_VERSION"));
    let options = mcap::WriteOptions::new().compression(None).library(library);
    let mut file = options.create(out)?;
    let mut channel = |name: &str, topic: &str, schema: &Value| -> Result<u16> {
        let schema = file.add_schema(name, "jsonschema", schema.to_string().as_bytes())?;
        Ok(file.add_channel(schema, topic, "json", &BTreeMap::new())?)
    };
    let states = channel("linkwork.State", "/state", &state_schema(record))?;
    let poses = channel("foxglove.FrameTransforms", "/tf", &transforms_schema())?;
    let mut workspace = mechanism.workspace();
    for row in 0..record.rows {
        let log_time = (1e9 * record.times()[row]).round() as u64;
        let header = |channel_id| MessageHeader {
            channel_id,
            sequence: row as u32,
            log_time,
            publish_time: log_time,
        };
        let state: Map<String, Value> = record
            .quantities
            .iter()
            .map(|q| (q.name.to_owned(), numbers(q, row)))
            .collect();
        file.write_to_known_channel(&header(states), &serde_json::to_vec(&state)?)?;
        let q = record.of("q");
        let mut posed = workspace.at(&q.numbers[row * q.labels.len()..(row + 1) * q.labels.len()])?;
        let transform = |(link, pose): (&linkwork::model::Link, &linkwork::spatial::Pose)| {
            let ([x, y, z], [a, b, c, d]) = (pose.translation.to_array(), pose.rotation.to_quaternion());
            json!({
                "timestamp": {"sec": log_time / 1_000_000_000, "nsec": log_time % 1_000_000_000},
                "parent_frame_id": "world",
                "child_frame_id": link.name,
                "translation": {"x": x, "y": y, "z": z},
                "rotation": {"x": a, "y": b, "z": c, "w": d},
            })
        };
        let transforms: Vec<Value> = mechanism.links().iter().zip(posed.poses()).map(transform).collect();
        file.write_to_known_channel(&header(poses), &serde_json::to_vec(&json!({"transforms": transforms}))?)?;
    }
    file.finish()?;
    Ok(())
}

/// A number, or an object with a number for each label. Viewers address them as `/state.q.elbow`, so that dots within
/// labels become underscores.
fn numbers(quantity: &Quantity, row: usize) -> Value {
    if quantity.is_number() {
        return quantity.numbers[row].into();
    }
    let width = quantity.labels.len();
    let numbers = &quantity.numbers[row * width..(row + 1) * width];
    let labelled = quantity.labels.iter().zip(numbers);
    labelled
        .map(|(label, x)| (label.replace('.', "_"), Value::from(*x)))
        .collect()
}

fn state_schema(record: &Record) -> Value {
    let property = |q: &Quantity| {
        let about = match q.is_number() {
            true => json!({"type": "number", "description": q.unit}),
            false => json!({"type": "object", "description": q.unit, "additionalProperties": {"type": "number"}}),
        };
        (q.name.to_owned(), about)
    };
    let properties: Map<String, Value> = record.quantities.iter().map(property).collect();
    json!({"type": "object", "title": "linkwork.State", "properties": properties})
}

/// Foxglove's own message for poses.
fn transforms_schema() -> Value {
    let object = |names: &[&str], kind: &str| {
        let properties: Map<String, Value> = names.iter().map(|n| ((*n).to_owned(), json!({"type": kind}))).collect();
        json!({"type": "object", "properties": properties})
    };
    json!({
        "type": "object",
        "title": "foxglove.FrameTransforms",
        "properties": {"transforms": {"type": "array", "items": {
            "type": "object",
            "title": "foxglove.FrameTransform",
            "properties": {
                "timestamp": object(&["sec", "nsec"], "integer"),
                "parent_frame_id": {"type": "string"},
                "child_frame_id": {"type": "string"},
                "translation": object(&["x", "y", "z"], "number"),
                "rotation": object(&["x", "y", "z", "w"], "number"),
            },
        }}},
    })
}
