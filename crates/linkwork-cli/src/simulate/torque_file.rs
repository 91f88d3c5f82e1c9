//! Numbers over time from a file: torques, or controls.

use crate::numbers::read_bounded;
use crate::user_error::UserError;
use anyhow::Result;
use linkwork::Mechanism;
use std::path::Path;
use std::sync::Arc;

/// Rows of numbers at rising times.
#[derive(Clone)]
pub(crate) struct Timetable {
    times: Arc<[f64]>,
    numbers: Arc<[f64]>,
}

impl Timetable {
    /// Reads lines of a time and `width` numbers, separated by commas; a first line of names is ignored.
    pub(crate) fn read(path: &Path, width: usize, what: &str) -> Result<Self> {
        let name = path.display();
        let text = read_bounded(path)?;
        let wrong = |at: usize, problem: String| {
            let hint = format!("a line is a time in seconds and {width} {what}, separated by commas");
            UserError::failure(format!("{name}:{at}: {problem}"), hint)
        };
        let (mut times, mut all) = (Vec::new(), Vec::new());
        for (at, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let words: Vec<&str> = line.split(',').map(str::trim).collect();
            let is_number = |word: &&str| word.parse::<f64>().is_ok();
            if line.trim().is_empty() || (at == 1 && !words.iter().any(is_number)) {
                continue;
            }
            if words.len() != width + 1 {
                return Err(wrong(at, format!("{} numbers instead of {}", words.len(), width + 1)));
            }
            let mut numbers = Vec::with_capacity(words.len());
            for word in words {
                match word.parse::<f64>() {
                    Ok(x) if x.is_finite() => numbers.push(x),
                    _ => return Err(wrong(at, format!("`{word}` is not a number"))),
                }
            }
            if times.last().is_some_and(|last| *last >= numbers[0]) {
                return Err(wrong(
                    at,
                    format!("the time {} does not come after the one before", numbers[0]),
                ));
            }
            times.push(numbers[0]);
            all.extend(&numbers[1..]);
        }
        if times.is_empty() {
            return Err(wrong(1, format!("there are no {what}")));
        }
        Ok(Self {
            times: times.into(),
            numbers: all.into(),
        })
    }

    pub(crate) fn times(&self) -> &[f64] {
        &self.times
    }

    pub(crate) fn numbers(&self) -> &[f64] {
        &self.numbers
    }
}

/// Torques at rising times, joined by straight lines; the first and last hold before and after.
#[derive(Clone)]
pub(crate) struct TorqueFile {
    table: Timetable,
    nv: usize,
}

impl TorqueFile {
    /// Reads lines of a time and nv torques.
    pub(crate) fn read(path: &Path, mechanism: &Mechanism) -> Result<Self> {
        let nv = mechanism.nv();
        let table = Timetable::read(path, nv, "torques")?;
        for (t, row) in table.times.iter().zip(table.numbers.chunks(nv.max(1))) {
            if let Some(dof) = (0..nv).find(|&i| row[i] != 0.0 && !mechanism.is_driven(i)) {
                let problem = format!(
                    "{}: torque number {} at {t} s is {}, but no motor drives that joint",
                    path.display(),
                    dof + 1,
                    row[dof]
                );
                return Err(UserError::failure(
                    problem,
                    "write 0 there, or say which joints motors drive with --driven",
                ));
            }
        }
        Ok(Self { table, nv })
    }

    /// The torques at a time.
    pub(crate) fn at(&self, t: f64, tau: &mut [f64]) {
        let times = self.table.times();
        let next = times.partition_point(|x| *x <= t);
        let row = |i: usize| &self.table.numbers[i * self.nv..(i + 1) * self.nv];
        if next == 0 || next == times.len() {
            tau.copy_from_slice(row(next.saturating_sub(1)));
            return;
        }
        let (from, to) = (times[next - 1], times[next]);
        let share = (t - from) / (to - from);
        for ((tau, a), b) in tau.iter_mut().zip(row(next - 1)).zip(row(next)) {
            *tau = a + share * (b - a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::model::examples;

    #[test]
    fn torques_lie_on_straight_lines() {
        let path = std::env::temp_dir().join(format!("linkwork-torques-{}.csv", std::process::id()));
        std::fs::write(&path, "t, shoulder, elbow\n0, 1, 2\n1, 3, 2\n\n2, 3, 0\n").unwrap();
        let file = TorqueFile::read(&path, &examples::double_pendulum()).unwrap();
        std::fs::remove_file(path).unwrap();
        let at = |t: f64| {
            let mut tau = [0.0; 2];
            file.at(t, &mut tau);
            tau
        };
        assert_eq!(
            [at(-1.0), at(0.0), at(0.5), at(1.5)],
            [[1.0, 2.0], [1.0, 2.0], [2.0, 2.0], [3.0, 1.0]]
        );
        assert_eq!([at(2.0), at(9.0)], [[3.0, 0.0]; 2]);
    }
}
