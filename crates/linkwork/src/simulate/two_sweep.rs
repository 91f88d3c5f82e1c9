//! The diagonalized equations in time, with one inward and one outward sweep per evaluation.  (JR, Algorithm 8.1)

use super::explicit::Stages;
use super::{Diagonalized, Drive, Equations, State, at_time, check, too_far};
use crate::{Mechanism, Result};

/// The classical Runge–Kutta method of order four for [`Diagonalized`] equations: the steps of [`super::RungeKutta4`], bit for
/// bit, with one inward and one outward sweep for each of the four evaluations.
///
/// By itself an evaluation takes three: P and G come inward, then q̇ and V outward from the total rates, then Ṗ and the rates of
/// the total rates inward. But an explicit method knows where it will evaluate next as soon as it has q̇. So the inward sweep
/// that ends one evaluation also begins the next, with P, D and G of the configuration to come.
///
/// ```
/// use linkwork::simulate::{Diagonalized, TwoSweep};
/// use linkwork::workspace::Scaling::Unnormalized;
/// let robot = linkwork::model::examples::puma560();
/// let mut equations = Diagonalized::new(&robot, Unnormalized, ())?;
/// let mut state = equations.state(0.0, &[0.3; 6], &[0.5; 6])?;
/// let mut integrator = TwoSweep::new(&robot);
/// for _ in 0..100 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// println!("after {} s: q = {:?}, ξ = {:?}", state.t, state.q, state.v);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TwoSweep {
    stages: Stages<4>,
    next: Vec<f64>,
}

/// When the stages are, and the weights of those before: of the next stage, or of the step as a whole.
const STAGES: [(f64, &[f64]); 4] = [
    (0.0, &[0.5]),
    (0.5, &[0.0, 0.5]),
    (0.5, &[0.0, 0.0, 1.0]),
    (1.0, &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0]),
];

impl TwoSweep {
    /// Memory for one mechanism.
    pub fn new(mechanism: &Mechanism) -> Self {
        Self {
            stages: Stages::new(mechanism),
            next: vec![0.0; mechanism.nq()],
        }
    }

    /// Advances the state by `h` seconds. After an error the state is as it was.
    pub fn step<D: Drive>(&mut self, equations: &mut Diagonalized<'_, D>, state: &mut State, h: f64) -> Result<()> {
        check(equations.mechanism(), state, h)?;
        let failed = |e| at_time(state.t, e);
        let (s, next) = (&mut self.stages, &mut self.next);
        s.q.copy_from_slice(&state.q);
        s.v.copy_from_slice(&state.v);
        equations.begin(&state.q).map_err(failed)?;
        for (i, (c, weights)) in STAGES.into_iter().enumerate() {
            let t = state.t + c * h;
            equations.outward(t, &s.q, &s.v, &mut s.ud[i]).map_err(failed)?;
            if i > 0 && !s.chart.rate(&s.u, &mut s.ud[i]) {
                return Err(too_far(state.t));
            }
            s.mix_configuration(h, weights);
            s.chart.moved(&state.q, &s.u, next);
            equations.onward(next, &mut s.vd[i]).map_err(failed)?;
            s.mix_velocity(&state.v, h, weights);
            core::mem::swap(&mut s.q, next);
        }
        state.q.copy_from_slice(&s.q);
        state.v.copy_from_slice(&s.v);
        state.t += h;
        Ok(())
    }
}
