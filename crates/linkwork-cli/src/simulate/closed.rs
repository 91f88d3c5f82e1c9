//! Loops of a robot's file as constraints.

use crate::complaint::Complaint;
use anyhow::Result;
use linkwork::closed::ClosedMechanism;
use linkwork::simulate::State;
use linkwork_formats::Robot;

/// The robot with its loops closed; none if it has none.
pub(crate) fn close(robot: &Robot) -> Result<Option<ClosedMechanism>> {
    if robot.loops.is_empty() {
        return Ok(None);
    }
    Ok(Some(robot.closed()?))
}

/// Brings a state onto the constraints.
pub(crate) fn settle(closed: &ClosedMechanism, state: &mut State) -> Result<()> {
    let assembled = closed.assemble(&state.q).and_then(|q| {
        let mut v = state.v.clone();
        closed.workspace().at(&q)?.project_velocity(&mut v)?;
        Ok((q, v))
    });
    let wrong = |e: linkwork::Error| Complaint::usage(e.to_string(), "start nearer to where the loops close, with --q");
    (state.q, state.v) = assembled.map_err(wrong)?;
    Ok(())
}
