//! A scalar that writes down what is done to it: running an algorithm on it gives straight-line code.
//!
//! Constants are folded, sums with zero and products with one or zero vanish, and equal operations are one. Each
//! number also has a sample value, so that checks of configurations pass; code never depends on it.

use crate::scalar::{Builds, Scalar};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// What a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum From {
    /// The bits of a constant.
    Constant(u64),
    /// An element of an argument.
    Input(usize, usize),
    Add(u32, u32),
    Sub(u32, u32),
    Mul(u32, u32),
    Neg(u32),
    Recip(u32),
    Sqrt(u32),
    Ln(u32),
    Sin(u32),
    Cos(u32),
    /// `yes` where a number is below a bound, else `no`: number, bits of the bound, yes, no.
    Below(u32, u64, u32, u32),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    pub(crate) made: Vec<From>,
    samples: Vec<f64>,
    known: HashMap<From, u32>,
}

impl Tape {
    /// Zero and one have fixed places.
    fn new() -> Self {
        let mut tape = Self::default();
        tape.push(From::Constant(0.0_f64.to_bits()), 0.0);
        tape.push(From::Constant(1.0_f64.to_bits()), 1.0);
        tape
    }

    fn push(&mut self, from: From, sample: f64) -> Traced {
        if let Some(&id) = self.known.get(&from) {
            return Traced(id);
        }
        let id = self.made.len() as u32;
        self.known.insert(from, id);
        self.made.push(from);
        self.samples.push(sample);
        Traced(id)
    }

    fn constant(&self, x: Traced) -> Option<f64> {
        match self.made[x.0 as usize] {
            From::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn lift(&mut self, x: f64) -> Traced {
        // One zero: −0 would be another constant.
        let x = if x == 0.0 { 0.0 } else { x };
        self.push(From::Constant(x.to_bits()), x)
    }

    fn sample(&self, x: Traced) -> f64 {
        self.samples[x.0 as usize]
    }

    fn negated(&self, x: Traced) -> Option<Traced> {
        match self.made[x.0 as usize] {
            From::Neg(y) => Some(Traced(y)),
            _ => None,
        }
    }

    fn neg(&mut self, x: Traced) -> Traced {
        if let Some(c) = self.constant(x) {
            return self.lift(-c);
        }
        if let Some(y) = self.negated(x) {
            return y;
        }
        if let From::Sub(a, b) = self.made[x.0 as usize] {
            return self.sub(Traced(b), Traced(a));
        }
        let sample = -self.sample(x);
        self.push(From::Neg(x.0), sample)
    }

    fn add(&mut self, a: Traced, b: Traced) -> Traced {
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.lift(x + y),
            (Some(0.0), _) => return b,
            (_, Some(0.0)) => return a,
            _ => {}
        }
        if let Some(y) = self.negated(b) {
            return self.sub(a, y);
        }
        if let Some(y) = self.negated(a) {
            return self.sub(b, y);
        }
        // What is taken off and added again: crm(V)V of a free base is zero.
        match (self.made[a.0 as usize], self.made[b.0 as usize]) {
            (From::Sub(x, y), From::Sub(z, w)) if x == w && y == z => return Traced::ZERO,
            (From::Sub(x, y), _) if y == b.0 => return Traced(x),
            (_, From::Sub(x, y)) if y == a.0 => return Traced(x),
            _ => {}
        }
        let sample = self.sample(a) + self.sample(b);
        self.push(From::Add(a.0.min(b.0), a.0.max(b.0)), sample)
    }

    fn sub(&mut self, a: Traced, b: Traced) -> Traced {
        if a == b {
            return Traced::ZERO;
        }
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.lift(x - y),
            (Some(0.0), _) => return self.neg(b),
            (_, Some(0.0)) => return a,
            _ => {}
        }
        if let Some(y) = self.negated(b) {
            return self.add(a, y);
        }
        if let Some(y) = self.negated(a) {
            let sum = self.add(y, b);
            return self.neg(sum);
        }
        if let From::Sub(x, y) = self.made[a.0 as usize]
            && x == b.0
        {
            return self.neg(Traced(y));
        }
        let sample = self.sample(a) - self.sample(b);
        self.push(From::Sub(a.0, b.0), sample)
    }

    fn mul(&mut self, a: Traced, b: Traced) -> Traced {
        let (a, b) = if self.constant(b).is_some() { (b, a) } else { (a, b) };
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.lift(x * y),
            (Some(0.0), _) => return Traced::ZERO,
            (Some(1.0), _) => return b,
            (Some(-1.0), _) => return self.neg(b),
            (Some(x), None) => {
                // A constant times a constant times something.
                if let From::Mul(c, y) = self.made[b.0 as usize]
                    && let Some(c) = self.constant(Traced(c))
                {
                    let product = self.lift(c * x);
                    return self.mul(product, Traced(y));
                }
                // Signs go with the constant.
                if let Some(y) = self.negated(b) {
                    let minus = self.lift(-x);
                    return self.mul(minus, y);
                }
            }
            _ => {}
        }
        if let Some(x) = self.negated(a) {
            let product = self.mul(x, b);
            return self.neg(product);
        }
        if let Some(y) = self.negated(b) {
            let product = self.mul(a, y);
            return self.neg(product);
        }
        let sample = self.sample(a) * self.sample(b);
        let constant_first = self.constant(a).is_some() || a.0 <= b.0;
        let (a, b) = if constant_first { (a, b) } else { (b, a) };
        self.push(From::Mul(a.0, b.0), sample)
    }

    fn unary(&mut self, x: Traced, from: From, value: fn(f64) -> f64) -> Traced {
        match self.constant(x) {
            Some(c) => self.lift(value(c)),
            None => {
                let sample = value(self.sample(x));
                self.push(from, sample)
            }
        }
    }
}

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::new(Tape::new());
}

fn on<T>(work: impl FnOnce(&mut Tape) -> T) -> T {
    TAPE.with(|tape| work(&mut tape.borrow_mut()))
}

/// Starts afresh.
pub(crate) fn start() {
    on(|tape| *tape = Tape::new());
}

/// What was written down.
pub(crate) fn taken() -> Tape {
    on(std::mem::take)
}

/// A number on the tape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traced(pub(crate) u32);

impl Traced {
    /// An element of an argument, with a sample value.
    pub(crate) fn input(argument: usize, index: usize, sample: f64) -> Self {
        on(|tape| tape.push(From::Input(argument, index), sample))
    }
}

impl Neg for Traced {
    type Output = Self;
    fn neg(self) -> Self {
        on(|tape| tape.neg(self))
    }
}

impl Add for Traced {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        on(|tape| tape.add(self, b))
    }
}

impl Sub for Traced {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        on(|tape| tape.sub(self, b))
    }
}

impl Mul for Traced {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        on(|tape| tape.mul(self, b))
    }
}

impl AddAssign for Traced {
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl SubAssign for Traced {
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl Scalar for Traced {
    const ZERO: Self = Self(0);
    const ONE: Self = Self(1);
    const JUDGES: bool = false;
    const BUILDS: Builds = Builds::Anywhere;

    fn lift(x: f64) -> Self {
        on(|tape| tape.lift(x))
    }

    fn lane(self, _: usize) -> f64 {
        on(|tape| tape.sample(self))
    }

    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }

    fn recip(self) -> Self {
        on(|tape| tape.unary(self, From::Recip(self.0), f64::recip))
    }

    fn sqrt(self) -> Self {
        on(|tape| tape.unary(self, From::Sqrt(self.0), f64::sqrt))
    }

    fn ln(self) -> Self {
        on(|tape| tape.unary(self, From::Ln(self.0), f64::ln))
    }

    fn sin_cos(self) -> (Self, Self) {
        on(|tape| {
            (
                tape.unary(self, From::Sin(self.0), f64::sin),
                tape.unary(self, From::Cos(self.0), f64::cos),
            )
        })
    }

    fn where_below(self, bound: f64, yes: Self, no: Self) -> Self {
        on(|tape| match tape.constant(self) {
            Some(x) if x < bound => yes,
            Some(_) => no,
            None => {
                let chosen = if tape.sample(self) < bound { yes } else { no };
                let sample = tape.sample(chosen);
                tape.push(From::Below(self.0, bound.to_bits(), yes.0, no.0), sample)
            }
        })
    }
}

impl Tape {
    /// What a number is made of.
    pub(crate) fn reads(&self, id: u32) -> Vec<u32> {
        match self.made[id as usize] {
            From::Constant(_) | From::Input(..) => vec![],
            From::Add(a, b) | From::Sub(a, b) | From::Mul(a, b) => vec![a, b],
            From::Neg(a) | From::Recip(a) | From::Sqrt(a) | From::Ln(a) | From::Sin(a) | From::Cos(a) => vec![a],
            From::Below(x, _, a, b) => vec![x, a, b],
        }
    }
}
