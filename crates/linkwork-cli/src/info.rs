//! `linkwork info`: a robot in a page.

mod figures;
mod layout;
mod tree;

use crate::robot::{Chosen, Loaded};
use crate::style::{self, grouped, pad};
use anyhow::Result;
use clap::Args;
use figures::Figures;
use layout::{Library, Listed};
use linkwork::model::Joint;
use linkwork_formats::{Actuator, FileCoupling, Finding, Keyframe, Robot, Sensor, Tendon, TendonPath};
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

/// Arguments of `linkwork info`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linkwork info robot.urdf
  linkwork info robot.urdf --floating --json
  linkwork info humanoid
  linkwork info robot.urdf --order pinocchio

Joints are listed in the order of coordinates.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// List the joints in the order of another library too.
    #[arg(long, value_enum, value_name = "LIBRARY")]
    order: Option<Library>,
}

/// Everything, for programs.
#[derive(Serialize)]
struct Page<'a> {
    name: &'a str,
    nq: usize,
    nv: usize,
    gravity: [f64; 3],
    /// Of all links, kg.
    mass: f64,
    /// Of the links that can move, kg.
    moving_mass: f64,
    reach: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mass_matrix_condition: Option<f64>,
    joints: Vec<JointLine<'a>>,
    links: Vec<LinkLine<'a>>,
    frames: Vec<FrameLine<'a>>,
    couplings: &'a [FileCoupling],
    loops: usize,
    shapes: usize,
    keyframes: &'a [Keyframe],
    actuators: &'a [Actuator],
    sensors: &'a [Sensor],
    tendons: &'a [Tendon],
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<Listed<'a>>,
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct JointLine<'a> {
    name: &'a str,
    kind: &'static str,
    parent: &'a str,
    child: &'a str,
    q_start: usize,
    nq: usize,
    v_start: usize,
    nv: usize,
    /// What its numbers in q and in v are.
    coordinates: &'static [&'static str],
    rates: &'static [&'static str],
    /// The joint that it follows, having no coordinates of its own, and c₀, c₁, … of q = c₀ + c₁y + …
    #[serde(skip_serializing_if = "Option::is_none")]
    follows: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficients: Option<&'a [f64]>,
    armature: &'a [f64],
    damping: &'a [f64],
    friction: &'a [f64],
    #[serde(serialize_with = "bounds")]
    position_limits: &'a [(f64, f64)],
}

#[derive(Serialize)]
struct LinkLine<'a> {
    name: &'a str,
    mass: f64,
    com: [f64; 3],
}

#[derive(Serialize)]
struct FrameLine<'a> {
    name: &'a str,
    link: &'a str,
}

/// Infinite limits as null.
fn bounds<S: serde::Serializer>(limits: &&[(f64, f64)], s: S) -> Result<S::Ok, S::Error> {
    let finite = |x: f64| x.is_finite().then_some(x);
    s.collect_seq(limits.iter().map(|(lower, upper)| [finite(*lower), finite(*upper)]))
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // The page itself holds the findings.
    let loaded = arguments.chosen.loading.load(&arguments.chosen.robot)?;
    let figures = Figures::of(&loaded.robot.mechanism);
    if arguments.json {
        let page = page(&loaded, &figures, arguments.order);
        writeln!(anstream::stdout(), "{}", serde_json::to_string_pretty(&page)?)?;
        return Ok(());
    }
    print(&loaded, &figures, arguments.order)
}

fn page<'a>(loaded: &'a Loaded, figures: &Figures, order: Option<Library>) -> Page<'a> {
    let Robot {
        mechanism: m,
        geometry,
        couplings,
        loops,
        keyframes,
        actuators,
        sensors,
        tendons,
        report,
        ..
    } = &loaded.robot;
    let joints = placed(&loaded.robot).map(
        |Placed {
             joint: j,
             q,
             v,
             follows,
         }| {
            JointLine {
                name: &j.name,
                kind: j.kind.name(),
                parent: &j.parent,
                child: &j.child,
                q_start: q.start,
                nq: q.len(),
                v_start: v.start,
                nv: v.len(),
                coordinates: &layout::coordinates(j.kind).0[..q.len()],
                rates: &layout::coordinates(j.kind).1[..v.len()],
                follows: follows.map(|(leader, _)| leader),
                coefficients: follows.map(|(_, c)| c),
                armature: &j.armature,
                damping: &j.damping,
                friction: &j.friction,
                position_limits: &j.position_limits,
            }
        },
    );
    Page {
        name: &loaded.name,
        nq: m.nq(),
        nv: m.nv(),
        gravity: m.gravity().to_array(),
        mass: figures.mass,
        moving_mass: figures.moving_mass,
        reach: figures.reach,
        mass_matrix_condition: figures.condition,
        joints: joints.collect(),
        links: m
            .links()
            .iter()
            .map(|l| LinkLine {
                name: &l.name,
                mass: l.inertia.mass,
                com: l.inertia.com.to_array(),
            })
            .collect(),
        frames: m
            .frames()
            .iter()
            .map(|f| FrameLine {
                name: &f.name,
                link: &f.link,
            })
            .collect(),
        couplings,
        loops: loops.len(),
        shapes: geometry.len(),
        keyframes,
        actuators,
        sensors,
        tendons,
        order: order.map(|library| Listed::new(library, &loaded.robot)),
        findings: &report.findings,
    }
}

fn print(loaded: &Loaded, figures: &Figures, order: Option<Library>) -> Result<()> {
    let (robot, m) = (&loaded.robot, &loaded.robot.mechanism);
    let mut out = anstream::stdout();
    let head = |text: &str| style::paint(style::HEAD, text);
    let count = |n: usize, what: &str| format!("{} {what}{}", grouped(n as u64), if n == 1 { "" } else { "s" });
    let degrees = if m.nv() == 1 { "degree" } else { "degrees" };
    writeln!(
        out,
        "{}, {} {degrees} of freedom",
        head(&loaded.name),
        grouped(m.nv() as u64)
    )?;
    let moving = m.joints().iter().filter(|j| j.kind.nv() > 0).count();
    let shapes = robot.geometry.len();
    writeln!(
        out,
        "{}, {} ({} moving), {}, {}",
        count(m.links().len(), "link"),
        count(m.joints().len(), "joint"),
        grouped(moving as u64),
        count(m.frames().len(), "named frame"),
        count(shapes, "shape")
    )?;
    writeln!(
        out,
        "mass {:.6} kg, of which {:.6} kg move",
        figures.mass, figures.moving_mass
    )?;
    writeln!(out, "reach {:.4} m, straightened out from the base", figures.reach)?;
    if let Some(condition) = figures.condition {
        writeln!(
            out,
            "condition of the mass matrix {condition:.2e}, all joints at their zero"
        )?;
    }
    writeln!(out, "\n{}", head("tree"))?;
    tree::draw(&mut out, m)?;
    writeln!(out, "\n{}", head("joints in the order of coordinates"))?;
    joints(&mut out, robot)?;
    layout::legend(&mut out, robot)?;
    if let Some(library) = order {
        layout::list(&mut out, library, robot)?;
    }
    drives(&mut out, robot)?;
    if !robot.loops.is_empty() {
        writeln!(out, "\n{}", head("closed loops, which `linkwork simulate` closes"))?;
        for l in &robot.loops {
            writeln!(out, "{} of {} and {}", l.word(), l.first.0, l.second.0)?;
        }
    }
    let summary = robot.report.summary();
    if !summary.is_empty() {
        writeln!(out, "\n{}: {summary}", head("found in the file"))?;
        let mut codes: Vec<&str> = Vec::new();
        for finding in &robot.report.findings {
            if !codes.contains(&finding.code) {
                codes.push(finding.code);
                let more = match robot.report.of(finding.code).count() {
                    1 => String::new(),
                    n => format!(" (and {} more of this kind)", n - 1),
                };
                writeln!(out, "{}: {finding}{more}", finding.severity.name())?;
            }
        }
    }
    Ok(())
}

/// Keyframes, actuators, sensors and tendons, a few words for each.
fn drives(out: &mut impl Write, robot: &Robot) -> Result<()> {
    let head = |text: &str| style::paint(style::HEAD, text);
    if !robot.keyframes.is_empty() {
        let names: Vec<_> = robot.keyframes.iter().map(|k| k.name.as_str()).collect();
        writeln!(out, "\n{}: {}", head("keyframes, for --start-key"), names.join(", "))?;
    }
    if !robot.actuators.is_empty() {
        writeln!(out, "\n{}", head("actuators in the order of controls"))?;
        for a in &robot.actuators {
            let name = if a.name.is_empty() { "(no name)" } else { &a.name };
            let range = a
                .control_range
                .map_or(String::new(), |[l, u]| format!("  control {l} to {u}"));
            let force = a
                .force_range
                .map_or(String::new(), |[l, u]| format!("  force {l} to {u}"));
            let gear: Vec<_> = a.gear.iter().map(f64::to_string).collect();
            let (target, gear) = (&a.target, gear.join(" "));
            writeln!(
                out,
                "{name}  {} on {} {}  gear {gear}{range}{force}",
                a.kind, target.kind, target.name
            )?;
        }
    }
    let kinds = |what: &str, kinds: Vec<&str>| -> Option<String> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for kind in kinds {
            match counts.iter_mut().find(|(k, _)| *k == kind) {
                Some((_, n)) => *n += 1,
                None => counts.push((kind, 1)),
            }
        }
        let list: Vec<_> = counts.iter().map(|(k, n)| format!("{n} {k}")).collect();
        (!list.is_empty()).then(|| format!("\n{}: {}", head(what), list.join(", ")))
    };
    let sensors = kinds("sensors", robot.sensors.iter().map(|s| s.kind.as_str()).collect());
    let tendons = robot.tendons.iter().map(|t| match t.path {
        TendonPath::Fixed { .. } => "fixed",
        TendonPath::Spatial { .. } => "spatial",
    });
    for line in [sensors, kinds("tendons", tendons.collect())].into_iter().flatten() {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// A joint and its coordinates.
struct Placed<'a> {
    joint: &'a Joint,
    q: Range<usize>,
    v: Range<usize>,
    /// Whom it follows, and how.
    follows: Option<(&'a str, &'a [f64])>,
}

/// All joints, in the order of coordinates.
fn placed(robot: &Robot) -> impl Iterator<Item = Placed<'_>> {
    let m = &robot.mechanism;
    let leads: HashMap<&str, &FileCoupling> = robot.couplings.iter().map(|c| (&*c.follower, c)).collect();
    m.layout().map(move |(joint, q, v)| {
        let lead = leads.get(joint.name.as_str());
        Placed {
            joint,
            q,
            v,
            follows: lead.and_then(|c| Some((c.leader.as_deref()?, &c.coefficients[..]))),
        }
    })
}

/// c₀ + c₁y + …, without what is zero.
fn polynomial(coefficients: &[f64], y: &str) -> String {
    let mut text = String::new();
    for (i, c) in coefficients.iter().enumerate().filter(|(_, c)| **c != 0.0) {
        let sign = match (c.is_sign_negative(), text.is_empty()) {
            (true, true) => "−",
            (true, false) => " − ",
            (false, true) => "",
            (false, false) => " + ",
        };
        let size = match (c.abs(), i) {
            (1.0, 1..) => String::new(),
            (size, 0) => size.to_string(),
            (size, _) => format!("{size} "),
        };
        let power = match i {
            0 => String::new(),
            1 => y.to_owned(),
            i => format!("{y}^{i}"),
        };
        text += &format!("{sign}{size}{power}");
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// A line per moving joint.
fn joints(out: &mut impl Write, robot: &Robot) -> Result<()> {
    const SHOWN: usize = 200;
    let moving = || placed(robot).filter(|p| p.joint.kind.nv() > 0);
    let width = moving()
        .map(|p| p.joint.name.chars().count())
        .max()
        .unwrap_or(0)
        .min(40);
    for Placed { joint, q, v, follows } in moving().take(SHOWN) {
        let range = |range: Range<usize>| match range.len() {
            0 => String::new(),
            1 => range.start.to_string(),
            _ => format!("{}..{}", range.start, range.end),
        };
        let limits = match joint.position_limits[..] {
            [(lower, upper), ..] => format!("{lower} to {upper}"),
            [] => String::new(),
        };
        let (name, kind) = (pad(&joint.name, width), pad(joint.kind.name(), 11));
        let line = match follows {
            None => format!(
                "{name}  {kind}  q {}  v {}  {limits}",
                pad(&range(q), 8),
                pad(&range(v), 8)
            ),
            Some((leader, c)) => format!("{name}  {kind}  = {}", polynomial(c, leader)),
        };
        writeln!(out, "{}", line.trim_end())?;
    }
    let more = moving().count().saturating_sub(SHOWN);
    if more > 0 {
        writeln!(out, "… and {} more; --json lists all", grouped(more as u64))?;
    }
    Ok(())
}
