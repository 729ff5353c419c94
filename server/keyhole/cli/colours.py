"""Choose the colours, characters and width of plots, from the environment and the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console

MIN_WIDTH: Final = 60
MAX_WIDTH: Final = 200
"""Bounds of a plot's width in columns. In a narrower plot words do not fit; in a wider one lines are hard to follow."""
DEFAULT_WIDTH: Final = 100
"""Width in columns if it is unknown, as in a pipe. Mails and code reviews show lines of this width without wrapping."""
DUMB_TERMINALS: Final = frozenset({"dumb", "unknown"})


@dataclass(frozen=True, slots=True)
class PlotStyle:
    """The style of a plot. `width`: in columns."""

    colours: bool
    plain: bool
    """True if only ASCII is drawn: in a pipe, or where the encoding or the terminal has no block characters."""
    width: int


def detect_style(environment: Mapping[str, str], *, terminal: bool, encoding: str, columns: int | None) -> PlotStyle:
    """Return the style for an output.

    `columns`: the terminal's width, or None if it is unknown. COLUMNS in the environment takes precedence.
    """
    dumb = _is_dumb(environment)
    variable = environment.get("COLUMNS", "")
    width = int(variable) if variable.isascii() and variable.isdigit() else columns or DEFAULT_WIDTH
    unicode = encoding.lower().replace("-", "").replace("_", "").startswith(("utf8", "utf16"))
    return PlotStyle(
        has_colours(environment, terminal=terminal),
        plain=not (terminal and unicode) or dumb,
        width=max(MIN_WIDTH, min(MAX_WIDTH, width)),
    )


def make_console(style: PlotStyle, file: IO[str]) -> Console:
    """Return a rich console of this style, which ignores the environment and interprets no markup."""
    from rich.console import Console

    return Console(
        file=file, width=style.width, force_terminal=style.colours, no_color=not style.colours,
        color_system="standard" if style.colours else None, highlight=False, emoji=False, markup=False,
        legacy_windows=False, soft_wrap=True,
    )  # fmt: skip


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
