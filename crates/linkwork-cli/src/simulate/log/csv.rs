//! Comma-separated values: a line of names, then a line for every state.

use crate::simulate::record::Record;
use anyhow::Result;
use std::io::Write;

pub(super) fn write(out: &mut impl Write, record: &Record) -> Result<()> {
    let names = record.quantities.iter().flat_map(|q| q.columns());
    let names: Vec<String> = names.map(|name| quoted(&name)).collect();
    writeln!(out, "{}", names.join(","))?;
    let mut line = Vec::new();
    for row in 0..record.rows {
        line.clear();
        for quantity in &record.quantities {
            let width = quantity.width();
            for x in &quantity.numbers[row * width..(row + 1) * width] {
                if !line.is_empty() {
                    line.push(b',');
                }
                // The shortest digits that read back as the same number.
                serde_json::to_writer(&mut line, x)?;
            }
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// A column's name; quoted where the joint's has commas or quotes in it.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
