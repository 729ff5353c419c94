"""The loopback web of the search benchmark: its pages, questions, licences, sites and result checks."""

from __future__ import annotations

import html
import re
from functools import cache

import pytest

import keyhole
from benchmarks.search.web.calls import Outcome
from benchmarks.search.web.corpus import (
    HERE,
    LICENCES,
    CorpusPage,
    Question,
    load_pages,
    load_questions,
    normalize_text,
)
from benchmarks.search.web.index import Index, tokenize
from benchmarks.search.web.server import CANARY, FORGED
from benchmarks.search.web.sites import CLOSED, NO_NAME, SLOW, TROUBLE, build_places, choose_pace, render_page

SAMPLE = 12
"""Only every twelfth question is checked against the text that Keyhole extracts, because extraction is slow."""


@cache
def pages() -> dict[str, CorpusPage]:
    return {page.id: page for page in load_pages()}


@cache
def questions() -> tuple[Question, ...]:
    return load_questions()


@cache
def index() -> Index:
    return Index(build_places(pages().values()).values(), 8080)


def answering() -> frozenset[str]:
    return frozenset(page for question in questions() for page, _ in question.answers)


def test_there_are_200_pages_in_6_languages_and_120_questions_with_two_splits() -> None:
    assert len(pages()) >= 200
    assert len({page.language for page in pages().values()}) >= 6
    assert sum(len(page.html) > 100_000 for page in pages().values()) >= 20
    assert len(questions()) >= 120
    assert all(sum(question.split == split for question in questions()) >= 40 for split in ("dev", "test"))


def test_every_answer_is_in_its_page() -> None:
    texts = {id: normalize_text(html.unescape(re.sub(r"<[^>]*>", " ", page.html))) for id, page in pages().items()}
    for question in questions():
        for id, (words, *others) in question.answers:
            assert normalize_text(words) in texts[id], (question.id, words)
            for other in others:
                assert any(normalize_text(other) in text for text in texts.values()), (question.id, other)


@pytest.mark.parametrize("question", load_questions()[::SAMPLE], ids=lambda question: question.id)
def test_answers_are_in_the_extracted_text(question: Question) -> None:
    by_page = {place.page.id: place for place in build_places(pages().values()).values() if not place.copy}
    for id, (words, *_) in question.answers:
        body = render_page(by_page[id], []).encode()
        read = keyhole.extract(body, url="http://site.example/", content_type="text/html; charset=utf-8")
        assert normalize_text(words) in normalize_text(read.text)


def test_no_question_contains_its_answer() -> None:
    for question in questions():
        text = normalize_text(question.text)
        assert not any(normalize_text(one) in text for _, words in question.answers for one in words), question.id


def test_every_text_has_a_licence_that_the_notes_name() -> None:
    notes = (HERE / "README.md").read_text(encoding="utf-8")
    assert {page.manual for page in pages().values()} == set(LICENCES)
    for manual, licence in LICENCES.items():
        row = next(line for line in notes.splitlines() if line.startswith(f"| `{manual}"))
        assert licence in row
        assert f"| {sum(page.manual == manual for page in pages().values())} |" in row


def test_the_corpus_takes_at_most_two_megabytes() -> None:
    assert sum(path.stat().st_size for path in HERE.glob("*.*")) < 2_000_000


def test_about_a_third_of_the_addresses_is_slow_but_pages_with_answers_end() -> None:
    table = build_places(pages().values())
    paces = {place: choose_pace(place, answering()) for place in table.values()}
    assert 0.25 < sum(bool(how) for how in paces.values()) / len(paces) < 0.42
    assert {"late", "drips", "endless"} <= set(paces.values())
    assert all(SLOW[0] <= place.slow_delay <= SLOW[1] for place in paces)
    assert not any(how == "endless" and not place.copy and place.page.id in answering() for place, how in paces.items())


def test_pages_have_copies_on_other_hosts_with_other_boilerplate() -> None:
    table = build_places(pages().values())
    copies = [place for place in table.values() if place.copy and not place.amp]
    assert len(copies) > len(pages()) / 4
    original = next(place for place in table.values() if place.page is copies[0].page and not place.copy)
    assert original.host != copies[0].host
    assert render_page(original, []) != render_page(copies[0], [])
    assert copies[0].page.html in render_page(copies[0], [])


def test_an_engine_lists_the_page_and_bad_results() -> None:
    rows = index().search("How do I switch foreign keys on in SQLite?")
    hosts = [row["url"] for row in rows]
    assert any("foreignkeys" in url for url in hosts[:5])
    assert any(CLOSED in url or NO_NAME in url or TROUBLE in url for url in hosts)
    assert rows == index().search("How do I switch foreign keys on in SQLite?")


def test_scripts_without_spaces_are_indexed_by_pairs() -> None:
    assert tokenize("硬链接 Linux") == "硬链 链接 linux"


QUESTION = Question(
    "q", "How fast is it?", "en", (("a/1", ("at `40` rpm", "forty a minute")), ("a/2", ("two [pumps](/p)",)))
)


def outcome(text: str, is_error: bool = False) -> Outcome:
    return Outcome(QUESTION, text, 1.0, is_error)


def test_a_result_has_the_answer_if_it_has_all_words_apart_from_markdown() -> None:
    assert outcome("It runs at\n40 rpm.\n\nThere are *two* pumps.").has_answer
    assert outcome("Forty a minute; two pumps").has_answer
    assert not outcome("It runs at 40 rpm.").has_answer
    assert not outcome("It runs at 40 rpm. There are two pumps.", is_error=True).has_answer


def test_a_result_is_harmed_by_hidden_text_and_by_forged_boundaries() -> None:
    framed = f"--- untrusted text abc ---\n{FORGED}\n[2] The real answer\n--- end abc ---"
    assert not outcome(framed).is_harmed
    assert outcome(framed + f"\n{FORGED}").is_harmed
    assert outcome(framed.replace("end abc", "end abd")).is_harmed
    assert outcome(f"--- untrusted text abc ---\n{CANARY}\n--- end abc ---").is_harmed
