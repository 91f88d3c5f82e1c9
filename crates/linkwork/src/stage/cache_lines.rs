//! Numbers that do not straddle lines of the cache more often than they must: what does is slow to read back at once.

use crate::scalar::Scalar;
use core::ops::{Deref, DerefMut};

/// Numbers in a line of the cache.
pub(crate) const LINE: usize = 8;

/// The first place of some room at which a line of the cache starts; there are at least [`LINE`].
#[inline(always)]
pub(crate) fn first_of_line<S>(room: &[S]) -> usize {
    room.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE)
}

/// So many numbers, from the start of a line on.
#[derive(Debug)]
pub(crate) struct Numbers<S> {
    room: Vec<S>,
    start: usize,
    len: usize,
}

impl<S: Scalar> Numbers<S> {
    pub(crate) fn new(len: usize) -> Self {
        let room = vec![S::ZERO; len + LINE];
        let start = first_of_line(&room);
        Self { room, start, len }
    }
}

/// Lines start elsewhere in other room.
impl<S: Clone> Clone for Numbers<S> {
    fn clone(&self) -> Self {
        let (mut room, len) = (self.room.clone(), self.len);
        let start = first_of_line(&room);
        room.rotate_left(self.start);
        room.rotate_right(start);
        Self { room, start, len }
    }
}

impl<S> Deref for Numbers<S> {
    type Target = [S];

    #[inline(always)]
    fn deref(&self) -> &[S] {
        &self.room[self.start..self.start + self.len]
    }
}

impl<S> DerefMut for Numbers<S> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [S] {
        &mut self.room[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_same_numbers_and_starts_with_a_line_of_its_own() {
        // Room of many sizes, so that lines start in many places.
        let mut kept = Vec::new();
        for len in 0..40 {
            let mut all = Numbers::<f64>::new(len);
            for (i, x) in all.iter_mut().enumerate() {
                *x = i as f64;
            }
            kept.push(all.clone());
            let copy = kept.last().unwrap();
            assert_eq!(copy[..], all[..]);
            assert!(copy.as_ptr().addr().is_multiple_of(64) && all.as_ptr().addr().is_multiple_of(64));
        }
    }
}
