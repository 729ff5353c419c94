"""What was probably meant by a name that is not known, to end a sentence with. Pure."""

from __future__ import annotations

from collections.abc import Iterable


def meant(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The nearest of the `known` names as a question; "" where none is as near as `cutoff` of 1."""
    import difflib  # only once something is wrong

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"; did you mean {near[0]}?" if near else ""
