"""Robot dynamics as operators: kinematics and dynamics of articulated mechanisms, for one state or for many.

>>> import numpy as np, linkwork as lw
>>> m = lw.Model.example("arm7")
>>> q, qd, tau = m.random(1), np.zeros(m.nv), np.zeros(m.nv)
>>> m.forward_dynamics(q, qd, tau).shape
(7,)
>>> many = m.random(1, count=1000)                     # a thousand configurations
>>> m.forward_dynamics(many, qd, tau).shape            # the rest is broadcast
(1000, 7)
>>> s = m.at(q).moving(qd)                             # quantities of one state share their work
>>> bool(np.allclose(s.mass_matrix() @ s.forward_dynamics(tau) + s.bias(), tau))
True
"""

from __future__ import annotations

from ._linkwork import (
    Builder,
    Controller,
    Error,
    FileError,
    Inertia,
    Model,
    StateSpace,
    Trajectory,
    __version__,
    examples,
    load,
    quantities,
    read,
    set_threads,
    threads,
)
from . import _quantities, _show, _trajectory
from ._algebra import Expression, Operator, derive
from . import _models
from ._models import Models
from ._motion import Motion
from ._scene import Contacts, Loops, Rollout, Scene, Shape, Step, StepDerivatives
from ._state import Moving, State
from ._tasks import Solution, Task
from ._view import Page, view

_quantities.attach(Model, (), lambda q: True)
_quantities.attach(Models, (), lambda q: not q["of_loops"], _models.evaluate)
_quantities.attach_aliases(Model)


def _restored(text: str, off: list[str] = []) -> Model:
    """A pickled model, and which of its constraints are off."""
    model = read(text, "native", anywhere=True)
    return model.with_switched(dict.fromkeys(off, False)) if off else model


__all__ = [
    "Builder",
    "Contacts",
    "Controller",
    "Error",
    "Expression",
    "FileError",
    "Inertia",
    "Loops",
    "Model",
    "Models",
    "Motion",
    "Moving",
    "Operator",
    "Page",
    "Rollout",
    "Scene",
    "Shape",
    "Solution",
    "State",
    "StateSpace",
    "Step",
    "StepDerivatives",
    "Task",
    "Trajectory",
    "__version__",
    "derive",
    "examples",
    "load",
    "quantities",
    "read",
    "set_threads",
    "threads",
    "view",
]
