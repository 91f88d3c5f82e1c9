"""Sweeps into directories, by one process and by a cluster."""

import json
import os
import threading
import time

import numpy as np
import pytest

import linkwork as lw

pytest.importorskip("pyarrow")
from linkwork.sweep import Given, Random, read, rollouts, sweep  # noqa: E402

WHAT = ["forward_dynamics", "mass_matrix", "potential_energy"]


def test_a_sweep_has_the_values_of_plain_calls(arm, tmp_path):
    report = sweep(arm, Random(1000, seed=3), what=WHAT, out=tmp_path, chunk=300)
    assert (report.chunks, report.computed, report.failed_states) == (4, 4, 0)
    rows = read(tmp_path)
    assert rows["state"].tolist() == list(range(1000))
    np.testing.assert_array_equal(rows["q"], arm.random(3, count=1000))
    np.testing.assert_array_equal(rows["forward_dynamics"], arm.forward_dynamics(rows["q"], rows["qd"], rows["tau"]))
    np.testing.assert_array_equal(rows["mass_matrix"].reshape(-1, 7, 7), arm.mass_matrix(rows["q"]))
    assert sweep(arm, Random(1000, seed=3), what=WHAT, out=tmp_path, chunk=300).computed == 0


def test_chunks_do_not_depend_on_who_computes_them(arm, tmp_path):
    sweep(arm, Random(500, seed=1), what=WHAT, out=tmp_path / "a", chunk=64)
    for i in range(3):
        sweep(arm, Random(500, seed=1), what=WHAT, out=tmp_path / "b", chunk=64, only=range(i, 100, 3))
    names = sorted(os.listdir(tmp_path / "a"))
    assert names == sorted(os.listdir(tmp_path / "b")) and len(names) == 9
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_missing_parts_are_told_and_computed_again(arm, tmp_path):
    sweep(arm, Random(200), what=WHAT, out=tmp_path, chunk=50)
    (tmp_path / "part-00002.parquet").unlink()
    with pytest.raises(lw.Error, match="part-00002"):
        read(tmp_path)
    assert sweep(arm, Random(200), what=WHAT, out=tmp_path, chunk=50).computed == 1
    with pytest.raises(lw.Error, match="another sweep"):
        sweep(arm, Random(201), what=WHAT, out=tmp_path, chunk=50)


def test_states_that_fail_are_named_and_the_rest_is_kept(arm, tmp_path):
    q = arm.random(1, count=100)
    q[37] = np.nan
    report = sweep(arm, Given({"q": q}), what=["mass_matrix"], out=tmp_path, chunk=25)
    assert report.failed_states == 1
    assert list(json.loads((tmp_path / "failed-00001.json").read_text())) == ["37"]
    rows = read(tmp_path)["mass_matrix"]
    assert np.isnan(rows[37]).all() and np.isfinite(np.delete(rows, 37, 0)).all()


def test_rollouts_have_the_values_of_plain_ones(arm, tmp_path):
    report = rollouts(arm, Random(50, seed=2), dt=1e-3, steps=30, every=10, out=tmp_path / "a", chunk=16)
    assert (report.chunks, report.computed, report.failed_states) == (4, 4, 0)
    rows = read(tmp_path / "a")
    tau = np.repeat(rows["tau"][:, None], 30, axis=1)
    q, qd = arm.rollout(rows["q"], rows["qd"], tau, dt=1e-3)
    np.testing.assert_allclose(rows["q_path"].reshape(50, 3, 7), q[:, 9::10], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows["qd_path"].reshape(50, 3, 7), qd[:, 9::10], rtol=1e-9, atol=1e-9)
    for i in range(2):
        rollouts(arm, Random(50, seed=2), dt=1e-3, steps=30, every=10, out=tmp_path / "b", chunk=16, only=range(i, 99, 2))
    for name in sorted(os.listdir(tmp_path / "a")):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    q = arm.random(1, count=9)
    q[4] = np.nan
    bad = Given({"q": q, "qd": np.zeros((9, 7)), "tau": np.zeros((9, 7))})
    assert rollouts(arm, bad, dt=1e-3, steps=4, every=2, out=tmp_path / "c").failed_states == 1
    paths = read(tmp_path / "c")["q_path"]
    assert np.isnan(paths[4]).all() and np.isfinite(np.delete(paths, 4, 0)).all()
    with pytest.raises(lw.Error, match="multiple"):
        rollouts(arm, bad, dt=1e-3, steps=5, every=2, out=tmp_path / "d")
    with pytest.raises(lw.Error, match="method"):
        rollouts(arm, bad, dt=1e-3, steps=4, every=2, method="x", out=tmp_path / "d")


def test_sweeps_that_make_no_sense_are_refused(arm, tmp_path):
    for what, more, message in [
        (["mass"], {}, "no quantity"),
        (["jacobian"], {}, "needs frame"),
        (WHAT, {"chunk": 0}, "chunk"),
    ]:
        with pytest.raises(lw.Error, match=message):
            sweep(arm, Random(10), what=what, out=tmp_path, **more)
    with pytest.raises(lw.Error, match="needs qd"):
        sweep(arm, Given({"q": arm.random(1, count=3)}), what=["bias"], out=tmp_path)
    with pytest.raises(lw.Error, match="no states"):
        sweep(arm, Random(0), what=WHAT, out=tmp_path)


def test_a_cluster_that_loses_a_node_loses_nothing(tmp_path):
    if os.environ.get("LINKWORK_ALL"):
        import ray
    else:
        ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    import linkwork.ray

    m = lw.Model.example("humanoid")
    states = Random(6000, seed=2)
    sweep(m, states, what=WHAT, out=tmp_path / "one", chunk=100)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        seen = []
        stopped = threading.Event()

        def kill():
            while len(seen) < 3:
                time.sleep(0.01)
            # Chunks are running: some are done, most are not.
            cluster.remove_node(nodes[1], allow_graceful=False)
            stopped.set()

        thread = threading.Thread(target=kill)
        thread.start()
        report = linkwork.ray.sweep(
            m, states, what=WHAT, out=tmp_path / "many", chunk=100, progress=lambda done, of: seen.append(done)
        )
        thread.join()
        assert stopped.is_set() and report.computed == 60
        assert linkwork.ray.sweep(m, states, what=WHAT, out=tmp_path / "many", chunk=100).computed == 0
    finally:
        ray.shutdown()
        cluster.shutdown()
    one, many = read(tmp_path / "one"), read(tmp_path / "many")
    assert many["state"].tolist() == list(range(6000))
    for name in one:
        np.testing.assert_array_equal(one[name], many[name])
