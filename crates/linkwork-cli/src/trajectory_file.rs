//! Trajectories as files: JSON with every digit of the polynomials, or CSV with rows of t, q, v, a and tau.

use crate::numbers::read_bounded;
use crate::simulate::record::labels;
use crate::user_error::UserError;
use crate::view::csv_columns;
use anyhow::Result;
use linkwork::Mechanism;
use linkwork::motion::Trajectory;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What the first line of a JSON file says.
const FORMAT: &str = "linkwork trajectory";

/// q(t) = base ⊕ u with u = c₁σ + … + c₅σ⁵, and σ from 0 to 1 between two times.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u32,
    robot: String,
    /// A name for every number of v.
    joints: Vec<String>,
    times: Vec<f64>,
    /// Per segment: nq numbers.
    bases: Vec<Vec<f64>>,
    /// Per segment: five lists of nv numbers.
    coefficients: Vec<Vec<Vec<f64>>>,
}

/// Which kind of file, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Csv,
}

impl Format {
    pub(crate) fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("json") => Ok(Self::Json),
            Some("csv") => Ok(Self::Csv),
            _ => Err(UserError::usage(
                format!("`{}` is not a name of a trajectory", path.display()),
                "trajectories end in .json, with all digits, or .csv, as rows",
            )),
        }
    }
}

/// The text of a file; rows so many times per second if it is CSV.
pub(crate) fn text(course: &Trajectory, format: Format, rate: f64) -> Result<String> {
    match format {
        Format::Json => json(course),
        Format::Csv => csv(course, rate),
    }
}

fn json(course: &Trajectory) -> Result<String> {
    let m = course.mechanism();
    let (times, bases, coefficients) = course.polynomials();
    let (nq, nv) = (m.nq().max(1), m.nv().max(1));
    let segment = |rows: &[f64]| rows.chunks(nv).map(<[f64]>::to_vec).collect();
    let file = File {
        format: FORMAT.into(),
        version: 1,
        robot: m.name().to_owned(),
        joints: m.velocity_names(),
        times: times.to_vec(),
        bases: bases.chunks(nq).map(<[f64]>::to_vec).collect(),
        coefficients: coefficients.chunks(5 * nv).map(segment).collect(),
    };
    Ok(serde_json::to_string(&file)? + "\n")
}

/// Rows that `linkwork view ROBOT --play` shows too: tau are the motors' torques.
fn csv(course: &Trajectory, rate: f64) -> Result<String> {
    let m = course.mechanism();
    let (q_labels, v_labels) = labels(m);
    let mut names = vec!["t".to_owned()];
    for (prefix, labels) in [("q", &q_labels), ("v", &v_labels), ("a", &v_labels), ("tau", &v_labels)] {
        names.extend(
            labels
                .iter()
                .map(|label| crate::simulate::log::quoted(&format!("{prefix}.{label}"))),
        );
    }
    let mut text = names.join(",") + "\n";
    let mut rows = Rows::new(course);
    for t in course.sample_times(rate)? {
        let numbers = rows.at(t)?;
        let words: Vec<String> = [t]
            .iter()
            .chain(numbers.iter().copied().flatten())
            .map(f64::to_string)
            .collect();
        text += &words.join(",");
        text.push('\n');
    }
    Ok(text)
}

/// q, q̇, q̈ and the motors' torques over time.
pub(crate) struct Rows<'a> {
    course: &'a Trajectory,
    workspace: linkwork::Workspace,
    numbers: [Vec<f64>; 4],
    passive: Vec<f64>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(course: &'a Trajectory) -> Self {
        let m = course.mechanism();
        let nv = || vec![0.0; m.nv()];
        Self {
            course,
            workspace: m.workspace(),
            numbers: [m.neutral(), nv(), nv(), nv()],
            passive: nv(),
        }
    }

    pub(crate) fn at(&mut self, t: f64) -> Result<[&[f64]; 4]> {
        let [q, v, a, tau] = &mut self.numbers;
        self.course.at(t, q, v, a)?;
        let mut posed = self.workspace.at(q)?;
        let mut moving = posed.moving(v)?;
        moving.inverse_dynamics(a, tau)?;
        moving.passive_torque(&mut self.passive)?;
        tau.iter_mut().zip(&self.passive).for_each(|(tau, x)| *tau -= x);
        Ok([q, v, a, tau])
    }
}

/// Reads a trajectory of a mechanism.
pub(crate) fn read(path: &Path, mechanism: &Mechanism) -> Result<Trajectory> {
    let name = path.display();
    let wrong = |problem: String| {
        let hint = format!("`linkwork plan {}` writes trajectories", mechanism.name());
        UserError::failure(format!("{name}: {problem}"), hint)
    };
    match Format::of(path)? {
        Format::Json => {
            let file: File = serde_json::from_str(&read_bounded(path)?).map_err(|e| wrong(e.to_string()))?;
            if file.format != FORMAT || file.version != 1 {
                let found = format!("it is `{}` of version {}", file.format, file.version);
                return Err(wrong(format!("{found}, not `{FORMAT}` of version 1")));
            }
            let own = mechanism.velocity_names();
            if file.joints != own {
                let place = file.joints.iter().zip(&own).position(|(a, b)| a != b);
                let told = match place {
                    Some(i) => format!(
                        "it has joint `{}` where `{}` has `{}`",
                        file.joints[i],
                        mechanism.name(),
                        own[i]
                    ),
                    None => format!(
                        "it has {} degrees of freedom and `{}` {}",
                        file.joints.len(),
                        mechanism.name(),
                        own.len()
                    ),
                };
                return Err(wrong(told));
            }
            let coefficients: Vec<f64> = file.coefficients.into_iter().flatten().flatten().collect();
            let found = Trajectory::from_polynomials(mechanism, &file.times, &file.bases.concat(), &coefficients);
            found.map_err(|e| wrong(e.to_string()))
        }
        Format::Csv => {
            let columns = csv_columns(path)?;
            let (q, v) = labels(mechanism);
            let find = |name: String| columns.iter().find(|c| c.name == name).map(|c| &c.numbers[..]);
            let times = find("t".into()).ok_or_else(|| wrong("it has no column `t`".into()))?;
            let woven = |prefix: &str, labels: &[String]| -> Result<Option<Vec<f64>>> {
                let found: Option<Vec<&[f64]>> = labels.iter().map(|l| find(format!("{prefix}.{l}"))).collect();
                Ok(found.map(|list| {
                    (0..times.len())
                        .flat_map(|row| list.iter().map(move |c| c[row]))
                        .collect()
                }))
            };
            let Some(positions) = woven("q", &q)? else {
                let missing = q.iter().find(|l| find(format!("q.{l}")).is_none());
                return Err(wrong(format!("it has no column `q.{}`", missing.map_or("", |l| l))));
            };
            let found = match (woven("v", &v)?, woven("a", &v)?) {
                (Some(v), Some(a)) => Trajectory::through(mechanism, times, &positions, &v, &a),
                _ => {
                    let rows: Vec<&[f64]> = positions.chunks(mechanism.nq().max(1)).collect();
                    Trajectory::cubic_spline(mechanism, times, &rows)
                }
            };
            found.map_err(|e| wrong(e.to_string()))
        }
    }
}
