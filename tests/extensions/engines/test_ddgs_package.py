"""Test the keyless engine with the real `ddgs` package against sites on loopback.

In the child, the URLs of ddgs's engines point to loopback, and engines that need several sites are removed.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

import keyhole
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.engines.ddgs import KeylessEngine
from keyhole.records import Hit, SearchRequest
from tests.support.fakes import search_api
from tests.support.loopback import Responder, Site, response, serve, unused_port

CHILD = f"""
import sys
sys.path.insert(0, {str(Path(keyhole.__file__).parents[1])!r})
from ddgs.engines import ENGINES
for kind, names in {{"text": ("duckduckgo", "mojeek"), "news": ("bing",)}}.items():
    ENGINES[kind] = {{name: ENGINES[kind][name] for name in names}}
    for name, engine in ENGINES[kind].items():
        engine.search_url = sys.argv[1] + name
from keyhole.extensions.engines.ddgs import run_child
run_child()
"""
DUCKDUCKGO = b"""<html><body><div class="links_main body"><h2><a href="https://a.example/pumps">Pumps</a></h2>
<a href="https://a.example/pumps">How pumps <b>work</b>.</a></div></body></html>"""
MOJEEK = b"""<html><body><ul class="results-standard"><li><h2><a href="https://b.example/valves">Valves</a></h2>
<p class="s">All about valves.</p></li></ul></body></html>"""
NEWS = b"""<html><body><div class="news-card newsitem" url="https://n.example/1" data-title="Pump recalled">
<div class="snippet">It leaks.</div><span aria-label="11/20/2026">1h</span></div></body></html>"""
EMPTY = b"<html><body><p>No results found for this.</p></body></html>"
CHALLENGE = response(b"<html><body>Unfortunately, bots use DuckDuckGo too.</body></html>", "202 Accepted")


def engine(base: str, denied: frozenset[str] = frozenset()) -> KeylessEngine:
    return KeylessEngine(search_api(), (sys.executable, "-c", CHILD, base), denied=denied)


def search(
    answers: dict[str, bytes], kind: str = "web", denied: frozenset[str] = frozenset()
) -> tuple[tuple[Hit, ...], Site]:
    def talk(site: Site) -> Responder:
        return lambda call: call.send(answers.get(call.path.strip("/").partition("?")[0], response(b"", "404 No")))

    with serve(talk) as site:
        request = SearchRequest("pumps", 5, kind=kind, language="de", country="at")
        return asyncio.run(engine(site.url(), denied).search(request)), site


def page(body: bytes) -> bytes:
    return response(body, Content_Type="text/html; charset=utf-8")


def test_results_of_real_engines_become_hits() -> None:
    hits, site = search({"duckduckgo": page(DUCKDUCKGO), "mojeek": page(MOJEEK)})
    assert sorted(hits, key=lambda hit: hit.url) == [
        Hit("https://a.example/pumps", "Pumps", "How pumps work.", "keyless"),
        Hit("https://b.example/valves", "Valves", "All about valves.", "keyless"),
    ]
    calls = {call.path.strip("/").partition("?")[0]: call for call in site.calls}
    assert b"l=at-de" in calls["duckduckgo"].body
    assert "q=pumps" in calls["mojeek"].path


def test_an_engine_that_redirects_to_a_denied_domain_does_not_lead_there() -> None:
    with serve({"/": page(DUCKDUCKGO)}) as denied:
        moved = response(status="302 Found", Location=f"http://localhost:{denied.port}/")
        hits, _ = search({"duckduckgo": moved, "mojeek": page(MOJEEK)}, denied=frozenset({"localhost"}))
        assert [hit.url for hit in hits] == ["https://b.example/valves"]
        assert denied.connections == 0


def test_news_have_dates() -> None:
    (hit,), site = search({"bing": page(NEWS)}, "news")
    assert (hit.url, hit.title, hit.snippet) == ("https://n.example/1", "Pump recalled", "It leaks.")
    assert hit.date.startswith("2026-11-")
    assert "cc=at&setlang=de" in site.calls[0].path


@pytest.mark.parametrize(
    ("duckduckgo", "mojeek", "code"),
    [
        (page(EMPTY), page(EMPTY), None),
        (CHALLENGE, page(EMPTY), None),
        (CHALLENGE, response(b"", "500 Oops"), Code.BOT_CHALLENGE),
        (CHALLENGE, response(b"slow down", "429 Too Many Requests"), Code.RATE_LIMITED),
        (response(b"", "500 Oops"), response(b"", "502 Oops"), Code.ENGINE_UNAVAILABLE),
    ],
)
def test_no_results_challenges_quotas_and_failures_are_distinguished(
    duckduckgo: bytes, mojeek: bytes, code: Code | None
) -> None:
    answers = {"duckduckgo": duckduckgo, "mojeek": mojeek}
    if code is None:
        assert search(answers)[0] == ()
        return
    with pytest.raises(KeyholeError) as caught:
        search(answers)
    assert caught.value.code is code


def test_unreachable_engines_are_unavailable_with_the_reason() -> None:
    with pytest.raises(KeyholeError) as caught:
        asyncio.run(engine(f"http://127.0.0.1:{unused_port()}/").search(SearchRequest("pumps", 5)))
    assert caught.value.code is Code.ENGINE_UNAVAILABLE
    assert caught.value.message == "the keyless engines failed: no connection"
