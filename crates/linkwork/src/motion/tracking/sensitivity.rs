//! What errors of a model do to a robot that follows a trajectory.
//!
//! The robot is driven as a computer does it: every h seconds torques are the trajectory's own, from the nominal model, less
//! feedback K[q ⊖ q_d; q̇ − q̇_d], and then held. A change δθ of masses, inertias, lengths or anything else moves its states by
//! S δθ to first order, and S goes along with the steps:
//!
//! ```text
//! Sₖ₊₁ = (Aₖ − BₖK) Sₖ + Gₖ      Σₓ = S Σ_θ S*
//! ```
//!
//! with the exact derivatives A and B of a step, and G that by θ, from steps of changed models at the same state.

use super::{Trajectory, feedforward, memory};
use crate::dense::add_scaled;
use crate::model::{Mechanism, check_length};
use crate::simulate::{Dynamics, Integrator, Now, PassiveForces, RungeKutta4, State};
use crate::state_space::{Method, StepDerivatives};
use crate::workspace::Moving;
use crate::{Error, Result};

/// Joint feedback: springs and dampers of motors towards the trajectory, per degree of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// Stiffness, in N m/rad or N/m; zero is none.
    pub kp: Vec<f64>,
    /// Damping.
    pub kd: Vec<f64>,
}

/// How far a robot may be from its trajectory if its model is wrong: standard deviations, to first order in the errors.
///
/// ```
/// use linkwork::model::examples;
/// use linkwork::motion::{Feedback, Sensitivity, Trajectory};
/// let arm = examples::arm7();
/// let (from, to) = ([0.0, 0.5, 0.0, -1.2, 0.0, 0.9, 0.0], [0.2, 0.4, 0.1, -1.0, 0.1, 0.8, 0.1]);
/// let course = Trajectory::minimum_jerk(&arm, &from, &to, 0.2)?;
/// let feedback = Feedback { kp: vec![50.0, 50.0, 30.0, 30.0, 2.0, 2.0, 0.5], kd: vec![3.0, 3.0, 1.0, 1.0, 0.05, 0.05, 0.01] };
/// // The masses of the last three links, each known to 5 %.
/// let model = |theta: &[f64]| {
///     let mut robot = arm.clone();
///     for (link, theta) in ["link4", "link5", "link6"].iter().zip(theta) {
///         let mut inertia = arm.links()[arm.link(link)?.index()].inertia;
///         inertia.mass *= 1.0 + theta;
///         robot = robot.with_inertia(link, inertia)?;
///     }
///     Ok(robot)
/// };
/// let bands = Sensitivity::new(&course, &feedback, &[0.05; 3], model, 5e-3)?;
/// assert!(bands.deviations().last().unwrap()[1] > 0.0);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sensitivity {
    times: Vec<f64>,
    states: Vec<State>,
    by_parameter: Vec<Vec<f64>>,
    deviations: Vec<Vec<f64>>,
}

/// A linear answer is trusted up to this standard deviation, in rad or m.
const SMALL: f64 = 0.1;
/// Part of a deviation by which models are changed to see what that does.
const CHANGE: f64 = 1e-3;

impl Sensitivity {
    /// For parameters with these standard deviations, independent of each other. `model` gives the mechanism for errors θ of
    /// them; that of zeros is what torques are computed with.
    pub fn new(
        course: &Trajectory,
        feedback: &Feedback,
        deviations: &[f64],
        model: impl Fn(&[f64]) -> Result<Mechanism>,
        h: f64,
    ) -> Result<Self> {
        let parameters = deviations.len();
        if let Some(&value) = deviations.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
            return Err(Error::Gain {
                argument: "deviations",
                value,
                rule: "be positive and finite",
            });
        }
        let mut theta = vec![0.0; parameters];
        let nominal = model(&theta)?;
        let mut follower = Follower::new(course, feedback, &nominal, h)?;
        let mut changed = Vec::new();
        for i in 0..parameters {
            let mut side = |sign: f64| -> Result<Follower> {
                theta[i] = sign * CHANGE * deviations[i];
                let follower = Follower::new(course, feedback, &model(&theta)?, h);
                theta[i] = 0.0;
                follower
            };
            changed.push([side(1.0)?, side(-1.0)?]);
        }
        let mut step = StepDerivatives::new(&nominal, Method::RungeKutta4, h)?;
        let nv = nominal.nv();
        let mut s = vec![0.0; 2 * nv * parameters];
        let mut all = Self {
            times: Vec::new(),
            states: Vec::new(),
            by_parameter: Vec::new(),
            deviations: Vec::new(),
        };
        let mut state = follower.start.clone();
        let (mut far, mut near) = (state.clone(), state.clone());
        let mut change = vec![0.0; nv];
        let steps = follower.steps;
        for k in 0..=steps {
            all.keep(&state, &s, deviations);
            if k == steps {
                break;
            }
            let tau = follower.torques(&state).map_err(|e| unstable(state.t, h, e))?.to_vec();
            step.at(&state.q, &state.v, &tau, &[])
                .map_err(|e| unstable(state.t, h, e))?;
            let mut next = follower.advance(&s, step.by_state(), step.by_torque(), parameters);
            for (j, [plus, minus]) in changed.iter_mut().enumerate() {
                far.clone_from(&state);
                near.clone_from(&state);
                plus.step(&mut far, &tau)?;
                minus.step(&mut near, &tau)?;
                let scale = (2.0 * CHANGE * deviations[j]).recip();
                nominal.difference(&near.q, &far.q, &mut change)?;
                for i in 0..nv {
                    next[i * parameters + j] += scale * change[i];
                    next[(nv + i) * parameters + j] += scale * (far.v[i] - near.v[i]);
                }
            }
            s = next;
            follower.step(&mut state, &tau)?;
        }
        Ok(all)
    }

    /// The states of a robot that follows a trajectory in this way, though its masses, inertias and lengths are not those that
    /// torques are computed with: what [`Sensitivity`] predicts to first order, for one robot.
    pub fn follow(course: &Trajectory, feedback: &Feedback, plant: &Mechanism, h: f64) -> Result<Vec<State>> {
        let mut follower = Follower::new(course, feedback, plant, h)?;
        let mut states = vec![follower.start.clone()];
        for k in 0..follower.steps {
            let tau = follower
                .torques(&states[k])
                .map_err(|e| unstable(states[k].t, h, e))?
                .to_vec();
            let mut next = states[k].clone();
            follower.step(&mut next, &tau)?;
            states.push(next);
        }
        Ok(states)
    }

    fn keep(&mut self, state: &State, s: &[f64], deviations: &[f64]) {
        let rows = s.chunks(deviations.len().max(1));
        let spread = |row: &[f64]| {
            row.iter()
                .zip(deviations)
                .map(|(s, d)| (s * d).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        self.times.push(state.t);
        self.deviations.push(rows.map(spread).collect());
        self.states.push(state.clone());
        self.by_parameter.push(s.to_vec());
    }

    /// When.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Where the nominal robot is.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// S at every time, 2nv × parameters: by how much q, in its tangent space, and q̇ answer a change of each.
    pub fn by_parameter(&self) -> &[Vec<f64>] {
        &self.by_parameter
    }

    /// The standard deviations of q, in its tangent space, and then of q̇, at every time.
    pub fn deviations(&self) -> &[Vec<f64>] {
        &self.deviations
    }

    /// Whether deviations of q stay small enough for an answer to first order, below 0.1 rad or m.
    pub fn is_trusted(&self) -> bool {
        let nv = self.deviations.first().map_or(0, |d| d.len() / 2);
        self.deviations.iter().all(|d| d[..nv].iter().all(|x| *x < SMALL))
    }
}

/// Says why a state is out of bounds.
fn unstable(t: f64, h: f64, error: Error) -> Error {
    match error {
        Error::NotFinite { .. } => Error::Step {
            t,
            problem: format!(
                "the motion grows without bound; give the feedback smaller gains, or steps shorter than {h} s"
            ),
        },
        other => other,
    }
}

/// A robot, perhaps not the nominal one, that is driven along a trajectory.
struct Follower {
    course: Trajectory,
    feedback: Feedback,
    equations: Dynamics<Held>,
    integrator: RungeKutta4,
    model: crate::Workspace,
    memory: [Vec<f64>; 4],
    tau: Vec<f64>,
    error: Vec<f64>,
    start: State,
    h: f64,
    steps: usize,
}

struct Held(Vec<f64>);

impl crate::simulate::Drive for Held {
    fn drive(&mut self, _: Now<'_>, _: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        tau.copy_from_slice(&self.0);
        Ok(())
    }
}

impl Follower {
    fn new(course: &Trajectory, feedback: &Feedback, plant: &Mechanism, h: f64) -> Result<Self> {
        crate::simulate::check_step(h)?;
        let m = course.mechanism();
        course.clone().for_mechanism(plant)?;
        for (argument, gains) in [("kp", &feedback.kp), ("kd", &feedback.kd)] {
            check_length(argument, m.nv(), gains.len())?;
            m.need_driven(|i| gains[i] != 0.0, "its gain")?;
            if let Some(&value) = gains.iter().find(|x| !(x.is_finite() && **x >= 0.0)) {
                return Err(Error::Negative { argument, value });
            }
        }
        let mut memory = memory(m);
        let [q, qd, qdd, _] = &mut memory;
        course.at(course.start_time(), q, qd, qdd)?;
        let (q, v) = (q.clone(), qd.clone());
        Ok(Self {
            course: course.clone(),
            feedback: feedback.clone(),
            equations: Dynamics::with(plant, Held(vec![0.0; m.nv()]), PassiveForces::passive(plant)),
            integrator: RungeKutta4::new(plant),
            model: m.workspace(),
            tau: vec![0.0; m.nv()],
            error: vec![0.0; m.nv()],
            start: State {
                t: course.start_time(),
                q,
                v,
            },
            memory,
            h,
            steps: (course.duration() / h * (1.0 - 1e-9)).ceil() as usize,
        })
    }

    /// What is held over the step from a state: the trajectory's torque in the middle of it, and feedback.
    fn torques(&mut self, state: &State) -> Result<&[f64]> {
        let room = self.memory.each_mut().map(|x| &mut x[..]);
        feedforward(
            &self.course,
            &mut self.model,
            state.t + 0.5 * self.h,
            room,
            &mut self.tau,
        )?;
        let [q, qd, qdd, _] = &mut self.memory;
        self.course.at(state.t, q, qd, qdd)?;
        self.course.mechanism().difference(&state.q, q, &mut self.error)?;
        for i in 0..self.tau.len() {
            self.tau[i] += self.feedback.kp[i] * self.error[i] + self.feedback.kd[i] * (qd[i] - state.v[i]);
        }
        Ok(&self.tau)
    }

    fn step(&mut self, state: &mut State, tau: &[f64]) -> Result<()> {
        self.equations.drive().0.copy_from_slice(tau);
        self.integrator.step(&mut self.equations, state, self.h)
    }

    /// (A − BK) S.
    fn advance(&self, s: &[f64], a: &[f64], b: &[f64], parameters: usize) -> Vec<f64> {
        let n = self.tau.len();
        let mut out = vec![0.0; s.len()];
        if parameters == 0 {
            return out;
        }
        let mut row = vec![0.0; 2 * n];
        for (i, out) in out.chunks_mut(parameters).enumerate() {
            let b = &b[i * n..(i + 1) * n];
            row.copy_from_slice(&a[i * 2 * n..(i + 1) * 2 * n]);
            for k in 0..n {
                row[k] -= b[k] * self.feedback.kp[k];
                row[n + k] -= b[k] * self.feedback.kd[k];
            }
            row.iter()
                .zip(s.chunks(parameters))
                .for_each(|(w, s)| add_scaled(out, *w, s));
        }
        out
    }
}
