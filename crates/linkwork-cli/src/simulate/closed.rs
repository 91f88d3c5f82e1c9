//! Loops of a robot's file as constraints.

use crate::user_error::UserError;
use anyhow::Result;
use linkwork::closed::{ClosedMechanism, ConstraintKind, Side};
use linkwork::simulate::State;
use linkwork::spatial::Pose;
use linkwork_formats::{Loop, Robot};

/// The robot with its loops closed; none if it has none.
pub(crate) fn close(robot: &Robot) -> Result<Option<ClosedMechanism>> {
    if robot.loops.is_empty() {
        return Ok(None);
    }
    Ok(Some(robot.closed()?))
}

/// Holds links where they are at a state, as feet that stand on something that is not simulated.
pub(crate) fn stand(robot: &mut Robot, names: &[&str], state: &State) -> Result<()> {
    let m = &robot.mechanism;
    let mut workspace = m.workspace();
    let mut posed = workspace.at(&state.q)?;
    for &name in names {
        let pose = posed.pose(m.frame(name)?)?;
        let frame = m.frames().iter().find(|frame| frame.name == name);
        let second = frame.map_or_else(|| (name.to_owned(), Pose::IDENTITY), |f| (f.link.clone(), f.pose));
        robot.loops.push(Loop {
            name: format!("{name} stands"),
            kind: ConstraintKind::Weld,
            side: Side::Both,
            first: ("world".to_owned(), pose),
            second,
        });
    }
    Ok(())
}

/// Brings a state onto the constraints.
pub(crate) fn settle(closed: &ClosedMechanism, state: &mut State) -> Result<()> {
    let assembled = closed.assemble(&state.q).and_then(|q| {
        let mut v = state.v.clone();
        closed.workspace().at(&q)?.project_velocity(&mut v)?;
        Ok((q, v))
    });
    let wrong = |e: linkwork::Error| UserError::usage(e.to_string(), "start nearer to where the loops close, with --q");
    (state.q, state.v) = assembled.map_err(wrong)?;
    Ok(())
}
