"""Shapes, strides, types and everything that can be wrong with an array."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import linkwork as lw

ARM = lw.Model.example("arm7")
DOG = lw.Model.example("quadruped")
TYPES = [np.float64, np.float32, np.int64, np.int32, np.float16, np.bool_, ">f8", "<f4", np.longdouble]


def reference(model, q, qd, tau):
    """State by state."""
    batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1], tau.shape[:-1])
    q, qd, tau = (np.broadcast_to(x, (*batch, x.shape[-1])).astype(np.float64) for x in (q, qd, tau))
    out = np.empty((*batch, model.nv))
    for i in np.ndindex(*batch):
        out[i] = model.forward_dynamics(q[i].copy(), qd[i].copy(), tau[i].copy())
    return out


shapes = st.lists(st.integers(1, 4), max_size=3).map(tuple)


@given(shapes, st.data())
def test_leading_dimensions_broadcast(batch, data):
    def some():
        cut = data.draw(st.integers(0, len(batch)))
        return tuple(1 if data.draw(st.booleans()) else n for n in batch[cut:])

    g = np.random.default_rng(3)
    q = DOG.random(5, count=int(np.prod(shape := some(), dtype=int))).reshape(*shape, DOG.nq)
    qd, tau = g.normal(size=(*some(), DOG.nv)), g.normal(size=(*some(), DOG.nv))
    result = DOG.forward_dynamics(q, qd, tau)
    expected = reference(DOG, q, qd, tau)
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result, expected)


@given(st.sampled_from(TYPES), st.integers(1, 6), st.booleans())
def test_types_are_converted_and_float32_is_kept(kind, count, listed):
    q = (np.arange(7 * count).reshape(count, 7) % 3).astype(kind)
    result = ARM.gravity_torque(q.tolist() if listed else q)
    expected = ARM.gravity_torque(q.astype(np.float64))
    keeps = np.dtype(kind) == np.float32 and not listed
    assert result.dtype == (np.float32 if keeps else np.float64)
    np.testing.assert_allclose(result, expected, rtol=1e-4 if keeps else 0, atol=1e-4 if keeps else 0)


@given(st.sampled_from(["reversed", "skipping", "fortran", "inside", "unaligned", "read-only", "broadcast", "subclass"]), st.integers(1, 40))
def test_any_layout_of_memory_gives_the_same_bits(layout, count):
    q = ARM.random(2, count=count)
    if layout == "reversed":
        given = q[::-1].copy()[::-1]
    elif layout == "skipping":
        given = np.repeat(q, 2, axis=0)[::2]
    elif layout == "fortran":
        given = np.asfortranarray(q)
    elif layout == "inside":
        wide = np.zeros((count, 11))
        wide[:, 2:9] = q
        given = wide[:, 2:9]
    elif layout == "unaligned":
        raw = np.zeros(q.nbytes + 1, np.uint8)
        given = raw[1:].view(np.float64).reshape(q.shape)
        given[...] = q
        assert not given.flags.aligned
    elif layout == "read-only":
        given = q.copy()
        given.flags.writeable = False
    elif layout == "broadcast":
        q = np.tile(q[0], (count, 1))
        given = np.broadcast_to(q[0], q.shape)
    else:
        given = q.view(np.matrix)
        given = np.asarray(given)
    np.testing.assert_array_equal(ARM.mass_matrix(given), ARM.mass_matrix(q))
    one = given[0]
    np.testing.assert_array_equal(ARM.mass_matrix(one), ARM.mass_matrix(q)[0])


@pytest.mark.parametrize("count", [0, 1, 3, 4, 200])
def test_out_takes_the_result_whatever_its_layout(count):
    q = ARM.random(2, count=count)
    expected = ARM.mass_matrix(q)
    plain = np.empty((count, 7, 7))
    assert ARM.mass_matrix(q, out=plain) is plain
    np.testing.assert_array_equal(plain, expected)
    strided = np.full((count, 7, 14), 8.0)
    view = strided[:, :, ::2]
    assert ARM.mass_matrix(q, out=view) is view
    np.testing.assert_array_equal(view, expected)
    assert (strided[:, :, 1::2] == 8.0).all()
    single = np.empty((7, 7))
    if count:
        assert ARM.mass_matrix(q[0], out=single) is single
        np.testing.assert_array_equal(single, expected[0])


@pytest.mark.parametrize("count", [None, 2, 5, 100])
def test_out_may_share_memory_with_what_is_given(count):
    g = np.random.default_rng(4)
    shape = (7,) if count is None else (count, 7)
    q, qd, tau = g.normal(size=shape), g.normal(size=shape), g.normal(size=shape)
    expected = ARM.forward_dynamics(q, qd, tau)
    assert ARM.forward_dynamics(q, qd, tau, out=tau) is tau
    np.testing.assert_array_equal(tau, expected)
    flat = np.zeros(2 * np.prod(shape) - 3)
    given, out = flat[: np.prod(shape)].reshape(shape), flat[np.prod(shape) - 3 :].reshape(shape)
    given[...] = qd
    held = given.copy()
    ARM.forward_dynamics(q, given, held, out=out)
    np.testing.assert_array_equal(out, ARM.forward_dynamics(q, held, held))


def test_numbers_come_as_floats_and_arrays_of_no_dimensions_take_them():
    q = ARM.random(1)
    energy = ARM.potential_energy(q)
    assert type(energy) is float
    out = np.empty(())
    assert ARM.potential_energy(q, out=out) is out
    assert out == energy
    assert ARM.potential_energy(q[None]).shape == (1,)


WRONG = [
    (np.zeros(6), lw.Error, "nq = 7"),
    (np.zeros((2, 8)), lw.Error, "nq = 7"),
    (np.zeros((7, 1)), lw.Error, "nq = 7"),
    (3.0, lw.Error, "nq = 7"),
    ("q", TypeError, "real numbers"),
    (None, TypeError, "real numbers"),
    (np.zeros(7, complex), TypeError, "real numbers"),
    (np.array([None] * 7), TypeError, "real numbers"),
    ([[1.0] * 7, [1.0] * 6], lw.Error, "not an array"),
    (np.zeros(7, "datetime64[s]"), TypeError, "real numbers"),
    (object(), TypeError, "real numbers"),
]


@pytest.mark.parametrize("q, kind, message", WRONG)
def test_wrong_arrays_are_refused_with_their_name(q, kind, message):
    with pytest.raises(kind, match=message) as refused:
        ARM.mass_matrix(q)
    assert "q " in str(refused.value)
    with pytest.raises(kind):
        ARM.at(q)


@given(st.sampled_from([np.nan, np.inf, -np.inf, 1e300]), st.sampled_from(["q", "qd", "tau"]), st.sampled_from([None, 1, 3, 4, 50]))
def test_numbers_that_are_none_are_refused_and_spoil_no_other_state(bad, where, count):
    g = np.random.default_rng(5)
    shape = (7,) if count is None else (count, 7)
    given = {name: g.normal(size=shape) for name in ("q", "qd", "tau")}
    good = ARM.forward_dynamics(*given.values())
    spot = (3,) if count is None else (count // 2, 3)
    given[where][spot] = bad
    with pytest.raises(lw.Error) as refused:
        ARM.forward_dynamics(*given.values())
    if bad != 1e300 or count is None:
        assert where in str(refused.value)
    if count is not None:
        assert refused.value.index == count // 2
        rest = np.arange(count) != count // 2
        np.testing.assert_array_equal(refused.value.result[rest], good[rest])
        assert np.isnan(refused.value.result[~rest]).all()


def test_wrong_results_arrays_are_refused():
    q = ARM.random(1, count=10)
    fixed = np.empty((10, 7, 7))
    fixed.flags.writeable = False
    for out, kind in [
        (np.empty((10, 7, 6)), lw.Error),
        (np.empty((7, 7)), lw.Error),
        (np.empty((10, 7, 7), np.float32), TypeError),
        (fixed, lw.Error),
        ([1.0], TypeError),
        ("out", TypeError),
    ]:
        with pytest.raises(kind, match="out"):
            ARM.mass_matrix(q, out=out)


def test_names_are_checked():
    q = ARM.random(1)
    with pytest.raises(lw.Error, match="did you mean"):
        ARM.jacobian(q, "flnge")
    with pytest.raises(lw.Error, match="reference"):
        ARM.jacobian(q, "flange", "sideways")
    with pytest.raises(lw.Error, match="frame must be a name"):
        ARM.jacobian(q, 3)
    with pytest.raises(TypeError):
        ARM.jacobian(q)
    with pytest.raises(lw.Error, match="do not fit together"):
        ARM.forward_dynamics(np.zeros((2, 7)), np.zeros((3, 7)), np.zeros(7))


def test_quaternions_must_have_unit_length():
    q = DOG.random(1, count=9)
    q[4, DOG.q_slice(DOG.moving_joint_names[0])][:4] *= 2
    with pytest.raises(lw.Error, match="normalise") as refused:
        DOG.mass_matrix(q)
    assert refused.value.index == 4


@given(st.integers(-(2**70), 2**70), st.text(max_size=5), st.lists(st.floats(), max_size=9))
def test_nothing_that_is_passed_ends_the_interpreter(number, text, numbers):
    for method in (ARM.mass_matrix, ARM.random, ARM.q_slice, lw.set_threads, lw.derive, ARM.lock, lw.load, ARM.extract):
        for value in (number, text, numbers, None, {text: number}, [text], b"x", np.zeros((0, 7)), np.float32(1)):
            if method is lw.set_threads and isinstance(value, int) and 0 < value < 5000:
                continue
            try:
                method(value)
            except Exception:
                pass
    lw.set_threads(None)


def test_more_than_there_is_memory_for_is_an_error(arm):
    with pytest.raises((ValueError, MemoryError)):
        arm.random(1, count=1 << 60)
    with pytest.raises(lw.Error, match="negative"):
        arm.rollout(arm.random(1), np.zeros(7), dt=1e-3, steps=-1)
