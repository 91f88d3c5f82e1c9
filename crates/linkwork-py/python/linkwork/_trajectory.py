"""Methods of `Trajectory` that shape arrays."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from . import _arrays
from ._linkwork import Error, Trajectory
from ._motion import Motion


def at(self: Trajectory, t: Any) -> tuple[Any, Any, Any]:
    """q, q̇ and q̈ at times of any shape: (…, nq), (…, nv) and (…, nv)."""
    times = np.ascontiguousarray(_arrays.numbers("t", t), np.float64)
    if not np.isfinite(times).all():
        raise Error("t is not finite")
    shape, m = np.shape(t), self.model
    q, qd, qdd = (np.empty((*shape, n)) for n in (m.nq, m.nv, m.nv))
    self._at(times, q, qd, qdd)
    return q, qd, qdd


def sampled(self: Trajectory, rate: float = 1000.0) -> Motion:
    """As rows in time, `rate` of them per second, with the torques that it takes: to save, plot, or look at.

    Torques are those of inverse dynamics, as those of a simulation are: what resists the joints is in them.

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("puma560")
    >>> motion = lw.Trajectory.minimum_jerk(m, np.zeros(6), np.full(6, 0.5), 2.0).sampled(100)
    >>> motion.tau.shape
    (201, 6)
    """
    t = self.sample_times(float(rate))
    q, qd, qdd = self.at(t)
    return Motion(self.model, t, q, qd, self.model.inverse_dynamics(q, qd, qdd))


def save(self: Trajectory, path: str | PathLike[str], rate: float = 1000.0) -> None:
    """Writes rows in time, `rate` of them per second, as .csv, .npz or .parquet."""
    self.sampled(rate).save(path)


def plot(self: Trajectory, joints: Sequence[str] | None = None) -> Any:
    """Draws q, q̇ and the torques over time with matplotlib, and returns the figure."""
    return self.sampled(500.0 / max(self.duration, 1e-9)).plot(joints)


for method in (at, sampled, save, plot):
    method.__qualname__ = f"Trajectory.{method.__name__}"
    method.__module__ = "linkwork"
    setattr(Trajectory, method.__name__, method)
