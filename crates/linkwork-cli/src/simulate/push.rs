//! Pushes from outside.

use crate::user_error::UserError;
use anyhow::Result;
use linkwork::model::FrameId;
use linkwork::spatial::Force;
use linkwork::workspace::Moving;
use linkwork::{Mechanism, Reference};

/// A force on a frame for a while.
#[derive(Clone)]
pub(crate) struct Push {
    frame: FrameId,
    from: f64,
    to: f64,
    force: Force,
}

/// How a push is written.
pub(crate) const FORM: &str = "FRAME:FROM:TO:FX,FY,FZ[,NX,NY,NZ]";

impl Push {
    pub(crate) fn parse(text: &str, mechanism: &Mechanism) -> Result<Self> {
        let wrong = |problem: String| {
            let hint = format!("write it as {FORM}: seconds, newtons and newton metres along the world's axes");
            UserError::usage(format!("--push {text}: {problem}"), hint)
        };
        // A frame's name may hold colons; the rest does not.
        let mut parts = text.rsplitn(4, ':');
        let (Some(force), Some(to), Some(from), Some(frame)) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong("some of its four parts are missing".to_owned()));
        };
        let seconds = |word: &str| number(word).map_err(wrong);
        let (from, to) = (seconds(from)?, seconds(to)?);
        if to <= from {
            return Err(wrong(format!("it ends at {to} s, before it starts")));
        }
        Ok(Self {
            frame: mechanism.frame(frame).map_err(|e| wrong(e.to_string()))?,
            from,
            to,
            force: force_of(force).map_err(wrong)?,
        })
    }

    /// Acts on a mechanism at a time, if it is its time.
    pub(crate) fn act(&self, t: f64, moving: &mut Moving<'_>) -> linkwork::Result<()> {
        if (self.from..self.to).contains(&t) {
            moving.apply_force(self.frame, Reference::Aligned, self.force)?;
        }
        Ok(())
    }
}

/// FX,FY,FZ[,NX,NY,NZ] as a force, or what is wrong with it.
pub(crate) fn force_of(text: &str) -> Result<Force, String> {
    let numbers = text.split(',').map(number).collect::<Result<Vec<f64>, String>>()?;
    match numbers[..] {
        [fx, fy, fz] => Ok(Force::new([0.0; 3], [fx, fy, fz])),
        [fx, fy, fz, nx, ny, nz] => Ok(Force::new([nx, ny, nz], [fx, fy, fz])),
        _ => Err(format!("{} numbers where 3 or 6 are needed", numbers.len())),
    }
}

/// The largest number that the library computes with.
pub(crate) const LARGEST: f64 = 1e60;

fn number(word: &str) -> Result<f64, String> {
    match word.trim().parse::<f64>() {
        Ok(x) if x.abs() > LARGEST => Err(format!("{x:e} is too large; {LARGEST:e} is the most")),
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(format!("`{word}` is not a number")),
    }
}

/// The times at which pushes begin and end.
pub(crate) fn changes(pushes: &[Push]) -> Vec<f64> {
    let mut times: Vec<f64> = pushes.iter().flat_map(|p| [p.from, p.to]).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}
