"""Compare two stored texts, usually two fetches of one page: the passages of each that the other does not contain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from keyhole.errors import Code, KeyholeError
from keyhole.serve.look.page import look_of, page
from keyhole.serve.text_view.view import MAX_RANKED_CHARS, StoredText, TextView, read_text, view_whole
from keyhole.text.diff import find_new_ranges

UNCHANGED_CHARS: Final = 50_000
"""Characters of longer unchanged passages that the page contains of each text."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts, in each of which the passages are marked that the other does not contain."""

    old: TextView
    new: TextView

    @property
    def is_equal(self) -> bool:
        """Return whether neither text has a passage that the other lacks."""
        return not (self.old.spans or self.new.spans)


def compare(old: StoredText, new: StoredText) -> Comparison:
    """Return the comparison of two texts. A moved line is no change."""
    before, after = old.artifact.text, new.artifact.text
    return Comparison(
        view_whole(old, find_new_ranges(after, before), "", UNCHANGED_CHARS),
        view_whole(new, find_new_ranges(before, after), "", UNCHANGED_CHARS),
    )


def _compare(request: Request) -> Response:
    look, asked = look_of(request), request.query_params
    old, new = (read_text(look.store, asked.get(name, "")) for name in ("old", "new"))
    if max(old.total, new.total) > MAX_RANKED_CHARS:
        raise KeyholeError(Code.INVALID_ARGUMENT, f"texts of over {MAX_RANKED_CHARS:,} characters are not compared")
    return page(request, "compare.html", comparison=compare(old, new))


routes: Final[Sequence[Route]] = (Route("/compare", _compare),)
