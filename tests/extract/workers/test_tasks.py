"""Tasks on untrusted bytes run in workers: with every failure as an error, and within the limits of a page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.tasks import (
    LENGTHS,
    MAX_ANSWER,
    MAX_MESSAGE,
    MAX_RESULT,
    Result,
    Task,
    UnreadError,
    encode_document,
    encode_failure,
    pack,
    parse_answer,
    parse_head,
    unpack_lengths,
)
from keyhole.extract.workers.worker_pool import WorkerPool
from keyhole.records import Document, Metadata
from tests.support.fakes import page
from tests.support.hostile_readers import fail_as_told, measure_bodies


def run(*tasks: Task) -> list[Result | KeyholeError]:
    """Return the results or errors of tasks that one pool runs one after another."""

    async def act() -> list[Result | KeyholeError]:
        pool = WorkerPool(Config(extract_timeout=2.0))
        results: list[Result | KeyholeError] = []
        try:
            for task in tasks:
                try:
                    results.append(await pool.run(task))
                except KeyholeError as error:
                    results.append(error)
            document, _ = await pool.extract(page("https://pages.example/", "<p>A page of some words."))
            assert "A page of some words." in document.text
        finally:
            await pool.aclose()
        return results

    return asyncio.run(act())


def failure(arguments: Mapping[str, Any], bodies: Sequence[bytes] = ()) -> KeyholeError:
    (result,) = run(Task(fail_as_told, arguments, bodies))
    assert isinstance(result, KeyholeError)
    return result


def test_a_task_gets_its_arguments_and_each_body_and_returns_values_and_a_body() -> None:
    task = Task(measure_bodies, {"given": ["ä", 1, None]}, (b"one", b"", b"\xff\x00four"))
    (result,) = run(task)
    assert result == ({"sizes": [3, 0, 6], "given": ["ä", 1, None]}, b"\xff\x00four||one")


def test_an_error_of_a_task_has_its_code_and_facts() -> None:
    error = failure({"how": "error"})
    assert (error.code, error.message, error.facts) == (Code.ENGINE_UNAVAILABLE, "the engine refuses", {"status": 503})


@pytest.mark.parametrize(
    ("arguments", "bodies"),
    [
        ({"how": "crash"}, ()),
        ({"how": "spin"}, ()),
        ({"how": "nested"}, (b"[" * 200_000,)),
        ({"how": "list"}, ()),
        ({"how": "", "size": MAX_RESULT}, ()),
        ({}, ()),
    ],
    ids=["crash", "no end", "nested", "another type", "too large", "no argument"],
)
def test_a_task_that_does_not_finish_is_an_error_and_harms_no_page_after_it(
    arguments: Mapping[str, Any], bodies: Sequence[bytes]
) -> None:
    assert failure(arguments, bodies).code is Code.EXTRACTION_FAILED


# A worker's answer is bounded and validated, and is either a document or an error code.

TEXT = st.text(st.characters(codec=None), max_size=30)
GOOD: dict[str, Any] = encode_document(Document("t", "", "text/html"), "w")[0]


def transmit(head: dict[str, Any], body: bytes = b"") -> tuple[Document, str] | KeyholeError:
    prefix, body = pack(head, body)
    head_size, body_size = unpack_lengths(prefix[: LENGTHS.size])
    assert (head_size, body_size) == (len(prefix) - LENGTHS.size, len(body))
    return parse_answer(parse_head(prefix[LENGTHS.size :]), body)


@given(TEXT, TEXT, TEXT, TEXT, st.lists(st.tuples(TEXT, st.integers(0, 10**9))))
def test_a_document_arrives_as_it_was_sent(
    title: str, text: str, words: str, author: str, removed: list[tuple[str, int]]
) -> None:
    document = Document(title, text, "text/html", "en", removed=tuple(removed), metadata=Metadata(author=author))
    assert transmit(*encode_document(document, words)) == (document, words)


def test_a_failure_arrives_with_its_facts() -> None:
    error = transmit(encode_failure(KeyholeError(Code.UNSUPPORTED_MEDIA, "an image", bytes=7)))
    assert isinstance(error, KeyholeError)
    assert (error.code, error.message, error.facts) == (Code.UNSUPPORTED_MEDIA, "an image", {"bytes": 7})


@pytest.mark.parametrize(
    "head",
    [
        {},
        {**GOOD, "title": 1},
        {**GOOD, "words": ["w"]},
        {**GOOD, "removed": [["x"]]},
        {**GOOD, "removed": [["x", "many"]]},
        {**GOOD, "removed": [["x", float("inf")]]},
        {**GOOD, "metadata": {"title": None}},
        {**GOOD, "metadata": {"__class__": "x"}},
        {**GOOD, "metadata": []},
        {"code": "no_such_code", "message": "m", "facts": {}},
        {"code": "timeout", "message": 1, "facts": {}},
        {"code": "timeout", "message": "m", "facts": {"a": []}},
        {"code": "timeout", "message": "m", "facts": []},
        {"unread": {}},
    ],
)  # fmt: skip
def test_an_invalid_answer_is_rejected(head: dict[str, Any]) -> None:
    with pytest.raises(UnreadError):
        transmit(head)


@pytest.mark.parametrize("head", [b"", b"[]", b"1", b"{", b"\xff", b"[" * 100_000, b"1" * 100_000])
def test_a_head_that_is_not_an_object_is_rejected(head: bytes) -> None:
    with pytest.raises(UnreadError):
        parse_head(head)


def test_text_that_is_not_utf_8_is_rejected() -> None:
    with pytest.raises(UnreadError):
        transmit(GOOD, b"\xff")


def test_an_answer_over_the_size_limit_is_rejected_before_it_is_read() -> None:
    with pytest.raises(UnreadError):
        unpack_lengths(LENGTHS.pack(1, MAX_ANSWER))


def test_a_long_message_is_truncated() -> None:
    error = transmit({"code": "timeout", "message": "m" * 5_000, "facts": {}})
    assert isinstance(error, KeyholeError)
    assert len(error.message) == MAX_MESSAGE
