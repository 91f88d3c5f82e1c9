//! States as users write them.

use linkwork::Mechanism;
use linkwork::quantity::{Given, Input, Quantity};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// What a state is made of, by the keys that users write.
pub(super) const KEYS: [(&str, Input); 6] = [
    ("q", Input::Q),
    ("v", Input::Qd),
    ("a", Input::Qdd),
    ("tau", Input::Tau),
    ("x", Input::X),
    ("change", Input::Change),
];

/// One state: a list of numbers for every key.
#[derive(Clone)]
pub(crate) struct State {
    lists: [Vec<f64>; 6],
    neutral: Vec<f64>,
}

impl State {
    pub(crate) fn new(mechanism: &Mechanism) -> Self {
        let neutral = mechanism.neutral();
        let mut lists = KEYS.map(|(_, input)| vec![0.0; input.len(mechanism).unwrap_or(0)]);
        lists[0].clone_from(&neutral);
        Self { lists, neutral }
    }

    /// From the lists of the keys, in their order; what is missing is zero, a missing q neutral.
    pub(crate) fn of(mechanism: &Mechanism, given: [&Option<Vec<f64>>; 6]) -> Result<Self, String> {
        let mut state = Self::new(mechanism);
        let needed = state.lengths();
        for (list, given) in state.lists.iter_mut().zip(given) {
            if let Some(given) = given {
                list.clone_from(given);
            }
        }
        state.check(needed)?;
        Ok(state)
    }

    /// From a line of JSON.
    pub(crate) fn read(&mut self, line: &[u8]) -> Result<(), String> {
        let needed = self.lengths();
        self.lists[0].clone_from(&self.neutral);
        for list in &mut self.lists[1..] {
            list.fill(0.0);
        }
        let mut json = serde_json::Deserializer::from_slice(line);
        let read = Lists(self).deserialize(&mut json).and_then(|()| json.end());
        let read = read.map_err(|e| {
            // Within a line, only the column says something.
            e.to_string().replace(" at line 1 column", " at column")
        });
        let checked = read.and_then(|()| self.check(needed));
        for (list, needed) in self.lists.iter_mut().zip(needed) {
            list.resize(needed, 0.0);
        }
        checked
    }

    /// Its numbers, in the order of the keys.
    pub(crate) fn lists(&self) -> &[Vec<f64>; 6] {
        &self.lists
    }

    fn list(&mut self, key: &str) -> Option<&mut Vec<f64>> {
        let i = KEYS.iter().position(|(own, _)| *own == key)?;
        Some(&mut self.lists[i])
    }

    fn lengths(&self) -> [usize; 6] {
        core::array::from_fn(|i| self.lists[i].len())
    }

    fn check(&self, needed: [usize; 6]) -> Result<(), String> {
        for ((key, _), (list, needed)) in KEYS.iter().zip(self.lists.iter().zip(needed)) {
            if list.len() != needed {
                return Err(format!("{key} has {} numbers but needs {needed}", list.len()));
            }
        }
        Ok(())
    }
}

/// Several states, one after another: only what is asked for of them.
pub(crate) struct States {
    lists: [Vec<f64>; 6],
    lengths: [usize; 6],
    n: usize,
}

impl States {
    /// For quantities of a mechanism.
    pub(crate) fn new<'a>(mechanism: &Mechanism, quantities: impl Iterator<Item = &'a Quantity> + Clone) -> Self {
        let used = |input: Input| input == Input::Q || quantities.clone().any(|q| q.takes(input));
        let length = |input: Input| input.len(mechanism).filter(|_| used(input)).unwrap_or(0);
        Self {
            lists: Default::default(),
            lengths: KEYS.map(|(_, input)| length(input)),
            n: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.n
    }

    pub(crate) fn clear(&mut self) {
        self.lists.iter_mut().for_each(Vec::clear);
        self.n = 0;
    }

    pub(crate) fn push(&mut self, state: &State) {
        for ((all, one), n) in self.lists.iter_mut().zip(&state.lists).zip(self.lengths) {
            all.extend_from_slice(&one[..n]);
        }
        self.n += 1;
    }

    /// All of them.
    pub(crate) fn all(&self) -> Given<'_> {
        self.given(0, self.n)
    }

    /// One of them.
    pub(crate) fn one(&self, i: usize) -> Given<'_> {
        self.given(i, 1)
    }

    fn given(&self, first: usize, n: usize) -> Given<'_> {
        let [q, qd, qdd, tau, x, change] =
            core::array::from_fn(|i| &self.lists[i][first * self.lengths[i]..(first + n) * self.lengths[i]]);
        Given {
            q,
            qd,
            qdd,
            tau,
            x,
            change,
            ..Given::default()
        }
    }
}

/// Reads an object of lists into a state's own memory.
struct Lists<'a>(&'a mut State);

impl<'de> DeserializeSeed<'de> for Lists<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Lists<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object such as {\"q\": [0.1], \"v\": [0]}")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut seen = [false; KEYS.len()];
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            let Some(list) = self.0.list(&key) else {
                return Err(M::Error::custom(format!(
                    "unknown key `{key}`; the keys are {}",
                    KEYS.map(|(key, _)| key).join(", ")
                )));
            };
            map.next_value_seed(Numbers(list))?;
            for (seen, _) in seen.iter_mut().zip(KEYS).filter(|(_, (own, _))| *own == key) {
                if std::mem::replace(seen, true) {
                    return Err(M::Error::custom(format!("`{key}` is given twice")));
                }
            }
        }
        Ok(())
    }
}

/// Reads a list of numbers into a vector's own memory.
struct Numbers<'a>(&'a mut Vec<f64>);

impl<'de> DeserializeSeed<'de> for Numbers<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Numbers<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.clear();
        while let Some(x) = list.next_element()? {
            self.0.push(x);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkwork::model::examples;

    #[test]
    fn states_are_read_into_the_same_memory() {
        let robot = examples::double_pendulum();
        let mut state = State::new(&robot);
        state
            .read(br#"{"q": [0.1, 2e-1], "v": [1, -1], "tau": [3, 4]}"#)
            .unwrap();
        assert_eq!(state.lists[..2], [vec![0.1, 0.2], vec![1.0, -1.0]]);
        // What is missing is zero again.
        state.read(br#"{"a": [5, 6]}"#).unwrap();
        assert_eq!(
            state.lists[..4],
            [vec![0.0; 2], vec![0.0; 2], vec![5.0, 6.0], vec![0.0; 2]]
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let robot = examples::double_pendulum();
        let mut state = State::new(&robot);
        let mut problem = |line: &str| state.read(line.as_bytes()).unwrap_err();
        assert_eq!(problem(r#"{"q": [1]}"#), "q has 1 numbers but needs 2");
        assert!(problem(r#"{"qd": [1, 2]}"#).contains("unknown key `qd`; the keys are q, v, a, tau, x, change"));
        assert!(problem(r#"{"q": [1, "x"]}"#).contains("invalid type: string"));
        assert!(problem(r#"{"q": [1, 2], "q": [1, 2]}"#).contains("`q` is given twice"));
        assert!(problem(r#"[1, 2]"#).contains("an object such as"));
        assert!(problem(r#"{"q": [1, 2]} 3"#).contains("at column"));
    }
}
