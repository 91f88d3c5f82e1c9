//! What was found in a file: a list that people and programs can read.

use crate::source::{At, Source, Spot, shortened};
use serde::Serialize;
use std::fmt;
use std::rc::Rc;

/// What to do about what is wrong with a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Refuse it.
    Strict,
    /// Load what can be loaded as it is written, and report it.
    #[default]
    Warn,
    /// Load it, repaired where that is possible, and list every change.
    Repair,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Something was changed so that the robot can be used.
    Repair,
    /// Something is doubtful, but the robot can be used.
    Warning,
    /// The robot cannot be used.
    Error,
}

impl Severity {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Repair => "repair",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What kind of thing it is, in one word for programs: `massless-link`, `swapped-limits` …
    pub code: &'static str,
    /// The file.
    pub file: String,
    /// The line, from one; zero where a file has none.
    pub line: usize,
    /// The column, from one; zero where a file has none.
    pub column: usize,
    /// What it is about: `link hand`, `joint elbow` …
    pub element: String,
    /// What was found.
    pub message: String,
    /// What to do.
    pub advice: String,
    /// The line itself, cut short where it is long.
    pub excerpt: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": ")?;
        if !self.element.is_empty() {
            write!(f, "{}: ", self.element)?;
        }
        write!(f, "{}", self.message)?;
        if !self.advice.is_empty() {
            write!(f, "; {}", self.advice)?;
        }
        Ok(())
    }
}

/// Everything that was found in a file.
///
/// ```
/// use linkwork_formats::{Format, Options, read};
/// let urdf = br#"<robot name="rod"><link name="base"/>
///   <link name="rod"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
///   <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"#;
/// let robot = read("rod.urdf", urdf, Format::Urdf, &Options::default())?;
/// for finding in &robot.report.findings {
///     println!("{finding}"); // what, and on which line
/// }
/// # Ok::<(), linkwork_formats::Refusal>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// In the order of finding.
    pub findings: Vec<Finding>,
}

impl Report {
    /// How many findings of a severity there are.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.severity == severity).count()
    }

    /// The gravest severity found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.severity).max()
    }

    /// Findings of one kind.
    pub fn of(&self, code: &str) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |f| f.code == code)
    }

    /// `2 errors, 1 warning`, or nothing where nothing was found.
    pub fn summary(&self) -> String {
        let grades = [Severity::Error, Severity::Warning, Severity::Repair, Severity::Note];
        let counts = grades.map(|s| (self.count(s), s.name()));
        let words = counts.iter().filter(|(n, _)| *n > 0);
        let words = words.map(|(n, name)| format!("{n} {name}{}", if *n == 1 { "" } else { "s" }));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// A file that could not be loaded, and why.
///
/// ```
/// use linkwork_formats::{Format, Options, Severity, read};
/// let refusal = read("no.urdf", b"<robot name=\"no\"><link/></robot>", Format::Urdf, &Options::default()).unwrap_err();
/// let first = refusal.report.findings.iter().find(|finding| finding.severity == Severity::Error).expect("it says why");
/// assert_eq!(first.line, 1);
/// println!("{}: {}", first.message, first.advice);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// At least one of its findings is an error.
    pub report: Report,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut errors = self.report.findings.iter().filter(|f| f.severity == Severity::Error);
        if let Some(first) = errors.next() {
            write!(f, "{first}")?;
        }
        match errors.count() {
            0 => Ok(()),
            1 => write!(f, " (and another error)"),
            n => write!(f, " (and {n} more errors)"),
        }
    }
}

impl std::error::Error for Refusal {}

/// What warn and repair mode do about something wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Remedy<'a> {
    /// Both load it as it is.
    AsItIs,
    /// Warn loads it as it is, repair changes it.
    KeepOrRepair(&'a str),
    /// Warn refuses it, repair changes it.
    Repair(&'a str),
    /// Both change it.
    Change(&'a str),
    /// Warn changes it one way, repair another.
    Either(&'a str, &'a str),
}

/// Collects findings while a file is read.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) mode: Mode,
    pub(crate) report: Report,
    sources: Vec<Rc<Source>>,
    /// Errors found so far.
    errors: usize,
    /// Whether what is being read is not needed, so that nothing wrong with it is an error.
    lenient: bool,
}

/// More findings than these are not kept: a hostile file shall not fill the memory.
const MOST: usize = 200_000;

impl Findings {
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            mode,
            report: Report::default(),
            sources: Vec::new(),
            errors: 0,
            lenient: false,
        }
    }

    /// Takes in a text, so that findings can show its lines; gives the spot of its first byte.
    pub(crate) fn source(&mut self, source: Rc<Source>) -> Spot {
        self.sources.push(source);
        Spot {
            source: self.sources.len() as u32 - 1,
            offset: 0,
        }
    }

    /// The line of a spot.
    pub(crate) fn line(&self, spot: Spot) -> usize {
        let source = self.sources.get(spot.source as usize);
        source.map_or(0, |s| s.position(spot.offset as usize).line)
    }

    /// Reads what the robot moves without: shapes and colours. What is wrong there is doubtful at most.
    pub(crate) fn leniently<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.lenient, true);
        let found = read(self);
        self.lenient = before;
        found
    }

    /// Whether the robot cannot be used.
    pub(crate) fn failed(&self) -> bool {
        self.errors > 0
    }

    /// Wrong in every mode.
    pub(crate) fn error(&mut self, at: At<'_>, code: &'static str, message: impl Into<String>, advice: &str) {
        self.push(Severity::Error, at, code, message.into(), advice);
    }

    /// Doubtful: refused in strict mode.
    pub(crate) fn doubt(&mut self, at: At<'_>, code: &'static str, message: impl Into<String>, advice: &str) {
        self.judge(at, code, message, advice, Remedy::AsItIs);
    }

    /// Wrong: refused in strict mode, and otherwise treated as the remedy says. Gives what became of it.
    pub(crate) fn judge(
        &mut self,
        at: At<'_>,
        code: &'static str,
        message: impl Into<String>,
        advice: &str,
        remedy: Remedy<'_>,
    ) -> Severity {
        let message = message.into();
        let changed = |how: &str| format!("{message}: {how}");
        let (severity, message) = match (self.mode, remedy) {
            (Mode::Strict, _) | (Mode::Warn, Remedy::Repair(_)) => (Severity::Error, message),
            (Mode::Warn | Mode::Repair, Remedy::AsItIs) => (Severity::Warning, message),
            (Mode::Warn, Remedy::Change(how) | Remedy::Either(how, _)) => (Severity::Warning, changed(how)),
            (Mode::Warn, Remedy::KeepOrRepair(_)) => (Severity::Warning, message),
            (Mode::Repair, Remedy::Repair(how) | Remedy::KeepOrRepair(how)) => (Severity::Repair, changed(how)),
            (Mode::Repair, Remedy::Change(how) | Remedy::Either(_, how)) => (Severity::Repair, changed(how)),
        };
        let advice = if severity == Severity::Repair { "" } else { advice };
        self.push(severity, at, code, message, advice);
        severity
    }

    /// Good to know.
    pub(crate) fn note(&mut self, at: At<'_>, code: &'static str, message: impl Into<String>, advice: &str) {
        self.push(Severity::Note, at, code, message.into(), advice);
    }

    pub(crate) fn push(&mut self, severity: Severity, at: At<'_>, code: &'static str, message: String, advice: &str) {
        let severity = match severity {
            Severity::Error if self.lenient && self.mode != Mode::Strict => Severity::Warning,
            severity => severity,
        };
        self.errors += usize::from(severity == Severity::Error);
        if self.report.findings.len() >= MOST && severity != Severity::Error {
            return;
        }
        if self.report.findings.len() >= 2 * MOST {
            return;
        }
        let source = self.sources.get(at.spot.source as usize);
        let known = source.filter(|_| at.spot.offset != u32::MAX);
        let position = known.map(|s| s.position(at.spot.offset as usize));
        let (line, column, excerpt) = position.map_or((0, 0, String::new()), |p| (p.line, p.column, p.excerpt));
        let element = match (at.what, at.name) {
            ("", _) => String::new(),
            (what, "") => shortened(what),
            (what, name) => format!("{} {}", shortened(what), shortened(name)),
        };
        self.report.findings.push(Finding {
            severity,
            code,
            file: source.map_or_else(String::new, |s| s.file.clone()),
            line,
            column,
            element,
            message,
            advice: advice.to_owned(),
            excerpt,
        });
    }

    /// What was found, as a reason to refuse the file.
    pub(crate) fn refusal(self) -> Refusal {
        Refusal { report: self.report }
    }
}
