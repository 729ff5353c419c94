"""An HTML page as title, language and Markdown: parse, prune, choose the content, convert. Knows nothing of HTTP."""

from __future__ import annotations

from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.converter import absolute, to_markdown
from keyhole.extract.decode import tidy
from keyhole.extract.prune import prune
from keyhole.extract.tree import parse

MIN_MAIN_SHARE: Final = 0.3
"""Share of the body's text that `<main>` or a lone `<article>` must hold to be taken for the content: with
less it is a teaser beside the real thing. Checked by eye on documentation, news and forum pages."""


def html_to_markdown(html: str, url: str) -> tuple[str, str, str, tuple[tuple[str, int], ...]]:
    """Title, language, Markdown, and how many nodes of which kind were removed."""
    root = parse(html)
    title = _title(root)
    language = str(root.get("lang") or "")[:20]
    base = root.find(".//base[@href]")
    base_url = absolute(url, str(base.get("href"))) if base is not None else url
    removed = prune(root)
    region = _region(root)
    markdown = to_markdown(region, base_url or url)
    return title, language, markdown, removed


def _title(root: HtmlElement) -> str:
    """The `<title>`, which is not one of a drawing, else the first heading."""
    titles = [tag for tag in root.iter("title") if next(tag.iterancestors("svg"), None) is None]
    headings = list(root.iter("h1"))[:1]
    for candidate in (*titles[:5], *headings):
        if text := " ".join(tidy(" ".join(candidate.itertext())).split()):
            return text
    return ""


def _region(root: HtmlElement) -> HtmlElement:
    """The content: `<main>`, else a lone `<article>`, if it holds enough of the body's text; else the body."""
    articles = list(root.iter("article"))
    candidates = [
        root.find(".//main"),
        root.find(".//*[@role='main']"),
        articles[0] if len(articles) == 1 else None,
    ]
    whole = _length(root)
    for candidate in candidates:
        if candidate is not None and _length(candidate) >= MIN_MAIN_SHARE * whole:
            return candidate
    return root


def _length(element: HtmlElement) -> int:
    return sum(len(text) for text in element.itertext())
