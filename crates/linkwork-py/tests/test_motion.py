"""Configurations, rollouts, simulation, linear models, controllers."""

import numpy as np
import pytest

import linkwork as lw


@pytest.mark.parametrize("name", ["arm7", "quadruped"])
def test_steps_and_differences_are_each_others_inverse(name):
    m = lw.Model.example(name)
    q0, q1 = m.random(1, count=20), m.random(50, count=20)
    step = m.difference(q0, q1)
    np.testing.assert_allclose(m.distance(m.integrate(q0, step), q1), 0, atol=1e-12)
    np.testing.assert_allclose(m.distance(m.interpolate(q0, q1, 1.0), q1), 0, atol=1e-12)
    half = m.interpolate(q0[0], q1[0], [0.0, 0.5])
    assert half.shape == (2, m.nq)
    np.testing.assert_allclose(half[0], q0[0], atol=1e-15)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_rollout_is_step_after_step(arm, kind):
    g = np.random.default_rng(1)
    q, qd = arm.random(1, count=40).astype(kind), np.zeros((40, 7), kind)
    tau = g.normal(size=(40, 25, 7)).astype(kind)
    places, rates = arm.rollout(q, qd, tau, dt=1e-3)
    assert places.shape == (40, 25, 7) and places.dtype == kind
    for k in range(25):
        qdd = arm.forward_dynamics(q, qd, tau[:, k])
        q, qd = q + kind(1e-3) * (qd + kind(1e-3) * qdd), qd + kind(1e-3) * qdd
        loose = 1e-9 if kind == np.float64 else 2e-2
        np.testing.assert_allclose(rates[:, k], qd, rtol=loose, atol=loose)


def test_rollouts_that_are_wrong_are_refused(arm):
    q = arm.random(1, count=3)
    with pytest.raises(lw.Error, match="steps"):
        arm.rollout(q, np.zeros(7), dt=1e-3)
    with pytest.raises(lw.Error, match="steps"):
        arm.rollout(q, np.zeros(7), np.zeros((3, 5, 7)), dt=1e-3, steps=4)
    with pytest.raises(lw.Error, match="method"):
        arm.rollout(q, np.zeros(7), dt=1e-3, steps=2, method="guess")
    with pytest.raises(lw.Error):
        arm.rollout(q, np.zeros(7), dt=-1.0, steps=2)
    q[1, 0] = np.nan
    with pytest.raises(lw.Error) as refused:
        arm.rollout(q, np.zeros(7), dt=1e-3, steps=2)
    assert np.isnan(refused.value.result[0][1]).all() and np.isfinite(refused.value.result[0][[0, 2]]).all()


@pytest.mark.parametrize("integrator", ["runge_kutta4", "implicit_midpoint", "adaptive", "semi_implicit_euler"])
def test_energy_is_kept_without_resistance(integrator):
    m = lw.Model.example("double_pendulum")
    swing = m.simulate([1.5, 0.2], seconds=1.0, integrator=integrator, resist=False)
    assert swing.t[-1] == pytest.approx(1.0) and len(swing) == 1001
    assert np.ptp(swing.energy) < (0.2 if integrator == "semi_implicit_euler" else 1e-4)


def test_a_function_drives_and_what_it_raises_is_raised():
    m = lw.Model.example("pendulum")
    held = m.simulate([0.7], seconds=0.2, drive=lambda t, q, qd: m.gravity_torque(q), resist=False)
    np.testing.assert_allclose(held.q, 0.7, atol=1e-12)
    with pytest.raises(ZeroDivisionError):
        m.simulate([0.7], seconds=0.2, drive=lambda t, q, qd: 1 / 0)
    with pytest.raises(lw.Error, match="2 torques"):
        m.simulate([0.7], seconds=0.2, drive=lambda t, q, qd: [1.0, 2.0])
    with pytest.raises(lw.Error, match="finite"):
        m.simulate([0.7], seconds=0.2, drive=lambda t, q, qd: [np.nan])
    with pytest.raises(TypeError):
        m.simulate([0.7], seconds=0.2, drive=3)


def test_controllers_reach_their_goals(arm):
    goal = 0.3 * np.ones(7)
    free = arm.lock({})
    mass = np.diag(free.mass_matrix(goal))
    for controller in (
        lw.Controller.computed_torque(free, goal, 64.0, 16.0),
        lw.Controller.joint_pd(free, goal, 64.0 * mass, 16.0 * mass),
    ):
        path = free.simulate(np.zeros(7), seconds=3.0, dt=2e-3, drive=controller)
        assert np.abs(path.q[-1] - goal).max() < 0.05
    rest = free.simulate(np.zeros(7), np.full(7, 0.4), seconds=2.0, dt=2e-3, drive=lw.Controller.rate_damping(free, 4.0))
    assert np.abs(rest.qd[-1]).max() < 1e-2
    with pytest.raises(lw.Error, match="kp"):
        lw.Controller.joint_pd(free, goal, -1.0, 1.0)


def test_a_regulator_keeps_a_pole_upright():
    m = lw.Model.example("cart_pole")
    regulator = lw.Controller.lqr(m, m.neutral(), driven=["rail"], effort=0.1)
    path = m.simulate([0.0, 0.2], seconds=6.0, drive=regulator)
    assert np.abs(path.q[-1]).max() < 0.05


def test_linear_models_are_the_derivatives_of_steps():
    m = lw.Model.example("cart_pole")
    q, qd, tau = np.array([0.1, 0.4]), np.array([0.2, -0.3]), np.array([0.5, 0.1])
    continuous = m.linearize(q, qd, tau)
    np.testing.assert_allclose(continuous.a[2:, :2], m.dqdd_dq(q, qd, tau + 0 * qd), rtol=1e-6, atol=1e-6)
    step = m.linearize(q, qd, tau, step=1e-3)
    assert step.step == 1e-3 and continuous.step is None
    np.testing.assert_allclose(step.a, continuous.sampled(1e-3).a, atol=1e-4)
    assert continuous.controllable_states() == 4
    driven = m.linearize(m.neutral()).driven_by(["rail"])
    gain = driven.lqr(np.ones(4), np.ones(1))
    assert gain.shape == (1, 4) and (driven.with_feedback(gain).poles().real < 0).all()
    np.testing.assert_allclose(
        np.sort_complex(driven.poles()), np.sort_complex(np.linalg.eigvals(driven.a)), atol=1e-9
    )
    with pytest.raises(lw.Error, match="gain"):
        driven.with_feedback(gain.T)
    with pytest.raises(lw.Error, match="tau"):
        m.linearize(q, qd)


def test_closed_mechanisms_stay_closed(four_bar):
    q = four_bar.assemble([0.1, 1.3, 0.2], held=["left"])
    assert q[0] == pytest.approx(0.1)
    np.testing.assert_allclose(four_bar.constraint_gaps(q), 0, atol=1e-9)
    path = four_bar.simulate(q, seconds=0.5, resist=False)
    gaps = np.abs(four_bar.constraint_gaps(path.q)).max()
    assert gaps < 1e-9 and np.ptp(path.energy) < 1e-4 and np.abs(path.q[-1] - q).max() > 0.1


def test_trajectories_are_saved(tmp_path):
    m = lw.Model.example("double_pendulum")
    path = m.simulate([1.0, 0.0], seconds=0.05)
    path.save(tmp_path / "x.csv")
    path.save(tmp_path / "x.npz")
    rows = np.genfromtxt(tmp_path / "x.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(rows["t"], path.t)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npz")["q"], path.q)
    assert list(path.columns())[:2] == ["t", f"q.{m.joint_names[0]}"]
    with pytest.raises(lw.Error, match="format"):
        path.save(tmp_path / "x.doc")
