"""MuJoCo's step without contact, in nanoseconds: rollouts of a thousand steps, so that Python takes no part.

Usage: mujoco_step.py ROBOT.urdf. Shapes are left out; a step is forward dynamics and semi-implicit Euler.
"""

import json
import sys
import time
import xml.etree.ElementTree as xml

import mujoco
import numpy as np
from mujoco import rollout


def main():
    tree = xml.parse(sys.argv[1])
    for link in tree.getroot().iter("link"):
        for shape in link.findall("visual") + link.findall("collision"):
            link.remove(shape)
    model = mujoco.MjModel.from_xml_string(xml.tostring(tree.getroot(), encoding="unicode"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.opt.timestep = 1e-6
    data, steps = mujoco.MjData(model), 1000
    start = np.zeros((1, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    mujoco.mj_getState(model, data, start[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    best = float("inf")
    for _ in range(40):
        begin = time.perf_counter_ns()
        rollout.rollout(model, data, start, nstep=steps)
        best = min(best, (time.perf_counter_ns() - begin) / steps)
    print(json.dumps({"alg": "step", "min": best, "ns": best}))


main()
