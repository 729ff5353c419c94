"""Sources of the store and the web as one list, and why the store had none."""

from __future__ import annotations

from keyhole.records import Source
from keyhole.retrieval.merge_sources import MAX_NAMED, deduplicate, interleave, nothing_stored_error
from tests.support.fakes import artifact


def source(
    url: str, fetched_at: float | None = 1.0, *, snippet: str = "", date: str = "", store: bool = False
) -> Source:
    kept = None if fetched_at is None else artifact(url, url=url, fetched_at=fetched_at)
    return Source(url, "", snippet, kept, date=date, from_store=store)


def test_both_lists_take_turns_and_the_web_begins() -> None:
    web = [source(f"https://web.example/{n}") for n in range(3)]
    store = [source("https://store.example/", store=True)]
    assert interleave(web, store) == (web[0], store[0], web[1], web[2])
    assert interleave([], store) == tuple(store)
    assert interleave(web, []) == tuple(web)


def test_a_page_of_both_is_one_source_with_the_fresher_text_and_the_engines_snippet() -> None:
    web = source("https://a.example/", 5.0, snippet="said")
    older, newer = (source("http://www.a.example", at, store=True, date="2024") for at in (4.0, 6.0))
    assert [s.artifact for s in interleave([web], [older])] == [web.artifact]
    (kept,) = interleave([web], [newer])
    assert (kept.artifact, kept.snippet, kept.date, kept.from_store) == (newer.artifact, "said", "2024", True)


def test_a_stored_text_stands_for_a_page_that_could_not_be_read() -> None:
    (kept,) = interleave([source("https://a.example/", None)], [source("https://a.example/", 1.0, store=True)])
    assert kept.artifact is not None


def test_of_several_texts_of_a_page_the_latest_stands_where_the_first_did() -> None:
    old, other, new = source("https://a.example/", 1.0), source("https://b.example/"), source("https://a.example/", 2.0)
    assert deduplicate([old, other, new]) == (new, other)


def test_sources_whose_address_is_no_page_are_kept_apart() -> None:
    assert len(deduplicate([source("x"), source("y"), source("x")])) == 2


def test_the_error_names_the_words_that_no_stored_page_holds() -> None:
    error = nothing_stored_error([("zebra", "zebras"), "quagga"], (False, False))
    assert error.message == "no stored page holds a word of the question: zebras, quagga"
    error = nothing_stored_error(["valve", "quagga"], (True, False))
    assert error.message.endswith("filters let through holds a word of it; none at all holds: quagga")
    assert "none at all" not in nothing_stored_error(["valve"], (True,)).message
    assert "it has none" in nothing_stored_error([], ()).message


def test_of_a_long_question_the_first_words_are_named() -> None:
    message = nothing_stored_error([f"w{n}" for n in range(40)], (False,) * 40).message
    assert f"w{MAX_NAMED - 1} and 28 more" in message
    assert f"w{MAX_NAMED}," not in message
