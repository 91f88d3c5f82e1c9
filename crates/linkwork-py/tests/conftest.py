"""What several tests use."""

import os

import hypothesis
import numpy as np
import pytest

import linkwork as lw

hypothesis.settings.register_profile("linkwork", deadline=None, max_examples=60, derandomize=True)
hypothesis.settings.load_profile("linkwork")

NUMBERS = {"q", "qd", "qdd", "tau", "x", "change"}


def closed() -> lw.Model:
    """A four-bar: two cranks and a rod that joins them."""
    rod = lw.Inertia.rod(1.0, [0, 0, 1.0])
    b = lw.Builder("four-bar").link("left", rod).link("top", rod).link("right", rod)
    b.joint("left", "revolute", "world", "left", axis=[0, 1, 0])
    b.joint("top", "revolute", "left", "top", axis=[0, 1, 0], at=[0, 0, 1.0])
    b.joint("right", "revolute", "world", "right", axis=[0, 1, 0], at=[1.0, 0, 0])
    b.frame("end of top", "top", [0, 0, 1.0]).frame("end of right", "right", [0, 0, 1.0])
    b.loop("ring", "hinge", "end of top", "end of right", axis=[0, 1, 0])
    return b.build()


def given(model, quantity, batch=(), seed=0, dtype=np.float64):
    """Arguments for any quantity of the list."""
    g = np.random.default_rng(seed)
    count = int(np.prod(batch, dtype=int))
    arguments = []
    for name in quantity["inputs"]:
        if name == "q":
            q = model.random(seed, count=count).reshape(*batch, model.nq)
            arguments.append(q.astype(dtype))
        elif name in NUMBERS:
            length = 3 * model.nv if name == "change" else model.nv
            arguments.append(g.normal(size=(*batch, length)).astype(dtype))
        elif name == "frame":
            arguments.append(model.link_names[-1])
        elif name == "reference":
            arguments.append("aligned")
        elif name == "joint":
            arguments.append(model.moving_joint_names[-1])
        else:
            raise AssertionError(f"an input that the tests do not know: {name}")
    return arguments


def pytest_collection_modifyitems(config, items):
    """Where everything must be there, nothing is skipped in silence."""
    if os.environ.get("LINKWORK_ALL"):
        config.option.strict_markers = True


@pytest.fixture(scope="session")
def arm():
    return lw.Model.example("arm7")


@pytest.fixture(scope="session")
def four_bar():
    return closed()
