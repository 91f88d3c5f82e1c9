//! What a file's sensors measure.
//!
//! Conventions are MuJoCo's: accelerometers feel gravity, quaternions are w, x, y, z, forces are those of the parent on the
//! body that carries the site, with actuators on joints and sites and tendons over joints as part of the joint. Noise is left to the reader.

mod object;
mod zone;

use crate::actuators::Sensor;
use crate::drivetrain::{Drivetrain, Line};
use crate::robot::{Robot, Shape};
use crate::source::shortened;
use linkwork::contact::LinkForce;
use linkwork::model::{JointKind, WORLD};
use linkwork::simulate::Now;
use linkwork::spatial::Vec3;
use linkwork::workspace::{Accelerating, Moving};
use linkwork::{Mechanism, Result};
use object::{Object, Seen, Subtree};

/// A robot's sensors.
///
/// ```
/// use linkwork::simulate::Now;
/// use linkwork_formats::{Drivetrain, Format, Options, Sensors, read};
/// let text = r#"<mujoco><worldbody><body pos="0 0 1"><joint name="j" type="slide" axis="1 0 0"/><geom size="1"/>
///   <site name="imu"/></body></worldbody><sensor><accelerometer site="imu"/><jointpos joint="j"/></sensor></mujoco>"#;
/// let robot = read("robot.xml", text.as_bytes(), Format::Mjcf, &Options::default())?;
/// let (mut sensors, mut drives) = (Sensors::new(&robot)?, Drivetrain::new(&robot)?);
/// let (q, v, qdd) = ([0.2], [0.0], [3.0]);
/// let mut workspace = robot.mechanism.workspace();
/// let mut posed = workspace.at(&q)?;
/// let mut moving = posed.moving(&v)?;
/// drives.at(&q, &v, &mut moving)?;
/// let mut out = vec![0.0; sensors.width()];
/// sensors.measure(Now { t: 0.0, q: &q, v: &v }, &mut moving, &drives, &qdd, &[], &mut out)?;
/// assert_eq!(out, [3.0, 0.0, 9.81, 0.2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Sensors {
    all: Vec<Measured>,
    labels: Vec<String>,
    left_out: Vec<String>,
    tau: Vec<f64>,
    room: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Measured {
    what: What,
    cutoff: f64,
    /// What was seen before accelerations.
    seen: Option<Seen>,
}

#[derive(Clone, Debug)]
enum What {
    Clock,
    Kinetic,
    Potential(Subtree),
    Position(Line),
    Velocity(Line),
    ActuatorPosition(usize),
    ActuatorVelocity(usize),
    ActuatorForce(usize),
    TendonPosition(usize),
    TendonVelocity(usize),
    TendonForce(usize),
    JointForce(usize),
    BallTurn(usize),
    BallRate(usize),
    Place(Object, Option<Object>),
    Turn(Object, Option<Object>),
    Axis(Object, Option<Object>, usize),
    LinearVelocity(Object, Option<Object>),
    AngularVelocity(Object, Option<Object>),
    LinearAcceleration(Object),
    AngularAcceleration(Object),
    Gyro(Object),
    Velocimeter(Object),
    Accelerometer(Object),
    Force(Object, Subtree),
    Moment(Object, Subtree),
    /// A site, its link's number, and its volume.
    Touch(Object, usize, Shape),
    Com(Subtree),
    ComVelocity(Subtree),
    AngularMomentum(Subtree),
}

/// Kinds of sensors that are modelled.
pub(crate) const KINDS: [&str; 32] = [
    "clock",
    "e_kinetic",
    "e_potential",
    "jointpos",
    "jointvel",
    "actuatorpos",
    "actuatorvel",
    "actuatorfrc",
    "tendonpos",
    "tendonvel",
    "tendonactuatorfrc",
    "jointactuatorfrc",
    "ballquat",
    "ballangvel",
    "framepos",
    "framequat",
    "framexaxis",
    "frameyaxis",
    "framezaxis",
    "framelinvel",
    "frameangvel",
    "framelinacc",
    "frameangacc",
    "gyro",
    "velocimeter",
    "accelerometer",
    "force",
    "torque",
    "touch",
    "subtreecom",
    "subtreelinvel",
    "subtreeangmom",
];

const ONE: &[&str] = &[""];
const VECTOR: &[&str] = &[".x", ".y", ".z"];
const QUATERNION: &[&str] = &[".w", ".x", ".y", ".z"];

impl What {
    fn of(robot: &Robot, sensor: &Sensor) -> core::result::Result<Self, String> {
        let m = &robot.mechanism;
        let target = || sensor.target.as_ref().ok_or_else(|| "it measures nothing".to_owned());
        let object = || Object::of(robot, target()?);
        let reference = || sensor.reference.as_ref().map(|t| Object::of(robot, t)).transpose();
        let turned = |o: Object| match o.turned {
            true => Ok(o),
            false => Err("the principal axes of a body have no sign; measure its xbody".to_owned()),
        };
        let from = || reference()?.map(turned).transpose();
        let actuator = || {
            let name = &target()?.name;
            let found = robot.actuators.iter().position(|a| a.name == *name);
            found.ok_or_else(|| format!("there is no actuator `{}`", shortened(name)))
        };
        let tendon = || {
            let name = &target()?.name;
            let found = robot.tendons.iter().position(|a| a.name == *name);
            found.ok_or_else(|| format!("there is no tendon `{}`", shortened(name)))
        };
        let line = || {
            let target = target()?;
            let kind = m.joint(&target.name).map(|j| m.joints()[j.index()].kind.nv());
            match kind {
                Ok(1) => Line::of_target(m, target, None, &[1.0]),
                _ => Err(format!("joint `{}` has not one coordinate", shortened(&target.name))),
            }
        };
        let ball = |q: bool| {
            let id = m.joint(&target()?.name).map_err(|e| e.to_string())?;
            let range = if q { m.q_range(id) } else { m.v_range(id) };
            match m.joints()[id.index()].kind {
                JointKind::Spherical => Ok(range.map_err(|e| e.to_string())?.start),
                _ => Err("it is not a ball joint".to_owned()),
            }
        };
        let carried = || {
            let name = &target()?.name;
            let on = m.frames().iter().find(|f| f.name == *name);
            Subtree::of(m, on.map_or(name, |f| &f.link))
        };
        Ok(match &*sensor.kind {
            "clock" => Self::Clock,
            "e_kinetic" => Self::Kinetic,
            "e_potential" => {
                let bent = |j: &linkwork::model::Joint| j.kind.nv() != 1 && j.stiffness.iter().any(|k| *k != 0.0);
                if m.joints().iter().any(bent) || m.is_coupled() {
                    return Err("springs of balls and of followers are not in it".to_owned());
                }
                Self::Potential(Subtree::of(m, WORLD)?)
            }
            "jointpos" => Self::Position(line()?),
            "jointvel" => Self::Velocity(line()?),
            "actuatorpos" => Self::ActuatorPosition(actuator()?),
            "actuatorvel" => Self::ActuatorVelocity(actuator()?),
            "actuatorfrc" => Self::ActuatorForce(actuator()?),
            "tendonpos" => Self::TendonPosition(tendon()?),
            "tendonvel" => Self::TendonVelocity(tendon()?),
            "tendonactuatorfrc" => Self::TendonForce(tendon()?),
            "jointactuatorfrc" => {
                let id = m.joint(&target()?.name).map_err(|e| e.to_string())?;
                let range = m.v_range(id).map_err(|e| e.to_string())?;
                match range.len() {
                    1 => Self::JointForce(range.start),
                    _ => return Err("it has not one coordinate of its own".to_owned()),
                }
            }
            "ballquat" => Self::BallTurn(ball(true)?),
            "ballangvel" => Self::BallRate(ball(false)?),
            "framepos" => Self::Place(object()?, from()?),
            "framequat" => Self::Turn(turned(object()?)?, from()?),
            "framexaxis" => Self::Axis(turned(object()?)?, from()?, 0),
            "frameyaxis" => Self::Axis(turned(object()?)?, from()?, 1),
            "framezaxis" => Self::Axis(turned(object()?)?, from()?, 2),
            "framelinvel" => Self::LinearVelocity(object()?, from()?),
            "frameangvel" => Self::AngularVelocity(object()?, from()?),
            "framelinacc" => Self::LinearAcceleration(object()?),
            "frameangacc" => Self::AngularAcceleration(object()?),
            "gyro" => Self::Gyro(object()?),
            "velocimeter" => Self::Velocimeter(object()?),
            "accelerometer" => Self::Accelerometer(object()?),
            "force" => Self::Force(object()?, carried()?),
            "torque" => Self::Moment(object()?, carried()?),
            "touch" => {
                let site = object()?;
                let zone = robot.zones.get(&target()?.name);
                let zone = zone.ok_or("its site has no volume that is known")?;
                let link = m
                    .link_of(site.frame)
                    .map_err(|_| "its site is fixed to the world".to_owned())?;
                Self::Touch(site, link.index(), zone.clone())
            }
            "subtreecom" => Self::Com(carried()?),
            "subtreelinvel" => Self::ComVelocity(carried()?),
            "subtreeangmom" => Self::AngularMomentum(carried()?),
            other => return Err(format!("a <{}> is not modelled", shortened(other))),
        })
    }

    /// A label for each of its numbers.
    fn parts(&self) -> &'static [&'static str] {
        match self {
            Self::Clock
            | Self::Kinetic
            | Self::Potential(_)
            | Self::Position(_)
            | Self::Velocity(_)
            | Self::ActuatorPosition(_)
            | Self::ActuatorVelocity(_)
            | Self::ActuatorForce(_)
            | Self::TendonPosition(_)
            | Self::TendonVelocity(_)
            | Self::TendonForce(_)
            | Self::JointForce(_)
            | Self::Touch(..) => ONE,
            Self::BallTurn(_) | Self::Turn(..) => QUATERNION,
            _ => VECTOR,
        }
    }

    fn accelerates(&self) -> bool {
        matches!(
            self,
            Self::LinearAcceleration(_)
                | Self::AngularAcceleration(_)
                | Self::Accelerometer(_)
                | Self::Force(..)
                | Self::Moment(..)
                | Self::Touch(..)
        )
    }

    /// Whether what it measures has a bound: not so of directions.
    fn cuts(&self) -> bool {
        !matches!(self, Self::BallTurn(_) | Self::Turn(..) | Self::Axis(..))
    }
}

impl Sensors {
    /// Of a robot. Those that are not modelled are left out, and [listed](Self::left_out).
    pub fn new(robot: &Robot) -> Result<Self> {
        let (mut all, mut labels, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (i, sensor) in robot.sensors.iter().enumerate() {
            let name = match &*sensor.name {
                "" => format!("{}{}", sensor.kind, i + 1),
                name => name.to_owned(),
            };
            match What::of(robot, sensor) {
                Ok(what) => {
                    labels.extend(what.parts().iter().map(|part| format!("{name}{part}")));
                    all.push(Measured {
                        what,
                        cutoff: sensor.cutoff,
                        seen: None,
                    });
                }
                Err(why) => left_out.push(format!("sensor `{}`: {why}", shortened(&name))),
            }
        }
        let nv = robot.mechanism.nv();
        Ok(Self {
            all,
            labels,
            left_out,
            tau: vec![0.0; nv],
            room: vec![0.0; 12 * nv],
        })
    }

    /// Sensors that are not modelled, in words.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// A label for every number.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// How many numbers they give.
    pub fn width(&self) -> usize {
        self.labels.len()
    }

    /// Whether any measures accelerations or forces.
    pub fn need_accelerations(&self) -> bool {
        self.all.iter().any(|s| s.what.accelerates())
    }

    /// The same without those that measure accelerations or forces, which are then listed as left out.
    pub fn without_accelerations(mut self, why: &str) -> Self {
        let mut labels = self.labels.into_iter();
        let mut kept = Vec::new();
        self.all.retain(|s| {
            let own: Vec<String> = labels.by_ref().take(s.what.parts().len()).collect();
            if s.what.accelerates() {
                self.left_out
                    .push(format!("sensor `{}`: {why}", own[0].trim_end_matches(".x")));
                return false;
            }
            kept.extend(own);
            true
        });
        self.labels = kept;
        self
    }

    /// Measures, at a state that `moving` and the drivetrain are at, with accelerations q̈ and what contacts and loops push; see
    /// [`Stepper::sensors`](linkwork::contact::Stepper::sensors).
    pub fn measure(
        &mut self,
        now: Now<'_>,
        moving: &mut Moving<'_>,
        drives: &Drivetrain,
        qdd: &[f64],
        pushes: &[LinkForce],
        out: &mut [f64],
    ) -> Result<()> {
        let m = moving.mechanism();
        let mut at = 0;
        for sensor in &mut self.all {
            let width = sensor.what.parts().len();
            sensor.look(now, m, moving, drives, &mut self.room, &mut out[at..at + width])?;
            at += width;
        }
        if self.need_accelerations() {
            let accelerating = moving.with_accelerations(qdd, &mut self.tau)?;
            let mut at = 0;
            for sensor in &self.all {
                let width = sensor.what.parts().len();
                sensor.feel(m, (drives, pushes), &accelerating, &mut out[at..at + width])?;
                at += width;
            }
        }
        let mut rest = out;
        for sensor in &self.all {
            let (own, after) = rest.split_at_mut(sensor.what.parts().len());
            if sensor.cutoff > 0.0 && sensor.what.cuts() {
                own.iter_mut().for_each(|x| *x = x.clamp(-sensor.cutoff, sensor.cutoff));
            }
            rest = after;
        }
        Ok(())
    }
}

impl Measured {
    /// What does not need accelerations.
    fn look(
        &mut self,
        now: Now<'_>,
        m: &Mechanism,
        moving: &mut Moving<'_>,
        drives: &Drivetrain,
        room: &mut [f64],
        out: &mut [f64],
    ) -> Result<()> {
        let both = |a: &Object, b: &Option<Object>, moving: &mut Moving<'_>| -> Result<(Seen, Option<Seen>)> {
            Ok((a.seen(moving)?, b.map(|b| b.seen(moving)).transpose()?))
        };
        // Directions of the world seen from a reference.
        let from = |x: Vec3, reference: &Option<Seen>| match reference {
            Some(r) => r.pose.rotation.inverse_mul(x).to_array(),
            None => x.to_array(),
        };
        let vector: [f64; 3] = match &mut self.what {
            What::Clock => return single(out, now.t),
            What::Kinetic => return single(out, moving.kinetic_energy()),
            What::Potential(all) => {
                all.look(moving)?;
                let springs = m.layout().filter(|(_, at, _)| at.len() == 1).map(|(joint, at, _)| {
                    let first = |list: &[f64]| list.first().copied().unwrap_or(0.0);
                    0.5 * first(&joint.stiffness) * (now.q[at.start] - first(&joint.rest)).powi(2)
                });
                let springs: f64 = springs.sum();
                return single(out, all.potential(m.gravity()) + springs + drives.spring_energy());
            }
            What::Position(line) => {
                line.find(now.q, now.v, moving, room)?;
                return single(out, line.length);
            }
            What::Velocity(line) => {
                line.find(now.q, now.v, moving, room)?;
                return single(out, line.rate);
            }
            What::ActuatorPosition(i) => return single(out, drives.actuator(*i).map_or(0.0, |x| x[0])),
            What::ActuatorVelocity(i) => return single(out, drives.actuator(*i).map_or(0.0, |x| x[1])),
            What::ActuatorForce(i) => return single(out, drives.actuator(*i).map_or(0.0, |x| x[2])),
            What::TendonPosition(i) => return single(out, drives.tendon(*i).map_or(0.0, |x| x[0])),
            What::TendonVelocity(i) => return single(out, drives.tendon(*i).map_or(0.0, |x| x[1])),
            What::TendonForce(i) => return single(out, drives.tendon_force(*i).unwrap_or(0.0)),
            What::JointForce(v) => return single(out, drives.actuator_torques()[*v]),
            What::BallTurn(q) => {
                let [x, y, z, w] = [0, 1, 2, 3].map(|i| now.q[*q + i]);
                out.copy_from_slice(&[w, x, y, z]);
                return Ok(());
            }
            What::BallRate(v) => [0, 1, 2].map(|i| now.v[*v + i]),
            What::Place(object, reference) => {
                let (own, seen) = both(object, reference, moving)?;
                let origin = seen.map_or(Vec3::ZERO, |r| r.pose.translation);
                from(own.pose.translation - origin, &seen)
            }
            What::Turn(object, reference) => {
                let (own, seen) = both(object, reference, moving)?;
                let turn = match seen {
                    Some(r) => r.pose.rotation.inverse() * own.pose.rotation,
                    None => own.pose.rotation,
                };
                let [x, y, z, w] = turn.to_quaternion();
                out.copy_from_slice(&[w, x, y, z]);
                return Ok(());
            }
            What::Axis(object, reference, i) => {
                let (own, seen) = both(object, reference, moving)?;
                let r = own.pose.rotation.to_rows();
                from(Vec3::new(r[0][*i], r[1][*i], r[2][*i]), &seen)
            }
            What::LinearVelocity(object, reference) => {
                let (own, seen) = both(object, reference, moving)?;
                let mut v = own.velocity.linear;
                if let Some(r) = &seen {
                    let arm = own.pose.translation - r.pose.translation;
                    v = v - r.velocity.linear - r.velocity.angular.cross(arm);
                }
                from(v, &seen)
            }
            What::AngularVelocity(object, reference) => {
                let (own, seen) = both(object, reference, moving)?;
                from(
                    own.velocity.angular - seen.map_or(Vec3::ZERO, |r| r.velocity.angular),
                    &seen,
                )
            }
            What::Gyro(object) => {
                let own = object.seen(moving)?;
                from(own.velocity.angular, &Some(own))
            }
            What::Velocimeter(object) => {
                let own = object.seen(moving)?;
                from(own.velocity.linear, &Some(own))
            }
            What::Com(all) => {
                all.look(moving)?;
                all.com().to_array()
            }
            What::ComVelocity(all) => {
                all.look(moving)?;
                all.velocity().to_array()
            }
            What::AngularMomentum(all) => {
                all.look(moving)?;
                all.angular_momentum().to_array()
            }
            What::LinearAcceleration(object)
            | What::AngularAcceleration(object)
            | What::Accelerometer(object)
            | What::Touch(object, ..) => {
                self.seen = Some(object.seen(moving)?);
                return Ok(());
            }
            What::Force(object, all) | What::Moment(object, all) => {
                all.look(moving)?;
                self.seen = Some(object.seen(moving)?);
                return Ok(());
            }
        };
        out.copy_from_slice(&vector);
        Ok(())
    }

    /// What does.
    fn feel(
        &self,
        m: &Mechanism,
        pulled: (&Drivetrain, &[LinkForce]),
        accelerating: &Accelerating<'_>,
        out: &mut [f64],
    ) -> Result<()> {
        let gravity = m.gravity();
        let Some(seen) = &self.seen else { return Ok(()) };
        let own = |x: Vec3| seen.pose.rotation.inverse_mul(x);
        let vector = match &self.what {
            What::LinearAcceleration(object) => object.acceleration(seen, accelerating)?.linear - gravity,
            What::AngularAcceleration(object) => object.acceleration(seen, accelerating)?.angular,
            What::Accelerometer(object) => own(object.acceleration(seen, accelerating)?.linear - gravity),
            What::Force(_, all) => own(all.force(seen.pose.translation, m, pulled, accelerating)?[1]),
            What::Moment(_, all) => own(all.force(seen.pose.translation, m, pulled, accelerating)?[0]),
            What::Touch(_, link, zone) => {
                let on = |push: &&LinkForce| m.link_of(push.frame).is_ok_and(|on| on.index() == *link);
                // Outwards from the link, as it pushes.
                let in_zone = |push: &&LinkForce| zone::meets(zone, &seen.pose, push.point, -push.normal.1);
                let pushes = pulled.1.iter().filter(|push| push.normal.0 > 0.0).filter(on);
                return single(out, pushes.filter(in_zone).map(|push| push.normal.0).sum());
            }
            _ => return Ok(()),
        };
        out.copy_from_slice(&vector.to_array());
        Ok(())
    }
}

fn single(out: &mut [f64], x: f64) -> Result<()> {
    out[0] = x;
    Ok(())
}
