"""Match the pseudo-classes of CSS that take no arguments, for a page that nobody has touched yet."""

from __future__ import annotations

import unicodedata
from itertools import islice
from typing import Final

from lxml.html import HtmlElement

from keyhole.extract.html.visibility.page import Page, Test

_FIELDS: Final = frozenset({"input", "textarea", "select"})
_CAN_BE_DISABLED: Final = frozenset({"button", "fieldset", "optgroup", "option", *_FIELDS})
_MOST: Final = 50
"""Number of texts in an element that are searched for a letter with a direction, and of their characters."""


def _is_empty(element: HtmlElement, page: Page) -> bool:
    return not element.text and all(not isinstance(child.tag, str) and not child.tail for child in element)


def _is_first(element: HtmlElement, page: Page) -> bool:
    return next(element.itersiblings("*", preceding=True), None) is None


def _is_last(element: HtmlElement, page: Page) -> bool:
    return next(element.itersiblings("*"), None) is None


def _is_first_of_type(element: HtmlElement, page: Page) -> bool:
    return next(element.itersiblings(element.tag, preceding=True), None) is None


def _is_last_of_type(element: HtmlElement, page: Page) -> bool:
    return next(element.itersiblings(element.tag), None) is None


def _is_link(element: HtmlElement, page: Page) -> bool:
    return element.tag in {"a", "area"} and element.get("href") is not None


def _is_checked(element: HtmlElement, page: Page) -> bool:
    if element.tag == "option":
        return element.get("selected") is not None
    is_box = element.tag == "input" and (element.get("type") or "").lower() in {"checkbox", "radio"}
    return is_box and (element.get("checked") is not None or (page.checks_boxes and page.has_label(element)))


def _is_disabled(element: HtmlElement, page: Page) -> bool:
    return element.tag in _CAN_BE_DISABLED and element.get("disabled") is not None


def _is_open(element: HtmlElement, page: Page) -> bool:
    return element.tag in {"details", "dialog"} and element.get("open") is not None


def find_direction(element: HtmlElement) -> str:
    """Return the direction of an element's text, `ltr` or `rtl`: by `dir`, or by the first letter that has one."""
    for each in [element, *element.iterancestors()]:
        direction = (each.get("dir") or "").lower()
        if direction in {"ltr", "rtl"}:
            return direction
        if direction == "auto" or (each.tag == "bdi" and not direction):
            kinds = map(unicodedata.bidirectional, "".join(text[:_MOST] for text in islice(each.itertext("*"), _MOST)))
            first = next((kind for kind in kinds if kind in {"L", "R", "AL"}), "L")
            return "ltr" if first == "L" else "rtl"
    return "ltr"


def _never(element: HtmlElement, page: Page) -> bool:
    return False


PSEUDO_CLASSES: Final[dict[str, Test]] = {
    "root": lambda element, page: element.getparent() is None,
    "scope": lambda element, page: element.getparent() is None,
    "empty": _is_empty,
    "first-child": _is_first,
    "last-child": _is_last,
    "only-child": lambda element, page: _is_first(element, page) and _is_last(element, page),
    "first-of-type": _is_first_of_type,
    "last-of-type": _is_last_of_type,
    "only-of-type": lambda element, page: _is_first_of_type(element, page) and _is_last_of_type(element, page),
    "link": _is_link,
    "any-link": _is_link,
    "-webkit-any-link": _is_link,
    "checked": _is_checked,
    "disabled": _is_disabled,
    "enabled": lambda element, page: element.tag in _CAN_BE_DISABLED and element.get("disabled") is None,
    "required": lambda element, page: element.tag in _FIELDS and element.get("required") is not None,
    "optional": lambda element, page: element.tag in _FIELDS and element.get("required") is None,
    "read-write": lambda element, page: element.tag in {"input", "textarea"} and element.get("readonly") is None,
    "read-only": lambda element, page: element.tag not in {"input", "textarea"} or element.get("readonly") is not None,
    "placeholder-shown": lambda element, page: bool(element.get("placeholder")) and not element.get("value"),
    "open": _is_open,
    # Elements that scripts define have a hyphen in their name.
    "defined": lambda element, page: "-" not in element.tag,
    **dict.fromkeys(
        (
            "hover", "focus", "active", "target", "visited", "focus-within", "focus-visible", "target-within",
            "popover-open", "modal", "indeterminate", "fullscreen", "-webkit-full-screen", "autofill",
            "-webkit-autofill", "picture-in-picture", "default", "valid", "invalid", "in-range", "out-of-range",
            "user-valid", "user-invalid", "paused", "playing", "host", "current", "past", "future",
            "active-view-transition", "target-current",
        ),
        _never,
    ),
}  # fmt: skip
"""Tests by name. Pseudo-classes that depend on what a reader does do not match."""
