"""Answers of engines are parsed in a worker, and only bounded hits of the right types come back."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.engines.searxng import parse
from keyhole.extract.workers.tasks import OutOfTimeError, Result, Task
from keyhole.extract.workers.worker_pool import WorkerPool
from keyhole.fetch.base import ApiCall, ApiReply
from keyhole.records import Hit
from keyhole.websearch.base import SearchApi
from keyhole.websearch.hits import MAX_ROWS
from tests.support.fakes import FakeFetcher, InProcessExtractor, page

URL = "https://searx.example/search?q=x"
ROW = {"url": "https://a.example/", "title": "A", "content": "Words."}


class Answering(InProcessExtractor):
    """A worker with a fixed result. `bodies` lists the bodies that it received."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result
        self.bodies: list[bytes] = []

    async def run(self, task: Task) -> Result:
        self.bodies += task.bodies
        if isinstance(self.result, Exception):
            raise self.result
        return self.result, b""


def hits(body: str, extractor: InProcessExtractor | None = None, *, secrets: tuple[str, ...] = ()) -> tuple[Hit, ...]:
    fetcher = FakeFetcher({URL: page(URL, body, "application/json")})
    api = SearchApi(fetcher, extractor or InProcessExtractor())
    return asyncio.run(api.hits(ApiCall(URL), parse, secrets=secrets))


def failure(body: str, extractor: InProcessExtractor | None = None) -> KeyholeError:
    with pytest.raises(KeyholeError) as caught:
        hits(body, extractor)
    return caught.value


def test_hits_and_their_note_come_back_from_a_real_worker() -> None:
    body = json.dumps({"results": [ROW] * 2 * MAX_ROWS, "unresponsive_engines": [["bing", "timeout"]]})

    async def act() -> tuple[Hit, ...]:
        pool = WorkerPool(Config())
        try:
            return await SearchApi(FakeFetcher(), pool).parse(ApiReply(200, body.encode()), parse)
        finally:
            await pool.aclose()

    found = asyncio.run(act())
    assert found == (Hit("https://a.example/", "A", "Words.", "searxng"),) * MAX_ROWS
    assert getattr(found, "note", "") == "without 1 of its engines"


def test_a_refusal_keeps_its_code_and_facts() -> None:
    api = SearchApi(FakeFetcher(), InProcessExtractor())
    with pytest.raises(KeyholeError) as caught:
        asyncio.run(api.parse(ApiReply(429, b"{}", retry_after=7), parse))
    assert caught.value.code is Code.RATE_LIMITED
    assert caught.value.facts == {"status": 429, "retry_after": 7}


def test_a_worker_gets_no_secret_that_an_answer_repeats() -> None:
    worker = Answering({"hits": [], "note": ""})
    assert hits('{"echo": "secret-0123456789"}', worker, secrets=("secret-0123456789",)) == ()
    assert worker.bodies == [b'{"echo": ""}']


@pytest.mark.parametrize("body", ["[" * 200_000, '{"results":' * 200_000, '{"results": 1}', "nan", ""])
def test_an_absurd_answer_is_an_unavailable_engine(body: str) -> None:
    assert failure(body).code is Code.ENGINE_UNAVAILABLE


def test_an_answer_that_takes_too_long_is_an_unavailable_engine() -> None:
    error = failure("{}", Answering(OutOfTimeError("reading took more than 2 s of processor time")))
    assert (error.code, error.message) == (Code.ENGINE_UNAVAILABLE, "the answer could not be read within the limits")


@pytest.mark.parametrize(
    "result",
    [
        {}, {"hits": 1, "note": ""}, {"hits": [], "note": 1}, {"hits": [["u", "t", "s", "e"]], "note": ""},
        {"hits": [["u", "t", "s", "e", 1]], "note": ""}, {"hits": [["u" * 3_000, "t", "s", "e", ""]], "note": ""},
        {"hits": ["abcde"], "note": ""},
    ],
)  # fmt: skip
def test_a_result_of_another_form_is_an_unavailable_engine(result: dict[str, Any]) -> None:
    assert failure("{}", Answering(result)).code is Code.ENGINE_UNAVAILABLE
