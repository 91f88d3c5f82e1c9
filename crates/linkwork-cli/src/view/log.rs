//! Logs of `linkwork simulate`, read back.

mod contacts;
mod csv;
mod mcap;
mod npz;
mod parquet;

use crate::numbers::{read_bounded, read_log};
use crate::robot::{Loaded, Loading};
use crate::simulate::record::labels;
use crate::user_error::UserError;
use anyhow::Result;
use linkwork::Mechanism;
use linkwork_view::{Arrow, Recording};
use std::path::{Path, PathBuf};

/// A log: columns over time, and the robot if the log tells.
pub(super) struct Log {
    file: String,
    columns: Vec<Column>,
    robot: Option<Described>,
    /// What bore at each time, if the log tells.
    arrows: Vec<Vec<Arrow>>,
}

/// A number over time.
pub(crate) struct Column {
    /// As in `q.elbow`.
    pub(crate) name: String,
    pub(crate) numbers: Vec<f64>,
}

/// A robot as a log describes it.
pub(super) struct Described {
    /// In the native format.
    pub(super) text: String,
    /// The directory of the file it came from, where its meshes are.
    pub(super) home: Option<PathBuf>,
}

fn end(path: &Path) -> String {
    path.extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase()
}

/// Whether a file's name is that of a log.
pub(super) fn is_log(path: &Path) -> bool {
    ["mcap", "npz", "parquet", "csv"].contains(&&*end(path))
}

/// The columns of a CSV file.
pub(crate) fn csv_columns(path: &Path) -> Result<Vec<Column>> {
    Ok(Log::read(path)?.columns)
}

impl Log {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        if !is_log(path) {
            let hint = "logs end in .mcap, .npz, .parquet or .csv";
            return Err(UserError::usage(format!("`{file}` is not a log"), hint));
        }
        let bytes = read_log(path)?;
        let (mut robot, mut arrows) = (None, Vec::new());
        let columns = match &*end(path) {
            "csv" => csv::read(&bytes),
            "npz" => npz::read(&bytes),
            "parquet" => parquet::read(&bytes),
            _ => mcap::read(&bytes).map(|read| {
                (robot, arrows) = (read.robot, read.arrows);
                read.columns
            }),
        };
        let columns = columns.map_err(|problem| {
            let hint = "logs are those that `linkwork simulate --log` writes";
            UserError::failure(format!("`{file}`: {problem}"), hint)
        })?;
        Ok(Self {
            file,
            columns,
            robot,
            arrows,
        })
    }

    /// The same with the contacts of a file of `--contact-log`.
    pub(super) fn with_contacts(mut self, path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = read_bounded(path)?;
        let times = self.columns.iter().find(|c| c.name == "t");
        let times = times.map_or(&[][..], |c| &c.numbers);
        self.arrows = contacts::listed(&text, times).map_err(|problem| {
            let hint = "such files are those that `linkwork simulate --contact-log` writes";
            UserError::failure(format!("`{file}`: {problem}"), hint)
        })?;
        Ok(self)
    }

    /// The robot that the log is of, and the directory its meshes are in.
    pub(super) fn robot(&self, loading: &Loading) -> Result<(Loaded, Option<PathBuf>)> {
        let Some(robot) = &self.robot else {
            let problem = format!("`{}` does not tell which robot it is of", self.file);
            let hint = format!("name it: `linkwork view ROBOT --play {}`", self.file);
            return Err(UserError::usage(problem, hint));
        };
        let loaded = loading.load_described(&self.file, &robot.text, robot.home.as_deref())?;
        Ok((loaded, robot.home.clone()))
    }

    /// The motion of a mechanism; an error if the log is of another.
    pub(super) fn fitted(self, mechanism: &Mechanism) -> Result<Recording> {
        let Self {
            file, columns, arrows, ..
        } = self;
        let refuse = |problem: String| {
            let hint = "give the robot that was simulated, with the same --floating and --ignore-couplings";
            UserError::failure(format!("`{file}` does not fit `{}`: {problem}", mechanism.name()), hint)
        };
        let (q, v) = labels(mechanism);
        let gather = |prefix: &str, labels: &[String]| -> Result<Vec<&Column>> {
            let mine: Vec<&Column> = columns.iter().filter(|c| c.name.starts_with(prefix)).collect();
            if mine.len() != labels.len() {
                return Err(refuse(format!(
                    "it has {} columns of {}, and the robot {}",
                    mine.len(),
                    prefix.trim_end_matches('.'),
                    labels.len()
                )));
            }
            for ((column, label), plain) in mine.iter().zip(labels).zip(mcap::plain(labels)) {
                let name = &column.name[prefix.len()..];
                if name != label && name != plain {
                    return Err(refuse(format!("it has `{name}` where the robot has `{label}`")));
                }
            }
            Ok(mine)
        };
        let time = columns
            .iter()
            .find(|c| c.name == "t")
            .ok_or_else(|| refuse("it has no column `t`".into()))?;
        let rows = time.numbers.len();
        if rows == 0 {
            return Err(refuse("it has no rows".into()));
        }
        if let Some(column) = columns.iter().find(|c| c.numbers.len() != rows) {
            return Err(refuse(format!(
                "column `{}` has {} rows, not {rows}",
                column.name,
                column.numbers.len()
            )));
        }
        if let Some(row) = time.numbers.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(refuse(format!("its time goes back after row {}", row + 1)));
        }
        let woven = |list: &[&Column]| -> Result<Vec<f64>> {
            let rows = (0..rows).flat_map(|row| list.iter().map(move |c| c.numbers[row]));
            let numbers: Vec<f64> = rows.collect();
            match numbers.iter().position(|x| !x.is_finite()) {
                Some(at) => Err(refuse(format!(
                    "row {} holds a number that is not finite",
                    at / list.len() + 1
                ))),
                None => Ok(numbers),
            }
        };
        let tau = gather("tau.", &v).and_then(|list| woven(&list));
        let mut recording = Recording {
            t: time.numbers.clone(),
            q: woven(&gather("q.", &q)?)?,
            v: woven(&gather("v.", &v)?)?,
            tau: tau?,
            arrows,
        };
        for row in recording.q.chunks_exact_mut(mechanism.nq().max(1)) {
            mechanism.normalise(row).map_err(|e| refuse(e.to_string()))?;
        }
        Ok(recording)
    }
}
