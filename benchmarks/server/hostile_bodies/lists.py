"""Lists that a site has of its pages, which Keyhole reads behind a dead link: sitemaps, inventories, llms.txt, HTML."""

from __future__ import annotations

import zlib
from typing import Final

from benchmarks.server.hostile_bodies.attack import (
    HOST,
    Attack,
    Body,
    Lead,
    SiteReply,
    between,
    fetch,
    kind,
    numbered,
    runs,
    words,
)
from keyhole.sites import link_lists

DEAD: Final = "unknown-page-of-the-manual"
"""The path of the dead link."""
ALIKE: Final = "a" + "bc" * 120
"""The path of the dead link whose list has names that are spelt nearly like it."""
XML: Final = "application/xml"
SPHINX: Final = b'<title>Manual</title><script src="_static/documentation_options.js"></script><p>A manual.</p>'
"""A first page with the mark of Sphinx, after which Keyhole requests the inventory."""
HEAD: Final = b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# Compressed with zlib.\n"
BOMB: Final = 10
"""How many times the limit of decompressed bytes a bomb has at its full size."""


def dead_link(name: str, content_type: str, dead: str = DEAD) -> Lead:
    """Return the lead to a list: a fetch of a page that the site does not have."""
    target = f"{HOST}/{name}"

    def lead(body: bytes) -> Attack:
        return fetch(f"http://{HOST}/{dead}", {target: SiteReply(body, content_type)}, target)

    return lead


def _inventory(body: bytes) -> Attack:
    target = f"{HOST}/objects.inv"
    routes = {f"{HOST}/": SiteReply(SPHINX), target: SiteReply(body, "application/octet-stream")}
    return fetch(f"http://{HOST}/{DEAD}", routes, target)


def _packed(make: Body, factor: int = 1) -> Body:
    """Return a body as the compressed part of an inventory. Its size is that of the decompressed part."""
    return lambda size: HEAD + zlib.compress(make(factor * size), 9)


def _index(body: bytes) -> Attack:
    """Lead to a sitemap that an index of sitemaps of many sites names."""
    own, target = f"{HOST}/sitemap.xml", f"{HOST}/{DEAD}/part.xml"
    others = "".join(f"<sitemap><loc>http://{n}.{HOST}/{DEAD}/part.xml</loc></sitemap>" for n in range(10_000))
    index = f"<sitemapindex><sitemap><loc>http://{target}</loc></sitemap>{others}</sitemapindex>"
    routes = {own: SiteReply(index.encode(), XML), target: SiteReply(body, XML)}
    return fetch(f"http://{HOST}/{DEAD}/x", routes, own, target)


SITEMAP: Final = dead_link("sitemap.xml", XML)
HTML: Final = dead_link("", "text/html; charset=utf-8")
_LOC: Final = f"<loc>http://{HOST}/"
# Near the longest line that is read, with spaces at every place where spaces may be.
_SPACES: Final = f"a {' ' * 900}x:y{' ' * 500}1{' ' * 500}\n"

KINDS: Final = (
    kind("sitemap-spaces", link_lists.MAX_BYTES, SITEMAP, between("<loc>", " ", "</loc>"), *runs("<loc>\n", "<loc> ")),
    kind("sitemap-broken", link_lists.MAX_BYTES, SITEMAP, *runs("<loc>", "<loc><![CDATA[", "&amp;", "<loc>&amp;")),
    kind("sitemap-alike", link_lists.MAX_BYTES, dead_link("sitemap.xml", XML, ALIKE),
         words(f"{_LOC}a{{word}}</loc>", ("bbc", "cb", "bb", "cc"), 240)),
    kind("sitemap-many", link_lists.MAX_BYTES, SITEMAP,
         numbered("", f"{_LOC}{DEAD}-in-{{n}}</loc>", most=link_lists.MAX_LINKS)),
    kind("sitemap-random", link_lists.MAX_BYTES, SITEMAP,
         words(f"{_LOC}{{word}}</loc>", "abcdefghijklmnopqrstuvwxyz/", 260)),
    kind("sitemap-index", link_lists.MAX_BYTES, _index, between("<loc>", " ", "</loc>"),
         numbered("", f"{_LOC}{{n}}.xml</loc>")),
    kind("inventory-spaces", link_lists.MAX_INVENTORY_BYTES, _inventory, *(_packed(each) for each in runs(_SPACES))),
    kind("inventory-bomb", link_lists.MAX_INVENTORY_BYTES, _inventory,
         *(_packed(each, BOMB) for each in runs("a", "\n", "a b:c 1 d e\n", "\x85"))),
    kind("inventory-names", link_lists.MAX_INVENTORY_BYTES, _inventory,
         *(_packed(each) for each in (numbered("", "name_{n} py:function 1 api/{n}.html#$ -\n"),
                                      numbered("", "name_{n} std:doc -1 page.html The title {n}\n")))),
    kind("llms-brackets", link_lists.MAX_BYTES, dead_link("llms.txt", "text/plain"), *runs("[", "[a", "![", "[](")),
    kind("llms-links", link_lists.MAX_BYTES, dead_link("llms.txt", "text/plain"),
         *runs("](", "[a](", "[a](b", "[a](<", "[a](b(", "[a](b \n")),
    kind("links-million", link_lists.MAX_BYTES, HTML, *runs("<a", "<a ", "<a href=x>"), numbered("", "<a href={n}>")),
    kind("links-broken", link_lists.MAX_BYTES, HTML,
         *runs("<!--", "<![CDATA[", "<!", "<", "</", "<?", "&", "&#", "<a href='", "<script>", "<title>",
               "Created using <a", 'data-content_root="../', "URL_ROOT:'")),
    kind("links-attributes", link_lists.MAX_BYTES, HTML,
         *(between("<a ", unit, ">") for unit in ("x ", "x=1 ", "x='", "href=1 ", " ", "/", "=", '"'))),
)  # fmt: skip
