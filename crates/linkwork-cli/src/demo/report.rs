//! What the demonstration found, for people and for programs.

use super::Sample;
use super::laws::Law;
use crate::energy::{Energies, Energy};
use crate::style::{self, paint};
use anyhow::Result;
use serde::Serialize;
use std::io::Write;

/// The whole of it.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) robot: String,
    pub(crate) nq: usize,
    pub(crate) nv: usize,
    /// What happens to it.
    pub(crate) story: &'static str,
    pub(crate) laws: Vec<Law>,
    /// How many states the laws were checked at.
    pub(crate) states: usize,
    pub(crate) seconds: f64,
    pub(crate) step: f64,
    pub(crate) steps: u64,
    pub(crate) wall_seconds: f64,
    pub(crate) real_time_factor: f64,
    pub(crate) energy: Kept,
    pub(crate) plot: String,
}

/// How well energy was kept.
#[derive(Serialize)]
pub(crate) struct Kept {
    #[serde(flatten)]
    pub(crate) energy: Energy,
    /// The largest change as a share of the peak kinetic energy.
    pub(crate) relative_drift: f64,
    pub(crate) kept: bool,
}

/// What a step of a millisecond may lose, as a share of the peak kinetic energy.
const DRIFT: f64 = 1e-4;

impl Kept {
    pub(crate) fn along(samples: &[Sample]) -> Self {
        let mut energies = Energies::default();
        samples.iter().for_each(|s| energies.add(s.kinetic, s.potential));
        let energy = energies.told(true);
        let relative_drift = match energy.largest_change {
            0.0 => 0.0,
            drift => drift / energy.peak_kinetic,
        };
        Self {
            energy,
            relative_drift,
            kept: relative_drift <= DRIFT,
        }
    }
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
        let title = format!("{}, {} {freedom} of freedom, {}", self.robot, self.nv, self.story);
        writeln!(out, "{}\n", paint(style::HEAD, &title))?;

        let at = format!(
            "largest residual at {} {}, relative and scaled by condition",
            self.states,
            if self.states == 1 { "state" } else { "states" }
        );
        writeln!(out, "{}  {}", paint(style::HEAD, "Laws"), paint(style::FAINT, &at))?;
        for law in &self.laws {
            writeln!(
                out,
                "  {} {} {} {:9.1e}",
                mark(law.holds),
                style::pad(law.name, 15),
                style::pad(law.law, 38),
                law.residual
            )?;
        }

        let how = format!("Runge–Kutta 4 on the manifold, steps of {} ms", self.step * 1e3);
        writeln!(out, "\n{}  {}", paint(style::HEAD, "Motion"), paint(style::FAINT, &how))?;
        let row =
            |out: &mut dyn Write, label: &str, value: String| writeln!(out, "    {} {value}", style::pad(label, 15));
        let pace = format!("{} in {:.3} s", style::grouped(self.steps), self.wall_seconds);
        row(&mut out, "steps", pace)?;
        let faster = style::grouped(self.real_time_factor.round() as u64);
        row(
            &mut out,
            "speed",
            format!("{faster} × real time ({} s simulated)", self.seconds),
        )?;
        let Kept {
            energy,
            relative_drift,
            kept,
        } = &self.energy;
        row(
            &mut out,
            "energy",
            format!(
                "{:.3} J in all, up to {:.3} J kinetic",
                energy.start, energy.peak_kinetic
            ),
        )?;
        writeln!(
            out,
            "  {} {} {:.1e} J, {:.1e} of the peak kinetic energy",
            mark(*kept),
            style::pad("energy drift", 15),
            energy.largest_change,
            relative_drift
        )?;
        writeln!(out, "\n{}  {}", paint(style::HEAD, "Plot"), self.plot)?;
        Ok(())
    }
}

fn mark(good: bool) -> String {
    if good {
        paint(style::GOOD, "✓")
    } else {
        paint(style::BAD, "✗")
    }
}
