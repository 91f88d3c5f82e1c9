//! States that a file names.

use crate::robot::Robot;
use linkwork::Mechanism;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The keyframe of the configuration in which an MJCF file is written, where that is not neutral.
pub const WRITTEN: &str = "qpos0";

/// A named state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyframe {
    /// Its name; where the file gives none, its number from zero.
    pub name: String,
    /// The time it stands for, in seconds.
    #[serde(default)]
    pub time: f64,
    /// The configuration of the mechanism, nq numbers.
    pub q: Vec<f64>,
    /// Its velocity, nv numbers.
    pub v: Vec<f64>,
    /// The controls of the actuators, one number for each; empty where the file says nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ctrl: Vec<f64>,
}

/// A keyframe before the mechanism is known: coordinates by the names of joints, or all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyDraft {
    pub(crate) all: Option<[Vec<f64>; 2]>,
    pub(crate) name: String,
    pub(crate) time: f64,
    pub(crate) q: HashMap<String, Vec<f64>>,
    pub(crate) v: HashMap<String, Vec<f64>>,
    pub(crate) ctrl: Vec<f64>,
}

impl KeyDraft {
    /// The state of a mechanism; joints that are not named are neutral and at rest, and followers have no coordinates.
    /// None where it is one of another mechanism, or no state at all.
    pub(crate) fn of(self, m: &Mechanism) -> Option<Keyframe> {
        let (mut q, mut v) = (m.neutral(), vec![0.0; m.nv()]);
        if let Some(all) = self.all {
            [q, v] = all;
        }
        for (joint, at_q, at_v) in m.layout() {
            put(&mut q, at_q, self.q.get(&joint.name));
            put(&mut v, at_v, self.v.get(&joint.name));
        }
        let finite = v.iter().chain(&self.ctrl).chain([&self.time]).all(|x| x.is_finite());
        let sound = q.len() == m.nq() && v.len() == m.nv() && finite && m.normalise(&mut q).is_ok();
        sound.then_some(Keyframe {
            name: self.name,
            time: self.time,
            q,
            v,
            ctrl: self.ctrl,
        })
    }
}

impl From<Keyframe> for KeyDraft {
    fn from(key: Keyframe) -> Self {
        Self {
            all: Some([key.q, key.v]),
            name: key.name,
            time: key.time,
            ctrl: key.ctrl,
            ..Self::default()
        }
    }
}

fn put(into: &mut [f64], place: std::ops::Range<usize>, from: Option<&Vec<f64>>) {
    if let Some(from) = from.filter(|f| f.len() == place.len()) {
        into[place].copy_from_slice(from);
    }
}

impl Keyframe {
    /// The same state of another mechanism that has joints of the same names; its other joints are neutral and at rest.
    fn carried(&self, from: &Mechanism, to: &Mechanism) -> Option<Self> {
        let (mut q, mut v) = (HashMap::new(), HashMap::new());
        for (joint, at_q, at_v) in from.layout() {
            q.insert(joint.name.clone(), self.q[at_q].to_vec());
            v.insert(joint.name.clone(), self.v[at_v].to_vec());
        }
        KeyDraft {
            name: self.name.clone(),
            time: self.time,
            q,
            v,
            ctrl: self.ctrl.clone(),
            all: None,
        }
        .of(to)
    }
}

impl Robot {
    /// A keyframe by its name.
    pub fn keyframe(&self, name: &str) -> Option<&Keyframe> {
        self.keyframes.iter().find(|k| k.name == name)
    }

    /// The configuration in which the file is written: neutral, unless joints have references (MuJoCo's `qpos0`).
    pub fn written_configuration(&self) -> Vec<f64> {
        match self.keyframe(WRITTEN) {
            Some(key) => key.q.clone(),
            None => self.mechanism.neutral(),
        }
    }

    /// The robot with another mechanism of the same joints, as one that was put on a free base; keyframes keep what they
    /// say of joints that have the same coordinates, and others are neutral.
    pub fn with_mechanism(mut self, mechanism: Mechanism) -> Self {
        let carried = self
            .keyframes
            .iter()
            .filter_map(|k| k.carried(&self.mechanism, &mechanism))
            .collect();
        self.keyframes = carried;
        self.mechanism = mechanism;
        self
    }
}
