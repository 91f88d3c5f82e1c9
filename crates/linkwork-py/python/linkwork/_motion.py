"""Methods of `Model` for configurations as points of a manifold, and for motion in time."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Literal, TypeAlias

import numpy as np

from . import _arrays, _linkwork
from ._linkwork import Controller, Error, Model, StateSpace
from ._models import spread
from ._tasks import inverse_kinematics, task_velocity


def _pair(model: Model, a: tuple[str, Any, str], b: tuple[str, Any, str]) -> Any:
    arrays = {}
    for name, value, of in (a, b):
        arrays[name] = (_arrays.numbers(name, value), _arrays.length_of(model, of), _arrays.NUMBERS[of])
    batch, dtype, flat = _arrays.stacked(arrays)
    return batch, dtype, [np.require(x, np.float64, ["C", "A"]) for x in flat]


def integrate(self: Model, q: Any, step: Any) -> Any:
    """q ⊕ step: every joint moves by its step (…, nv), which is a velocity times a time.

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("quadruped")
    >>> q = m.random(1, count=5)
    >>> bool(np.allclose(m.difference(q, m.integrate(q, np.full(m.nv, 0.1))), 0.1))
    True
    """
    batch, dtype, (q, step) = _pair(self, ("q", q, "q"), ("step", step, "qd"))
    out = np.empty((len(q), self.nq))
    _linkwork.manifold(self, "integrate", q, step, out)
    return out.reshape(*batch, self.nq).astype(dtype, copy=False)


def difference(self: Model, q0: Any, q1: Any) -> Any:
    """q1 ⊖ q0: the step (…, nv) that leads from q0 to q1 the short way."""
    batch, dtype, (q0, q1) = _pair(self, ("q0", q0, "q"), ("q1", q1, "q"))
    out = np.empty((len(q0), self.nv))
    _linkwork.manifold(self, "difference", q0, q1, out)
    return out.reshape(*batch, self.nv).astype(dtype, copy=False)


def interpolate(self: Model, q0: Any, q1: Any, t: Any) -> Any:
    """q0 at t = 0, q1 at t = 1, and the shortest way between; t may be an array of the leading dimensions.

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("arm7")
    >>> m.interpolate(m.random(1), m.random(2), np.linspace(0, 1, 11)).shape
    (11, 7)
    """
    step = self.difference(q0, q1)
    return self.integrate(q0, step * np.asarray(t, np.float64)[..., None])


def distance(self: Model, q0: Any, q1: Any) -> Any:
    """The length of q1 ⊖ q0, radians and metres alike."""
    return np.linalg.norm(self.difference(q0, q1), axis=-1)


def rollout(
    self: Model,
    q: Any,
    qd: Any,
    tau: Any = None,
    *,
    dt: float,
    steps: int | None = None,
    method: str = "semi_implicit_euler",
) -> tuple[Any, Any]:
    """Rolls states forward: what every step ends in, (…, steps, nq) and (…, steps, nv).

    `tau` has torques for every step, (…, steps, nv), and says how many steps there are; without it there are no torques. They are all
    that drives the joints: damping, friction and limits are not added. `method` is "semi_implicit_euler" or "runge_kutta4".

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("arm7")
    >>> q, qd = m.rollout(m.random(1, count=100), np.zeros(7), dt=1e-3, steps=50)
    >>> q.shape
    (100, 50, 7)
    """
    def run(*arguments: Any) -> None:
        _linkwork.rollout(self, *arguments)

    return rolled(self, run, q, qd, tau, dt, steps, method)


def rolled(
    model: Model,
    run: Callable[..., None],
    q: Any,
    qd: Any,
    tau: Any,
    dt: float,
    steps: int | None,
    method: str,
    shape: tuple[int, ...] | None = None,
) -> tuple[Any, Any]:
    """Makes arrays plain, and rolls their states forward; `shape` are the leading dimensions that they must have, if any."""
    if not isinstance(dt, (int, float)) or isinstance(dt, bool):
        raise TypeError(f"dt must be a number, not {type(dt).__name__}")
    arrays = {
        "q": (_arrays.numbers("q", q), model.nq, "nq"),
        "qd": (_arrays.numbers("qd", qd), model.nv, "nv"),
    }
    if tau is not None:
        torques = _arrays.numbers("tau", tau)
        if torques.ndim < 2 or torques.shape[-1] != model.nv:
            raise Error(f"tau has shape {torques.shape}, but it must be (…, steps, nv) with nv = {model.nv}")
        if steps is not None and steps != torques.shape[-2]:
            raise Error(f"steps is {steps}, but tau is given for {torques.shape[-2]} steps")
        steps = torques.shape[-2]
        length = steps * model.nv
        arrays["tau"] = (torques.reshape(*torques.shape[:-2], length), length, "steps × nv")
    if steps is None:
        raise Error("give steps, or torques for every step")
    if shape is None:
        batch, dtype, flat = _arrays.stacked(arrays)
    else:
        batch = shape
        dtype, flat = spread(shape, arrays)
    q_out = np.empty((*batch, steps, model.nq), dtype)
    qd_out = np.empty((*batch, steps, model.nv), dtype)
    given = flat[2] if tau is not None else None
    try:
        run(method, float(dt), steps, flat[0], flat[1], given, q_out, qd_out)
    except Error as problem:
        problem.result = (q_out, qd_out)
        raise
    return q_out, qd_out


@dataclass(frozen=True)
class Motion:
    """A motion in time: a row of each array for every instant."""

    model: Model
    t: Any
    q: Any
    qd: Any
    tau: Any

    def __len__(self) -> int:
        return len(self.t)

    @property
    def kinetic_energy(self) -> Any:
        """½q̇*𝓜q̇ at every instant, in J."""
        return self.model.kinetic_energy(self.q, self.qd)

    @property
    def potential_energy(self) -> Any:
        """That of gravity at every instant, in J."""
        return self.model.potential_energy(self.q)

    @property
    def energy(self) -> Any:
        """Kinetic and potential energy at every instant, in J; springs are not in it."""
        return self.kinetic_energy + self.potential_energy

    def columns(self) -> dict[str, Any]:
        """Columns by name: t, q.joint, qd.joint and tau.joint, with a number where a joint has several."""
        table = {"t": self.t}
        for word, array, where in (
            ("q", self.q, self.model.q_slice),
            ("qd", self.qd, self.model.v_slice),
            ("tau", self.tau, self.model.v_slice),
        ):
            for joint in self.model.moving_joint_names:
                part = array[:, where(joint)]
                for i in range(part.shape[1]):
                    name = f"{word}.{joint}" if part.shape[1] == 1 else f"{word}.{joint}.{i}"
                    table[name] = part[:, i]
        return table

    def save(self, path: str | PathLike[str]) -> None:
        """Writes it as .csv, .npz or .parquet (which needs pyarrow)."""
        name = fspath(path)
        if name.endswith(".npz"):
            np.savez(name, t=self.t, q=self.q, qd=self.qd, tau=self.tau)
        elif name.endswith(".csv"):
            table = self.columns()
            with open(name, "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(table)
                writer.writerows(zip(*(column.tolist() for column in table.values())))
        elif name.endswith(".parquet"):
            import pyarrow
            import pyarrow.parquet

            pyarrow.parquet.write_table(pyarrow.table(self.columns()), name)
        else:
            raise Error(f"cannot tell the format of {name}; name it .csv, .npz or .parquet")

    def plot(self, joints: Sequence[str] | None = None) -> Any:
        """Draws q, q̇ and torques over time with matplotlib, and returns the figure."""
        import matplotlib.pyplot as plt

        chosen = list(self.model.moving_joint_names if joints is None else joints)
        figure, axes = plt.subplots(3, 1, sharex=True, figsize=(8, 7))
        rows = (
            ("q", self.q, self.model.q_slice),
            ("q̇", self.qd, self.model.v_slice),
            ("torque", self.tau, self.model.v_slice),
        )
        for axis, (word, array, where) in zip(axes, rows):
            for joint in chosen:
                axis.plot(self.t, array[:, where(joint)], label=joint)
            axis.set_ylabel(word)
        axes[-1].set_xlabel("t in s")
        if len(chosen) <= 12:
            axes[0].legend(fontsize="small", ncols=3)
        figure.tight_layout()
        return figure


Drive: TypeAlias = Controller | Callable[[float, Any, Any], Any] | None


Switched: TypeAlias = bool | Literal["grasp"]


def _switch(name: str, to: Any) -> str:
    if to == "grasp":
        return "grasp"
    if isinstance(to, (bool, np.bool_)):
        return "on" if to else "off"
    raise Error(f"`{name}` is switched to {to!r}; it must be True, False or \"grasp\"")


def simulate(
    self: Model,
    q: Any,
    qd: Any = None,
    *,
    seconds: float,
    dt: float = 1e-3,
    integrator: str = "runge_kutta4",
    drive: Drive = None,
    every: int = 1,
    resist: bool = True,
    tolerance: float = 1e-8,
    switched: Mapping[str, Sequence[tuple[float, Switched]]] | None = None,
    prescribed: Mapping[str, Callable[[float], Any]] | None = None,
) -> Motion:
    """A motion in time, from a configuration at rest or with a velocity.

    `drive` is a `Controller`, or a function of t, q and q̇ that gives torques. What resists the joints (damping, friction, springs and
    limits) is added unless `resist` is false; the motion's torques contain it. `integrator` is "semi_implicit_euler",
    "runge_kutta4", "implicit_midpoint" or "adaptive" (steps as long as `tolerance` allows). A row is kept for every `every` steps of
    `dt` seconds. Loops are kept closed.

    Constraints may change on the way: `switched={"rope": [(0.0, False), (1.5, True)]}` switches one off at the start and on after 1.5 s;
    "grasp" instead of True holds the frames as they are then. `prescribed={"hand": f}` moves the frame that a constraint ties to: f(t) is
    its pose against the other frame (a shift or 4 × 4), or a tuple of pose, velocity and acceleration, [angular; linear].

    >>> import numpy as np, linkwork as lw
    >>> m = lw.Model.example("double_pendulum")
    >>> swing = m.simulate([1.5, 0.0], seconds=1.0, integrator="adaptive", resist=False)
    >>> bool(np.ptp(swing.energy) < 1e-6)
    True
    """
    if not (np.isfinite(seconds) and seconds > 0):
        raise Error(f"seconds is {seconds}; it must be finite and positive")
    if not (np.isfinite(dt) and dt > 0):
        raise Error(f"dt is {dt}; it must be finite and positive")
    if every < 1:
        raise Error(f"every is {every}; it must be at least 1")
    rows = int(round(seconds / (dt * every))) + 1
    start = _arrays.numbers("q", q)
    rate = np.zeros(self.nv) if qd is None else _arrays.numbers("qd", qd)
    for name, array, length in (("q", start, self.nq), ("qd", rate, self.nv)):
        if array.shape != (length,):
            raise Error(f"{name} has shape {array.shape}, but one state has ({length},)")
    q_out, qd_out, tau_out = (np.empty((rows, n)) for n in (self.nq, self.nv, self.nv))
    _linkwork.simulate(
        self,
        integrator,
        float(dt),
        every,
        float(tolerance),
        resist,
        start.astype(np.float64).tolist(),
        rate.astype(np.float64).tolist(),
        drive,
        q_out,
        qd_out,
        tau_out,
        [(float(t), name, _switch(name, to)) for name, times in (switched or {}).items() for t, to in times],
        list((prescribed or {}).items()),
    )
    t = np.arange(rows) * (dt * every)
    return Motion(self, t, q_out, qd_out, tau_out)


def linearize(
    self: Model,
    q: Any,
    qd: Any = None,
    tau: Any = None,
    *,
    step: float | None = None,
    method: str = "runge_kutta4",
) -> StateSpace:
    """A linear model about a state: ẋ = Ax + Bu, or, with `step` in seconds, x⁺ = Ax + Bu of one step of an integrator, exactly.

    Where neither velocity nor torques are given, the model is at rest under the torques that hold it.

    >>> import linkwork as lw
    >>> m = lw.Model.example("cart_pole")
    >>> m.linearize(m.neutral()).a.shape
    (4, 4)
    """
    if step is None:
        return _linkwork.linearize(self, q, qd, tau)
    return _linkwork.linearize_step(self, q, qd, tau, step, method)


def assemble(self: Model, q: Any, *, held: Sequence[str] = ()) -> Any:
    """A configuration near q that closes all loops, with some joints held where they are."""
    return np.array(_linkwork.assemble(self, q, list(held)))


for method in (
    integrate,
    difference,
    interpolate,
    distance,
    rollout,
    simulate,
    linearize,
    assemble,
    inverse_kinematics,
    task_velocity,
):
    method.__qualname__ = f"Model.{method.__name__}"
    method.__module__ = "linkwork"
    setattr(Model, method.__name__, method)
