//! The spatial operator algebra as a language: operators as values, and a compiler for their expressions.
//!
//! An [`Expression`] is what the papers write: `inv(Mass) (T - C)`, `B^* phi^* H^* qd`, `(I - H psi K) T`. Its parts are
//! checked against the spaces they lead between ([`Space`]). Compiling it rewrites it by the laws of the algebra, shares what
//! is common, and fuses what runs the same way into one sweep along the links: an [`Algorithm`], which says what it costs,
//! explains itself, and runs in time proportional to the number of links without forming a matrix.
//!
//! ```
//! use linkwork::algebra::{Evaluator, Expression};
//! let arm = linkwork::model::examples::puma560();
//! let expression: Expression = "inv(Mass) (T - C)".parse()?;
//! let mut forward = Evaluator::new(&expression, &arm, &[], &[])?;
//! assert_eq!(forward.algorithm().cost().sweeps, 3);
//!
//! let (q, qd, tau) = ([0.1; 6], [0.2; 6], [1.0; 6]);
//! let mut workspace = arm.workspace();
//! let mut posed = workspace.at(&q)?;
//! let mut moving = posed.moving(&qd)?;
//! let mut qdd = [0.0; 6];
//! moving.evaluate(&mut forward, &[("T", &tau)], &mut qdd)?;
//!
//! let mut expect = [0.0; 6];
//! moving.forward_dynamics(&tau, &mut expect)?;
//! assert!(qdd.iter().zip(expect).all(|(x, y)| (x - y).abs() < 1e-9));
//! # Ok::<(), linkwork::Error>(())
//! ```
//!
//! Inverses are in closed form where the laws give one: `inv(H phi M phi^* H^*)` is 𝓜⁻¹ where there are no rotors. Others in
//! joint or tip space, such as `inv(J inv(Mass) J^*)`, are small dense solves between sweeps ([`Algorithm::solves`]),
//! refused at configurations where the rank is too low; `pinv(J)` never is. Masses with weights, `inv(Mass + J^* J)`, take
//! the two sweeps of 𝓜⁻¹.
//!
//! [`guide`] leads from an expression to its algorithm, level by level; [`derivations`] follows the papers, every equation
//! proved.
//!
//! # Link space
//!
//! A vector of link space has six numbers for every link that moves by itself, in that link's own frame and in the order
//! of [`crate::Mechanism::links`]: N is the number of moving joints. Links on fixed joints are part of the link that
//! carries them, with their inertia. A universal joint is two revolute ones: the massless cross between them is a link of its own, just before
//! the link that the joint moves, and its frame is the joint's turned by the first angle. [`link_space`] lists them.

mod algorithm;
mod augmented;
mod batch;
mod between_sweeps;
mod build;
mod compliance;
mod constraints;
mod coordinates;
mod cost;
mod coupled;
mod coupled_joints;
mod dense;
mod dense_inverses;
mod dense_links;
mod dense_matrix;
mod dense_vector_operators;
mod derivative;
mod emit;
mod evaluator;
mod explain;
mod expression;
mod fault;
mod filtering;
mod follow;
mod fuse;
mod graph;
mod graph_vector_operators;
mod infer;
mod joint_algebra;
mod laws;
mod levels;
mod link_operators;
mod merge;
mod names;
mod node;
mod notation;
mod op;
mod operator_matrices;
mod operators;
mod parse;
mod plain_sweeps;
mod prepare;
mod program;
mod prove;
mod rate_steps;
mod rates;
mod recursion;
mod rewrite;
mod run;
mod schedule;
mod script;
mod space;
mod steps;
mod sum;
mod tokens;
mod torque_shares;
mod upsilon;
mod vector_operators;
mod whole_weights;

#[doc = include_str!("guide.md")]
pub mod guide {}

#[doc = include_str!("derivations.md")]
pub mod derivations {}

pub use algorithm::Algorithm;
pub use batch::{BatchEvaluator, Evaluates};
pub use cost::Cost;
pub use dense::Dense;
pub use dense_matrix::Matrix;
pub use emit::{Language, WrittenLine};
pub use evaluator::{Evaluator, link_space};
pub use explain::Look;
pub use expression::Expression;
pub use follow::{Followed, FollowedStep, Line, LinePart, Piece};
pub use levels::Level;
pub use notation::Notation;
pub use operators::{Operator, Operators};
pub use prove::{Counterexample, Judgement, Proof, Step, prove};
pub use space::{Direction, ForceSpace, JointSpace, MotionSpace, NumberSpace, Space, TipSpace, Typed};
pub use torque_shares::{LinkShare, TorqueShares, torque_shares};
