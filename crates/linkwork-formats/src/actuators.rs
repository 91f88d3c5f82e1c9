//! Actuators, sensors and tendons, as files describe them.

use serde::{Deserialize, Serialize};

/// What an actuator drives, or a sensor measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// `joint`, `tendon`, `site`, `body` …
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// What lies between the control of an actuator and its action: activation dynamics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Lag {
    /// Nothing: a = u.
    #[default]
    None,
    /// ȧ = u.
    Integrator,
    /// ȧ = (u − a)/T.
    Filter {
        /// T, in seconds.
        seconds: f64,
    },
    /// That of a muscle: ȧ = (u − a)/T, T being `rise` · (½ + 3a/2) where u is more than a, else `fall` / (½ + 3a/2).
    Muscle {
        /// In seconds.
        rise: f64,
        /// In seconds.
        fall: f64,
        /// The width of u − a over which one becomes the other; zero for at once.
        #[serde(default)]
        smooth: f64,
    },
    /// Another one, by MuJoCo's name.
    Other {
        /// `user` …
        kind: String,
    },
}

/// An actuator: a force (g₀ + g₁ℓ + g₂ℓ̇) a + b₀ + b₁ℓ + b₂ℓ̇ along a transmission of length ℓ, which for a joint is its
/// displacement times the gear.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actuator {
    /// Its name; often empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `motor`, `position`, `velocity`, `general` …
    pub kind: String,
    /// What it drives.
    pub target: Target,
    /// The site whose axes count and that its length is measured from, where it drives a site; that of the slider, where it
    /// drives a crank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Target>,
    /// The length of the rod between slider and crank, in metres, where it drives a crank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rod: Option<f64>,
    /// Ratios of force at the target to force of the actuator; one for a joint with one coordinate, up to six others.
    pub gear: Vec<f64>,
    /// g₀, g₁, g₂.
    pub gain: [f64; 3],
    /// b₀, b₁, b₂.
    pub bias: [f64; 3],
    /// From the control u to the activation a.
    #[serde(default)]
    pub lag: Lag,
    /// The damping ratio that b₂ is to be found from, at the inertia that its joint shows; b₂ is zero then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_ratio: Option<f64>,
    /// The range of its control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_range: Option<[f64; 2]>,
    /// The least and most of a.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation_range: Option<[f64; 2]>,
    /// The least and most force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_range: Option<[f64; 2]>,
    /// Amplitude, poles N and phase φ of a torque amplitude · sin(Nℓ + φ), which no range of forces bounds: the cogging of a motor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cogging: Option<[f64; 3]>,
    /// What it is told acts so many seconds later, and nothing does before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delay: f64,
    /// What it is as a muscle, if it is one; gain and bias are zero where that says them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub muscle: Option<Muscle>,
    /// Whether force, gain and bias, or the muscle, say all that it does; not so for adhesion and plugins.
    pub modelled: bool,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// A muscle: its force −F a f(ℓ)g(ℓ̇) − F p(ℓ), ℓ and ℓ̇ being in units of the length at which it is strongest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Muscle {
    /// The least and most length of its transmission; if left out, what joints' limits leave of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_range: Option<[f64; 2]>,
    /// What F, f and g are; none where the gain of the actuator counts instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<Fibre>,
    /// What F and p are; none where the bias of the actuator counts instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passive: Option<Fibre>,
}

/// The curves of a muscle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fibre {
    /// Its least and most length in the robot, in units of the length at which it is strongest.
    pub range: [f64; 2],
    /// Its strongest force, or less than zero for `scale` over the acceleration that a force of one gives.
    pub force: f64,
    /// See `force`.
    pub scale: f64,
    /// The length below which it has no active force.
    pub shortest: f64,
    /// The length above which it has no active force.
    pub longest: f64,
    /// The speed of shortening at which it has no force, in lengths per second.
    pub fastest: f64,
    /// Its passive force at `longest`, over its strongest force.
    pub passive_force: f64,
    /// Its active force where it lengthens fast, over its strongest force.
    pub lengthening_force: f64,
}

/// A sensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensor {
    /// Its name; often empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `jointpos`, `gyro`, `framequat` …
    pub kind: String,
    /// What it measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// What it measures that against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Target>,
    /// The largest number that it gives; zero for any.
    #[serde(default)]
    pub cutoff: f64,
    /// Its standard deviation.
    #[serde(default)]
    pub noise: f64,
}

/// A tendon, whose length is a sum over joints, or a way past sites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tendon {
    /// Its name; often empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What its length is.
    pub path: TendonPath,
    /// N per unit of length.
    #[serde(default)]
    pub stiffness: f64,
    /// Its spring rests between these lengths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<[f64; 2]>,
    /// N s per unit of length.
    #[serde(default)]
    pub damping: f64,
    /// Dry friction, N.
    #[serde(default)]
    pub friction: f64,
    /// Inertia of its own.
    #[serde(default)]
    pub armature: f64,
    /// The least and most length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// The least and most that actuators along it pull with together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_range: Option<[f64; 2]>,
    /// Whether the mechanism's joints have its spring, damper, friction and armature already.
    #[serde(default)]
    pub folded: bool,
}

/// What the length of a tendon is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TendonPath {
    /// Σ c q over joints with one coordinate.
    Fixed {
        /// Joints, and c of each.
        joints: Vec<(String, f64)>,
    },
    /// Straight pieces between sites, around geoms and over pulleys.
    Spatial {
        /// In order.
        points: Vec<TendonPoint>,
    },
}

/// A point of a spatial tendon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TendonPoint {
    /// It passes through a frame of the robot.
    Site {
        /// By the name of the site in the file.
        name: String,
    },
    /// It wraps around a geom.
    Wrap {
        /// The geom's name: a sphere or a cylinder.
        geom: String,
        /// The site on whose side it passes, or that tells by being inside that it passes through.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        side: Option<String>,
    },
    /// What follows counts a part only.
    Pulley {
        /// Divided by this.
        divisor: f64,
    },
}
