"""Decide whether CSS declarations hide an element or its text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

MAX_STYLE: Final = 2_000
"""Number of characters read of a block of declarations. Declarations that hide come early in it."""
OFF_SCREEN: Final = 500
"""Distance off the page, in pixels, that hides an element. Authors write 999 or 9999; no layout moves text this far."""
_MAX_COLOUR_DISTANCE: Final = 12
"""Largest difference per channel, out of 255, at which text colour and background count as the same."""

Style = dict[str, str]

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?")
_NUMBER = re.compile(r"(-?)\s*(\d*\.?\d+)(px|em|rem|ex|ch|vw|vh|pt|%|)$")
_PIXELS: Final = {
    "": 1.0, "px": 1.0, "pt": 1.33, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 13.0, "vh": 8.0, "%": 5.0,
}  # fmt: skip
_FONT = re.compile(r"(?:/.*| .*)")
"""The part of a `font` shorthand after the size. Shorthands with values before the size are not read."""
_TRANSLATE = re.compile(r"translate(?:x|y|3d)?\(([^()]{0,60})\)")
_ZERO_SCALE = re.compile(r"scale(?:x|y|3d)?\(\s*0*\.?0*\s*[,)]|matrix\(\s*(?:0\s*,\s*){4}")
_EMPTY_CLIP_PATH = re.compile(
    r"inset\(\s*(?:50|[6-9]\d|100)%|circle\(\s*0(?:px|%)?\s*(?:at|\))|ellipse\(\s*0|polygon\(\s*0(?:px|%)?\s+0(?:px|%)?\s*\)"
    r"|polygon\(\s*0(?:px|%)?(?:\s+0(?:px|%)?\s*,\s*0(?:px|%)?)*\s+0(?:px|%)?\s*\)"
)
_EMPTY_RECT = re.compile(r"rect\(\s*([01])(?:px)?[\s,]+([01])(?:px)?[\s,]+\1(?:px)?[\s,]+\2(?:px)?\s*\)")
_TRANSITIONS: Final = ("transform", "transition", "animation", "will-change")
"""Properties that, together with `opacity: 0`, start a fade-in by a script (Framer, AOS, WOW)."""
_ZERO_OPACITY_FILTER = re.compile(r"opacity\(\s*0*\.?0*%?\s*\)")
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*([\d.]+%?)\s*)?\)")
_TRANSPARENT_HSL = re.compile(r"hsla\((?:[^(),]{0,20},){3}\s*[0.]+%?\s*\)|hsla?\([^()/]{0,40}/\s*[0.]+%?\s*\)")
_RELATIVE_COLOURS: Final = frozenset({"inherit", "initial", "unset", "revert", "currentcolor"})
_TEXT_PROPERTIES: Final = frozenset(
    {"font", "font-size", "color", "-webkit-text-fill-color", "background", "background-color", "zoom", "all"}
)
"""Properties that change whether an element's text is visible."""
_NAMED_COLOURS: Final = {
    "white": "ffffff", "black": "000000", "red": "ff0000", "blue": "0000ff", "green": "008000",
    "gray": "808080", "grey": "808080", "silver": "c0c0c0", "yellow": "ffff00", "whitesmoke": "f5f5f5",
    "snow": "fffafa", "ivory": "fffff0", "ghostwhite": "f8f8ff", "lightgray": "d3d3d3", "lightgrey": "d3d3d3",
}  # fmt: skip


def parse_declarations(css: str) -> Style:
    """Return the declarations of one block, in lower case. The last declaration of a name wins.

    An `!important` declaration is also stored under `!name`, so that `apply_important` can be called on merged blocks.
    """
    css = css[:MAX_STYLE]
    if "\\" in css:
        css = _ESCAPE.sub(lambda match: chr(min(int(match[1], 16), 0x10FFFF)), css)
    pairs = (part.partition(":") for part in COMMENT.sub(" ", css).lower().split(";"))
    style: Style = {}
    for name, colon, value in pairs:
        if colon:
            plain, _, important = value.partition("!")
            style[name.strip()] = " ".join(plain.split())
            if important.strip() == "important":
                style[f"!{name.strip()}"] = style[name.strip()]
    return style


def apply_important(style: Style) -> Style:
    """Return merged declarations with the `!important` ones applied over the others."""
    return style | {name[1:]: value for name, value in style.items() if name[:1] == "!"}


@lru_cache(maxsize=2_048)
def check_inline_style(css: str) -> tuple[bool, bool]:
    """Return whether a style attribute hides its element, and whether it hides the element's own text.

    The result is cached, because pages repeat their style attributes.
    """
    style = apply_important(parse_declarations(css))
    return hides_element(style), hides_text(style)


def restyles_text(css: str) -> bool:
    """Return whether a style attribute may make text visible that the enclosing element hides."""
    return bool(css) and not _TEXT_PROPERTIES.isdisjoint(parse_declarations(css))


def hides_element(style: Style) -> bool:
    """Return whether these declarations hide an element and all its content.

    An element that a script will fade in does not count as hidden.
    """
    value = style.get
    if value("display") == "none" or value("visibility") in {"hidden", "collapse"}:
        return True
    if _is_transparent(value("opacity")) and not any(name.startswith(_TRANSITIONS) for name in style):
        return True
    if value("content-visibility") == "hidden" or _ZERO_OPACITY_FILTER.search(value("filter", "")):
        return True
    transform = f"{value('transform', '')} scale({value('scale', '1')}) translate({value('translate', '')})"
    if _ZERO_SCALE.search(transform) or any(
        _is_off_screen(part) for move in _TRANSLATE.findall(transform) for part in move.replace(",", " ").split()
    ):
        return True
    clip = value("clip-path") or value("-webkit-clip-path") or ""
    return (
        _EMPTY_CLIP_PATH.search(clip) is not None
        or _EMPTY_RECT.search(value("clip", "")) is not None
        or _is_off_page(style)
    )


def hides_text(style: Style) -> bool:
    """Return whether these declarations hide an element's own text. Elements inside it may override them."""
    size = _parse_pixels(style.get("font-size") or _FONT.sub("", style.get("font", "")))
    if (size is not None and 0 <= size <= 1) or _is_zero(style.get("zoom")):
        return True
    colour = style.get("-webkit-text-fill-color") or style.get("color", "")
    background = style.get("background-color") or style.get("background", "")
    if "text" in (style.get("background-clip") or style.get("-webkit-background-clip") or ""):
        return False  # the background shows through the letters
    if colour == background and colour.isalpha() and colour not in _RELATIVE_COLOURS:
        return True
    front = _parse_colour(colour)
    if front is None or _is_transparent_colour(colour):
        return _is_transparent_colour(colour)
    back = None if "url(" in background or "gradient(" in background else _parse_colour(background)
    return back is not None and all(abs(a - b) <= _MAX_COLOUR_DISTANCE for a, b in zip(front, back, strict=True))


def _is_off_page(style: Style) -> bool:
    """Return whether an element is positioned off the page, or clipped to at most one pixel."""
    value = style.get
    if value("position") in {"absolute", "fixed"} and any(
        _is_off_screen(value(edge)) for edge in ("left", "top", "right", "bottom", "inset", "inset-inline-start")
    ):
        return True
    if any(
        _is_off_screen(value(name)) for name in ("text-indent", "margin-left", "margin-top", "margin-right", "margin")
    ):
        return True
    is_clipped = any(
        "hidden" in value(name, "") or "clip" in value(name, "") for name in ("overflow", "overflow-x", "overflow-y")
    )
    sizes = (_parse_pixels(value(name)) for name in ("width", "height", "max-width", "max-height"))
    return is_clipped and any(size is not None and 0 <= size <= 1 for size in sizes)


def _parse_pixels(value: str | None) -> float | None:
    match = _NUMBER.match(value) if value and len(value) <= 20 else None
    return float(f"{match[1]}{match[2]}") * _PIXELS[match[3]] if match else None


def _is_zero(value: str | None) -> bool:
    return value is not None and _parse_pixels(value) == 0


def _is_transparent(opacity: str | None) -> bool:
    """Return whether an opacity is at most 2 %, which nobody can see."""
    number = _parse_pixels(opacity.removesuffix("%")) if opacity else None
    return number is not None and number <= (2 if opacity and opacity[-1] == "%" else 0.02)


def _is_off_screen(value: str | None) -> bool:
    """Return whether any of the distances is off the screen."""
    if not value:
        return False
    return any((size := _parse_pixels(part)) is not None and (size <= -OFF_SCREEN) for part in value[:80].split())


def _parse_colour(value: str) -> tuple[int, int, int] | None:
    """Parse the first colour in a value as red, green and blue, or return None."""
    if (match := _RGB.search(value[:80])) and not _is_transparent_colour(match[0]):
        return int(match[1]), int(match[2]), int(match[3])
    for word in value[:80].split():
        code = _NAMED_COLOURS.get(word, word.removeprefix("#") if word[0] == "#" else "")
        if len(code) in {3, 4}:
            code = "".join(2 * sign for sign in code)
        if len(code) in {6, 8} and all(sign in "0123456789abcdef" for sign in code):
            return int(code[:2], 16), int(code[2:4], 16), int(code[4:6], 16)
    return None


def _is_transparent_colour(value: str) -> bool:
    match = _RGB.fullmatch(value)
    is_clear = match is not None and match[4] is not None and _is_zero(match[4])
    hexadecimal = (len(value) == 5 and value.endswith("0")) or (len(value) == 9 and value.endswith("00"))
    return (
        value == "transparent"
        or is_clear
        or _TRANSPARENT_HSL.fullmatch(value) is not None
        or (value[:1] == "#" and hexadecimal)
    )
