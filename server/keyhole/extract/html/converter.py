"""Pruned HTML to Markdown: markdownify, with the page's tree as `feeding` tells it. Decides nothing about content."""

from __future__ import annotations

import re
from typing import Final

from bs4 import Tag
from bs4.element import NavigableString
from lxml.html import HtmlElement
from markdownify import ATX, MarkdownConverter

from keyhole.extract.decode import tidy
from keyhole.extract.html.inline_rules import raised
from keyhole.extract.html.links import absolute, label
from keyhole.extract.html.walk import soup_of

__all__ = ["absolute", "to_markdown"]

_BACKTICKS = re.compile(r"`{3,}")
# A line of text that would open a heading or a fence, or underline the line before it as a heading.
_STRUCTURE = re.compile(
    r"(?m)^((?:(?:[-*+:>]|\d{1,9}[.)])[ \t]+)*)(?=#{1,6}(?:[ \t]|$)|`{3,}[^`\n]*$|~{3}|(?:={2,}|-{2,})$)"
)
_STRUCTURE_SIGNS: Final = ("#", "=", "--")
_BLANK_LINES = re.compile(r"\s*\n\s*\n\s*")
_EMPTY_ROW = frozenset("| ")
_TABLE_SIGNS: Final = "|- \n"


def to_markdown(region: HtmlElement, base_url: str) -> str:
    """Markdown of a tree whose scripts, hidden parts and boilerplate are gone; ends with a line break.

    `base_url` is what relative links are joined to. Never raises for any tree. Changes nothing in it.
    """
    soup = soup_of(region, base_url)
    try:
        markdown = _Converter().convert_soup(soup)
    except RecursionError:
        # A caller that is itself deep in the interpreter's stack: the words are still there.
        markdown = soup.get_text("\n", strip=True)
    return tidy(markdown).strip("\n") + "\n"


class _Converter(MarkdownConverter):
    """markdownify with one rule for blank lines: a block begins with two line breaks, a tight one with one, and ends
    with one; where blocks meet, markdownify keeps the longer run."""

    def __init__(self) -> None:
        super().__init__(heading_style=ATX)

    def process_tag(self, node: Tag, parent_tags: set[str] | None = None) -> str:
        """As markdownify, with a short way for the many elements that hold nothing but text."""
        # The stub of markdownify names neither method, though both are made to be overridden.
        if any(isinstance(child, Tag) for child in node.contents):
            return str(super().process_tag(node, parent_tags=parent_tags))  # type: ignore[misc]
        text = "".join(map(str, node.contents))
        convert = self.get_conv_fn_cached(node.name)  # type: ignore[attr-defined]
        return str(convert(node, text, parent_tags=parent_tags or set())) if convert else text

    def process_text(self, el: NavigableString, parent_tags: set[str] | None = None) -> str:
        """Text as it is: its white space was made plain and its signs escaped when it was told; before a link, a
        last `!` would make an image of it."""
        text = str(el)
        link = text.endswith("!") and isinstance(el.next_sibling, Tag) and el.next_sibling.name == "a"
        return f"{text[:-1]}&#33;" if link else text

    # Blocks.

    def convert_p(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        text = text.strip()
        if not text:
            return ""
        if "\n" in text:
            text = "\n".join(line.strip() for line in _BLANK_LINES.sub("\n\n", text).split("\n"))
        if "td" not in parent_tags and _may_be_structure(text):
            text = _STRUCTURE.sub(r"\1\\", text)
        return f"{_lead(el)}{text}\n"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """The code as it stands in the page, under a fence that it does not contain."""
        fence = "`" * (max(map(len, _BACKTICKS.findall(text)), default=2) + 1)
        return f"{_lead(el)}{fence}{el['language']}\n{text}\n{fence}\n"

    def convert_math(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"{_lead(el)}{text}\n"

    def convert_blockquote(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _indented(el, text, "> ", "> ")

    def convert_list(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Its items, as they are: each knows whether it follows closely."""
        return text

    convert_ul = convert_ol = convert_dl = convert_list

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An item under its bullet, or under the number that it was given: counting its siblings is quadratic."""
        bullet = f"{el['number']}. " if "number" in el.attrs else "- "
        return _indented(el, text, bullet, " " * len(bullet))

    def convert_dd(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _indented(el, text, ": ", "  ")

    def convert_footnote(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _indented(el, text, f"[^{el['label']}]: ", "    ")

    # Tables.

    def convert_table(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"{_lead(el)}{text}" if text.strip(_TABLE_SIGNS) else ""

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A row; the first one names the columns, and is empty where the page gives them no names."""
        columns = int(str(el.get("columns", "0")))
        if not columns:
            return "" if _EMPTY_ROW.issuperset(text) else f"|{text}\n"
        missing = columns - sum(1 + _skipped(cell) for cell in el.find_all(True, recursive=False))
        header = "" if _EMPTY_ROW.issuperset(text) else text
        missing = missing if header else columns
        return f"|{header}{' |' * missing}\n|{' --- |' * columns}\n"

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A cell in one line, after the places that other cells cover."""
        if "\n" in text:
            text = "<br>".join(line for line in text.split("\n") if line and not line.isspace())
        text = text.strip().replace("|", "\\|")
        return " |" * _skipped(el) + (f" {text} |" if text else " |")

    # Words.

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _marked(label(text), "[", f"]({el['href']})")

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return "\n"

    def convert_strong(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _marked(text, "**", "**")

    def convert_em(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _marked(text, "*", "*")

    def convert_del(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _marked(text, "~~", "~~")

    def convert_q(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _marked(text, "“", "”")

    def convert_rt(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _marked(text, "(", ")")

    def convert_sup(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return raised(text, str(el.get("before", "")), low=False)

    def convert_sub(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return raised(text, str(el.get("before", "")), low=True)


def _lead(block: Tag) -> str:
    return "\n" if "tight" in block.attrs else "\n\n"


def _may_be_structure(text: str) -> bool:
    return "\n" in text or text.startswith(_STRUCTURE_SIGNS) or "```" in text or "~~~" in text or " #" in text[:20]


def _indented(container: Tag, text: str, first: str, rest: str) -> str:
    """A container's blocks: `first` before the first line, `rest` before the others; an empty one leaves nothing."""
    text = text.strip("\n")
    if not text.strip():
        return ""
    if "\n" in text:
        bare = rest.rstrip()
        text = "\n".join(rest + line if line else bare for line in text.split("\n")).removeprefix(rest)
    return f"{_lead(container)}{first}{text}\n"


def _marked(text: str, before: str, after: str) -> str:
    """Marks around the words, not around the white space at their ends."""
    core = text.strip()
    if not core:
        return text
    start = text.index(core)
    return f"{text[:start]}{before}{core}{after}{text[start + len(core) :]}"


def _skipped(cell: Tag) -> int:
    return int(str(cell.get("skipped", "0")))
