//! Methods of `Model` for the library's quantities, called by the interpreter itself: no function of Python stands between.
//!
//! Each is a descriptor of a C function, which has to know its quantity by itself: there is one function for every number. What it does not
//! take (arrays that are not plain, names of arguments) it hands to the function that the package's Python half made.

use crate::evaluate::{evaluated, numbered};
use crate::model::Model;
use crate::one_state::single;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// More quantities than there are; a test of the package says when that is no longer so.
const MOST: usize = 160;

/// The functions of Python that take what these do not, by the numbers of quantities.
static OTHERWISE: [OnceLock<Py<PyAny>>; MOST] = [const { OnceLock::new() }; MOST];

macro_rules! sixteen {
    ($row:expr) => {
        sixteen!($row; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($row:expr; $($i:literal)*) => {
        [$(call::<{ 16 * $row + $i }> as ffi::PyCFunctionFastWithKeywords),*]
    };
}

static FUNCTIONS: [[ffi::PyCFunctionFastWithKeywords; 16]; MOST / 16] = [
    sixteen!(0),
    sixteen!(1),
    sixteen!(2),
    sixteen!(3),
    sixteen!(4),
    sixteen!(5),
    sixteen!(6),
    sixteen!(7),
    sixteen!(8),
    sixteen!(9),
];

unsafe extern "C" fn call<const INDEX: usize>(
    model: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls with what its protocol says.
    unsafe { enter(INDEX, model, arguments, count, names) }
}

/// # Safety
/// Arguments are those of a fast call with keywords, made by a thread that holds the interpreter's lock.
unsafe fn enter(
    index: usize,
    model: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter is there, for it called.
    let run = |py: Python<'_>| unsafe {
        let named = if names.is_null() {
            0
        } else {
            ffi::PyTuple_Size(names) as usize
        };
        let count = count as usize;
        let all = match count + named {
            0 => &[],
            n => std::slice::from_raw_parts(arguments, n),
        };
        let model = Borrowed::from_ptr(py, model);
        match computed(py, index, &model, &all[..count], &all[count..], names) {
            Ok(result) => result.into_ptr(),
            Err(problem) => {
                problem.restore(py);
                std::ptr::null_mut()
            }
        }
    };
    // SAFETY: the same.
    let done = catch_unwind(AssertUnwindSafe(|| unsafe { Python::attach_unchecked(run) }));
    done.unwrap_or_else(|_| {
        // SAFETY: the same.
        unsafe {
            Python::attach_unchecked(|py| {
                PyRuntimeError::new_err("a quantity failed inside the library; this is a fault of it").restore(py);
            });
        }
        std::ptr::null_mut()
    })
}

/// # Safety
/// All pointers are objects that live through the call; `names` is a tuple of as many strings as there are values with names, or null.
unsafe fn computed<'py>(
    py: Python<'py>,
    index: usize,
    given: &Bound<'py, PyAny>,
    values: &[*mut ffi::PyObject],
    more: &[*mut ffi::PyObject],
    names: *mut ffi::PyObject,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: as above.
    let out = unsafe {
        match more {
            [] => Some(None),
            [one] if ffi::PyUnicode_CompareWithASCIIString(ffi::PyTuple_GetItem(names, 0), c"out".as_ptr()) == 0 => {
                Some(Some(Borrowed::from_ptr(py, *one)).filter(|out| !out.is_none()))
            }
            _ => None,
        }
    };
    let (quantity, model) = (numbered(index)?, given.cast::<Model>()?);
    if let Some(out) = out
        && values.len() == quantity.inputs.len()
        && values.len() <= 5
    {
        let mut arguments = [None; 5];
        for (argument, value) in arguments.iter_mut().zip(values) {
            // SAFETY: as above.
            *argument = Some(unsafe { Borrowed::from_ptr(py, *value) });
        }
        let arguments = arguments.each_ref().map(|a| a.as_deref());
        let out = out.as_deref();
        let model = model.get();
        if let Some(result) = single(py, model, quantity, &arguments[..values.len()], out)? {
            return Ok(result);
        }
        if let Some(result) = evaluated(py, model, quantity, arguments, out)? {
            return Ok(result);
        }
    }
    let otherwise = OTHERWISE[index]
        .get()
        .ok_or_else(|| PyRuntimeError::new_err("the package is not loaded; import `linkwork`"))?;
    // SAFETY: as above.
    let bound = |value: &*mut ffi::PyObject| unsafe { Bound::from_borrowed_ptr(py, *value) };
    let all = PyTuple::new(
        py,
        std::iter::once(given.clone())
            .chain(values.iter().map(bound))
            .collect::<Vec<_>>(),
    )?;
    let named = PyDict::new(py);
    for (i, value) in more.iter().enumerate() {
        // SAFETY: as above.
        let name = unsafe { Bound::from_borrowed_ptr(py, ffi::PyTuple_GetItem(names, i as ffi::Py_ssize_t)) };
        named.set_item(name, bound(value))?;
    }
    otherwise.bind(py).call(all, Some(&named))
}

/// A method of a class for a quantity by its number: `text` is its signature and documentation as C functions have them, `otherwise` the
/// function that takes any arguments.
#[pyfunction]
pub(crate) fn method<'py>(
    py: Python<'py>,
    cls: &Bound<'py, PyType>,
    index: usize,
    text: String,
    otherwise: Py<PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let name = numbered(index)?.name;
    let function = FUNCTIONS.as_flattened().get(index).copied();
    let function = function.ok_or_else(|| PyRuntimeError::new_err("there are more quantities than methods"))?;
    let _ = OTHERWISE[index].set(otherwise);
    // The interpreter keeps pointers to these for good.
    let kept = |text: &str| -> PyResult<&'static CStr> { Ok(Box::leak(CString::new(text)?.into_boxed_c_str())) };
    let definition = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: kept(name)?.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer {
            PyCFunctionFastWithKeywords: function,
        },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: kept(&text)?.as_ptr(),
    }));
    // SAFETY: a class, and a definition that stays.
    unsafe {
        let made = ffi::PyDescr_NewMethod(cls.as_type_ptr(), definition);
        Bound::from_owned_ptr_or_err(py, made)
    }
}
