"""What a compaction leaves out is stored."""

from __future__ import annotations

from typing import Any

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extensions.conversations.notices import Stored
from keyhole.extensions.conversations.transcript import FACTS, Keeper, read_transcript
from keyhole.store.sqlite.store import MemoryStore
from keyhole.text.output_facts import output_url

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo"}}
LOG = "step done\n" * 90


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(lambda: 0.0)


@pytest.fixture
def keeper(store: MemoryStore) -> Keeper:
    return Keeper(store, b"s", 7.0)


def test_a_text_is_stored_with_its_kind_and_time(keeper: Keeper, store: MemoryStore) -> None:
    id = keeper.keep("log", lambda: LOG)
    artifact = store.get(id)
    assert (artifact.text, artifact.url, artifact.title) == (LOG, output_url("log"), FACTS.title)
    assert artifact.fetched_at == 7.0
    assert keeper.ids == (id,)


def test_the_same_text_has_the_same_id(keeper: Keeper, store: MemoryStore) -> None:
    assert keeper.keep("log", lambda: LOG) == Keeper(store, b"s", 99.0).keep("log", lambda: LOG)
    assert keeper.keep("log", lambda: LOG) != Keeper(store, b"t", 7.0).keep("log", lambda: LOG)


def test_without_a_store_nothing_is_kept_or_written() -> None:
    def write_text() -> str:
        raise AssertionError("written")

    keeper = Keeper(None, b"s", 0.0)
    assert (keeper.keep("log", write_text), keeper.keep_result([IMAGE], "log"), keeper.ids) == ("", Stored(), ())


@pytest.mark.parametrize("content", [LOG, [{"type": "text", "text": LOG}], {"output": LOG, "exit_code": 0}])
def test_a_result_of_plain_text_is_stored_once(content: Any, keeper: Keeper, store: MemoryStore) -> None:
    stored = keeper.keep_result(content, "log")
    assert (store.get(stored.text).text, stored.original) == (LOG, "")
    assert keeper.ids == (stored.text,)


@pytest.mark.parametrize(
    "content",
    [
        f"\x1b[31m{LOG}\x1b[0m",
        "10 %\r20 %\r" * 9 + "100 %\n",
        [{"type": "text", "text": LOG}, {"type": "text", "text": "more\n" * 90}],
        [{"type": "text", "text": LOG}, {**IMAGE, "source": {**IMAGE["source"], "data": "A" * 900}}],  # type: ignore[dict-item]
        [{"stdout": LOG, "stderr": "E\n" * 300, "outcome": {"type": "exit", "exit_code": 1}}],
    ],
)
def test_a_result_that_is_more_than_its_text_is_stored_exactly_too(
    content: Any, keeper: Keeper, store: MemoryStore
) -> None:
    stored = keeper.keep_result(content, "log")
    assert read_transcript(store.get(stored.original).text) == [content]
    assert "\x1b" not in store.get(stored.text).text
    assert sorted(keeper.ids) == sorted(stored)


def test_a_result_without_text_is_stored_exactly_only(keeper: Keeper, store: MemoryStore) -> None:
    stored = keeper.keep_result([IMAGE], "text")
    assert (stored.text, keeper.ids) == ("", (stored.original,))
    assert read_transcript(store.get(stored.original).text) == [[IMAGE]]


def test_a_store_that_fails_is_reported() -> None:
    class Full:
        def put(self, _artifact: Any, _words: str, /, **_indexed: Any) -> None:
            raise KeyholeError(Code.STORE_UNAVAILABLE, "the disk is full")

    with pytest.raises(KeyholeError, match="the disk is full"):
        Keeper(Full(), b"s", 0.0).keep("log", lambda: LOG)
