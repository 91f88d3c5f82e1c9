//! Pushes that never end.

use crate::simulate::push::force_of;
use crate::user_error::UserError;
use anyhow::Result;
use linkwork::state_space::ExternalForce;
use linkwork::{Mechanism, Reference};

/// How a push is written.
pub(super) const FORM: &str = "FRAME:FX,FY,FZ[,NX,NY,NZ]";

/// What tells the names of frames.
pub(super) const FRAMES: &str = "`linkwork info ROBOT` lists the links, and with --json the other frames too";

/// A push as `linkwork simulate` gives it while it lasts: along the world's axes, at the origin of the frame, whose name
/// comes with it.
pub(super) fn parse(text: &str, mechanism: &Mechanism) -> Result<(String, ExternalForce)> {
    let wrong = |problem: String| {
        let hint = format!("write it as {FORM}: newtons and newton metres along the world's axes");
        UserError::usage(format!("--push {text}: {problem}"), hint)
    };
    // A frame's name may hold colons; the force does not.
    let Some((name, force)) = text.rsplit_once(':') else {
        return Err(wrong("its frame or its force is missing".to_owned()));
    };
    let force = force_of(force).map_err(wrong)?;
    let frame = mechanism.frame(name);
    let frame =
        frame.map_err(|e| UserError::usage(format!("--push {text}: {e}"), format!("{FRAMES}; {FORM} is a push")))?;
    let push = ExternalForce {
        frame,
        reference: Reference::Aligned,
        force,
    };
    Ok((name.to_owned(), push))
}
