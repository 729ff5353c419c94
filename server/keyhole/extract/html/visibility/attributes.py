"""Decide from a start tag alone whether an element is hidden, without a tree and without style sheets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from keyhole.extract.html.visibility.boxes import (
    find_escape,
    hides_box,
    hides_letters,
    is_lost_in,
    is_painted,
    text_colour,
)
from keyhole.extract.html.visibility.colours import Colour
from keyhole.extract.html.visibility.computing import INITIAL, ElementFacts, compute_style
from keyhole.extract.html.visibility.declarations import Declaration, parse_declarations

MAX_STYLE: Final = 20_000
"""Number of characters read of a style attribute. A longer one holds images."""


def hides_by_attributes(tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether the attributes of an element hide it with its text. Never raises.

    Names are in lower case. Elements inside may show their text again, which is not considered.
    """
    if tag == "input" and attributes.get("type", "").lower() == "hidden":
        return True
    facts = describe(tag, attributes)
    style = compute_style(cascade_block(attributes.get("style", "")), INITIAL, facts).values
    if hides_box(style) or find_escape(style) or hides_letters(style, 0):
        return True
    colour, background = text_colour(style), style.get("background-color")
    if is_painted(style) or style.get("background-image", "none") != "none":
        return False
    if not isinstance(background, Colour) or background.alpha < 1:
        return colour.alpha == 0
    return is_lost_in(colour, background)


def describe(tag: str, attributes: Mapping[str, str]) -> ElementFacts:
    """Return what a browser's style sheet needs to know of an element."""
    is_closed = (tag == "dialog" and "open" not in attributes) or attributes.get("popover") is not None
    is_link = tag == "a" and "href" in attributes
    return ElementFacts(tag, attributes.get("hidden"), is_closed, is_link)


def cascade_block(css: str) -> dict[str, Declaration]:
    """Return the winning declarations of one block by property."""
    if not css or css.isspace():
        return {}
    winners: dict[str, Declaration] = {}
    for declaration in parse_declarations(css[:MAX_STYLE]):
        current = winners.get(declaration.name)
        if current is None or declaration.is_important or not current.is_important:
            winners[declaration.name] = declaration
    return winners
