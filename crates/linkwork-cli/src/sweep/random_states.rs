//! States at random, each by its own number: whoever draws them, they are the same.

use super::job::{Numbers, number};
use linkwork::Mechanism;
use linkwork::batch::Variation;
use linkwork::quantity::Input;
use serde_json::{Map, Value, json};
use std::f64::consts::TAU;

/// So many states at random: configurations within limits, velocities, accelerations, torques and vectors normal, and models whose
/// numbers lie evenly about their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Random {
    /// How many.
    pub total: u64,
    /// Another seed gives other states.
    pub seed: u64,
    /// The deviation of velocities and accelerations.
    pub velocity: f64,
    /// The deviation of torques.
    pub torque: f64,
    /// By how much of itself a kind of number may be more or less, in the order of [`Variation::NAMES`].
    pub vary: [f64; 6],
}

/// splitmix64's mixer.
fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// splitmix64.
struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// Uniform in (0, 1].
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 * (0.5_f64).powi(53)
    }

    /// Two normal numbers, by Box and Muller.
    fn normal(&mut self) -> [f64; 2] {
        let (radius, angle) = ((-2.0 * self.unit().ln()).sqrt(), TAU * self.unit());
        [radius * angle.cos(), radius * angle.sin()]
    }
}

impl Random {
    /// Inputs and numbers of models, for the states from a number on.
    pub fn draw(&self, m: &Mechanism, inputs: &[Input], first: u64, count: usize) -> Numbers {
        let mut drawn = Numbers::default();
        // Far from those of other seeds.
        let start = mixed(self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
        let keys = || (0..count as u64).map(|i| start.wrapping_add(first + i));
        for &input in inputs {
            let each = input.len(m).unwrap_or(0);
            let mut all = Vec::with_capacity(count * each);
            for key in keys() {
                match input {
                    Input::Q => all.extend(m.random(key)),
                    _ => {
                        let scale = match input {
                            Input::Qd | Input::Qdd => self.velocity,
                            Input::Tau => self.torque,
                            _ => 1.0,
                        };
                        let mut numbers = Generator(mixed(key ^ (number(input) + 1) << 56));
                        let end = all.len() + each;
                        while all.len() < end {
                            let room = end - all.len();
                            all.extend(numbers.normal().into_iter().take(room).map(|x| scale * x));
                        }
                    }
                }
            }
            drawn.inputs.push((input, all));
        }
        for (kind, (own, spread)) in Variation::own(m).iter().zip(self.vary).enumerate() {
            if spread > 0.0 {
                let vary = |key: u64| {
                    let mut numbers = Generator(mixed(key ^ (kind as u64 + 101) << 56));
                    let varied = own
                        .iter()
                        .map(move |x| x * (1.0 + spread * (2.0 * numbers.unit() - 1.0)));
                    varied.collect::<Vec<f64>>()
                };
                drawn.models.push((kind, keys().flat_map(vary).collect()));
            }
        }
        drawn
    }

    /// What the manifest says of them.
    pub(super) fn told(&self) -> Value {
        let spreads = Variation::NAMES.into_iter().zip(self.vary).filter(|(_, s)| *s > 0.0);
        let vary: Map<String, Value> = spreads.map(|(name, s)| (name.to_owned(), s.into())).collect();
        json!({
            "kind": "random",
            "total": self.total,
            "seed": self.seed,
            "velocity": self.velocity,
            "torque": self.torque,
            "vary": vary,
        })
    }
}
