"""Name the command that adds an extra to this installation, and find out whether its packages are there."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any, Final

from keyhole.errors import Code, KeyholeError

PACKAGE: Final = "keyhole-reader"


def check_extra(extra: str, *packages: str, user: str) -> None:
    """Raise KeyholeError (invalid_argument) with the command to run if a package of an extra is not installed.

    `user`: what needs the packages, at the beginning of the message.
    """
    if not all(find_spec(package) for package in packages):
        message = f"{user} needs Keyhole's extra [{extra}]: {install_command(extra)}"
        raise KeyholeError(Code.INVALID_ARGUMENT, message, fault=f"the extra [{extra}] is missing")


def install_command(extra: str) -> str:
    """Return the command that installs Keyhole with an extra from where it was installed."""
    source = install_source()
    return f"uv tool install '{PACKAGE}[{extra}]{f' @ {source}' if source else ''}'"


def install_source() -> str:
    """Return the folder, file or repository that the package was installed from, "" for a package index."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin: Any = json.loads(distribution(PACKAGE).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return ""
    url = str(origin.get("url", ""))
    return f"{origin['vcs_info']['vcs']}+{url}@{origin['vcs_info']['commit_id']}" if "vcs_info" in origin else url
