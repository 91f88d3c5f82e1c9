//! Height fields of MJCF, from numbers, tables and pictures, and of SDF, from pictures.

use linkwork_formats::{Format, Options, Robot, load, read};
use std::path::PathBuf;

fn directory(name: &str) -> PathBuf {
    let place = std::env::temp_dir().join(format!("linkwork-terrain-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    place
}

fn model(asset: &str) -> String {
    format!(
        r#"<mujoco><asset>{asset}</asset><worldbody><geom name="hill" type="hfield" hfield="h" pos="1 2 3" friction="0.7"/>
        <body name="b"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"#
    )
}

fn one(robot: &Robot, rows: usize, columns: usize, heights: &[f64]) {
    let [terrain] = &robot.terrains[..] else {
        panic!("{:?}", robot.report);
    };
    assert_eq!((terrain.rows, terrain.columns), (rows, columns));
    assert_eq!((&*terrain.name, &*terrain.link), ("hill", "world"));
    assert_eq!((terrain.half, terrain.base), ([2.0, 3.0], 0.1));
    assert_eq!(terrain.pose.translation.to_array(), [1.0, 2.0, 3.0]);
    assert_eq!(terrain.touch.friction[0], 0.7);
    for (found, expected) in terrain.heights.iter().zip(heights) {
        assert!((found - expected).abs() < 1e-7, "{:?}", terrain.heights);
    }
}

#[test]
fn numbers_tables_and_pictures_give_the_heights_that_mujoco_gives_them() {
    // As `hfield_data` of a compiled model: shares of the highest above the lowest, the row of the least y first.
    let expected = [0.8, 1.0, 0.4, 0.6, 0.0, 0.2].map(|x: f64| 0.5 * x);
    let text = model(r#"<hfield name="h" nrow="3" ncol="2" size="2 3 0.5 0.1" elevation="0 1 2 3 4 5"/>"#);
    let robot = read("hill.xml", text.as_bytes(), Format::Mjcf, &Options::default()).unwrap();
    one(&robot, 3, 2, &expected);

    let here = directory("files");
    let mut bytes: Vec<u8> = [3_i32, 2].iter().flat_map(|n| n.to_le_bytes()).collect();
    bytes.extend([4.0_f32, 5.0, 2.0, 3.0, 0.0, 1.0].iter().flat_map(|x| x.to_le_bytes()));
    std::fs::write(here.join("table.bin"), bytes).unwrap();
    let text = model(r#"<hfield name="h" file="table.bin" size="2 3 0.5 0.1"/>"#);
    std::fs::write(here.join("table.xml"), text).unwrap();
    one(
        &load(&here.join("table.xml"), &Options::default()).unwrap(),
        3,
        2,
        &expected,
    );

    let mut picture = Vec::new();
    let mut encoder = png::Encoder::new(&mut picture, 2, 3);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[0, 40, 80, 120, 160, 200]).unwrap();
    writer.finish().unwrap();
    std::fs::write(here.join("picture.png"), picture).unwrap();
    let text = model(r#"<hfield name="h" file="picture.png" size="2 3 0.5 0.1"/>"#);
    std::fs::write(here.join("picture.xml"), text).unwrap();
    one(
        &load(&here.join("picture.xml"), &Options::default()).unwrap(),
        3,
        2,
        &expected,
    );
    std::fs::remove_dir_all(here).unwrap();
}

#[test]
fn what_is_no_field_is_left_out_with_the_reason() {
    let here = directory("bad");
    std::fs::write(here.join("short.bin"), [1, 2, 3]).unwrap();
    std::fs::write(here.join("wrong.png"), b"no picture").unwrap();
    for (asset, words) in [
        (
            r#"<hfield name="other" nrow="3" ncol="2" size="2 3 0.5 0.1"/>"#,
            "no such asset",
        ),
        (
            r#"<hfield name="h" nrow="3" ncol="2" size="2 3 1 1" elevation="1 2"/>"#,
            "2 heights for 3 × 2",
        ),
        (r#"<hfield name="h" nrow="1" ncol="1" size="2 3 1 1"/>"#, "1 × 1 points"),
        (r#"<hfield name="h" file="absent.png" size="2 3 1 1"/>"#, "not found"),
        (r#"<hfield name="h" file="short.bin" size="2 3 1 1"/>"#, "too short"),
        (r#"<hfield name="h" file="wrong.png" size="2 3 1 1"/>"#, "picture"),
    ] {
        std::fs::write(here.join("bad.xml"), model(asset)).unwrap();
        let robot = load(&here.join("bad.xml"), &Options::default()).unwrap();
        assert!(robot.terrains.is_empty());
        let said: Vec<String> = robot.report.of("height-field").map(|f| f.message.clone()).collect();
        assert!(said.len() == 1 && said[0].contains(words), "{words}: {said:?}");
    }
    std::fs::remove_dir_all(here).unwrap();
}

/// A PNG picture of grey points.
fn grey(path: &std::path::Path, width: u32, height: u32, depth: png::BitDepth, bytes: &[u8]) {
    let mut picture = Vec::new();
    let mut encoder = png::Encoder::new(&mut picture, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(bytes).unwrap();
    writer.finish().unwrap();
    std::fs::write(path, picture).unwrap();
}

fn world(geometry: &str) -> String {
    format!(
        r#"<sdf version="1.11"><world name="w"><model name="hills"><static>true</static><link name="land">
        <visual name="seen"><geometry>{geometry}</geometry></visual>
        <collision name="hill"><pose>1 2 3 0 0 0</pose><geometry>{geometry}</geometry></collision></link></model>
        <model name="ball"><link name="b"><inertial><mass>1</mass></inertial>
        <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model></world></sdf>"#
    )
}

#[test]
fn heightmaps_of_sdf_are_pictures_whose_brightest_point_is_as_high_as_they_say() {
    let here = directory("sdf");
    grey(
        &here.join("hill.png"),
        2,
        3,
        png::BitDepth::Eight,
        &[0, 40, 80, 120, 160, 200],
    );
    let deep: Vec<u8> = [0_u16, 8_000, 16_000, 24_000, 32_000, 40_000]
        .iter()
        .flat_map(|x| x.to_be_bytes())
        .collect();
    grey(&here.join("deep.png"), 2, 3, png::BitDepth::Sixteen, &deep);
    // The top row of a picture has the largest y; the darkest point is not lifted, and none is stretched down to zero.
    let shares = [160.0, 200.0, 80.0, 120.0, 0.0, 40.0].map(|x: f64| x / 200.0);
    for (file, size, pit) in [
        ("hill.png", 0.5, false),
        ("deep.png", 0.5, false),
        ("hill.png", -0.5, true),
    ] {
        let geometry = format!("<heightmap><uri>{file}</uri><size>4 6 {size}</size><pos>0.1 0.2 0.3</pos></heightmap>");
        std::fs::write(here.join("world.sdf"), world(&geometry)).unwrap();
        let robot = load(&here.join("world.sdf"), &Options::default()).unwrap();
        let [terrain] = &robot.terrains[..] else {
            panic!("{:?}", robot.report);
        };
        assert_eq!((terrain.rows, terrain.columns, terrain.half), (3, 2, [2.0, 3.0]));
        assert_eq!(&*terrain.name, "hill");
        let place = robot
            .mechanism
            .workspace()
            .at(&robot.mechanism.neutral())
            .unwrap()
            .pose(robot.mechanism.frame(&terrain.link).unwrap());
        let at = (place.unwrap() * terrain.pose).translation.to_array();
        assert!(
            at.iter().zip([1.1, 2.2, 3.3]).all(|(x, y)| (x - y).abs() < 1e-12),
            "{at:?}"
        );
        for (found, share) in terrain.heights.iter().zip(shares) {
            let expected = if pit { 0.5 * (1.0 - share) } else { 0.5 * share };
            assert!((found - expected).abs() < 1e-12, "{file}: {:?}", terrain.heights);
        }
        assert_eq!(robot.geometry.len(), 1, "the ball alone");
    }
    std::fs::remove_dir_all(here).unwrap();
}

#[test]
fn heightmaps_that_cannot_be_read_are_left_out_with_the_reason() {
    let here = directory("bad-sdf");
    std::fs::write(here.join("wrong.png"), b"no picture").unwrap();
    grey(&here.join("line.png"), 1, 3, png::BitDepth::Eight, &[0, 1, 2]);
    for (given, words) in [
        ("<uri>absent.png</uri>", "not found"),
        ("<uri>wrong.png</uri>", "picture"),
        ("<uri>line.png</uri>", "3 × 1"),
        ("<uri>wrong.png</uri><size>0 1 1</size>", "positive"),
        ("<size>1 1 1</size>", "no uri"),
    ] {
        let geometry = format!("<heightmap>{given}</heightmap>");
        std::fs::write(here.join("bad.sdf"), world(&geometry)).unwrap();
        let robot = load(&here.join("bad.sdf"), &Options::default()).unwrap();
        assert!(robot.terrains.is_empty());
        let said: Vec<String> = robot.report.of("height-field").map(|f| f.message.clone()).collect();
        assert!(said.len() == 1 && said[0].contains(words), "{words}: {said:?}");
    }
    std::fs::remove_dir_all(here).unwrap();
}
