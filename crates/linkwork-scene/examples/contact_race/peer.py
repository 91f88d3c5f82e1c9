"""The scenes of the race in MuJoCo: a line in, a line out.

`SCENE CONE SECONDS_BEFORE SECONDS TROT` answers microseconds per step, then contacts per step, the deepest penetration in metres and the
height of the first body at the end. Steps run inside one call, `mujoco.rollout`, on one thread.
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
        contacts, self.deepest = 0, 0.0
        for i in range(self.steps):
            self.data.ctrl[:] = control[warm + i]
            mujoco.mj_step(self.model, self.data)
            contacts += self.data.ncon
            if self.data.ncon:
                self.deepest = max(self.deepest, -self.data.contact.dist.min())
        self.contacts, self.height = contacts / self.steps, self.data.qpos[2]
        self.runner = rollout.Rollout(nthread=0)

    def measure(self) -> float:
        """Microseconds per step."""
        begin = time.perf_counter()
        self.runner.rollout(
            self.model, self.data, self.state, self.control, nstep=self.steps, initial_warmstart=self.warm
        )
        return 1e6 * (time.perf_counter() - begin) / self.steps


def main() -> None:
    scenes: dict[str, Scene] = {}
    for line in sys.stdin:
        if line not in scenes:
            name, cone, before, seconds, trot = line.split()
            scenes[line] = Scene(name, cone, float(before), float(seconds), trot == "true")
        scene = scenes[line]
        print(scene.measure(), scene.contacts, scene.deepest, scene.height, flush=True)


main()
