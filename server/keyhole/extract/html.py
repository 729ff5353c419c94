"""HTML to Markdown: prune what is not content, keep the rest, links absolute. Knows nothing of HTTP."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Comment, Tag
from bs4.element import PreformattedString
from markdownify import ATX, MarkdownConverter

from keyhole.extract.decode import tidy

_NOISE = frozenset((
    "script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas", "nav", "footer",
    "aside", "form", "button", "select", "input", "textarea", "dialog", "head", "audio", "video",
))  # fmt: skip
_NOISE_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "dialog", "menu"})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LANGUAGE_CLASS = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)[-:]?\s*([\w+#.-]{1,30})")
# XHTML served as HTML: every browser reads it as HTML, and so does this parser once the declaration is gone.
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")

MIN_MAIN_SHARE = 0.3
"""Share of the body's text that `<main>` or a lone `<article>` must hold to be taken for the content: with
less it is a teaser beside the real thing. Checked by eye on documentation, news and forum pages."""


def html_to_markdown(html: str, url: str) -> tuple[str, str, str, tuple[tuple[str, int], ...]]:
    """Title, language, Markdown, and how many nodes of which kind were removed."""
    soup = BeautifulSoup(_XML_DECLARATION.sub("", html, count=1), "lxml")
    title = _title(soup)
    root = soup.find("html")
    language = str(root.get("lang") or "")[:20] if isinstance(root, Tag) else ""
    base = soup.find("base", href=True)
    base_url = urljoin(url, str(base["href"])) if isinstance(base, Tag) else url
    removed = _prune(soup)
    region = _region(soup)
    try:
        markdown = _Converter(base_url).convert_soup(region)
    except RecursionError:
        # Nesting deeper than the interpreter allows: the words are still there.
        markdown = region.get_text("\n", strip=True)
    return title, language, _squeeze(tidy(markdown)), removed


def _title(soup: BeautifulSoup) -> str:
    heading, tag = soup.find("h1"), soup.find("title")
    for candidate in (tag, heading):
        if isinstance(candidate, Tag) and (text := " ".join(tidy(candidate.get_text(" ")).split())):
            return text
    return ""


def _prune(soup: BeautifulSoup) -> tuple[tuple[str, int], ...]:
    """Remove what is not content; how many nodes of each kind went. One walk: what is removed is not entered."""
    counts = {"boilerplate": 0, "hidden": 0, "comments": 0}
    waiting: list[Tag] = [soup]
    while waiting:
        for child in list(waiting.pop().children):
            if isinstance(child, Tag):
                if kind := _noise_kind(child):
                    counts[kind] += 1
                    child.decompose()
                else:
                    waiting.append(child)
            elif isinstance(child, PreformattedString):
                counts["comments"] += isinstance(child, Comment)
                child.extract()
    return tuple((kind, count) for kind, count in counts.items() if count)


def _noise_kind(tag: Tag) -> str:
    if tag.name in _NOISE or tag.get("role") in _NOISE_ROLES:
        return "boilerplate"
    return "hidden" if _is_hidden(tag) else ""


def _is_hidden(tag: Tag) -> bool:
    return (
        tag.has_attr("hidden")
        or tag.get("aria-hidden") == "true"
        or bool(_HIDDEN_STYLE.search(str(tag.get("style") or "")))
    )


def _region(soup: BeautifulSoup) -> Tag:
    """The content: `<main>`, else a lone `<article>`, if it holds enough of the body's text; else the body."""
    body = soup.body or soup
    articles = soup.find_all("article")
    candidates = [
        soup.find("main"),
        soup.find(lambda tag: tag.get("role") == "main"),
        articles[0] if len(articles) == 1 else None,
    ]
    whole = len(body.get_text())
    for candidate in candidates:
        if isinstance(candidate, Tag) and len(candidate.get_text()) >= MIN_MAIN_SHARE * whole:
            return candidate
    return body


def _squeeze(markdown: str) -> str:
    """At most one blank line between blocks, no spaces at line ends; code fences are left as they are."""
    parts = re.split(r"(^```.*?^```[ \t]*$)", markdown, flags=re.MULTILINE | re.DOTALL)
    for index in range(0, len(parts), 2):
        lines = [line.rstrip() for line in parts[index].split("\n")]
        parts[index] = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    return "".join(parts).strip("\n") + "\n"


class _Converter(MarkdownConverter):
    """markdownify with absolute links, no inlined images and the language of code."""

    def __init__(self, base_url: str) -> None:
        super().__init__(heading_style=ATX, bullets="-", code_language_callback=_code_language)
        self._base = base_url

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        href = self._absolute(str(el.get("href") or ""))
        label = text.strip()
        if not href or not label or "_noformat" in parent_tags:
            return text
        before, _, after = text.partition(label)
        return f"{before}[{label}]({href}){after}"

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        alt = " ".join(str(el.get("alt") or "").split())[:300].replace("[", "(").replace("]", ")")
        source = self._absolute(str(el.get("src") or ""))
        if not source:
            return f"[IMAGE: {alt}]"
        return f"![{alt}]({source})"

    def _absolute(self, reference: str) -> str:
        """An http(s) URL, or nothing: scripts, inlined data and mail addresses are no places to read on."""
        try:
            joined = urljoin(self._base, reference.strip())
        except ValueError:
            return ""
        usable = reference.strip() and joined.lower().startswith(("http://", "https://"))
        return joined.replace(" ", "%20").replace(")", "%29").replace("\n", "") if usable else ""


def _code_language(pre: Tag) -> str:
    for tag in (pre, *pre.find_all("code", limit=1)):
        match = _LANGUAGE_CLASS.search(" ".join(tag.get_attribute_list("class")))
        if match:
            return match[1].lower()
    return ""
