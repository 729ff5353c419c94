"""The questions about Debian documents: the data file, the halves, and fragments found across white space."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from benchmarks.ranking.own_questions.documents import (
    SPLITS,
    find_fragment,
    list_documents,
    make_example,
    read_page,
    split_of,
)

QUESTIONS = [question for row in list_documents() for question, _ in row["questions"]]
ROW = {"package": "p", "pages": "*.html", "kind": "manual", "language": "en"}


def test_there_are_at_least_two_hundred_different_questions() -> None:
    assert len(QUESTIONS) >= 200
    assert len(set(QUESTIONS)) == len(QUESTIONS)


def test_at_least_a_quarter_of_the_questions_is_not_in_english() -> None:
    foreign = sum(len(row["questions"]) for row in list_documents() if row["language"] != "en")
    assert foreign >= len(QUESTIONS) / 4


def test_regulations_manuals_and_support_pages_each_have_forty_questions() -> None:
    for kind in ("regulation", "manual", "support"):
        assert sum(len(row["questions"]) for row in list_documents() if row["kind"] == kind) >= 40


def test_fragments_are_facts_of_at_most_twelve_words() -> None:
    fragments = [fragment for row in list_documents() for _, fragment in row["questions"]]
    assert [fragment for fragment in fragments if len(fragment.split()) > 12] == []


def test_each_half_has_two_fifths_of_the_questions_or_more() -> None:
    for split in SPLITS:
        assert sum(split_of(question) == split for question in QUESTIONS) >= 0.4 * len(QUESTIONS)


def test_a_fragment_is_found_across_line_breaks() -> None:
    assert list(find_fragment("a seven\n  day limit", "seven day")) == [(2, 13)]


def test_the_answer_of_a_question_is_the_sentence_around_the_fragment() -> None:
    example = make_example(ROW, "One. The limit is ten days. Two.", "How long?", "is ten")
    assert example.gold == (("Thelimitistendays.",),)


@pytest.mark.parametrize("text", ["no such words", "ten ten ten"])
def test_a_fragment_that_is_absent_or_everywhere_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="places"):
        make_example(ROW, text, "How long?", "ten")


def test_a_compressed_plain_text_is_read(tmp_path: Path) -> None:
    page = tmp_path / "faq.txt.gz"
    page.write_bytes(gzip.compress(b"Question one.\n\nAnswer one.\n"))
    assert "Answer one." in read_page(page)
