//! A simulation that can be stopped, stepped, set back, and pulled at with a spring.

use crate::frame::{Arrow, ArrowKind, compliance_at, principal};
use linkwork::closed::{ClosedMechanism, ClosedMotion};
use linkwork::model::LinkId;
use linkwork::simulate::{
    DormandPrince, Drive, Dynamics, Equations, ImplicitMidpoint, Integrator, Now, PassiveForces, RungeKutta4,
    SemiImplicitEuler, State,
};
use linkwork::spatial::{Force, Vec3};
use linkwork::workspace::Moving;
use linkwork::{Mechanism, Reference, Result};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Semi-implicit Euler.
    Euler,
    /// Runge–Kutta of order four.
    RungeKutta,
    /// The implicit midpoint rule.
    Midpoint,
    /// Dormand–Prince with steps of its own.
    Adaptive,
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

enum Posing {
    Dynamics(Box<Dynamics<Pulled>>),
    Closed(Box<ClosedMotion<Pulled>>),
}

enum Stepper {
    Euler(SemiImplicitEuler),
    RungeKutta(RungeKutta4),
    Midpoint(ImplicitMidpoint),
    Adaptive(Box<DormandPrince>),
}

/// A mechanism in motion.
pub struct Simulation {
    mechanism: Mechanism,
    posing: Posing,
    stepper: Stepper,
    dt: f64,
    state: State,
    start: State,
    end: f64,
    spring: Spring,
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("mechanism", &self.mechanism.name())
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// A pull of so many metres weighs as much as the robot.
const STRETCH: f64 = 0.1;

impl Simulation {
    /// From a state, until a time. `closed` is the mechanism's loops, if it has any.
    pub fn new(
        mechanism: &Mechanism,
        closed: Option<&ClosedMechanism>,
        start: State,
        drive: Box<dyn Drive + Send>,
        resistance: PassiveForces,
        (method, dt): (Method, f64),
        end: f64,
    ) -> Self {
        let spring = Spring::default();
        let drive = Pulled {
            drive,
            spring: spring.clone(),
        };
        let posing = match closed {
            Some(closed) => Posing::Closed(Box::new(ClosedMotion::with(closed, drive, resistance))),
            None => Posing::Dynamics(Box::new(Dynamics::with(mechanism, drive, resistance))),
        };
        let stepper = match method {
            Method::Euler => Stepper::Euler(SemiImplicitEuler::new(mechanism)),
            Method::RungeKutta => Stepper::RungeKutta(RungeKutta4::new(mechanism)),
            Method::Midpoint => Stepper::Midpoint(ImplicitMidpoint::new(mechanism)),
            Method::Adaptive => Stepper::Adaptive(Box::new(DormandPrince::new(mechanism))),
        };
        Self {
            mechanism: mechanism.clone(),
            posing,
            stepper,
            dt,
            state: start.clone(),
            start,
            end,
            spring,
        }
    }

    /// Where it is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// When it is over.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// T of the last step, resistance included.
    pub fn torques(&self) -> &[f64] {
        match &self.posing {
            Posing::Dynamics(e) => e.torques(),
            Posing::Closed(e) => e.torques(),
        }
    }

    /// One step. After an error the state is as it was.
    pub fn step(&mut self) -> Result<()> {
        match &mut self.posing {
            Posing::Dynamics(e) => stepped(&mut self.stepper, &mut **e, &mut self.state, self.dt),
            Posing::Closed(e) => stepped(&mut self.stepper, &mut **e, &mut self.state, self.dt),
        }
    }

    /// Puts the mechanism elsewhere, at rest.
    pub fn place(&mut self, q: &[f64]) {
        self.state.q.copy_from_slice(q);
        self.state.v.fill(0.0);
        self.restart();
    }

    /// Back to the start.
    pub fn reset(&mut self) {
        self.release();
        self.state = self.start.clone();
        self.restart();
    }

    fn restart(&mut self) {
        if let Stepper::Adaptive(stepper) = &mut self.stepper {
            stepper.restart();
        }
    }

    /// Pulls a point of a link towards a place in the world, by a spring that the steps can follow: no stiffer than a fifth
    /// of a radian per step at the mass which the point shows in its lightest direction, and damped half critically there.
    pub fn pull(&mut self, link: LinkId, point: Vec3, target: Vec3) -> Result<()> {
        let held = lock(&self.spring).filter(|old| old.link == link && old.point == point);
        let (stiffness, damping) = match held {
            Some(old) => (old.stiffness, old.damping),
            None => {
                let mut workspace = self.mechanism.workspace();
                let mut posed = workspace.at(&self.state.q)?;
                let at = posed.pose(link)?.rotation * point;
                let compliance = compliance_at(&mut posed, link, at)?;
                let ([_, _, most], _) = principal(|i, k| compliance[i][k]);
                let lightest = if most > 0.0 { 1.0 / most } else { f64::INFINITY };
                let mass: f64 = self.mechanism.links().iter().map(|l| l.inertia.mass).sum();
                let stiffness = (mass * 9.81 / STRETCH).min(lightest * (0.2 / self.dt).powi(2));
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
        self.restart();
        Ok(())
    }

    /// Lets go.
    pub fn release(&mut self) {
        *lock(&self.spring) = None;
        self.restart();
    }

    /// Forces from outside.
    pub fn arrows(&self) -> Result<Vec<Arrow>> {
        let Some(pull) = *lock(&self.spring) else {
            return Ok(Vec::new());
        };
        let mut workspace = self.mechanism.workspace();
        let mut posed = workspace.at(&self.state.q)?;
        let point = posed.pose(pull.link)?.point(pull.point);
        let (_, force) = pull.force(&mut posed.moving(&self.state.v)?)?;
        Ok(vec![Arrow {
            kind: ArrowKind::Pull,
            point,
            force,
        }])
    }
}

fn stepped(stepper: &mut Stepper, equations: &mut impl Equations, state: &mut State, dt: f64) -> Result<()> {
    match stepper {
        Stepper::Euler(s) => s.step(equations, state, dt),
        Stepper::RungeKutta(s) => s.step(equations, state, dt),
        Stepper::Midpoint(s) => s.step(equations, state, dt),
        Stepper::Adaptive(s) => {
            let until = state.t + dt;
            while state.t < until {
                s.step(equations, state, until)?;
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::model::examples;

    fn simulation(mechanism: &Mechanism, method: Method) -> Simulation {
        let start = State::at_rest(mechanism, &mechanism.neutral());
        let resistance = PassiveForces::of(mechanism).unwrap().for_steps(1e-3);
        Simulation::new(
            mechanism,
            None,
            start,
            Box::new(()),
            resistance,
            (method, 1e-3),
            f64::INFINITY,
        )
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
        for method in [Method::Euler, Method::RungeKutta, Method::Midpoint, Method::Adaptive] {
            assert!(pulled(&body, method) < 1e-3, "{method:?}");
        }
    }

    #[test]
    fn no_pull_shakes_a_robot_to_pieces() {
        for (name, example) in examples::all() {
            let far = pulled(&example(), Method::RungeKutta);
            assert!(far.is_finite() && far < 20.0, "{name}: {far}");
        }
    }

    #[test]
    fn a_reset_brings_back_every_bit() {
        let robot = examples::arm7();
        let mut run = simulation(&robot, Method::RungeKutta);
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
}
