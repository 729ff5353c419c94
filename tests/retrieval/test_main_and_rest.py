"""Tools show and read on through the main part of a page, and say what the rest holds and how to read it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from keyhole.config.config import MIN_BUDGET, Config
from keyhole.records import REST, WORDLESS, Answer, Artifact
from keyhole.retrieval.retrieve import Retrieval
from keyhole.text.page_structure import describe_rest
from tests.retrieval.test_properties import CALL, GAP, READABLE, body_of
from tests.support.fakes import BrokenStore, artifact, page
from tests.support.product import retrieval

URL = "https://example.org/page"
REST_CALL = re.compile(
    r'^Rest of the page, not shown: (.+)\. To read it: read_artifact\(id="([a-z2-7]{16})", offset=(\d+)\)$',
    re.MULTILINE,
)
PUMPS = "The seal of the pump was replaced in spring, and the engineers wrote a long report about its wear. " * 4
MAIN = "# Pumps\n\n" + "".join(f"## Part {n}\n\n{PUMPS}\n\n" for n in range(40))
REST_TEXT = (
    "\n# [rest: navigation]\n\n- [Home](/)\n\n# [rest: related links]\n\n- [Valves](/valves)\n\n"
    "# [rest: footer]\n\nWrite to the office in Lucerne by letter; the telephone is answered at noon.\n"
)
QUERIES = st.sampled_from([None, "pump", "telephone office Lucerne", "zebra", "wear of seals in Lucerne"])
BUDGETS = st.one_of(st.integers(MIN_BUDGET, 3_000), st.integers(MIN_BUDGET, 40_000))


def split_artifact(main: str = MAIN, rest: str = REST_TEXT) -> Artifact:
    """Return an artifact of a page with a rest."""
    stored = artifact("a" * 16, main + rest, url=URL)
    return replace(stored, main_end=len(main), notes=((REST, describe_rest(rest)),))


def product_with(stored: Artifact, budget: int = 9_000) -> Retrieval:
    product = retrieval(config=Config(max_chars=budget))
    product.store.put(stored, "")
    return product


def fetch(stored: Artifact, query: str | None = None, budget: int = 9_000) -> Answer:
    return asyncio.run(product_with(stored).web_fetch(URL, query, budget))


def read(product: Retrieval, offset: int, limit: int | None = None) -> Answer:
    return asyncio.run(product.read_artifact("a" * 16, offset=offset, limit=limit))


def test_a_main_part_that_fits_is_shown_whole_and_one_line_names_the_rest() -> None:
    stored = split_artifact(main=PUMPS)
    answer = fetch(stored)
    assert body_of(answer) == PUMPS
    assert f"Whole main part, {len(PUMPS)} characters." in answer.text
    assert answer.text.endswith(
        "\nRest of the page, not shown: navigation, related links, footer. "
        f'To read it: read_artifact(id="{"a" * 16}", offset={len(PUMPS)})\n[end]'
    )
    assert (answer.details["total_chars"], answer.details["main_chars"]) == (len(stored.text), len(PUMPS))


def test_the_end_of_a_page_says_how_many_elements_have_no_text() -> None:
    stored = split_artifact(main=PUMPS)
    line = "Not text: 2 frames, 1 video."
    counted = replace(stored, notes=(*stored.notes, (WORDLESS, "2 frames, 1 video")))
    assert f"\n{line}\nRest of the page, not shown" in fetch(counted).text
    assert f"\n{line}\n[end]" in fetch(replace(counted, text=PUMPS, main_end=None)).text
    assert line in read(product_with(counted), 100).text
    assert line not in read(product_with(counted), 0, 100).text
    assert line not in read(product_with(counted), len(PUMPS)).text
    assert "Not text" not in fetch(stored).text


def test_the_head_and_tail_are_those_of_the_main_part() -> None:
    answer = fetch(split_artifact())
    assert f"of {len(MAIN):,} characters in the main part" in answer.text
    assert "Rest of the page" not in answer.text  # reading on leads to it
    assert body_of(answer).endswith(MAIN[-20:])
    assert "Lucerne" not in answer.text


def test_a_query_that_the_main_part_answers_is_answered_from_it() -> None:
    answer = fetch(split_artifact(), "seal of the pump")
    assert f"of {len(MAIN):,} characters in the main part" in answer.text
    assert "[rest:" not in answer.text


def test_a_query_that_the_rest_answers_is_answered_from_it_with_its_kind() -> None:
    answer = fetch(split_artifact(), "telephone office Lucerne", 3_000)
    assert "telephone is answered at noon" in body_of(answer)
    assert "[rest: footer]" in body_of(answer)
    assert f"of {len(MAIN + REST_TEXT):,} characters" in answer.text
    assert "Rest of the page" not in answer.text


def test_a_brief_result_has_no_line_about_the_rest() -> None:
    answer = fetch(split_artifact(main="Pumps.\n" * 40), None, 500)
    assert answer.text.startswith("Whole main part, 280 characters.\n")
    assert "Rest of" not in answer.text


def test_reading_on_ends_with_the_main_part_and_names_the_rest() -> None:
    product = product_with(split_artifact())
    answer = read(product, len(MAIN) - 100, 5_000)
    assert body_of(answer) == MAIN[-100:]
    assert f"of the main part, 0:{len(MAIN)}. End of the main part." in answer.text
    assert answer.facts["next"] is None
    call = REST_CALL.search(answer.text)
    assert call
    assert int(call[3]) == len(MAIN)
    rest = read(product, int(call[3]))
    assert body_of(rest) == REST_TEXT
    assert "End of text." in rest.text
    assert "Rest of the page" not in rest.text


def test_a_long_rest_is_read_in_windows_to_its_end() -> None:
    stored = split_artifact(rest=REST_TEXT + "".join(f"- [Link {n}](/{n})\n" for n in range(2_000)))
    answer = read(product_with(stored), len(MAIN))
    following = CALL.findall(answer.text)
    assert int(following[0][1]) == len(MAIN) + len(body_of(answer))


def test_a_quote_in_the_rest_is_found_and_placed() -> None:
    product = product_with(split_artifact())
    answer = asyncio.run(product.read_artifact("a" * 16, find="office in Lucerne"))
    assert ", in the rest of the page (footer); characters" in answer.text
    answer = asyncio.run(product.read_artifact("a" * 16, find="Part 3"))
    assert "in the rest of the page" not in answer.text
    assert all(int(offset) + int(limit) <= len(MAIN) for _, offset, limit in CALL.findall(answer.text))


def test_a_stored_page_is_found_and_shown_by_its_main_part() -> None:
    product = retrieval()
    product.store.put(split_artifact(), "pump seal")
    answer = asyncio.run(product.search("seal of the pump", scope="stored", max_chars=2_000))
    assert f"{len(MAIN):,} characters" in answer.text
    assert all(int(offset) + int(limit) <= len(MAIN) for _, offset, limit in CALL.findall(answer.text))
    assert "[rest:" not in answer.text


def test_a_fetched_page_is_stored_with_the_kinds_of_its_rest() -> None:
    links = "".join(f"<li><a href='/{n}'>Go to page {n}</a></li>" for n in range(9))
    article = "".join(f"<p>{PUMPS}</p>" for _ in range(5))
    markup = f"<body><nav><ul>{links}</ul></nav><main><h1>Pumps</h1>{article}</main></body>"
    product = retrieval({URL: page(URL, markup)})
    answer = asyncio.run(product.web_fetch(URL))
    stored = product.store.get(str(answer.facts["artifact_id"]))
    assert stored.main_end is not None
    assert "Go to page 8" in stored.text[stored.main_end :]
    assert "Go to page 8" not in answer.text
    assert stored.note(REST) == "navigation"


def test_a_fetched_page_is_stored_with_the_numbers_of_its_elements_without_text() -> None:
    html = f"<h1>Pumps</h1><p>{PUMPS}</p><iframe src=/a></iframe><iframe src=/b></iframe><video src=/c></video>"
    product = retrieval({URL: page(URL, html)})
    answer = asyncio.run(product.web_fetch(URL))
    assert "\nNot text: 2 frames, 1 video.\n" in answer.text


def test_a_rest_that_cannot_be_read_is_not_mentioned() -> None:
    links = "".join(f"<li><a href='/{n}'>Go to page {n}</a></li>" for n in range(9))
    markup = f"<body><nav><ul>{links}</ul></nav><main><h1>Pumps</h1><p>{PUMPS}</p><p>{PUMPS}</p></main></body>"
    answer = asyncio.run(retrieval({URL: page(URL, markup)}, store=BrokenStore()).web_fetch(URL))
    assert "Whole main part" in answer.text
    assert "Rest of the page" not in answer.text


@settings(max_examples=150)
@given(main=READABLE, rest=READABLE, query=QUERIES, budget=BUDGETS, offset=st.integers(0, 4_000))
def test_a_result_with_a_rest_is_verbatim_and_within_its_budget(
    main: str, rest: str, query: str | None, budget: int, offset: int
) -> None:
    main = f"Pumps. {main}"
    stored = split_artifact(main, f"{REST_TEXT}{rest}")
    product = product_with(stored, budget)
    answer = asyncio.run(product.web_fetch(URL, query, budget))
    assert len(answer.text) <= budget
    for start, end, _ in answer.details.get("spans", ()):  # type: ignore[attr-defined]
        assert stored.text[start:end] in answer.text
    if "spans" in answer.details:
        for start, end in GAP.findall(body_of(answer)):
            assert 0 <= int(start) < int(end) <= len(stored.text)
    window = read(product, offset)
    assert len(window.text) <= budget
    for start, end, _ in window.details.get("spans", ()):  # type: ignore[attr-defined]
        assert start >= len(main) or end <= len(main)
        assert stored.text[start:end] == body_of(window)


@settings(max_examples=100)
@given(main=READABLE, rest=READABLE, limit=st.none() | st.integers(20, 5_000))
def test_joined_windows_of_main_part_and_rest_are_the_stored_text(main: str, rest: str, limit: int | None) -> None:
    stored = split_artifact(f"Pumps. {main}", f"{REST_TEXT}{rest}")
    product = product_with(stored)
    joined, offset = "", 0
    while len(joined) < 20_000:
        answer = read(product, offset, limit)
        joined += body_of(answer)
        following, call = CALL.findall(answer.text), REST_CALL.search(answer.text)
        assert not (following and call)
        if not following and not call:
            break
        offset = int(following[0][1] if following else call[3] if call else 0)
    assert joined == stored.text[: len(joined)]
    assert len(joined) == len(stored.text) or len(joined) >= 20_000
