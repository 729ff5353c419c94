"""Select the passages of a stored text that answer a query within a size limit. Pure.

The names of this module are loaded on first use: reading an output without them takes a fraction of the time.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers read it as True; importing `typing` would take a tenth of the time of a hook
if TYPE_CHECKING:
    from keyhole.passages.selection import (
        SHORT_TEXT_CHARS,
        cut_to_ranked,
        index_text,
        rank_windows,
        score_index,
        select,
    )

__all__ = ["SHORT_TEXT_CHARS", "cut_to_ranked", "index_text", "rank_windows", "score_index", "select"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'keyhole.passages' has no attribute {name!r}")
    from keyhole.passages import selection

    value: object = getattr(selection, name)
    globals()[name] = value
    return value
