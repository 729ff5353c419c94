"""Read XML as text, recognise formats by their root element, and parse XML for other readers."""

from __future__ import annotations

import re
from typing import Any, Final

from keyhole.extract.body import Body, decode
from keyhole.records import Document
from keyhole.text.clean import clean
from keyhole.text.invalid_characters import INVALID, replace_references

PROLOG_CHARS: Final = 20_000
"""Number of characters searched for the root element, which may follow long licence comments."""
LONG_LINE: Final = 2_000
"""A text with a longer line, in characters, is indented."""
MAX_INDENTED_CHARS: Final = 5_000_000
"""Largest text that is indented, in characters: 2 MB take some 1 s. Larger texts stay as sent."""
MAX_INDENT: Final = 12
"""Largest indent, in levels. With a larger indent at each deeper level, a text could grow with the square of its
length."""

_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")
_PROLOG = re.compile(r"(?:\s++|<\?.*?\?>|<!--.*?-->|<!(?i:doctype)[^\[>]*+(?:\[[^\]]*+\]\s*+)?>)*+", re.DOTALL)
_ROOT = re.compile(r"<([A-Za-z_][\w.:-]{0,100})([^>]{0,4000})")
_DECLARED = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})")
# Unclosed markup matches up to the end of the text. Searching again after its start would take quadratic time.
_PIECE = re.compile(r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|<[^<>]*+>|[^<]++|<", re.DOTALL)
_RSS_1 = "http://purl.org/rss/1.0/"


def decode_xml(body: Body) -> str:
    """Decode a body by the charset of its header, else by that of its XML declaration."""
    declared = _DECLARED.match(body.data[:300])
    if declared and "charset" not in body.content_type.lower():
        return decode(body.data, f"application/xml; charset={declared[1].decode('ascii')}")
    return body.text()


def parse_xml(source: str | bytes) -> Any:
    """Parse as much as possible of an XML document and return its root element, or None if there is none.

    Invalid characters are dropped, and invalid references are replaced, because the parser would drop everything near
    them. Entities are not resolved, and nothing is fetched.
    """
    from lxml import etree  # imported on first use

    text = source if isinstance(source, str) else decode_xml(Body(source, "", ""))
    text = replace_references(INVALID.sub("", _DECLARATION.sub("", text, count=1))).strip()
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, huge_tree=False, remove_pis=True, encoding="utf-8"
    )
    try:
        return etree.fromstring(text.encode("utf-8"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def sniff_root(text: str) -> str:
    """Return `feed`, `html` or `svg` for the root element of such a format, `xml` for any other, "" without a root."""
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
    """Return an element's name without namespace and prefix, or "" for a comment.

    The name is split here because lxml, after recovering from errors, creates names that its own functions reject.
    """
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def namespace(element: Any) -> str:
    """Return the namespace of an element, or ""."""
    tag = element.tag
    return tag[1:].partition("}")[0] if isinstance(tag, str) and tag.startswith("{") else ""


def read_xml(body: Body) -> Document:
    """Read XML as text. A text with a line over `LONG_LINE` is indented."""
    return Document(title="", text=indent_xml(clean(decode_xml(body))), media_type="")


def indent_xml(text: str) -> str:
    """Put each tag on its own indented line, except beside text.

    A text without a line over `LONG_LINE` is unchanged, as is one with `xml:space` or over `MAX_INDENTED_CHARS`.
    """
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
    """Return for each piece the index of its parent's start tag, and the indexes of start tags of mixed elements.

    A mixed element directly contains text. The index of the document is -1.
    """
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
