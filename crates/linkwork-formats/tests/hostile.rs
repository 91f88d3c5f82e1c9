//! Damaged and hostile files: each gets an error with its place, soon and in little memory, or loads as the mode allows.

mod support;

use linkwork_formats::{Format, LEAST_ARMATURE, Mode, Severity};
use std::time::Duration;
use support::{Counting, dynamics_are_finite, first_error, large, parse, peak, spent};

#[global_allocator]
static COUNTING: Counting = Counting;

const MEMORY: usize = 256 << 20;
const SOON: Duration = Duration::from_secs(1);

const GOOD: &str = r#"<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.2"/><mass value="1.5"/><inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="lower">
    <inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="3"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/><dynamics damping="0.1"/>
  </joint>
</robot>
"#;

/// Reads in every mode: soon, in little memory, without NaN; gives the code and line of the first error, if any, in each.
fn outcomes(text: &[u8]) -> [Option<(&'static str, usize)>; 3] {
    // One after the other, so that each is charged with its own memory only.
    let _alone = support::alone();
    [Mode::Strict, Mode::Warn, Mode::Repair].map(|mode| {
        let start = spent();
        let (result, memory) = peak(|| parse(Format::Urdf, text, mode));
        let took = spent() - start;
        assert!(took < SOON, "{took:?}");
        assert!(memory < MEMORY, "{} MB", memory >> 20);
        match result {
            Ok(robot) => {
                assert!(dynamics_are_finite(&robot));
                None
            }
            Err(refusal) => {
                let error = first_error(&refusal);
                assert!(error.message.len() < 1000 && error.element.len() < 200);
                Some((error.code, error.line))
            }
        }
    })
}

/// Refused in every mode with one code on one line.
#[track_caller]
fn refused(text: &[u8], code: &str, line: usize) {
    for outcome in outcomes(text) {
        assert_eq!(outcome, Some((code, line)));
    }
}

/// What each mode makes of a change to a good file: the code and line of the error in strict mode, and whether warn and
/// repair mode load it.
#[track_caller]
fn damaged(from: &str, to: &str, code: &str, line: usize, warn: bool, repair: bool) {
    assert!(GOOD.contains(from), "{from}");
    let outcome = outcomes(GOOD.replacen(from, to, 1).as_bytes());
    assert_eq!(outcome[0], Some((code, line)));
    assert_eq!(
        (outcome[1].is_none(), outcome[2].is_none()),
        (warn, repair),
        "{outcome:?}"
    );
}

#[test]
fn the_undamaged_file_is_good() {
    assert_eq!(outcomes(GOOD.as_bytes()), [None; 3]);
}

#[test]
fn truncated_files_are_refused() {
    for end in 0..GOOD.trim_end().len() {
        assert!(outcomes(&GOOD.as_bytes()[..end])[1].is_some(), "cut at {end}");
    }
    let end = GOOD.find("</link>").expect("a link ends");
    refused(&GOOD.as_bytes()[..end], "truncated", 4);
}

#[test]
fn encodings_other_than_utf_8_are_refused() {
    refused(b"<robot name=\"a\">\n<link name=\"caf\xe9\"/></robot>", "encoding", 2);
    let wide: Vec<u8> = GOOD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    refused(&[&[0xff, 0xfe], &wide[..]].concat(), "encoding", 0);
    refused(&[0; 100], "xml", 1);
    refused(b"", "empty", 1);
    let marked = [&[0xef, 0xbb, 0xbf], GOOD.as_bytes()].concat();
    assert_eq!(outcomes(&marked), [None; 3]);
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("<robot name=\"a\">{}", "<a>".repeat(200_000));
    refused(deep.as_bytes(), "too-deep", 1);
    let closed = format!(
        "<robot>{}{}</robot>",
        "<link>\n".repeat(200_000),
        "</link>".repeat(200_000)
    );
    refused(closed.as_bytes(), "too-deep", 10_000);
}

#[test]
fn entities_are_refused() {
    let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\n<robot name=\"&b;\"/>";
    refused(bomb.as_bytes(), "doctype", 2);
    let external = "<!DOCTYPE r [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><robot name=\"r\">&x;</robot>";
    refused(external.as_bytes(), "doctype", 1);
    refused(b"<robot name=\"r\">\n&x;</robot>", "entity", 2);
}

#[test]
fn huge_names_are_refused() {
    let huge = "x".repeat(15_000_000);
    damaged_everywhere(&GOOD.replace("\"base\"", &format!("\"{huge}\"")), "long-name");
    damaged_everywhere(&GOOD.replace("\"elbow\"", &format!("\"{huge}\"")), "long-name");
    damaged_everywhere(&GOOD.replace("\"arm\"", &format!("\"{huge}\"")), "long-name");
    damaged_everywhere(&GOOD.replace("revolute", &huge), "joint-type");
    damaged_everywhere(
        &GOOD.replace("damping=\"0.1\"", &format!("{huge}=\"1\" damping=\"{huge}\"")),
        "number",
    );
    damaged_everywhere(&format!("<{huge}/>"), "unknown-format");
    damaged_everywhere(&format!("<{huge}>"), "truncated");
    damaged_everywhere(&GOOD.replace("0 0 0.2", &"1 ".repeat(7_000_000)), "number-count");
    damaged_everywhere(&GOOD.replace("0 0 0.2", &"9".repeat(15_000_000)), "number");
    // Names that are almost alike, so that the search for the one that was meant would take long.
    let alike: String = (0..2000)
        .map(|i| format!("<link name=\"{}{i}\"/>", "n".repeat(900)))
        .collect();
    let joints: String = (0..2000)
        .map(|i| {
            format!(
                "<joint name=\"j{i}\" type=\"fixed\"><parent link=\"{}x{i}\"/><child link=\"base\"/></joint>",
                "n".repeat(900)
            )
        })
        .collect();
    damaged_everywhere(
        &GOOD.replace(
            "<link name=\"base\"/>",
            &format!("<link name=\"base\"/>{alike}{joints}"),
        ),
        "missing-link",
    );
    // Elsewhere they do no harm.
    assert_eq!(
        outcomes(GOOD.replace("<dynamics", &format!("<{huge}/><dynamics")).as_bytes())[1],
        None
    );
    assert_eq!(
        outcomes(GOOD.replace("</robot>", &format!("{huge}</robot>")).as_bytes())[1],
        None
    );
    assert_eq!(
        outcomes(GOOD.replace("</robot>", &format!("<!--{huge}--></robot>")).as_bytes())[1],
        None
    );
}

#[track_caller]
fn damaged_everywhere(text: &str, code: &str) {
    for outcome in outcomes(text.as_bytes()) {
        assert_eq!(outcome.map(|(code, _)| code), Some(code));
    }
}

#[test]
fn many_elements_and_attributes_are_no_trouble() {
    let elements = GOOD.replace("</robot>", &format!("{}</robot>", "<a/>".repeat(3_000_000)));
    assert_eq!(outcomes(elements.as_bytes())[1], None);
    let attributes: String = (0..500_000).map(|i| format!(" a{i}=\"\"")).collect();
    damaged_everywhere(
        &GOOD.replace("<link name=\"base\"", &format!("<link name=\"base\"{attributes}")),
        "xml",
    );
    let warnings = GOOD.replace(
        "</robot>",
        &format!(
            "{}</robot>",
            "<transmission><joint name=\"x\"/></transmission>".repeat(100_000)
        ),
    );
    assert_eq!(outcomes(warnings.as_bytes())[1], None);
}

#[test]
fn large_files_of_other_formats_are_no_trouble() {
    let _alone = support::alone();
    let classes: String = (0..3000)
        .map(|i| format!("<default class=\"c{i}\"><geom size=\"1\"/>"))
        .collect();
    let names: String = (0..200).map(|i| format!(" a{i}=\"\"")).collect();
    for (format, text, loads) in [
        (
            Format::Mjcf,
            format!("<mujoco><worldbody>{}", "<body>".repeat(200_000)),
            false,
        ),
        (
            Format::Mjcf,
            format!("<mujoco><default>{classes}{}</mujoco>", "</default>".repeat(3001)),
            false,
        ),
        (
            Format::Mjcf,
            format!(
                "<mujoco><worldbody>{}</worldbody></mujoco>",
                "<bdy x=\"\"/>".repeat(1_000_000)
            ),
            true,
        ),
        (
            Format::Mjcf,
            format!(
                "<mujoco><worldbody>{}</worldbody></mujoco>",
                format!("<geom{names} size=\"1\"/>").repeat(5_000)
            ),
            true,
        ),
        (Format::Native, "[".repeat(200_000), false),
        (
            Format::Native,
            format!(
                "{{\"format\":\"linkwork-robot\",\"version\":1,\"name\":\"{}\"}}",
                "x".repeat(15_000_000)
            ),
            false,
        ),
    ] {
        let start = spent();
        let (result, memory) = peak(|| parse(format, text.as_bytes(), Mode::Warn));
        let took = spent() - start;
        assert!(took < SOON, "{took:?}: {text:.80}");
        assert!(memory < MEMORY, "{} MB: {text:.80}", memory >> 20);
        assert_eq!(result.is_ok(), loads, "{text:.80}");
    }
}

#[test]
fn markup_that_is_no_xml_is_refused() {
    refused(
        GOOD.replace("</link>\n  <joint", "</lnk>\n  <joint").as_bytes(),
        "xml",
        9,
    );
    refused(GOOD.replace("type=\"revolute\"", "type=revolute").as_bytes(), "xml", 10);
    refused(
        GOOD.replace("type=\"revolute\"", "type=\"revolute\" type=\"fixed\"")
            .as_bytes(),
        "xml",
        10,
    );
    refused(b"<robot name=\"a\"/>\n<robot name=\"b\"/>", "xml", 2);
    refused(b"robot", "xml", 1);
    refused(b"<?xml version=\"1.0\"?>\n<html/>", "unknown-format", 2);
    refused(b"<sdf version=\"1.7\"/>", "sdf", 1);
    refused(b"<robot xmlns:xacro=\"x\" name=\"a\">\n<xacro:m/></robot>", "xacro", 2);
}

#[test]
fn what_is_no_tree_is_refused() {
    damaged(
        "<parent link=\"base\"/>",
        "<parent link=\"lower\"/>",
        "cycle",
        10,
        false,
        false,
    );
    damaged(
        "<parent link=\"upper\"/>",
        "<parent link=\"lower\"/>",
        "self-loop",
        13,
        false,
        false,
    );
    damaged(
        "<parent link=\"upper\"/><child link=\"lower\"/>",
        "<parent link=\"base\"/><child link=\"upper\"/>",
        "two-parents",
        13,
        false,
        false,
    );
    damaged(
        "<link name=\"base\"/>",
        "<link name=\"base\"/><link name=\"other\"/>",
        "two-roots",
        3,
        true,
        true,
    );
    damaged(
        "<child link=\"lower\"/>",
        "<child link=\"lowr\"/>",
        "missing-link",
        13,
        false,
        false,
    );
    damaged("<child link=\"lower\"/>", "", "missing-link", 13, false, false);
    damaged("<link name=\"base\"/>", "", "missing-link", 10, false, false);
}

#[test]
fn names_are_checked() {
    damaged("name=\"lower\"", "name=\"upper\"", "duplicate-name", 7, false, false);
    damaged("name=\"elbow\"", "name=\"shoulder\"", "duplicate-name", 13, false, true);
    damaged("<link name=\"base\"/>", "<link/>", "missing-name", 3, false, false);
    damaged("name=\"elbow\" ", "", "missing-name", 13, true, true);
    damaged("robot name=\"arm\"", "robot", "missing-name", 2, true, true);
}

#[test]
fn numbers_are_checked() {
    for bad in [
        "nan", "inf", "-inf", "1e999", "1e31", "0,2", "0x10", "one", "--1", "1e", "",
    ] {
        let code = if bad.is_empty() { "number-count" } else { "number" };
        damaged("value=\"1.5\"", &format!("value=\"{bad}\""), code, 5, false, false);
        damaged("ixx=\"0.02\"", &format!("ixx=\"{bad}\""), code, 5, false, false);
        damaged("damping=\"0.1\"", &format!("damping=\"{bad}\""), code, 14, false, false);
    }
    damaged("xyz=\"0 0 0.4\"", "xyz=\"0 0 ${length}\"", "number", 14, false, false);
    damaged("xyz=\"0 0 0.4\"", "xyz=\"0 0\"", "number-count", 14, false, false);
    damaged("xyz=\"0 0 0.4\"", "xyz=\"0 0 0.4 0\"", "number-count", 14, false, false);
    damaged("xyz=\"0 0 0.4\"", "xyz=\"0, 0, 0.4\"", "number", 14, false, false);
    damaged("lower=\"-1\"", "lower=\"nan\"", "number", 11, false, false);
    damaged(" value=\"1.5\"", "", "missing-attribute", 5, false, false);
}

#[test]
fn joints_are_checked() {
    damaged(
        "<axis xyz=\"0 1 0\"/>",
        "<axis xyz=\"0 0 0\"/>",
        "zero-axis",
        10,
        false,
        true,
    );
    damaged(
        "lower=\"-1\" upper=\"1\"",
        "lower=\"1\" upper=\"-1\"",
        "swapped-limits",
        10,
        true,
        true,
    );
    damaged(
        "damping=\"0.1\"",
        "damping=\"-0.1\"",
        "negative-parameter",
        13,
        true,
        true,
    );
    damaged("type=\"revolute\"", "type=\"revolut\"", "joint-type", 10, false, false);
    damaged(" type=\"revolute\"", "", "joint-type", 10, false, false);
    damaged(
        "<dynamics damping=\"0.1\"/>",
        "<mimic joint=\"elbow\"/>",
        "coupling-cycle",
        14,
        true,
        true,
    );
    damaged(
        "<dynamics damping=\"0.1\"/>",
        "<mimic joint=\"knee\"/>",
        "coupling",
        14,
        true,
        true,
    );
    damaged(
        "<dynamics damping=\"0.1\"/>",
        "<mimic joint=\"shoulder\" multiplier=\"nan\"/>",
        "number",
        14,
        false,
        false,
    );
}

#[test]
fn inertias_are_checked() {
    damaged("value=\"1.5\"", "value=\"-1.5\"", "negative-mass", 5, false, true);
    damaged("izz=\"0.01\"", "izz=\"0.1\"", "triangle-inequality", 5, true, true);
    damaged("ixy=\"0\"", "ixy=\"0.03\"", "negative-moment", 5, true, true);
    damaged("ixx=\"0.02\"", "ixx=\"-0.02\"", "negative-moment", 5, true, true);
    damaged("value=\"0.5\"", "value=\"0\"", "moments-without-mass", 8, true, true);
    let light = GOOD.replace("<mass value=\"0.5\"/>", "<mass value=\"0\"/>");
    let massless = light.replace(
        r#"<inertia ixx="0.01" iyy="0.01" izz="0.01""#,
        r#"<inertia ixx="0" iyy="0" izz="0""#,
    );
    let outcome = outcomes(massless.as_bytes());
    assert_eq!(outcome, [Some(("no-inertia", 13)), None, None]);
    // The joint of a leaf without mass gets the least armature, and the change is listed.
    let repaired = parse(Format::Urdf, massless.as_bytes(), Mode::Repair).unwrap();
    assert_eq!(repaired.mechanism.joints()[2].armature, [LEAST_ARMATURE]);
    let listed: Vec<_> = repaired.report.of("no-inertia").collect();
    assert!(
        listed.len() == 1 && listed[0].severity == Severity::Repair,
        "{listed:?}"
    );
    assert!(listed[0].message.contains("it got an armature of 1e-6"), "{listed:?}");
    // On a fixed joint it needs none: it becomes part of the body that carries it.
    let fixed = massless.replace("type=\"continuous\"", "type=\"fixed\"");
    let repaired = parse(Format::Urdf, fixed.as_bytes(), Mode::Repair).unwrap();
    assert_eq!(
        (repaired.mechanism.nv(), repaired.report.count(Severity::Repair)),
        (1, 0)
    );
}

#[test]
fn repaired_inertias_are_ones_that_bodies_have() {
    let text = GOOD.replace("izz=\"0.01\"", "izz=\"0.1\"");
    let kept = parse(Format::Urdf, text.as_bytes(), Mode::Warn).unwrap();
    assert_eq!(kept.mechanism.links()[1].inertia.moments[5], 0.1);
    let repaired = parse(Format::Urdf, text.as_bytes(), Mode::Repair).unwrap();
    let ([a, b, c], _) = repaired.mechanism.links()[1].inertia.principal();
    assert!(c <= (a + b) * (1.0 + 1e-12));
    let changes: Vec<_> = repaired
        .report
        .findings
        .iter()
        .filter(|f| f.severity == Severity::Repair)
        .collect();
    assert_eq!(changes.len(), 2, "{changes:?}");
}

#[test]
fn a_hundred_thousand_links_load_and_move() {
    for chain in [true, false] {
        let _alone = support::alone();
        let text = large(100_000, chain);
        let start = spent();
        let (robot, memory) = peak(|| parse(Format::Urdf, text.as_bytes(), Mode::Strict).expect("it loads"));
        let took = spent() - start;
        assert!(took < Duration::from_secs(10), "{took:?}");
        assert!(memory < 1 << 30, "{} MB", memory >> 20);
        let m = &robot.mechanism;
        assert_eq!(m.nv(), 99_999);
        let zero = vec![0.0; m.nv()];
        let qdd = m
            .forward_dynamics(&zero, &zero, &zero)
            .expect("every joint moves something");
        assert!(qdd.iter().all(|x| x.is_finite()));
    }
}
