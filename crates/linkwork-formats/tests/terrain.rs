//! Height fields of MJCF: from numbers, tables and pictures.

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
