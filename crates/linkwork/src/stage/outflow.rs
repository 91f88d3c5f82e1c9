//! What parents hand to their children, in an outward sweep.

use crate::body::Body;

/// What the parent of link k has, or the base. Links are depth-first: the next link, if it is a child, takes that of the link
/// just visited, which is still in registers; only the other children of a branching link look it up.
#[inline(always)]
pub(crate) fn of_parent<T: Copy>(body: &Body, k: usize, last: T, all: &[T], base: T) -> T {
    match body.parent {
        Some(p) if p + 1 == k => last,
        Some(p) => all[p],
        None => base,
    }
}
