"""Inverse kinematics: tasks, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _arrays, _linkwork
from ._linkwork import Error, Model

SHAPES: dict[str, tuple[int, ...]] = {
    "pose": (4, 4),
    "orientation": (3, 3),
    "position": (3,),
    "direction": (3,),
    "centre_of_mass": (3,),
    "distance": (),
    "distance_at_least": (),
    "distance_at_most": (),
    "clear": (),
}
"""What one target has; of a posture nq numbers."""


@dataclass(frozen=True, eq=False)
class Task:
    """Something wanted of a configuration; make it by `Task.pose`, `Task.position` and the like.

    Targets may have leading dimensions: then there is an answer for each. They are in the world, or in the frame `relative_to`, which
    may move too. Tasks of one `level` share by their weights; those of a later level have only the room that earlier ones leave. What is
    `preferred` is no goal: it pulls where goals leave room.

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("dual_arm")
    >>> found = m.inverse_kinematics([
    ...     lw.Task.position("left_link7", [0.4, 0.1, 0.5]),
    ...     lw.Task.position("right_link7", [0.2, 0.0, 0.0], relative_to="left_link7"),
    ...     lw.Task.posture(np.full(m.nq, 0.3), weight=0.01, preferred=True),
    ... ])
    >>> bool(found.reached)
    True
    """

    kind: str
    target: Any
    frame: str | None = None
    relative_to: str | None = None
    axis: Any = None
    weight: float = 1.0
    turning_weight: float = 1.0
    axis_weights: Any = (1.0, 1.0, 1.0)
    level: int = 0
    preferred: bool = False
    target_velocity: Any = None

    def moving(self, velocity: Any) -> Task:
        """The same with the target's own velocity [ω; v], six numbers in the axes that it is in, for `task_velocity`."""
        array = _arrays.numbers("velocity", velocity)
        if array.shape != (6,):
            raise Error(f"velocity has shape {array.shape}, but it must have (6,): turning, then moving")
        return replace(self, target_velocity=array.astype(np.float64).tolist())

    @staticmethod
    def pose(
        frame: str,
        target: Any,
        *,
        relative_to: str | None = None,
        weight: float = 1.0,
        turning_weight: float = 1.0,
        axis_weights: Any = (1.0, 1.0, 1.0),
        level: int = 0,
        preferred: bool = False,
    ) -> Task:
        """A frame is to be at a pose (…, 4, 4). `turning_weight` says how much turning counts beside moving, in m²/rad²."""
        return Task(
            "pose", target, frame, relative_to, None, weight, turning_weight, axis_weights, level, preferred
        )

    @staticmethod
    def position(
        frame: str,
        target: Any,
        *,
        relative_to: str | None = None,
        weight: float = 1.0,
        axis_weights: Any = (1.0, 1.0, 1.0),
        level: int = 0,
        preferred: bool = False,
    ) -> Task:
        """A frame's origin is to be somewhere (…, 3); an axis whose weight is zero is free."""
        return Task(
            "position", target, frame, relative_to, None, weight, 1.0, axis_weights, level, preferred
        )

    @staticmethod
    def orientation(
        frame: str,
        target: Any,
        *,
        relative_to: str | None = None,
        weight: float = 1.0,
        level: int = 0,
        preferred: bool = False,
    ) -> Task:
        """A frame is to be turned to a rotation matrix (…, 3, 3)."""
        return Task(
            "orientation", target, frame, relative_to, weight=weight, level=level, preferred=preferred
        )

    @staticmethod
    def direction(
        frame: str,
        axis: Any,
        target: Any,
        *,
        relative_to: str | None = None,
        weight: float = 1.0,
        level: int = 0,
        preferred: bool = False,
    ) -> Task:
        """An axis of a frame is to point in a direction (…, 3), both of any length."""
        return Task("direction", target, frame, relative_to, axis, weight, level=level, preferred=preferred)

    @staticmethod
    def distance(
        frame: str,
        other: str,
        length: Any,
        *,
        side: str = "exactly",
        weight: float = 1.0,
        level: int = 0,
        preferred: bool = False,
    ) -> Task:
        """The origins of two frames are to be so far apart (…) in metres: "exactly", "at_least" or "at_most"."""
        kinds = {"exactly": "distance", "at_least": "distance_at_least", "at_most": "distance_at_most"}
        if side not in kinds:
            raise Error(f'side is {side!r}; it must be "exactly", "at_least" or "at_most"')
        return Task(kinds[side], length, frame, other, weight=weight, level=level, preferred=preferred)

    @staticmethod
    def centre_of_mass(
        target: Any,
        *,
        weight: float = 1.0,
        axis_weights: Any = (1.0, 1.0, 1.0),
        level: int = 0,
        preferred: bool = False,
    ) -> Task:
        """The centre of mass of all moving links is to be somewhere (…, 3)."""
        return Task(
            "centre_of_mass",
            target,
            weight=weight,
            axis_weights=axis_weights,
            level=level,
            preferred=preferred,
        )

    @staticmethod
    def clear(margin: Any, *, weight: float = 1.0, level: int = 0, preferred: bool = False) -> Task:
        """The shapes of a scene are to be at least so far apart (…) in metres, those of the robot and of its surroundings."""
        return Task("clear", margin, weight=weight, level=level, preferred=preferred)

    @staticmethod
    def posture(q: Any, *, weight: float = 1.0, level: int = 0, preferred: bool = False) -> Task:
        """The joints are to be at q (…, nq); free and planar joints are left out."""
        return Task("posture", q, weight=weight, level=level, preferred=preferred)


@dataclass(frozen=True, eq=False)
class Solution:
    """What inverse kinematics found: arrays have the leading dimensions of targets and starts, none for one target."""

    q: Any
    """The configurations (…, nq), within all limits; the nearest that was found where a goal cannot be reached."""
    reached: Any
    """Whether every goal is met within the tolerance (…)."""
    angles: Any
    """What is left of each task to turn (…, tasks), in radians; of a posture the length of the difference."""
    distances: Any
    """What is left of each task to move (…, tasks), in metres."""
    closure: Any
    """How far loops are from closed (…), in metres or radians."""
    iterations: Any
    """Steps taken (…)."""
    restarts: Any
    """How often it started elsewhere (…)."""
    messages: Any
    """A sentence each (…): what was reached or not, which tasks contradict each other, which joints are at limits."""
    limits: Any
    """Per answer (…) the joints at a limit, as tuples of name, value and "lower" or "upper"."""

    @property
    def message(self) -> str:
        """The sentence, or how many of many were reached."""
        if np.ndim(self.reached) == 0:
            return str(self.messages[()])
        return f"{int(np.sum(self.reached))} of {np.size(self.reached)} targets reached"

    def __repr__(self) -> str:
        return f"<Solution: {self.message}>"


def _objects(items: list[Any], batch: tuple[int, ...]) -> Any:
    """An array of objects, which NumPy is not to look into."""
    array = np.empty(len(items), object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(batch)


def _prepared(
    self: Model, tasks: Task | Sequence[Task], name: str, q: Any, scene: _linkwork._Scene | None
) -> tuple[list[Task], list[Any], tuple[int, ...], int]:
    """Tasks, then configurations and the targets of each task as flat arrays, their leading dimensions and how many there are."""
    if isinstance(tasks, Task):
        tasks = [tasks]
    tasks = list(tasks)
    for task in tasks:
        if not isinstance(task, Task):
            raise TypeError(f"tasks must be made by `Task.pose` and the like, not {type(task).__name__}")
    if not tasks:
        raise Error("there are no tasks; give one")
    if scene is not None and scene.model is not self:
        raise Error(f"the scene is of another model, {scene.model.name!r}; make it of the one that is solved for")
    given = [_arrays.numbers(name, q).astype(np.float64)]
    shapes: list[tuple[int, ...]] = [(self.nq,)]
    for i, task in enumerate(tasks):
        shape = (self.nq,) if task.kind == "posture" else SHAPES.get(task.kind)
        if shape is None:
            raise Error(f"task {i} (from zero) is of kind {task.kind!r}; make it by `Task.pose` and the like")
        target = _arrays.numbers(f"the target of task {i} (from zero)", task.target).astype(np.float64)
        given.append(target)
        shapes.append(shape)
    names = [name] + [f"the target of task {i} (from zero), a {t.kind}," for i, t in enumerate(tasks)]
    leading = []
    for what, array, shape in zip(names, given, shapes):
        at = array.ndim - len(shape)
        if at < 0 or array.shape[at:] != shape:
            wanted = "(…" + "".join(f", {n}" for n in shape) + ")"
            raise Error(f"{what} has shape {array.shape}, but it must have {wanted}")
        if not np.isfinite(array).all():
            where = tuple(int(n) for n in np.argwhere(~np.isfinite(array))[0])
            raise Error(f"{what} is not finite at {where}")
        leading.append(array.shape[:at])
    try:
        batch = np.broadcast_shapes(*leading)
    except ValueError:
        raise Error(f"the leading dimensions of {name} and targets do not fit together: {leading}") from None
    count = int(np.prod(batch, dtype=np.int64))
    flat = [np.ascontiguousarray(np.broadcast_to(a, batch + s)) for a, s in zip(given, shapes)]
    return tasks, flat, batch, count


def inverse_kinematics(
    self: Model,
    tasks: Task | Sequence[Task],
    start: Any = None,
    *,
    tolerance: float = 1e-9,
    iterations: int = 100,
    restarts: int = 100,
    seed: int = 1,
    scene: _linkwork._Scene | None = None,
) -> Solution:
    """Configurations that meet tasks, from `start` (…, nq) on, or from the neutral one.

    Targets and starts have leading dimensions, which broadcast: there is an answer for each, found on all threads, and the same whatever
    else is asked for. Loops are closed in every answer, and limits are kept. `restarts` are other starts, drawn within limits from `seed`.
    `scene` has the shapes that a task `Task.clear` is about.

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("arm7")
    >>> targets = m.pose(m.random(1, count=50), "flange")
    >>> found = m.inverse_kinematics(lw.Task.pose("flange", targets))
    >>> found.q.shape, bool(found.reached.all())
    ((50, 7), True)
    >>> bool(np.allclose(m.pose(found.q, "flange"), targets, atol=1e-7))
    True
    >>> m.inverse_kinematics(lw.Task.position("flange", [9, 0, 0]), restarts=2).message[:30]
    'not reachable: nearest is the '
    """
    tasks, flat, batch, count = _prepared(self, tasks, "start", self.neutral() if start is None else start, scene)
    n = len(tasks)
    if count == 0:
        nothing = np.zeros((*batch, n))
        none, zero = _objects([], batch), np.zeros(batch)
        return Solution(
            flat[0], zero.astype(bool), nothing, nothing, zero, zero.astype(int), zero.astype(int), none, none
        )
    options = (float(tolerance), int(iterations), int(restarts), int(seed))
    q, reached, left, closure, steps, again, said, bound = _linkwork.inverse_kinematics(
        self, tasks, flat[1:], count, flat[0], options, scene
    )
    left = left.reshape(*batch, n, 2)
    limits = [[(joint, at, "upper" if up else "lower") for joint, at, up in each] for each in bound]
    return Solution(
        q.reshape(*batch, self.nq),
        reached.reshape(batch),
        left[..., 0],
        left[..., 1],
        closure.reshape(batch),
        steps.reshape(batch),
        again.reshape(batch),
        _objects(said, batch),
        _objects(limits, batch),
    )


def task_velocity(
    self: Model,
    q: Any,
    tasks: Task | Sequence[Task],
    *,
    period: float = 0.01,
    gain: float = 10.0,
    damping: float = 1e-6,
    scene: _linkwork._Scene | None = None,
) -> Any:
    """Velocities q̇ (…, nv) at q (…, nq) that give tasks theirs: `gain` times what is left of each, and its target's own velocity.

    Within limits of velocity, and of position for a `period` in seconds. `damping` makes joints slower near singular configurations.

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("arm7")
    >>> q = np.array([0.0, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0])
    >>> goal = m.pose(q, "flange")[:3, 3] + [0.05, 0.1, 0.0]
    >>> for _ in range(200):
    ...     q = m.integrate(q, 0.01 * m.task_velocity(q, lw.Task.position("flange", goal)))
    >>> bool(np.linalg.norm(m.pose(q, "flange")[:3, 3] - goal) < 1e-6)
    True
    """
    tasks, flat, batch, count = _prepared(self, tasks, "q", q, scene)
    if count == 0:
        return np.zeros((*batch, self.nv))
    rates = (float(period), float(gain), float(damping))
    v, _ = _linkwork.task_velocities(self, tasks, flat[1:], count, flat[0], rates, scene)
    return v.reshape(*batch, self.nv)
