"""Which command is registered: one that is certain to start this very installation. Pure.

A bare `keyhole-mcp` is found only on the PATH of a shell, which clients do not read; `uvx keyhole-mcp` starts whatever
the package index has under that name. So the absolute path of the installed script is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from keyhole.cli.install.entries import SCRIPT, Server

_PASSING: Final = ("/archive-v0/", "/builds-v0/", "/environments-v2/")
"""Folders of uv's cache in which uvx puts programs together for one run; pruning the cache takes them away."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What is known of the running program. `script`: the path of keyhole-mcp, empty where there is none; `source`:
    what the package was installed from where that was no index; `uvx`: the path of that program, if there is one."""

    python: str
    script: str
    prefix: str
    version: str
    source: str = ""
    uvx: str = ""


def this_server(installation: Installation) -> Server:
    """The command, without settings."""
    if is_passing(installation):
        origin = (
            ("--from", installation.source, SCRIPT) if installation.source else (f"{SCRIPT}@{installation.version}",)
        )
        return Server(installation.uvx or "uvx", origin)
    if installation.script:
        return Server(installation.script)
    return Server(installation.python, ("-m", "keyhole", "serve"))


def is_passing(installation: Installation) -> bool:
    """Whether the program lives where uvx put it for one run."""
    return any(part in installation.prefix.replace("\\", "/") + "/" for part in _PASSING)
