//! What moves a robot besides torques at joints: its file's actuators, and its tendons.
//!
//! Everything acts along a [`Line`](line::Line): a length ℓ that depends on q, with ℓ̇ = Jq̇, and the torques J*f of a force
//! along it. Lines of joints have a few numbers; those of sites are found from Jacobians of frames.

mod cable;
mod controls;
mod length_range;
mod line;
mod muscle;
mod servo;
mod wrap;

pub use controls::Controls;

use crate::robot::Robot;
use crate::source::shortened;
use cable::Cable;
pub(crate) use line::{Line, Piece};
use linkwork::model::FrameId;
use linkwork::spatial::Vec3;
use linkwork::workspace::{Moving, Posed};
use linkwork::{Mechanism, Result};
use muscle::Flesh;
use servo::{Servo, Slopes, within};

/// A robot's actuators and tendons: from controls to torques.
///
/// ```
/// use linkwork_formats::{Drivetrain, Format, Options, read};
/// let text = r#"<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size="1"/></body></worldbody>
///   <actuator><position joint="j" kp="20" kv="3"/></actuator></mujoco>"#;
/// let robot = read("robot.xml", text.as_bytes(), Format::Mjcf, &Options::default())?;
/// let mut drives = Drivetrain::new(&robot)?;
/// let (q, v, mut tau) = ([0.1], [0.5], [0.0]);
/// let mut workspace = robot.mechanism.workspace();
/// drives.at(&q, &v, &mut workspace.at(&q)?.moving(&v)?)?;
/// drives.actuate(&[0.4], &mut tau);
/// assert!((tau[0] - (20.0 * (0.4 - 0.1) - 3.0 * 0.5)).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Drivetrain {
    /// Of the tendons, then of actuators elsewhere.
    lines: Vec<Line>,
    /// In the order of the robot's actuators; none where one is left out.
    servos: Vec<Option<Servo>>,
    /// In the order of the robot's tendons.
    cables: Vec<Option<Cable>>,
    /// Degrees of freedom whose joints bear no more torque of actuators.
    limits: Vec<(usize, f64)>,
    left_out: Vec<String>,
    /// Per actuator and tendon, from the last calls.
    forces: Vec<(f64, Slopes)>,
    pulls: Vec<(f64, Slopes)>,
    torque: Vec<f64>,
    /// Links whose weight is carried: centres of mass, and forces along the world's axes.
    floats: Vec<(FrameId, Vec3, Vec3)>,
    /// The torques of that, at the configuration last found.
    lift: Vec<f64>,
    room: Vec<f64>,
}

/// Configurations that the inertia along a tendon is looked for at.
const SEEDS: u64 = 4;

impl Drivetrain {
    /// Of a robot. What is not modelled is left out, and [listed](Self::left_out).
    pub fn new(robot: &Robot) -> Result<Self> {
        let m = &robot.mechanism;
        let (mut lines, mut left_out, mut cables) = (Vec::new(), Vec::new(), Vec::new());
        for (i, tendon) in robot.tendons.iter().enumerate() {
            let line = Line::of_tendon(robot, tendon);
            let cable = line.map(|line| {
                lines.push(line);
                Cable::new(tendon, lines.len() - 1)
            });
            if let Err(why) = &cable {
                left_out.push(format!("tendon {}: {why}", called(&tendon.name, i)));
            }
            if tendon.armature != 0.0 && !tendon.folded {
                left_out.push(format!(
                    "tendon {}: its armature is not modelled",
                    called(&tendon.name, i)
                ));
            }
            cables.push(cable.ok());
        }
        let mut servos = Vec::new();
        for (i, actuator) in robot.actuators.iter().enumerate() {
            let servo = if !actuator.modelled {
                Err(format!(
                    "a <{}> of this kind is not modelled",
                    shortened(&actuator.kind)
                ))
            } else if actuator.target.kind == "tendon" {
                let named = robot.tendons.iter().position(|t| t.name == actuator.target.name);
                let cable = named.and_then(|t| cables[t].as_ref());
                let ratio = actuator.gear.first().copied().unwrap_or(1.0);
                cable
                    .map(|c| Servo::new(actuator, c.line, ratio))
                    .ok_or_else(|| format!("its tendon `{}` is left out", shortened(&actuator.target.name)))
            } else {
                let line = match (actuator.rod, &actuator.reference) {
                    (Some(rod), Some(slider)) => Line::of_crank(m, [&actuator.target, slider], rod, &actuator.gear),
                    _ => Line::of_target(m, &actuator.target, actuator.reference.as_ref(), &actuator.gear),
                };
                line.map(|line| {
                    lines.push(line);
                    Servo::new(actuator, lines.len() - 1, 1.0)
                })
            };
            if let Err(why) = &servo {
                left_out.push(format!("actuator {}: {why}", called(&actuator.name, i)));
            }
            servos.push(servo.ok());
        }
        let nv = m.nv();
        let limited = m.joints().iter().filter(|j| j.kind.nv() == 1);
        let limited = limited.filter_map(|j| Some((m.v_range(m.joint(&j.name).ok()?).ok()?, *j.effort_limit.first()?)));
        let mut all = Self {
            limits: limited
                .filter(|(range, x)| range.len() == 1 && x.is_finite())
                .map(|(range, x)| (range.start, x))
                .collect(),
            forces: vec![Default::default(); servos.len()],
            pulls: vec![Default::default(); cables.len()],
            lines,
            servos,
            cables,
            left_out,
            torque: vec![0.0; nv],
            floats: floats(robot),
            lift: vec![0.0; nv],
            room: vec![0.0; 12 * nv],
        };
        all.settle_springs(robot)?;
        all.settle_damping(robot)?;
        all.settle_muscles(robot)?;
        all.settle_inertias(m)?;
        Ok(all)
    }

    /// Actuators and tendons that are not modelled, in words.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Whether any actuator acts.
    pub fn has_actuators(&self) -> bool {
        self.servos.iter().any(Option::is_some)
    }

    /// Whether any tendon, or the compensation of gravity, does anything by itself.
    pub fn has_tendons(&self) -> bool {
        self.cables.iter().flatten().any(Cable::acts) || !self.floats.is_empty()
    }

    /// The same without limits of tendons.
    pub fn without_limits(mut self) -> Self {
        self.cables.iter_mut().flatten().for_each(Cable::without_limits);
        self
    }

    /// The same without limits of forces and torques of actuators.
    pub fn without_force_limits(mut self) -> Self {
        self.limits.clear();
        self.servos.iter_mut().flatten().for_each(|s| s.force_range = None);
        self.cables.iter_mut().flatten().for_each(|c| c.force_range = None);
        self
    }

    /// Limits and dry friction of tendons soft enough for explicit steps of a length in seconds.
    pub fn for_steps(mut self, step: f64) -> Self {
        self.cables.iter_mut().flatten().for_each(|c| c.for_steps(step));
        self
    }

    /// Finds lengths and their rates at a state, which `moving` is at.
    pub fn at(&mut self, q: &[f64], v: &[f64], moving: &mut Moving<'_>) -> Result<()> {
        let room = &mut self.room;
        self.lines
            .iter_mut()
            .try_for_each(|line| line.find(q, v, moving, room))?;
        self.lift.fill(0.0);
        for (frame, centre, force) in &self.floats {
            let lever = moving.pose(*frame)?.rotation * *centre;
            line::push(moving, *frame, [lever.cross(*force), *force], room, &mut self.lift)?;
        }
        Ok(())
    }

    /// Adds the torques of actuators, there, to `tau`. Inputs are activations of actuators that have one, and controls within
    /// their range of all others: what [`Controls::inputs`] gives.
    pub fn actuate(&mut self, inputs: &[f64], tau: &mut [f64]) {
        for ((servo, force), a) in self.servos.iter().zip(&mut self.forces).zip(inputs) {
            if let Some(servo) = servo {
                let line = &self.lines[servo.line];
                *force = servo.force(*a, servo.ratio * line.length, servo.ratio * line.rate);
            }
        }
        self.share_tendons();
        self.torque.fill(0.0);
        for (servo, (force, _)) in self.servos.iter().zip(&self.forces) {
            if let Some(servo) = servo {
                self.lines[servo.line].pull(servo.ratio * force, &mut self.torque);
            }
        }
        for (dof, limit) in &self.limits {
            self.torque[*dof] = self.torque[*dof].clamp(-limit, *limit);
        }
        tau.iter_mut().zip(&self.torque).for_each(|(tau, x)| *tau += x);
    }

    /// Actuators along one tendon pull together with no more than it bears.
    fn share_tendons(&mut self) {
        for cable in self.cables.iter().flatten() {
            let Some(range) = cable.force_range else { continue };
            let here = |servo: &Option<Servo>| servo.as_ref().is_some_and(|s| s.line == cable.line);
            let along = self.servos.iter().zip(&self.forces).filter(|(s, _)| here(s));
            let sum: f64 = along.map(|(_, force)| force.0).sum();
            let share = within(sum, Some(range)) / sum;
            if share.is_finite() && share != 1.0 {
                let along = self.servos.iter().zip(&mut self.forces).filter(|(s, _)| here(s));
                along.for_each(|(_, force)| *force = (share * force.0, Slopes::default()));
            }
        }
    }

    /// Adds what tendons do by themselves, and what carries weight, to `tau`.
    pub fn pull(&mut self, tau: &mut [f64]) {
        tau.iter_mut().zip(&self.lift).for_each(|(tau, x)| *tau += x);
        for (cable, pull) in self.cables.iter().zip(&mut self.pulls) {
            if let Some(cable) = cable.as_ref().filter(|c| c.acts()) {
                let line = &self.lines[cable.line];
                *pull = cable.force(line.length, line.rate);
                line.pull(pull.0, tau);
            }
        }
    }

    /// For a step that is implicit in the velocity: changes torques to what they are at the lengths that the present rates lead
    /// to, and adds what they fall by as velocities grow to `resistance`. Of lines along several degrees of freedom each takes
    /// at least its part. To be called after what acts was added.
    pub fn resist(&self, step: f64, tau: &mut [f64], resistance: &mut [f64]) {
        let servos = self.servos.iter().zip(&self.forces);
        let servos = servos.filter_map(|(s, f)| s.as_ref().map(|s| (s.line, s.ratio * s.ratio, f.1)));
        let cables = self.cables.iter().zip(&self.pulls);
        let cables = cables.filter_map(|(c, f)| c.as_ref().map(|c| (c.line, 1.0, f.1)));
        for (line, square, slopes) in servos.chain(cables) {
            let (stiffness, damping) = (square * slopes.stiffness.max(0.0), square * slopes.damping.max(0.0));
            if stiffness == 0.0 && damping == 0.0 {
                continue;
            }
            let line = &self.lines[line];
            line.pull(-step * stiffness * line.rate, tau);
            let sum: f64 = line.row.iter().map(|(_, x)| x.abs()).sum();
            for (i, x) in &line.row {
                resistance[*i] += (damping + step * stiffness) * x.abs() * sum;
            }
        }
    }

    /// The length of an actuator, its rate and its force, from the last calls; none if it is left out.
    pub fn actuator(&self, i: usize) -> Option<[f64; 3]> {
        let servo = self.servos.get(i)?.as_ref()?;
        let line = &self.lines[servo.line];
        Some([servo.ratio * line.length, servo.ratio * line.rate, self.forces[i].0])
    }

    /// The least and most length of an actuator that is a muscle, from its file or from the limits of joints.
    pub fn muscle_range(&self, i: usize) -> Option<[f64; 2]> {
        let servo = self.servos.get(i)?.as_ref()?;
        servo.flesh.as_ref().map(Flesh::length_range)
    }

    /// The length of a tendon and its rate; none if it is left out.
    pub fn tendon(&self, i: usize) -> Option<[f64; 2]> {
        let line = &self.lines[self.cables.get(i)?.as_ref()?.line];
        Some([line.length, line.rate])
    }

    /// The sum of the forces of actuators along a tendon, before their gears.
    pub fn tendon_force(&self, i: usize) -> Option<f64> {
        Some(self.along(self.cables.get(i)?.as_ref()?.line).map(|(_, f)| f).sum())
    }

    /// Ratios and forces of the actuators along a line.
    fn along(&self, line: usize) -> impl Iterator<Item = (f64, f64)> {
        let all = self.servos.iter().zip(&self.forces);
        all.filter_map(move |(s, f)| s.as_ref().filter(|s| s.line == line).map(|s| (s.ratio, f.0)))
    }

    /// Straight pieces of tendons, with what each is pulled with, from the last calls.
    pub(crate) fn pulled(&self) -> impl Iterator<Item = (&Piece, f64)> {
        self.cables.iter().enumerate().flat_map(|(i, cable)| {
            let place = cable.as_ref().map(|c| c.line);
            let driven: f64 = place.map_or(0.0, |line| self.along(line).map(|(ratio, f)| ratio * f).sum());
            let (line, force) = (place.map(|line| &self.lines[line]), self.pulls[i].0 + driven);
            line.into_iter()
                .flat_map(|l| l.pieces())
                .map(move |piece| (piece, force))
        })
    }

    /// The torques of all actuators, from the last call.
    pub fn actuator_torques(&self) -> &[f64] {
        &self.torque
    }

    /// The energy in the springs of tendons, at the lengths last found.
    pub fn spring_energy(&self) -> f64 {
        let springs = self.cables.iter().flatten().filter_map(|c| Some((c, c.rest?)));
        let energy = |(c, [lower, upper]): (&Cable, [f64; 2])| {
            let length = self.lines[c.line].length;
            0.5 * c.stiffness * (length - length.max(lower).min(upper)).powi(2)
        };
        springs.map(energy).sum()
    }

    /// Springs without a length of their own rest where the joints' springs do.
    fn settle_springs(&mut self, robot: &Robot) -> Result<()> {
        if self.cables.iter().flatten().all(|c| c.rest.is_some()) {
            return Ok(());
        }
        let m = &robot.mechanism;
        let mut q = m.neutral();
        for (joint, at, _) in m.layout().filter(|(j, at, _)| j.kind.nv() == 1 && at.len() == 1) {
            q[at].copy_from_slice(&[joint.rest.first().copied().unwrap_or(0.0)]);
        }
        self.still(m, &q)?;
        let Self { cables, lines, .. } = self;
        for cable in cables.iter_mut().flatten() {
            let length = lines[cable.line].length;
            cable.rest.get_or_insert([length; 2]);
        }
        Ok(())
    }

    /// b₂ of servos with a damping ratio, from the inertia that joints show as the file is written.
    fn settle_damping(&mut self, robot: &Robot) -> Result<()> {
        if robot.actuators.iter().all(|a| a.damping_ratio.is_none()) {
            return Ok(());
        }
        let (m, q) = (&robot.mechanism, robot.written_configuration());
        self.still(m, &q)?;
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&q)?;
        for (actuator, servo) in robot.actuators.iter().zip(&mut self.servos) {
            if let (Some(ratio), Some(servo)) = (actuator.damping_ratio, servo) {
                let yields = servo.ratio * servo.ratio * yields(&self.lines[servo.line], &mut posed)?;
                if yields > 0.0 {
                    servo.bias[2] = -2.0 * ratio * (servo.gain[0] / yields).sqrt();
                }
            }
        }
        Ok(())
    }

    /// The strongest forces of muscles, some from the acceleration that a force gives as the file is written.
    fn settle_muscles(&mut self, robot: &Robot) -> Result<()> {
        if robot.actuators.iter().all(|a| a.muscle.is_none()) {
            return Ok(());
        }
        let mut ranges = Vec::new();
        for (i, actuator) in robot.actuators.iter().enumerate() {
            let Some((muscle, servo)) = actuator.muscle.as_ref().zip(self.servos[i].as_ref()) else {
                ranges.push([0.0; 2]);
                continue;
            };
            let (line, ratio) = (servo.line, servo.ratio);
            let found = match muscle.length_range {
                Some(range) => Some(range),
                None => self.length_range(robot, line, ratio)?,
            };
            if found.is_none() {
                self.servos[i] = None;
                self.left_out.push(format!(
                    "actuator {}: no limits of joints end the length of this muscle; write its lengthrange into the file",
                    called(&actuator.name, i)
                ));
            }
            ranges.push(found.unwrap_or_default());
        }
        let (m, q) = (&robot.mechanism, robot.written_configuration());
        self.still(m, &q)?;
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&q)?;
        let (mut force, mut answer) = (vec![0.0; m.nv()], vec![0.0; m.nv()]);
        for ((actuator, servo), range) in robot.actuators.iter().zip(&mut self.servos).zip(ranges) {
            if let (Some(muscle), Some(servo)) = (&actuator.muscle, servo) {
                force.fill(0.0);
                self.lines[servo.line].pull(servo.ratio, &mut force);
                posed.inverse_mass_times(&force, &mut answer)?;
                let acceleration = answer.iter().map(|a| a * a).sum::<f64>().sqrt();
                servo.flesh = Some(Flesh::new(muscle, range, acceleration));
            }
        }
        Ok(())
    }

    /// The least that the mechanism shows along tendons with limits or friction.
    fn settle_inertias(&mut self, m: &Mechanism) -> Result<()> {
        if !self.cables.iter().flatten().any(Cable::needs_inertia) {
            return Ok(());
        }
        let nv = m.nv();
        let mut workspace = m.workspace();
        let still = vec![0.0; nv];
        for seed in 0..=SEEDS {
            let q = if seed == 0 { m.neutral() } else { m.random(seed) };
            let mut posed = workspace.at(&q)?;
            self.at(&q, &still, &mut posed.moving(&still)?)?;
            for cable in self.cables.iter_mut().flatten().filter(|c| c.needs_inertia()) {
                let yields = yields(&self.lines[cable.line], &mut posed)?;
                if yields > 0.0 && (cable.inertia == 0.0 || 1.0 / yields < cable.inertia) {
                    cable.inertia = 1.0 / yields;
                }
            }
        }
        Ok(())
    }

    /// Lengths and rows at rest.
    fn still(&mut self, m: &Mechanism, q: &[f64]) -> Result<()> {
        let still = vec![0.0; m.nv()];
        let mut workspace = m.workspace();
        let mut posed = workspace.at(q)?;
        self.at(q, &still, &mut posed.moving(&still)?)
    }
}

/// The links whose weight is carried, their centres of mass and the forces.
fn floats(robot: &Robot) -> Vec<(FrameId, Vec3, Vec3)> {
    let m = &robot.mechanism;
    let each = robot.floating.iter().filter_map(|(name, share)| {
        let inertia = &m.links().iter().find(|l| l.name == *name)?.inertia;
        let force = m.gravity() * (-share * inertia.mass);
        Some((m.frame(name).ok()?, inertia.com, force))
    });
    each.filter(|(.., force)| *force != Vec3::ZERO).collect()
}

/// J𝓜⁻¹J* of a line.
fn yields(line: &Line, posed: &mut Posed<'_>) -> Result<f64> {
    let nv = posed.mechanism().nv();
    let (mut force, mut answer) = (vec![0.0; nv], vec![0.0; nv]);
    line.pull(1.0, &mut force);
    posed.inverse_mass_times(&force, &mut answer)?;
    Ok(force.iter().zip(&answer).map(|(f, a)| f * a).sum())
}

/// A name, or a number where there is none.
fn called(name: &str, i: usize) -> String {
    match name {
        "" => format!("number {}", i + 1),
        _ => format!("`{}`", shortened(name)),
    }
}
