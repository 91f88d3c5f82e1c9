//! Contact: a robot among things it touches.

use crate::arrays::{array, flat, pose, slice_mut, vector};
use crate::errors::{Error, raised};
use crate::evaluate::locked;
use crate::model::Model;
use crate::pool;
use linkwork::Mechanism;
use linkwork::closed::{ClosedMechanism, ConstraintTarget};
use linkwork::contact::{Change, Contact, Friction, Region, Settings, StepReport, Stepper, Surface};
use linkwork::motion::Clearance;
use linkwork::spatial::{Force, Motion, Pose, Vec3};
use linkwork_formats::Robot;
use linkwork_scene::{ClosedForm, Collider, ColliderShape, Ground, Worlds, colliders};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::sync::Mutex;

/// A shape as Python's dataclass has it.
#[derive(FromPyObject)]
struct Given<'py> {
    kind: String,
    link: String,
    size: Vec<f64>,
    at: Option<Bound<'py, PyAny>>,
    friction: f64,
    restitution: f64,
    name: Option<String>,
}

impl Given<'_> {
    fn collider(&self, m: &Mechanism) -> PyResult<Collider> {
        let shape = match (&*self.kind, &self.size[..]) {
            ("sphere", &[radius]) => ColliderShape::Sphere { radius },
            ("capsule", &[radius, length]) => ColliderShape::Capsule {
                radius,
                half: 0.5 * length,
            },
            ("cylinder", &[radius, length]) => ColliderShape::Cylinder {
                radius,
                half: 0.5 * length,
            },
            ("box", &[x, y, z]) => ColliderShape::Cuboid {
                half: Vec3::new(x, y, z) * 0.5,
            },
            ("ellipsoid", &[x, y, z]) => ColliderShape::Ellipsoid {
                radii: Vec3::new(x, y, z),
            },
            ("plane", &[]) => ColliderShape::Plane,
            (kind, size) => {
                return Err(Error::new_err(format!(
                    "there is no shape of kind {kind:?} and size {size:?}; make shapes by `Shape.sphere` and the like"
                )));
            }
        };
        shape.check().map_err(raised)?;
        let mut collider = Collider::on(m.frame(&self.link).map_err(raised)?, shape);
        collider.pose = self.at.as_ref().map_or(Ok(Pose::IDENTITY), |at| pose("at", at))?;
        collider.name = match &self.name {
            Some(name) => name.clone(),
            None => format!("{} of {}", self.kind, self.link),
        };
        collider.matter.surface.friction = self.friction;
        collider.matter.surface.restitution = self.restitution;
        Ok(collider)
    }
}

/// A scene that remembers how contacts were strained, for steps one after another.
struct Room {
    scene: linkwork_scene::Scene,
    stepper: Stepper,
}

/// A robot among what it touches: its collision shapes, others, and the ground. Steps in time obey Coulomb's law of friction.
#[pyclass(frozen, module = "linkwork", subclass)]
pub(crate) struct _Scene {
    model: Py<Model>,
    /// Its mechanism with loops, if it has some.
    closed: Option<ClosedMechanism>,
    scene: linkwork_scene::Scene,
    settings: Settings,
    notes: Vec<String>,
    room: Mutex<Room>,
}

/// Three numbers each, one after another.
fn three<'py>(py: Python<'py>, list: impl Iterator<Item = Vec3>) -> PyResult<Bound<'py, PyAny>> {
    let numbers: Vec<f64> = list.flat_map(|x| x.to_array()).collect();
    PyArray1::from_vec(py, numbers).call_method1("reshape", ((-1, 3),))
}

impl _Scene {
    /// What inverse kinematics keeps clear of.
    pub(crate) fn shapes(&self) -> Box<dyn Clearance> {
        Box::new(self.scene.clone())
    }

    fn names(&self, id: u64) -> (String, String) {
        let pair = self.scene.colliders_of(id);
        pair.map_or_else(Default::default, |[a, b]| (a.name.clone(), b.name.clone()))
    }

    /// A stepper that remembers no contacts, with constraints as they are switched.
    fn stepper(&self) -> Stepper {
        let mut stepper = locked(&self.room).stepper.clone();
        stepper.forget();
        stepper
    }

    /// What constraints did: names, gaps before the step, and wrenches [N; F] on frames a and b.
    fn loops<'py>(&self, py: Python<'py>, report: &StepReport) -> PyResult<Bound<'py, PyDict>> {
        let (all, entry) = (&report.loops, PyDict::new(py));
        let dt = self.settings.step;
        let constraints = self.closed.as_ref().map_or(&[][..], ClosedMechanism::constraints);
        let names: Vec<&str> = all.iter().map(|l| &*constraints[l.constraint].name).collect();
        entry.set_item("names", names)?;
        entry.set_item("gaps", PyArray1::from_vec(py, all.iter().map(|l| l.gap).collect()))?;
        for (side, word) in ["on_a", "on_b"].into_iter().enumerate() {
            let force = |impulse: Force| impulse.to_array().map(|x| x / dt);
            let numbers: Vec<f64> = all.iter().flat_map(|l| force(l.ends[side].impulse)).collect();
            let array = PyArray1::from_vec(py, numbers).call_method1("reshape", ((-1, 6),))?;
            entry.set_item(word, array)?;
        }
        Ok(entry)
    }

    fn forces<'py>(&self, py: Python<'py>, report: &StepReport) -> PyResult<Bound<'py, PyDict>> {
        let (all, dt) = (&report.contacts, self.settings.step);
        let entry = PyDict::new(py);
        let names: Vec<_> = all.iter().map(|c| self.names(c.id)).collect();
        entry.set_item("names", names)?;
        entry.set_item("points", three(py, all.iter().map(|c| c.point))?)?;
        entry.set_item("normals", three(py, all.iter().map(|c| c.normal))?)?;
        entry.set_item("gaps", PyArray1::from_vec(py, all.iter().map(|c| c.gap).collect()))?;
        entry.set_item("forces", three(py, all.iter().map(|c| c.force(dt)))?)?;
        entry.set_item("moments", three(py, all.iter().map(|c| c.moment * dt.recip()))?)?;
        entry.set_item("velocities", three(py, all.iter().map(|c| c.velocity))?)?;
        let word = |c: Region| match c {
            Region::Apart => "apart",
            Region::Sticking => "sticking",
            Region::Sliding => "sliding",
        };
        let doing: Vec<_> = all.iter().map(|c| word(c.region)).collect();
        entry.set_item("doing", doing)?;
        Ok(entry)
    }
}

#[pymethods]
impl _Scene {
    #[new]
    #[pyo3(signature = (model, shapes, ground, friction, restitution, dt, law, options))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        model: &Bound<'_, Model>,
        shapes: Vec<Given<'_>>,
        ground: Option<f64>,
        friction: f64,
        restitution: f64,
        dt: f64,
        law: &str,
        options: [bool; 5],
    ) -> PyResult<Self> {
        let closed = model.get().closed()?.cloned();
        // Frames are those of the mechanism that is stepped.
        let robot = &match &closed {
            Some(closed) => Robot {
                mechanism: closed.mechanism().clone(),
                ..(*model.get().robot).clone()
            },
            None => (*model.get().robot).clone(),
        };
        let (mut all, mut present, notes) = colliders(robot).map_err(raised)?;
        for shape in &shapes {
            let collider = shape.collider(&robot.mechanism)?;
            if collider.shape == ColliderShape::Plane {
                present = Ground::Present;
            }
            all.push(collider);
        }
        if let (Some(height), Ground::Missing) = (ground, present) {
            let surface = Surface {
                friction,
                restitution,
                ..Surface::default()
            };
            all.push(Collider::ground(Pose::from_translation([0.0, 0.0, height]), surface));
        }
        let mut settings = Settings::new(dt);
        settings.friction = match law {
            "coulomb" => Friction::Coulomb,
            "convex" => Friction::Convex,
            _ => {
                return Err(Error::new_err(format!(
                    "law is {law:?}; it must be \"coulomb\" or \"convex\""
                )));
            }
        };
        let [gyroscopic, memory, passive, joint_limits, joint_friction] = options;
        (settings.gyroscopic, settings.memory, settings.passive) = (gyroscopic, memory, passive);
        (settings.joint_limits, settings.joint_friction) = (joint_limits, joint_friction);
        let m = &robot.mechanism;
        let scene = linkwork_scene::Scene::with(m, all, &robot.untouching, Box::new(ClosedForm)).map_err(raised)?;
        let stepper = match &closed {
            Some(closed) => Stepper::closed(closed, settings),
            None => Stepper::new(m, settings),
        };
        let stepper = stepper.map_err(raised)?;
        Ok(Self {
            model: model.clone().unbind(),
            closed,
            room: Mutex::new(Room {
                scene: scene.clone(),
                stepper,
            }),
            scene,
            settings,
            notes,
        })
    }

    /// The robot.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// The length of a step, in s.
    #[getter]
    fn dt(&self) -> f64 {
        self.settings.step
    }

    /// The names of its shapes.
    #[getter]
    fn shape_names(&self) -> Vec<&str> {
        self.scene.colliders().iter().map(|c| &*c.name).collect()
    }

    /// How many pairs of shapes are looked at.
    #[getter]
    fn pair_count(&self) -> usize {
        self.scene.pairs()
    }

    /// What was left out or taken otherwise than written, in a sentence each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The names of the model's constraints.
    #[getter]
    fn loop_names(&self) -> Vec<&str> {
        let constraints = self.closed.as_ref().map_or(&[][..], ClosedMechanism::constraints);
        constraints.iter().map(|c| &*c.name).collect()
    }

    /// Switches a constraint on or off from the next step on, for rollouts and derivatives too. One that is switched on where it is
    /// open closes within some hundredths of a second.
    fn switch(&self, constraint: &str, on: bool) -> PyResult<()> {
        locked(&self.room).stepper.switch(constraint, on).map_err(raised)
    }

    /// Sets where a constraint holds its second frame against the first, from the next step on: a shift or pose, and how it moves, six
    /// numbers [angular; linear] each; None for the first frame itself.
    #[pyo3(signature = (constraint, at=None, velocity=None, acceleration=None))]
    fn prescribe(
        &self,
        constraint: &str,
        at: Option<&Bound<'_, PyAny>>,
        velocity: Option<&Bound<'_, PyAny>>,
        acceleration: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let motion = |argument: &str, given: Option<&Bound<'_, PyAny>>| -> PyResult<Motion> {
            given.map_or(Ok(Motion::ZERO), |given| {
                Ok(Motion::from_array(array::<6>(argument, given)?))
            })
        };
        let target = match at {
            None => None,
            Some(at) => Some(ConstraintTarget {
                pose: pose("at", at)?,
                velocity: motion("velocity", velocity)?,
                acceleration: motion("acceleration", acceleration)?,
            }),
        };
        locked(&self.room).stepper.prescribe(constraint, target).map_err(raised)
    }

    /// Forgets how contacts were strained, as before another motion.
    fn forget(&self) {
        locked(&self.room).stepper.forget();
    }

    /// Moves a configuration out of what it is inside of, by as little as the masses say.
    fn settled<'py>(&self, py: Python<'py>, q: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut q = vector("q", q)?;
        let mut scene = self.scene.clone();
        py.detach(|| scene.settle_closed(&mut q, self.closed.as_ref()))
            .map_err(raised)?;
        Ok(PyArray1::from_vec(py, q))
    }

    /// The contacts at a state that might close within a step: names, points, normals and gaps.
    fn _contacts<'py>(&self, py: Python<'py>, q: Vec<f64>, v: Vec<f64>) -> PyResult<Bound<'py, PyDict>> {
        let mut room = locked(&self.room);
        let found: Vec<Contact> = room
            .scene
            .contacts(&q, &v, self.settings.step)
            .map_err(raised)?
            .to_vec();
        let entry = PyDict::new(py);
        let names: Vec<_> = found.iter().map(|c| self.names(c.id)).collect();
        entry.set_item("names", names)?;
        entry.set_item("points", three(py, found.iter().map(|c| c.point))?)?;
        entry.set_item("normals", three(py, found.iter().map(|c| c.normal))?)?;
        entry.set_item("gaps", PyArray1::from_vec(py, found.iter().map(|c| c.gap).collect()))?;
        Ok(entry)
    }

    /// One step: q, q̇, what contacts and constraints did, whether it settled, and iterations.
    #[allow(clippy::type_complexity)]
    fn _step<'py>(
        &self,
        py: Python<'py>,
        mut q: Vec<f64>,
        mut v: Vec<f64>,
        tau: Vec<f64>,
    ) -> PyResult<(
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyDict>,
        Bound<'py, PyDict>,
        bool,
        usize,
    )> {
        let mut room = locked(&self.room);
        let Room { scene, stepper } = &mut *room;
        let contacts = scene.contacts(&q, &v, self.settings.step).map_err(raised)?;
        let report = stepper.step(&mut q, &mut v, &tau, contacts).map_err(raised)?;
        let (forces, loops) = (self.forces(py, report)?, self.loops(py, report)?);
        let (settled, iterations) = (report.settled, report.iterations);
        Ok((
            PyArray1::from_vec(py, q),
            PyArray1::from_vec(py, v),
            forces,
            loops,
            settled,
            iterations,
        ))
    }

    /// Rolls worlds forward: per world the deepest penetration, and the steps that did not settle or in which something was crossed.
    #[allow(clippy::type_complexity, clippy::too_many_arguments)]
    fn _rollout<'py>(
        &self,
        py: Python<'py>,
        steps: usize,
        q: &Bound<'_, PyAny>,
        qd: &Bound<'_, PyAny>,
        tau: Option<&Bound<'_, PyAny>>,
        q_out: &Bound<'_, PyAny>,
        qd_out: &Bound<'_, PyAny>,
    ) -> PyResult<(
        Bound<'py, PyArray1<f64>>,
        Bound<'py, PyArray1<i64>>,
        Bound<'py, PyArray1<i64>>,
    )> {
        let plain = || Error::new_err("arrays must be plain ones of float64");
        // SAFETY: nobody else writes to inputs meanwhile, and results were just made.
        let (q, qd, tau, q_out, qd_out) = unsafe {
            (
                flat::<f64>(q).ok_or_else(plain)?,
                flat::<f64>(qd).ok_or_else(plain)?,
                tau.map(|x| flat::<f64>(x).ok_or_else(plain)).transpose()?,
                slice_mut::<f64>(q_out).ok_or_else(plain)?,
                slice_mut::<f64>(qd_out).ok_or_else(plain)?,
            )
        };
        let worlds = q.len().checked_div(self.scene.mechanism().nq()).unwrap_or(0);
        let threads = pool::pool(py)?.current_num_threads().min(worlds);
        let stepper = self.stepper();
        let fared = py.detach(|| Worlds::of(&self.scene, &stepper, threads).rollout(q, qd, tau, steps, q_out, qd_out));
        let fared = fared.map_err(raised)?;
        Ok((
            PyArray1::from_vec(py, fared.iter().map(|f| f.deepest).collect()),
            PyArray1::from_vec(py, fared.iter().map(|f| f.unsettled as i64).collect()),
            PyArray1::from_vec(py, fared.iter().map(|f| f.crossed as i64).collect()),
        ))
    }

    /// Derivatives of v⁺ at states one after another: "matrices" (3 nv² numbers), "jvp" for changes of q, q̇ and T (3 nv in, nv out) or
    /// "vjp" (nv in, 3 nv out). v⁺ itself is written too.
    fn _derivatives(
        &self,
        py: Python<'_>,
        what: &str,
        inputs: Vec<Bound<'_, PyAny>>,
        plus: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let plain = || Error::new_err("arrays must be plain ones of float64");
        // SAFETY: nobody else writes to inputs meanwhile, and results were just made.
        let (inputs, plus, out) = unsafe {
            let inputs: Option<Vec<&[f64]>> = inputs.iter().map(|x| flat::<f64>(x)).collect();
            (
                inputs.ok_or_else(plain)?,
                slice_mut::<f64>(plus).ok_or_else(plain)?,
                slice_mut::<f64>(out).ok_or_else(plain)?,
            )
        };
        let (nq, nv) = (self.scene.mechanism().nq(), self.scene.mechanism().nv());
        let count = inputs[0].len().checked_div(nq).unwrap_or(0);
        let (taken, given) = match what {
            "matrices" => (0, 3 * nv * nv),
            "jvp" => (3 * nv, nv),
            _ => (nv, 3 * nv),
        };
        let (x, dt) = (inputs.get(3).copied().unwrap_or(&[]), self.settings.step);
        let sizes = [inputs[1].len(), inputs[2].len(), plus.len(), x.len(), out.len()];
        if count * nv == 0 {
            return Ok(());
        }
        if sizes != [nv * count, nv * count, nv * count, taken * count, given * count] {
            return Err(plain());
        }
        let stepper = self.stepper();
        let one = |(scene, stepper): &mut (linkwork_scene::Scene, Stepper),
                   (i, (plus, out)): (usize, (&mut [f64], &mut [f64]))|
         -> linkwork::Result<()> {
            let at = |all: &'_ [f64], n: usize| all[n * i..n * (i + 1)].to_vec();
            let (q, v, tau, x) = (at(inputs[0], nq), at(inputs[1], nv), at(inputs[2], nv), at(x, taken));
            let contacts = scene.contacts(&q, &v, dt)?.to_vec();
            let meetings = scene.meetings(&contacts)?;
            stepper.forget();
            let mut derivatives = stepper.derivatives(&q, &v, &tau, &contacts, &meetings)?;
            plus.copy_from_slice(derivatives.velocity());
            match what {
                "matrices" => {
                    let (by_q, rest) = out.split_at_mut(nv * nv);
                    let (by_v, by_torque) = rest.split_at_mut(nv * nv);
                    derivatives.matrices(by_q, by_v, by_torque)
                }
                "jvp" => {
                    let change = Change {
                        q: Some(&x[..nv]),
                        v: Some(&x[nv..2 * nv]),
                        torque: Some(&x[2 * nv..]),
                        ..Change::default()
                    };
                    derivatives.change(&change, out)
                }
                _ => {
                    let gradient = derivatives.adjoint(&x)?;
                    out[..nv].copy_from_slice(&gradient.q);
                    out[nv..2 * nv].copy_from_slice(&gradient.v);
                    out[2 * nv..].copy_from_slice(&gradient.torque);
                    Ok(())
                }
            }
        };
        let pool = pool::pool(py)?;
        let done = py.detach(|| {
            pool.install(|| {
                let jobs = plus.par_chunks_mut(nv).zip(out.par_chunks_mut(given)).enumerate();
                jobs.map_init(|| (self.scene.clone(), stepper.clone()), one)
                    .collect::<linkwork::Result<()>>()
            })
        });
        done.map_err(raised)
    }
}
