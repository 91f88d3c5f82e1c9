//! Algorithms on a mechanism: memory, bindings, and results in the users' frames and order.

use super::algorithm::Algorithm;
use super::augmented::{Recipe, recipe};
use super::compliance::Compliance;
use super::constraints::Ties;
use super::coupled::{CoupledEvaluator, Tree};
use super::dense_inverses::Inverter;
use super::expression::Expression;
use super::graph::OPERAND;
use super::infer::CONSTRAINT_BIAS;
use super::link_operators::is_regular;
use super::notation::Notation;
use super::op::Op;
use super::program::Program;
use super::run::{Memory, execute};
use super::space::Space;
use super::sum::{Sum, Vector};
use super::whole_weights::Whole;
use crate::closed::ClosedMechanism;
use crate::model::{FrameId, JointKind, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion, Pose, Reference, Rotation};
use crate::stage::Stages;
use crate::workspace::{Configured, Moving, Posed};
use crate::{Error, Result};

/// A compiled expression on a mechanism, with all the memory that it needs.
///
/// Made once, it runs at any state of that mechanism: see [`Posed::evaluate`] and [`Moving::evaluate`].
///
/// ```
/// use linkwork::algebra::{Evaluator, Expression};
/// let arm = linkwork::model::examples::puma560();
/// let expression: Expression = "inv(Mass) (T - C)".parse()?;
/// let mut forward = Evaluator::new(&expression, &arm, &[], &[])?;
/// let (q, qd, tau, mut qdd) = ([0.3; 6], [0.1; 6], [1.0; 6], vec![0.0; forward.len()]);
/// let mut workspace = arm.workspace();
/// workspace.at(&q)?.moving(&qd)?.evaluate(&mut forward, &[("T", &tau)], &mut qdd)?;
/// let library = arm.forward_dynamics(&q, &qd, &tau)?;
/// assert!(qdd.iter().zip(&library).all(|(a, b)| (a - b).abs() < 1e-9));
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Evaluator<S: 'static = f64> {
    pub(crate) mechanism: Mechanism,
    pub(super) algorithm: Algorithm,
    pub(super) frames: Vec<(FrameId, Reference)>,
    pub(super) ids: Vec<FrameId>,
    pub(super) memory: Memory<S>,
    /// For J𝓜⁻¹J* as a matrix: the program that computes Υ, and its memory.
    pub(super) upsilon: Option<(Program, Memory<S>)>,
    /// What is inverted as dense matrices, in the order of the program.
    pub(super) solves: Vec<Self>,
    pub(super) inverter: Inverter<S>,
    /// What mass operators with weights are made of.
    pub(super) recipes: Vec<Recipe>,
    /// Their weights that are whole matrices, weight by weight.
    pub(super) whole: Vec<Vec<Whole<S>>>,
    /// The constraints, where the mechanism is closed.
    pub(super) closed: Option<ClosedMechanism>,
    /// The sum of compliances that it is as a matrix.
    pub(super) compliance: Option<Compliance>,
    /// Where the frames of constraints sit.
    pub(super) seats: Vec<(Option<usize>, Pose<S>)>,
    /// A unit vector and a column, for matrices.
    pub(super) columns: [Vec<S>; 2],
    /// How many numbers joint space has.
    joints: usize,
    /// Where joints follow others, what runs in its place.
    pub(super) coupled: Option<Box<CoupledEvaluator<S>>>,
}

/// Vectors that a state gives.
const STATE: [&str; 6] = ["V", "a", "b", "C", "g", CONSTRAINT_BIAS];

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

pub(super) fn problem(name: &str, problem: String) -> Error {
    let name = name.to_owned();
    Error::Binding { name, problem }
}

/// Whether a space is among what an algorithm gives or takes.
fn mentions(algorithm: &Algorithm, space: Space) -> bool {
    let in_results = algorithm.expression.results().iter().any(|r| r.1 == space);
    in_results || algorithm.expression.domain() == space || algorithm.inputs().iter().any(|i| i.1 == space)
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

/// An error for what has no inverse at any configuration: it goes through a space that is too small.
fn check_rank(sum: &Sum, joints: usize, frames: usize, rows: usize) -> Result<()> {
    let size = |space: Space| match space {
        Space::Number => 1,
        Space::Joint => joints,
        Space::Tip => 6 * frames,
        Space::Frame => 6,
        Space::Constraint => rows,
        _ => usize::MAX,
    };
    let whole = size(sum.range);
    let mut rank = 0_usize;
    let mut narrow = sum.range;
    for term in &sum.terms {
        let spaces = term.factors.iter().map(super::sum::Factor::range);
        let least = spaces.chain([sum.domain]).min_by_key(|&space| size(space));
        narrow = least.unwrap_or(narrow);
        rank = rank.saturating_add(size(narrow));
    }
    if rank >= whole {
        return Ok(());
    }
    let problem = format!(
        "it has no inverse on this mechanism: it goes through {narrow}, so that its rank is {rank} of {whole} at most; \
         write pinv(…), or add a weight"
    );
    let name = sum.written(Notation::Ascii);
    Err(Error::Operator { name, problem })
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
        Self::of(algorithm, mechanism, frames, None)
    }

    /// The same for a closed mechanism: `Jc` is the Jacobian of its constraints, `Jc_dot qd` what they accelerate by where
    /// the joints do not. It runs at the tree of a closed state.
    ///
    /// ```
    /// use linkwork::algebra::Evaluator;
    /// use linkwork::closed::{ClosedMechanism, Constraint};
    /// let arm = linkwork::model::examples::arm7();
    /// let tip = arm.links().last().map(|l| l.name.clone()).unwrap_or_default();
    /// let closed = ClosedMechanism::new(arm, vec![Constraint::point("grip", tip.as_str(), "world")])?;
    /// let forces = "-inv(Jc inv(Mass) Jc^*) (Jc inv(Mass) (T - C) + Jc_dot qd)".parse()?;
    /// let mut run = Evaluator::closed(&forces, &closed, &[], &[])?;
    /// let mut workspace = closed.workspace();
    /// let mut posed = workspace.at(&[0.3; 7])?;
    /// let mut moving = posed.moving(&[0.0; 7])?;
    /// let mut lambda = [0.0; 3];
    /// moving.tree().evaluate(&mut run, &[("T", &[0.0; 7])], &mut lambda)?;
    /// let mut qdd = [0.0; 7];
    /// let multipliers = moving.forward_dynamics(&[0.0; 7], &mut qdd)?;
    /// assert!(lambda.iter().zip(multipliers.all()).all(|(a, b)| (a - b).abs() < 1e-8 * (1.0 + b.abs())));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn closed(
        expression: &Expression,
        closed: &ClosedMechanism,
        frames: &[(FrameId, Reference)],
        given: &[&str],
    ) -> Result<Self> {
        let mechanism = closed.mechanism();
        let algorithm = expression.compile(mechanism.compiled.has_armature, given);
        Self::of(algorithm, mechanism, frames, Some(closed))
    }

    pub(crate) fn of(
        algorithm: Algorithm,
        mechanism: &Mechanism,
        frames: &[(FrameId, Reference)],
        closed: Option<&ClosedMechanism>,
    ) -> Result<Self> {
        for &(frame, _) in frames {
            mechanism.own_frame(frame)?;
        }
        let mut coupled = None;
        // Batches take coupled mechanisms one state at a time.
        if const { S::LANES == 1 } && mechanism.is_coupled() {
            let of = Tree {
                mechanism,
                frames,
                closed,
            };
            coupled = Some(Box::new(CoupledEvaluator::new(&algorithm, &of)?));
        }
        let joints = mechanism.nv();
        let tree = Self::of_tree(algorithm, mechanism, frames, closed)?;
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
        closed: Option<&ClosedMechanism>,
    ) -> Result<Self> {
        let needs_tips = algorithm.expression.sums().any(Sum::mentions_tips);
        if frames.is_empty() && needs_tips {
            return Err(Error::Binding {
                name: "frames".to_owned(),
                problem: "B, J and tip space need at least one frame; name the frames they belong to".to_owned(),
            });
        }
        let has = |wanted: &[Op]| algorithm.sums().any(|sum| sum.has_op(|op| wanted.contains(&op)));
        let biased = algorithm.expression.vectors().iter().any(|v| v.0 == CONSTRAINT_BIAS);
        if (has(&[Op::Bc, Op::Jc]) || biased || mentions(&algorithm, Space::Constraint)) && closed.is_none() {
            let what =
                "the mechanism has no constraints; make the evaluator of a closed mechanism by Evaluator::closed";
            return Err(problem("Jc", what.to_owned()));
        }
        if has(&[Op::MInv])
            && let Some(k) = (0..mechanism.compiled.bodies.len()).find(|&k| {
                let inertia = mechanism.compiled.bodies[k].inertia;
                !is_regular(&Articulated::from(inertia), 0)
            })
        {
            let place = mechanism.compiled.link_space.iter().position(|(body, _)| *body == k);
            let name = place.and_then(|i| link_space(mechanism).into_iter().nth(i));
            let name = name.unwrap_or_default();
            let what = format!("`{name}` has no inertia about some axis, so that M has no inverse");
            let name = "inv(M)".to_owned();
            return Err(Error::Operator { name, problem: what });
        }
        let mut solves = Vec::new();
        for (sum, pseudo) in &algorithm.graph.solves {
            if !pseudo {
                check_rank(sum, mechanism.nv(), frames.len(), Ties::<S>::new(closed).count())?;
            }
            let inner = Expression::of(sum.clone()).compile(algorithm.rotors, &[]);
            solves.push(Self::of_tree(inner, mechanism, frames, closed)?);
        }
        let compliance = algorithm.compliance();
        let upsilon = compliance.as_ref().map(|_| {
            let program = Program::of_upsilon();
            let memory = Memory::new(&mechanism.compiled, &program, 0, Ties::new(None));
            (program, memory)
        });
        let ties = Ties::new(closed);
        let mut memory = Memory::new(&mechanism.compiled, &algorithm.program, frames.len(), ties);
        memory.references = frames.iter().map(|f| f.1).collect();
        for name in &algorithm.program.names {
            let id = mechanism.frame(name)?;
            let place = frames.iter().position(|f| f.0 == id).ok_or_else(|| {
                let what = "the expression names it, but it is not among the frames; add it to them".to_owned();
                problem(name, what)
            })?;
            memory.selected.push(place);
        }
        memory.solves.resize_with(solves.len(), Vec::new);
        let mut recipes = Vec::new();
        for sum in &algorithm.graph.augmented {
            let what = "its weights are not of the form 𝓜 + A + ΣJ*GJ".to_owned();
            recipes.push(recipe(sum).ok_or_else(|| problem(&sum.written(Notation::Ascii), what))?);
            memory.augmented.push(mechanism.augmented_of());
        }
        let mut whole = Vec::with_capacity(recipes.len());
        for recipe in &recipes {
            whole.push(Whole::of(recipe, algorithm.rotors, mechanism, frames, closed)?);
        }
        Ok(Self {
            memory,
            solves,
            inverter: Inverter::default(),
            recipes,
            whole,
            closed: closed.cloned(),
            seats: Vec::new(),
            compliance,
            columns: [Vec::new(), Vec::new()],
            upsilon,
            mechanism: mechanism.clone(),
            algorithm,
            frames: frames.to_vec(),
            ids: frames.iter().map(|f| f.0).collect(),
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
            Space::Frame => 6,
            Space::Constraint => self.memory.ties.count(),
            square => square.side().map_or(0, |side| self.space_size(side, joints).pow(2)),
        }
    }

    /// How many numbers the result has.
    pub fn len(&self) -> usize {
        self.algorithm.expression.sums().map(|sum| self.size(sum.range)).sum()
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
        self.bind(given, moving.then(|| &view.access(false).stages.qd[..]), false)?;
        self.prepare(view)?;
        self.execute(view);
        self.check(view)?;
        self.read(out);
        Ok(())
    }

    /// Whether something is solved, or looked at, for each state by itself.
    pub(crate) fn is_solving(&self) -> bool {
        let whole = !self.solves.is_empty() || !self.recipes.is_empty() || !self.memory.ties.is_empty();
        whole || self.inverts_p()
    }

    /// Whether something is done that does not go in lanes: weights, constraints, inverses of P, or inverses in inverses.
    pub(crate) fn runs_alone(&self) -> bool {
        let weighs = !self.recipes.is_empty() || !self.memory.ties.is_empty() || self.inverts_p();
        weighs || self.solves.iter().any(Self::is_solving)
    }

    /// Runs on vectors that are bound.
    pub(super) fn execute(&mut self, view: &mut Configured<'_, S>) {
        let placed = self.frames.iter().any(|f| f.1 != Reference::Local) || !self.memory.ties.is_empty();
        let access = view.access(placed);
        self.place(access.stages);
        let (m, program) = (&self.mechanism.compiled, &self.algorithm.program);
        execute(access.instructions, m, access.stages, program, &mut self.memory);
    }

    /// Where the frames are, seen from their links.
    pub(super) fn place(&mut self, stages: &Stages<S>) {
        self.memory.ties.place(&self.mechanism, stages);
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
            if !wanted && !self.algorithm.expression.vectors().iter().any(|v| v.0 == *name) {
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

    /// Takes in the vectors: each is given, or q̇ of a state; for the whole matrix, all but what an operator acts on.
    pub(super) fn bind(&mut self, given: &[(&str, &[S])], qd: Option<&[S]>, whole: bool) -> Result<()> {
        self.check_names(given.iter().map(|(name, _)| *name))?;
        for i in 0..self.algorithm.program.inputs.len() {
            let (vector, slot) = self.algorithm.program.inputs[i].clone();
            if whole && &*vector.name == OPERAND {
                continue;
            }
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
            symmetric(&vector, x)?;
            self.write(vector.space, slot, x);
        }
        Ok(())
    }

    /// Puts a vector in its place.
    pub(super) fn write(&mut self, space: Space, slot: usize, x: &[S]) {
        let memory = &mut self.memory;
        match space {
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
            _ => memory.flat_mut(space, slot).copy_from_slice(x),
        }
    }

    /// The result.
    pub(super) fn read(&self, out: &mut [S]) {
        let memory = &self.memory;
        let mut rest = out;
        for &(space, slot) in &self.algorithm.program.results {
            let (out, after) = rest.split_at_mut(self.space_size(space, memory.nv));
            rest = after;
            self.read_one(space, slot, out);
        }
    }

    fn read_one(&self, space: Space, slot: usize, out: &mut [S]) {
        let memory = &self.memory;
        match space {
            Space::Motion | Space::Force => {
                for (six, (k, own)) in out.chunks_exact_mut(6).zip(&self.mechanism.compiled.link_space) {
                    let (x, own) = (memory.link[k * memory.room.link + slot], own.lift());
                    let x = match space {
                        Space::Motion => own.motion_out(Motion::from_array(x)).to_array(),
                        _ => own.inverse().force_in(Force::from_array(x)).to_array(),
                    };
                    six.copy_from_slice(&x);
                }
            }
            space => out.copy_from_slice(memory.flat(space, slot)),
        }
    }
}

/// An error if what is given as a symmetric matrix is none.
pub(super) fn symmetric<S: Scalar>(vector: &Vector, x: &[S]) -> Result<()> {
    if vector.space.side().is_none() {
        return Ok(());
    }
    let n = x.len().isqrt();
    for lane in 0..S::LANES {
        let largest = x.iter().map(|x| x.lane(lane).abs()).fold(0.0, f64::max);
        for i in 0..n {
            for j in 0..i {
                if (x[i * n + j].lane(lane) - x[j * n + i].lane(lane)).abs() > 1e-9 * largest {
                    let what = format!("it is not symmetric: element ({i}, {j}) is not element ({j}, {i})");
                    return Err(problem(&vector.name, what));
                }
            }
        }
    }
    Ok(())
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
