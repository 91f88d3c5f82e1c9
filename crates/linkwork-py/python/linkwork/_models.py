"""Many models of one tree, with a state of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays, _linkwork
from ._linkwork import Error, Model


class Models:
    """Models that share a tree and differ in their numbers: for randomised training, identification and studies of a design.

    `Model.varied` makes them. Every quantity takes one state of each: arrays whose leading dimensions are those of the models, or
    broadcast to them. Forward and inverse dynamics, bias, gravity and the mass matrix run several models to a register; other
    quantities take one model after another.

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("arm7")
    >>> masses = m.variation("mass") * np.random.default_rng(1).uniform(0.8, 1.2, (1000, len(m.link_names)))
    >>> models = m.varied(mass=masses)
    >>> models.shape, models.forward_dynamics(m.random(1), np.zeros(7), np.zeros(7)).shape
    ((1000,), (1000, 7))
    >>> bool(models[3].inertia(m.link_names[2]).mass == masses[3, 2])
    True
    """

    def __init__(self, model: Model, shape: tuple[int, ...], given: dict[str, Any]) -> None:
        self.model = model
        """The tree, whose numbers those are that do not vary."""
        self.shape = shape
        """The dimensions of the models."""
        self.varied = given
        """What varies, by name."""
        lists = [np.require(given[n], np.float64, ["C", "A"]) if n in given else None for n, _, _ in _linkwork.variations(model)]
        self._models = _linkwork._Models(model, int(np.prod(shape, dtype=np.int64)), lists)

    def __len__(self) -> int:
        return self.shape[0] if self.shape else 1

    def __getitem__(self, index: Any) -> Model:
        """One of the models, as a `Model`."""
        place = np.arange(int(np.prod(self.shape, dtype=np.int64))).reshape(self.shape)[index]
        if np.ndim(place):
            raise IndexError(f"{index} is more than one model; give a number for each of the dimensions {self.shape}")
        return self._models.model(int(place))

    def __reduce__(self) -> Any:
        return Models, (self.model, self.shape, self.varied)

    def __repr__(self) -> str:
        return f"<Models of {self.model.name!r}: {self.shape}, which differ in {', '.join(self.varied)}>"

    def rollout(
        self,
        q: Any,
        qd: Any,
        tau: Any = None,
        *,
        dt: float,
        steps: int | None = None,
        method: str = "semi_implicit_euler",
    ) -> tuple[Any, Any]:
        """Rolls a state of every model forward, as `Model.rollout` does; the models' damping acts beside the torques."""
        from ._motion import rolled

        return rolled(self.model, self._models.rollout, q, qd, tau, dt, steps, method, self.shape)


def varied(self: Model, **given: Any) -> Models:
    """Models that differ from this one in some numbers, by name: arrays whose leading dimensions are those of the models.

    `mass` (…, links) is the mass of every link, and its moments of inertia change in proportion; `inertia` (…, 10 links) are all inertial
    parameters, as `inertial_parameters` lists them; `origin` (…, joints, 3) is where every joint is in its parent, which makes links
    longer or shorter; `armature` and `damping` (…, nv) are those of every degree of freedom; `gravity` is (…, 3). `variation` gives the
    model's own numbers to start from.

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("double_pendulum")
    >>> moons = m.varied(gravity=np.linspace([0, 0, -9.81], [0, 0, -1.62], 5))
    >>> moons.gravity_torque([0.5, 0.0]).shape
    (5, 2)
    """
    known = {name: (length, own) for name, length, own in _linkwork.variations(self)}
    if not given:
        raise Error(f"nothing varies; give one or more of {', '.join(known)}")
    arrays = {}
    for name, value in given.items():
        if name not in known:
            raise Error(f"`{name}` is nothing that varies; there are {', '.join(known)}")
        array = _arrays.numbers(name, value)
        length = known[name][0]
        if name == "origin" and array.ndim >= 2 and array.shape[-2:] == (length // 3, 3):
            array = array.reshape(*array.shape[:-2], length)
        arrays[name] = (array, length, "the numbers of one model")
    shape, _, flat = _arrays.stacked(arrays)
    return Models(self, shape, {name: np.asarray(x, np.float64) for name, x in zip(arrays, flat)})


def variation(self: Model, name: str) -> Any:
    """The model's own numbers of a kind that `varied` takes: "mass", "inertia", "origin", "armature", "damping" or "gravity"."""
    known = {word: own for word, _, own in _linkwork.variations(self)}
    if name not in known:
        raise Error(f"`{name}` is nothing that varies; there are {', '.join(known)}")
    own = known[name]
    return own.reshape(-1, 3) if name == "origin" else own


def evaluate(models: Models, index: int, inputs: tuple[str, ...], values: tuple[Any, ...], out: Any) -> Any:
    """A quantity of one state of every model, in arrays of any shape."""
    model = models.model
    given = dict(zip(inputs, values))
    arrays = {
        name: (_arrays.numbers(name, value), _arrays.length_of(model, name), _arrays.NUMBERS[name])
        for name, value in given.items()
        if name in _arrays.NUMBERS
    }
    dtype, flat = spread(models.shape, arrays)
    dimensions = tuple(_linkwork.dimensions(model, index, given.get("joint")))
    shape = (*models.shape, *dimensions)
    if out is not None:
        _arrays.check_out(out, shape, dtype)
    result = np.empty(shape, dtype)
    rows = dict(zip(arrays, flat))
    problem = None
    if result.size:
        try:
            models._models.evaluate(index, result, *(rows.get(name, value) for name, value in given.items()))
        except Error as error:
            problem = error
            problem.result = result
    if out is not None:
        out[...] = result
        result = out
    if problem is not None:
        raise problem
    return result


def spread(shape: tuple[int, ...], arrays: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Arrays as models × numbers, and their type; an error unless their leading dimensions broadcast to those of the models."""
    batch, dtype, _ = _arrays.stacked(arrays)
    try:
        fits = np.broadcast_shapes(batch, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise Error(f"the leading dimensions are {batch}, but there are models of dimensions {shape}, with one state each")
    flat = [
        np.require(np.broadcast_to(array, (*shape, length)), dtype, ["C", "A"]).reshape(-1, length)
        for array, length, _ in arrays.values()
    ]
    return dtype, flat


for method in (varied, variation):
    method.__qualname__ = f"Model.{method.__name__}"
    method.__module__ = "linkwork"
    setattr(Model, method.__name__, method)
