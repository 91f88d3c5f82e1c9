"""Expressions of the spatial operator algebra."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _linkwork
from ._linkwork import Error, Model

Frames = Sequence[str | tuple[str, str]]


class Expression:
    """An expression of the operator algebra, turned into sweeps along the links: see `derive`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._expression = _linkwork._Expression(text)
        self._compiled: weakref.WeakKeyDictionary[Model, dict[Any, Any]] = weakref.WeakKeyDictionary()

    @property
    def is_vector(self) -> bool:
        """Whether it is a vector rather than an operator."""
        return self._expression.is_vector

    @property
    def range(self) -> str:
        """The space it leads to: "number", "joint", "motion", "force" or "tip"."""
        return self._expression.range

    @property
    def domain(self) -> str:
        """The space it leads from; a vector leads from "number"."""
        return self._expression.domain

    @property
    def inputs(self) -> dict[str, str]:
        """The vectors it must be given, and their spaces."""
        return dict(self._expression.inputs())

    def explain(self, *, markdown: bool = False) -> str:
        """How it is computed: the laws, the sweeps, what they do at each link, and what it costs."""
        return self._expression.explain(markdown)

    def laws(self) -> list[str]:
        """The laws that were applied, in order."""
        return self._expression.laws()

    @property
    def cost(self) -> dict[str, int]:
        """Sweeps, and multiplications and additions per link."""
        return dict(zip(("sweeps", "multiplications", "additions"), self._expression.cost()))

    def written(self, notation: str = "symbols") -> str:
        """It in normal form, in "symbols", "ascii" or "latex"."""
        return self._expression.written(notation)

    def _repr_latex_(self) -> str:
        return f"${self.written('latex')}$"

    def __repr__(self) -> str:
        return f"derive({self.text!r})"

    def __reduce__(self) -> Any:
        return derive, (self.text,)

    @property
    def T(self) -> Expression:
        """The adjoint of an operator."""
        if self.is_vector:
            raise Error(f"`{self.text}` is a vector; only operators have an adjoint")
        return derive(f"({self.text})^*")

    def _for(self, model: Model, frames: Frames, given: tuple[str, ...]) -> Any:
        seen = tuple((f, "aligned") if isinstance(f, str) else (f[0], f[1]) for f in frames)
        # What a state could give is computed unless it is given.
        known = tuple(sorted(given))
        cache = self._compiled.setdefault(model, {})
        if (seen, known) not in cache:
            cache[seen, known] = _linkwork._Compiled(self._expression, model, list(seen), list(known))
        return cache[seen, known]

    def __call__(self, model: Model, q: Any, *, frames: Frames = (), **vectors: Any) -> Any:
        """Its value at a configuration, or at many; an operator is applied to `x`, or returned as `Operator` without it.

        `frames` are what tip space is made of, each a name, or a name and "local", "aligned" or "world". Vectors are given by name,
        velocities as `qd`; matrices of `sym(W)` have two dimensions, or all their numbers in one.
        """
        if not self.is_vector and "x" not in vectors:
            return Operator(self, model, q, frames, vectors)
        compiled = self._for(model, frames, tuple(v for v in vectors if v not in ("qd", "x")))
        spaces = self.inputs
        if not self.is_vector:
            spaces["x"] = self.domain
        arrays = {"q": (_arrays.numbers("q", q), model.nq, "nq")}
        for name, value in vectors.items():
            length = compiled.size(spaces.get(name, "joint")) if name in spaces or name == "qd" else -1
            if length < 0:
                needed = ", ".join(sorted({*spaces, "qd"}))
                raise Error(f"`{self.text}` has no vector `{name}`; it takes {needed}")
            value = _arrays.numbers(name, value)
            side = math.isqrt(length)
            if spaces.get(name, "").endswith("matrix") and value.shape[-2:] == (side, side):
                value = value.reshape(*value.shape[:-2], length)
            arrays[name] = (value, length, f"the size of {spaces.get(name, 'joint')} space")
        batch, dtype, flat = _arrays.stacked(arrays)
        flat = [np.require(x, np.float64, ["C", "A"]) for x in flat]
        size = compiled.size(self.range)
        out = np.empty((len(flat[0]), size))
        if len(flat[0]):
            pairs = list(zip(list(arrays)[1:], flat[1:]))
            if len(flat[0]) < _arrays.FEW:
                for i in range(len(flat[0])):
                    one = [(name, array[i]) for name, array in pairs]
                    compiled.run(flat[0][i], one, out[i], False)
            else:
                compiled.run(flat[0], pairs, out, False)
        shape = batch if self.range == "number" else (*batch, size)
        result = out.reshape(shape).astype(dtype, copy=False)
        return float(result) if not shape else result


class Operator:
    """An operator at a configuration: `@` applies it, and no matrix is formed until `to_dense`."""

    def __init__(self, expression: Expression, model: Model, q: Any, frames: Frames, vectors: Any) -> None:
        self.expression, self.model, self.frames = expression, model, frames
        self.q = np.array(_arrays.numbers("q", q), np.float64)
        if self.q.shape != (model.nq,):
            raise Error(f"q has shape {self.q.shape}, but an operator is of one configuration, ({model.nq},)")
        self.vectors = vectors
        compiled = expression._for(model, frames, tuple(v for v in vectors if v != "qd"))
        self.shape: tuple[int, int] = (compiled.size(expression.range), compiled.size(expression.domain))
        self.dtype = np.dtype(np.float64)
        self._compiled = compiled

    def __matmul__(self, x: Any) -> Any:
        given = np.asarray(x)
        if given.ndim == 1:
            return self.expression(self.model, self.q, frames=self.frames, x=given, **self.vectors)
        if given.ndim != 2:
            raise Error(f"x has shape {given.shape}; give a vector or a matrix")
        columns = self.expression(self.model, self.q, frames=self.frames, x=given.T, **self.vectors)
        return columns.T

    def __call__(self, x: Any) -> Any:
        return self @ x

    @property
    def T(self) -> Operator:
        """The adjoint."""
        return Operator(self.expression.T, self.model, self.q, self.frames, self.vectors)

    def to_dense(self) -> Any:
        """The matrix."""
        out = np.empty(self.shape)
        given = [(n, np.require(v, np.float64, ["C", "A"])) for n, v in self.vectors.items()]
        self._compiled.run(self.q, given, out, True)
        return out

    def as_linear_operator(self) -> Any:
        """It for SciPy's iterative solvers, as a `scipy.sparse.linalg.LinearOperator`."""
        from scipy.sparse.linalg import LinearOperator

        adjoint = self.T
        return LinearOperator(
            self.shape,
            matvec=lambda x: self @ np.ravel(x),
            rmatvec=lambda x: adjoint @ np.ravel(x),
            dtype=self.dtype,
        )

    def __repr__(self) -> str:
        return f"<Operator {self.expression.text!r} of {self.model.name!r}, {self.shape[0]} × {self.shape[1]}>"


def derive(text: str) -> Expression:
    """Turns an expression of the operator algebra into its recursive algorithm.

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("arm7")
    >>> pushed = lw.derive("inv(Mass) J^* f")               # what a force on the flange does
    >>> pushed(m, m.random(1), frames=["flange"], f=[0, 0, 0, 0, 0, 10.0]).shape
    (7,)
    >>> mass = lw.derive("Mass")(m, m.random(1))            # an operator
    >>> bool(np.allclose(mass @ np.ones(7), m.mass_matrix(m.random(1)) @ np.ones(7)))
    True
    """
    return Expression(text)
