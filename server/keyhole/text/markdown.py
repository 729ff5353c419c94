"""Parse Markdown text into blocks, and write its links as paths or as full URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urljoin

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "quote"]

# At any indent and after the signs of lists and quotes, because items and quotes may contain fences.
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+:>]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]++(.*))?$")
_LIST_ITEM = re.compile(r"\s{0,12}(?:[-*+]|\d{1,9}[.)])(?:\s|\Z)")
LINK: Final = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}\)")
"""A link or picture of Markdown, with its words as the group."""
_MAX_LINE = 2_000
"""Characters examined of a line; the first few decide its kind."""
_MAX_TITLE = 120
"""Characters of a heading in a path. Longer headings are paragraphs marked up as headings."""


@dataclass(frozen=True, slots=True)
class Block:
    """One structural piece of a document's text."""

    kind: BlockKind
    heading_path: tuple[str, ...]
    start: int
    end: int


def line_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Yield `(start, end)` of each line, including its line break. Only `\\n` ends a line."""
    start = 0
    while start < len(text):
        newline = text.find("\n", start)
        end = len(text) if newline < 0 else newline + 1
        yield start, end
        start = end


def parse_blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a Markdown text in order. They do not overlap and exclude the blank lines between them."""
    parser, start = _BlockParser(), 0
    for line in text.split("\n"):
        end = start + len(line) + 1
        parser.feed(line[:_MAX_LINE], start, min(end, len(text)))
        start = end
    parser.close()
    return tuple(parser.blocks)


@dataclass(slots=True)
class _BlockParser:
    """A parser that is fed line by line. `levels` and `path`: those of the headings above the current line."""

    blocks: list[Block] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)
    path: tuple[str, ...] = ()
    kind: BlockKind = "paragraph"
    start: int = -1
    end: int = 0
    fence: str = ""
    is_quoted: bool = False
    """True if the fence stands in a quote."""

    def feed(self, line: str, start: int, end: int) -> None:
        """Parse the line at offsets `[start, end)`."""
        words = line.strip()
        if self.is_quoted and words[:1] != ">":
            self.close()  # the quote ends, and with it its code
        if not words and not self.fence:
            self.close()
        elif self.fence:
            self.end = end
            words = words.lstrip("> ") if self.is_quoted else words
            if words.startswith(self.fence) and not words.strip(self.fence[0]):
                self.close()
        elif ("```" in words or "~~~" in words) and (fence := _FENCE.match(line)):
            self.open("code", start, end)
            self.fence, self.is_quoted = fence[1], words[0] == ">"
        elif words[0] == "#" and (heading := _HEADING.match(line)):
            self.close()
            self._enter_section(len(heading[1]), _title(heading[2] or ""))
            self.open("heading", start, end)
            self.close()
        elif self.start < 0:
            self.open(_line_kind(line), start, end)
        else:
            self.end = end

    def _enter_section(self, level: int, title: str) -> None:
        while self.levels and self.levels[-1] >= level:
            self.levels.pop()
        self.path = (*self.path[: len(self.levels)], title)
        self.levels.append(level)

    def open(self, kind: BlockKind, start: int, end: int) -> None:
        """Begin a block, and end the previous one."""
        self.close()
        self.kind, self.start, self.end = kind, start, end

    def close(self) -> None:
        """End the open block, if any."""
        if self.start >= 0:
            self.blocks.append(Block(self.kind, self.path, self.start, self.end))
        self.start, self.fence, self.is_quoted = -1, "", False


def _title(heading: str) -> str:
    """Return a heading's text without its closing `#` marks (CommonMark 4.2)."""
    words = heading.rstrip()
    unmarked = words.rstrip("#")
    return (unmarked if unmarked != words and unmarked[-1:] in {"", " ", "\t"} else words).rstrip()[:_MAX_TITLE]


def _line_kind(line: str) -> BlockKind:
    stripped = line.lstrip()
    if stripped.startswith("|"):
        return "table"
    if stripped.startswith(">"):
        return "quote"
    return "list" if _LIST_ITEM.match(line) else "paragraph"


# Links: those to a page's own origin are written as paths, and as full URLs where the address is not shown beside them.
#
# A path is exact: resolved against the page's final address, it gives the same URL, character by character.

_ORIGIN: Final = re.compile(r"https?://[^/?#\s\\;]+", re.IGNORECASE)
_ROOTED: Final = re.compile(r"/(?![/.])(?:[!\"$-.0-:<->@-~]++|/(?!\.)|\?(?=.))*+\Z")
"""A path that `urljoin` would not change: without dot segments, fragment and empty query."""
_TYPES: Final = frozenset({
    "text/html", "application/xhtml+xml", "text/markdown", "text/x-markdown", "application/epub+zip",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "application/feed+json",
    "application/feed+xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml",
})  # fmt: skip
"""Formats whose links are resolved. The text of others is as received, and `](/` in it may be anything."""
# Code spans are matched first, so that links inside them are skipped.
_PATH_LINK: Final = re.compile(r"(?<!\\)`{1,3}[^`\n]{1,1000}`{1,3}|(?:(?<=\]\()|(?<=\]\(<))(?P<path>/(?!/))")


def find_origin(address: str) -> str:
    """Return scheme, host and port of an http(s) address as they are written in it, "" for any other address."""
    origin = _ORIGIN.match(address)
    return origin[0] if origin else ""


def find_link_origin(address: str, media_type: str) -> str:
    """Return the origin to which the paths in a stored text lead, "" if the links of its format are not resolved."""
    return find_origin(address) if media_type in _TYPES else ""


def is_rooted(reference: str) -> bool:
    """Return whether a reference is a path from the root of a site that `urljoin` would not change."""
    return _ROOTED.match(reference) is not None


def shorten_link(url: str, address: str) -> str:
    """Return the path of a URL of the same origin as `address`, if `urljoin` makes the URL of both; else the URL."""
    origin = find_origin(address)
    path = url[len(origin) :]
    if not origin or not path.startswith("/") or not url.startswith(origin):
        return url
    try:
        return path if is_rooted(path) or urljoin(address, path) == url else url
    except ValueError:  # such as `//[`, which `urljoin` takes for a malformed host
        return url


def find_paths(text: str) -> Iterator[int]:
    """Yield the offsets of the paths to which Markdown links lead, outside of code."""
    if "](/" not in text:
        return
    position = 0
    for block in parse_blocks(text):
        if block.kind == "code":
            yield from _find_in(text, position, block.start)
            position = block.end
    yield from _find_in(text, position, len(text))


def _find_in(text: str, start: int, end: int) -> Iterator[int]:
    return (match.start() for match in _PATH_LINK.finditer(text, start, end) if match["path"])


def expand_links(text: str, origin: str) -> str:
    """Return a Markdown text whose links to paths are full URLs on `origin`, as found by `find_link_origin`.

    A text is stored and shown with paths. This is for a reader who does not see the address beside the text.
    """
    return expand_paths(text, find_paths(text), origin) if origin else text


def expand_paths(text: str, paths: Iterable[int], origin: str) -> str:
    """Return a text with the origin before each of its paths. `paths`: their offsets, in ascending order."""
    pieces, position = list[str](), 0
    for start in paths:
        pieces += text[position:start], origin
        position = start
    return "".join([*pieces, text[position:]])
