//! States as users write them.

use linkwork::Mechanism;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A configuration, a velocity, an acceleration and torques.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) a: Vec<f64>,
    pub(crate) tau: Vec<f64>,
    neutral: Vec<f64>,
    nv: usize,
}

impl State {
    pub(crate) fn new(mechanism: &Mechanism) -> Self {
        let nought = vec![0.0; mechanism.nv()];
        Self {
            q: mechanism.neutral(),
            v: nought.clone(),
            a: nought.clone(),
            tau: nought,
            neutral: mechanism.neutral(),
            nv: mechanism.nv(),
        }
    }

    /// From q, v, a and tau; what is missing is nought, a missing q neutral.
    pub(crate) fn of(mechanism: &Mechanism, given: [&Option<Vec<f64>>; 4]) -> Result<Self, String> {
        let mut state = Self::new(mechanism);
        for (key, given) in KEYS.into_iter().zip(given) {
            if let Some(given) = given {
                state.list(key).expect("the keys are known").clone_from(given);
            }
        }
        state.lengths()?;
        Ok(state)
    }

    /// From a line of JSON.
    pub(crate) fn read(&mut self, line: &[u8]) -> Result<(), String> {
        self.q.clone_from(&self.neutral);
        for list in [&mut self.v, &mut self.a, &mut self.tau] {
            list.clear();
            list.resize(self.nv, 0.0);
        }
        let mut json = serde_json::Deserializer::from_slice(line);
        Lists(self)
            .deserialize(&mut json)
            .and_then(|()| json.end())
            .map_err(|e| {
                let text = e.to_string();
                // Within a line, only the column says something.
                text.replace(" at line 1 column", " at column")
            })?;
        self.lengths()
    }

    fn list(&mut self, key: &str) -> Option<&mut Vec<f64>> {
        match key {
            "q" => Some(&mut self.q),
            "v" => Some(&mut self.v),
            "a" => Some(&mut self.a),
            "tau" => Some(&mut self.tau),
            _ => None,
        }
    }

    fn lengths(&mut self) -> Result<(), String> {
        for key in KEYS {
            let needed = if key == "q" { self.neutral.len() } else { self.nv };
            let given = self.list(key).map_or(0, |list| list.len());
            if given != needed {
                return Err(format!("{key} has {given} numbers but needs {needed}"));
            }
        }
        Ok(())
    }
}

/// Several states, one after another.
#[derive(Default)]
pub(crate) struct States {
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) a: Vec<f64>,
    pub(crate) tau: Vec<f64>,
    n: usize,
}

impl States {
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    pub(crate) fn clear(&mut self) {
        for list in [&mut self.q, &mut self.v, &mut self.a, &mut self.tau] {
            list.clear();
        }
        self.n = 0;
    }

    pub(crate) fn push(&mut self, state: &State) {
        self.q.extend_from_slice(&state.q);
        self.v.extend_from_slice(&state.v);
        self.a.extend_from_slice(&state.a);
        self.tau.extend_from_slice(&state.tau);
        self.n += 1;
    }

    /// Copies one of them.
    pub(crate) fn get(&self, i: usize, state: &mut State) {
        let (nq, nv) = (state.q.len(), state.v.len());
        state.q.copy_from_slice(&self.q[i * nq..(i + 1) * nq]);
        for (list, mine) in [
            (&self.v, &mut state.v),
            (&self.a, &mut state.a),
            (&self.tau, &mut state.tau),
        ] {
            mine.copy_from_slice(&list[i * nv..(i + 1) * nv]);
        }
    }
}

const KEYS: [&str; 4] = ["q", "v", "a", "tau"];

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
                    KEYS.join(", ")
                )));
            };
            map.next_value_seed(Numbers(list))?;
            for (seen, _) in seen.iter_mut().zip(KEYS).filter(|(_, k)| *k == key) {
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
        assert_eq!((&state.q[..], &state.v[..]), (&[0.1, 0.2][..], &[1.0, -1.0][..]));
        // What is missing is nought again.
        state.read(br#"{"a": [5, 6]}"#).unwrap();
        assert_eq!(
            (&state.q[..], &state.tau[..], &state.a[..]),
            (&[0.0; 2][..], &[0.0; 2][..], &[5.0, 6.0][..])
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let robot = examples::double_pendulum();
        let mut state = State::new(&robot);
        let mut problem = |line: &str| state.read(line.as_bytes()).unwrap_err();
        assert_eq!(problem(r#"{"q": [1]}"#), "q has 1 numbers but needs 2");
        assert!(problem(r#"{"qd": [1, 2]}"#).contains("unknown key `qd`; the keys are q, v, a, tau"));
        assert!(problem(r#"{"q": [1, "x"]}"#).contains("invalid type: string"));
        assert!(problem(r#"{"q": [1, 2], "q": [1, 2]}"#).contains("`q` is given twice"));
        assert!(problem(r#"[1, 2]"#).contains("an object such as"));
        assert!(problem(r#"{"q": [1, 2]} 3"#).contains("at column"));
    }
}
