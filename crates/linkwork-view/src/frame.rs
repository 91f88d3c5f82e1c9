//! A moment of a motion as bytes: numbers of a state, poses of links, and what was asked for beside them.
//!
//! Little-endian sections, one after another: a tag and a length in bytes as 32-bit numbers, then numbers, padded to eight
//! bytes.
//!
//! | tag | numbers |
//! |---|---|
//! | 1 | `f64`: t, kinetic and potential energy, q, v, T, and where they exist ν and ε |
//! | 2 | `f32`: x, y, z, qx, qy, qz, qw of each link in the world |
//! | 3 | `f32`: forces from outside and at contacts, each its kind (0 a pull, 1 a contact), a point and a force |
//! | 4 | `f32`: of each link, the masses it shows along three axes when all outboard of it is free, the quaternion of these, and its centre of mass |
//! | 5 | `f32`: the number of a link, then the same ten numbers of its operational-space inertia |
//! | 6 | `f64`: coordinates of all joints, followers included |

use crate::scene::pose_of;
use linkwork::spatial::{Inertia, Rotation, Vec3};
use linkwork::workspace::{Configured, Scaling};
use linkwork::{Error, Mechanism, Reference, Result, Workspace};

/// A force from outside, or at a contact, along the world's axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// What it is.
    pub kind: ArrowKind,
    /// Where it acts, in the world.
    pub point: Vec3,
    /// In newtons.
    pub force: Vec3,
}

impl Arrow {
    /// Its kind, point and force, as pages get them.
    pub(crate) fn numbers(&self) -> [f32; 7] {
        let ([x, y, z], [u, v, w]) = (self.point.to_array(), self.force.to_array());
        [f64::from(self.kind as u8), x, y, z, u, v, w].map(|x| x as f32)
    }
}

/// What a force is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrowKind {
    /// Somebody drags a link.
    Pull = 0,
    /// Bodies touch.
    Contact = 1,
}

/// What to send beside states and poses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shown {
    /// Articulated inertias of all links.
    pub articulated: bool,
    /// A link whose operational-space inertia is wanted.
    pub operational: Option<usize>,
}

/// A state to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Time.
    pub t: f64,
    /// Configuration.
    pub q: &'a [f64],
    /// Velocity.
    pub v: &'a [f64],
    /// Torques; without them, those that hold the robot where it is.
    pub tau: Option<&'a [f64]>,
    /// Forces.
    pub arrows: &'a [Arrow],
}

/// Works frames out, each from nothing but its state.
#[derive(Debug)]
pub struct Framer {
    workspace: Workspace,
    mechanism: Mechanism,
    total: bool,
    tau: Vec<f64>,
    room: Vec<f64>,
}

/// The heaviest that a link may look, where it cannot move at all.
const HEAVIEST: f64 = 1e6;

impl Framer {
    /// For a mechanism.
    pub fn new(mechanism: &Mechanism) -> Self {
        let zero = vec![0.0; mechanism.nv()];
        let mut framer = Self {
            workspace: mechanism.workspace(),
            mechanism: mechanism.clone(),
            total: false,
            tau: zero.clone(),
            room: zero.clone(),
        };
        let tried = framer.workspace.at(&mechanism.neutral()).and_then(|mut posed| {
            let mut moving = posed.moving(&zero)?;
            moving.total_rates(Scaling::Normalized, &zero, &mut framer.room)
        });
        framer.total = !matches!(tried, Err(Error::Coupled { .. }));
        framer
    }

    /// Whether ν and ε are part of a state: not where joints follow others.
    pub fn has_total_rates(&self) -> bool {
        self.total
    }

    /// The poses of all links as seven numbers each.
    pub fn poses(&mut self, q: &[f64]) -> Result<Vec<f32>> {
        let mut posed = self.workspace.at(q)?;
        Ok(posed
            .poses()
            .iter()
            .flat_map(|p| pose_of(p).map(|x| x as f32))
            .collect())
    }

    /// The numbers of a state: section 1.
    pub fn state(&mut self, moment: &Moment<'_>) -> Result<Vec<f64>> {
        let mut posed = self.workspace.at(moment.q)?;
        let potential = posed.potential_energy();
        match moment.tau {
            Some(tau) if tau.len() == self.tau.len() => self.tau.copy_from_slice(tau),
            _ => posed.gravity_torque(&mut self.tau)?,
        }
        let mut moving = posed.moving(moment.v)?;
        let mut state = vec![moment.t, moving.kinetic_energy(), potential];
        state.extend(moment.q);
        state.extend(moment.v);
        state.extend(&self.tau);
        if self.total {
            moving.total_rates(Scaling::Normalized, moment.v, &mut self.room)?;
            state.extend(&self.room);
            moving.working_moments(Scaling::Normalized, &self.tau, &mut self.room)?;
            state.extend(&self.room);
        }
        Ok(state)
    }

    /// A whole frame.
    pub fn frame(&mut self, moment: &Moment<'_>, shown: Shown) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        doubles(&mut bytes, 1, &self.state(moment)?);
        singles(&mut bytes, 2, &self.poses(moment.q)?);
        if !moment.arrows.is_empty() {
            let arrows = moment.arrows.iter().flat_map(Arrow::numbers);
            singles(&mut bytes, 3, &arrows.collect::<Vec<_>>());
        }
        // Where joints follow others there are none, and a page does not offer them.
        if shown.articulated && !self.mechanism.is_coupled() {
            singles(&mut bytes, 4, &self.articulated(moment.q)?);
        }
        if let Some(link) = shown.operational.filter(|l| *l < self.mechanism.links().len()) {
            let mut numbers = vec![link as f32];
            numbers.extend(self.operational(moment.q, link)?);
            singles(&mut bytes, 5, &numbers);
        }
        if self.mechanism.is_coupled() {
            doubles(&mut bytes, 6, &self.mechanism.all_coordinates(moment.q)?);
        }
        Ok(bytes)
    }

    /// The masses that links show along three axes, when everything outboard of them is free to move: the lower right block of
    /// P, which does not depend on the point.
    pub(crate) fn articulated(&mut self, q: &[f64]) -> Result<Vec<f32>> {
        let mut posed = self.workspace.at(q)?;
        let mut out = Vec::new();
        for link in self.mechanism.links() {
            let id = self.mechanism.link(&link.name)?;
            let p = posed.articulated_inertia(id)?;
            let (masses, axes) = principal(|i, k| p[3 + i][3 + k]);
            let pose = posed.pose(id)?;
            let turn = pose.rotation * axes;
            out.extend(ten(masses, turn, pose.point(link.inertia.com)));
        }
        Ok(out)
    }

    /// The masses that a link shows along three axes to a force at its centre of mass: 1 over those of J𝓜⁻¹J*.
    pub(crate) fn operational(&mut self, q: &[f64], link: usize) -> Result<[f32; 10]> {
        let mut posed = self.workspace.at(q)?;
        let link = &self.mechanism.links()[link];
        let id = self.mechanism.link(&link.name)?;
        let pose = posed.pose(id)?;
        let at = pose.rotation * link.inertia.com;
        let compliance = compliance_at(&mut posed, id, at)?;
        let (inverse, axes) = principal(|i, k| compliance[i][k]);
        let masses = inverse.map(|x| if x * HEAVIEST > 1.0 { 1.0 / x } else { HEAVIEST });
        Ok(ten(masses, axes, pose.point(link.inertia.com)))
    }
}

/// What a force at a point of a link adds to that point's acceleration, 3 × 3 in the world's axes; `at` leads from the
/// link's origin to the point, in the world's axes.
pub(crate) fn compliance_at(
    posed: &mut Configured<'_>,
    link: linkwork::model::LinkId,
    at: Vec3,
) -> Result<[[f64; 3]; 3]> {
    // a = v̇ + ω̇ × r, and a force F at the point is [r × F; F] at the origin.
    let whole = posed.operational_inertia_inverse(link, Reference::Aligned)?;
    let unit = |k: usize| Vec3::from(std::array::from_fn::<f64, 3, _>(|i| f64::from(u8::from(i == k))));
    let mut out = [[0.0; 3]; 3];
    for k in 0..3 {
        let wrench = [at.cross(unit(k)).to_array(), unit(k).to_array()].concat();
        let moved: [f64; 6] = std::array::from_fn(|i| whole[i].iter().zip(&wrench).map(|(a, b)| a * b).sum());
        let [x, y, z, u, v, w] = moved;
        let column = Vec3::new(u, v, w) + Vec3::new(x, y, z).cross(at);
        for (row, value) in out.iter_mut().zip(column.to_array()) {
            row[k] = value;
        }
    }
    Ok(out)
}

/// Eigenvalues and axes of a symmetric matrix.
pub(crate) fn principal(a: impl Fn(usize, usize) -> f64) -> ([f64; 3], Rotation) {
    let upper = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
    Inertia::new(1.0, [0.0; 3], upper.map(|(i, k)| 0.5 * (a(i, k) + a(k, i)))).principal()
}

fn ten(masses: [f64; 3], turn: Rotation, at: Vec3) -> [f32; 10] {
    let ([a, b, c], [x, y, z, w], [u, v, s]) = (masses, turn.to_quaternion(), at.to_array());
    [a, b, c, x, y, z, w, u, v, s].map(|x| x as f32)
}

fn doubles(out: &mut Vec<u8>, tag: u32, numbers: &[f64]) {
    out.extend(tag.to_le_bytes());
    out.extend((8 * numbers.len() as u32).to_le_bytes());
    numbers.iter().for_each(|x| out.extend(x.to_le_bytes()));
}

fn singles(out: &mut Vec<u8>, tag: u32, numbers: &[f32]) {
    out.extend(tag.to_le_bytes());
    out.extend((4 * numbers.len() as u32).to_le_bytes());
    numbers.iter().for_each(|x| out.extend(x.to_le_bytes()));
    if numbers.len() % 2 == 1 {
        out.extend([0; 4]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::model::examples;

    fn section(bytes: &[u8], wanted: u32) -> Vec<u8> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut at = 0;
        loop {
            let length = word(at + 4) as usize;
            if word(at) == wanted {
                return bytes[at + 8..at + 8 + length].to_vec();
            }
            at += 8 + length.div_ceil(8) * 8;
        }
    }

    #[test]
    fn a_frame_holds_the_library_s_poses_and_the_squares_of_nu_are_the_kinetic_energy() {
        let robot = examples::quadruped();
        let q = robot.random(3);
        let v: Vec<f64> = (0..robot.nv()).map(|i| 0.1 * i as f64 - 0.4).collect();
        let moment = Moment {
            t: 0.5,
            q: &q,
            v: &v,
            tau: None,
            arrows: &[],
        };
        let shown = Shown {
            articulated: true,
            operational: Some(1),
        };
        let frame = Framer::new(&robot).frame(&moment, shown).expect("a frame");
        let state: Vec<f64> = section(&frame, 1)
            .chunks_exact(8)
            .map(|x| f64::from_le_bytes(x.try_into().unwrap()))
            .collect();
        let (nq, nv) = (robot.nq(), robot.nv());
        assert_eq!((state.len(), state[0]), (3 + nq + 4 * nv, 0.5));
        let nu = &state[3 + nq + 2 * nv..3 + nq + 3 * nv];
        let kinetic = 0.5 * nu.iter().map(|x| x * x).sum::<f64>();
        assert!((kinetic - state[1]).abs() < 1e-12 * kinetic);
        let poses: Vec<f32> = section(&frame, 2)
            .chunks_exact(4)
            .map(|x| f32::from_le_bytes(x.try_into().unwrap()))
            .collect();
        let mut workspace = robot.workspace();
        let mut posed = workspace.at(&q).unwrap();
        for (link, seven) in robot.links().iter().zip(poses.chunks_exact(7)) {
            let at = posed
                .pose(robot.frame(&link.name).unwrap())
                .unwrap()
                .translation
                .to_array();
            assert!((0..3).all(|i| (at[i] as f32 - seven[i]).abs() < 1e-6), "{}", link.name);
        }
        assert_eq!(section(&frame, 4).len(), 40 * robot.links().len());
        assert_eq!(section(&frame, 5).len(), 44);
    }

    #[test]
    fn a_free_body_shows_its_own_mass_in_every_direction() {
        let robot = examples::quadruped();
        let trunk = robot.links().iter().position(|l| l.inertia.mass > 0.0).expect("a body");
        let alone = linkwork::Mechanism::builder("alone")
            .link(linkwork::model::Link::new(
                "body",
                Inertia::new(2.0, [0.1, 0.2, 0.3], [1.0, 0.0, 0.0, 2.0, 0.0, 2.5]),
            ))
            .joint(linkwork::model::Joint::free("j").between("world", "body"))
            .build()
            .unwrap();
        let numbers = Framer::new(&alone).operational(&alone.neutral(), 0).unwrap();
        assert!(numbers[..3].iter().all(|m| (m - 2.0).abs() < 1e-6), "{numbers:?}");
        let whole = Framer::new(&robot).operational(&robot.neutral(), trunk).unwrap();
        let total = robot.links().iter().map(|l| l.inertia.mass).sum::<f64>() as f32;
        assert!(
            whole[..3].iter().all(|m| *m <= total * 1.0001 && *m > 0.0),
            "legs that give way weigh less"
        );
    }
}
