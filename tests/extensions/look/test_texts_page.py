"""Tests of the list of stored texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyhole.extensions.look import text_pages
from keyhole.extensions.look.page import Look
from keyhole.extensions.look.text_pages import PER_PAGE
from keyhole.records import Artifact
from tests.support.look import NOW, empty_look, page_client, words_of


def store(look: Look, number: int, text: str = "A text.", url: str = "", **notes: str) -> str:
    """Store a text, the newer the higher its number; return its id."""
    url = url or f"https://site.example/{number}"
    id = f"id{number:04}"
    artifact = Artifact(
        id, url, url, f"Page {number}", text, "text/html", "en", NOW - 1_000 + number, notes=tuple(notes.items())
    )
    look.store.put(artifact, " ".join(text.lower().split()))
    return id


def test_the_newest_texts_come_first_with_their_address_and_size() -> None:
    look = empty_look()
    store(look, 1)
    store(look, 2, "x" * 1_234)
    text = words_of(page_client(look).get("/texts").text)
    assert text.index("Page 2 https://site.example/2") < text.index("Page 1 https://site.example/1")
    assert "1,234" in text


def test_the_texts_of_one_address_or_command_are_one_row_with_the_newest_first() -> None:
    look = empty_look()
    older, newer = (store(look, number, url="https://site.example/") for number in (1, 2))
    diffs = [store(look, number, url="output:diff") for number in (3, 4)]
    for id in diffs:
        look.store.put(replace(look.store.get(id), title="git diff"), "a text.")
    html = page_client(look).get("/texts").text
    assert html.count('data-label="Fetched"') == 2
    assert "1 more of this command" in html and "1 more of this address" in html
    places = [html.index(f'href="/texts/{id}"') for id in (diffs[1], diffs[0], newer, older)]
    assert places == sorted(places)


def test_the_list_continues_on_the_next_page_without_loss_or_repetition() -> None:
    look = empty_look()
    count = PER_PAGE + 10  # the store in memory keeps 64
    for number in range(count):
        store(look, number)
    client, path, found = page_client(look), "/texts", []
    for _ in range(2):
        html = client.get(path).text
        found += [part.partition('"')[0] for part in html.split('href="/texts/')[1:]]
        path = html.partition('rel="next" href="')[2].partition('"')[0]
    assert found == [f"id{number:04}" for number in reversed(range(count))]
    assert path == ""


def test_a_search_finds_texts_by_their_words_and_kind() -> None:
    look = empty_look()
    store(look, 1, "limit of retry")
    store(look, 2, "other words")
    store(look, 3, "retry failed", url="output:test", exit="1")
    client = page_client(look)
    both, outputs = (words_of(client.get(f"/texts?words=retry{kind}").text) for kind in ("", "&kind=outputs"))
    assert "Page 1" in both and "Page 3" in both and "Page 2" not in both
    assert "Page 1" not in outputs and "Page 3 test run, exit 1" in outputs
    assert "No stored text contains these words." in client.get("/texts?words=absent").text


def test_the_list_is_filtered_by_site_and_kind_and_its_links_keep_the_filter() -> None:
    look = empty_look()
    for number in range(PER_PAGE + 4):
        store(look, number, url="output:test" if number < 2 else "")
    client = page_client(look)
    outputs = words_of(client.get("/texts?kind=outputs").text)
    assert "Page 0 test run" in outputs and "Page 1 test run" in outputs and "Page 2" not in outputs
    assert "No stored text passes the filter." in client.get("/texts?site=other.example").text
    first = client.get("/texts?site=site.example").text
    older = first.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert "site=site.example" in older
    rest = client.get(older).text
    assert [rest.count(f'href="/texts/id{number:04}"') for number in range(5)] == [0, 0, 1, 1, 0]
    assert 'rel="next"' not in rest


def test_a_filter_that_finds_little_stops_and_continues_on_the_next_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_pages, "BATCH", 4)
    monkeypatch.setattr(text_pages, "BATCHES", 2)
    look = empty_look()
    for number in range(20):
        store(look, number, url="output:log" if number == 3 else "")
    client, path, found = page_client(look), "/texts?kind=outputs", []
    for _ in range(3):
        html = client.get(path).text
        found.append("/texts/id0003" in html)
        path = html.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    assert (found, path) == ([False, False, True], "")


def test_a_text_is_pinned_and_deleted_by_forms_that_return_to_the_list() -> None:
    look = empty_look()
    id = store(look, 1)
    html = page_client(look).get("/texts").text
    for action, label in (("pin-text", "Pin"), ("delete-text", "Delete for good")):
        assert (
            f'<form method="post" action="/actions/{action}"><input type="hidden" name="id" value="{id}">'
            f'<input type="hidden" name="next" value="/texts"><button type="submit" aria-label="{label}: Page 1">'
            in html
        )
    filtered = page_client(look).get(f"/texts?kind=pages&after={NOW}~x&other=1").text
    assert f'name="next" value="/texts?after={NOW}~x&amp;kind=pages"' in filtered
    look.store.pin(id, True)
    assert 'action="/actions/unpin-text"' in page_client(look).get("/texts").text


def test_a_text_that_is_not_pinned_names_the_time_when_it_expires() -> None:
    look = empty_look()
    id = store(look, 1)
    assert "expires in 7 days" in words_of(page_client(replace(look, ttl=7 * 86_400)).get("/texts").text)
    assert "expires" not in words_of(page_client(look).get("/texts").text)
    look.store.pin(id, True)
    assert "expires" not in words_of(page_client(replace(look, ttl=7 * 86_400)).get("/texts").text)


def test_a_malformed_place_shows_the_beginning_of_the_list() -> None:
    look = empty_look()
    store(look, 1)
    assert "Page 1" in page_client(look).get("/texts?after=x~y").text


def test_an_empty_store_says_what_will_be_in_it() -> None:
    assert "No texts yet." in page_client(empty_look()).get("/texts").text


def test_a_title_of_a_page_is_only_text() -> None:
    look = empty_look()
    look.store.put(
        Artifact("id", "https://a.example/", "https://a.example/", "<img src=x>", "t", "text/html", "", NOW), "t"
    )
    html = page_client(look).get("/texts").text
    assert "&lt;img src=x&gt;" in html and "<img" not in html
