"""Write links to a page's own origin as paths, and as full URLs where the page's address is not shown beside them.

A path is exact: resolved against the page's final address, it gives the same URL, character by character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import urljoin

from keyhole.text.markdown import parse_blocks

_ORIGIN: Final = re.compile(r"https?://[^/?#\s\\;]+", re.IGNORECASE)
_ROOTED: Final = re.compile(r"/(?![/.])(?:[!\"$-.0-:<->@-~]++|/(?!\.)|\?(?=.))*+\Z")
"""A path that `urljoin` would not change: without dot segments, fragment and empty query."""
_TYPES: Final = frozenset({
    "text/html", "application/xhtml+xml", "text/markdown", "text/x-markdown", "application/epub+zip",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/feed+json",
    "application/feed+xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml",
})  # fmt: skip
"""Formats whose links are resolved. The text of others is as received, and `](/` in it may be anything."""
# Code spans are matched first, so that links inside them are skipped.
_PATH_LINK: Final = re.compile(r"(?<!\\)`{1,3}[^`\n]{1,1000}`{1,3}|(?:(?<=\]\()|(?<=\]\(<))(?P<path>/(?!/))")


def find_origin(address: str) -> str:
    """Return scheme, host and port of an http(s) address as they are written in it, "" for any other address."""
    origin = _ORIGIN.match(address)
    return origin[0] if origin else ""


def find_link_origin(address: str, media_type: str) -> str:
    """Return the origin to which the paths in a stored text lead, "" if its format has none."""
    return find_origin(address) if media_type in _TYPES else ""


def is_rooted(reference: str) -> bool:
    """Return whether a reference is a path from the root of a site that `urljoin` would not change."""
    return _ROOTED.match(reference) is not None


def shorten_link(url: str, address: str) -> str:
    """Return the path of a URL of the same origin as `address`, if `urljoin` makes the URL of both; else the URL."""
    origin = find_origin(address)
    path = url[len(origin) :]
    if not origin or not path.startswith("/") or not url.startswith(origin):
        return url
    try:
        return path if is_rooted(path) or urljoin(address, path) == url else url
    except ValueError:  # such as `//[`, which `urljoin` takes for a malformed host
        return url


def find_paths(text: str) -> Iterator[int]:
    """Yield the offsets of the paths to which Markdown links lead, outside of code."""
    if "](/" not in text:
        return
    position = 0
    for block in parse_blocks(text):
        if block.kind == "code":
            yield from _find_in(text, position, block.start)
            position = block.end
    yield from _find_in(text, position, len(text))


def _find_in(text: str, start: int, end: int) -> Iterator[int]:
    return (match.start() for match in _PATH_LINK.finditer(text, start, end) if match["path"])


def expand_links(text: str, origin: str) -> str:
    """Return a Markdown text whose links to paths are full URLs on `origin`, as found by `find_link_origin`.

    A text is stored and shown with paths. This is for a reader who does not see the address beside the text.
    """
    return expand_paths(text, find_paths(text), origin) if origin else text


def expand_paths(text: str, paths: Iterable[int], origin: str) -> str:
    """Return a text with the origin before each of its paths. `paths`: their offsets, in ascending order."""
    pieces, position = list[str](), 0
    for start in paths:
        pieces += text[position:start], origin
        position = start
    return "".join([*pieces, text[position:]])
