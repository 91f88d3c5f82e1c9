"""Every quantity of the library's list, on models of every kind."""

import inspect

import numpy as np
import pytest
from conftest import NUMBERS, given

import linkwork as lw

LIST = lw.quantities()
OF_TREES = [q for q in LIST if not q["of_loops"]]
OF_LOOPS = [q for q in LIST if q["of_loops"]]
NAMES = [q["name"] for q in LIST]


def test_every_quantity_of_the_list_is_a_method_and_nothing_else_pretends_to_be():
    made = {n for n, f in vars(lw.Model).items() if inspect.ismethoddescriptor(f) and "\nSymbol: " in (f.__doc__ or "")}
    assert made == set(NAMES)
    assert len(NAMES) == len(set(NAMES)) > 40


@pytest.mark.parametrize("quantity", LIST, ids=NAMES)
def test_methods_take_what_the_list_says_and_explain_themselves(quantity):
    method = getattr(lw.Model, quantity["name"])
    parameters = list(inspect.signature(method).parameters)
    assert parameters == ["self", *quantity["inputs"], "out"]
    assert quantity["symbol"] in method.__doc__
    assert all(alias in method.__doc__ for alias in quantity["aliases"])
    owner = lw.Moving if "qd" in quantity["inputs"] else lw.State
    rest = [i for i in quantity["inputs"] if i not in ("q", "qd")]
    assert list(inspect.signature(getattr(owner, quantity["name"])).parameters) == ["self", *rest, "out"]


@pytest.mark.parametrize("name", ["arm7", "quadruped", "cart_pole"])
@pytest.mark.parametrize("quantity", OF_TREES, ids=[q["name"] for q in OF_TREES])
def test_one_state_a_batch_a_state_object_and_float32_agree(quantity, name):
    model = lw.Model.example(name)
    arguments = given(model, quantity, (3, 7), seed=4)
    method = getattr(model, quantity["name"])
    try:
        whole = method(*arguments)
    except lw.Error as refused:
        assert "chain" in str(refused) or "needs" in str(refused), refused
        pytest.skip(f"not of {name}: {refused}")
    dims = whole.shape[2:]
    assert len(dims) == len(quantity["shape"])
    for word, length in zip(quantity["shape"], dims):
        assert word not in ("nv", "links") or length == {"nv": model.nv, "links": len(model.link_names)}[word]
    scale = max(1.0, float(np.abs(whole).max(initial=0.0)))
    pick = [a[1, 4] if i in NUMBERS else a for i, a in zip(quantity["inputs"], arguments)]
    one = np.asarray(method(*pick))
    np.testing.assert_array_equal(one, whole[1, 4])
    # Of a state object, which shares work with others.
    state = model.at(pick[0])
    if "qd" in quantity["inputs"]:
        state = state.moving(pick[1])
    rest = [a for i, a in zip(quantity["inputs"], pick) if i not in ("q", "qd")]
    for _ in range(2):
        shared = np.asarray(getattr(state, quantity["name"])(*rest))
        np.testing.assert_allclose(shared, whole[1, 4], rtol=1e-9, atol=1e-9 * scale)
    single = method(*(a.astype(np.float32) if i in NUMBERS else a for i, a in zip(quantity["inputs"], arguments)))
    assert single.dtype == np.float32 and single.shape == whole.shape
    assert np.isfinite(single).all()
    # What cancels loses digits: the median tells that float32 is what was computed, not something else.
    assert np.median(np.abs(single - whole)) <= 2e-3 * scale


@pytest.mark.parametrize("quantity", OF_LOOPS, ids=[q["name"] for q in OF_LOOPS])
def test_quantities_of_loops_are_of_closed_models_alone(quantity, four_bar, arm):
    with pytest.raises(lw.Error, match="loops"):
        getattr(arm, quantity["name"])(*given(arm, quantity))
    arguments = given(four_bar, quantity, (5,))
    arguments[0] = np.tile(four_bar.assemble([0.1, 1.3, 0.2]), (5, 1))
    whole = getattr(four_bar, quantity["name"])(*arguments)
    one = getattr(four_bar, quantity["name"])(*(a[2] for a in arguments))
    np.testing.assert_allclose(one, whole[2], rtol=1e-12, atol=1e-12)


def test_forward_dynamics_inverts_inverse_dynamics(arm):
    g = np.random.default_rng(1)
    q, qd, tau = arm.random(1, count=300), g.normal(size=(300, 7)), g.normal(size=(300, 7))
    qdd = arm.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), tau, rtol=1e-9, atol=1e-9)
    mass = arm.mass_matrix(q)
    np.testing.assert_allclose(np.linalg.solve(mass, (tau - arm.bias(q, qd))[..., None])[..., 0], qdd, rtol=1e-8, atol=1e-8)


def test_derivatives_are_those_of_differences(arm):
    g = np.random.default_rng(2)
    q, qd, tau = arm.random(1), g.normal(size=7), g.normal(size=7)
    by_q, by_qd, h = arm.dqdd_dq(q, qd, tau), arm.dqdd_dqd(q, qd, tau), 1e-6
    for i, e in enumerate(np.eye(7) * h):
        there = arm.forward_dynamics(arm.integrate(q, e), qd, tau)
        back = arm.forward_dynamics(arm.integrate(q, -e), qd, tau)
        np.testing.assert_allclose(by_q[:, i], (there - back) / (2 * h), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(
            by_qd[:, i],
            (arm.forward_dynamics(q, qd + e, tau) - arm.forward_dynamics(q, qd - e, tau)) / (2 * h),
            rtol=1e-4,
            atol=1e-4,
        )


def test_hessians_times_a_change_are_differences_of_adjoints(arm):
    random, h = np.random.default_rng(2), 1e-6
    q, qd, qdd, x = arm.random(2), *random.normal(size=(3, arm.nv))
    change = random.normal(size=(3, arm.nv))

    def adjoint(step):
        dq, dqd, dqdd = step * change
        return arm.torque_adjoint(arm.integrate(q, dq), qd + dqd, qdd + dqdd, x)

    product = arm.torque_hessian_times(q, qd, qdd, x, change.ravel())
    differences = (adjoint(h) - adjoint(-h)) / (2 * h)
    np.testing.assert_allclose(product, differences, rtol=1e-7, atol=1e-7 * abs(product).max())
    matrices = arm.inverse_dynamics_second_derivatives(q, qd, qdd, change.ravel())
    np.testing.assert_allclose(product, np.swapaxes(matrices, 1, 2) @ x, rtol=1e-12, atol=1e-12 * abs(product).max())


def test_names_from_elsewhere_lead_to_the_right_name(arm):
    with pytest.raises(AttributeError, match="inverse_dynamics"):
        arm.rnea
    with pytest.raises(AttributeError, match="nonsense"):
        arm.nonsense
