"""Brings a client from npm, once, into a folder outside the tree. Knows no client."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .steps import run_program

PINNED: dict[str, Any] = json.loads((Path(__file__).parent / "package.json").read_text("utf-8"))
INSTALL_TIMEOUT = 300.0
"""Seconds: the largest client is half a gigabyte."""


class NotBroughtError(Exception):
    """npm could not bring a client; the text says why."""


def cache_folder() -> Path:
    """Where clients are kept between runs."""
    named = os.environ.get("CLIENTS_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "keyhole-clients"


def bring(packages: Sequence[str]) -> Path:
    """The folder with the programs of these packages, installed now if they are not there yet.

    Each client has a folder of its own, named by the versions in it, so that one that cannot be had does not
    take the others with it. Raises NotBroughtError.
    """
    versions = {name: PINNED["dependencies"][name] for name in packages}
    cache = cache_folder()
    folder = cache / "_".join(f"{name.rpartition('/')[2]}-{version}" for name, version in versions.items())
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="partial-") as partial:
            # Moved into place when complete: a run that was interrupted leaves no half client behind.
            _install(versions, Path(partial) / "client").rename(folder)
    return folder / "node_modules" / ".bin"


def _install(versions: dict[str, str], folder: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise NotBroughtError("npm is not installed")
    folder.mkdir()
    wanted = {"private": True, "dependencies": versions, "allowScripts": PINNED["allowScripts"]}
    (folder / "package.json").write_text(json.dumps(wanted), "utf-8")
    command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1"]
    try:
        done = run_program(command, os.environ, folder, INSTALL_TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise NotBroughtError(f"npm took more than {INSTALL_TIMEOUT:.0f} s") from error
    if done.returncode:
        faults = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        raise NotBroughtError("; ".join(faults[:2]) or f"npm ended with {done.returncode}")
    return folder
