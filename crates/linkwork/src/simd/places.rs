//! Where numbers stand among lanes.

/// Where the numbers of a state stand among lanes, and the last place of all, which is known without looking at each.
#[derive(Debug, Default)]
pub(crate) struct Places(pub(super) Vec<u32>, pub(super) usize);

impl From<Vec<u32>> for Places {
    fn from(places: Vec<u32>) -> Self {
        let last = places.iter().max().map_or(0, |&place| place as usize);
        Self(places, last)
    }
}

impl Places {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
