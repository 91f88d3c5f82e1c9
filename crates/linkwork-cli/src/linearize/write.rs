//! Models as files: JSON, CSV, NumPy archives, and text for MATLAB and Octave.

use super::{Found, save};
use crate::npz::Archive;
use crate::user_error::UserError;
use anyhow::{Context, Result};
use linkwork::Mechanism;
use linkwork::state_space::{Pole, StateSpace};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Cursor;
use std::path::Path;

/// A matrix with a name.
struct Named<'a> {
    name: &'static str,
    rows: usize,
    cols: usize,
    numbers: &'a [f64],
}

/// A, B, C, D, and K if there is one.
fn matrices<'a>(model: &'a StateSpace, gain: Option<&'a [f64]>) -> Vec<Named<'a>> {
    let (n, m, p) = (model.states.len(), model.inputs.len(), model.outputs.len());
    let named = |name, rows, cols, numbers| Named {
        name,
        rows,
        cols,
        numbers,
    };
    let mut all = vec![
        named("A", n, n, &model.a[..]),
        named("B", n, m, &model.b),
        named("C", p, n, &model.c),
        named("D", p, m, &model.d),
    ];
    all.extend(gain.map(|gain| named("K", m, n, gain)));
    all
}

/// The form of a file.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Json,
    Csv,
    Npz,
    Matlab,
}

impl Form {
    /// What a file's ending says.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        match &*ending.to_ascii_lowercase() {
            "json" => Ok(Self::Json),
            "csv" => Ok(Self::Csv),
            "npz" => Ok(Self::Npz),
            "m" => Ok(Self::Matlab),
            _ => Err(UserError::usage(
                format!("`{}` does not say in which form to write the model", path.display()),
                "let the name end in .json, .csv, .npz or .m",
            )),
        }
    }
}

/// Writes a model in the form that the file's ending says.
pub(super) fn model(path: &Path, mechanism: &Mechanism, found: &Found<'_>) -> Result<()> {
    let (model, gain) = (found.model, found.gain);
    match Form::of(path)? {
        Form::Json => save(path, format!("{}\n", json(found)?).as_bytes()),
        Form::Csv => {
            for matrix in matrices(model, gain) {
                save(&beside(path, matrix.name), csv(model, &matrix).as_bytes())?;
            }
            save(&beside(path, "point"), csv_of_point(mechanism, found).as_bytes())
        }
        Form::Npz => save(path, &npz(found)?),
        Form::Matlab => save(path, matlab(found).as_bytes()),
    }
}

/// A push as it is told.
#[derive(Serialize)]
struct Pushed<'a> {
    frame: &'a str,
    /// N, along the world's axes.
    force: [f64; 3],
    /// N m, about the frame's origin.
    moment: [f64; 3],
}

fn pushes<'a>(found: &Found<'a>) -> Vec<Pushed<'a>> {
    let all = found.point.pushed.iter().zip(&found.point.at.forces);
    all.map(|(frame, push)| Pushed {
        frame,
        force: push.force.force.to_array(),
        moment: push.force.moment.to_array(),
    })
    .collect()
}

/// `dir/model.csv` → `dir/model_A.csv`.
fn beside(path: &Path, name: &str) -> std::path::PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}_{name}.csv"))
}

#[derive(Serialize)]
#[allow(non_snake_case)]
struct Page<'a> {
    step: f64,
    q: &'a [f64],
    v: &'a [f64],
    tau: &'a [f64],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pushes: Vec<Pushed<'a>>,
    states: &'a [String],
    inputs: &'a [String],
    outputs: &'a [String],
    A: Vec<&'a [f64]>,
    B: Vec<&'a [f64]>,
    C: Vec<&'a [f64]>,
    D: Vec<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    K: Option<Vec<&'a [f64]>>,
    poles: Vec<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_loop_poles: Option<Vec<[f64; 2]>>,
    controllable_states: usize,
}

/// The model as JSON, matrices row by row, poles as [re, im]; a step of zero is that of a continuous model.
pub(super) fn json(found: &Found<'_>) -> Result<String> {
    let (model, at) = (found.model, &found.point.at);
    let (n, m) = (model.states.len().max(1), model.inputs.len().max(1));
    let pairs = |poles: &[Pole]| poles.iter().map(|p| [p.re, p.im]).collect();
    let page = Page {
        step: model.step.unwrap_or(0.0),
        q: &at.q,
        v: &at.qd,
        tau: &at.tau,
        pushes: pushes(found),
        states: &model.states,
        inputs: &model.inputs,
        outputs: &model.outputs,
        A: model.a.chunks(n).collect(),
        B: model.b.chunks(m).collect(),
        C: model.c.chunks(n).collect(),
        D: model.d.chunks(m).collect(),
        K: found.gain.map(|gain| gain.chunks(n).collect()),
        poles: pairs(found.poles),
        closed_loop_poles: found.closed.map(pairs),
        controllable_states: model.controllable_states()?,
    };
    serde_json::to_string(&page).context("cannot write the model as JSON")
}

/// One matrix, its columns named in the first line and its rows in the first column; the corner tells the step, if there
/// is one.
fn csv(model: &StateSpace, matrix: &Named<'_>) -> String {
    let (rows, columns) = match matrix.name {
        "A" => (&model.states, &model.states),
        "B" => (&model.states, &model.inputs),
        "C" => (&model.outputs, &model.states),
        "D" => (&model.outputs, &model.inputs),
        _ => (&model.inputs, &model.states),
    };
    let mut text = corner(model);
    for name in columns {
        text += ",";
        text += &quoted(name);
    }
    text += "\n";
    for (i, name) in rows.iter().enumerate() {
        text += &quoted(name);
        for x in &matrix.numbers[i * matrix.cols..(i + 1) * matrix.cols] {
            let _ = write!(text, ",{x:?}");
        }
        text += "\n";
    }
    text
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn corner(model: &StateSpace) -> String {
    quoted(&model.step.map_or_else(String::new, |h| format!("step {h:?} s")))
}

/// The state that the model is about: a number in every line, named in the first column.
fn csv_of_point(mechanism: &Mechanism, found: &Found<'_>) -> String {
    let at = &found.point.at;
    let mut text = corner(found.model) + ",\"value\"\n";
    let mut line = |name: String, x: f64| {
        let _ = writeln!(text, "{},{x:?}", quoted(&name));
    };
    for (joint, range, _) in mechanism.layout() {
        let single = range.len() == 1;
        for (i, x) in at.q[range].iter().enumerate() {
            let part = if single { String::new() } else { format!("[{i}]") };
            line(format!("q {}{part}", joint.name), *x);
        }
    }
    for (what, numbers) in [("v", &at.qd), ("tau", &at.tau)] {
        for (name, x) in found.model.states.iter().zip(numbers) {
            line(format!("{what} {name}"), *x);
        }
    }
    for push in pushes(found) {
        for (what, numbers) in [("force", push.force), ("moment", push.moment)] {
            for (axis, x) in ["x", "y", "z"].iter().zip(numbers) {
                line(format!("{what} {axis} on {}", push.frame), x);
            }
        }
    }
    text
}

/// For MATLAB and Octave: matrices, names as cell arrays, and the step as they take it: `ss(A, B, C, D, Ts)`.
fn matlab(found: &Found<'_>) -> String {
    let (model, at) = (found.model, &found.point.at);
    let mut text = String::from(
        "% x' = A x + B u, y = C x + D u; with Ts > 0 it is x(k+1) instead of x'.\n\
         % x, u and y are changes about q, v and tau.\n",
    );
    for matrix in matrices(model, found.gain) {
        let _ = writeln!(text, "{} = zeros({}, {});", matrix.name, matrix.rows, matrix.cols);
        for i in 0..matrix.rows {
            let row = &matrix.numbers[i * matrix.cols..(i + 1) * matrix.cols];
            let row: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
            if !row.is_empty() {
                let _ = writeln!(text, "{}({}, :) = [{}];", matrix.name, i + 1, row.join(" "));
            }
        }
    }
    let cells = |names: &[String]| {
        let quoted: Vec<String> = names.iter().map(|n| format!("'{}'", n.replace('\'', "''"))).collect();
        quoted.join(", ")
    };
    let _ = writeln!(text, "states = {{{}}};", cells(&model.states));
    let _ = writeln!(text, "inputs = {{{}}};", cells(&model.inputs));
    let _ = writeln!(text, "outputs = {{{}}};", cells(&model.outputs));
    let _ = writeln!(text, "Ts = {:?};", model.step.unwrap_or(0.0));
    let column = |numbers: &[f64]| {
        let numbers: Vec<String> = numbers.iter().map(|x| format!("{x:?}")).collect();
        format!("[{}]", numbers.join("; "))
    };
    for (name, numbers) in [("q", &at.q), ("v", &at.qd), ("tau", &at.tau)] {
        let _ = writeln!(text, "{name} = {};", column(numbers));
    }
    for (i, push) in pushes(found).iter().enumerate() {
        let frame = cells(&[push.frame.to_owned()]);
        let (force, moment) = (column(&push.force), column(&push.moment));
        let _ = writeln!(
            text,
            "pushes({}) = struct('frame', {frame}, 'force', {force}, 'moment', {moment});",
            i + 1
        );
    }
    text
}

/// A NumPy archive: the matrices, the names, the step, zero for a continuous model, and the state.
fn npz(found: &Found<'_>) -> Result<Vec<u8>> {
    let (model, at) = (found.model, &found.point.at);
    let mut bytes = Cursor::new(Vec::new());
    let mut archive = Archive::new(&mut bytes);
    for matrix in matrices(model, found.gain) {
        let numbers = matrix.numbers.iter().copied();
        archive.numbers(matrix.name, &[matrix.rows, matrix.cols], numbers)?;
    }
    archive.names("states", &model.states)?;
    archive.names("inputs", &model.inputs)?;
    archive.names("outputs", &model.outputs)?;
    archive.numbers("step", &[], [model.step.unwrap_or(0.0)])?;
    for (name, numbers) in [("q", &at.q), ("v", &at.qd), ("tau", &at.tau)] {
        archive.numbers(name, &[numbers.len()], numbers.iter().copied())?;
    }
    let pushes = pushes(found);
    if !pushes.is_empty() {
        archive.names("push_frames", &found.point.pushed)?;
        archive.numbers("push_forces", &[pushes.len(), 3], pushes.iter().flat_map(|p| p.force))?;
        archive.numbers("push_moments", &[pushes.len(), 3], pushes.iter().flat_map(|p| p.moment))?;
    }
    archive.finish()?;
    Ok(bytes.into_inner())
}
