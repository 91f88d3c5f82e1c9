"""Sweeps into directories, by one process and by a cluster."""

import json
import os
import subprocess
import sysconfig
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw

pytest.importorskip("pyarrow")
from linkwork.sweep import Given, Random, read, rollouts, sweep  # noqa: E402

PROGRAM = Path(sysconfig.get_path("scripts")) / "linkwork"
WHAT = ["forward_dynamics", "mass_matrix", "potential_energy"]


def test_a_sweep_has_the_values_of_plain_calls(arm, tmp_path):
    report = sweep(arm, Random(1000, seed=3), what=WHAT, out=tmp_path, chunk=300)
    assert (report.chunks, report.computed, report.failed_states) == (4, 4, 0)
    rows = read(tmp_path)
    assert rows["state"].tolist() == list(range(1000))
    drawn = Random(1000, seed=3).draw(arm, 0, 1000)
    np.testing.assert_array_equal(rows["q"], drawn["q"])
    assert (rows["q"] >= arm.lower).all() and (rows["q"] <= arm.upper).all()
    np.testing.assert_array_equal(rows["forward_dynamics"], arm.forward_dynamics(rows["q"], rows["qd"], rows["tau"]))
    assert rows["mass_matrix"].shape == (1000, 7, 7) and rows["potential_energy"].shape == (1000,)
    np.testing.assert_array_equal(rows["mass_matrix"], arm.mass_matrix(rows["q"]))
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
    np.testing.assert_allclose(rows["q_path"], q[:, 9::10], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows["qd_path"], qd[:, 9::10], rtol=1e-9, atol=1e-9)
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
        ([], {}, "nothing is asked"),
        (["jacobian"], {"frame": "nowhere"}, "nowhere"),
        (WHAT, {"side": "left"}, "side"),
    ]:
        with pytest.raises(lw.Error, match=message):
            sweep(arm, Random(10), what=what, out=tmp_path, **more)
    with pytest.raises(lw.Error, match="needs qd"):
        sweep(arm, Given({"q": arm.random(1, count=3)}), what=["bias"], out=tmp_path)
    with pytest.raises(lw.Error, match="no states"):
        sweep(arm, Random(0), what=WHAT, out=tmp_path)
    with pytest.raises(lw.Error, match="neither an input"):
        sweep(arm, Given({"q": arm.random(1, count=3), "v": np.zeros((3, 7))}), what=["bias"], out=tmp_path)
    with pytest.raises(lw.Error, match="has shape"):
        sweep(arm, Given({"q": arm.random(1, count=3), "qd": np.zeros((2, 7))}), what=["bias"], out=tmp_path)
    for vary, message in [({"colour": 0.1}, "nothing that varies"), ({"mass": 1.5}, "part from 0"), ({"inertia": 0.1}, "vary the mass")]:
        with pytest.raises(lw.Error, match=message):
            sweep(arm, Random(3, vary=vary), what=["bias"], out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_random_states_are_what_they_are_said_to_be(arm):
    drawn = Random(20000, seed=5, velocity=2.0, torque=30.0, vary={"mass": 0.2, "gravity": 0.1}).draw(arm, 0, 20000)
    for name, deviation in (("qd", 2.0), ("qdd", 2.0), ("tau", 30.0), ("x", 1.0)):
        x = drawn[name] / deviation
        assert abs(x.mean()) < 0.01 and abs(x.std() - 1) < 0.01 and abs((x**4).mean() - 3) < 0.1
        assert abs(np.corrcoef(x.T) - np.eye(7)).max() < 0.04
    spread = drawn["mass"] / arm.variation("mass")
    assert 0.8 <= spread.min() < 0.801 and 1.199 < spread.max() <= 1.2 and abs(spread.mean() - 1) < 0.005
    # A part of them is the same part, and other seeds share nothing with this one.
    part = Random(20000, seed=5, velocity=2.0, torque=30.0, vary={"mass": 0.2, "gravity": 0.1}).draw(arm, 137, 10)
    for name in drawn:
        np.testing.assert_array_equal(part[name], drawn[name][137:147])
    other = Random(20000, seed=6).draw(arm, 0, 20000)
    assert not np.isin(other["q"][:, 0], drawn["q"][:, 0]).any()


def program(*arguments, code=0):
    done = subprocess.run([PROGRAM, "sweep", *map(str, arguments)], capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == code, done.stderr
    return done


def same(a, b):
    """Directories with the same files, byte for byte."""
    names = sorted(os.listdir(a))
    assert names == sorted(os.listdir(b)) and "manifest.json" in names
    for name in names:
        assert (a / name).read_bytes() == (b / name).read_bytes(), name


def test_the_program_writes_the_same_directories(arm, tmp_path):
    vary = {"mass": 0.2, "damping": 0.5}
    sweep(arm, Random(500, seed=7, vary=vary), what=[*WHAT, "jacobian"], frame="flange", out=tmp_path / "a", chunk=64)
    for i in range(3):
        more = ["--vary", "mass=0.2,damping=0.5", "--frame", "flange", "--size", 64, "--chunk", f"{i}/3"]
        program("arm7", *WHAT, "jacobian", "--random", 500, "--seed", 7, "--out", tmp_path / "b", *more)
    same(tmp_path / "a", tmp_path / "b")
    rows = read(tmp_path / "b")
    models = arm.varied(mass=rows["mass"], damping=rows["damping"])
    np.testing.assert_array_equal(rows["forward_dynamics"], models.forward_dynamics(rows["q"], rows["qd"], rows["tau"]))
    # Each goes on where the other stopped, and finds nothing to do when all is there.
    (tmp_path / "b" / "part-00002.parquet").unlink()
    again = sweep(arm, Random(500, seed=7, vary=vary), what=[*WHAT, "jacobian"], frame="flange", out=tmp_path / "b", chunk=64)
    assert again.computed == 1
    more = ["--vary", "mass=0.2,damping=0.5", "--frame", "flange", "--size", 64]
    assert "0 of 8 chunks computed now, 8 there" in program("arm7", *WHAT, "jacobian", "--random", 500, "--seed", 7, "--out", tmp_path / "b", *more).stdout
    same(tmp_path / "a", tmp_path / "b")
    done = program("arm7", "bias", "--random", 500, "--out", tmp_path / "b", code=1)
    assert "another sweep" in done.stderr


def test_the_program_rolls_states_and_takes_given_ones(arm, tmp_path):
    rollouts(arm, Random(50, seed=2), dt=1e-3, steps=30, every=10, out=tmp_path / "a", chunk=16)
    more = ["--rollout", 30, "--every", 10, "--size", 16]
    program("arm7", "--random", 50, "--seed", 2, "--out", tmp_path / "b", *more)
    same(tmp_path / "a", tmp_path / "b")
    q, qd = arm.random(1, count=40), np.ones((40, 7))
    sweep(arm, Given({"qd": qd, "q": q}), what=["bias"], out=tmp_path / "c", chunk=7)
    lines = (json.dumps({"q": a.tolist(), "v": b.tolist()}) for a, b in zip(q, qd))
    (tmp_path / "states.jsonl").write_text("\n".join(lines))
    program("arm7", "bias", "--states", tmp_path / "states.jsonl", "--out", tmp_path / "d", "--size", 7)
    same(tmp_path / "c", tmp_path / "d")


def test_what_the_program_cannot_compute_is_named_and_the_rest_is_kept(tmp_path):
    q = lw.Model.example("quadruped").random(1, count=20)
    q[13, :4] = 0.0
    lines = "\n".join(json.dumps({"q": x.tolist()}) for x in q)
    (tmp_path / "states.jsonl").write_text(lines)
    done = program("quadruped", "mass_matrix", "--states", tmp_path / "states.jsonl", "--out", tmp_path / "out", "--size", 6, code=1)
    assert "1 states failed" in done.stdout and "failed-*.json" in done.stderr
    told = json.loads((tmp_path / "out" / "failed-00002.json").read_text())
    assert list(told) == ["13"] and "quaternion" in told["13"]
    rows = read(tmp_path / "out")["mass_matrix"]
    assert np.isnan(rows[13]).all() and np.isfinite(np.delete(rows, 13, 0)).all()
    # A chunk that cannot be written does not keep others from it.
    (tmp_path / "half" / "failed-00002.json").mkdir(parents=True)
    done = program("quadruped", "mass_matrix", "--states", tmp_path / "states.jsonl", "--out", tmp_path / "half", "--size", 6, code=1)
    assert "chunk 2, states 12 to 17" in done.stderr
    assert sorted(p.name for p in (tmp_path / "half").glob("part-*")) == [f"part-0000{i}.parquet" for i in (0, 1, 3)]


def test_models_that_cannot_be_are_named(arm, tmp_path):
    mass = np.tile(arm.variation("mass"), (30, 1))
    mass[17, 2] = -1.0
    given = Given({"q": arm.random(1, count=30), "mass": mass})
    assert sweep(arm, given, what=["mass_matrix", "com"], out=tmp_path, chunk=10).failed_states == 1
    told = json.loads((tmp_path / "failed-00001.json").read_text())
    assert list(told) == ["17"] and "model" in told["17"]
    rows = read(tmp_path)
    for name in ("mass_matrix", "com"):
        assert np.isnan(rows[name][17]).all() and np.isfinite(np.delete(rows[name], 17, 0)).all()


def test_a_chunk_that_fails_names_its_states_and_the_rest_is_there(arm, tmp_path, monkeypatch):
    import linkwork.sweep as module

    real = module.compute

    def failing(job, index):
        if index in (2, 5):
            raise lw.Error("the disk is full")
        return real(job, index)

    monkeypatch.setattr(module, "compute", failing)
    with pytest.raises(lw.Error, match="chunk 2, states 20 to 29: the disk is full .and 1 more chunks: 5"):
        sweep(arm, Random(75), what=WHAT, out=tmp_path, chunk=10)
    assert len(list(tmp_path.glob("part-*.parquet"))) == 6
    monkeypatch.setattr(module, "compute", real)
    assert sweep(arm, Random(75), what=WHAT, out=tmp_path, chunk=10).computed == 2


def ray_of_three():
    """A cluster of three loopback nodes with a processor each."""
    if os.environ.get("LINKWORK_ALL"):
        import ray
    else:
        ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    return ray, cluster, nodes


def running_on(node):
    """The processes that compute chunks on a node at the moment: Ray titles a worker by its task."""
    raylet = node.all_processes["raylet"][0].process.pid
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == raylet and (process / "cmdline").read_bytes().startswith(b"ray::_chunk"):
                found.append(int(process.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("kind", ["sweep", "rollouts"])
def test_a_cluster_that_loses_a_node_loses_nothing(kind, tmp_path):
    if not os.environ.get("LINKWORK_ALL"):
        pytest.importorskip("ray")
    import linkwork.ray

    m = lw.Model.example("humanoid")
    states = Random(6000, seed=2)

    def run(module, out, **more):
        if kind == "sweep":
            return module.sweep(m, states, what=WHAT, out=out, chunk=100, **more)
        return module.rollouts(m, states, dt=1e-3, steps=200, every=100, out=out, chunk=100, **more)

    run(lw.sweep, tmp_path / "one")
    ray, cluster, nodes = ray_of_three()
    try:
        seen, caught = [], []
        stopped = threading.Event()

        def kill():
            while len(seen) < 3:
                time.sleep(0.01)
            # Chunks are running on the node: some are done, most are not.
            while not caught and len(seen) < 50:
                caught.extend(running_on(nodes[1]))
            cluster.remove_node(nodes[1], allow_graceful=False)
            stopped.set()

        thread = threading.Thread(target=kill)
        thread.start()
        report = run(linkwork.ray, tmp_path / "many", progress=lambda done, of: seen.append(done))
        thread.join()
        assert stopped.is_set() and caught, "no chunk was seen to run on the node that was killed"
        assert report.computed == 60 and seen[-1] == 60
        assert run(linkwork.ray, tmp_path / "many").computed == 0
    finally:
        ray.shutdown()
        cluster.shutdown()
    same(tmp_path / "one", tmp_path / "many")
    assert read(tmp_path / "many")["state"].tolist() == list(range(6000))


def test_a_cluster_names_the_states_of_chunks_that_fail(arm, tmp_path):
    if not os.environ.get("LINKWORK_ALL"):
        pytest.importorskip("ray")
    import linkwork.ray

    ray, cluster, _ = ray_of_three()
    try:
        q = arm.random(1, count=100)
        q[37] = np.nan
        # A directory stands where a part is to be written: that chunk cannot be.
        linkwork.sweep.plan(arm, Given({"q": q}), what=["mass_matrix"], out=tmp_path, chunk=10)
        (tmp_path / "failed-00003.json").mkdir()
        with pytest.raises(lw.Error, match="chunk 3, states 30 to 39"):
            linkwork.ray.sweep(arm, Given({"q": q}), what=["mass_matrix"], out=tmp_path, chunk=10)
        assert len(list(tmp_path.glob("part-*.parquet"))) == 9
        (tmp_path / "failed-00003.json").rmdir()
        report = linkwork.ray.sweep(arm, Given({"q": q}), what=["mass_matrix"], out=tmp_path, chunk=10)
        assert (report.computed, report.failed_states) == (1, 1)
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert np.isnan(read(tmp_path)["mass_matrix"][37]).all()
