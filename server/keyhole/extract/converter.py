"""Pruned HTML to Markdown: absolute links, whole code, tables and lists. Decides nothing about what is content."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from lxml import etree
from lxml.html import HtmlElement
from markdownify import ATX, MarkdownConverter

from keyhole.extract.decode import tidy

_LANGUAGE_CLASS = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)[-:]?\s*([\w+#.-]{1,30})")
_OPENING = re.compile(r"[ \t>]*(?:(?:[-*+:]|\d{1,9}[.)])[ \t>]+)*(`{3,})([^`]*)$")
_BACKTICKS = re.compile(r"`{3,}")
_STANDARD_NAME = re.compile(r"h[1-6]|[a-z]+")
# Names that the converter takes for its own hooks.
_HOOKS = frozenset({"soup", "list", "hn"})

MAX_CLASS: Final = 200
"""Characters of a class attribute that are searched for a language."""
MAX_SPAN: Final = 50
"""Columns that one cell may span: wider ones are layout, and each column costs a bar."""


def to_markdown(region: HtmlElement, base_url: str) -> str:
    """Markdown of a tree whose scripts, hidden parts and boilerplate are gone; ends with a line break.

    `base_url` is what relative links are joined to. Never raises for any tree.
    """
    soup = _soup(region)
    _repair(soup)
    try:
        markdown = _Converter(base_url).convert_soup(soup)
    except RecursionError:
        # Nesting deeper than the interpreter allows: the words are still there.
        markdown = soup.get_text("\n", strip=True)
    return _squeeze(tidy(markdown))


def _soup(region: HtmlElement) -> BeautifulSoup:
    """The same tree for Beautiful Soup, told element by element: writing HTML and parsing it again would cost more,
    escape links and move misplaced elements a second time."""
    soup = BeautifulSoup("", "lxml")
    soup.reset()
    for event, element in etree.iterwalk(region, events=("start", "end")):
        if event == "start":
            soup.handle_starttag(element.tag, None, None, dict(element.attrib))
            if element.text:
                soup.handle_data(element.text)
        else:
            soup.handle_endtag(element.tag)
            if element.tail and element is not region:
                soup.handle_data(element.tail)
    soup.endData()
    return soup


def _repair(soup: BeautifulSoup) -> None:
    """Names and numbers that the converter would fail on, made plain; list items numbered in one pass."""
    for tag in soup.find_all(True):
        if not _STANDARD_NAME.fullmatch(tag.name) or tag.name in _HOOKS:
            tag.name = "span"
        del tag["data-keyhole-number"]
        if tag.has_attr("colspan"):
            tag["colspan"] = str(min(MAX_SPAN, _number(tag, "colspan", 1)))
    for ordered in soup.find_all("ol"):
        number = _number(ordered, "start", 1)
        for item in ordered.find_all("li", recursive=False):
            item["data-keyhole-number"] = str(number)
            number += 1


def _number(tag: Tag, attribute: str, default: int) -> int:
    value = str(tag.get(attribute) or "").strip()
    return int(value) if re.fullmatch(r"[0-9]{1,6}", value) else default


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


def absolute(base: str, reference: str) -> str:
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
        href = absolute(self._base, str(el.get("href") or ""))
        label = text.strip()
        if not href or not label or "_noformat" in parent_tags:
            return text
        before, _, after = text.partition(label)
        return f"{before}[{label}]({href}){after}"

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        alt = " ".join(str(el.get("alt") or "")[:600].split())[:300].replace("[", "(").replace("]", ")")
        source = absolute(self._base, str(el.get("src") or ""))
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
        """An item under its number or bullet; _repair() has numbered them, as counting siblings here is quadratic."""
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
