"""Expressions of the operator algebra."""

import pickle

import numpy as np
import pytest

import linkwork as lw


def test_an_expression_is_the_algorithm_that_it_says(arm):
    q, f = arm.random(1), np.arange(6.0)
    pushed = lw.derive("inv(Mass) J^* f")
    expected = np.linalg.solve(arm.mass_matrix(q), arm.jacobian(q, "flange", "aligned").T @ f)
    np.testing.assert_allclose(pushed(arm, q, frames=["flange"], f=f), expected, rtol=1e-8, atol=1e-8)
    many = arm.random(1, count=64)
    together = pushed(arm, many, frames=[("flange", "aligned")], f=f)
    np.testing.assert_allclose(together[0], expected, rtol=1e-8, atol=1e-8)
    for i in (0, 20, 63):
        np.testing.assert_allclose(together[i], pushed(arm, many[i], frames=["flange"], f=f), rtol=1e-12)


def test_forward_dynamics_is_an_expression(arm):
    g = np.random.default_rng(1)
    q, qd, tau = arm.random(1, count=9), g.normal(size=(9, 7)), g.normal(size=7)
    derived = lw.derive("inv(Mass) (T - C)")(arm, q, qd=qd, T=tau)
    np.testing.assert_allclose(derived, arm.forward_dynamics(q, qd, tau), rtol=1e-8, atol=1e-8)


def test_operators_are_matrices_that_are_not_formed(arm):
    q, x = arm.random(2), np.arange(7.0)
    mass = lw.derive("Mass")(arm, q)
    assert mass.shape == (7, 7)
    np.testing.assert_allclose(mass.to_dense(), arm.mass_matrix(q), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mass @ x, arm.mass_times(q, x), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(mass @ np.eye(7), mass.to_dense(), rtol=1e-9, atol=1e-9)
    jacobian = lw.derive("J")(arm, q, frames=[("flange", "local")])
    np.testing.assert_allclose(jacobian.to_dense(), arm.jacobian(q, "flange"), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(jacobian.T.to_dense(), jacobian.to_dense().T, rtol=1e-9, atol=1e-9)


def test_operators_serve_iterative_solvers(arm):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    q = arm.random(2)
    solved, info = linalg.cg(lw.derive("Mass")(arm, q).as_linear_operator(), np.ones(7), rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(solved, np.linalg.solve(arm.mass_matrix(q), np.ones(7)), rtol=1e-6, atol=1e-6)


def test_expressions_explain_themselves_and_their_mistakes(arm):
    e = lw.derive("inv(Mass) T")
    assert "sweep 2, outward" in e.explain() and e.cost["sweeps"] == 2 and e.laws()
    assert e.inputs == {"T": "joint"} and e.is_vector and e.range == "joint"
    assert pickle.loads(pickle.dumps(e)).text == e.text
    assert e.written("latex") and "$" in e._repr_latex_()
    with pytest.raises(lw.Error, match="link space"):
        lw.derive("phi H")
    with pytest.raises(lw.Error, match="no vector `S`"):
        e(arm, arm.random(1), S=np.zeros(7))
    with pytest.raises(lw.Error, match="needed"):
        e(arm, arm.random(1))
    with pytest.raises(lw.Error, match="last dimension"):
        e(arm, arm.random(1), T=np.zeros(6))
    with pytest.raises(lw.Error, match="only operators"):
        e.T
    with pytest.raises(lw.Error, match="frame"):
        lw.derive("J")(arm, arm.random(1))
