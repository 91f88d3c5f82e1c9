//! A simulation that can be stopped, stepped, set back, and pulled at with a spring.

use crate::contact_sides::Sides;
use crate::frame::{Arrow, ArrowKind, compliance_at, principal};
use linkwork::closed::{ClosedMechanism, ClosedMotion};
use linkwork::contact::Settings;
use linkwork::model::LinkId;
use linkwork::simulate::{Advance, Course, Drive, Dynamics, Integrated, Listener, Now, PassiveForces, Run, State};
use linkwork::spatial::{Force, Vec3};
use linkwork::workspace::Moving;
use linkwork::{Mechanism, Reference, Result};
use linkwork_scene::{Scene, Touching};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the robot's motion follows from.
#[derive(Debug)]
#[non_exhaustive]
pub enum Physics {
    /// The joints alone, and what resists them.
    Free(PassiveForces),
    /// Joints and closed loops.
    Closed(ClosedMechanism, PassiveForces),
    /// Joints, loops if there are some, and what touches, by steps of their own.
    Touching(Box<Scene>, Option<ClosedMechanism>, Settings),
}

impl Physics {
    /// Joints, loops if there are some, and what touches.
    pub fn touching(scene: Scene, closed: Option<ClosedMechanism>, settings: Settings) -> Self {
        Self::Touching(Box::new(scene), closed, settings)
    }
}

/// A spring from a point of a link to a place in the world.
#[derive(Clone, Copy, Debug)]
struct Pull {
    link: LinkId,
    /// In the link's frame.
    point: Vec3,
    /// In the world.
    target: Vec3,
    stiffness: f64,
    damping: f64,
}

type Spring = Arc<Mutex<Option<Pull>>>;

fn lock(spring: &Spring) -> MutexGuard<'_, Option<Pull>> {
    spring.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pull {
    /// Where it acts, seen from the link's origin in the world's axes, and its force.
    fn force(&self, moving: &mut Moving<'_>) -> Result<(Vec3, Vec3)> {
        let pose = moving.pose(self.link)?;
        let at = pose.rotation * self.point;
        let velocity = moving.velocity(self.link, Reference::Aligned)?.to_array();
        let (turn, linear) = (
            Vec3::new(velocity[0], velocity[1], velocity[2]),
            Vec3::new(velocity[3], velocity[4], velocity[5]),
        );
        let speed = linear + turn.cross(at);
        let force = (self.target - pose.translation - at) * self.stiffness - speed * self.damping;
        Ok((at, force))
    }
}

/// A drive, and the spring.
struct Pulled {
    drive: Box<dyn Drive + Send>,
    spring: Spring,
}

impl Drive for Pulled {
    fn drive(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        self.drive.drive(now, moving, tau)?;
        let pull = *lock(&self.spring);
        if let Some(pull) = pull {
            let (at, force) = pull.force(moving)?;
            moving.apply_force(pull.link, Reference::Aligned, Force::new(at.cross(force), force))?;
        }
        Ok(())
    }
}

/// What takes steps, and tells of them.
trait Moves: Advance {
    /// T of the last step.
    fn torques(&self) -> &[f64];

    /// What bore in the last step.
    fn contacts(&self) -> Vec<Arrow> {
        Vec::new()
    }

    /// Where bodies touch at a configuration.
    fn touches(&mut self, q: &[f64]) -> Result<Vec<Arrow>> {
        let _ = q;
        Ok(Vec::new())
    }
}

impl Moves for Integrated<Dynamics<Pulled>> {
    fn torques(&self) -> &[f64] {
        self.equations().torques()
    }
}

impl Moves for Integrated<ClosedMotion<Pulled>> {
    fn torques(&self) -> &[f64] {
        self.equations().torques()
    }
}

impl Moves for Touching<Pulled> {
    fn torques(&self) -> &[f64] {
        Touching::torques(self)
    }

    fn contacts(&self) -> Vec<Arrow> {
        let sides = Sides::new(self.scene().mechanism());
        let bearing = self.report().contacts.iter().filter(|c| c.along > 0.0);
        bearing
            .map(|c| Arrow {
                kind: ArrowKind::Contact,
                point: c.point,
                force: sides.force(c, self.step()),
            })
            .collect()
    }

    fn touches(&mut self, q: &[f64]) -> Result<Vec<Arrow>> {
        touches(self.scene_mut(), q)
    }
}

/// Bodies nearer than this touch, in metres.
const NEAR: f64 = 1e-3;

/// Where bodies touch at a configuration: arrows without a force.
pub(crate) fn touches(scene: &mut Scene, q: &[f64]) -> Result<Vec<Arrow>> {
    // So short that only what is near now is found.
    const INSTANT: f64 = 1e-6;
    let still = vec![0.0; scene.mechanism().nv()];
    let near = scene.contacts(q, &still, INSTANT)?.iter().filter(|c| c.gap < NEAR);
    Ok(near
        .map(|c| Arrow {
            kind: ArrowKind::Contact,
            point: c.point,
            force: Vec3::ZERO,
        })
        .collect())
}

/// Who hears of stretches of time in which nothing changes abruptly: from, until.
type Stretches = Box<dyn FnMut(f64, f64) + Send>;

struct Hearing(Stretches);

impl Listener for Hearing {
    fn sample(&mut self, _: &State) {}

    fn stretch(&mut self, from: f64, until: f64) {
        (self.0)(from, until);
    }
}

/// A mechanism in motion.
pub struct Simulation {
    mechanism: Mechanism,
    by: Box<dyn Moves + Send>,
    course: Course,
    hearing: Hearing,
    start: State,
    spring: Spring,
    /// Whether the last step led to the present state.
    stepped: bool,
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("mechanism", &self.mechanism.name())
            .field("course", &self.course)
            .finish_non_exhaustive()
    }
}

/// A pull of so many metres weighs as much as the robot.
const STRETCH: f64 = 0.1;

impl Simulation {
    /// From a state, by the steps of a run, whose end may be infinite.
    pub fn new(
        mechanism: &Mechanism,
        physics: Physics,
        start: State,
        drive: Box<dyn Drive + Send>,
        run: Run,
    ) -> Result<Self> {
        let spring = Spring::default();
        let drive = Pulled {
            drive,
            spring: spring.clone(),
        };
        let by: Box<dyn Moves + Send> = match physics {
            Physics::Closed(closed, resistance) => {
                let equations = ClosedMotion::with(&closed, drive, resistance);
                Box::new(Integrated::new(run.method, equations))
            }
            Physics::Free(resistance) => {
                let equations = Dynamics::with(mechanism, drive, resistance);
                Box::new(Integrated::new(run.method, equations))
            }
            Physics::Touching(scene, Some(closed), settings) => {
                Box::new(Touching::closed(*scene, &closed, settings, drive)?)
            }
            Physics::Touching(scene, None, settings) => Box::new(Touching::new(*scene, settings, drive)?),
        };
        Ok(Self {
            mechanism: mechanism.clone(),
            by,
            course: Course::new(run, start.clone()),
            hearing: Hearing(Box::new(|_, _| {})),
            start,
            spring,
            stepped: false,
        })
    }

    /// Tells somebody of every stretch of time in which nothing changes abruptly, before it is stepped through.
    pub fn hearing(mut self, stretches: Stretches) -> Self {
        self.hearing = Hearing(stretches);
        self
    }

    /// Where it is.
    pub fn state(&self) -> &State {
        self.course.state()
    }

    /// When it is over.
    pub fn end(&self) -> f64 {
        self.course.run().end
    }

    /// T of the last step: with joints' resistance, but for steps with contact, whose joints resist by themselves.
    pub fn torques(&self) -> &[f64] {
        self.by.torques()
    }

    /// One step. After an error the state is as it was.
    pub fn step(&mut self) -> Result<()> {
        self.course.step(&mut *self.by, &mut self.hearing)?;
        self.stepped = true;
        Ok(())
    }

    /// Puts the mechanism elsewhere, at rest.
    pub fn place(&mut self, q: &[f64]) {
        self.course.put(q, &vec![0.0; self.mechanism.nv()]);
        self.by.forget();
        self.stepped = false;
    }

    /// Back to the start.
    pub fn reset(&mut self) {
        self.release();
        self.course = Course::new(self.course.run().clone(), self.start.clone());
        self.by.forget();
        self.stepped = false;
    }

    /// Pulls a point of a link towards a place in the world, by a spring that the steps can follow: no stiffer than a fifth
    /// of a radian per step at the mass which the point shows in its lightest direction, and damped half critically there.
    pub fn pull(&mut self, link: LinkId, point: Vec3, target: Vec3) -> Result<()> {
        let held = lock(&self.spring).filter(|old| old.link == link && old.point == point);
        let (stiffness, damping) = match held {
            Some(old) => (old.stiffness, old.damping),
            None => {
                let mut workspace = self.mechanism.workspace();
                let mut posed = workspace.at(&self.course.state().q)?;
                let at = posed.pose(link)?.rotation * point;
                let compliance = compliance_at(&mut posed, link, at)?;
                let ([_, _, most], _) = principal(|i, k| compliance[i][k]);
                let lightest = if most > 0.0 { 1.0 / most } else { f64::INFINITY };
                let mass: f64 = self.mechanism.links().iter().map(|l| l.inertia.mass).sum();
                let stiffness = (mass * 9.81 / STRETCH).min(lightest * (0.2 / self.course.run().dt).powi(2));
                (stiffness, (stiffness * lightest.min(mass)).sqrt())
            }
        };
        *lock(&self.spring) = Some(Pull {
            link,
            point,
            target,
            stiffness,
            damping,
        });
        self.by.restart();
        Ok(())
    }

    /// Lets go.
    pub fn release(&mut self) {
        *lock(&self.spring) = None;
        self.by.restart();
    }

    /// Forces from outside and at contacts; where bodies touch, if no step led here.
    pub fn arrows(&mut self) -> Result<Vec<Arrow>> {
        let mut arrows = match self.stepped {
            true => self.by.contacts(),
            false => self.by.touches(&self.course.state().q)?,
        };
        let Some(pull) = *lock(&self.spring) else {
            return Ok(arrows);
        };
        let mut workspace = self.mechanism.workspace();
        let mut posed = workspace.at(&self.course.state().q)?;
        let point = posed.pose(pull.link)?.point(pull.point);
        let (_, force) = pull.force(&mut posed.moving(&self.course.state().v)?)?;
        arrows.push(Arrow {
            kind: ArrowKind::Pull,
            point,
            force,
        });
        Ok(arrows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::model::examples;
    use linkwork::simulate::Method;

    fn simulation(mechanism: &Mechanism, method: Method) -> Simulation {
        let start = State::at_rest(mechanism, &mechanism.neutral());
        let resistance = PassiveForces::of(mechanism).unwrap().for_steps(1e-3);
        let run = Run::new(method, f64::INFINITY).step(1e-3);
        Simulation::new(mechanism, Physics::Free(resistance), start, Box::new(()), run).unwrap()
    }

    /// Pulls the last link half a metre aside for three seconds; how far its point is from the target at last.
    fn pulled(mechanism: &Mechanism, method: Method) -> f64 {
        let mut run = simulation(mechanism, method);
        let name = &mechanism.links().last().unwrap().name;
        let (link, point) = (
            mechanism.link(name).unwrap(),
            mechanism.links().last().unwrap().inertia.com,
        );
        let start = mechanism
            .workspace()
            .at(&run.state().q)
            .unwrap()
            .pose(link)
            .unwrap()
            .point(point);
        let target = start + Vec3::new(0.3, 0.0, 0.0);
        run.pull(link, point, target).unwrap();
        for _ in 0..3000 {
            run.step().unwrap();
        }
        assert_eq!(run.arrows().unwrap().len(), 1);
        let end = mechanism
            .workspace()
            .at(&run.state().q)
            .unwrap()
            .pose(link)
            .unwrap()
            .point(point);
        (end - target).norm()
    }

    #[test]
    fn a_pulled_body_comes_to_where_it_is_pulled() {
        let body = Mechanism::builder("body")
            .link(linkwork::model::Link::new(
                "body",
                linkwork::spatial::Inertia::sphere(2.0, 0.1),
            ))
            .joint(linkwork::model::Joint::free("j").between("world", "body"))
            .gravity([0.0; 3])
            .build()
            .unwrap();
        for method in Method::ALL {
            assert!(pulled(&body, method) < 1e-3, "{method:?}");
        }
    }

    #[test]
    fn no_pull_shakes_a_robot_to_pieces() {
        for (name, example) in examples::all() {
            let far = pulled(&example(), Method::RungeKutta4);
            assert!(far.is_finite() && far < 20.0, "{name}: {far}");
        }
    }

    #[test]
    fn a_reset_brings_back_every_bit() {
        let robot = examples::arm7();
        let mut run = simulation(&robot, Method::RungeKutta4);
        let start = run.state().clone();
        let mut path = Vec::new();
        for _ in 0..2 {
            (0..50).for_each(|_| run.step().unwrap());
            path.push(run.state().clone());
            run.reset();
            assert_eq!(*run.state(), start);
        }
        assert_eq!(path[0], path[1]);
    }

    /// A box of two kilograms on the ground.
    fn standing() -> Simulation {
        let half = Vec3::new(0.1, 0.1, 0.1);
        let m = Mechanism::builder("box")
            .link(linkwork::model::Link::new(
                "box",
                linkwork::spatial::Inertia::cuboid(2.0, half * 2.0),
            ))
            .joint(linkwork::model::Joint::free("free").between("world", "box"))
            .build()
            .unwrap();
        let shape = linkwork_scene::ColliderShape::Cuboid { half };
        let surface = linkwork::contact::Surface::with_friction(0.5);
        let colliders = vec![
            linkwork_scene::Collider::ground(linkwork::spatial::Pose::IDENTITY, surface),
            linkwork_scene::Collider::on(m.frame("box").unwrap(), shape),
        ];
        let scene = Scene::new(&m, colliders).unwrap();
        let start = State::at_rest(&m, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.1]);
        let run = Run::new(Method::RungeKutta4, f64::INFINITY).step(1e-3);
        let physics = Physics::touching(scene, None, Settings::new(1e-3));
        Simulation::new(&m, physics, start, Box::new(()), run).unwrap()
    }

    #[test]
    fn what_stands_is_borne_and_slides_when_it_is_pulled_hard() {
        let mut run = standing();
        let points = run.arrows().unwrap();
        assert!(
            points.len() == 4 && points.iter().all(|a| a.force == Vec3::ZERO),
            "{points:?}"
        );
        let steps = |run: &mut Simulation, n: usize| (0..n).for_each(|_| run.step().unwrap());
        steps(&mut run, 200);
        let arrows = run.arrows().unwrap();
        let weight: f64 = arrows.iter().map(|a| a.force.z).sum();
        assert!((weight - 2.0 * 9.81).abs() < 1e-3, "upwards on the box: {weight}");
        // 196 N/m: 2 cm pull with 4 N, which friction of 10 N holds, and 10 cm with 20 N, which it does not.
        let link = run.mechanism.link("box").unwrap();
        let mut slid = |to: f64| {
            run.pull(link, Vec3::ZERO, Vec3::new(to, 0.0, 0.1)).unwrap();
            steps(&mut run, 1000);
            let kinds = run
                .arrows()
                .unwrap()
                .iter()
                .filter(|a| a.kind == ArrowKind::Pull)
                .count();
            assert_eq!(kinds, 1);
            run.state().q[4]
        };
        let (little, much) = (slid(0.02), slid(0.1));
        assert!(little.abs() < 1e-5, "{little}");
        assert!(much > 0.03 && much < 0.1, "{much}");
        run.reset();
        assert_eq!(run.state().q[4], 0.0);
        assert!(run.arrows().unwrap().iter().all(|a| a.force == Vec3::ZERO));
    }
}
