"""Find versions and files of a package near a dead address: PyPI, npm, unpkg and jsDelivr.

Sources: docs.pypi.org/api/feeds, the dist-tags of registry.npmjs.org, unpkg.com (`?meta`) and the API of jsDelivr.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from keyhole.fetch.permission import Place, place_of
from keyhole.sites.dead_links.finder import Reply, State
from keyhole.sites.dead_links.similarity import Candidate, Source
from keyhole.sites.readers.npm import NPM
from keyhole.sites.readers.pypi import PYPI
from keyhole.text.parse_json import parse_json

MAX_ENTRIES: Final = 20_000

_FEED_LINK = re.compile(r"<link>\s*(https://pypi\.org/project/[\w.-]+/[\w.+!-]+/)\s*</link>")
_VERSION = re.compile(r"\d[\w.+-]*$")
_NAMED: Final = r"(?P<name>(?:@[\w.-]+/)?[\w.-]+)(?:@(?P<version>[\w.^~+-]+))?"
_UNPKG = re.compile(rf"https?://unpkg\.com/{_NAMED}/(?P<path>[^?#]*)")
_JSDELIVR = re.compile(rf"https?://cdn\.jsdelivr\.net/npm/{_NAMED}/(?P<path>[^?#]*)")


@dataclass(frozen=True, slots=True)
class PackageFinder:
    """Finds versions or files of one package from one answer of its registry."""

    request: str
    source: Source
    entries: Callable[[bytes], Iterator[str]]
    """Yields the addresses that the body of an answer names."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Return the registry, which may lead a tag to the list of its version."""
        return (place_of(self.request),)

    def next_request(self, state: State) -> str:
        """Return the list of the registry."""
        return "" if state.asked else self.request

    def read(self, reply: Reply) -> tuple[Candidate, ...]:
        """Return the versions or files of the package."""
        with suppress(ValueError, TypeError, KeyError, AttributeError):  # an answer of another form names nothing
            entries = list(self.entries(reply.body))
            return tuple(Candidate(url, "", self.source) for url in entries[:MAX_ENTRIES])
        return ()


def find_package(url: str) -> PackageFinder | None:
    """Return the finder for an address of a version or file of a package, else None."""
    if (match := PYPI.match(url)) and match[2]:
        # Its feed of releases, since robots.txt keeps crawlers from the JSON API.
        feed = f"https://pypi.org/rss/project/{match[1]}/releases.xml"
        return PackageFinder(feed, Source.PYPI, lambda body: iter(_FEED_LINK.findall(_text(body))))
    if (match := NPM.match(url)) and match[2]:
        name = match[1]
        page = f"https://www.npmjs.com/package/{name}/v/"
        return PackageFinder(
            f"https://registry.npmjs.org/-/package/{name}/dist-tags", Source.NPM,
            lambda body: (f"{page}{each}" for each in parse_json(body).values() if _VERSION.match(each)),
        )  # fmt: skip
    if match := _UNPKG.match(url):
        base = f"https://unpkg.com/{_named(match)}"
        return PackageFinder(
            f"{base}/?meta",
            Source.PACKAGE,
            lambda body: (f"{base}{each['path']}" for each in parse_json(body)["files"]),
        )
    if match := _JSDELIVR.match(url):
        named = _named(match)
        return PackageFinder(
            f"https://data.jsdelivr.com/v1/packages/npm/{named}?structure=flat", Source.PACKAGE,
            lambda body: (f"https://cdn.jsdelivr.net/npm/{named}{each['name']}" for each in parse_json(body)["files"]),
        )  # fmt: skip
    return None


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _named(match: re.Match[str]) -> str:
    return f"{match['name']}@{match['version']}" if match["version"] else match["name"]
