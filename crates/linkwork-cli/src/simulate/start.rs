//! Where a simulation starts.

use crate::numbers::{read_bounded, seed};
use crate::user_error::UserError;
use anyhow::Result;
use clap::Args;
use linkwork::Mechanism;
use linkwork::simulate::State;
use linkwork_formats::{Keyframe, Robot};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The state at the start: as the robot's file is written, or where that is beyond the joints' limits its keyframe, or the nearest
/// within them; at rest, unless something is said.
#[derive(Args)]
pub(crate) struct Start {
    /// Start at this configuration, nq numbers: rad and m, quaternions x, y, z, w.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    q: Option<Vec<f64>>,
    /// Start with this velocity, nv numbers: rad/s and m/s.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    v: Option<Vec<f64>>,
    /// Start at a random configuration within the limits, at rest: the same for the same seed everywhere.
    #[arg(long, value_name = "SEED", conflicts_with_all = ["q", "start"], value_parser = seed, allow_negative_numbers = true)]
    random: Option<u64>,
    /// Start at the state in a JSON file with keys q and v.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["q", "v"])]
    start: Option<PathBuf>,
    /// Start at a keyframe of the robot's file; `linkwork info` lists them.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["q", "v", "random", "start"])]
    start_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    q: Option<Vec<f64>>,
    v: Option<Vec<f64>>,
}

impl Start {
    /// Whether a configuration was asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.q.is_some() || self.random.is_some() || self.start.is_some() || self.start_key.is_some()
    }

    /// The file that it is read from, if it is.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.start.as_deref()
    }

    /// The keyframe that it starts at, if it starts at one.
    pub(crate) fn key<'a>(&self, robot: &'a Robot) -> Option<&'a Keyframe> {
        robot.keyframe(self.start_key.as_deref()?)
    }

    pub(crate) fn state(&self, mechanism: &Mechanism, robot: &Robot) -> Result<State> {
        let (mut q, mut v) = (self.q.clone(), self.v.clone());
        if let Some(name) = &self.start_key {
            let key = robot.keyframe(name).ok_or_else(|| unknown_key(name, robot))?;
            (q, v) = (Some(key.q.clone()), Some(key.v.clone()));
        }
        if let Some(seed) = self.random {
            q = Some(mechanism.random(seed));
        }
        if let Some(path) = &self.start {
            let name = path.display();
            let text = read_bounded(path)?;
            let file: File = serde_json::from_str(&text).map_err(|e| {
                let hint = "a state is an object such as {\"q\": [0.1, 0.2], \"v\": [0, 0]}";
                UserError::failure(format!("{name}: {e}"), hint)
            })?;
            (q, v) = (file.q, file.v);
        }
        let mut state = State::at_rest(mechanism, &q.unwrap_or_else(|| robot.written_configuration()));
        if let Some(v) = v {
            state.v = v;
        }
        for (key, given, needed) in [
            ("q", state.q.len(), mechanism.nq()),
            ("v", state.v.len(), mechanism.nv()),
        ] {
            if given != needed {
                return Err(UserError::usage(
                    format!("{key} has {given} numbers but `{}` needs {needed}", mechanism.name()),
                    "`linkwork info ROBOT` lists the joints in the order of coordinates",
                ));
            }
        }
        mechanism
            .normalise(&mut state.q)
            .and_then(|()| mechanism.workspace().at(&state.q)?.moving(&state.v).map(drop))
            .map_err(|e| {
                UserError::usage(
                    e.to_string(),
                    "give another start with --q, --v, --random, --start or --start-key",
                )
            })?;
        Ok(state)
    }
}

fn unknown_key(name: &str, robot: &Robot) -> anyhow::Error {
    let known: Vec<_> = robot.keyframes.iter().map(|k| k.name.as_str()).collect();
    let hint = match known[..] {
        [] => "its file has none; use --q, --random or --start".to_owned(),
        _ => format!("its keyframes are {}", known.join(", ")),
    };
    let near = linkwork::model::did_you_mean(name, known.into_iter());
    UserError::usage(
        format!("`{}` has no keyframe `{name}`{near}", robot.mechanism.name()),
        hint,
    )
}
