//! Linear models about an operating point: ẋ = Ax + Bu, y = Cx + Du.
//!
//! The state x is a small step of the configuration in its tangent space, then a change of velocity; the inputs u are
//! changes of the motors' torques; the outputs y are changes of configuration, or of the places of frames. What joints
//! do by themselves, springs, dampers and friction, is part of A, and so is what forces from outside do as they stay the
//! same, each in the axes that its [`ExternalForce`] says.
//!
//! ```
//! use linkwork::model::examples;
//! use linkwork::state_space::{OperatingPoint, StateSpace};
//! let robot = examples::cart_pole();
//! let upright = OperatingPoint::at_rest(&robot, &robot.neutral())?;
//! let model = StateSpace::continuous(&robot, &upright)?.driven_by(&["rail"])?;
//! assert!(model.poles()?.iter().any(|pole| pole.re > 1.0), "a standing pole falls");
//! assert_eq!(model.controllable_states()?, 4, "but the cart can keep it up");
//! let gain = model.lqr(&[1.0; 4], &[0.1])?;
//! let closed = model.with_feedback(&gain)?;
//! assert!(closed.poles()?.iter().all(|pole| pole.re < 0.0));
//! # Ok::<(), linkwork::Error>(())
//! ```

mod controllability;
mod discrete;
mod doubling;
#[cfg(test)]
mod dual_step;
mod external_force;
mod finite_horizon;
mod matrix_product;
mod names;
mod riccati;
mod step;

pub use crate::dense::Pole;
pub(crate) use crate::dense::poles_of;
pub use crate::simulate::Method;
pub use external_force::ExternalForce;
pub use step::StepDerivatives;

use crate::dense::add_scaled;
use crate::model::{JointKind, Mechanism};
use crate::{Error, Reference, Result};

/// Where a model is linearized.
///
/// ```
/// use linkwork::state_space::{OperatingPoint, StateSpace};
/// let robot = linkwork::model::examples::cart_pole();
/// // At rest it holds itself by its motors; elsewhere say what they do.
/// let still = OperatingPoint::at_rest(&robot, &[0.0, 0.1])?;
/// let rolling = OperatingPoint { qd: vec![0.5, 0.0], ..still.clone() };
/// assert_eq!(still.tau.len(), robot.nv());
/// let (a, b) = (StateSpace::continuous(&robot, &still)?, StateSpace::continuous(&robot, &rolling)?);
/// assert_eq!(a.states, b.states);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatingPoint {
    /// Configuration.
    pub q: Vec<f64>,
    /// Velocity.
    pub qd: Vec<f64>,
    /// The motors' torques.
    pub tau: Vec<f64>,
    /// Forces from outside.
    pub forces: Vec<ExternalForce>,
}

impl OperatingPoint {
    /// At rest, with the torques that hold the mechanism there: against gravity and its joints' springs.
    pub fn at_rest(mechanism: &Mechanism, q: &[f64]) -> Result<Self> {
        Self::at_rest_under(mechanism, q, &[])
    }

    /// The same under forces from outside, which the torques hold the mechanism against too.
    ///
    /// ```
    /// use linkwork::model::examples;
    /// use linkwork::spatial::Force;
    /// use linkwork::state_space::{OperatingPoint, ExternalForce, StateSpace};
    /// use linkwork::Reference;
    /// let robot = examples::cart_pole();
    /// let (frame, lift) = (robot.frame("tip")?, Force::new([0.0; 3], [0.0, 0.0, 1.0]));
    /// let falls = |reference| {
    ///     let push = ExternalForce { frame, reference, force: lift };
    ///     let upright = OperatingPoint::at_rest_under(&robot, &robot.neutral(), &[push])?;
    ///     Ok::<bool, linkwork::Error>(StateSpace::continuous(&robot, &upright)?.poles()?[0].re > 1.0)
    /// };
    /// assert!(!falls(Reference::Aligned)?, "a balloon at its tip holds a pole upright");
    /// assert!(falls(Reference::Local)?, "a thrust along the pole, which turns with it, does not");
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn at_rest_under(mechanism: &Mechanism, q: &[f64], forces: &[ExternalForce]) -> Result<Self> {
        let nv = mechanism.nv();
        let (qd, mut tau, mut passive) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(q)?;
        external_force::act(forces, &mut posed)?;
        let mut moving = posed.moving(&qd)?;
        moving.bias(&mut tau)?;
        moving.passive_torque(&mut passive)?;
        tau.iter_mut().zip(passive).for_each(|(tau, x)| *tau -= x);
        let (q, forces) = (q.to_vec(), forces.to_vec());
        Ok(Self { q, qd, tau, forces })
    }
}

/// A linear model. Matrices are dense and row by row.
///
/// ```
/// use linkwork::state_space::{OperatingPoint, StateSpace};
/// let robot = linkwork::model::examples::cart_pole();
/// let upright = OperatingPoint::at_rest(&robot, &[0.0, 0.0])?;
/// let model = StateSpace::continuous(&robot, &upright)?.driven_by(&["rail"])?;
/// assert!(model.poles()?.iter().any(|pole| pole.re > 0.0)); // unstable
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpace {
    /// Names of the states: `joint` and `d joint` for the joint's velocity, with a number where there are several.
    pub states: Vec<String>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// A, states × states.
    pub a: Vec<f64>,
    /// B, states × inputs.
    pub b: Vec<f64>,
    /// C, outputs × states.
    pub c: Vec<f64>,
    /// D, outputs × inputs.
    pub d: Vec<f64>,
    /// None for ẋ = Ax + Bu; the step in seconds for x⁺ = Ax + Bu.
    pub step: Option<f64>,
}

impl StateSpace {
    /// ẋ = Ax + Bu about a point. The inputs are the torques of the mechanism's motors, and the outputs the configuration's
    /// states.
    pub fn continuous(mechanism: &Mechanism, point: &OperatingPoint) -> Result<Self> {
        let n = mechanism.nv();
        let mut derivatives = mechanism.derivatives();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&point.q)?;
        external_force::act(&point.forces, &mut posed)?;
        let mut moving = posed.moving(&point.qd)?;
        mechanism.check_vector("tau", &point.tau)?;
        let (mut total, mut stiff, mut damp) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; n]);
        moving.passive_torque(&mut total)?;
        total.iter_mut().zip(&point.tau).for_each(|(sum, x)| *sum += x);
        moving.passive_derivatives(&mut stiff, &mut damp)?;
        external_force::add_derivatives(&point.forces, &mut moving, &mut vec![0.0; 6 * n], &mut stiff)?;
        let mut linearized = moving.linearized_under(&total, &mut vec![0.0; n])?;
        linearized.forward_derivatives(&mut derivatives)?;
        let inverse = derivatives.by_input();
        let mut a = vec![0.0; 4 * n * n];
        turning(mechanism, &point.qd, &mut a);
        for i in 0..n {
            a[i * 2 * n + n + i] = 1.0;
            let (row, at) = (&mut a[(n + i) * 2 * n..][..2 * n], i * n..(i + 1) * n);
            row[..n].copy_from_slice(&derivatives.by_q()[at.clone()]);
            row[n..].copy_from_slice(&derivatives.by_qd()[at.clone()]);
            for (k, weight) in inverse[at].iter().enumerate() {
                add_scaled(&mut row[..n], *weight, &stiff[k * n..(k + 1) * n]);
                row[n + k] += weight * damp[k];
            }
        }
        let mut b = vec![0.0; 2 * n * n];
        b[n * n..].copy_from_slice(inverse);
        Self::named(mechanism, a, b, None)
    }

    /// A model whose outputs are the configuration's states, with names, from a B that has a column for every degree of
    /// freedom.
    fn named(mechanism: &Mechanism, a: Vec<f64>, b: Vec<f64>, step: Option<f64>) -> Result<Self> {
        let n = mechanism.nv();
        let (inputs, states) = names::of(mechanism)?;
        let mut c = vec![0.0; 2 * n * n];
        (0..n).for_each(|i| c[i * 2 * n + i] = 1.0);
        let driven = mechanism.driven_dofs();
        let rows = b.chunks(n.max(1));
        let b = rows.flat_map(|row| driven.iter().map(|i| row[*i])).collect();
        Ok(Self {
            states,
            inputs: driven.iter().map(|i| inputs[*i].clone()).collect(),
            outputs: inputs,
            a,
            b,
            c,
            d: vec![0.0; n * driven.len()],
            step,
        })
    }

    /// An error unless A, B, C and D have the sizes that the names say.
    fn check(&self) -> Result<()> {
        let (n, m, p) = (self.states.len(), self.inputs.len(), self.outputs.len());
        let all = [
            ("A, states × states,", &self.a, n * n),
            ("B, states × inputs,", &self.b, n * m),
            ("C, outputs × states,", &self.c, p * n),
            ("D, outputs × inputs,", &self.d, p * m),
        ];
        match all.iter().find(|(_, x, needed)| x.len() != *needed) {
            None => Ok(()),
            Some((argument, x, needed)) => Err(Error::Length {
                argument,
                needed: *needed,
                given: x.len(),
            }),
        }
    }

    /// The same, and that A and B are finite.
    fn check_finite(&self, what: &'static str) -> Result<()> {
        self.check()?;
        for (name, matrix, columns) in [("A", &self.a, &self.states), ("B", &self.b, &self.inputs)] {
            if let Some(i) = matrix.iter().position(|x| !x.is_finite()) {
                let (row, column) = (&self.states[i / columns.len()], &columns[i % columns.len()]);
                let problem = format!(
                    "{name} has a number {} in row `{row}`, column `{column}`; give finite ones",
                    matrix[i]
                );
                return Err(Error::Unsolved { what, problem });
            }
        }
        Ok(())
    }

    /// The same with torques at these joints alone, each named once: by the name of an input, or that which several inputs
    /// have before their numbers, as those of one joint do.
    pub fn driven_by(mut self, joints: &[impl AsRef<str>]) -> Result<Self> {
        self.check()?;
        let mut kept = Vec::new();
        for joint in joints {
            let found = names::inputs(&self.inputs, joint.as_ref())?;
            if found.is_empty() {
                return Err(Error::Unknown {
                    what: "driven joint",
                    name: joint.as_ref().to_owned(),
                    mechanism: "the linear model".into(),
                    hint: format!("; its inputs are {}", self.inputs.join(", ")),
                });
            }
            if found.iter().any(|i| kept.contains(i)) {
                return Err(Error::Joint {
                    joint: joint.as_ref().to_owned(),
                    problem: "it is driven already; name it once".into(),
                });
            }
            kept.extend(found);
        }
        let inputs = self.inputs.len();
        let pick = |matrix: &[f64]| -> Vec<f64> {
            let rows = matrix.chunks(inputs.max(1));
            rows.flat_map(|row| kept.iter().map(|i| row[*i])).collect()
        };
        (self.b, self.d) = (pick(&self.b), pick(&self.d));
        self.inputs = kept.iter().map(|i| self.inputs[*i].clone()).collect();
        Ok(self)
    }

    /// The same with the places of these frames as outputs: x, y and z of their origins, in the world's axes. The
    /// mechanism is the one that the model is of.
    pub fn seen_at(mut self, mechanism: &Mechanism, q: &[f64], frames: &[impl AsRef<str>]) -> Result<Self> {
        let (n, inputs) = (mechanism.nv(), self.inputs.len());
        if self.states.len() != 2 * n || self.states != names::of(mechanism)?.1 {
            return Err(Error::Unsolved {
                what: "outputs of the linear model",
                problem: format!(
                    "its states are not those of mechanism `{}`; give the one that was linearized",
                    mechanism.name()
                ),
            });
        }
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(q)?;
        let mut jacobian = vec![0.0; 6 * n];
        (self.c, self.outputs) = (Vec::new(), Vec::new());
        for frame in frames {
            posed.jacobian(mechanism.frame(frame.as_ref())?, Reference::Aligned, &mut jacobian)?;
            for (axis, row) in ["x", "y", "z"].iter().zip(jacobian[3 * n..].chunks(n.max(1))) {
                self.c.extend_from_slice(row);
                self.c.extend(core::iter::repeat_n(0.0, n));
                self.outputs.push(format!("{axis} of {}", frame.as_ref()));
            }
        }
        self.d = vec![0.0; self.outputs.len() * inputs];
        Ok(self)
    }

    /// The eigenvalues of A, those of the largest real part first. Those that are not real come as exactly conjugate pairs, side
    /// by side, that above the axis first.
    pub fn poles(&self) -> Result<Vec<Pole>> {
        self.check()?;
        crate::dense::poles_of(self.states.len(), &self.a)
    }

    /// The closed loop u = −K x, with K inputs × states.
    pub fn with_feedback(&self, gain: &[f64]) -> Result<Self> {
        self.check()?;
        let (n, m) = (self.states.len(), self.inputs.len());
        if gain.len() != m * n {
            return Err(Error::Length {
                argument: "gain",
                needed: m * n,
                given: gain.len(),
            });
        }
        let mut closed = self.clone();
        for (row, b) in closed.a.chunks_mut(n.max(1)).zip(self.b.chunks(m.max(1))) {
            for (b, gain) in b.iter().zip(gain.chunks(n.max(1))) {
                add_scaled(row, -b, gain);
            }
        }
        for (row, d) in closed.c.chunks_mut(n.max(1)).zip(self.d.chunks(m.max(1))) {
            for (d, gain) in d.iter().zip(gain.chunks(n.max(1))) {
                add_scaled(row, -d, gain);
            }
        }
        Ok(closed)
    }

    /// How many directions of the state space the inputs can reach: all states if the model is controllable.
    ///
    /// Units of states and inputs do not matter; what cancels to 10⁻¹⁰ of its terms counts as zero.
    pub fn controllable_states(&self) -> Result<usize> {
        self.check_finite("what inputs reach")?;
        let (n, m) = (self.states.len(), self.inputs.len());
        Ok(n - controllability::unreached(n, m, &self.a, &self.b).0)
    }

    /// The gain K, inputs × states, of u = −K x that makes ∫ x\*Qx + u\*Ru least (Σ for a discrete model), with diagonal Q
    /// and R given by their diagonals.
    pub fn lqr(&self, q: &[f64], r: &[f64]) -> Result<Vec<f64>> {
        riccati::lqr(self, q, r)
    }
}

/// d/dt of a step of the configuration also turns with the velocity: −ad(q̇), zero but for joints whose steps do not
/// commute.
fn turning(mechanism: &Mechanism, qd: &[f64], a: &mut [f64]) {
    let wide = 2 * mechanism.nv();
    for (j, joint) in mechanism.joints().iter().enumerate() {
        let v = mechanism.v_of(j);
        let (w, u) = match joint.kind {
            JointKind::Spherical => ([qd[v.start], qd[v.start + 1], qd[v.start + 2]], [0.0; 3]),
            JointKind::Free => (
                [qd[v.start], qd[v.start + 1], qd[v.start + 2]],
                [qd[v.start + 3], qd[v.start + 4], qd[v.start + 5]],
            ),
            JointKind::Planar => ([0.0, 0.0, qd[v.start]], [qd[v.start + 1], qd[v.start + 2], 0.0]),
            _ => continue,
        };
        let skew = |x: [f64; 3]| [[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]];
        let (w, u) = (skew(w), skew(u));
        // crm = [[ω̃, 0], [ṽ, ω̃]], of which each joint has some coordinates.
        let ad = |i: usize, k: usize| match (i < 3, k < 3) {
            (true, true) => w[i][k],
            (false, false) => w[i - 3][k - 3],
            (false, true) => u[i - 3][k],
            (true, false) => 0.0,
        };
        for (i, &row) in joint.kind.axes().iter().enumerate() {
            for (k, &column) in joint.kind.axes().iter().enumerate() {
                a[(v.start + i) * wide + v.start + k] = -ad(row, column);
            }
        }
    }
}
