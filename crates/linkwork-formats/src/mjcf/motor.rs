//! DC motors of MJCF, as far as they have no state.

use super::defaults::Defaulted;
use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::source::At;

/// τ = K/R (u − Kω) within what it bears, and cogging.
#[derive(Default)]
pub(super) struct Motor {
    pub(super) gain: [f64; 3],
    pub(super) bias: [f64; 3],
    pub(super) cogging: Option<[f64; 3]>,
    pub(super) saturated: Option<[f64; 2]>,
    /// What it does besides, in words.
    pub(super) unmodelled: Option<&'static str>,
}

/// Reads a `<dcmotor>`: constants by themselves or from a nominal point of operation.
pub(super) fn read(d: &Defaulted<'_>, at: At<'_>, f: &mut Findings) -> Motor {
    let mut list = |name: &str| -> [f64; 6] {
        let given = numbers::list(f, d.with(name), name, at, Range::Usable).unwrap_or_default();
        core::array::from_fn(|i| given.get(i).copied().unwrap_or(0.0))
    };
    let constants = list("motorconst");
    let [volts, stall, speed, ..] = list("nominal");
    let mut known: Vec<f64> = constants[..2].iter().copied().filter(|k| *k > 0.0).collect();
    if speed > 0.0 && known.len() < 2 {
        known.push(volts / speed);
    }
    let k = match known[..] {
        [a, b] => (a * b).sqrt(),
        [a] => a,
        _ => 0.0,
    };
    let [given, ..] = list("resistance");
    let r = match given > 0.0 {
        true => given,
        false if stall > 0.0 => k * volts / stall,
        false => 0.0,
    };
    let any = |list: &[f64]| list.iter().any(|x| *x != 0.0);
    let [torque, current, ..] = list("saturation");
    let most = if torque > 0.0 { torque } else { k * current };
    let [amplitude, poles, phase, ..] = list("cogging");
    let states = [
        ("the inductance", any(&list("inductance")[..2])),
        ("the temperature", any(&list("thermal")[..3])),
        ("the friction of bristles", list("lugre")[0] != 0.0),
        ("the controller", any(&list("controller"))),
    ];
    let mut unmodelled = states.into_iter().find(|(_, there)| *there).map(|(what, _)| what);
    if d.attribute("input").is_some_and(|input| input != "voltage") {
        unmodelled = Some("an input other than the voltage");
    }
    if !(k > 0.0 && r > 0.0) {
        let message = "a <dcmotor> needs a constant and a resistance above zero; it is left out";
        f.doubt(at, "actuator", message, "give motorconst and resistance, or nominal");
        unmodelled = Some("the missing constant");
    }
    let sound = unmodelled.is_none();
    let over = |x: f64| if sound { x / r } else { 0.0 };
    Motor {
        gain: [over(k), 0.0, 0.0],
        bias: [0.0, 0.0, -over(k * k)],
        cogging: Some([amplitude, poles, phase]).filter(|_| amplitude != 0.0),
        saturated: Some([-most, most]).filter(|_| most > 0.0),
        unmodelled,
    }
}
