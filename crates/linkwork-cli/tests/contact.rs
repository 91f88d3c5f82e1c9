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
