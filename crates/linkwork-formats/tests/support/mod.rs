//! What the tests of this crate share.
#![allow(dead_code, unreachable_pub)]

pub mod reference;

use linkwork_formats::{Finding, Format, Mode, Options, Refusal, Robot, Severity, read};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

/// Counts the bytes in use, and the most there have been.
pub struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Keeps other tests of this kind waiting.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The most bytes in use while something ran, beyond those in use before.
pub fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = run();
    (result, MOST.load(Ordering::Relaxed).saturating_sub(before))
}

/// How long this thread has been running, other programs' turns left out; the time of day where that is not known.
pub fn spent() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let known = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let known = known.and_then(|text| text.split_whitespace().next()?.parse().ok());
    known.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Reads a text in a mode.
pub fn parse(format: Format, bytes: &[u8], mode: Mode) -> Result<Robot, Refusal> {
    let options = Options {
        mode,
        ..Options::default()
    };
    read("test", bytes, format, &options)
}

/// The first error of a refusal.
pub fn first_error(refusal: &Refusal) -> &Finding {
    let mut errors = refusal.report.findings.iter().filter(|f| f.severity == Severity::Error);
    errors.next().expect("a refusal has an error")
}

/// Whether every number of the dynamics of a robot is finite, at a few states; an error counts as an answer.
pub fn dynamics_are_finite(robot: &Robot) -> bool {
    let m = &robot.mechanism;
    (0..2).all(|seed| {
        let q = if seed == 0 { m.neutral() } else { m.random(seed) };
        let v = vec![0.5; m.nv()];
        let finite = |x: linkwork::Result<Vec<f64>>| x.is_ok_and(|x| x.iter().all(|x| x.is_finite()));
        let sound = |x: linkwork::Result<Vec<f64>>| x.is_err() || finite(x);
        finite(m.inverse_dynamics(&q, &v, &v)) && sound(m.forward_dynamics(&q, &v, &v))
    })
}

/// A robot of so many links in URDF: a chain, or a tree in which each link carries two.
pub fn large(links: usize, chain: bool) -> String {
    use std::fmt::Write;
    let mut text = String::from("<robot name=\"large\">\n");
    for i in 0..links {
        let _ = writeln!(
            text,
            "<link name=\"link{i}\"><inertial><origin xyz=\"0 0 0.05\"/><mass value=\"1\"/><inertia ixx=\"0.01\" iyy=\"0.01\" \
             izz=\"0.01\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>\
             <visual><geometry><box size=\"0.1 0.1 0.1\"/></geometry></visual></link>"
        );
        if i > 0 {
            let parent = if chain { i - 1 } else { (i - 1) / 2 };
            let axis = ["1 0 0", "0 1 0", "0 0 1"][i % 3];
            let _ = writeln!(
                text,
                "<joint name=\"joint{i}\" type=\"revolute\"><parent link=\"link{parent}\"/><child link=\"link{i}\"/>\
                 <origin xyz=\"0 0 0.1\" rpy=\"0 0.1 0\"/><axis xyz=\"{axis}\"/><limit lower=\"-1\" upper=\"1\" effort=\"10\" \
                 velocity=\"5\"/></joint>"
            );
        }
    }
    text + "</robot>\n"
}
