//! Robots by name or file: the one place where every command gets its robot from.

use crate::user_error::UserError;
use crate::{style, text_model};
use anyhow::{Context, Result};
use clap::Args;
use linkwork::Mechanism;
use linkwork::model::{Builder, Joint, JointKind, WORLD, examples};
use linkwork_formats::{Format, Mode, Options, Refusal, Report, Robot, Severity};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest robot on standard input, in bytes: as large as a file may be.
const LARGEST: u64 = 1 << 30;

/// Which robot, for commands that take one.
#[derive(Args)]
pub(crate) struct Chosen {
    /// A built-in robot, a URDF, SDF, MJCF, xacro, native or text file, or `-` for standard input.
    pub(crate) robot: String,
    #[command(flatten)]
    pub(crate) loading: Loading,
}

/// How to load it.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Loading {
    /// Put the robot on a free base.
    #[arg(long)]
    pub(crate) floating: bool,
    /// Refuse a file with anything wrong in it.
    #[arg(long, conflicts_with = "repair")]
    pub(crate) strict: bool,
    /// Repair what is wrong in a file: inertias that no body has, limits the wrong way round …
    #[arg(long)]
    pub(crate) repair: bool,
    /// Where a package is, as NAME=PATH, or a directory that holds packages: for `package://` and `model://` addresses and
    /// `$(find NAME)`. May be given several times.
    #[arg(long, value_name = "NAME=PATH")]
    pub(crate) package: Vec<PathBuf>,
    /// An argument of a xacro file, as name:=value. May be given several times.
    #[arg(long = "arg", value_name = "NAME:=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// Let xacro files read environment variables.
    #[arg(long)]
    pub(crate) env: bool,
    /// Let meshes and included files lie anywhere, not only beside the robot's file and in packages.
    #[arg(long)]
    pub(crate) anywhere: bool,
    /// Give links without an <inertial> that of their collision shapes, closed meshes included, at this density in kg/m³.
    #[arg(long, value_name = "DENSITY", value_parser = |s: &str| crate::numbers::positive(s, 1e6), allow_negative_numbers = true)]
    pub(crate) collision_density: Option<f64>,
    /// Let joints that follow others, as mimic joints do, move on their own.
    #[arg(long)]
    pub(crate) ignore_couplings: bool,
    /// Use this gravity instead: its acceleration along the world's x, y and z, in m/s².
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) gravity: Option<Vec<f64>>,
}

/// A robot, and what to call it.
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) robot: Robot,
}

impl Chosen {
    /// Loads the robot; warnings go to standard error.
    pub(crate) fn load(&self) -> Result<Loaded> {
        self.loading.load_and_warn(&self.robot)
    }

    /// Loads the robot for a command that knows trees alone.
    pub(crate) fn load_tree(&self) -> Result<Loaded> {
        let loaded = self.load()?;
        loaded.warn_of_loops();
        Ok(loaded)
    }
}

/// Which joints motors drive, for commands that need to know.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Driven {
    /// The joints that motors drive, whatever the model says; `joint[2]` is one of several degrees of freedom, from zero.
    #[arg(long, value_name = "JOINT", value_delimiter = ',')]
    pub(crate) driven: Vec<String>,
}

impl Loaded {
    /// The same with motors where the user says.
    pub(crate) fn driven(mut self, by: &Driven) -> Result<Self> {
        if !by.driven.is_empty() {
            let driven = self.robot.mechanism.driven_by(&by.driven);
            const SHOWN: usize = 12;
            let joints = self.robot.mechanism.joints();
            let moving = joints.iter().filter(|j| j.kind.nv() > 0).map(|j| j.name.as_str());
            let names: Vec<&str> = moving.take(SHOWN).collect();
            let hint = format!("joints are {}; `linkwork info ROBOT` lists them", names.join(", "));
            self.robot.mechanism = driven.map_err(|e| UserError::usage(format!("--driven: {e}"), hint))?;
        }
        Ok(self)
    }

    /// Says that closed loops are left open, if there are any.
    pub(crate) fn warn_of_loops(&self) {
        let loops = match self.robot.loops.len() {
            0 => return,
            1 => "its closed loop is".to_owned(),
            n => format!("its {n} closed loops are"),
        };
        let word = style::paint(style::HEAD, "warning");
        anstream::eprintln!(
            "{word}: {}: {loops} left open here; `linkwork simulate` closes them",
            self.name
        );
    }
}

impl Loading {
    pub(crate) fn options(&self) -> Result<Options> {
        let mode = match (self.strict, self.repair) {
            (true, _) => Mode::Strict,
            (_, true) => Mode::Repair,
            _ => Mode::Warn,
        };
        let (mut packages, mut named_packages) = (Vec::new(), Vec::new());
        for given in &self.package {
            match given.to_str().and_then(|text| text.split_once('=')) {
                Some((name, path)) if !given.is_dir() => named_packages.push((name.to_owned(), PathBuf::from(path))),
                _ => packages.push(given.clone()),
            }
        }
        if let Some((name, path)) = named_packages.iter().find(|(_, path)| !path.is_dir()) {
            let problem = format!("--package {name}: `{}` is not a directory", path.display());
            return Err(UserError::usage(problem, "give the package's own directory"));
        }
        let mut arguments = Vec::new();
        for given in &self.arguments {
            let Some((name, value)) = given.split_once(":=") else {
                let problem = format!("--arg `{given}` has no `:=`");
                return Err(UserError::usage(problem, "write it as --arg name:=value"));
            };
            arguments.push((name.to_owned(), value.to_owned()));
        }
        Ok(Options {
            mode,
            packages,
            named_packages,
            arguments,
            environment: self.env,
            anywhere: self.anywhere,
            ignore_couplings: self.ignore_couplings,
            collision_density: self.collision_density,
        })
    }

    /// Loads a robot; warnings go to standard error.
    pub(crate) fn load_and_warn(&self, robot: &str) -> Result<Loaded> {
        let loaded = self.load(robot)?;
        warn(robot, &loaded.robot.report);
        Ok(loaded)
    }

    /// Loads a robot from the native text of a log; `home` is where its meshes are.
    pub(crate) fn load_described(&self, file: &str, text: &str, home: Option<&Path>) -> Result<Loaded> {
        let read = linkwork_formats::read_beside(file, text.as_bytes(), Format::Native, home, &self.options()?);
        let robot = read.map_err(|refusal| refused(file, refusal))?;
        let name = robot.mechanism.name().to_owned();
        Ok(Loaded { name, robot })
    }

    /// Loads a robot without a word.
    pub(crate) fn load(&self, robot: &str) -> Result<Loaded> {
        let mut loaded = self.find(robot)?;
        let floats = |j: &Joint| j.parent == WORLD && j.kind == JointKind::Free;
        if self.floating && loaded.robot.mechanism.joints().iter().any(floats) {
            let problem = format!("`{}` floats already", loaded.name);
            return Err(UserError::usage(problem, "leave --floating out"));
        }
        if self.floating {
            let mechanism = loaded.robot.mechanism.with_floating_base().map_err(|problem| {
                UserError::usage(
                    format!("{}: {problem}", loaded.name),
                    "leave --floating out for a robot that floats already, or whose base cannot be freed",
                )
            })?;
            loaded.robot = loaded.robot.with_mechanism(mechanism);
        }
        if let Some(gravity) = &self.gravity {
            let wrong = |problem: String| UserError::usage(problem, "write it as --gravity 0,0,-9.81");
            let [x, y, z] = gravity[..] else {
                return Err(wrong(format!("--gravity has {} numbers but needs 3", gravity.len())));
            };
            let mechanism = loaded.robot.mechanism.with_gravity([x, y, z]);
            loaded.robot.mechanism = mechanism.map_err(|e| wrong(e.to_string()))?;
        }
        Ok(loaded)
    }

    fn find(&self, robot: &str) -> Result<Loaded> {
        if let Some(example) = examples::by_name(robot) {
            return self.plain(robot, example());
        }
        if robot == "-" {
            let mut bytes = Vec::new();
            let read = std::io::stdin().take(LARGEST + 1).read_to_end(&mut bytes);
            read.context("cannot read a robot from standard input")?;
            if bytes.len() as u64 > LARGEST {
                let problem = "standard input holds more than a gigabyte";
                return Err(UserError::failure(problem, "a robot's file is smaller"));
            }
            return self.parse("-", "stdin", &bytes);
        }
        let path = Path::new(robot);
        if !path.exists() {
            return Err(UserError::usage(
                format!("there is no built-in robot and no file `{robot}`"),
                format!("the built-in robots are {}", known()),
            ));
        }
        let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
        if path.extension().is_some_and(|e| e == "txt") {
            let bytes = crate::numbers::read_log(path)?;
            return self.parse(robot, &stem, &bytes);
        }
        let loaded = linkwork_formats::load(path, &self.options()?);
        let robot = loaded.map_err(|refusal| refused(robot, refusal))?;
        let name = robot.mechanism.name().to_owned();
        Ok(Loaded { name, robot })
    }

    /// A mechanism and nothing else.
    fn plain(&self, name: &str, mechanism: Mechanism) -> Result<Loaded> {
        let mechanism = if self.ignore_couplings {
            mechanism.uncoupled()?
        } else {
            mechanism
        };
        Ok(Loaded {
            name: name.to_owned(),
            robot: Robot::from(mechanism),
        })
    }

    /// A robot from bytes, whose format only they tell.
    fn parse(&self, file: &str, name: &str, bytes: &[u8]) -> Result<Loaded> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
        if first.is_none_or(|b| b.is_ascii_digit()) || file != "-" {
            let text = std::str::from_utf8(bytes).with_context(|| format!("cannot read `{file}`"))?;
            return self.plain(name, text_model::parse(file, name, text)?);
        }
        // Whether XML is URDF, SDF or MJCF, its root tells.
        let format = if first == Some(&b'{') {
            Format::Native
        } else {
            Format::Urdf
        };
        let read = linkwork_formats::read(file, bytes, format, &self.options()?);
        let robot = read.map_err(|refusal| refused(file, refusal))?;
        let name = robot.mechanism.name().to_owned();
        Ok(Loaded { name, robot })
    }
}

/// The same mechanism without damping, friction and springs.
pub(crate) fn without_resistance(robot: &Mechanism) -> Result<Mechanism> {
    let mut builder = Mechanism::builder(robot.name()).gravity(robot.gravity()).any_inertia();
    for link in robot.links() {
        builder = builder.link(link.clone());
    }
    for joint in robot.joints() {
        let mut joint = joint.clone();
        joint.damping.clear();
        joint.friction.clear();
        joint.stiffness.clear();
        joint.rest.clear();
        builder = builder.joint(joint);
    }
    for frame in robot.frames() {
        builder = builder.frame(&frame.name, &frame.link, frame.pose);
    }
    for coupling in robot.couplings() {
        builder = builder.couple(coupling.clone());
    }
    if let Some(motors) = robot.motors() {
        builder = motors.iter().cloned().fold(builder.without_motors(), Builder::motor);
    }
    Ok(builder.build()?)
}

/// The names of the built-in robots, in a sentence.
pub(crate) fn known() -> String {
    examples::all().map(|(name, _)| name).join(", ")
}

fn refused(robot: &str, refusal: Refusal) -> anyhow::Error {
    let hint = format!("`linkwork check {robot}` shows everything that was found, with its lines");
    UserError::failure(refusal.to_string(), hint)
}

/// Says what is doubtful, one line for each kind of finding.
fn warn(robot: &str, report: &Report) {
    let mut shown: Vec<&str> = Vec::new();
    for finding in report.findings.iter().filter(|f| f.severity >= Severity::Repair) {
        if shown.contains(&finding.code) {
            continue;
        }
        shown.push(finding.code);
        let more = report.of(finding.code).count() - 1;
        let more = match more {
            0 => String::new(),
            n => format!(" (and {n} more of this kind)"),
        };
        let word = style::paint(style::HEAD, finding.severity.name());
        anstream::eprintln!("{word}: {finding}{more}");
    }
    if !shown.is_empty() {
        anstream::eprintln!("hint: `linkwork check {robot}` shows all");
    }
}
