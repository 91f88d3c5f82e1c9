//! Links and frames as users describe them.

use crate::spatial::{Inertia, Pose};

/// A rigid body with a frame of its own.
///
/// ```
/// use linkwork::model::Link;
/// use linkwork::spatial::Inertia;
/// let forearm = Link::new("forearm", Inertia::rod(1.2, [0.0, 0.0, 0.3]));
/// assert_eq!(forearm.inertia.mass, 1.2);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Link {
    /// Unique among links and frames.
    pub name: String,
    /// Mass distribution in the link's frame.
    pub inertia: Inertia,
}

impl Link {
    /// A link and its mass distribution.
    pub fn new(name: impl Into<String>, inertia: Inertia) -> Self {
        Self {
            name: name.into(),
            inertia,
        }
    }

    /// A link without mass, to hold frames and joints.
    pub fn massless(name: impl Into<String>) -> Self {
        Self::new(name, Inertia::ZERO)
    }
}

/// A named frame, fixed to a link.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Frame {
    /// Unique among links and frames.
    pub name: String,
    /// The link it is fixed to, or `"world"`.
    pub link: String,
    /// Its place in that link's frame.
    pub pose: Pose,
}

impl Frame {
    /// A frame on a link.
    pub fn new(name: impl Into<String>, link: impl Into<String>, pose: Pose) -> Self {
        Self {
            name: name.into(),
            link: link.into(),
            pose,
        }
    }
}
