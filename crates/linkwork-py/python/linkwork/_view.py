"""The viewer's page, in a notebook or a browser."""

from __future__ import annotations

import atexit
import re
import shutil
import subprocess
import sysconfig
import tempfile
import threading
from html import escape
from os import PathLike, fspath
from pathlib import Path

from ._linkwork import Error, Model

# The program says where the page is when it has loaded the robot.
_PATIENCE = 120.0


def _program() -> str:
    own = Path(sysconfig.get_path("scripts")) / "linkwork"
    found = str(own) if own.exists() else shutil.which("linkwork")
    if found is None:
        raise Error("the program `linkwork` was not found; it comes with the package, and `linkwork view` runs the page")
    return found


class Page:
    """A page that is being served, until it is closed or Python ends. A notebook shows it; ``url`` opens in a browser."""

    def __init__(self, words: list[str], height: int) -> None:
        self.height = height
        self._errors = ""
        pipe, none = subprocess.PIPE, subprocess.DEVNULL
        self._child = subprocess.Popen(
            [_program(), "view", *words, "--no-open"], stdin=none, stdout=pipe, stderr=pipe, text=True
        )
        atexit.register(self.close)
        reader = threading.Thread(target=self._read_errors, daemon=True)
        reader.start()
        timer = threading.Timer(_PATIENCE, self._child.kill)
        timer.start()
        found = None
        assert self._child.stdout is not None
        for line in self._child.stdout:
            found = re.search(r" is shown at (\S+)", line)
            if found:
                break
        timer.cancel()
        if not found:
            self.close()
            reader.join(5)
            raise Error(self._errors.strip() or "the program ended before the page was there")
        self.url: str = found[1]

    def _read_errors(self) -> None:
        assert self._child.stderr is not None
        for line in self._child.stderr:
            self._errors += line

    def close(self) -> None:
        """Ends it."""
        atexit.unregister(self.close)
        if self._child.poll() is None:
            self._child.terminate()
        self._child.wait()

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return f'<iframe src="{escape(self.url)}" width="100%" height="{self.height}" style="border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<page at {self.url}>"


def view(what: Model | str | PathLike[str], *options: str, height: int = 560) -> Page:
    """Shows a model, a robot's file, a scene, a built-in robot or a log, as ``linkwork view`` does; options are that command's.

    In a notebook the page appears where this is the last expression of a cell; it runs on this machine.

    >>> page = lw.view("double_pendulum", "--simulate")                # doctest: +SKIP
    """
    if not isinstance(what, Model):
        return Page([fspath(what), *options], height)
    folder = tempfile.mkdtemp(prefix="linkwork-view-")
    try:
        file = Path(folder) / "robot.json"
        what.save(file)
        return Page([str(file), *options], height)
    finally:
        # The program has read it.
        shutil.rmtree(folder, ignore_errors=True)
