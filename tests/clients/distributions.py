"""Build the wheel and the sdist as for a release, and check that the builds are reproducible."""

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
"""The tools from PyPI, pinned. skillsaw contains the published schemas of the MCP registry."""
EPOCH: Final = "1577836800"
"""Seconds since 1970 (1 January 2020): the modification time of all files in a build, for reproducible builds."""
PATIENCE: Final = 300.0
"""Seconds for one command, such as an installation from a slow index."""
REMOVED_VARIABLES: Final = ("PYTHON", "KEYHOLE_", "VIRTUAL_ENV", "PIPX_", "UV_")


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without variables that would make Python find the checkout."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(REMOVED_VARIABLES)}
    return {**variables, **more}


def run(command: Sequence[object], folder: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command; return its standard output. Raises AssertionError with the end of its output if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, env=env or environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert not done.returncode, f"{' '.join(words)}: {(done.stdout + done.stderr)[-1_000:]}"
    return done.stdout


def install_tools() -> Path:
    """Install the tools if they are missing; return the folder of their programs."""
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
    """Build wheel and sdist of the checkout as `build_alike` does, and check their metadata; return their folder."""
    front = [programs / "python", "-m", "build"]
    made = build_alike(ROOT, scratch, [*front, "--outdir"], [*front, "--no-isolation", "--outdir"], ["--wheel"])
    run([programs / "python", "-m", "twine", "check", "--strict", *made.iterdir()], scratch)
    return made


def build_alike(
    tree: Path, scratch: Path, first_command: Sequence[object], command: Sequence[object], only_wheel: Sequence[str]
) -> Path:
    """Build wheel and sdist twice, and the wheel from the sdist; check that all bytes agree, and return a folder.

    Both commands build the tree in which they run into the folder that follows them; `first_command` is used once.
    """
    first, second, third = (scratch / name for name in ("first", "second", "from-sdist"))
    env = environment(SOURCE_DATE_EPOCH=EPOCH)
    run([*first_command, first], tree, env)
    run([*command, second], tree, {**env, "PYTHONHASHSEED": "7"})
    assert file_digests(first) == file_digests(second), "two builds differ"
    run([*command, third, *only_wheel], unpack(single_file(first, "*.tar.gz"), scratch), env)
    assert file_digests(third).items() <= file_digests(first).items(), "the sdist builds a different wheel"
    return first


def file_digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 digest of each file, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def single_file(folder: Path, pattern: str) -> Path:
    """Return the only file that matches."""
    (path,) = folder.glob(pattern)
    return path


def unpack(sdist: Path, scratch: Path) -> Path:
    """Unpack the sdist outside the checkout; return its top folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(scratch / "unpacked", filter="data")
    (tree,) = (scratch / "unpacked").iterdir()
    return tree
