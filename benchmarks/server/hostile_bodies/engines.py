"""Answers of search engines: a SearXNG instance, an engine of the operator's file, and a wiki, asked by one search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks.server.hostile_bodies.attack import (
    JSON,
    NESTED,
    TOKEN,
    Attack,
    BodyKind,
    SiteReply,
    between,
    containers,
    kind,
    numbered,
    numbers,
    runs,
    strings,
)
from keyhole.config.config import Config

LIMIT: Final = Config().max_bytes
FRAME: Final = 200
"""Bytes of an answer around its rows, at most."""
SEARXNG, CUSTOM, WIKI = HOSTS = ("searx.hostile.example", "engine.hostile.example", "wiki.hostile.example")
TARGETS: Final = tuple(f"{place} {TOKEN}" for place in (f"{SEARXNG}/search", f"{CUSTOM}/search", f"{WIKI}/w/api.php"))
"""The addresses of the engines, with the word of the query that names an attack."""
_GENERAL: Final = b'{"server":"https://wiki.hostile.example","articlepath":"/wiki/$1"}'
_ROWS: Final = (
    b'[{"url":"https://a.example/","link":"https://a.example/","title":"A title","content":"c","snippet":"s"}]'
)
ENGINES_FILE: Final = f"""\
[[engine]]
name = "custom"
url = "https://{CUSTOM}/search?q={{query}}"
results = "items"
link = "link"
title = "title"
snippet = "snippet"
"""


def settings(folder: Path) -> dict[str, str]:
    """Write the engines file and return the settings with which one search asks all three engines."""
    file = folder / "engines.toml"
    file.write_text(ENGINES_FILE)
    return {
        "KEYHOLE_ENGINES": "searxng,custom,wikipedia",
        "KEYHOLE_ENGINES_FILE": str(file),
        "KEYHOLE_SEARXNG_URL": f"https://{SEARXNG}",
        "KEYHOLE_MEDIAWIKI_URL": f"https://{WIKI}/w/api.php",
    }


def search(make: Callable[[bytes, str], SiteReply], body: bytes) -> Attack:
    """Return an attack by a search whose engines answer with `make(body, host)`."""
    routes = {target: make(body, target.partition("/")[0]) for target in TARGETS}
    arguments = {"query": f"{TOKEN} boats mark 1.0", "max_results": 20, "fetch": False}
    return Attack("search", arguments, routes, TARGETS)


def rows(body: bytes) -> Attack:
    """Lead to a body as the rows of each engine's answer."""
    forms = {
        SEARXNG: b'{"results":%s}', CUSTOM: b'{"items":%s}',
        WIKI: b'{"query":{"general":%s,"search":%%s}}' % _GENERAL,
    }  # fmt: skip
    return search(lambda body, host: SiteReply(forms[host] % body, JSON), body)


def whole(body: bytes) -> Attack:
    """Lead to a body as the whole answer of each engine."""
    return search(lambda body, _host: SiteReply(body, JSON), body)


def page(body: bytes) -> Attack:
    """Lead to a web page instead of an answer."""
    return search(lambda body, _host: SiteReply(body), body)


def refusal(body: bytes) -> Attack:
    """Lead to an error with a message."""
    return search(lambda body, _host: SiteReply(b'{"error":"%s"}' % body, JSON, 403), body)


RECOVERY: Final = rows(_ROWS)
"""A search that all engines answer, after which none rests because of earlier failures."""
_ROW: Final = '{"url":"https://a.example/{n}","link":"https://a.example/{n}","title":"t","content":"c"},'
_TEXTS: Final = tuple(
    between(f'[{{"url":"https://a.example/","link":"https://a.example/","{name}":"', unit, '"}]')
    for name in ("title", "content", "snippet") for unit in ("<b", "&", "\u00a0", "[…1:", "a")
)  # fmt: skip


def _kind(name: str, lead: Callable[[bytes], Attack], *bodies: Callable[[int], bytes]) -> BodyKind:
    return replace(kind(name, LIMIT - FRAME, lead, *bodies), recovery=RECOVERY)


KINDS: Final = (
    _kind("search-nested", whole, *NESTED),
    _kind("search-rows", rows, numbered("[", _ROW, "{}]"), between("[", "{},", "{}]"), between("[", "null,", "1]"),
          *NESTED[:2]),
    _kind("search-texts", rows, *_TEXTS),
    _kind("search-values", rows, *containers(), *numbers(), *strings()),
    _kind("search-pages", page, *runs("<", "captcha ", "<div class=", "a", "\u00a0", "<!--")),
    _kind("search-refusals", refusal, *runs("a", "api key ", "invalid ", " ", "a_", "limit")),
)  # fmt: skip
