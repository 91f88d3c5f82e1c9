//! Joints that springs, dampers and dry friction resist.

use super::random::Random;
use linkwork::Mechanism;
use linkwork::model::JointKind;

/// The same mechanism with springs, dampers and dry friction at every joint, other ones along every degree of freedom.
pub fn resisted(mechanism: &Mechanism, seed: u64) -> Mechanism {
    let mut random = Random::new(seed ^ 0x5b41);
    let mut builder = Mechanism::builder(mechanism.name()).gravity(mechanism.gravity());
    for link in mechanism.links() {
        builder = builder.link(link.clone());
    }
    for joint in mechanism.joints() {
        let (mut joint, nv) = (joint.clone(), joint.kind.nv());
        let mut positive = |most: f64| (0..nv).map(|_| random.within(0.1, most)).collect::<Vec<_>>();
        (joint.stiffness, joint.damping, joint.friction) = (positive(5.0), positive(1.0), positive(0.5));
        joint.rest = match joint.kind {
            JointKind::Spherical => random.quaternion().to_vec(),
            JointKind::Free => [&random.quaternion()[..], &random.numbers(3, 1.0)].concat(),
            kind => random.numbers(kind.nq(), 1.0),
        };
        builder = builder.joint(joint);
    }
    for frame in mechanism.frames() {
        builder = builder.frame(&frame.name, &frame.link, frame.pose);
    }
    for coupling in mechanism.couplings() {
        builder = builder.couple(coupling.clone());
    }
    builder.build().unwrap_or_else(|e| panic!("{}: {e}", mechanism.name()))
}
