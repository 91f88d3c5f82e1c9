"""MuJoCo's coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._linkwork import Error, Model
from ._coordinates import Coordinates as _Coordinates
from ._coordinates import Place, quaternion_rotation

_SIZES = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}


class Coordinates(_Coordinates):
    """Converts between a model and a `mujoco.MjModel` of the same robot, whose joints have the same names.

    A free joint may have another name, or none.
    """

    def __init__(self, model: Model, other: Any) -> None:
        self.model, self.nq, self.nv = model, other.nq, other.nv
        self._places = []
        names = set(model.moving_joint_names)
        free = [j for j in names if model.joint(j)["kind"] == "free"]
        for index in range(other.njnt):
            name, kind = other.joint(index).name, int(other.jnt_type[index])
            here = free[0] if kind == 0 and name not in names and len(free) == 1 else name
            if here not in names:
                raise Error(f"joint `{name}` of MuJoCo's model is not among the joints that move here")
            (nq, nv), q, v = _SIZES[kind], int(other.jnt_qposadr[index]), int(other.jnt_dofadr[index])
            place = Place(
                model.joint(here)["kind"], model.q_slice(here), model.v_slice(here), slice(q, q + nq), slice(v, v + nv)
            )
            self._places.append(place)
        self._covers("MuJoCo")

    def _q_here(self, place: Place, x: Any) -> Any:
        if place.kind == "free":
            return np.concatenate([x[..., 4:7], x[..., 3:4], x[..., :3]], -1)
        if place.kind == "spherical":
            return np.concatenate([x[..., 1:], x[..., :1]], -1)
        return x

    def _q_there(self, place: Place, x: Any) -> Any:
        if place.kind == "free":
            return np.concatenate([x[..., 4:], x[..., 3:4], x[..., :3]], -1)
        if place.kind == "spherical":
            return np.concatenate([x[..., 3:], x[..., :3]], -1)
        return x

    def _v_map(self, place: Place, q: Any) -> Any:
        n = place.v.stop - place.v.start
        if place.kind != "free":
            return np.eye(n)
        out = np.zeros((*q.shape[:-1], 6, 6))
        out[..., :3, 3:] = quaternion_rotation(q)
        out[..., 3:, :3] = np.eye(3)
        return out
