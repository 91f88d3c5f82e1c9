"""Scenes: steps with contact, rollouts and derivatives."""

import threading

import numpy as np
import pytest

import linkwork as lw


def body(name="box"):
    b = lw.Builder(name).link("box", lw.Inertia.cuboid(2.0, [0.2, 0.2, 0.2]))
    return b.joint("free", "free", "world", "box").build()


def resting(height=0.1):
    return np.array([0, 0, 0, 1, 0, 0, height])


@pytest.fixture(scope="module")
def box():
    return lw.Scene(body(), shapes=[lw.Shape.box("box", [0.2, 0.2, 0.2])])


def test_a_box_rests_on_four_corners(box):
    q, qd = resting(), np.zeros(6)
    box.forget()
    for _ in range(100):
        step = box.step(q, qd)
        q, qd = step.q, step.qd
    assert step.settled and len(step.contacts) == 4 and np.abs(qd).max() < 1e-6
    np.testing.assert_allclose(step.contacts.forces.sum(axis=0), [0, 0, 2 * 9.81], atol=1e-3)
    np.testing.assert_allclose(step.contacts.normals, np.tile([0, 0, 1.0], (4, 1)))
    assert {n for pair in step.contacts.names for n in pair} == {"box of box", "ground"}
    assert box.contacts(q).points.shape == (4, 3)


@pytest.mark.parametrize("push,moves", [(0.9, False), (1.1, True)])
def test_it_slides_beyond_its_cone(box, push, moves):
    tau = np.zeros((200, 6))
    tau[:, 3] = push * 0.5 * 2 * 9.81
    gone = box.rollout(resting(), np.zeros(6), tau)
    assert gone.q.shape == (200, 7) and gone.unsettled == 0
    # ½at² with a = 0.1 μg after one second.
    assert gone.q[-1, 4] == pytest.approx(0.5 * 0.1 * 0.5 * 9.81 if moves else 0.0, abs=5e-3)


def test_worlds_are_rolled_each_by_itself(box):
    q = np.tile(resting(), (2, 6, 1))
    q[..., 6] += np.linspace(0, 0.5, 12).reshape(2, 6)
    many = box.rollout(q, np.zeros(6), steps=60)
    assert many.q.shape == (2, 6, 60, 7) and many.deepest.shape == (2, 6)
    one = box.rollout(q[1, 2], np.zeros(6), steps=60)
    np.testing.assert_array_equal(one.q, many.q[1, 2])
    box.forget()
    state = q[1, 2], np.zeros(6)
    for _ in range(60):
        step = box.step(*state)
        state = step.q, step.qd
    np.testing.assert_array_equal(state[0], one.q[-1])
    found = {}
    threads = [threading.Thread(target=lambda i=i: found.update({i: box.rollout(q, np.zeros(6), steps=60).q})) for i in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all((x == many.q).all() for x in found.values()) and len(found) == 3


def test_derivatives_agree_with_each_other_and_with_differences():
    scene = lw.Scene(body(), shapes=[lw.Shape.box("box", [0.2, 0.2, 0.2])], gyroscopic=False, memory=False)
    g = np.random.default_rng(2)
    q = np.stack([resting(0.0999), resting(0.0998), resting(0.5)])
    qd, tau = 0.05 * g.normal(size=(3, 6)), g.normal(size=(3, 6))
    d = scene.derivatives(q, qd, tau)
    assert d.by_q.shape == (3, 6, 6)
    dq, dqd, dtau, y = g.normal(size=(4, 3, 6))
    plus, change = scene.jvp(q, qd, tau, dq, dqd, dtau)
    times = lambda a, x: np.einsum("...ij,...j->...i", a, x)
    np.testing.assert_array_equal(plus, d.qd)
    np.testing.assert_allclose(change, times(d.by_q, dq) + times(d.by_qd, dqd) + times(d.by_tau, dtau), rtol=1e-7, atol=1e-9)
    by_q, by_qd, by_tau = scene.vjp(q, qd, tau, y)
    np.testing.assert_allclose((y * change).sum(-1), (by_q * dq + by_qd * dqd + by_tau * dtau).sum(-1), rtol=1e-7, atol=1e-9)
    h = 1e-6
    for i in range(3):
        for j in range(6):
            e = h * np.eye(6)[j]
            by_v = (scene.derivatives(q[i], qd[i] + e, tau[i]).qd - scene.derivatives(q[i], qd[i] - e, tau[i]).qd) / (2 * h)
            np.testing.assert_allclose(d.by_qd[i, :, j], by_v, atol=1e-4)
            e = 1e-3 * np.eye(6)[j]
            by_t = (scene.derivatives(q[i], qd[i], tau[i] + e).qd - scene.derivatives(q[i], qd[i], tau[i] - e).qd) / 2e-3
            np.testing.assert_allclose(d.by_tau[i, :, j], by_t, atol=1e-6)


def test_robots_from_files_bring_their_shapes():
    text = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
      <body name="cart" pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/>
      <body name="leg" pos="0 0 -.1"><joint type="hinge" axis="0 1 0"/><geom type="capsule" size=".03 .05" mass=".2" pos="0 0 -.1"/></body>
      </body></worldbody></mujoco>"""
    m = lw.read(text, "mjcf")
    scene = lw.Scene(m)
    assert len(scene.shape_names) == 3 and "ground" not in scene.shape_names
    down = scene.rollout(m.neutral(), np.zeros(m.nv), steps=400)
    assert down.unsettled == 0 and np.abs(down.qd[-1]).max() < 0.5 and down.q[-1].max() < 1.01


def test_scenes_that_are_wrong_are_refused(box, four_bar):
    with pytest.raises(lw.Error, match="loops"):
        lw.Scene(four_bar)
    with pytest.raises(lw.Error, match="law"):
        lw.Scene(body(), law="none")
    with pytest.raises(lw.Error, match="step"):
        lw.Scene(body(), dt=-1.0)
    with pytest.raises(lw.Error, match="nowhere"):
        lw.Scene(body(), shapes=[lw.Shape.sphere("nowhere", 0.1)])
    with pytest.raises(lw.Error):
        lw.Scene(body(), shapes=[lw.Shape.sphere("box", -0.1)])
    with pytest.raises(lw.Error, match="shape"):
        box.step(np.zeros(3), np.zeros(6))
    with pytest.raises(lw.Error, match="steps"):
        box.rollout(resting(), np.zeros(6))
    q = np.stack([resting(), resting()])
    q[1, 4] = np.nan
    with pytest.raises(lw.Error, match="world 1 of 2") as refused:
        box.rollout(q, np.zeros(6), steps=3)
    assert np.isnan(refused.value.result[0][1]).all() and np.isfinite(refused.value.result[0][0]).all()
    drum = lw.Scene(body(), shapes=[lw.Shape.cylinder("box", 0.1, 0.2)], gyroscopic=False)
    with pytest.raises(lw.Error, match="cylinder of box"):
        drum.derivatives(resting(), np.zeros(6))
    deep = box.settled(resting(0.08))
    assert deep[6] == pytest.approx(0.1, abs=1e-3)
