//! What is printed.

use super::Found;
use crate::numbers::significant;
use crate::style::{self, pad};
use anyhow::Result;
use linkwork::state_space::Pole;
use std::io::Write;

/// As many torques are printed.
const FEW: usize = 12;

/// The torques at the point, the poles and the regulator, as tables.
pub(super) fn report(name: &str, found: &Found<'_>) -> Result<()> {
    let mut out = anstream::stdout();
    let model = found.model;
    let time = match model.step {
        None => "continuous".to_owned(),
        Some(h) => format!("steps of {h:?} s"),
    };
    let (states, inputs) = (model.states.len(), model.inputs.len());
    let reached = model.controllable_states()?;
    let head = style::paint(style::HEAD, name);
    writeln!(
        out,
        "{head}: {states} states, {inputs} inputs, {} outputs, {time}",
        model.outputs.len()
    )?;
    let words = if reached == states {
        "controllable".to_owned()
    } else {
        format!("{reached} of {states} states can be controlled")
    };
    writeln!(out, "{words}\n")?;
    torques(&mut out, found)?;
    table(&mut out, "poles", model.step, found.poles)?;
    if let (Some(gain), Some(closed)) = (found.gain, found.closed) {
        writeln!(out)?;
        table(&mut out, "poles with the regulator", model.step, closed)?;
        writeln!(
            out,
            "\n{}",
            style::paint(style::HEAD, "gain K: torques are those at the point − Kx")
        )?;
        for (input, row) in model.inputs.iter().zip(gain.chunks(states.max(1))) {
            let numbers: Vec<String> = row.iter().map(|x| significant(*x, 6)).collect();
            writeln!(out, "  {} {}", pad(input, 20), numbers.join("  "))?;
        }
    }
    Ok(())
}

/// The torques about which inputs are changes.
fn torques(out: &mut impl Write, found: &Found<'_>) -> Result<()> {
    let tau = found.point.torques();
    if tau.iter().all(|x| *x == 0.0) {
        return Ok(writeln!(out, "no torques at that point\n")?);
    }
    if tau.len() > FEW {
        let many = tau.len();
        return Ok(writeln!(
            out,
            "{many} torques at that point, which --json and --out tell\n"
        )?);
    }
    writeln!(
        out,
        "{} {}",
        style::paint(style::HEAD, &pad("torques at that point", 26)),
        style::paint(style::FAINT, "N m or N")
    )?;
    for (joint, x) in found.model.states.iter().zip(tau) {
        writeln!(out, "  {} {:>14}", pad(joint, 20), significant(x, 6))?;
    }
    Ok(writeln!(out)?)
}

fn table(out: &mut impl Write, title: &str, step: Option<f64>, poles: &[Pole]) -> Result<()> {
    let unit = if step.is_none() { ["1/s", "rad/s"] } else { ["", ""] };
    writeln!(
        out,
        "{} {}",
        style::paint(style::HEAD, &pad(title, 39)),
        style::paint(style::FAINT, "frequency Hz    damping")
    )?;
    for pole in poles {
        // A discrete pole z stands for the continuous log z / h.
        let (size, damping) = match step {
            None => (pole.size(), pole.damping()),
            Some(h) => {
                let (re, im) = (pole.size().ln() / h, pole.im.atan2(pole.re) / h);
                let size = re.hypot(im);
                (size, if size == 0.0 { 0.0 } else { -re / size })
            }
        };
        // What is this little of a pole, rounding left.
        let part = |x: f64| {
            let kept = if x.abs() > 1e-13 * pole.size() { x } else { 0.0 };
            significant(kept, 6)
        };
        let re = part(pole.re);
        let number = if pole.im == 0.0 {
            format!("{re:>13} {}", unit[0])
        } else {
            let sign = if pole.im < 0.0 { '−' } else { '+' };
            format!("{re:>13} {sign} {}i {}", part(pole.im.abs()), unit[1])
        };
        let (hertz, damping) = if size.is_finite() {
            (
                significant(size / core::f64::consts::TAU, 5),
                significant(if damping.abs() > 1e-13 { damping } else { 0.0 }, 4),
            )
        } else {
            ("–".to_owned(), "–".to_owned())
        };
        writeln!(out, "{} {hertz:>12} {damping:>10}", pad(&number, 39))?;
    }
    Ok(())
}
