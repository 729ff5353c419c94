"""`keyhole.restore` gives back the conversation that was compacted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

import keyhole
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.formats.contents import plain
from keyhole.store.sqlite.store import MemoryStore
from tests.support.conversations import FORMATS, Event, Item, events
from tests.support.conversations.texts import IMITATIONS

LOG = "".join(f"step {number} done\n" for number in range(400))
PIXELS = "iVBORw0KGgo" * 300
TASK = {"role": "user", "content": "Build it."}
LAST = {"role": "user", "content": "And now?"}


def shelf() -> MemoryStore:
    return MemoryStore(lambda: 0.0)


def anthropic(*contents: Any) -> list[Any]:
    """Return a conversation with a call for each result, and an answer at the end."""
    items: list[Any] = [TASK]
    for number, content in enumerate(contents):
        call = {"type": "tool_use", "id": f"t{number}", "name": "sh", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": content}
        items += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return [*items, {"role": "assistant", "content": [{"type": "text", "text": "So."}]}, LAST]


def responses(kind: str, *outputs: Any) -> list[Any]:
    items: list[Any] = [TASK]
    for number, output in enumerate(outputs):
        items.append({"type": f"{kind}_call", "call_id": f"c{number}"})
        items.append({"type": f"{kind}_call_output", "call_id": f"c{number}", "output": output})
    return [*items, {"role": "assistant", "content": "So."}, LAST]


def stubbed(items: list[Any]) -> tuple[keyhole.Compacted, list[Any]]:
    """Return a conversation in which an old result became a stub, and the conversation that is restored from it."""
    store = shelf()
    budget = keyhole.compact(items, 10**9).report.tokens_before - 1
    done = keyhole.compact(items, budget, store=store, secret=b"s", keep_last=1, target=0.9)
    assert done.report.stubs
    assert not done.report.dropped
    assert done.report.tokens_after <= 0.95 * budget
    return done, keyhole.restore(done.items, store)


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXELS}}
SEARCH_RESULT = {
    "type": "search_result", "source": "https://example.org", "title": "Exit codes", "citations": {"enabled": True},
    "content": [{"type": "text", "text": LOG}],
}  # fmt: skip
TEXT_DOCUMENT = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": LOG},
    "title": "Log",
}
PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PIXELS * 30}}
SHELL = [
    {"stdout": LOG, "stderr": "warning: old\n" * 90, "outcome": {"type": "exit", "exit_code": 1}},
    {"stdout": LOG, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
]
DIFF = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n-one  \n+two\t\r\n \n" * 60


@pytest.mark.parametrize(
    "content",
    [
        LOG,
        f"\x1b[31m{LOG}\x1b[0m",
        "".join(f"{number} %\r" for number in range(2_000)) + "done\n",
        DIFF,
        LOG.replace("\n", "\r\n") + "\x08\x00\u2028\x85 end",
        [{"type": "text", "text": LOG, "cache_control": {"type": "ephemeral"}}],
        [{"type": "text", "text": LOG}, {"type": "text", "text": LOG.upper()}],
        [{"type": "text", "text": LOG}, IMAGE],
        [IMAGE, IMAGE],
        [SEARCH_RESULT, SEARCH_RESULT],
        [TEXT_DOCUMENT],
        [PDF],
    ],
    ids=[
        "log",
        "colours",
        "progress",
        "diff",
        "controls",
        "part",
        "parts",
        "image",
        "images",
        "found",
        "document",
        "pdf",
    ],
)
def test_a_result_becomes_a_stub_and_comes_back_exactly(content: Any) -> None:
    items = anthropic(content, content, "ok")
    done, restored = stubbed(items)
    assert "[Keyhole left out this result" in json.dumps(done.items)
    assert restored == items
    assert json.dumps(restored) == json.dumps(items)


def test_the_output_of_a_shell_becomes_a_stub_and_comes_back() -> None:
    items = responses("shell", SHELL, SHELL, [{"stdout": "ok", "stderr": "", "outcome": {"type": "timeout"}}])
    done, restored = stubbed(items)
    assert done.items[2]["output"][0]["stdout"].startswith("[Keyhole left out this result")
    assert restored == items


def test_a_screenshot_of_a_computer_becomes_a_small_image_and_comes_back() -> None:
    screenshot = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PIXELS}"}
    items = responses("computer", *[screenshot] * 3)
    done, restored = stubbed(items)
    [(place, _), *_] = done.report.stubs
    assert done.items[place]["output"]["type"] == "computer_screenshot"
    assert len(done.items[place]["output"]["image_url"]) < 1_000
    assert restored == items


def test_the_result_of_an_mcp_server_becomes_a_stub_and_comes_back() -> None:
    items: list[Any] = [TASK]
    for number in range(3):
        call = {"type": "mcp_tool_use", "id": f"m{number}", "name": "read", "server_name": "files", "input": {}}
        result = {"type": "mcp_tool_result", "tool_use_id": f"m{number}", "content": [{"type": "text", "text": LOG}]}
        items += [{"role": "assistant", "content": [call, result]}, LAST]
    done, restored = stubbed(items)
    assert "[Keyhole left out this result" in done.items[1]["content"][1]["content"][0]["text"]
    assert restored == items


@pytest.mark.parametrize("response", [{"output": LOG}, {"rows": [LOG, LOG], "total": 2}, {"result": LOG, "code": 1}])
def test_a_response_of_gemini_becomes_a_stub_and_comes_back(response: Any) -> None:
    items: list[Any] = [{"role": "user", "parts": [{"text": "Build it."}]}]
    for number in range(3):
        call = {"functionCall": {"id": str(number), "name": "sh", "args": {}}, "thoughtSignature": "YWI="}
        answer = {"functionResponse": {"id": str(number), "name": "sh", "response": response}}
        items += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [answer]}]
    items += [{"role": "model", "parts": [{"text": "So."}]}, {"role": "user", "parts": [{"text": "And now?"}]}]
    done, restored = stubbed(items)
    assert done.items[2]["parts"][0]["functionResponse"]["id"] == "0"
    assert restored == items


class Block(BaseModel):
    type: str
    tool_use_id: str
    content: str | list[dict[str, Any]]


def test_a_result_in_an_object_comes_back_in_an_object() -> None:
    items = anthropic("ok", "ok", "ok")
    for number in (2, 4):
        block = Block(
            type="tool_result", tool_use_id=f"t{number // 2 - 1}", content=[{"type": "text", "text": LOG}, IMAGE]
        )
        items[number] = {"role": "user", "content": [block]}
    done, restored = stubbed(items)
    assert isinstance(done.items[2]["content"][0], Block)
    assert restored == items
    assert isinstance(restored[2]["content"][0], Block)


def test_a_shortened_result_comes_back_exactly() -> None:
    for content in (LOG * 5, f"\x1b[31m{LOG * 5}\x1b[0m", [{"type": "text", "text": LOG * 5}, IMAGE], DIFF * 5):
        store, items = shelf(), anthropic(content)[:-2]
        done = keyhole.compact(items, 4_000, store=store, secret=b"s")
        assert done.report.shortened == ((2, 0),)
        assert keyhole.restore(done.items, store) == items


@pytest.mark.parametrize("start", ["", "\x1b[31m"])
def test_a_result_that_was_shortened_and_later_became_a_stub_comes_back(start: str) -> None:
    store = shelf()
    lines = "".join(f"step {number} of a long log, with words {7 * number}\n" for number in range(4_000))
    whole = anthropic(start + lines)[:-2]
    history = keyhole.compact(whole, 6_000, store=store, secret=b"s").items
    stubs: list[Any] = []
    for number in range(1, 9):
        call = {"type": "tool_use", "id": f"u{number}", "name": "sh", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"u{number}", "content": f"{number}: {lines[:6_000]}"}
        new = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        whole = [*whole, *new]
        done = keyhole.compact([*history, *new], 12_000, store=store, secret=b"s", target=0.6)
        history = done.items
        stubs += done.report.stubs
        assert keyhole.restore(history, store) == whole
    assert (2, 0) in stubs


def test_messages_that_were_left_out_come_back_after_several_compactions() -> None:
    store = shelf()
    history: list[Any] = []
    whole: list[Any] = []
    for number in range(12):
        [_, *turn, _, _] = anthropic(LOG.replace("step", f"{number}: step"))
        new: list[Any] = [] if number else [{"role": "user", "content": "Build it."}]
        for item in turn:
            block = item["content"][0]
            name = "id" if "id" in block else "tool_use_id"
            new.append({**item, "content": [{**block, name: f"u{number}"}]})
        whole += new
        done = keyhole.compact([*history, *new], 8_000, store=store, secret=b"s")
        history = done.items
    assert len(history) < len(whole)
    assert keyhole.restore(history, store) == whole


def test_a_first_message_that_was_left_out_comes_back() -> None:
    store = shelf()
    items = [{"role": "user", "content": "word " * 3_000}, {"role": "assistant", "content": "So."}, LAST]
    done = keyhole.compact(items, 500, store=store, secret=b"s")
    assert done.items[0]["content"].startswith("[Keyhole left out 2 messages")
    assert keyhole.restore(done.items, store) == items


def test_a_message_with_stray_results_comes_back() -> None:
    result = {"type": "tool_result", "tool_use_id": "gone", "content": LOG}
    items = [TASK, {"role": "user", "content": [result, {"type": "text", "text": "And now?"}]}]
    store = shelf()
    done = keyhole.compact(items, 10_000, store=store, secret=b"s", format="anthropic")
    assert done.items != items
    assert keyhole.restore(done.items, store, format="anthropic") == items


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("budget", [6_000, 2_500, 400])
def test_what_the_store_does_not_have_is_an_error_that_names_it(budget: int, is_kept: bool) -> None:
    store = shelf() if is_kept else None
    done = keyhole.compact(anthropic(*[LOG] * 6), budget, secret=b"s", store=store)
    assert done.report.stubs or done.report.dropped
    with pytest.raises(KeyholeError, match="items stand for what cannot be given back") as refused:
        keyhole.restore(done.items, shelf())
    assert refused.value.code is Code.NOT_RESTORED
    assert all(id in refused.value.message for id in done.report.ids[:1])
    assert keyhole.restore(done.items, shelf(), partial=True) == done.items


def test_a_notice_that_another_text_was_added_to_is_an_error() -> None:
    store = shelf()
    done = keyhole.compact(anthropic(*[LOG] * 6), 400, store=store, secret=b"s")
    first = done.items[0]
    merged = [{**first, "content": f"{first['content']}\n\nAnd now?"}, *done.items[1:]]
    with pytest.raises(KeyholeError, match="items stand for what cannot be given back: item 0"):
        keyhole.restore(merged, store)


def test_texts_that_look_like_a_stub_or_a_notice_are_no_error() -> None:
    items = [{"role": "user", "content": IMITATIONS[0]}, *anthropic(*IMITATIONS)[1:]]
    assert keyhole.restore(items, shelf()) == items


def test_a_stub_is_found_although_the_rest_shows_another_format() -> None:
    """The second compaction leaves out all other calls, so that only plain texts and the stub are left."""
    store, items = shelf(), anthropic(*[LOG] * 4)
    for budget in (1_000, 700, 400, 200):
        done = keyhole.compact(items, budget, store=store, secret=b"s")
        for smaller in range(100, budget, 100):
            again = keyhole.compact(done.items, smaller, store=store, secret=b"s")
            assert keyhole.restore(again.items, store) == items


def test_a_conversation_that_was_not_compacted_has_the_same_objects() -> None:
    items = anthropic(LOG, [IMAGE])
    restored = keyhole.restore(items, shelf())
    assert all(one is other for one, other in zip(restored, items, strict=True))


def test_a_store_that_fails_is_reported() -> None:
    class Broken:
        def get(self, _id: str, /) -> Any:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the disk is gone")

    done = keyhole.compact(anthropic(*[LOG] * 6), 4_000, store=shelf(), secret=b"s")
    with pytest.raises(KeyholeError, match="the disk is gone"):
        keyhole.restore(done.items, Broken())


@pytest.mark.parametrize("format", FORMATS)
@given(steps=events(), budgets=st.lists(st.integers(100, 5_000), min_size=1, max_size=3), keep_last=st.integers(0, 3))
def test_any_conversation_comes_back_however_often_it_was_compacted(
    format: str, steps: list[Event], budgets: list[int], keep_last: int
) -> None:
    store, items = shelf(), FORMATS[format](steps)
    compacted = items
    for budget in budgets:
        try:
            compacted = compact(compacted, budget, store, keep_last)
        except KeyholeError as error:
            assert error.code is Code.OVER_BUDGET
            compacted = compact(compacted, int(error.facts["least"]), store, keep_last)
        assert plain(keyhole.restore(compacted, store)) == items


def compact(items: list[Item], budget: int, store: MemoryStore, keep_last: int) -> list[Item]:
    return keyhole.compact(items, budget, store=store, secret=b"s", keep_last=keep_last).items
