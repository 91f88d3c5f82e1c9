//! What pages ask a show for.

use super::{Show, Source};
use crate::command::Command;
use crate::frame::Shown;
use linkwork::closed::ClosedMechanism;
use linkwork::spatial::Vec3;
use std::time::Instant;

impl Show {
    /// Does as a page asks; whether something is to be drawn anew.
    pub(super) fn obey(&mut self, command: Command) -> bool {
        match self.try_obey(command) {
            Ok(()) => self.tell(),
            Err(problem) => self.complain(problem),
        }
        true
    }

    fn try_obey(&mut self, command: Command) -> Result<(), String> {
        let words = |e: linkwork::Error| e.to_string();
        let still = "nothing moves here; start with --simulate, or give a log";
        match command {
            Command::Set { joint, q } => self.set(joint, &q)?,
            Command::Configuration(q) => self.place(q, &[])?,
            Command::Show {
                articulated,
                operational,
            } => {
                self.shown = Shown {
                    articulated,
                    operational,
                }
            }
            Command::Modes => self.begin_modes(),
            Command::Mode(None) => {
                self.mode = None;
                self.set_running(false);
            }
            Command::Mode(Some(i)) if i < self.modes.len() => {
                self.set_running(false);
                self.mode = Some((i, Instant::now()));
            }
            Command::Mode(Some(i)) => return Err(format!("there is no mode {i}")),
            _ if matches!(self.source, Source::Still) => match command {
                Command::Reset => self.place(self.start.clone(), &[])?,
                Command::Pull { .. } | Command::Release => return Err("only a simulation can be pulled at".into()),
                _ => return Err(still.into()),
            },
            Command::Run => {
                self.mode = None;
                if let Source::Recording(log) = &self.source {
                    let (first, last) = log.span();
                    self.t = if self.t >= last { first } else { self.t };
                }
                self.set_running(true);
            }
            Command::Pause => self.set_running(false),
            Command::Speed(x) => {
                self.speed = x;
                self.set_running(self.running);
            }
            Command::Step => {
                self.mode = None;
                self.set_running(false);
                match &mut self.source {
                    Source::Simulation(run) => run.step().map_err(words)?,
                    Source::Recording(log) => {
                        let next = (log.row(self.t) + 1).min(log.rows().saturating_sub(1));
                        self.t = log.t[next];
                    }
                    Source::Still => {}
                }
            }
            Command::Reset => {
                self.mode = None;
                match &mut self.source {
                    Source::Simulation(run) => run.reset(),
                    Source::Recording(log) => self.t = log.span().0,
                    Source::Still => {}
                }
                self.set_running(false);
            }
            Command::Seek(t) => match &self.source {
                Source::Recording(log) => {
                    let (first, last) = log.span();
                    self.t = t.clamp(first, last);
                    self.set_running(self.running);
                }
                _ => return Err("only a log has a time to go to".into()),
            },
            Command::Pull { link, point, target } => {
                let Source::Simulation(run) = &mut self.source else {
                    return Err("only a simulation can be pulled at".into());
                };
                let name = self
                    .mechanism
                    .links()
                    .get(link)
                    .map(|l| &*l.name)
                    .ok_or("there is no such link")?;
                let id = self.mechanism.link(name).map_err(words)?;
                run.pull(id, Vec3::from(point), Vec3::from(target)).map_err(words)?;
            }
            Command::Release => {
                if let Source::Simulation(run) = &mut self.source {
                    run.release();
                }
            }
        }
        Ok(())
    }

    /// The configuration that is shown.
    pub(super) fn configuration(&self) -> Result<Vec<f64>, String> {
        match &self.source {
            Source::Still => Ok(self.q.clone()),
            Source::Simulation(run) => Ok(run.state().q.clone()),
            Source::Recording(log) => log
                .at(&self.mechanism, self.t)
                .map(|row| row.q)
                .map_err(|e| e.to_string()),
        }
    }

    /// Moves a joint; loops follow.
    fn set(&mut self, joint: usize, values: &[f64]) -> Result<(), String> {
        let joint = self.mechanism.joints().get(joint).ok_or("there is no such joint")?;
        let name = joint.name.clone();
        let id = self.mechanism.joint(&name).map_err(|e| e.to_string())?;
        let range = self.mechanism.q_range(id).map_err(|e| e.to_string())?;
        if range.len() != values.len() {
            return Err(format!(
                "joint `{name}` has {} coordinates, not {}",
                range.len(),
                values.len()
            ));
        }
        let mut q = self.configuration()?;
        q[range].copy_from_slice(values);
        self.place(q, &[&name])
    }

    fn place(&mut self, mut q: Vec<f64>, held: &[&str]) -> Result<(), String> {
        let words = |e: linkwork::Error| e.to_string();
        self.mechanism.normalise(&mut q).map_err(words)?;
        if let Some(closed) = &self.closed {
            q = led(closed, &self.configuration()?, &q, held).map_err(words)?;
        }
        // What cannot be computed with is refused before it is shown.
        self.framer.poses(&q).map_err(words)?;
        self.mode = None;
        match &mut self.source {
            Source::Still => self.q = q,
            Source::Simulation(run) => run.place(&q),
            Source::Recording(_) => return Err("a log shows what was recorded; joints are moved without one".into()),
        }
        Ok(())
    }
}

/// Leads a closed mechanism from a configuration to another in small steps, each of which closes the loops: they stay in the
/// form they have, where a wide step may turn them over.
fn led(closed: &ClosedMechanism, from: &[f64], to: &[f64], held: &[&str]) -> linkwork::Result<Vec<f64>> {
    const STEP: f64 = 0.1;
    let mechanism = closed.mechanism();
    let mut way = vec![0.0; mechanism.nv()];
    mechanism.difference(from, to, &mut way)?;
    let farthest = way.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let steps = (farthest / STEP).ceil().clamp(1.0, 100.0);
    way.iter_mut().for_each(|x| *x /= steps);
    let mut q = from.to_vec();
    let mut next = q.clone();
    for _ in 0..steps as usize {
        mechanism.integrate(&q, &way, &mut next)?;
        q = closed.assemble_holding(&next, held)?;
    }
    Ok(q)
}
