"""The methods of quantities in the type stubs: `python -m linkwork._stubs DIRECTORY` writes them into the stubs there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import _linkwork

START, END = "    # Quantities, from the library's list:", "    # The end of the list."
TYPES = {"frame": "str", "reference": 'Reference = "local"', "joint": "str"}


def method(quantity: dict[str, Any], known: tuple[str, ...] = ()) -> str:
    """One method."""
    inputs = [f"{i}: {TYPES.get(i, 'ArrayLike')}" for i in quantity["inputs"] if i not in known]
    head = ", ".join(["self", *inputs, "*", "out: Array | None = None"])
    return f"    def {quantity['name']}({head}) -> {'Array' if quantity['shape'] else 'Any'}: ..."


def filled(text: str, lists: list[list[str]]) -> str:
    """The text with the lists between its marks."""
    parts = text.split(START)
    out = parts[0]
    for part, lines in zip(parts[1:], lists, strict=True):
        out += "\n".join([START, *lines]) + "\n" + END + part.split(END, 1)[1]
    return out


def stubs() -> dict[str, list[list[str]]]:
    """The lists of every file."""
    every = _linkwork.quantities()

    def of(known: tuple[str, ...], chosen: Callable[[dict[str, Any]], bool]) -> list[str]:
        return [method(quantity, known) for quantity in every if chosen(quantity)]

    return {
        "_linkwork.pyi": [of((), lambda q: True)],
        "_models.pyi": [of((), lambda q: not q["of_loops"])],
        "_state.pyi": [
            of(("q",), lambda q: "qd" not in q["inputs"]),
            of(("q", "qd"), lambda q: "qd" in q["inputs"]),
        ],
    }


def main(directory: str) -> None:
    for name, lists in stubs().items():
        path = Path(directory) / name
        path.write_text(filled(path.read_text(), lists))


if __name__ == "__main__":
    main(sys.argv[1])
