"""Robots of example-robot-data for a race: each as its file, and as Pinocchio reads it for the native program.

Usage: robots.py DIRECTORY. Mimic joints are free in Pinocchio. Prints what the race tells: a line `name free path` for each
robot, and one `version library number` for each library.
"""

import importlib.metadata
import pathlib
import sys

import numpy as np
import pinocchio as pin

ROBOTS = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
}


def joint(model, data, i):
    """Its kind and axis."""
    j = model.joints[i]
    if j.nv == 6:
        return "free", np.zeros(3)
    column = pin.getJointJacobian(model, data, i, pin.LOCAL)[:, j.idx_v]
    turns = np.linalg.norm(column[3:]) > 0.5
    return ("turn", column[3:]) if turns else ("slide", column[:3])


def write(model, path):
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    with open(path, "w") as out:
        for i in range(1, model.njoints):
            kind, axis = joint(model, data, i)
            place, body = model.jointPlacements[i], model.inertias[i]
            numbers = [*axis, *place.rotation.T.flatten(), *place.translation]
            numbers += [body.mass, *body.lever, *body.inertia.T.flatten()]
            print(kind, model.parents[i], *(repr(float(x)) for x in numbers), file=out)


def main():
    folder = pathlib.Path(sys.argv[1])
    robots = next(p for p in pathlib.Path(pin.__file__).parents if (p / "share").exists()) / "share/example-robot-data/robots"
    for name, (file, free) in ROBOTS.items():
        path = robots / file
        model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if free else pin.buildModelFromUrdf(str(path))
        write(model, folder / f"{name}.model")
        print(name, "free" if free else "fixed", path)
    for library in ("pin", "mujoco", "example-robot-data"):
        print("version", library, importlib.metadata.version(library))


main()
