//! Motors: those of joints that are there and can be driven.

use super::{Draft, joint_at};
use crate::report::Findings;
use crate::source::{At, shortened};
use linkwork::model::{JointKind, Motor};
use std::collections::{HashMap, HashSet};

/// What the file says of motors, if anything.
pub(crate) type Motors = Option<Vec<Motor>>;

impl Draft {
    /// Leaves out motors on joints that cannot be driven, and tells which joints have none.
    pub(super) fn check_motors(&mut self, f: &mut Findings) {
        let Some(motors) = &mut self.motors else { return };
        let joints: HashMap<&str, usize> = {
            let named = self.joints.iter().enumerate();
            named.map(|(i, j)| (j.item.name.as_str(), i)).collect()
        };
        let couplings: HashMap<&str, _> = self.couplings.iter().map(|c| (&*c.item.follower, &c.item)).collect();
        let curved = |name: &str| {
            let mut at = couplings.get(name);
            // Circles of couplings are reported by themselves.
            for _ in 0..couplings.len() {
                match at {
                    Some(c) if c.coefficients.len() > 2 => return true,
                    Some(c) => at = c.leader.as_deref().and_then(|l| couplings.get(l)),
                    None => return false,
                }
            }
            false
        };
        motors.retain(|motor| {
            let Some(&place) = joints.get(motor.joint.as_str()) else {
                let message = format!(
                    "motor `{}` drives a joint `{}` that does not exist",
                    shortened(&motor.name),
                    shortened(&motor.joint)
                );
                f.doubt(At::FILE, "motor", message, "correct the name, or remove the motor");
                return false;
            };
            let joint = &self.joints[place];
            let at = joint_at(joint);
            let name = shortened(&motor.name);
            let nv = joint.item.kind.nv();
            if nv == 0 || couplings.get(motor.joint.as_str()).is_some_and(|c| c.leader.is_none()) {
                let message = format!("the joint cannot move: its motor `{name}` is left out");
                f.note(at, "motor", message, "");
                return false;
            }
            if motor.dof >= nv {
                let message = format!(
                    "motor `{name}` drives its degree of freedom {}, from zero, but it has {nv}",
                    motor.dof
                );
                f.doubt(at, "motor", message, "correct the number, or remove the motor");
                return false;
            }
            if motor.gear == 0.0 || !motor.gear.is_finite() {
                let message = format!("the gear of its motor `{name}` is {}: it drives nothing", motor.gear);
                f.doubt(at, "motor", message, "give a ratio, or remove the motor");
                return false;
            }
            if motor.effort_limit.is_nan() || motor.effort_limit < 0.0 {
                let message = format!("the effort limit of its motor `{name}` is {}", motor.effort_limit);
                f.doubt(
                    at,
                    "motor",
                    message,
                    "give one that is not negative; the motor is left out",
                );
                return false;
            }
            if curved(&motor.joint) {
                let message = format!("it follows another joint by more than a ratio: its motor `{name}` is left out");
                f.doubt(at, "motor", message, "put the motor on the joint that leads");
                return false;
            }
            true
        });
        let driven: HashSet<&str> = motors.iter().map(|m| m.joint.as_str()).collect();
        let idle = |kind: &JointKind| matches!(kind, JointKind::Free | JointKind::Planar | JointKind::Fixed);
        let passive = self.joints.iter().filter(|j| {
            let name = j.item.name.as_str();
            !idle(&j.item.kind) && !driven.contains(name) && !couplings.contains_key(name)
        });
        let mut passive = passive.peekable();
        if let Some(first) = passive.peek().map(|j| joint_at(j)) {
            let message = match passive.count() {
                1 => "no motor drives this joint; the file names motors for others".to_owned(),
                n => format!(
                    "no motor drives this joint, as {} more; the file names motors for others",
                    n - 1
                ),
            };
            f.note(first, "undriven", message, "`--driven` says which joints motors drive");
        }
    }
}
