//! Closed mechanisms in time.

use super::posed::ClosedWorkspace;
use super::switching::{ConstraintTarget, Transition};
use super::{ClosedMechanism, Stabilisation};
use crate::simulate::{Drive, Equations, Now, PassiveForces, State, driven};
use crate::{Mechanism, Result};

/// The equations of a closed mechanism for the integrators of [`crate::simulate`].
///
/// With [`Stabilisation::Projection`], every state that a step asks about or ends in is brought back onto the constraints
/// first, configuration and then velocity, in the metric of 𝓜: loops stay closed to rounding, passing through singular
/// configurations does no harm, and rows that are redundant only where the loops close stay so.
///
/// ```
/// use linkwork::closed::{ClosedMechanism, ClosedMotion, Constraint};
/// use linkwork::model::{Joint, Link, Mechanism};
/// use linkwork::simulate::{Integrator, RungeKutta4, State};
/// use linkwork::spatial::Inertia;
/// // A pendulum: a point in space, kept at a distance from the origin.
/// let point = Mechanism::builder("pendulum")
///     .link(Link::new("bob", Inertia::point(1.0, [0.0; 3])))
///     .joint(Joint::translation("slides").between("world", "bob"))
///     .build()?;
/// let pendulum = ClosedMechanism::new(point, vec![Constraint::distance("string", "world", "bob", 1.0)])?;
/// let mut motion = ClosedMotion::new(&pendulum, ())?;
/// let mut state = State::at_rest(pendulum.mechanism(), &[1.0, 0.0, 0.0]);
/// let mut integrator = RungeKutta4::new(pendulum.mechanism());
/// for _ in 0..100 {
///     integrator.step(&mut motion, &mut state, 0.01)?;
/// }
/// let length = state.q.iter().map(|x| x * x).sum::<f64>().sqrt();
/// assert!((length - 1.0).abs() < 1e-12);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Debug)]
pub struct ClosedMotion<D> {
    workspace: ClosedWorkspace,
    prescribed: Vec<Prescribed>,
    drive: D,
    resistance: PassiveForces,
    tau: Vec<f64>,
    /// The point of the constraints nearest to where rates are asked for.
    q: Vec<f64>,
    v: Vec<f64>,
    projects: bool,
    worst: f64,
}

/// A constraint whose target moves.
struct Prescribed {
    tie: usize,
    target: Box<dyn Fn(f64) -> ConstraintTarget + Send>,
}

impl core::fmt::Debug for Prescribed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Prescribed({})", self.tie)
    }
}

impl<D: Drive> ClosedMotion<D> {
    /// The equations of a closed mechanism under a drive, with the [`PassiveForces`] that its joints have.
    pub fn new(closed: &ClosedMechanism, drive: D) -> Result<Self> {
        Ok(Self::with(closed, drive, PassiveForces::of(closed.mechanism())?))
    }

    /// The same with another [`PassiveForces`].
    pub fn with(closed: &ClosedMechanism, drive: D, resistance: PassiveForces) -> Self {
        Self {
            workspace: closed.workspace(),
            prescribed: Vec::new(),
            drive,
            resistance,
            tau: vec![0.0; closed.mechanism().nv()],
            q: closed.mechanism().neutral(),
            v: vec![0.0; closed.mechanism().nv()],
            projects: closed.stabilisation == Stabilisation::Projection,
            worst: 0.0,
        }
    }

    /// Prescribes the motion of a constraint: where it holds frame b against frame a, as a function of time.
    pub fn prescribe(
        &mut self,
        constraint: &str,
        target: impl Fn(f64) -> ConstraintTarget + Send + 'static,
    ) -> Result<()> {
        let tie = self.workspace.closed.tie(constraint)?;
        self.prescribed.retain(|other| other.tie != tie);
        let target = Box::new(target);
        self.prescribed.push(Prescribed { tie, target });
        Ok(())
    }

    /// Switches a constraint on or off; one that is switched on takes its part in the next projection.
    pub fn switch(&mut self, constraint: &str, on: bool) -> Result<()> {
        self.workspace.switch(constraint, on)
    }

    /// Holds frame b where it is: see [`ClosedWorkspace::grasp`]. A motion that was prescribed for it ends.
    pub fn grasp(&mut self, constraint: &str, state: &mut State) -> Result<Transition> {
        let tie = self.workspace.closed.tie(constraint)?;
        self.prescribed.retain(|other| other.tie != tie);
        self.workspace.grasp(constraint, &state.q, &mut state.v)
    }

    fn prescribe_at(&mut self, t: f64) -> Result<()> {
        for prescribed in &self.prescribed {
            let target = (prescribed.target)(t);
            self.workspace.closed.set_target(prescribed.tie, Some(target))?;
        }
        Ok(())
    }

    /// T of the last call, resistance included.
    pub fn torques(&self) -> &[f64] {
        &self.tau
    }

    /// The largest gap that any step was left with.
    pub fn worst_closure(&self) -> f64 {
        self.worst
    }

    /// The energy at a state, and how far its loops are from closed.
    pub fn check(&mut self, q: &[f64], v: &[f64]) -> Result<(f64, f64)> {
        let mut posed = self.workspace.at(q)?;
        let closure = posed.closure();
        Ok((posed.moving(v)?.energy(), closure))
    }
}

impl<D: Drive> Equations for ClosedMotion<D> {
    fn mechanism(&self) -> &Mechanism {
        self.workspace.closed.mechanism()
    }

    fn rates(&mut self, t: f64, q: &[f64], v: &[f64], qd: &mut [f64], vd: &mut [f64]) -> Result<()> {
        self.prescribe_at(t)?;
        self.q.copy_from_slice(q);
        self.v.copy_from_slice(v);
        let (q, v) = (&mut self.q, &mut self.v);
        if self.projects {
            self.workspace.project(q)?;
        }
        let mut posed = self.workspace.at(q)?;
        if self.projects {
            posed.project_velocity(v)?;
        }
        let mut moving = posed.moving(v)?;
        driven(&mut self.drive, Now { t, q, v }, moving.tree(), &mut self.tau)?;
        self.resistance.check(moving.closed.mechanism())?;
        self.resistance.add(q, v, &mut self.tau)?;
        moving.forward_dynamics(&self.tau, vd)?;
        qd.copy_from_slice(v);
        Ok(())
    }

    fn settle(&mut self, t: f64, q: &mut [f64], v: &mut [f64]) -> Result<bool> {
        self.prescribe_at(t)?;
        if !self.projects {
            self.worst = self.worst.max(self.workspace.at(q)?.closure());
            return Ok(false);
        }
        self.worst = self.worst.max(self.workspace.project(q)?);
        self.workspace.at(q)?.project_velocity(v)?;
        Ok(true)
    }
}
