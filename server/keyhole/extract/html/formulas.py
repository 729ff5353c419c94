"""Read the formulas of a page as TeX, or as one line of text if the page has no TeX for them."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml.html import HtmlElement

from keyhole.text.clean import clean

_SPACE = re.compile(r"[ \t\r\n\f]+")
_WORD = re.compile(r"[\w.]+$")
_STYLE = re.compile(r"\{?\\(?:display|text|script)style\s*(.*?)\}?$", re.DOTALL)
_DELIMITERS = re.compile(r"\s*(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$([^$]+)\$)\s*$", re.DOTALL)
_ACTIVE_SIGNS = re.compile(r"\](?=[(\[:])|!(?=\[)|<(?=[A-Za-z/!?])")
_TEX_ENCODINGS = frozenset({"application/x-tex", "TeX", "LaTeX", "text/x-tex"})
_IMAGE_CLASSES = frozenset({
    "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display", "math", "tex", "latex", "texhtml",
})  # fmt: skip

MAX_FORMULA: Final = 20_000
"""Characters of one formula: longer text is kept as text."""
_MAX_TEXT_NODES: Final = 20
"""Text nodes of an element of class "math": before MathJax runs, a formula is one text node."""
_MAX_DEPTH: Final = 60
"""Nesting of MathML elements: deeper ones are written as plain text."""


def read_math(math: HtmlElement) -> str:
    """Return a `<math>` element between dollar signs: its TeX, else its parts in one line; "" if it is empty."""
    tex = (
        _find_annotation(math)
        or _strip_style(math.get("alttext") or "")
        or _SPACE.sub(" ", _linearize(math, 0)).strip()
    )
    is_display = math.get("display") == "block" or math.get("mode") == "display"
    return _delimit(tex, is_display)


def read_delimited(element: HtmlElement) -> str:
    """Return the formula between TeX delimiters that an element of class "math" holds, or "" for other content."""
    parts = list(islice(element.itertext(), _MAX_TEXT_NODES + 1))
    text = "".join(parts) if len(parts) <= _MAX_TEXT_NODES and sum(map(len, parts)) <= MAX_FORMULA else ""
    match = _DELIMITERS.match(text)
    if match is None:
        return ""
    return _delimit(next(group for group in match.groups() if group is not None), bool(match[2] or match[3]))


def read_script(script: HtmlElement) -> str:
    """Return the TeX of a MathJax script."""
    return _delimit(script.text or "", "mode=display" in (script.get("type") or ""))


def read_image(image: HtmlElement) -> str:
    """Return the TeX in the description of an image of a formula, or "" for other images."""
    tex = _strip_style(image.get("alt") or "")
    if not _IMAGE_CLASSES.isdisjoint((image.get("class") or "")[:200].split()):
        return _delimit(tex, is_display=False)
    parent = image.getparent()
    for holder in (parent, None if parent is None else parent.getparent()):
        if holder is not None and holder.tag == "div" and holder.get("class") == "math":
            return _delimit(tex, is_display=True)
    return ""


def escape_formula(tex: str) -> str:
    """Add spaces to a formula where Markdown would read a link, an image or HTML; in TeX they have no meaning."""
    return _ACTIVE_SIGNS.sub(r"\g<0> ", clean(tex).replace("`", "‘"))


def _delimit(tex: str, is_display: bool) -> str:
    tex = tex.strip()
    if not tex or len(tex) > MAX_FORMULA:
        return tex
    lines = "\n".join(line.strip() for line in tex.splitlines() if line.strip())
    return f"$${lines}$$" if is_display else f"${_SPACE.sub(' ', tex)}$"


def _strip_style(tex: str) -> str:
    """Remove the style that MediaWiki wraps around every formula."""
    tex = tex.strip()
    match = _STYLE.match(tex)
    return match[1].strip() if match else tex


def _find_annotation(math: HtmlElement) -> str:
    for note in math.iter("annotation"):
        if note.get("encoding") in _TEX_ENCODINGS and note.text:
            return _strip_style(note.text)
    return ""


def _linearize(element: HtmlElement, depth: int) -> str:
    """Write MathML in one line: fractions with a slash, powers and indices with TeX signs."""
    if depth > _MAX_DEPTH:
        return " ".join(element.itertext())
    tag = element.tag
    if not isinstance(tag, str) or tag in {"annotation", "annotation-xml", "mphantom"}:
        return ""
    if len(element) == 0:
        text = (element.text or "").strip()
        if tag == "mo" and len(text) <= 2 and text not in {"(", ")", "[", "]", "{", "}", "|", "!", ""}:
            return f"{text} " if text in {",", ";"} else f" {text} "
        return {"\u2061": " ", "\u2062": " ", "\u2063": "", "\u2064": ""}.get(text, text)
    own = element.text or ""
    parts = [_linearize(child, depth + 1) + (child.tail or "").strip() for child in element]
    return own.strip() + _join_parts(
        tag, [_SPACE.sub(" ", part).strip() if tag in _FIXED_PARTS else part for part in parts]
    )


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
