//! Constraints that close loops, as tasks.

use super::task::Task;
use crate::closed::{ClosedMechanism, ConstraintKind, Side};
use crate::spatial::{Pose, Rotation, Vec3};
use crate::{Error, Result};

/// What closes each loop, with the constraint's name: frame b is to be where frame a wants it.
pub(super) fn tasks(closed: &ClosedMechanism) -> Result<Vec<(String, Task)>> {
    let m = closed.mechanism();
    let mut out = Vec::new();
    for constraint in closed.constraints() {
        if !closed.is_on(&constraint.name)? {
            continue;
        }
        let refused = |needs: &'static str| Error::Unsupported {
            mechanism: format!("{}` with the constraint `{}", m.name(), constraint.name),
            what: "inverse kinematics",
            needs,
        };
        if constraint.side != Side::Both {
            return Err(refused("constraints that hold both ways; switch one-sided ones off"));
        }
        let (a, b) = (m.frame(&constraint.a)?, m.frame(&constraint.b)?);
        let origin = Task::position(b, [0.0; 3]);
        let parts = match constraint.kind {
            ConstraintKind::Weld => vec![Task::pose(b, Pose::IDENTITY)],
            ConstraintKind::Point => vec![origin],
            ConstraintKind::Hinge { axis } => vec![origin, Task::direction(b, axis, axis)],
            ConstraintKind::Slider { axis } => {
                let across = Task {
                    basis: super::residual::axes_along(axis * axis.norm().recip()),
                    ..origin.axis_weights([0.0, 1.0, 1.0])
                };
                vec![Task::orientation(b, Rotation::IDENTITY), across]
            }
            ConstraintKind::Distance { length } => vec![Task::distance(b, a, length)],
            ConstraintKind::Directions { turns, shifts } => {
                let mut parts = vec![];
                if shifts.contains(&true) {
                    parts.push(origin.axis_weights(shifts.map(|held| f64::from(u8::from(held)))));
                }
                match turns {
                    [false, false, false] => {}
                    [true, true, true] => parts.push(Task::orientation(b, Rotation::IDENTITY)),
                    // Two turns leave the axis of the third.
                    [false, true, true] => parts.push(Task::direction(b, [1.0, 0.0, 0.0], [1.0, 0.0, 0.0])),
                    [true, false, true] => parts.push(Task::direction(b, [0.0, 1.0, 0.0], [0.0, 1.0, 0.0])),
                    [true, true, false] => parts.push(Task::direction(b, [0.0, 0.0, 1.0], [0.0, 0.0, 1.0])),
                    _ => return Err(refused("constraints that hold none, two or all of the turns")),
                }
                parts
            }
            // Velocities alone: every configuration will do.
            ConstraintKind::Rates { .. } => vec![],
            ConstraintKind::Rolling {
                radius,
                axis: None,
                normal,
            } => {
                let up: Vec3 = normal * normal.norm().recip();
                let height = Task::position(b, up * radius).axis_weights([1.0, 0.0, 0.0]);
                vec![Task {
                    basis: super::residual::axes_along(up),
                    ..height
                }]
            }
            ConstraintKind::Rolling { axis: Some(_), .. } => {
                return Err(refused("no rolling wheels, whose height depends on how they lean"));
            }
        };
        for part in parts {
            let mut task = part.relative_to(a);
            task.check(m)?;
            out.push((constraint.name.clone(), task));
        }
    }
    Ok(out)
}
