"""Many models of one tree, with a state of each."""

import pickle

import numpy as np
import pytest
from conftest import given

import linkwork as lw

TREES = [q for q in lw.quantities() if not q["of_loops"]]


def numbers(m, count, seed=0):
    """Something of everything that varies."""
    g = np.random.default_rng(seed)
    near = lambda name, spread: m.variation(name) * g.uniform(1 - spread, 1 + spread, (count, *m.variation(name).shape))
    return {
        "mass": near("mass", 0.3),
        "origin": near("origin", 0.1),
        "armature": g.uniform(0.01, 0.1, (count, m.nv)),
        "damping": g.uniform(0, 0.5, (count, m.nv)),
        "gravity": near("gravity", 0.2),
    }


@pytest.mark.parametrize("name", ["arm7", "quadruped"])
def test_every_quantity_is_that_of_each_model_by_itself(name):
    m = lw.Model.example(name)
    models = m.varied(**numbers(m, 5))
    each = [models[i] for i in range(5)]
    for quantity in TREES:
        arguments = given(m, quantity, (5,), seed=3)
        found = getattr(models, quantity["name"])(*arguments)
        of = lambda i: [a[i] if isinstance(a, np.ndarray) else a for a in arguments]
        wanted = np.array([getattr(each[i], quantity["name"])(*of(i)) for i in range(5)])
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8, err_msg=quantity["name"])


def test_a_model_has_the_numbers_that_were_given(arm):
    given = numbers(arm, 4)
    models = arm.varied(**given)
    assert models.shape == (4,) and len(models) == 4
    for i in range(4):
        one = models[i]
        for name in given:
            np.testing.assert_allclose(one.variation(name), given[name][i], rtol=1e-15)
        link = arm.link_names[2]
        old, new = arm.inertia(link), one.inertia(link)
        np.testing.assert_allclose(new.moments, np.array(old.moments) * given["mass"][i, 2] / old.mass, rtol=1e-12)


def test_inertial_parameters_are_those_of_the_regressor(arm):
    g = np.random.default_rng(2)
    parameters = arm.inertial_parameters() * g.uniform(0.98, 1.02, (3, 1))
    models = arm.varied(inertia=parameters)
    for i in range(3):
        np.testing.assert_allclose(models[i].inertial_parameters(), parameters[i], rtol=1e-12, atol=1e-14)
    with pytest.raises(lw.Error, match="one of the two"):
        arm.varied(inertia=parameters, mass=arm.variation("mass"))


def test_rollouts_are_those_of_each_model_with_its_damping(arm):
    given = numbers(arm, 6)
    models = arm.varied(**given)
    q, qd = arm.random(1, count=6), np.zeros((6, 7))
    q_all, qd_all = models.rollout(q, qd, dt=1e-3, steps=40)
    assert q_all.shape == (6, 40, 7)
    for i in range(6):
        one = models[i]
        place, rate = q[i], qd[i]
        for _ in range(40):
            rate = rate + 1e-3 * one.forward_dynamics(place, rate, -given["damping"][i] * rate)
            place = one.integrate(place, 1e-3 * rate)
        np.testing.assert_allclose(q_all[i, -1], place, rtol=1e-9, atol=1e-9)
    low = models.rollout(q.astype(np.float32), qd.astype(np.float32), dt=1e-3, steps=40)[0]
    assert low.dtype == np.float32
    np.testing.assert_allclose(low, q_all, atol=1e-3)


def test_rollouts_of_models_whose_joints_follow_others():
    rod = lw.Inertia.rod(1.0, [0.4, 0, 0])
    b = lw.Builder("gears").link("a", rod).link("b", rod).link("c", rod)
    b = b.joint("first", "revolute", "world", "a", axis=[0, 1, 0], damping=[0.2])
    b = b.joint("second", "revolute", "a", "b", axis=[0, 1, 0], at=[0.4, 0, 0], damping=[0.1])
    b = b.joint("third", "revolute", "b", "c", axis=[0, 1, 0], at=[0.4, 0, 0], damping=[0.3])
    m = b.couple("third", "second", [0.1, -0.5, 0.2]).build()
    assert m.is_coupled and m.nv == 2
    count = 40
    g = np.random.default_rng(3)
    masses = m.variation("mass") * g.uniform(0.5, 1.5, (count, 3))
    models = m.varied(mass=masses)
    q, qd, tau = g.normal(size=(count, 2)), g.normal(size=(count, 2)), g.normal(size=(count, 30, 2))
    q_all, qd_all = models.rollout(q, qd, tau, dt=2e-3)
    assert q_all.shape == (count, 30, 2)
    for i in (0, 17, 39):
        one = models[i]
        place, rate = q[i], qd[i]
        for k in range(30):
            # Of the follower: θ = 0.1 − 0.5y + 0.2y², and its damping acts through its slope.
            slope = -0.5 + 0.4 * place[1]
            resisted = np.array([0.2, 0.1 + slope**2 * 0.3]) * rate
            rate = rate + 2e-3 * one.forward_dynamics(place, rate, tau[i, k] - resisted)
            place = one.integrate(place, 2e-3 * rate)
        np.testing.assert_allclose(q_all[i, -1], place, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(qd_all[i, -1], rate, rtol=1e-9, atol=1e-9)
    low = models.rollout(q.astype(np.float32), qd.astype(np.float32), tau.astype(np.float32), dt=2e-3)[0]
    assert low.dtype == np.float32
    np.testing.assert_allclose(low, q_all, atol=1e-4)
    tau[7, 5, 1] = np.nan
    with pytest.raises(lw.Error) as caught:
        models.rollout(q, qd, tau, dt=2e-3)
    assert caught.value.index == 7 and caught.value.failed == 1
    kept = caught.value.result[0]
    np.testing.assert_array_equal(kept[[0, 8]], q_all[[0, 8]])
    assert np.isnan(kept[7, 5:]).all() and np.isfinite(kept[7, :5]).all()


def test_dimensions_broadcast_and_what_does_not_fit_is_told(arm):
    models = arm.varied(gravity=np.zeros((2, 3, 3)), damping=np.ones((3, 7)))
    assert models.shape == (2, 3)
    qdd = models.forward_dynamics(arm.random(1), np.ones((3, 7)), np.zeros(7))
    assert qdd.shape == (2, 3, 7)
    np.testing.assert_array_equal(qdd[0], qdd[1])
    out = np.empty((2, 3, 7, 7))
    assert models.mass_matrix(arm.random(1), out=out) is out
    with pytest.raises(lw.Error, match="one state each"):
        models.bias(arm.random(1, count=4), np.zeros(7))
    with pytest.raises(lw.Error, match="nothing that varies"):
        arm.varied(colour=3)
    with pytest.raises(lw.Error, match="last dimension"):
        arm.varied(mass=np.ones(3))
    with pytest.raises(lw.Error, match="nothing varies"):
        arm.varied()
    with pytest.raises(lw.Error, match="model 1 .*negative|model 1 .*mass"):
        arm.varied(mass=np.stack([arm.variation("mass"), -arm.variation("mass")]))
    with pytest.raises(IndexError):
        models[5, 0]
    with pytest.raises(IndexError):
        models[0]
    assert models[1, 2].nv == 7 and models[-1, -1].nv == 7


def test_models_are_pickled_and_states_that_fail_are_told(arm):
    models = pickle.loads(pickle.dumps(arm.varied(**numbers(arm, 3))))
    q = arm.random(1, count=3)
    q[1] = np.nan
    with pytest.raises(lw.Error) as told:
        models.mass_matrix(q)
    assert told.value.index == 1 and np.isnan(told.value.result[1]).all() and np.isfinite(told.value.result[[0, 2]]).all()
    assert "mass" in repr(models)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["mass", "inertia", "origin", "armature", "damping", "gravity"])
def test_numbers_that_make_no_model_are_refused(arm, name, bad):
    numbers = np.tile(arm.variation(name).ravel(), (3, 1))
    numbers[1, 0] = bad
    with pytest.raises(lw.Error, match="model 1"):
        arm.varied(**{name: numbers})


def test_threads_share_models(arm):
    from concurrent.futures import ThreadPoolExecutor

    models = arm.varied(**numbers(arm, 64))
    q, qd, tau = arm.random(1, count=64), np.ones((64, 7)), np.zeros((64, 7))
    wanted = models.forward_dynamics(q, qd, tau)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: models.forward_dynamics(q, qd, tau), range(40)):
            np.testing.assert_array_equal(found, wanted)
