"""The speed of the package beside its peers, in one run: `python tests/race.py` prints a table.

Peers are `pin` and `mujoco` of PyPI, robots those of `example-robot-data`; torch is timed where it is installed. Each figure is the
median of several rounds, in which all take turns, so that a busy moment of the machine hits all. Rust's own times are those of
`linkwork bench`, with the minima that both have beside them.
"""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import numpy as np

import linkwork as lw

ROBOTS = {"ur5": ("ur_description/urdf/ur5_robot.urdf", False), "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", True)}
ROUNDS, MANY, STEPS, THREADS = 5, 10_000, 20, 2


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({len(names)} threads)" if names else platform.processor()


def file(name: str) -> Path:
    import cmeel

    robots = Path(cmeel.__file__).parent.parent / "cmeel.prefix/share/example-robot-data/robots"
    path = robots / ROBOTS[name][0]
    if not path.exists():
        path = next(path.parent.glob("*.urdf"))
    return path


class Times:
    """Nanoseconds of functions, round after round."""

    def __init__(self) -> None:
        self.all: dict[str, list[float]] = {}

    def take(self, name: str, function, count: int, of: int = 1) -> None:
        """The median of so many calls of a function, each of so many states, as `linkwork bench` takes it."""
        function()
        spent = []
        for _ in range(count):
            start = time.perf_counter_ns()
            function()
            spent.append(time.perf_counter_ns() - start)
        self.add(name, statistics.median(spent) / of)

    def add(self, name: str, value: float) -> None:
        self.all.setdefault(name, []).append(value)

    def median(self, name: str) -> float:
        return statistics.median(self.all[name])

    def least(self, name: str) -> float:
        return min(self.all[name])


def in_rotation(function, states):
    """One call for each of 64 states."""

    def run():
        for q, qd, tau in states:
            function(q, qd, tau)

    return run


def pin_in_rotation(function, model, data, states):
    """The same of a function of Pinocchio."""

    def run():
        for q, qd, tau in states:
            function(model, data, q, qd, tau)

    return run


def into(function, states, results):
    """The same into arrays that are there."""

    def run():
        for (q, qd, tau), out in zip(states, results):
            function(q, qd, tau, out=out)

    return run


def rust(path: Path, batch: int, threads: int) -> float:
    """Rust's own time of forward dynamics for one state, in ns."""
    program = Path(sysconfig.get_path("scripts")) / "linkwork"
    command = [program, "bench", str(path), "--algorithm", "aba", "--json", "--batch", str(batch), "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[0])
    return float(told["ns"])


def race(name: str, directory: Path) -> tuple[Times, lw.Model]:
    import mujoco
    import mujoco.rollout
    import pinocchio as pin

    m = lw.load(file(name), ignore_couplings=True)
    other = pin.buildModelFromUrdf(str(file(name)), *([pin.JointModelFreeFlyer()] if ROBOTS[name][1] else []))
    if ROBOTS[name][1]:
        m = m.with_floating_base()
    own = directory / f"{name}.json"
    m.save(own)
    data = other.createData()
    g = np.random.default_rng(1)
    q, qd, tau = m.random(1, count=MANY), g.normal(size=(MANY, m.nv)), g.normal(size=(MANY, m.nv))
    there = np.array([pin.randomConfiguration(other, -np.ones(other.nq), np.ones(other.nq)) for _ in range(64)])
    all_there = there[np.arange(MANY) % 64]
    out = np.empty_like(tau)
    one = [(q[i].copy(), qd[i].copy(), tau[i].copy()) for i in range(64)]
    one_there = [(there[i].copy(), qd[i, : other.nv].copy(), tau[i, : other.nv].copy()) for i in range(64)]
    results = [np.empty(m.nv) for _ in range(64)]
    pool = pin.ModelPool(other, THREADS) if hasattr(pin, "ModelPool") else None
    columns = [np.asfortranarray(x.T) for x in (all_there, qd, tau)]
    result = np.zeros((other.nv, MANY), order="F")
    times = Times()
    mj = mujoco.MjModel.from_xml_string(m.text("mjcf"))
    mj.opt.timestep, mj.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_EULER
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    few = 1000
    datas = [mujoco.MjData(mj) for _ in range(THREADS)]
    size = mujoco.mj_stateSize(mj, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros((few, size))
    start[:, 1 : 1 + mj.nq] = mj.qpos0
    lw.set_threads(THREADS)
    torques = np.zeros((few, STEPS, m.nv))
    for _ in range(ROUNDS):
        times.add("rust one", rust(own, 1, 1))
        times.take("one", in_rotation(m.forward_dynamics, one), 60, 64)
        times.take("one into", into(m.forward_dynamics, one, results), 60, 64)
        times.take("pin one", pin_in_rotation(pin.aba, other, data, one_there), 20, 64)
        times.add("rust many", rust(own, MANY, THREADS))
        times.take("many", lambda: m.forward_dynamics(q, qd, tau), 20, MANY)
        times.take("many into", lambda: m.forward_dynamics(q, qd, tau, out=out), 20, MANY)
        times.take("pin loop", pin_in_rotation(pin.aba, other, data, one_there), 20, 64)
        if pool is not None:
            times.take("pin parallel", lambda: pin.abaInParallel(THREADS, pool, *columns, result), 3, MANY)
        times.take("roll", lambda: m.rollout(q[:few], qd[:few], torques, dt=1e-3), 5, few * STEPS)
        times.take("mujoco roll", lambda: mujoco.rollout.rollout(mj, datas, start, nstep=STEPS), 2, few * STEPS)
    return times, m


def torch_times(m: lw.Model) -> Times | None:
    """Backward of forward dynamics in a batch; none without torch."""
    try:
        import torch
    except ImportError:
        return None
    import linkwork.torch as lt

    torch.set_num_threads(THREADS)
    g = np.random.default_rng(1)
    q = torch.tensor(m.random(1, count=MANY), requires_grad=True)
    qd, tau = (torch.tensor(g.normal(size=(MANY, m.nv)), requires_grad=True) for _ in range(2))
    times = Times()
    y = torch.ones((MANY, m.nv), dtype=torch.float64)
    for _ in range(ROUNDS):
        for _ in range(5):
            start = time.perf_counter_ns()
            qdd = lt.forward_dynamics(m, q, qd, tau)
            middle = time.perf_counter_ns()
            torch.autograd.grad(qdd, (q, qd, tau), y)
            times.add("forward", (middle - start) / MANY)
            times.add("backward", (time.perf_counter_ns() - middle) / MANY)
    return times


def main() -> None:
    print(f"{processor()}; {THREADS} threads for batches; Python {platform.python_version()}, NumPy {np.__version__}; median of {ROUNDS} rounds\n")
    print("| | robot | goal | measured | |\n|---|---|---|---|---|")

    def row(what: str, robot: str, goal: str, measured: str, met: bool) -> None:
        print(f"| {what} | {robot} | {goal} | {measured} | {'met' if met else 'missed'} |")

    with tempfile.TemporaryDirectory() as directory:
        for name in ROBOTS:
            t, m = race(name, Path(directory))
            over = t.median("one") - t.median("rust one")
            over_into = t.median("one into") - t.median("rust one")
            said = (
                f"+{over / 1e3:.2f} µs, +{over_into / 1e3:.2f} with `out` ({t.median('one'):.0f} − {t.median('rust one'):.0f} ns, "
                f"minima {t.least('one'):.0f} − {t.least('rust one'):.0f}); `pin.aba` {t.median('pin one'):.0f} ns"
            )
            row("one state, over the Rust time", name, "≤ 0.4 µs", said, over <= 400)
            part = t.median("rust many") / t.median("many")
            part_into = t.median("rust many") / t.median("many into")
            said = f"{part:.0%}, {part_into:.0%} with `out` ({t.median('many'):.0f}, {t.median('many into'):.0f}, Rust {t.median('rust many'):.0f} ns)"
            row(f"batch of {MANY} against Rust", name, "≥ 95 %", said, max(part, part_into) >= 0.95)
            ratio = t.median("pin loop") / t.median("many")
            row("a state of a batch against a loop over `pin`", name, "≥ 30 ×", f"{ratio:.0f} × ({t.median('pin loop'):.0f} ns)", ratio >= 30)
            if "pin parallel" in t.all:
                ratio = t.median("pin parallel") / t.median("many")
                row("against `pin.abaInParallel`", name, "≥ 10 ×", f"{ratio:.1f} × ({t.median('pin parallel'):.0f} ns)", ratio >= 10)
            ratio = t.median("mujoco roll") / t.median("roll")
            row("a step against `mujoco.rollout`", name, "≥ 10 ×", f"{ratio:.1f} × ({t.median('mujoco roll'):.0f} to {t.median('roll'):.0f} ns)", ratio >= 10)
            if name == "ur5" and (t := torch_times(m)) is not None:
                back = t.median("backward")
                row("backward of a batch through torch", name, "≤ 400 ns", f"{back:.0f} ns (forward {t.median('forward'):.0f})", back <= 400)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
