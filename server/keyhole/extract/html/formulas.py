"""Read the formulas of a page as TeX: MathML, TeX in the text, and formulas that a script has rendered."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml import etree, html
from lxml.html import HtmlElement

from keyhole.text.clean import clean

# Formulas in the source of a page: MathML, and TeX between delimiters.

_SPACE = re.compile(r"[ \t\r\n\f]+")
_WORD = re.compile(r"[\w.]+$")
_STYLE = re.compile(r"\{?\\(?:display|text|script)style\s*(.*?)\}?$", re.DOTALL)
_DELIMITERS = re.compile(r"\s*(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$([^$]+)\$)\s*$", re.DOTALL)
_ACTIVE_SIGNS = re.compile(r"\](?=[(\[:])|!(?=\[)|<(?=[A-Za-z/!?])")
_TEX_ENCODINGS = frozenset({"application/x-tex", "TeX", "LaTeX", "text/x-tex"})

MAX_FORMULA: Final = 20_000
"""Largest length of a formula, in characters. Longer text is not marked as a formula."""
_MAX_TEXT_NODES: Final = 20
"""Largest number of text nodes in a formula of class "math". Before MathJax runs, a formula is one text node."""
_MAX_DEPTH: Final = 60
"""Largest depth of MathML elements. Deeper ones are written as plain text."""


def read_mathml(math: HtmlElement) -> str:
    """Return the TeX of a `<math>` element, else its parts as one line, between dollar signs."""
    tex = (
        _find_annotation(math)
        or strip_style(math.get("alttext") or math.get("data-latex") or "")
        or _SPACE.sub(" ", _linearize(math, 0)).strip()
    )
    is_display = math.get("display") == "block" or math.get("mode") == "display"
    return delimit(tex, is_display=is_display)


def read_delimited_formula(element: HtmlElement) -> str:
    """Return the formula in an element of class "math", or "" if the content has no TeX delimiters."""
    parts = list(islice(element.itertext(), _MAX_TEXT_NODES + 1))
    text = "".join(parts) if len(parts) <= _MAX_TEXT_NODES and sum(map(len, parts)) <= MAX_FORMULA else ""
    match = _DELIMITERS.match(text)
    if match is None:
        return ""
    return delimit(next(group for group in match.groups() if group is not None), is_display=bool(match[2] or match[3]))


def read_mathjax_script(script: HtmlElement) -> str:
    """Return the TeX of a MathJax script."""
    return delimit(script.text or "", is_display="mode=display" in (script.get("type") or ""))


def escape_formula(tex: str) -> str:
    """Add spaces to TeX, where they mean nothing, so that Markdown does not see a link, an image or HTML."""
    return _ACTIVE_SIGNS.sub(r"\g<0> ", clean(tex).replace("`", "‘"))


def delimit(tex: str, *, is_display: bool) -> str:
    """Put a formula between dollar signs. Empty text and text over `MAX_FORMULA` gets none."""
    tex = tex.strip()
    if not tex or len(tex) > MAX_FORMULA:
        return tex
    lines = "\n".join(line.strip() for line in tex.splitlines() if line.strip())
    return f"$${lines}$$" if is_display else f"${_SPACE.sub(' ', tex)}$"


def strip_style(tex: str) -> str:
    """Remove the style that MediaWiki wraps around every formula."""
    tex = tex.strip()
    match = _STYLE.match(tex)
    return match[1].strip() if match else tex


def _find_annotation(math: HtmlElement) -> str:
    for note in math.iter("annotation", "m:annotation", "mml:annotation"):
        if note.get("encoding") in _TEX_ENCODINGS and note.text:
            return strip_style(note.text)
    return ""


def _linearize(element: HtmlElement, depth: int) -> str:
    """Write MathML in one line: fractions with a slash, powers and indices with TeX signs."""
    if depth > _MAX_DEPTH:
        return " ".join(element.itertext())
    tag = _read_name(element)
    if tag in {"", "annotation", "annotation-xml", "mphantom"}:
        return ""
    if tag in _TOKENS or len(element) == 0:
        return _write_token(tag, " ".join("".join(element.itertext()).split()))
    own = element.text or ""
    parts = [_linearize(child, depth + 1) + (child.tail or "").strip() for child in element]
    if tag == "mmultiscripts":
        return own.strip() + " ".join(part.strip() for part in parts if part)
    return own.strip() + _join_parts(
        tag, [_SPACE.sub(" ", part).strip() if tag in _FIXED_PARTS else part for part in parts]
    )


def _read_name(element: HtmlElement) -> str:
    """Return the name of a MathML element without its prefix, "" for comments."""
    return element.tag.rpartition(":")[2] if isinstance(element.tag, str) else ""


def _write_token(tag: str, text: str) -> str:
    if tag in {"mtext", "ms"} and len(text) > 1:
        return f" {text} "
    if tag == "mo" and len(text) <= 2 and text not in {"(", ")", "[", "]", "{", "}", "|", "!", ""}:
        return f"{text} " if text in {",", ";"} else f" {text} "
    return {"\u2061": " ", "\u2062": " ", "\u2063": "", "\u2064": ""}.get(text, text)


_TOKENS = frozenset({"mi", "mn", "mo", "ms", "mtext"})
_FIXED_PARTS = frozenset({"mfrac", "msup", "msub", "msubsup", "mroot", "munder", "mover", "munderover", "mtd"})


def _join_parts(tag: str, parts: list[str]) -> str:
    match tag, parts:
        case "mfrac", [numerator, denominator]:
            return f"{_parenthesize(numerator)}/{_parenthesize(denominator)}"
        case "msup" | "mover", [base, power]:
            return f"{base}^{_parenthesize(power)}"
        case "msub" | "munder", [base, index]:
            return f"{base}_{_parenthesize(index)}"
        case "msubsup" | "munderover", [base, index, power]:
            return f"{base}_{_parenthesize(index)}^{_parenthesize(power)} "
        case "mroot", [base, degree]:
            return f"root({degree}, {base})"
        case "msqrt", _:
            return f"√{_parenthesize(''.join(parts).strip())}"
        case "mtr", _:
            return ", ".join(part for part in parts if part) + "; "
        case "mtable", _:
            return "".join(parts).strip().rstrip(";")
        case "mfenced", _:
            return f"({', '.join(part.strip() for part in parts)})"
        case _:
            return "".join(parts)


def _parenthesize(part: str) -> str:
    part = part.strip()
    return part if len(part) == 1 or _WORD.match(part) else f"({part})"


# Formulas rendered by MathJax, KaTeX or MediaWiki: many elements beside TeX or MathML, of which one is written.

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
