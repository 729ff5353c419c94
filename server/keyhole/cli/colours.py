"""Decide from the environment and the terminal whether output is coloured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DUMB_TERMINALS: Final = frozenset({"dumb", "unknown"})


def has_colours(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Return True if output is coloured.

    NO_COLOR (no-color.org) takes precedence. FORCE_COLOR (force-color.org) colours a pipe too; 0 means no colours.
    """
    if environment.get("NO_COLOR"):
        return False
    if forced := environment.get("FORCE_COLOR"):
        return forced.lower() not in ("0", "false", "no")
    return terminal and not _is_dumb(environment)


def _is_dumb(environment: Mapping[str, str]) -> bool:
    return environment.get("TERM", "").lower() in DUMB_TERMINALS
