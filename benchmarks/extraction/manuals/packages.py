"""Unpack Debian packages into a cache folder. Nothing is installed, so no package of the machine is replaced."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import unquote

from benchmarks.extraction.manuals.catalog import Manual

CACHE: Final = Path.home() / ".cache" / "keyhole-manuals"
_TIMEOUT: Final = 300.0
"""Seconds for one command. The largest package has 20 MB."""


def find_manual(manual: Manual) -> Manual:
    """Return a manual of a package with the version in its name and the folder it is unpacked in."""
    folder = unpack_package(manual.name)
    if folder is None:
        return manual
    return replace(manual, name=" ".join(unquote(folder.name).split("_")[:2]), folder=str(folder / manual.folder))


def unpack_package(name: str) -> Path | None:
    """Return the folder that holds the files of a package, or None where it cannot be downloaded.

    The folder is named after the package and its version (`git-doc_1%3a2.39.5-0+deb12u2_all`).
    """
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return None
    CACHE.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=CACHE) as temporary:
        try:
            printed = _run("apt-get", "download", "--print-uris", name, folder=temporary)
            file = Path(shlex.split(printed)[1])
            folder = CACHE / file.stem
            if not folder.exists():
                _run("apt-get", "download", "-qq", name, folder=temporary)
                _run("dpkg-deb", "-x", file.name, "files", folder=temporary)
                (Path(temporary) / "files").rename(folder)
        except (subprocess.SubprocessError, OSError, IndexError):
            return None
    return folder


def _run(*command: str, folder: str) -> str:
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=_TIMEOUT)
    return done.stdout
