//! Joints with one coordinate, as ROS tells of them: programs that draw robots listen to these.

use super::mcap::Cdr;
use crate::simulate::record::{Quantity, Record};
use linkwork::Mechanism;
use linkwork::model::JointId;

/// ROS's own message for joints.
pub(super) const JOINT_STATES: &str = "\
std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
";

/// Which numbers of a row belong to which joint.
pub(super) struct JointStates {
    mechanism: Mechanism,
    joints: Vec<Place>,
}

struct Place {
    joint: JointId,
    /// Where the coordinate, its rate and its torque stand in a row; those of the joint it follows, if it follows one.
    q: usize,
    v: usize,
    /// None for a joint that follows another: no motor drives it.
    tau: Option<usize>,
}

impl JointStates {
    pub(super) fn new(mechanism: &Mechanism, form: &Record) -> Self {
        let start = |name: &str| {
            let before = form.quantities.iter().take_while(|q| q.name != name);
            before.map(Quantity::width).sum::<usize>()
        };
        let (q, v, tau) = (start("q"), start("v"), start("tau"));
        let single = mechanism.joints().iter().filter(|j| j.kind.nq() == 1);
        let places = single.filter_map(|j| {
            let joint = mechanism.joint(&j.name).ok()?;
            let leader = mechanism.follows(joint).ok()?;
            let source = leader.unwrap_or(joint);
            let (at_q, at_v) = (
                mechanism.q_range(source).ok()?.start,
                mechanism.v_range(source).ok()?.start,
            );
            Some(Place {
                joint,
                q: q + at_q,
                v: v + at_v,
                tau: leader.is_none().then_some(tau + at_v),
            })
        });
        Self {
            joints: places.collect(),
            mechanism: mechanism.clone(),
        }
    }

    /// Writes the message of a row.
    pub(super) fn write(&self, message: &mut Cdr, time: u64, row: &[f64]) -> linkwork::Result<()> {
        message.word((time / 1_000_000_000) as u32);
        message.word((time % 1_000_000_000) as u32);
        message.text("");
        let count = self.joints.len() as u32;
        message.word(count);
        for place in &self.joints {
            message.text(&self.mechanism.joints()[place.joint.index()].name);
        }
        let [mut positions, mut velocities, mut efforts] = [Vec::new(), Vec::new(), Vec::new()];
        for place in &self.joints {
            let [q, slope, _] = self.mechanism.coupling_at(place.joint, row[place.q])?;
            positions.push(q);
            velocities.push(slope * row[place.v]);
            efforts.push(place.tau.map_or(0.0, |i| row[i]));
        }
        for list in [positions, velocities, efforts] {
            message.word(count);
            list.into_iter().for_each(|x| message.double(x));
        }
        Ok(())
    }
}
