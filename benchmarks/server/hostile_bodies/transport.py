"""What surrounds a body: codings, charsets, headers, redirects, slow sending, errors and robots.txt."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from typing import Final

import brotli

from benchmarks.server.hostile_bodies.attack import (
    HOST,
    Attack,
    Body,
    BodyKind,
    Lead,
    SiteReply,
    between,
    fetch,
    kind,
    numbered,
    runs,
)
from keyhole.config.config import Config
from keyhole.fetch.client import MAX_REDIRECTS
from keyhole.fetch.exchange import MAX_LINK
from keyhole.fetch.robots import MAX_ROBOTS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LIMIT: Final = Config().max_bytes
DECODED: Final = Config().max_decoded_bytes
BOMB: Final = 10
"""How many times the limit of decoded bytes a bomb has at its full size."""
MAX_HEADERS: Final = 90_000
"""Bytes of the headers of one response; httpcore reads 100 KB (see fetch/pool.py)."""
TARGET: Final = f"{HOST}/page"
URL: Final = f"http://{TARGET}"
WORDS: Final = b"<title>T</title><p>Some words of a page about boats and the mark of a harbour.</p>"


def coded(*codings: str) -> Lead:
    """Return the lead to a page in content codings. The size is that of the decoded page, for a bomb too large."""
    encode: dict[str, Callable[[bytes], bytes]] = {
        "gzip": lambda data: gzip.compress(data, 9),
        "br": lambda data: brotli.compress(data, quality=5),
        "zstd": zstd.compress,
    }

    def lead(body: bytes) -> Attack:
        for coding in codings:
            body = encode[coding](body)
        reply = SiteReply(body, headers=(("Content-Encoding", ", ".join(codings)),))
        return fetch(URL, {TARGET: reply}, TARGET)

    return lead


def typed(content_type: str) -> Lead:
    """Return the lead to a page with a Content-Type."""
    return lambda body: fetch(URL, {TARGET: SiteReply(body, content_type)}, TARGET)


def header(name: str, status: int = 200) -> Lead:
    """Return the lead to a page with a header whose value is the body."""

    def lead(body: bytes) -> Attack:
        return fetch(URL, {TARGET: SiteReply(WORDS, status=status, headers=((name, body.decode()),))}, TARGET)

    return lead


def _many_headers(body: bytes) -> Attack:
    """Lead to a page with one header for each ten bytes of the body."""
    fields = tuple((f"X-{n:05}", "a") for n in range(len(body) // 11))
    return fetch(URL, {TARGET: SiteReply(WORDS, headers=fields)}, TARGET)


def _redirects(body: bytes) -> Attack:
    """Lead along as many redirects as are followed, whose addresses have the body as path, to a page."""
    steps = [TARGET, *(f"{HOST}/{n}{body.decode()}" for n in range(1, MAX_REDIRECTS))]
    routes = {
        here: SiteReply(b"moved", status=302, headers=(("Location", f"http://{there}"),))
        for here, there in zip(steps, [*steps[1:], f"{HOST}/end"], strict=True)
    }
    return fetch(URL, {**routes, f"{HOST}/end": SiteReply(WORDS)}, TARGET)


def _to_page(body: bytes) -> Attack:
    """Lead through a redirect with a large body to a page."""
    end = f"{HOST}/end"
    routes = {
        TARGET: SiteReply(body, status=302, headers=(("Location", f"http://{end}"),)), end: SiteReply(WORDS),
    }  # fmt: skip
    return fetch(URL, routes, TARGET, end)


def sent(pieces: int, pause: float, *, is_chunked: bool = False) -> Lead:
    """Return the lead to a page that arrives in pieces."""

    def lead(body: bytes) -> Attack:
        return fetch(URL, {TARGET: SiteReply(body, pieces=pieces, pause=pause, is_chunked=is_chunked)}, TARGET)

    return lead


def failed(status: int) -> Lead:
    """Return the lead to the body of an error."""
    return lambda body: fetch(URL, {TARGET: SiteReply(body, status=status)}, TARGET)


def robots(path: str) -> Lead:
    """Return the lead to the robots.txt of a site by a page of it."""
    target = f"{HOST}/robots.txt"

    def lead(body: bytes) -> Attack:
        routes = {target: SiteReply(body, "text/plain"), f"{HOST}/{path}": SiteReply(WORDS)}
        return fetch(f"http://{HOST}/{path}", routes, target)

    return lead


def twin(body: bytes) -> Attack:
    """Lead to the Markdown version that a page names."""
    target = f"{HOST}/page.md"
    link = (("Link", f'<http://{target}>; rel="alternate"; type="text/markdown"'),)
    routes = {TARGET: SiteReply(WORDS, headers=link), target: SiteReply(body, "text/markdown; charset=utf-8")}
    return fetch(URL, routes, target)


_ALL: Final = "User-agent: *\n"
_PATH: Final = "a" * 1_500
_DISALLOW: Final = (
    between(f"{_ALL}Disallow: /", "a*", "b\n"), between(f"{_ALL}Disallow: /", "*", "$\n"),
    between(_ALL, f"Disallow: /{'a*' * 40}b\n"), between(_ALL, "Disallow: /*a*a*a*a*a*a*b$\n"),
    numbered(_ALL, "Disallow: /*{n}*a\n"),
)  # fmt: skip
_GROUPS: Final = (
    numbered("", "User-agent: b{n}\nDisallow: /\n"),
    *runs("User-agent: *\n", f"{_ALL}Disallow: /x\n", "#", " ", "\n", "a:"),
    between(_ALL, "Allow: /\n"), between("Sitemap: http://a.example/", "a"), between(f"{_ALL}Disallow: /", "%", "\n"),
)  # fmt: skip
_LATIN: Final = runs("\u00e9", "\u4e2d", "a")


def _encoded(encoding: str) -> Body:
    return lambda size: "\u4e2d\u00e9a \n".encode(encoding, "replace") * (size // 12)


KINDS: Final = (
    kind("harmless", LIMIT, typed("text/html"), lambda _: WORDS),
    BodyKind("coding-bombs", BOMB * DECODED, tuple(
        (coded(*codings), body) for codings in (("gzip",), ("br",), ("zstd",), ("gzip", "gzip"), ("br", "zstd"))
        for body in runs("<a", " ")[: 2 if len(codings) == 1 else 1])),
    BodyKind("charsets", LIMIT, (
        *((typed(f"text/html; charset={name}"), _encoded(encoding)) for name, encoding in (
            ("utf-7", "utf-8"), ("utf-16", "utf-16-le"), ("iso-2022-jp", "iso2022_jp"), ("unknown", "gb18030"),
            ("utf-8", "utf-16"), ("hz-gb-2312", "hz"), ("utf-32", "utf-32"))),
        *((typed("text/html"), body) for body in runs("<meta charset=", "\x1b$B", "<meta charset=x>", "\ufeff")),
        *((typed("text/plain"), body) for body in (lambda size: bytes(range(128, 256)) * (size // 128), *_LATIN)),
    )),
    BodyKind("headers", MAX_HEADERS, (
        (_many_headers, between("", "a")),
        *((header(name), body) for body in (between("", "a"), between("a", ", "))
          for name in ("Content-Type", "ETag", "Set-Cookie", "Content-Encoding", "Last-Modified")),
        *((header("Retry-After", 503), between("", unit)) for unit in ("9", "Sun, ", " ")),
    )),
    kind("header-link", MAX_LINK, header("Link"), *runs("<", "<a>", "<a>;", "rel=llms-txt ", "a=' "),
         between("<a>; rel=", "alternate ", "; type=text/markdown"), *runs('<a>; rel="alternate", ')),
    BodyKind("redirects", MAX_HEADERS, ((_redirects, between("", "a")), (_redirects, between("", "%41")),
             (header("Location", 302), between("http://", "a.")), (header("Location", 302), between("http:", "/")),
             (header("Location", 302), between("//[", ":")))),
    kind("redirect-bodies", LIMIT, _to_page, *runs("<a", "a")),
    BodyKind("slow-bodies", LIMIT, (
        (sent(100, 0.2), between("", "<a")), (sent(100, 0.2, is_chunked=True), between("", "a")),
        (sent(20_000, 0.0, is_chunked=True), between("", " ")), (sent(3, 4.0), between("", "a")))),
    BodyKind("error-bodies", LIMIT, tuple(
        (failed(status), body) for status in (403, 404, 503) for body in runs("<", "captcha ", "\u00a0", "<div id="))),
    kind("robots-wildcards", MAX_ROBOTS, robots(_PATH), *_DISALLOW),
    kind("robots-groups", MAX_ROBOTS, robots("page"), *_GROUPS),
    kind("markdown-twins", LIMIT, twin, *(
        between("# T\n\nwords of a page\n\n## ", unit, "1.0\n") for unit in ("\u00a0", "[", "](", "a"))),
)  # fmt: skip
