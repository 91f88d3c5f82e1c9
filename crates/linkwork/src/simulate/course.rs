//! Steps of one length, one after another: the pieces of a run, for who stops in between.

use super::{
    DormandPrince, Equations, ImplicitMidpoint, Integrator, Listener, Method, Run, RungeKutta4, SemiImplicitEuler,
    State,
};
use crate::Result;

/// What takes a state on: equations with the method that integrates them, or steps of another kind, such as those with contact.
pub trait Advance {
    /// Advances the state by `h` seconds. After an error the state is as it was.
    fn advance(&mut self, state: &mut State, h: f64) -> Result<()>;

    /// Hears that what drives it has changed abruptly.
    fn restart(&mut self) {}

    /// Forgets what it keeps of earlier steps: the state was put elsewhere.
    fn forget(&mut self) {
        self.restart();
    }
}

impl<A: Advance + ?Sized> Advance for Box<A> {
    fn advance(&mut self, state: &mut State, h: f64) -> Result<()> {
        (**self).advance(state, h)
    }

    fn restart(&mut self) {
        (**self).restart();
    }

    fn forget(&mut self) {
        (**self).forget();
    }
}

/// Equations and the method that integrates them.
#[derive(Debug)]
pub struct Integrated<E> {
    equations: E,
    integrator: Chosen,
}

#[derive(Debug)]
enum Chosen {
    SemiImplicitEuler(SemiImplicitEuler),
    RungeKutta4(RungeKutta4),
    ImplicitMidpoint(ImplicitMidpoint),
    DormandPrince(Box<DormandPrince>),
}

impl<E: Equations> Integrated<E> {
    /// Equations by a method; [`Method::DormandPrince`] takes as many steps within the given ones as its default tolerance asks for.
    pub fn new(method: Method, equations: E) -> Self {
        let m = equations.mechanism();
        let integrator = match method {
            Method::SemiImplicitEuler => Chosen::SemiImplicitEuler(SemiImplicitEuler::new(m)),
            Method::RungeKutta4 => Chosen::RungeKutta4(RungeKutta4::new(m)),
            Method::ImplicitMidpoint => Chosen::ImplicitMidpoint(ImplicitMidpoint::new(m)),
            Method::DormandPrince => Chosen::DormandPrince(Box::new(DormandPrince::new(m))),
        };
        Self { equations, integrator }
    }

    /// The equations.
    pub fn equations(&self) -> &E {
        &self.equations
    }
}

impl<E: Equations> Advance for Integrated<E> {
    fn advance(&mut self, state: &mut State, h: f64) -> Result<()> {
        let equations = &mut self.equations;
        match &mut self.integrator {
            Chosen::SemiImplicitEuler(i) => i.step(equations, state, h),
            Chosen::RungeKutta4(i) => i.step(equations, state, h),
            Chosen::ImplicitMidpoint(i) => i.step(equations, state, h),
            Chosen::DormandPrince(i) => {
                let until = state.t + h;
                while state.t < until {
                    i.step(equations, state, until)?;
                }
                Ok(())
            }
        }
    }

    fn restart(&mut self) {
        if let Chosen::DormandPrince(integrator) = &mut self.integrator {
            integrator.restart();
        }
    }
}

/// A run under way in steps of one length: where it is, and how many steps led there. [`Run::walk`] is this to the end; a program
/// that pauses, or follows a clock, takes the steps itself.
///
/// ```
/// use linkwork::model::examples;
/// use linkwork::simulate::{Course, Dynamics, Integrated, Method, Run, State};
///
/// let robot = examples::double_pendulum();
/// let mut by = Integrated::new(Method::RungeKutta4, Dynamics::new(&robot, ())?);
/// let run = Run::new(Method::RungeKutta4, f64::INFINITY).step(1e-3);
/// let mut course = Course::new(run, State::at_rest(&robot, &[0.4, 0.0]));
/// for _ in 0..250 {
///     course.step(&mut by, &mut ())?;
/// }
/// assert_eq!(course.state().t, 0.25);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Course {
    pub(super) run: Run,
    /// When it began.
    origin: f64,
    pub(super) state: State,
    pub(super) steps: u64,
}

impl Course {
    /// At the start of a run.
    pub fn new(run: Run, start: State) -> Self {
        Self {
            run,
            origin: start.t,
            state: start,
            steps: 0,
        }
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Where it is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// How many steps it took.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether it is at its end.
    pub fn is_over(&self) -> bool {
        self.state.t >= self.run.end
    }

    /// Goes on from another configuration and velocity; time goes on too.
    pub fn put(&mut self, q: &[f64], v: &[f64]) {
        self.state.q.copy_from_slice(q);
        self.state.v.copy_from_slice(v);
    }

    /// When so many steps are done: counted, not added up, so that times do not drift, and exact where a second has a whole
    /// number of steps.
    fn time(&self, steps: u64) -> f64 {
        let dt = self.run.dt;
        let per_second = (1.0 / dt).round();
        let passed = if (per_second * dt - 1.0).abs() < 1e-12 {
            steps as f64 / per_second
        } else {
            steps as f64 * dt
        };
        self.origin + passed
    }

    /// One step, in parts where something changes abruptly within it. The listener hears of the parts, and of the state at its end
    /// if that is one to sample.
    pub fn step(&mut self, by: &mut (impl Advance + ?Sized), listener: &mut impl Listener) -> Result<()> {
        let Run { dt, end, rate, .. } = self.run;
        let (begun, whole) = (self.time(self.steps), self.time(self.steps + 1));
        let next = if whole > end - 1e-9 * dt { end } else { whole };
        loop {
            let until = self.run.next_change(self.state.t, next);
            listener.stretch(self.state.t, until);
            let h = if until == whole && self.state.t == begun {
                dt
            } else {
                until - self.state.t
            };
            by.advance(&mut self.state, h)?;
            self.state.t = until;
            if until == next {
                break;
            }
        }
        self.steps += 1;
        let stride = (1.0 / (rate * dt)).round().max(1.0) as u64;
        if self.steps.is_multiple_of(stride) || self.state.t == end {
            listener.sample(&self.state);
        }
        Ok(())
    }
}
