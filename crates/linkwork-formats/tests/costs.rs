//! What loading and building cost, class by class: growth from 100 to 10,000 as `docs/architecture/costs.md` says.

mod support;

use linkwork_formats::{Format, Options, Robot, read};
use std::fmt::Write;
use std::time::Duration;
use support::{Counting, peak, spent};

#[global_allocator]
static COUNTING: Counting = Counting;

/// A robot's text of some size.
type Class = fn(usize) -> (Format, String);

/// A link, and the joint that holds it; what else stands inside of the two.
fn link(text: &mut String, i: usize, parent: usize, in_link: &str, in_joint: &str) {
    let _ = writeln!(
        text,
        "<link name=\"link{i}\"><inertial><origin xyz=\"0 0 0.05\"/><mass value=\"1\"/><inertia ixx=\"0.01\" iyy=\"0.01\" \
         izz=\"0.01\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>{in_link}</link>"
    );
    if i > 0 {
        let axis = ["1 0 0", "0 1 0", "0 0 1"][i % 3];
        let _ = writeln!(
            text,
            "<joint name=\"joint{i}\" type=\"continuous\"><parent link=\"link{parent}\"/><child link=\"link{i}\"/>\
             <origin xyz=\"0 0 0.1\" rpy=\"0 0.1 0\"/><axis xyz=\"{axis}\"/>{in_joint}</joint>"
        );
    }
}

fn urdf(links: usize, parent: impl Fn(usize) -> usize, leader: impl Fn(usize) -> Option<usize>) -> (Format, String) {
    let mut text = String::from("<robot name=\"class\">\n");
    for i in 0..=links {
        let mimic = leader(i).map(|leader| format!("<mimic joint=\"joint{leader}\" multiplier=\"0.5\"/>"));
        link(&mut text, i, parent(i), "", &mimic.unwrap_or_default());
    }
    (Format::Urdf, text + "</robot>")
}

fn inward(i: usize) -> usize {
    i.saturating_sub(1)
}

fn chain(n: usize) -> (Format, String) {
    urdf(n, inward, |_| None)
}

fn star(n: usize) -> (Format, String) {
    urdf(n, |_| 0, |_| None)
}

fn near_couplings(n: usize) -> (Format, String) {
    urdf(n, inward, |i| (i > 0 && i % 2 == 0).then(|| i - 1))
}

fn pairs_on_a_hub(n: usize) -> (Format, String) {
    urdf(n, |_| 0, |i| (i > 0 && i % 2 == 0).then(|| i - 1))
}

/// The second half follows the first.
fn far_couplings(n: usize) -> (Format, String) {
    urdf(n, inward, |i| (i > n / 2).then(|| i - n / 2))
}

/// Frames are links without mass on fixed joints.
fn frames(n: usize) -> (Format, String) {
    let mut text = String::from("<robot name=\"class\">\n");
    (0..4).for_each(|i| link(&mut text, i, inward(i), "", ""));
    for i in 0..n {
        let _ = writeln!(
            text,
            "<link name=\"frame{i}\"/><joint name=\"at{i}\" type=\"fixed\"><parent link=\"link{}\"/><child link=\"frame{i}\"/>\
             </joint>",
            i % 4
        );
    }
    (Format::Urdf, text + "</robot>")
}

fn shapes(n: usize) -> (Format, String) {
    let mut text = String::from("<robot name=\"class\">\n");
    let shape = |i: usize, tag: &str| {
        format!("<{tag}><origin xyz=\"{i} 0 0\"/><geometry><box size=\"0.1 0.2 0.3\"/></geometry></{tag}>")
    };
    for i in 0..4 {
        let all: String = (0..n / 8)
            .map(|i| shape(i, "visual") + &shape(i, "collision"))
            .collect();
        link(&mut text, i, inward(i), &all, "");
    }
    (Format::Urdf, text + "</robot>")
}

/// Arms of two links that all reach down to the world.
fn loops(n: usize) -> (Format, String) {
    let mut text = String::from("<mujoco><worldbody>\n");
    for i in 0..n {
        let _ = writeln!(
            text,
            "<body name=\"near{i}\" pos=\"{i} 0 0\"><joint axis=\"0 1 0\"/><geom size=\"0.1\"/>\
             <body name=\"far{i}\" pos=\"0 0 -0.5\"><joint axis=\"0 1 0\"/><geom size=\"0.1\"/></body></body>"
        );
    }
    text += "</worldbody><equality>\n";
    for i in 0..n {
        let _ = writeln!(text, "<connect body1=\"far{i}\" anchor=\"0 0 -0.5\"/>");
    }
    (Format::Mjcf, text + "</equality></mujoco>")
}

/// A chain whose every link is tied to the world.
fn loops_of_one_chain(n: usize) -> (Format, String) {
    let (mut links, mut joints, mut loops) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..n {
        let parent = if i == 0 {
            "world".to_owned()
        } else {
            format!("link{}", i - 1)
        };
        links.push(format!(
            "{{\"name\": \"link{i}\", \"mass\": 1, \"moments\": [0.01, 0, 0, 0.01, 0, 0.01]}}"
        ));
        joints.push(format!(
            "{{\"name\": \"joint{i}\", \"kind\": \"revolute\", \"parent\": \"{parent}\", \"child\": \"link{i}\", \
             \"axis\": [0, 1, 0]}}"
        ));
        loops.push(format!(
            "{{\"kind\": \"point\", \"first\": {{\"link\": \"link{i}\"}}, \"second\": {{\"link\": \"world\"}}}}"
        ));
    }
    let [links, joints, loops] = [links, joints, loops].map(|all| all.join(","));
    let text = format!(
        "{{\"format\": \"linkwork-robot\", \"version\": 1, \"name\": \"class\", \"links\": [{links}], \"joints\": [{joints}], \
         \"loops\": [{loops}]}}"
    );
    (Format::Native, text)
}

fn load((format, text): &(Format, String)) -> Robot {
    read("class", text.as_bytes(), *format, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// All that is made before a robot moves, and a step of forward dynamics.
fn build(robot: &Robot) {
    let m = &robot.mechanism;
    let (q, zeros) = (m.neutral(), vec![0.0; m.nv()]);
    let finite = |x: linkwork::Result<Vec<f64>>| x.unwrap().iter().all(|x| x.is_finite());
    if robot.loops.is_empty() {
        assert!(finite(m.forward_dynamics(&q, &zeros, &zeros)));
        return;
    }
    let closed = robot.closed().unwrap();
    let mut workspace = closed.workspace();
    let mut qdd = zeros.clone();
    let mut posed = workspace.at(&q).unwrap();
    posed
        .moving(&zeros)
        .unwrap()
        .forward_dynamics(&zeros, &mut qdd)
        .unwrap();
    assert!(qdd.iter().all(|x| x.is_finite()));
}

/// The least time of a few runs, and the most memory.
fn cost<T>(runs: usize, mut run: impl FnMut() -> T) -> (Duration, usize) {
    let mut least = Duration::MAX;
    let mut most = 0;
    for _ in 0..runs {
        let start = spent();
        let (_kept, memory) = peak(&mut run);
        least = least.min(spent() - start);
        most = most.max(memory);
    }
    (least, most)
}

/// Asserts that ten times the size takes at most so many times the time, and the memory. Times are of a busy machine, with
/// what is below a few milliseconds left out; memory is counted.
fn grows(what: &str, sizes: &[usize], times: f64, memories: f64, mut run: impl FnMut(usize) -> (Duration, usize)) {
    let mut before: Option<(Duration, usize)> = None;
    for &n in sizes {
        let (time, memory) = run(n);
        println!("{what} {n}: {time:?}, {} kB", memory >> 10);
        if let Some((least, small)) = before {
            let most = (least + Duration::from_millis(5)).mul_f64(times);
            assert!(time < most, "{what} {n}: {time:?} after {least:?}");
            let most = (memories * (small + (64 << 10)) as f64).max(DENSE as f64);
            assert!((memory as f64) < most, "{what} {n}: {memory} bytes after {small}");
        }
        before = Some((time, memory));
    }
}

/// Mechanisms of up to some thousand degrees of freedom have room for dense matrices.
const DENSE: usize = 64 << 20;

const SIZES: [usize; 3] = [100, 1_000, 10_000];
/// What is linear takes ten times as much for ten times the size; memory that doubles when it is full up to twice that.
const LINEAR: [f64; 2] = [25.0, 20.0];
const QUADRATIC: [f64; 2] = [200.0, 120.0];

#[test]
fn loading_takes_as_much_as_the_file_is_long() {
    let _alone = support::alone();
    let classes: [(&str, Class); 7] = [
        ("chain", chain),
        ("star", star),
        ("near couplings", near_couplings),
        ("pairs on a hub", pairs_on_a_hub),
        ("frames", frames),
        ("shapes", shapes),
        ("loops", loops),
    ];
    for (what, class) in classes {
        let [times, memories] = LINEAR;
        grows(&format!("loading {what}"), &SIZES, times, memories, |n| {
            let text = class(n);
            cost(2, || load(&text))
        });
    }
}

#[test]
fn building_takes_as_much_as_there_are_links() {
    let _alone = support::alone();
    let classes: [(&str, Class); 7] = [
        ("chain", chain),
        ("star", star),
        ("near couplings", near_couplings),
        ("pairs on a hub", pairs_on_a_hub),
        ("frames", frames),
        ("shapes", shapes),
        ("loops", loops),
    ];
    for (what, class) in classes {
        let [times, memories] = LINEAR;
        grows(&format!("building {what}"), &SIZES, times, memories, |n| {
            let robot = load(&class(n));
            cost(2, || build(&robot))
        });
    }
}

#[test]
fn couplings_that_reach_far_take_as_much_as_they_reach_over() {
    let _alone = support::alone();
    let [times, memories] = QUADRATIC;
    grows("loading far couplings", &SIZES, times, memories, |n| {
        let text = far_couplings(n);
        cost(1, || load(&text))
    });
    // A step's time is cubic where every two columns meet; memory is quadratic.
    grows("building far couplings", &[60, 200, 600, 2_000], 40.0, 12.0, |n| {
        let robot = load(&far_couplings(n));
        cost(1, || build(&robot))
    });
}

#[test]
fn a_chain_whose_second_half_follows_the_first_is_soon_checked() {
    let _alone = support::alone();
    let text = far_couplings(2_000);
    let (time, memory) = cost(1, || load(&text));
    assert!(time < Duration::from_secs(2), "{time:?}");
    assert!(memory < 64 << 20, "{} MB", memory >> 20);
}

#[test]
fn loops_that_share_links_are_bounded_and_told_of() {
    let _alone = support::alone();
    let warns = |robot: &Robot| robot.report.findings.iter().any(|f| f.code == "many-loops");
    let few = load(&loops_of_one_chain(90));
    assert!(!warns(&few));
    let many = load(&loops_of_one_chain(300));
    assert!(warns(&many));
    assert_eq!(many.closed().unwrap().rows_together(), 900);
    let text = loops_of_one_chain(3_000);
    let mut robot = None;
    let (time, memory) = cost(1, || robot = Some(load(&text)));
    let robot = robot.unwrap();
    assert!(warns(&robot));
    assert!(time < Duration::from_secs(4), "{time:?}");
    assert!(memory < 128 << 20, "{} MB", memory >> 20);
    let refused = robot.closed().unwrap_err().to_string();
    assert!(refused.contains("9000 equations"), "{refused}");
    // As many that share nothing are no trouble.
    let apart = load(&loops(3_000));
    assert!(!warns(&apart));
    assert_eq!(apart.closed().unwrap().rows_together(), 3);
}
