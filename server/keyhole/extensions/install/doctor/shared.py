"""Check the servers that this user's clients share: which ones run, and whether they answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Final

from keyhole._version import __version__
from keyhole.cli.report import Finding, Level
from keyhole.config.config import Config
from keyhole.serve.shared.address import shared_folder
from keyhole.serve.shared.link import ask_servers, describe_server

AREA: Final = "Shared server"
NAME: Final = "server"


def check(config: Config) -> list[Finding]:
    """Return a finding for each shared server, or why there is none."""
    if config.shared == "off":
        return [Finding(AREA, NAME, Level.NOTE, "off; each client starts a server of its own")]
    if sys.platform == "win32":
        return [Finding(AREA, NAME, Level.NOTE, "not on Windows; each client starts a server of its own")]
    servers = ask_servers(shared_folder(os.environ), "status")
    if not servers:
        return [Finding(AREA, NAME, Level.NOTE, "none is running; the next client starts one")]
    return [_describe(path, server) for path, server in servers.items()]


def _describe(path: str, server: Mapping[str, Any] | None) -> Finding:
    if server is None:
        return Finding(
            AREA, NAME, Level.FAIL, f"the server at {path} {describe_server(server)}", "End it: keyhole server stop."
        )
    message = describe_server(server)
    if server["version"] == __version__:
        return Finding(AREA, NAME, Level.OK, message)
    message += f", of version {server['version']}"
    return Finding(AREA, NAME, Level.NOTE, message, "Restart its clients, or run: keyhole server stop.")
