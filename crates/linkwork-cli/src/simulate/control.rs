//! Controllers: where torques come from.

mod gains;

use super::actuators::{Machinery, Wish};
use super::push::Push;
use super::torque_file::TorqueFile;
use crate::numbers::positive;
use crate::robot::without_resistance;
use crate::style;
use crate::user_error::UserError;
use anyhow::Result;
use clap::{Args, ValueEnum};
use linkwork::Mechanism;
use linkwork::control::{
    Adaptation, Adaptive, ComputedTorque, Controlled, Controller, FrameTask, JointPd, OperationalSpace, PoseControl,
    RateDamping, Regulator,
};
use linkwork::motion::{TrackingRegulator, TrackingTorque, Trajectory};
use linkwork::simulate::{Drive, Now, State};
use linkwork::workspace::Moving;
use linkwork_formats::{Keyframe, Robot};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Which controller, and its parameters.
#[derive(Args, Clone)]
pub(crate) struct Control {
    /// What drives the joints; the file's actuators if it has any and this is left out, else nothing.
    #[arg(long, short, value_enum, value_name = "NAME")]
    controller: Option<Kind>,
    /// Controls of the file's actuators: a number for each, separated by commas, NAME=NUMBER pairs, or a FILE.csv of lines with
    /// a time and a number for each. Left out: what the keyframe of --start-key says, or 0.
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    ctrl: Option<String>,
    /// The configuration to go to, nq numbers; neutral if left out.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    target: Option<Vec<f64>>,
    /// Stiffness: pd in N m/rad or N/m, computed-torque in 1/s², pose in N/m. Left out: pd takes what is critically damped
    /// with --kd, or for 10 rad/s, given the diagonal of 𝓜 at the target; others take 100.
    #[arg(long, value_name = "X", value_parser = |s: &str| positive(s, 1e12), allow_negative_numbers = true)]
    kp: Option<f64>,
    /// Damping: pd in N m s or N s/m, computed-torque, rate-damping and pose in 1/s. Left out: pd is critically damped; others
    /// take 20.
    #[arg(long, value_name = "X", value_parser = |s: &str| positive(s, 1e12), allow_negative_numbers = true)]
    kd: Option<f64>,
    /// The frame that the pose or operational controller brings to where it is at --target; operational takes several,
    /// separated by commas, in order of priority.
    #[arg(long, value_name = "NAME")]
    frame: Option<String>,
    /// Links that stand on something and do not move, such as feet, separated by commas: the operational controller takes
    /// them as fixed where a base floats. Without contact in the run they are held where they are at the start.
    #[arg(long, value_name = "NAMES")]
    standing_on: Option<String>,
    /// The torques of the file controller: lines of a time and nv torques, separated by commas; torques between two lines are
    /// interpolated.
    #[arg(long, value_name = "FILE.csv")]
    torques: Option<PathBuf>,
    /// The trajectory of the track controllers, as `linkwork plan` writes it; `-c track:FILE` is the same.
    #[arg(long, value_name = "FILE")]
    trajectory: Option<PathBuf>,
    /// The lqr controllers' weights of the states, target ⊖ q and then q̇: one for all, or 2nv numbers.
    #[arg(
        long,
        value_name = "WEIGHTS",
        value_delimiter = ',',
        default_value = "1",
        allow_negative_numbers = true
    )]
    weights: Vec<f64>,
    /// The lqr controllers' weight of every torque.
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0, value_parser = |s: &str| positive(s, 1e12), allow_negative_numbers = true)]
    effort: f64,
    /// The adaptive controller's first estimate of the inertial parameters, as a fraction of the true ones.
    #[arg(long, value_name = "PART", default_value_t = HALF, value_parser = |s: &str| positive(s, 1e3), allow_negative_numbers = true)]
    known: f64,
    /// Let motors exert more than the joints' effort limits.
    #[arg(long)]
    no_effort_limits: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Nothing.
    None,
    /// The file's actuators, controlled by --ctrl.
    Servos,
    /// Gravity compensation.
    Gravity,
    /// T = kp (target ⊖ q) − kd q̇, and gravity, at the joints that motors drive.
    Pd,
    /// T = 𝓜(kp (target ⊖ q) − kd q̇) + C: the robot's dynamics are cancelled.
    ComputedTorque,
    /// T = mε with ε = −kd ν, and gravity: damping in total joint rates.
    RateDamping,
    /// T = mε with ε = −kd ν + kp ℓJ*e, and gravity: a frame to its pose at the target, in total joint rates.
    Pose,
    /// T = T₀ − K[q ⊖ target; q̇] at the driven joints, the regulator of least cost about the target.
    Lqr,
    /// T = ID(q̈₀) + ΣJ*F: frames to their poses at the target in order of priority; the freedom they leave moves the joints to
    /// the target.
    Operational,
    /// T = Y(q, q̇, q̇_r, q̈_r)π̂ − K_D s: to the target while estimating the inertial parameters π̂ (Slotine and Li).
    Adaptive,
    /// Torques from a file.
    File,
    /// Computed torque along a trajectory, as track:FILE, with --kp and --kd.
    Track,
    /// The regulator of least cost along a trajectory, as track-lqr:FILE, with --weights and --effort.
    TrackLqr,
}

/// A controller ready to run, and pushes.
pub(crate) struct Driver {
    law: Box<dyn Drive + Send>,
    pushes: Vec<Push>,
    stretch: Stretch,
    /// The robot's own actuators and tendons.
    pub(crate) machinery: Option<Machinery>,
}

/// No torque beyond what holds the robot against gravity.
struct Still;

impl Controller for Still {
    fn torques(&mut self, _: Now<'_>, _: &mut Moving<'_>, _: &mut [f64]) -> linkwork::Result<()> {
        Ok(())
    }
}

impl Controller for TorqueFile {
    fn torques(&mut self, now: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]) -> linkwork::Result<()> {
        self.at(now.t, tau);
        Ok(())
    }
}

impl Control {
    /// For a mechanism with its pushes, ideal if nothing resists its joints.
    pub(crate) fn driver(&self, mechanism: &Mechanism, pushes: &[Push], ideal: bool) -> Result<Driver> {
        Ok(Driver {
            law: self.law(mechanism, ideal)?,
            pushes: pushes.to_vec(),
            stretch: Stretch::by_the_clock(),
            machinery: None,
        })
    }

    /// An error if there is a controller and nothing for it to control.
    pub(crate) fn only_with(&self, option: &str) -> Result<()> {
        if self.is_none() {
            return Ok(());
        }
        let problem = "a controller needs a simulation";
        Err(UserError::usage(problem, format!("add {option}")))
    }

    /// Tells of a controller that takes long to find.
    pub(crate) fn tell_time(&self, mechanism: &Mechanism) {
        if !self.is_none() && self.kind() == Kind::Lqr {
            crate::expected_duration::tell("the regulator", 2 * mechanism.nv(), crate::linearize::LQR_RATE);
        }
    }

    /// The same with motors that never meet a limit: where one is met, gains do not show.
    pub(crate) fn boundless_driver(&self, mechanism: &Mechanism, ideal: bool) -> Result<Driver> {
        let boundless = Self {
            no_effort_limits: true,
            ..self.clone()
        };
        boundless.driver(mechanism, &[], ideal)
    }

    /// The configuration that it goes to, if it goes to one.
    pub(crate) fn goal(&self, mechanism: &Mechanism) -> Result<Option<Vec<f64>>> {
        match self.kind() {
            Kind::Pd | Kind::ComputedTorque | Kind::Pose | Kind::Lqr | Kind::Operational | Kind::Adaptive => {
                self.target(mechanism).map(Some)
            }
            Kind::Track | Kind::TrackLqr => Ok(Some(self.course(mechanism)?.end().to_vec())),
            Kind::None | Kind::Servos | Kind::Gravity | Kind::RateDamping | Kind::File => Ok(None),
        }
    }

    /// Says what motors cannot do for it from a configuration on; an error where it makes no sense without.
    pub(crate) fn check(&self, mechanism: &Mechanism, q: &[f64]) -> Result<()> {
        if self.is_none() {
            return Ok(());
        }
        let idle: Vec<usize> = (0..mechanism.nv()).filter(|&i| !mechanism.is_driven(i)).collect();
        let names = |dofs: &[usize]| -> Vec<String> {
            let has = |range: std::ops::Range<usize>| dofs.iter().any(|i| range.contains(i));
            let joints = mechanism.joints().iter().map(|j| &j.name);
            let found = joints.filter(|name| mechanism.joint(name).and_then(|j| mechanism.v_range(j)).is_ok_and(has));
            found.map(|name| format!("`{name}`")).collect()
        };
        if self.kind() == Kind::Gravity {
            let mut held = vec![0.0; mechanism.nv()];
            mechanism
                .workspace()
                .at(q)?
                .moving(&held.clone())?
                .gravity_torque(&mut held)?;
            let largest = held.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let falls: Vec<usize> = idle
                .iter()
                .copied()
                .filter(|&i| held[i].abs() > 1e-9 * largest)
                .collect();
            if let Some(&dof) = falls.first() {
                let problem = format!(
                    "gravity cannot be held: no motor drives {}, which would need {} N m or N",
                    names(&[dof]).join(", "),
                    crate::numbers::significant(held[dof], 6)
                );
                return Err(UserError::failure(problem, DRIVE));
            }
        }
        if idle.len() == mechanism.nv() && !idle.is_empty() {
            let problem = format!("no motor drives any joint of `{}`", mechanism.name());
            return Err(UserError::failure(problem, DRIVE));
        }
        if self.kind() == Kind::Adaptive && !idle.is_empty() {
            let problem = format!(
                "no motor drives {}, and the adaptive controller needs one at every joint",
                names(&idle).join(", ")
            );
            return Err(UserError::failure(problem, DRIVE));
        }
        if self.kind() == Kind::Pd && !idle.is_empty() {
            let word = style::paint(style::HEAD, "note");
            anstream::eprintln!(
                "{word}: no motor drives {}: pd acts at the other joints",
                names(&idle).join(", ")
            );
        }
        let powerless: Vec<usize> = (0..mechanism.nv())
            .filter(|&i| mechanism.is_driven(i) && mechanism.motor_limits()[i] == 0.0)
            .collect();
        if !powerless.is_empty() && !self.no_effort_limits {
            let word = style::paint(style::HEAD, "warning");
            anstream::eprintln!(
                "{word}: the effort limit of {} is 0, so that motors exert nothing there; --no-effort-limits leaves limits out",
                names(&powerless).join(", ")
            );
        }
        Ok(())
    }

    /// The files that it reads.
    pub(crate) fn files(&self) -> Vec<&Path> {
        let told = self
            .ctrl
            .as_deref()
            .filter(|text| text.ends_with(".csv"))
            .map(Path::new);
        let files = [self.torques.as_deref(), self.trajectory.as_deref(), told];
        files.into_iter().flatten().collect()
    }

    /// Whether the motors exert nothing.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self.kind(), Kind::None | Kind::Servos)
    }

    fn kind(&self) -> Kind {
        self.controller.unwrap_or(Kind::None)
    }

    /// The robot's actuators and tendons, for a run that starts at a keyframe or elsewhere; `step` where steps are explicit.
    pub(crate) fn machinery(
        &self,
        robot: &Robot,
        mechanism: &Mechanism,
        key: Option<&Keyframe>,
        [ideal, no_limits]: [bool; 2],
        step: Option<f64>,
    ) -> Result<Machinery> {
        let act = matches!(self.controller, None | Some(Kind::Servos));
        if self.ctrl.is_some() && !act {
            let problem = "--ctrl is for the file's actuators";
            return Err(UserError::usage(problem, "leave --controller out, or choose servos"));
        }
        if self.controller == Some(Kind::Servos) && robot.actuators.is_empty() {
            let problem = format!("`{}` has no actuators in its file", mechanism.name());
            return Err(UserError::usage(problem, "choose another --controller"));
        }
        let wish = Wish {
            ctrl: self.ctrl.as_deref(),
            key,
            act: act && (self.ctrl.is_some() || !robot.actuators.is_empty()),
            ideal,
            no_limits,
            no_effort_limits: self.no_effort_limits,
            step,
        };
        Machinery::new(robot, mechanism, &wish)
    }

    fn law(&self, mechanism: &Mechanism, ideal: bool) -> Result<Box<dyn Drive + Send>> {
        for (option, given, of) in [
            ("--torques", self.torques.is_some(), &[Kind::File][..]),
            ("--frame", self.frame.is_some(), &[Kind::Pose, Kind::Operational]),
            ("--weights", self.weights != [1.0], &[Kind::Lqr, Kind::TrackLqr]),
            ("--effort", self.effort != 1.0, &[Kind::Lqr, Kind::TrackLqr]),
            ("--known", self.known != HALF, &[Kind::Adaptive]),
        ] {
            if given && !of.contains(&self.kind()) {
                let of = of[0]
                    .to_possible_value()
                    .map_or_else(String::new, |v| v.get_name().to_owned());
                let problem = format!("{option} is for the {of} controller");
                return Err(UserError::usage(problem, format!("add --controller {of}")));
            }
        }
        if self.trajectory.is_some() && !self.tracks() {
            let problem = "--trajectory is for the track controllers";
            return Err(UserError::usage(problem, "add --controller track or track-lqr"));
        }
        let (kp, kd) = (self.kp.unwrap_or(STIFFNESS), self.kd.unwrap_or(DAMPING));
        let each = |gain: f64| vec![gain; mechanism.nv()];
        Ok(match self.kind() {
            // The file's actuators are added to what controllers do.
            Kind::None | Kind::Servos => Box::new(()),
            Kind::Gravity => self.limited(mechanism, Still)?,
            Kind::Pd => {
                let target = self.target(mechanism)?;
                let (kp, kd) = self.joint_gains(mechanism, &target)?;
                self.limited(mechanism, JointPd::new(mechanism, &target, &kp, &kd)?)?
            }
            Kind::ComputedTorque => {
                let law = ComputedTorque::new(mechanism, &self.target(mechanism)?, &each(kp), &each(kd))?;
                self.limited(mechanism, law)?
            }
            Kind::RateDamping => self.limited(mechanism, RateDamping::new(mechanism, kd)?)?,
            Kind::Pose => {
                let frame = mechanism
                    .frame(self.frame_name("pose")?)
                    .map_err(|e| UserError::usage(e.to_string(), FRAMES))?;
                let target = mechanism.workspace().at(&self.target(mechanism)?)?.pose(frame)?;
                self.limited(mechanism, PoseControl::new(mechanism, frame, target, &each(kd), kp)?)?
            }
            Kind::Lqr => {
                let law = match ideal {
                    true => self.regulator(&without_resistance(mechanism)?)?.for_plant(mechanism)?,
                    false => self.regulator(mechanism)?,
                };
                let law = Controlled::new(mechanism, law).without_gravity();
                Box::new(self.unlimited(mechanism, law)?)
            }
            Kind::Track | Kind::TrackLqr => {
                // Passive forces that the run leaves out are left out of the law too.
                let model = match ideal {
                    true => without_resistance(mechanism)?,
                    false => mechanism.clone(),
                };
                let course = self.course(&model)?;
                if self.kind() == Kind::Track {
                    let law = TrackingTorque::new(&course, &each(kp), &each(kd))?.for_plant(mechanism)?;
                    let law = Controlled::new(mechanism, law).without_gravity();
                    return Ok(Box::new(self.unlimited(mechanism, law)?));
                }
                let (weights, effort) = self.costs(mechanism)?;
                let law = TrackingRegulator::new(&course, &weights, &effort, STEP)?.for_plant(mechanism)?;
                let law = Controlled::new(mechanism, law).without_gravity();
                Box::new(self.unlimited(mechanism, law)?)
            }
            Kind::Operational => {
                let target = self.target(mechanism)?;
                let mut tasks = Vec::new();
                for name in self.frame_name("operational")?.split(',') {
                    let frame = mechanism
                        .frame(name)
                        .map_err(|e| UserError::usage(e.to_string(), FRAMES))?;
                    let pose = mechanism.workspace().at(&target)?.pose(frame)?;
                    tasks.push(FrameTask {
                        quickness: kp.sqrt(),
                        ..FrameTask::pose(frame, pose)
                    });
                }
                let mut law = OperationalSpace::new(mechanism, tasks, &target)?;
                let names = self.standing_on()?;
                if !names.is_empty() {
                    let frames: linkwork::Result<Vec<_>> = names.iter().map(|name| mechanism.frame(name)).collect();
                    law = law.standing_on(&frames.map_err(|e| UserError::usage(e.to_string(), FRAMES))?)?;
                }
                self.limited(mechanism, law)?
            }
            Kind::Adaptive => {
                let law = self.adaptive(mechanism)?;
                let law = Controlled::new(mechanism, law).without_gravity();
                Box::new(self.unlimited(mechanism, law)?)
            }
            Kind::File => {
                let Some(path) = &self.torques else {
                    let hint = "name one with --torques FILE.csv";
                    return Err(UserError::usage("the file controller needs a file of torques", hint));
                };
                let file = Controlled::new(mechanism, TorqueFile::read(path, mechanism)?).without_gravity();
                Box::new(self.unlimited(mechanism, file)?)
            }
        })
    }

    /// The frames that stand on something.
    pub(crate) fn standing_on(&self) -> Result<Vec<&str>> {
        let Some(names) = &self.standing_on else {
            return Ok(Vec::new());
        };
        if self.kind() != Kind::Operational {
            let problem = "--standing-on is for the operational controller";
            return Err(UserError::usage(
                problem,
                "add -c operational, or leave --standing-on out",
            ));
        }
        Ok(names.split(',').map(str::trim).collect())
    }

    /// The frame, or frames, that a controller is about.
    fn frame_name(&self, controller: &str) -> Result<&str> {
        let problem = format!("the {controller} controller needs a frame");
        let missing = || UserError::usage(problem, "say which with --frame NAME");
        self.frame.as_deref().ok_or_else(missing)
    }

    /// Slotine and Li's law to the target, from a part of the robot's parameters.
    fn adaptive(&self, mechanism: &Mechanism) -> Result<Adaptive> {
        let target = self.target(mechanism)?;
        let (_, kd) = self.joint_gains(mechanism, &target)?;
        let course = move |_: f64, q: &mut [f64], v: &mut [f64], a: &mut [f64]| {
            q.copy_from_slice(&target);
            v.fill(0.0);
            a.fill(0.0);
        };
        let mut law = Adaptive::slotine_li(mechanism, Box::new(course), 0.5 * QUICKNESS, &kd, LEARNING)?;
        let known: Vec<f64> = mechanism.inertial_parameters().iter().map(|x| self.known * x).collect();
        law.set_parameters(&known)?;
        Ok(law)
    }

    /// With gravity compensation, within the effort limits.
    fn limited(&self, mechanism: &Mechanism, law: impl Controller + Send + 'static) -> Result<Box<dyn Drive + Send>> {
        Ok(Box::new(self.unlimited(mechanism, Controlled::new(mechanism, law))?))
    }

    /// The same without limits, if asked.
    fn unlimited<C: Controller>(&self, mechanism: &Mechanism, law: Controlled<C>) -> Result<Controlled<C>> {
        if self.no_effort_limits {
            return Ok(law.limits(&vec![f64::INFINITY; mechanism.nv()])?);
        }
        Ok(law)
    }

    /// The weights of states and torques.
    fn costs(&self, mechanism: &Mechanism) -> Result<(Vec<f64>, Vec<f64>)> {
        let states = 2 * mechanism.nv();
        let weights = match self.weights[..] {
            [one] => vec![one; states],
            _ => self.weights.clone(),
        };
        if weights.len() != states {
            let problem = format!("--weights has {} numbers but there are {states} states", weights.len());
            return Err(UserError::usage(
                problem,
                "give one for all, or one for each of q ⊖ target and q̇",
            ));
        }
        Ok((weights, vec![self.effort; mechanism.driven_dofs().len()]))
    }

    fn regulator(&self, mechanism: &Mechanism) -> Result<Regulator> {
        let (weights, effort) = self.costs(mechanism)?;
        let target = self.target(mechanism)?;
        let all: [&str; 0] = [];
        Ok(Regulator::new(mechanism, &target, &all, &weights, &effort)?)
    }

    /// Whether it is the regulator or follows a trajectory, which know trees alone.
    pub(crate) fn knows_trees_alone(&self) -> bool {
        self.kind() == Kind::Lqr || self.tracks()
    }

    fn tracks(&self) -> bool {
        matches!(self.kind(), Kind::Track | Kind::TrackLqr)
    }

    /// Where the trajectory starts, if it follows one: its state, and when.
    pub(crate) fn beginning(&self, mechanism: &Mechanism) -> Result<Option<State>> {
        if !self.tracks() {
            return Ok(None);
        }
        let course = self.course(mechanism)?;
        let mut state = State::at_rest(mechanism, &mechanism.neutral());
        let mut a = vec![0.0; mechanism.nv()];
        course.at(course.start_time(), &mut state.q, &mut state.v, &mut a)?;
        Ok(Some(state))
    }

    fn course(&self, mechanism: &Mechanism) -> Result<Trajectory> {
        let Some(path) = &self.trajectory else {
            let hint = "name one, as in --controller track:FILE; `linkwork plan` writes them";
            return Err(UserError::usage("the track controllers need a trajectory", hint));
        };
        crate::trajectory_file::read(path, mechanism)
    }

    fn target(&self, mechanism: &Mechanism) -> Result<Vec<f64>> {
        let mut target = self.target.clone().unwrap_or_else(|| mechanism.neutral());
        let hint = format!("a target has nq = {} numbers", mechanism.nq());
        let checked = mechanism.normalise(&mut target);
        checked.map_err(|e| UserError::usage(format!("--target: {e}"), hint))?;
        Ok(target)
    }
}

/// How quick the pd controller is where no gains are given, in rad/s.
const QUICKNESS: f64 = 10.0;
/// Gains of the other controllers where none are given.
const STIFFNESS: f64 = 100.0;
const DAMPING: f64 = 20.0;

/// The time between two gains of the regulator along a trajectory, in seconds.
const STEP: f64 = 0.01;
/// What the adaptive controller knows at first, and how fast it learns.
const HALF: f64 = 0.5;
const LEARNING: Adaptation = Adaptation::Natural(0.05);

const DRIVE: &str = "--driven JOINT,… says which joints motors drive, whatever the model says";
const FRAMES: &str = "`linkwork info ROBOT` lists links and frames";

impl Driver {
    /// With the robot's own actuators and tendons.
    pub(crate) fn with(mut self, machinery: &Machinery) -> Self {
        self.machinery = Some(machinery.clone());
        self
    }

    /// What decides which pushes act, for who steps through time.
    pub(crate) fn stretch(&self) -> Stretch {
        self.stretch.clone()
    }
}

/// A time within the present stretch between two abrupt changes: it decides which pushes act throughout, the ends of the
/// stretch included. Without one the clock does.
#[derive(Clone)]
pub(crate) struct Stretch(Arc<AtomicU64>);

impl Stretch {
    fn by_the_clock() -> Self {
        Self(Arc::new(AtomicU64::new(f64::NAN.to_bits())))
    }

    pub(crate) fn set(&self, from: f64, to: f64) {
        self.0.store((from + 0.5 * (to - from)).to_bits(), Relaxed);
    }

    fn time(&self) -> Option<f64> {
        let time = f64::from_bits(self.0.load(Relaxed));
        (!time.is_nan()).then_some(time)
    }
}

impl Drive for Driver {
    fn drive(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> linkwork::Result<()> {
        // The motors know of no pushes: those come after them.
        self.law.drive(now, moving, tau)?;
        if let Some(machinery) = &mut self.machinery {
            machinery.drive(now, moving, tau)?;
        }
        let clock = self.stretch.time().unwrap_or(now.t);
        self.pushes.iter().try_for_each(|push| push.act(clock, moving))
    }

    fn resist(&mut self, step: f64, tau: &mut [f64], resistance: &mut [f64]) {
        if let Some(machinery) = &mut self.machinery {
            machinery.resist(step, tau, resistance);
        }
    }
}
