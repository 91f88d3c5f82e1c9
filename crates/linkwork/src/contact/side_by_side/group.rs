//! As many worlds as a register has lanes, each on its own way.

use super::seat::Seat;
use super::shared::Shared;
use super::{Crew, Next, Seen, World};
use crate::contact::operator::{Alone, now};
use crate::contact::rows::check;
use crate::contact::step::State;
use crate::contact::{Contact, Stepper};
use crate::model::FrameId;
use crate::simd::{Instructions, Lanes};
use crate::spatial::{Force, Motion, Pose};
use crate::{Mechanism, Result};
use core::cell::RefCell;
use core::task::{Context, Waker};

/// As many worlds as a register has lanes.
pub(super) struct Group<S: 'static> {
    shared: RefCell<Shared<S>>,
    steppers: Vec<Stepper>,
    instructions: Instructions,
}

impl<S: Lanes<Element = f64>> Group<S> {
    pub(super) fn new(stepper: &Stepper, frames: &[FrameId]) -> Self {
        Self {
            shared: RefCell::new(Shared::new(&stepper.mechanism, frames)),
            steppers: vec![stepper.clone(); S::LANES],
            instructions: Instructions::detect(),
        }
    }
}

impl<S: Lanes<Element = f64>> Crew for Group<S> {
    fn width(&self) -> usize {
        S::LANES
    }

    fn roll(&mut self, worlds: &mut [&mut dyn World]) {
        let shared = &self.shared;
        shared.borrow_mut().asks.fill(None);
        let seat = |lane| Seat {
            lane,
            shared,
            instructions: self.instructions,
        };
        let mut rolls: Vec<_> = worlds
            .iter_mut()
            .zip(&mut self.steppers)
            .enumerate()
            .map(|(lane, (world, stepper))| Some(Box::pin(stepper.roll(seat(lane), &mut **world))))
            .collect();
        let mut context = Context::from_waker(Waker::noop());
        let mut ready = vec![true; rolls.len()];
        loop {
            for (at, _) in rolls.iter_mut().zip(&ready).filter(|(_, ready)| **ready) {
                if let Some(roll) = at
                    && roll.as_mut().poll(&mut context).is_ready()
                {
                    *at = None;
                }
            }
            let mut shared = shared.borrow_mut();
            let Some(ask) = shared.most_wanted() else { return };
            shared.answer(ask);
            for (ready, asked) in ready.iter_mut().zip(&mut shared.asks) {
                *ready = *asked == Some(ask);
                if *ready {
                    *asked = None;
                }
            }
        }
    }
}

impl Stepper {
    async fn roll<S: Lanes<Element = f64>>(&mut self, mut seat: Seat<'_, S>, world: &mut dyn World) {
        let (mut q, nv) = (self.mechanism.neutral(), self.mechanism.nv());
        let [mut v, mut torque] = [(); 2].map(|()| vec![0.0; nv]);
        let frames = seat.shared.borrow().frames.len();
        let (mut poses, mut motions) = (vec![Pose::IDENTITY; frames], vec![Motion::ZERO; frames]);
        loop {
            match world.next(&mut q, &mut v, &mut torque) {
                Next::Start => self.forget(),
                Next::Step => {}
                Next::End => return,
            }
            let places = (&mut poses[..], &mut motions[..]);
            let done = self
                .step_beside(&mut seat, world, (&mut q, &mut v), &torque, places)
                .await;
            let report = done.map(|()| &self.work.report);
            world.done(&q, &v, report);
        }
    }

    async fn step_beside<S: Lanes<Element = f64>>(
        &mut self,
        seat: &mut Seat<'_, S>,
        world: &mut dyn World,
        (q, v): (&mut [f64], &mut [f64]),
        torque: &[f64],
        (poses, motions): (&mut [Pose], &mut [Motion]),
    ) -> Result<()> {
        let m = &self.mechanism;
        m.check_configuration("q", q)?;
        m.check_vector("v", v)?;
        m.check_vector("torque", torque)?;
        seat.configure(q, v, poses, motions).await;
        let contacts = world.contacts(&Seen { q, v, poses, motions })?;
        let work = &mut self.work;
        check(m, contacts, &mut work.order)?;
        work.torque.copy_from_slice(torque);
        work.resistance.fill(0.0);
        work.loads.fill(Force::ZERO);
        let given = State { m, closed: None, q, v };
        if contacts.iter().all(|contact| suits(m, contact)) {
            work.solve(&given, seat, contacts).await?;
        } else {
            let mut posed = self.workspace.at(q)?;
            let mut alone = Alone {
                posed: &mut posed,
                memory: &mut self.augmented,
            };
            now(work.solve(&given, &mut alone, contacts))?;
        }
        self.advance(q, v)?;
        Ok(())
    }
}

/// Whether a contact is of the kind that is stepped in lanes: of one moving link, and without bouncing.
fn suits(m: &Mechanism, contact: &Contact) -> bool {
    let moves = |frame: FrameId| m.placed[frame.index()].body.is_some();
    !(moves(contact.a) && moves(contact.b)) && contact.surface.restitution == 0.0
}
