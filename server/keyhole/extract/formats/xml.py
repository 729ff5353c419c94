"""XML as text: its root element, its declared charset, and line breaks where it has none. Expands no entities."""

from __future__ import annotations

import re
from typing import Any, Final

from keyhole.extract.body import Body
from keyhole.extract.decode import decode, tidy
from keyhole.records import Document

PROLOG_CHARS: Final = 20_000
"""Characters searched for the root element: comments with a licence stand before it."""
LONG_LINE: Final = 2_000
"""Characters of a line from which on the text is broken into lines."""
MAX_BROKEN: Final = 5_000_000
"""Characters up to which a text is broken into lines: some 1 s for 2 MB. Larger ones stay as they were sent."""
MAX_INDENT: Final = 12
"""Levels that are indented; deeper ones stay there, or nesting would cost the square of its depth."""

_PROLOG = re.compile(r"(?:\s++|<\?.*?\?>|<!--.*?-->|<!(?i:doctype)[^\[>]*+(?:\[[^\]]*+\]\s*+)?>)*+", re.DOTALL)
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]{0,100})([^>]{0,4000})")
_DECLARED = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})")
# What is never closed reaches to the end: searching on from its start would be quadratic.
_PIECE = re.compile(r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|<[^<>]*+>|[^<]++|<", re.DOTALL)
_RSS_1 = "http://purl.org/rss/1.0/"


def xml_text(body: Body) -> str:
    """The text of a body, by the charset that its XML declaration names where the header names none."""
    declared = _DECLARED.match(body.data[:300])
    if declared and "charset" not in body.content_type.lower():
        return decode(body.data, f"application/xml; charset={declared[1].decode('ascii')}")
    return body.text()


def root_kind(text: str) -> str:
    """`feed`, `html` or `svg` where the root element is one of theirs, `xml` for every other, else nothing."""
    start = text[:PROLOG_CHARS].lstrip("\ufeff")
    prolog = _PROLOG.match(start)
    root = _ROOT.match(start, prolog.end() if prolog else 0)
    if not root:
        return ""
    prefix, _, local = root[1].rpartition(":")
    if local == "rss" or (local == "feed" and "/Atom" in root[2]) or (local == "feed" and "purl.org/atom" in root[2]):
        return "feed"
    if local == "RDF" and _RSS_1 in root[2]:
        return "feed"
    if local.lower() == "html" and not prefix:
        return "html"
    return "svg" if local == "svg" else "xml"


def local_name(element: Any) -> str:
    """An element's name without its namespace or a prefix that was never declared; a comment has none.

    A parser that goes on after errors makes names that lxml itself refuses to take apart.
    """
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def namespace(element: Any) -> str:
    """The namespace of an element, or nothing."""
    tag = element.tag
    return tag[1:].partition("}")[0] if isinstance(tag, str) and tag.startswith("{") else ""


def read_xml(body: Body) -> Document:
    """XML as it stands; what is one long line is broken into lines."""
    return Document(title="", text=broken_into_lines(tidy(xml_text(body))), media_type="")


def broken_into_lines(text: str) -> str:
    """Tags on lines of their own, indented, where white space means nothing: not beside text, not in `xml:space`."""
    if len(text) > MAX_BROKEN or max(map(len, text.split("\n")), default=0) <= LONG_LINE or "xml:space" in text:
        return text
    pieces = _PIECE.findall(text)
    parents, mixed = _parents(pieces)
    out: list[str] = []
    depth = 0
    for piece, parent in zip(pieces, parents, strict=True):
        closing = piece.startswith("</")
        depth -= closing
        beside_text = parent in mixed
        if not beside_text and not piece.strip():
            continue
        if out and not beside_text and not (closing and out[-1].startswith("<") and _opens(out[-1])):
            out.append("\n" + "  " * max(0, min(depth, MAX_INDENT)))
        out.append(piece)
        depth += _opens(piece)
    return "".join(out).strip() + "\n"


def _opens(piece: str) -> bool:
    return piece.startswith("<") and piece[1:2] not in {"/", "!", "?", ""} and not piece.endswith("/>")


def _parents(pieces: list[str]) -> tuple[list[int], set[int]]:
    """For each piece the number of the piece that opened its element, and the elements that hold text themselves."""
    open_elements = [-1]
    parents: list[int] = []
    mixed: set[int] = set()
    for number, piece in enumerate(pieces):
        if piece.startswith("</"):
            parents.append(open_elements[-1])
            if len(open_elements) > 1:
                open_elements.pop()
            continue
        parents.append(open_elements[-1])
        if _opens(piece):
            open_elements.append(number)
        elif (not piece.startswith("<") and piece.strip()) or piece.startswith("<![CDATA["):
            mixed.add(open_elements[-1])
    return parents, mixed
