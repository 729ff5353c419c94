"""Builds what is published, as a release does, and looks at it: wheel and sdist. Installs nothing but the tools."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
TOOLS: Final = ("build==1.6.1", "hatchling==1.33.0", "twine==7.0.0", "uv==0.13.8", "pipx==1.18.4", "skillsaw==0.22.0")
"""What the check uses besides npm's, pinned. skillsaw carries the published schemas of the MCP registry."""
EPOCH: Final = "1577836800"
"""Seconds: every file of a build is of the first of January 2020, so that a build tomorrow has the same bytes."""
PATIENCE: Final = 300.0
"""Seconds for one command: an installation from an index that is slow."""
NOT_OURS: Final = ("PYTHON", "KEYHOLE_", "VIRTUAL_ENV", "PIPX_", "UV_")


def environment(**more: str) -> dict[str, str]:
    """This process's environment without what would lead a Python to the checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_OURS)}
    return {**kept, **more}


def run(command: Sequence[object], folder: Path, env: Mapping[str, str] | None = None) -> str:
    """What a command says on stdout. Raises AssertionError with its last words when it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, env=env or environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert not done.returncode, f"{' '.join(words)}: {(done.stdout + done.stderr)[-1_000:]}"
    return done.stdout


def tools() -> Path:
    """The folder of the tools' programs, installed now if they are not there yet."""
    named = os.environ.get("CLIENTS_CACHE")
    cache = Path(named) if named else Path.home() / ".cache" / "keyhole-clients"
    key = hashlib.sha256("".join((*TOOLS, sys.version)).encode()).hexdigest()[:12]
    folder = cache / f"packaging-{key}"
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    if not (folder / "complete").exists():
        venv.create(folder, clear=True, with_pip=True)
        run([programs / "python", "-m", "pip", "install", "--quiet", *TOOLS], cache)
        (folder / "complete").touch()
    return programs


def build(programs: Path, scratch: Path) -> Path:
    """Wheel and sdist, each built twice and the wheel from the sdist too; the folder of the one set of bytes."""
    first, second, third = (scratch / name for name in ("first", "second", "from-sdist"))
    env = environment(SOURCE_DATE_EPOCH=EPOCH)
    run([programs / "python", "-m", "build", "--outdir", first, ROOT], scratch, env)
    later = [programs / "python", "-m", "build", "--no-isolation", "--outdir"]
    run([*later, second, ROOT], scratch, {**env, "PYTHONHASHSEED": "7"})
    assert digests(first) == digests(second), "two builds differ"
    run([*later, third, "--wheel", unpacked(only(first, "*.tar.gz"), scratch)], scratch, env)
    assert digests(third).items() <= digests(first).items(), "the sdist builds another wheel"
    run([programs / "python", "-m", "twine", "check", "--strict", *first.iterdir()], scratch)
    return first


def digests(folder: Path) -> dict[str, str]:
    """Each file's name with the digest of its bytes."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def only(folder: Path, pattern: str) -> Path:
    """The one file that matches."""
    (path,) = folder.glob(pattern)
    return path


def unpacked(sdist: Path, scratch: Path) -> Path:
    """The sdist's tree, far from any checkout."""
    with tarfile.open(sdist) as archive:
        archive.extractall(scratch / "unpacked", filter="data")
    (tree,) = (scratch / "unpacked").iterdir()
    return tree
