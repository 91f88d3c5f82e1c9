"""Quantities that JAX differentiates: exact, batched, under `jit`, `grad` and `vmap`, by the adjoints of the library.

>>> import jax, linkwork as lw, linkwork.jax as lj              # doctest: +SKIP
>>> m = lw.Model.example("arm7")                                # doctest: +SKIP
>>> loss = lambda tau: lj.forward_dynamics(m, m.random(1), jax.numpy.zeros(7), tau).sum()       # doctest: +SKIP
>>> jax.grad(loss)(jax.numpy.zeros(7))                          # doctest: +SKIP

The library computes on the processor, called back from wherever JAX runs. Gradients by q are in its coordinates: nq numbers.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import _gradients
from ._linkwork import Model

_XP = SimpleNamespace(
    concatenate=jnp.concatenate,
    stack=jnp.stack,
    where=jnp.where,
    sqrt=jnp.sqrt,
    sin=jnp.sin,
    cos=jnp.cos,
    sum=jnp.sum,
    ones_like=jnp.ones_like,
    cross=jnp.cross,
)


def _called(function: Any, dimensions: tuple[int, ...], *inputs: Any) -> Any:
    """A function of arrays whose last dimension is a state's, broadcast over the others."""
    batch = jnp.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    dtype = jnp.result_type(*inputs)
    shape = jax.ShapeDtypeStruct((*batch, *dimensions), dtype)

    def host(*arrays: Any) -> Any:
        given = [np.asarray(a, dtype) for a in arrays]
        # Dimensions that `vmap` added stand in front of all others.
        most = max(a.ndim for a in given)
        given = [a.reshape(a.shape[:1] + (1,) * (most - a.ndim) + a.shape[1:]) if a.ndim > 1 else a for a in given]
        return np.asarray(function(*given), dtype)

    return jax.pure_callback(host, shape, *inputs, vmap_method="broadcast_all")


@partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _dynamics(model: Model, name: str, adjoint: str, q: Any, qd: Any, other: Any) -> Any:
    return _called(getattr(model, name), (model.nv,), q, qd, other)


def _dynamics_forward(model: Model, name: str, adjoint: str, q: Any, qd: Any, other: Any) -> Any:
    return _dynamics(model, name, adjoint, q, qd, other), (q, qd, other)


def _dynamics_backward(model: Model, name: str, adjoint: str, kept: Any, given: Any) -> Any:
    q, qd, other = kept

    def back(q: Any, qd: Any, other: Any, given: Any) -> Any:
        parts = getattr(model, adjoint)(q, qd, other, given)
        by_q = _gradients.of_coordinates(model, q, parts[..., 0, :])
        return np.concatenate([by_q, parts[..., 1, :], parts[..., 2, :]], -1)

    nq, nv = model.nq, model.nv
    all_of = _called(back, (nq + 2 * nv,), q, qd, other, given)
    parts = (all_of[..., :nq], all_of[..., nq : nq + nv], all_of[..., nq + nv :])
    return tuple(_gradients.summed(g, x.shape) for g, x in zip(parts, kept))


_dynamics.defvjp(_dynamics_forward, _dynamics_backward)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _pose(model: Model, frame: str, q: Any) -> Any:
    return _called(lambda q: model.pose(q, frame), (4, 4), q)


def _pose_backward(model: Model, frame: str, q: Any, given: Any) -> Any:
    def back(q: Any, given: Any) -> Any:
        given = given.reshape(*given.shape[:-1], 4, 4)
        return _gradients.of_coordinates(model, q, _gradients.pose_gradient(model, q, frame, given))

    return (_called(back, (model.nq,), q, given.reshape(*given.shape[:-2], 16)),)


_pose.defvjp(lambda model, frame, q: (_pose(model, frame, q), q), _pose_backward)


def _arrays(*values: Any) -> list[Any]:
    return [jnp.asarray(v) for v in values]


def forward_dynamics(model: Model, q: Any, qd: Any, tau: Any) -> Any:
    """The accelerations under torques; leading dimensions broadcast."""
    return _dynamics(model, "forward_dynamics", "acceleration_adjoint", *_arrays(q, qd, tau))


def inverse_dynamics(model: Model, q: Any, qd: Any, qdd: Any) -> Any:
    """The torques for accelerations; leading dimensions broadcast."""
    return _dynamics(model, "inverse_dynamics", "torque_adjoint", *_arrays(q, qd, qdd))


def pose(model: Model, q: Any, frame: str) -> Any:
    """Where a frame is in the world, (…, 4, 4)."""
    return _pose(model, frame, jnp.asarray(q))


def integrate(model: Model, q: Any, step: Any) -> Any:
    """q ⊕ step."""
    return _gradients.integrate(_XP, model, *_arrays(q, step))


def step(model: Model, q: Any, qd: Any, tau: Any, dt: float) -> tuple[Any, Any]:
    """One semi-implicit step of Euler's: what `Model.rollout` does."""
    after = qd + dt * forward_dynamics(model, q, qd, tau)
    return integrate(model, q, dt * after), after


def rollout(model: Model, q: Any, qd: Any, tau: Any, dt: float) -> tuple[Any, Any]:
    """Steps with given torques (…, steps, nv): what each ends in, (…, steps, nq) and (…, steps, nv)."""
    q, qd, tau = _arrays(q, qd, tau)
    batch = jnp.broadcast_shapes(q.shape[:-1], qd.shape[:-1], tau.shape[:-2])
    start = (jnp.broadcast_to(q, (*batch, model.nq)), jnp.broadcast_to(qd, (*batch, model.nv)))

    def one(state: Any, torques: Any) -> Any:
        place, rate = state
        after = step(model, place, rate, torques, dt)
        return after, after

    _, (places, rates) = jax.lax.scan(one, start, jnp.moveaxis(tau, -2, 0))
    return jnp.moveaxis(places, 0, -2), jnp.moveaxis(rates, 0, -2)
