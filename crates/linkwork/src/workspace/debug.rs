//! What views print of themselves: the mechanism, and its state as users gave it.

use super::{Accelerating, Configured, Linearized, Moving, MovingTaskDynamics, Posed, TaskDynamics};
use crate::scalar::Scalar;
use core::fmt::{Debug, Formatter, Result};

impl<S: Scalar> Debug for Configured<'_, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Configured")
            .field("mechanism", &self.view.mechanism.name())
            .field("q", &self.view.given().0)
            .finish_non_exhaustive()
    }
}

impl<S: Scalar> Debug for Posed<'_, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_tuple("Posed").field(&**self).finish()
    }
}

impl<S: Scalar> Debug for Moving<'_, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (q, qd) = self.view.given();
        f.debug_struct("Moving")
            .field("mechanism", &self.view.mechanism.name())
            .field("q", &q)
            .field("qd", &qd)
            .finish_non_exhaustive()
    }
}

impl<S> Debug for Accelerating<'_, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Accelerating").finish_non_exhaustive()
    }
}

impl<S> Debug for Linearized<'_, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("Linearized").finish_non_exhaustive()
    }
}

impl Debug for TaskDynamics<'_, '_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_struct("TaskDynamics")
            .field("inertia", self.inertia())
            .field("condition", &self.condition())
            .field("rank", &self.rank())
            .finish_non_exhaustive()
    }
}

impl Debug for MovingTaskDynamics<'_, '_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.debug_tuple("MovingTaskDynamics").field(&**self).finish()
    }
}
