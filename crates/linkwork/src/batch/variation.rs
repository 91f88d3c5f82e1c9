//! Models of one tree that differ in some of their numbers.

use super::{Models, Real};
use crate::dynamics::linearized::regressor::PARAMETERS;
use crate::model::Mechanism;
use crate::spatial::{Inertia, Vec3};
use crate::{Error, Result};
use core::ops::Range;
use rayon::prelude::*;

/// The numbers in which models of one tree differ: of each kind those of the first model, then those of the second. What is left
/// out is the tree's own.
///
/// ```
/// use linkwork::batch::{Models, Variation};
/// let arm = linkwork::model::examples::arm7();
/// let gravity: Vec<f64> = (0..100).flat_map(|i| [0.0, 0.0, -9.0 - 0.01 * i as f64]).collect();
/// let variation = Variation { gravity: Some(&gravity), ..Variation::default() };
/// let models = Models::<f64>::varied(&arm, &variation, 100)?;
/// assert_eq!(models.len(), 100);
/// assert_eq!(variation.model(&arm, 50)?.gravity().z, -9.5);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Variation<'a> {
    /// The mass of every link, in kg; its moments of inertia change in proportion.
    pub mass: Option<&'a [f64]>,
    /// Ten parameters of every link, as [`Mechanism::inertial_parameters`] lists them; not beside masses.
    pub inertia: Option<&'a [f64]>,
    /// Where every joint is in its parent, fixed ones included: three numbers each, in m.
    pub origin: Option<&'a [f64]>,
    /// The rotor inertia of every degree of freedom.
    pub armature: Option<&'a [f64]>,
    /// The damping of every degree of freedom.
    pub damping: Option<&'a [f64]>,
    /// The acceleration of free fall in the world's axes.
    pub gravity: Option<&'a [f64]>,
}

impl<'a> Variation<'a> {
    /// What may vary, by name.
    pub const NAMES: [&'static str; 6] = ["mass", "inertia", "origin", "armature", "damping", "gravity"];

    /// From lists in the order of the names.
    pub fn of([mass, inertia, origin, armature, damping, gravity]: [Option<&'a [f64]>; 6]) -> Self {
        Self {
            mass,
            inertia,
            origin,
            armature,
            damping,
            gravity,
        }
    }

    /// The lists in the order of the names.
    pub fn lists(&self) -> [Option<&'a [f64]>; 6] {
        [
            self.mass,
            self.inertia,
            self.origin,
            self.armature,
            self.damping,
            self.gravity,
        ]
    }

    /// How many numbers of each kind a model of a tree has, in the order of the names.
    pub fn lengths(tree: &Mechanism) -> [usize; 6] {
        let (links, joints, nv) = (tree.links().len(), tree.joints().len(), tree.nv());
        [links, PARAMETERS * links, 3 * joints, nv, nv, 3]
    }

    /// The tree's own numbers of each kind, in the order of the names.
    pub fn own(tree: &Mechanism) -> [Vec<f64>; 6] {
        let per_dof = |list: fn(&crate::model::Joint) -> &[f64]| {
            let all = tree.layout().flat_map(|(joint, _, v)| {
                let given = list(joint);
                (0..v.len()).map(|i| given.get(i).or(given.first()).copied().unwrap_or(0.0))
            });
            all.collect()
        };
        [
            tree.links().iter().map(|l| l.inertia.mass).collect(),
            tree.inertial_parameters(),
            tree.joints()
                .iter()
                .flat_map(|j| j.origin.translation.to_array())
                .collect(),
            per_dof(|j| &j.armature),
            per_dof(|j| &j.damping),
            tree.gravity().to_array().to_vec(),
        ]
    }

    /// An error unless each kind has the numbers of so many models.
    pub fn check(&self, tree: &Mechanism, models: usize) -> Result<()> {
        let all = Self::NAMES.into_iter().zip(self.lists()).zip(Self::lengths(tree));
        for ((argument, list), each) in all {
            let needed = each.saturating_mul(models);
            match list {
                Some(list) if list.len() != needed => {
                    let given = list.len();
                    return Err(Error::Length {
                        argument,
                        needed,
                        given,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// One of the models.
    pub fn model(&self, tree: &Mechanism, index: usize) -> Result<Mechanism> {
        let [mass, inertia, origin, armature, damping, gravity] = Self::lengths(tree);
        let part = |list: Option<&'a [f64]>, each: usize| list.and_then(|l| l.get(index * each..(index + 1) * each));
        let refused = |problem: String| Error::Models { model: index, problem };
        let mut given = tree.to_builder();
        if let (Some(_), Some(_)) = (self.mass, self.inertia) {
            return Err(refused(
                "masses are in its inertial parameters; give one of the two".into(),
            ));
        }
        for (link, wanted) in given.links.iter_mut().zip(part(self.mass, mass).unwrap_or(&[])) {
            let old = link.inertia;
            if old.mass == 0.0 && *wanted != 0.0 {
                let problem = format!("link `{}` has no mass to change; give its inertia", link.name);
                return Err(refused(problem));
            }
            let scale = if old.mass == 0.0 { 1.0 } else { wanted / old.mass };
            link.inertia = Inertia::new(*wanted, old.com, old.moments.map(|x| x * scale));
        }
        let bodies = part(self.inertia, inertia).unwrap_or(&[]).chunks_exact(PARAMETERS);
        for (link, parameters) in given.links.iter_mut().zip(bodies) {
            link.inertia = about_centre(parameters);
        }
        let places = part(self.origin, origin).unwrap_or(&[]).chunks_exact(3);
        for (joint, place) in given.joints.iter_mut().zip(places) {
            joint.origin.translation = Vec3::new(place[0], place[1], place[2]);
        }
        let dofs: Vec<Range<usize>> = tree.layout().map(|(_, _, v)| v).collect();
        let dofs = |list: &[f64]| dofs.iter().map(|v| list[v.clone()].to_vec()).collect::<Vec<_>>();
        if let Some(list) = part(self.armature, armature) {
            for (joint, own) in given.joints.iter_mut().zip(dofs(list)) {
                joint.armature = own;
            }
        }
        if let Some(list) = part(self.damping, damping) {
            for (joint, own) in given.joints.iter_mut().zip(dofs(list)) {
                joint.damping = own;
            }
        }
        if let Some(&[x, y, z]) = part(self.gravity, gravity) {
            given.gravity = Vec3::new(x, y, z);
        }
        given.build().map_err(|problem| refused(problem.to_string()))
    }
}

/// The inertia of ten parameters: m, m c and the moments about the link's origin.
fn about_centre(parameters: &[f64]) -> Inertia {
    let [mass, x, y, z, xx, xy, xz, yy, yz, zz] = core::array::from_fn(|i| parameters[i]);
    if mass == 0.0 {
        return Inertia::new(mass, Vec3::ZERO, [xx, xy, xz, yy, yz, zz]);
    }
    let c @ [a, b, d] = [x / mass, y / mass, z / mass];
    // J − m(c·c I − c c*).
    let about = [
        xx - mass * (b * b + d * d),
        xy + mass * a * b,
        xz + mass * a * d,
        yy - mass * (a * a + d * d),
        yz + mass * b * d,
        zz - mass * (a * a + b * b),
    ];
    Inertia::new(mass, c, about)
}

/// So many models are made before their numbers are taken.
const AT_ONCE: usize = 1024;

impl<T: Real> Models<T> {
    /// So many models of a tree that differ in given numbers.
    pub fn varied(tree: &Mechanism, variation: &Variation<'_>, models: usize) -> Result<Self> {
        variation.check(tree, models)?;
        let mut all = Self::new(tree)?;
        for first in (0..models).step_by(AT_ONCE) {
            let made = first..models.min(first + AT_ONCE);
            let made: Vec<Result<Mechanism>> = made.into_par_iter().map(|i| variation.model(tree, i)).collect();
            for model in made {
                all.push(&model?)?;
            }
        }
        Ok(all)
    }
}
