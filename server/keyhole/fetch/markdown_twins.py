"""Guess the Markdown version of a page on hosts that are known to serve one beside each page.

Such a version has the address of the page with `.md` after it (llmstxt.org), or `index.md` in its folder. It is asked
for only where a host is known to have it: by the mark of a generator that always writes it, by a Link header that names
an llms.txt, by an llms.txt whose links end in `.md`, or by a version that was read before. A host that lacks it once is
not asked again.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Final, Literal
from urllib.parse import urlsplit

from keyhole.fetch.alternate_link import HEAD_BYTES, MARKDOWN_TYPES
from keyhole.records import Page

Form = Literal["suffix", "index", "none"]
"""`suffix`: /a/b and /a/b/ have /a/b.md. `index`: /a/ has /a/index.md. `none`: a guess failed."""

MAX_HOSTS: Final = 500
MIN_LINKS: Final = 3
"""Links of an llms.txt that must end in `.md`; fewer may lead to single files."""
_GENERATORS = re.compile(
    rb"<meta[^<>]{0,200}name=[\"']generator[\"'][^<>]{0,200}content=[\"'](?:GitBook|Mintlify|Fern)\b"
    rb"|<meta[^<>]{0,200}content=[\"'](?:GitBook|Mintlify|Fern)\b[^<>]{0,200}name=[\"']generator[\"']",
    re.IGNORECASE,
)
"""Hosts of documentation that serve each page as Markdown too, as their own documentation says (gitbook.com/docs,
mintlify.com/docs, buildwithfern.com/learn)."""
_LLMS_LINK = re.compile(r"rel=\"?llms-txt\b", re.IGNORECASE)
_MARKDOWN_LINK = re.compile(rb"\]\([^()\s]{1,500}\.md\)")
_EXTENSION = re.compile(r"\.(?!html?$)[A-Za-z0-9]{1,5}$")


class MarkdownHosts:
    """Remembers which hosts serve Markdown versions, and how they are addressed."""

    def __init__(self) -> None:
        self._forms: OrderedDict[str, Form] = OrderedDict()

    def observe(self, page: Page) -> None:
        """Learn from a response whether its host serves Markdown versions."""
        path = urlsplit(page.url).path
        kind = page.content_type.partition(";")[0].strip().lower()
        if path.endswith("/llms.txt"):
            if len(_MARKDOWN_LINK.findall(page.body[:HEAD_BYTES])) >= MIN_LINKS:
                self._learn(page.url, "suffix")
        elif kind in MARKDOWN_TYPES and path.endswith(".md"):
            self._learn(page.url, "index" if path.endswith("/index.md") else "suffix")
        elif _LLMS_LINK.search(page.link) or _GENERATORS.search(page.body[:HEAD_BYTES]):
            self._learn(page.url, "suffix")

    def guess(self, page: Page) -> str:
        """Return the likely address of an HTML page's Markdown version, "" if its host is not known to have any."""
        parts = urlsplit(page.url)
        if "html" not in page.content_type.lower() or parts.query or _EXTENSION.search(parts.path):
            return ""
        form = self._forms.get(parts.netloc)
        if form == "index" and parts.path.endswith("/"):
            return parts._replace(path=f"{parts.path}index.md").geturl()
        if form == "suffix":
            return parts._replace(path=f"{parts.path.rstrip('/') or '/index'}.md").geturl()
        return ""

    def reject(self, url: str) -> None:
        """Remember that a guessed version does not exist."""
        self._set(url, "none")

    def _learn(self, url: str, form: Form) -> None:
        if self._forms.get(urlsplit(url).netloc) != "none":
            self._set(url, form)

    def _set(self, url: str, form: Form) -> None:
        self._forms[urlsplit(url).netloc] = form
        while len(self._forms) > MAX_HOSTS:
            self._forms.popitem(last=False)
