"""Sweeps on a Ray cluster: the same directory, chunk for chunk, as `linkwork.sweep` writes in one process.

The directory must be seen by all nodes. A chunk is a task of one processor, with one thread; one that is lost with its node is
computed again elsewhere, and a second start computes what is missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import ray

from . import _linkwork
from ._linkwork import Model
from .sweep import Job, Report, Roll, States, compute, plan


@ray.remote(num_cpus=1, max_retries=8)  # type: ignore[misc, unused-ignore]
def _chunk(job: Job, index: int) -> int:
    # One thread for every processor of Ray's.
    if _linkwork.threads() != 1:
        _linkwork.set_threads(1)
    if job.part(index).exists():
        return 0
    return compute(job, index)


def sweep(
    model: Model,
    states: States,
    *,
    what: Sequence[str],
    out: str | os.PathLike[str],
    chunk: int = 65536,
    progress: Callable[[int, int], Any] | None = None,
    **named: str,
) -> Report:
    """Computes quantities of many states into a directory, on all processors of the cluster; what is there already is kept.

    `progress` is called with how many chunks are done and how many there are.
    """
    return _run(plan(model, states, what=what, out=os.path.abspath(out), chunk=chunk, roll=None, **named), progress)


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
    progress: Callable[[int, int], Any] | None = None,
) -> Report:
    """Rolls many states forward into a directory, on all processors of the cluster, as `linkwork.sweep.rollouts` does in one process."""
    roll = Roll(float(dt), int(steps), int(every), method)
    return _run(plan(model, states, what=(), out=os.path.abspath(out), chunk=chunk, roll=roll), progress)


def _run(job: Job, progress: Callable[[int, int], Any] | None) -> Report:
    """Computes what is missing, wherever there is a processor."""
    missing = job.missing()
    shared = ray.put(job)
    waiting = [_chunk.remote(shared, index) for index in missing]
    failed = 0
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1)
        failed += sum(ray.get(done))
        if progress is not None:
            progress(job.chunks - len(waiting), job.chunks)
    return Report(job.chunks, len(missing), failed)
