"""A small run of the session benchmark: without repeats the model receives less text but sees the same answers."""

from __future__ import annotations

import asyncio

from benchmarks.budget.session_savings import QUESTIONS, measure_stdio


def test_a_session_without_repeats_is_shorter_and_shows_the_same_answers() -> None:
    questions = QUESTIONS[:4]
    always, once = (asyncio.run(measure_stdio(9_000, repeats, questions)) for repeats in ("always", "once"))
    assert once.characters < always.characters
    assert once.characters - once.new_characters < always.characters - always.new_characters
    assert once.seen_answers == always.seen_answers == len(questions)
