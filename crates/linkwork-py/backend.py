"""How the wheel is built: maturin builds the extension; before that, the program `linkwork` is built and put beside it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import maturin
from maturin import (  # noqa: F401
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

HERE = Path(__file__).parent
SCRIPTS = HERE / "data" / "scripts"
# maturin looks for it before anything is built.
SCRIPTS.mkdir(parents=True, exist_ok=True)


def _program() -> None:
    command = ["cargo", "rustc", "--release", "--package", "linkwork-cli", "--bin", "linkwork"]
    command += ["--message-format", "json-render-diagnostics"]
    if os.name == "posix":
        # Without symbols, which would be half of it.
        command += ["--", "-C", "link-arg=-s"]
    built = subprocess.run(command, cwd=HERE, check=True, stdout=subprocess.PIPE)
    messages = (json.loads(line) for line in built.stdout.splitlines())
    program = [Path(m["executable"]) for m in messages if m.get("executable")][-1]
    shutil.copy2(program, SCRIPTS / program.name)


def build_wheel(directory, config_settings=None, metadata_directory=None):
    _program()
    return maturin.build_wheel(directory, config_settings, metadata_directory)


def build_editable(directory, config_settings=None, metadata_directory=None):
    _program()
    return maturin.build_editable(directory, config_settings, metadata_directory)
