"""Find the window of a text that the next call reads.

Reading on goes through the main part of a page and ends with it. From an offset in the rest of the page it goes through
the rest to the end of the text.
"""

from __future__ import annotations

from keyhole.records import Artifact, Selection, Window
from keyhole.retrieval.call import Call


def reading_end(artifact: Artifact, offset: int, total: int) -> int:
    """Return where reading on from an offset ends in a text of `total` characters."""
    main_end = artifact.main_end
    return total if main_end is None or offset >= main_end else main_end


def next_omitted(call: Call, artifact: Artifact, selection: Selection) -> Window | None:
    """Return the window to read next of the text that a selection leaves out, None if it leaves out nothing.

    If the selection is of the main part, the window is too.
    """
    from keyhole.passages.reading import next_gap

    gap = next_gap(selection.total, selection.spans, selection.scores, selection.repeated)
    if gap is None:
        return None
    end = reading_end(artifact, gap[0], selection.total)
    return call.next_window(artifact.text[:end], gap[0], min(gap[1], end))


def following_window(call: Call, artifact: Artifact, window: Window, base: int = 0) -> Window | None:
    """Return the window after this one, None at the end of the main part or of the text.

    `artifact` has its text from the offset `base` on, at least as much as the next window shows.
    """
    end = reading_end(artifact, window.end, window.total)
    if window.end >= end:
        return None
    return call.next_window(artifact.text[: end - base], window.end, end, base=base, total=end)
