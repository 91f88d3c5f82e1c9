//! The model.

use crate::arrays;
use crate::errors::{Error, findings, raised, refused};
use crate::evaluate::Spare;
use crate::files::format_of;
use crate::inertia::Inertia;
use linkwork::Mechanism;
use linkwork::closed::ClosedMechanism;
use linkwork::model::{Base, Joint, examples as built_in};
use linkwork_formats::{Format, Robot};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

/// A robot: immutable, shared by threads, and picklable.
///
/// Take one from a file (`load`), from text (`read`), from the built-in examples (`Model.example`) or from a `Builder`.
/// Every quantity takes arrays whose last dimension holds the coordinates of one state, with any leading dimensions.
///
/// >>> import linkwork as lw
/// >>> m = lw.Model.example("puma560")
/// >>> m.nq, m.nv
/// (6, 6)
/// >>> m.mass_matrix(m.neutral()).shape
/// (6, 6)
#[pyclass(frozen, module = "linkwork", weakref)]
pub(crate) struct Model {
    pub(crate) robot: Arc<Robot>,
    pub(crate) spare: Mutex<Spare>,
    /// The mechanism with its loops closed, once asked for.
    closed: OnceLock<linkwork::Result<ClosedMechanism>>,
    /// The constraints that are off.
    off: Vec<String>,
}

impl Model {
    pub(crate) fn of(robot: Robot) -> Self {
        Self {
            robot: Arc::new(robot),
            spare: Mutex::default(),
            closed: OnceLock::new(),
            off: Vec::new(),
        }
    }

    /// The mechanism with its loops closed; none if it has none.
    pub(crate) fn closed(&self) -> PyResult<Option<&ClosedMechanism>> {
        if self.robot.loops.is_empty() {
            return Ok(None);
        }
        let closed = self.closed.get_or_init(|| {
            let mut closed = self.robot.closed()?;
            for name in &self.off {
                closed.switch(name, false)?;
            }
            Ok(closed)
        });
        closed.as_ref().map(Some).map_err(|e| raised(e.clone()))
    }

    #[inline]
    pub(crate) fn mechanism(&self) -> &Mechanism {
        &self.robot.mechanism
    }

    /// The same robot with another mechanism: geometry and how it touches, loops and gears stay where their links and joints do.
    pub(crate) fn edited(&self, edited: linkwork::Result<Mechanism>) -> PyResult<Self> {
        let mut robot = Robot::from(edited.map_err(raised)?);
        let m = robot.mechanism.clone();
        let there = |link: &String| m.frame(link).is_ok();
        let old = &*self.robot;
        for (i, geometry) in old.geometry.iter().enumerate().filter(|(_, g)| there(&g.link)) {
            let touch = old.touches.get(&i).map(|touch| (robot.geometry.len(), *touch));
            robot.touches.extend(touch);
            robot.geometry.push(geometry.clone());
        }
        robot.terrains = old.terrains.iter().filter(|t| there(&t.link)).cloned().collect();
        let apart = old.untouching.iter().filter(|(a, b)| there(a) && there(b));
        robot.untouching = apart.cloned().collect();
        let loops = old.loops.iter().filter(|l| there(&l.first.0) && there(&l.second.0));
        robot.loops = loops.cloned().collect();
        let gears = old.transmissions.iter().filter(|t| m.joint(&t.joint).is_ok());
        robot.transmissions = gears.cloned().collect();
        if m.position_names() == old.mechanism.position_names() && m.nv() == old.mechanism.nv() {
            robot.keyframes.clone_from(&old.keyframes);
        }
        let mut edited = Self::of(robot);
        if !self.off.is_empty()
            && let Some(closed) = edited.closed()?
        {
            let left = |name: &&String| closed.is_on(name).is_ok();
            edited.off = self.off.iter().filter(left).cloned().collect();
            edited.closed = OnceLock::new();
        }
        Ok(edited)
    }

    fn slice<'py>(py: Python<'py>, range: std::ops::Range<usize>) -> Bound<'py, PySlice> {
        PySlice::new(py, range.start as isize, range.end as isize, 1)
    }

    /// One number per degree of freedom of every independent joint.
    fn per_dof<'py>(&self, py: Python<'py>, none: f64, list: impl Fn(&Joint) -> &[f64]) -> Bound<'py, PyArray1<f64>> {
        let layout = self.mechanism().layout();
        let all = layout.flat_map(|(joint, _, v)| spread(list(joint), v.len(), none));
        PyArray1::from_vec(py, all.collect())
    }
}

/// None, one for all, or one each.
fn spread<T: Copy>(given: &[T], n: usize, none: T) -> Vec<T> {
    match given {
        [] => vec![none; n],
        [one] => vec![*one; n],
        each => each.iter().copied().take(n).collect(),
    }
}

/// The names of the built-in examples.
///
/// >>> import linkwork as lw
/// >>> "humanoid" in lw.examples()
/// True
#[pyfunction]
pub(crate) fn examples() -> Vec<&'static str> {
    built_in::all().into_iter().map(|(name, _)| name).collect()
}

#[pymethods]
impl Model {
    /// One of the built-in examples, by name: see `linkwork.examples()`.
    #[staticmethod]
    fn example(name: &str) -> PyResult<Self> {
        let make = built_in::by_name(name).ok_or_else(|| {
            Error::new_err(format!(
                "there is no built-in example named `{name}`; there are {}",
                examples().join(", ")
            ))
        })?;
        Ok(Self::of(Robot::from(make())))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.mechanism().name()
    }

    /// The number of position coordinates; joints that follow others have none.
    #[getter]
    fn nq(&self) -> usize {
        self.mechanism().nq()
    }

    /// The number of degrees of freedom; joints that follow others have none.
    #[getter]
    fn nv(&self) -> usize {
        self.mechanism().nv()
    }

    /// The acceleration of free fall in the world's axes.
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.mechanism().gravity().to_array())
    }

    /// The mass of all links, welded ones included.
    #[getter]
    fn mass(&self) -> f64 {
        self.mechanism().links().iter().map(|l| l.inertia.mass).sum()
    }

    /// The names of the joints, in the order of coordinates; fixed ones and those that follow others included.
    #[getter]
    fn joint_names(&self) -> Vec<&str> {
        self.mechanism().joints().iter().map(|j| &*j.name).collect()
    }

    /// The names of the joints that have coordinates of their own, in their order.
    #[getter]
    fn moving_joint_names(&self) -> Vec<&str> {
        let layout = self.mechanism().layout();
        let moving = layout.filter(|(_, _, v)| !v.is_empty());
        moving.map(|(joint, ..)| &*joint.name).collect()
    }

    /// The names of the links.
    #[getter]
    fn link_names(&self) -> Vec<&str> {
        self.mechanism().links().iter().map(|l| &*l.name).collect()
    }

    /// The names of all frames: the world's, the links' and those that have names of their own.
    #[getter]
    fn frame_names(&self) -> Vec<&str> {
        let m = self.mechanism();
        let links = m.links().iter().map(|l| &*l.name);
        let frames = m.frames().iter().map(|f| &*f.name);
        ["world"].into_iter().chain(links).chain(frames).collect()
    }

    /// The states that the file names, by their names: "q", "v" and "time" of each, and "ctrl", what actuators are told. The
    /// configuration in which an MJCF file is written is "qpos0", where that is not neutral.
    ///
    /// >>> import linkwork as lw
    /// >>> m = lw.read('''<mujoco><worldbody><body><joint ref="90"/><geom size="1"/></body></worldbody>
    /// ...   <keyframe><key name="home" qpos="0.5" qvel="2"/></keyframe></mujoco>''', "mjcf")
    /// >>> m.keyframes["home"]["q"], m.keyframes["home"]["v"]
    /// (array([0.5]), array([2.]))
    /// >>> sorted(m.keyframes)
    /// ['home', 'qpos0']
    #[getter]
    fn keyframes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for key in &self.robot.keyframes {
            let state = PyDict::new(py);
            for (name, numbers) in [("q", &key.q), ("v", &key.v), ("ctrl", &key.ctrl)] {
                state.set_item(name, PyArray1::from_slice(py, numbers))?;
            }
            state.set_item("time", key.time)?;
            all.set_item(&key.name, state)?;
        }
        Ok(all)
    }

    /// Where a joint's coordinates are in q.
    ///
    /// >>> import linkwork as lw
    /// >>> m = lw.Model.example("quadruped")
    /// >>> m.q_slice(m.moving_joint_names[0])
    /// slice(0, 7, 1)
    fn q_slice<'py>(&self, py: Python<'py>, joint: &str) -> PyResult<Bound<'py, PySlice>> {
        let m = self.mechanism();
        let range = m.joint(joint).and_then(|j| m.q_range(j)).map_err(raised)?;
        Ok(Self::slice(py, range))
    }

    /// Where a joint's coordinates are in q̇, q̈ and the torques.
    fn v_slice<'py>(&self, py: Python<'py>, joint: &str) -> PyResult<Bound<'py, PySlice>> {
        let m = self.mechanism();
        let range = m.joint(joint).and_then(|j| m.v_range(j)).map_err(raised)?;
        Ok(Self::slice(py, range))
    }

    /// A joint's kind, links, origin, axes and parameters, as a dictionary.
    fn joint<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        use linkwork::model::JointKind as Kind;
        let m = self.mechanism();
        let joint = &m.joints()[m.joint(name).map_err(raised)?.index()];
        let entry = PyDict::new(py);
        entry.set_item("name", &joint.name)?;
        entry.set_item("kind", joint.kind.name())?;
        entry.set_item("parent", &joint.parent)?;
        entry.set_item("child", &joint.child)?;
        entry.set_item("origin", arrays::from_pose(py, &joint.origin))?;
        match joint.kind {
            Kind::Revolute { axis }
            | Kind::Continuous { axis }
            | Kind::Prismatic { axis }
            | Kind::Helical { axis, .. }
            | Kind::Cylindrical { axis } => entry.set_item("axis", axis.to_array())?,
            Kind::Universal { axes } => entry.set_item("axis", axes.map(|a| a.to_array()))?,
            _ => entry.set_item("axis", py.None())?,
        }
        let pitch = match joint.kind {
            Kind::Helical { pitch, .. } => Some(pitch),
            _ => None,
        };
        entry.set_item("pitch", pitch)?;
        entry.set_item("armature", &joint.armature)?;
        entry.set_item("damping", &joint.damping)?;
        entry.set_item("friction", &joint.friction)?;
        entry.set_item("stiffness", &joint.stiffness)?;
        entry.set_item("rest", &joint.rest)?;
        entry.set_item("position_limits", &joint.position_limits)?;
        entry.set_item("velocity_limit", &joint.velocity_limit)?;
        entry.set_item("effort_limit", &joint.effort_limit)?;
        Ok(entry)
    }

    /// A link's mass distribution, in its frame.
    fn inertia(&self, link: &str) -> PyResult<Inertia> {
        let m = self.mechanism();
        let link = m.link(link).map_err(raised)?;
        Ok(Inertia(m.links()[link.index()].inertia))
    }

    /// The least value of every coordinate of q; −inf where there is no limit, as for quaternions.
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.limits().into_iter().map(|l| l.0).collect())
    }

    /// The greatest value of every coordinate of q; inf where there is no limit, as for quaternions.
    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.limits().into_iter().map(|l| l.1).collect())
    }

    /// The largest speed of every degree of freedom; inf where there is no limit.
    #[getter]
    fn velocity_limit<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_dof(py, f64::INFINITY, |j| &j.velocity_limit)
    }

    /// The largest effort of every degree of freedom; inf where there is no limit.
    #[getter]
    fn effort_limit<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_dof(py, f64::INFINITY, |j| &j.effort_limit)
    }

    /// The rotor inertia, reflected through the gear, of every degree of freedom.
    #[getter]
    fn armature<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_dof(py, 0.0, |j| &j.armature)
    }

    /// The viscous resistance of every degree of freedom.
    #[getter]
    fn damping<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_dof(py, 0.0, |j| &j.damping)
    }

    /// The dry friction of every degree of freedom.
    #[getter]
    fn friction<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.per_dof(py, 0.0, |j| &j.friction)
    }

    /// Whether joints follow others.
    #[getter]
    fn is_coupled(&self) -> bool {
        self.mechanism().is_coupled()
    }

    /// How many loops are closed, by its file or by `Builder.loop`: quantities of closed mechanisms need some.
    #[getter]
    fn loop_count(&self) -> usize {
        self.robot.loops.len()
    }

    /// The names of the constraints that close loops.
    #[getter]
    fn loop_names(&self) -> PyResult<Vec<String>> {
        let closed = self.closed()?;
        Ok(closed.map_or_else(Vec::new, |c| c.constraints().iter().map(|c| c.name.clone()).collect()))
    }

    /// The names of the constraints that are switched off.
    #[getter]
    fn switched_off(&self) -> Vec<String> {
        self.off.clone()
    }

    /// The same with constraints switched on or off, as a rope that is cut: `m.with_switched({"rope": False})`. Quantities of closed
    /// mechanisms, simulations and scenes start from there; rows of constraints that are off hold nothing.
    ///
    /// >>> import linkwork as lw
    /// >>> ball = lw.Builder("ball").link("ball", lw.Inertia.sphere(2.0, 0.1)).joint("free", "free", "world", "ball")
    /// >>> m = ball.loop("rope", "point", "world", "ball").build()
    /// >>> q, still = m.neutral(), [0.0] * 6
    /// >>> held, falls = (x.closed_forward_dynamics(q, still, still)[5] for x in (m, m.with_switched({"rope": False})))
    /// >>> bool(abs(held) < 1e-9), bool(abs(falls + 9.81) < 1e-9)
    /// (True, True)
    fn with_switched(&self, constraints: HashMap<String, bool>) -> PyResult<Self> {
        let Some(closed) = self.closed()? else {
            return Err(Error::new_err(format!(
                "model `{}` has no constraints to switch; add some with `Builder.loop`",
                self.mechanism().name()
            )));
        };
        let mut off = self.off.clone();
        for (name, on) in constraints {
            closed.is_on(&name).map_err(raised)?;
            off.retain(|other| *other != name);
            if !on {
                off.push(name);
            }
        }
        off.sort();
        Ok(Self {
            robot: self.robot.clone(),
            spare: Mutex::default(),
            closed: OnceLock::new(),
            off,
        })
    }

    /// What was found in its file: dictionaries with severity, place, message and advice.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        findings(py, &self.robot.report)
    }

    /// The inertial parameters of all links, ten each: m, m c, and the moments about the link's origin.
    fn inertial_parameters<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.mechanism().inertial_parameters())
    }

    /// The rows and columns of the elements that `mass_matrix_entries` lists, n × 2.
    fn mass_pattern<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let pattern = self.mechanism().mass_pattern();
        let rows: Vec<Vec<i64>> = pattern.iter().map(|&(i, j)| vec![i as i64, j as i64]).collect();
        if rows.is_empty() {
            return Ok(PyArray2::zeros(py, [0, 2], false));
        }
        PyArray2::from_vec2(py, &rows).map_err(|e| Error::new_err(e.to_string()))
    }

    /// The configuration at which every link's frame is its joint's: zeros, and quaternions 0, 0, 0, 1.
    fn neutral<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.mechanism().neutral())
    }

    /// A random configuration within limits, the same for the same seed on every machine; with `count`, so many, of the seeds
    /// that follow.
    ///
    /// >>> import linkwork as lw
    /// >>> lw.Model.example("arm7").random(1, count=1000).shape
    /// (1000, 7)
    #[pyo3(signature = (seed=0, *, count=None))]
    fn random<'py>(&self, py: Python<'py>, seed: u64, count: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
        let m = self.mechanism();
        let Some(count) = count else {
            return Ok(PyArray1::from_vec(py, m.random(seed)).into_any());
        };
        let out = arrays::empty::<f64>(py, &[count, m.nq()])?;
        // SAFETY: nobody else has seen it yet.
        if let Some(numbers) = unsafe { arrays::slice_mut::<f64>(&out) } {
            for (i, q) in numbers.chunks_exact_mut(m.nq().max(1)).enumerate() {
                q.copy_from_slice(&m.random(seed.wrapping_add(i as u64)));
            }
        }
        Ok(out)
    }

    /// The same in another gravity.
    fn with_gravity(&self, gravity: &Bound<'_, PyAny>) -> PyResult<Self> {
        let gravity = arrays::array::<3>("gravity", gravity)?;
        self.edited(self.mechanism().with_gravity(gravity))
    }

    /// Joints made fixed, each at a configuration of its own: `m.lock({"elbow": 0.5})`.
    fn lock(&self, joints: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut all = Vec::new();
        for (name, q) in joints.iter() {
            let name: String = name.extract()?;
            let q = match q.extract::<f64>() {
                Ok(number) => vec![number],
                Err(_) => arrays::vector(&name, &q)?,
            };
            all.push((name, q));
        }
        let all: Vec<(&str, &[f64])> = all.iter().map(|(name, q)| (&**name, &**q)).collect();
        self.edited(self.mechanism().lock(&all))
    }

    /// A link and everything outboard of it as a model of its own; its root is "fixed" to the world, "free", or "kept" on the
    /// joint that held it.
    #[pyo3(signature = (link, base="fixed"))]
    fn extract(&self, link: &str, base: &str) -> PyResult<Self> {
        let base = match base {
            "fixed" => Base::Fixed,
            "free" => Base::Free,
            "kept" => Base::Kept,
            _ => {
                return Err(Error::new_err(format!(
                    "base is {base:?}; it must be \"fixed\", \"free\" or \"kept\""
                )));
            }
        };
        self.edited(self.mechanism().extract(link, base))
    }

    /// Another model welded to a frame, its names with a prefix.
    #[pyo3(signature = (frame, other, prefix=""))]
    fn attach(&self, frame: &str, other: &Self, prefix: &str) -> PyResult<Self> {
        self.edited(self.mechanism().attach(frame, other.mechanism(), prefix))
    }

    /// A body welded to a frame: a link of that name.
    fn add_payload(&self, frame: &str, name: &str, inertia: &Inertia) -> PyResult<Self> {
        self.edited(self.mechanism().add_payload(frame, name, inertia.0))
    }

    /// The same with its base free to move.
    fn with_floating_base(&self) -> PyResult<Self> {
        self.edited(self.mechanism().with_floating_base())
    }

    /// The same with every joint on its own: couplings are dropped.
    fn uncoupled(&self) -> PyResult<Self> {
        self.edited(self.mechanism().uncoupled())
    }

    /// The robot as text in a format: "urdf", "mjcf" or "native", which loses nothing.
    #[pyo3(signature = (format="native"))]
    fn text(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let written = linkwork_formats::write(&self.robot, format_of(format)?);
        Ok(written.map_err(|r| refused(py, &r))?.text)
    }

    /// Writes the robot to a file, in the format that its name tells: .urdf, .xml or .mjcf, .json. What the format cannot say
    /// and is lost is the result, as in `report`.
    fn save<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyList>> {
        let Some(format) = Format::of_name(&path) else {
            let problem = format!(
                "cannot tell the format of {}; name it .urdf, .xml (MJCF) or .json (native)",
                path.display()
            );
            return Err(Error::new_err(problem));
        };
        let written = linkwork_formats::write(&self.robot, format).map_err(|r| refused(py, &r))?;
        std::fs::write(&path, written.text)
            .map_err(|e| Error::new_err(format!("cannot write {}: {e}", path.display())))?;
        findings(py, &written.report)
    }

    fn __repr__(&self) -> String {
        let m = self.mechanism();
        let (links, joints) = (m.links().len(), m.joints().len());
        format!(
            "<Model {:?}: {links} links, {joints} joints, nq = {}, nv = {}>",
            m.name(),
            m.nq(),
            m.nv()
        )
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, Vec<String>))> {
        let restore = py.import("linkwork")?.getattr("_restored")?;
        Ok((restore, (self.text(py, "native")?, self.off.clone())))
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }
}

impl Model {
    /// Lower and upper limits of every coordinate.
    fn limits(&self) -> Vec<(f64, f64)> {
        let none = (f64::NEG_INFINITY, f64::INFINITY);
        let layout = self.mechanism().layout();
        let each = layout.flat_map(|(joint, q, v)| {
            // Limits of spherical and free joints bound their rotation vectors, not their quaternions.
            let given = if q.len() == v.len() {
                &joint.position_limits[..]
            } else {
                &[]
            };
            spread(given, q.len(), none)
        });
        each.collect()
    }
}
