"""Answers of Pinocchio, MuJoCo, Drake and xacro, to compare with.

Reads one JSON request per line and writes one JSON answer per line. A request names a file, the joints of the robot in
the order of coordinates, its links, and states; numbers come and go in that order, with quaternions x, y, z, w and
angular before linear parts.
"""

import json
import re
import sys
import traceback
import xml.etree.ElementTree

import numpy as np


def where_robots_are(_request):
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
        by_torque = pin.computeRNEADerivatives(model, data, q, v, velocity(state["a"]))
        by_torque = [x[np.ix_(order, order)].flatten().tolist() for x in by_torque[:2]]
        by_motion = pin.computeABADerivatives(model, data, q, v, velocity(state["tau"]))
        by_motion = [x[np.ix_(order, order)].flatten().tolist() for x in by_motion[:2]]
        answers.append(
            {
                "poses": poses,
                "inverse_derivatives": by_torque,
                "forward_derivatives": by_motion,
                "mass_matrix": mass[np.ix_(order, order)].flatten().tolist(),
                "condition": float(np.linalg.cond(mass)) if model.nv else 1.0,
                "inverse": tau[order].tolist(),
                "forward": a[order].tolist(),
            }
        )
    return {"mass": pin.computeTotalMass(model), "listed": listed, "ordered": list(model.names)[1:], "states": answers}


def set_state(mj, model, data, state):
    """Ours to theirs: v_mj = T v and a_mj = T a + drift, where T turns linear parts of free joints to the world."""

    def rotation(wxyz):
        out = np.zeros(9)
        mj.mju_quat2Mat(out, np.array(wxyz, float))
        return out.reshape(3, 3)

    T, drift = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    at_q = at_v = 0
    for j in range(model.njnt):
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        kind = model.jnt_type[j]
        split = model.dof_armature[v] != 0 or model.jnt_stiffness[j].any()
        if kind == mj.mjtJoint.mjJNT_FREE and split:
            # A translation along the axes of the world, and a ball joint.
            x, y, z, w = state["q"][at_q + 3 : at_q + 7]
            quat = np.zeros(4)
            mj.mju_mulQuat(quat, model.qpos0[q + 3 : q + 7], np.array([w, x, y, z]))
            data.qpos[q : q + 3] = model.qpos0[q : q + 3] + state["q"][at_q : at_q + 3]
            data.qpos[q + 3 : q + 7] = quat
            T[v : v + 6, at_v : at_v + 6] = np.eye(6)
            at_q, at_v = at_q + 7, at_v + 6
        elif kind == mj.mjtJoint.mjJNT_FREE:
            x, y, z, w = state["q"][at_q : at_q + 4]
            start = rotation(model.qpos0[q + 3 : q + 7])
            quat = np.zeros(4)
            mj.mju_mulQuat(quat, model.qpos0[q + 3 : q + 7], np.array([w, x, y, z]))
            data.qpos[q : q + 3] = model.qpos0[q : q + 3] + start @ state["q"][at_q + 4 : at_q + 7]
            data.qpos[q + 3 : q + 7] = quat
            turn = rotation(quat)
            T[v : v + 3, at_v + 3 : at_v + 6] = turn
            T[v + 3 : v + 6, at_v : at_v + 3] = np.eye(3)
            omega, linear = state["v"][at_v : at_v + 3], state["v"][at_v + 3 : at_v + 6]
            drift[v : v + 3] = turn @ np.cross(omega, linear)
            at_q, at_v = at_q + 7, at_v + 6
        elif kind == mj.mjtJoint.mjJNT_BALL:
            x, y, z, w = state["q"][at_q : at_q + 4]
            data.qpos[q : q + 4] = [w, x, y, z]
            T[v : v + 3, at_v : at_v + 3] = np.eye(3)
            at_q, at_v = at_q + 4, at_v + 3
        else:
            data.qpos[q] = state["q"][at_q]
            T[v, at_v] = 1
            at_q, at_v = at_q + 1, at_v + 1
    data.qvel[:] = T @ state["v"]
    return T, drift


def mujoco(request):
    import mujoco as mj

    model = mj.MjModel.from_xml_path(request["file"])
    data = mj.MjData(model)
    answers = []

    def rotation(wxyz):
        out = np.zeros(9)
        mj.mju_quat2Mat(out, np.array(wxyz, float))
        return out.reshape(3, 3)

    def tensor(body):
        turn = rotation(model.body_iquat[body])
        return (turn @ np.diag(model.body_inertia[body]) @ turn.T)[np.triu_indices(3)]

    for state in request["states"]:
        T, drift = set_state(mj, model, data, state)
        mj.mj_forward(model, data)
        mass = np.zeros((model.nv, model.nv))
        mj.mj_fullM(model, data, mass)
        poses = []
        for name in request["links"]:
            b = mj.mj_name2id(model, mj.mjtObj.mjOBJ_BODY, name)
            poses.append(np.hstack([data.xmat[b].reshape(3, 3), data.xpos[b][:, None]]).flatten().tolist())
        a = T @ state["a"] + drift
        forward = np.linalg.solve(mass, np.linalg.solve(T.T, state["tau"]) - data.qfrc_bias)
        answers.append(
            {
                "poses": poses,
                "mass_matrix": (T.T @ mass @ T).flatten().tolist(),
                "condition": float(np.linalg.cond(mass)) if model.nv else 1.0,
                "inverse": (T.T @ (mass @ a + data.qfrc_bias)).tolist(),
                "forward": np.linalg.solve(T, forward - drift).tolist(),
                "passive": (T.T @ (data.qfrc_spring + data.qfrc_damper)).tolist(),
            }
        )
    return {
        "mass": float(np.sum(model.body_mass)),
        "names": [model.joint(j).name for j in range(model.njnt)],
        "bodies": [model.body(b).name for b in range(1, model.nbody)],
        "inertias": [
            [model.body_mass[b], *model.body_ipos[b], *sorted(model.body_inertia[b]), *tensor(b)] for b in range(1, model.nbody)
        ],
        "equalities": [
            [model.equality(e).name, model.joint(model.eq_obj1id[e]).name, model.joint(model.eq_obj2id[e]).name]
            for e in range(model.neq)
            if model.eq_type[e] == mj.mjtEq.mjEQ_JOINT and model.eq_obj2id[e] >= 0
        ],
        "states": answers,
    }


def drake(request):
    """Ours to theirs is v_drake = T v and a_drake = T a + drift."""
    from pydrake.math import RollPitchYaw, RotationMatrix
    from pydrake.common.eigen_geometry import Quaternion
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import MultibodyForces

    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for name, path in request["packages"].items():
        parser.package_map().Add(name, path)
    parser.AddModels(request["file"])
    plant.mutable_gravity_field().set_gravity_vector(request["gravity"])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    top = request["top"]

    def place(name):
        scope, _, local = name.rpartition("::")
        instance = "::".join(x for x in [top, scope] if x)
        return local, plant.GetModelInstanceByName(instance)

    answers = []
    for state in request["states"]:
        n = plant.num_velocities()
        q, T, drift = np.zeros(plant.num_positions()), np.zeros((n, n)), np.zeros(n)
        at_q = at_v = 0
        for joint in request["joints"]:
            if joint["kind"] == "free":
                body = plant.GetBodyByName(*place(joint["link"]))
                x, y, z, w, *p = state["q"][at_q : at_q + 7]
                start = np.array(joint["origin"]).reshape(3, 4)
                turn = start[:, :3] @ RotationMatrix(Quaternion(w, x, y, z)).matrix()
                at = body.floating_positions_start()
                q[at : at + 4] = RotationMatrix(turn).ToQuaternion().wxyz()
                q[at + 4 : at + 7] = start[:, 3] + start[:, :3] @ p
                v = body.floating_velocities_start_in_v()
                T[v : v + 3, at_v : at_v + 3] = turn
                T[v + 3 : v + 6, at_v + 3 : at_v + 6] = turn
                omega, linear = state["v"][at_v : at_v + 3], state["v"][at_v + 3 : at_v + 6]
                drift[v + 3 : v + 6] = turn @ np.cross(omega, linear)
                at_q, at_v = at_q + 7, at_v + 6
                continue
            local, instance = place(joint["name"])
            # Joints to links of inner models are in these models there; a planar joint is three of ours.
            if local[-2:] in ("_x", "_y") and not plant.HasJointNamed(local, instance):
                other, part = plant.GetJointByName(local[:-2]), "xy".index(local[-1])
            else:
                own = plant.HasJointNamed(local, instance)
                other = plant.GetJointByName(local, instance) if own else plant.GetJointByName(local)
                part = 2 if other.type_name() == "planar" else 0
            at, v = other.position_start() + part, other.velocity_start() + part
            if other.type_name() == "planar":
                q[at] = state["q"][at_q]
                T[v, at_v] = 1
                at_q, at_v = at_q + 1, at_v + 1
                continue
            if joint["kind"] == "spherical":
                # Their coordinates are seen in the joint's frame, ours in the link's.
                frame = other.frame_on_child().GetFixedPoseInBodyFrame().rotation().matrix()
                x, y, z, w = state["q"][at_q : at_q + 4]
                turn = frame.T @ RotationMatrix(Quaternion(w, x, y, z)).matrix() @ frame
                q[at : at + 3] = RollPitchYaw(RotationMatrix(turn)).vector()
                T[v : v + 3, at_v : at_v + 3] = turn @ frame.T
                at_q, at_v = at_q + 4, at_v + 3
                continue
            for i in range(other.num_velocities()):
                q[at + i] = state["q"][at_q + i]
                T[v + i, at_v + i] = 1
            at_q, at_v = at_q + other.num_positions(), at_v + other.num_velocities()
        assert at_v == n, f"{n} degrees of freedom there, {at_v} here"
        plant.SetPositions(context, q)
        plant.SetVelocities(context, T @ state["v"])
        mass = plant.CalcMassMatrix(context)
        poses = []
        for name in request["links"]:
            poses.append(plant.GetBodyByName(*place(name)).EvalPoseInWorld(context).GetAsMatrix34().flatten().tolist())
        gravity = plant.CalcGravityGeneralizedForces(context)
        none = MultibodyForces(plant)
        tau = plant.CalcInverseDynamics(context, T @ state["a"] + drift, none) - gravity
        bias = plant.CalcInverseDynamics(context, np.zeros(n), none) - gravity
        forward = np.linalg.solve(mass, np.linalg.solve(T.T, state["tau"]) - bias)
        answers.append(
            {
                "poses": poses,
                "mass_matrix": (T.T @ mass @ T).flatten().tolist(),
                "condition": float(np.linalg.cond(mass)),
                "inverse": (T.T @ tau).tolist(),
                "forward": np.linalg.solve(T, forward - drift).tolist(),
            }
        )
    fixed = sum(body.default_mass() for body in plant.GetBodiesWeldedTo(plant.world_body()) if body.index() != 0)
    moving = plant.CalcTotalMass(context) - fixed
    return {"mass": moving, "states": answers}


def drake_order(request):
    """Joints, and links that float, in the order of velocities."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(request["file"])
    plant.Finalize()
    joints = [plant.get_joint(i) for i in plant.GetJointIndices()]
    moving = sorted((j.velocity_start(), j.name()) for j in joints if j.num_velocities())
    return {"names": [name for _, name in moving]}


def expanded(request):
    """A xacro file expanded, element by element: name, attributes, text."""
    import xacro
    import xacrodoc  # finds packages without ROS

    xacrodoc.packages.update_package_cache(request["packages"])
    doc = xacro.process_file(request["file"], mappings=dict(request["arguments"]))
    root = xml.etree.ElementTree.fromstring(doc.toxml())

    def flat(e):
        yield [e.tag, dict(e.attrib), (e.text or "").strip(), len(e)]
        for child in e:
            yield from flat(child)

    return {"elements": list(flat(root))}


def mujoco_drives(request):
    """Keyframes as poses and kinetic energies, and actuators as data."""
    import mujoco as mj

    model = mj.MjModel.from_xml_path(request["file"])
    data = mj.MjData(model)
    keys = []
    for k in range(-1, model.nkey):
        mj.mj_resetData(model, data) if k < 0 else mj.mj_resetDataKeyframe(model, data, k)
        mj.mj_forward(model, data)
        mass = np.zeros((model.nv, model.nv))
        mj.mj_fullM(model, data, mass)
        bodies = [mj.mj_name2id(model, mj.mjtObj.mjOBJ_BODY, name) for name in request["links"]]
        poses = [np.hstack([data.xmat[b].reshape(3, 3), data.xpos[b][:, None]]).flatten().tolist() for b in bodies]
        energy = 0.5 * data.qvel @ mass @ data.qvel
        keys.append({"name": "" if k < 0 else model.key(k).name, "poses": poses, "energy": energy, "ctrl": data.ctrl.tolist()})
    actuators = []
    for a in range(model.nu):
        kind, target = mj.mjtTrn(int(model.actuator_trntype[a])), model.actuator_trnid[a, 0]
        named = {mj.mjtTrn.mjTRN_JOINT: model.joint, mj.mjtTrn.mjTRN_TENDON: model.tendon, mj.mjtTrn.mjTRN_SITE: model.site}
        limited = lambda on, pair: pair[a].tolist() if on[a] else None
        actuators.append(
            {
                "name": model.actuator(a).name,
                "target": named[kind](target).name,
                "gear": model.actuator_gear[a, 0],
                "gain": model.actuator_gainprm[a, :3].tolist(),
                "affine": bool(model.actuator_gaintype[a] == mj.mjtGain.mjGAIN_AFFINE),
                "bias": model.actuator_biasprm[a, :3].tolist(),
                "biased": bool(model.actuator_biastype[a] == mj.mjtBias.mjBIAS_AFFINE),
                "lag": int(model.actuator_dyntype[a]),
                "seconds": model.actuator_dynprm[a, 0],
                "control": limited(model.actuator_ctrllimited, model.actuator_ctrlrange),
                "force": limited(model.actuator_forcelimited, model.actuator_forcerange),
            }
        )
    sensors = [model.sensor(i).name for i in range(model.nsensor)]
    return {"keys": keys, "actuators": actuators, "sensors": sensors}


def mujoco_acts(request):
    """Actuators, tendons and sensors at states, without constraints; and where a run ends."""
    import mujoco as mj

    model = mj.MjModel.from_xml_path(request["file"])
    data = mj.MjData(model)
    answers = []
    for state in request["states"]:
        mj.mj_resetData(model, data)
        T, drift = set_state(mj, model, data, state)
        data.ctrl[:] = state["ctrl"]
        # Activations stand where inputs do; others have none.
        for i in range(model.nu):
            if model.actuator_actadr[i] >= 0:
                data.act[model.actuator_actadr[i]] = state["inputs"][i]
        data.time = state["t"]
        model.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT)
        mj.mj_forward(model, data)
        answers.append(
            {
                "torques": (T.T @ data.qfrc_actuator).tolist(),
                "passive": (T.T @ (data.qfrc_spring + data.qfrc_damper + data.qfrc_gravcomp)).tolist(),
                "accelerations": np.linalg.solve(T, data.qacc - drift).tolist(),
                "actuators": np.array([data.actuator_length, data.actuator_velocity, data.actuator_force]).T.tolist(),
                "tendons": np.array([data.ten_length, data.ten_velocity]).T.tolist(),
                "rates": [float(data.act_dot[a]) if a >= 0 else 0.0 for a in model.actuator_actadr],
                "sensors": data.sensordata.tolist(),
            }
        )
    run = None
    if "run" in request:
        mj.mj_resetData(model, data)
        state = request["run"]
        set_state(mj, model, data, state)
        data.ctrl[:] = state["ctrl"]
        model.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT)
        model.opt.integrator = mj.mjtIntegrator.mjINT_RK4
        model.opt.timestep = state["step"]
        while data.time < state["seconds"] - 0.5 * state["step"]:
            mj.mj_step(model, data)
        run = data.qpos.tolist()
    return {"states": answers, "run": run}


def mujoco_limits(request):
    """Distances and Jacobians of joint limits that are near or passed."""
    import mujoco as mj

    model = mj.MjModel.from_xml_path(request["file"])
    data = mj.MjData(model)
    answers = []
    for state in request["states"]:
        mj.mj_resetData(model, data)
        T, _ = set_state(mj, model, data, state)
        mj.mj_forward(model, data)
        J = data.efc_J.reshape(-1, model.nv) @ T
        rows = [i for i in range(data.nefc) if data.efc_type[i] == mj.mjtConstraint.mjCNSTR_LIMIT_JOINT]
        answers.append([{"gap": data.efc_pos[i], "row": J[i].tolist()} for i in rows])
    return {"states": answers}


def mujoco_delays(request):
    """What actuators exert over time where controls rise in proportion to it, and between which lengths they work."""
    import mujoco as mj

    model = mj.MjModel.from_xml_path(request["file"])
    data = mj.MjData(model)
    forces = []
    for _ in range(request["steps"]):
        data.ctrl[:] = np.array(request["rates"]) * data.time
        mj.mj_forward(model, data)
        forces.append({"t": data.time, "forces": data.actuator_force.tolist()})
        mj.mj_step(model, data)
    return {"steps": forces, "ranges": model.actuator_lengthrange.tolist()}


def schema(request):
    import jsonschema

    validator = jsonschema.Draft202012Validator(request["schema"])
    return {"errors": [e.message for e in validator.iter_errors(request["document"])]}


def names(_request):
    """Every element of MJCF by its path, and its attributes."""
    import mujoco

    elements, path = [], []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        head, rest = line[:30].rstrip(), line[30:].split()
        if head:
            depth = (len(head) - len(head.lstrip())) // 3
            name = head.split("(")[0].strip() or "body"
            path = path[:depth] + (["worldbody", "body"] if head.strip().startswith("(world)body") else [name])
            elements.append((path[:], []))
            if path[-1] == "body":
                path = path[:depth] + ["worldbody"]
        if elements:
            elements[-1][1].extend(rest)
    return {"elements": elements}


def main():
    answers = {
        "where": where_robots_are,
        "pinocchio": pinocchio,
        "mujoco": mujoco,
        "drives": mujoco_drives,
        "acts": mujoco_acts,
        "limits": mujoco_limits,
        "delays": mujoco_delays,
        "drake": drake,
        "drake_order": drake_order,
        "expanded": expanded,
        "schema": schema,
        "names": names,
    }
    for line in sys.stdin:
        request = json.loads(line)
        try:
            result = answers[request["ask"]](request)
        except Exception:
            result = {"failure": traceback.format_exc()}
        # Python writes NaN and Infinity, which JSON has not.
        text = re.sub(r"-?\bInfinity\b|\bNaN\b", "null", json.dumps(result))
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


main()
