"""Quantities that JAX differentiates: exact, batched, under `jit`, `grad` and `vmap`, by the adjoints of the library.

>>> import jax, linkwork as lw, linkwork.jax as lj              # doctest: +SKIP
>>> m = lw.Model.example("arm7")                                # doctest: +SKIP
>>> loss = lambda tau: lj.forward_dynamics(m, m.random(1), jax.numpy.zeros(7), tau).sum()       # doctest: +SKIP
>>> jax.grad(loss)(jax.numpy.zeros(7))                          # doctest: +SKIP

The library computes on the processor: XLA calls it itself where its interface for that is the one that is known, else through a call
back to Python from wherever JAX runs. Gradients by q are in its coordinates: nq numbers.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np

from . import _gradients, _linkwork
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
    einsum=jnp.einsum,
)

_TARGET = "linkwork_quantity"
_INDEX = {quantity["name"]: i for i, quantity in enumerate(_linkwork.quantities())}
_NUMBERS: WeakKeyDictionary[Model, int] = WeakKeyDictionary()


def _registered() -> bool:
    """Makes the library known to XLA, if the version of its interface is the one that it was written for."""
    address, version = _linkwork.xla_handler()
    try:
        header = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()
        found = [int(n) for n in re.findall(r"#define XLA_FFI_API_(?:MAJOR|MINOR) (\d+)", header)]
        if found != list(version):
            return False
        jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(address), platform="cpu")
    except (AttributeError, OSError, ValueError):
        return False
    return True


called_by_xla: bool = _registered()
"""Whether XLA calls the library itself; set it to False to call through Python, which works on every platform."""


def _called(function: Any, dimensions: tuple[int, ...], *inputs: Any) -> Any:
    """A function of arrays whose last dimension is a state's, broadcast over the others."""
    batch = jnp.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    dtype = jnp.result_type(*inputs)
    shape = jax.ShapeDtypeStruct((*batch, *dimensions), dtype)

    def host(*arrays: Any) -> Any:
        return np.asarray(function(*(np.asarray(a, dtype) for a in arrays)), dtype)

    # All have the same dimensions, in front of which `vmap` puts its own.
    whole = [jnp.broadcast_to(x, (*batch, x.shape[-1])) for x in inputs]
    return jax.pure_callback(host, shape, *whole, vmap_method="broadcast_all")


def _quantity(model: Model, name: str, dimensions: tuple[int, ...], *inputs: Any, frame: str | None = None) -> Any:
    """A quantity of the library's list."""
    dtype = jnp.result_type(*inputs)
    if not called_by_xla or jax.default_backend() != "cpu" or dtype not in (jnp.float32, jnp.float64):
        named = () if frame is None else (frame,)
        return _called(lambda *arrays: getattr(model, name)(*arrays, *named), dimensions, *inputs)
    for x, length in zip(inputs, (model.nq, *(model.nv,) * 4)):
        if x.ndim == 0 or x.shape[-1] != length:
            raise _linkwork.Error(f"an array has shape {x.shape}, but its last dimension must be {length}")
    number = _NUMBERS.get(model)
    if number is None:
        number = _NUMBERS[model] = _linkwork.xla_model(model)
    batch = jnp.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    arrays = [jnp.broadcast_to(x.astype(dtype), (*batch, x.shape[-1])) for x in inputs]
    attributes: dict[str, Any] = {"model": np.int64(number), "quantity": np.int64(_INDEX[name])}
    if frame is not None:
        attributes["frame"] = frame
    result = jax.ShapeDtypeStruct((*batch, *dimensions), dtype)
    return jax.ffi.ffi_call(_TARGET, result, vmap_method="broadcast_all")(*arrays, **attributes)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _dynamics(model: Model, name: str, adjoint: str, q: Any, qd: Any, other: Any) -> Any:
    return _quantity(model, name, (model.nv,), q, qd, other)


def _dynamics_forward(model: Model, name: str, adjoint: str, q: Any, qd: Any, other: Any) -> Any:
    return _dynamics(model, name, adjoint, q, qd, other), (q, qd, other)


def _dynamics_backward(model: Model, name: str, adjoint: str, kept: Any, given: Any) -> Any:
    parts = _quantity(model, adjoint, (3, model.nv), *kept, given)
    gradients = (_gradients.of_coordinates(model, kept[0], parts[..., 0, :], _XP), parts[..., 1, :], parts[..., 2, :])
    return tuple(_gradients.summed(g, x.shape).astype(x.dtype) for g, x in zip(gradients, kept))


_dynamics.defvjp(_dynamics_forward, _dynamics_backward)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _pose(model: Model, frame: str, q: Any) -> Any:
    return _quantity(model, "pose", (4, 4), q, frame=frame)


def _pose_backward(model: Model, frame: str, q: Any, given: Any) -> Any:
    jacobian = _quantity(model, "jacobian", (6, model.nv), q, frame=frame)
    tangent = _gradients.pose_gradient(_pose(model, frame, q), jacobian, given, _XP)
    return (_gradients.of_coordinates(model, q, tangent, _XP),)


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
