"""HTML text to one parsed tree that every reader of a page shares. Parses and walks; decides nothing."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree, html

# XHTML served as HTML: every browser reads it as HTML, and so does this parser once the declaration is gone.
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")

MAX_DEPTH: Final = 400
"""Open elements at once, where a page has more than the parser takes (2,048): deeper tags are dropped, their text
is kept. Real pages nest some 40 deep; what goes deeper forgot to close its tags."""

# Possessive throughout: 30 ms a megabyte, whatever the text. Attributes stand apart by spaces or slashes, or not at all
# behind a quoted value.
_CROWDED = re.compile(
    rb"(<[A-Za-z][^\s/<>]*+(?:[\s/]*+[^\s/=<>]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?+){2000})[^>]*+"
)
"""A tag with 2,000 attributes, and what more it has: the parser compares each with all before it, and 100,000 take it
10 s. Real tags have some 10."""

_CLASSES: Final = etree.ElementDefaultClassLookup(
    element=html.HtmlElement, comment=html.HtmlComment, pi=html.HtmlProcessingInstruction, entity=html.HtmlEntity
)
"""One class for every element: lxml.html looks for one by its name, in Python, each time an element is touched."""


def parse(text: str) -> html.HtmlElement:
    """The root of the page, `<html>`; whatever the text, nothing of it is lost. Never raises for any text."""
    body = _XML_DECLARATION.sub("", text, count=1).replace("\x00", "").encode("utf-8", "replace")
    if not body.strip():
        return html.Element("html")
    body = _CROWDED.sub(rb"\1", body)
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    parser.set_element_class_lookup(_CLASSES)
    try:
        root = html.document_fromstring(body, parser=parser)
    except etree.ParserError:  # nothing but comments, or a lone declaration
        return html.Element("html")
    if any(error.type_name == "ERR_RESOURCE_LIMIT" or "depth" in error.message for error in parser.error_log):
        return _flattened(body)
    return root


class _Flattening:
    """A parser target that passes on the first levels of elements, and of the deeper ones only their text."""

    def __init__(self) -> None:
        self._builder = etree.TreeBuilder(element_factory=html.html_parser.makeelement)
        self._depth = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth <= MAX_DEPTH:
            self._builder.start(tag, attributes)

    def end(self, tag: str) -> None:
        if self._depth <= MAX_DEPTH:
            self._builder.end(tag)
        self._depth -= 1

    def data(self, data: str) -> None:
        self._builder.data(data)

    def close(self) -> html.HtmlElement:
        return self._builder.close()


def _flattened(body: bytes) -> html.HtmlElement:
    parser = etree.HTMLParser(target=_Flattening(), encoding="utf-8", huge_tree=True)
    parser.feed(body)
    root: html.HtmlElement = parser.close()
    return root
