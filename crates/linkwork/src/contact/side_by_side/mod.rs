//! Worlds of one mechanism, stepped side by side: each has a lane of the registers.
//!
//! Every world steps by itself, with its own contacts and its own number of iterations, and waits wherever it asks for a sweep. When
//! all wait, the sweep that most of them ask for is run in all lanes, and those go on; the next configurations are taken in when all
//! worlds are done with the last ones. A lane computes what a world alone would, to the last bit, whatever the others do.

#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
mod group;
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
mod seat;
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
mod shared;

use super::{Contact, StepReport, Stepper};
use crate::Result;
use crate::model::FrameId;
use crate::spatial::{Motion, Pose};

/// What a world does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It starts anew: nothing is remembered of contacts.
    Start,
    /// It goes on.
    Step,
    /// It is done.
    End,
}

/// A world at a state.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Its configuration.
    pub q: &'a [f64],
    /// Its velocity.
    pub v: &'a [f64],
    /// Where the frames are that were asked for.
    pub poses: &'a [Pose],
    /// How they move, about their origins in the world's axes.
    pub motions: &'a [Motion],
}

/// A world that is stepped beside others.
pub trait World {
    /// What comes next: its state and torques, in the places of the last ones.
    fn next(&mut self, q: &mut [f64], v: &mut [f64], torque: &mut [f64]) -> Next;
    /// The contacts at its state.
    fn contacts(&mut self, seen: &Seen<'_>) -> Result<&[Contact]>;
    /// What a step ended in.
    fn done(&mut self, q: &[f64], v: &[f64], report: Result<&StepReport>);
}

/// Steps several worlds at once, in lanes.
pub struct SideBySide(Box<dyn Crew>);

impl core::fmt::Debug for SideBySide {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SideBySide").field("worlds", &self.worlds()).finish()
    }
}

/// Lanes of some width.
trait Crew: Send {
    fn width(&self) -> usize;
    fn roll(&mut self, worlds: &mut [&mut dyn World]);
}

impl SideBySide {
    /// Memory for worlds that are stepped as by a stepper, and are asked about by where some frames are. None where that is not faster:
    /// without the feature `lanes` or registers for it, with several trees, couplings, loops or limits of ball joints, and at tolerances below 10⁻¹¹.
    pub fn new(stepper: &Stepper, frames: &[FrameId]) -> Option<Self> {
        let bodies = &stepper.mechanism.compiled.bodies;
        let roots = bodies.iter().filter(|body| body.parent.is_none()).count();
        let balls = !stepper.work.ball_stops.is_empty();
        if stepper.mechanism.is_coupled() || stepper.is_exact() || balls || roots != 1 {
            return None;
        }
        crew(stepper, frames).map(Self)
    }

    /// How many worlds there is room for.
    pub fn worlds(&self) -> usize {
        self.0.width()
    }

    /// Steps worlds until all are done. No more than there is room for.
    pub fn roll(&mut self, worlds: &mut [&mut dyn World]) {
        assert!(worlds.len() <= self.worlds(), "more worlds than there is room for");
        self.0.roll(worlds);
    }
}

/// Lanes for a stepper's worlds, if the processor has registers for them.
#[cfg(all(target_arch = "x86_64", feature = "lanes"))]
fn crew(stepper: &Stepper, frames: &[FrameId]) -> Option<Box<dyn Crew>> {
    use crate::simd::{F64x4, F64x8, Instructions};
    use group::Group;
    let instructions = Instructions::detect();
    if instructions.avx512() {
        Some(Box::new(Group::<F64x8>::new(stepper, frames)))
    } else if instructions.avx2() {
        Some(Box::new(Group::<F64x4>::new(stepper, frames)))
    } else {
        None
    }
}

#[cfg(not(all(target_arch = "x86_64", feature = "lanes")))]
fn crew(_: &Stepper, _: &[FrameId]) -> Option<Box<dyn Crew>> {
    None
}
