"""The three figures of the first page."""

from __future__ import annotations

import re
from dataclasses import replace

from keyhole.extensions.look import sessions_pages
from keyhole.extensions.look.sessions_pages import overview_of, price_of, read_overview
from keyhole.store.calls.base import Figures, Hour
from keyhole.text.data_file import read_lines
from tests.extensions.look.test_figures_page import FIGURES
from tests.support.look import NOW, empty_look, page_client, words_of


def test_the_figures_say_what_was_kept_out_answered_and_missed_with_their_change_over_time() -> None:
    kept, answered, missed = overview_of(FIGURES, NOW)
    hour = FIGURES.hours[0]
    tokens = round((hour.plain_chars - hour.shown_chars) * hour.tokens / hour.shown_chars)
    assert kept.value == f"{tokens:,} tokens" and kept.note.startswith("80 % of what a plain fetch sends, estimated; $")
    assert kept.hover.startswith("36,000 of 45,000 characters; a plain fetch sends each text once a session")
    assert (answered.value, answered.note) == ("75 %", "6 of 8 pages and searches")
    assert (missed.value, missed.note) == ("3 calls", "1 could not be read, 2 were not enough")
    for each in (kept, answered, missed):
        assert [column.values[0] > 0 for column in each.chart.columns].count(True) == 1
    assert sum(column.values[0] for column in missed.chart.columns) == 3


def test_calls_that_showed_nothing_are_estimated_as_english() -> None:
    hours = (Hour(NOW // 3_600 * 3_600, 1, 0, 0, 4_000, 0, 0, 4_000),)
    figures = replace(FIGURES, hours=hours, calls=1, asked=1, sufficed=1)
    assert overview_of(figures, NOW)[0].value == "1,000 tokens"
    assert overview_of(replace(figures, hours=()), NOW)[0].value == "0 tokens"


def test_results_that_show_more_than_a_plain_fetch_keep_nothing_out() -> None:
    hours = (Hour(NOW // 3_600 * 3_600, 1, 0, 0, 500, 900, 300, 500),)
    assert overview_of(replace(FIGURES, hours=hours), NOW)[0].value == "0 tokens"


def test_the_price_names_its_model_and_its_date() -> None:
    model, dollars, date = read_lines(sessions_pages.__file__, "price.txt")
    assert re.fullmatch(r"20\d\d-\d\d", date)
    assert price_of(1_500_000) == f"${1.5 * float(dollars):.2f} at ${dollars} a million ({model}, {date})"


def test_an_empty_log_has_no_figures_and_the_page_says_what_to_do() -> None:
    look = empty_look()
    assert read_overview(look) == ()
    with page_client(look) as client:
        assert "Register Keyhole with a client: keyhole install CLIENT ." in words_of(client.get("/").text)


def test_the_first_page_shows_them_unless_it_is_filtered() -> None:
    look = empty_look()

    class Log(type(look.calls)):  # type: ignore[misc]
        def figures(self, since: float) -> Figures:
            return FIGURES

    look.calls.__class__ = Log
    with page_client(look) as client:
        assert "Kept out of the context" in client.get("/").text
        assert "Kept out of the context" not in client.get("/?words=x").text
