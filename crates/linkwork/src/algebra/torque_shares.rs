//! Inverse dynamics in components: what every link adds to the torque of one degree of freedom.
//!
//! T = Hφ(Mφ\*(H\*q̈ + a) + b − f) is a sum over links: with w = φ\*H\*e, how each link goes along with the joint, link j adds
//! w(j)·x(j) for each part x of the forces that it takes to move it.

use super::dense::Dense;
use super::evaluator::link_space;
use super::expression::Expression;
use crate::model::Mechanism;
use crate::{Error, Result};

/// Operators of more links than this do not fit into memory as dense matrices.
const MOST_LINKS: usize = 500;

/// What one link adds to a torque.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkShare {
    /// The link, as [`link_space`](super::link_space) names it.
    pub link: String,
    /// For the accelerations of the joints: w·Mφ\*H\*q̈.
    pub acceleration: f64,
    /// For the velocities: w·(Mφ\*a + b) without gravity.
    pub velocity: f64,
    /// Against gravity: w·Mφ\*a₀.
    pub gravity: f64,
    /// Against what pushes the link from outside: −w·f.
    pub outside: f64,
}

/// The torque of one degree of freedom in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct TorqueShares {
    /// The links that go along with the joint, in the order of link space.
    pub links: Vec<LinkShare>,
    /// For the joint's rotor, and those of its followers.
    pub rotor: f64,
    /// All together: T.
    pub total: f64,
}

/// Splits the torque that inverse dynamics gives one degree of freedom. `outside` holds a force [N; F] on every link of link
/// space, in its own frame, or is empty.
///
/// ```
/// use linkwork::algebra::torque_shares;
/// let arm = linkwork::model::examples::puma560();
/// let (q, qd, qdd) = ([0.3; 6], [0.5; 6], [1.0; 6]);
/// let shares = torque_shares(&arm, &q, &qd, &qdd, &[], 1)?;
/// // Link 1 does not go along with the second joint.
/// assert_eq!(shares.links.len(), 5);
/// let tau = arm.inverse_dynamics(&q, &qd, &qdd)?;
/// assert!((shares.total - tau[1]).abs() < 1e-9);
/// # Ok::<(), linkwork::Error>(())
/// ```
pub fn torque_shares(
    mechanism: &Mechanism,
    q: &[f64],
    qd: &[f64],
    qdd: &[f64],
    outside: &[f64],
    dof: usize,
) -> Result<TorqueShares> {
    mechanism.check_vector("qdd", qdd)?;
    let names = link_space(mechanism);
    if !outside.is_empty() && outside.len() != 6 * names.len() {
        return Err(Error::Length {
            argument: "outside",
            needed: 6 * names.len(),
            given: outside.len(),
        });
    }
    let mut unit = vec![0.0; mechanism.nv()];
    let Some(one) = unit.get_mut(dof) else {
        return Err(Error::Binding {
            name: "dof".to_owned(),
            problem: format!(
                "there is no degree of freedom {dof}; there are {}, from zero",
                mechanism.nv()
            ),
        });
    };
    *one = 1.0;
    if names.len() > MOST_LINKS {
        return Err(Error::Unsupported {
            mechanism: mechanism.name().to_owned(),
            what: "shares of torques of this size",
            needs: "at most 500 links, as operators are dense matrices here; take a part of the robot",
        });
    }
    let dense = Dense::new(mechanism, q, qd, &[])?;
    let given: [(&str, &[f64]); 2] = [("x", &unit), ("qdd", qdd)];
    let value = |text: &str| -> Result<Vec<f64>> { Ok(dense.evaluate(&text.parse::<Expression>()?, &given)?.data) };
    let along = value("phi^* H^* x")?;
    let acceleration = value("M phi^* H^* qdd")?;
    let velocity = value("M phi^* (a - a0) + b")?;
    let gravity = value("M phi^* a0")?;
    // Rotors of followers by curves turn faster as they go: part of C alone.
    let rotor = value("A qdd + C - H phi (M phi^* a + b)")?[dof];
    let mut shares = TorqueShares {
        links: Vec::new(),
        rotor,
        total: rotor,
    };
    for (j, link) in names.into_iter().enumerate() {
        let six = 6 * j..6 * j + 6;
        let w = &along[six.clone()];
        if w.iter().all(|w| *w == 0.0) {
            continue;
        }
        let with = |x: &[f64]| w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        let share = LinkShare {
            link,
            acceleration: with(&acceleration[six.clone()]),
            velocity: with(&velocity[six.clone()]),
            gravity: with(&gravity[six.clone()]),
            outside: -outside.get(six).map_or(0.0, with),
        };
        shares.total += share.acceleration + share.velocity + share.gravity + share.outside;
        shares.links.push(share);
    }
    Ok(shares)
}
