//! Models as files: JSON, CSV, NumPy archives, and text for MATLAB and Octave.

use super::save;
use crate::complaint::Complaint;
use anyhow::{Context, Result};
use linkwork::state_space::{Pole, StateSpace};
use serde::Serialize;
use std::fmt::Write as _;
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

/// Writes a model in the form that the file's ending says.
pub(super) fn model(path: &Path, model: &StateSpace, gain: Option<&[f64]>) -> Result<()> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    match ending {
        "json" => {
            let text = json(model, gain, &model.poles()?, None)?;
            save(path, format!("{text}\n").as_bytes())
        }
        "csv" => {
            for matrix in matrices(model, gain) {
                save(&beside(path, matrix.name), csv(model, &matrix).as_bytes())?;
            }
            Ok(())
        }
        "npz" => save(path, &npz(&matrices(model, gain))),
        "m" => save(path, matlab(model, gain).as_bytes()),
        _ => Err(Complaint::usage(
            format!("`{}` does not say which form the model shall have", path.display()),
            "let the name end in .json, .csv, .npz or .m",
        )),
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
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<f64>,
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

/// The model as JSON, matrices row by row, poles as [re, im].
pub(super) fn json(
    model: &StateSpace,
    gain: Option<&[f64]>,
    poles: &[Pole],
    closed: Option<&[Pole]>,
) -> Result<String> {
    let (n, m) = (model.states.len().max(1), model.inputs.len().max(1));
    let pairs = |poles: &[Pole]| poles.iter().map(|p| [p.re, p.im]).collect();
    let page = Page {
        step: model.step,
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

/// One matrix, its columns named in the first line and its rows in the first column.
fn csv(model: &StateSpace, matrix: &Named<'_>) -> String {
    let (rows, columns) = match matrix.name {
        "A" => (&model.states, &model.states),
        "B" => (&model.states, &model.inputs),
        "C" => (&model.outputs, &model.states),
        "D" => (&model.outputs, &model.inputs),
        _ => (&model.inputs, &model.states),
    };
    let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
    let mut text = String::from("\"\"");
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

/// For MATLAB and Octave: matrices, names as cell arrays, and the step (−1 for none).
fn matlab(model: &StateSpace, gain: Option<&[f64]>) -> String {
    let mut text = String::from("% x' = A x + B u, y = C x + D u; with step > 0 it is x(k+1) instead of x'.\n");
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
    let _ = writeln!(text, "step = {:?};", model.step.unwrap_or(-1.0));
    text
}

/// A NumPy archive: a ZIP file, stored, of one .npy for each matrix.
fn npz(matrices: &[Named<'_>]) -> Vec<u8> {
    let mut zip = Zip::default();
    for matrix in matrices {
        zip.add(&format!("{}.npy", matrix.name), &npy(matrix));
    }
    zip.finish()
}

/// NumPy's format, version 1.0: a header that says what follows, then little-endian numbers.
fn npy(matrix: &Named<'_>) -> Vec<u8> {
    let mut header = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}",
        matrix.rows, matrix.cols
    );
    // Magic, version and length take ten bytes; numbers start at a multiple of 64.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    matrix.numbers.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

/// A ZIP archive of files as they are.
#[derive(Default)]
struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    files: u16,
}

impl Zip {
    fn add(&mut self, name: &str, content: &[u8]) {
        let at = self.bytes.len() as u32;
        let (sum, size, named) = (checksum(content), content.len() as u32, name.len() as u16);
        // Version 2.0, no flags, stored, the first of January 1980.
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        common.extend(sum.to_le_bytes());
        common.extend(size.to_le_bytes());
        common.extend(size.to_le_bytes());
        common.extend(named.to_le_bytes());
        common.extend([0, 0]);
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&common);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(content);
        self.directory.extend(b"PK\x01\x02\x14\x00");
        self.directory.extend(&common);
        // No comment, first disk, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(at.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.files += 1;
    }

    fn finish(mut self) -> Vec<u8> {
        let at = self.bytes.len() as u32;
        self.bytes.extend(&self.directory);
        self.bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
        self.bytes.extend(self.files.to_le_bytes());
        self.bytes.extend(self.files.to_le_bytes());
        self.bytes.extend((self.directory.len() as u32).to_le_bytes());
        self.bytes.extend(at.to_le_bytes());
        self.bytes.extend([0, 0]);
        self.bytes
    }
}

/// CRC-32, as ZIP wants it.
fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg());
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
    }
}
