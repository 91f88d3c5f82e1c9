"""Inverse kinematics and trajectories."""

import pickle

import numpy as np
import pytest

import linkwork as lw


def test_answers_have_the_shape_of_targets_and_starts(arm):
    targets = arm.pose(arm.random(1, count=12), "flange").reshape(3, 4, 4, 4)
    found = arm.inverse_kinematics(lw.Task.pose("flange", targets), 0.5 * np.ones(7))
    assert found.q.shape == (3, 4, 7) and found.reached.shape == (3, 4) and found.angles.shape == (3, 4, 1)
    assert found.reached.all() and "12 of 12" in repr(found)
    np.testing.assert_allclose(arm.pose(found.q, "flange"), targets, atol=1e-7)
    one = arm.inverse_kinematics(lw.Task.pose("flange", targets[1, 2]), 0.5 * np.ones(7))
    assert one.q.shape == (7,) and one.reached.shape == ()
    np.testing.assert_array_equal(one.q, found.q[1, 2])
    starts = arm.random(30, count=4)
    each = arm.inverse_kinematics(lw.Task.pose("flange", targets[:, :1]), starts)
    assert each.q.shape == (3, 4, 7)
    assert arm.inverse_kinematics(lw.Task.position("flange", np.zeros((0, 3)))).q.shape == (0, 7)


def test_levels_and_relative_frames():
    m = lw.Model.example("dual_arm")
    there = np.linspace(-0.3, 0.5, m.nq)
    left, right = m.pose(there, "left_link7"), m.pose(there, "right_link7")
    apart = (np.linalg.inv(left) @ right)[:3, 3]
    found = m.inverse_kinematics(
        [
            lw.Task.position("left_link7", left[:3, 3]),
            lw.Task.position("right_link7", apart, relative_to="left_link7"),
            lw.Task.posture(np.full(m.nq, 0.2), level=1, preferred=True),
        ],
        np.full(m.nq, 0.3),
    )
    assert found.reached and found.distances[:2].max() < 1e-8 and found.angles[2] > 1e-3
    left, right = m.pose(found.q, "left_link7"), m.pose(found.q, "right_link7")
    np.testing.assert_allclose((np.linalg.inv(left) @ right)[:3, 3], apart, atol=1e-8)
    # Both cannot be met: the first level is, the second gets what is left.
    here = left[:3, 3]
    both = [lw.Task.position("left_link7", here), lw.Task.position("left_link7", here + 0.1, level=1)]
    found = m.inverse_kinematics(both, np.full(m.nq, 0.3), restarts=0)
    assert not found.reached and found.distances[0] < 1e-6 and found.distances[1] == pytest.approx(0.1 * 3**0.5, rel=1e-3)
    assert "contradict" in found.message


def test_shapes_are_kept_clear_of_each_other(arm):
    there = np.array([0.0, 0.6, 0.0, -1.5, 0.0, 0.9, 0.0])
    hand, elbow = arm.pose(there, "flange"), arm.pose(there, "link4")[:3, 3]
    at = np.eye(4)
    at[:3, 3] = elbow + [0.0, 0.06, 0.0]
    shapes = [lw.Shape.sphere("link4", 0.04), lw.Shape.sphere("world", 0.04, at=at)]
    scene = lw.Scene(arm, shapes=shapes, ground=None)
    tasks = [lw.Task.pose("flange", hand), lw.Task.clear(0.02)]
    found = arm.inverse_kinematics(tasks, there, scene=scene)
    assert found.reached, found.message
    np.testing.assert_allclose(arm.pose(found.q, "flange"), hand, atol=1e-7)
    gap = np.linalg.norm(arm.pose(found.q, "link4")[:3, 3] - at[:3, 3]) - 0.08
    assert gap > 0.02 - 1e-8
    with pytest.raises(lw.Error, match="give them by `scene`"):
        arm.inverse_kinematics(tasks, there)
    with pytest.raises(lw.Error, match="another model"):
        lw.Model.example("arm7").inverse_kinematics(tasks, there, scene=scene)


def test_velocities_of_tasks_keep_to_limits(arm):
    q = arm.random(5, count=6)
    task = lw.Task.position("flange", np.zeros(3)).moving([0, 0, 0, 0.05, 0, 0])
    v = arm.task_velocity(q, task, gain=0.0, damping=1e-9)
    assert v.shape == (6, 7)
    speed = np.einsum("nij,nj->ni", arm.jacobian(q, "flange", "aligned"), v)
    np.testing.assert_allclose(speed[:, 3:], np.tile([0.05, 0, 0], (6, 1)), atol=1e-6)
    far = arm.task_velocity(q, lw.Task.position("flange", [9.0, 0, 0]), gain=1e3)
    assert (np.abs(far) <= np.array(arm.velocity_limit) + 1e-9).all()
    with pytest.raises(lw.Error, match="velocity has shape"):
        lw.Task.position("flange", np.zeros(3)).moving([1, 2])


def test_every_kind_of_task_is_met(arm):
    there = arm.pose(arm.random(4), "flange")
    for task, error in (
        (lw.Task.orientation("flange", there[:3, :3]), lambda t: t[:3, :3] - there[:3, :3]),
        (lw.Task.direction("flange", [0, 0, 2.0], [0, 1.0, 0]), lambda t: t[:3, 2] - [0, 1.0, 0]),
        (lw.Task.distance("flange", "world", 0.6), lambda t: np.linalg.norm(t[:3, 3]) - 0.6),
        (lw.Task.distance("flange", "world", 0.5, side="at_most"), lambda t: max(np.linalg.norm(t[:3, 3]) - 0.5, 0)),
        (lw.Task.position("flange", [0.4, 0, 0.4], axis_weights=[1, 0, 1]), lambda t: t[[0, 2], 3] - 0.4),
    ):
        found = arm.inverse_kinematics(task, 0.3 * np.ones(7))
        assert found.reached, found.message
        np.testing.assert_allclose(error(arm.pose(found.q, "flange")), 0, atol=1e-7)
    com = arm.com(arm.random(4))
    found = arm.inverse_kinematics(lw.Task.centre_of_mass(com), 0.3 * np.ones(7))
    np.testing.assert_allclose(arm.com(found.q), com, atol=1e-8)


def test_what_cannot_be_reached_is_told(arm):
    far = arm.inverse_kinematics(lw.Task.position("flange", [[0.4, 0.1, 0.5], [7.0, 0, 0]]), restarts=3)
    assert far.reached.tolist() == [True, False]
    assert "not reachable" in far.messages[1] and far.distances[1, 0] > 1
    bent = arm.inverse_kinematics(lw.Task.posture(arm.upper + 1.0), restarts=0)
    assert not bent.reached and {(j, side) for j, _, side in bent.limits[()]} == {(j, "upper") for j in arm.moving_joint_names}


def test_loops_are_closed(four_bar):
    start = four_bar.assemble([0.1, 1.3, 0.2], held=["left"])
    there = four_bar.pose(four_bar.assemble([0.4, 1.1, 0.4], held=["left"]), "end of top")[:3, 3]
    found = four_bar.inverse_kinematics(lw.Task.position("end of top", there), start)
    assert found.reached and found.closure < 1e-9
    np.testing.assert_allclose(four_bar.constraint_gaps(found.q), 0, atol=1e-9)


def test_wrong_goals_are_refused(arm):
    for task, words in (
        (lw.Task.position("flange", [1.0, 2.0]), "position.*shape"),
        (lw.Task.position("flange", [1.0, 2.0, np.nan]), "not finite"),
        (lw.Task.position("nowhere", [1.0, 2.0, 0]), "nowhere"),
        (lw.Task.pose("flange", np.ones((4, 4))), "last row"),
        (lw.Task.pose("flange", 2 * np.eye(4) - np.diag([0, 0, 0, 1])), "unit length"),
        (lw.Task.position("flange", [0, 0, 0], weight=-1.0), "weight"),
        ([], "no tasks"),
        (lw.Task.posture(np.zeros(7), preferred=True), "goal"),
    ):
        with pytest.raises(lw.Error, match=words):
            arm.inverse_kinematics(task)
    with pytest.raises(lw.Error, match="fit together"):
        arm.inverse_kinematics(lw.Task.position("flange", np.zeros((3, 3))), np.zeros((4, 7)))
    with pytest.raises(lw.Error, match="side"):
        lw.Task.distance("flange", "world", 1.0, side="left")
    with pytest.raises(TypeError):
        arm.inverse_kinematics(["flange"])


COURSES = {
    "minimum jerk": lambda m, w: lw.Trajectory.minimum_jerk(m, w[0], w[-1], 2.0),
    "cubic": lambda m, w: lw.Trajectory.cubic_spline(m, [0.0, 1.0, 2.0], w),
    "quintic": lambda m, w: lw.Trajectory.quintic_spline(m, [0.0, 1.0, 2.0], w),
    "blends": lambda m, w: lw.Trajectory.linear_with_blends(m, [0.0, 1.0, 2.0], w, 0.2),
    "parabolic": lambda m, w: lw.Trajectory.linear_with_blends(m, [0.0, 1.0, 2.0], w, 0.2, shape="parabolic"),
}


@pytest.mark.parametrize("name", COURSES)
@pytest.mark.parametrize("robot", ["arm7", "quadruped"])
def test_velocities_and_accelerations_are_derivatives(name, robot):
    m = lw.Model.example(robot)
    w = m.random(1, count=3)
    w[1:] = m.integrate(w[0], 0.3 * np.random.default_rng(0).normal(size=(2, m.nv)))
    course = COURSES[name](m, w)
    assert course.duration == pytest.approx(2.0)
    ends = course.at([0.0, 2.0])
    np.testing.assert_allclose(m.distance(ends[0], w[[0, -1]]), 0, atol=1e-9)
    np.testing.assert_allclose(ends[1], 0, atol=1e-9)
    t, h = np.linspace(0.03, 1.97, 29).reshape(1, 29), 1e-5
    q, qd, qdd = course.at(t)
    assert q.shape == (1, 29, m.nq) and qd.shape == (1, 29, m.nv)
    before, after = course.at(t - h), course.at(t + h)
    scale = 1 + np.abs(qdd).max()
    np.testing.assert_allclose(m.difference(before[0], after[0]) / (2 * h), qd, atol=1e-4 * scale)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), qdd, atol=1e-3 * scale)


def test_courses_are_joined_stretched_and_pickled(arm):
    a, b, c = arm.random(1, count=3) * 0.3
    one, two = lw.Trajectory.minimum_jerk(arm, a, b, 1.0), lw.Trajectory.minimum_jerk(arm, b, c, 2.0)
    both = one.then(two).stretched(2.0).shifted(5.0)
    assert (both.start_time, both.end_time) == (5.0, 11.0) and len(both.times) == 3
    np.testing.assert_allclose(both.at(7.0)[0], b, atol=1e-12)
    again = pickle.loads(pickle.dumps(both))
    np.testing.assert_array_equal(again.at(6.3)[0], both.at(6.3)[0])
    with pytest.raises(lw.Error, match="start"):
        two.then(two)
    with pytest.raises(lw.Error, match="waypoints"):
        lw.Trajectory.cubic_spline(arm, [0.0, 1.0], np.zeros((2, 3)))
    with pytest.raises(lw.Error, match="rising"):
        lw.Trajectory.cubic_spline(arm, [1.0, 1.0], np.zeros((2, 7)))
    with pytest.raises(lw.Error, match="finite"):
        one.at(np.nan)


def test_the_fastest_course_takes_a_limit_and_breaks_none(arm):
    w = np.array([np.zeros(7), [0.4, 0.8, 0.0, -0.5, 0.2, 0.6, 0.0], np.full(7, 0.9)])
    fast = lw.Trajectory.fastest(arm, w, velocity=2.0, acceleration=10.0)
    q, qd, qdd = fast.at(fast.sample_times(500))
    assert np.abs(qd).max() < 2.02 and np.abs(qdd).max() < 10.2
    used = fast.limit_use(velocity=2.0, acceleration=10.0)
    assert 0.98 < used["share"] < 1.01 and used["joint"] in arm.joint_names
    assert min(np.abs(q - w[1]).max(axis=1)) < 0.02


def test_a_frame_is_led_through_poses(arm):
    start = np.array([0.2, 0.5, 0.1, -1.2, 0.1, 0.6, 0.0])
    first = arm.pose(start, "flange")
    poses = np.stack([first, first, first])
    poses[1, :3, 3] += [0.05, 0.0, 0.02]
    poses[2, :3, 3] += [0.1, 0.05, 0.0]
    course = lw.Trajectory.along_poses(arm, "flange", poses, start, times=[0.0, 1.0, 2.0], tolerance=1e-5)
    np.testing.assert_allclose(arm.pose(course.at([0.0, 1.0, 2.0])[0], "flange"), poses, atol=2e-5)
    fast = lw.Trajectory.along_poses(arm, "flange", poses, start, tolerance=1e-4, velocity=1.0, acceleration=5.0)
    assert fast.duration < 2.0 and np.abs(fast.at(fast.sample_times())[1]).max() < 1.02


def test_controllers_follow_a_course(arm, tmp_path):
    course = lw.Trajectory.minimum_jerk(arm, np.zeros(7), np.full(7, 0.4), 1.0)
    for drive in (lw.Controller.tracking(course, 100.0, 20.0), lw.Controller.tracking_lqr(course, weights=[1e3] * 7 + [1.0] * 7, effort=1e-2)):
        path = arm.simulate(np.full(7, 0.02), seconds=1.5, drive=drive)
        assert np.abs(path.q[-1] - 0.4).max() < 5e-3
    exact = arm.simulate(np.zeros(7), seconds=1.0, drive=lw.Controller.tracking(course, 100.0, 20.0))
    wanted = course.sampled(1000)
    np.testing.assert_allclose(exact.q, wanted.q, atol=1e-5)
    np.testing.assert_allclose(exact.tau[1:-1], wanted.tau[1:-1], atol=1e-2 * np.abs(wanted.tau).max())
    heavy = arm.with_gravity([0, 0, -12.0])
    carried = heavy.simulate(np.zeros(7), seconds=1.0, drive=lw.Controller.tracking(course, 400.0, 40.0, plant=heavy))
    assert 1e-4 < np.abs(carried.q[-1] - 0.4).max() < 0.2
    course.save(tmp_path / "x.csv", rate=100)
    assert len(np.genfromtxt(tmp_path / "x.csv", delimiter=",", names=True)) == 101
