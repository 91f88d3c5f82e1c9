//! What sensors feel in a step: wrenches of contacts, accelerations with levers, and forces across joints, welds included.

use super::step::Stepper;
use crate::model::{FrameId, JointId, LinkId, Mechanism};
use crate::spatial::{Force, Motion, Pose, Reference, Vec3};
use crate::workspace::Accelerating;
use crate::{Error, Result};

/// What an inertial measurement unit gives, in its own axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Imu {
    /// ω, rad/s.
    pub angular_velocity: Vec3,
    /// The acceleration less gravity, m/s²: upwards at rest.
    pub specific_force: Vec3,
}

/// A force on a frame's link over a step, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkForce {
    /// The frame whose link it acts on; the world's on nothing.
    pub frame: FrameId,
    /// Where it acts.
    pub point: Vec3,
    /// Newtons.
    pub force: Vec3,
    /// N m, about that point.
    pub moment: Vec3,
    /// How much of it is along a contact's normal, and that normal towards the link; zero of loops.
    pub normal: (f64, Vec3),
}

impl LinkForce {
    /// As a force about and in the axes of a frame.
    fn seen_from(&self, frame: &Pose) -> Force {
        let moment = self.moment + (self.point - frame.translation).cross(self.force);
        Force::new(
            frame.rotation.inverse_mul(moment),
            frame.rotation.inverse_mul(self.force),
        )
    }
}

/// The last step as sensors feel it: positions and velocities of its start, and the accelerations and forces that it took.
pub struct StepSensors<'a> {
    accelerating: Accelerating<'a>,
    mechanism: &'a Mechanism,
    forces: Vec<LinkForce>,
    /// Whether something besides contacts and loops acts on bodies.
    loaded: &'a [bool],
    /// q̈, and what carries it at the joints: T with springs, dampers, limits and dry friction.
    acceleration: &'a [f64],
    torque: &'a [f64],
}

impl core::fmt::Debug for StepSensors<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("StepSensors")
            .field("mechanism", &self.mechanism.name())
            .field("forces", &self.forces)
            .finish_non_exhaustive()
    }
}

/// Memory for [`Stepper::sensors`].
#[derive(Clone, Debug, Default)]
pub(super) struct Last {
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    /// Forces on bodies from outside, in their compiled frames.
    pub(super) loads: Vec<Force>,
    loaded: Vec<bool>,
    acceleration: Vec<f64>,
    torque: Vec<f64>,
}

impl Stepper {
    /// The forces of contacts and loops on links over the last step, two for each: nothing is told of those that bear nothing.
    pub fn forces(&self) -> Vec<LinkForce> {
        let (report, dt) = (&self.work.report, self.work.settings.step);
        let mut forces = Vec::new();
        for c in report.contacts.iter().filter(|c| c.along > 0.0) {
            let (force, moment) = (c.force(dt), c.moment * dt.recip());
            for (frame, sign) in [(c.a, 1.0), (c.b, -1.0)] {
                forces.push(LinkForce {
                    frame,
                    point: c.point,
                    force: force * sign,
                    moment: moment * sign,
                    normal: (c.along / dt, c.normal * sign),
                });
            }
        }
        for tie in &report.loops {
            for end in tie.ends {
                forces.push(LinkForce {
                    frame: end.frame,
                    point: end.point,
                    force: end.impulse.force * dt.recip(),
                    moment: end.impulse.moment * dt.recip(),
                    normal: (0.0, Vec3::ZERO),
                });
            }
        }
        forces
    }

    /// What sensors feel in the last step. Free bodies and trees that turn fast are off by what their velocity changes in it.
    ///
    /// ```
    /// use linkwork::contact::{Contact, Settings, Stepper, Surface};
    /// use linkwork::model::{FrameId, Joint, Link, Mechanism};
    /// use linkwork::spatial::{Inertia, Vec3};
    ///
    /// let ball = Mechanism::builder("ball")
    ///     .link(Link::new("ball", Inertia::sphere(2.0, 0.1)))
    ///     .joint(Joint::free("free").between("world", "ball"))
    ///     .build()?;
    /// let mut stepper = Stepper::new(&ball, Settings::new(0.005))?;
    /// let (mut q, mut v) = (vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.1], vec![0.0; 6]);
    /// for _ in 0..200 {
    ///     let contact = Contact {
    ///         id: 0,
    ///         a: ball.frame("ball")?,
    ///         b: FrameId::WORLD,
    ///         point: Vec3::new(q[4], q[5], q[6] - 0.1),
    ///         normal: Vec3::new(0.0, 0.0, 1.0),
    ///         gap: q[6] - 0.1,
    ///         surface: Surface::default(),
    ///     };
    ///     stepper.step(&mut q, &mut v, &[0.0; 6], &[contact])?;
    /// }
    /// let felt = stepper.sensors()?;
    /// assert!((felt.contact_wrench(ball.link("ball")?)?.force.z - 2.0 * 9.81).abs() < 1e-6);
    /// let imu = felt.imu(ball.frame("ball")?, Vec3::new(0.0, 0.05, 0.0))?;
    /// assert!((imu.specific_force.z - 9.81).abs() < 1e-6);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn sensors(&mut self) -> Result<StepSensors<'_>> {
        let forces = self.forces();
        let (m, last, work) = (&self.mechanism, &mut self.last, &self.work);
        if last.q.is_empty() {
            return Err(Error::Unsolved {
                what: "what sensors feel",
                problem: "no step has been made yet; make one first".into(),
            });
        }
        let dt = work.settings.step;
        last.acceleration.clear();
        let changes = work.report.velocity.iter().zip(&last.v);
        last.acceleration.extend(changes.map(|(new, old)| (new - old) / dt));
        for root in &work.roots {
            root.turn(&last.v, -1.0, &mut last.acceleration);
        }
        last.torque.resize(m.nv(), 0.0);
        last.loaded.clear();
        last.loaded
            .extend(last.loads.iter().map(|f| f.to_array() != Force::ZERO.to_array()));
        let mut posed = self.workspace.at(&last.q)?;
        posed.add_loads(&last.loads);
        for push in forces.iter().filter(|push| push.frame != FrameId::WORLD) {
            let moment = push.moment + push.point.cross(push.force);
            posed.apply_force(push.frame, Reference::World, Force::new(moment, push.force))?;
        }
        let mut moving = posed.moving(&last.v)?;
        moving.with_accelerations(&last.acceleration, &mut last.torque)?;
        Ok(StepSensors {
            accelerating: self.workspace.accelerating(),
            mechanism: m,
            forces,
            loaded: &last.loaded,
            acceleration: &last.acceleration,
            torque: &last.torque,
        })
    }
}

impl StepSensors<'_> {
    /// The forces of contacts and loops on links.
    pub fn forces(&self) -> &[LinkForce] {
        &self.forces
    }

    /// q̈ over the step, in the coordinates of v.
    pub fn acceleration(&self) -> &[f64] {
        self.acceleration
    }

    /// What moves the joints over the step, less what rotors take: torques given, springs, dampers, limits and dry friction.
    pub fn torque(&self) -> &[f64] {
        self.torque
    }

    /// The acceleration of a frame: see [`Accelerating::acceleration`].
    pub fn acceleration_of(&self, frame: impl Into<FrameId>, reference: Reference) -> Result<Motion> {
        self.accelerating.acceleration(frame, reference)
    }

    /// The wrench of all contacts on a link, about and in the axes of its frame.
    pub fn contact_wrench(&self, link: LinkId) -> Result<Force> {
        let pose = self.accelerating.pose(link)?;
        let on = |push: &&LinkForce| push.normal.0 > 0.0 && self.is_on(push, link);
        let forces = self.forces.iter().filter(on);
        Ok(forces.fold(Force::ZERO, |sum, push| sum + push.seen_from(&pose)))
    }

    /// What an inertial measurement unit feels that is fixed to a frame, with its axes, at a place in it.
    pub fn imu(&self, frame: impl Into<FrameId>, lever: Vec3) -> Result<Imu> {
        let frame = frame.into();
        let pose = self.accelerating.pose(frame)?;
        let w = self.accelerating.velocity(frame, Reference::Aligned)?.angular;
        let a = self.accelerating.acceleration(frame, Reference::Aligned)?;
        let arm = pose.rotation * lever;
        let felt = a.linear + a.angular.cross(arm) + w.cross(w.cross(arm)) - self.mechanism.gravity();
        Ok(Imu {
            angular_velocity: pose.rotation.inverse_mul(w),
            specific_force: pose.rotation.inverse_mul(felt),
        })
    }

    /// The force that any joint exerts on its child link, about and in the axes of that link's frame; of a fixed joint too, for
    /// it is known which links contacts and loops push. An error where something else acts on a body made of links that are
    /// fixed to each other.
    pub fn reaction(&self, joint: JointId) -> Result<Force> {
        let m = self.mechanism;
        let given = &m.joints()[m.own_joint(joint)?];
        if given.kind.nv() > 0 {
            return self.accelerating.reaction(joint);
        }
        let child = m.link(&given.child)?;
        let body = m.placed[FrameId::from(child).index()].body;
        if body.is_some_and(|k| self.loaded[k]) {
            return Err(Error::Joint {
                joint: given.name.clone(),
                problem: "forces from outside act on the body that it is part of: on which of its links, and so what the joint carries, is not known".into(),
            });
        }
        let on = |link: usize| {
            let id = m.link_at(link);
            let Ok(pose) = self.accelerating.pose(id) else {
                return Force::ZERO;
            };
            let own = self.forces.iter().filter(|push| self.is_on(push, id));
            own.fold(Force::ZERO, |sum, push| sum + push.seen_from(&pose))
        };
        self.accelerating.across_weld(joint.index(), &on)
    }

    fn is_on(&self, push: &LinkForce, link: LinkId) -> bool {
        push.frame != FrameId::WORLD && self.mechanism.link_of(push.frame).is_ok_and(|on| on == link)
    }
}
