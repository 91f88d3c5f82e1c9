"""Pinocchio's constrained dynamics on the mechanisms that the example many_arms writes.

    cargo run --release --example many_arms -- DIRECTORY
    python3 crates/linkwork/examples/many_arms.py DIRECTORY

needs `pip install pin`. The same links, joints, welds and state; accelerations are compared, and the least time of many
calls from Python is printed, with that of a call of nothing (`len`) beside it.
"""

import json
import pathlib
import sys
import time

import numpy as np
import pinocchio as pin


def se3(numbers):
    return pin.SE3(np.array(numbers[:9]).reshape(3, 3), np.array(numbers[9:]))


def least(call, times):
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return 1e6 * best


def build(given):
    model = pin.Model()
    # Per link: the joint that carries it, and its place there. Per joint of ours: its velocities there.
    carried, order = {"world": (0, pin.SE3.Identity())}, []
    inertia = {name: (mass, com, moments) for name, mass, com, moments in given["links"]}
    for name, kind, parent, child, origin, axis in given["joints"]:
        joint, place = carried[parent]
        place = place * se3(origin)
        if kind == "fixed":
            carried[child] = (joint, place)
        else:
            aligned = {(1, 0, 0): pin.JointModelRX, (0, 1, 0): pin.JointModelRY, (0, 0, 1): pin.JointModelRZ}
            if kind == "free":
                shape = pin.JointModelFreeFlyer()
            elif tuple(axis) in aligned:
                shape = aligned[tuple(axis)]()
            else:
                shape = pin.JointModelRevoluteUnaligned(np.array(axis))
            own = model.addJoint(joint, shape, place, name)
            carried[child] = (own, pin.SE3.Identity())
            at = model.joints[own].idx_v
            order += [at + i for i in ([3, 4, 5, 0, 1, 2] if kind == "free" else [0])]
        mass, com, (xx, xy, xz, yy, yz, zz) = inertia[child]
        joint, place = carried[child]
        moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if mass > 0:
            model.appendBodyToJoint(joint, pin.Inertia(mass, np.array(com), moments), place)
    frames = {name: (carried[link][0], carried[link][1] * se3(pose)) for name, link, pose in given["frames"]}
    frames.update(carried)
    welds = []
    for a, b in given["welds"]:
        (one, at_one), (two, at_two) = frames[a], frames[b]
        welds.append(
            pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, one, at_one, two, at_two, pin.ReferenceFrame.LOCAL)
        )
    return model, welds, order


def main():
    print("arms  Pinocchio, µs   a call of nothing, µs   difference")
    for file in sorted(pathlib.Path(sys.argv[1]).glob("arms*.json"), key=lambda f: int(f.stem[4:])):
        given = json.loads(file.read_text())
        model, welds, order = build(given)
        data = model.createData()
        datas = [weld.createData() for weld in welds]
        ours = np.array(given["q"])
        q = np.concatenate([ours[:-7], ours[-3:], ours[-7:-3]])
        tau, still = np.zeros(model.nv), np.zeros(model.nv)
        tau[order] = given["tau"]
        pin.initConstraintDynamics(model, data, welds)
        settings = pin.ProximalSettings(1e-12, 0.0, 1)
        run = lambda: pin.constraintDynamics(model, data, q, still, tau, welds, datas, settings)
        run()
        expect = np.array(given["qdd"])
        apart = np.max(np.abs(data.ddq[order] - expect)) / np.max(np.abs(expect))
        microseconds = least(run, 300)
        print(f"{len(welds):4} {microseconds:14.1f} {least(lambda: len(order), 300):23.2f}   {apart:.1e}")


main()
