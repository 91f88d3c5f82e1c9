//! The order in which other libraries number joints.

use linkwork::Mechanism;
use linkwork::model::{JointKind, WORLD};
use std::collections::HashMap;

/// An order of joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// As in the file, which is the order of the mechanism's coordinates.
    File,
    /// Depth first, as MuJoCo has it; joints on one link in the order of the file.
    Mujoco,
    /// Depth first, by the names of joints, as Pinocchio has it for URDF.
    Pinocchio,
    /// Depth first, joints on one link in the order of the file, and free bodies after all else that stands on the world, in
    /// the order of links, as Drake has it.
    Drake,
}

/// The moving joints in an order, by their places in [`Mechanism::joints`]. Joints that follow others are among them.
pub fn joint_order(mechanism: &Mechanism, order: Order) -> Vec<usize> {
    let joints = mechanism.joints();
    let moves = |j: &usize| joints[*j].kind.nv() > 0;
    if order == Order::File {
        return (0..joints.len()).filter(moves).collect();
    }
    let mut carried: HashMap<&str, Vec<usize>> = HashMap::new();
    for (j, joint) in joints.iter().enumerate() {
        carried.entry(&joint.parent).or_default().push(j);
    }
    if order == Order::Pinocchio {
        for siblings in carried.values_mut() {
            siblings.sort_by_key(|&j| &joints[j].name);
        }
    }
    if order == Order::Drake {
        let places: HashMap<&str, usize> = mechanism
            .links()
            .iter()
            .enumerate()
            .map(|(i, l)| (&*l.name, i))
            .collect();
        for siblings in carried.values_mut() {
            let floats = |j: usize| joints[j].kind == JointKind::Free;
            siblings.sort_by_key(|&j| (floats(j), if floats(j) { places[&*joints[j].child] } else { 0 }));
        }
    }
    let mut found = Vec::with_capacity(joints.len());
    let of = |link: &str| carried.get(link).map_or(&[][..], Vec::as_slice);
    let mut waiting: Vec<usize> = of(WORLD).iter().rev().copied().collect();
    while let Some(j) = waiting.pop() {
        found.push(j);
        waiting.extend(of(&joints[j].child).iter().rev());
    }
    found.retain(moves);
    found
}
