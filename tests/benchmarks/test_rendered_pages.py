"""The questions about pages that scripts write, and how their answers are found in results."""

from __future__ import annotations

import pytest

from benchmarks.browser.pages.calls import contains
from benchmarks.browser.pages.catalogue import PAGES
from benchmarks.browser.pages.questions import ask
from benchmarks.extraction.visible_words.words import split_words


@pytest.mark.parametrize("name", PAGES)
def test_every_page_answers_its_question_once(name: str) -> None:
    page = PAGES[name]
    text = " ".join(split_words(page.visible))
    assert text.count(" ".join(split_words(ask(page).answer))) == 1
    assert "unseen" not in ask(page).query


def test_an_answer_counts_only_as_a_whole_and_only_in_the_text_of_the_page() -> None:
    result = "--- untrusted text ab12 ---\nThe | *old* quay, 7 weeks.\n--- end ab12 ---\nThe new quay"
    assert contains(result, "the old quay 7 weeks")
    assert not contains(result, "old quay 7 week")
    assert not contains(result, "The new quay")
