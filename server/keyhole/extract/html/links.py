"""Resolve the links of a page to absolute http(s) addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin

from keyhole.text.clean import clean

# A parenthesis or a space ends a Markdown link early. A backslash or a backtick can hide the end of the link.
_UNSAFE = re.compile(r"[\s()<>\\`]")
_ABSOLUTE = re.compile(r"https?://[^/?#\s\\]+[/?#][!-~]*$")
_BRACKET = re.compile(r"(\\*)([\[\]])")

MAX_DESCRIPTION: Final = 300
"""Largest length of an image's description, in characters. Longer ones are captions, which the page repeats."""
MAX_REFERENCE: Final = 4_000
"""Largest length of a link's URL, in characters. Longer URLs are encoded data, which no server accepts."""


def resolve_link(base: str, reference: str) -> str:
    """Return the absolute http(s) URL of a link, or "" for scripts, inline data, mail addresses and invalid URLs."""
    reference = reference.strip()
    if not reference or len(reference) > MAX_REFERENCE:
        return ""
    if reference[0] == "#" and "#" not in base:
        url = base + reference if len(reference) > 1 else base
    elif _ABSOLUTE.match(reference):
        url = reference
    else:
        try:
            url = urljoin(base, reference)
        except ValueError:
            return ""
    if not url[:8].lower().startswith(("http://", "https://")):
        return ""
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), url)


class LinkResolver:
    """A resolver of one page's links that caches its results."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._resolved: dict[str, str] = {}

    def resolve(self, reference: str) -> str:
        """Return the absolute http(s) URL of a link of this page, or ""."""
        url = self._resolved.get(reference)
        if url is None:
            url = self._resolved[reference] = resolve_link(self._base, reference)
        return url


def escape_label(text: str) -> str:
    """Escape unpaired brackets in the text of a Markdown link."""
    if "[" not in text and "]" not in text:
        return text
    depth = 0
    for bracket in _BRACKET.finditer(text):
        # After an odd number of backslashes, the bracket is already escaped.
        if len(bracket[1]) % 2 == 0:
            depth += 1 if bracket[2] == "[" else -1
        if depth < 0:
            break
    return _BRACKET.sub(_escape_bracket, text) if depth else text


def _escape_bracket(bracket: re.Match[str]) -> str:
    return bracket[0] if len(bracket[1]) % 2 else f"{bracket[1]}\\{bracket[2]}"


def read_alt_text(attributes: Mapping[str, str]) -> str:
    """Return an image's description, truncated to `MAX_DESCRIPTION` and without square brackets."""
    text = " ".join(clean((attributes.get("alt") or "")[: 2 * MAX_DESCRIPTION]).split())
    return text[:MAX_DESCRIPTION].replace("[", "(").replace("]", ")")
