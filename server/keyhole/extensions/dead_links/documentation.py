"""Find pages near a dead address of any site: in the pages above it, its inventory, its sitemap and its llms.txt.

The lists are requested in the order in which they are likely to name the page:

1. the first page of the version that the address names (`/en/3.2/`), then the folder of the page;
2. the first page of the part of the site (`/docs/`), then that of the site;
3. `objects.inv` where a page has the mark of Sphinx, at any time;
4. the page itself in another version that the site has;
5. the page whose path leads farthest towards the dead address, and the best candidate, for the links on them;
6. `sitemap.xml`, then `llms.txt`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final
from urllib.parse import urljoin

from keyhole.extensions.dead_links.address_words import (
    ENGLISH,
    is_variant,
    language_place,
    read_address,
    shared_length,
    without_index,
)
from keyhole.extensions.dead_links.similarity import GOOD, STRONG, CandidateSource, CandidateUrl, Reply, State
from keyhole.fetch.permission import owner_of
from keyhole.sites.link_lists import Link, read_html_links, read_inventory_links, read_markdown_links, read_sitemap

_SPHINX = re.compile(
    rb"documentation_options\.js|_static/doctools\.js|Created using <a[^>]{0,300}sphinx", re.IGNORECASE
)
_ROOT = re.compile(rb"data-(?:content_root|url_root)=\"([./]{1,100})\"|URL_ROOT:\s*'([./]{1,100})'")
_ASSET = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|ico|css|js|woff2?|zip|gz|xz|bz2|exe|dmg|mp4|map)$", re.IGNORECASE)
_INVENTORY: Final = "objects.inv"
_SITEMAP: Final = "sitemap.xml"
_LLMS: Final = "llms.txt"
MAX_SITEMAPS: Final = 1_000
"""Sitemaps of an index from which the nearest one is chosen."""
MAX_VERSIONS: Final = 2
"""Other versions in which a page is looked for."""
SURE_LISTS: Final = 2
"""Lists after which a good candidate ends the search, not only a strong one."""
_FOLDERS: Final = frozenset({"docs", "doc", "documentation", "manual", "api", "reference", "guide", "help", "wiki"})
"""Names of folders whose first page lists the documentation."""


@dataclass(slots=True)
class DocumentationFinder:
    """Finds pages near a dead address of a site with pages in HTML."""

    url: str
    languages: Sequence[str] = (ENGLISH,)
    """The reader's languages, the first one first."""
    inventories: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    """The sitemaps that an index of sitemaps names."""

    @property
    def root(self) -> str:
        """Return the first page of the owner of an address: that of the site, or of the owner's folder on it."""
        site, path = split_site(self.url)
        return "/".join([site, *path[1 : 1 + len(owner_of(self.url).folder)], ""])

    def next_request(self, state: State) -> str:
        """Return the next list to request; "" once a page is probable or nothing is left."""
        if state.best >= (STRONG if len(state.requested) < SURE_LISTS else GOOD):
            return ""
        known = {without_index(url) for each in state.requested for url in (each.request, each.url)} | {
            without_index(self.url)
        }
        return next((url for url in self._lists(state) if without_index(url) not in known), "")

    def _lists(self, state: State) -> Iterator[str]:
        yield from self.inventories
        yield from self._folders()
        yield self.root
        yield from other_versions(self.url, [each.url for each in state.candidates], self.languages)
        if hub := self._hub(state.candidates):
            yield hub
        yield from (each.url for each in state.ranked[:1])
        yield urljoin(self.root, _SITEMAP)
        # The one whose address has most in common with the dead one, such as that of its language or part of the site.
        yield from nlargest(1, self.sitemaps, key=lambda url: len(set(url.split("/")) & set(self.url.split("/"))))
        yield urljoin(self.root, _LLMS)

    def _folders(self) -> Iterator[str]:
        """Yield the first page of the named version, the folder of the page, and the part of the site it is in."""
        site, path = split_site(self.url)
        segments = [segment for segment in path if segment][:-1]
        versions = [number + 1 for number, each in enumerate(segments) if is_variant(each)]
        parts = [number + 1 for number, each in enumerate(segments) if each.lower() in _FOLDERS]
        for length in dict.fromkeys([*versions[-1:], len(segments), *parts[-1:]]):
            if length:
                yield f"{site}/{'/'.join(segments[:length])}/"

    def _hub(self, candidates: Sequence[CandidateUrl]) -> str:
        """Return the known page that shares the longest path with the dead address, "" if there is none."""
        dead = read_address(self.url)

        def leads(each: CandidateUrl) -> tuple[int, int, int]:
            address = read_address(each.url)
            place = address.place if address.name else address.folder
            shared = shared_length(place, dead.place)
            is_top = shared == len(place)
            mine, theirs = set(dead.variants), set(address.variants)
            fitting = 2 * len(mine & theirs) - len(theirs - mine) + bool(theirs)
            return (shared if is_top else -1, fitting, -len(each.url))

        best = max(candidates, key=leads, default=None)
        return best.url if best and leads(best)[0] >= 0 else ""

    def read(self, reply: Reply) -> tuple[CandidateUrl, ...]:
        """Return the pages of the site that a list names, and the page of the list itself."""
        name = reply.request.rpartition("/")[2]
        if name == _INVENTORY:
            return self._candidates(read_inventory_links(reply.body, reply.url), CandidateSource.INVENTORY)
        if name == _SITEMAP or reply.request in self.sitemaps:
            links = read_sitemap(reply.body, reply.url)
            self.sitemaps += [link.url for link in self._own(links) if link.url.endswith(".xml")][:MAX_SITEMAPS]
            return self._candidates([link for link in links if not link.url.endswith(".xml")], CandidateSource.SITEMAP)
        if name == _LLMS:
            return self._candidates(read_markdown_links(reply.body, reply.url), CandidateSource.LLMS)
        if _SPHINX.search(reply.body):
            root = _ROOT.search(reply.body)
            folder = urljoin(reply.url, (root[1] or root[2]).decode("ascii", "replace") if root else "./")
            self.inventories.append(urljoin(folder, _INVENTORY))
        own = CandidateUrl(reply.url, "", CandidateSource.ANSWERED)
        return (own, *self._candidates(read_html_links(reply.body, reply.url), CandidateSource.PAGE))

    def _candidates(self, links: Sequence[Link], source: CandidateSource) -> tuple[CandidateUrl, ...]:
        """Return the links to pages of the same owner."""
        return tuple(CandidateUrl(link.url, link.title, source) for link in self._own(links) if not _is_asset(link.url))

    def _own(self, links: Sequence[Link]) -> Iterator[Link]:
        owner = owner_of(self.url)
        return (link for link in links if owner.contains(link.url))


def other_versions(url: str, known: Sequence[str], languages: Sequence[str] = (ENGLISH,)) -> list[str]:
    """Return a dead address in the site's other versions, and languages, the reader's and those with most pages first.

    A version is replaced, or added in front of the first folder that is in none of the known addresses.
    """
    site, path = split_site(url)
    found: Counter[str] = Counter()
    for other in known:
        other_site, others = split_site(other)
        if other_site != site:
            continue
        place = shared_length(path, others)
        if place == min(len(path), len(others)) or not is_variant(others[place]):
            continue
        rest = path[place + 1 :] if is_variant(path[place]) else path[place:]
        found["/".join([site, *path[:place], others[place], *rest])] += 1
    most = [address for address, _ in found.most_common()]
    return sorted(most, key=lambda each: language_place(each, languages))[:MAX_VERSIONS]


def split_site(url: str) -> tuple[str, list[str]]:
    """Return scheme and host of an address, and the segments of its path, the last of which may be empty."""
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    return f"{scheme}://{host}", path.partition("?")[0].split("/")


def _is_asset(url: str) -> bool:
    return bool(_ASSET.search(url.partition("?")[0]))
