//! Control that learns inertial parameters while it works: Slotine and Li's law, and Wen and Bayard's.

use super::{Controller, positive};
use crate::model::check_length;
use crate::simulate::Now;
use crate::workspace::{Moving, Workspace};
use crate::{Error, Mechanism, Result};

/// Numbers per link: m, mc, Jxx Jxy Jxz Jyy Jyz Jzz.
const PARAMETERS: usize = 10;

/// A motion to follow: writes q, q̇ and q̈ at a time.
pub type DesiredMotion = Box<dyn FnMut(f64, &mut [f64], &mut [f64], &mut [f64]) + Send>;

/// How parameters are learnt.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Adaptation {
    /// π̂̇ = −ΓY\*s with one Γ for all: simple, and parameters may become those of no body.
    Plain(f64),
    /// P̂̇ = −γP̂ L(Y\*s) P̂ of every link's pseudo-inertia P̂: parameters remain those of bodies, whatever the units.
    Natural(f64),
}

/// Which law.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// T = Y(q, q̇, q̇_r, q̈_r)π̂ − K_D s with s = q̇ − q̇_r.
    SlotineLi,
    /// T = Y(q_d, q̇_d, q̇_d, q̈_d)π̂ − K_p e − K_d ė, learning from ė + ce.
    WenBayard,
}

/// Follows a course with parameters that are learnt on the way.
///
/// [`Adaptive::slotine_li`] works at where the robot is, [`Adaptive::wen_bayard`] at where it should be: its regressor needs no
/// measured velocity, and its gains must be large enough. The torques hold gravity too: use it with
/// [`Controlled::without_gravity`](super::Controlled::without_gravity). Parameters advance by themselves as time does from call
/// to call; [`Adaptive::rates`] is for integrators of one's own.
///
/// ```
/// use linkwork::control::{Adaptation, Adaptive, Controlled};
/// use linkwork::simulate::{Dynamics, Integrator, PassiveForces, RungeKutta4, State};
/// let arm = linkwork::model::examples::arm7();
/// let course = |t: f64, q: &mut [f64], v: &mut [f64], a: &mut [f64]| {
///     for i in 0..q.len() {
///         (q[i], v[i], a[i]) = (0.3 * t.sin(), 0.3 * t.cos(), -0.3 * t.sin());
///     }
/// };
/// let mut control = Adaptive::slotine_li(&arm, Box::new(course), 5.0, &[20.0, 20.0, 10.0, 10.0, 2.0, 2.0, 1.0], Adaptation::Natural(0.05))?;
/// // It starts from robots that are half as heavy.
/// let half: Vec<f64> = arm.inertial_parameters().iter().map(|x| 0.5 * x).collect();
/// control.set_parameters(&half)?;
/// let drive = Controlled::new(&arm, control).without_gravity();
/// let mut equations = Dynamics::with(&arm, drive, PassiveForces::none(&arm));
/// let mut state = State { t: 0.0, q: vec![0.0; 7], v: vec![0.3; 7] };
/// let mut integrator = RungeKutta4::new(&arm);
/// for _ in 0..4000 {
///     integrator.step(&mut equations, &mut state, 1e-3)?;
/// }
/// assert!(state.q.iter().all(|q| (q - 0.3 * state.t.sin()).abs() < 0.05));
/// # Ok::<(), linkwork::Error>(())
/// ```
pub struct Adaptive {
    mechanism: Mechanism,
    law: Law,
    course: DesiredMotion,
    /// Λ or c, and per degree of freedom K_D and K_p.
    pull: f64,
    kd: Vec<f64>,
    kp: Vec<f64>,
    adaptation: Adaptation,
    parameters: Vec<f64>,
    rates: Vec<f64>,
    /// When parameters were brought to, if ever.
    time: Option<f64>,
    at_course: Workspace<f64>,
    /// q_d, q̇_d, q̈_d; q̇_r, q̈_r; s, or ė + ce; e.
    q_d: Vec<f64>,
    v_d: Vec<f64>,
    a_d: Vec<f64>,
    v_r: Vec<f64>,
    a_r: Vec<f64>,
    slide: Vec<f64>,
    error: Vec<f64>,
}

impl core::fmt::Debug for Adaptive {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Adaptive")
            .field("law", &self.law)
            .field("adaptation", &self.adaptation)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

impl Adaptive {
    /// Slotine and Li's law: q̇_r = q̇_d + Λ(q_d ⊖ q), T = Yπ̂ − K_D(q̇ − q̇_r), with Λ in 1/s and K_D per degree of freedom.
    pub fn slotine_li(
        mechanism: &Mechanism,
        course: DesiredMotion,
        lambda: f64,
        kd: &[f64],
        adaptation: Adaptation,
    ) -> Result<Self> {
        positive("lambda", &[lambda], 1)?;
        positive("kd", kd, mechanism.nv())?;
        Self::new(
            mechanism,
            Law::SlotineLi,
            course,
            lambda,
            &vec![0.0; kd.len()],
            kd,
            adaptation,
        )
    }

    /// Wen and Bayard's law, desired compensation: T = Y(q_d, q̇_d, q̇_d, q̈_d)π̂ − K_p e − K_d ė, with c in 1/s. Gains must be
    /// large beside the speed of the course, and c small.
    pub fn wen_bayard(
        mechanism: &Mechanism,
        course: DesiredMotion,
        c: f64,
        kp: &[f64],
        kd: &[f64],
        adaptation: Adaptation,
    ) -> Result<Self> {
        positive("c", &[c], 1)?;
        positive("kp", kp, mechanism.nv())?;
        positive("kd", kd, mechanism.nv())?;
        Self::new(mechanism, Law::WenBayard, course, c, kp, kd, adaptation)
    }

    fn new(
        mechanism: &Mechanism,
        law: Law,
        course: DesiredMotion,
        pull: f64,
        kp: &[f64],
        kd: &[f64],
        adaptation: Adaptation,
    ) -> Result<Self> {
        let (Adaptation::Plain(gain) | Adaptation::Natural(gain)) = adaptation;
        if !(gain >= 0.0 && gain.is_finite()) {
            let argument = "adaptation";
            return Err(Error::Negative { argument, value: gain });
        }
        mechanism.need_driven(|_| true, "adaptive control")?;
        if let Some(joint) = mechanism.joints().iter().find(|j| j.kind.is_curved()) {
            return Err(Error::Joint {
                joint: joint.name.clone(),
                problem: "adaptive control knows no free, planar or spherical joints; take hinges and slides"
                    .to_owned(),
            });
        }
        let zeros = || vec![0.0; mechanism.nv()];
        let parameters = mechanism.inertial_parameters();
        check_bodies(mechanism, adaptation, &parameters)?;
        Ok(Self {
            mechanism: mechanism.clone(),
            law,
            course,
            pull,
            kd: kd.to_vec(),
            kp: kp.to_vec(),
            adaptation,
            rates: vec![0.0; parameters.len()],
            parameters,
            time: None,
            at_course: mechanism.workspace(),
            q_d: vec![0.0; mechanism.nq()],
            v_d: zeros(),
            a_d: zeros(),
            v_r: zeros(),
            a_r: zeros(),
            slide: zeros(),
            error: zeros(),
        })
    }

    /// π̂, ten numbers per link as [`Mechanism::inertial_parameters`] has them. At first the mechanism's own.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Other parameters to go on from. For [`Adaptation::Natural`] links must be bodies: P̂ positive definite.
    pub fn set_parameters(&mut self, parameters: &[f64]) -> Result<()> {
        check_length("parameters", self.parameters.len(), parameters.len())?;
        if let Some(value) = parameters.iter().find(|x| !x.is_finite()) {
            return Err(Error::Parameter {
                argument: "parameters",
                value: *value,
            });
        }
        check_bodies(&self.mechanism, self.adaptation, parameters)?;
        self.parameters.copy_from_slice(parameters);
        Ok(())
    }

    /// q_d, e = q ⊖ q_d, q̇_r, q̈_r and s at a state.
    fn follow(&mut self, now: Now<'_>) -> Result<()> {
        (self.course)(now.t, &mut self.q_d, &mut self.v_d, &mut self.a_d);
        self.mechanism.difference(&self.q_d, now.q, &mut self.error)?;
        for i in 0..self.error.len() {
            let (e, rate) = (self.error[i], now.v[i] - self.v_d[i]);
            self.v_r[i] = self.v_d[i] - self.pull * e;
            self.a_r[i] = self.a_d[i] - self.pull * rate;
            self.slide[i] = rate + self.pull * e;
        }
        Ok(())
    }

    /// The torques with the parameters as they are.
    pub fn torques_now(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        moving.mechanism().check_same(&self.mechanism, "controller")?;
        self.follow(now)?;
        match self.law {
            Law::SlotineLi => moving.reference_torque(&self.parameters, &self.v_r, &self.a_r, tau)?,
            Law::WenBayard => {
                let mut posed = self.at_course.at(&self.q_d)?;
                let mut there = posed.moving(&self.v_d)?;
                there.reference_torque(&self.parameters, &self.v_d, &self.a_d, tau)?;
            }
        }
        for (i, tau) in tau.iter_mut().enumerate() {
            let rate = match self.law {
                Law::SlotineLi => self.slide[i],
                Law::WenBayard => now.v[i] - self.v_d[i],
            };
            *tau -= self.kd[i] * rate + self.kp[i] * self.error[i];
        }
        Ok(())
    }

    /// π̂̇ at a state.
    pub fn rates(&mut self, now: Now<'_>, moving: &mut Moving<'_>, out: &mut [f64]) -> Result<()> {
        check_length("out", self.parameters.len(), out.len())?;
        self.follow(now)?;
        match self.law {
            Law::SlotineLi => moving.reference_adjoint(&self.v_r, &self.a_r, &self.slide, out)?,
            Law::WenBayard => {
                let mut posed = self.at_course.at(&self.q_d)?;
                let mut there = posed.moving(&self.v_d)?;
                there.reference_adjoint(&self.v_d, &self.a_d, &self.slide, out)?;
            }
        }
        for (own, out) in self
            .parameters
            .chunks_exact(PARAMETERS)
            .zip(out.chunks_exact_mut(PARAMETERS))
        {
            match self.adaptation {
                Adaptation::Plain(gain) => out.iter_mut().for_each(|y| *y *= -gain),
                Adaptation::Natural(gain) => natural(own, gain, out),
            }
        }
        Ok(())
    }

    /// The function that the proof lets fall, if the robot's true parameters are those of the mechanism: of Slotine and Li
    /// ½s\*𝓜s, of Wen and Bayard ½ė\*𝓜ė + ½e\*K_p e + ce\*𝓜ė, and what is left to learn.
    pub fn lyapunov(&mut self, now: Now<'_>, moving: &mut Moving<'_>) -> Result<f64> {
        self.follow(now)?;
        let mut moved = vec![0.0; self.error.len()];
        let rate: Vec<f64> = now.v.iter().zip(&self.v_d).map(|(v, d)| v - d).collect();
        let dot = crate::dense::dot;
        let motion = match self.law {
            Law::SlotineLi => {
                moving.mass_times(&self.slide, &mut moved)?;
                0.5 * dot(&self.slide, &moved)
            }
            Law::WenBayard => {
                moving.mass_times(&rate, &mut moved)?;
                let springs = self.error.iter().zip(&self.kp).map(|(e, k)| 0.5 * k * e * e);
                0.5 * dot(&rate, &moved) + self.pull * dot(&self.error, &moved) + springs.sum::<f64>()
            }
        };
        let truth = self.mechanism.inertial_parameters();
        let pairs = truth
            .chunks_exact(PARAMETERS)
            .zip(self.parameters.chunks_exact(PARAMETERS));
        let unknown: f64 = match self.adaptation {
            Adaptation::Plain(gain) => {
                let squares = truth.iter().zip(&self.parameters).map(|(a, b)| (a - b).powi(2));
                0.5 * squares.sum::<f64>() / gain.max(f64::MIN_POSITIVE)
            }
            Adaptation::Natural(gain) => {
                pairs.map(|(a, b)| divergence(a, b)).sum::<f64>() / gain.max(f64::MIN_POSITIVE)
            }
        };
        Ok(motion + unknown)
    }
}

impl Controller for Adaptive {
    fn torques(&mut self, now: Now<'_>, moving: &mut Moving<'_>, tau: &mut [f64]) -> Result<()> {
        // Parameters go on at the rates that were last seen.
        let passed = self.time.map_or(0.0, |before| now.t - before);
        if passed > 0.0 {
            for (p, rate) in self.parameters.iter_mut().zip(&self.rates) {
                *p += passed * rate;
            }
        }
        let mut rates = core::mem::take(&mut self.rates);
        let seen = self.rates(now, moving, &mut rates);
        self.rates = rates;
        self.time = Some(now.t);
        seen.and_then(|()| self.torques_now(now, moving, tau))
    }
}

/// An error if natural adaptation is to begin from a link that is no body. Links without anything stay so.
fn check_bodies(m: &Mechanism, adaptation: Adaptation, parameters: &[f64]) -> Result<()> {
    if matches!(adaptation, Adaptation::Plain(_)) {
        return Ok(());
    }
    let links = m.links().iter().zip(parameters.chunks_exact(PARAMETERS));
    let is_body = |p: &[f64]| p.iter().all(|x| *x == 0.0) || factor(&pseudo_inertia(p)).is_some();
    match links.into_iter().find(|(_, p)| !is_body(p)) {
        None => Ok(()),
        Some((link, _)) => Err(Error::Unsolved {
            what: "adaptive control",
            problem: format!(
                "link `{}` is no body: its pseudo-inertia is not positive definite; give it another inertia, or take \
                 `Adaptation::Plain`",
                link.name
            ),
        }),
    }
}

type Four = [[f64; 4]; 4];

/// P = [½tr(J)I − J, mc; ·, m].
fn pseudo_inertia(p: &[f64]) -> Four {
    let j = [[p[4], p[5], p[6]], [p[5], p[7], p[8]], [p[6], p[8], p[9]]];
    let half = 0.5 * (p[4] + p[7] + p[9]);
    let mut out = [[0.0; 4]; 4];
    for i in 0..3 {
        for k in 0..3 {
            out[i][k] = if i == k { half - j[i][k] } else { -j[i][k] };
        }
        (out[i][3], out[3][i]) = (p[1 + i], p[1 + i]);
    }
    out[3][3] = p[0];
    out
}

/// The ten numbers of a P.
fn parameters_of(p: &Four, out: &mut [f64]) {
    let trace = p[0][0] + p[1][1] + p[2][2];
    out[0] = p[3][3];
    (out[1], out[2], out[3]) = (p[0][3], p[1][3], p[2][3]);
    (out[4], out[7], out[9]) = (trace - p[0][0], trace - p[1][1], trace - p[2][2]);
    (out[5], out[6], out[8]) = (-p[0][1], -p[0][2], -p[1][2]);
}

/// −γP L(y) P, from the ten numbers y to those of the rate. tr(P(π)L(y)) = π·y.
fn natural(own: &[f64], gain: f64, y: &mut [f64]) {
    let p = pseudo_inertia(own);
    let mut l = [[0.0; 4]; 4];
    let (jj, off) = ([y[4], y[7], y[9]], [(0, 1, y[5]), (0, 2, y[6]), (1, 2, y[8])]);
    for i in 0..3 {
        l[i][i] = jj[(i + 1) % 3] + jj[(i + 2) % 3];
        (l[i][3], l[3][i]) = (0.5 * y[1 + i], 0.5 * y[1 + i]);
    }
    for (i, k, x) in off {
        (l[i][k], l[k][i]) = (-0.5 * x, -0.5 * x);
    }
    l[3][3] = y[0];
    let mut rate = product(&product(&p, &l), &p);
    rate.iter_mut().flatten().for_each(|x| *x *= -gain);
    parameters_of(&rate, y);
}

fn product(a: &Four, b: &Four) -> Four {
    core::array::from_fn(|i| core::array::from_fn(|k| (0..4).map(|j| a[i][j] * b[j][k]).sum()))
}

/// D(P‖P̂) = log det P̂ − log det P + tr(P̂⁻¹P) − 4, by Cholesky's factors; infinity where one is no body.
fn divergence(own: &[f64], learnt: &[f64]) -> f64 {
    if own.iter().chain(learnt).all(|x| *x == 0.0) {
        return 0.0;
    }
    let (p, q) = (pseudo_inertia(own), pseudo_inertia(learnt));
    let (Some(a), Some(b)) = (factor(&p), factor(&q)) else {
        return f64::INFINITY;
    };
    let log_det = |l: &Four| 2.0 * (0..4).map(|i| l[i][i].ln()).sum::<f64>();
    // tr(P̂⁻¹P) = |B⁻¹A|².
    let mut trace = 0.0;
    for column in 0..4 {
        let mut x = [0.0; 4];
        for i in 0..4 {
            let known: f64 = (0..i).map(|k| b[i][k] * x[k]).sum();
            x[i] = (a[i][column] - known) / b[i][i];
            trace += x[i] * x[i];
        }
    }
    log_det(&b) - log_det(&a) + trace - 4.0
}

/// L with LL* = P, if P is positive definite.
fn factor(p: &Four) -> Option<Four> {
    let mut l = [[0.0; 4]; 4];
    for i in 0..4 {
        for k in 0..=i {
            let known: f64 = (0..k).map(|j| l[i][j] * l[k][j]).sum();
            let left = p[i][k] - known;
            l[i][k] = match i == k {
                true if left > 0.0 => left.sqrt(),
                true => return None,
                false => left / l[k][k],
            };
        }
    }
    Some(l)
}
