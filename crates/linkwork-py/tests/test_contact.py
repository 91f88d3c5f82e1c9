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
    with pytest.raises(lw.Error, match="no constraints"):
        box.switch("rope", True)
    with pytest.raises(lw.Error, match="rope"):
        lw.Scene(four_bar).switch("rope", True)
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


def swing():
    """A ball on a rod of two links, whose end a rope ties to the world, above the ground."""
    rod = lw.Inertia.rod(1.0, [0.5, 0, 0])
    b = lw.Builder("swing").link("a", rod).link("b", rod)
    b = b.joint("one", "revolute", "world", "a", axis=[0, 1, 0], at=[0, 0, 0.5])
    b = b.joint("two", "revolute", "a", "b", axis=[0, 1, 0], at=[0.5, 0, 0])
    b = b.frame("end", "b", [0.5, 0, 0]).frame("post", "world", [0.7, 0, 0.5])
    return b.loop("tie", "point", "post", "end").build()


def test_loops_stay_closed_among_contacts(four_bar):
    m = swing()
    q = m.assemble([0.8, -1.6], held=())
    shapes = [lw.Shape.sphere("b", 0.05)]
    scene = lw.Scene(m, shapes=shapes, dt=2e-3)
    assert scene.loop_names == ["tie"] == m.loop_names
    qd = np.zeros(m.nv)
    for _ in range(50):
        step = scene.step(q, qd)
        q, qd = step.q, step.qd
    assert step.settled and step.loops.names == ["tie"] and step.loops.gaps[0] < 1e-6
    # Three bars that nothing can move carry themselves: the two ends share the weight.
    np.testing.assert_allclose(step.loops.on_a[0, 3:], -step.loops.on_b[0, 3:], atol=1e-9)
    assert 0.1 < step.loops.on_b[0, 5] < 2 * 9.81
    many = scene.rollout(np.tile(q, (5, 1)), np.zeros(m.nv), steps=20)
    assert (many.unsettled == 0).all() and np.abs(many.qd).max() < 1e-6
    # Cut, it falls to the ground, and not through it.
    scene.switch("tie", False)
    fall = scene.rollout(q, qd, steps=1000)
    heights = m.pose(fall.q, "b")[:, 2, 3]
    assert abs(heights.min() - 0.05) < 1e-3 and fall.deepest < 1e-3 and len(scene.step(q, qd).loops) == 0
    scene.switch("tie", True)
    scene.prescribe("tie", [0.0, 0, 0.05])
    for _ in range(500):
        step = scene.step(q, qd)
        q, qd = step.q, step.qd
    np.testing.assert_allclose(m.pose(q, "end")[:3, 3], [0.7, 0, 0.55], atol=1e-6)


def test_steps_with_loops_have_derivatives():
    rod = lw.Inertia.rod(1.0, [0.5, 0, 0])
    b = lw.Builder("walker").link("base", lw.Inertia.cuboid(2.0, [0.2, 0.2, 0.2])).link("a", rod).link("b", rod)
    b = b.joint("free", "free", "world", "base")
    b = b.joint("one", "spherical", "base", "a", at=[0.1, 0, 0]).joint("two", "revolute", "a", "b", axis=[0, 1, 0], at=[0.5, 0, 0])
    b = b.frame("end", "b", [0.5, 0, 0.1]).frame("side", "base", [0, 0.2, 0.1])
    m = b.loop("rope", "distance", "side", "end", length=0.4).loop("slot", "directions", "world", "end", shifts="y").build()
    scene = lw.Scene(m, shapes=[lw.Shape.sphere("base", 0.1)], gyroscopic=False, memory=False, dt=2e-3)
    g = np.random.default_rng(5)
    q = m.assemble(m.random(4))
    q[6] = 0.0999
    q = m.assemble(q, held=["free"])
    qd, tau = 0.1 * g.normal(size=m.nv), g.normal(size=m.nv)
    assert len(scene.contacts(q)) == 1
    d = scene.derivatives(q, qd, tau)
    dq, dqd, dtau, y = g.normal(size=(4, m.nv))
    plus, change = scene.jvp(q, qd, tau, dq, dqd, dtau)
    expected = d.by_q @ dq + d.by_qd @ dqd + d.by_tau @ dtau
    size = np.abs(expected).max()
    np.testing.assert_allclose(change, expected, atol=1e-7 * size)
    by_q, by_qd, by_tau = scene.vjp(q, qd, tau, y)
    np.testing.assert_allclose(y @ change, by_q @ dq + by_qd @ dqd + by_tau @ dtau, rtol=1e-6, atol=1e-7 * size)
    h = 1e-5
    ahead, behind = (scene.derivatives(q, qd + s * h * dqd, tau + s * h * dtau).qd for s in (1, -1))
    np.testing.assert_allclose(d.by_qd @ dqd + d.by_tau @ dtau, (ahead - behind) / (2 * h), atol=1e-4 * np.abs(d.by_qd).max())


def test_touching_is_kept_where_a_model_is_edited():
    text = """<mujoco><worldbody><geom type="plane" size="5 5 .1" friction="0.9"/>
      <body name="a" pos="0 0 .3"><joint type="slide" axis="0 0 1"/><geom type="sphere" size=".1" mass="1" friction="0.2"/>
      <body name="b" pos="0 0 .5"><joint type="slide" axis="0 0 1"/><geom type="sphere" size=".1" mass="1"/></body>
      <body name="c" pos="0 .5 0"><joint type="slide" axis="0 0 1"/><geom type="sphere" size=".1" mass="1"/></body></body></worldbody>
      <contact><exclude body1="b" body2="c"/></contact></mujoco>"""
    m = lw.read(text, "mjcf")
    before, after = lw.Scene(m), lw.Scene(m.with_gravity([0, 0, -1.62]))
    assert before.pair_count == after.pair_count and before.shape_names == after.shape_names
