"""Quantities that PyTorch differentiates: exact, batched, by the adjoints of the library.

>>> import torch, linkwork as lw, linkwork.torch as lt          # doctest: +SKIP
>>> m = lw.Model.example("arm7")                                # doctest: +SKIP
>>> tau = torch.zeros(1000, 7, dtype=torch.float64, requires_grad=True)         # doctest: +SKIP
>>> qdd = lt.forward_dynamics(m, torch.tensor(m.random(1, count=1000)), torch.zeros(7, dtype=torch.float64), tau)  # doctest: +SKIP
>>> qdd.square().sum().backward()                               # doctest: +SKIP

Gradients by q are in its coordinates: nq numbers, quaternions among them.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from . import _gradients
from ._linkwork import Model

_XP = SimpleNamespace(
    concatenate=torch.cat,
    stack=torch.stack,
    where=torch.where,
    sqrt=torch.sqrt,
    sin=torch.sin,
    cos=torch.cos,
    sum=torch.sum,
    ones_like=torch.ones_like,
    cross=lambda a, b: torch.linalg.cross(*torch.broadcast_tensors(a, b)),
)


def _numpy(x: torch.Tensor) -> Any:
    return x.detach().cpu().numpy()


def _tensor(x: Any, like: torch.Tensor) -> torch.Tensor:
    return torch.as_tensor(np.asarray(x), dtype=like.dtype, device=like.device)


class _Dynamics(torch.autograd.Function):
    """A quantity of (q, q̇, input) and its adjoint, by their names."""

    @staticmethod
    def forward(ctx: Any, model: Model, name: str, adjoint: str, *inputs: torch.Tensor) -> torch.Tensor:
        ctx.model, ctx.adjoint = model, adjoint
        ctx.save_for_backward(*inputs)
        return _tensor(getattr(model, name)(*map(_numpy, inputs)), inputs[0])

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[misc]
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        inputs = ctx.saved_tensors
        q, qd, other = map(_numpy, inputs)
        parts = getattr(ctx.model, ctx.adjoint)(q, qd, other, _numpy(given))
        gradients = [_gradients.of_coordinates(ctx.model, q, parts[..., 0, :]), parts[..., 1, :], parts[..., 2, :]]
        back = [_tensor(_gradients.summed(g, tuple(x.shape)), x) for g, x in zip(gradients, inputs)]
        return (None, None, None, *back)


class _Pose(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, model: Model, frame: str, q: torch.Tensor) -> torch.Tensor:
        ctx.model, ctx.frame = model, frame
        ctx.save_for_backward(q)
        return _tensor(model.pose(_numpy(q), frame), q)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[misc]
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        (tensor,) = ctx.saved_tensors
        q = _numpy(tensor)
        pose, jacobian = ctx.model.pose(q, ctx.frame), ctx.model.jacobian(q, ctx.frame, "local")
        tangent = _gradients.pose_gradient(pose, jacobian, _numpy(given))
        return None, None, _tensor(_gradients.of_coordinates(ctx.model, q, tangent), tensor)


def forward_dynamics(model: Model, q: torch.Tensor, qd: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    """The accelerations under torques; leading dimensions broadcast."""
    return _Dynamics.apply(model, "forward_dynamics", "acceleration_adjoint", q, qd, tau)  # type: ignore[no-any-return]


def inverse_dynamics(model: Model, q: torch.Tensor, qd: torch.Tensor, qdd: torch.Tensor) -> torch.Tensor:
    """The torques for accelerations; leading dimensions broadcast."""
    return _Dynamics.apply(model, "inverse_dynamics", "torque_adjoint", q, qd, qdd)  # type: ignore[no-any-return]


def pose(model: Model, q: torch.Tensor, frame: str) -> torch.Tensor:
    """Where a frame is in the world, (…, 4, 4)."""
    return _Pose.apply(model, frame, q)  # type: ignore[no-any-return]


def integrate(model: Model, q: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
    """q ⊕ step."""
    return _gradients.integrate(_XP, model, q, step)  # type: ignore[no-any-return]


def step(
    model: Model, q: torch.Tensor, qd: torch.Tensor, tau: torch.Tensor, dt: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """One semi-implicit step of Euler's: what `Model.rollout` does."""
    qdd = forward_dynamics(model, q, qd, tau)
    after = qd + dt * qdd
    return integrate(model, q, dt * after), after


def rollout(
    model: Model, q: torch.Tensor, qd: torch.Tensor, tau: torch.Tensor, dt: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Steps with given torques (…, steps, nv): what each ends in, (…, steps, nq) and (…, steps, nv)."""
    places, rates = [], []
    for k in range(tau.shape[-2]):
        q, qd = step(model, q, qd, tau[..., k, :], dt)
        places.append(q)
        rates.append(qd)
    return torch.stack(places, -2), torch.stack(rates, -2)
