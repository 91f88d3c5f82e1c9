"""Arrays of any shape, type and order made into what the compiled half takes: state after state, of one type."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _linkwork
from ._linkwork import Error

NUMBERS = {"q": "nq", "qd": "nv", "qdd": "nv", "tau": "nv", "x": "nv", "change": "3 nv"}
"""The inputs that are made of numbers, and how many of them one state has."""


def length_of(model: Any, name: str) -> int:
    """How many numbers an input has for one state."""
    return int({"nq": model.nq, "nv": model.nv, "3 nv": 3 * model.nv}[NUMBERS[name]])


def numbers(name: str, value: Any) -> np.ndarray:
    """Anything that NumPy makes numbers of; float32 stays what it is."""
    try:
        array = np.asarray(value)
    except ValueError as problem:
        raise Error(f"{name} is not an array of numbers: {problem}") from None
    if array.dtype == np.float32 or array.dtype == np.float64:
        return array
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} holds {array.dtype}; give real numbers, as float64 or float32")
    return array.astype(np.float64)


def stacked(
    arrays: dict[str, tuple[np.ndarray, int, str]],
) -> tuple[tuple[int, ...], np.dtype, list[np.ndarray]]:
    """The leading dimensions that all arrays broadcast to, their type, and the arrays as states × numbers."""
    for name, (array, length, word) in arrays.items():
        if array.ndim == 0 or array.shape[-1] != length:
            raise Error(
                f"{name} has shape {array.shape}, but its last dimension must be {word} = {length}"
            )
    try:
        batch = np.broadcast_shapes(*(array.shape[:-1] for array, _, _ in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, (array, _, _) in arrays.items())
        raise Error(f"the leading dimensions do not fit together: {shapes}") from None
    single = all(array.dtype == np.float32 for array, _, _ in arrays.values())
    dtype = np.dtype(np.float32 if single else np.float64)
    count = int(np.prod(batch, dtype=np.int64))
    flat = [
        np.require(np.broadcast_to(array, (*batch, length)), dtype, ["C", "A"]).reshape(count, length)
        for array, length, _ in arrays.values()
    ]
    return batch, dtype, flat


def check_out(out: Any, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Raises unless `out` can take the result."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    if out.shape != shape:
        raise Error(f"out has shape {out.shape}, but the result has {shape}")
    if out.dtype != dtype:
        raise TypeError(f"out holds {out.dtype}, but the result is {dtype}")
    if not out.flags.writeable:
        raise Error("out cannot be written to; give an array that is not read-only")


def plain(out: np.ndarray) -> bool:
    """Whether the compiled half can write into an array itself."""
    return bool(out.flags.c_contiguous and out.flags.aligned and out.dtype.isnative)


def evaluate(
    model: Any, index: int, inputs: tuple[str, ...], values: tuple[Any, ...], out: Any
) -> Any:
    """A quantity of states in arrays of any shape."""
    given = dict(zip(inputs, values))
    arrays = {
        name: (numbers(name, value), length_of(model, name), NUMBERS[name])
        for name, value in given.items()
        if name in NUMBERS
    }
    batch, dtype, flat = stacked(arrays)
    dimensions = tuple(_linkwork.dimensions(model, index, given.get("joint")))
    shape = (*batch, *dimensions)
    if out is not None:
        check_out(out, shape, dtype)
    shared = out is not None and any(np.may_share_memory(out, array) for array in flat)
    direct = out is not None and plain(out) and not shared
    result = out if direct else np.empty(shape, dtype)
    rows = dict(zip(arrays, flat))
    every = [rows[name].reshape(*batch, length_of(model, name)) if name in rows else value for name, value in given.items()]
    problem = None
    if len(flat[0]):
        try:
            if _linkwork.evaluate(model, index, result, *every) is None:
                raise RuntimeError("arrays were made plain, and are not")
        except Error as error:
            problem = error
    if out is not None and not direct:
        out[...] = result
        result = out
    if problem is not None:
        if batch:
            problem.result = result
        raise problem
    if out is None and not shape:
        return float(result) if dtype == np.float64 else dtype.type(result)
    return result


FEW = 4
"""Fewer states than this are computed one by one: it takes less time than a batch."""
