"""Sweeps on a Ray cluster: the same directory, chunk for chunk, as `linkwork.sweep` writes in one process.

The directory must be seen by all nodes. A chunk is a task of one processor, with one thread; one that is lost with its node is
computed again elsewhere, and a second start computes what is missing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import ray

from . import _linkwork
from ._linkwork import Error, Model
from .sweep import Job, Progress, Report, Roll, States, compute, finished, plan, shown


@ray.remote(num_cpus=1, max_retries=8)  # type: ignore[misc, unused-ignore]
def _chunk(job: Job, index: int) -> tuple[int, int, str | None]:
    """Computes a chunk where Ray puts it: its number, how many states failed, and what went wrong, if all did."""
    # One thread for every processor of Ray's.
    if _linkwork.threads() != 1:
        _linkwork.set_threads(1)
    if job.part(index).exists():
        return index, 0, None
    try:
        return index, compute(job, index), None
    except (Error, OSError) as problem:
        return index, 0, str(problem)


def sweep(
    model: Model,
    states: States,
    *,
    what: Sequence[str],
    out: str | os.PathLike[str],
    chunk: int = 65536,
    progress: Progress = None,
    **named: str,
) -> Report:
    """Computes quantities of many states into a directory, on all processors of the cluster; what is there already is kept.

    `progress` is called with how many chunks are done and how many there are; without one, a terminal shows it, unless it is False.
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
    progress: Progress = None,
) -> Report:
    """Rolls many states forward into a directory, on all processors of the cluster, as `linkwork.sweep.rollouts` does in one process."""
    roll = Roll(float(dt), int(steps), int(every), method)
    return _run(plan(model, states, what=(), out=os.path.abspath(out), chunk=chunk, roll=roll), progress)


def _run(job: Job, progress: Progress) -> Report:
    """Computes what is missing, wherever there is a processor."""
    missing = job.missing()
    tell = shown(progress)
    shared = ray.put(job)
    waiting = [_chunk.remote(shared, index) for index in missing]
    failed, lost = 0, {}
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1)
        for index, states, problem in ray.get(done):
            failed += states
            if problem is not None:
                lost[index] = problem
        tell(job.chunks - len(waiting), job.chunks)
    finished(job, dict(sorted(lost.items())))
    return Report(job.chunks, len(missing), failed)
