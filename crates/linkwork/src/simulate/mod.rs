//! Motion in time, on the manifold of configurations.
//!
//! [`Equations`] say how fast a [`State`] changes; an integrator steps it: [`SemiImplicitEuler`], [`RungeKutta4`],
//! [`DormandPrince`] with its own choice of steps and dense output, or [`ImplicitMidpoint`] for stiff and long runs. A [`Run`]
//! does so until a given time, samples states, and calls a [`Listener`] with them; a [`Course`] is a run under way, to stop in
//! between. [`Dynamics`] are the equations 𝓜q̈ + C = T, with torques from a [`Drive`] and what resists the joints;
//! [`Diagonalized`] are the same in total joint rates.
//!
//! Every integrator steps with q ⊕ u, so that quaternions stay of unit length, and in the coordinates u around the
//! start of its step, u̇ being exact for the velocity: orders are those of the methods for plain numbers. No step allocates.
//!
//! ```
//! use linkwork::model::examples;
//! use linkwork::simulate::{DormandPrince, Dynamics, State};
//! let robot = examples::double_pendulum();
//! let mut equations = Dynamics::new(&robot, ())?;     // no torques
//! let mut integrator = DormandPrince::new(&robot);
//! let mut state = State::at_rest(&robot, &[1.5, 0.0]);
//! while state.t < 2.0 {
//!     integrator.step(&mut equations, &mut state, 2.0)?;
//! }
//! println!("after {} s: q = {:?}", state.t, state.q);
//! # Ok::<(), linkwork::Error>(())
//! ```

mod adaptive;
pub(crate) mod chart;
mod course;
mod diagonalized;
mod dynamics;
mod explicit;
mod implicit;
mod resistance;
mod run;

pub(crate) use adaptive::{A3, A4, A5, A6, A7};
pub use adaptive::{DormandPrince, Tolerance};
pub use course::{Advance, Course, Integrated};
pub use diagonalized::Diagonalized;
pub(crate) use dynamics::driven;
pub use dynamics::{Drive, Dynamics, Now};
pub use explicit::{RungeKutta4, SemiImplicitEuler};
pub use implicit::ImplicitMidpoint;
pub use resistance::PassiveForces;
pub use run::{Ended, Listener, Method, Run, RunOutcome};

use crate::model::all_usable;
use crate::{Error, Mechanism, Result};

/// Where a simulation is.
///
/// ```
/// use linkwork::simulate::State;
/// let arm = linkwork::model::examples::arm7();
/// let state = State::at_rest(&arm, &arm.neutral());
/// assert_eq!((state.t, state.v.len()), (0.0, arm.nv()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct State {
    /// Time, in seconds.
    pub t: f64,
    /// Configuration.
    pub q: Vec<f64>,
    /// What the equations take for velocities, nv numbers: q̇ itself for [`Dynamics`].
    pub v: Vec<f64>,
}

impl State {
    /// At rest at t = 0.
    pub fn at_rest(mechanism: &Mechanism, q: &[f64]) -> Self {
        Self {
            t: 0.0,
            q: q.to_vec(),
            v: vec![0.0; mechanism.nv()],
        }
    }
}

/// Equations of motion: how a configuration q and nv numbers v that say how it moves change in time.
///
/// v may be q̇, or any other coordinates of it, such as total joint rates.
///
/// ```
/// use linkwork::simulate::{Equations, Integrator, RungeKutta4, State};
/// use linkwork::Mechanism;
///
/// /// Every joint falls back to zero by itself: no masses, no forces.
/// struct Relaxing(Mechanism);
///
/// impl Equations for Relaxing {
///     fn mechanism(&self) -> &Mechanism {
///         &self.0
///     }
///
///     fn rates(&mut self, _t: f64, q: &[f64], v: &[f64], qd: &mut [f64], vd: &mut [f64]) -> linkwork::Result<()> {
///         qd.copy_from_slice(v);
///         (0..v.len()).for_each(|i| vd[i] = -q[i] - 2.0 * v[i]);
///         Ok(())
///     }
/// }
///
/// let arm = linkwork::model::examples::double_pendulum();
/// let (mut state, mut integrator) = (State::at_rest(&arm, &[1.0, 0.5]), RungeKutta4::new(&arm));
/// let mut equations = Relaxing(arm);
/// for _ in 0..100 {
///     integrator.step(&mut equations, &mut state, 0.01)?;
/// }
/// assert!((state.q[0] - 2.0 * (-1.0_f64).exp()).abs() < 1e-8); // (1 + t)e^−t
/// # Ok::<(), linkwork::Error>(())
/// ```
pub trait Equations {
    /// What moves.
    fn mechanism(&self) -> &Mechanism;

    /// Writes q̇, nv numbers in the tangent space, to `qd`, and dv/dt to `vd`.
    fn rates(&mut self, t: f64, q: &[f64], v: &[f64], qd: &mut [f64], vd: &mut [f64]) -> Result<()>;

    /// The same for a method that knows where it evaluates next as soon as it has q̇: `next` takes q̇, from then on its own, and
    /// gives that configuration. Equations that can begin there on the same way along the mechanism do so.
    fn rates_onward<'a>(
        &mut self,
        t: f64,
        q: &[f64],
        v: &[f64],
        qd: &mut [f64],
        vd: &mut [f64],
        next: impl FnOnce(&mut [f64]) -> Result<&'a [f64]>,
    ) -> Result<()> {
        self.rates(t, q, v, qd, vd)?;
        next(qd).map(drop)
    }

    /// Writes q̇ alone to `qd`.
    fn velocities(&mut self, q: &[f64], v: &[f64], qd: &mut [f64]) -> Result<()> {
        let _ = q;
        qd.copy_from_slice(v);
        Ok(())
    }

    /// Called with every state that a step ends in, to bring it back to where it must be, such as onto constraints.
    /// Whether it changed anything.
    fn settle(&mut self, t: f64, q: &mut [f64], v: &mut [f64]) -> Result<bool> {
        let _ = (t, q, v);
        Ok(false)
    }
}

impl<E: Equations> Equations for &mut E {
    fn mechanism(&self) -> &Mechanism {
        (**self).mechanism()
    }

    fn rates(&mut self, t: f64, q: &[f64], v: &[f64], qd: &mut [f64], vd: &mut [f64]) -> Result<()> {
        (**self).rates(t, q, v, qd, vd)
    }

    fn rates_onward<'a>(
        &mut self,
        t: f64,
        q: &[f64],
        v: &[f64],
        qd: &mut [f64],
        vd: &mut [f64],
        next: impl FnOnce(&mut [f64]) -> Result<&'a [f64]>,
    ) -> Result<()> {
        (**self).rates_onward(t, q, v, qd, vd, next)
    }

    fn velocities(&mut self, q: &[f64], v: &[f64], qd: &mut [f64]) -> Result<()> {
        (**self).velocities(q, v, qd)
    }

    fn settle(&mut self, t: f64, q: &mut [f64], v: &mut [f64]) -> Result<bool> {
        (**self).settle(t, q, v)
    }
}

/// A method that takes steps of a given length.
pub trait Integrator {
    /// Advances the state by `h` seconds, a positive number; [`ImplicitMidpoint`] goes back by a negative one. After an
    /// error the state is as it was.
    fn step(&mut self, equations: &mut impl Equations, state: &mut State, h: f64) -> Result<()>;
}

/// An error unless a step of length h goes forward.
pub(crate) fn check_step(h: f64) -> Result<()> {
    if h > 0.0 && h.is_finite() {
        return Ok(());
    }
    Err(Error::Duration {
        argument: "h",
        value: h,
    })
}

/// An error unless a state fits a mechanism, and can be computed with.
fn check(mechanism: &Mechanism, state: &State) -> Result<()> {
    for (argument, needed, given) in [
        ("q", mechanism.nq(), state.q.len()),
        ("v", mechanism.nv(), state.v.len()),
    ] {
        if needed != given {
            return Err(Error::Length {
                argument,
                needed,
                given,
            });
        }
    }
    if !state.t.is_finite() {
        return Err(Error::Parameter {
            argument: "state.t",
            value: state.t,
        });
    }
    bounded(mechanism, ["state.q", "state.v"], &state.q, &state.v)
}

/// An error unless all numbers are finite and small enough.
fn bounded(mechanism: &Mechanism, [q_name, v_name]: [&'static str; 2], q: &[f64], v: &[f64]) -> Result<()> {
    if all_usable(q) && all_usable(v) {
        return Ok(());
    }
    mechanism.check_configuration(q_name, q)?;
    mechanism.check_vector(v_name, v)
}

/// Settles what a step of some `start` and `end` leads to, unless that is out of bounds. Whether it changed anything.
fn settled(equations: &mut impl Equations, [start, end]: [f64; 2], q: &mut [f64], v: &mut [f64]) -> Result<bool> {
    let sound = bounded(equations.mechanism(), ["q", "v"], q, v);
    let settled = sound.and_then(|()| equations.settle(end, q, v));
    settled.map_err(|e| at_time(start, e))
}

/// The error of a step in which a joint turns about a whole circle.
fn too_far(t: f64) -> Error {
    Error::Step {
        t,
        problem: "a joint turns almost a whole circle in one step; take shorter steps".into(),
    }
}

/// Says when a state went out of bounds, which is what an unstable step leads to.
fn at_time(t: f64, error: Error) -> Error {
    match error {
        Error::NotFinite { argument, joint, .. } => Error::Step {
            t,
            problem: format!(
                "{argument} of joint `{joint}` grows without bound; take shorter steps, or an implicit or adaptive integrator"
            ),
        },
        other => other,
    }
}
