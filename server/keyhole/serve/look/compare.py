"""Compare two stored texts, usually two fetches of one page: the passages of each that the other does not contain."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.errors import Code, KeyholeError
from keyhole.serve.look.page import look_of, page
from keyhole.serve.text_view.marks import Segment, Span, mark
from keyhole.serve.text_view.view import MAX_RANKED_CHARS, StoredText, TextView, read_text, view_whole
from keyhole.text.diff import Ranges, find_new_ranges
from keyhole.text.word_diff import find_edits

UNCHANGED_CHARS: Final = 50_000
"""Most characters of long unchanged passages on the page, for each text."""
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts, each with the passages marked that the other lacks."""

    old: TextView
    new: TextView

    @property
    def is_equal(self) -> bool:
        """Return whether neither text has a passage that the other lacks."""
        return not (self.old.spans or self.new.spans)


def compare(old: StoredText, new: StoredText) -> Comparison:
    """Return the comparison of two texts, with the words of changed lines marked. A moved line is no change."""
    before, after = old.artifact.text, new.artifact.text
    gone, added = find_new_ranges(after, before), find_new_ranges(before, after)
    gone_words, added_words = find_changed_words(before, gone, after, added)
    return Comparison(
        _mark_words(view_whole(old, gone, "", UNCHANGED_CHARS), gone_words),
        _mark_words(view_whole(new, added, "", UNCHANGED_CHARS), added_words),
    )


def find_changed_words(old: str, gone: Ranges, new: str, added: Ranges) -> tuple[Ranges, Ranges]:
    """Return the words of the `gone` ranges that the `added` ranges lack, and the reverse, in the order of the texts.

    Both are empty if the ranges differ in too many words, or in all: then marks would say nothing.
    """
    before, after = _find_words(old, gone), _find_words(new, added)
    edits = find_edits([old[start:end] for start, end in before], [new[start:end] for start, end in after])
    if edits is None or len(edits[0]) == len(before):
        return (), ()
    return tuple(before[word] for word in edits[0]), tuple(after[word] for word in edits[1])


def _find_words(text: str, ranges: Ranges) -> list[Span]:
    """Return the words of ranges of a text: runs of characters without blanks."""
    return [match.span() for start, end in ranges for match in _WORD.finditer(text, start, end)]


def _mark_words(view: TextView, words: Ranges) -> TextView:
    """Return the view with words of its passages marked. `words`: in the order of the text."""
    starts = [start for start, _ in words]

    def mark_within(segment: Segment) -> Segment:
        first, last = bisect_left(starts, segment.start), bisect_left(starts, segment.end)
        return mark(segment, segment.text, words[first:last]) if first < last else segment

    return replace(view, segments=tuple(map(mark_within, view.segments)))


def _compare(request: Request) -> Response:
    look, asked = look_of(request), request.query_params
    old, new = (read_text(look.store, asked.get(name, "")) for name in ("old", "new"))
    if max(old.total, new.total) > MAX_RANKED_CHARS:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"texts of over {MAX_RANKED_CHARS:,} characters are not compared")
    return page(request, "compare.html", comparison=compare(old, new))


routes: Final[Sequence[Route]] = (Route("/compare", _compare),)
