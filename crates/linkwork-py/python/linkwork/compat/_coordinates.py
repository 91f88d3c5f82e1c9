"""Coordinates of another library, joint by joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._linkwork import Error, Model


@dataclass(frozen=True)
class Place:
    """Where the coordinates of a joint are, here and elsewhere."""

    kind: str
    q: slice
    v: slice
    other_q: slice
    other_v: slice


class Coordinates:
    """Converts configurations, velocities, torques and matrices; leading dimensions stay."""

    model: Model
    nq: int
    nv: int
    _places: list[Place]

    def _checked(self, name: str, value: Any, length: int) -> Any:
        array = np.asarray(value, np.float64)
        if array.ndim == 0 or array.shape[-1] != length:
            raise Error(f"{name} has shape {array.shape}, but its last dimension must be {length}")
        return array

    def _q_here(self, place: Place, x: Any) -> Any:
        raise NotImplementedError

    def _q_there(self, place: Place, x: Any) -> Any:
        raise NotImplementedError

    def _v_map(self, place: Place, q: Any) -> Any:
        """The matrix that leads from velocities here to those there."""
        raise NotImplementedError

    def q(self, other: Any) -> Any:
        """A configuration here from one there."""
        other = self._checked("q", other, self.nq)
        out = np.empty((*other.shape[:-1], self.model.nq))
        for place in self._places:
            out[..., place.q] = self._q_here(place, other[..., place.other_q])
        return out

    def other_q(self, q: Any) -> Any:
        """A configuration there from one here."""
        q = self._checked("q", q, self.model.nq)
        out = np.zeros((*q.shape[:-1], self.nq))
        for place in self._places:
            out[..., place.other_q] = self._q_there(place, q[..., place.q])
        return out

    def v_map(self, q: Any) -> Any:
        """T of v_there = T v_here at a configuration here, (…, nv, nv): 𝓜_here = T* 𝓜_there T, and torques_here = T* torques_there."""
        q = self._checked("q", q, self.model.nq)
        out = np.zeros((*q.shape[:-1], self.nv, self.model.nv))
        for place in self._places:
            out[..., place.other_v, place.v] = self._v_map(place, q[..., place.q])
        return out

    def v(self, q: Any, other: Any) -> Any:
        """A velocity here from one there, at a configuration here."""
        other = self._checked("v", other, self.nv)
        return np.linalg.solve(self.v_map(q), other[..., None])[..., 0]

    def other_v(self, q: Any, v: Any) -> Any:
        """A velocity there from one here, at a configuration here."""
        return np.einsum("...ij,...j->...i", self.v_map(q), self._checked("v", v, self.model.nv))

    def tau(self, q: Any, other: Any) -> Any:
        """Torques here from those there, at a configuration here."""
        return np.einsum("...ji,...j->...i", self.v_map(q), self._checked("tau", other, self.nv))

    def other_tau(self, q: Any, tau: Any) -> Any:
        """Torques there from those here, at a configuration here."""
        transposed = np.swapaxes(self.v_map(q), -1, -2)
        return np.linalg.solve(transposed, self._checked("tau", tau, self.model.nv)[..., None])[..., 0]

    def matrix(self, q: Any, other: Any) -> Any:
        """A matrix like 𝓜 here from one there."""
        t = self.v_map(q)
        return np.swapaxes(t, -1, -2) @ np.asarray(other) @ t

    def _covers(self, there: str) -> None:
        seen = np.zeros(self.model.nq, int)
        for place in self._places:
            seen[place.q] += 1
        if not (seen == 1).all():
            lost = [j for j in self.model.moving_joint_names if not (seen[self.model.q_slice(j)] == 1).all()]
            raise Error(f"the model of {there} has no joint for {', '.join(lost)}; names must be the same in both")


def quaternion_rotation(q: Any) -> Any:
    """Rotation matrices of the quaternions that q starts with."""
    x = q[..., :4] / np.linalg.norm(q[..., :4], axis=-1, keepdims=True)
    a, b, c, w = np.moveaxis(x, -1, 0)
    rows = [
        [1 - 2 * (b * b + c * c), 2 * (a * b - c * w), 2 * (a * c + b * w)],
        [2 * (a * b + c * w), 1 - 2 * (a * a + c * c), 2 * (b * c - a * w)],
        [2 * (a * c - b * w), 2 * (b * c + a * w), 1 - 2 * (a * a + b * b)],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)
