//! Models from scratch.

use crate::arrays;
use crate::errors::{Error, raised};
use crate::inertia::Inertia;
use crate::model::Model;
use linkwork::closed::{ConstraintKind, Side};
use linkwork::model::{Coupling, Joint, JointKind, Link};
use linkwork::spatial::Pose;
use linkwork::spatial::Vec3;
use linkwork_formats::Robot;
use pyo3::prelude::*;

/// Collects links, joints and frames, in any order; `build` checks them and gives the model.
///
/// >>> import linkwork as lw
/// >>> rod = lw.Inertia.rod(1.0, [0, 0, -1])
/// >>> b = lw.Builder("two rods")
/// >>> b = b.link("upper", rod).link("lower", rod)
/// >>> b = b.joint("shoulder", "revolute", "world", "upper", axis=[0, 1, 0])
/// >>> b = b.joint("elbow", "revolute", "upper", "lower", axis=[0, 1, 0], at=[0, 0, -1])
/// >>> b.build().nv
/// 2
#[pyclass(module = "linkwork")]
pub(crate) struct Builder(linkwork::model::Builder, Vec<Loop>);

/// A loop as it was asked for.
struct Loop {
    name: String,
    kind: ConstraintKind,
    side: Side,
    frames: [String; 2],
}

/// One number for all degrees of freedom, or one each.
fn list(argument: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<f64>> {
    match given {
        None => Ok(Vec::new()),
        Some(given) => match given.extract::<f64>() {
            Ok(number) => Ok(vec![number]),
            Err(_) => arrays::vector(argument, given),
        },
    }
}

/// A pair for all coordinates, or one each.
fn pairs(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(f64, f64)>> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    if let Ok(pair) = given.extract::<(f64, f64)>() {
        return Ok(vec![pair]);
    }
    given.extract().map_err(|_| {
        Error::new_err("position_limits must be (lower, upper), or a list of such, one for each coordinate")
    })
}

#[pymethods]
impl Builder {
    #[new]
    #[pyo3(signature = (name, *, gravity=None))]
    fn new(name: &str, gravity: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let builder = linkwork::model::Builder::new(name);
        let builder = match gravity {
            Some(gravity) => builder.gravity(arrays::array::<3>("gravity", gravity)?),
            None => builder,
        };
        Ok(Self(builder, Vec::new()))
    }

    /// What a model was built from, to be changed and built again; its loops are to be closed again.
    #[staticmethod]
    fn of(model: &Model) -> Self {
        Self(model.mechanism().to_builder(), Vec::new())
    }

    /// Adds a link; without inertia it is massless.
    #[pyo3(signature = (name, inertia=None))]
    fn link<'py>(mut this: PyRefMut<'py, Self>, name: &str, inertia: Option<&Inertia>) -> PyRefMut<'py, Self> {
        let inertia = inertia.map_or(linkwork::spatial::Inertia::ZERO, |i| i.0);
        this.0 = this.0.clone().link(Link::new(name, inertia));
        this
    }

    /// Adds a joint; the order of joints is the order of coordinates.
    ///
    /// `kind` is "fixed", "revolute", "continuous", "prismatic", "helical" (with `pitch`), "cylindrical", "universal" (with two
    /// axes), "planar", "translation", "spherical" or "free". `at` is where it is in its parent: three numbers or a pose of 4 × 4.
    #[pyo3(signature = (name, kind, parent, child, *, axis=None, pitch=None, at=None, armature=None, damping=None, friction=None,
        stiffness=None, rest=None, position_limits=None, velocity_limit=None, effort_limit=None))]
    #[allow(clippy::too_many_arguments)]
    fn joint<'py>(
        mut this: PyRefMut<'py, Self>,
        name: &str,
        kind: &str,
        parent: &str,
        child: &str,
        axis: Option<&Bound<'py, PyAny>>,
        pitch: Option<f64>,
        at: Option<&Bound<'py, PyAny>>,
        armature: Option<&Bound<'py, PyAny>>,
        damping: Option<&Bound<'py, PyAny>>,
        friction: Option<&Bound<'py, PyAny>>,
        stiffness: Option<&Bound<'py, PyAny>>,
        rest: Option<&Bound<'py, PyAny>>,
        position_limits: Option<&Bound<'py, PyAny>>,
        velocity_limit: Option<&Bound<'py, PyAny>>,
        effort_limit: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PyRefMut<'py, Self>> {
        let mut joint = Joint::new(name, joint_kind(name, kind, axis, pitch)?).between(parent, child);
        if let Some(at) = at {
            joint = joint.placed(arrays::pose("at", at)?);
        }
        joint.armature = list("armature", armature)?;
        joint.damping = list("damping", damping)?;
        joint.friction = list("friction", friction)?;
        joint.stiffness = list("stiffness", stiffness)?;
        joint.rest = list("rest", rest)?;
        joint.position_limits = pairs(position_limits)?;
        joint.velocity_limit = list("velocity_limit", velocity_limit)?;
        joint.effort_limit = list("effort_limit", effort_limit)?;
        this.0 = this.0.clone().joint(joint);
        Ok(this)
    }

    /// Adds a named frame on a link, or on "world".
    #[pyo3(signature = (name, link, at=None))]
    fn frame<'py>(
        mut this: PyRefMut<'py, Self>,
        name: &str,
        link: &str,
        at: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PyRefMut<'py, Self>> {
        let pose = at.map_or(Ok(Pose::IDENTITY), |at| arrays::pose("at", at))?;
        this.0 = this.0.clone().frame(name, link, pose);
        Ok(this)
    }

    /// Lets a joint follow another: q = c₀ + c₁ y + c₂ y² + …, y being the leader's coordinate.
    fn couple<'py>(
        mut this: PyRefMut<'py, Self>,
        follower: &str,
        leader: &str,
        coefficients: Vec<f64>,
    ) -> PyRefMut<'py, Self> {
        this.0 = this
            .0
            .clone()
            .couple(Coupling::polynomial(follower, leader, coefficients));
        this
    }

    /// Constrains two frames: `kind` is what keeps them together.
    ///
    /// "weld", "point", "hinge" (with `axis`), "slider" (with `axis`) and "distance" (with `length`) close loops. "directions" holds any
    /// of the six relative directions, in the axes of frame a: `turns` and `shifts` are letters of axes, so that `shifts="z"` keeps b in
    /// a plane of a. "rates" holds velocities alone, in the axes of frame b: `shifts="y"` is a blade that does not slip sideways.
    /// "rolling" is a ball of a `radius` whose centre is b, or with `axis` a thin wheel, on the plane z = 0 of a, or that with `normal`.
    /// `side` makes one row hold one way only: "at_least" is a floor or a stop, "at_most" a rope.
    ///
    /// >>> import linkwork as lw
    /// >>> b = lw.Builder("bead on a plane").link("bead", lw.Inertia.sphere(1.0, 0.1))
    /// >>> b = b.joint("free", "free", "world", "bead")
    /// >>> m = b.loop("floor", "directions", "world", "bead", shifts="z", side="at_least").build()
    /// >>> fall = m.simulate([0, 0, 0, 1, 0, 0, 0.5], seconds=1.0)
    /// >>> bool(fall.q[:, 6].min() > -1e-9)
    /// True
    #[pyo3(name = "loop", signature = (name, kind, a, b, *, axis=None, length=None, turns="", shifts="", radius=None, normal=None, side=None))]
    #[allow(clippy::too_many_arguments)]
    fn close<'py>(
        mut this: PyRefMut<'py, Self>,
        name: &str,
        kind: &str,
        a: &str,
        b: &str,
        axis: Option<&Bound<'py, PyAny>>,
        length: Option<f64>,
        turns: &str,
        shifts: &str,
        radius: Option<f64>,
        normal: Option<&Bound<'py, PyAny>>,
        side: Option<&str>,
    ) -> PyResult<PyRefMut<'py, Self>> {
        let wrong = |problem: String| Error::new_err(format!("loop `{name}`: {problem}"));
        let along = || match axis {
            Some(axis) => Ok(arrays::array::<3>("axis", axis)?.into()),
            None => Err(wrong(format!("a {kind} needs an axis; give axis=[x, y, z]"))),
        };
        let held = |argument: &str, letters: &str| match letters.chars().all(|c| "xyz".contains(c)) {
            true => Ok(['x', 'y', 'z'].map(|c| letters.contains(c))),
            false => Err(wrong(format!(
                "{argument} is {letters:?}; give letters of axes, such as \"xy\""
            ))),
        };
        let is_of_rows = matches!(kind, "directions" | "rates");
        if is_of_rows && turns.is_empty() && shifts.is_empty() {
            return Err(wrong(format!(
                "{kind} hold nothing; give turns=\"xyz\" or shifts=\"xyz\", or some of their letters"
            )));
        }
        if !(is_of_rows || turns.is_empty() && shifts.is_empty()) {
            return Err(wrong(format!(
                "a {kind} has no turns or shifts to choose; leave them out, or make it directions"
            )));
        }
        let (turns, shifts) = (held("turns", turns)?, held("shifts", shifts)?);
        let kind = match kind {
            "weld" => ConstraintKind::Weld,
            "point" => ConstraintKind::Point,
            "hinge" => ConstraintKind::Hinge { axis: along()? },
            "slider" => ConstraintKind::Slider { axis: along()? },
            "distance" => ConstraintKind::Distance {
                length: length.ok_or_else(|| wrong("a distance needs a length, in metres".into()))?,
            },
            "directions" => ConstraintKind::Directions { turns, shifts },
            "rates" => ConstraintKind::Rates { turns, shifts },
            "rolling" => ConstraintKind::Rolling {
                radius: radius.ok_or_else(|| wrong("rolling needs a radius, in metres".into()))?,
                axis: axis
                    .map(|axis| arrays::array::<3>("axis", axis))
                    .transpose()?
                    .map(Vec3::from),
                normal: match normal {
                    Some(normal) => arrays::array::<3>("normal", normal)?.into(),
                    None => Vec3::new(0.0, 0.0, 1.0),
                },
            },
            _ => {
                let kinds = "weld, point, hinge, slider, distance, directions, rates and rolling";
                return Err(wrong(format!("{kind:?} is not a kind of loop; there are {kinds}")));
            }
        };
        let side = match side {
            None => Side::Both,
            Some("at_least") => Side::AtLeast,
            Some("at_most") => Side::AtMost,
            Some(side) => {
                return Err(wrong(format!(
                    "side is {side:?}; it must be \"at_least\" or \"at_most\", or None"
                )));
            }
        };
        let frames = [a.to_owned(), b.to_owned()];
        let name = name.to_owned();
        this.1.push(Loop {
            name,
            kind,
            side,
            frames,
        });
        Ok(this)
    }

    /// Accepts every positive rotational inertia, also those that no body has, as identification gives them.
    fn any_positive_inertia(mut this: PyRefMut<'_, Self>) -> PyRefMut<'_, Self> {
        this.0 = this.0.clone().any_positive_inertia();
        this
    }

    /// Checks everything and gives the model.
    fn build(&self) -> PyResult<Model> {
        let mechanism = self.0.clone().build().map_err(raised)?;
        let mut robot = Robot::from(mechanism);
        for closed in &self.1 {
            let end = |name: &String| {
                let m = &robot.mechanism;
                m.frame(name).map_err(raised)?;
                let frame = m.frames().iter().find(|f| f.name == *name);
                Ok::<_, PyErr>(frame.map_or((name.clone(), Pose::IDENTITY), |f| (f.link.clone(), f.pose)))
            };
            let [first, second] = &closed.frames;
            let (first, second) = (end(first)?, end(second)?);
            robot.loops.push(linkwork_formats::Loop {
                name: closed.name.clone(),
                kind: closed.kind,
                side: closed.side,
                first,
                second,
            });
        }
        let model = Model::of(robot);
        model.closed()?;
        Ok(model)
    }
}

fn joint_kind(name: &str, kind: &str, axis: Option<&Bound<'_, PyAny>>, pitch: Option<f64>) -> PyResult<JointKind> {
    let wrong = |problem: String| Error::new_err(format!("joint `{name}`: {problem}"));
    let one = || match axis {
        Some(axis) => Ok(arrays::array::<3>("axis", axis)?.into()),
        None => Err(wrong(format!("a {kind} joint needs an axis; give axis=[x, y, z]"))),
    };
    let takes_axis = [
        "revolute",
        "continuous",
        "prismatic",
        "helical",
        "cylindrical",
        "universal",
    ];
    if axis.is_some() && !takes_axis.contains(&kind) {
        return Err(wrong(format!(
            "a {kind} joint has no axis; turn it by `at`, or leave axis out"
        )));
    }
    if pitch.is_some() && kind != "helical" {
        return Err(wrong(format!(
            "a {kind} joint has no pitch; leave it out, or make it helical"
        )));
    }
    Ok(match kind {
        "fixed" => JointKind::Fixed,
        "revolute" => JointKind::Revolute { axis: one()? },
        "continuous" => JointKind::Continuous { axis: one()? },
        "prismatic" => JointKind::Prismatic { axis: one()? },
        "helical" => JointKind::Helical {
            axis: one()?,
            pitch: pitch.ok_or_else(|| wrong("a helical joint needs a pitch, in metres per radian".into()))?,
        },
        "cylindrical" => JointKind::Cylindrical { axis: one()? },
        "universal" => {
            let axes: Option<[Bound<'_, PyAny>; 2]> = axis.and_then(|axis| axis.extract().ok());
            let [a, b] = axes.ok_or_else(|| wrong("a universal joint needs two axes; give axis=[[…], […]]".into()))?;
            let axes = [arrays::array::<3>("axis[0]", &a)?, arrays::array::<3>("axis[1]", &b)?];
            JointKind::Universal {
                axes: axes.map(Into::into),
            }
        }
        "planar" => JointKind::Planar,
        "translation" => JointKind::Translation,
        "spherical" => JointKind::Spherical,
        "free" => JointKind::Free,
        _ => {
            return Err(wrong(format!(
                "{kind:?} is not a kind of joint; there are fixed, revolute, continuous, prismatic, helical, cylindrical, universal, \
                 planar, translation, spherical and free"
            )));
        }
    })
}
