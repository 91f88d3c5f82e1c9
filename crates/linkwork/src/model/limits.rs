//! Limits, efforts and names in the order of coordinates, and models changed by name.

use super::builder::per_dof;
use super::{Joint, Mechanism};
use crate::spatial::Inertia;
use crate::{Error, Result};

/// A lower and an upper bound for every coordinate; infinity where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// The least values.
    pub lower: Vec<f64>,
    /// The greatest values.
    pub upper: Vec<f64>,
}

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Mechanism {
    /// The position limits, nq numbers each: where a joint's coordinates are plain numbers, its limits, narrowed by those of
    /// joints that follow it by a ratio. Coordinates of planar, spherical and free joints have none here.
    ///
    /// ```
    /// let arm = linkwork::model::examples::arm7();
    /// let bounds = arm.position_bounds();
    /// assert!(bounds.lower.iter().zip(&bounds.upper).all(|(a, b)| a < b));
    /// ```
    #[doc(alias = "joint limits")]
    pub fn position_bounds(&self) -> Bounds {
        let mut bounds = Bounds {
            lower: vec![FREE.0; self.nq()],
            upper: vec![FREE.1; self.nq()],
        };
        let mut narrow = |at: usize, (lower, upper): (f64, f64)| {
            bounds.lower[at] = bounds.lower[at].max(lower);
            bounds.upper[at] = bounds.upper[at].min(upper);
        };
        for (j, joint) in self
            .joints()
            .iter()
            .enumerate()
            .filter(|(_, joint)| !joint.kind.is_curved())
        {
            let limits = per_dof(&joint.position_limits, joint.kind.nv(), FREE);
            match &self.leads[j] {
                None => self.q_of(j).zip(limits).for_each(|(at, limits)| narrow(at, limits)),
                Some(lead) if !lead.is_curved() => {
                    let [offset, ratio, ..] = lead.at(0.0);
                    if ratio != 0.0 {
                        let ends = [(limits[0].0 - offset) / ratio, (limits[0].1 - offset) / ratio];
                        narrow(
                            self.q_of(lead.joint).start,
                            (ends[0].min(ends[1]), ends[0].max(ends[1])),
                        );
                    }
                }
                Some(_) => {}
            }
        }
        bounds
    }

    /// The velocity limits of the joints, nv numbers; infinity where there is none.
    pub fn velocity_limits(&self) -> Vec<f64> {
        self.limits_of(|joint| &joint.velocity_limit)
    }

    /// The effort limits of the joints, nv numbers in N m or N; infinity where there is none.
    #[doc(alias = "torque limits")]
    pub fn effort_limits(&self) -> Vec<f64> {
        self.limits_of(|joint| &joint.effort_limit)
    }

    fn limits_of(&self, list: impl Fn(&Joint) -> &[f64]) -> Vec<f64> {
        let mut out = vec![f64::INFINITY; self.nv()];
        for (joint, _, v) in self.layout() {
            let own = per_dof(list(joint), v.len(), f64::INFINITY);
            out[v].iter_mut().zip(own).for_each(|(limit, x)| *limit = x);
        }
        out
    }

    /// A name for every number of q: the joint's, and `name[i]` where it has several.
    pub fn position_names(&self) -> Vec<String> {
        self.layout()
            .flat_map(|(joint, q, _)| numbered(&joint.name, q.len()))
            .collect()
    }

    /// A name for every number of v, and so of q̈ and of the torques.
    pub fn velocity_names(&self) -> Vec<String> {
        self.layout()
            .flat_map(|(joint, _, v)| numbered(&joint.name, v.len()))
            .collect()
    }

    /// Brings a configuration within [`Mechanism::position_bounds`], and ball joints within the limits of their angles; whether anything changed. Where bounds leave nothing,
    /// the coordinate stays as it is.
    pub fn clamp(&self, q: &mut [f64]) -> Result<bool> {
        self.check_configuration("q", q)?;
        let Bounds { lower, upper } = self.position_bounds();
        let mut changed = false;
        for (q, (lower, upper)) in q.iter_mut().zip(lower.into_iter().zip(upper)) {
            let within = if lower <= upper { q.clamp(lower, upper) } else { *q };
            changed |= within != *q;
            *q = within;
        }
        changed |= self.turn_back(q);
        Ok(changed)
    }

    /// The same with another inertia of a link.
    ///
    /// ```
    /// use linkwork::spatial::Inertia;
    /// let arm = linkwork::model::examples::arm7();
    /// let loaded = arm.with_inertia("link7", Inertia::sphere(3.0, 0.05))?;
    /// assert!(loaded.gravity_torque(&[0.5; 7])? != arm.gravity_torque(&[0.5; 7])?);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn with_inertia(&self, link: &str, inertia: Inertia) -> Result<Self> {
        let index = self.link(link)?.index();
        let mut given = self.to_builder();
        given.links[index].inertia = inertia;
        given.build()
    }

    /// The same with a joint changed: its damping, limits, armature, springs or anything but its name.
    ///
    /// ```
    /// let arm = linkwork::model::examples::arm7();
    /// let name = &arm.position_names()[3];
    /// let sticky = arm.with_joint(name, |joint| joint.damping(0.5).position_limits(-1.0, 1.0))?;
    /// assert_eq!(sticky.position_bounds().upper[3], 1.0);
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn with_joint(&self, name: &str, change: impl FnOnce(Joint) -> Joint) -> Result<Self> {
        let index = self.joint(name)?.index();
        let mut given = self.to_builder();
        let changed = change(given.joints[index].clone());
        if changed.name != name {
            return Err(Error::Joint {
                joint: name.to_owned(),
                problem: format!("it would be called `{}`; leave its name as it is", changed.name),
            });
        }
        given.joints[index] = changed;
        given.build()
    }
}

fn numbered(name: &str, n: usize) -> impl Iterator<Item = String> + use<'_> {
    (0..n).map(move |i| {
        if n == 1 {
            name.to_owned()
        } else {
            format!("{name}[{i}]")
        }
    })
}
