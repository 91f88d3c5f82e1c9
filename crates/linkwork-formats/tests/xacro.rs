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

/// Expands what stands in a robot; gives the attribute `a` of its element `x`.
fn value(inner: &str) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("value{}.xacro", fingerprint(inner)));
    std::fs::write(&file, format!("<robot name=\"r\" xmlns:xacro=\"x\">{inner}</robot>")).expect("it can be written");
    let text = expand(&file, &options(&[("given", "5")])).unwrap_or_else(|e| panic!("{e}: {inner}"));
    let found = flat(&text).into_iter().find(|e| e[0] == "x").expect("an element");
    found[1]["a"].as_str().expect("an attribute").to_owned()
}

fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(14_695_981_039_346_656_037, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(1_099_511_628_211)
    })
}

#[test]
fn expressions_are_those_of_python() {
    for (expression, expected) in [
        ("1 + 2 * 3 ** 2", "19"),
        ("-2 ** 2", "-4"),
        ("7 / 2", "3.5"),
        ("-7 // 2", "-4"),
        ("2 ** -1", "0.5"),
        ("1e-5 * 2", "2e-05"),
        ("1 &lt; 2 &lt; 3 and not 2 == 3", "True"),
        ("'a' + 'b' * 2", "abb"),
        ("'x' if [] else 'y'", "y"),
        ("[1, 2.0, 'c', True, None]", "[1, 2.0, 'c', True, None]"),
        ("(1, 2)[::-1]", "(2, 1)"),
        ("'hello'[1:-1]", "ell"),
        ("{'a': 1, 'b': [2]}['b'][0]", "2"),
        ("[i * j for i, j in zip([1, 2], [3, 4]) if i]", "[3, 8]"),
        ("max(3, 1, 2) - min([4, 5])", "-1"),
        ("sum([0.1] * 3)", "0.30000000000000004"),
        ("'%s-%03d-%.2f' % ('a', 7, 1.005)", "a-007-1.00"),
        ("'{:>5}|{x:.1e}'.format('ab', x=12345.0)", "   ab|1.2e+04"),
        ("f'{1 + 1:02d}!'", "02!"),
        ("radians(180) == pi", "True"),
        ("atan2(1, 1)", "0.7853981633974483"),
        ("round(2.5)", "2"),
        ("int('12') + float('0.5')", "12.5"),
        ("'b' in dict(a=1, b=2)", "True"),
        ("sorted([3, 1, 2])", "[1, 2, 3]"),
        ("'a,b'.split(',')", "['a', 'b']"),
        ("xacro.arg('given')", "5"),
        ("math.sqrt(16)", "4.0"),
        ("python.abs(-3)", "3"),
        ("len('é')", "1"),
        ("1 or x", "1"),
        ("not None", "True"),
        ("10 % 3.5", "3.0"),
        ("0x10", "16"),
    ] {
        assert_eq!(
            value(&format!("<x a=\"${{{expression}}}\"/>")),
            expected,
            "{expression}"
        );
    }
}

#[test]
fn scopes_are_those_of_callers_and_files() {
    let property = |name: &str, value: &str| format!("<xacro:property name=\"{name}\" value=\"{value}\"/>");
    // A macro sees what its caller has, and leaves it as it was.
    let text = format!(
        "{}<xacro:macro name=\"inner\" params=\"\"><xacro:property name=\"p\" value=\"3\"/><y/></xacro:macro>\
         <xacro:macro name=\"outer\" params=\"p\"><xacro:inner/><x a=\"${{p}}\"/></xacro:macro><xacro:outer p=\"2\"/>",
        property("p", "1")
    );
    assert_eq!(value(&text), "2");
    // Lazily: a property is evaluated where it was defined, when it is needed.
    let text = format!(
        "{}{}{}<x a=\"${{b}}\"/>",
        property("a", "1"),
        property("b", "${a + 1}"),
        property("a", "5")
    );
    assert_eq!(value(&text), "6");
    // In conditions the scope is the one around them.
    let text = "<xacro:if value=\"true\"><xacro:property name=\"p\" value=\"4\"/></xacro:if><x a=\"${p}\"/>";
    assert_eq!(value(text), "4");
    // From within, to the outside.
    let text = "<xacro:macro name=\"m\"><xacro:property name=\"p\" value=\"${1 + 1}\" scope=\"global\"/></xacro:macro><xacro:m/><x a=\"${p}\"/>";
    assert_eq!(value(text), "2");
    let text = format!(
        "{}<xacro:property name=\"p\" remove=\"true\"/><xacro:property name=\"p\" default=\"9\"/><x a=\"${{p}}\"/>",
        property("p", "1")
    );
    assert_eq!(value(&text), "9");
    // The name of a robot may be an argument whose default comes after it.
    let text =
        "<robot name=\"$(arg n)\" xmlns:xacro=\"x\"><xacro:arg name=\"n\" default=\"late\"/><link name=\"a\"/></robot>";
    let robot = read("r.xacro", text.as_bytes(), Format::Urdf, &Options::default()).unwrap();
    assert_eq!(robot.mechanism.name(), "late");
}

#[test]
fn findings_of_expanded_files_have_places_in_the_files_written() {
    let robot = load(&place().join("robot.urdf.xacro"), &options(&[])).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((robot.mechanism.nv(), robot.mechanism.links().len()), (2, 4));
    let refused = |text: &str, line: usize, column: usize, words: &str| {
        let refusal = read("r.xacro", text.as_bytes(), Format::Urdf, &Options::default()).expect_err(text);
        let error = first_error(&refusal);
        assert_eq!((error.line, error.column), (line, column), "{error}");
        assert!(error.message.contains(words), "{error}");
    };
    let wrap = |inner: &str| format!("<robot name=\"r\" xmlns:xacro=\"x\">\n{inner}\n</robot>");
    refused(&wrap("<link name=\"a${1 +* 2}\"/>"), 2, 19, "`*` is not expected");
    refused(&wrap("<link name=\"${nothing}\"/>"), 2, 15, "`nothing` is not defined");
    // At the place of the property, not of its use.
    refused(
        &wrap("<xacro:property name=\"p\" value=\"${1 / 0}\"/>\n<link name=\"${p}\"/>"),
        2,
        35,
        "division by zero",
    );
    refused(&wrap("<xacro:if value=\"maybe\"/>"), 2, 18, "neither true nor false");
    refused(&wrap("<xacro:unknown/>"), 2, 1, "no macro `unknown`");
    refused(
        &wrap("<xacro:macro name=\"m\" params=\"p\"/>\n<xacro:m/>"),
        3,
        1,
        "parameters p are not given",
    );
    refused(
        &wrap("<xacro:macro name=\"m\"/>\n<xacro:m q=\"1\"/>"),
        3,
        10,
        "no parameter `q`",
    );
    refused(&wrap("<xacro:include filename=\"no.xacro\"/>"), 2, 26, "was not found");
    refused(
        &wrap("<link name=\"$(find nowhere)\"/>"),
        2,
        15,
        "the package `nowhere`",
    );
    // What is wrong with the robot is at the element that it came from.
    let text = wrap(
        "<xacro:macro name=\"m\" params=\"t\">\n  <link name=\"b\"/><joint name=\"j\" type=\"${t}\"><parent link=\"a\"/><child link=\"b\"/></joint>\n\
         </xacro:macro>\n<link name=\"a\"/><xacro:m t=\"revolut\"/>",
    );
    refused(&text, 3, 19, "unknown joint type `revolut`");
}

#[test]
fn sdf_and_mjcf_files_may_be_xacro_too() {
    let sdf = "<sdf version=\"1.9\" xmlns:xacro=\"x\"><xacro:property name=\"m\" value=\"2\"/><model name=\"m\"><link name=\"a\"><inertial>\
               <mass>${m * 1.5}</mass><inertia><ixx>1</ixx></inertia></inertial></link></model></sdf>";
    let robot = read("r.sdf.xacro", sdf.as_bytes(), Format::Sdf, &Options::default()).unwrap();
    assert_eq!(robot.mechanism.links()[0].inertia.mass, 3.0);
    let mjcf = "<mujoco xmlns:xacro=\"x\"><xacro:property name=\"r\" value=\"1\"/><worldbody><body><joint type=\"slide\"/>\
                <inertial pos=\"0 0 0\" mass=\"${r + 1}\" diaginertia=\"1 1 1\"/></body></worldbody></mujoco>";
    let robot = read("r.xml", mjcf.as_bytes(), Format::Mjcf, &Options::default()).unwrap();
    assert_eq!(robot.mechanism.links()[0].inertia.mass, 2.0);
    let strict = Options {
        mode: Mode::Strict,
        ..Options::default()
    };
    let small = include_bytes!("files/xacro/small.xacro");
    assert_eq!(
        read("small.xacro", small, Format::Urdf, &strict)
            .unwrap()
            .mechanism
            .nv(),
        2
    );
}
