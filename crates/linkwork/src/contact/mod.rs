//! Steps in time with contact and friction.
//!
//! A step of length Δt finds the one minimum v⁺ of a convex function whose gradient is continuous:
//!
//! ```text
//! v⁺ = argmin ½(v − v*)*𝓐₀(v − v*) + Σ(½‖y‖²_R − ½‖y − P(y)‖²_R)      y = −R⁻¹(Jv − v̂)
//! 𝓐₀ = 𝓜 + Δt damping + Δt² stiffness      𝓐₀v* = 𝓜v + Δt(T − C)
//! ```
//!
//! P projects onto the cones of friction; limits and dry friction of joints are rows of the same sum. Newton's method on it
//! needs (𝓐₀ + ΣJ*GJ)⁻¹, which is the [augmented mass operator](crate::workspace::AugmentedMass): the two sweeps of forward dynamics,
//! with the contacts' weights added to the links that touch.
//!
//! Contacts are data: where, along which normal, at what gap. Shapes and how they meet are the business of others.
//!
//! ```
//! use linkwork::contact::{Contact, Settings, Stepper, Surface};
//! use linkwork::model::{FrameId, Joint, Link, Mechanism};
//! use linkwork::spatial::{Inertia, Vec3};
//!
//! let ball = Mechanism::builder("ball")
//!     .link(Link::new("ball", Inertia::sphere(1.0, 0.1)))
//!     .joint(Joint::free("free").between("world", "ball"))
//!     .build()?;
//! let mut stepper = Stepper::new(&ball, Settings::new(0.005))?;
//! let (mut q, mut v) = (vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.3], vec![0.0; 6]);
//! for _ in 0..200 {
//!     let contact = Contact {
//!         id: 0,
//!         a: ball.frame("ball")?,
//!         b: FrameId::WORLD,
//!         point: Vec3::new(q[4], q[5], q[6] - 0.1),
//!         normal: Vec3::new(0.0, 0.0, 1.0),
//!         gap: q[6] - 0.1,
//!         surface: Surface::default(),
//!     };
//!     stepper.step(&mut q, &mut v, &[0.0; 6], &[contact])?;
//! }
//! assert!((q[6] - 0.1).abs() < 1e-5);
//! # Ok::<(), linkwork::Error>(())
//! ```

mod anderson;
mod ball_limits;
mod cone;
mod contact_derivatives;
mod coulomb;
mod fill_report;
mod find_rows;
mod free_motion;
mod free_roots;
mod impulse_matrix;
mod loop_derivatives;
mod loops;
mod matrices;
mod newton;
mod operator;
mod passive_terms;
mod point_loops;
mod report;
mod restitution;
mod rows;
mod sensors;
mod side_by_side;
mod step;
mod step_derivatives;

pub use cone::Region;
pub use contact_derivatives::Meeting;
pub use report::{Impulse, JointImpulse, JointRow, LoopEnd, LoopImpulse, Residuals, StepReport};
pub use sensors::{Imu, LinkForce, StepSensors};
pub use side_by_side::{Next, Seen, SideBySide, World};
pub use step::Stepper;
pub use step_derivatives::{Change, ContactDerivatives, Gradient};

use crate::model::FrameId;
use crate::spatial::Vec3;
use crate::{Error, Result};

/// What two surfaces do where they touch.
///
/// ```
/// use linkwork::contact::Surface;
/// let rubber = Surface { friction: 1.0, restitution: 0.3, ..Surface::default() };
/// assert!(rubber.check().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// μ of sliding.
    pub friction: f64,
    /// The radius of friction about the normal, in metres: a spinning contact is held by μ f_n r. Zero for a point.
    pub torsion: f64,
    /// The same of rolling.
    pub rolling: f64,
    /// The share of a closing speed that comes back.
    pub restitution: f64,
    /// N/m; without it a contact is as stiff as the step allows.
    pub stiffness: Option<f64>,
    /// The time in which a contact that is inside comes out, in seconds; without it the greater of Δt and 20 ms.
    pub relaxation: Option<f64>,
}

impl Default for Surface {
    fn default() -> Self {
        Self {
            friction: 0.5,
            torsion: 0.0,
            rolling: 0.0,
            restitution: 0.0,
            stiffness: None,
            relaxation: None,
        }
    }
}

impl Surface {
    /// Rigid, with some friction.
    pub fn with_friction(friction: f64) -> Self {
        Self {
            friction,
            ..Self::default()
        }
    }

    /// An error unless a body can have such a surface.
    pub fn check(&self) -> Result<()> {
        let numbers = [
            ("friction", self.friction),
            ("torsion", self.torsion),
            ("rolling", self.rolling),
            ("restitution", self.restitution),
        ];
        for (argument, value) in numbers {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::Negative { argument, value });
            }
        }
        if self.restitution > 1.0 {
            return Err(Error::Parameter {
                argument: "restitution, which may not exceed one,",
                value: self.restitution,
            });
        }
        for (argument, value) in [("stiffness", self.stiffness), ("relaxation", self.relaxation)] {
            if let Some(value) = value
                && !(value > 0.0 && value.is_finite())
            {
                return Err(Error::Duration { argument, value });
            }
        }
        Ok(())
    }
}

/// Where two frames' bodies touch, or soon will.
///
/// ```
/// use linkwork::contact::{Contact, Surface};
/// use linkwork::model::FrameId;
/// use linkwork::spatial::Vec3;
/// let arm = linkwork::model::examples::arm7();
/// // The flange touches a floor: the normal points from b, the world, to a.
/// let contact = Contact {
///     id: 7,
///     a: arm.frame("flange")?,
///     b: FrameId::WORLD,
///     point: Vec3::new(0.4, 0.0, 0.0),
///     normal: Vec3::new(0.0, 0.0, 1.0),
///     gap: 0.0,
///     surface: Surface::with_friction(0.8),
/// };
/// assert!(contact.surface.check().is_ok());
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The same from step to step as long as the same features touch: friction is remembered by it.
    pub id: u64,
    /// A frame of the body that the normal points to.
    pub a: FrameId,
    /// A frame of the body that it points away from, or the world.
    pub b: FrameId,
    /// Where the force acts, in the world.
    pub point: Vec3,
    /// From b to a, of unit length.
    pub normal: Vec3,
    /// The distance; negative inside.
    pub gap: f64,
    /// What the surfaces do.
    pub surface: Surface,
}

/// Which law of friction holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Friction {
    /// The convex relaxation: one minimum, but what slides separates at μ times its speed.
    Convex,
    /// Coulomb's law, by a few passes that each are convex.
    Coulomb,
}

/// Where Newton's method starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start {
    /// At v*, the velocity without contacts.
    Free,
    /// At the velocity before the step.
    Last,
}

/// How steps are made.
///
/// ```
/// use linkwork::contact::{Friction, Settings};
/// let fast = Settings { friction: Friction::Convex, tolerance: 1e-6, ..Settings::new(0.005) };
/// assert!(fast.check().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Δt in seconds.
    pub step: f64,
    /// R_n over what the normal direction yields: how soft a contact is without stiffness.
    pub rho: f64,
    /// R_t over what the tangents yield; not less than `rho`, or Newton's method is slow.
    pub sigma: f64,
    /// Which law of friction holds.
    pub friction: Friction,
    /// Whether contacts remember how they were strained, so that nothing that is held creeps.
    pub memory: bool,
    /// Whether contacts that carry more than their own bodies weigh become stiffer.
    pub loads: bool,
    /// Whether free bodies and trees turn by the implicit midpoint, which keeps their energy.
    pub gyroscopic: bool,
    /// Where Newton's method starts.
    pub start: Start,
    /// The relative gradient at which it has settled.
    pub tolerance: f64,
    /// The most iterations of one minimization.
    pub iterations: usize,
    /// The relative change at which the passes of Coulomb's law have settled.
    pub coulomb_tolerance: f64,
    /// Contacts bounce that close faster; without it 2·9.81·Δt.
    pub bounce_speed: Option<f64>,
    /// Whether joints' springs and dampers act.
    pub passive: bool,
    /// Whether joints stop at their limits.
    pub joint_limits: bool,
    /// Whether dry friction holds joints.
    pub joint_friction: bool,
}

impl Settings {
    /// The defaults, for steps of some length in seconds.
    pub fn new(step: f64) -> Self {
        Self {
            step,
            rho: 1e-3,
            sigma: 1e-3,
            friction: Friction::Coulomb,
            memory: true,
            loads: true,
            gyroscopic: true,
            start: Start::Last,
            tolerance: 1e-10,
            iterations: 50,
            coulomb_tolerance: 1e-6,
            bounce_speed: None,
            passive: true,
            joint_limits: true,
            joint_friction: true,
        }
    }

    /// An error unless they make sense.
    pub fn check(&self) -> Result<()> {
        let positive = [
            ("step", self.step),
            ("rho", self.rho),
            ("sigma", self.sigma),
            ("tolerance", self.tolerance),
            ("coulomb_tolerance", self.coulomb_tolerance),
        ];
        for (argument, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Duration { argument, value });
            }
        }
        match self.bounce_speed {
            Some(value) if !(value >= 0.0 && value.is_finite()) => Err(Error::Negative {
                argument: "bounce_speed",
                value,
            }),
            _ => Ok(()),
        }
    }
}
