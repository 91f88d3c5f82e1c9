"""The program that is installed with the package: as it is used from a shell."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw

PROGRAM = Path(sysconfig.get_path("scripts")) / "linkwork"
QUIET = {**os.environ, "NO_COLOR": "1"}


def run(*arguments, **more):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=QUIET, **more)


def test_it_tells_its_version_and_helps():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"linkwork {lw.__version__}\n")
    assert "simulate" in run("--help").stdout
    module = subprocess.run([sys.executable, "-m", "linkwork", "--version"], capture_output=True, text=True)
    assert module.stdout == done.stdout


def test_its_codes_are_those_of_the_program(tmp_path):
    assert run("info", "arm7").returncode == 0
    (tmp_path / "broken.urdf").write_text("<robot name='x'><link name='a'/><link name='a'/></robot>")
    failed = run("info", str(tmp_path / "broken.urdf"))
    assert failed.returncode == 1 and "error:" in failed.stderr and not failed.stdout
    wrong = run("simulate", "arm7", "--sideways")
    assert wrong.returncode == 2 and "--sideways" in wrong.stderr


def test_states_come_in_and_results_go_out_by_pipes():
    m = lw.Model.example("arm7")
    q = m.random(1, count=500)
    lines = "".join(json.dumps({"q": list(x)}) + "\n" for x in q)
    done = run("eval", "arm7", "mass_matrix", input=lines)
    assert done.returncode == 0, done.stderr
    found = np.array([json.loads(line)["mass_matrix"] for line in done.stdout.splitlines()])
    np.testing.assert_array_equal(found, m.mass_matrix(q))


def test_a_reader_that_leaves_is_no_failure():
    done = subprocess.run(
        f"'{PROGRAM}' eval --help | head -n 1; echo ${{PIPESTATUS[0]}}", shell=True, executable="/bin/bash", capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "0" and not done.stderr


def begin(*arguments, where):
    return subprocess.Popen([PROGRAM, *arguments], cwd=where, env=QUIET, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_end_a_run_in_order(name, tmp_path):
    logs = [f"run.{end}" for end in ("csv", "npz", "parquet", "mcap")]
    run = ["simulate", "double_pendulum", "--q", "1,0.5", "--seconds", "80000", "--json"]
    child = begin(*run, *(word for log in logs for word in ("--log", log)), where=tmp_path)
    started = time.monotonic()
    while not all((tmp_path / f"{log}.part").exists() for log in logs) and time.monotonic() < started + 30:
        time.sleep(0.05)
    time.sleep(1.0)
    child.send_signal(getattr(signal, name))
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    rows = json.loads(out)["rows"]
    assert json.loads(out)["interrupted"] is True
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(logs)
    times = np.load(tmp_path / "run.npz")["t"]
    assert len(times) == rows > 0 and len((tmp_path / "run.csv").read_text().splitlines()) == rows + 1


def test_ctrl_c_ends_what_does_not_listen_for_it(tmp_path):
    child = begin("bench", "humanoid", where=tmp_path)
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=20)
    assert child.returncode == -signal.SIGINT


def test_it_starts_without_the_rest_of_the_package():
    code = "import sys; sys.argv = ['linkwork', '--version']; import linkwork_program as p; p.main(); assert 'numpy' not in sys.modules"
    done = subprocess.run([PROGRAM.parent / "python", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_arguments_are_passed_on_as_they_are(tmp_path):
    name = os.fsdecode(b"sweep \xff\xc3\xa9")
    assert run("sweep", "arm7", "bias", "--random", "10", "--out", str(tmp_path / name)).returncode == 0
    assert (tmp_path / name / "part-00000.parquet").exists()
    done = run("info", str(tmp_path / name))
    assert done.returncode == 2 and "UTF-8" in done.stderr
