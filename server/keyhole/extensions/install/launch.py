"""Choose the commands to register, of the server and of hooks. They must start this installation.

The absolute path of the installed script is registered. A bare `keyhole-reader` needs the PATH of a shell, which
clients do not read. `uvx keyhole-reader` starts the version on the package index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keyhole.extensions.install.entries import PROGRAM, SCRIPT, Server

_TEMPORARY_FOLDERS: Final = ("/archive-v0/", "/builds-v0/", "/environments-v2/")
"""Folders of uv's cache in which uvx installs programs for one run; pruning the cache removes them."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The installation that this process runs from.

    `python`: the interpreter; `script`: the path of keyhole-reader, or ""; `prefix`: the environment's folder;
    `source`: the folder, file or repository that the package was installed from, or "" for a package index;
    `uvx`: the path of uvx, or ""; `program`: the path of keyhole, or "".
    """

    python: str
    script: str
    prefix: str
    version: str
    source: str = ""
    uvx: str = ""
    program: str = ""


def this_server(installation: Installation) -> Server:
    """Return the command that starts this installation, without settings."""
    if is_temporary(installation):
        package = (
            ("--from", installation.source, SCRIPT) if installation.source else (f"{SCRIPT}@{installation.version}",)
        )
        return Server(installation.uvx or "uvx", package)
    if installation.script:
        return Server(installation.script)
    return Server(installation.python, ("-P", "-m", "keyhole", "serve"))


def this_program(installation: Installation) -> tuple[str, ...]:
    """Return the words that start `keyhole` of this installation; the name of a command follows them."""
    if is_temporary(installation):
        package = installation.source or f"{SCRIPT}@{installation.version}"
        return installation.uvx or "uvx", "--from", package, PROGRAM
    return (installation.program,) if installation.program else (installation.python, "-P", "-m", PROGRAM)


def is_temporary(installation: Installation) -> bool:
    """Return True if uvx installed the program for one run."""
    return any(folder in installation.prefix.replace("\\", "/") + "/" for folder in _TEMPORARY_FOLDERS)
