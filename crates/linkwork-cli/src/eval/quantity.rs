//! What can be computed, by name.

use super::state::{State, States};
use crate::complaint::Complaint;
use anyhow::Result;
use linkwork::batch::Batch;
use linkwork::model::FrameId;
use linkwork::workspace::Scaling::{self, Normalized, Unnormalized};
use linkwork::workspace::{Derivatives, Moving};
use linkwork::{Mechanism, Reference, Workspace};

/// A named quantity.
pub(crate) struct Quantity {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Whether it is of a frame.
    pub(crate) of_frame: bool,
    shape: Shape,
    compute: Compute,
    /// The same for many states at once, where the library has a kernel for it.
    batch: Option<BatchCompute>,
}

type BatchCompute = fn(&mut Batch, &States, &Seen, &mut [f64]) -> linkwork::Result<()>;
type Compute = fn(&mut Moving<'_>, &State, &mut Context, &mut [f64]) -> linkwork::Result<()>;

/// How its numbers are laid out.
#[derive(Clone, Copy)]
enum Shape {
    Number,
    Vector(Size),
    Matrix(Size, Size),
}

#[derive(Clone, Copy)]
enum Size {
    Nv,
    Of(usize),
}

/// A frame and what it is seen from.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) frame: FrameId,
    pub(crate) reference: Reference,
}

/// What a quantity may need besides the state.
struct Context {
    seen: Seen,
    /// Room for the terms of 𝒞.
    room: Vec<f64>,
    /// Once asked for: they are as large as three mass matrices.
    derivatives: Option<Derivatives>,
}

const fn quantity(name: &'static str, about: &'static str, shape: Shape, compute: Compute) -> Quantity {
    Quantity {
        name,
        about,
        of_frame: false,
        shape,
        compute,
        batch: None,
    }
}

const fn of_frame(name: &'static str, about: &'static str, shape: Shape, compute: Compute) -> Quantity {
    Quantity {
        of_frame: true,
        ..quantity(name, about, shape, compute)
    }
}

impl Quantity {
    const fn batched(self, batch: BatchCompute) -> Self {
        Self {
            batch: Some(batch),
            ..self
        }
    }
}

const VECTOR: Shape = Shape::Vector(Size::Nv);
const SQUARE: Shape = Shape::Matrix(Size::Nv, Size::Nv);
const SIX_ROWS: Shape = Shape::Matrix(Size::Of(6), Size::Nv);
const SIX_BY_SIX: Shape = Shape::Matrix(Size::Of(6), Size::Of(6));

/// All of them.
pub(crate) static QUANTITIES: &[Quantity] = &[
    quantity(
        "forward_dynamics",
        "q̈ under the torques tau",
        VECTOR,
        |m, s, _, out| m.forward_dynamics(&s.tau, out),
    )
    .batched(|b, s, _, out| b.forward_dynamics(&s.q, &s.v, &s.tau, out)),
    quantity(
        "inverse_dynamics",
        "the torques for the accelerations a",
        VECTOR,
        |m, s, _, out| m.inverse_dynamics(&s.a, out),
    )
    .batched(|b, s, _, out| b.inverse_dynamics(&s.q, &s.v, &s.a, out)),
    quantity("mass_matrix", "𝓜, nv × nv", SQUARE, |m, _, _, out| {
        m.mass_matrix(out)
    })
    .batched(|b, s, _, out| b.mass_matrix(&s.q, out)),
    quantity("mass_matrix_inverse", "𝓜⁻¹, nv × nv", SQUARE, |m, _, _, out| {
        m.mass_matrix_inverse(out)
    })
    .batched(|b, s, _, out| b.mass_matrix_inverse(&s.q, out)),
    quantity("bias", "gravity and velocity terms", VECTOR, |m, _, _, out| m.bias(out))
        .batched(|b, s, _, out| b.bias(&s.q, &s.v, out)),
    quantity(
        "gravity_torque",
        "the torques that hold it still",
        VECTOR,
        |m, _, _, out| m.gravity_torque(out),
    )
    .batched(|b, s, _, out| b.gravity_torque(&s.q, out)),
    quantity(
        "kinetic_energy",
        "½ q̇*𝓜q̇, in J",
        Shape::Number,
        |m, _, _, out| {
            out[0] = m.kinetic_energy();
            Ok(())
        },
    )
    .batched(|b, s, _, out| b.kinetic_energy(&s.q, &s.v, out)),
    quantity(
        "potential_energy",
        "−Σ m g·c, in J",
        Shape::Number,
        |m, _, _, out| {
            out[0] = m.potential_energy();
            Ok(())
        },
    )
    .batched(|b, s, _, out| b.potential_energy(&s.q, out)),
    quantity(
        "com",
        "the centre of mass in the world, in m",
        Shape::Vector(Size::Of(3)),
        |m, _, _, out| {
            out.copy_from_slice(&m.com().to_array());
            Ok(())
        },
    )
    .batched(|b, s, _, out| b.com(&s.q, out)),
    of_frame(
        "pose",
        "4 × 4, of --frame in the world",
        Shape::Matrix(Size::Of(4), Size::Of(4)),
        |m, _, c, out| {
            let pose = m.pose(c.seen.frame)?;
            let (r, p) = (pose.rotation, pose.translation);
            out.copy_from_slice(&[
                r.x.x, r.y.x, r.z.x, p.x, r.x.y, r.y.y, r.z.y, p.y, r.x.z, r.y.z, r.z.z, p.z, 0.0, 0.0, 0.0, 1.0,
            ]);
            Ok(())
        },
    ),
    of_frame(
        "jacobian",
        "6 × nv, rows [ω; v], of --frame in --reference",
        SIX_ROWS,
        |m, _, c, out| m.jacobian(c.seen.frame, c.seen.reference, out),
    )
    .batched(|b, s, seen, out| b.jacobian(seen.frame, seen.reference, &s.q, out)),
    of_frame(
        "osim_inverse",
        "J𝓜⁻¹J*, 6 × 6, of --frame in --reference",
        SIX_BY_SIX,
        |m, _, c, out| {
            let inverse = m.operational_inertia_inverse(c.seen.frame, c.seen.reference)?;
            out.copy_from_slice(inverse.as_flattened());
            Ok(())
        },
    ),
    quantity("xi", "ξ = (I + HφK)*q̇", VECTOR, |m, s, _, out| {
        m.total_rates(Unnormalized, &s.v, out)
    }),
    quantity("nu", "the total rates ν = m*q̇", VECTOR, |m, s, _, out| {
        m.total_rates(Normalized, &s.v, out)
    }),
    quantity(
        "kappa",
        "κ = (I − HψK)T of the torques tau",
        VECTOR,
        |m, s, _, out| m.working_moments(Unnormalized, &s.tau, out),
    ),
    quantity(
        "eps",
        "the working moments ε = ℓT of the torques tau",
        VECTOR,
        |m, s, _, out| m.working_moments(Normalized, &s.tau, out),
    ),
    quantity(
        "C_xi",
        "𝒞(q, ξ) of Dξ̇ + 𝒞 = κ, gravity included",
        VECTOR,
        |m, _, c, out| coriolis(m, Unnormalized, c, out),
    ),
    quantity(
        "C_nu",
        "𝒞(q, ν) of ν̇ + 𝒞 = ε, gravity included",
        VECTOR,
        |m, _, c, out| coriolis(m, Normalized, c, out),
    ),
    quantity(
        "dtau_dq",
        "∂T/∂q at (q, v, a), nv × nv, in the tangent space",
        SQUARE,
        |m, s, c, out| of_torques(m, s, c, true, out),
    ),
    quantity(
        "dtau_dqd",
        "∂T/∂q̇ at (q, v, a), nv × nv",
        SQUARE,
        |m, s, c, out| of_torques(m, s, c, false, out),
    ),
    quantity(
        "dqdd_dq",
        "∂q̈/∂q at (q, v, tau), nv × nv, in the tangent space",
        SQUARE,
        |m, s, c, out| of_accelerations(m, s, c, true, out),
    ),
    quantity(
        "dqdd_dqd",
        "∂q̈/∂q̇ at (q, v, tau), nv × nv",
        SQUARE,
        |m, s, c, out| of_accelerations(m, s, c, false, out),
    ),
];

/// Two of the matrices that linearized dynamics give.
fn derivative(derivatives: &Derivatives, by_q: bool, out: &mut [f64]) -> linkwork::Result<()> {
    out.copy_from_slice(if by_q { derivatives.by_q() } else { derivatives.by_qd() });
    Ok(())
}

/// ∂T/∂q or ∂T/∂q̇ at (q, v, a).
fn of_torques(m: &mut Moving<'_>, s: &State, c: &mut Context, by_q: bool, out: &mut [f64]) -> linkwork::Result<()> {
    let mechanism = m.mechanism();
    let derivatives = c.derivatives.get_or_insert_with(|| mechanism.derivatives());
    m.linearized(&s.a)?.inverse_derivatives(derivatives)?;
    derivative(derivatives, by_q, out)
}

/// ∂q̈/∂q or ∂q̈/∂q̇ at (q, v, tau).
fn of_accelerations(
    m: &mut Moving<'_>,
    s: &State,
    c: &mut Context,
    by_q: bool,
    out: &mut [f64],
) -> linkwork::Result<()> {
    let nv = s.tau.len();
    let mechanism = m.mechanism();
    let derivatives = c.derivatives.get_or_insert_with(|| mechanism.derivatives());
    m.linearized_under(&s.tau, &mut c.room[..nv])?
        .forward_derivatives(derivatives)?;
    derivative(derivatives, by_q, out)
}

/// The sum of the terms of 𝒞.
fn coriolis(m: &mut Moving<'_>, scaling: Scaling, c: &mut Context, out: &mut [f64]) -> linkwork::Result<()> {
    m.diagonal_coriolis_terms(scaling, &mut c.room)?;
    let nv = out.len();
    for (i, out) in out.iter_mut().enumerate() {
        *out = c.room.iter().skip(i).step_by(nv).sum();
    }
    Ok(())
}

/// A quantity asked for, and room for its numbers.
#[derive(Clone)]
pub(crate) struct Asked {
    quantity: &'static Quantity,
    /// Numbers per row, and how many; rows of nought numbers are one number.
    columns: usize,
    rows: usize,
}

impl Asked {
    pub(crate) fn new(quantity: &'static Quantity, nv: usize) -> Self {
        let size = |size| match size {
            Size::Nv => nv,
            Size::Of(n) => n,
        };
        let (rows, columns) = match quantity.shape {
            Shape::Number => (1, 1),
            Shape::Vector(n) => (1, size(n)),
            Shape::Matrix(n, m) => (size(n), size(m)),
        };
        Self {
            quantity,
            columns,
            rows,
        }
    }

    /// How many numbers it has.
    fn size(&self) -> usize {
        self.rows * self.columns
    }
}

/// 𝒞 is a sum of so many.
const TERMS: usize = 5;
/// So many states are evaluated together, unless their results are large.
const CHUNK: usize = 256;
/// So many numbers may the results of one quantity have.
const LARGE: usize = 1 << 20;

/// Memory for evaluating quantities of one mechanism.
pub(crate) struct Evaluator<'a> {
    workspace: Workspace,
    batch: Batch,
    asked: &'a [Asked],
    context: Context,
    /// The numbers of every quantity, state after state.
    results: Vec<Vec<f64>>,
    chunk: usize,
    state: State,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(mechanism: &Mechanism, asked: &'a [Asked], seen: Seen) -> Self {
        let largest = asked.iter().map(Asked::size).max().unwrap_or(1).max(1);
        let chunk = (LARGE / largest).clamp(1, CHUNK);
        Self {
            workspace: mechanism.workspace(),
            // Threads share lines, not states.
            batch: mechanism.batch().with_threads(1),
            asked,
            context: Context {
                seen,
                room: vec![0.0; TERMS * mechanism.nv()],
                derivatives: None,
            },
            results: asked.iter().map(|a| vec![0.0; chunk * a.size()]).collect(),
            chunk,
            state: State::new(mechanism),
        }
    }

    /// How many states to give at once, at most.
    pub(crate) fn chunk(&self) -> usize {
        self.chunk
    }

    /// Appends a line of JSON for every state. An error comes with the state it belongs to; lines before it are there.
    pub(crate) fn lines(&mut self, states: &States, out: &mut Vec<u8>) -> Result<(), (usize, anyhow::Error)> {
        let n = states.len();
        let (asked, seen) = (self.asked, &self.context.seen);
        let mut together = n > 1;
        for (asked, results) in asked.iter().zip(&mut self.results) {
            if let Some(batch) = asked.quantity.batch.filter(|_| together) {
                // Where a state fails, each is taken by itself, to find which.
                together = batch(&mut self.batch, states, seen, &mut results[..n * asked.size()]).is_ok();
            }
        }
        for i in 0..n {
            self.alone(states, i, together).map_err(|e| (i, e))?;
            let start = out.len();
            if let Err(problem) = self.write(i, out) {
                out.truncate(start);
                return Err((i, problem));
            }
        }
        Ok(())
    }

    /// Computes what has not been computed for all states together.
    fn alone(&mut self, states: &States, i: usize, together: bool) -> Result<()> {
        if together && self.asked.iter().all(|a| a.quantity.batch.is_some()) {
            return Ok(());
        }
        states.get(i, &mut self.state);
        let mut posed = self.workspace.at(&self.state.q)?;
        let mut moving = posed.moving(&self.state.v)?;
        for (asked, results) in self.asked.iter().zip(&mut self.results) {
            if !together || asked.quantity.batch.is_none() {
                let numbers = &mut results[i * asked.size()..(i + 1) * asked.size()];
                (asked.quantity.compute)(&mut moving, &self.state, &mut self.context, numbers)?;
            }
        }
        Ok(())
    }

    /// Appends the line of a state.
    fn write(&self, i: usize, out: &mut Vec<u8>) -> Result<()> {
        out.push(b'{');
        for (k, (asked, results)) in self.asked.iter().zip(&self.results).enumerate() {
            let numbers = &results[i * asked.size()..(i + 1) * asked.size()];
            if numbers.iter().any(|x| !x.is_finite()) {
                return Err(Complaint::failure(
                    format!("{} is not finite at this state", asked.quantity.name),
                    "the state's numbers are too large, or the mechanism is singular there",
                ));
            }
            if k > 0 {
                out.push(b',');
            }
            out.push(b'"');
            out.extend_from_slice(asked.quantity.name.as_bytes());
            out.extend_from_slice(b"\":");
            match asked.quantity.shape {
                Shape::Number => write(numbers[0], out),
                Shape::Vector(_) => row(numbers, out),
                Shape::Matrix(..) => {
                    out.push(b'[');
                    for (i, numbers) in numbers.chunks_exact(asked.columns.max(1)).enumerate() {
                        if i > 0 {
                            out.push(b',');
                        }
                        row(numbers, out);
                    }
                    out.push(b']');
                }
            }
        }
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}

fn row(numbers: &[f64], out: &mut Vec<u8>) {
    out.push(b'[');
    for (i, x) in numbers.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(*x, out);
    }
    out.push(b']');
}

/// The shortest digits that read back as the same number.
fn write(x: f64, out: &mut Vec<u8>) {
    serde_json::to_writer(out, &x).expect("writing to memory does not fail");
}
