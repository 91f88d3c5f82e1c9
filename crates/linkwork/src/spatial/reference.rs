//! Where motions and forces are taken.

/// Where a motion [ω; v] is taken, and in which axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// The world's axes, at the world's origin: the spatial velocity of the body-fixed point that is there just now.
    World,
    /// The frame's own axes, at its origin.
    Local,
    /// The world's axes, at the frame's origin: plain angular and linear velocity.
    Aligned,
}
