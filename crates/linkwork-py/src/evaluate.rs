//! Quantities of one state and of many.

use crate::arrays::{overlap, slice, slice_mut};
use crate::errors::{Error, raised};
use crate::model::Model;
use crate::{names, pool};

use linkwork::quantity::{self, BatchEvaluation, Given, Input, Quantity, Room, Size};
use linkwork::{Mechanism, Workspace};
use numpy::{Element, PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Memory that no call uses at the moment. It is locked only while the interpreter's lock is held, and never across its release.
#[derive(Default)]
pub(crate) struct Spare {
    ones: Vec<One>,
    doubles: Batches<f64>,
    singles: Batches<f32>,
}

/// Memory for many states: for few of them on the caller's own thread, for many on all, and for closed mechanisms.
pub(crate) struct Batches<T: quantity::Element> {
    few: Vec<BatchEvaluation<T>>,
    many: Vec<BatchEvaluation<T>>,
    closed: Vec<BatchEvaluation<T>>,
}

impl<T: quantity::Element> Default for Batches<T> {
    fn default() -> Self {
        Self {
            few: Vec::new(),
            many: Vec::new(),
            closed: Vec::new(),
        }
    }
}

/// Which memory a batch takes.
#[derive(Clone, Copy)]
enum Kind {
    Few,
    Many,
    Closed,
}

impl<T: quantity::Element> Batches<T> {
    fn of(&mut self, kind: Kind) -> &mut Vec<BatchEvaluation<T>> {
        match kind {
            Kind::Few => &mut self.few,
            Kind::Many => &mut self.many,
            Kind::Closed => &mut self.closed,
        }
    }
}

/// States with fewer degrees of freedom in all are not worth waking other threads for.
const FEW: usize = 1000;

/// Memory for one state.
pub(crate) struct One {
    workspace: Workspace,
    /// No velocity, for what depends on q alone.
    still: Vec<f64>,
    room: Room,
}

impl One {
    fn new(mechanism: &Mechanism) -> Self {
        Self {
            workspace: mechanism.workspace(),
            still: vec![0.0; mechanism.nv()],
            room: Room::default(),
        }
    }
}

/// The library's list, by number.
pub(crate) fn list() -> &'static [&'static Quantity] {
    static LIST: OnceLock<Vec<&'static Quantity>> = OnceLock::new();
    LIST.get_or_init(|| Quantity::all().collect())
}

pub(crate) fn numbered(index: usize) -> PyResult<&'static Quantity> {
    let found = list().get(index).copied();
    found.ok_or_else(|| Error::new_err(format!("there is no quantity number {index}")))
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets an input that is a name; whether it is one.
pub(crate) fn named(
    given: &mut Given<'_, impl Sized>,
    m: &Mechanism,
    input: Input,
    object: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let word = |what: &str| {
        object.extract::<&str>().map_err(|_| {
            Error::new_err(format!(
                "{what} must be a name, not {}",
                object
                    .get_type()
                    .name()
                    .map_or_else(|_| "that".to_owned(), |n| n.to_string())
            ))
        })
    };
    match input {
        Input::Frame => given.frame = m.frame(word("frame")?).map_err(raised)?,
        Input::Reference => given.reference = names::reference(word("reference")?)?,
        Input::Joint => given.joint = Some(m.joint(word("joint")?).map_err(raised)?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Sets an input that is made of numbers.
pub(crate) fn set<'a, T>(given: &mut Given<'a, T>, input: Input, numbers: &'a [T]) {
    match input {
        Input::Q => given.q = numbers,
        Input::Qd => given.qd = numbers,
        Input::Qdd => given.qdd = numbers,
        Input::Tau => given.tau = numbers,
        Input::X => given.x = numbers,
        Input::Change => given.change = numbers,
        _ => {}
    }
}

/// A quantity of one state, given as plain vectors of float64; None where anything else is given.
#[pyfunction]
#[pyo3(signature = (model, index, out, a, b=None, c=None, d=None, e=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn single<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    index: usize,
    out: Option<&Bound<'py, PyAny>>,
    a: &Bound<'py, PyAny>,
    b: Option<&Bound<'py, PyAny>>,
    c: Option<&Bound<'py, PyAny>>,
    d: Option<&Bound<'py, PyAny>>,
    e: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let model = model.get();
    let m = model.mechanism();
    let quantity = numbered(index)?;
    if quantity.is_of_loops() {
        return Ok(None);
    }
    let mut given = Given::default();
    let arguments = [Some(a), b, c, d, e];
    for (&input, argument) in quantity.inputs.iter().zip(arguments) {
        let argument = argument.ok_or_else(|| Error::new_err(format!("{} is missing", input.name())))?;
        let Some(length) = input.len(m) else {
            named(&mut given, m, input, argument)?;
            continue;
        };
        // SAFETY: the lock is held until the result is there.
        match unsafe { slice::<f64>(argument, Some(1)) } {
            Some(numbers) if numbers.len() == length => set(&mut given, input, numbers),
            _ => return Ok(None),
        }
    }
    let dimensions = quantity.dimensions(m, given.joint).map_err(raised)?;
    if dimensions.is_empty() && out.is_none() {
        let mut number = [0.0];
        run(model, quantity, &given, &mut number)?;
        return Ok(Some(PyFloat::new(py, number[0]).into_any()));
    }
    let result = match out {
        None => {
            // SAFETY: every number is written before anybody sees it.
            unsafe { PyArrayDyn::<f64>::new(py, dimensions, false) }.into_any()
        }
        Some(out) => {
            let fits = out
                .cast::<PyArrayDyn<f64>>()
                .is_ok_and(|out| *out.shape() == *dimensions);
            if !fits {
                return Ok(None);
            }
            out.clone()
        }
    };
    // SAFETY: the lock is held, and memory that inputs share is not written to.
    let Some(numbers) = (unsafe { slice_mut::<f64>(&result) }) else {
        return Ok(None);
    };
    if out.is_some() && quantity.inputs.iter().any(|i| overlap(given.numbers(*i), numbers)) {
        return Ok(None);
    }
    run(model, quantity, &given, numbers)?;
    Ok(Some(result))
}

fn run(model: &Model, quantity: &Quantity, given: &Given<'_>, out: &mut [f64]) -> PyResult<()> {
    let spare = locked(&model.spare).ones.pop();
    let mut one = spare.unwrap_or_else(|| One::new(model.mechanism()));
    let qd = if quantity.takes(Input::Qd) {
        given.qd
    } else {
        &one.still
    };
    let done = one.workspace.at(given.q).and_then(|mut posed| {
        let mut moving = posed.moving(qd)?;
        quantity.evaluate_at(&mut moving, given, &mut one.room, out)
    });
    locked(&model.spare).ones.push(one);
    done.map_err(raised)
}

/// A quantity of many states: inputs and `out` are plain arrays of one type, state after state, in the order of the inputs.
#[pyfunction]
pub(crate) fn batch(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    index: usize,
    out: &Bound<'_, PyAny>,
    arguments: Vec<Bound<'_, PyAny>>,
) -> PyResult<()> {
    let model = model.get();
    if out.cast::<PyArrayDyn<f32>>().is_ok() {
        many::<f32>(py, model, index, out, &arguments, |s| &mut s.singles)
    } else {
        many::<f64>(py, model, index, out, &arguments, |s| &mut s.doubles)
    }
}

fn many<T: Element + quantity::Element>(
    py: Python<'_>,
    model: &Model,
    index: usize,
    out: &Bound<'_, PyAny>,
    arguments: &[Bound<'_, PyAny>],
    spares: fn(&mut Spare) -> &mut Batches<T>,
) -> PyResult<()> {
    let m = model.mechanism();
    let quantity = numbered(index)?;
    let plain = |name: &str| Error::new_err(format!("{name} is no plain array of the type of the result"));
    let mut given = Given::<T>::default();
    // SAFETY: nobody else writes to them meanwhile, unless by a mistake that NumPy's own functions do not survive either.
    let numbers = unsafe { slice_mut::<T>(out) }.ok_or_else(|| plain("out"))?;
    for (&input, argument) in quantity.inputs.iter().zip(arguments) {
        if !named(&mut given, m, input, argument)? {
            // SAFETY: as above.
            let given_numbers = unsafe { slice::<T>(argument, None) }.ok_or_else(|| plain(input.name()))?;
            if overlap(given_numbers, numbers) {
                return Err(Error::new_err(format!("out shares memory with {}", input.name())));
            }
            set(&mut given, input, given_numbers);
        }
    }
    let closed = match quantity.is_of_loops() {
        true => model.closed()?,
        false => None,
    };
    let states = given.q.len().checked_div(m.nq()).unwrap_or(1);
    let kind = match closed {
        Some(_) => Kind::Closed,
        None if states * m.nv() < FEW => Kind::Few,
        None => Kind::Many,
    };
    let spare = spares(&mut locked(&model.spare)).of(kind).pop();
    let compute = |threads: usize| {
        let evaluation = spare.unwrap_or_else(|| match closed {
            Some(closed) => BatchEvaluation::of_closed(closed),
            None => BatchEvaluation::new(m),
        });
        let mut evaluation = evaluation.with_threads(threads);
        let done = evaluation.evaluate(quantity, &given, numbers);
        (evaluation, done)
    };
    let pool = pool::pool(py)?;
    let (evaluation, done) = py.detach(|| match kind {
        Kind::Few => compute(1),
        _ => pool.install(|| compute(pool.current_num_threads())),
    });
    spares(&mut locked(&model.spare)).of(kind).push(evaluation);
    done.map_err(raised)
}

/// The dimensions of a quantity of one state.
#[pyfunction]
#[pyo3(signature = (model, index, joint=None))]
pub(crate) fn dimensions(model: &Bound<'_, Model>, index: usize, joint: Option<&str>) -> PyResult<Vec<usize>> {
    let model = model.get();
    let (m, quantity) = (model.mechanism(), numbered(index)?);
    if let (true, Some(closed)) = (quantity.is_of_loops(), model.closed()?) {
        let size = |size: &Size| match size {
            Size::Constraints => closed.rows(),
            Size::Of(n) => *n,
            _ => m.nv(),
        };
        return Ok(quantity.shape.iter().map(size).collect());
    }
    let joint = joint.map(|name| m.joint(name)).transpose().map_err(raised)?;
    quantity.dimensions(m, joint).map_err(raised)
}

/// The library's list of quantities: name, symbol, meaning, other names, inputs and shape.
///
/// >>> import linkwork as lw
/// >>> [q["name"] for q in lw.quantities() if "rnea" in q["aliases"]]
/// ['inverse_dynamics']
#[pyfunction]
pub(crate) fn quantities(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all = PyList::empty(py);
    for quantity in list() {
        let entry = PyDict::new(py);
        entry.set_item("name", quantity.name)?;
        entry.set_item("symbol", quantity.symbol)?;
        entry.set_item("about", quantity.about)?;
        entry.set_item("aliases", quantity.aliases)?;
        let inputs: Vec<&str> = quantity.inputs.iter().map(|i| i.name()).collect();
        entry.set_item("inputs", inputs)?;
        let shape: Vec<String> = quantity.shape.iter().map(size_word).collect();
        entry.set_item("shape", shape)?;
        entry.set_item("of_loops", quantity.is_of_loops())?;
        all.append(entry)?;
    }
    Ok(all)
}

fn size_word(size: &Size) -> String {
    match size {
        Size::Of(n) => n.to_string(),
        Size::Nv => "nv".into(),
        Size::Links => "links".into(),
        Size::Parameters => "10 links".into(),
        Size::Pattern => "entries".into(),
        Size::Dofs => "dofs of the joint".into(),
        Size::Constraints => "constraint rows".into(),
        _ => "n".into(),
    }
}
