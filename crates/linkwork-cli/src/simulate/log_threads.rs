//! What runs beside a simulation: states become rows on one thread, and logs on another.

use super::contact_run::{Bearing, Forces};
use super::control::Stretch;
use super::log::Log;
use super::record::{Recorder, Summary};
use anyhow::Result;
use linkwork::simulate::State;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

/// So many states go to the recorder at once, unless they come slowly.
const PARCEL: usize = 64;
/// No state waits longer than this for others.
const PATIENCE: Duration = Duration::from_millis(250);
/// So often logs are handed to the system.
const FLUSH: Duration = Duration::from_millis(500);
/// So many parcels may wait: a simulation does not outrun its logs.
pub(super) const WAITING: usize = 64;

/// States, and what bears at each if anything can touch.
#[derive(Default)]
pub(super) struct Parcel {
    states: Vec<State>,
    contacts: Vec<Vec<Bearing>>,
    /// What sensors give, where that takes more than a state.
    measured: Vec<Vec<f64>>,
}

/// Rows of a log, and what bears at each.
pub(super) type Rows = (Vec<f64>, Vec<Vec<Bearing>>);

/// Records states as they come, and hands their rows on.
pub(super) fn listen(mut recorder: Recorder, parcels: &Receiver<Parcel>, rows: &SyncSender<Rows>) -> Result<Summary> {
    for Parcel {
        states,
        contacts,
        measured,
    } in parcels
    {
        // A writer that failed says why itself.
        let _ = rows.send((recorder.add(&states, &measured)?, contacts));
    }
    Ok(recorder.finish())
}

/// Writes rows to logs as they come. Where that fails, the run stops; the other logs keep what they have.
pub(super) fn keep(mut logs: Vec<Log>, rows: &Receiver<Rows>, stop: &AtomicBool) -> Result<()> {
    let done = write(&mut logs, rows);
    if done.is_err() {
        stop.store(true, Relaxed);
        // Until the run has ended: those who send must not wait.
        rows.iter().for_each(drop);
        // Those that can be ended are.
        for log in logs {
            let _ = log.finish();
        }
        return done;
    }
    let mut ended = Ok(());
    for log in logs {
        ended = ended.and(log.finish());
    }
    ended
}

fn write(logs: &mut [Log], rows: &Receiver<Rows>) -> Result<()> {
    let mut flushed = Instant::now();
    loop {
        match rows.recv_timeout(FLUSH) {
            Ok((rows, contacts)) => logs.iter_mut().try_for_each(|log| log.add(&rows, &contacts))?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if flushed.elapsed() >= FLUSH {
            logs.iter_mut().try_for_each(Log::flush)?;
            flushed = Instant::now();
        }
    }
}

/// Hands states on, and shows progress on a terminal when a run takes long.
pub(super) struct Listener {
    sender: SyncSender<Parcel>,
    parcel: Parcel,
    /// What bears now, if anything can touch.
    forces: Option<Forces>,
    sent: Instant,
    end: f64,
    begun: Instant,
    bar: Option<indicatif::ProgressBar>,
    shown: bool,
    stretch: Stretch,
    stop: &'static AtomicBool,
}

impl Listener {
    pub(super) fn new(
        sender: SyncSender<Parcel>,
        end: f64,
        stretch: Stretch,
        forces: Option<Forces>,
        stop: &'static AtomicBool,
    ) -> Self {
        let now = Instant::now();
        Self {
            sender,
            parcel: Parcel::default(),
            forces,
            sent: now,
            end,
            begun: now,
            bar: None,
            shown: std::io::stderr().is_terminal(),
            stretch,
            stop,
        }
    }

    fn send(&mut self) {
        let full = std::mem::take(&mut self.parcel);
        // A recorder that failed says why itself.
        let _ = self.sender.send(full);
        self.sent = Instant::now();
    }

    pub(super) fn end(mut self) {
        self.send();
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

impl linkwork::simulate::Listener for Listener {
    fn sample(&mut self, state: &State) {
        self.parcel.states.push(state.clone());
        if let Some((contacts, measured)) = self.forces.as_ref().map(Forces::get) {
            self.parcel.contacts.push(contacts);
            self.parcel.measured.extend(measured);
        }
        if self.parcel.states.len() == PARCEL || self.sent.elapsed() >= PATIENCE {
            self.send();
        }
    }

    fn goes_on(&mut self, state: &State, steps: u64) -> bool {
        if steps.is_multiple_of(256) {
            self.show(state.t);
        }
        !self.stop.load(Relaxed)
    }

    fn stretch(&mut self, from: f64, until: f64) {
        self.stretch.set(from, until);
    }
}

impl Listener {
    /// Progress.
    fn show(&mut self, t: f64) {
        const PATIENCE: Duration = Duration::from_millis(500);
        const PARTS: f64 = 1000.0;
        if !self.shown || self.begun.elapsed() < PATIENCE {
            return;
        }
        // What is left at the pace so far: the bar's own estimate knows only what it has seen.
        let left = self.begun.elapsed().as_secs_f64() * (self.end - t) / t.max(1e-9 * self.end);
        let left = indicatif::HumanDuration(Duration::from_secs_f64(left.min(1e9)));
        let (done, told) = ((PARTS * t / self.end) as u64, format!("{left} left"));
        match &self.bar {
            Some(bar) => {
                bar.set_position(done);
                bar.set_message(told);
            }
            None => {
                let form = "{wide_bar} {percent:>3} %, {msg}";
                let style = indicatif::ProgressStyle::with_template(form).expect("the form is right");
                let bar = indicatif::ProgressBar::new(PARTS as u64).with_style(style);
                // Nothing is drawn before both are known.
                let bar = bar.with_position(done).with_message(told);
                bar.tick();
                self.bar = Some(bar);
            }
        }
    }
}
