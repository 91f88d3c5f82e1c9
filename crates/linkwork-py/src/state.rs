//! A state whose quantities share their work.

use crate::arrays::{empty, flat, overlap, slice, slice_mut};
use crate::errors::{Error, raised};
use crate::evaluate::{locked, named, numbered, set};
use crate::model::Model;
use linkwork::Workspace;
use linkwork::quantity::{Given, Input, Room};
use linkwork::workspace::{Moving, Posed};
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use std::sync::Mutex;

/// A workspace and the views of it, which stay where they are as long as this lives.
struct Views {
    moving: Box<Moving<'static>>,
    posed: *mut Posed<'static>,
    workspace: *mut Workspace,
    room: Room,
}

// SAFETY: workspaces may move between threads, and all pointers lead to what this alone owns.
unsafe impl Send for Views {}

impl Views {
    fn new(mut workspace: Workspace, q: &[f64], qd: &[f64]) -> linkwork::Result<Self> {
        workspace.at(q)?.moving(qd)?;
        let workspace = Box::into_raw(Box::new(workspace));
        // SAFETY: it was just made, is not freed before the view is, and only the view uses it until then. The calls have
        // succeeded before, with the same arguments.
        let posed = unsafe { (*workspace).at(q) }?;
        let posed = Box::into_raw(Box::new(posed));
        // SAFETY: the same.
        let moving = unsafe { (*posed).moving(qd) }?;
        Ok(Self {
            moving: Box::new(moving),
            posed,
            workspace,
            room: Room::default(),
        })
    }
}

impl Views {
    /// Ends the views.
    fn end(self) -> Workspace {
        let Self {
            moving,
            posed,
            workspace,
            ..
        } = self;
        drop(moving);
        // SAFETY: from `into_raw`, taken back once; nothing uses them any more.
        unsafe {
            drop(Box::from_raw(posed));
            *Box::from_raw(workspace)
        }
    }
}

/// A model at a state.
#[pyclass(frozen, module = "linkwork")]
pub(crate) struct Held {
    model: Py<Model>,
    q: Vec<f64>,
    qd: Vec<f64>,
    views: Mutex<Option<Views>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(views) = locked(&self.views).take() {
            let workspace = views.end();
            // Kept for the next state of this model. Its lock is free: whoever drops this holds the interpreter's.
            let spare = &mut locked(&self.model.get().spare).workspaces;
            if spare.len() < MOST_SPARE {
                spare.push(workspace);
            }
        }
    }
}

/// So many workspaces are kept for later.
const MOST_SPARE: usize = 16;

#[pymethods]
impl Held {
    #[new]
    #[pyo3(signature = (model, q, qd))]
    fn new(model: &Bound<'_, Model>, q: &Bound<'_, PyAny>, qd: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let m = model.get().mechanism();
        let plain = || Error::new_err("q and qd must be plain vectors");
        // SAFETY: the lock is held while they are copied.
        let q = unsafe { flat::<f64>(q) }.ok_or_else(plain)?.to_vec();
        let qd = match qd {
            // SAFETY: as above.
            Some(qd) => unsafe { flat::<f64>(qd) }.ok_or_else(plain)?.to_vec(),
            None => vec![0.0; m.nv()],
        };
        let spare = locked(&model.get().spare).workspaces.pop();
        let views = Views::new(spare.unwrap_or_else(|| m.workspace()), &q, &qd).map_err(raised)?;
        Ok(Self {
            model: model.clone().unbind(),
            q,
            qd,
            views: Mutex::new(Some(views)),
        })
    }

    /// A quantity of this state; None where what is given is no plain vector of float64.
    #[pyo3(signature = (index, out, a=None, b=None, c=None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        out: Option<&Bound<'py, PyAny>>,
        a: Option<&Bound<'py, PyAny>>,
        b: Option<&Bound<'py, PyAny>>,
        c: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let m = self.model.get().mechanism();
        let quantity = numbered(index)?;
        if quantity.is_of_loops() {
            return Ok(None);
        }
        let mut given = Given {
            q: &self.q,
            qd: &self.qd,
            ..Given::default()
        };
        let mut arguments = [a, b, c].into_iter();
        for &input in quantity.inputs.iter().filter(|i| !matches!(i, Input::Q | Input::Qd)) {
            let argument = arguments.next().flatten();
            let argument = argument.ok_or_else(|| Error::new_err(format!("{} is missing", input.name())))?;
            if named(&mut given, m, input, argument)? {
                continue;
            }
            // SAFETY: the lock is held until the result is there.
            match unsafe { slice::<f64>(argument) } {
                Some((numbers, &[length])) if Some(length) == input.len(m) => set(&mut given, input, numbers),
                _ => return Ok(None),
            }
        }
        let dimensions = quantity.dimensions(m, given.joint).map_err(raised)?;
        let mut views = locked(&self.views);
        let Some(Views { moving, room, .. }) = &mut *views else {
            return Ok(None);
        };
        if dimensions.is_empty() && out.is_none() {
            let mut number = [0.0];
            quantity
                .evaluate_at(moving, &given, room, &mut number)
                .map_err(raised)?;
            return Ok(Some(PyFloat::new(py, number[0]).into_any()));
        }
        let result = match out {
            None => empty::<f64>(py, &dimensions)?,
            Some(out) if out.cast::<PyArrayDyn<f64>>().is_ok_and(|o| *o.shape() == *dimensions) => out.clone(),
            Some(_) => return Ok(None),
        };
        // SAFETY: the lock is held, and memory that inputs share is not written to.
        let Some(numbers) = (unsafe { slice_mut::<f64>(&result) }) else {
            return Ok(None);
        };
        if quantity.inputs.iter().any(|i| overlap(given.numbers(*i), numbers)) {
            return Ok(None);
        }
        quantity.evaluate_at(moving, &given, room, numbers).map_err(raised)?;
        Ok(Some(result))
    }
}
