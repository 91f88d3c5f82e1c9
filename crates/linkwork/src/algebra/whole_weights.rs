//! Weights of mass operators that are whole matrices: J*GJ with a symmetric G of tip or constraint space.
//!
//! G(i, j) between frames i and j on one link adds to M̂ of that link; between different links it joins them.

use super::augmented::{At, Kind, Recipe};
use super::dense_inverses::is_weight;
use super::evaluator::{Evaluator, problem};
use super::expression::Expression;
use super::graph::OPERAND;
use super::prepare::bound;
use super::program::Slot;
use super::sum::Vector;
use crate::closed::ClosedMechanism;
use crate::dynamics::augmented::Augmented;
use crate::model::{FrameId, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::{Articulated, Force, Motion, Reference};
use crate::workspace::Configured;
use crate::{Error, Result};

/// A weight as a matrix.
#[derive(Clone, Debug)]
pub(super) struct Whole<S: 'static> {
    /// What gives its numbers; none of weights that are no matrices.
    of: Option<Box<Evaluator<S>>>,
    numbers: Vec<S>,
    scratch: Vec<f64>,
    /// The links that rows of constraints push, and by what.
    pushes: Vec<(usize, usize, Force<S>)>,
}

impl<S: Scalar> Whole<S> {
    /// Those of a mass operator, weight by weight.
    pub(super) fn of(
        recipe: &Recipe,
        rotors: bool,
        mechanism: &Mechanism,
        frames: &[(FrameId, Reference)],
        closed: Option<&ClosedMechanism>,
    ) -> Result<Vec<Self>> {
        let each = recipe.weights.iter().map(|weight| {
            let of = match &weight.kind {
                Kind::Whole(sum) => {
                    let inner = Expression::of(sum.clone()).compile(rotors, &[]);
                    Some(Box::new(Evaluator::of(inner, mechanism, frames, closed)?))
                }
                _ => None,
            };
            Ok(Self {
                of,
                numbers: Vec::new(),
                scratch: Vec::new(),
                pushes: Vec::new(),
            })
        });
        each.collect()
    }
}

/// Whether an input is not what an operator acts on.
fn is_given((vector, _): &&(Vector, Slot)) -> bool {
    &*vector.name != OPERAND
}

impl<S: Scalar> Evaluator<S> {
    /// The numbers of weights that are matrices, with vectors inside bound as those outside.
    pub(super) fn fill_whole(&self, view: &mut Configured<'_, S>, all: &mut [Whole<S>]) -> Result<()> {
        for whole in all {
            let Some(inner) = &mut whole.of else { continue };
            let n = inner.len();
            whole.numbers.resize(n * n, S::ZERO);
            let inputs = &self.algorithm.program.inputs;
            if inner.coupled.is_some() {
                let mut given: Vec<(String, Vec<S>)> = Vec::new();
                for (vector, _) in inner.algorithm.program.inputs.iter().filter(is_given) {
                    let x = &bound(&self.memory, inputs, vector)[..inner.size(vector.space)];
                    given.push((vector.name.to_string(), x.to_vec()));
                }
                let given: Vec<(&str, &[S])> = given.iter().map(|(name, x)| (&name[..], &x[..])).collect();
                inner.matrix(view, false, &given, &mut whole.numbers)?;
            } else {
                for j in 0..inner.algorithm.program.inputs.len() {
                    let (vector, slot) = &inner.algorithm.program.inputs[j];
                    if is_given(&&(vector.clone(), *slot)) {
                        let x = bound(&self.memory, inputs, vector);
                        inner.memory.flat_mut(vector.space, *slot).copy_from_slice(x);
                    }
                }
                inner.fill_matrix(view, &mut whole.numbers)?;
            }
            let scratch = &mut whole.scratch;
            if !(0..S::LANES).all(|lane| is_weight(&whole.numbers, n, lane, scratch)) {
                let what = "it is not a weight; weights are symmetric, and no direction has a negative one";
                return Err(problem(&inner.algorithm.expression.text, what.to_owned()));
            }
        }
        Ok(())
    }

    /// Adds a weight that is a matrix.
    pub(super) fn weigh_whole(
        &self,
        to: &mut Augmented<S>,
        (scale, at): (f64, &At),
        whole: &mut Whole<S>,
    ) -> Result<()> {
        let scale = S::lift(scale);
        if let At::Constraints = at {
            self.tie_whole(to, scale, whole);
            return Ok(());
        }
        let seats = match at {
            At::Frame(name) => {
                let id = self.mechanism.frame(name)?;
                let place = self.frames.iter().position(|f| f.0 == id);
                let place = place.ok_or_else(|| Error::Binding {
                    name: name.to_string(),
                    problem: "it is not among the frames; add it to them".to_owned(),
                })?;
                &self.memory.tips[place..=place]
            }
            _ => &self.memory.tips[..],
        };
        let n = 6 * seats.len();
        for (i, &(a, own)) in seats.iter().enumerate() {
            for (j, &(b, other)) in seats.iter().enumerate().skip(i) {
                let (Some(a), Some(b)) = (a, b) else { continue };
                // The force on one link that a motion of the other makes.
                let mut block = [[S::ZERO; 6]; 6];
                for c in 0..6 {
                    let unit = core::array::from_fn(|i| if i == c { S::ONE } else { S::ZERO });
                    let seen = other.motion_out(Motion::from_array(unit)).to_array();
                    let mut felt = [S::ZERO; 6];
                    for (r, felt) in felt.iter_mut().enumerate() {
                        for (s, seen) in seen.iter().enumerate() {
                            *felt += whole.numbers[(6 * i + r) * n + 6 * j + s] * *seen;
                        }
                    }
                    let felt = own.force_in(Force::from_array(felt)).to_array();
                    (0..6).for_each(|r| block[r][c] = felt[r] * scale);
                }
                match (a == b, i == j) {
                    (true, true) => to.weigh(a, &Articulated::from_rows(&block)),
                    (true, false) => {
                        let both = core::array::from_fn(|r| core::array::from_fn(|c| block[r][c] + block[c][r]));
                        to.weigh(a, &Articulated::from_rows(&both));
                    }
                    (false, _) => to.pairs.join(a, b, &block),
                }
            }
        }
        Ok(())
    }

    /// Between all rows of constraints.
    fn tie_whole(&self, to: &mut Augmented<S>, scale: S, whole: &mut Whole<S>) {
        let rows = self.memory.ties.count();
        let mut pushes = core::mem::take(&mut whole.pushes);
        pushes.clear();
        self.memory.ties.each_end(|row, ends| {
            pushes.extend(ends.into_iter().flatten().map(|(k, f)| (row, k, f)));
        });
        for &(r, a, f) in &pushes {
            for &(s, b, g) in &pushes {
                if a > b {
                    continue;
                }
                let weight = whole.numbers[r * rows + s] * scale;
                let (f, g) = (f.to_array(), g.to_array());
                let block: [[S; 6]; 6] = core::array::from_fn(|i| core::array::from_fn(|j| f[i] * g[j] * weight));
                if a != b {
                    to.pairs.join(a, b, &block);
                    continue;
                }
                // Both orders come by: half of each and of its transposed.
                let half = S::lift(0.5);
                let both = core::array::from_fn(|i| core::array::from_fn(|j| half * (block[i][j] + block[j][i])));
                to.weigh(a, &Articulated::from_rows(&both));
            }
        }
        whole.pushes = pushes;
    }
}
