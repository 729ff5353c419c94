"""A search whose results are pages that scripts write, with a real Chromium: pages at a time, and the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event, Lock

import pytest

from keyhole.config.config import SEARCH_FACTOR, Config
from keyhole.extensions.browser.chromium import find_browser
from keyhole.extensions.browser.render import MAX_PAGES, BrowserRenderer, PageRenderer
from keyhole.fetch.client import HttpFetcher
from keyhole.records import Answer, Hit
from keyhole.retrieval.pages import Pages
from keyhole.retrieval.retrieve import Retrieval
from keyhole.store.sqlite.store import MemoryStore
from keyhole.websearch.panel import Panel
from tests.support.chromium import MISSING
from tests.support.fakes import Clock, FakeEngine, InProcessExtractor
from tests.support.loopback import PATIENCE, Call, Responder, Site, response, serve
from tests.support.product import SECRET

PROGRAM = find_browser()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason=MISSING)

AGENT = "Keyhole-Test/1"
HTML = "text/html; charset=utf-8"
SHELL = "<!doctype html><title>App</title><div id=root></div><script src={}></script>"
ENDLESS = "for (;;);"
SCRIPT = "fetch('/data' + location.search).then(r => r.text()).then(text => { root.innerHTML = text })"
SECONDS_FOR_A_THIRD = 0.3
"""Time for which data are held back, in which a third page would ask for its own."""


@dataclass
class App:
    """Serves pages whose text is data that their script asks for, and counts how many ask at the same time."""

    asking: int = 0
    most: int = 0
    is_full: Event = field(default_factory=Event)
    is_exceeded: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def respond(self, _: Site) -> Responder:
        """Return the responder of a site."""

        def talk(call: Call) -> None:
            path, _, name = call.path.partition("?")
            if path == "/data":
                self._hold()
                text = f"<h1>Valves of {name}</h1><p>{f'The {name} valve opens at noon, says the {name} manual. ' * 9}"
                call.send(response(text.encode(), Content_Type=HTML))
            elif path == "/plain":
                call.send(response(b"<p>" + b"The plain valve opens at night. " * 20, Content_Type=HTML))
            elif path == "/robots.txt":
                call.send(response(status="404 Not Found"))
            elif path in ("/script", "/endless"):
                call.send(response((SCRIPT if path == "/script" else ENDLESS).encode(), Content_Type="text/javascript"))
            else:
                body = SHELL.format("/script" if path == "/app" else "/endless")
                call.send(response(body.encode(), Content_Type=HTML))

        return talk

    def _hold(self) -> None:
        """Wait until as many pages ask as may be rendered at a time, and a moment for one more."""
        with self.lock:
            self.asking += 1
            self.most = max(self.most, self.asking)
        if self.most >= MAX_PAGES:
            self.is_full.set()
        if self.most > MAX_PAGES:
            self.is_exceeded.set()
        self.is_full.wait(PATIENCE)
        self.is_exceeded.wait(SECONDS_FOR_A_THIRD)
        with self.lock:
            self.asking -= 1


def search(site: Site, paths: Sequence[str], seconds: float) -> Answer:
    """Search with an engine that finds these pages of a site, and check that the answer comes within `seconds`."""
    config = Config(allow_private=frozenset({site.endpoint}), timeout=seconds / SEARCH_FACTOR)
    engine = FakeEngine([Hit(site.url(path), "Title", "Snippet", "fake") for path in paths])

    async def run() -> Answer:
        clock = Clock()
        async with HttpFetcher(config, AGENT) as fetcher:
            renderer = BrowserRenderer(PageRenderer(config, AGENT, str(PROGRAM)), fetcher, clock)
            product = Retrieval(
                Pages(config, fetcher, InProcessExtractor(), MemoryStore(clock), SECRET, clock, renderer=renderer),
                lambda: Panel([engine]),
            )
            start = asyncio.get_running_loop().time()
            try:
                answer = await product.search("valve opens", max_results=len(paths))
                assert asyncio.get_running_loop().time() - start <= seconds
                return answer
            finally:
                await renderer.aclose()

    return asyncio.run(run())


def test_a_search_renders_at_most_two_pages_at_a_time_and_shows_all() -> None:
    app, names = App(), ("alpha", "beta", "gamma")
    with serve(app.respond) as site:
        answer = search(site, [f"/app?{name}" for name in names], 40)
    for name in names:
        assert f"The {name} valve opens at noon" in answer.text
    assert app.most == MAX_PAGES


def test_a_search_answers_by_its_deadline_without_the_pages_whose_scripts_never_end() -> None:
    with serve(App().respond) as site:
        answer = search(site, ["/hanging?1", "/hanging?2", "/hanging?3", "/plain"], seconds=4)
    assert "The plain valve opens at night" in answer.text
    assert answer.text.count("(not read: ") == 3  # two were rendered, and one waited for its turn
