//! `linkwork derive`: from an operator expression to its algorithm, its value on a robot, or its source code.

use crate::robot::Loading;
use crate::style;
use crate::user_error::UserError;
use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use linkwork::algebra::{Dense, Evaluator, Expression, Language, Level, Look, Matrix, Notation, Space, link_space};
use linkwork::closed::ClosedMechanism;
use linkwork::model::FrameId;
use linkwork::{Mechanism, Reference};
use serde::Serialize;
use std::io::{IsTerminal, Write};

/// Arguments of `linkwork derive`.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The expression, such as "inv(Mass) (T - C)".
    #[arg(allow_hyphen_values = true)]
    expression: String,
    /// Evaluate it on this robot: a built-in one, or a file.
    #[arg(long, value_name = "ROBOT")]
    robot: Option<String>,
    #[command(flatten)]
    loading: Loading,
    /// A vector by name: NAME=1,2,3. Also q and qd; otherwise q is neutral and qd zero.
    #[arg(long, value_name = "NAME=NUMBERS", allow_hyphen_values = true)]
    bind: Vec<String>,
    /// A frame of tip space, for B and J; may be given several times. The last link of the robot if left out.
    #[arg(long, value_name = "NAME")]
    frame: Vec<String>,
    /// The axes and point that tip space refers to.
    #[arg(long, value_enum, default_value_t = Sight::Local, value_name = "REFERENCE")]
    reference: Sight,
    /// Write the fused algorithm as a function specialised to the robot.
    #[arg(long, value_enum, value_name = "LANGUAGE", requires = "robot")]
    emit: Option<Emitted>,
    /// Print one level on the way from the expression to code: 1 the expression, 2 its operator form, 3 recursions, 4 steps
    /// at a link, 5 joint crossings, 6 coordinates, 7 code; 0 for all. With --latex in LaTeX.
    #[arg(long, value_name = "LEVEL", conflicts_with_all = ["json", "markdown"])]
    level: Option<usize>,
    /// Also explain it in the terms of another field.
    #[arg(long, value_enum, value_name = "WORDS", conflicts_with_all = ["json", "markdown", "emit", "level"])]
    explain: Option<Words>,
    /// Print JSON.
    #[arg(long, conflicts_with_all = ["emit", "markdown"])]
    json: bool,
    /// Print Markdown with formulas in LaTeX.
    #[arg(long, conflicts_with = "emit")]
    markdown: bool,
    /// Print the expression, what it became and the laws on the way as LaTeX.
    #[arg(long, conflicts_with_all = ["emit", "markdown", "json"])]
    latex: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emitted {
    /// A function in Rust.
    #[default]
    Rust,
    /// The same without the standard library.
    BareRust,
    /// A function in C99.
    C,
    /// A function in Python with NumPy, of one state or of many in the rows of arrays: to read and to teach by.
    Python,
}

impl From<Emitted> for Language {
    fn from(language: Emitted) -> Self {
        match language {
            Emitted::Rust => Self::Rust,
            Emitted::BareRust => Self::BareRust,
            Emitted::C => Self::C,
            Emitted::Python => Self::Python,
        }
    }
}

/// A field whose words an algorithm can be told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Words {
    /// Filtering: the mass matrix is a covariance, the sweeps a Kalman filter and a smoother.
    Kalman,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sight {
    /// The frame's own axes and origin.
    Local,
    /// The world's axes and origin.
    World,
    /// The world's axes, at the frame's origin.
    Aligned,
}

const HELP: &str = "\
Operators: I H M B E_phi phi P P_plus D G K tau_bar E_psi psi Mass J Upsilon r m ell A Phi Psi Lambda, or in Greek.
Of one frame: J[name], B[name]. Of a closed mechanism: Jc, its rate Jc_dot, and d(Jc, w).
Several statements end with ; each: let NAME = …, and NAME = … for results that share their sweeps.
Written together they multiply; + - add; ^* ^T ᵀ ' or a star that touches is the adjoint, inv(…) the inverse,
pinv(…) the pseudo-inverse, diag(w) a diagonal, sym(W) a symmetric matrix row by row, sqrt(D) the root, ^2 a power,
phi~ is phi - I. logdet(Mass) is a number. Between J^* and J, G is a weight: inv(Mass + J^* G J).
Derivatives: dot(X) in time, d(X, w) along a joint vector w, d(x)/dq, d(x)/dqd, d(x)/dT of a vector x as operators,
grad(s) of a number by all joints. crm(v), crf(v) and bar(f) are cross products.
Vectors: T qd qdd C g (joints), f (frames), V a a0 b (links), and your own: x, or x:joint, x:motion, x:force, x:tip,
x:frame, x:constraint.
C, g, V, a and b are computed from q and qd unless they are bound.

Examples:
  linkwork derive \"inv(Mass) (T - C)\"
  linkwork derive \"J inv(Mass) J^*\" --robot arm7 --frame flange
  linkwork derive \"(I - H psi K) T\" --robot double_pendulum --bind q=0.3,-0.5 --bind T=1,2
  linkwork derive \"inv(Mass) (T - C)\" --robot puma560 --emit rust > forward.rs
  linkwork derive \"inv(Mass) T\" --level 3
  linkwork view arm7 --levels \"inv(Mass) T\"
  linkwork derive \"inv(Mass) T\" --explain kalman
  linkwork derive \"d(inv(Mass) (T - C), w)\"
  linkwork derive \"grad(logdet(Mass))\" --robot arm7 --bind q=0,0.5,0,-1,0,1,0
  linkwork derive \"let s = T - C; p = qd^* s; qdd = inv(Mass) s\" --robot arm7 --bind T=1,2,3,4,3,2,1";

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    expression: String,
    rewritten: String,
    laws: Vec<String>,
    /// Whether the search ended before all was tried.
    cut_short: bool,
    sweeps_before: usize,
    sweeps_after: usize,
    multiplications: usize,
    additions: usize,
    #[serde(flatten)]
    value: Option<Value>,
}

/// The expression's value, as compiled and by its definition.
#[derive(Serialize)]
struct Value {
    robot: String,
    /// How many numbers each result has.
    #[serde(skip)]
    sizes: Vec<usize>,
    rows: usize,
    columns: usize,
    value: Vec<f64>,
    dense: Vec<f64>,
    difference: f64,
}

/// The vectors given on the command line.
struct Given {
    q: Vec<f64>,
    qd: Vec<f64>,
    others: Vec<(String, Vec<f64>)>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let expression: Expression = arguments.expression.parse().map_err(|e: linkwork::Error| misread(&e))?;
    let Some(robot) = &arguments.robot else {
        if let Some(bound) = arguments.bind.first() {
            return Err(UserError::usage(
                format!("`--bind {bound}` needs a robot"),
                "name one with --robot",
            ));
        }
        return match arguments.level {
            Some(level) => levels(arguments, &expression, level, None),
            None => explain(arguments, &expression, None),
        };
    };
    let loaded = arguments.loading.load(robot)?;
    // Constraints are those of the robot's loops.
    let closed = match loaded.robot.loops.is_empty() {
        true => None,
        false => Some(loaded.robot.closed().map_err(|e| anyhow!(e))?),
    };
    let mechanism = closed
        .as_ref()
        .map_or(&loaded.robot.mechanism, ClosedMechanism::mechanism);
    let given = given(&arguments.bind, mechanism)?;
    let frames = frames(arguments, &expression, mechanism)?;
    let code = |language: Emitted| {
        let names: Vec<&str> = given.others.iter().map(|(name, _)| name.as_str()).collect();
        expression.source_code(mechanism, &frames, &names, language.into())
    };
    if let Some(level) = arguments.level {
        let code = || Ok(code(arguments.emit.unwrap_or(Emitted::Rust))?);
        return levels(arguments, &expression, level, Some((mechanism, &code)));
    }
    if let Some(language) = arguments.emit {
        return Ok(anstream::stdout().write_all(code(language)?.as_bytes())?);
    }
    let on = On {
        robot: &loaded.name,
        mechanism,
        closed: closed.as_ref(),
    };
    let value = evaluate(&expression, &on, &frames, &given)?;
    explain(arguments, &expression, Some((mechanism, value)))
}

/// A robot, and what writes code for it.
type Written<'a> = (&'a Mechanism, &'a dyn Fn() -> Result<String>);

/// One level between the expression and its code, or all of them.
fn levels(arguments: &Arguments, expression: &Expression, number: usize, on: Option<Written<'_>>) -> Result<()> {
    let chosen: Vec<Level> = match (number, Level::numbered(number)) {
        (0, _) => Level::ALL.to_vec(),
        (_, Some(level)) => vec![level],
        (_, None) => {
            let problem = format!("there is no level {number}");
            return Err(UserError::usage(
                problem,
                "levels go from 1, the expression, to 7, code; 0 is all",
            ));
        }
    };
    let algorithm = expression.compile(on.is_some_and(|(m, _)| has_rotors(m)), &[]);
    let notation = if arguments.latex {
        Notation::Latex
    } else {
        Notation::Symbols
    };
    let mut out = anstream::stdout();
    for (i, level) in chosen.iter().enumerate() {
        let text = match (level, on) {
            (Level::Code, Some((_, code))) if arguments.latex => {
                format!("\\begin{{verbatim}}\n{}\\end{{verbatim}}\n", code()?)
            }
            (Level::Code, Some((_, code))) => code()?,
            (Level::Code, None) if number == 0 => "code is that of a robot: name one with --robot\n".to_owned(),
            (Level::Code, None) => {
                let problem = "code is that of a robot, and none is named";
                return Err(UserError::usage(problem.to_owned(), "name one with --robot"));
            }
            _ => algorithm.level(*level, on.map(|(m, _)| m), notation),
        };
        if number == 0 {
            let heading = format!("{}. {}", *level as usize + 1, level.name());
            let heading = match arguments.latex {
                true => format!("\\subsection*{{{heading}}}"),
                false => style::paint(style::HEAD, &heading).to_string(),
            };
            writeln!(out, "{}{heading}", if i == 0 { "" } else { "\n" })?;
        }
        write!(out, "{text}")?;
    }
    Ok(())
}

/// An expression that cannot be read, as wrong usage.
pub(crate) fn misread(error: &linkwork::Error) -> anyhow::Error {
    let hint = "`linkwork derive --help` lists operators and vectors";
    UserError::usage(format!("the expression, {error}"), hint)
}

fn explain(arguments: &Arguments, expression: &Expression, on: Option<(&Mechanism, Value)>) -> Result<()> {
    let rotors = on.as_ref().is_some_and(|(m, _)| has_rotors(m));
    let names: Vec<&str> = arguments
        .bind
        .iter()
        .filter_map(|b| b.split_once('='))
        .map(|b| b.0)
        .collect();
    let algorithm = expression.compile(rotors, &names);
    let mut out = anstream::stdout();
    if arguments.json {
        let cost = algorithm.cost();
        let answer = Answer {
            expression: expression.to_string(),
            rewritten: algorithm.rewritten().to_string(),
            laws: algorithm.laws(Notation::Symbols),
            cut_short: algorithm.is_cut_short(),
            sweeps_before: algorithm.naive_cost().sweeps,
            sweeps_after: cost.sweeps,
            multiplications: cost.multiplications,
            additions: cost.additions,
            value: on.map(|(_, value)| value),
        };
        return Ok(writeln!(out, "{}", serde_json::to_string(&answer)?)?);
    }
    if arguments.latex {
        let (given, found) = (expression.written(Notation::Latex), algorithm.rewritten());
        let laws = algorithm.laws(Notation::Latex);
        let mut lines = vec![format!("{given} &= {}", found.written(Notation::Latex))];
        lines.extend(laws.iter().map(|law| law.replacen(" = ", " &= ", 1)));
        let body = lines.join(" \\\\\n  ");
        return Ok(writeln!(out, "\\begin{{align*}}\n  {body}\n\\end{{align*}}")?);
    }
    let look = match arguments.markdown {
        true => Look::Markdown,
        // The stream drops colours where they have no place.
        false if std::io::stdout().is_terminal() => Look::Coloured,
        false => Look::Plain,
    };
    write!(out, "{}", algorithm.explain(look))?;
    if let Some(Words::Kalman) = arguments.explain {
        write!(out, "\n{}", algorithm.in_words_of_filtering())?;
    }
    if let Some((mechanism, value)) = on {
        show(&mut out, expression, mechanism, &value)?;
    }
    Ok(())
}

/// The value beside its definition.
fn show(out: &mut impl Write, expression: &Expression, mechanism: &Mechanism, value: &Value) -> Result<()> {
    let heading = format!("on {}", value.robot);
    writeln!(out, "\n{}", style::paint(style::HEAD, &heading))?;
    let mut rows = Vec::new();
    for ((name, space), size) in expression.results().into_iter().zip(&value.sizes) {
        let before = name.map_or_else(String::new, |name| format!("{name} "));
        rows.extend(
            row_names(space, mechanism, *size)
                .into_iter()
                .map(|row| before.clone() + &row),
        );
    }
    let wide = rows.iter().map(|r| r.chars().count()).max().unwrap_or(0);
    if value.columns == 1 && expression.is_vector() {
        let head = format!("  {:wide$} {:>22} {:>22}", "", "compiled", "dense");
        writeln!(out, "{}", style::paint(style::FAINT, &head))?;
        for (i, name) in rows.iter().enumerate() {
            let name = style::pad(name, wide);
            writeln!(out, "  {name} {:>22.15e} {:>22.15e}", value.value[i], value.dense[i])?;
        }
    } else {
        for i in 0..value.rows {
            let numbers = &value.value[i * value.columns..(i + 1) * value.columns];
            let line: Vec<String> = numbers.iter().map(|x| format!("{x:>12.5e}")).collect();
            writeln!(out, "  {} {}", style::pad(&rows[i], wide), line.join(" "))?;
        }
    }
    let largest = value.dense.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    writeln!(
        out,
        "  largest difference from the dense definition {:.1e}, of {largest:.1e}",
        value.difference
    )?;
    Ok(())
}

/// What each number of a vector belongs to.
fn row_names(space: Space, mechanism: &Mechanism, rows: usize) -> Vec<String> {
    const SIX: [&str; 6] = ["x", "y", "z", "X", "Y", "Z"];
    let mut names = Vec::new();
    match space {
        Space::Joint => {
            for (joint, _, v) in mechanism.layout() {
                let d = v.len();
                names.extend((0..d).map(|i| {
                    if d == 1 {
                        joint.name.clone()
                    } else {
                        format!("{} {i}", joint.name)
                    }
                }));
            }
        }
        Space::Motion | Space::Force => {
            for link in link_space(mechanism) {
                names.extend(SIX.iter().map(|i| format!("{link} {i}")));
            }
        }
        Space::Frame => names.extend(SIX.iter().map(|i| format!("frame {i}"))),
        Space::Constraint => names.extend((0..rows).map(|i| format!("row {i}"))),
        Space::Tip => names.extend((0..rows).map(|i| format!("frame {} {}", i / 6, SIX[i % 6]))),
        Space::Number => names.push("number".to_owned()),
        // Matrices are given, not results.
        Space::JointSquare | Space::TipSquare | Space::FrameSquare | Space::ConstraintSquare => {}
    }
    names
}

pub(crate) fn has_rotors(mechanism: &Mechanism) -> bool {
    mechanism.joints().iter().any(|j| j.armature.iter().any(|&a| a != 0.0))
}

/// Vectors from `NAME=1,2,3`.
fn given(bind: &[String], mechanism: &Mechanism) -> Result<Given> {
    let mut given = Given {
        q: mechanism.neutral(),
        qd: vec![0.0; mechanism.nv()],
        others: Vec::new(),
    };
    for text in bind {
        let wrong =
            |problem: &str| UserError::usage(format!("`--bind {text}`: {problem}"), "write it as --bind T=1,2.5,-3");
        let (name, numbers) = text.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        let mut values = Vec::new();
        for word in numbers.split(',').map(str::trim) {
            let value: f64 = word.parse().map_err(|_| wrong(&format!("`{word}` is not a number")))?;
            if !value.is_finite() {
                return Err(wrong(&format!("`{word}` is not finite")));
            }
            values.push(value);
        }
        let check = |needed: usize| {
            if values.len() == needed {
                Ok(())
            } else {
                let problem = format!("{name} needs {needed} numbers, not {}", values.len());
                Err(wrong(&problem))
            }
        };
        match name.trim() {
            "q" => {
                check(mechanism.nq())?;
                given.q = values;
            }
            "qd" => {
                check(mechanism.nv())?;
                given.qd = values;
            }
            other if given.others.iter().any(|(known, _)| known == other) => {
                return Err(wrong("it is bound twice"));
            }
            other => given.others.push((other.to_owned(), values)),
        }
    }
    Ok(given)
}

fn frames(arguments: &Arguments, expression: &Expression, mechanism: &Mechanism) -> Result<Vec<(FrameId, Reference)>> {
    let reference = match arguments.reference {
        Sight::Local => Reference::Local,
        Sight::World => Reference::World,
        Sight::Aligned => Reference::Aligned,
    };
    named_frames(&arguments.frame, reference, expression, mechanism)
}

/// The frames of an expression where none are asked for.
pub(crate) fn frames_of(expression: &Expression, mechanism: &Mechanism) -> Result<Vec<(FrameId, Reference)>> {
    named_frames(&[], Reference::Local, expression, mechanism)
}

fn named_frames(
    asked: &[String],
    reference: Reference,
    expression: &Expression,
    mechanism: &Mechanism,
) -> Result<Vec<(FrameId, Reference)>> {
    let mut names: Vec<&str> = asked.iter().map(String::as_str).collect();
    let named = expression.frames();
    for name in &named {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        names.extend(mechanism.links().last().map(|l| l.name.as_str()));
    }
    let mut found = Vec::new();
    for name in names {
        let frame = mechanism.frame(name);
        let frame = frame.map_err(|e| UserError::usage(e.to_string(), "`linkwork info` lists a robot's frames"))?;
        found.push((frame, reference));
    }
    Ok(found)
}

/// What an expression is evaluated on.
struct On<'a> {
    robot: &'a str,
    mechanism: &'a Mechanism,
    closed: Option<&'a ClosedMechanism>,
}

fn evaluate(
    expression: &Expression,
    &On {
        robot,
        mechanism,
        closed,
    }: &On<'_>,
    frames: &[(FrameId, Reference)],
    given: &Given,
) -> Result<Value> {
    let names: Vec<&str> = given.others.iter().map(|(name, _)| name.as_str()).collect();
    let vectors: Vec<(&str, &[f64])> = given.others.iter().map(|(n, x)| (n.as_str(), &x[..])).collect();
    let failed = |e: linkwork::Error| match e {
        linkwork::Error::Binding { .. } => UserError::usage(e.to_string(), "bind a vector with --bind NAME=1,2,3"),
        other => anyhow!(other),
    };
    let mut evaluator = match closed {
        Some(closed) => Evaluator::closed(expression, closed, frames, &names),
        None => Evaluator::new(expression, mechanism, frames, &names),
    }
    .map_err(failed)?;
    let mut workspace = mechanism.workspace();
    let mut posed = workspace.at(&given.q)?;
    let mut moving = posed.moving(&given.qd)?;
    let rows = evaluator.len();
    let columns = if expression.is_vector() {
        1
    } else {
        evaluator.size(expression.domain())
    };
    let mut value = vec![0.0; rows * columns];
    if expression.is_vector() {
        moving.evaluate(&mut evaluator, &vectors, &mut value).map_err(failed)?;
    } else {
        moving.matrix(&mut evaluator, &vectors, &mut value).map_err(failed)?;
    }
    let dense = match closed {
        Some(closed) => Dense::closed(closed, &given.q, &given.qd, frames),
        None => Dense::new(mechanism, &given.q, &given.qd, frames),
    }
    .map_err(failed)?;
    let Matrix { data: dense, .. } = dense.evaluate(expression, &vectors).map_err(failed)?;
    let differences = value.iter().zip(&dense).map(|(a, b)| (a - b).abs());
    Ok(Value {
        robot: robot.to_owned(),
        sizes: expression.results().iter().map(|r| evaluator.size(r.1)).collect(),
        rows,
        columns,
        difference: differences.fold(0.0, f64::max),
        value,
        dense,
    })
}
