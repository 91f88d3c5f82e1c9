"""A model at a state: quantities share what they have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays, _linkwork, _quantities
from ._linkwork import Error, Model


class State:
    """A model at a configuration, or at a configuration and velocity: see `Model.at` and `State.moving`.

    Quantities of one state share their work; those of many states are computed as the model's own methods do.

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("puma560")
    >>> s = m.at(m.random(3))
    >>> s.mass_matrix().shape
    (6, 6)
    >>> s.moving(np.ones(6)).bias().shape
    (6,)
    """

    __slots__ = ("model", "q", "qd", "_held")

    model: Model
    q: Any
    qd: Any
    _held: Any

    def __init__(self, model: Model, q: Any, qd: Any = None) -> None:
        self.model = model
        self.q = _kept("q", q, model)
        self.qd = None if qd is None else _kept("qd", qd, model)
        self._held = False

    def _hold(self) -> Any:
        """What quantities of one state share, made when the first of them is asked for; None for many states."""
        given = [self.q] if self.qd is None else [self.q, self.qd]
        plain = all(x.ndim == 1 and x.dtype == np.float64 for x in given)
        self._held = _linkwork.Held(self.model, self.q, self.qd) if plain else None
        return self._held

    def moving(self, qd: Any) -> Moving:
        """The same configuration with a velocity."""
        return Moving(self.model, self.q, qd)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.model.name!r}, q {self.q.shape}>"


class Moving(State):
    """A model at a configuration and velocity: see `State`."""

    __slots__ = ()


def _kept(name: str, value: Any, model: Model) -> Any:
    """A copy that nobody can write to."""
    array = np.array(_arrays.numbers(name, value), order="C")
    length = _arrays.length_of(model, name)
    if array.ndim == 0 or array.shape[-1] != length:
        word = _arrays.NUMBERS[name]
        raise Error(f"{name} has shape {array.shape}, but its last dimension must be {word} = {length}")
    array.flags.writeable = False
    return array


def at(self: Model, q: Any) -> State:
    """The model at a configuration, or at many: its quantities need no q."""
    return State(self, q)


Model.at = at  # type: ignore[method-assign]
_quantities.attach(State, ("q",), lambda q: "qd" not in q["inputs"])
_quantities.attach(Moving, ("q", "qd"), lambda q: "qd" in q["inputs"])
