//! What runs beside a simulation: states become rows on one thread, and logs on another.

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

/// Records states as they come, and hands their rows on.
pub(super) fn listen(
    mut recorder: Recorder,
    states: &Receiver<Vec<State>>,
    rows: &SyncSender<Vec<f64>>,
) -> Result<Summary> {
    for states in states {
        // A writer that failed says why itself.
        let _ = rows.send(recorder.add(&states)?);
    }
    Ok(recorder.finish())
}

/// Writes rows to logs as they come. Where that fails, the run stops; the other logs keep what they have.
pub(super) fn keep(mut logs: Vec<Log>, rows: &Receiver<Vec<f64>>, stop: &AtomicBool) -> Result<()> {
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

fn write(logs: &mut [Log], rows: &Receiver<Vec<f64>>) -> Result<()> {
    let mut flushed = Instant::now();
    loop {
        match rows.recv_timeout(FLUSH) {
            Ok(rows) => logs.iter_mut().try_for_each(|log| log.add(&rows))?,
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
    sender: SyncSender<Vec<State>>,
    parcel: Vec<State>,
    sent: Instant,
    end: f64,
    begun: Instant,
    bar: Option<indicatif::ProgressBar>,
    shown: bool,
    stretch: Stretch,
    stop: &'static AtomicBool,
}

impl Listener {
    pub(super) fn new(sender: SyncSender<Vec<State>>, end: f64, stretch: Stretch, stop: &'static AtomicBool) -> Self {
        let now = Instant::now();
        Self {
            sender,
            parcel: Vec::with_capacity(PARCEL),
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
        let full = std::mem::replace(&mut self.parcel, Vec::with_capacity(PARCEL));
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
        self.parcel.push(state.clone());
        if self.parcel.len() == PARCEL || self.sent.elapsed() >= PATIENCE {
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
        let (end, begun) = (self.end, self.begun);
        let bar = self.bar.get_or_insert_with(|| {
            let form = "{wide_bar} {percent:>3} %, {msg}";
            let style = indicatif::ProgressStyle::with_template(form).expect("the form is right");
            indicatif::ProgressBar::new(PARTS as u64).with_style(style)
        });
        // What is left at the pace so far: the bar's own estimate knows only what it has seen.
        let left = begun.elapsed().as_secs_f64() * (end - t) / t.max(1e-9 * end);
        bar.set_message(format!(
            "{} left",
            indicatif::HumanDuration(Duration::from_secs_f64(left.min(1e9)))
        ));
        bar.set_position((PARTS * t / end) as u64);
    }
}
