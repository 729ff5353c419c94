"""An HTML page as a Document: parse, read metadata, prune, keep the content, convert. Knows nothing of HTTP."""

from __future__ import annotations

from typing import Final

from lxml import etree
from lxml.html import HtmlElement

from keyhole.errors import Code, KeyholeError
from keyhole.extract.failures.detect import notice_of_address, soft_failure, worth_a_look
from keyhole.extract.html.boilerplate.classify import keep_content
from keyhole.extract.html.converter import to_markdown
from keyhole.extract.html.links import absolute
from keyhole.extract.html.metadata import read_metadata
from keyhole.extract.html.prune import prune
from keyhole.extract.html.tree import parse
from keyhole.records import Document
from keyhole.text.clean import invisible, suspicious

_OUTSIDE_FORMULAS = etree.XPath("descendant::text()[not(ancestor::math)]", smart_strings=False)
SHORT_CHARS: Final = 500
"""Markdown below this length may be a shell: what the page carries for its scripts is looked at."""


def read_html(html: str, url: str, requested_url: str = "") -> Document:
    """An HTML page as a Document without blocks and media type.

    Raises KeyholeError: javascript_required for a page that its scripts would fill, and the name of what stands in
    the page's place where that shows nothing else.
    """
    root = parse(html)
    metadata = read_metadata(root, url)
    base = root.find(".//base[@href]")
    base_url = (absolute(url, str(base.get("href"))) if base is not None else "") or url
    removed = dict(prune(root))
    if dropped := keep_content(root, url, metadata.title):
        removed["boilerplate"] = dropped
    if unseen := _invisible(root):
        removed["invisible"] = unseen
    markdown = to_markdown(root, base_url)
    markdown, notice = _looked_at(html, base_url, markdown, metadata.title, (url, requested_url))
    return Document(
        title=metadata.title,
        text=markdown,
        media_type="",
        language=metadata.language,
        removed=tuple(removed.items()),
        notice=notice,
        metadata=metadata,
    )


def _invisible(root: HtmlElement) -> int:
    """Characters without a shape; in a formula they are signs."""
    whole = "".join(root.itertext())
    return sum(map(invisible, _OUTSIDE_FORMULAS(root))) if suspicious(whole) else 0


def html_to_markdown(html: str, url: str) -> str:
    """The Markdown of a piece of HTML that stands inside another document (a feed's entry, a book's chapter)."""
    root = parse(html)
    prune(root)
    return to_markdown(root, url)


def _looked_at(html: str, base: str, markdown: str, title: str, urls: tuple[str, str]) -> tuple[str, str]:
    """A page's text and the notice beside it. A page that may not be itself is parsed anew, as pruning took the
    scripts and forms; what it carries for its scripts joins a short text."""
    finding = notice_of_address(*urls)
    if worth_a_look(html, title, markdown, *urls):
        root = parse(html)
        text = _with_data(root, base, markdown) if len(markdown) < SHORT_CHARS else markdown
        finding = soft_failure(root, html, text, *urls)
        if finding and finding.fatal:
            raise KeyholeError(Code(finding.kind), finding.why)
        if len(text) < SHORT_CHARS and text == markdown:
            _refuse_shell(root, markdown)
        markdown = text
    return markdown, str(finding.kind) if finding else ""


def _with_data(root: HtmlElement, url: str, markdown: str) -> str:
    from keyhole.extract.html.embedded_data import embedded_text

    data = embedded_text(root, url)
    return f"{markdown.strip()}\n\n{data}".lstrip() if len(data) > max(SHORT_CHARS, 2 * len(markdown)) else markdown


def _refuse_shell(root: HtmlElement, markdown: str) -> None:
    from keyhole.extract.failures.js_shell import needs_javascript

    # A renderer would be asked here, or where this failure is caught.
    if needs_javascript(root, markdown):
        raise KeyholeError(Code.JAVASCRIPT_REQUIRED, "the page is an empty shell that its scripts fill")
