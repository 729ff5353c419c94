"""The page of one stored text: its windows, the marks of a call, and what can be done with it."""

from __future__ import annotations

import html
import re
from dataclasses import replace

from keyhole.extensions.look.page import Look
from keyhole.extensions.look.text_pages import WINDOW_CHARS
from keyhole.extensions.look.text_view import axis_ticks
from keyhole.records import UNDIGESTED
from keyhole.render.answer import NOTICES
from tests.store.calls.samples import call, page, read_text
from tests.support.fakes import artifact
from tests.support.look import NOW, empty_look, page_client, words_of

LONG = replace(page(0, 2 * WINDOW_CHARS + 5_000), fetched_at=NOW - 600)


def look_at_long() -> Look:
    look = empty_look()
    look.store.put(LONG, "")
    look.calls.add(call("c1", query="timeout", texts=[read_text(LONG, (500, 900), (80_000, 80_400))]))
    return look


def text_of(shown: str) -> str:
    parts = re.findall(r"<pre>\n(.*?)</pre>", shown, re.DOTALL)  # browsers drop the first newline
    return html.unescape("".join(parts).replace("<mark>", "").replace("</mark>", ""))


def test_following_the_link_to_the_later_window_reads_the_whole_text() -> None:
    client, link, read = page_client(look_at_long()), f"/texts/{LONG.id}?call=c1", ""
    while link:
        shown = client.get(link).text
        read += text_of(shown)
        found = re.search(r'rel="next" href="([^"]*)"', shown)
        link = html.unescape(found[1]) if found else ""
    assert read == LONG.text


def test_the_passages_of_a_call_are_marked_and_linked_in_other_windows() -> None:
    shown = page_client(look_at_long()).get(f"/texts/{LONG.id}?call=c1").text
    assert 'href="#at-500"' in shown and 'id="at-500"' in shown
    assert f'href="/texts/{LONG.id}?start=80000&amp;call=c1"' in shown
    assert "<mark>timeout</mark>" in shown


def test_the_axis_links_to_offsets_at_their_true_places() -> None:
    shown = page_client(look_at_long()).get(f"/texts/{LONG.id}?start=60000").text
    total = len(LONG.text)
    places = re.findall(r'<a href="/texts/[^"]*?(?:start=(\d+))?"[^>]*><text x="([\d.]+)%"', shown)
    assert [(int(start or 0), float(place)) for start, place in places] == [
        (tick, round(100 * tick / total, 2)) for tick in axis_ticks(total)
    ]
    assert shown.count('aria-current="true"') == 1


def test_words_can_be_marked_without_a_call() -> None:
    words = words_of(page_client(look_at_long()).get(f"/texts/{LONG.id}?query=cancel+zebra").text)
    assert "Not in the text: zebra" in words
    assert "Best matches" in words
    assert "no passage" not in words and "Shown:" not in words


def test_the_page_lists_the_calls_that_read_the_text() -> None:
    shown = page_client(look_at_long()).get(f"/texts/{LONG.id}").text
    assert "Calls that read this text" in shown
    assert '<a href="/calls/c1">' in shown


def test_two_fetches_of_a_page_link_to_each_other() -> None:
    look = empty_look()
    old = replace(page(0, 2_000), fetched_at=NOW - 900)
    new = replace(old, id="n" * 16, text=old.text + "More.\n", fetched_at=NOW - 60, replaces=old.id)
    look.store.put(old, "")
    look.store.put(new, "")
    client = page_client(look)
    assert f'href="/texts/{old.id}"' in client.get(f"/texts/{new.id}").text
    assert f'href="/texts/{new.id}"' in client.get(f"/texts/{old.id}").text


def test_the_page_says_when_a_text_expires_and_a_pinned_text_can_be_unpinned() -> None:
    look = replace(look_at_long(), ttl=2 * 86_400)
    before = page_client(look).get(f"/texts/{LONG.id}").text
    assert 'action="/actions/pin-text"' in before and "Expires in 2 days unless it is read" in words_of(before)
    look.store.pin(LONG.id, True)
    after = page_client(look).get(f"/texts/{LONG.id}").text
    assert 'action="/actions/unpin-text"' in after and "Expires never, it is pinned" in words_of(after)


def test_an_unknown_text_is_not_found_and_odd_arguments_are_harmless() -> None:
    client = page_client(look_at_long())
    assert client.get("/texts/none").status_code == 404
    for start in ("-1", "999999999", "9" * 5_000):
        for path in (f"/texts/{LONG.id}?start={start}&call=none", f"/texts/{LONG.id}/rendered?start={start}"):
            assert client.get(path).status_code == 200


def test_a_lone_surrogate_in_a_text_or_a_query_fails_no_page() -> None:
    look = empty_look()
    odd = replace(page(0, 2_000), id="s" * 16, text="A \ud800 pump.\n", title="\udfff")
    look.store.put(odd, "")
    look.calls.add(call("c1", query="pump \ud800", result="\ud800", texts=[read_text(odd, (0, 5))]))
    client = page_client(look)
    for path in (f"/texts/{'s' * 16}", f"/texts/{'s' * 16}/rendered", "/calls/c1"):
        assert client.get(path).status_code == 200


def test_an_undigested_text_is_shown_with_its_warning() -> None:
    look = empty_look()
    look.store.put(replace(LONG, notes=(("notice", UNDIGESTED),)), "")
    assert NOTICES[UNDIGESTED] in words_of(page_client(look).get(f"/texts/{LONG.id}").text)
    assert NOTICES[UNDIGESTED] not in words_of(page_client(look_at_long()).get(f"/texts/{LONG.id}").text)


def test_links_of_a_text_are_shown_as_full_urls_of_its_page() -> None:
    look = empty_look()
    look.store.put(artifact("a" * 16, "[one](/one)\n", url="https://site.example/x"), "")
    assert "[one](https://site.example/one)" in page_client(look).get(f"/texts/{'a' * 16}").text
