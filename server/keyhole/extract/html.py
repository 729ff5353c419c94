"""HTML to Markdown: what is left after pruning, with absolute links and whole code. Knows nothing of HTTP."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from markdownify import ATX, MarkdownConverter

from keyhole.extract.decode import tidy
from keyhole.extract.prune import prune

_LANGUAGE_CLASS = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)[-:]?\s*([\w+#.-]{1,30})")
# XHTML served as HTML: every browser reads it as HTML, and so does this parser once the declaration is gone.
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
_OPENING = re.compile(r"[ \t>]*(?:(?:[-*+:]|\d{1,9}[.)])[ \t>]+)*(`{3,})([^`]*)$")
_BACKTICKS = re.compile(r"`{3,}")

MIN_MAIN_SHARE = 0.3
"""Share of the body's text that `<main>` or a lone `<article>` must hold to be taken for the content: with
less it is a teaser beside the real thing. Checked by eye on documentation, news and forum pages."""
MAX_CLASS = 200
"""Characters of a class attribute that are searched for a language."""


def html_to_markdown(html: str, url: str) -> tuple[str, str, str, tuple[tuple[str, int], ...]]:
    """Title, language, Markdown, and how many nodes of which kind were removed."""
    # The doctype settles that this is HTML: without it the parser wonders aloud about XML, file names and URLs.
    soup = BeautifulSoup("<!DOCTYPE html>" + _XML_DECLARATION.sub("", html, count=1), "lxml")
    title = _title(soup)
    root = soup.find("html")
    language = str(root.get("lang") or "")[:20] if isinstance(root, Tag) else ""
    base = soup.find("base", href=True)
    base_url = _join(url, str(base["href"])) if isinstance(base, Tag) else url
    removed = prune(soup)
    region = _region(soup)
    try:
        markdown = _Converter(base_url or url).convert_soup(region)
    except RecursionError:
        # Nesting deeper than the interpreter allows: the words are still there.
        markdown = region.get_text("\n", strip=True)
    return title, language, _squeeze(tidy(markdown)), removed


def _title(soup: BeautifulSoup) -> str:
    """The `<title>`, which is not one of a drawing, else the first heading."""
    titles = [tag for tag in soup.find_all("title", limit=5) if tag.find_parent("svg") is None]
    for candidate in (*titles, *soup.find_all("h1", limit=1)):
        if text := " ".join(tidy(candidate.get_text(" ")).split()):
            return text
    return ""


def _region(soup: BeautifulSoup) -> Tag:
    """The content: `<main>`, else a lone `<article>`, if it holds enough of the body's text; else the body."""
    # Not soup.body: what precedes it in a page without one stands in the head.
    body = soup.find("html") or soup
    articles = soup.find_all("article", limit=2)
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
    kept: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        ticks = _OPENING.match(line)
        if fence:
            kept.append(line)
            if ticks and ticks[1] == fence and not ticks[2].strip():
                fence = ""
        elif ticks:
            kept.append(line.rstrip())
            fence = ticks[1]
        elif line.strip() or (kept and kept[-1]):
            kept.append(line.rstrip())
    return "\n".join(kept).strip("\n") + "\n"


def _join(base: str, reference: str) -> str:
    """An absolute http(s) URL, or nothing: scripts, inlined data and mail addresses are no places to read on."""
    try:
        joined = urljoin(base, reference.strip())
    except ValueError:
        return ""
    if not reference.strip() or not joined.lower().startswith(("http://", "https://")):
        return ""
    # A parenthesis or a space would end the link early.
    return re.sub(r"[\s()<>]", lambda match: f"%{ord(match[0]):02X}", joined)


class _Converter(MarkdownConverter):
    """markdownify with absolute links, no inlined images, whole code, and lists numbered in one pass."""

    def __init__(self, base_url: str) -> None:
        super().__init__(heading_style=ATX, bullets="-", code_language_callback=_code_language)
        self._base = base_url

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        href = _join(self._base, str(el.get("href") or ""))
        label = text.strip()
        if not href or not label or "_noformat" in parent_tags:
            return text
        before, _, after = text.partition(label)
        return f"{before}[{label}]({href}){after}"

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        alt = " ".join(str(el.get("alt") or "")[:600].split())[:300].replace("[", "(").replace("]", ")")
        source = _join(self._base, str(el.get("src") or ""))
        return f"![{alt}]({source})" if source else f"[IMAGE: {alt}]"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """The code as it stands in the page, under a fence that it does not contain."""
        for line_break in el.find_all("br"):
            line_break.replace_with("\n")
        code = el.get_text().removeprefix("\n").removesuffix("\n")
        if not code.strip():
            return ""
        longest = max((len(ticks) for ticks in _BACKTICKS.findall(code)), default=2)
        fence = "`" * (longest + 1)
        return f"\n\n{fence}{_code_language(el)}\n{code}\n{fence}\n\n"

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An item under its number or bullet; prune() has numbered them, as counting siblings here is quadratic."""
        content = text.strip()
        if not content:
            return "\n"
        bullet = f"{el['data-keyhole-number']}. " if el.has_attr("data-keyhole-number") else "- "
        indent = " " * len(bullet)
        lines = [f"{indent}{line}" if line.strip() else line for line in content.split("\n")]
        return f"{bullet}{chr(10).join(lines).removeprefix(indent)}\n"


def _code_language(pre: Tag) -> str:
    for tag in (pre, *pre.find_all("code", limit=1)):
        match = _LANGUAGE_CLASS.search(" ".join(tag.get_attribute_list("class"))[:MAX_CLASS])
        if match:
            return match[1].lower()
    return ""
