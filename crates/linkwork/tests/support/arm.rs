//! The arm that operations are counted on.

use super::random::Random;
use linkwork::Mechanism;
use linkwork::model::{Joint, Link};
use linkwork::spatial::{Pose, Rotation};

/// A revolute arm in which nothing is parallel, orthogonal or zero.
pub fn general_arm(n: usize) -> Mechanism {
    let mut random = Random::new(6);
    let mut builder = Mechanism::builder(format!("general{n}")).gravity([0.3, -0.4, -9.7]);
    for k in 0..n {
        let inner = if k == 0 {
            "world".to_owned()
        } else {
            format!("link{}", k - 1)
        };
        let mut inertia = random.inertia();
        inertia.com = random.vector(0.2);
        let placed = Pose::new(Rotation::from_quaternion(random.quaternion()), random.vector(0.5));
        let joint = Joint::revolute(format!("joint{k}"), random.direction());
        builder = builder
            .link(Link::new(format!("link{k}"), inertia))
            .joint(joint.between(inner, format!("link{k}")).placed(placed));
    }
    builder.build().unwrap()
}
