"""Constraints of any kind between frames: known answers."""

import pickle

import numpy as np
import pytest

import linkwork as lw

G = 9.81


def ball(*loops, gravity=(0, 0, -G), radius=0.1):
    """A ball that is free but for constraints."""
    b = lw.Builder("ball", gravity=gravity).link("ball", lw.Inertia.sphere(2.0, radius)).joint("free", "free", "world", "ball")
    for arguments, more in loops:
        b = b.loop(*arguments, **more)
    return b.build()


def at(x, y, z):
    return [0, 0, 0, 1, x, y, z]


def test_a_floor_holds_one_way():
    m = ball((("floor", "directions", "world", "ball"), {"shifts": "z", "side": "at_least"}))
    fall = m.simulate(at(0, 0, 0.5), seconds=1.0, dt=1e-3)
    hit = np.sqrt(2 * 0.5 / G)
    before, after = fall.t < hit - 2e-3, fall.t > hit + 2e-3
    np.testing.assert_allclose(fall.q[before, 6], 0.5 - G / 2 * fall.t[before] ** 2, atol=1e-9)
    assert np.abs(fall.q[after, 6]).max() < 1e-6 and np.abs(fall.qd[after]).max() < 1e-6
    up = m.simulate(at(0, 0, 0), [0, 0, 0, 0, 0, 1.0], seconds=0.1)
    np.testing.assert_allclose(up.q[-1, 6], 0.1 - G / 2 * 0.01, atol=1e-9)


def test_a_rope_holds_the_other_way():
    m = ball((("rope", "distance", "world", "ball"), {"length": 1.0, "side": "at_most"}))
    fall = m.simulate(at(0, 0, -0.5), seconds=2.0)
    length = np.linalg.norm(fall.q[:, 4:], axis=-1)
    assert length.max() < 1 + 1e-6 and abs(length[-1] - 1) < 1e-6


def test_a_ball_rolls_down_a_slope_as_galilei_would_have_it():
    slope = 0.3
    m = ball((("table", "rolling", "world", "ball"), {"radius": 0.1}), gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    roll = m.simulate(at(0, 0, 0.1), seconds=1.0)
    np.testing.assert_allclose(roll.q[-1, 4], 5 / 7 * G * np.sin(slope) / 2, rtol=1e-6)
    np.testing.assert_allclose(roll.q[:, 6], 0.1, atol=1e-9)
    # [ω; v] in the ball's own axes: its lowest point rests.
    spin = np.linalg.norm(roll.qd[:, :3], axis=-1)
    np.testing.assert_allclose(spin * 0.1, np.linalg.norm(roll.qd[:, 3:], axis=-1), atol=1e-8)


def test_a_blade_does_not_slip_sideways():
    m = ball(
        (("ice", "directions", "world", "ball"), {"turns": "xy", "shifts": "z"}),
        (("blade", "rates", "world", "ball"), {"shifts": "y"}),
    )
    slide = m.simulate(at(0, 0, 0), [0, 0, 0.7, 1.0, 0, 0], seconds=3.0)
    assert np.abs(slide.qd[:, 4]).max() < 1e-8
    # Constant speed and turning: a circle of radius v/ω.
    np.testing.assert_allclose(slide.qd[-1, [2, 3]], [0.7, 1.0], atol=1e-8)
    centre = np.array([0, 1.0 / 0.7])
    np.testing.assert_allclose(np.linalg.norm(slide.q[:, 4:6] - centre, axis=-1), 1.0 / 0.7, atol=1e-5)


def test_what_is_prescribed_is_followed_and_what_is_switched_off_falls():
    m = ball((("hand", "point", "world", "ball"), {}))

    def hand(t):
        s, c = np.sin(3 * t), np.cos(3 * t)
        return [0.2 * s, 0, 0], [0, 0, 0, 0.6 * c, 0, 0], [0, 0, 0, -1.8 * s, 0, 0]

    start = [0, 0, 0, 0.6, 0, 0]
    moved = m.simulate(at(0, 0, 0), start, seconds=2.0, prescribed={"hand": hand}, switched={"hand": [(1.0, False)]})
    held = moved.t <= 1.0
    np.testing.assert_allclose(moved.q[held, 4], 0.2 * np.sin(3 * moved.t[held]), atol=1e-6)
    np.testing.assert_allclose(moved.q[held, 6], 0, atol=1e-6)
    np.testing.assert_allclose(moved.q[-1, 6], -G / 2, atol=0.02)
    caught = m.simulate(at(0, 0, 0), seconds=1.0, switched={"hand": [(0.0, False), (0.5, "grasp")]})
    np.testing.assert_allclose(caught.q[-1, 6], -G / 2 * 0.25, atol=0.01)


def test_constraints_are_pickled_and_saved(tmp_path):
    m = ball(
        (("floor", "directions", "world", "ball"), {"shifts": "z", "side": "at_least"}),
        (("table", "rolling", "world", "ball"), {"radius": 0.1, "normal": [0, 0.6, 0.8]}),
    )
    again = pickle.loads(pickle.dumps(m))
    assert again.text() == m.text() and again.loop_count == 2
    m.save(tmp_path / "ball.json")
    assert lw.load(tmp_path / "ball.json").text() == m.text()


def test_what_makes_no_sense_is_told():
    for arguments, more, message in [
        (("a", "directions", "world", "ball"), {}, "hold nothing"),
        (("a", "directions", "world", "ball"), {"shifts": "w"}, "letters of axes"),
        (("a", "weld", "world", "ball"), {"shifts": "x"}, "leave them out"),
        (("a", "rolling", "world", "ball"), {}, "radius"),
        (("a", "sticky", "world", "ball"), {}, "not a kind"),
        (("a", "distance", "world", "ball"), {"length": 1.0, "side": "left"}, "at_least"),
        (("a", "weld", "world", "ball"), {"side": "at_most"}, "row|one-sided|one side"),
    ]:
        with pytest.raises(lw.Error, match=message):
            ball((arguments, more))
    m = ball((("hand", "point", "world", "ball"), {}))
    with pytest.raises(lw.Error, match="foot"):
        m.simulate(at(0, 0, 0), seconds=0.1, switched={"foot": [(0.0, False)]})
    with pytest.raises(lw.Error, match="grasp"):
        m.simulate(at(0, 0, 0), seconds=0.1, switched={"hand": [(0.0, "maybe")]})
    with pytest.raises(ZeroDivisionError):
        m.simulate(at(0, 0, 0), seconds=0.1, prescribed={"hand": lambda t: 1 / 0})
    with pytest.raises(lw.Error, match="pose"):
        m.simulate(at(0, 0, 0), seconds=0.1, prescribed={"hand": lambda t: [1, 2]})
    with pytest.raises(lw.Error, match="no constraints"):
        lw.Model.example("arm7").simulate(np.zeros(7), seconds=0.1, switched={"hand": [(0.0, True)]})


def test_quantities_follow_constraints_that_are_switched():
    m = ball(
        (("rope", "point", "world", "ball"), {}),
        (("floor", "directions", "world", "ball"), {"shifts": "z"}),
    )
    q, still = at(0, 0, 0), np.zeros(6)
    push = np.array([0, 0, 0, 1.0, 0, 0])
    np.testing.assert_allclose(m.closed_forward_dynamics(q, still, push), 0, atol=1e-9)
    cut = m.with_switched({"rope": False})
    assert (m.loop_names, cut.loop_names, cut.switched_off) == (["rope", "floor"], ["rope", "floor"], ["rope"])
    np.testing.assert_allclose(cut.closed_forward_dynamics(q, still, push), [0, 0, 0, 0.5, 0, 0], atol=1e-9)
    free = cut.with_switched({"floor": False})
    np.testing.assert_allclose(free.closed_forward_dynamics(q, still, push), [0, 0, 0, 0.5, 0, -G], atol=1e-9)
    again = free.with_switched({"rope": True, "floor": True})
    np.testing.assert_allclose(again.closed_forward_dynamics(q, still, push), 0, atol=1e-9)
    many = cut.closed_forward_dynamics(np.tile(q, (9, 1)), still, push)
    np.testing.assert_allclose(many, np.tile([0, 0, 0, 0.5, 0, 0], (9, 1)), atol=1e-9)
    restored = pickle.loads(pickle.dumps(cut))
    assert restored.switched_off == ["rope"]
    np.testing.assert_allclose(restored.closed_forward_dynamics(q, still, push), [0, 0, 0, 0.5, 0, 0], atol=1e-9)
    assert cut.with_gravity([0, 0, 0]).switched_off == ["rope"]
    fall = free.simulate(q, seconds=0.1)
    np.testing.assert_allclose(fall.q[-1, 6], -G / 2 * 0.01, atol=1e-9)
    with pytest.raises(lw.Error, match="rop"):
        m.with_switched({"rop": False})
    with pytest.raises(lw.Error, match="no constraints"):
        lw.Model.example("arm7").with_switched({"rope": False})
