"""Tasks on a stranger's bytes run in workers: with every failure as an error, and within the limits of a page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extract.workers.base import Result, Task
from keyhole.extract.workers.frames import MAX_RESULT
from keyhole.extract.workers.pool import WorkerPool
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
