"""Find a quote and render where it stands in a text, or what differs in the nearest passage.

The words of a quote come from the caller. Words of the page stand only inside the boundary.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from keyhole.errors import Code, KeyholeError
from keyhole.records import Artifact, Window
from keyhole.render.rest import describe_place
from keyhole.text.escape import quote_line

if TYPE_CHECKING:
    from keyhole.passages.near_quotes import NearQuote
    from keyhole.passages.quotes import Quote

MAX_MISSING: Final = 8
"""Words of a quote that are listed as missing."""
MAX_WORD: Final = 40
"""Bytes of a word that are shown."""


def locate_quote(artifact: Artifact, text: str) -> tuple[tuple[int, int], dict[str, object], Callable[..., str]]:
    """Return the span of a quote or of the passage nearest to it, its facts, and the function for its status line.

    Raises KeyholeError: quote_not_found.
    """
    from keyhole.passages.near_quotes import find_near_quote
    from keyhole.passages.quotes import find_quote

    if quote := find_quote(artifact.text, text):
        return (quote.start, quote.end), quote_details(quote), partial(quote_status, artifact, quote)
    if near := find_near_quote(artifact.text, text):
        return (near.start, near.end), near_quote_details(near), partial(near_quote_status, artifact, near)
    raise KeyholeError(Code.QUOTE_NOT_FOUND, "the text contains neither this quote nor most of its words")


def quote_status(artifact: Artifact, quote: Quote, window: Window, *, brief: bool) -> str:
    """Return how a quote matches, and its places: all of them, or the number of all and the first ones."""
    how = "exactly" if quote.exact else "apart from spaces, case and punctuation"
    first = f"{_span(quote.start, quote.end)}{describe_place(artifact, quote.start)}"
    shown = f"; characters {_span(window.start, window.end)} are shown."
    if quote.count == 1:
        return f"The quote matches {how} at {first}{shown}"
    others = quote.places[1:1] if brief else quote.places[1:]
    places = ", ".join([first, *(_span(*place) for place in others)])
    rest = quote.count - 1 - len(others)
    more = f" and {rest:,} more" if rest else ""
    return f"The quote matches {how} at {quote.count:,} places: {places}{more}{shown}"


def quote_details(quote: Quote) -> dict[str, object]:
    """Return the places of a quote as facts for programs."""
    score = 1.0 if quote.exact else 0.0
    return {
        "spans": [[*place, score] for place in quote.places],
        "places": quote.count,
        "found": True,
        "exact": quote.exact,
    }


def near_quote_status(artifact: Artifact, near: NearQuote, window: Window, *, brief: bool) -> str:
    """Return where the passage nearest to an absent quote stands, and which words differ."""
    place = f"{_span(near.start, near.end)}{describe_place(artifact, near.start)}"
    status = f"The quote is not in the text. Nearest, {near.shared} of {near.words} words, at {place}"
    words = [quote_line(word, MAX_WORD) for word in near.missing[: 0 if brief else MAX_MISSING]]
    hidden = len(near.missing) - len(words)
    parts = [*words, *([f"{hidden} more"] if hidden and words else [])]
    orders = ["not there"] if near.moved < len(near.missing) else []
    orders += ["in another order"] if near.moved else []
    in_brief = f"; {near.moved} in another order" if near.moved else ""
    missing = f"; {' or '.join(orders)}: {', '.join(parts)}" if parts else in_brief
    extra = f"; {near.extra} other word{'s' if near.extra > 1 else ''} between" if near.extra else ""
    differs = f"; caution: a {' and a '.join(near.differs)} differs" if near.differs else ""
    return f"{status}{missing}{extra}{differs}; characters {_span(window.start, window.end)} are shown."


def near_quote_details(near: NearQuote) -> dict[str, object]:
    """Return the nearest passage and its agreement with the quote as facts for programs."""
    return {
        "spans": [[near.start, near.end, round(near.shared / near.words, 3)]],
        "places": 0,
        "found": False,
        "exact": False,
        "shared_words": near.shared,
        "words": near.words,
        "missing": list(near.missing),
        "moved": near.moved,
        "differs": list(near.differs),
    }


def _span(start: int, end: int) -> str:
    return f"{start}:{end}"
