"""What `linkwork.torch` and `linkwork.jax` share: gradients by q in its coordinates, and steps of configurations in any array library.

Derivatives of the library by q are in the tangent space, nv numbers. A coordinate vector has nq, with unit quaternions among them; its
gradient g is the one with Φ*g = the tangent gradient that does not change a quaternion's length, where q̇ = Φ(q)v.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ._linkwork import Model


_LAYOUTS: WeakKeyDictionary[Model, list[tuple[str, slice, slice]]] = WeakKeyDictionary()


def layout(model: Model) -> list[tuple[str, slice, slice]]:
    """Kind and places in q and v of every joint that has coordinates."""
    known = _LAYOUTS.get(model)
    if known is None:
        known = [(model.joint(j)["kind"], model.q_slice(j), model.v_slice(j)) for j in model.moving_joint_names]
        _LAYOUTS[model] = known
    return known


def is_flat(model: Model) -> bool:
    """Whether q̇ is v itself."""
    return all(kind not in ("free", "spherical", "planar") for kind, _, _ in layout(model))


def rotations(x: Any) -> Any:
    """The rotation matrices of quaternions (…, 4) as x, y, z, w, brought to unit length."""
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    a, b, c, w = np.moveaxis(x, -1, 0)
    rows = [
        [1 - 2 * (b * b + c * c), 2 * (a * b - c * w), 2 * (a * c + b * w)],
        [2 * (a * b + c * w), 1 - 2 * (a * a + c * c), 2 * (b * c - a * w)],
        [2 * (a * c - b * w), 2 * (b * c + a * w), 1 - 2 * (a * a + b * b)],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def of_coordinates(model: Model, q: Any, tangent: Any) -> Any:
    """A gradient by q (…, nq) from one in the tangent space (…, nv)."""
    if is_flat(model):
        return tangent
    out = np.zeros((*tangent.shape[:-1], model.nq), tangent.dtype)
    q = np.broadcast_to(q, out.shape)
    for kind, at, to in layout(model):
        x, g = q[..., at], tangent[..., to]
        if kind == "planar":
            c, s = np.cos(x[..., 0]), np.sin(x[..., 0])
            out[..., at] = np.stack([g[..., 0], c * g[..., 1] - s * g[..., 2], s * g[..., 1] + c * g[..., 2]], -1)
        elif kind in ("free", "spherical"):
            norm = np.linalg.norm(x[..., :4], axis=-1, keepdims=True)
            u = x[..., :4] / norm
            v, w = u[..., :3], u[..., 3:]
            turn = g[..., :3]
            # ½ u ⊗ (ω, 0) = Φω, whose columns are orthogonal and of length ½.
            part = [2 * (w * turn + np.cross(v, turn)), -2 * np.sum(v * turn, -1, keepdims=True)]
            gradient = np.concatenate(part, -1) / norm
            if kind == "free":
                shift = np.einsum("...ij,...j->...i", rotations(x[..., :4]), g[..., 3:])
                gradient = np.concatenate([gradient, shift], -1)
            out[..., at] = gradient
        else:
            out[..., at] = g
    return out


def pose_gradient(model: Model, q: Any, frame: str, given: Any) -> Any:
    """The gradient by q, in the tangent space, of a pose whose own is given, (…, 4, 4)."""
    pose, jacobian = model.pose(q, frame), model.jacobian(q, frame, "local")
    rotation = pose[..., :3, :3]
    # δR = R ω̂: every component of ω turns one pair of columns into each other.
    inner = np.einsum("...ki,...kj->...ij", rotation, given[..., :3, :3])
    turn = np.stack(
        [
            inner[..., 2, 1] - inner[..., 1, 2],
            inner[..., 0, 2] - inner[..., 2, 0],
            inner[..., 1, 0] - inner[..., 0, 1],
        ],
        -1,
    )
    shift = np.einsum("...ki,...k->...i", rotation, given[..., :3, 3])
    return np.einsum("...ij,...i->...j", jacobian, np.concatenate([turn, shift], -1))


def summed(gradient: Any, shape: tuple[int, ...]) -> Any:
    """A gradient of what was broadcast, for what it was broadcast from."""
    extra = gradient.ndim - len(shape)
    gradient = gradient.sum(axis=tuple(range(extra))) if extra else gradient
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] != 1)
    return gradient.sum(axis=stretched, keepdims=True) if stretched else gradient


def integrate(xp: Any, model: Model, q: Any, step: Any) -> Any:
    """q ⊕ step in the functions of another array library, which differentiates them."""
    parts = []
    for kind, at, to in layout(model):
        x, s = q[..., at], step[..., to]
        if kind == "planar":
            parts.append(_planar(xp, x, s))
        elif kind in ("free", "spherical"):
            turned = _turned(xp, x[..., :4], s[..., :3])
            if kind == "free":
                moved = _shifted(xp, x[..., :4], s[..., :3], s[..., 3:])
                parts += [turned, x[..., 4:] + moved]
            else:
                parts.append(turned)
        else:
            parts.append(x + s)
    return xp.concatenate(parts, -1)


def _square(xp: Any, w: Any) -> Any:
    """|w|², and whether it is too small to divide by."""
    square = xp.sum(w * w, -1)
    small = square < 1e-6
    return square, small, xp.where(small, xp.ones_like(square), square)


def _turned(xp: Any, u: Any, w: Any) -> Any:
    """u ⊗ exp(w)."""
    square, small, safe = _square(xp, w)
    angle = xp.sqrt(safe)
    # sin(θ/2)/θ and cos(θ/2), by their series where θ is small.
    sine = xp.where(small, 0.5 - square / 48 + square * square / 3840, xp.sin(angle / 2) / angle)
    cosine = xp.where(small, 1 - square / 8 + square * square / 384, xp.cos(angle / 2))
    u = u / xp.sqrt(xp.sum(u * u, -1))[..., None]
    v, s = u[..., :3], u[..., 3:]
    e = sine[..., None] * w
    c = cosine[..., None]
    return xp.concatenate([s * e + c * v + xp.cross(v, e), s * c - xp.sum(v * e, -1)[..., None]], -1)


def _shifted(xp: Any, u: Any, w: Any, v: Any) -> Any:
    """R (v + (1 − cos θ)/θ² w × v + (θ − sin θ)/θ³ w × (w × v)): along the screw."""
    square, small, safe = _square(xp, w)
    angle = xp.sqrt(safe)
    one = xp.where(small, 0.5 - square / 24 + square * square / 720, (1 - xp.cos(angle)) / safe)
    two = xp.where(small, 1 / 6 - square / 120 + square * square / 5040, (angle - xp.sin(angle)) / (safe * angle))
    across = xp.cross(w, v)
    moved = v + one[..., None] * across + two[..., None] * xp.cross(w, across)
    u = u / xp.sqrt(xp.sum(u * u, -1))[..., None]
    a, s = u[..., :3], u[..., 3:]
    twice = 2 * xp.cross(a, moved)
    return moved + s * twice + xp.cross(a, twice)


def _planar(xp: Any, x: Any, s: Any) -> Any:
    """The same in a plane."""
    w = s[..., 0]
    small = w * w < 1e-6
    safe = xp.where(small, xp.ones_like(w), w)
    sine = xp.where(small, 1 - w * w / 6 + w**4 / 120, xp.sin(safe) / safe)
    versine = xp.where(small, w / 2 - w**3 / 24, (1 - xp.cos(safe)) / safe)
    a, b = sine * s[..., 1] - versine * s[..., 2], versine * s[..., 1] + sine * s[..., 2]
    c, d = xp.cos(x[..., 0]), xp.sin(x[..., 0])
    moved = [x[..., 0] + w, x[..., 1] + c * a - d * b, x[..., 2] + d * a + c * b]
    return xp.stack(moved, -1)
