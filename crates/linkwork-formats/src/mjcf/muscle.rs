//! Muscles of MJCF.

use super::defaults::Defaulted;
use crate::actuators::{Fibre, Lag, Muscle};
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::source::At;

/// What of an actuator is a muscle's.
#[derive(Default)]
pub(super) struct Flesh {
    active: Option<Fibre>,
    passive: Option<Fibre>,
    pub(super) lag: Option<Lag>,
}

const SHORTCUT: &str = "muscle";

/// Reads what `<muscle>` says, or a `<general>` whose types are a muscle's.
pub(super) fn read(d: &Defaulted<'_>, kind: &str, at: At<'_>, f: &mut Findings) -> Flesh {
    if !matches!(kind, SHORTCUT | "general") {
        return Flesh::default();
    }
    let is = |name: &str| kind == SHORTCUT || d.type_or_shortcut(name, SHORTCUT).as_deref() == Some(SHORTCUT);
    let [gains, biases, lags] = [is("gaintype"), is("biastype"), is("dyntype")];
    if !gains && !biases && !lags {
        return Flesh::default();
    }
    let mut list = |name: &str| numbers::list(f, d.with(name), name, at, Range::Usable);
    let mut one = |name: &str, none: f64| list(name).and_then(|l| l.first().copied()).unwrap_or(none);
    let mut own = Fibre {
        range: [0.75, 1.05],
        force: one("force", -1.0),
        scale: one("scale", 200.0),
        shortest: one("lmin", 0.5),
        longest: one("lmax", 1.6),
        fastest: one("vmax", 1.5),
        passive_force: one("fpmax", 1.3),
        lengthening_force: one("fvmax", 1.2),
    };
    let smooth = one("tausmooth", 0.0);
    if let Some([lower, upper, ..]) = list("range").as_deref() {
        own.range = [*lower, *upper];
    }
    // All numbers of a `<general>` in a row; zero where there are fewer.
    let mut row = |name: &str| {
        let given = list(name).filter(|_| kind != SHORTCUT)?;
        let x = |i: usize| given.get(i).copied().unwrap_or(0.0);
        Some(Fibre {
            range: [x(0), x(1)],
            force: x(2),
            scale: x(3),
            shortest: x(4),
            longest: x(5),
            fastest: x(6),
            passive_force: x(7),
            lengthening_force: x(8),
        })
    };
    let (active, passive) = (row("gainprm").unwrap_or(own), row("biasprm").unwrap_or(own));
    let name = if kind == SHORTCUT { "timeconst" } else { "dynprm" };
    let times = list(name).or_else(|| list("timeconst")).unwrap_or_default();
    let time = |i: usize, none: f64| times.get(i).copied().unwrap_or(none);
    let lag = Lag::Muscle {
        rise: time(0, 0.01),
        fall: time(1, 0.04),
        smooth: if name == "dynprm" { time(2, smooth) } else { smooth },
    };
    Flesh {
        active: gains.then_some(active),
        passive: biases.then_some(passive),
        lag: lags.then_some(lag),
    }
}

impl Flesh {
    /// Whether its gain is a muscle's.
    pub(super) fn gains(&self) -> bool {
        self.active.is_some()
    }

    /// Whether its bias is a muscle's.
    pub(super) fn biases(&self) -> bool {
        self.passive.is_some()
    }

    /// The muscle, if it is one.
    pub(super) fn muscle(&self, d: &Defaulted<'_>, at: At<'_>, f: &mut Findings) -> Option<Muscle> {
        if !self.gains() && !self.biases() {
            return None;
        }
        let given = numbers::several::<2>(f, d.with("lengthrange"), "lengthrange", at);
        let length_range = given.filter(|[shortest, longest]| shortest < longest);
        if length_range.is_none() {
            let message =
                "the muscle has no lengthrange: it is found from the limits of joints, which MuJoCo does by simulation";
            let advice = "write lengthrange=\"…\" into the file for its very numbers";
            f.note(at, "muscle", message, advice);
        }
        Some(Muscle {
            length_range,
            active: self.active,
            passive: self.passive,
        })
    }
}
