"""Formulas of a page as TeX, where the page has it, else as one readable line. Renders nothing."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from lxml.html import HtmlElement

from keyhole.text.clean import clean

_SPACE = re.compile(r"[ \t\r\n\f]+")
_WORD = re.compile(r"[\w.]+$")
_STYLE = re.compile(r"\{?\\(?:display|text|script)style\s*(.*?)\}?$", re.DOTALL)
_DELIMITED = re.compile(r"\s*(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$([^$]+)\$)\s*$", re.DOTALL)
_LIVE = re.compile(r"\](?=[(\[:])|!(?=\[)|<(?=[A-Za-z/!?])")
_TEX = frozenset({"application/x-tex", "TeX", "LaTeX", "text/x-tex"})
_IMAGE_CLASSES = frozenset({
    "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display", "math", "tex", "latex", "texhtml",
})  # fmt: skip

MAX_FORMULA: Final = 20_000
"""Characters of one formula: longer ones are no formulas, and are kept as text."""
_MAX_TEXTS: Final = 20
"""Texts of an element that may be one formula: a page has it in one, and a script has not been here yet."""
_MAX_DEPTH: Final = 60
"""Fractions in roots in powers: deeper ones are written without their signs."""


def of_math(math: HtmlElement) -> str:
    """A `<math>` element between dollar signs: its own TeX, else its parts in one line; nothing for an empty one."""
    tex = _annotation(math) or _plain_style(math.get("alttext") or "") or _SPACE.sub(" ", _linear(math, 0)).strip()
    display = math.get("display") == "block" or math.get("mode") == "display"
    return _delimited(tex, display)


def of_text(element: HtmlElement) -> str:
    """What an element of class "math" holds between TeX's own delimiters; nothing where it holds something else."""
    parts = list(islice(element.itertext(), _MAX_TEXTS + 1))
    text = "".join(parts) if len(parts) <= _MAX_TEXTS and sum(map(len, parts)) <= MAX_FORMULA else ""
    match = _DELIMITED.match(text)
    if match is None:
        return ""
    return _delimited(next(group for group in match.groups() if group is not None), match[2] or match[3])


def of_script(script: HtmlElement) -> str:
    """The source of a formula that MathJax would set."""
    return _delimited(script.text or "", "mode=display" in (script.get("type") or ""))


def of_image(image: HtmlElement) -> str:
    """The TeX that describes a picture of a formula; nothing for other pictures and for those set beside a `<math>`."""
    tex = _plain_style(image.get("alt") or "")
    if not _IMAGE_CLASSES.isdisjoint((image.get("class") or "")[:200].split()):
        return _delimited(tex, display=False)
    around = image.getparent()
    for holder in (around, None if around is None else around.getparent()):
        if holder is not None and holder.tag == "div" and holder.get("class") == "math":
            return _delimited(tex, display=True)
    return ""


def harmless(tex: str) -> str:
    """A formula no part of which is a link, an image, code or HTML: a space between signs means nothing in TeX."""
    return _LIVE.sub(r"\g<0> ", clean(tex).replace("`", "‘"))


def _delimited(tex: str, display: object) -> str:
    tex = tex.strip()
    if not tex or len(tex) > MAX_FORMULA:
        return tex
    lines = "\n".join(line.strip() for line in tex.splitlines() if line.strip())
    return f"$${lines}$$" if display else f"${_SPACE.sub(' ', tex)}$"


def _plain_style(tex: str) -> str:
    """TeX without the style that MediaWiki wraps around every formula."""
    tex = tex.strip()
    match = _STYLE.match(tex)
    return match[1].strip() if match else tex


def _annotation(math: HtmlElement) -> str:
    for note in math.iter("annotation"):
        if note.get("encoding") in _TEX and note.text:
            return _plain_style(note.text)
    return ""


def _linear(element: HtmlElement, depth: int) -> str:
    """MathML in one line: fractions with a stroke, powers and indices with their TeX signs."""
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
    parts = [_linear(child, depth + 1) + (child.tail or "").strip() for child in element]
    return own.strip() + _joined(tag, [_SPACE.sub(" ", part).strip() if tag in _FIXED else part for part in parts])


_FIXED = frozenset({"mfrac", "msup", "msub", "msubsup", "mroot", "munder", "mover", "munderover", "mtd"})


def _joined(tag: str, parts: list[str]) -> str:
    match tag, parts:
        case "mfrac", [over, under]:
            return f"{_group(over)}/{_group(under)}"
        case "msup" | "mover", [base, power]:
            return f"{base}^{_group(power)}"
        case "msub" | "munder", [base, index]:
            return f"{base}_{_group(index)}"
        case "msubsup" | "munderover", [base, index, power]:
            return f"{base}_{_group(index)}^{_group(power)} "
        case "mroot", [base, degree]:
            return f"root({degree}, {base})"
        case "msqrt", _:
            return f"√{_group(''.join(parts).strip())}"
        case "mtr", _:
            return ", ".join(part for part in parts if part) + "; "
        case "mtable", _:
            return "".join(parts).strip().rstrip(";")
        case "mfenced", _:
            return f"({', '.join(part.strip() for part in parts)})"
        case _:
            return "".join(parts)


def _group(part: str) -> str:
    part = part.strip()
    return part if len(part) == 1 or _WORD.match(part) else f"({part})"
