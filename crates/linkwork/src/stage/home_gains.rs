//! G in the world's axes at home, where the rigid steps φ of a tree are identities.

use super::riccati::Riccati;
use super::world::World;
use crate::model::Compiled;
use crate::scalar::Scalar;
use crate::spatial::Force;

/// One degree of freedom, seen from home.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HomeGain<S> {
    /// G.
    pub(crate) g: Force<S>,
    /// D^-½.
    pub(crate) d_root: S,
}

impl<S: Scalar> HomeGain<S> {
    pub(crate) const ZERO: Self = Self {
        g: Force::ZERO,
        d_root: S::ZERO,
    };
}

/// Link by link.
#[inline(always)]
pub(crate) fn fill<S: Scalar>(m: &Compiled, world: &World<S>, riccati: &Riccati<S>, out: &mut [HomeGain<S>]) {
    for k in 0..m.bodies.len() {
        let (body, pose) = (&m.bodies[k], &world.poses[k]);
        for v in body.v..body.v + body.dofs {
            let gain = &riccati.gains[v];
            out[v] = HomeGain {
                g: pose.force_in(Force::from_array(gain.g)),
                d_root: gain.d_inv.sqrt(),
            };
        }
    }
}
