//! Algorithms on a mechanism: memory, bindings, and results in the users' frames and order.

use super::algorithm::Algorithm;
use super::coupled::CoupledEvaluator;
use super::expression::Expression;
use super::graph::OPERAND;
use super::notation::Notation;
use super::program::Program;
use super::run::{Memory, execute, known};
use super::solve;
use super::space::Space;
use super::sum::Vector;
use super::upsilon;
use crate::model::{FrameId, JointKind, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::{Force, Motion, Pose, Reference, Rotation};
use crate::stage::Stages;
use crate::workspace::{Configured, Moving, Posed};
use crate::{Error, Result};

/// A compiled expression on a mechanism, with all the memory that it needs.
///
/// Made once, it runs at any state of that mechanism: see [`Posed::evaluate`] and [`Moving::evaluate`].
#[derive(Clone, Debug)]
pub struct Evaluator<S: 'static = f64> {
    pub(crate) mechanism: Mechanism,
    algorithm: Algorithm,
    pub(super) frames: Vec<(FrameId, Reference)>,
    memory: Memory<S>,
    /// For J𝓜⁻¹J* as a matrix: the program that computes Υ, and its memory.
    upsilon: Option<(Program, Memory<S>)>,
    /// What is inverted as dense matrices, in the order of the program.
    solves: Vec<Self>,
    /// How many numbers joint space has.
    joints: usize,
    /// Where joints follow others, what runs in its place.
    coupled: Option<Box<CoupledEvaluator<S>>>,
}

/// Vectors that a state gives.
const STATE: [&str; 5] = ["V", "a", "b", "C", "g"];

/// The names of the links that make up link space, in order. The cross of a universal joint has its joint's name.
pub fn link_space(mechanism: &Mechanism) -> Vec<String> {
    let mut names = Vec::new();
    for link in mechanism.links() {
        let Some(joint) = mechanism.joints().iter().find(|j| j.child == link.name) else {
            continue;
        };
        if joint.kind.nv() == 0 {
            continue;
        }
        if let JointKind::Universal { .. } = joint.kind {
            names.push(format!("cross of {}", joint.name));
        }
        names.push(link.name.clone());
    }
    names
}

fn problem(name: &str, problem: String) -> Error {
    let name = name.to_owned();
    Error::Binding { name, problem }
}

/// The error for a vector that is needed.
pub(super) fn missing(vector: &Vector) -> Error {
    let hint = match &*vector.name {
        "qd" => "give it, or evaluate at a state that moves",
        OPERAND => "give what the operator acts on",
        _ => "give it",
    };
    let what = format!("it is needed ({}) but was not given; {hint}", vector.space);
    problem(&vector.name, what)
}

/// An error unless all numbers of a vector are finite.
pub(super) fn finite<S: Scalar>(name: &str, x: &[S]) -> Result<()> {
    match x.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(problem(name, format!("number {i} (from zero) is not finite"))),
        None => Ok(()),
    }
}

impl<S: Scalar> Evaluator<S> {
    /// Compiles an expression for a mechanism. Tip space is made of `frames`, each with the axes and the point that its
    /// motions and forces refer to. Vectors that a state could give (`V`, `a`, `b`, `C`, `g`) are computed unless they are
    /// among `given`.
    pub fn new(
        expression: &Expression,
        mechanism: &Mechanism,
        frames: &[(FrameId, Reference)],
        given: &[&str],
    ) -> Result<Self> {
        let algorithm = expression.compile(mechanism.compiled.has_armature, given);
        Self::of(algorithm, mechanism, frames)
    }

    pub(crate) fn of(algorithm: Algorithm, mechanism: &Mechanism, frames: &[(FrameId, Reference)]) -> Result<Self> {
        for &(frame, _) in frames {
            mechanism.own_frame(frame)?;
        }
        let mut coupled = None;
        // Batches take coupled mechanisms one state at a time.
        if const { S::LANES == 1 } && mechanism.is_coupled() {
            coupled = Some(Box::new(CoupledEvaluator::new(&algorithm, mechanism, frames)?));
        }
        let joints = mechanism.nv();
        let tree = Self::of_tree(algorithm, mechanism, frames)?;
        Ok(Self {
            joints,
            coupled,
            ..tree
        })
    }

    /// An expression of the tree, whatever joints follow others.
    pub(crate) fn of_tree(
        algorithm: Algorithm,
        mechanism: &Mechanism,
        frames: &[(FrameId, Reference)],
    ) -> Result<Self> {
        let needs_tips = algorithm.expression.sum.mentions_tips();
        if frames.is_empty() && needs_tips {
            return Err(Error::Binding {
                name: "frames".to_owned(),
                problem: "B, J and tip space need at least one frame; name the frames they belong to".to_owned(),
            });
        }
        let mut solves = Vec::new();
        for sum in &algorithm.graph.solves {
            if const { S::LANES > 1 } {
                let what =
                    "it needs a dense solve, which runs one state at a time; take a scalar of one lane".to_owned();
                return Err(problem(&sum.written(Notation::Ascii), what));
            }
            let inner = Expression::of(sum.clone()).compile(algorithm.rotors, &[]);
            solves.push(Self::of_tree(inner, mechanism, frames)?);
        }
        let upsilon = algorithm.operational().map(|_| {
            let program = Program::of_upsilon();
            let memory = Memory::new(&mechanism.compiled, &program, 0);
            (program, memory)
        });
        Ok(Self {
            memory: Memory::new(&mechanism.compiled, &algorithm.program, frames.len()),
            solves,
            upsilon,
            mechanism: mechanism.clone(),
            algorithm,
            frames: frames.to_vec(),
            joints: mechanism.compiled.nv,
            coupled: None,
        })
    }

    /// What it runs.
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// How many numbers a vector of a space has.
    pub fn size(&self, space: Space) -> usize {
        self.space_size(space, self.joints)
    }

    pub(crate) fn space_size(&self, space: Space, joints: usize) -> usize {
        match space {
            Space::Number => 1,
            Space::Joint => joints,
            Space::Motion | Space::Force => 6 * self.mechanism.compiled.bodies.len(),
            Space::Tip => 6 * self.frames.len(),
        }
    }

    /// How many numbers the result has.
    pub fn len(&self) -> usize {
        self.size(self.algorithm.expression.range())
    }

    /// Whether the result has no numbers, as in joint space of a mechanism that cannot move.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn run(
        &mut self,
        view: &mut Configured<'_, S>,
        moving: bool,
        given: &[(&str, &[S])],
        out: &mut [S],
    ) -> Result<()> {
        if !view.mechanism().is_same(&self.mechanism) {
            return Err(Error::Binding {
                name: self.mechanism.name().to_owned(),
                problem: "the evaluator was made for this mechanism, the state is another's".to_owned(),
            });
        }
        if out.len() != self.len() {
            return Err(Error::Length {
                argument: "out",
                needed: self.len(),
                given: out.len(),
            });
        }
        if self.coupled.is_some() {
            self.check_names(given.iter().map(|(name, _)| *name))?;
        }
        if let Some(coupled) = &mut self.coupled {
            return coupled.run(view, moving, given, out);
        }
        self.bind(given, moving.then(|| &view.access(false).stages.qd[..]))?;
        self.solve(view)?;
        self.execute(view);
        if self.algorithm.program.keeps.gains {
            view.check()?;
        }
        self.read(out);
        Ok(())
    }

    /// Inverts what is needed as dense matrices.
    fn solve(&mut self, view: &mut Configured<'_, S>) -> Result<()> {
        let (solves, memory) = (&mut self.solves, &mut self.memory);
        memory.solves.resize_with(solves.len(), Vec::new);
        for (inner, x) in solves.iter_mut().zip(&mut memory.solves) {
            let n = inner.len();
            x.resize(n * n, S::ZERO);
            inner.matrix(view, false, &[], x)?;
            solve::invert(x, &inner.algorithm.expression.text)?;
        }
        Ok(())
    }

    /// Whether dense matrices are solved on the way.
    pub(crate) fn is_solving(&self) -> bool {
        !self.solves.is_empty()
    }

    /// Runs on vectors that are bound.
    pub(super) fn execute(&mut self, view: &mut Configured<'_, S>) {
        let placed = self.frames.iter().any(|f| f.1 != Reference::Local);
        let access = view.access(placed);
        self.place(access.stages);
        let (m, program) = (&self.mechanism.compiled, &self.algorithm.program);
        execute(access.instructions, m, access.stages, program, &mut self.memory);
    }

    /// Where the frames are, seen from their links.
    fn place(&mut self, stages: &Stages<S>) {
        for (tip, &(frame, reference)) in self.memory.tips.iter_mut().zip(&self.frames) {
            let frame = &self.mechanism.placed[frame.index()];
            let Some(k) = frame.body else { continue };
            let local = frame.pose.lift();
            let pose = match reference {
                Reference::Local => local,
                _ => {
                    // Places are seen from home.
                    let (link, home) = (stages.world.poses[k], stages.world.homes[k]);
                    let origin = match reference {
                        Reference::World => -home,
                        _ => (link * local).translation,
                    };
                    link.inverse() * Pose::new(Rotation::IDENTITY, origin)
                }
            };
            *tip = (Some(k), pose);
        }
    }

    /// The whole matrix of an operator, row by row: column by column, but J𝓜⁻¹J* by the recursion of Υ.
    pub(crate) fn matrix(
        &mut self,
        view: &mut Configured<'_, S>,
        moving: bool,
        given: &[(&str, &[S])],
        out: &mut [S],
    ) -> Result<()> {
        let (rows, columns) = (self.len(), self.size(self.algorithm.expression.domain()));
        if out.len() != rows * columns {
            return Err(Error::Length {
                argument: "out",
                needed: rows * columns,
                given: out.len(),
            });
        }
        if let (Some(scale), None) = (self.algorithm.operational(), &self.coupled) {
            let placed = self.frames.iter().any(|f| f.1 != Reference::Local);
            let access = view.access(placed);
            self.place(access.stages);
            if let Some((program, memory)) = &mut self.upsilon {
                let m = &self.mechanism.compiled;
                execute(access.instructions, m, access.stages, program, memory);
                let known = known!(access.stages);
                upsilon::compliance(m, &known, memory, &self.memory.tips, scale, out);
            }
            return view.check();
        }
        let (mut x, mut y) = (vec![S::ZERO; columns], vec![S::ZERO; rows]);
        for j in 0..columns {
            x.fill(S::ZERO);
            x[j] = S::ONE;
            let mut all = given.to_vec();
            all.push((OPERAND, &x));
            self.run(view, moving, &all, &mut y)?;
            (0..rows).for_each(|i| out[i * columns + j] = y[i]);
        }
        Ok(())
    }

    /// An error for a vector that the expression does not use.
    pub(super) fn check_names<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<()> {
        for name in names {
            // What an operator acts on may turn out not to matter.
            if name == OPERAND && !self.algorithm.expression.is_vector() {
                continue;
            }
            let wanted = self.algorithm.program.inputs.iter().any(|(v, _)| *v.name == *name);
            if !wanted && STATE.contains(&name) && !self.algorithm.given.iter().any(|g| g == name) {
                let what = "it is computed from the state; name it among the given vectors when the evaluator is made";
                return Err(problem(name, what.to_owned()));
            }
            if !wanted && !self.algorithm.expression.sum.vectors().iter().any(|v| *v.name == *name) {
                let wanted: Vec<String> = self.algorithm.inputs().into_iter().map(|(n, _)| n).collect();
                let list = if wanted.is_empty() {
                    "none".to_owned()
                } else {
                    wanted.join(", ")
                };
                return Err(problem(
                    name,
                    format!("the expression does not use it; what it needs: {list}"),
                ));
            }
        }
        Ok(())
    }

    /// Takes in the vectors: each is given, or q̇ of a state.
    fn bind(&mut self, given: &[(&str, &[S])], qd: Option<&[S]>) -> Result<()> {
        self.check_names(given.iter().map(|(name, _)| *name))?;
        for i in 0..self.algorithm.program.inputs.len() {
            let (vector, slot) = self.algorithm.program.inputs[i].clone();
            let bound = given.iter().find(|(name, _)| **name == *vector.name).map(|(_, x)| *x);
            let state = if &*vector.name == "qd" { qd } else { None };
            let Some(x) = bound.or(state) else {
                return Err(missing(&vector));
            };
            let needed = self.size(vector.space);
            if x.len() != needed {
                let (space, n) = (vector.space, x.len());
                return Err(problem(
                    &vector.name,
                    format!("{space} needs {needed} numbers, not {n}"),
                ));
            }
            finite(&vector.name, x)?;
            self.write(vector.space, slot, x);
        }
        Ok(())
    }

    /// Puts a vector in its place.
    pub(super) fn write(&mut self, space: Space, slot: usize, x: &[S]) {
        let (memory, tips) = (&mut self.memory, self.frames.len());
        match space {
            Space::Number => memory.numbers[slot] = x[0],
            Space::Joint => memory.joint[slot * memory.nv..][..memory.nv].copy_from_slice(x),
            Space::Tip => {
                for (i, six) in x.chunks_exact(6).enumerate() {
                    memory.tip[slot * tips + i].copy_from_slice(six);
                }
            }
            Space::Motion | Space::Force => {
                for (six, (k, own)) in x.chunks_exact(6).zip(&self.mechanism.compiled.link_space) {
                    let six: [S; 6] = core::array::from_fn(|i| six[i]);
                    let own = own.lift();
                    memory.link[k * memory.room.link + slot] = match space {
                        Space::Motion => own.inverse().motion_out(Motion::from_array(six)).to_array(),
                        _ => own.force_in(Force::from_array(six)).to_array(),
                    };
                }
            }
        }
    }

    /// The result.
    pub(super) fn read(&self, out: &mut [S]) {
        let (memory, tips) = (&self.memory, self.frames.len());
        let program = &self.algorithm.program;
        let slot = program.result;
        match program.range {
            Space::Number => out[0] = memory.numbers[slot],
            Space::Joint => out.copy_from_slice(&memory.joint[slot * memory.nv..][..memory.nv]),
            Space::Tip => {
                for (i, six) in out.chunks_exact_mut(6).enumerate() {
                    six.copy_from_slice(&memory.tip[slot * tips + i]);
                }
            }
            space => {
                for (six, (k, own)) in out.chunks_exact_mut(6).zip(&self.mechanism.compiled.link_space) {
                    let (x, own) = (memory.link[k * memory.room.link + slot], own.lift());
                    let x = match space {
                        Space::Motion => own.motion_out(Motion::from_array(x)).to_array(),
                        _ => own.inverse().force_in(Force::from_array(x)).to_array(),
                    };
                    six.copy_from_slice(&x);
                }
            }
        }
    }
}

impl<S: Scalar> Posed<'_, S> {
    /// Runs a compiled expression at this configuration. `given` binds its vectors by name; an operator acts on `x`.
    pub fn evaluate(&mut self, run: &mut Evaluator<S>, given: &[(&str, &[S])], out: &mut [S]) -> Result<()> {
        run.run(self, false, given, out)
    }

    /// The matrix of a compiled operator at this configuration, row by row.
    pub fn matrix(&mut self, run: &mut Evaluator<S>, given: &[(&str, &[S])], out: &mut [S]) -> Result<()> {
        run.matrix(self, false, given, out)
    }
}

impl<S: Scalar> Moving<'_, S> {
    /// Runs a compiled expression at this state. `given` binds its vectors by name, q̇ is the state's unless given; an
    /// operator acts on `x`.
    pub fn evaluate(&mut self, run: &mut Evaluator<S>, given: &[(&str, &[S])], out: &mut [S]) -> Result<()> {
        run.run(self, true, given, out)
    }

    /// The matrix of a compiled operator at this state, row by row.
    pub fn matrix(&mut self, run: &mut Evaluator<S>, given: &[(&str, &[S])], out: &mut [S]) -> Result<()> {
        run.matrix(self, true, given, out)
    }
}
