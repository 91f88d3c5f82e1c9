"""Types and documentation."""

import doctest
import importlib
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork import _stubs

PACKAGE = Path(lw.__file__).parent
MODULES = ["linkwork", "linkwork._linkwork", "linkwork._state", "linkwork._motion", "linkwork._models", "linkwork.sweep", "linkwork._tasks", "linkwork._trajectory", "linkwork._scene", "linkwork._algebra", "linkwork._arrays"]


def test_the_stubs_have_the_quantities_of_the_list():
    for name, lists in _stubs.stubs().items():
        text = (PACKAGE / name).read_text()
        assert _stubs.filled(text, lists) == text, f"run: python -m linkwork._stubs python/linkwork ({name})"


def test_the_stubs_and_the_compiled_half_have_the_same_names():
    import ast

    tree = ast.parse((PACKAGE / "_linkwork.pyi").read_text())
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    compiled = {n for n in dir(lw._linkwork) if not n.startswith("__")}
    assert compiled == set(classes) | functions
    for name, node in classes.items():
        typed = {n.name for n in node.body if isinstance(n, ast.FunctionDef)} - {"__new__", "__add__"}
        present = {n for n in vars(getattr(lw._linkwork, name)) if not n.startswith("__")}
        hints = {a for q in lw.quantities() for a in q["aliases"]}
        assert typed == present - hints, name


def mypy(*arguments):
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", "/dev/null", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_package_is_typed():
    pytest.importorskip("mypy")
    # What is optional need not be there.
    loose = ["--ignore-missing-imports", "--no-warn-unused-ignores", "--allow-subclassing-any", "--allow-untyped-decorators", "--allow-untyped-calls"]
    done = mypy(*loose, "-p", "linkwork")
    assert done.returncode == 0, done.stdout + done.stderr


def test_users_are_told_of_wrong_types(tmp_path):
    pytest.importorskip("mypy")
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(
        textwrap.dedent("""
        import numpy as np
        import linkwork as lw
        m: lw.Model = lw.Model.example("arm7")
        mass = m.mass_matrix(m.random(1))
        total: float = float(mass.sum())
        s = m.at(m.neutral()).moving(np.zeros(m.nv))
        j = s.jacobian("flange", "aligned", out=np.empty((6, 7)))
        path = m.simulate(m.neutral(), seconds=1.0, drive=lambda t, q, qd: -qd)
        K = m.linearize(m.neutral()).lqr([1.0] * 14, [1.0] * 7)
        """)
    )
    bad.write_text(
        textwrap.dedent("""
        import linkwork as lw
        m = lw.Model.example(7)
        m.jacobian(m.random(1), "flange", "sideways")
        m.forward_dynamics(m.random(1))
        m.rnea
        """)
    )
    done = mypy(str(good))
    assert done.returncode == 0, done.stdout
    done = mypy(str(bad))
    assert done.stdout.count("error:") == 4, done.stdout


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_the_documentation_run(module):
    module = importlib.import_module(module)
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {}
    for test in finder.find(module, module.__name__):
        found[test.name] = test
    for name, value in vars(module).items():
        texts = {name: value}
        if isinstance(value, type):
            texts |= {f"{name}.{n}": v for n, v in vars(value).items()}
        for label, item in texts.items():
            text = getattr(item, "__doc__", None)
            if isinstance(text, str) and ">>>" in text:
                test = doctest.DocTestParser().get_doctest(text, {}, label, None, 0)
                found[label] = test
    runner = doctest.DocTestRunner(verbose=False)
    for test in found.values():
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    if module.__name__ == "linkwork._linkwork":
        assert runner.tries > 10


@pytest.mark.parametrize("name", [n for n in lw.__all__ if not n.startswith("__")])
def test_everything_public_is_documented(name):
    value = getattr(lw, name)
    assert value.__doc__, name
    if isinstance(value, type) and not issubclass(value, Exception):
        for member, item in vars(value).items():
            if not member.startswith("_") and (callable(item) or isinstance(item, (property, staticmethod))):
                assert item.__doc__, f"{name}.{member}"


def test_help_reads_well():
    text = np.get_printoptions() and __import__("pydoc").plain(__import__("pydoc").render_doc(lw.Model.jacobian))
    assert "jacobian(self, /, q, frame, reference='local', *, out=None)" in text and "(…, 6, nv)" in text
