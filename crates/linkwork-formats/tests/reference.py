"""Answers of Pinocchio and MuJoCo, to compare with.

Reads one JSON request per line and writes one JSON answer per line. A request names a file, the joints of the robot in
the order of coordinates, its links, and states; numbers come and go in that order, with quaternions x, y, z, w and
angular before linear parts.
"""

import json
import sys
import xml.etree.ElementTree

import numpy as np


def where_robots_are():
    import pathlib
    import cmeel

    prefix = pathlib.Path(cmeel.__file__).parent.parent / "cmeel.prefix"
    return {"robots": str(prefix / "share" / "example-robot-data" / "robots")}


def pinocchio(request):
    import pinocchio as pin

    tree = xml.etree.ElementTree.parse(request["file"]).getroot()
    listed = [j.get("name") for j in tree.findall("joint") if j.get("type") != "fixed"]
    root = [pin.JointModelFreeFlyer()] if request["floating"] else []
    try:
        model = pin.buildModelFromUrdf(request["file"], *root)
    except ValueError as problem:
        return {"error": str(problem)}
    data = model.createData()
    order, places = [], []
    for joint in request["joints"]:
        if not model.existJointName(joint["name"]):
            return {"error": "no joint " + joint["name"]}
        own = model.joints[model.getJointId(joint["name"])]
        six = [3, 4, 5, 0, 1, 2] if joint["kind"] == "free" else range(own.nv)
        order += [own.idx_v + i for i in six]
        places.append((joint["kind"], own.idx_q, own.nq))
    if len(order) != model.nv:
        return {"error": f"{model.nv} degrees of freedom"}
    model.armature[order] = request["armature"]
    frames = [model.getFrameId(name, pin.FrameType.BODY) for name in request["links"]]

    def velocity(x):
        y = np.zeros(model.nv)
        y[order] = x
        return y

    def configuration(x):
        y, at = pin.neutral(model), 0
        for kind, start, n in places:
            if kind == "free":
                y[start : start + 7] = x[at + 4 : at + 7] + x[at : at + 4]
                at += 7
            elif n == 2:
                y[start : start + 2] = np.cos(x[at]), np.sin(x[at])
                at += 1
            else:
                y[start] = x[at]
                at += 1
        return y

    answers = []
    for state in request["states"]:
        q, v = configuration(state["q"]), velocity(state["v"])
        pin.framesForwardKinematics(model, data, q)
        poses = [data.oMf[f].homogeneous[:3].flatten().tolist() for f in frames]
        mass = pin.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        tau = pin.rnea(model, data, q, v, velocity(state["a"]))
        a = pin.aba(model, data, q, v, velocity(state["tau"]))
        answers.append(
            {
                "poses": poses,
                "mass_matrix": mass[np.ix_(order, order)].flatten().tolist(),
                "condition": float(np.linalg.cond(mass)) if model.nv else 1.0,
                "inverse": tau[order].tolist(),
                "forward": a[order].tolist(),
            }
        )
    return {"mass": pin.computeTotalMass(model), "listed": listed, "states": answers}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"where": where_robots_are, "pinocchio": pinocchio}[request["ask"]]
        result = answer(request) if request["ask"] != "where" else answer()
        # Whatever the libraries themselves print must not mix with answers.
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()


main()
