"""Places where a text repeats a question word for word are found, and names and terms are not taken for a question."""

from __future__ import annotations

import pytest

from keyhole.passages.index import Index
from keyhole.passages.rank_sources import find_echoes

FILLER = "The committee met in the long hall and spoke about the price of grain for the county and its mills. " * 5


@pytest.mark.parametrize(
    ("question", "repeated"),
    [
        ("How many stripes has a zebra?", "HOW MANY  stripes\nhas a zebra"),
        ("Où naît le zèbre du zoo ?", "ou nait le zebre du zoo"),
        ("斑马有多少条黑色条纹?", "斑马有多少条黑色条纹"),
    ],
)
def test_windows_that_repeat_a_question_are_found(question: str, repeated: str) -> None:
    index = Index(f"{FILLER}\n\n{repeated}. Read on.\n\n{FILLER}")
    windows = find_echoes(index, question, folded=True)
    assert windows
    assert all(index.text.find(repeated[-5:]) < index.end(max(windows)) for _ in windows)
    assert min(windows) > 0


@pytest.mark.parametrize("query", ["", "zebra stripes", "斑马条纹", "How many stripes has the zebra?"])
def test_short_queries_and_other_wordings_are_no_echoes(query: str) -> None:
    index = Index(FILLER + "How many stripes has a zebra? 斑马条纹. Zebra stripes.")
    assert find_echoes(index, query, folded=True) == frozenset()
