//! Muscles: force over length, speed and activation, and how activations follow what muscles are told.

use crate::actuators::{Fibre, Muscle};

/// Smaller numbers are none.
const SMALL: f64 = 1e-15;

/// A muscle whose strongest forces are known.
#[derive(Clone, Debug)]
pub(super) struct Flesh {
    muscle: Muscle,
    length_range: [f64; 2],
    /// The strongest active and passive forces.
    strongest: [f64; 2],
}

impl Flesh {
    /// Of a muscle between two lengths, along something that a unit of force accelerates so much.
    pub(super) fn new(muscle: &Muscle, length_range: [f64; 2], acceleration: f64) -> Self {
        let strongest = |fibre: &Option<Fibre>| {
            fibre.map_or(0.0, |f| match f.force < 0.0 {
                true => f.scale / acceleration.max(SMALL),
                false => f.force,
            })
        };
        Self {
            strongest: [strongest(&muscle.active), strongest(&muscle.passive)],
            muscle: muscle.clone(),
            length_range,
        }
    }

    pub(super) fn length_range(&self) -> [f64; 2] {
        self.length_range
    }

    /// The force per activation and its derivatives by length and rate, where a muscle gives them.
    pub(super) fn gain(&self, length: f64, rate: f64) -> Option<[f64; 3]> {
        let fibre = self.muscle.active.as_ref()?;
        let (l, optimum) = self.normal(fibre, length);
        let fastest = (optimum * fibre.fastest).max(SMALL);
        let ([by_length, slope], [by_speed, steep]) = (over_length(fibre, l), over_speed(fibre, rate / fastest));
        let strongest = -self.strongest[0];
        Some([
            strongest * by_length * by_speed,
            strongest * slope * by_speed / optimum,
            strongest * by_length * steep / fastest,
        ])
    }

    /// The passive force and its derivatives by length and rate, where a muscle gives them.
    pub(super) fn bias(&self, length: f64) -> Option<[f64; 3]> {
        let fibre = self.muscle.passive.as_ref()?;
        let (l, optimum) = self.normal(fibre, length);
        let strongest = -self.strongest[1] * fibre.passive_force;
        let knee = 0.5 * (1.0 + fibre.longest);
        let half = (knee - 1.0).max(SMALL);
        Some(match l {
            _ if l <= 1.0 => [0.0; 3],
            _ if l <= knee => {
                let x = (l - 1.0) / half;
                [strongest * 0.5 * x * x, strongest * x / (half * optimum), 0.0]
            }
            _ => {
                let x = (l - knee) / half;
                [strongest * (0.5 + x), strongest / (half * optimum), 0.0]
            }
        })
    }

    /// The length in units of the best one, and that one.
    fn normal(&self, fibre: &Fibre, length: f64) -> (f64, f64) {
        let ([shortest, longest], [lower, upper]) = (self.length_range, fibre.range);
        let optimum = ((longest - shortest) / (upper - lower).max(SMALL)).max(SMALL);
        (lower + (length - shortest) / optimum, optimum)
    }
}

/// The part of its strongest force that a muscle has at a length, and its derivative: four pieces of parabolas.
fn over_length(fibre: &Fibre, l: f64) -> [f64; 2] {
    let (least, most) = (fibre.shortest, fibre.longest);
    if l < least || l > most {
        return [0.0; 2];
    }
    let (rise, fall) = (0.5 * (least + 1.0), 0.5 * (1.0 + most));
    let [first, second, third, last] = [rise - least, 1.0 - rise, fall - 1.0, most - fall].map(|w| w.max(SMALL));
    if l <= rise {
        let x = (l - least) / first;
        [0.5 * x * x, x / first]
    } else if l <= 1.0 {
        let x = (1.0 - l) / second;
        [1.0 - 0.5 * x * x, x / second]
    } else if l <= fall {
        let x = (l - 1.0) / third;
        [1.0 - 0.5 * x * x, -x / third]
    } else {
        let x = (most - l) / last;
        [0.5 * x * x, -x / last]
    }
}

/// The part of its strongest force that a muscle has at a speed, in units of its fastest, and its derivative.
fn over_speed(fibre: &Fibre, v: f64) -> [f64; 2] {
    let most = fibre.lengthening_force;
    let y = most - 1.0;
    if v <= -1.0 {
        [0.0; 2]
    } else if v <= 0.0 {
        [(v + 1.0) * (v + 1.0), 2.0 * (v + 1.0)]
    } else if v <= y {
        [most - (y - v) * (y - v) / y.max(SMALL), 2.0 * (y - v) / y.max(SMALL)]
    } else {
        [most, 0.0]
    }
}

/// ȧ of an activation that rises and falls at different times, which depend on itself (Millard et al. 2013).
pub(super) fn activation_rate([rise, fall, smooth]: [f64; 3], control: f64, activation: f64) -> f64 {
    let lever = 0.5 + 1.5 * activation.clamp(0.0, 1.0);
    let (rise, fall) = (rise * lever, fall / lever);
    let away = control.clamp(0.0, 1.0) - activation;
    let time = if smooth < SMALL {
        if away > 0.0 { rise } else { fall }
    } else {
        let x = (away / smooth + 0.5).clamp(0.0, 1.0);
        fall + (rise - fall) * x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)
    };
    away / time.max(SMALL)
}

/// An activation at times, with its rate: between them it is the cubic that both ends tell.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(Vec<[f64; 3]>);

/// The largest error of a step, and of what is between two entries.
const STEP_ERROR: f64 = 1e-12;
const BETWEEN_ERROR: f64 = 1e-10;
/// Muscles are no quicker, in seconds, and are followed no longer after the last change.
const SHORTEST: f64 = 1e-4;
const LATEST: f64 = 1e6;
/// Longer tables are not made: after their end activations stay.
const LONGEST: usize = 4_000_000;

impl Table {
    /// Follows a control from zero activation: `(t, u, u̇)` from each time on, the last for ever.
    pub(super) fn follow(times: [f64; 3], controls: &[(f64, f64, f64)]) -> Self {
        let times = [times[0].max(SHORTEST), times[1].max(SHORTEST), times[2].max(0.0)];
        let shortest = times[0].min(times[1]);
        let mut table = Vec::new();
        let mut a = 0.0;
        for (i, &(from, u, slope)) in controls.iter().enumerate() {
            let rate = |t: f64, a: f64| activation_rate(times, u + slope * (t - from), a);
            let end = controls.get(i + 1).map(|c| c.0);
            let (mut t, mut h) = (from, 0.1 * shortest);
            table.push([t, a, rate(t, a)]);
            while table.len() < LONGEST {
                let left = end.map_or(f64::INFINITY, |end| end - t);
                let settled = (u.clamp(0.0, 1.0) - a).abs() < STEP_ERROR;
                if left <= 0.0 || (end.is_none() && (settled || t - from > LATEST)) {
                    break;
                }
                let step = h.min(left);
                let full = runge_kutta(&rate, t, a, step);
                let middle = runge_kutta(&rate, t, a, 0.5 * step);
                let next = runge_kutta(&rate, t + 0.5 * step, middle, 0.5 * step);
                let (start, last) = (rate(t, a), rate(t + step, next));
                let cubic = 0.5 * (a + next) + 0.125 * step * (start - last);
                let error = ((full - next).abs() / STEP_ERROR).max((cubic - middle).abs() / BETWEEN_ERROR);
                // A corner, where rising turns to falling, is passed by the shortest of steps.
                if error <= 1.0 || step < 1e-6 * shortest {
                    t = if step == left {
                        end.unwrap_or(t + step)
                    } else {
                        t + step
                    };
                    a = next;
                    table.push([t, a, last]);
                }
                h = step * (0.9 * error.max(1e-4).powf(-0.2)).clamp(0.2, 2.0);
            }
        }
        Self(table)
    }

    pub(super) fn at(&self, t: f64) -> f64 {
        let next = self.0.partition_point(|entry| entry[0] <= t);
        let [from, a, rate] = self.0[next.saturating_sub(1)];
        let Some(&[to, b, after]) = self.0.get(next).filter(|_| next > 0) else {
            return a;
        };
        let (h, s) = (to - from, (t - from) / (to - from));
        let (s2, r) = (s * s, 1.0 - s);
        a * (1.0 + 2.0 * s) * r * r + b * s2 * (3.0 - 2.0 * s) + h * s * r * (rate * r - after * s)
    }
}

/// A step of Runge and Kutta's of order 4.
fn runge_kutta(rate: &impl Fn(f64, f64) -> f64, t: f64, a: f64, h: f64) -> f64 {
    let k1 = rate(t, a);
    let k2 = rate(t + 0.5 * h, a + 0.5 * h * k1);
    let k3 = rate(t + 0.5 * h, a + 0.5 * h * k2);
    let k4 = rate(t + h, a + h * k3);
    a + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
}
