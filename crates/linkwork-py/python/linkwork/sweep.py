"""Many more states than memory holds: computed chunk by chunk into a directory, by one process, or by many through `linkwork.ray`.

A sweep is a manifest and a part for every chunk:

    out/manifest.json         what is computed, of which model and states, in chunks of how many
    out/part-00007.parquet    a row for every state: its number, what it was given, and its quantities
    out/failed-00008.json     the states of a chunk that could not be computed, and why; the others are in its part

Parts are written under another name and then renamed: one that is there is whole. A second start computes what is missing. States have
numbers and are drawn by them, so that no result depends on who computed it. Parquet needs `pyarrow`.

>>> import linkwork as lw, tempfile
>>> from linkwork.sweep import Random, sweep
>>> m = lw.Model.example("arm7")
>>> with tempfile.TemporaryDirectory() as out:
...     report = sweep(m, Random(1000, seed=1), what=["kinetic_energy"], out=out, chunk=300)
...     report.chunks, report.computed, lw.sweep.read(out)["kinetic_energy"].shape
(4, 4, (1000,))
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import _linkwork
from ._linkwork import Error, Model


@dataclass(frozen=True)
class Random:
    """So many states at random: configurations within limits, velocities and torques normal with these deviations."""

    total: int
    seed: int = 0
    velocity: float = 1.0
    torque: float = 1.0

    def draw(self, model: Model, first: int, count: int) -> dict[str, Any]:
        """The states from a number on."""
        drawn = {"q": model.random(self.seed + first, count=count)}
        normal = np.empty((count, 3, model.nv))
        for i in range(count):
            # Every state has a generator of its own.
            normal[i] = np.random.Generator(np.random.Philox(key=[self.seed, first + i])).normal(size=(3, model.nv))
        scale = {"qd": self.velocity, "qdd": self.velocity, "tau": self.torque}
        drawn |= {name: normal[:, k] * s for k, (name, s) in enumerate(scale.items())}
        return drawn

    def told(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {"kind": "random", **asdict(self)}


@dataclass(frozen=True)
class Given:
    """States in arrays, (total, nq) and (total, nv), by the names of inputs: `Given({"q": q, "qd": qd})`."""

    arrays: dict[str, Any]

    @property
    def total(self) -> int:
        return len(next(iter(self.arrays.values())))

    def draw(self, model: Model, first: int, count: int) -> dict[str, Any]:
        return {name: np.asarray(array[first : first + count], np.float64) for name, array in self.arrays.items()}

    def told(self) -> dict[str, Any]:
        digest = hashlib.sha256()
        for name in sorted(self.arrays):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(self.arrays[name], np.float64).tobytes())
        return {"kind": "given", "total": self.total, "sha256": digest.hexdigest()}


States = Random | Given


@dataclass(frozen=True)
class Roll:
    """How states are rolled forward: steps of `dt` under their torques, which are held, with a row for every `every` of them."""

    dt: float
    steps: int
    every: int = 1
    method: str = "semi_implicit_euler"

    def columns(self, model: Model, given: dict[str, Any]) -> dict[str, Any]:
        """Where the states of a chunk go: (count, rows, nq) and (count, rows, nv)."""
        count, rows = len(given["q"]), self.steps // self.every
        places, rates = np.empty((count, rows, model.nq)), np.empty((count, rows, model.nv))
        q, qd = given["q"], given["qd"]
        tau = np.broadcast_to(given["tau"][:, None, :], (count, self.every, model.nv))
        problem = None
        for row in range(rows):
            try:
                q_all, qd_all = model.rollout(q, qd, tau, dt=self.dt, method=self.method)
            except Error as error:
                # Those that failed are NaN from here on.
                problem = problem or error
                q_all, qd_all = error.result
            q, qd = q_all[:, -1], qd_all[:, -1]
            places[:, row], rates[:, row] = q, qd
        columns = {"q_path": places, "qd_path": rates}
        if problem is not None:
            problem.result = columns
            raise problem
        return columns


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

    @property
    def chunks(self) -> int:
        return -(-self.states.total // self.chunk)

    def part(self, index: int) -> Path:
        """Where a chunk's results go."""
        return Path(self.out) / f"part-{index:05}.parquet"

    def missing(self) -> list[int]:
        """The chunks that are not there yet."""
        return [i for i in range(self.chunks) if not self.part(i).exists()]


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
    if chunk < 1:
        raise Error(f"chunk is {chunk}; it must be at least 1")
    if states.total < 1:
        raise Error("there are no states to compute")
    known = {q["name"]: q for q in _linkwork.quantities()}
    for name in what:
        if name not in known:
            raise Error(f"there is no quantity `{name}`; `linkwork.quantities()` lists them")
        lost = [i for i in known[name]["inputs"] if i in ("frame", "joint") and i not in named]
        if lost:
            raise Error(f"`{name}` needs {' and '.join(lost)}; give it by name")
    if roll is not None:
        if roll.steps < 1 or roll.every < 1 or roll.steps % roll.every:
            raise Error(f"steps is {roll.steps} and every {roll.every}; steps must be a positive multiple of every")
        # What is wrong with it is told before anything is written.
        model.rollout(model.neutral(), np.zeros(model.nv), dt=roll.dt, steps=1, method=roll.method)
    job = Job(model, states, tuple(what), dict(named), os.fspath(out), chunk, roll)
    text = model.text()
    manifest = {
        "linkwork": _linkwork.__version__,
        "model": model.name,
        "model_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "states": states.told(),
        "what": list(what),
        "named": dict(named),
        "chunk": chunk,
        "chunks": job.chunks,
        "rollout": None if roll is None else asdict(roll),
    }
    Path(out).mkdir(parents=True, exist_ok=True)
    path = Path(out) / "manifest.json"
    if path.exists():
        there = json.loads(path.read_text())
        differ = [k for k in manifest if there.get(k) != manifest[k]]
        if differ:
            raise Error(f"{path} is of another sweep ({', '.join(differ)} differ); give another directory, or remove it")
    else:
        _written(path, json.dumps(manifest, indent=1).encode())
    return job


def _written(path: Path, data: bytes) -> None:
    """Under another name first: a file that has its own is whole."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def compute(job: Job, index: int) -> int:
    """Computes one chunk and writes its part; how many of its states failed."""
    import pyarrow
    import pyarrow.parquet

    first = index * job.chunk
    count = min(job.chunk, job.states.total - first)
    given = job.states.draw(job.model, first, count)
    known = {q["name"]: q for q in _linkwork.quantities()}
    columns: dict[str, Any] = {"state": np.arange(first, first + count, dtype=np.int64)}
    used = {name for w in job.what for name in known[w]["inputs"]}
    if job.roll is not None:
        used |= {"q", "qd", "tau"}
    columns |= {name: array for name, array in given.items() if name in used}
    failures: dict[str, str] = {}
    if job.roll is not None:
        lost = [name for name in ("q", "qd", "tau") if name not in given]
        if lost:
            raise Error(f"rollouts need {', '.join(lost)}, which the states do not have")
        try:
            rolled = job.roll.columns(job.model, given)
        except Error as problem:
            rolled = problem.result
            for i in np.flatnonzero(np.isnan(rolled["q_path"].reshape(count, -1)).any(-1)):
                failures[str(first + int(i))] = f"rollout: {problem}"
        columns |= rolled
    for name in job.what:
        lost = [i for i in known[name]["inputs"] if i not in given and i not in job.named and i != "reference"]
        if lost:
            raise Error(f"`{name}` needs {', '.join(lost)}, which the states do not have")
        arguments = {**given, "reference": "local", **job.named}
        inputs = [arguments[i] for i in known[name]["inputs"]]
        try:
            columns[name] = getattr(job.model, name)(*inputs)
        except Error as problem:
            result = getattr(problem, "result", None)
            if result is None:
                raise
            columns[name] = result
            bad = np.flatnonzero(np.isnan(result.reshape(count, -1)).any(-1))
            for i in bad:
                failures.setdefault(str(first + int(i)), f"{name}: {problem}")
    table = {}
    for name, array in columns.items():
        flat = np.ascontiguousarray(array.reshape(count, -1))
        if array.ndim == 1:
            table[name] = pyarrow.array(array)
        else:
            table[name] = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(flat.ravel()), flat.shape[1])
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(table), sink)
    if failures:
        report = Path(job.out) / f"failed-{index:05}.json"
        _written(report, json.dumps(failures, indent=1).encode())
    _written(job.part(index), sink.getvalue().to_pybytes())
    return len(failures)


def sweep(
    model: Model,
    states: States,
    *,
    what: Sequence[str],
    out: str | os.PathLike[str],
    chunk: int = 65536,
    only: Iterable[int] | None = None,
    **named: str,
) -> Report:
    """Computes quantities of many states into a directory, in this process; what is there already is kept.

    `frame`, `reference` and `joint` are given by name. `only` are the chunks to compute here, as one task of an array job does:
    `only=range(i, 10**9, n)` takes every n-th from i on.
    """
    job = plan(model, states, what=what, out=out, chunk=chunk, roll=None, **named)
    chosen = job.missing() if only is None else [i for i in job.missing() if i in only]
    failed = sum(compute(job, index) for index in chosen)
    return Report(job.chunks, len(chosen), failed)


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
) -> Report:
    """Rolls many states forward into a directory, in this process: `steps` of `dt` under each state's torques, which are held.

    Columns q_path and qd_path have a row of nq and nv numbers for every `every` steps.

    >>> import linkwork as lw, tempfile
    >>> from linkwork.sweep import Random, rollouts, read
    >>> m = lw.Model.example("arm7")
    >>> with tempfile.TemporaryDirectory() as out:
    ...     rollouts(m, Random(100, seed=1), dt=1e-3, steps=20, every=10, out=out, chunk=64).computed, read(out)["q_path"].shape
    (2, (100, 14))
    """
    roll = Roll(float(dt), int(steps), int(every), method)
    job = plan(model, states, what=(), out=out, chunk=chunk, roll=roll)
    chosen = job.missing() if only is None else [i for i in job.missing() if i in only]
    failed = sum(compute(job, index) for index in chosen)
    return Report(job.chunks, len(chosen), failed)


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
            chunks = table[name].combine_chunks()
            rows = len(chunks)
            values = chunks.flatten().to_numpy() if hasattr(chunks, "flatten") and chunks.type.num_fields else chunks.to_numpy()
            columns.setdefault(name, []).append(values.reshape(rows, -1) if values.size != rows else values)
    return {name: np.concatenate(arrays) for name, arrays in columns.items()}
