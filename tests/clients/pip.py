"""Brings a program from PyPI, once, into an environment of its own outside the tree. Knows no program."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .npm import INSTALL_TIMEOUT, NotBroughtError, cache_folder
from .steps import run_program

PINNED = dict(line.split("==") for line in (Path(__file__).parent / "programs.txt").read_text("utf-8").split())


def bring_python(package: str) -> Path:
    """The folder with the programs of a package, installed now if they are not there yet. Raises NotBroughtError.

    An environment cannot be moved, so what marks it as complete is a file.
    """
    folder = cache_folder() / f"{package}-{PINNED[package]}-python{sys.version_info.major}.{sys.version_info.minor}"
    complete = folder / "complete"
    if not complete.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", f"{package}=={PINNED[package]}"])
        complete.touch()
    return folder / "bin"


def _run(command: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = run_program(command, os.environ, Path(folder), INSTALL_TIMEOUT)
        except subprocess.TimeoutExpired as error:
            raise NotBroughtError(f"{command[2]} took more than {INSTALL_TIMEOUT:.0f} s") from error
    if done.returncode:
        raise NotBroughtError(" ".join(done.stderr.split())[-300:] or f"exit {done.returncode}")
