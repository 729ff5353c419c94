"""Whether CSS hides an element: its own declarations, and rules of the page's own style sheets. Changes no tree.

This is no CSS engine. Selectors are chains of names, classes and ids; of a rule only what hides is read. Style sheets
of their own address are never fetched, so what they hide is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lxml.html import HtmlElement

MAX_STYLE: Final = 2_000
"""Characters of one block of declarations that are read: hiding stands in its first few."""
MAX_SHEETS: Final = 400_000
"""Characters of a page's style sheets that are read: pages carry some 50,000."""
MAX_RULES: Final = 5_000
"""Rules of a page that hide or show."""
_MAX_CHAIN: Final = 6
"""Compounds of one selector."""
_MAX_CLASSES: Final = 1_000
"""Characters of a class attribute that are read."""
OFF_SCREEN: Final = 500
"""Pixels beyond an edge: authors write 999 or 9999, and no layout moves words so far."""
_CLOSE: Final = 12
"""Steps of 255 by which two colours may differ in each channel and still be read as one."""

Style = dict[str, str]

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPED = re.compile(r"\\([0-9a-fA-F]{1,6})\s?")
_NUMBER = re.compile(r"(-?)\s*(\d*\.?\d+)(px|em|rem|ex|ch|vw|vh|pt|%|)$")
_PIXELS: Final = {
    "": 1.0, "px": 1.0, "pt": 1.33, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 13.0, "vh": 8.0, "%": 5.0,
}  # fmt: skip
_FONT = re.compile(r"(?:/.*| .*)")
"""What follows the size in the shorthand `font`; where more stands before it, it is not read."""
_MOVED = re.compile(r"translate(?:x|y|3d)?\(([^()]{0,60})\)")
_SHRUNK = re.compile(r"scale(?:x|y|3d)?\(\s*0*\.?0*\s*[,)]|matrix\(\s*(?:0\s*,\s*){4}")
_CLIPPED = re.compile(
    r"inset\(\s*(?:50|[6-9]\d|100)%|circle\(\s*0(?:px|%)?\s*(?:at|\))|ellipse\(\s*0|polygon\(\s*0(?:px|%)?\s+0(?:px|%)?\s*\)"
    r"|polygon\(\s*0(?:px|%)?(?:\s+0(?:px|%)?\s*,\s*0(?:px|%)?)*\s+0(?:px|%)?\s*\)"
)
_RECT = re.compile(r"rect\(\s*([01])(?:px)?[\s,]+([01])(?:px)?[\s,]+\1(?:px)?[\s,]+\2(?:px)?\s*\)")
_MOVING: Final = ("transform", "transition", "animation", "will-change")
"""Beside no opacity: how a script begins to bring words in (Framer, AOS, WOW), and not how they are hidden."""
_FADED = re.compile(r"opacity\(\s*0*\.?0*%?\s*\)")
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*([\d.]+%?)\s*)?\)")
_HSL_CLEAR = re.compile(r"hsla\((?:[^(),]{0,20},){3}\s*[0.]+%?\s*\)|hsla?\([^()/]{0,40}/\s*[0.]+%?\s*\)")
_RELATIVE: Final = frozenset({"inherit", "initial", "unset", "revert", "currentcolor"})
_OWN_WORDS: Final = frozenset(
    {"font", "font-size", "color", "-webkit-text-fill-color", "background", "background-color", "zoom", "all"}
)
"""What a style says of the words themselves."""
_NAMED: Final = {
    "white": "ffffff", "black": "000000", "red": "ff0000", "blue": "0000ff", "green": "008000",
    "gray": "808080", "grey": "808080", "silver": "c0c0c0", "yellow": "ffff00", "whitesmoke": "f5f5f5",
    "snow": "fffafa", "ivory": "fffff0", "ghostwhite": "f8f8ff", "lightgray": "d3d3d3", "lightgrey": "d3d3d3",
}  # fmt: skip


def declared(css: str) -> Style:
    """The declarations of one block, names and values in lower case; of equal names the last holds.

    An `!important` one stands under `!name` too, so that blocks can be merged before `final` lets it win.
    """
    css = css[:MAX_STYLE]
    if "\\" in css:
        css = _ESCAPED.sub(lambda match: chr(min(int(match[1], 16), 0x10FFFF)), css)
    pairs = (part.partition(":") for part in _COMMENT.sub(" ", css).lower().split(";"))
    style: Style = {}
    for name, colon, value in pairs:
        if colon:
            plain, _, important = value.partition("!")
            style[name.strip()] = " ".join(plain.split())
            if important.strip() == "important":
                style[f"!{name.strip()}"] = style[name.strip()]
    return style


def final(style: Style) -> Style:
    """What holds of merged declarations: the important ones win."""
    return style | {name[1:]: value for name, value in style.items() if name[:1] == "!"}


@lru_cache(maxsize=2_048)
def hidden_by(css: str) -> tuple[bool, bool]:
    """Whether the declarations of a style attribute hide its element, and whether its own words. Pages repeat them."""
    style = final(declared(css))
    return hides(style), hides_words(style)


def resets(css: str) -> bool:
    """Whether a style attribute may show words that the element around it does not show."""
    return bool(css) and not _OWN_WORDS.isdisjoint(declared(css))


def hides(style: Style) -> bool:
    """Whether an element with these declarations shows nothing, whatever is in it. What is about to move in shows."""
    value = style.get
    if value("display") == "none" or value("visibility") in {"hidden", "collapse"}:
        return True
    if _is_faint(value("opacity")) and not any(name.startswith(_MOVING) for name in style):
        return True
    if value("content-visibility") == "hidden" or _FADED.search(value("filter", "")):
        return True
    transform = f"{value('transform', '')} scale({value('scale', '1')}) translate({value('translate', '')})"
    if _SHRUNK.search(transform) or any(
        _is_far(part) for move in _MOVED.findall(transform) for part in move.replace(",", " ").split()
    ):
        return True
    clip = value("clip-path") or value("-webkit-clip-path") or ""
    return _CLIPPED.search(clip) is not None or _RECT.search(value("clip", "")) is not None or _is_away(style)


def hides_words(style: Style) -> bool:
    """Whether the element's own words do not show; elements in it may say otherwise for theirs."""
    size = _pixels(style.get("font-size") or _FONT.sub("", style.get("font", "")))
    if (size is not None and 0 <= size <= 1) or _is_zero(style.get("zoom")):
        return True
    colour = style.get("-webkit-text-fill-color") or style.get("color", "")
    behind = style.get("background-color") or style.get("background", "")
    if "text" in (style.get("background-clip") or style.get("-webkit-background-clip") or ""):
        return False  # the words are a window on the background
    if colour == behind and colour.isalpha() and colour not in _RELATIVE:
        return True
    text = _colour(colour)
    if text is None or _is_clear(colour):
        return _is_clear(colour)
    ground = None if "url(" in behind or "gradient(" in behind else _colour(behind)
    return ground is not None and all(abs(a - b) <= _CLOSE for a, b in zip(text, ground, strict=True))


def _is_away(style: Style) -> bool:
    """Whether a box stands beyond the edge of the page, or is too small for its words and cuts them off."""
    value = style.get
    if value("position") in {"absolute", "fixed"} and any(
        _is_far(value(edge)) for edge in ("left", "top", "right", "bottom", "inset", "inset-inline-start")
    ):
        return True
    if any(_is_far(value(name)) for name in ("text-indent", "margin-left", "margin-top", "margin-right", "margin")):
        return True
    cut_off = any(
        "hidden" in value(name, "") or "clip" in value(name, "") for name in ("overflow", "overflow-x", "overflow-y")
    )
    sizes = (_pixels(value(name)) for name in ("width", "height", "max-width", "max-height"))
    return cut_off and any(size is not None and 0 <= size <= 1 for size in sizes)


def _pixels(value: str | None) -> float | None:
    match = _NUMBER.match(value) if value and len(value) <= 20 else None
    return float(f"{match[1]}{match[2]}") * _PIXELS[match[3]] if match else None


def _is_zero(value: str | None) -> bool:
    return value is not None and _pixels(value) == 0


def _is_faint(opacity: str | None) -> bool:
    """Whether nobody sees that something is there: up to 2 of 100."""
    number = _pixels(opacity.removesuffix("%")) if opacity else None
    return number is not None and number <= (2 if opacity and opacity[-1] == "%" else 0.02)


def _is_far(value: str | None) -> bool:
    """Whether a distance, or the first of several, leads off the screen."""
    if not value:
        return False
    return any((size := _pixels(part)) is not None and (size <= -OFF_SCREEN) for part in value[:80].split())


def _colour(value: str) -> tuple[int, int, int] | None:
    """A colour that is stated plainly, also as the first word of a background."""
    if (match := _RGB.search(value[:80])) and not _is_clear(match[0]):
        return int(match[1]), int(match[2]), int(match[3])
    for word in value[:80].split():
        code = _NAMED.get(word, word.removeprefix("#") if word[0] == "#" else "")
        if len(code) in {3, 4}:
            code = "".join(2 * sign for sign in code)
        if len(code) in {6, 8} and all(sign in "0123456789abcdef" for sign in code):
            return int(code[:2], 16), int(code[2:4], 16), int(code[4:6], 16)
    return None


def _is_clear(value: str) -> bool:
    match = _RGB.fullmatch(value)
    clear = match is not None and match[4] is not None and _is_zero(match[4])
    hexadecimal = (len(value) == 5 and value.endswith("0")) or (len(value) == 9 and value.endswith("00"))
    return (
        value == "transparent" or clear or _HSL_CLEAR.fullmatch(value) is not None or (value[:1] == "#" and hexadecimal)
    )


# Style sheets.

_BRACE = re.compile(r"[{}]")
_COMPOUND = re.compile(r"([a-z][\w-]*|\*)?((?:[.#][\w-]+)*)$", re.IGNORECASE)
_PART = re.compile(r"[.#][\w-]+")
_COMBINED = re.compile(r"\s*(>)\s*|\s+")


@dataclass(frozen=True, slots=True)
class Rule:
    """One selector with its declarations; `chain` is read from the element outwards, with the combinator before."""

    chain: tuple[tuple[str, frozenset[str], frozenset[str], bool], ...]
    style: Style
    weight: tuple[int, int, int]
    everywhere: bool
    """It holds for every screen; others can show what is hidden, and never hide."""


def rules(sheets: Iterable[str]) -> list[Rule]:
    """The rules of style sheets that could hide or show elements. One pass; what is not understood is passed over."""
    css = _COMMENT.sub(" ", "\n".join(sheets)[:MAX_SHEETS]).replace("<!--", " ").replace("-->", " ")
    found: list[Rule] = []
    around: list[str] = []
    start = 0
    for brace in _BRACE.finditer(css):
        if brace[0] == "{":
            around.append(css[start : brace.start()].rpartition(";")[2].strip()[:1_000])
        elif around:
            selectors, outer = around.pop(), around
            if not selectors.startswith("@") and len(found) < MAX_RULES:
                found += _rules(selectors, css[start : brace.start()], outer)
        start = brace.end()
    return found


def _rules(selectors: str, block: str, around: list[str]) -> list[Rule]:
    conditions = " ".join(around).lower()
    if (
        conditions and not all(part.startswith(("@media", "@layer", "@supports")) for part in around)
    ) or "print" in conditions:
        return []
    if ":" not in block or not any(name in block.lower() for name in _SIGNS):
        return []
    style = declared(block)
    plain = all(_EVERYWHERE.fullmatch(part.lower()) is not None for part in around)
    return [
        Rule(chain, style, _weight(chain), plain)
        for selector in selectors.split(",")[:50]
        if (chain := _chain(selector.strip().replace(":root", "html")))
    ]


_EVERYWHERE = re.compile(r"@media\s*(?:only\s+)?(?:all|screen)\s*|@layer.*|@supports\s*\(\s*[a-z].*")
_SIGNS: Final = ("display", "visib", "opacity", "size", "clip", "color", "indent", "position", "transform", "overflow",
    "margin", "\\", "filter", "scale", "zoom")  # fmt: skip


def _chain(selector: str) -> tuple[tuple[str, frozenset[str], frozenset[str], bool], ...]:
    """A selector's compounds from the last to the first, or nothing for one that is not plain."""
    parts = _COMBINED.split(selector)
    compounds, combinators = parts[::2], parts[1::2]
    if not selector or len(compounds) > _MAX_CHAIN:
        return ()
    chain = []
    for number, compound in enumerate(compounds):
        match = _COMPOUND.fullmatch(compound)
        if match is None or not compound:
            return ()
        names = _PART.findall(match[2])
        classes = frozenset(name[1:] for name in names if name[0] == ".")
        ids = frozenset(name[1:] for name in names if name[0] == "#")
        name = (match[1] or "").lower().replace("*", "")
        chain.append((name, classes, ids, number > 0 and combinators[number - 1] == ">"))
    return tuple(reversed(chain))


def _weight(chain: tuple[tuple[str, frozenset[str], frozenset[str], bool], ...]) -> tuple[int, int, int]:
    """Specificity (Selectors Level 4, 17): ids, classes, names."""
    return (
        sum(len(ids) for _, _, ids, _ in chain),
        sum(len(classes) for _, classes, _, _ in chain),
        sum(bool(name) for name, *_ in chain),
    )


class Sheets:
    """The rules of a page, found by what their last compound asks for."""

    def __init__(self, sheets: Iterable[str]) -> None:
        self._found: dict[str, list[tuple[int, Rule]]] = {}
        known = rules(sheets)
        hiding = {key for rule in known if rule.everywhere and _hiding(rule.style) for key in [_key(rule)]}
        for number, rule in enumerate(known):
            self._found.setdefault(_key(rule), []).append((number, rule))
        self.keys = frozenset(hiding - {""})
        """What an element that may be hidden has one of: `.class`, `#id` or a name."""

    def style(self, element: HtmlElement) -> Style:
        """What the rules declare for an element, the closest last; a rule for some screens only shows."""
        matching = []
        for key in keys(element):
            for number, rule in self._found.get(key, ()):
                if _matches(rule, element):
                    matching.append((rule.weight, number, rule))
        style: Style = {}
        for *_, rule in sorted(matching, key=lambda found: found[:2]):
            if rule.everywhere:
                style |= rule.style
            elif not _hiding(rule.style):
                style |= {name: value for name, value in rule.style.items() if name in style}
        return style


def _hiding(style: Style) -> bool:
    style = final(style)
    return hides(style) or hides_words(style)


def _key(rule: Rule) -> str:
    name, classes, ids, _ = rule.chain[0]
    return next((f"#{id}" for id in sorted(ids)), "") or next((f".{one}" for one in sorted(classes)), name)


def keys(element: HtmlElement) -> list[str]:
    """An element's name, id and classes as the rules know them."""
    classes = (element.get("class") or "")[:_MAX_CLASSES].split()
    return [str(element.tag), *(f".{one}" for one in classes), *([f"#{id}"] if (id := element.get("id")) else [])]


def _matches(rule: Rule, element: HtmlElement) -> bool:
    if not _fits(rule.chain[0], element):
        return False
    at: HtmlElement | None = element
    for number, compound in enumerate(rule.chain[1:], start=1):
        close = rule.chain[number - 1][3]
        at = at.getparent() if at is not None else None
        while not close and at is not None and not _fits(compound, at):
            at = at.getparent()
        if at is None or (close and not _fits(compound, at)):
            return False
    return True


def _fits(compound: tuple[str, frozenset[str], frozenset[str], bool], element: HtmlElement) -> bool:
    name, classes, ids, _ = compound
    if (name and element.tag != name) or (ids and element.get("id") not in ids):
        return False
    return not classes or classes <= set((element.get("class") or "")[:_MAX_CLASSES].split())
