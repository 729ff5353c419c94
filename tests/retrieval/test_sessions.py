"""Several calls of a session: passages are not repeated, omissions are named, repeated calls have the same answer."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keyhole.cli.demo_site import recorded_pages
from keyhole.config.config import Config
from keyhole.records import Answer, Hit
from keyhole.render.boundary import END
from keyhole.retrieval.call import UNKNOWN_CALLER, Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.session import Session
from keyhole.store.forget_mark import ForgetMark
from tests.support.fakes import HANGS, FakeEngine, page
from tests.support.product import retrieval

VACUUM = "https://pg.example/vacuum"
RUST = "https://rust.example/ownership"
NAMED = re.compile(r"(\d+:\d+(?:, \d+:\d+)*) in call")
QUERIES = ("vacuum threshold for autovacuum", "transaction id wraparound", "free space map", "zebra", None)
CALLS = st.tuples(
    st.sampled_from([VACUUM, RUST]),
    st.sampled_from(["ownership moves a value", *QUERIES]),
    st.sampled_from([500, 700, 1_199, 1_500, 3_000, 9_000, 60_000]),
    st.sampled_from(["fetch", "fetch", "fetch", "search", "read"]),
)


def session(**config: Any) -> tuple[Retrieval, Caller]:
    pages = recorded_pages()
    web = {
        url: page(url, pages[name].body, content_type=pages[name].content_type)
        for url, name in ((VACUUM, "routine-vacuuming"), (RUST, "rust-ownership"))
    }
    engine = FakeEngine([Hit(VACUUM, "Vacuum", "", "fake"), Hit(RUST, "Rust", "", "fake")])
    return retrieval(web, config=Config(**config), engines=[engine]), Caller(session=Session())


def fetch(product: Retrieval, caller: Caller, query: str | None, budget: int = 3_000, **more: Any) -> Answer:
    return asyncio.run(product.web_fetch(VACUUM, query, budget, caller=caller, **more))


def shown_characters(answer: Answer) -> set[tuple[str, int]]:
    """Return the shown characters as pairs of artifact id and offset."""
    return {(id, offset) for id, start, end in answer.shown for offset in range(start, end)}


def named_ranges(text: str) -> list[tuple[int, int]]:
    """Return the ranges that a result lists as shown before."""
    ours = re.sub(r"(?s)--- untrusted text (\w+) ---\n.*?\n--- end \1 ---", "", text)
    return [(int(start), int(end)) for some in NAMED.findall(ours) for start, end in re.findall(r"(\d+):(\d+)", some)]


def make_call(product: Retrieval, call: tuple[str, str | None, int, str], caller: Caller) -> Answer:
    url, query, budget, how = call
    if how == "search":
        return asyncio.run(product.search(query or "vacuum", max_chars=budget, caller=caller))
    if how == "read":
        id = str(asyncio.run(product.web_fetch(url)).facts["artifact_id"])
        return asyncio.run(product.read_artifact(id, offset=budget, limit=budget, caller=caller))
    return asyncio.run(product.web_fetch(url, query, budget, caller=caller))


@settings(max_examples=40, deadline=None)
@example(calls=[(VACUUM, QUERIES[0], budget, "fetch") for budget in (500, 9_000, 500, 60_000, 9_000)])
@example(calls=[(VACUUM, "ownership moves a value", 500, "fetch"), (VACUUM, "free space map", 500, "fetch")])
@given(calls=st.lists(CALLS, min_size=2, max_size=7))
def test_what_a_session_leaves_out_was_shown_before_and_is_stated(
    calls: list[tuple[str, str | None, int, str]],
) -> None:
    product, caller = session()
    seen: set[tuple[str, int]] = set()
    first: dict[tuple[str, str | None, int, str], Answer] = {}
    for call in calls:
        answer, fresh = make_call(product, call, caller), make_call(product, call, UNKNOWN_CALLER)
        budget = max(call[2], Config().max_chars) if call[3] == "read" else call[2]
        assert len(answer.text) <= budget
        assert answer.text.endswith("\n" + END)
        assert answer.text == first.setdefault(call, answer).text
        left_out = shown_characters(fresh) - shown_characters(answer)
        # The last passage of a search may be shortened, where the list of what was shown before takes its space.
        assert len(left_out - seen) < (400 if call[3] == "search" else 1)
        assert not left_out or "shown" in answer.text.split("--- untrusted")[0]
        ids = {id for id, _, _ in answer.shown} | {id for id, _ in seen}
        for start, end in named_ranges(answer.text):
            assert any({(id, offset) for offset in range(start, end)} <= seen for id in ids)
        seen |= shown_characters(answer)


def test_the_best_passages_for_another_query_are_shown_again() -> None:
    product, caller = session()
    fetch(product, caller, None, 60_000)
    fetch(product, caller, "vacuum threshold for autovacuum")
    assert shown_characters(fetch(product, caller, "autovacuum threshold", 2_000)) == shown_characters(
        fetch(product, UNKNOWN_CALLER, "autovacuum threshold", 2_000)
    )


def test_passages_that_only_fill_are_left_out_and_named_if_they_were_shown_before() -> None:
    product, caller = session()
    fetch(product, caller, None, 60_000)
    second = fetch(product, caller, "transaction id wraparound", 9_000)
    assert re.search(r"^\d+ passages left out, as shown in call 1; repeat=true shows them again\.$", second.text, re.M)
    assert shown_characters(second) < shown_characters(
        fetch(product, UNKNOWN_CALLER, "transaction id wraparound", 9_000)
    )


def test_repeat_shows_passages_again() -> None:
    product, caller = session()
    fetch(product, caller, None, 60_000)
    again = fetch(product, caller, "transaction id wraparound", 9_000, repeat=True)
    assert again == fetch(product, UNKNOWN_CALLER, "transaction id wraparound", 9_000)


def test_a_setting_disables_the_omission_of_repeats() -> None:
    product, caller = session(repeats="always")
    fetch(product, caller, None, 60_000)
    query = "transaction id wraparound"
    assert fetch(product, caller, query, 9_000) == fetch(product, UNKNOWN_CALLER, query, 9_000)


@pytest.mark.parametrize("budget", [3_000, 2_000])
def test_a_repeated_call_with_the_same_or_a_smaller_budget_has_the_full_answer(budget: int) -> None:
    product, caller = session()
    fetch(product, caller, QUERIES[0])
    fetch(product, caller, QUERIES[1])
    assert fetch(product, caller, QUERIES[0], budget) == fetch(product, UNKNOWN_CALLER, QUERIES[0], budget)


def test_a_repeated_call_with_a_larger_budget_shows_the_next_passages() -> None:
    product, caller = session()
    first, more = fetch(product, caller, QUERIES[0]), fetch(product, caller, QUERIES[0], 6_000)
    # The first result may end inside a window, which the second one shows whole.
    assert len(shown_characters(first) & shown_characters(more)) < 200
    assert "left out, as shown in call 1;" in more.text


def test_a_repeated_call_with_more_tokens_shows_the_next_passages_under_its_own_number() -> None:
    product, caller = session()
    first, more = (fetch(product, caller, QUERIES[0], 9_000, max_tokens=tokens) for tokens in (700, 1_400))
    # The first result may end inside a window, which the second one shows whole.
    assert len(shown_characters(first) & shown_characters(more)) < 200
    assert "as shown in call 1;" in more.text
    assert "as shown in calls 1, 2;" in fetch(product, caller, QUERIES[0], 9_000, max_tokens=2_000).text


@pytest.mark.parametrize("letter", ["The pump runs. ", "数据库水泵。", "Zk9d+/Qa"])
def test_the_continuation_is_exact_while_the_session_budget_runs_out(letter: str) -> None:
    url, config = "https://long.example/", Config(session_tokens=4_000)
    product = retrieval({url: page(url, letter * (60_000 // len(letter)), "text/plain")}, config=config)
    caller = Caller(session=Session())
    text = asyncio.run(product.web_fetch(url, caller=caller)).text
    for _ in range(12):
        id, offset, limit = re.findall(r'read_artifact\(id="(\w+)", offset=(\d+), limit=(\d+)\)', text)[-1]
        answer = asyncio.run(product.read_artifact(id, int(offset), int(limit), caller=caller))
        text = answer.text
        assert answer.details.get("shown_chars", int(limit)) == int(limit)
        assert answer.shown == ((id, int(offset), int(offset) + int(limit)),)


def test_a_range_and_a_quote_are_always_shown() -> None:
    product, caller = session()
    id = str(fetch(product, caller, QUERIES[0]).facts["artifact_id"])
    start = fetch(product, caller, QUERIES[0]).shown[0][1]
    read = asyncio.run(product.read_artifact(id, offset=start, limit=500, caller=caller))
    assert read.shown == ((id, start, start + 500),)
    found = asyncio.run(product.read_artifact(id, find="vacuum threshold", caller=caller))
    assert found == asyncio.run(product.read_artifact(id, find="vacuum threshold"))


def test_ranges_read_by_offset_count_as_shown() -> None:
    product, caller = session()
    id = str(fetch(product, UNKNOWN_CALLER, QUERIES[0]).facts["artifact_id"])
    asyncio.run(product.read_artifact(id, max_chars=60_000, caller=caller))
    assert "left out, as shown in call 1;" in fetch(product, caller, "transaction id wraparound", 9_000).text


def test_a_new_query_on_a_page_that_was_shown_whole_is_answered() -> None:
    url = "https://small.example/"
    product = retrieval({url: page(url, "<p>The pump runs at 40 rpm, and its seal holds.</p>" * 30)})
    caller = Caller(session=Session())
    asyncio.run(product.web_fetch(url, "pump rpm", caller=caller))
    again = asyncio.run(product.web_fetch(url, "what does the seal do", caller=caller))
    assert "its seal holds" in again.text
    assert again.shown


def test_failed_and_cancelled_calls_show_nothing() -> None:
    product, caller = session(timeout=0.2)
    fetcher = type(product.pages.fetcher)({VACUUM: HANGS})  # type: ignore[call-arg]
    product = replace(product, pages=replace(product.pages, fetcher=fetcher))
    assert fetch(product, caller, QUERIES[0]).is_error

    async def cancelled() -> None:
        task = asyncio.create_task(product.web_fetch(VACUUM, QUERIES[0], caller=caller))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancelled())
    working, _ = session()
    assert fetch(working, caller, QUERIES[0]) == fetch(working, UNKNOWN_CALLER, QUERIES[0])


def test_a_search_omits_passages_shown_by_a_fetch_and_names_them() -> None:
    product, caller = session()
    shown = fetch(product, caller, "vacuum threshold for autovacuum", 9_000)
    found = asyncio.run(product.search("vacuum threshold for autovacuum", max_chars=4_000, caller=caller))
    assert len(shown_characters(shown) & shown_characters(found)) <= 0.2 * len(shown_characters(found))
    assert "shown before in call 1 (vacuum threshold for autovacuum); repeat=true" in found.text
    assert re.search(r"[Ss]hown before: \d+:\d+.* in call 1", found.text)


def test_a_search_whose_passages_were_all_shown_still_lists_the_source() -> None:
    product, caller = session()
    id = str(fetch(product, caller, None, 100_000).facts["artifact_id"])
    found = asyncio.run(product.search("vacuum threshold for autovacuum", max_chars=4_000, caller=caller))
    assert re.search(rf'\(shown before: .* in call 1\) id="{id}"', found.text)


def test_results_shrink_with_a_note_as_the_session_budget_runs_out() -> None:
    product, caller = session(session_tokens=20_000, repeats="always")
    sizes, texts = [], []
    for number in range(24):
        answer = fetch(product, caller, f"transaction id wraparound unknown{number}", 9_000)
        sizes.append(len(answer.text))
        texts.append(answer.text)
    assert "Session budget" not in texts[0]
    assert "Session budget: 0 of 20,000 tokens left, so results are short." in texts[-1]
    assert all(later <= earlier + 700 for earlier, later in pairwise(sizes))
    assert sizes[-1] <= 1_600
    assert fetch(product, caller, "transaction id wraparound unknown0", 9_000).text == texts[0]


def test_an_old_passage_counts_as_forgotten() -> None:
    product, _ = session()
    caller = Caller(session=Session(horizon=2_000))
    fetch(product, caller, None, 60_000)
    for _ in range(6):
        fetch(product, caller, "free space map", repeat=True)
    assert "as shown in call 1;" not in fetch(product, caller, "transaction id wraparound", 9_000).text


def test_a_session_does_not_name_calls_from_before_the_store_forgot_something() -> None:
    product, caller = session()
    fetch(product, caller, "vacuum threshold for autovacuum", 9_000)
    assert "as shown in call 1;" in fetch(product, caller, "transaction id wraparound", 9_000).text
    product.store.add_mark(ForgetMark(0.0, 1.0))
    answer = fetch(product, caller, "transaction id wraparound", 9_000)
    assert "in call" not in answer.text and answer.text.endswith(END)
