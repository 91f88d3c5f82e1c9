//! Models as files: JSON, CSV, NumPy archives, and text for MATLAB and Octave.

use super::save;
use crate::complaint::Complaint;
use crate::npz::Archive;
use anyhow::{Context, Result};
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
            _ => Err(Complaint::usage(
                format!("`{}` does not say which form the model shall have", path.display()),
                "let the name end in .json, .csv, .npz or .m",
            )),
        }
    }
}

/// Writes a model in the form that the file's ending says.
pub(super) fn model(
    path: &Path,
    model: &StateSpace,
    gain: Option<&[f64]>,
    poles: &[Pole],
    closed: Option<&[Pole]>,
) -> Result<()> {
    match Form::of(path)? {
        Form::Json => {
            let text = json(model, gain, poles, closed)?;
            save(path, format!("{text}\n").as_bytes())
        }
        Form::Csv => {
            for matrix in matrices(model, gain) {
                save(&beside(path, matrix.name), csv(model, &matrix).as_bytes())?;
            }
            Ok(())
        }
        Form::Npz => save(path, &npz(model, gain)?),
        Form::Matlab => save(path, matlab(model, gain).as_bytes()),
    }
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

/// The model as JSON, matrices row by row, poles as [re, im]; a step of nought is that of a continuous model.
pub(super) fn json(
    model: &StateSpace,
    gain: Option<&[f64]>,
    poles: &[Pole],
    closed: Option<&[Pole]>,
) -> Result<String> {
    let (n, m) = (model.states.len().max(1), model.inputs.len().max(1));
    let pairs = |poles: &[Pole]| poles.iter().map(|p| [p.re, p.im]).collect();
    let page = Page {
        step: model.step.unwrap_or(0.0),
        states: &model.states,
        inputs: &model.inputs,
        outputs: &model.outputs,
        A: model.a.chunks(n).collect(),
        B: model.b.chunks(m).collect(),
        C: model.c.chunks(n).collect(),
        D: model.d.chunks(m).collect(),
        K: gain.map(|gain| gain.chunks(n).collect()),
        poles: pairs(poles),
        closed_loop_poles: closed.map(pairs),
        controllable_states: model.controllable_states(),
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
    let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
    let corner = model.step.map_or_else(String::new, |h| format!("step {h:?} s"));
    let mut text = quoted(&corner);
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

/// For MATLAB and Octave: matrices, names as cell arrays, and the step as they take it: `ss(A, B, C, D, Ts)`.
fn matlab(model: &StateSpace, gain: Option<&[f64]>) -> String {
    let mut text = String::from("% x' = A x + B u, y = C x + D u; with Ts > 0 it is x(k+1) instead of x'.\n");
    for matrix in matrices(model, gain) {
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
    text
}

/// A NumPy archive: the matrices, the names, and the step, nought for a continuous model.
fn npz(model: &StateSpace, gain: Option<&[f64]>) -> Result<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    let mut archive = Archive::new(&mut bytes);
    for matrix in matrices(model, gain) {
        let numbers = matrix.numbers.iter().copied();
        archive.numbers(matrix.name, &[matrix.rows, matrix.cols], numbers)?;
    }
    archive.names("states", &model.states)?;
    archive.names("inputs", &model.inputs)?;
    archive.names("outputs", &model.outputs)?;
    archive.numbers("step", &[], [model.step.unwrap_or(0.0)])?;
    archive.finish()?;
    Ok(bytes.into_inner())
}
