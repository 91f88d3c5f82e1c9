"""Types of states."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing import Any

from ._linkwork import Array, Model, Reference

class State:
    model: Model
    q: Array
    qd: Array | None
    def __init__(self, model: Model, q: ArrayLike, qd: ArrayLike | None = None) -> None: ...
    def moving(self, qd: ArrayLike) -> Moving: ...
    # Quantities, from the library's list:
    # The end of the list.

class Moving(State):
    # Quantities, from the library's list:
    # The end of the list.
    ...
