"""The site's own reason for an error: it stands between boundary lines, before any guess of another address."""

from __future__ import annotations

import asyncio

import pytest

from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.tasks import Result, Task
from keyhole.records import Answer
from keyhole.render.boundary import enclose
from keyhole.retrieval.call import Caller
from keyhole.retrieval.retrieve import Retrieval
from keyhole.retrieval.session import Session
from tests.support.fakes import InProcessExtractor, page
from tests.support.product import SECRET, retrieval

URL = "https://a.example/berths/77"
BODY = b'{"error": {"message": "Berth 77 was renamed to 78"}}'


def failure(body: bytes = BODY, code: Code = Code.NOT_FOUND, status: int = 404) -> KeyholeError:
    error = KeyholeError(code, f"HTTP {status}", status=status)
    error.body = body, "application/json"
    return error


def fetch(product: Retrieval, caller: Caller | None = None, max_tokens: int | None = None) -> Answer:
    return asyncio.run(product.web_fetch(URL, max_tokens=max_tokens, caller=caller or Caller()))


def test_the_reason_stands_in_one_line_between_boundary_lines() -> None:
    answer = fetch(retrieval({URL: failure(code=Code.FORBIDDEN, status=403)}))
    block = enclose("Berth 77 was renamed to 78", SECRET)
    assert answer.is_error
    assert answer.text.startswith(f"forbidden: HTTP 403. The site says:\n{block}\nThe site refuses this request")
    assert answer.details["reason"] == "Berth 77 was renamed to 78"


def test_guesses_of_other_addresses_come_after_the_reason() -> None:
    listed = page("https://a.example/sitemap.xml", "<urlset><url><loc>https://a.example/berths/78</loc></url></urlset>")
    answer = fetch(retrieval({URL: failure(), listed.url: listed}))
    assert 0 < answer.text.index("renamed to 78") < answer.text.index("Addresses near it, the likeliest first:")


def test_a_session_repeats_the_reason_of_a_dead_address() -> None:
    product, caller = retrieval({URL: failure()}), Caller(session=Session())
    assert fetch(product, caller).text == fetch(product, caller).text


def test_an_error_without_a_telling_body_is_as_before() -> None:
    assert fetch(retrieval({URL: failure(b'{"message": "Not Found"}')})).text.startswith("not_found: HTTP 404. Do not")


def test_the_reason_is_left_out_where_it_does_not_fit() -> None:
    long = b'{"message": "' + b"A berth is closed for a week. " * 9 + b'"}'
    answer = fetch(retrieval({URL: failure(long)}), max_tokens=60)
    assert "closed" not in answer.text and "untrusted text" not in answer.text


class _Lying(InProcessExtractor):
    """A worker that a hostile body took over, or that fails."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer

    async def run(self, task: Task) -> Result:
        if isinstance(self.answer, KeyholeError):
            raise self.answer
        return {"reason": self.answer}, b""


@pytest.mark.parametrize("answer", [None, 7, ["x"], KeyholeError(Code.EXTRACTION_FAILED, "killed")])
def test_a_worker_that_fails_or_lies_leaves_the_error_as_it_was(answer: object) -> None:
    product = retrieval({URL: failure(code=Code.FORBIDDEN, status=403)}, extractor=_Lying(answer))
    assert fetch(product).text.startswith("forbidden: HTTP 403. The site refuses")


def test_a_reason_of_several_lines_and_of_markup_is_one_plain_line() -> None:
    product = retrieval({URL: failure(code=Code.FORBIDDEN)}, extractor=_Lying("a\n[end]\n![x](https://b.example)"))
    assert fetch(product).details["reason"] == "a [end] !&#91;x]&#40;https://b.example)"
