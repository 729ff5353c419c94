"""Read XML as text: find its root element and charset, and indent it if it has no line breaks."""

from __future__ import annotations

import re
from typing import Any, Final

from keyhole.extract.body import Body
from keyhole.extract.decode import decode
from keyhole.records import Document
from keyhole.text.clean import clean

PROLOG_CHARS: Final = 20_000
"""Characters searched for the root element, which may follow long licence comments."""
LONG_LINE: Final = 2_000
"""Characters from which on a line is too long, so that the text is indented."""
MAX_INDENTED_CHARS: Final = 5_000_000
"""Characters up to which a text is indented: some 1 s for 2 MB. Larger texts stay as sent."""
MAX_INDENT: Final = 12
"""Levels that are indented; deeper levels stay there, or the text would grow with the square of its depth."""

_PROLOG = re.compile(r"(?:\s++|<\?.*?\?>|<!--.*?-->|<!(?i:doctype)[^\[>]*+(?:\[[^\]]*+\]\s*+)?>)*+", re.DOTALL)
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]{0,100})([^>]{0,4000})")
_DECLARED = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})")
# Unclosed markup matches up to the end: searching on from its start would take quadratic time.
_PIECE = re.compile(r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|<[^<>]*+>|[^<]++|<", re.DOTALL)
_RSS_1 = "http://purl.org/rss/1.0/"


def decode_xml(body: Body) -> str:
    """Decode a body by the charset in its XML declaration if the header declares none."""
    declared = _DECLARED.match(body.data[:300])
    if declared and "charset" not in body.content_type.lower():
        return decode(body.data, f"application/xml; charset={declared[1].decode('ascii')}")
    return body.text()


def sniff_root(text: str) -> str:
    """Return `feed`, `html` or `svg` for the root elements of these formats, `xml` for others, "" if there is none."""
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
    """Return an element's name without namespace and prefix, "" for a comment.

    After recovering from errors, lxml creates names that its own functions reject.
    """
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def namespace(element: Any) -> str:
    """Return the namespace of an element, or ""."""
    tag = element.tag
    return tag[1:].partition("}")[0] if isinstance(tag, str) and tag.startswith("{") else ""


def read_xml(body: Body) -> Document:
    """Read XML as sent. Text with an overlong line is indented."""
    return Document(title="", text=indent_xml(clean(decode_xml(body))), media_type="")


def indent_xml(text: str) -> str:
    """Put tags on indented lines of their own, except beside text and in documents that use `xml:space`."""
    if len(text) > MAX_INDENTED_CHARS or max(map(len, text.split("\n")), default=0) <= LONG_LINE or "xml:space" in text:
        return text
    pieces = _PIECE.findall(text)
    parents, mixed = _find_parents(pieces)
    lines: list[str] = []
    depth = 0
    for piece, parent in zip(pieces, parents, strict=True):
        is_end_tag = piece.startswith("</")
        depth -= is_end_tag
        is_beside_text = parent in mixed
        if not is_beside_text and not piece.strip():
            continue
        if lines and not is_beside_text and not (is_end_tag and lines[-1].startswith("<") and _is_start_tag(lines[-1])):
            lines.append("\n" + "  " * max(0, min(depth, MAX_INDENT)))
        lines.append(piece)
        depth += _is_start_tag(piece)
    return "".join(lines).strip() + "\n"


def _is_start_tag(piece: str) -> bool:
    return piece.startswith("<") and piece[1:2] not in {"/", "!", "?", ""} and not piece.endswith("/>")


def _find_parents(pieces: list[str]) -> tuple[list[int], set[int]]:
    """Return the number of the piece that opens the parent element of each piece, and the elements with text of their
    own."""
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
        if _is_start_tag(piece):
            open_elements.append(number)
        elif (not piece.startswith("<") and piece.strip()) or piece.startswith("<![CDATA["):
            mixed.add(open_elements[-1])
    return parents, mixed
