"""Pinocchio's coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._linkwork import Error, Model
from ._coordinates import Coordinates as _Coordinates
from ._coordinates import Place


class Coordinates(_Coordinates):
    """Converts between a model and a `pinocchio.Model` of the same robot, whose joints have the same names.

    A free joint at the root may have another name.
    """

    def __init__(self, model: Model, other: Any) -> None:
        self.model, self.nq, self.nv = model, other.nq, other.nv
        self._places = []
        names = set(model.moving_joint_names)
        free = [j for j in names if model.joint(j)["kind"] == "free"]
        for index, name in enumerate(other.names):
            if index == 0:
                continue
            joint = other.joints[index]
            here = name
            if name not in names and joint.nq == 7 and len(free) == 1:
                here = free[0]
            if here not in names:
                raise Error(f"joint `{name}` of Pinocchio's model is not among the joints that move here")
            self._places.append(
                Place(
                    model.joint(here)["kind"],
                    model.q_slice(here),
                    model.v_slice(here),
                    slice(joint.idx_q, joint.idx_q + joint.nq),
                    slice(joint.idx_v, joint.idx_v + joint.nv),
                )
            )
        self._covers("Pinocchio")

    def _q_here(self, place: Place, x: Any) -> Any:
        if place.kind == "free":
            return np.concatenate([x[..., 3:], x[..., :3]], -1)
        if place.kind == "planar":
            return np.concatenate([np.arctan2(x[..., 3:], x[..., 2:3]), x[..., :2]], -1)
        if x.shape[-1] == 2 and place.q.stop - place.q.start == 1:
            return np.arctan2(x[..., 1:], x[..., :1])
        return x

    def _q_there(self, place: Place, x: Any) -> Any:
        if place.kind == "free":
            return np.concatenate([x[..., 4:], x[..., :4]], -1)
        if place.kind == "planar":
            return np.concatenate([x[..., 1:], np.cos(x[..., :1]), np.sin(x[..., :1])], -1)
        if place.other_q.stop - place.other_q.start == 2 and x.shape[-1] == 1:
            return np.concatenate([np.cos(x), np.sin(x)], -1)
        return x

    def _v_map(self, place: Place, q: Any) -> Any:
        n = place.v.stop - place.v.start
        if place.kind == "free":
            return np.eye(6)[[3, 4, 5, 0, 1, 2]]
        if place.kind == "planar":
            return np.eye(3)[[1, 2, 0]]
        return np.eye(n)
