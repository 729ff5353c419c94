"""Where links and images of a page lead, as absolute http(s) addresses. Fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin

# A parenthesis or a space would end a Markdown link early.
_UNSAFE = re.compile(r"[\s()<>]")
_ABSOLUTE = re.compile(r"https?://[^/?#\s\\]+[/?#][!-~]*$")
_CANDIDATE = re.compile(r"\s*([^\s,]\S*)")
_BACKSLASHED = re.compile(r"([\[\]])")

LAZY_SOURCES: Final = ("src", "data-src", "data-original", "data-lazy-src", "srcset", "data-srcset", "data-lazy-srcset")
"""Attributes that name an image, the usual one first: pages that load images late keep the address elsewhere."""
MAX_DESCRIPTION: Final = 300
"""Characters of an image's description that are kept: longer ones are whole captions, repeated beside the image."""
MAX_REFERENCE: Final = 4_000
"""Characters of an address: longer ones are data in disguise, and no server takes them."""


def absolute(base: str, reference: str) -> str:
    """An absolute http(s) URL, or nothing: scripts, inlined data and mail addresses are no places to read on."""
    reference = reference.strip()
    if not reference or len(reference) > MAX_REFERENCE:
        return ""
    if reference[0] == "#" and "#" not in base:
        joined = base + reference if len(reference) > 1 else base
    elif _ABSOLUTE.match(reference):
        joined = reference
    else:
        try:
            joined = urljoin(base, reference)
        except ValueError:
            return ""
    if not joined[:8].lower().startswith(("http://", "https://")):
        return ""
    return _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", joined)


class Links:
    """Absolute addresses for one page; an address that comes again is joined once."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._known: dict[str, str] = {}

    def absolute(self, reference: str) -> str:
        """As `absolute()`, against this page."""
        known = self._known.get(reference)
        if known is None:
            known = self._known[reference] = absolute(self._base, reference)
        return known

    def image(self, attributes: Mapping[str, str]) -> str:
        """The address of an image, also of one that a script would load later; nothing for an inlined one."""
        for name in LAZY_SOURCES:
            value = attributes.get(name)
            if not value:
                continue
            if name.endswith("srcset"):
                first = _CANDIDATE.match(value[: MAX_REFERENCE + 1])
                value = first[1].rstrip(",") if first else ""
            if address := self.absolute(value):
                return address
        return ""


def label(text: str) -> str:
    """Words that can stand between the brackets of a link: brackets that do not pair are escaped."""
    if "[" not in text and "]" not in text:
        return text
    open_now = 0
    for char in text:
        open_now += (char == "[") - (char == "]")
        if open_now < 0:
            break
    return _BACKSLASHED.sub(r"\\\1", text) if open_now else text


def description(attributes: Mapping[str, str]) -> str:
    """An image's description, short and without brackets."""
    text = " ".join((attributes.get("alt") or "")[: 2 * MAX_DESCRIPTION].split())
    return text[:MAX_DESCRIPTION].replace("[", "(").replace("]", ")")
