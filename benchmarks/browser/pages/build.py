"""Build the apps with npm and esbuild in a cache folder."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

SOURCES: Final = Path(__file__).with_name("sources")
CACHE: Final = Path.home() / ".cache" / "keyhole-benchmarks" / "rendered-pages"
_NPM: Final = (
    "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error",
)  # fmt: skip


def build() -> Path:
    """Install the frameworks and build the apps, unless the cache has both; return the cache folder.

    The apps are in its folder `dist`. The first call needs a minute and 600 MB.
    """
    installed = _copy_if_changed("package.json")
    if not installed:
        subprocess.run(_NPM, cwd=CACHE, check=True, stdout=sys.stderr)
    if not (_copy_if_changed("apps", "next", "build.mjs", "peer.mjs") and installed):
        subprocess.run(["node", "build.mjs"], cwd=CACHE, check=True, stdout=sys.stderr)  # noqa: S607
    _finish("package.json")
    _finish("apps", "next", "build.mjs", "peer.mjs")
    return CACHE


def _copy_if_changed(*names: str) -> bool:
    """Copy sources into the cache unless they were built there; return True if they were."""
    stamp = CACHE / f"{names[0]}.built"
    if stamp.exists() and stamp.read_text() == _digest(names):
        return True
    CACHE.mkdir(parents=True, exist_ok=True)
    for name in names:
        source = SOURCES / name
        if source.is_dir():
            shutil.copytree(source, CACHE / name, dirs_exist_ok=True)
        else:
            shutil.copy(source, CACHE / name)
    return False


def _finish(*names: str) -> None:
    """Record that sources were built."""
    (CACHE / f"{names[0]}.built").write_text(_digest(names))


def _digest(names: tuple[str, ...]) -> str:
    """Return a hash of the content of sources."""
    files = sorted(file for name in names for file in [SOURCES / name, *(SOURCES / name).rglob("*")] if file.is_file())
    return hashlib.sha256(b"\0".join(str(f.relative_to(SOURCES)).encode() + f.read_bytes() for f in files)).hexdigest()
