//! `linkwork check`: what is wrong with a robot's file, and where.

use crate::ExitCode;
use crate::robot::Loading;
use crate::style;
use crate::user_error::UserError;
use anyhow::Result;
use clap::Args;
use linkwork_formats::{Finding, KINDS, Report, Robot, Severity, explain, load};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `linkwork check`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linkwork check robot.urdf
  linkwork check --strict *.urdf            for continuous integration
  linkwork check robot.urdf --json          a line of JSON for each file, for editors and programs
  linkwork check --explain triangle-inequality

Exit codes: 0 if every file loads, 1 if one does not. With --strict a doubtful file does not load.")]
pub(crate) struct Arguments {
    /// Robot files.
    #[arg(required_unless_present = "explain", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Say what a kind of finding means, as named in brackets; `all` for every kind.
    #[arg(long, value_name = "KIND", conflicts_with = "files")]
    explain: Option<String>,
    #[command(flatten)]
    loading: Loading,
    /// Print one line of JSON for each file.
    #[arg(long)]
    json: bool,
    /// Show every finding, not only the first few of each kind.
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    file: String,
    loads: bool,
    errors: usize,
    warnings: usize,
    repairs: usize,
    notes: usize,
    findings: &'a [Finding],
}

/// How many findings of a kind are shown.
const SHOWN: usize = 5;

/// Runs the command; fails if a file does not load.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(kind) = &arguments.explain {
        explained(kind)?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = arguments.loading.options()?;
    let mut all_load = true;
    let mut out = anstream::stdout();
    for file in &arguments.files {
        let (loads, report) = match load(file, &options) {
            Ok(robot) => (floats(file, &robot, arguments.loading.floating), robot.report),
            Err(refusal) => (false, refusal.report),
        };
        all_load &= loads;
        if arguments.json {
            let line = Line {
                file: file.display().to_string(),
                loads,
                errors: report.count(Severity::Error),
                warnings: report.count(Severity::Warning),
                repairs: report.count(Severity::Repair),
                notes: report.count(Severity::Note),
                findings: &report.findings,
            };
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        } else {
            show(&mut out, &report, if arguments.all { usize::MAX } else { SHOWN })?;
            let verdict = if loads {
                style::paint(style::GOOD, "loads")
            } else {
                style::paint(style::BAD, "does not load")
            };
            let summary = match report.summary() {
                nothing if nothing.is_empty() => "nothing to report".to_owned(),
                summary => summary,
            };
            writeln!(out, "{}: {verdict}, {summary}", file.display())?;
        }
    }
    Ok(if all_load { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Says what a kind of finding means.
fn explained(kind: &str) -> Result<()> {
    let mut out = anstream::stdout();
    if kind == "all" {
        for (code, text) in KINDS {
            writeln!(out, "{}: {text}", style::paint(style::HEAD, code))?;
        }
        return Ok(());
    }
    match explain(kind) {
        Some(text) => Ok(writeln!(out, "{text}")?),
        None => {
            let near = linkwork::model::did_you_mean(kind, KINDS.iter().map(|(code, _)| *code));
            Err(UserError::usage(
                format!("there is no kind of finding `{kind}`{near}"),
                "`linkwork check --explain all` lists them",
            ))
        }
    }
}

/// Whether a robot's base can be freed, if that is asked for; says why not.
fn floats(file: &Path, robot: &Robot, asked: bool) -> bool {
    match asked.then(|| robot.mechanism.with_floating_base()) {
        Some(Err(problem)) => {
            anstream::eprintln!("{}: {}: {problem}", style::paint(style::BAD, "error"), file.display());
            false
        }
        _ => true,
    }
}

/// Prints findings with their lines, so many of each kind.
fn show(out: &mut impl Write, report: &Report, most: usize) -> Result<()> {
    let mut counts: Vec<(&str, Severity, usize)> = Vec::new();
    for finding in &report.findings {
        let known = counts
            .iter()
            .position(|(code, s, _)| *code == finding.code && *s == finding.severity);
        let at = known.unwrap_or_else(|| {
            counts.push((finding.code, finding.severity, 0));
            counts.len() - 1
        });
        counts[at].2 += 1;
        if counts[at].2 <= most {
            one(out, finding)?;
        }
    }
    for (code, severity, count) in counts.into_iter().filter(|(_, _, n)| *n > most) {
        writeln!(
            out,
            "… and {} more {}s [{code}]; --all shows them\n",
            count - most,
            severity.name()
        )?;
    }
    Ok(())
}

fn one(out: &mut impl Write, f: &Finding) -> Result<()> {
    let colour = match f.severity {
        Severity::Error => style::BAD,
        Severity::Warning | Severity::Repair => style::HEAD,
        Severity::Note => style::FAINT,
    };
    let element = match f.element.as_str() {
        "" => String::new(),
        element => format!("{element}: "),
    };
    let word = style::paint(colour, f.severity.name());
    writeln!(out, "{word}: {element}{} [{}]", f.message, f.code)?;
    let number = f.line.to_string();
    let margin = " ".repeat(number.len());
    if f.line > 0 {
        writeln!(out, "{margin}--> {}:{}:{}", f.file, f.line, f.column)?;
    }
    if !f.excerpt.is_empty() {
        let caret = " ".repeat(f.column.saturating_sub(1));
        writeln!(out, "{margin} |\n{number} | {}\n{margin} | {caret}^", f.excerpt)?;
    }
    if !f.advice.is_empty() {
        writeln!(out, "{margin} = help: {}", f.advice)?;
    }
    writeln!(out)?;
    Ok(())
}
