"""Whether output has colours and signs that not every place shows, and the console that draws it. Draws nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST: Final = 60
WIDEST: Final = 200
"""Columns that a plot is made for: below, its numbers leave no room for words; above, eyes lose the line."""
PIPED: Final = 100
"""Columns where nobody says how many there are: lines that a mail or a review still shows whole."""
DUMB: Final = frozenset({"dumb", "unknown"})


@dataclass(frozen=True, slots=True)
class Look:
    """How to draw."""

    colours: bool
    plain: bool
    """Whether only ASCII signs draw: in a pipe, which may lead anywhere, and where the encoding has no others."""
    width: int


def look(environment: Mapping[str, str], *, terminal: bool, encoding: str, columns: int | None) -> Look:
    """`columns`: of the terminal, None where it is not known; COLUMNS in the environment says it for any output."""
    dumb = _is_dumb(environment)
    named = environment.get("COLUMNS", "")
    wide = int(named) if named.isascii() and named.isdigit() else columns or PIPED
    unicode = encoding.lower().replace("-", "").replace("_", "").startswith(("utf8", "utf16"))
    return Look(
        has_colours(environment, terminal=terminal),
        plain=not (terminal and unicode) or dumb,
        width=max(NARROWEST, min(WIDEST, wide)),
    )


def console(look: Look, file: IO[str]) -> Console:
    """A console for this look: it finds out nothing by itself, and takes no text for markup."""
    from rich.console import Console

    return Console(
        file=file, width=look.width, force_terminal=look.colours, no_color=not look.colours,
        color_system="standard" if look.colours else None, highlight=False, emoji=False, markup=False,
        legacy_windows=False, soft_wrap=True,
    )  # fmt: skip


def has_colours(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """NO_COLOR (no-color.org) wins; FORCE_COLOR (force-color.org) puts colours into a pipe, 0 means none."""
    if environment.get("NO_COLOR"):
        return False
    if forced := environment.get("FORCE_COLOR"):
        return forced.lower() not in ("0", "false", "no")
    return terminal and not _is_dumb(environment)


def _is_dumb(environment: Mapping[str, str]) -> bool:
    return environment.get("TERM", "").lower() in DUMB
