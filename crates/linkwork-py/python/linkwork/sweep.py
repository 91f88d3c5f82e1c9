"""Many more states than memory holds: computed chunk by chunk into a directory, by one process, or by many through `linkwork.ray`.

A sweep is a manifest and a part for every chunk:

    out/manifest.json         what is computed, of which model and states, in chunks of how many
    out/part-00007.parquet    a row for every state: its number, what it was given, and its quantities
    out/failed-00008.json     the states of a chunk that could not be computed, and why; the others are in its part

Parts are written under another name and then renamed: one that is there is whole. A second start computes what is missing. States have
numbers and are drawn by them, so that no result depends on who computed it. `linkwork sweep` of the command line writes the same
directories, byte for byte. Reading them back needs `pyarrow`.

>>> import linkwork as lw, tempfile
>>> from linkwork.sweep import Random, sweep
>>> m = lw.Model.example("arm7")
>>> with tempfile.TemporaryDirectory() as out:
...     report = sweep(m, Random(1000, seed=1), what=["kinetic_energy"], out=out, chunk=300)
...     report.chunks, report.computed, lw.sweep.read(out)["kinetic_energy"].shape
(4, 4, (1000,))
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import _arrays, _linkwork
from ._linkwork import Error, Model

Progress = Callable[[int, int], Any] | bool | None


@dataclass(frozen=True)
class Random:
    """So many states at random: configurations within limits, velocities and torques normal with these deviations.

    `vary` gives every state a model of its own: `{"mass": 0.2}` lets the mass of every link be up to a fifth more or less; "origin",
    "armature", "damping" and "gravity" vary the same way.
    """

    total: int
    seed: int = 0
    velocity: float = 1.0
    torque: float = 1.0
    vary: Mapping[str, float] = field(default_factory=dict)

    def draw(self, model: Model, first: int, count: int) -> dict[str, Any]:
        """The states from a number on, and what varies, by name."""
        return _linkwork.draw(model, self._told(), list(_arrays.NUMBERS), first, count)

    def _told(self) -> tuple[int, int, float, float, dict[str, float]]:
        for name, value in (("total", self.total), ("seed", self.seed)):
            if not 0 <= value < 2**64:
                raise Error(f"{name} is {value}; it must be a whole number from 0 on")
        return self.total, self.seed, self.velocity, self.torque, dict(self.vary)


@dataclass(frozen=True)
class Given:
    """States in arrays, (total, nq) and (total, nv), by the names of inputs: `Given({"q": q, "qd": qd})`.

    What `Model.varied` takes may be given for every state, too: `Given({"q": q, "mass": masses})`.
    """

    arrays: dict[str, Any]

    @property
    def total(self) -> int:
        return len(next(iter(self.arrays.values())))

    def draw(self, model: Model, first: int, count: int) -> dict[str, Any]:
        """The states from a number on."""
        names = sorted(self.arrays, key=_place)
        return {name: _plain(name, self.arrays[name][first : first + count]) for name in names}


States = Random | Given


def _plain(name: str, value: Any) -> Any:
    array = np.require(_arrays.numbers(name, value), np.float64, ["C", "A"])
    return array.reshape(len(array), -1)


@dataclass(frozen=True)
class Roll:
    """How states are rolled forward: steps of `dt` under their torques, which are held, with a row for every `every` of them."""

    dt: float
    steps: int
    every: int = 1
    method: str = "semi_implicit_euler"


@dataclass(frozen=True)
class Job:
    """What every chunk is computed from: it is sent to where that is done."""

    model: Model
    states: States
    what: tuple[str, ...]
    named: dict[str, str]
    out: str
    chunk: int
    roll: Roll | None = None
    digest: str = ""

    @property
    def chunks(self) -> int:
        return -(-self.states.total // self.chunk)

    def compiled(self) -> _linkwork._Sweep:
        """The compiled half of it."""
        roll = None if self.roll is None else (self.roll.dt, self.roll.steps, self.roll.every, self.roll.method)
        drawn, given = None, None
        if isinstance(self.states, Random):
            drawn = self.states._told()
        else:
            given = (self.states.total, sorted(self.states.arrays, key=_place), self.digest)
        return _linkwork._Sweep(self.model, list(self.what), self.named, roll, drawn, given, self.out, self.chunk)

    def part(self, index: int) -> Path:
        """Where a chunk's results go."""
        return Path(self.out) / f"part-{index:05}.parquet"

    def missing(self) -> list[int]:
        """The chunks that are not there yet."""
        return [i for i in range(self.chunks) if not self.part(i).exists()]


def _place(name: str) -> int:
    """The order of inputs, and then of what varies."""
    order = [*_arrays.NUMBERS, "mass", "inertia", "origin", "armature", "damping", "gravity"]
    return order.index(name) if name in order else len(order)


@dataclass(frozen=True)
class Report:
    """What a sweep did."""

    chunks: int
    computed: int
    failed_states: int


def plan(
    model: Model,
    states: States,
    *,
    what: Sequence[str],
    out: str | os.PathLike[str],
    chunk: int = 65536,
    roll: Roll | None = None,
    **named: str,
) -> Job:
    """Checks what is asked, and writes the manifest, or compares it with the one that is there."""
    if not isinstance(chunk, int) or chunk < 1:
        raise Error(f"chunk is {chunk}; it must be at least 1")
    if isinstance(states, Given):
        states = _used(model, states, what, roll)
    if states.total < 1:
        raise Error("there are no states to compute")
    digest = ""
    if isinstance(states, Given):
        arrays = {name: _plain(name, states.arrays[name]) for name in sorted(states.arrays, key=_place)}
        digest = _linkwork.states_digest(arrays)
    job = Job(model, states, tuple(what), dict(named), os.fspath(out), chunk, roll, digest)
    job.compiled().open()
    return job


def _used(model: Model, states: Given, what: Sequence[str], roll: Roll | None) -> Given:
    """Those of the arrays that are asked for; an error unless all have numbers for as many states."""
    if not states.arrays:
        raise Error("there are no states to compute")
    known = {q["name"]: q for q in _linkwork.quantities()}
    used = {name for w in what for name in known.get(w, {"inputs": []})["inputs"]}
    used |= {"q", "qd", "tau"} if roll is not None else set()
    lengths = {name: _arrays.length_of(model, name) for name in _arrays.NUMBERS}
    varies = {name: length for name, length, _ in _linkwork.variations(model)}
    for name, array in states.arrays.items():
        length = {**lengths, **varies}.get(name)
        if length is None:
            raise Error(f"`{name}` is neither an input nor anything that varies; there are {', '.join([*lengths, *varies])}")
        shape = np.shape(array)
        if len(shape) < 2 or shape[0] != states.total or int(np.prod(shape[1:])) != length:
            raise Error(f"{name} has shape {shape}, but {states.total} states have ({states.total}, {length})")
    return Given({name: array for name, array in states.arrays.items() if name in used or name in varies})


def compute(job: Job, index: int) -> int:
    """Computes one chunk and writes its part; how many of its states failed."""
    sweep = job.compiled()
    if isinstance(job.states, Random):
        return sweep.compute(index, None)
    first, count = sweep.range(index)
    return sweep.compute(index, job.states.draw(job.model, first, count))


def sweep(
    model: Model,
    states: States,
    *,
    what: Sequence[str],
    out: str | os.PathLike[str],
    chunk: int = 65536,
    only: Iterable[int] | None = None,
    progress: Progress = None,
    **named: str,
) -> Report:
    """Computes quantities of many states into a directory, in this process; what is there already is kept.

    `frame`, `reference` and `joint` are given by name. `only` are the chunks to compute here, as one task of an array job does:
    `only=range(i, 10**9, n)` takes every n-th from i on. `progress` is called with how many chunks are done and how many there are;
    without one, a terminal shows it, unless it is False. A chunk that cannot be computed at all is told in the end, when the others are there.
    """
    return _here(plan(model, states, what=what, out=out, chunk=chunk, roll=None, **named), only, progress)


def rollouts(
    model: Model,
    states: States,
    *,
    dt: float,
    steps: int,
    out: str | os.PathLike[str],
    every: int = 1,
    method: str = "semi_implicit_euler",
    chunk: int = 4096,
    only: Iterable[int] | None = None,
    progress: Progress = None,
) -> Report:
    """Rolls many states forward into a directory, in this process: `steps` of `dt` under each state's torques, which are held.

    Columns q_path and qd_path have a row of nq and nv numbers for every `every` steps. Where models vary, their damping acts, too.

    >>> import linkwork as lw, tempfile
    >>> from linkwork.sweep import Random, rollouts, read
    >>> m = lw.Model.example("arm7")
    >>> with tempfile.TemporaryDirectory() as out:
    ...     rollouts(m, Random(100, seed=1), dt=1e-3, steps=20, every=10, out=out, chunk=64).computed, read(out)["q_path"].shape
    (2, (100, 2, 7))
    """
    roll = Roll(float(dt), int(steps), int(every), method)
    return _here(plan(model, states, what=(), out=out, chunk=chunk, roll=roll), only, progress)


def _here(job: Job, only: Iterable[int] | None, progress: Progress) -> Report:
    """Computes what is missing, one chunk after another."""
    missing = job.missing()
    chosen = missing if only is None else [i for i in missing if i in only]
    tell = shown(progress)
    failed, lost = 0, {}
    for done, index in enumerate(chosen):
        try:
            failed += compute(job, index)
        except (Error, OSError) as problem:
            lost[index] = str(problem)
        tell(job.chunks - len(missing) + done + 1, job.chunks)
    finished(job, lost)
    return Report(job.chunks, len(chosen), failed)


def finished(job: Job, lost: dict[int, str]) -> None:
    """Tells which chunks could not be computed, if any."""
    if not lost:
        return
    index, problem = next(iter(lost.items()))
    first, last = index * job.chunk, min((index + 1) * job.chunk, job.states.total) - 1
    more = f" (and {len(lost) - 1} more chunks: {', '.join(map(str, list(lost)[1:9]))} …)" if len(lost) > 1 else ""
    raise Error(f"chunk {index}, states {first} to {last}: {problem}{more}; the other chunks are there")


def shown(progress: Progress) -> Callable[[int, int], Any]:
    """What is called with how many chunks are done."""
    if callable(progress):
        return progress
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return lambda done, of: None

    def line(done: int, of: int) -> None:
        print(f"\r{done} of {of} chunks", end="\n" if done == of else "", file=sys.stderr, flush=True)

    return line


def read(out: str | os.PathLike[str]) -> dict[str, Any]:
    """The columns of a sweep as arrays, in the order of the states; an error if parts are missing."""
    import pyarrow.parquet

    manifest = json.loads((Path(out) / "manifest.json").read_text())
    parts = [Path(out) / f"part-{i:05}.parquet" for i in range(manifest["chunks"])]
    lost = [p.name for p in parts if not p.exists()]
    if lost:
        raise Error(f"{len(lost)} parts of {os.fspath(out)} are missing, first {lost[0]}; run the sweep again to compute them")
    columns: dict[str, list[Any]] = {}
    for part in parts:
        table = pyarrow.parquet.read_table(part)
        for name in table.column_names:
            column = table[name].combine_chunks()
            is_list = pyarrow.types.is_list(column.type)
            values = (column.flatten() if is_list else column).to_numpy()
            shape = manifest["shapes"].get(name, [-1] if is_list else [])
            columns.setdefault(name, []).append(values.reshape(len(column), *shape))
    return {name: np.concatenate(arrays) for name, arrays in columns.items()}
