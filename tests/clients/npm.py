"""Install clients from npm into a cache outside the checkout."""

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
"""Seconds for an installation; the largest client is half a gigabyte."""


class InstallError(OSError):
    """A client could not be installed. The message is the reason."""


def cache_folder() -> Path:
    """Return the folder in which installed clients are cached."""
    path = os.environ.get("CLIENTS_CACHE")
    return Path(path) if path else Path.home() / ".cache" / "keyhole-clients"


def install_from_npm(packages: Sequence[str]) -> Path:
    """Install these packages if they are missing; return the folder of their programs. Raises InstallError.

    Each client has a separate folder, named by its versions, so that one failure does not affect other clients.
    """
    versions = {name: PINNED["dependencies"][name] for name in packages}
    cache = cache_folder()
    folder = cache / "_".join(f"{name.rpartition('/')[2]}-{version}" for name, version in versions.items())
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="partial-") as partial:
            # Move the folder into place when it is complete, so that an interrupted run leaves no partial client.
            complete = _install(versions, Path(partial) / "client")
            try:
                complete.rename(folder)
            except OSError:  # another run has just installed the same client
                if not folder.exists():
                    raise
    return folder / "node_modules" / ".bin"


def _install(versions: dict[str, str], folder: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError("npm is not installed")
    folder.mkdir()
    manifest = {"private": True, "dependencies": versions, "allowScripts": PINNED["allowScripts"]}
    (folder / "package.json").write_text(json.dumps(manifest), "utf-8")
    command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1"]
    try:
        done = run_program(command, os.environ, folder, INSTALL_TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise InstallError(f"npm took more than {INSTALL_TIMEOUT:.0f} s") from error
    if done.returncode:
        faults = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        raise InstallError("; ".join(faults[:2]) or f"npm ended with {done.returncode}")
    return folder
