//! A robot as read, before it is checked: what every reader ends in.
//!
//! Everything that can be wrong with a robot, whatever its format, is found here, reported with its place, and refused,
//! kept or repaired as the mode says. What passes goes through the builder of the library, which checks it once more.

mod collision;
mod couplings;
mod inertia;
mod joints;
mod motors;
mod tree;

use crate::Options;
use crate::actuators::{Actuator, Sensor, Tendon};
use crate::keyframe::KeyDraft;
use crate::report::{Findings, Remedy, Report, Severity};
use crate::robot::{FileCoupling, Geometry, Loop, Robot, Shape, Terrain, Touch, Transmission};
use crate::search_paths::SearchPaths;
use crate::source::{At, Spot, shortened};
use linkwork::Error;
use linkwork::model::{Builder, Frame, Joint, Link, Mechanism, WORLD};
use linkwork::spatial::Vec3;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

pub(crate) use motors::Motors;

/// Longer names are refused.
const LONGEST_NAME: usize = 1024;
/// The armature of a joint that nothing else gives inertia to, kg m² or kg.
pub const LEAST_ARMATURE: f64 = 1e-6;

/// Something, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Placed<T> {
    pub(crate) item: T,
    pub(crate) spot: Spot,
}

/// A robot as read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) name: String,
    /// The library's own where there is none.
    pub(crate) gravity: Option<Vec3>,
    pub(crate) links: Vec<Placed<Link>>,
    /// By the name of a link, where its inertia stands, if not with the link.
    pub(crate) inertia_spots: HashMap<String, Spot>,
    pub(crate) joints: Vec<Placed<Joint>>,
    pub(crate) frames: Vec<Placed<Frame>>,
    pub(crate) geometry: Vec<Geometry>,
    /// How shapes touch, by their places in `geometry`.
    pub(crate) touches: BTreeMap<usize, Touch>,
    pub(crate) untouching: Vec<(String, String)>,
    pub(crate) terrains: Vec<Terrain>,
    /// The volumes of sites, by the names of their frames.
    pub(crate) zones: BTreeMap<String, Shape>,
    pub(crate) couplings: Vec<Placed<FileCoupling>>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) transmissions: Vec<Transmission>,
    pub(crate) keyframes: Vec<KeyDraft>,
    pub(crate) actuators: Vec<Actuator>,
    pub(crate) sensors: Vec<Sensor>,
    pub(crate) tendons: Vec<Tendon>,
    /// The part of their weight that is carried, by the names of links.
    pub(crate) floating: BTreeMap<String, f64>,
    /// Joints whose springs and dampers are told by a time and a ratio.
    pub(crate) tuned: Vec<(String, [f64; 2])>,
    pub(crate) motors: Motors,
}

pub(crate) fn link_at(link: &Placed<Link>) -> At<'_> {
    At::new(link.spot, "link", &link.item.name)
}

pub(crate) fn joint_at(joint: &Placed<Joint>) -> At<'_> {
    At::new(joint.spot, "joint", &joint.item.name)
}

impl Draft {
    /// Looks for the files of meshes, and weighs what they enclose where that is asked for.
    pub(crate) fn with_meshes(mut self, roots: &SearchPaths, options: &Options, f: &mut Findings) -> Self {
        let (mut known, mut lost): (HashMap<String, Option<PathBuf>>, Vec<String>) = Default::default();
        for g in &mut self.geometry {
            let Shape::Mesh { uri, path, .. } = &mut g.shape else {
                continue;
            };
            // Its triangles stand in the robot's own file.
            if uri.is_empty() {
                continue;
            }
            let found = known.entry(uri.clone()).or_insert_with_key(|uri| {
                let written = path.as_deref().and_then(std::path::Path::to_str);
                let found = roots.find(uri).or_else(|| roots.find(written?));
                lost.extend(found.is_none().then(|| shortened(uri)));
                found
            });
            path.clone_from(found);
        }
        if let Some(first) = lost.first() {
            let message = format!(
                "{} of {} meshes were not found, the first being `{first}`",
                lost.len(),
                known.len()
            );
            f.note(
                At::FILE,
                "mesh-not-found",
                message,
                "give the directory that holds their package, or allow files outside of the robot's own directory",
            );
        }
        match options.collision_density {
            Some(density) if density.is_finite() && density > 0.0 => self.weigh(density, f),
            Some(density) => {
                let message = format!("a density of {density} kg/m³ is none that a body has");
                f.error(At::FILE, "number", message, "give one above zero");
            }
            None => {}
        }
        self
    }

    /// Checks everything and builds the robot, or reports why not.
    pub(crate) fn assemble(mut self, mut f: Findings, options: &Options) -> Result<Robot, crate::Refusal> {
        if self.links.is_empty() {
            let advice = "check that the file is the one meant, and that it was expanded without errors";
            f.doubt(At::FILE, "empty-robot", "the robot has no links", advice);
        }
        self.names(&mut f);
        if !f.failed() {
            self.tree(&mut f);
        }
        let physical = self.inertias(&mut f);
        self.joints(&mut f);
        self.check_couplings(&mut f);
        if options.ignore_couplings {
            self.uncouple(&mut f);
        }
        self.check_motors(&mut f);
        self.note_couplings(&mut f);
        self.check_loops(&mut f);
        if f.failed() {
            return Err(f.refusal());
        }
        self.build(physical, f)
    }

    /// Every link and joint has a name of its own.
    fn names(&mut self, f: &mut Findings) {
        if self.name.len() > LONGEST_NAME {
            let at = At {
                what: "robot",
                name: &self.name,
                ..At::FILE
            };
            name(f, at);
        }
        let mut seen: HashMap<&str, Spot> = HashMap::with_capacity(self.links.len());
        for link in &self.links {
            name(f, link_at(link));
            if let Some(first) = seen.insert(&link.item.name, link.spot) {
                duplicate(f, link_at(link), first);
            }
        }
        for frame in &self.frames {
            let at = At::new(frame.spot, "frame", &frame.item.name);
            name(f, at);
            if let Some(first) = seen.insert(&frame.item.name, frame.spot) {
                duplicate(f, at, first);
            }
        }
        drop(seen);
        let mut seen: HashMap<String, Spot> = HashMap::with_capacity(self.joints.len());
        for joint in &mut self.joints {
            if joint.item.name.is_empty() {
                let new = format!("{}_joint", joint.item.child);
                let how = format!("it is now `{}`", shortened(&new));
                let found = "the joint has no name";
                let done = f.judge(
                    joint_at(joint),
                    "missing-name",
                    found,
                    "give it one",
                    Remedy::Change(&how),
                );
                if done < Severity::Error {
                    joint.item.name = new;
                }
            }
            name(f, joint_at(joint));
            if let Some(first) = seen.get(&joint.item.name).copied() {
                let mut new = joint.item.name.clone();
                // A name that repeats n times is counted up n times: hostile files pay with an error instead.
                for i in 2..100 {
                    new = format!("{}_{i}", joint.item.name);
                    if !seen.contains_key(&new) {
                        break;
                    }
                }
                let line = f.line(first);
                let found = format!("the joint of line {line} has the same name");
                let how = format!("this one is now `{}`", shortened(&new));
                let at = joint_at(joint);
                let done = f.judge(at, "duplicate-name", found, "rename one of them", Remedy::Repair(&how));
                if done < Severity::Error {
                    joint.item.name = new;
                }
            }
            seen.insert(joint.item.name.clone(), joint.spot);
        }
    }

    /// Hands everything to the library's builder.
    fn build(mut self, physical: bool, mut f: Findings) -> Result<Robot, crate::Refusal> {
        let mut builder = Mechanism::builder(self.name.clone());
        if !physical {
            builder = builder.any_inertia();
        }
        if let Some(gravity) = self.gravity {
            builder = builder.gravity(gravity);
        }
        for link in &self.links {
            builder = builder.link(link.item.clone());
        }
        for frame in &self.frames {
            builder = builder.frame(frame.item.name.clone(), frame.item.link.clone(), frame.item.pose);
        }
        for coupling in &self.couplings {
            if let Some(coupling) = coupling.item.applied() {
                builder = builder.couple(coupling);
            }
        }
        if let Some(motors) = &self.motors {
            builder = motors.iter().cloned().fold(builder.without_motors(), Builder::motor);
        }
        // A joint that is given an armature no longer holds what is inward of it: look again until nothing is found.
        for _ in 0..MOST_ROUNDS {
            let mut trial = builder.clone();
            for joint in &self.joints {
                trial = trial.joint(joint.item.clone());
            }
            match trial.unresisted() {
                Ok(found) if found.is_empty() => match trial.build().and_then(|m| self.hold(m)) {
                    Ok(mechanism) => return Ok(self.robot(mechanism, f)),
                    Err(problem) => {
                        self.blame(&problem, &mut f);
                        return Err(f.refusal());
                    }
                },
                Ok(found) => self.resist(&found, &mut f),
                Err(problem) => self.blame(&problem, &mut f),
            }
            if f.failed() {
                return Err(f.refusal());
            }
        }
        let advice = "give the links masses and moments of inertia";
        f.error(
            At::FILE,
            "no-inertia",
            "too many joints in a row move nothing that has inertia",
            advice,
        );
        Err(f.refusal())
    }

    /// Gives joints that nothing resists an armature.
    fn resist(&mut self, found: &[(usize, usize)], f: &mut Findings) {
        for &(j, dof) in found {
            let joint = &mut self.joints[j];
            let child = shortened(&joint.item.child);
            let message = format!("nothing gives inertia to this joint, which moves link `{child}`");
            let how = format!("it got an armature of {LEAST_ARMATURE:e}");
            let advice = "give the links that it moves mass and moments of inertia, or make it fixed";
            let done = f.judge(joint_at(joint), "no-inertia", message, advice, Remedy::Change(&how));
            if done < Severity::Error {
                let mut armature = joint.item.armature.clone();
                if armature.len() != joint.item.kind.nv() {
                    let all = armature.first().copied().unwrap_or(0.0);
                    armature = vec![all; joint.item.kind.nv()];
                }
                armature[dof] += LEAST_ARMATURE;
                joint.item.armature = armature;
            }
        }
    }

    fn robot(self, mechanism: Mechanism, mut f: Findings) -> Robot {
        let mut keyframes = Vec::with_capacity(self.keyframes.len());
        for key in self.keyframes {
            let name = shortened(&key.name);
            match key.of(&mechanism) {
                Some(key) => keyframes.push(key),
                None => {
                    let message = format!("keyframe `{name}` is not a state of this robot; it is left out");
                    f.doubt(At::FILE, "keyframe", message, "give q and v of the robot's own lengths");
                }
            }
        }
        let follows: HashSet<&str> = mechanism.couplings().iter().map(|c| &*c.follower).collect();
        let couplings = self.couplings.into_iter().map(|c| c.item);
        let couplings = couplings.filter(|c| follows.contains(&*c.follower)).collect();
        let mut robot = Robot {
            keyframes,
            actuators: self.actuators,
            sensors: self.sensors,
            tendons: self.tendons,
            floating: self.floating,
            mechanism,
            geometry: self.geometry,
            touches: self.touches,
            untouching: self.untouching,
            zones: self.zones,
            terrains: self.terrains,
            couplings,
            loops: self.loops,
            transmissions: self.transmissions,
            report: Report::default(),
        };
        if let Err(problem) = tune(&mut robot, &self.tuned) {
            f.doubt(
                At::FILE,
                "spring-damper",
                problem.to_string(),
                "the robot moves without it",
            );
        }
        if robot.loops.len() > FEW_LOOPS {
            many_loops(&robot, &mut f);
        }
        robot.report = f.report;
        robot
    }

    /// Reports what the builder refused, at the place of what it names.
    fn blame(&self, problem: &Error, f: &mut Findings) {
        let link = |name: &String| self.links.iter().find(|l| l.item.name == *name).map(link_at);
        let joint = |name: &String| self.joints.iter().find(|j| j.item.name == *name).map(joint_at);
        let at = match problem {
            Error::Inertia { link: name, .. } | Error::Unheld { link: name } => link(name),
            Error::Joint { joint: name, .. }
            | Error::JointLength { joint: name, .. }
            | Error::NoInertia { joint: name, .. } => joint(name),
            Error::Dangling { name, .. } | Error::Pose { name, .. } => joint(name),
            Error::HeldTwice { second, .. } => joint(second),
            Error::Duplicate { name, .. } | Error::Name { name, .. } => link(name).or_else(|| joint(name)),
            Error::Cycle { links } => links.first().and_then(link),
            _ => None,
        };
        f.error(at.unwrap_or(At::FILE), "mechanism", problem.to_string(), "");
    }
}

/// Gives joints the springs and dampers that a time constant and a damping ratio tell, at the inertia that they show as the
/// file is written, all other joints free: k = I/(Tζ)², c = 2I/T, 1/I being the mean of their places on the diagonal of 𝓜⁻¹.
fn tune(robot: &mut Robot, tuned: &[(String, [f64; 2])]) -> linkwork::Result<()> {
    if tuned.is_empty() {
        return Ok(());
    }
    let m = &robot.mechanism;
    let (mut changed, mut workspace) = (m.clone(), m.workspace());
    let q = robot.written_configuration();
    let mut posed = workspace.at(&q)?;
    let (mut force, mut answer) = (vec![0.0; m.nv()], vec![0.0; m.nv()]);
    for (name, [time, ratio]) in tuned {
        let at = m.v_range(m.joint(name)?)?;
        if at.is_empty() {
            continue;
        }
        let mut yields = 0.0;
        for i in at.clone() {
            force.fill(0.0);
            force[i] = 1.0;
            posed.inverse_mass_times(&force, &mut answer)?;
            yields += answer[i] / at.len() as f64;
        }
        let inertia = 1.0 / yields;
        changed = changed.with_joint(name, |mut joint| {
            let both = [&mut joint.stiffness, &mut joint.damping];
            for (list, x) in both
                .into_iter()
                .zip([inertia / (time * ratio).powi(2), 2.0 * inertia / time])
            {
                match list.is_empty() {
                    true => list.push(x),
                    false => list.iter_mut().for_each(|own| *own += x),
                }
            }
            joint
        })?;
    }
    robot.mechanism = changed;
    Ok(())
}

/// Warns of loops that are slow to solve, or too many to be solved.
fn many_loops(robot: &Robot, f: &mut Findings) {
    let advice = "leave some out, or let joints follow others where a loop is short";
    match robot.closed() {
        Ok(closed) if closed.rows_together() > MANY_ROWS => {
            let rows = closed.rows_together();
            let message = format!("loops that share links make {rows} equations, solved together in every step");
            f.doubt(At::FILE, "many-loops", message, advice);
        }
        Ok(_) => {}
        Err(problem) => f.doubt(At::FILE, "many-loops", problem.to_string(), advice),
    }
}

/// So many loops are never slow.
const FEW_LOOPS: usize = 100;
/// So many equations take about a tenth of a second.
const MANY_ROWS: usize = 600;

/// How often joints that nothing resists are looked for.
const MOST_ROUNDS: usize = 20;

fn name(f: &mut Findings, at: At<'_>) {
    if at.name.is_empty() {
        let message = format!("the {} has no name", at.what);
        f.error(at, "missing-name", message, "give it one");
    } else if at.name.len() > LONGEST_NAME {
        let message = format!("the name has {} bytes", at.name.len());
        let advice = format!("shorten it to {LONGEST_NAME} or less");
        f.error(at, "long-name", message, &advice);
    }
}

fn duplicate(f: &mut Findings, at: At<'_>, first: Spot) {
    if at.name.is_empty() {
        return;
    }
    let message = format!("line {} has the same name", f.line(first));
    f.error(
        at,
        "duplicate-name",
        message,
        "rename one of them; names of links and frames must all differ",
    );
}

/// A name that is not taken: the wish, or the wish with underscores.
pub(crate) fn free_name(wish: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = wish.to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}

/// Whether a name is the world's.
pub(crate) fn is_world(name: &str) -> bool {
    name == WORLD
}
