"""List the compared systems, and install each in its own environment: with uv if available, else with venv and pip.

The versions of peers are pinned, so that a table shows what was measured and a stale cache is detected. Keyhole is
installed from this checkout in editable mode, so that the present source is measured.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parents[2]
INSTALL_SECONDS: Final = 900.0
"""Maximum seconds to install one environment; the largest peer has 900 MB."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A system, the name of its environment, and the pinned packages installed there.

    `in_node`: True for Node instead of Python. `node_folder`: a folder of the Python package whose Node packages are
    installed too. `floor`: True for a system that only parses, so that no extraction can be faster.
    """

    name: str
    environment: str
    packages: tuple[str, ...]
    in_node: bool = False
    node_folder: str = ""
    floor: bool = False

    @property
    def version(self) -> str:
        """The version of the peer, which is its first package."""
        return self.packages[0].rpartition("@" if self.in_node else "==")[2]

    @property
    def label(self) -> str:
        """The name in tables, with the version of a peer."""
        return self.name if self is OURS else f"{self.name} {self.version}"


OURS: Final = Peer("keyhole", "keyhole", ("==this checkout",))
_TRAFILATURA: Final = ("trafilatura==2.3.1", "lxml_html_clean==0.4.6")
"""trafilatura needs the second package, an extra of lxml that older versions of pip do not install."""

PEERS: Final[tuple[Peer, ...]] = (
    Peer("trafilatura", "trafilatura", _TRAFILATURA),
    Peer("trafilatura, no comments", "trafilatura", _TRAFILATURA),
    Peer(
        "readability",
        "readability",
        ("@mozilla/readability@0.6.0", "jsdom@29.1.1", "turndown@7.2.5"),
        in_node=True,
    ),
    Peer("resiliparse", "resiliparse", ("resiliparse==2.0.1",)),
    Peer("newspaper4k", "newspaper4k", ("newspaper4k==0.9.6",)),
    Peer("html-to-markdown", "html-to-markdown", ("html-to-markdown==3.21.0",)),
    Peer("crawl4ai, fit", "crawl4ai", ("crawl4ai==0.9.5",)),
    Peer("body through markdownify", "markdownify", ("markdownify==1.2.3", "beautifulsoup4==4.15.0", "lxml==6.1.3")),
    Peer(
        "mcp-server-fetch",
        "mcp-server-fetch",
        ("mcp-server-fetch==2026.10.24",),
        node_folder="readabilipy/javascript",
    ),
    Peer("lxml, parse only", "lxml", ("lxml==6.1.3",), floor=True),
    Peer("lexbor, parse only", "selectolax", ("selectolax==1.0.2",), floor=True),
)


class NotInstallableError(Exception):
    """A peer cannot be installed on this machine; the message gives the reason."""


def runner_command(peer: Peer, cache: Path) -> list[str]:
    """Return the command that starts a peer's runner. Install its environment first if necessary."""
    folder = _install(peer, cache)
    if peer.in_node:
        return [_program("node"), str(HERE / "readability.mjs"), str(folder)]
    return [str(_python(folder)), str(HERE / "runner.py"), peer.name]


def _install(peer: Peer, cache: Path) -> Path:
    what = " ".join(peer.packages) if peer is not OURS else (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    key = hashlib.sha256(f"{what} {ROOT if peer is OURS else ''}".encode()).hexdigest()[:8]
    folder = (
        cache / "environments" / f"{peer.environment}-{key}-python{sys.version_info.major}.{sys.version_info.minor}"
    )
    complete = folder / "complete"
    if complete.exists():
        return folder
    print(f"installing {peer.label} into {folder}", file=sys.stderr, flush=True)
    if peer.in_node:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
        _npm(folder, *peer.packages)
    else:
        _install_python(peer, folder)
    complete.touch()
    return folder


def _install_python(peer: Peer, folder: Path) -> None:
    wanted = ["--editable", str(ROOT)] if peer is OURS else [*peer.packages]
    uv = shutil.which("uv")
    if uv:
        _run([uv, "venv", "--clear", "--python", sys.executable, str(folder)])
        _run([uv, "pip", "install", "--python", str(_python(folder)), *wanted])
    else:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(_python(folder)), "-m", "pip", "install", "--quiet", *wanted])
    if peer.node_folder:
        _npm(next(folder.glob("lib/python*/site-packages")) / peer.node_folder)


def _npm(folder: Path, *packages: str) -> None:
    """Install Node packages in a folder; without names, those of the folder's package.json."""
    _run([_program("npm"), "install", "--no-audit", "--no-fund", "--ignore-scripts", *packages], cwd=folder)


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _program(name: str) -> str:
    found = shutil.which(name)
    if not found:
        raise NotInstallableError(f"{name} is not installed")
    return found


def _run(arguments: list[str], cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(arguments, cwd=cwd, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise NotInstallableError(f"{Path(arguments[0]).name} took over {INSTALL_SECONDS:.0f} s") from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise NotInstallableError(f"{Path(arguments[0]).name} failed: {last[:200]}")
