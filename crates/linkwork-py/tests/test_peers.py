"""The same robots in Pinocchio and MuJoCo, through `linkwork.compat`."""

import importlib
import os
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw

# Files of the package `example-robot-data`, and whether their base is free.
ROBOTS = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "talos": ("talos_data/robots/talos_reduced.urdf", True),
}
FEW = 20


def needed(name):
    """A library; where the tests have been given everything, its absence is a failure."""
    if os.environ.get("LINKWORK_PEERS"):
        return importlib.import_module(name)
    return pytest.importorskip(name)


def pinocchio(name):
    """A robot in both."""
    pin, cmeel = needed("pinocchio"), needed("cmeel")
    file, free = ROBOTS[name]
    prefix = Path(cmeel.__file__).parent.parent / "cmeel.prefix"
    path = prefix / "share/example-robot-data/robots" / file
    model = lw.load(path, ignore_couplings=True)
    if not free:
        return pin, pin.buildModelFromUrdf(str(path)), model
    return pin, pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()), model.with_floating_base()


@pytest.mark.parametrize("name", ROBOTS)
def test_dynamics_agree_with_pinocchio(name):
    from linkwork.compat.pinocchio import Coordinates

    pin, other, model = pinocchio(name)
    model = model.with_gravity(other.gravity.linear)
    there = Coordinates(model, other)
    data = other.createData()
    g = np.random.default_rng(1)
    q = model.random(1, count=FEW)
    other.armature[:] = there.v_map(q[0]) @ model.armature
    qd, tau = g.normal(size=(FEW, model.nv)), g.normal(size=(FEW, model.nv))
    q_there, v_there, tau_there = there.other_q(q), there.other_v(q, qd), there.other_tau(q, tau)
    np.testing.assert_allclose(model.distance(there.q(q_there), q) % (2 * np.pi), 0, atol=1e-6)
    np.testing.assert_allclose(there.v(q, v_there), qd, atol=1e-12)
    qdd, mass, inverse = model.forward_dynamics(q, qd, tau), model.mass_matrix(q), model.inverse_dynamics(q, qd, tau)
    for i in range(FEW):
        expected = there.v(q[i], pin.aba(other, data, q_there[i], v_there[i], tau_there[i]))
        np.testing.assert_allclose(qdd[i], expected, rtol=1e-7, atol=1e-7 * (1 + np.abs(expected).max()))
        upper = pin.crba(other, data, q_there[i])
        full = np.triu(upper) + np.triu(upper, 1).T
        np.testing.assert_allclose(mass[i], there.matrix(q[i], full), rtol=1e-9, atol=1e-9)
        expected = there.tau(q[i], pin.rnea(other, data, q_there[i], v_there[i], there.other_v(q[i], tau[i])))
        np.testing.assert_allclose(inverse[i], expected, rtol=1e-9, atol=1e-9 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("name", ["ur5", "anymal"])
def test_frames_agree_with_pinocchio(name):
    from linkwork.compat.pinocchio import Coordinates

    pin, other, model = pinocchio(name)
    there, data = Coordinates(model, other), other.createData()
    swap = [3, 4, 5, 0, 1, 2]
    q = model.random(2)
    q_there = there.other_q(q)
    pin.framesForwardKinematics(other, data, q_there)
    checked = 0
    for link in model.link_names:
        if not other.existFrame(link, pin.FrameType.BODY):
            continue
        frame = other.getFrameId(link, pin.FrameType.BODY)
        np.testing.assert_allclose(model.pose(q, link), data.oMf[frame].homogeneous, atol=1e-9)
        for word, reference in (("local", pin.LOCAL), ("aligned", pin.LOCAL_WORLD_ALIGNED), ("world", pin.WORLD)):
            jacobian = pin.computeFrameJacobian(other, data, q_there, frame, reference)
            np.testing.assert_allclose(model.jacobian(q, link, word), (jacobian @ there.v_map(q))[swap], atol=1e-9)
        checked += 1
    assert checked > 5


@pytest.mark.parametrize("name", ["arm7", "quadruped", "humanoid"])
def test_dynamics_agree_with_mujoco(name):
    mujoco = needed("mujoco")
    from linkwork.compat.mujoco import Coordinates

    text = lw.Model.example(name).text("mjcf")
    model = lw.read(text, "mjcf")
    other = mujoco.MjModel.from_xml_string(text)
    other.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    other.dof_damping[:] = 0
    other.jnt_stiffness[:] = 0
    other.dof_frictionloss[:] = 0
    there, data = Coordinates(model, other), mujoco.MjData(other)
    g = np.random.default_rng(2)
    q = model.random(1, count=FEW)
    qd, tau = g.normal(size=(FEW, model.nv)), g.normal(size=(FEW, model.nv))
    mass = model.mass_matrix(q)
    for i in range(FEW):
        data.qpos[:], data.qvel[:] = there.other_q(q[i]), there.other_v(q[i], qd[i])
        data.qfrc_applied[:] = there.other_tau(q[i], tau[i])
        mujoco.mj_forward(other, data)
        full = np.zeros((other.nv, other.nv))
        mujoco.mj_fullM(other, data, full)
        np.testing.assert_allclose(mass[i], there.matrix(q[i], full), rtol=1e-7, atol=1e-7)
        # Total torques, which do not depend on the axes that accelerations are taken in.
        bias = there.tau(q[i], data.qfrc_bias)
        if not any(model.joint(j)["kind"] == "free" for j in model.moving_joint_names):
            np.testing.assert_allclose(model.bias(q[i], qd[i]), bias, rtol=1e-7, atol=1e-7 * (1 + np.abs(bias).max()))
            qdd = there.v(q[i], data.qacc)
            got = model.forward_dynamics(q[i], qd[i], tau[i])
            np.testing.assert_allclose(got, qdd, rtol=1e-6, atol=1e-6 * (1 + np.abs(qdd).max()))


def test_other_robots_are_refused():
    pin = needed("pinocchio")
    from linkwork.compat.pinocchio import Coordinates

    arm, cart = lw.Model.example("arm7"), lw.Model.example("cart_pole")
    other = pin.buildModelFromXML(cart.text("urdf"))
    with pytest.raises(lw.Error, match="joint"):
        Coordinates(arm, other)
