//! Joints that one body of MJCF stands on together.

use linkwork::model::{Joint, JointKind, Link};
use linkwork::spatial::{Inertia, Pose};

/// MuJoCo's bodies have at most so many hinges, and so many slides.
const MOST: usize = 3;

/// The hinges and slides that a joint is made of in MJCF; none for others.
fn parts(kind: JointKind) -> Option<[usize; 2]> {
    match kind {
        JointKind::Revolute { .. } | JointKind::Continuous { .. } => Some([1, 0]),
        JointKind::Prismatic { .. } => Some([0, 1]),
        JointKind::Cylindrical { .. } => Some([1, 1]),
        JointKind::Universal { .. } => Some([2, 0]),
        JointKind::Translation => Some([0, 3]),
        JointKind::Planar => Some([1, 2]),
        _ => None,
    }
}

/// The joint, and those after it that the same body stands on: links between them that are there only because of that, as the
/// reader makes and names them, are no bodies.
///
/// `next` gives the link that a joint holds, and the only joint on it if nothing else is.
pub(super) fn stack<'a>(first: &'a Joint, next: impl Fn(&Joint) -> (&'a Link, Option<&'a Joint>)) -> Vec<&'a Joint> {
    let mut joints = vec![first];
    // After each joint: how many joints of MJCF it and those before it are, and the link there.
    let Some(mut sums) = parts(first.kind) else {
        return joints;
    };
    let mut links = Vec::new();
    loop {
        let (link, on) = next(joints[joints.len() - 1]);
        links.push((sums[0] + sums[1], link));
        let Some(joint) = on.filter(|on| link.inertia == Inertia::ZERO && on.origin == Pose::IDENTITY) else {
            break;
        };
        let Some(more) = parts(joint.kind) else { break };
        sums = [sums[0] + more[0], sums[1] + more[1]];
        if sums.iter().any(|n| *n > MOST) {
            break;
        }
        joints.push(joint);
    }
    let named = |end: usize| {
        let body = &links[end].1.name;
        let mut between = links[..end].iter();
        between.all(|(n, link)| link.name == format!("{body}_{n}"))
    };
    let end = (0..joints.len()).rev().find(|end| named(*end)).unwrap_or(0);
    joints.truncate(end + 1);
    joints
}
