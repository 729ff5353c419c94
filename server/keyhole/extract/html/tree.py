"""Parse HTML text into an lxml tree."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree, html

from keyhole.text.invalid_characters import replace_invalid

# The declaration of XHTML that is served as HTML. Without it, the parser reads the page as HTML, as browsers do.
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>")

_INVALID_IN_NAMES = re.compile(r"[&<>/\"'{}\s\x7f]")
"""Signs that the parser accepts in the name of an element, and lxml refuses when it creates one."""
MAX_DEPTH: Final = 400
"""Depth of the tree of a page that nests deeper than the parser accepts (2,048). Deeper tags are dropped, and their
text stays. Real pages nest about 40 deep; deeper nesting comes from unclosed tags."""

# All quantifiers are possessive, so that any text takes 30 ms per megabyte. Spaces or slashes separate attributes; none
# is needed after a quoted value.
_MANY_ATTRIBUTES = re.compile(
    rb"(<[A-Za-z][^\s/<>]*+(?:[\s/]*+[^\s/=<>]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?+){2000})[^>]*+"
)
"""A tag with more than 2,000 attributes. The parser compares each attribute with all before it, so 100,000 take 10 s.
Real tags have about 10."""

_ELEMENT_CLASSES: Final = etree.ElementDefaultClassLookup(
    element=html.HtmlElement, comment=html.HtmlComment, pi=html.HtmlProcessingInstruction, entity=html.HtmlEntity
)
"""A lookup with one class for all elements. lxml.html's own lookup runs Python code at every access to an element."""


def parse_html(text: str) -> html.HtmlElement:
    """Parse any text as HTML and return its `<html>` element. No text is lost and no error is raised.

    The tree contains no character that its own operations refuse. Names may contain any sign: lxml raises an error for
    the value of an attribute whose name contains a brace, so attributes are read by known names, never all of them.
    """
    body = replace_invalid(_XML_DECLARATION.sub("", text, count=1)).encode("utf-8")
    if not body.strip():
        return html.Element("html")
    body = _MANY_ATTRIBUTES.sub(rb"\1", body)
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    parser.set_element_class_lookup(_ELEMENT_CLASSES)
    try:
        root = html.document_fromstring(body, parser=parser)
    except etree.ParserError:  # only comments, or only a declaration
        return html.Element("html")
    if any(error.type_name == "ERR_RESOURCE_LIMIT" or "depth" in error.message for error in parser.error_log):
        return _parse_flattened(body)
    return root


class _FlatteningTarget:
    """A parser target that builds the first `MAX_DEPTH` levels of elements, and only the text of deeper ones."""

    def __init__(self) -> None:
        self._builder = etree.TreeBuilder(element_factory=html.html_parser.makeelement)
        self._depth = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth <= MAX_DEPTH:
            # lxml reads a brace as the start of a namespace, and refuses names that contain only one of the two.
            valid = {name: value for name, value in attributes.items() if "{" not in name}
            self._builder.start(_INVALID_IN_NAMES.sub("-", tag), valid)

    def end(self, tag: str) -> None:
        if self._depth <= MAX_DEPTH:
            self._builder.end(_INVALID_IN_NAMES.sub("-", tag))
        self._depth -= 1

    def data(self, data: str) -> None:
        self._builder.data(data)

    def close(self) -> html.HtmlElement:
        return self._builder.close()


def _parse_flattened(body: bytes) -> html.HtmlElement:
    parser = etree.HTMLParser(target=_FlatteningTarget(), encoding="utf-8", huge_tree=True)
    parser.feed(body)
    root: html.HtmlElement = parser.close()
    return root


_CLASSES: Final = etree.XPath("descendant-or-self::*/@class", smart_strings=False)


def list_classes(root: html.HtmlElement) -> frozenset[str]:
    """Return all values of `class` in a tree, to look for rare classes once instead of at each element."""
    return frozenset(_CLASSES(root))
