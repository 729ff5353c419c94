"""Find the part of a page that the fragment of the requested address names, and the words with which it begins."""

from __future__ import annotations

from itertools import islice
from typing import Final
from urllib.parse import unquote

from lxml import etree
from lxml.html import HtmlElement

from keyhole.text.sections import MAX_BEFORE, MAX_START

MAX_FOLLOWING: Final = 200
"""Elements after the named one of which the first that is shown begins the part: the named one may be an empty anchor
that a style sheet hides."""
_NAMED: Final = etree.XPath("descendant::*[@id=$name or (@name=$name and self::a)]")
_WHOLE: Final = etree.XPath(
    "ancestor-or-self::*[self::h1 or self::h2 or self::h3 or self::h4 or self::h5 or self::h6][1]"
)
_FOLLOWING: Final = etree.XPath("descendant-or-self::*|following::*")
_AFTER: Final = etree.XPath("descendant::text()|following::text()", smart_strings=False)
_BEFORE: Final = etree.XPath("preceding::text()", smart_strings=False)


def find_named_part(root: HtmlElement, requested_url: str) -> list[HtmlElement]:
    """Return the element of an unpruned tree that the fragment of an address names, and the elements after its start.

    An anchor in a heading names the heading. GitHub writes `user-content-` before the names in a text.
    """
    fragment = requested_url.partition("#")[2].partition(":~:")[0]
    names = dict.fromkeys((fragment, unquote(fragment), f"user-content-{unquote(fragment)}")) if fragment else ()
    for name in names:
        if name.isprintable() and (found := _NAMED(root, name=name)):
            return list(islice(_FOLLOWING((_WHOLE(found[0]) or found)[0]), MAX_FOLLOWING))
    return []


def read_start(root: HtmlElement, part: list[HtmlElement]) -> str:
    """Return two lines on a part of the pruned tree: the words before it, and those with which it begins.

    Returns "" if nothing of the part is left.
    """
    for element in part:
        if element is root or root in element.iterancestors():
            before = " ".join("".join(_BEFORE(element)[-MAX_BEFORE:]).split())[-MAX_BEFORE:]
            start = " ".join("".join(_AFTER(element)[:MAX_START]).split())[:MAX_START]
            return f"{before}\n{start}" if start else ""
    return ""
