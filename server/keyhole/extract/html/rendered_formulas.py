"""Read formulas that a script of the page has rendered: by MathJax, KaTeX or MediaWiki.

The rendering is many elements for one formula, beside its TeX or MathML. Only one of them is written.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml import etree, html
from lxml.html import HtmlElement

from keyhole.extract.html.formulas import MAX_FORMULA, delimit, read_mathml

_CLASSES: Final = frozenset({
    "MathJax", "MathJax_Display", "MathJax_Preview", "MathJax_SVG", "MathJax_SVG_Display", "MathJax_CHTML",
    "MathJax_MathML", "MJXc-display", "katex", "katex-display", "mwe-math-element",
})  # fmt: skip
_NEAR_SCRIPT: Final = 3
"""Number of elements after a rendering that may hold its script: a preview, the rendering itself, the script."""
_MAX_GLYPHS: Final = 2_000
"""Largest number of elements of a rendering that are read as glyphs."""
_GLYPH = re.compile(r"(?:mjx-)?c([0-9A-F]{2,5})")
"""The class of a MathJax glyph. It has the code point of the character, which the style sheet writes."""


def is_rendering(names: list[str]) -> bool:
    """Return whether an element with these class names is a rendered formula."""
    return not _CLASSES.isdisjoint(names)


def read_rendering(element: HtmlElement) -> str | None:
    """Return a rendered formula, "" if its script follows, or None if only its visible text shows the formula."""
    if _has_script(element):
        return ""
    formulas = list(islice(element.iter("math"), 2))
    if len(formulas) > 1:
        return None  # not one formula, but a part of the page
    math = formulas[0] if formulas else _parse_mathml(element)
    if math is not None:
        return read_mathml(math) or None
    if any(text and not text.isspace() for text in element.itertext()):
        return None
    return element.get("aria-label") or delimit("".join(_read_glyphs(element)), is_display=False) or None


def _has_script(rendering: HtmlElement) -> bool:
    """Return whether the script with the TeX of a rendering follows."""
    if (rendering.tail or "").strip():
        return False
    for sibling in islice(rendering.itersiblings(), _NEAR_SCRIPT):
        if sibling.tag == "script" and (sibling.get("type") or "").startswith("math/tex"):
            return True
        if not (sibling.get("class") or "").startswith("MathJax") or (sibling.tail or "").strip():
            return False
    return False


def _parse_mathml(element: HtmlElement) -> HtmlElement | None:
    """Return the formula in the attribute `data-mathml` of an element or of its first descendant with one."""
    for inner in islice(element.iter(), _NEAR_SCRIPT):
        source = inner.get("data-mathml") or ""
        if source.lstrip().startswith("<math") and len(source) <= MAX_FORMULA:
            try:
                return html.fragment_fromstring(source)
            except etree.ParserError:
                return None
    return None


def _read_glyphs(element: HtmlElement) -> list[str]:
    glyphs = islice(element.iter("mjx-c"), _MAX_GLYPHS)
    matches = [_GLYPH.match(name) for glyph in glyphs for name in (glyph.get("class") or "")[:200].split()]
    return [chr(int(match[1], 16)) for match in matches if match and int(match[1], 16) <= 0x10FFFF]
