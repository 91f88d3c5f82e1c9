"""Gradients through PyTorch and JAX, where they are installed."""

import os

import numpy as np
import pytest

import linkwork as lw


def needed(name):
    """A library; where everything must be there, its absence is a failure."""
    if os.environ.get("LINKWORK_ALL"):
        __import__(name)
    return pytest.importorskip(name)


def ball():
    """Joints of every kind that has a manifold of its own."""
    body = lw.Inertia.cuboid(1.0, [0.3, 0.2, 0.4]).seen_from([0.1, 0.05, -0.2])
    b = lw.Builder("toy").link("a", body).link("b", body).link("c", body).link("d", body)
    b.joint("float", "free", "world", "a").joint("ball", "spherical", "a", "b", at=[0, 0.2, 0])
    b.joint("table", "planar", "b", "c", at=[0.1, 0, 0]).joint("hinge", "revolute", "c", "d", axis=[0, 1, 0])
    return b.build()


MODELS = {"arm7": lambda: lw.Model.example("arm7"), "toy": ball}


def test_the_gradient_by_q_is_that_of_coordinates():
    """By differences of coordinates, quaternions brought back to unit length."""
    from linkwork import _gradients

    m, g = ball(), np.random.default_rng(1)
    q, qd, tau, y = m.random(1), g.normal(size=m.nv), g.normal(size=m.nv), g.normal(size=m.nv)
    by_q = _gradients.of_coordinates(m, q, m.acceleration_adjoint(q, qd, tau, y)[0])
    h = 1e-6
    for i in range(m.nq):
        e = h * np.eye(m.nq)[i]
        slope = y @ (m.forward_dynamics(q + e, qd, tau) - m.forward_dynamics(q - e, qd, tau)) / (2 * h)
        np.testing.assert_allclose(by_q[i], slope, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_steps_in_any_library_are_the_models_own(name):
    from linkwork import _gradients

    m, g = MODELS[name](), np.random.default_rng(2)
    q = m.random(1, count=30)
    step = g.normal(size=(30, m.nv)) * np.logspace(-6, 0, 30)[:, None]
    moved = _gradients.integrate(np, m, q, step)
    np.testing.assert_allclose(m.difference(m.integrate(q, step), moved), 0, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_torch_finds_the_same_gradients_by_differences(name):
    torch = needed("torch")
    import linkwork.torch as lt

    m, g = MODELS[name](), np.random.default_rng(3)

    def tensor(*shape):
        return torch.tensor(g.normal(size=shape), dtype=torch.float64, requires_grad=True)

    q = torch.tensor(m.random(1, count=3), requires_grad=True)
    qd, tau = tensor(3, m.nv), tensor(m.nv)
    check = torch.autograd.gradcheck
    assert check(lambda *x: lt.forward_dynamics(m, *x), (q, qd, tau), atol=1e-3, rtol=1e-4)
    assert check(lambda *x: lt.inverse_dynamics(m, *x), (q, qd, tau), atol=1e-3, rtol=1e-4)
    assert check(lambda x: lt.pose(m, x, m.link_names[-1]), (q,), atol=1e-5)
    assert check(lambda *x: lt.integrate(m, *x), (q, qd), atol=1e-5)
    assert check(lambda *x: lt.step(m, *x, 0.01), (q, qd, tau), atol=1e-4)
    torques = torch.tensor(g.normal(size=(3, 4, m.nv)), requires_grad=True)
    places, rates = lt.rollout(m, q, qd, torques, 1e-3)
    expected = m.rollout(q.detach().numpy(), qd.detach().numpy(), torques.detach().numpy(), dt=1e-3)
    np.testing.assert_allclose(rates.detach().numpy(), expected[1], rtol=1e-9, atol=1e-9)
    assert check(lambda x: lt.rollout(m, q, qd, x, 0.01)[1], (torques,), atol=1e-4)
    single = lt.forward_dynamics(m, *(x.detach().to(torch.float32) for x in (q, qd, tau)))
    assert single.dtype == torch.float32


@pytest.mark.parametrize("name", MODELS)
def test_jax_finds_the_same_gradients_by_differences(name):
    jax = needed("jax")
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from jax.test_util import check_grads

    import linkwork.jax as lj

    m, g = MODELS[name](), np.random.default_rng(3)
    q, qd, tau = m.random(1, count=3), g.normal(size=(3, m.nv)), g.normal(size=m.nv)

    def check(function, given, loose=1e-3):
        given = tuple(map(jnp.asarray, given))
        check_grads(function, given, order=1, modes=["rev"], atol=loose, rtol=loose)

    check(lambda *x: lj.forward_dynamics(m, *x), (q, qd, tau), 1e-2)
    check(lambda *x: lj.inverse_dynamics(m, *x), (q, qd, tau), 1e-2)
    check(lambda x: lj.pose(m, x, m.link_names[-1]), (q,))
    check(lambda *x: lj.step(m, *x, 0.01), (q, qd, tau))
    torques = g.normal(size=(3, 4, m.nv))
    expected = m.rollout(q, qd, torques, dt=1e-3)
    rates = jax.jit(lambda *x: lj.rollout(m, *x, 1e-3))(q, qd, torques)[1]
    np.testing.assert_allclose(rates, expected[1], rtol=1e-9, atol=1e-9)
    each = jax.vmap(lambda q, qd: lj.forward_dynamics(m, q, qd, tau))(jnp.asarray(q), jnp.asarray(qd))
    np.testing.assert_allclose(each, m.forward_dynamics(q, qd, tau), rtol=1e-12, atol=1e-12)
    slopes = jax.vmap(jax.grad(lambda q, qd: lj.forward_dynamics(m, q, qd, tau).sum()))(jnp.asarray(q), jnp.asarray(qd))
    whole = jax.grad(lambda q: lj.forward_dynamics(m, q, qd, tau).sum())(jnp.asarray(q))
    np.testing.assert_allclose(slopes, whole, rtol=1e-9, atol=1e-9)


def test_xla_calls_the_library_as_python_does():
    jax = needed("jax")
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    import linkwork.jax as lj

    if not lj.called_by_xla:
        pytest.skip("XLA's interface is another one")
    m, g = lw.Model.example("quadruped"), np.random.default_rng(3)
    for dtype in (np.float64, np.float32):
        q = jnp.asarray(m.random(1, count=200).reshape(4, 50, m.nq), dtype)
        qd, tau = (jnp.asarray(g.normal(size=(50, m.nv)), dtype) for _ in range(2))

        def loss(q, qd, tau):
            return (lj.forward_dynamics(m, q, qd, tau) ** 2).mean() + lj.pose(m, q, m.link_names[-1])[..., 2, 3].sum()

        results = []
        for direct in (True, False):
            lj.called_by_xla = direct
            try:
                results.append(jax.jit(jax.value_and_grad(lambda *x: loss(*x), argnums=(0, 1, 2)))(q, qd, tau))
            finally:
                lj.called_by_xla = True
        (value, slopes), (other, others) = results
        assert value.dtype == dtype and slopes[0].dtype == dtype
        close = 1e-12 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(value, other, rtol=close)
        for slope, same in zip(slopes, others):
            np.testing.assert_allclose(slope, same, rtol=close, atol=close * float(jnp.abs(same).max()))
    with pytest.raises(Exception, match="NaN"):
        jax.block_until_ready(lj.forward_dynamics(m, q.at[1, 2, 3].set(jnp.nan), qd, tau))
    with pytest.raises(Exception, match="last dimension"):
        lj.forward_dynamics(m, q[..., :3], qd, tau)
    assert lj.forward_dynamics(m, q[:0], qd, tau).shape == (0, 50, m.nv)


def test_nothing_optional_is_imported_by_the_package():
    import subprocess
    import sys

    code = "import sys, linkwork; assert not {'torch', 'jax', 'ray', 'matplotlib', 'scipy', 'pyarrow'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
