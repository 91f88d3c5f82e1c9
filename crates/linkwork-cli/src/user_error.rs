//! Errors as users see them: what went wrong, why, and what to do.

use crate::ExitCode;
use crate::style;
use std::fmt;

/// A problem with a hint.
#[derive(Debug)]
pub(crate) struct UserError {
    problem: String,
    hint: String,
    /// Whether the arguments are to blame rather than what they refer to.
    usage: bool,
}

impl UserError {
    /// Something failed.
    pub(crate) fn failure(problem: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self::error(problem.into(), hint.into(), false)
    }

    /// The arguments make no sense.
    pub(crate) fn usage(problem: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        Self::error(problem.into(), hint.into(), true)
    }

    fn error(problem: String, hint: String, usage: bool) -> anyhow::Error {
        anyhow::Error::new(Self { problem, hint, usage })
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for UserError {}

/// Prints an error with its causes and hint to standard error, and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    anstream::eprintln!("{}: {error}", style::paint(style::BAD, "error"));
    for cause in error.chain().skip(1) {
        anstream::eprintln!("  because: {cause}");
    }
    let complaint = error.downcast_ref::<UserError>();
    let coupled = |cause: &&(dyn std::error::Error + 'static)| {
        let problem = cause.downcast_ref::<linkwork::Error>();
        problem.is_some_and(|e| matches!(e, linkwork::Error::Coupled { .. }))
    };
    let undriven = |cause: &(dyn std::error::Error + 'static)| {
        let problem = cause.downcast_ref::<linkwork::Error>();
        problem.is_some_and(|e| matches!(e, linkwork::Error::NotDriven { .. }))
    };
    let hint = match complaint {
        Some(UserError { hint, .. }) => Some(&**hint),
        None if error.chain().any(|cause| coupled(&cause)) => Some(UNCOUPLE),
        None if error.chain().any(undriven) => Some(DRIVE),
        None => None,
    };
    if let Some(hint) = hint {
        anstream::eprintln!("{}: {hint}", style::paint(style::HEAD, "hint"));
    }
    ExitCode::from(if complaint.is_some_and(|c| c.usage) { 2 } else { 1 })
}

/// The same on one line.
pub(crate) fn explained(error: &anyhow::Error) -> String {
    match error.downcast_ref::<UserError>() {
        Some(UserError { problem, hint, .. }) => format!("{problem}; {hint}"),
        None => format!("{error:#}"),
    }
}

/// What helps where joints that follow others are not known.
const UNCOUPLE: &str = "--ignore-couplings lets every joint move on its own";

/// What helps where a motor is missing.
const DRIVE: &str = "--driven JOINT,… says which joints motors drive, whatever the model says";

/// Whether the reader of our output has gone, as `head` does: no reason to complain.
fn broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|e| e.downcast_ref::<std::io::Error>());
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}
