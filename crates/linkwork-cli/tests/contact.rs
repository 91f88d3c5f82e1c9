//! `linkwork simulate` with collision shapes: robots that stand, fall and slide.

mod program_support;

use program_support::{complaint, directory, linkwork, number, numbers, simulate, text};

const FALLING: &str = r#"<mujoco model="falling">
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body name="box">
      <freejoint/>
      <geom name="cube" type="box" size="0.1 0.1 0.1" mass="2"/>
    </body>
  </worldbody>
</mujoco>"#;

const SLIDER: &str = r#"<robot name="slider">
  <link name="rail"/>
  <link name="ball">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="drop" type="prismatic">
    <parent link="rail"/><child link="ball"/><axis xyz="0 0 1"/><limit lower="-5" upper="5" effort="100" velocity="10"/>
  </joint>
</robot>"#;

#[test]
fn a_box_of_a_file_with_a_floor_comes_to_rest_on_it() {
    let here = directory("contact_box");
    std::fs::write(here.join("box.xml"), FALLING).unwrap();
    let q = "0,0,0,1,0,0,0.5";
    let summary = simulate(
        &here,
        &["box.xml", "--q", q, "--seconds", "1", "--contact-log", "touch.csv"],
    );
    let end = numbers(&summary["end"]["q"]);
    assert!((end[6] - 0.1).abs() < 1e-4, "{end:?}");
    let contact = &summary["contact"];
    assert_eq!(number(&contact["most_contacts"]), 4.0);
    assert!(number(&contact["deepest"]) < 1e-3);
    let log = std::fs::read_to_string(here.join("touch.csv")).unwrap();
    let last: Vec<&str> = log.lines().last().unwrap().split(',').collect();
    assert!(log.starts_with("t,id,a,b,") && last.len() == 16, "{last:?}");
    // Four corners bear the weight.
    let t = last[0];
    let force: f64 = log
        .lines()
        .filter(|line| line.split(',').next() == Some(t))
        .map(|line| line.split(',').nth(14).unwrap().parse::<f64>().unwrap())
        .sum();
    assert!((force - 2.0 * 9.81).abs() < 1e-3, "{force}");

    let fallen = simulate(&here, &["box.xml", "--q", q, "--seconds", "1", "--no-contact"]);
    assert!(numbers(&fallen["end"]["q"])[6] < -4.0);
    assert!(fallen["contact"].is_null());
}

#[test]
fn a_ground_can_be_added() {
    let here = directory("contact_ground");
    std::fs::write(here.join("slider.urdf"), SLIDER).unwrap();
    let summary = simulate(
        &here,
        &["slider.urdf", "--q", "1", "--seconds", "2", "--ground", "-0.5"],
    );
    let end = numbers(&summary["end"]["q"]);
    assert!((end[0] + 0.4).abs() < 1e-4, "{end:?}");
    let plain = simulate(&here, &["slider.urdf", "--q", "1", "--seconds", "0.5"]);
    assert!(plain["contact"].is_null());
}

#[test]
fn what_cannot_touch_is_said() {
    let here = directory("contact_bad");
    std::fs::write(here.join("box.xml"), FALLING).unwrap();
    let file = here.join("box.xml").display().to_string();
    let (code, said) = complaint(&["simulate", &file, "--q", "0,0,0,1,0,0,-0.2"]);
    assert!(
        code == 2 && said.contains("cube") && said.contains("inside"),
        "{code}: {said}"
    );
    let (code, said) = complaint(&["simulate", "cart_pole", "--ground"]);
    assert!(code == 2 && said.contains("collision shapes"), "{code}: {said}");
    let output = linkwork(
        &here,
        &["simulate", "box.xml", "--seconds", "0.5", "--q", "0,0,0,1,0,0,0.2"],
    );
    assert!(text(&output.stdout).contains("contacts"), "{}", text(&output.stdout));
}

/// Crank, coupler and rocker; the rocker's end is held to the world, and its knee falls on a floor.
const FOUR_BAR: &str = r#"<mujoco model="fourbar">
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" pos="0 0 0.6"/>
    <site name="anchor" pos="1 0 0"/>
    <body name="crank">
      <joint name="a" axis="0 -1 0"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.02" contype="0" conaffinity="0"/>
      <body name="coupler" pos="0.4 0 0">
        <joint name="b" axis="0 -1 0"/>
        <geom type="capsule" fromto="0 0 0 1 0 0" size="0.02" contype="0" conaffinity="0"/>
        <body name="rocker" pos="1 0 0">
          <joint name="c" axis="0 -1 0"/>
          <geom name="knee" type="sphere" size="0.05"/>
          <geom type="capsule" fromto="0 0 0 0.8 0 0" size="0.02" contype="0" conaffinity="0"/>
          <site name="end" pos="0.8 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><connect name="loop" site1="end" site2="anchor"/></equality>
</mujoco>"#;

#[test]
fn loops_stay_closed_while_their_links_touch() {
    let here = directory("contact_loop");
    std::fs::write(here.join("bar.xml"), FOUR_BAR).unwrap();
    let summary = simulate(&here, &["bar.xml", "--q", "1.2,-0.76,-2.07", "--seconds", "3"]);
    assert!(number(&summary["closure"]) < 1e-3, "{}", summary["closure"]);
    assert_eq!(number(&summary["contact"]["most_contacts"]), 1.0);
    assert!(
        numbers(&summary["end"]["v"]).iter().all(|v| v.abs() < 1e-4),
        "{}",
        summary["end"]
    );
}

#[test]
fn a_start_inside_is_moved_out_on_demand() {
    let here = directory("contact_settle");
    std::fs::write(here.join("box.xml"), FALLING).unwrap();
    let inside = ["box.xml", "--q", "0,0,0,1,0,0,0.04", "--seconds", "0.5"];
    let file = here.join("box.xml").display().to_string();
    let (code, said) = complaint(&["simulate", &file, "--q", "0,0,0,1,0,0,0.04"]);
    assert!(
        code == 2 && said.contains("`cube` starts 0.060 m inside") && said.contains("--settle"),
        "{said}"
    );
    let output = linkwork(&here, &[&["simulate"], &inside[..], &["--settle", "--json"]].concat());
    let said = text(&output.stderr);
    assert!(
        output.status.success() && said.contains("was 0.060 m inside something"),
        "{said}"
    );
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let end = numbers(&summary["end"]["q"]);
    assert!((end[6] - 0.1).abs() < 1e-3, "{end:?}");
    assert!(number(&summary["contact"]["deepest"]) < 1e-3);
}

/// A post on the floor with a plate welded to it, and sensors on both sides of the weld.
const SENSED: &str = r#"<mujoco model="sensed">
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="post" pos="0 0 0.2">
      <freejoint/>
      <geom name="column" type="box" size="0.1 0.1 0.2" mass="2"/>
      <site name="sole" pos="0 0 -0.2" type="box" size="0.12 0.12 0.02"/>
      <site name="top" pos="0 0 0.19" size="0.01"/>
      <body name="plate" pos="0 0 0.25">
        <geom name="slab" type="box" size="0.05 0.05 0.05" mass="0.5"/>
        <site name="under"/>
      </body>
    </body>
  </worldbody>
  <sensor>
    <touch name="sole" site="sole"/><touch name="top" site="top"/>
    <accelerometer name="imu" site="under"/><force name="weld" site="under"/>
  </sensor>
</mujoco>"#;

#[test]
fn sensors_of_a_file_feel_contact() {
    let here = directory("contact_sensors");
    std::fs::write(here.join("post.xml"), SENSED).unwrap();
    let start = "0,0,0,1,0,0,0.2";
    let arguments = ["post.xml", "--q", start, "--seconds", "1", "--log", "sensed.csv"];
    simulate(&here, &arguments);
    let log = std::fs::read_to_string(here.join("sensed.csv")).unwrap();
    let mut lines = log.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let last: Vec<f64> = lines
        .next_back()
        .unwrap()
        .split(',')
        .map(|x| x.parse().unwrap())
        .collect();
    let of = |name: &str| {
        let at = names.iter().position(|n| n.contains(name));
        last[at.unwrap_or_else(|| panic!("{name} in {names:?}"))]
    };
    assert!((of("sole") - 2.5 * 9.81).abs() < 1e-3, "{}", of("sole"));
    assert_eq!(of("sensor.top"), 0.0);
    assert!((of("imu.z") - 9.81).abs() < 1e-4, "{}", of("imu.z"));
    assert!((of("weld.z") - 0.5 * 9.81).abs() < 1e-4, "{}", of("weld.z"));
}
