"""Pinocchio's constrained dynamics on the grasps that the example `many_arms` writes to a directory.

Same links, joints, welds, state and torques; accelerations are compared with the example's. Times are minima of calls from
Python, and what a call takes that has next to nothing to do is measured too, to be taken away.
"""

import json
import pathlib
import sys
import time

import numpy as np
import pinocchio as pin


def least(call, times):
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter_ns()
        call()
        best = min(best, time.perf_counter_ns() - start)
    return best / 1000


def placement(numbers):
    return pin.SE3(np.array(numbers[:9]).reshape(3, 3), np.array(numbers[9:]))


def shape_of(kind, axis):
    aligned = {(1.0, 0.0, 0.0): pin.JointModelRX, (0.0, 1.0, 0.0): pin.JointModelRY, (0.0, 0.0, 1.0): pin.JointModelRZ}
    if kind == "free":
        return pin.JointModelFreeFlyer()
    if tuple(axis) in aligned:
        return aligned[tuple(axis)]()
    return pin.JointModelRevoluteUnaligned(np.array(axis))


def build(given):
    """The model, its welds, and where our degrees of freedom stand in its velocities."""
    model, order = pin.Model(), []
    inertias = {name: numbers for name, *numbers in given["links"]}
    carried = {"world": (0, pin.SE3.Identity())}
    for name, kind, parent, child, origin, axis in given["joints"]:
        joint, place = carried[parent]
        place = place * placement(origin)
        if kind == "fixed":
            carried[child] = (joint, place)
        else:
            own = model.addJoint(joint, shape_of(kind, axis), place, name)
            carried[child] = (own, pin.SE3.Identity())
            # Its free joints put linear velocities first.
            order += [model.joints[own].idx_v + i for i in ([3, 4, 5, 0, 1, 2] if kind == "free" else [0])]
        mass, com, (xx, xy, xz, yy, yz, zz) = inertias[child]
        if mass > 0:
            second = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            model.appendBodyToJoint(carried[child][0], pin.Inertia(mass, np.array(com), second), carried[child][1])
    for name, link, pose in given["frames"]:
        joint, place = carried[link]
        carried[name] = (joint, place * placement(pose))
    welds = [
        pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *carried[a], *carried[b], pin.ReferenceFrame.LOCAL)
        for a, b in given["welds"]
    ]
    return model, welds, order


def dynamics(model, welds, q, tau):
    """A call of constrained forward dynamics, ready to be made again and again, and where q̈ will be."""
    data = model.createData()
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for weld in welds:
        models.append(weld)
        datas.append(weld.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    settings, still = pin.ProximalSettings(1e-12, 0.0, 1), np.zeros(model.nv)
    return lambda: pin.constraintDynamics(model, data, q, still, tau, models, datas, settings), data


def loops(model, welds, q, tau, mu):
    """The same by the articulated body algorithm with loops; it is as exact as mu is small."""
    data = model.createData()
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for weld in welds:
        models.append(weld)
        datas.append(weld.createData())
    pin.computeJointMinimalOrdering(model, data, models)
    still = np.zeros(model.nv)

    def call():
        pin.lcaba(model, data, q, still, tau, models, datas, pin.ProximalSettings(1e-14, mu, 1))

    return call, data


def main():
    one = pin.Model()
    one.appendBodyToJoint(
        one.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "joint"), pin.Inertia.Random(), pin.SE3.Identity()
    )
    nothing = least(dynamics(one, [], np.zeros(1), np.zeros(1))[0], 20000)
    print(f"\nPinocchio {pin.__version__} on the same grasps; {nothing:.1f} µs of a call from Python are taken away")
    print("arms   constraintDynamics, µs   difference from ours   lcaba, µs   difference   (mu = 1e-6)")
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.json"), key=lambda file: int(file.stem)):
        given = json.loads(file.read_text())
        model, welds, order = build(given)
        ours = np.array(given["q"])
        # The object comes last, its quaternion before its place; Pinocchio has them the other way round.
        q = np.concatenate([ours[:-7], ours[-3:], ours[-7:-3]])
        tau = np.zeros(model.nv)
        tau[order] = given["tau"]
        call, data = dynamics(model, welds, q, tau)
        call()
        expect = np.array(given["qdd"])
        apart = np.max(np.abs(data.ddq[order] - expect)) / np.max(np.abs(expect))
        fast, loose = loops(model, welds, q, tau, 1e-6)
        fast()
        off = np.max(np.abs(loose.ddq[order] - expect)) / np.max(np.abs(expect))
        times = [least(call, 1000) - nothing, least(fast, 1000) - nothing]
        print(f"{len(welds):4} {times[0]:24.1f}   {apart:20.1e} {times[1]:11.1f}   {off:.1e}")
        if not apart < 1e-8:
            sys.exit("the accelerations differ")


main()
