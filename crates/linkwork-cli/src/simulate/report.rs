//! What came of a simulation, for people and for programs.

use crate::energy::Energy;
use crate::style::{self, grouped, pad, paint};
use anyhow::Result;
use serde::Serialize;
use std::io::Write;

/// The whole of it.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) robot: String,
    pub(crate) nq: usize,
    pub(crate) nv: usize,
    pub(crate) integrator: &'static str,
    pub(crate) equations: &'static str,
    /// Seconds simulated, and how many were asked for.
    pub(crate) seconds: f64,
    pub(crate) asked_seconds: f64,
    pub(crate) interrupted: bool,
    pub(crate) steps: u64,
    pub(crate) rejected_steps: u64,
    pub(crate) wall_seconds: f64,
    pub(crate) real_time_factor: f64,
    /// The widest gap of closed loops, in rad or m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) closure: Option<f64>,
    /// What touching came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) contact: Option<super::contact_run::Summary>,
    pub(crate) energy: Energy,
    /// The last state.
    pub(crate) end: End,
    pub(crate) rows: usize,
    pub(crate) written: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct End {
    pub(crate) t: f64,
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
}

impl Report {
    /// To standard output.
    pub(crate) fn print(&self, json: bool) -> Result<()> {
        let mut out = anstream::stdout();
        if json {
            writeln!(out, "{}", serde_json::to_string_pretty(self)?)?;
            return Ok(());
        }
        let freedom = if self.nv == 1 { "degree" } else { "degrees" };
        let title = format!("{}, {} {freedom} of freedom", self.robot, self.nv);
        let how = format!("{}, {} equations", self.integrator, self.equations);
        writeln!(out, "{}  {}\n", paint(style::HEAD, &title), paint(style::FAINT, &how))?;
        let mut row = |label: &str, value: String| writeln!(out, "  {} {value}", pad(label, 14));
        let simulated = if self.seconds < self.asked_seconds {
            format!("{} s of {} s", self.seconds, self.asked_seconds)
        } else {
            format!("{} s", self.seconds)
        };
        row("simulated", simulated)?;
        let rejected = match self.rejected_steps {
            0 => String::new(),
            n => format!(", {} more were too long", grouped(n)),
        };
        let plural = if self.steps == 1 { "step" } else { "steps" };
        row("steps", format!("{} {plural}{rejected}", grouped(self.steps)))?;
        let faster = if self.real_time_factor >= 10.0 {
            grouped(self.real_time_factor.round() as u64)
        } else {
            format!("{:.2}", self.real_time_factor)
        };
        row("speed", format!("{faster} × real time, {:.3} s", self.wall_seconds))?;
        let Energy {
            start,
            end,
            peak_kinetic,
            largest_change,
            conserved,
        } = self.energy;
        row(
            "energy",
            format!("{start:.6} J at the start, {end:.6} J at the end, up to {peak_kinetic:.6} J kinetic"),
        )?;
        if conserved {
            row(
                "energy drift",
                format!("{largest_change:.1e} J at most; nothing gives or takes energy"),
            )?;
        } else {
            row("energy change", format!("{largest_change:.6} J at most"))?;
        }
        if let Some(closure) = self.closure {
            row("loops", format!("open by {closure:.1e} rad or m at most"))?;
        }
        if let Some(contact) = &self.contact {
            row("contacts", contact.words())?;
        }
        for file in &self.written {
            row("written", file.clone())?;
        }
        Ok(())
    }
}
