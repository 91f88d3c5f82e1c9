//! Which links are one rigid body, and which bodies a joint is between.

use linkwork::model::{FrameId, WORLD};
use linkwork::{Error, Mechanism, Result};
use std::collections::HashMap;

/// Links that are welded together, as numbers; the world's is zero.
pub(crate) struct Bodies {
    of_name: HashMap<String, usize>,
    of_frame: HashMap<FrameId, usize>,
    joints: Vec<(usize, usize)>,
}

impl Bodies {
    pub(crate) fn of(m: &Mechanism) -> Result<Self> {
        let mut parent: HashMap<&str, (&str, bool)> = HashMap::new();
        for joint in m.joints() {
            parent.insert(&joint.child, (&joint.parent, joint.kind.nv() == 0));
        }
        let home = |link: &str| {
            let mut at = link.to_owned();
            while let Some((inner, true)) = parent.get(at.as_str()) {
                at = (*inner).to_owned();
            }
            at
        };
        let mut numbers: HashMap<String, usize> = HashMap::from([(WORLD.to_owned(), 0)]);
        let mut of_name = HashMap::from([(WORLD.to_owned(), 0)]);
        let mut of_frame = HashMap::from([(FrameId::WORLD, 0)]);
        for link in m.links() {
            let next = numbers.len();
            let number = *numbers.entry(home(&link.name)).or_insert(next);
            of_name.insert(link.name.clone(), number);
            of_frame.insert(m.frame(&link.name)?, number);
        }
        for frame in m.frames() {
            let number = of_name.get(&frame.link).copied().unwrap_or(0);
            of_frame.insert(m.frame(&frame.name)?, number);
        }
        let number = |name: &str| of_name.get(name).copied().unwrap_or(0);
        let moving = m.joints().iter().filter(|joint| joint.kind.nv() > 0);
        let joints = moving
            .map(|joint| (number(&joint.parent), number(&joint.child)))
            .collect();
        Ok(Self {
            of_name,
            of_frame,
            joints,
        })
    }

    pub(crate) fn of_link(&self, name: &str) -> Result<usize> {
        self.of_name.get(name).copied().ok_or_else(|| Error::Unsolved {
            what: "the pairs of a scene",
            problem: format!("an excluded pair names link `{name}`, which does not exist"),
        })
    }

    pub(crate) fn of_frame(&self, frame: FrameId) -> Result<usize> {
        self.of_frame.get(&frame).copied().ok_or_else(|| Error::Unsolved {
            what: "the pairs of a scene",
            problem: "a collider is on a frame of another mechanism; find the frame by its name in this one".into(),
        })
    }

    pub(crate) fn adjacent(&self, a: usize, b: usize) -> bool {
        self.joints.iter().any(|&pair| pair == (a, b) || pair == (b, a))
    }
}
