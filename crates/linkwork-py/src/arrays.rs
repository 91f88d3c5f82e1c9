//! Arrays as slices.

use linkwork::spatial::{Pose, Rotation, Vec3};
use numpy::npyffi::{
    NPY_ARRAY_ALIGNED, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, get_type_object, npy_intp,
};
use numpy::{Element, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::Error;

/// The numbers of an array that lies in memory as a slice does, and its shape; none of any other object.
///
/// # Safety
/// Nothing may write to the array while the slice is used: the interpreter's lock is held until then, or, as with NumPy's own
/// functions, whoever calls from several threads sees to it.
#[inline]
pub(crate) unsafe fn slice<'a, T: Element>(object: &'a Bound<'_, PyAny>) -> Option<(&'a [T], &'a [usize])> {
    let array = object.cast::<PyArrayDyn<T>>().ok()?;
    // SAFETY: it is an array, whose header is there as long as it is borrowed.
    let header = unsafe { &*array.as_array_ptr() };
    const PLAIN: i32 = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    if header.fields.flags & PLAIN != PLAIN {
        return None;
    }
    let (length, shape) = (array.len(), array.shape());
    if length == 0 {
        return Some((&[], shape));
    }
    // SAFETY: aligned and contiguous elements of this type, as many as that.
    Some((unsafe { std::slice::from_raw_parts(array.data(), length) }, shape))
}

/// The numbers alone.
///
/// # Safety
/// As of [`slice`].
pub(crate) unsafe fn flat<'a, T: Element>(object: &'a Bound<'_, PyAny>) -> Option<&'a [T]> {
    // SAFETY: as the caller promises.
    unsafe { slice(object) }.map(|(numbers, _)| numbers)
}

/// The numbers of an array to be written to.
///
/// # Safety
/// As of [`slice`]; and no other slice of the same memory may be used.
#[inline]
#[allow(clippy::mut_from_ref)]
pub(crate) unsafe fn slice_mut<'a, T: Element>(object: &'a Bound<'_, PyAny>) -> Option<&'a mut [T]> {
    let array = object.cast::<PyArrayDyn<T>>().ok()?;
    // SAFETY: it is an array, whose header is there as long as it is borrowed.
    let header = unsafe { &*array.as_array_ptr() };
    const PLAIN: i32 = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE;
    if header.fields.flags & PLAIN != PLAIN {
        return None;
    }
    let length = array.len();
    if length == 0 {
        return Some(&mut []);
    }
    // SAFETY: aligned, contiguous and writeable elements of this type, as many as that.
    Some(unsafe { std::slice::from_raw_parts_mut(array.data(), length) })
}

/// A new array whose numbers are still to be written; an error of NumPy's where there is not so much memory.
pub(crate) fn empty<'py, T: Element>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let mut shape: Vec<npy_intp> = shape.iter().map(|&n| n as npy_intp).collect();
    // SAFETY: NumPy takes the reference to the type of numbers, and makes the memory or raises.
    unsafe {
        let class = get_type_object(py, NpyTypes::PyArray_Type);
        let (kind, null) = (T::get_dtype(py).into_dtype_ptr(), std::ptr::null_mut());
        let count = shape.len() as i32;
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
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// Whether two slices share memory.
#[inline]
pub(crate) fn overlap<T>(a: &[T], b: &[T]) -> bool {
    let (a, b) = (a.as_ptr_range(), b.as_ptr_range());
    a.start < b.end && b.start < a.end
}

/// A vector of numbers from anything NumPy makes one of.
pub(crate) fn vector(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let problem = |_| Error::new_err(format!("{argument} must be a sequence of numbers"));
    let numpy = object.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (object, "float64")).map_err(problem)?;
    let array = numpy.call_method1("ascontiguousarray", (array,))?;
    // SAFETY: the lock is held and the numbers are copied at once.
    let numbers = unsafe { flat::<f64>(&array) };
    match (array.cast::<PyArray1<f64>>(), numbers) {
        (Ok(_), Some(numbers)) => Ok(numbers.to_vec()),
        _ => Err(Error::new_err(format!("{argument} must have one dimension"))),
    }
}

/// Exactly so many numbers.
pub(crate) fn array<const N: usize>(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<[f64; N]> {
    let numbers = vector(argument, object)?;
    let given = numbers.len();
    numbers
        .try_into()
        .map_err(|_| Error::new_err(format!("{argument} has {given} numbers but needs {N}")))
}

/// A matrix of given size.
pub(crate) fn matrix<const N: usize>(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<[[f64; N]; N]> {
    let problem = || Error::new_err(format!("{argument} must be {N} × {N} numbers"));
    let numpy = object.py().import("numpy")?;
    let array = numpy
        .call_method1("asarray", (object, "float64"))
        .map_err(|_| problem())?;
    let array = array.cast_into::<PyArray2<f64>>().map_err(|_| problem())?;
    if array.shape() != [N, N] {
        return Err(problem());
    }
    let rows = array.readonly();
    let rows = rows.as_array();
    Ok(std::array::from_fn(|i| std::array::from_fn(|j| rows[[i, j]])))
}

/// A pose: three numbers for a shift, or 4 × 4.
pub(crate) fn pose(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Pose> {
    if let Ok(shift) = array::<3>(argument, object) {
        return Ok(Pose::from_translation(shift));
    }
    let [a, b, c, d] = matrix::<4>(argument, object).map_err(|_| {
        Error::new_err(format!(
            "{argument} must be three numbers, a shift, or a pose of 4 × 4 numbers"
        ))
    })?;
    if d != [0.0, 0.0, 0.0, 1.0] {
        return Err(Error::new_err(format!(
            "the last row of {argument} is {d:?}; that of a pose is 0, 0, 0, 1"
        )));
    }
    let rotation = Rotation::from_rows([[a[0], a[1], a[2]], [b[0], b[1], b[2]], [c[0], c[1], c[2]]]);
    Ok(Pose::new(rotation, Vec3::new(a[3], b[3], c[3])))
}

/// A pose as 4 × 4 numbers.
pub(crate) fn from_pose<'py>(py: Python<'py>, pose: &Pose) -> Bound<'py, PyAny> {
    let rows = pose.rotation.to_rows();
    let shift = pose.translation.to_array();
    let mut all: Vec<Vec<f64>> = (0..3).map(|i| [&rows[i][..], &[shift[i]]].concat()).collect();
    all.push(vec![0.0, 0.0, 0.0, 1.0]);
    PyArray2::from_vec2(py, &all).expect("rows of one length").into_any()
}
