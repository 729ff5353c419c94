"""The status line of a quote states its places, or what differs in the nearest passage."""

from __future__ import annotations

import pytest

from keyhole.passages.near_quotes import NearQuote
from keyhole.passages.quotes import Quote
from keyhole.records import Window
from keyhole.render.quotes import MAX_MISSING, near_quote_status, quote_status
from tests.support.fakes import artifact

PAGE = artifact(text="word " * 500)
WINDOW = Window(0, 309, 2_500)
SHOWN = "; characters 0:309 are shown."


def test_one_place_is_stated_with_how_the_quote_matches() -> None:
    assert (
        quote_status(PAGE, Quote(((5, 9),), 1, exact=True), WINDOW, brief=False)
        == f"The quote matches exactly at 5:9{SHOWN}"
    )
    inexact = quote_status(PAGE, Quote(((5, 9),), 1, exact=False), WINDOW, brief=False)
    assert inexact == f"The quote matches apart from spaces, case and punctuation at 5:9{SHOWN}"


def test_places_without_offsets_are_counted() -> None:
    quote = Quote(tuple((start, start + 4) for start in range(0, 100, 5)), 500, exact=True)
    status = quote_status(PAGE, quote, WINDOW, brief=False)
    assert status.startswith("The quote matches exactly at 500 places: 0:4, 5:9, ")
    assert status.endswith(f", 95:99 and 480 more{SHOWN}")
    brief = quote_status(PAGE, quote, WINDOW, brief=True)
    assert brief == f"The quote matches exactly at 500 places: 0:4 and 499 more{SHOWN}"


def test_words_that_are_not_there_are_quoted_and_escaped() -> None:
    near = NearQuote(120, 310, 9, 11, ("2023", "![x](y"), 0)
    status = near_quote_status(PAGE, near, WINDOW, brief=False)
    assert status.startswith("The quote is not in the text. Nearest, 9 of 11 words, at 120:310; not there: “2023”, “")
    assert "![x](" not in status
    brief = near_quote_status(PAGE, near, WINDOW, brief=True)
    assert brief == f"The quote is not in the text. Nearest, 9 of 11 words, at 120:310{SHOWN}"


@pytest.mark.parametrize(
    ("missing", "moved", "words"),
    [
        (("opened",), 1, "; in another order: “opened”"),
        (("opened", "Oslo"), 1, "; not there or in another order: “opened”, “Oslo”"),
    ],
)
def test_words_in_another_order_are_not_called_absent(missing: tuple[str, ...], moved: int, words: str) -> None:
    near = NearQuote(120, 310, 9, 11, missing, 0, moved, ("negation", "number"))
    status = near_quote_status(PAGE, near, WINDOW, brief=False)
    assert status.endswith(f"{words}; caution: a negation and a number differs{SHOWN}")


def test_a_brief_status_counts_the_words_in_another_order() -> None:
    near = NearQuote(120, 310, 9, 11, ("opened", "Oslo"), 0, moved=2)
    status = near_quote_status(PAGE, near, WINDOW, brief=True)
    assert "9 of 11 words, at 120:310; 2 in another order;" in status


def test_many_missing_words_are_counted() -> None:
    near = NearQuote(120, 310, 9, 30, ("word",) * 21, 2)
    status = near_quote_status(PAGE, near, WINDOW, brief=False)
    assert status.count("“word”") == MAX_MISSING
    assert status.endswith(f", {21 - MAX_MISSING} more; 2 other words between{SHOWN}")
