"""Suggest the known name nearest to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable


def suggest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return "; did you mean …?" with the nearest known name, or "" if none has a similarity of `cutoff` (0 to 1)."""
    import difflib  # imported here, because only an error needs it

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"; did you mean {near[0]}?" if near else ""
