//! Mass distributions.

use crate::arrays::{array, pose};
use numpy::PyArray1;
use pyo3::prelude::*;

/// Mass, centre of mass and rotational inertia of a rigid body.
///
/// `moments` are xx, xy, xz, yy, yz, zz about the centre of mass.
///
/// >>> import linkwork as lw
/// >>> rod = lw.Inertia.rod(2.0, [0, 0, 1.5])
/// >>> rod.mass, float(rod.com[2])
/// (2.0, 0.75)
#[pyclass(frozen, module = "linkwork", eq, from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct Inertia(pub(crate) linkwork::spatial::Inertia);

/// Mass, centre of mass and moments.
type Parts = (f64, [f64; 3], [f64; 6]);

#[pymethods]
impl Inertia {
    #[new]
    #[pyo3(signature = (mass, com=None, moments=None))]
    fn new(mass: f64, com: Option<&Bound<'_, PyAny>>, moments: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let com = com.map_or(Ok([0.0; 3]), |c| array("com", c))?;
        let moments = moments.map_or(Ok([0.0; 6]), |m| array("moments", m))?;
        Ok(Self(linkwork::spatial::Inertia::new(mass, com, moments)))
    }

    /// A point mass.
    #[staticmethod]
    fn point(mass: f64, at: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(linkwork::spatial::Inertia::point(mass, array::<3>("at", at)?)))
    }

    /// A thin rod from the frame's origin to `tip`.
    #[staticmethod]
    fn rod(mass: f64, tip: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(linkwork::spatial::Inertia::rod(mass, array::<3>("tip", tip)?)))
    }

    /// A solid ball about the frame's origin.
    #[staticmethod]
    fn sphere(mass: f64, radius: f64) -> Self {
        Self(linkwork::spatial::Inertia::sphere(mass, radius))
    }

    /// A solid box about the frame's origin, with full edge lengths.
    #[staticmethod]
    fn cuboid(mass: f64, edges: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(linkwork::spatial::Inertia::cuboid(
            mass,
            array::<3>("edges", edges)?,
        )))
    }

    /// A solid cylinder about the frame's origin, its axis along z, with full length.
    #[staticmethod]
    fn cylinder(mass: f64, radius: f64, length: f64) -> Self {
        Self(linkwork::spatial::Inertia::cylinder(mass, radius, length))
    }

    /// The same body seen from another frame, given the pose of the body's frame there.
    #[pyo3(signature = (pose_of_body))]
    fn seen_from(&self, pose_of_body: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(self.0.seen_from(&pose("pose_of_body", pose_of_body)?)))
    }

    /// Two bodies welded together.
    fn __add__(&self, other: &Self) -> Self {
        Self(self.0.with(&other.0))
    }

    /// In kg.
    #[getter]
    fn mass(&self) -> f64 {
        self.0.mass
    }

    /// The centre of mass in the link's frame, in m.
    #[getter]
    fn com<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.0.com.to_array())
    }

    /// xx, xy, xz, yy, yz, zz about the centre of mass, in kg m².
    #[getter]
    fn moments<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.0.moments)
    }

    fn __repr__(&self) -> String {
        let i = &self.0;
        format!(
            "Inertia({}, com={:?}, moments={:?})",
            i.mass,
            i.com.to_array(),
            i.moments
        )
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, Parts)> {
        let i = &self.0;
        let class = py.get_type::<Self>().into_any().unbind();
        Ok((class, (i.mass, i.com.to_array(), i.moments)))
    }
}
