"""Choose the read_artifact call that reads on after a result.

After passages for a query it shows the passages that match less, best first; where none is left, or the query is too
long to repeat, the omitted range after the best passage. Reading on in order goes through the main part of a page and
ends with it. From an offset in the rest of the page it goes through the rest to the end of the text.
"""

from __future__ import annotations

from typing import Final

from keyhole.records import Artifact, Selection, Window
from keyhole.render.boundary import NextArguments
from keyhole.retrieval.call import Call

QUERY_DIVISOR: Final = 8
"""A query is repeated in the next call if it takes at most this part of the budget: 125 characters of 1,000, 1,125 of
9,000. On the tasks of `benchmarks.tasks`, reading on by the query answers five times as many questions as reading on
beside the best passage."""


def arguments_after(call: Call, artifact: Artifact, selection: Selection, query: str) -> NextArguments | None:
    """Return the arguments of the call that reads on after a selection, None if it leaves out nothing.

    If the selection is of the main part, so is the omitted range that the call shows.
    """
    from keyhole.passages.gaps import next_gap

    gap = next_gap(selection.total, selection.spans, selection.scores, selection.repeated)
    if gap is None:
        return None
    if selection.more and selection.skip and may_repeat(call, query):
        return {"query": query, "skip": selection.skip, **call.requested_limits}
    end = reading_end(artifact, gap[0], selection.total)
    return range_arguments(call, call.next_window(artifact.text[:end], gap[0], min(gap[1], end)))


def may_repeat(call: Call, query: str) -> bool:
    """Return whether the next call may repeat a query: it is short and has no line break."""
    return query.isprintable() and len(query) * QUERY_DIVISOR <= call.budget.english_chars


def arguments_after_window(call: Call, artifact: Artifact, window: Window, base: int = 0) -> NextArguments | None:
    """Return the arguments of the call for the next window, None at the end of the main part or of the text.

    `artifact` has its text from the offset `base` on, at least as much as the next window shows.
    """
    end = reading_end(artifact, window.end, window.total)
    if window.end >= end:
        return None
    return range_arguments(call, call.next_window(artifact.text[: end - base], window.end, end, base=base, total=end))


def range_arguments(call: Call, window: Window) -> NextArguments:
    """Return the arguments of the call that shows `window` within the limits that the reader requested."""
    return {"offset": window.start, "limit": window.end - window.start, **call.requested_limits}


def reading_end(artifact: Artifact, offset: int, total: int) -> int:
    """Return where reading on from an offset ends in a text of `total` characters."""
    main_end = artifact.main_end
    return total if main_end is None or offset >= main_end else main_end
