"""The scenes of the race in MuJoCo: a line in, a line out.

`SCENE CONE SECONDS_BEFORE SECONDS TROT` answers microseconds per step, then contacts per step, the deepest penetration in metres, the
height of the first body at the end, and three residuals: see `judge`. Steps run inside one call, `mujoco.rollout`, on one thread.
`worlds SCENE SECONDS_BEFORE COUNT STEPS THREADS` answers microseconds per world and step.
"""

import math
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout

FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS


def torques(steps: np.ndarray, dt: float) -> np.ndarray:
    """Legs of a diagonal lift and swing together."""
    out = np.zeros((len(steps), 12))
    for leg, phase in enumerate([0.0, math.pi, math.pi, 0.0]):
        wave = np.sin(4.0 * math.pi * steps * dt + phase)
        out[:, 3 * leg + 1] = 30.0 * wave
        out[:, 3 * leg + 2] = -80.0 * np.maximum(wave, 0.0)
    return out


class Scene:
    """A model at the start of what is measured, and what happens there."""

    def __init__(self, name: str, cone: str, before: float, seconds: float, trot: bool):
        self.model = mujoco.MjModel.from_xml_path(str(Path(__file__).parent / f"{name}.xml"))
        if cone == "elliptic":
            self.model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        self.data = mujoco.MjData(self.model)
        dt = self.model.opt.timestep
        warm, self.steps = round(before / dt), round(seconds / dt)
        control = torques(np.arange(warm + self.steps), dt) if trot else np.zeros((warm + self.steps, self.model.nu))
        for i in range(warm):
            self.data.ctrl[:] = control[i]
            mujoco.mj_step(self.model, self.data)
        self.control = control[warm:][None] if self.model.nu else None
        self.state = np.empty((1, mujoco.mj_stateSize(self.model, FULL)))
        mujoco.mj_getState(self.model, self.data, self.state[0], FULL)
        self.warm = self.data.qacc_warmstart.copy()[None]
        contacts, self.deepest, self.laws = 0, 0.0, [0.0, 0.0, 0.0]
        for i in range(self.steps):
            self.data.ctrl[:] = control[warm + i]
            mujoco.mj_step(self.model, self.data)
            contacts += self.data.ncon
            if self.data.ncon:
                self.deepest = max(self.deepest, -self.data.contact.dist.min())
                self.judge(dt)
        self.contacts, self.height = contacts / self.steps, self.data.qpos[2]
        self.runner = rollout.Rollout(nthread=0)

    def judge(self, dt: float) -> None:
        """The worst so far of: normal impulse times what opens, excess over the cone, and what friction falls short of taking."""
        m, d = self.model, self.data
        force, jacobian, other = np.empty(6), np.empty((3, m.nv)), np.empty((3, m.nv))
        for i, c in enumerate(d.contact):
            mujoco.mj_contactForce(m, d, i, force)
            bodies = m.geom_bodyid[c.geom]
            mujoco.mj_jac(m, d, jacobian, None, c.pos, bodies[1])
            mujoco.mj_jac(m, d, other, None, c.pos, bodies[0])
            # Its axes are rows, the normal first, from the first geom to the second.
            velocity = c.frame.reshape(3, 3) @ ((jacobian - other) @ d.qvel)
            normal, across, slip = dt * force[0], dt * force[1:3], velocity[1:]
            bound = c.friction[0] * normal
            found = [
                abs(normal * (velocity[0] + max(c.dist, 0.0) / dt)),
                np.hypot(*across) - bound,
                abs(across @ slip + bound * np.hypot(*slip)),
            ]
            self.laws = [max(x, y) for x, y in zip(self.laws, found)]

    def measure(self) -> float:
        """Microseconds per step."""
        begin = time.perf_counter()
        self.runner.rollout(
            self.model, self.data, self.state, self.control, nstep=self.steps, initial_warmstart=self.warm
        )
        return 1e6 * (time.perf_counter() - begin) / self.steps


def worlds(name: str, before: float, count: int, steps: int, threads: int) -> float:
    """Microseconds per world and step of many worlds, each a little different."""
    scene = Scene(name, "pyramidal", before, 0.002, False)
    states = np.repeat(scene.state, count, axis=0)
    # Time, nq numbers, then velocities: the root's linear ones first.
    states[:, 1 + scene.model.nq + 2] += 0.3 * np.sin(np.arange(count))
    data = [mujoco.MjData(scene.model) for _ in range(threads)]
    with rollout.Rollout(nthread=threads if threads > 1 else 0) as runner:
        begin = time.perf_counter()
        runner.rollout(scene.model, data, states, nstep=steps)
        return 1e6 * (time.perf_counter() - begin) / (count * steps)


def main() -> None:
    scenes: dict[str, Scene] = {}
    for line in sys.stdin:
        if line.startswith("worlds"):
            _, name, before, count, steps, threads = line.split()
            print(worlds(name, float(before), int(count), int(steps), int(threads)), flush=True)
            continue
        if line not in scenes:
            name, cone, before, seconds, trot = line.split()
            scenes[line] = Scene(name, cone, float(before), float(seconds), trot == "true")
        scene = scenes[line]
        print(scene.measure(), scene.contacts, scene.deepest, scene.height, *scene.laws, flush=True)


main()
