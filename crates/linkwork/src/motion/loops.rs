//! Constraints that close loops, as tasks.

use super::task::Task;
use crate::Result;
use crate::closed::{ClosedMechanism, ConstraintKind};
use crate::spatial::{Pose, Rotation};

/// What closes each loop, with the constraint's name: frame b is to be where frame a wants it.
pub(super) fn tasks(closed: &ClosedMechanism) -> Result<Vec<(String, Task)>> {
    let m = closed.mechanism();
    let mut out = Vec::new();
    for constraint in closed.constraints() {
        let (a, b) = (m.frame(&constraint.a)?, m.frame(&constraint.b)?);
        let origin = Task::position(b, [0.0; 3]);
        let parts = match constraint.kind {
            ConstraintKind::Weld => vec![Task::pose(b, Pose::IDENTITY)],
            ConstraintKind::Point => vec![origin],
            ConstraintKind::Hinge { axis } => vec![origin, Task::direction(b, axis, axis)],
            ConstraintKind::Slider { axis } => {
                let across = Task {
                    basis: super::seen::axes_along(axis * axis.norm().recip()),
                    ..origin.axis_weights([0.0, 1.0, 1.0])
                };
                vec![Task::orientation(b, Rotation::IDENTITY), across]
            }
            ConstraintKind::Distance { length } => vec![Task::distance(b, a, length)],
        };
        for part in parts {
            let mut task = part.relative_to(a);
            task.check(m)?;
            out.push((constraint.name.clone(), task));
        }
    }
    Ok(out)
}
