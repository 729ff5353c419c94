"""Install programs from PyPI into a cache outside the checkout.

Each line of programs.txt has the packages of one virtual environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .npm import INSTALL_TIMEOUT, InstallError, cache_folder
from .steps import run_program

_LINES = (Path(__file__).parent / "programs.txt").read_text("utf-8").splitlines()
PINNED = dict(word.split("==") for line in _LINES for word in line.split())


def install_from_pypi(package: str) -> Path:
    """Install a package if it is missing; return the folder of its programs. Raises InstallError.

    A virtual environment cannot be moved into place, so the file `complete` marks a finished installation.
    """
    packages = next(line.split() for line in _LINES if package in (word.split("==")[0] for word in line.split()))
    name = "_".join(word.replace("==", "-") for word in packages)
    folder = cache_folder() / f"{name}-python{sys.version_info.major}.{sys.version_info.minor}"
    complete = folder / "complete"
    if not complete.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages])
        complete.touch()
    return folder / "bin"


def _run(command: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = run_program(command, os.environ, Path(folder), INSTALL_TIMEOUT)
        except subprocess.TimeoutExpired as error:
            raise InstallError(f"{command[2]} took more than {INSTALL_TIMEOUT:.0f} s") from error
    if done.returncode:
        raise InstallError(" ".join(done.stderr.split())[-300:] or f"exit {done.returncode}")
