//! Mechanisms from Denavit–Hartenberg tables.

use super::check::LARGEST;
use super::{Builder, Joint, Link, WORLD};
use crate::Error;
use crate::spatial::{Inertia, Pose, Rotation, Vec3};

const UNLIMITED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// Which of the two conventions a table follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dh {
    /// The classical one: frame i sits at the outer end of link i, and
    /// row i leads from frame i−1 to frame i by Z(θ, d) X(a, α).
    Standard,
    /// Craig's: frame i sits on joint i, and row i leads from frame i−1 to frame i by X(a, α) Z(θ, d);
    /// `a` and `alpha` of row i are those often written with index i−1.
    Modified,
}

/// One row of a table: a joint and the link it moves.
///
/// Of θ and d one varies with q and is what it says at q = 0.
///
/// ```
/// use linkwork::model::DhRow;
/// use linkwork::spatial::Inertia;
/// let shoulder = DhRow::revolute(0.0, 0.4318, 0.0)
///     .inertia(Inertia::new(17.4, [-0.3638, 0.006, 0.2275], [0.13, 0.0, 0.0, 0.524, 0.0, 0.539]))
///     .motor(200e-6, 107.815);
/// assert!((shoulder.armature - 2.3248).abs() < 1e-4);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct DhRow {
    /// Angle about z, in rad; for a revolute joint at q = 0.
    pub theta: f64,
    /// Distance along z, in m; for a prismatic joint at q = 0.
    pub d: f64,
    /// Distance along x, in m.
    pub a: f64,
    /// Angle about x, in rad.
    pub alpha: f64,
    /// Whether d varies instead of θ.
    pub prismatic: bool,
    /// Mass distribution in the row's own frame i.
    pub inertia: Inertia,
    /// Rotor inertia reflected through the gear.
    pub armature: f64,
    /// Viscous resistance at the joint.
    pub damping: f64,
    /// Dry friction at the joint.
    pub friction: f64,
    /// Lower and upper limit of q.
    pub limits: (f64, f64),
}

impl DhRow {
    /// A revolute joint: θ = q. Massless until [`DhRow::inertia`] says otherwise.
    pub fn revolute(d: f64, a: f64, alpha: f64) -> Self {
        Self {
            theta: 0.0,
            d,
            a,
            alpha,
            prismatic: false,
            inertia: Inertia::ZERO,
            armature: 0.0,
            damping: 0.0,
            friction: 0.0,
            limits: UNLIMITED,
        }
    }

    /// A prismatic joint: d = q.
    pub fn prismatic(theta: f64, a: f64, alpha: f64) -> Self {
        Self {
            theta,
            prismatic: true,
            ..Self::revolute(0.0, a, alpha)
        }
    }

    /// What is added to q: to θ of a revolute joint, to d of a prismatic one.
    pub fn offset(mut self, offset: f64) -> Self {
        *(if self.prismatic { &mut self.d } else { &mut self.theta }) = offset;
        self
    }

    /// The link's mass distribution, in the row's own frame i.
    pub fn inertia(mut self, inertia: Inertia) -> Self {
        self.inertia = inertia;
        self
    }

    /// A motor's rotor inertia, seen through a gear: the armature is ratio² × inertia. The sign of the ratio is of no
    /// account.
    pub fn motor(mut self, inertia: f64, ratio: f64) -> Self {
        self.armature = ratio * ratio * inertia;
        self
    }

    /// Viscous resistance and dry friction, at the joint's side of the gear.
    pub fn resistance(mut self, damping: f64, friction: f64) -> Self {
        (self.damping, self.friction) = (damping, friction);
        self
    }

    /// Lower and upper limit of q.
    pub fn limits(mut self, lower: f64, upper: f64) -> Self {
        self.limits = (lower, upper);
        self
    }

    /// The first number that no frame can be placed by.
    fn fault(&self, joint: &str) -> Option<Error> {
        let numbers = [
            ("theta", self.theta),
            ("d", self.d),
            ("a", self.a),
            ("alpha", self.alpha),
        ];
        let (name, x) = numbers.into_iter().find(|(_, x)| x.is_nan() || x.abs() > LARGEST)?;
        Some(Error::Joint {
            joint: joint.to_owned(),
            problem: format!("its row of the table has {name} = {x}; every number must be finite and at most 1e30"),
        })
    }

    /// Z(θ, d).
    fn about_z(&self) -> Pose {
        Pose::new(turn(Vec3::new(0.0, 0.0, 1.0), self.theta), [0.0, 0.0, self.d])
    }

    /// X(a, α).
    fn about_x(&self) -> Pose {
        Pose::new(turn(Vec3::new(1.0, 0.0, 0.0), self.alpha), [self.a, 0.0, 0.0])
    }
}

impl Builder {
    /// A chain from a Denavit–Hartenberg table, standing on the world.
    ///
    /// Links are `link1`, `link2`, …, held by `joint1`, `joint2`, …; frame i of the table is the named frame
    /// `link<i>_dh`. In the modified convention that is the link's own frame. In the standard one the link's own frame
    /// stays on its joint, at frame i−1 turned or moved by q, because a joint acts at its link's frame.
    ///
    /// ```
    /// use linkwork::model::{Builder, Dh, DhRow};
    /// use linkwork::spatial::Inertia;
    /// let bar = DhRow::revolute(0.0, 1.0, 0.0).inertia(Inertia::point(1.0, [0.0, 0.0, 0.0]));
    /// let planar = Builder::from_dh("planar", Dh::Standard, &[bar.clone(), bar]).build()?;
    /// assert_eq!(planar.nv(), 2);
    /// planar.frame("link2_dh")?;
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn from_dh(name: impl Into<String>, convention: Dh, rows: &[DhRow]) -> Self {
        let mut builder = Self::new(name);
        // Where the next joint sits on the link before it, and that link's name.
        let (mut seat, mut inner) = (Pose::IDENTITY, WORLD.to_owned());
        for (i, row) in rows.iter().enumerate() {
            let (link, name) = (format!("link{}", i + 1), format!("joint{}", i + 1));
            builder.fault = builder.fault.or_else(|| row.fault(&name));
            let (origin, frame) = match convention {
                Dh::Standard => (seat, row.about_z() * row.about_x()),
                // Z(θ, d) and the joint's own motion are about the same axis: they commute.
                Dh::Modified => (row.about_x() * row.about_z(), Pose::IDENTITY),
            };
            let new = if row.prismatic {
                Joint::prismatic
            } else {
                |name, axis| Joint::revolute(name, axis)
            };
            let mut joint = new(name, [0.0, 0.0, 1.0]).between(inner, &link).placed(origin);
            if row.limits != UNLIMITED {
                joint.position_limits.push(row.limits);
            }
            let lists = [
                (&mut joint.armature, row.armature),
                (&mut joint.damping, row.damping),
                (&mut joint.friction, row.friction),
            ];
            for (list, x) in lists {
                if x != 0.0 {
                    list.push(x);
                }
            }
            builder = builder
                .joint(joint)
                .link(Link::new(&link, row.inertia.seen_from(&frame)))
                .frame(format!("{link}_dh"), &link, frame);
            (seat, inner) = (frame, link);
        }
        builder
    }
}

/// A turn whose quarters are exact, as the angles of tables are mostly quarters.
fn turn(axis: Vec3, angle: f64) -> Rotation {
    let quarters = angle / core::f64::consts::FRAC_PI_2;
    let near = quarters.round();
    if (quarters - near).abs() > 1e-15 || near.abs() > 4.0 {
        return Rotation::about(axis, angle);
    }
    let round = |v: Vec3| Vec3::new(v.x.round(), v.y.round(), v.z.round());
    let Rotation { x, y, z } = Rotation::about(axis, angle);
    Rotation {
        x: round(x),
        y: round(y),
        z: round(z),
    }
}
