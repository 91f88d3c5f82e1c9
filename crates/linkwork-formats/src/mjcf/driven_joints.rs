//! Which joints actuators drive, through which gears, and how hard.

use crate::actuators::Actuator;
use crate::draft::Draft;
use crate::report::Findings;
use crate::source::{At, shortened};
use linkwork::model::{JointKind, Motor};
use std::collections::HashMap;

/// The motors of a file's actuators: whatever its control law, an actuator on a joint drives it. Without actuators the file
/// says nothing of motors.
pub(super) fn read(draft: &mut Draft, f: &mut Findings) {
    if draft.actuators.is_empty() {
        return;
    }
    let joints = draft.joints.iter().map(|j| &j.item);
    let kinds: HashMap<&str, JointKind> = joints.map(|j| (j.name.as_str(), j.kind)).collect();
    let mut motors = Vec::new();
    for actuator in &draft.actuators {
        let joint = &actuator.target.name;
        let Some(kind) = kinds.get(joint.as_str()).filter(|_| actuator.target.kind == "joint") else {
            continue;
        };
        let Some((dof, gear)) = direction(*kind, &actuator.gear) else {
            let message = format!(
                "actuator `{}` drives several directions of `{}` at once, or forces along the world's axes: that is not modelled",
                shortened(&actuator.name),
                shortened(joint)
            );
            f.doubt(At::FILE, "actuator", message, "the robot moves without it");
            continue;
        };
        let motor = Motor::on(joint.clone()).named(actuator.name.clone());
        motors.push(motor.dof(dof).geared(gear).effort_limit(effort(actuator)));
    }
    draft.motors = Some(motors);
}

/// The degree of freedom that a gear drives, and its ratio; none where it drives several.
fn direction(kind: JointKind, gear: &[f64]) -> Option<(usize, f64)> {
    let all = |range: core::ops::Range<usize>| range.map(|i| gear.get(i).copied().unwrap_or(0.0)).collect::<Vec<_>>();
    let numbers = match kind {
        // MuJoCo puts translation first, and along the world's axes.
        JointKind::Free if all(0..3).iter().any(|x| *x != 0.0) => return None,
        JointKind::Free => all(3..6),
        JointKind::Spherical => all(0..3),
        _ => all(0..1),
    };
    let mut found = numbers.into_iter().enumerate().filter(|(_, x)| *x != 0.0);
    match (found.next(), found.next()) {
        (Some(one), None) => Some(one),
        (None, _) => Some((0, 0.0)),
        _ => None,
    }
}

/// The largest force of an actuator before its gear.
fn effort(actuator: &Actuator) -> f64 {
    let largest = |range: Option<[f64; 2]>| range.map_or(f64::INFINITY, |[a, b]| a.abs().max(b.abs()));
    let force = largest(actuator.force_range);
    match &*actuator.kind {
        // The force of a motor is its control.
        "motor" => force.min(largest(actuator.control_range)),
        _ => force,
    }
}
