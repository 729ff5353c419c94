"""Where links of a page lead, as absolute http(s) addresses. Fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin

from keyhole.text.clean import clean

# A parenthesis or a space would end a Markdown link early, a backslash or a backtick give its end another meaning.
_UNSAFE = re.compile(r"[\s()<>\\`]")
_ABSOLUTE = re.compile(r"https?://[^/?#\s\\]+[/?#][!-~]*$")
_BRACKET = re.compile(r"(\\*)([\[\]])")

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
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), joined)


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


def label(text: str) -> str:
    """Words that can stand between the brackets of a link: brackets that do not pair are escaped."""
    if "[" not in text and "]" not in text:
        return text
    open_now = 0
    for bracket in _BRACKET.finditer(text):
        # An odd number of backslashes escapes it already.
        if len(bracket[1]) % 2 == 0:
            open_now += 1 if bracket[2] == "[" else -1
        if open_now < 0:
            break
    return _BRACKET.sub(_escaped, text) if open_now else text


def _escaped(bracket: re.Match[str]) -> str:
    return bracket[0] if len(bracket[1]) % 2 else f"{bracket[1]}\\{bracket[2]}"


def description(attributes: Mapping[str, str]) -> str:
    """An image's description, short and without brackets."""
    text = " ".join(clean((attributes.get("alt") or "")[: 2 * MAX_DESCRIPTION]).split())
    return text[:MAX_DESCRIPTION].replace("[", "(").replace("]", ")")
