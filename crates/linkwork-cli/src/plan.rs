//! `linkwork plan`: a trajectory through waypoints of the joints or of a frame, as a file.

mod bands;

use crate::numbers::{positive, seconds, significant};
use crate::plot::{CURVES, Curve, Figure, Panel, Picture};
use crate::robot::{Chosen, Driven};
use crate::trajectory_file::{self, Format, Rows};
use crate::user_error::UserError;
use crate::{atomic_file, plot, style};
use anyhow::Result;
use clap::{Args, ValueEnum};
use linkwork::Mechanism;
use linkwork::motion::{Blend, LimitUse, Limits, PoseTrajectory, Trajectory};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `linkwork plan`.
#[derive(Args)]
#[command(after_help = "\
A trajectory starts and ends at rest. Without --seconds and --times it takes as long as limits ask for: those of velocity and
effort in the robot's file, and --max-velocity and --max-acceleration.

A JSON file has the polynomials with all their digits: per segment a configuration `bases` and five rows of `coefficients`, of
q(t) = base ⊕ (c₁σ + … + c₅σ⁵) with σ from 0 to 1 between two `times`. A CSV file has rows of t, q, v, a and tau, the motors'
torques, as many per second as --rate says. `linkwork simulate ROBOT -c track:FILE` follows both, `linkwork view ROBOT --play
FILE.csv` shows the second.

Examples:
  linkwork plan arm7 --to 0.5,0.4,0,-1,0,0.8,0 --out reach.json
  linkwork plan arm7 --to 0.5,0.4,0,-1,0,0.8,0 --to 1,0,0,-0.5,0,0,0 --kind fastest --max-acceleration 10 --out fast.csv
  linkwork plan arm7 --from 0,0.5,0,-1.2,0,0.9,0 --frame flange --pose 0.65,0.15,0.6,0,2.6,0 --seconds 2 --plot line.svg
  linkwork plan arm7 --to 0.5,0.4,0,-1,0,0.8,0 --mass-error 0.05 --bands bands.svg
  linkwork simulate arm7 -c track:reach.json --seconds 2")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    driven: Driven,
    /// Where it starts, nq numbers; neutral, or the nearest within limits, if left out.
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    from: Option<String>,
    /// A configuration to go to, nq numbers; may be given several times, and it goes through all of them.
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true, conflicts_with_all = ["pose", "frame"])]
    to: Vec<String>,
    /// The frame that --pose is about.
    #[arg(long, value_name = "NAME", requires = "pose")]
    frame: Option<String>,
    /// A pose to bring the frame to, on a straight line: x,y,z and roll,pitch,yaw or a quaternion; may be given several times.
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true, requires = "frame")]
    pose: Vec<String>,
    /// How to get there.
    #[arg(long, value_enum, default_value_t = Kind::MinimumJerk, value_name = "KIND")]
    kind: Kind,
    /// How long it takes; every part takes as long as the others.
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// When it is at each waypoint but the first, in seconds.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', conflicts_with = "seconds")]
    times: Vec<f64>,
    /// How long blends take; a third of the shortest part if left out.
    #[arg(long, value_name = "S", value_parser = |s: &str| positive(s, 1e3))]
    blend: Option<f64>,
    /// The largest velocity of every joint, in rad/s or m/s, if the robot's own is not less.
    #[arg(long, value_name = "X", value_parser = |s: &str| positive(s, 1e6))]
    max_velocity: Option<f64>,
    /// The largest acceleration of every joint.
    #[arg(long, value_name = "X", value_parser = |s: &str| positive(s, 1e9))]
    max_acceleration: Option<f64>,
    /// Leave the motors' limits out.
    #[arg(long)]
    no_effort_limits: bool,
    /// Write it: .json or .csv; may be given several times.
    #[arg(long, short, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Rows per second of CSV files.
    #[arg(long, default_value_t = 100.0, value_name = "HZ", value_parser = |s: &str| positive(s, 1e6))]
    rate: f64,
    /// Draw position, velocity, acceleration and torque: .svg or .png; may be given several times.
    #[arg(long, value_name = "FILE")]
    plot: Vec<PathBuf>,
    /// How well masses and inertias of all links are known, as a part: tells how far the robot may be from its trajectory, to
    /// first order and by robots that are drawn. Joints are held by springs and dampers of 10 rad/s.
    #[arg(long, value_name = "PART", value_parser = |s: &str| positive(s, 1.0))]
    mass_error: Option<f64>,
    /// Draw those bands: .svg or .png; may be given several times.
    #[arg(long, value_name = "FILE", requires = "mass_error")]
    bands: Vec<PathBuf>,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Through all waypoints with the least jerk: polynomials of degree five.
    MinimumJerk,
    /// Through all waypoints with the least acceleration: polynomials of degree three.
    Cubic,
    /// Straight parts with constant accelerations between, past the waypoints.
    Parabolic,
    /// The same without a jump of acceleration.
    Blended,
    /// Along a smooth path in the least time within limits of velocity, acceleration and torque.
    Fastest,
}

#[derive(Serialize)]
struct Summary<'a> {
    robot: &'a str,
    seconds: f64,
    segments: usize,
    /// The largest share of a limit.
    limit_share: f64,
    limit_joint: &'a str,
    limit_quantity: &'a str,
    /// How far errors of masses may lead.
    #[serde(skip_serializing_if = "Option::is_none")]
    off_course: Option<bands::Worst>,
    written: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    for path in &arguments.out {
        Format::of(path)?;
    }
    for path in arguments.plot.iter().chain(&arguments.bands) {
        plot::Format::of(path)?;
    }
    let files = || arguments.out.iter().chain(&arguments.plot);
    atomic_file::check_apart(files(), [Path::new(&*arguments.chosen.robot)])?;
    files().try_for_each(|path| atomic_file::check(path))?;
    let loaded = arguments.chosen.load_tree()?.driven(&arguments.driven)?;
    let m = &loaded.robot.mechanism;
    let limits = arguments.limits(m)?;
    let course = arguments.course(m, &limits)?;
    course
        .check_positions()
        .map_err(|e| UserError::failure(e.to_string(), "`linkwork info ROBOT` shows limits"))?;
    let most = course.limit_use(&limits)?;
    if most.share > 1.01 {
        warn(m, &most);
    }
    for path in &arguments.out {
        let text = trajectory_file::text(&course, Format::of(path)?, arguments.rate)?;
        atomic_file::write(path, text.as_bytes())?;
    }
    for path in &arguments.plot {
        draw(&loaded.name, &course)?.write(path)?;
    }
    let bands = arguments.mass_error.map(|error| bands::Bands::new(&course, error));
    let bands = bands.transpose()?;
    for path in &arguments.bands {
        if let Some(bands) = &bands {
            bands.draw(&loaded.name, path)?;
        }
    }
    let written = arguments
        .out
        .iter()
        .chain(&arguments.plot)
        .chain(&arguments.bands)
        .map(|p| p.display().to_string())
        .collect();
    let summary = Summary {
        robot: &loaded.name,
        seconds: course.duration(),
        segments: course.times().len() - 1,
        limit_share: most.share,
        limit_joint: &most.joint,
        limit_quantity: most.quantity,
        off_course: bands.as_ref().map(bands::Bands::worst),
        written,
    };
    let mut out = anstream::stdout();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&summary)?)?;
        return Ok(());
    }
    writeln!(out, "{}: {} s", loaded.name, significant(summary.seconds, 6))?;
    if most.share > 0.0 && most.share < 1e3 {
        writeln!(out, "{most}")?;
    }
    if let Some(bands) = &bands {
        writeln!(out, "{}", bands.sentence())?;
    }
    summary
        .written
        .iter()
        .try_for_each(|path| writeln!(out, "wrote {path}"))?;
    Ok(())
}

/// Says which limit is passed.
fn warn(m: &Mechanism, most: &LimitUse) {
    let word = style::paint(style::HEAD, "warning");
    let joint = m.joint(&most.joint).and_then(|j| m.v_range(j));
    let idle = most.quantity == "torque" && joint.is_ok_and(|mut range| range.any(|i| !m.is_driven(i)));
    match idle {
        true => anstream::eprintln!(
            "{word}: no motor drives joint `{}`, and the motion needs one there",
            most.joint
        ),
        false => anstream::eprintln!("{word}: {most}; give it more time"),
    }
}

impl Arguments {
    fn limits(&self, m: &Mechanism) -> Result<Limits> {
        let mut limits = match self.no_effort_limits {
            true => Limits::none(m).velocity(&m.velocity_limits())?,
            false => Limits::of(m),
        };
        if let Some(most) = self.max_velocity {
            let own: Vec<f64> = m.velocity_limits().iter().map(|x| x.min(most)).collect();
            limits = limits.velocity(&own)?;
        }
        if let Some(most) = self.max_acceleration {
            limits = limits.acceleration(&vec![most; m.nv()])?;
        }
        Ok(limits)
    }

    fn course(&self, m: &Mechanism, limits: &Limits) -> Result<Trajectory> {
        let failed = |e: linkwork::Error| {
            UserError::failure(e.to_string(), "`linkwork info ROBOT` shows joints, limits and frames")
        };
        let start = match &self.from {
            Some(text) => configuration("--from", text, m)?,
            None => m.nearest_within_limits(&m.neutral())?,
        };
        if self.to.is_empty() && self.pose.is_empty() {
            return Err(UserError::usage(
                "there is nowhere to go",
                "say where with --to, or with --frame and --pose",
            ));
        }
        if let Some(name) = &self.frame {
            let frame = m
                .frame(name)
                .map_err(|e| UserError::usage(e.to_string(), "`linkwork info ROBOT` lists links and frames"))?;
            let mut poses = vec![m.workspace().at(&start)?.pose(frame)?];
            for text in &self.pose {
                poses.push(crate::ik::tasks::pose(&numbers("--pose", text)?)?);
            }
            if self.kind == Kind::Fastest {
                let line = PoseTrajectory::new(&poses, Trajectory::path_through).map_err(failed)?;
                let path = line.path(m, frame, &start, POSE).map_err(failed)?;
                return Ok(path.time_optimal(limits).map_err(failed)?.trajectory);
            }
            return self.timed(
                m,
                limits,
                |times| {
                    PoseTrajectory::new(&poses, |body, q| self.joined(body, times, q))?.follow(m, frame, &start, POSE)
                },
                poses.len(),
            );
        }
        let mut waypoints = vec![start];
        for text in &self.to {
            waypoints.push(configuration("--to", text, m)?);
        }
        if self.kind == Kind::Fastest {
            let path = Trajectory::path_through(m, &waypoints).map_err(failed)?;
            return Ok(path.time_optimal(limits).map_err(failed)?.trajectory);
        }
        self.timed(m, limits, |times| self.joined(m, times, &waypoints), waypoints.len())
    }

    /// A course with the times that were asked for, or as long as limits need.
    fn timed(
        &self,
        m: &Mechanism,
        limits: &Limits,
        course: impl Fn(&[f64]) -> linkwork::Result<Trajectory>,
        waypoints: usize,
    ) -> Result<Trajectory> {
        let failed = |e: linkwork::Error| {
            UserError::failure(e.to_string(), "`linkwork info ROBOT` shows joints, limits and frames")
        };
        if !self.times.is_empty() {
            if self.times.len() + 1 != waypoints {
                let problem = format!(
                    "--times has {} numbers for {} waypoints",
                    self.times.len(),
                    waypoints - 1
                );
                return Err(UserError::usage(problem, "give the time of every --to or --pose"));
            }
            let times: Vec<f64> = [0.0].iter().chain(&self.times).copied().collect();
            return course(&times).map_err(failed);
        }
        let even = |seconds: f64| {
            (0..waypoints)
                .map(|i| seconds * i as f64 / (waypoints - 1) as f64)
                .collect::<Vec<_>>()
        };
        let unit = course(&even(1.0)).map_err(failed)?;
        if let Some(seconds) = self.seconds {
            return Ok(unit.stretched(seconds)?);
        }
        let mut seconds = 0.05;
        while seconds < 1e3 {
            let slower = unit.clone().stretched(seconds)?;
            let most = slower.limit_use(limits)?;
            if most.share == 0.0 {
                break;
            }
            if most.share <= 1.0 {
                return Ok(slower);
            }
            seconds *= 1.05;
        }
        let unlimited = unit.limit_use(limits)?.share == 0.0;
        if unlimited {
            let problem = format!("`{}` has no limits that would say how long it takes", m.name());
            return Err(UserError::usage(
                problem,
                "give --seconds, --max-velocity or --max-acceleration",
            ));
        }
        let most = unit.stretched(1e3)?.limit_use(limits)?;
        warn(m, &most);
        let problem = format!("no time is long enough: {most}");
        Err(UserError::failure(
            problem,
            "choose other waypoints, or leave the motors' limits out with --no-effort-limits",
        ))
    }

    fn joined(&self, m: &Mechanism, times: &[f64], waypoints: &[impl AsRef<[f64]>]) -> linkwork::Result<Trajectory> {
        let shortest = times.windows(2).map(|t| t[1] - t[0]).fold(f64::INFINITY, f64::min);
        let blend = self.blend.unwrap_or(shortest / 3.0);
        match self.kind {
            Kind::MinimumJerk | Kind::Fastest => Trajectory::quintic_spline(m, times, waypoints),
            Kind::Cubic => Trajectory::cubic_spline(m, times, waypoints),
            Kind::Parabolic => Trajectory::linear_with_blends(m, times, waypoints, blend, Blend::Parabolic),
            Kind::Blended => Trajectory::linear_with_blends(m, times, waypoints, blend, Blend::Quintic),
        }
    }
}

/// How near the frame is to its line, in metres and radians.
const POSE: f64 = 1e-5;

fn numbers(option: &str, text: &str) -> Result<Vec<f64>> {
    let read = |word: &str| match word.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(UserError::usage(
            format!("{option}: `{word}` is not a number"),
            "give numbers separated by commas",
        )),
    };
    text.split(',').map(read).collect()
}

fn configuration(option: &str, text: &str, m: &Mechanism) -> Result<Vec<f64>> {
    let mut q = numbers(option, text)?;
    let hint = format!("a configuration of `{}` has nq = {} numbers", m.name(), m.nq());
    m.normalise(&mut q)
        .map_err(|e| UserError::usage(format!("{option}: {e}"), hint))?;
    Ok(q)
}

/// Points of a curve.
const POINTS: f64 = 1000.0;

/// A picture of a course.
struct Drawing {
    title: String,
    t: Vec<f64>,
    panels: Vec<(&'static str, Vec<String>, Vec<f64>)>,
}

fn draw(robot: &str, course: &Trajectory) -> Result<Drawing> {
    let m = course.mechanism();
    let t = course.sample_times(POINTS / course.duration())?;
    let mut rows = Rows::new(course);
    let mut columns: [Vec<f64>; 4] = Default::default();
    for t in &t {
        for (column, numbers) in columns.iter_mut().zip(rows.at(*t)?) {
            column.extend_from_slice(numbers);
        }
    }
    let words = [
        "position (rad, m)",
        "velocity (rad/s, m/s)",
        "acceleration (rad/s², m/s²)",
        "torque (N m, N)",
    ];
    let names = [
        m.position_names(),
        m.velocity_names(),
        m.velocity_names(),
        m.velocity_names(),
    ];
    let panels = words
        .into_iter()
        .zip(names)
        .zip(columns)
        .map(|((word, names), numbers)| (word, names, numbers));
    Ok(Drawing {
        title: format!("{robot}: a trajectory of {} s", significant(course.duration(), 4)),
        t,
        panels: panels.collect(),
    })
}

impl Drawing {
    fn write(&self, path: &std::path::Path) -> Result<()> {
        let panel = |(label, names, numbers): &(&'static str, Vec<String>, Vec<f64>)| {
            let width = names.len().max(1);
            let curve = |(i, name): (usize, &String)| Curve {
                name: name.clone(),
                y: numbers.iter().skip(i).step_by(width).copied().collect(),
            };
            Panel {
                label: (*label).to_owned(),
                curves: names.iter().enumerate().take(CURVES).map(curve).collect(),
                more: names.len().saturating_sub(CURVES),
            }
        };
        let figure = Figure {
            title: self.title.clone(),
            t: &self.t,
            columns: 1,
            panels: self.panels.iter().map(panel).collect(),
        };
        figure.write(path)
    }
}
