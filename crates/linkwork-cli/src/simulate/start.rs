//! Where a simulation starts.

use crate::complaint::Complaint;
use anyhow::{Context, Result};
use clap::Args;
use linkwork::Mechanism;
use linkwork::simulate::State;
use serde::Deserialize;
use std::path::PathBuf;

/// The state at the start: neutral and at rest, unless something is said.
#[derive(Args)]
pub(crate) struct Start {
    /// Start at this configuration, nq numbers: rad and m, quaternions x, y, z, w.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    q: Option<Vec<f64>>,
    /// Start with this velocity, nv numbers: rad/s and m/s.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    v: Option<Vec<f64>>,
    /// Start at a random configuration within the limits, at rest: the same for the same seed everywhere.
    #[arg(long, value_name = "SEED", conflicts_with_all = ["q", "start"])]
    random: Option<u64>,
    /// Start at the state in a JSON file with keys q and v.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["q", "v"])]
    start: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    q: Option<Vec<f64>>,
    v: Option<Vec<f64>>,
}

impl Start {
    pub(crate) fn state(&self, mechanism: &Mechanism) -> Result<State> {
        let (mut q, mut v) = (self.q.clone(), self.v.clone());
        if let Some(seed) = self.random {
            q = Some(mechanism.random(seed));
        }
        if let Some(path) = &self.start {
            let name = path.display();
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
            let file: File = serde_json::from_str(&text).map_err(|e| {
                let hint = "a state is an object such as {\"q\": [0.1, 0.2], \"v\": [0, 0]}";
                Complaint::failure(format!("{name}: {e}"), hint)
            })?;
            (q, v) = (file.q, file.v);
        }
        let mut state = State::at_rest(mechanism, &q.unwrap_or_else(|| mechanism.neutral()));
        if let Some(v) = v {
            state.v = v;
        }
        for (key, given, needed) in [
            ("q", state.q.len(), mechanism.nq()),
            ("v", state.v.len(), mechanism.nv()),
        ] {
            if given != needed {
                return Err(Complaint::usage(
                    format!("{key} has {given} numbers but `{}` needs {needed}", mechanism.name()),
                    "`linkwork info ROBOT` lists the joints in the order of coordinates",
                ));
            }
        }
        mechanism
            .normalise(&mut state.q)
            .and_then(|()| mechanism.workspace().at(&state.q)?.moving(&state.v).map(drop))
            .map_err(|e| Complaint::usage(e.to_string(), "give another start with --q, --v, --random or --start"))?;
        Ok(state)
    }
}
