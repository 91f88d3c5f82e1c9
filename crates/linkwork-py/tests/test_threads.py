"""Threads, processes, the end of the interpreter, and memory."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linkwork as lw


def expected(model, count):
    q = model.random(1, count=count)
    return q, model.mass_matrix(q)


def test_threads_share_a_model_and_a_state(arm):
    q, mass = expected(arm, 400)
    state = arm.at(q[0])

    def work(i):
        for _ in range(20):
            np.testing.assert_array_equal(arm.mass_matrix(q), mass)
            np.testing.assert_array_equal(arm.mass_matrix(q[i]), mass[i])
            np.testing.assert_allclose(state.mass_matrix(), mass[0], rtol=1e-12, atol=1e-12)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def test_the_interpreter_runs_on_while_a_batch_does():
    m = lw.Model.example("humanoid")
    q = m.random(1, count=3000)
    ticks, done = 0, threading.Event()

    def work():
        for _ in range(5):
            m.mass_matrix_inverse(q)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(1e-4):
        ticks += 1
    thread.join()
    assert ticks > 3


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_do_not_depend_on_the_number_of_threads(arm, count):
    q, mass = expected(arm, 1000)
    before = lw.threads()
    try:
        lw.set_threads(count)
        assert lw.threads() == count
        np.testing.assert_array_equal(arm.mass_matrix(q), mass)
    finally:
        lw.set_threads(before)
    for wrong in (0, 10**6):
        with pytest.raises(lw.Error, match="count"):
            lw.set_threads(wrong)


def _child(model, q, mass, queue):
    queue.put(bool(np.array_equal(model.mass_matrix(q), mass)))


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_other_processes_compute_the_same(arm, way):
    q, mass = expected(arm, 1000)
    context = multiprocessing.get_context(way)
    queue = context.Queue()
    processes = [context.Process(target=_child, args=(arm, q, mass, queue)) for _ in range(3)]
    for p in processes:
        p.start()
    assert [queue.get(timeout=120) for _ in processes] == [True] * 3
    for p in processes:
        p.join(60)
        assert p.exitcode == 0


def test_a_fork_while_batches_run_does_not_hang(arm):
    q, mass = expected(arm, 1000)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            arm.mass_matrix(q)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    try:
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        for _ in range(3):
            p = context.Process(target=_child, args=(arm, q, mass, queue))
            p.start()
            assert queue.get(timeout=120)
            p.join(60)
            assert p.exitcode == 0
    finally:
        stop.set()
        for t in threads:
            t.join()


def test_the_interpreter_ends_while_a_batch_runs():
    code = """
        import threading, time, numpy as np, linkwork as lw
        m = lw.Model.example("humanoid")
        q = m.random(1, count=2000)
        started = threading.Event()
        def work():
            while True:
                started.set()
                m.mass_matrix_inverse(q)
        threading.Thread(target=work, daemon=True).start()
        started.wait()
        time.sleep(0.05)
        print("end")
    """
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and done.stdout == "end\n" and done.stderr == "", done


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is counted on Linux")
def test_nothing_leaks():
    arm = lw.Model.example("arm7")
    q, qd = arm.random(1, count=64), np.zeros(7)
    expression = lw.derive("inv(Mass) T")

    def work():
        for _ in range(60):
            m = lw.Model.example("arm7")
            m.forward_dynamics(q, qd, qd)
            m.forward_dynamics(q.astype(np.float32), qd.astype(np.float32), qd.astype(np.float32))
            m.forward_dynamics(q[0], qd, qd)
            state = m.at(q[0]).moving(qd)
            state.mass_matrix()
            state.bias()
            expression(m, q, T=qd)
            m.linearize(q[0])
            m.rollout(q, qd, dt=1e-3, steps=3)
            for wrong in (q[:, :3], "q", q * np.nan):
                with pytest.raises((lw.Error, TypeError)):
                    m.mass_matrix(wrong)

    work()
    work()
    before = resident()
    for _ in range(6):
        work()
    assert resident() - before < 6e6
