"""Contact: a robot among what it touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrays
from ._linkwork import Error, Model, _Scene


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape on a link, or in the world; make it by `Shape.sphere` and the like. Of two shapes that touch the greater friction counts."""

    kind: str
    link: str
    size: Any = ()
    at: Any = None
    friction: float = 0.5
    restitution: float = 0.0
    name: str | None = None

    @staticmethod
    def sphere(link: str, radius: float, *, at: Any = None, friction: float = 0.5, restitution: float = 0.0, name: str | None = None) -> Shape:
        """A ball, at a shift or pose in the link's frame."""
        return Shape("sphere", link, (float(radius),), at, friction, restitution, name)

    @staticmethod
    def capsule(link: str, radius: float, length: float, *, at: Any = None, friction: float = 0.5, restitution: float = 0.0, name: str | None = None) -> Shape:
        """A cylinder along z of some length with half a ball at each end."""
        return Shape("capsule", link, (float(radius), float(length)), at, friction, restitution, name)

    @staticmethod
    def cylinder(link: str, radius: float, length: float, *, at: Any = None, friction: float = 0.5, restitution: float = 0.0, name: str | None = None) -> Shape:
        """A cylinder along z."""
        return Shape("cylinder", link, (float(radius), float(length)), at, friction, restitution, name)

    @staticmethod
    def box(link: str, edges: Any, *, at: Any = None, friction: float = 0.5, restitution: float = 0.0, name: str | None = None) -> Shape:
        """A box with three edges."""
        return Shape("box", link, tuple(float(x) for x in edges), at, friction, restitution, name)

    @staticmethod
    def ellipsoid(link: str, radii: Any, *, at: Any = None, friction: float = 0.5, restitution: float = 0.0, name: str | None = None) -> Shape:
        """An ellipsoid with three radii."""
        return Shape("ellipsoid", link, tuple(float(x) for x in radii), at, friction, restitution, name)

    @staticmethod
    def plane(*, at: Any = None, friction: float = 0.5, restitution: float = 0.0, name: str | None = None) -> Shape:
        """A plane in the world, solid below the z of a pose."""
        return Shape("plane", "world", (), at, friction, restitution, name or "plane")


@dataclass(frozen=True, eq=False)
class Contacts:
    """Where shapes touch, or soon will: a row of each array for every point, all in the world's axes."""

    names: list[tuple[str, str]]
    """The two shapes; normals point from the second to the first."""
    points: Any
    normals: Any
    gaps: Any
    """The distances before the step, negative inside."""
    forces: Any = None
    """On the first shape, in N (n, 3)."""
    moments: Any = None
    """Of torsion and rolling, in N m (n, 3)."""
    velocities: Any = None
    """Of the first shape relative to the second, after the step (n, 3)."""
    doing: list[str] | None = None
    """ "apart", "sticking" or "sliding"."""

    def __len__(self) -> int:
        return len(self.gaps)


@dataclass(frozen=True, eq=False)
class Loops:
    """What constraints that are on did in a step: a row of each array for every one that can move anything."""

    names: list[str]
    gaps: Any
    """How far each was from closed before the step, in m or rad."""
    on_a: Any
    """The wrench [N; F] on its first frame, about that frame's origin in the world's axes (n, 6)."""
    on_b: Any
    """The same on its second frame."""

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Step:
    """What a step with contact ends in."""

    q: Any
    qd: Any
    contacts: Contacts
    loops: Loops
    settled: bool
    """Whether all laws hold to the tolerance."""
    iterations: int


@dataclass(frozen=True, eq=False)
class Rollout:
    """What steps with contact end in: (…, steps, nq) and (…, steps, nv), and per world (…) how it fared."""

    q: Any
    qd: Any
    deepest: Any
    """The deepest penetration, in m."""
    unsettled: Any
    """Steps that did not settle."""
    crossed: Any
    """Steps in which a body went through another."""


@dataclass(frozen=True, eq=False)
class StepDerivatives:
    """The derivatives of q̇⁺, which is in the axes of the start of the step: q⁺ = q ⊕ dt q̇⁺. Changes of q are tangent, as q̇ is."""

    qd: Any
    """q̇⁺ (…, nv)."""
    by_q: Any
    """(…, nv, nv)."""
    by_qd: Any
    by_tau: Any


class Scene(_Scene):
    """A robot among what it touches: its own collision shapes, others, and the ground.

    `shapes` are added to those of the robot's file. A plane at the height `ground` is added if nothing in the world can be stood on
    (None adds none). `law` is "coulomb", or "convex" for its relaxation, which is a little faster. `gyroscopic` turns free bodies by the
    implicit midpoint, `memory` keeps what is held from creeping, `passive`, `joint_limits` and `joint_friction` are the joints' own.

    Loops of the model stay closed in the same steps: start where they are closed, as by `Model.assemble`. `switch` and `prescribe` change
    constraints on the way.

    >>> import numpy as np, linkwork as lw
    >>> ball = lw.Builder("ball").link("ball", lw.Inertia.sphere(1.0, 0.1)).joint("free", "free", "world", "ball").build()
    >>> scene = lw.Scene(ball, shapes=[lw.Shape.sphere("ball", 0.1)])
    >>> q, qd = np.array([0, 0, 0, 1, 0, 0, 0.3]), np.zeros(6)
    >>> for _ in range(200):
    ...     step = scene.step(q, qd)
    ...     q, qd = step.q, step.qd
    >>> bool(abs(q[6] - 0.1) < 1e-4), bool(np.allclose(step.contacts.forces, [0, 0, 9.81], atol=1e-2))
    (True, True)
    """

    def __new__(
        cls,
        model: Model,
        *,
        shapes: Sequence[Shape] = (),
        ground: float | None = 0.0,
        friction: float = 0.5,
        restitution: float = 0.0,
        dt: float = 0.005,
        law: str = "coulomb",
        gyroscopic: bool = True,
        memory: bool = True,
        passive: bool = True,
        joint_limits: bool = True,
        joint_friction: bool = True,
    ) -> Scene:
        for shape in shapes:
            if not isinstance(shape, Shape):
                raise TypeError(f"shapes must be of `Shape`, not {type(shape).__name__}; make them by `Shape.sphere` and the like")
        options = [gyroscopic, memory, passive, joint_limits, joint_friction]
        return super().__new__(cls, model, list(shapes), ground, friction, restitution, dt, law, options)

    def __repr__(self) -> str:
        return f"<Scene of {self.model.name!r}: {len(self.shape_names)} shapes, {self.pair_count} pairs>"

    def _state(self, **given: Any) -> list[list[float]]:
        m, lists = self.model, []
        for name, value in given.items():
            length = m.nq if name == "q" else m.nv
            array = np.zeros(length) if value is None else _arrays.numbers(name, value)
            if array.shape != (length,):
                raise Error(f"{name} has shape {array.shape}, but one state has ({length},)")
            lists.append(array.astype(np.float64).tolist())
        return lists

    def contacts(self, q: Any, qd: Any = None) -> Contacts:
        """The contacts at a state that might close within a step."""
        return Contacts(**self._contacts(*self._state(q=q, qd=qd)))

    def step(self, q: Any, qd: Any, tau: Any = None) -> Step:
        """One step of `dt` from a state. Contacts remember how they were strained from call to call: see `forget`."""
        q, qd, told, loops, settled, iterations = self._step(*self._state(q=q, qd=qd, tau=tau))
        return Step(q, qd, Contacts(**told), Loops(**loops), settled, iterations)

    def rollout(self, q: Any, qd: Any, tau: Any = None, *, steps: int | None = None) -> Rollout:
        """Rolls worlds (…) forward on all threads, each as if it were alone: what every step ends in.

        `tau` has torques for every step, (…, steps, nv), and says how many steps there are; without it there are none.

        >>> import numpy as np, linkwork as lw
        >>> ball = lw.Builder("ball").link("ball", lw.Inertia.sphere(1.0, 0.1)).joint("free", "free", "world", "ball").build()
        >>> scene = lw.Scene(ball, shapes=[lw.Shape.sphere("ball", 0.1)])
        >>> q = np.tile([0, 0, 0, 1, 0, 0, 0.1], (8, 1))
        >>> q[:, 6] += np.linspace(0.1, 0.5, 8)
        >>> fall = scene.rollout(q, np.zeros(6), steps=200)
        >>> fall.q.shape, bool((fall.deepest < 1e-3).all())
        ((8, 200, 7), True)
        """
        m = self.model
        arrays = {
            "q": (_arrays.numbers("q", q).astype(np.float64), m.nq, "nq"),
            "qd": (_arrays.numbers("qd", qd).astype(np.float64), m.nv, "nv"),
        }
        if tau is not None:
            torques = _arrays.numbers("tau", tau)
            if torques.ndim < 2 or torques.shape[-1] != m.nv:
                raise Error(f"tau has shape {torques.shape}, but it must be (…, steps, nv) with nv = {m.nv}")
            if steps is not None and steps != torques.shape[-2]:
                raise Error(f"steps is {steps}, but tau is given for {torques.shape[-2]} steps")
            steps = int(torques.shape[-2])
            length = steps * m.nv
            arrays["tau"] = (torques.reshape(*torques.shape[:-2], length).astype(np.float64), length, "steps × nv")
        if steps is None:
            raise Error("give steps, or torques for every step")
        if steps < 0:
            raise Error(f"steps is {steps}; it cannot be negative")
        batch, _, flat = _arrays.stacked(arrays)
        q_out, qd_out = np.empty((*batch, steps, m.nq)), np.empty((*batch, steps, m.nv))
        given = flat[2] if tau is not None else None
        try:
            told = self._rollout(steps, flat[0], flat[1], given, q_out, qd_out)
        except Error as problem:
            problem.result = (q_out, qd_out)
            raise
        return Rollout(q_out, qd_out, *(x.reshape(batch) for x in told))

    def _differentiated(self, what: str, given: dict[str, tuple[Any, int]], size: int) -> Any:
        words = {self.model.nq: "nq", self.model.nv: "nv"}
        arrays = {
            name: (_arrays.numbers(name, x).astype(np.float64), n, words.get(n, str(n)))
            for name, (x, n) in given.items()
        }
        batch, _, flat = _arrays.stacked(arrays)
        plus, out = np.empty((*batch, self.model.nv)), np.empty((*batch, size))
        inputs = flat[:3]
        if len(flat) > 3:
            inputs.append(np.ascontiguousarray(np.concatenate(flat[3:], axis=-1)))
        self._derivatives(what, inputs, plus, out)
        return batch, plus, out

    def _start(self, q: Any, qd: Any, tau: Any) -> dict[str, tuple[Any, int]]:
        m = self.model
        return {"q": (q, m.nq), "qd": (qd, m.nv), "tau": (np.zeros(m.nv) if tau is None else tau, m.nv)}

    def derivatives(self, q: Any, qd: Any, tau: Any = None) -> StepDerivatives:
        """The exact derivatives of one step, with contacts that remember nothing, at states (…): matrices in O(n²).

        How soft contacts are is held. Free bodies need a scene with `gyroscopic=False`. Spheres, capsules, boxes and meshes on planes are
        differentiated, and spheres on each other; an error names other pairs that touch.
        """
        nv = self.model.nv
        batch, plus, out = self._differentiated("matrices", self._start(q, qd, tau), 3 * nv * nv)
        parts = out.reshape(*batch, 3, nv, nv)
        return StepDerivatives(plus, parts[..., 0, :, :], parts[..., 1, :, :], parts[..., 2, :, :])

    def jvp(self, q: Any, qd: Any, tau: Any, dq: Any, dqd: Any, dtau: Any) -> tuple[Any, Any]:
        """q̇⁺ and its change (…, nv) for changes of q, q̇ and the torques, in O(n)."""
        nv = self.model.nv
        given = self._start(q, qd, tau) | {"dq": (dq, nv), "dqd": (dqd, nv), "dtau": (dtau, nv)}
        _, plus, out = self._differentiated("jvp", given, nv)
        return plus, out

    def vjp(self, q: Any, qd: Any, tau: Any, y: Any) -> tuple[Any, Any, Any]:
        """The gradients (…, nv) of y·q̇⁺ by q (tangent), q̇ and the torques, in O(n)."""
        nv = self.model.nv
        _, _, out = self._differentiated("vjp", self._start(q, qd, tau) | {"y": (y, nv)}, 3 * nv)
        return out[..., :nv], out[..., nv : 2 * nv], out[..., 2 * nv :]
