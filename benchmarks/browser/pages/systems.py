"""Render pages with the systems that are compared: Keyhole's browser, and Playwright driven as crawl4ai does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from benchmarks.browser.pages.peer import Answer, Peer
from keyhole.config.config import Config
from keyhole.errors import KeyholeError
from keyhole.extensions.browser.render import PageRenderer

DEADLINE: Final = 15.0
"""Seconds for a page."""
PAUSE: Final = 2.0
"""Seconds for the start of the browser that waits for a page."""
USER_AGENT: Final = "Keyhole/benchmark"


class System(Protocol):
    """Renders pages."""

    def render(self, url: str, *, fresh: bool) -> Answer:
        """Return a page, rendered in a browser of its own. `fresh` includes the browser's start in the time."""


class Keyhole:
    """Keyhole's renderer, which may reach one endpoint on loopback: that of the pages."""

    def __init__(self, program: str, endpoint: str) -> None:
        self._program = program
        self._config = Config(allow_private=frozenset({endpoint}))

    def render(self, url: str, *, fresh: bool) -> Answer:
        """Return a rendered page."""
        return asyncio.run(self._render(url, fresh=fresh))

    async def _render(self, url: str, *, fresh: bool) -> Answer:
        renderer = PageRenderer(self._config, USER_AGENT, self._program)
        if not fresh:
            renderer.warm()
            await asyncio.sleep(PAUSE)
        start = time.perf_counter()
        html, error = "", ""
        try:
            html = (await renderer.render(url, asyncio.get_running_loop().time() + DEADLINE, _allow)).html
        except KeyholeError as failure:
            error = f"{failure.code}: {failure}"
        answer = Answer(html, time.perf_counter() - start, error)
        await renderer.aclose()
        return answer


async def _allow(_: str) -> bool:
    """Allow every document: the rules of sites are not measured here."""
    return True


@contextmanager
def open_system(name: str, folder: Path, program: str, endpoint: str) -> Iterator[System]:
    """Run a system: `keyhole`, or `playwright` and the event that it waits for."""
    if name == "keyhole":
        yield Keyhole(program, endpoint)
    else:
        with Peer(folder, program, name.removeprefix("playwright ")) as peer:
            yield peer
