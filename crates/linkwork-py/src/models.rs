//! Many models of one tree, with a state of each.

use crate::arrays::{flat, slice_mut};
use crate::errors::{Error, raised};
use crate::evaluate::{locked, numbered, take};
use crate::model::Model;
use crate::{motion, pool};
use linkwork::batch::{Real, Rollout, Variation};
use linkwork::quantity::ModelsEvaluation;
use numpy::{Element, PyArrayDyn};
use pyo3::prelude::*;
use std::sync::Mutex;

/// Models that share a tree and differ in their numbers.
#[pyclass(frozen, module = "linkwork")]
pub(crate) struct _Models {
    model: Py<Model>,
    lists: [Option<Vec<f64>>; 6],
    count: usize,
    /// Memory that no call uses at the moment: locked only while the interpreter's lock is held, and never across its release.
    doubles: Mutex<Vec<ModelsEvaluation<f64>>>,
    singles: Mutex<Vec<ModelsEvaluation<f32>>>,
}

/// A type of numbers that models take.
trait Number: Element + linkwork::batch::Real + Real {
    fn spare(models: &_Models) -> &Mutex<Vec<ModelsEvaluation<Self>>>;
}

impl Number for f64 {
    fn spare(models: &_Models) -> &Mutex<Vec<ModelsEvaluation<Self>>> {
        &models.doubles
    }
}

impl Number for f32 {
    fn spare(models: &_Models) -> &Mutex<Vec<ModelsEvaluation<Self>>> {
        &models.singles
    }
}

impl _Models {
    fn variation(&self) -> Variation<'_> {
        Variation::of(self.lists.each_ref().map(|list| list.as_deref()))
    }

    /// Runs something on the models without the interpreter's lock.
    fn with<T: Number>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut ModelsEvaluation<T>) -> linkwork::Result<()> + Send,
    ) -> PyResult<()> {
        let spare = locked(T::spare(self)).pop();
        let (m, pool) = (self.model.get().mechanism(), pool::pool(py)?);
        let (variation, threads) = (self.variation(), pool.current_num_threads());
        let done = py.detach(|| {
            pool.install(|| {
                let models = match spare {
                    Some(models) => models,
                    None => ModelsEvaluation::new(m, variation, self.count)?,
                };
                let mut models = models.with_threads(threads);
                let done = run(&mut models);
                Ok::<_, linkwork::Error>((models, done))
            })
        });
        let (models, done) = done.map_err(raised)?;
        locked(T::spare(self)).push(models);
        done.map_err(raised)
    }

    fn computed<T: Number>(
        &self,
        py: Python<'_>,
        index: usize,
        out: &Bound<'_, PyAny>,
        arguments: [Option<&Bound<'_, PyAny>>; 5],
    ) -> PyResult<()> {
        let (m, quantity) = (self.model.get().mechanism(), numbered(index)?);
        let plain = || Error::new_err("arrays must be plain ones of one type");
        let taken = take::<T>(m, quantity, arguments)?.ok_or_else(plain)?;
        // SAFETY: it was just made, and shares no memory with what is given.
        let out = unsafe { slice_mut::<T>(out) }.ok_or_else(plain)?;
        let given = taken.given;
        self.with::<T>(py, |models| models.evaluate(quantity, &given, out))
    }

    fn rolled<T: Number>(
        &self,
        py: Python<'_>,
        rollout: Rollout,
        [q, qd, tau, q_out, qd_out]: [Option<&Bound<'_, PyAny>>; 5],
    ) -> PyResult<()> {
        let plain = || Error::new_err("arrays must be plain ones of one type");
        // SAFETY: nobody else writes to inputs meanwhile, and results were just made.
        let (q, qd, tau, q_out, qd_out) = unsafe {
            (
                q.and_then(|x| flat::<T>(x)).ok_or_else(plain)?,
                qd.and_then(|x| flat::<T>(x)).ok_or_else(plain)?,
                tau.map(|x| flat::<T>(x).ok_or_else(plain)).transpose()?,
                q_out.and_then(|x| slice_mut::<T>(x)).ok_or_else(plain)?,
                qd_out.and_then(|x| slice_mut::<T>(x)).ok_or_else(plain)?,
            )
        };
        self.with::<T>(py, |models| models.rollout(rollout, q, qd, tau, q_out, qd_out))
    }
}

#[pymethods]
impl _Models {
    /// So many models; lists are in the order of `variations()`, plain arrays of float64.
    #[new]
    fn new(py: Python<'_>, model: Py<Model>, count: usize, lists: [Option<Bound<'_, PyAny>>; 6]) -> PyResult<Self> {
        let plain = || Error::new_err("arrays must be plain ones of float64");
        let copied = |list: Option<Bound<'_, PyAny>>| {
            // SAFETY: the lock is held and the numbers are copied at once.
            list.map(|list| unsafe { flat::<f64>(&list) }.map(<[f64]>::to_vec).ok_or_else(plain))
                .transpose()
        };
        let [a, b, c, d, e, f] = lists;
        let lists = [copied(a)?, copied(b)?, copied(c)?, copied(d)?, copied(e)?, copied(f)?];
        let models = Self {
            model,
            lists,
            count,
            doubles: Mutex::default(),
            singles: Mutex::default(),
        };
        // What is wrong with a model is told here.
        models.with::<f64>(py, |_| Ok(()))?;
        Ok(models)
    }

    /// One of them.
    fn model(&self, index: usize) -> PyResult<Model> {
        if index >= self.count {
            let problem = format!("there is no model {index}; there are {}", self.count);
            return Err(pyo3::exceptions::PyIndexError::new_err(problem));
        }
        let model = self.model.get();
        model.edited(self.variation().model(model.mechanism(), index))
    }

    /// A quantity of one state of every model, into an array.
    #[pyo3(signature = (index, out, a, b=None, c=None, d=None, e=None))]
    #[allow(clippy::too_many_arguments)]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        out: &Bound<'py, PyAny>,
        a: &Bound<'py, PyAny>,
        b: Option<&Bound<'py, PyAny>>,
        c: Option<&Bound<'py, PyAny>>,
        d: Option<&Bound<'py, PyAny>>,
        e: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let arguments = [Some(a), b, c, d, e];
        if out.cast::<PyArrayDyn<f32>>().is_ok() {
            self.computed::<f32>(py, index, out, arguments)
        } else {
            self.computed::<f64>(py, index, out, arguments)
        }
    }

    /// Rolls one state of every model forward.
    #[pyo3(signature = (method, dt, steps, q, qd, tau, q_out, qd_out))]
    #[allow(clippy::too_many_arguments)]
    fn rollout(
        &self,
        py: Python<'_>,
        method: &str,
        dt: f64,
        steps: usize,
        q: &Bound<'_, PyAny>,
        qd: &Bound<'_, PyAny>,
        tau: Option<&Bound<'_, PyAny>>,
        q_out: &Bound<'_, PyAny>,
        qd_out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let method = motion::method(method)?;
        let rollout = Rollout { method, dt, steps };
        let arrays = [Some(q), Some(qd), tau, Some(q_out), Some(qd_out)];
        if q_out.cast::<PyArrayDyn<f32>>().is_ok() {
            self.rolled::<f32>(py, rollout, arrays)
        } else {
            self.rolled::<f64>(py, rollout, arrays)
        }
    }
}

/// What models of a tree may differ in, and how many numbers of each a model has: name, count, and the model's own numbers.
#[pyfunction]
pub(crate) fn variations<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
) -> Vec<(&'static str, usize, Bound<'py, PyAny>)> {
    let m = model.get().mechanism();
    let own = Variation::own(m)
        .into_iter()
        .map(|list| numpy::PyArray1::from_vec(py, list).into_any());
    let all = Variation::NAMES.into_iter().zip(Variation::lengths(m)).zip(own);
    all.map(|((name, length), own)| (name, length, own)).collect()
}
