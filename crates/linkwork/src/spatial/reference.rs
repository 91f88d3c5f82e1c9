//! Where motions and forces are taken.

/// Where a motion [ω; v] is taken, and in which axes.
///
/// ```
/// use linkwork::Reference;
/// let arm = linkwork::model::examples::arm7();
/// let hand = arm.frame("flange")?;
/// let mut workspace = arm.workspace();
/// let mut posed = workspace.at(&[0.1; 7])?;
/// let mut moving = posed.moving(&[0.5; 7])?;
/// // The same velocity in the hand's axes and in the world's:
/// let (local, aligned) = (moving.velocity(hand, Reference::Local)?, moving.velocity(hand, Reference::Aligned)?);
/// assert!((local.linear.norm() - aligned.linear.norm()).abs() < 1e-12);
/// # Ok::<(), linkwork::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// The world's axes, at the world's origin: the spatial velocity of the body-fixed point that is there just now.
    World,
    /// The frame's own axes, at its origin.
    Local,
    /// The world's axes, at the frame's origin: plain angular and linear velocity.
    Aligned,
}
