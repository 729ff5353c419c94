"""Find the elements of XML that repeat, with their names: test cases, packages, entries of a feed. Pure.

A parser would refuse what is cut or not well formed, and has no offsets. Only tags are read here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from keyhole.text.lazy_pattern import lazy_pattern
from keyhole.text.output import OutputPart, Span

MAX_TAGS: Final = 60_000
"""Tags that are read, in about 60 ms. A larger text has no names for its last elements."""
MAX_DEPTH: Final = 50
"""Maximum depth of nested elements. Deeper ones are not read."""
MAX_PARTS: Final = 5_000
MIN_ALIKE: Final = 3
"""Elements of one name at one depth are records if there are at least this many."""
MAX_NAME: Final = 80
"""Characters of a name. A longer one is cut: it is repeated in the result."""
NAME_CHARS: Final = 400
"""Characters of an element in which the child that names it is looked for."""
MAX_KINDS: Final = 6
"""Kinds of elements that the line about the text names."""

_START = lazy_pattern(r"\s*(?:<\?xml\b|<(?:\w+:)?[A-Za-z_][\w.-]*(?:\s[^<>]*)?>)")
_TAG = lazy_pattern(r"<(?:(!--|!\[CDATA\[)|(/?)([A-Za-z_][\w:.-]*+)([^<>]*+)>)")
_ENDS: Final = {"!--": "-->", "![CDATA[": "]]>"}
_NAME_ATTRIBUTE = lazy_pattern(r"\s(name|id|key|title|path|file|url|ref)\s*=\s*[\"']([^\"'\n]+)")
_NAME_CHILD = lazy_pattern(r"<(?:\w+:)?(name|id|key|title|path|artifactId|url)>\s*+([^<>\n]*[^<>\s])")
_FAILURE = lazy_pattern(r"<(?:\w+:)?(?:failure|error|fault|exception)\b", re.IGNORECASE)


class Element(NamedTuple):
    """An element `text[start:end]` with its depth: 0 for the root."""

    start: int
    end: int
    depth: int
    tag: str
    attributes: str


def is_xml(text: str) -> bool:
    """Return whether a text begins and ends as XML does."""
    return _START.match(text) is not None and text.rstrip().endswith(">") and "</" in text


def read_xml(text: str) -> tuple[tuple[Span, ...], tuple[OutputPart, ...], tuple[str, ...]]:
    """Return the innermost elements that repeat, all that repeat with their names, and what the text is."""
    elements = list(_elements(text))
    counts = Counter((each.depth, each.tag) for each in elements)
    alike = sorted(each for each in elements if each.depth and counts[each.depth, each.tag] >= MIN_ALIKE)
    records = tuple(each[:2] for each in _innermost(alike))
    named = ((each, name) for each in alike if (name := _name_of(text, each)))
    parts = tuple(OutputPart(each.start, each.end, name) for each, name in islice(named, MAX_PARTS))
    return records, parts, tuple(_about(elements, counts))


def find_failures(text: str) -> Iterator[Span]:
    """Yield the elements that say that something failed, from their beginning to the next tag that ends."""
    for match in _FAILURE.finditer(text):
        end = text.find("</", match.end())
        yield match.start(), end if end >= 0 else len(text)
        if end < 0:
            return


def _tags(text: str) -> Iterator[re.Match[str]]:
    """Yield the tags of a text, without those in comments and CDATA sections."""
    position = 0
    while tag := _TAG.search(text, position):
        position = tag.end()
        if tag[1]:
            position = text.find(_ENDS[tag[1]], position)
            if position < 0:
                return
        else:
            yield tag


def _elements(text: str) -> Iterator[Element]:
    """Yield the elements in the order of their ends. One without an end tag is left out."""
    opened: list[tuple[str, int, str]] = []
    for tag in islice(_tags(text), MAX_TAGS):
        _, slash, name, attributes = tag.groups()
        if slash:
            while opened and opened[-1][0] != name and any(each[0] == name for each in opened):
                opened.pop()
            if opened and opened[-1][0] == name:
                _, start, own = opened.pop()
                yield Element(start, tag.end(), len(opened), name, own)
        elif attributes.endswith("/"):
            yield Element(tag.start(), tag.end(), len(opened), name, attributes)
        elif len(opened) < MAX_DEPTH:
            opened.append((name, tag.start(), attributes))


def _innermost(elements: Sequence[Element]) -> Iterator[Element]:
    """Yield the elements that contain no other. `elements` are in the order of their starts."""
    for number, each in enumerate(elements):
        if number + 1 == len(elements) or elements[number + 1].start >= each.end:
            yield each


def _name_of(text: str, element: Element) -> str:
    """Return the attribute or the child that names an element, such as `name=pump`, "" if it has none."""
    found = _NAME_ATTRIBUTE.search(element.attributes)
    found = found or _NAME_CHILD.search(text, element.start, min(element.end, element.start + NAME_CHARS))
    return f"{found[1]}={found[2]}"[:MAX_NAME] if found else ""


def _about(elements: Sequence[Element], counts: Counter[tuple[int, str]]) -> Iterator[str]:
    """Yield a line with the root and the elements that repeat, then a shorter line with the root alone."""
    root = next((each.tag for each in reversed(elements) if not each.depth), "")
    if root:
        kinds = Counter[str]()
        for (depth, tag), count in counts.items():
            kinds[tag] += count if depth else 0
        alike = [f"{count:,} {tag}" for tag, count in kinds.most_common(MAX_KINDS) if count >= MIN_ALIKE]
        yield f"<{root}>" + (f" of {', '.join(alike)}" if alike else "")
        yield f"<{root}>"
