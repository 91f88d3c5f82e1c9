//! Xacro: files expanded here and by the package of that name, and what is said about those that cannot be.

mod support;

use linkwork_formats::{Format, Mode, Options, expand, load, read};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use support::first_error;
use support::reference::Reference;

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/xacro")
}

fn options(arguments: &[(&str, &str)]) -> Options {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Options {
        named_packages: vec![("walker_parts".to_owned(), place().join("parts"))],
        arguments: arguments.iter().map(own).collect(),
        ..Options::default()
    }
}

/// Elements one after the other: name, attributes, text and how many elements are directly in each.
fn flat(text: &str) -> Vec<Value> {
    let mut reader = quick_xml::Reader::from_str(text);
    let mut found: Vec<(String, BTreeMap<String, String>, String, usize)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        use quick_xml::events::Event;
        let event = reader.read_event().expect("XML");
        match &event {
            Event::Start(tag) | Event::Empty(tag) => {
                let attributes = tag.attributes().map(|a| {
                    let a = a.expect("an attribute");
                    let value = quick_xml::escape::unescape(&a.value).expect("text").into_owned();
                    (a.key.as_ref().to_owned(), value)
                });
                let name = tag.name().as_ref().to_owned();
                if let Some(outer) = open.last() {
                    found[*outer].3 += 1;
                }
                found.push((name, attributes.collect(), String::new(), 0));
                if matches!(event, Event::Start(_)) {
                    open.push(found.len() - 1);
                }
            }
            Event::Text(piece) => {
                if let Some(node) = open.last().filter(|n| found[**n].3 == 0) {
                    found[*node].2 += piece.trim();
                }
            }
            Event::End(_) => drop(open.pop()),
            Event::Eof => break,
            _ => {}
        }
    }
    found.into_iter().map(|(n, a, t, c)| json!([n, a, t, c])).collect()
}

#[test]
fn files_expand_as_the_package_of_that_name_expands_them() {
    let Some(mut reference) = Reference::start() else {
        return;
    };
    let file = place().join("robot.urdf.xacro");
    for arguments in [
        &[][..],
        &[("legs", "3"), ("tool", "false")],
        &[("name", "other"), ("legs", "0")],
    ] {
        let ours = expand(&file, &options(arguments)).unwrap_or_else(|e| panic!("{e}"));
        let given: BTreeMap<_, _> = arguments.iter().copied().collect();
        let answer = reference.ask(&json!({
            "ask": "expanded", "file": file, "arguments": given, "packages": {"walker_parts": place().join("parts")},
        }));
        let theirs = answer["elements"].as_array().expect("elements");
        let ours = flat(&ours);
        for (ours, theirs) in ours.iter().zip(theirs) {
            assert_eq!(ours, theirs, "{arguments:?}");
        }
        assert_eq!(ours.len(), theirs.len(), "{arguments:?}");
    }
}
