"""Which engines are asked, and in which order, of those that can run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from keyhole.config.schema import ENGINES
from keyhole.errors import Code, KeyholeError
from keyhole.text.suggest import meant
from keyhole.websearch.base import Engine

UNASKED_FOR: Final = ("keyless", "wikipedia")
"""Engines that need no setting. They are asked by default only where nothing was set up: a team that set up its own
engines did not say that its questions may go to others. The second steps in where the first fails."""


def chosen(wanted: Sequence[str], available: Mapping[str, Engine], own: Sequence[Engine]) -> list[Engine]:
    """The engines in the order of `wanted`, the setting; without it those that were set up, the operator's `own` first.

    A name that is known but not set up is left out. Raises KeyholeError (invalid_argument) for one that is not known.
    """
    engines = {**{engine.name: engine for engine in own}, **available}
    if not wanted:
        set_up = [name for name in engines if name not in UNASKED_FOR]
        return [engines[name] for name in set_up or UNASKED_FOR if name in engines]
    check_names(wanted, [engine.name for engine in own])
    return [engines[name] for name in dict.fromkeys(wanted) if name in engines]


def needs(name: str) -> str:
    """What has to be set for an engine that is not set up."""
    return f"{name} needs KEYHOLE_{name.upper()}_{'URL' if name == 'searxng' else 'KEY'}"


def at_once(wanted: Sequence[str], engines: Sequence[Engine], count: int) -> int:
    """How many are asked at once: of those that are asked because nothing was set up, one, with the other for when it
    fails."""
    return count if wanted or [engine.name for engine in engines] != list(UNASKED_FOR) else 1


def check_names(wanted: Sequence[str], own: Sequence[str]) -> None:
    """Raises KeyholeError (invalid_argument) for a name that is neither Keyhole's nor the operator's `own`."""
    known = [*ENGINES, *own]
    for name in wanted:
        if name not in known:
            said = f"KEYHOLE_ENGINES: {name!r} is none of {', '.join(known)}{meant(name, known)}"
            raise KeyholeError(Code.INVALID_ARGUMENT, said)
