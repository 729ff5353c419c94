"""Convert pruned HTML to Markdown with markdownify, on the regular tree that walk.py builds."""

from __future__ import annotations

import re
from typing import Final

from bs4 import Tag
from bs4.element import PageElement
from lxml.html import HtmlElement
from markdownify import ATX, MarkdownConverter

from keyhole.extract.html.inline_elements import format_sup_sub
from keyhole.extract.html.link_resolver import LinkResolver, escape_label
from keyhole.extract.html.walk import build_soup
from keyhole.text.clean import clean

_BACKTICK_RUNS = re.compile(r"`+")
_BACKTICKS = re.compile(r"`{3,}")
# The start of a line that Markdown would interpret as a heading, a fence, or the underline of a heading.
_STRUCTURE = re.compile(
    r"(?m)^((?:(?:[-*+:>]|\d{1,9}[.)])[ \t]+)*)(?=#{1,6}(?:[ \t]|$)|`{3,}[^`\n]*$|~{3}|(?:={2,}|-{2,})$)"
)
_STRUCTURE_SIGNS: Final = ("#", "=", "--")
_BLANK_LINES = re.compile(r"(?<!\s)[^\S\n]*+\n[^\S\n]*+\n\s*+")
_BLOCK_PARENTS: Final = frozenset(
    {"[document]", "ul", "ol", "dl", "li", "dd", "blockquote", "footnote", "table", "tr", "td"}
)
"""Elements that contain lines and other blocks; the others contain words."""
_IN_CELL: Final = {"td"}
_EMPTY_ROW = frozenset("| ")
_TABLE_SIGNS: Final = "|- \n"


def to_markdown(region: HtmlElement, links: LinkResolver) -> str:
    """Return the Markdown of a pruned tree, ending with a line break. Never raises or changes the tree."""
    soup = build_soup(region, links)
    try:
        markdown = _CONVERTER.process_tag(soup)
    except RecursionError:
        # The caller is deep in the interpreter's stack, so return the plain text.
        markdown = soup.get_text("\n", strip=True)
    return clean(markdown).strip("\n") + "\n"


class _Converter(MarkdownConverter):
    """A MarkdownConverter with one rule for blank lines.

    A block begins with two line breaks, or with one if it is tight, and ends with one. Between two blocks, markdownify
    writes only the longer run of line breaks.
    """

    def __init__(self) -> None:
        super().__init__(heading_style=ATX)

    def process_tag(self, node: Tag, parent_tags: set[str] | None = None) -> str:
        """Convert an element like markdownify, without its rules for white space that this tree does not contain.

        `parent_tags` contains only "td", inside a table cell.
        """
        if parent_tags is None:
            parent_tags = set()
        inner_tags = _IN_CELL if node.name == "td" else parent_tags
        parts = [
            self.process_tag(child, inner_tags) if isinstance(child, Tag) else self.process_text(child, inner_tags)
            for child in node.contents
        ]
        text = _join_blocks(parts) if node.name in _BLOCK_PARENTS else "".join(parts)
        convert = self.get_conv_fn_cached(node.name)  # type: ignore[attr-defined]  # missing in the type stub
        return str(convert(node, text, parent_tags=parent_tags)) if convert else text

    def process_text(self, el: PageElement, parent_tags: set[str] | None = None) -> str:
        """Return the text, which is already escaped. Escape a final `!` that would turn a link into an image."""
        text = str(el)
        if text[-1:] == "!" and isinstance(el.next_sibling, Tag) and el.next_sibling.name == "a":
            return f"{text[:-1]}&#33;"
        return text

    # Blocks.

    def convert_p(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        text = text.strip()
        if not text:
            return ""
        if "\n" in text:
            text = "\n".join(line.strip() for line in _BLANK_LINES.sub("\n\n", text).split("\n"))
        if "td" not in parent_tags and _may_be_structure(text):
            text = _STRUCTURE.sub(r"\1\\", text)
        return f"{_leading_breaks(el)}{text}\n"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return verbatim code in a fence longer than any in the code."""
        fence = "`" * (max(map(len, _BACKTICKS.findall(text)), default=2) + 1)
        return f"{_leading_breaks(el)}{fence}{el['language']}\n{text}\n{fence}\n"

    def convert_math(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"{_leading_breaks(el)}{text}\n"

    convert_tab_end = convert_math

    def convert_blockquote(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _indent(el, text, "> ", "> ")

    def convert_list(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return the items unchanged, because each begins with its own line breaks."""
        return text

    convert_ul = convert_ol = convert_dl = convert_list

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return an item after its bullet or its `number` attribute. Counting siblings would take quadratic time."""
        bullet = f"{el['number']}. " if "number" in el.attrs else "- "
        return _indent(el, text, bullet, " " * len(bullet))

    def convert_dd(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _indent(el, text, ": ", "  ")

    def convert_footnote(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _indent(el, text, f"[^{el['label']}]: ", "    ")

    # Tables.

    def convert_table(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f"{_leading_breaks(el)}{text}" if text.strip(_TABLE_SIGNS) else ""

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a row. The first row is the header, which is empty if the page's table has no header."""
        columns = int(str(el.get("columns", "0")))
        if not columns:
            return "" if _EMPTY_ROW.issuperset(text) else f"|{text}\n"
        missing = columns - sum(1 + _count_skipped(cell) for cell in el.find_all(True, recursive=False))
        header = "" if _EMPTY_ROW.issuperset(text) else text
        missing = missing if header else columns
        return f"|{header}{' |' * missing}\n|{' --- |' * columns}\n"

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return a cell as one line, after an empty cell for each skipped column."""
        if "\n" in text:
            text = "<br>".join(line for line in text.split("\n") if line and not line.isspace())
        text = text.strip().replace("|", "\\|")
        return " |" * _count_skipped(el) + (f" {text} |" if text else " |")

    # Inline elements.

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _wrap(escape_label(text), "[", f"]({el['href']})")

    def convert_code(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Return inline code between more backticks than in the code, with its indent."""
        if "`" not in text:
            return f"`{text}`"
        fence = "`" * (max(map(len, _BACKTICK_RUNS.findall(text))) + 1)
        return f"{fence} {text} {fence}"

    def convert_br(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return "\n"

    def convert_strong(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _wrap(text, "**", "**")

    def convert_em(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _wrap(text, "*", "*")

    def convert_del(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _wrap(text, "~~", "~~")

    def convert_q(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _wrap(text, "“", "”")

    def convert_rt(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _wrap(text, "(", ")")

    def convert_sup(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return format_sup_sub(text, str(el.get("before", "")), is_sub=False)

    def convert_sub(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return format_sup_sub(text, str(el.get("before", "")), is_sub=True)


_CONVERTER: Final = _Converter()
"""The converter of all pages. It stores nothing but the method of each element that it has found so far."""


def _join_blocks(blocks: list[str]) -> str:
    """Join blocks with the longer run of line breaks of each two neighbours, at most one blank line."""
    joined: list[str] = []
    trailing = 0
    for block in blocks:
        if not block:
            continue
        content = block.lstrip("\n")
        leading = len(block) - len(content)
        if joined:
            joined.append("\n" * min(2, max(trailing, leading)))
        elif leading:
            joined.append("\n" * leading)
        content = content.rstrip("\n")
        trailing = len(block) - leading - len(content)
        joined.append(content)
    return "".join(joined) + "\n" * trailing


def _leading_breaks(block: Tag) -> str:
    return "\n" if "tight" in block.attrs else "\n\n"


def _may_be_structure(text: str) -> bool:
    return "\n" in text or text.startswith(_STRUCTURE_SIGNS) or "```" in text or "~~~" in text or " #" in text[:20]


def _indent(container: Tag, text: str, first: str, rest: str) -> str:
    """Return the blocks of a container with `first` before the first line and `rest` before each other line."""
    text = text.strip("\n")
    if not text.strip():
        return ""
    if "\n" in text:
        bare = rest.rstrip()
        text = "\n".join(rest + line if line else bare for line in text.split("\n")).removeprefix(rest)
    return f"{_leading_breaks(container)}{first}{text}\n"


def _wrap(text: str, before: str, after: str) -> str:
    """Put marks around a text, inside the white space at its ends."""
    stripped = text.strip()
    if not stripped:
        return text
    start = text.index(stripped)
    return f"{text[:start]}{before}{stripped}{after}{text[start + len(stripped) :]}"


def _count_skipped(cell: Tag) -> int:
    return int(str(cell.get("skipped", "0")))
