//! Quantities of one state and of many.

use crate::arrays::{empty, overlap, slice, slice_mut};
use crate::errors::{Error, raised};
use crate::model::Model;
use crate::{names, pool};

use linkwork::quantity::{BatchEvaluation, Given, Input, Quantity, Room, Size};
use linkwork::{Mechanism, Workspace};
use numpy::{Element, PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Memory that no call uses at the moment. It is locked only while the interpreter's lock is held, and never across its release.
#[derive(Default)]
pub(crate) struct Spare {
    /// Boxed: a workspace is some kilobytes, and is taken out and put back at every call.
    #[allow(clippy::vec_box)]
    ones: Vec<Box<One>>,
    /// For states that are held.
    pub(crate) workspaces: Vec<Workspace>,
    doubles: Batches<f64>,
    singles: Batches<f32>,
}

/// Memory for many states: for few of them on the caller's own thread, for many on all, and for closed mechanisms.
pub(crate) struct Batches<T: linkwork::batch::Real> {
    few: Vec<BatchEvaluation<T>>,
    many: Vec<BatchEvaluation<T>>,
    closed: Vec<BatchEvaluation<T>>,
}

impl<T: linkwork::batch::Real> Default for Batches<T> {
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

impl<T: linkwork::batch::Real> Batches<T> {
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

/// What is given, and the leading dimensions that all of it has.
pub(crate) struct Taken<'a, T> {
    pub(crate) given: Given<'a, T>,
    leading: &'a [usize],
}

/// Takes arguments that are names, and plain arrays of one type and of the same leading dimensions; none if any is something else.
#[inline]
pub(crate) fn take<'a, T: Element>(
    m: &Mechanism,
    quantity: &Quantity,
    arguments: [Option<&'a Bound<'_, PyAny>>; 5],
) -> PyResult<Option<Taken<'a, T>>> {
    let mut given = Given::default();
    let mut leading: Option<&[usize]> = None;
    for (&input, argument) in quantity.inputs.iter().zip(arguments) {
        let argument = argument.ok_or_else(|| Error::new_err(format!("{} is missing", input.name())))?;
        let Some(length) = input.len(m) else {
            named(&mut given, m, input, argument)?;
            continue;
        };
        // SAFETY: the lock is held until the result is there; where it is released meanwhile, nobody else writes to them, unless by a
        // mistake that NumPy's own functions do not survive either.
        let Some((numbers, shape)) = (unsafe { slice::<T>(argument) }) else {
            return Ok(None);
        };
        match shape.split_last() {
            Some((last, front)) if *last == length && leading.is_none_or(|l| l == front) => leading = Some(front),
            _ => return Ok(None),
        }
        set(&mut given, input, numbers);
    }
    let leading = leading.unwrap_or(&[]);
    Ok(Some(Taken { given, leading }))
}

/// A type of numbers that batches take.
trait Number: Element + linkwork::batch::Real {
    fn batches(spare: &mut Spare) -> &mut Batches<Self>;

    /// Few states one by one, if that is as quick; whether it was done.
    fn few(_: &Model, _: &Quantity, _: &Given<'_, Self>, _: &mut [Self], _: usize) -> Option<linkwork::Result<()>> {
        None
    }
}

impl Number for f32 {
    fn batches(spare: &mut Spare) -> &mut Batches<Self> {
        &mut spare.singles
    }
}

impl Number for f64 {
    fn batches(spare: &mut Spare) -> &mut Batches<Self> {
        &mut spare.doubles
    }

    fn few(
        model: &Model,
        quantity: &Quantity,
        given: &Given<'_>,
        out: &mut [f64],
        states: usize,
    ) -> Option<linkwork::Result<()>> {
        if states >= FEWEST || quantity.is_of_loops() {
            return None;
        }
        let m = model.mechanism();
        let size = out.len() / states;
        let mut first = None;
        let mut failed = 0;
        for index in 0..states {
            let mut one = *given;
            for &input in quantity.inputs {
                if let Some(n) = input.len(m) {
                    set(&mut one, input, &given.numbers(input)[n * index..n * (index + 1)]);
                }
            }
            let out = &mut out[size * index..size * (index + 1)];
            if let Err(problem) = run(model, quantity, &one, out) {
                out.fill(f64::NAN);
                failed += 1;
                first.get_or_insert((index, Box::new(problem)));
            }
        }
        Some(match first {
            None => Ok(()),
            Some((index, problem)) => Err(linkwork::Error::State {
                index,
                failed,
                states,
                problem,
            }),
        })
    }
}

/// Fewer states than this are computed one by one: that takes less time than a batch.
const FEWEST: usize = 4;

/// A quantity of one state or of many, given as plain arrays of one type and of the same leading dimensions; None where anything
/// else is given.
#[pyfunction]
#[pyo3(signature = (model, index, out, a, b=None, c=None, d=None, e=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn evaluate<'py>(
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
    evaluated(py, model.get(), numbered(index)?, [Some(a), b, c, d, e], out)
}

/// The same of a quantity itself.
pub(crate) fn evaluated<'py>(
    py: Python<'py>,
    model: &Model,
    quantity: &Quantity,
    arguments: [Option<&Bound<'py, PyAny>>; 5],
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let m = model.mechanism();
    if let Some(taken) = take::<f64>(m, quantity, arguments)? {
        if taken.leading.is_empty() && quantity.shape.is_empty() && out.is_none() && !quantity.is_of_loops() {
            let mut number = [0.0];
            run(model, quantity, &taken.given, &mut number).map_err(raised)?;
            return Ok(Some(PyFloat::new(py, number[0]).into_any()));
        }
        return shaped(py, model, quantity, &taken, out);
    }
    match take::<f32>(m, quantity, arguments)? {
        Some(taken) => shaped(py, model, quantity, &taken, out),
        None => Ok(None),
    }
}

/// The result as an array.
#[inline]
fn shaped<'py, T: Number>(
    py: Python<'py>,
    model: &Model,
    quantity: &Quantity,
    Taken { given, leading }: &Taken<'_, T>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut shape = sizes(model, quantity, given)?;
    if shape.is_empty() && leading.is_empty() && out.is_none() {
        return Ok(None);
    }
    shape.splice(0..0, leading.iter().copied());
    let result = match out {
        None => empty::<T>(py, &shape)?,
        Some(out) if out.cast::<PyArrayDyn<T>>().is_ok_and(|out| *out.shape() == *shape) => out.clone(),
        Some(_) => return Ok(None),
    };
    // SAFETY: as of what is given; and memory that it shares is not written to.
    let Some(numbers) = (unsafe { slice_mut::<T>(&result) }) else {
        return Ok(None);
    };
    if out.is_some() && quantity.inputs.iter().any(|i| overlap(given.numbers(*i), numbers)) {
        return Ok(None);
    }
    let states: usize = leading.iter().product();
    if states == 0 {
        return Ok(Some(result));
    }
    let done = match T::few(model, quantity, given, numbers, states) {
        Some(done) => done,
        None => many(py, model, quantity, given, numbers, states)?,
    };
    match done {
        Ok(()) => Ok(Some(result)),
        // One state by itself has no number.
        Err(linkwork::Error::State { problem, .. }) if leading.is_empty() => Err(raised(*problem)),
        Err(problem) => {
            let problem = raised(problem);
            problem.value(py).setattr("result", result)?;
            Err(problem)
        }
    }
}

/// One state.
#[inline]
pub(crate) fn run(model: &Model, quantity: &Quantity, given: &Given<'_>, out: &mut [f64]) -> linkwork::Result<()> {
    let spare = locked(&model.spare).ones.pop();
    let mut spare = spare.unwrap_or_else(|| Box::new(One::new(model.mechanism())));
    let one = &mut *spare;
    let qd = if quantity.takes(Input::Qd) {
        given.qd
    } else {
        &one.still
    };
    let done = one.workspace.at(given.q).and_then(|mut posed| {
        let mut moving = posed.moving(qd)?;
        quantity.evaluate_at(&mut moving, given, &mut one.room, out)
    });
    locked(&model.spare).ones.push(spare);
    done
}

/// Many states.
fn many<T: Number>(
    py: Python<'_>,
    model: &Model,
    quantity: &Quantity,
    given: &Given<'_, T>,
    out: &mut [T],
    states: usize,
) -> PyResult<linkwork::Result<()>> {
    let m = model.mechanism();
    let closed = match quantity.is_of_loops() {
        true => model.closed()?,
        false => None,
    };
    let kind = match closed {
        Some(_) => Kind::Closed,
        None if states * m.nv() < FEW => Kind::Few,
        None => Kind::Many,
    };
    let spare = T::batches(&mut locked(&model.spare)).of(kind).pop();
    let compute = |threads: usize| {
        let evaluation = spare.unwrap_or_else(|| match closed {
            Some(closed) => BatchEvaluation::of_closed(closed),
            None => BatchEvaluation::new(m),
        });
        let mut evaluation = evaluation.with_threads(threads);
        let done = evaluation.evaluate(quantity, given, out);
        (evaluation, done)
    };
    let (evaluation, done) = match kind {
        Kind::Few => py.detach(|| compute(1)),
        _ => {
            let pool = pool::pool(py)?;
            py.detach(|| pool.install(|| compute(pool.current_num_threads())))
        }
    };
    T::batches(&mut locked(&model.spare)).of(kind).push(evaluation);
    Ok(done)
}

/// The dimensions of a quantity of one state.
pub(crate) fn sizes<T>(model: &Model, quantity: &Quantity, given: &Given<'_, T>) -> PyResult<Vec<usize>> {
    let m = model.mechanism();
    if quantity.is_of_loops()
        && let Some(closed) = model.closed()?
    {
        let size = |size: &Size| match size {
            Size::Constraints => closed.rows(),
            Size::Of(n) => *n,
            _ => m.nv(),
        };
        return Ok(quantity.shape.iter().map(size).collect());
    }
    quantity.dimensions(m, given.joint).map_err(raised)
}

/// The dimensions of a quantity of one state.
#[pyfunction]
#[pyo3(signature = (model, index, joint=None))]
pub(crate) fn dimensions(model: &Bound<'_, Model>, index: usize, joint: Option<&str>) -> PyResult<Vec<usize>> {
    let model = model.get();
    let joint = joint.map(|name| model.mechanism().joint(name)).transpose();
    let given = Given::<f64> {
        joint: joint.map_err(raised)?,
        ..Given::default()
    };
    sizes(model, numbered(index)?, &given)
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
