"""Tests of the words that a store looks up: their forms, and the choice of the rarest."""

from __future__ import annotations

import pytest

from keyhole.store import term_lookup
from keyhole.store.sqlite.store import build_match
from keyhole.store.term_lookup import list_forms, select_rare, split_words

COUNTS = {"rare": 3, "usual": 900, "the": 9_000, "mice": 5, "mouse": 50}


def test_the_words_of_a_title_have_a_prefix() -> None:
    assert split_words("*pump *seal pump worn") == (["pump", "seal"], ["pump", "worn"])
    assert split_words("") == ([], [])


def test_a_long_query_is_reduced_to_its_rarest_words() -> None:
    counts = {f"w{n:03}": n + 1 for n in range(200)}
    assert select_rare(list_forms(counts), counts) == [f"w{n:03}" for n in range(term_lookup.MAX_WORDS)]


def test_unindexable_forms_are_skipped_and_quotes_are_doubled() -> None:
    assert list_forms(["", "a b", ("x\x00", "y"), 'q"']) == [("y",), ('q"',)]
    assert build_match(['q"']) == '"q"""'
    assert build_match(("mice", "mouse")) == '"mice" OR "mouse"'


def test_the_rarest_words_are_looked_up_and_at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    words = list_forms(["the", "usual", "absent", "rare", ("mice", "mouse")])
    assert select_rare(words, COUNTS) == ["rare", "mice", "mouse", "usual", "the"]
    monkeypatch.setattr(term_lookup, "MAX_ROWS", 60)
    assert select_rare(words, COUNTS) == ["rare", "mice", "mouse"]
    assert select_rare(list_forms(["the"]), COUNTS) == ["the"]
