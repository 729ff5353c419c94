"""Merge sources of the store and the web, and explain an empty store search."""

from __future__ import annotations

import pytest

from keyhole.passages.stems import query_words
from keyhole.records import Source
from keyhole.retrieval.merge_sources import MAX_NAMED, deduplicate, interleave, nothing_stored_error
from tests.support.fakes import artifact


def source(
    url: str, fetched_at: float | None = 1.0, *, snippet: str = "", date: str = "", store: bool = False
) -> Source:
    kept = None if fetched_at is None else artifact(url, url=url, fetched_at=fetched_at)
    return Source(url, "", snippet, kept, date=date, from_store=store)


def test_web_and_store_alternate_and_the_web_is_first() -> None:
    web = [source(f"https://web.example/{n}") for n in range(3)]
    store = [source("https://store.example/", store=True)]
    assert interleave(web, store) == (web[0], store[0], web[1], web[2])
    assert interleave([], store) == tuple(store)
    assert interleave(web, []) == tuple(web)


def test_a_page_of_both_lists_has_the_fresher_text_and_the_engine_s_snippet() -> None:
    web = source("https://a.example/", 5.0, snippet="said")
    older, newer = (source("http://www.a.example", at, store=True, date="2024") for at in (4.0, 6.0))
    assert [s.artifact for s in interleave([web], [older])] == [web.artifact]
    (kept,) = interleave([web], [newer])
    assert (kept.artifact, kept.snippet, kept.date, kept.from_store) == (newer.artifact, "said", "2024", True)


def test_a_stored_text_replaces_a_page_that_could_not_be_read() -> None:
    (kept,) = interleave([source("https://a.example/", None)], [source("https://a.example/", 1.0, store=True)])
    assert kept.artifact is not None


def test_the_latest_text_of_a_page_takes_the_place_of_the_first() -> None:
    old, other, new = source("https://a.example/", 1.0), source("https://b.example/"), source("https://a.example/", 2.0)
    assert deduplicate([old, other, new]) == (new, other)


def test_sources_with_invalid_urls_are_not_merged_with_others() -> None:
    assert len(deduplicate([source("x"), source("y"), source("x")])) == 2


def test_the_error_names_the_words_that_no_stored_page_contains() -> None:
    error = nothing_stored_error([("zebra", "zebras"), "quagga"], (False, False))
    assert error.message == "no stored page contains a word of the question: zebras, quagga"
    error = nothing_stored_error(["valve", "quagga"], (True, False))
    assert error.message == (
        "no stored page that the filters allow contains a word of the question; no stored page at all contains: quagga"
    )
    assert "at all" not in nothing_stored_error(["valve"], (True,)).message
    assert "it has none" in nothing_stored_error([], ()).message


@pytest.mark.parametrize(
    ("question", "stored", "absent"),
    [
        ("日本新聞 valve", set(), "valve, 日本新聞"),
        ("备份文件恢复", {"备份", "文件"}, "恢复"),
        ("ドキュメントの決定", {"キュ"}, "ドキュメントの決定"),
        ("암호의 최대", set(), "암호의, 최대"),
    ],
)
def test_the_error_names_runs_of_an_unspaced_question_and_no_pairs(
    question: str, stored: set[str], absent: str
) -> None:
    words = query_words(question)
    error = nothing_stored_error(words, [word[-1] in stored for word in words], question)
    assert error.message.endswith(f": {absent}")


def test_the_error_names_only_the_first_words_of_a_long_question() -> None:
    message = nothing_stored_error([f"w{n}" for n in range(40)], (False,) * 40).message
    assert f"w{MAX_NAMED - 1} and 28 more" in message
    assert f"w{MAX_NAMED}," not in message
