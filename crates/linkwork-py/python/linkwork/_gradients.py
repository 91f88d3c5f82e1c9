"""What `linkwork.torch` and `linkwork.jax` share: gradients by q in its coordinates, and steps of configurations in any array library.

Derivatives of the library by q are in the tangent space, nv numbers. A coordinate vector has nq, with unit quaternions among them; its
gradient g is the one with Φ*g = the tangent gradient that does not change a quaternion's length, where q̇ = Φ(q)v.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ._linkwork import Model


CURVED = ("free", "spherical", "planar")
"""The joints whose q̇ is not v."""

_LAYOUTS: WeakKeyDictionary[Model, list[tuple[str, slice, slice]]] = WeakKeyDictionary()


def layout(model: Model) -> list[tuple[str, slice, slice]]:
    """Kind and places in q and v of every joint that has coordinates; neighbours whose q̇ is v are one, of kind "flat"."""
    known = _LAYOUTS.get(model)
    if known is None:
        known = []
        for name in model.moving_joint_names:
            kind, q, v = model.joint(name)["kind"], model.q_slice(name), model.v_slice(name)
            if kind in CURVED:
                known.append((kind, q, v))
            elif known and known[-1][0] == "flat":
                _, before, rates = known.pop()
                known.append(("flat", slice(before.start, q.stop), slice(rates.start, v.stop)))
            else:
                known.append(("flat", q, v))
        _LAYOUTS[model] = known
    return known


def is_flat(model: Model) -> bool:
    """Whether q̇ is v itself."""
    return all(kind == "flat" for kind, _, _ in layout(model))


NUMPY = SimpleNamespace(
    concatenate=np.concatenate, stack=np.stack, sqrt=np.sqrt, sin=np.sin, cos=np.cos, sum=np.sum, cross=np.cross, einsum=np.einsum
)


def of_coordinates(model: Model, q: Any, tangent: Any, xp: Any = NUMPY) -> Any:
    """A gradient by q (…, nq) from one in the tangent space (…, nv)."""
    if is_flat(model):
        return tangent
    parts = []
    for kind, at, to in layout(model):
        x, g = q[..., at], tangent[..., to]
        if kind == "planar":
            c, s = xp.cos(x[..., 0]), xp.sin(x[..., 0])
            parts.append(xp.stack([g[..., 0], c * g[..., 1] - s * g[..., 2], s * g[..., 1] + c * g[..., 2]], -1))
        elif kind in ("free", "spherical"):
            norm = xp.sqrt(xp.sum(x[..., :4] * x[..., :4], -1))[..., None]
            u = x[..., :4] / norm
            v, w = u[..., :3], u[..., 3:]
            turn = g[..., :3]
            # ½ u ⊗ (ω, 0) = Φω, whose columns are orthogonal and of length ½.
            parts += [2 * (w * turn + xp.cross(v, turn)) / norm, -2 * xp.sum(v * turn, -1)[..., None] / norm]
            if kind == "free":
                twice = 2 * xp.cross(v, g[..., 3:])
                parts.append(g[..., 3:] + w * twice + xp.cross(v, twice))
        else:
            parts.append(g)
    return xp.concatenate(parts, -1)


def pose_gradient(pose: Any, jacobian: Any, given: Any, xp: Any = NUMPY) -> Any:
    """The gradient by q, in the tangent space, of a pose whose own is given, (…, 4, 4); the Jacobian is in the frame's own axes."""
    rotation = pose[..., :3, :3]
    # δR = R ω̂: every component of ω turns one pair of columns into each other.
    inner = xp.einsum("...ki,...kj->...ij", rotation, given[..., :3, :3])
    turn = xp.stack(
        [
            inner[..., 2, 1] - inner[..., 1, 2],
            inner[..., 0, 2] - inner[..., 2, 0],
            inner[..., 1, 0] - inner[..., 0, 1],
        ],
        -1,
    )
    shift = xp.einsum("...ki,...k->...i", rotation, given[..., :3, 3])
    return xp.einsum("...ij,...i->...j", jacobian, xp.concatenate([turn, shift], -1))


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
