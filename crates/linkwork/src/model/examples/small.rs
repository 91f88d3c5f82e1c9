//! Textbook mechanisms.

use super::built;
use crate::Mechanism;
use crate::model::{Joint, Link, Motor};
use crate::spatial::{Inertia, Pose, Vec3};

const Y: [f64; 3] = [0.0, 1.0, 0.0];

/// A thin rod of 1 kg and 1 m, hanging along −z at q = 0.
fn rod(name: &str) -> Link {
    Link::new(name, Inertia::rod(1.0, [0.0, 0.0, -1.0]))
}

fn tip() -> Pose {
    Pose::from_translation([0.0, 0.0, -1.0])
}

/// A rod of 1 kg and 1 m that swings about y; it hangs at q = 0.
pub fn pendulum() -> Mechanism {
    built(
        Mechanism::builder("pendulum")
            .link(rod("rod"))
            .joint(
                Joint::continuous("pivot", Y)
                    .between("world", "rod")
                    .at([0.0, 0.0, 1.5]),
            )
            .frame("tip", "rod", tip()),
    )
}

/// Two rods of 1 kg and 1 m, one below the other.
pub fn double_pendulum() -> Mechanism {
    built(
        Mechanism::builder("double_pendulum")
            .link(rod("upper"))
            .link(rod("lower"))
            .joint(
                Joint::continuous("shoulder", Y)
                    .between("world", "upper")
                    .at([0.0, 0.0, 2.5]),
            )
            .joint(Joint::continuous("elbow", Y).between("upper", "lower").placed(tip()))
            .frame("tip", "lower", tip()),
    )
}

/// A cart of 1 kg on a rail along x, with a pole of 0.1 kg and 1 m that stands at q = 0. A motor drives the
/// cart; nothing drives the pole.
pub fn cart_pole() -> Mechanism {
    built(
        Mechanism::builder("cart_pole")
            .link(Link::new("cart", Inertia::cuboid(1.0, [0.4, 0.2, 0.1])))
            .link(Link::new("pole", Inertia::rod(0.1, [0.0, 0.0, 1.0])))
            .joint(
                Joint::prismatic("rail", [1.0, 0.0, 0.0])
                    .between("world", "cart")
                    .position_limits(-2.4, 2.4)
                    .effort_limit(10.0),
            )
            .joint(Joint::continuous("hinge", Y).between("cart", "pole"))
            .motor(Motor::on("rail"))
            .frame("tip", "pole", Pose::from_translation(Vec3::new(0.0, 0.0, 1.0))),
    )
}
