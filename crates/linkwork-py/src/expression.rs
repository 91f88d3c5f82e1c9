//! Expressions of the operator algebra.

use crate::arrays::{flat, slice_mut};
use crate::errors::{Error, raised};
use crate::evaluate::locked;
use crate::model::Model;
use crate::{names, pool};
use linkwork::algebra::{BatchEvaluator, Evaluator, Look, Notation, Space};
use linkwork::{Mechanism, Workspace};
use pyo3::prelude::*;
use std::sync::Mutex;

/// An expression of the operator algebra as text, checked; see `linkwork.derive`.
#[pyclass(frozen, module = "linkwork", name = "_Expression")]
pub(crate) struct Expression(linkwork::algebra::Expression);

fn word(space: Space) -> &'static str {
    match space {
        Space::Number => "number",
        Space::Joint => "joint",
        Space::Motion => "motion",
        Space::Force => "force",
        Space::Tip => "tip",
        Space::Frame => "frame",
        Space::Constraint => "constraint",
        Space::JointSquare => "joint matrix",
        Space::TipSquare => "tip matrix",
        Space::FrameSquare => "frame matrix",
        Space::ConstraintSquare => "constraint matrix",
    }
}

#[pymethods]
impl Expression {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        text.parse().map(Self).map_err(raised)
    }

    #[getter]
    fn is_vector(&self) -> bool {
        self.0.is_vector()
    }

    #[getter]
    fn range(&self) -> &'static str {
        word(self.0.range())
    }

    #[getter]
    fn domain(&self) -> &'static str {
        word(self.0.domain())
    }

    fn written(&self, notation: &str) -> PyResult<String> {
        let notation = match notation {
            "ascii" => Notation::Ascii,
            "symbols" => Notation::Symbols,
            "latex" => Notation::Latex,
            _ => {
                return Err(Error::new_err(format!(
                    "notation is {notation:?}; it must be \"ascii\", \"symbols\" or \"latex\""
                )));
            }
        };
        Ok(self.0.written(notation))
    }

    fn inputs(&self) -> Vec<(String, &'static str)> {
        let inputs = self.0.compile(false, &[]).inputs();
        inputs.into_iter().map(|(name, space)| (name, word(space))).collect()
    }

    fn explain(&self, markdown: bool) -> String {
        let look = if markdown { Look::Markdown } else { Look::Plain };
        self.0.compile(false, &[]).explain(look)
    }

    fn laws(&self) -> Vec<String> {
        self.0.compile(false, &[]).laws(Notation::Symbols)
    }

    fn cost(&self) -> (usize, usize, usize) {
        let cost = self.0.compile(false, &[]).cost();
        (cost.sweeps, cost.multiplications, cost.additions)
    }
}

/// An expression compiled for a model.
#[pyclass(frozen, module = "linkwork", name = "_Compiled")]
pub(crate) struct Compiled {
    one: Mutex<(Evaluator, Workspace)>,
    many: Mutex<Option<BatchEvaluator<f64>>>,
    expression: linkwork::algebra::Expression,
    frames: Vec<(linkwork::model::FrameId, linkwork::Reference)>,
    given: Vec<String>,
    /// Not the model itself: it keeps what is compiled for it.
    mechanism: Mechanism,
}

#[pymethods]
impl Compiled {
    #[new]
    fn new(
        expression: &Expression,
        model: &Bound<'_, Model>,
        frames: Vec<(String, String)>,
        given: Vec<String>,
    ) -> PyResult<Self> {
        let m = model.get().mechanism();
        let mut seen = Vec::new();
        for (frame, reference) in &frames {
            seen.push((m.frame(frame).map_err(raised)?, names::reference(reference)?));
        }
        let known: Vec<&str> = given.iter().map(String::as_str).collect();
        let evaluator = Evaluator::new(&expression.0, m, &seen, &known).map_err(raised)?;
        Ok(Self {
            one: Mutex::new((evaluator, m.workspace())),
            many: Mutex::new(None),
            expression: expression.0.clone(),
            frames: seen,
            given,
            mechanism: m.clone(),
        })
    }

    /// How many numbers a vector of a space has.
    fn size(&self, space: &str) -> PyResult<usize> {
        let spaces = [
            Space::Number,
            Space::Joint,
            Space::Motion,
            Space::Force,
            Space::Tip,
            Space::Frame,
            Space::Constraint,
            Space::JointSquare,
            Space::TipSquare,
            Space::FrameSquare,
            Space::ConstraintSquare,
        ];
        let found = spaces.into_iter().find(|s| word(*s) == space);
        let space = found.ok_or_else(|| Error::new_err(format!("there is no space {space:?}")))?;
        Ok(locked(&self.one).0.size(space))
    }

    /// Runs it for every state; arrays are plain ones of float64, state after state.
    fn run(
        &self,
        py: Python<'_>,
        q: &Bound<'_, PyAny>,
        vectors: Vec<(String, Bound<'_, PyAny>)>,
        out: &Bound<'_, PyAny>,
        matrix: bool,
    ) -> PyResult<()> {
        let plain = || Error::new_err("arrays must be plain ones of float64");
        // SAFETY: nobody else writes to them meanwhile; `out` was just made.
        let (q, out) = unsafe { (flat::<f64>(q), slice_mut::<f64>(out)) };
        let (q, out) = (q.ok_or_else(plain)?, out.ok_or_else(plain)?);
        let mut given = Vec::new();
        for (name, array) in &vectors {
            // SAFETY: as above.
            given.push((name.as_str(), unsafe { flat::<f64>(array) }.ok_or_else(plain)?));
        }
        let nq = self.mechanism.nq();
        if q.len() == nq {
            let (evaluator, workspace) = &mut *locked(&self.one);
            let mut posed = workspace.at(q).map_err(raised)?;
            let done = match matrix {
                true => posed.matrix(evaluator, &given, out),
                false => posed.evaluate(evaluator, &given, out),
            };
            return done.map_err(raised);
        }
        if matrix {
            return Err(Error::new_err("a matrix is of one state; give one q"));
        }
        let pool = pool::pool(py)?;
        let threads = pool.current_num_threads();
        let spare = locked(&self.many).take();
        let made = || -> linkwork::Result<BatchEvaluator<f64>> {
            let known: Vec<&str> = self.given.iter().map(String::as_str).collect();
            BatchEvaluator::new(&self.expression, &self.mechanism, &self.frames, &known)?.with_threads(threads)
        };
        let run = || match spare.map_or_else(made, Ok) {
            Ok(mut batch) => {
                let done = batch.evaluate(q, &given, out);
                (Some(batch), done)
            }
            Err(problem) => (None, Err(problem)),
        };
        let (spare, done) = py.detach(|| pool.install(run));
        *locked(&self.many) = spare;
        done.map_err(raised)
    }
}
