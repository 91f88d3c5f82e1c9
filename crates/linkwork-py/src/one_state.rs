//! The short way: a quantity of one state, given as plain arrays of float64.

use crate::errors::raised;
use crate::evaluate::{named, run, set, sizes};
use crate::model::Model;
use linkwork::quantity::{Given, Quantity, Size};
use numpy::npyffi::{
    NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, PyArray_CheckExact,
    PyArrayObject, get_type_object, npy_intp,
};
use numpy::{Element, PyArrayDescrMethods};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyFloat;

const PLAIN: i32 = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
/// The most dimensions that a quantity of one state has.
const DIMENSIONS: usize = 4;

/// An array's header, if it is one of NumPy's own with a type of numbers and flags.
///
/// # Safety
/// `flags` that are there say what may be done with its memory; nobody else may write to it meanwhile.
#[inline]
unsafe fn header<'a>(
    object: &'a Bound<'_, PyAny>,
    numbers: *mut std::ffi::c_void,
    flags: i32,
) -> Option<&'a PyArrayObject> {
    // SAFETY: it is read only if it is an array.
    unsafe {
        if PyArray_CheckExact(object.py(), object.as_ptr()) == 0 {
            return None;
        }
        let header = &*object.as_ptr().cast::<PyArrayObject>();
        let fields = &header.fields;
        (fields.descr.cast() == numbers && fields.flags & flags == flags).then_some(header)
    }
}

/// Its dimensions.
///
/// # Safety
/// It is the header of an array.
#[inline]
unsafe fn dimensions(header: &PyArrayObject) -> &[npy_intp] {
    match header.fields.nd {
        0 => &[],
        // SAFETY: as many as it says.
        n => unsafe { std::slice::from_raw_parts(header.fields.dimensions, n as usize) },
    }
}

/// A quantity of one state; none where anything else is given.
#[inline]
pub(crate) fn single<'py>(
    py: Python<'py>,
    model: &Model,
    quantity: &Quantity,
    arguments: &[Option<&Bound<'py, PyAny>>],
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if quantity.is_of_loops() {
        return Ok(None);
    }
    let m = model.mechanism();
    let descriptor = <f64 as Element>::get_dtype(py);
    let numbers = descriptor.as_dtype_ptr();
    let mut given = Given::default();
    for (&input, argument) in quantity.inputs.iter().zip(arguments) {
        let Some(argument) = argument else { return Ok(None) };
        let Some(length) = input.len(m) else {
            named(&mut given, m, input, argument)?;
            continue;
        };
        // SAFETY: the lock is held until the result is there.
        let slice: &[f64] = unsafe {
            match header(argument, numbers.cast(), PLAIN) {
                Some(array) if dimensions(array) == [length as npy_intp] => match length {
                    0 => &[],
                    _ => std::slice::from_raw_parts(array.fields.data.cast(), length),
                },
                _ => return Ok(None),
            }
        };
        set(&mut given, input, slice);
    }
    if quantity.shape.is_empty() && out.is_none() {
        let mut number = [0.0];
        run(model, quantity, &given, &mut number).map_err(raised)?;
        return Ok(Some(PyFloat::new(py, number[0]).into_any()));
    }
    let mut shape = [0; DIMENSIONS];
    let Some(shape) = shape.get_mut(..quantity.shape.len()) else {
        return Ok(None);
    };
    for (i, size) in quantity.shape.iter().enumerate() {
        shape[i] = match *size {
            Size::Nv => m.nv(),
            Size::Of(n) => n,
            _ => sizes(model, quantity, &given)?[i],
        } as npy_intp;
    }
    let length = shape.iter().product::<npy_intp>() as usize;
    let result = match out {
        Some(out) => {
            // SAFETY: the lock is held until the result is there.
            let fits = unsafe {
                header(out, numbers.cast(), PLAIN | NPY_ARRAY_WRITEABLE).is_some_and(|a| dimensions(a) == shape)
            };
            if !fits {
                return Ok(None);
            }
            out.clone()
        }
        // SAFETY: NumPy takes the reference to the type of numbers, and makes the memory.
        None => unsafe {
            let class = get_type_object(py, NpyTypes::PyArray_Type);
            let kind = descriptor.clone().into_dtype_ptr();
            let (count, null) = (shape.len() as i32, std::ptr::null_mut());
            let made = PY_ARRAY_API.PyArray_NewFromDescr(
                py,
                class,
                kind,
                count,
                shape.as_mut_ptr(),
                null,
                null.cast(),
                0,
                null.cast(),
            );
            Bound::from_owned_ptr_or_err(py, made.cast::<ffi::PyObject>())?
        },
    };
    if length == 0 {
        return Ok(Some(result));
    }
    // SAFETY: plain memory of its own, or that of `out`, which is looked at next.
    let to: &mut [f64] = unsafe {
        let array = &*result.as_ptr().cast::<PyArrayObject>();
        std::slice::from_raw_parts_mut(array.fields.data.cast(), length)
    };
    if out.is_some()
        && quantity
            .inputs
            .iter()
            .any(|i| crate::arrays::overlap(given.numbers(*i), to))
    {
        return Ok(None);
    }
    match run(model, quantity, &given, to) {
        Ok(()) => Ok(Some(result)),
        Err(problem) => {
            to.fill(f64::NAN);
            Err(raised(problem))
        }
    }
}
