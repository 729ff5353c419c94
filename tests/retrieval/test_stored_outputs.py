"""Reading stored outputs with the tools: the header says what an output is, and names no page."""

from __future__ import annotations

import asyncio
import re

import pytest

from keyhole.outputs.bound import bound
from keyhole.records import Answer
from keyhole.retrieval.retrieve import Retrieval
from tests.support.fakes import Clock, page
from tests.support.product import SECRET, retrieval

RUN = (
    "".join(f"tests/test_{n}.py::test_case PASSED\n" for n in range(400)) + "E   assert 4 == 5\n1 failed, 400 passed\n"
)
HEADER = "Output of `pytest -v` (test run), exit status 1\n"


@pytest.fixture
def product() -> Retrieval:
    return retrieval({"https://a.example/": page("https://a.example/", b"<p>The assert statement fails a test.</p>")})


def keep(product: Retrieval, **facts: object) -> str:
    options = {"command": "pytest -v", "exit_status": 1, "folder": "/src", "store": product.store, **facts}
    return str(bound(RUN, secret=SECRET, now=product.pages.clock(), **options).id)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments",
    [{"offset": 0, "limit": 500}, {"query": "assertion that failed"}, {"find": "E   assert 4 == 5"}, {}],
    ids=lambda arguments: " ".join(arguments) or "id alone",
)
def test_an_output_is_read_under_the_line_that_describes_it(product: Retrieval, arguments: dict[str, object]) -> None:
    id = keep(product)
    answer = asyncio.run(product.read_artifact(id, **arguments))  # type: ignore[arg-type]
    assert answer.text.startswith(HEADER), answer.text[:200]
    assert not re.search(r"output:|https?://|fetched|\bpage\b", answer.text.split("\n--- untrusted")[0])
    assert not answer.is_error


def test_an_output_of_a_file_is_described_by_its_name(product: Retrieval) -> None:
    id = keep(product, command=None, name="run.log", exit_status=0, kind="log")
    assert asyncio.run(product.read_artifact(id, offset=9)).text.startswith("Output of `run.log` (log)\n")


def test_an_expired_output_advises_to_run_the_command_again() -> None:
    clock = Clock()
    product = retrieval({}, clock=clock)
    id = keep(product)
    clock.advance(1e6)
    answer = asyncio.run(product.read_artifact(id))
    assert answer.text.startswith("expired_artifact: ")
    assert "Run the command again." in answer.text
    assert "web_fetch" not in answer.text


def test_a_search_of_the_stored_pages_leaves_outputs_out(product: Retrieval) -> None:
    product.store.put(product.store.get(keep(product)), "assert fail test")
    assert search(product).text.startswith("no_results: ")
    asyncio.run(product.web_fetch("https://a.example/"))
    found = search(product)
    assert "https://a.example/" in found.text
    assert "pytest" not in found.text


def search(product: Retrieval) -> Answer:
    return asyncio.run(product.search("assert fails", scope="stored"))
