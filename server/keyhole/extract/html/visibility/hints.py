"""Read the attributes of old HTML that style an element: `bgcolor`, `color`, `text` and `size`."""

from __future__ import annotations

from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.visibility.colour_functions import parse_colour
from keyhole.extract.html.visibility.declarations import Declaration
from keyhole.extract.html.visibility.lengths import Tokens, parse_tokens

_HINTS: Final = {
    **{(tag, "bgcolor"): "background-color" for tag in ("body", "table", "thead", "tbody", "tfoot", "tr", "td", "th")},
    **{(tag, "background"): "background-image" for tag in ("body", "table", "tr", "td", "th")},
    ("body", "text"): "color",
    ("font", "color"): "color",
}
_TAGS: Final = frozenset(tag for tag, _ in _HINTS)
_HEX: Final = frozenset("0123456789abcdef")
_IMAGE: Final = parse_tokens("url(image)")


def presentational_hints(element: HtmlElement) -> list[Declaration]:
    """Return the declarations that the attributes of an element stand for. Style sheets override them."""
    if element.tag not in _TAGS:
        return []
    found = []
    for (tag, attribute), name in _HINTS.items():
        value = element.get(attribute) if element.tag == tag else None
        if value:
            tokens = _IMAGE if attribute == "background" else read_old_colour(value)
            found.append(Declaration(name, tokens, name, False, False))
    return found


def read_old_colour(value: str) -> Tokens:
    """Return a colour as tokens by the rules for legacy colours (HTML Standard, 2.3.6), in outline."""
    value = value.strip().lower()
    tokens = parse_tokens(value)
    if len(tokens) == 1 and tokens[0].type in {"ident", "hash"} and parse_colour(tokens[0]) is not None:
        return tokens
    digits = "".join(sign if sign in _HEX else "0" for sign in value.removeprefix("#")[:128])
    digits += "0" * (-len(digits) % 3 if digits else 3)
    width = len(digits) // 3
    channels = [digits[start : start + width] for start in range(0, 3 * width, width)]
    channels = [channel[-8:][:2].rjust(2, "0") for channel in channels]
    return parse_tokens(f"#{''.join(channels)}")
