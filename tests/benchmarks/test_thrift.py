"""The benchmark of sessions, small: with the ledger the model sees less twice and every answer that it saw without."""

from __future__ import annotations

import asyncio

from benchmarks.budget.thrift import QUESTIONS, over_stdio


def test_a_session_with_the_ledger_takes_less_and_shows_the_same_answers() -> None:
    questions = QUESTIONS[:4]
    always, once = (asyncio.run(over_stdio(9_000, repeats, questions)) for repeats in ("always", "once"))
    assert once.characters < always.characters
    assert once.characters - once.fresh < always.characters - always.fresh
    assert once.anywhere == always.anywhere == len(questions)
