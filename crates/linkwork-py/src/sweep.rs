//! Sweeps: the program's own code, so that both write the same directories.

use crate::arrays::flat;
use crate::errors::Error;
use crate::model::Model;
use crate::pool;
use linkwork::batch::Variation;
use linkwork::quantity::Input;
use linkwork_cli::sweep::{Asked, Numbers, Random, Roll, States, Sweep, digest};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A sweep of many states into a directory.
#[pyclass(frozen, module = "linkwork")]
pub(crate) struct _Sweep(Sweep);

/// Total, seed, and the deviations of velocities and torques; and by how much of itself each kind of number varies.
type Drawn = (u64, u64, f64, f64, BTreeMap<String, f64>);

/// What the program would say, on one line.
fn told(problem: anyhow::Error) -> PyErr {
    Error::new_err(linkwork_cli::explained(&problem))
}

fn random((total, seed, velocity, torque, given): Drawn) -> PyResult<Random> {
    let mut vary = [0.0; 6];
    for (name, spread) in given {
        let kind = Variation::NAMES.iter().position(|n| *n == name).ok_or_else(|| {
            let names = Variation::NAMES.join(", ");
            Error::new_err(format!("`{name}` is nothing that varies; there are {names}"))
        })?;
        vary[kind] = spread;
    }
    Ok(Random {
        total,
        seed,
        velocity,
        torque,
        vary,
    })
}

const INPUTS: [Input; 6] = [Input::Q, Input::Qd, Input::Qdd, Input::Tau, Input::X, Input::Change];

/// Arrays by name as numbers of states.
fn numbers(given: &Bound<'_, PyDict>) -> PyResult<Numbers> {
    let mut all = Numbers::default();
    for (name, array) in given.iter() {
        let name: String = name.extract()?;
        // SAFETY: the lock is held and the numbers are copied at once.
        let copied = unsafe { flat::<f64>(&array) }.map(<[f64]>::to_vec);
        let copied = copied.ok_or_else(|| Error::new_err(format!("{name} must be a plain array of float64")))?;
        let input = INPUTS.into_iter().find(|i| i.name() == name);
        let kind = Variation::NAMES.iter().position(|n| *n == name);
        match (input, kind) {
            (Some(input), _) => all.inputs.push((input, copied)),
            (None, Some(kind)) => all.models.push((kind, copied)),
            (None, None) => {
                let problem = format!("`{name}` is neither an input nor anything that varies");
                return Err(Error::new_err(problem));
            }
        }
    }
    Ok(all)
}

/// Numbers of states as arrays by name.
fn arrays<'py>(py: Python<'py>, numbers: Numbers, count: usize) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let inputs = numbers.inputs.into_iter().map(|(input, x)| (input.name(), x));
    let models = numbers.models.into_iter().map(|(kind, x)| (Variation::NAMES[kind], x));
    for (name, x) in inputs.chain(models) {
        let width = x.len() / count.max(1);
        all.set_item(name, PyArray1::from_vec(py, x).reshape([count, width])?)?;
    }
    Ok(all)
}

#[pymethods]
impl _Sweep {
    /// Checks what is asked; nothing is written.
    #[new]
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (model, what, named, roll, drawn, given, out, chunk))]
    fn new(
        model: &Bound<'_, Model>,
        what: Vec<String>,
        named: BTreeMap<String, String>,
        roll: Option<(f64, usize, usize, String)>,
        drawn: Option<Drawn>,
        given: Option<(u64, Vec<String>, String)>,
        out: PathBuf,
        chunk: u64,
    ) -> PyResult<Self> {
        let roll = roll.map(|(dt, steps, every, method)| Roll {
            dt,
            steps,
            every,
            method,
        });
        let states = match (drawn, given) {
            (Some(drawn), _) => States::Random(random(drawn)?),
            (None, Some((total, names, digest))) => States::Given { total, names, digest },
            (None, None) => return Err(Error::new_err("states are drawn or given")),
        };
        let asked = Asked { what, named, roll };
        let sweep = Sweep::new(&model.get().robot, asked, states, &out, chunk);
        sweep.map(Self).map_err(told)
    }

    /// Writes the manifest, or compares it with the one that is there.
    fn open(&self) -> PyResult<()> {
        self.0.open().map_err(told)
    }

    /// The chunks that are not there yet.
    fn missing(&self) -> Vec<u64> {
        self.0.missing()
    }

    /// The first state of a chunk, and how many there are.
    fn range(&self, index: u64) -> (u64, usize) {
        self.0.range(index)
    }

    /// Computes one chunk, of states that are drawn or given as plain arrays of float64, and writes its part; how many states failed.
    fn compute(&self, py: Python<'_>, index: u64, given: Option<&Bound<'_, PyDict>>) -> PyResult<usize> {
        let given = given.map(numbers).transpose()?;
        let pool = pool::pool(py)?;
        let threads = pool.current_num_threads();
        let done = py.detach(|| {
            pool.install(|| match given.or_else(|| self.0.draw(index)) {
                Some(numbers) => self.0.compute(index, numbers, threads),
                None => Err(anyhow::anyhow!("the states of the chunk are not given")),
            })
        });
        done.map_err(told)
    }
}

/// Random states from a number on, as arrays by name.
#[pyfunction]
pub(crate) fn draw<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    drawn: Drawn,
    names: Vec<String>,
    first: u64,
    count: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let random = random(drawn)?;
    let inputs: Vec<Input> = INPUTS
        .into_iter()
        .filter(|i| names.iter().any(|n| n == i.name()))
        .collect();
    arrays(py, random.draw(model.get().mechanism(), &inputs, first, count), count)
}

/// A number that tells states from others, in hexadecimal digits.
#[pyfunction]
pub(crate) fn states_digest(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<String> {
    let Numbers { inputs, models } = numbers(given)?;
    let inputs = inputs.iter().map(|(input, x)| (input.name(), x));
    let models = models.iter().map(|(kind, x)| (Variation::NAMES[*kind], x));
    let all: Vec<(&str, &Vec<f64>)> = inputs.chain(models).collect();
    Ok(py.detach(|| digest(&all)))
}
