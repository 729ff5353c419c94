"""The answers to the view: a call found by its result, its passages verbatim, and parts that it left out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.look import mcp_app
from keyhole.retrieval.call import Caller
from keyhole.retrieval.recording import Recording
from keyhole.retrieval.session import Visits
from keyhole.store.calls.base import OK, CallRecord, CallSummary, ReadText
from keyhole.store.calls.queue import CallQueue
from keyhole.store.sqlite.store import MemoryStore
from tests.support.fakes import Clock, MemoryCallLog, artifact
from tests.support.product import retrieval

TEXT = "First line of the page.\nA “passage” with \\ and 🐟.\n" * 40
RESULT = "https://example.org/page\n…\n[end]"
PAGE = ReadText("aaaaaaaaaaaaaaaa", "https://example.org/page", "A page", len(TEXT), ((0, 23), (300, 420)))


def record(
    result: str = RESULT, id: str = "call", texts: tuple[ReadText, ...] = (PAGE,), at: float = 1.0
) -> CallRecord:
    size = len(result.encode("utf-8", "surrogatepass"))
    summary = CallSummary(
        id=id, session="s", client="tests 1", origin="tool", tool="web_fetch", query="fish", target=PAGE.url,
        started_at=at, seconds=0.25, outcome=OK, budget=9_000, result_bytes=size, tokens=12,
        read_chars=len(TEXT), shown_chars=143,
    )  # fmt: skip
    return CallRecord(summary, "{}", result, texts)


def log_of(*records: CallRecord) -> MemoryCallLog:
    log = MemoryCallLog(Clock(100.0), ttl=1e9, max_calls=10_000)
    for each in records:
        log.add(each)
    return log


def shown(log: MemoryCallLog | None, result: str = RESULT, *, stored: bool = True) -> dict[str, Any]:
    return asked({"result": result}, log, stored=stored)


def asked(
    arguments: dict[str, Any], log: MemoryCallLog | None = None, *, stored: bool = True, text: str = TEXT
) -> dict[str, Any]:
    store = MemoryStore(Clock())
    if stored:
        store.put(artifact(PAGE.id, text), "")
    product = replace(retrieval(store=store), recording=Recording(log, CallQueue(), Visits(str)) if log else None)

    async def run() -> str:
        return await mcp_app.show_call(product, Caller(), arguments)

    data: dict[str, Any] = json.loads(anyio.run(run))
    return data


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_app, "DELAYS", (0.0, 0.0))


def test_a_recorded_call_is_shown_with_its_passages_verbatim() -> None:
    data = shown(log_of(record()))
    assert data["recorded"] is True
    assert (data["tool"], data["query"], data["bytes"], data["budget"]) == (
        "web_fetch",
        "fish",
        len(RESULT.encode()),
        9_000,
    )
    [text] = data["texts"]
    assert [(each["start"], each["end"]) for each in text["passages"]] == [(0, 23), (300, 420)]
    assert ["".join(each["pieces"]) for each in text["passages"]] == [TEXT[0:23], TEXT[300:420]]
    assert (text["chars"], text["url"], data["texts_left_out"]) == (len(TEXT), PAGE.url, 0)


def test_the_words_of_the_question_are_marked_and_those_that_the_text_lacks_are_named() -> None:
    call = record()
    [text] = shown(log_of(replace(call, summary=replace(call.summary, query="passage whale"))))["texts"]
    marked = [piece for passage in text["passages"] for piece in passage["pieces"][1::2]]
    assert set(marked) == {"passage"}
    assert text["absent"] == ["whale"]
    assert text["heat"], "the text has places that match"


def test_passages_are_in_the_order_of_the_text_and_shown_once() -> None:
    mixed = replace(PAGE, chars=500, spans=((300, 420), (0, 23), (310, 500)))
    [text] = shown(log_of(record(texts=(mixed,))))["texts"]
    assert [(each["start"], each["end"]) for each in text["passages"]] == [(0, 23), (300, 420), (420, 500)]
    assert text["chars"] == len(TEXT), "the whole text, however little of it the call read"


def test_the_newest_of_several_calls_with_the_same_result_is_shown() -> None:
    newer = record(id="newer", at=2.0)
    newer = replace(newer, summary=replace(newer.summary, query="newer"))
    assert shown(log_of(record(), newer))["query"] == "newer"


def test_a_result_of_the_same_length_is_not_taken_for_another() -> None:
    others = [record(RESULT[:-2] + f"{n}]", id=str(n)) for n in range(9)]
    assert shown(log_of(*others)) == {"recorded": False, "reason": "unknown"}


def test_a_call_is_found_behind_more_calls_than_one_page_lists() -> None:
    later = [record(f"{RESULT} {n}", id=f"later-{n}", at=10.0 + n) for n in range(mcp_app.PAGE + 20)]
    assert shown(log_of(record(), *later))["recorded"] is True


def test_a_call_is_found_that_is_recorded_after_the_view_asked() -> None:
    log = log_of()

    class Late(MemoryCallLog):
        def calls(self, *args: Any, **named: Any) -> tuple[CallSummary, ...]:
            found = log.calls(*args, **named)
            log.add(record())
            return found

        def get(self, id: str) -> CallRecord | None:
            return log.get(id)

    assert shown(Late(Clock(), 1.0))["recorded"] is True


def test_no_record_is_searched_where_none_are_kept() -> None:
    assert shown(None) == {"recorded": False, "reason": "off"}


def test_a_call_whose_text_is_no_longer_stored_keeps_its_offsets() -> None:
    [text] = shown(log_of(record()), stored=False)["texts"]
    assert [(each["start"], each["end"], each["pieces"]) for each in text["passages"]] == [(0, 23, []), (300, 420, [])]


def test_a_source_that_was_not_read_is_shown_with_its_reason() -> None:
    left_out = ReadText("", "https://slow.example/", "Slow", state="timeout")
    texts = shown(log_of(record(texts=(left_out, PAGE))))["texts"]
    assert (texts[0]["state"], texts[0]["passages"]) == ("timeout", [])
    assert len(texts[1]["passages"]) == 2


def test_the_links_of_a_part_are_full_urls() -> None:
    asked_part = {"id": PAGE.id, "start": 0, "end": 99}
    assert asked(asked_part, text="See [one](/one).\n") == {"text": "See [one](https://example.org/one).\n"}


def test_a_part_that_was_left_out_is_shown_verbatim() -> None:
    assert asked({"id": PAGE.id, "start": 23, "end": 300}) == {"text": TEXT[23:300]}
    assert asked({"id": PAGE.id, "start": 23, "end": 10**9}) == {"text": TEXT[23:]}


def test_a_long_part_begins_with_as_much_as_has_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_app, "MAX_BUDGET", 1_500)
    text = asked({"id": PAGE.id, "start": 0, "end": len(TEXT)})["text"]
    assert TEXT.startswith(text) and 300 < len(text) < 1_000


def test_a_part_of_a_text_that_is_gone_is_an_error_with_a_code() -> None:
    with pytest.raises(KeyholeError) as caught:
        asked({"id": PAGE.id, "start": 0, "end": 5}, stored=False)
    assert caught.value.code is Code.UNKNOWN_ARTIFACT


def test_a_failing_log_is_an_error_with_a_code() -> None:
    class Failing(MemoryCallLog):
        def calls(self, *args: Any, **named: Any) -> tuple[CallSummary, ...]:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the disk is full")

    with pytest.raises(KeyholeError, match="the disk is full"):
        shown(Failing(Clock(), 1.0))
