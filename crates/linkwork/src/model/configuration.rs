//! Configurations on their manifold.
//!
//! A configuration q has nq numbers and its differences nv: rotations are unit quaternions, and a step v turns and
//! moves each link in its own axes. `integrate` is the exponential, q ⊕ v; `difference` the logarithm, v = q₁ ⊖ q₀.

mod chart;
mod exponential;
mod limits;
mod logarithm;
mod random;

pub(crate) use limits::turn_of;
pub(crate) use random::Generator;
use random::Limited;

use super::{JointId, JointKind, Mechanism};
use crate::scalar::Scalar;
use crate::spatial::{Pose, Rotation, Vec3};
use crate::{Error, Result};
use std::collections::HashMap;

/// How far from unit length a quaternion may be and still be meant as a rotation.
pub(crate) const QUATERNION_TOLERANCE: f64 = 1e-3;

/// What a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Angle,
    Length,
}

impl JointKind {
    /// What each degree of freedom measures.
    fn measures(&self) -> &'static [Measure] {
        use Measure::{Angle, Length};
        match self {
            Self::Fixed => &[],
            Self::Revolute { .. } | Self::Continuous { .. } | Self::Helical { .. } => &[Angle],
            Self::Prismatic { .. } => &[Length],
            Self::Cylindrical { .. } => &[Angle, Length],
            Self::Universal { .. } => &[Angle, Angle],
            Self::Planar => &[Angle, Length, Length],
            Self::Translation => &[Length, Length, Length],
            Self::Spherical => &[Angle, Angle, Angle],
            Self::Free => &[Angle, Angle, Angle, Length, Length, Length],
        }
    }

    /// The configuration at which the link's frame is the joint's.
    pub(crate) fn neutral(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.nq()];
        if self.has_quaternion() {
            q[3] = 1.0;
        }
        q
    }

    /// The link's frame seen from the joint's, at a configuration of nq numbers with a unit quaternion.
    pub(crate) fn pose(&self, q: &[f64]) -> Pose {
        let turn = |axis: Vec3, angle: f64| Pose::from_rotation(Rotation::about(axis, angle));
        let slide = |axis: Vec3, distance: f64| Pose::from_translation(axis * (distance / axis.norm()));
        match *self {
            Self::Fixed => Pose::IDENTITY,
            Self::Revolute { axis } | Self::Continuous { axis } => turn(axis, q[0]),
            Self::Prismatic { axis } => slide(axis, q[0]),
            Self::Helical { axis, pitch } => turn(axis, q[0]) * slide(axis, pitch * q[0]),
            Self::Cylindrical { axis } => turn(axis, q[0]) * slide(axis, q[1]),
            Self::Universal { axes: [first, second] } => turn(first, q[0]) * turn(second, q[1]),
            Self::Planar => Pose::from_translation([q[1], q[2], 0.0]) * turn(Vec3::new(0.0, 0.0, 1.0), q[0]),
            Self::Translation => Pose::from_translation([q[0], q[1], q[2]]),
            Self::Spherical => Pose::from_rotation(Rotation::from_quaternion([q[0], q[1], q[2], q[3]])),
            Self::Free => Pose::new(Rotation::from_quaternion([q[0], q[1], q[2], q[3]]), [q[4], q[5], q[6]]),
        }
    }
}

/// # Configurations
///
/// ```
/// use linkwork::model::{Joint, Link, Mechanism};
/// use linkwork::spatial::Inertia;
/// let ball = Mechanism::builder("ball")
///     .link(Link::new("ball", Inertia::sphere(1.0, 0.1)))
///     .joint(Joint::free("float").between("world", "ball"))
///     .build()?;
/// let (q0, q1) = (ball.neutral(), ball.random(7));
/// let (mut v, mut q) = ([0.0; 6], [0.0; 7]);
/// ball.difference(&q0, &q1, &mut v)?;
/// ball.integrate(&q0, &v, &mut q)?;
/// assert!(ball.distance(&q, &q1)? < 1e-14);
/// # Ok::<(), linkwork::Error>(())
/// ```
impl Mechanism {
    /// The configuration at which every link's frame is its joint's: zeros, and quaternions 0, 0, 0, 1.
    pub fn neutral(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.nq()];
        for &(start, _) in &self.quaternions {
            q[start + 3] = 1.0;
        }
        q
    }

    /// A random configuration, the same for the same seed on every machine.
    ///
    /// Within position limits where they are finite; else angles in [−π, π], lengths in [−1, 1] and quaternions uniform
    /// over all rotations. Limits of a spherical or free joint bound the components of its rotation
    /// vector; one pair of a spherical joint, the vector's length.
    ///
    /// Joints that follow others are within their limits too. Those that follow by more than a ratio are drawn until they
    /// are, up to 1000 times; where none is found, or limits exclude each other, only those of the leader hold.
    pub fn random(&self, seed: u64) -> Vec<f64> {
        let mut generator = Generator::new(seed);
        let mut q = Vec::with_capacity(self.nq());
        let mut followers: HashMap<usize, Vec<Limited<'_>>> = HashMap::new();
        for (joint, lead) in self.joints().iter().zip(&self.leads) {
            if let Some((lead, limited)) = lead.as_ref().and_then(|l| Some((l, Limited::new(joint, l)?))) {
                followers.entry(lead.joint).or_default().push(limited);
            }
        }
        for (j, joint) in self
            .joints()
            .iter()
            .enumerate()
            .filter(|(j, _)| self.leads[*j].is_none())
        {
            match followers.get(&j) {
                None => q.extend(generator.configuration(joint.kind, &joint.position_limits)),
                Some(followers) => q.push(generator.leading(joint, followers)),
            }
        }
        q
    }

    /// `out` = q ⊕ v: every joint moves by its step, exactly along a screw where it turns and slides at once.
    ///
    /// A step of a free or spherical joint is a twist in the link's own axes; scale velocities by the time step first.
    pub fn integrate<S: Scalar>(&self, q: &[S], v: &[S], out: &mut [S]) -> Result<()> {
        self.check_configuration("q", q)?;
        self.check_vector("v", v)?;
        check_length("out", self.nq(), out.len())?;
        self.integrate_unchecked(q, v, out);
        Ok(())
    }

    /// [`Mechanism::integrate`] for arguments known to be right.
    pub(crate) fn integrate_unchecked<S: Scalar>(&self, q: &[S], v: &[S], out: &mut [S]) {
        for (joint, at, step) in self.independent() {
            exponential::step(&joint.kind, &q[at.clone()], &v[step], &mut out[at]);
        }
    }

    /// `v` = q₁ ⊖ q₀, the step that leads from q₀ to q₁ the short way: the inverse of [`Mechanism::integrate`].
    ///
    /// Angles of revolute and continuous joints count turns and are subtracted; the angle of a planar joint is brought
    /// to [−π, π], and rotations of spherical and free joints are at most half a turn.
    pub fn difference(&self, q0: &[f64], q1: &[f64], v: &mut [f64]) -> Result<()> {
        self.check_configuration("q0", q0)?;
        self.check_configuration("q1", q1)?;
        check_length("v", self.nv(), v.len())?;
        self.difference_unchecked(q0, q1, v);
        Ok(())
    }

    /// The same of configurations known to be right.
    pub(crate) fn difference_unchecked(&self, q0: &[f64], q1: &[f64], v: &mut [f64]) {
        for (joint, at, step) in self.independent() {
            logarithm::step(&joint.kind, &q0[at.clone()], &q1[at], &mut v[step]);
        }
    }

    /// `out` = q₀ ⊕ t (q₁ ⊖ q₀): q₀ at t = 0, q₁ at t = 1, and the shortest way between; other t extrapolate.
    pub fn interpolate(&self, q0: &[f64], q1: &[f64], t: f64, out: &mut [f64]) -> Result<()> {
        if !t.is_finite() {
            return Err(Error::Parameter {
                argument: "t",
                value: t,
            });
        }
        self.check_configuration("q0", q0)?;
        self.check_configuration("q1", q1)?;
        check_length("out", self.nq(), out.len())?;
        for (joint, q, _) in self.independent() {
            let mut step = joint_step(&joint.kind, &q0[q.clone()], &q1[q.clone()]);
            step.iter_mut().for_each(|x| *x *= t);
            exponential::step(&joint.kind, &q0[q.clone()], &step[..joint.kind.nv()], &mut out[q]);
        }
        Ok(())
    }

    /// The length of q₁ ⊖ q₀, radians and metres alike.
    pub fn distance(&self, q0: &[f64], q1: &[f64]) -> Result<f64> {
        self.check_configuration("q0", q0)?;
        self.check_configuration("q1", q1)?;
        let mut square = 0.0;
        for (joint, q, _) in self.independent() {
            let step = joint_step(&joint.kind, &q0[q.clone()], &q1[q]);
            square += step.iter().map(|x| x * x).sum::<f64>();
        }
        Ok(square.sqrt())
    }

    /// Brings quaternions to unit length; those further than 10⁻³ from it are refused, and q left as it was.
    pub fn normalise<S: Scalar>(&self, q: &mut [S]) -> Result<()> {
        self.check_configuration("q", q)?;
        for &(i, _) in &self.quaternions {
            exponential::normalise(&mut q[i..i + 4]);
        }
        Ok(())
    }

    /// Checks a vector of nv numbers: its length, and that all are finite.
    #[inline(always)]
    pub(crate) fn check_vector<S: Scalar>(&self, argument: &'static str, x: &[S]) -> Result<()> {
        check_length(argument, self.nv(), x.len())?;
        if surely_all_usable(x) {
            return Ok(());
        }
        self.look_at_vector(argument, x)
    }

    #[cold]
    fn look_at_vector<S: Scalar>(&self, argument: &'static str, x: &[S]) -> Result<()> {
        match not_finite(x) {
            None => Ok(()),
            Some((index, value)) => Err(self.not_finite::<S>(argument, index, value, self.joint_of_dof(index).0)),
        }
    }

    /// Checks a vector of nq numbers: its length, that all are finite, that quaternions are nearly unit, and that couplings have values there.
    #[inline(always)]
    pub(crate) fn check_configuration<S: Scalar>(&self, argument: &'static str, q: &[S]) -> Result<()> {
        check_length(argument, self.nq(), q.len())?;
        let sound = surely_all_usable(q) && self.quaternions.iter().all(|&(i, _)| surely_unit(&q[i..i + 4]));
        if !sound {
            self.look_at_configuration(argument, q)?;
        }
        if self.is_coupled() {
            self.check_couplings(q)
        } else {
            Ok(())
        }
    }

    #[cold]
    fn look_at_configuration<S: Scalar>(&self, argument: &'static str, q: &[S]) -> Result<()> {
        if let Some((index, value)) = not_finite(q) {
            return Err(self.not_finite::<S>(argument, index, value, self.joint_of_coordinate(index)));
        }
        for &(index, joint) in &self.quaternions {
            let x = &q[index..index + 4];
            for lane in 0..S::LANES {
                let norm = x.iter().map(|x| x.lane(lane).powi(2)).sum::<f64>().sqrt();
                if (norm - 1.0).abs() > QUATERNION_TOLERANCE {
                    return Err(Error::Quaternion {
                        joint: self.joints()[joint].name.clone(),
                        index,
                        norm,
                        tolerance: QUATERNION_TOLERANCE,
                    });
                }
            }
        }
        Ok(())
    }

    /// One in the lanes whose configuration is sound, zero in others and where a quaternion is hardly of unit length.
    #[inline(always)]
    pub(crate) fn surely_sound<S: Scalar>(&self, q: &[S]) -> S {
        let mut sound = surely_usable(q);
        for &(i, _) in &self.quaternions {
            let (x, y, z, w) = (q[i], q[i + 1], q[i + 2], q[i + 3]);
            let square = x.mul_add(x, y.mul_add(y, z.mul_add(z, w * w)));
            let long = square.where_below(SURELY_UNIT.0, S::ZERO, S::ONE);
            sound = sound * square.where_below(SURELY_UNIT.1, long, S::ZERO);
        }
        sound
    }

    fn not_finite<S: Scalar>(&self, argument: &'static str, index: usize, value: f64, joint: JointId) -> Error {
        Error::NotFinite {
            argument,
            index,
            joint: self.joints()[joint.index()].name.clone(),
            value,
            largest: largest::<S>(),
        }
    }
}

/// The step of one joint from q₀ to q₁; numbers beyond its degrees of freedom are zero.
fn joint_step(kind: &JointKind, q0: &[f64], q1: &[f64]) -> [f64; 6] {
    let mut step = [0.0; 6];
    logarithm::step(kind, q0, q1, &mut step[..kind.nv()]);
    step
}

#[inline]
pub(crate) fn check_length(argument: &'static str, needed: usize, given: usize) -> Result<()> {
    if needed == given {
        return Ok(());
    }
    Err(Error::Length {
        argument,
        needed,
        given,
    })
}

/// The largest number that a state may hold: products of a few such numbers do not overflow; in single precision, squares
/// times inertias do not.
const fn largest<S: Scalar>() -> f64 {
    if S::EPSILON > f64::EPSILON { 1e12 } else { 1e60 }
}

/// The largest coordinate of a configuration.
pub(crate) const LARGEST_COORDINATE: f64 = largest::<f64>();

/// Between these squares of its length, a quaternion is surely of unit length within the tolerance.
const SURELY_UNIT: (f64, f64) = {
    let edge = 0.99 * QUATERNION_TOLERANCE;
    ((1.0 - edge) * (1.0 - edge), (1.0 + edge) * (1.0 + edge))
};

/// Whether a quaternion is of unit length, in all lanes; not where that is a close call.
#[inline(always)]
fn surely_unit<S: Scalar>(x: &[S]) -> bool {
    let mut unit = true;
    for lane in 0..S::LANES {
        let [x, y, z, w] = [x[0].lane(lane), x[1].lane(lane), x[2].lane(lane), x[3].lane(lane)];
        let square = (x * x + y * y) + (z * z + w * w);
        unit &= SURELY_UNIT.0 <= square && square <= SURELY_UNIT.1;
    }
    unit
}

/// Whether all numbers are finite and small enough; not where that is a close call. A sum of squares tells, four of them
/// side by side.
#[inline(always)]
fn surely_all_usable<S: Scalar>(x: &[S]) -> bool {
    if const { S::LANES > 1 || S::ORDER > 0 } {
        return all_usable(x);
    }
    let Some(last) = x.len().checked_sub(4) else {
        return all_usable(x);
    };
    // The last four may be counted twice.
    let mut sums = [0.0; 4];
    for first in 0..x.len() / 4 + 1 {
        let four = &x[last.min(4 * first)..][..4];
        for i in 0..4 {
            sums[i] += four[i].lane(0) * four[i].lane(0);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) <= const { largest::<S>() * largest::<S>() }
}

#[inline(always)]
fn usable<S: Scalar>(x: S) -> bool {
    if const { S::LANES == 1 && S::ORDER == 0 } {
        return x.lane(0).abs() <= largest::<S>();
    }
    (0..S::LANES).all(|lane| x.lane(lane).abs() <= largest::<S>()) & x.is_finite()
}

/// One in the lanes where all numbers are finite and surely small enough, as the sum of their squares is; zero in others.
#[inline(always)]
pub(crate) fn surely_usable<S: Scalar>(x: &[S]) -> S {
    // Four sums, so that none waits for another.
    let mut squares = [S::ZERO; 4];
    let whole = x.len() / 4 * 4;
    for i in (0..whole).step_by(4) {
        for j in 0..4 {
            squares[j] = x[i + j].mul_add(x[i + j], squares[j]);
        }
    }
    for i in whole..x.len() {
        squares[0] = x[i].mul_add(x[i], squares[0]);
    }
    let all = (squares[0] + squares[1]) + (squares[2] + squares[3]);
    all.where_below(const { largest::<S>() * largest::<S>() }, S::ONE, S::ZERO)
}

/// Whether all numbers are finite and small enough; without an early way out, so that several are looked at together.
#[inline(always)]
pub(crate) fn all_usable<S: Scalar>(x: &[S]) -> bool {
    let mut sound = true;
    for x in x {
        sound &= usable(*x);
    }
    sound
}

/// The first number that is not finite. The usual answer, none, takes one pass without a branch per number.
#[inline(always)]
fn not_finite<S: Scalar>(x: &[S]) -> Option<(usize, f64)> {
    if all_usable(x) {
        return None;
    }
    let index = x.iter().position(|x| !usable(*x))?;
    let lanes = (0..S::LANES).map(|lane| x[index].lane(lane));
    // A dual number may be finite while its derivative is not.
    let large = |value: f64| value.abs() > largest::<S>();
    let value = lanes.fold(f64::NAN, |bad, value| if large(value) { value } else { bad });
    Some((index, value))
}
