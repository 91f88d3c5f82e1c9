//! The state to linearize about.

use super::Arguments;
use super::push;
use crate::numbers::read_bounded;
use crate::simulate::push::LARGEST;
use crate::user_error::UserError;
use anyhow::{Context, Result};
use linkwork::Mechanism;
use linkwork::state_space::OperatingPoint;
use serde::Deserialize;

/// A state as users write it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct State {
    q: Option<Vec<f64>>,
    #[serde(alias = "qd")]
    v: Option<Vec<f64>>,
    tau: Option<Vec<f64>>,
}

/// The state asked for.
pub(super) struct Point {
    pub(super) at: OperatingPoint,
    /// The names of the frames that are pushed.
    pub(super) pushed: Vec<String>,
    /// Whether the torques were given, rather than found.
    pub(super) tau_given: bool,
}

impl Point {
    pub(super) fn new(arguments: &Arguments, mechanism: &Mechanism) -> Result<Self> {
        let state = match &arguments.at {
            None => State::default(),
            Some(text) if text.trim_start().starts_with(['{', '[']) => read(text, "--at")?,
            Some(path) => {
                let text = read_bounded(path.as_ref()).with_context(|| format!("cannot read the state `{path}`"))?;
                read(&text, path)?
            }
        };
        let q = state.q.unwrap_or_else(|| mechanism.neutral());
        let pushes = arguments.push.iter().map(|text| push::parse(text, mechanism));
        let (pushed, pushes): (_, Vec<_>) = pushes.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let at = OperatingPoint::at_rest_under(mechanism, &q, &pushes).context("the state's q does not fit")?;
        let mut point = Self {
            at,
            pushed,
            tau_given: state.tau.is_some(),
        };
        let nv = mechanism.nv();
        for (name, given, into) in [("v", state.v, &mut point.at.qd), ("tau", state.tau, &mut point.at.tau)] {
            let Some(given) = given else { continue };
            if given.len() != nv {
                return Err(UserError::usage(
                    format!(
                        "{name} has {} numbers but `{}` has {nv} degrees of freedom",
                        given.len(),
                        mechanism.name()
                    ),
                    "`linkwork info ROBOT` lists the joints in the order of coordinates",
                ));
            }
            *into = given;
        }
        point.check(mechanism)?;
        Ok(point)
    }

    /// Whether it can be computed with.
    fn check(&self, mechanism: &Mechanism) -> Result<()> {
        let OperatingPoint { q, qd, tau, forces } = &self.at;
        let largest = tau.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        if let Some(x) = largest.filter(|x| !self.tau_given && !forces.is_empty() && (x.is_nan() || x.abs() > LARGEST))
        {
            return Err(UserError::usage(
                format!("--push: holding against it would take {x:e} N m or N; {LARGEST:e} is the most"),
                "push less",
            ));
        }
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(q)?;
        let mut moving = posed.moving(qd).context("the state's v does not fit")?;
        let found = moving.forward_dynamics(tau, &mut vec![0.0; tau.len()]);
        found.context("the robot cannot be moved from that state")
    }

    /// The torques, without what is little enough to be left by rounding.
    pub(super) fn torques(&self) -> Vec<f64> {
        let tau = &self.at.tau;
        let largest = tau.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let kept = |x: &f64| if x.abs() > 1e-9 * (1.0 + largest) { *x } else { 0.0 };
        tau.iter().map(kept).collect()
    }

    /// An error where a torque acts at a joint that nothing drives.
    pub(super) fn check_held(&self, all: &[String], driven: &[String]) -> Result<()> {
        let tau = self.torques();
        let idle = |i: &usize| !driven.contains(&all[*i]) && tau[*i] != 0.0;
        let Some(i) = (0..all.len()).find(idle) else {
            return Ok(());
        };
        let (joint, x) = (&all[i], crate::numbers::significant(tau[i], 6));
        Err(if self.tau_given {
            UserError::failure(
                format!("the state's \"tau\" has {x} N m or N for `{joint}`, which motors do not drive"),
                format!("give `{joint}` a torque of 0, or name it in --driven too"),
            )
        } else {
            UserError::failure(
                format!("the robot is not held there: `{joint}` would need {x} N m or N but is not driven"),
                "choose a configuration in balance with --at, drive that joint too, or give \"tau\" in the state",
            )
        })
    }
}

fn read(text: &str, name: &str) -> Result<State> {
    let hint = "write it as {\"q\": [...], \"v\": [...], \"tau\": [...]}";
    if text.trim_start().starts_with('[') {
        let problem = format!("the state in {name} is a list of numbers, which does not say what they are");
        return Err(UserError::usage(problem, hint));
    }
    serde_json::from_str(text)
        .map_err(|e| UserError::usage(format!("the state in {name} is not what was expected: {e}"), hint))
}
