"""Resolve the links of a page to addresses."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin

from keyhole.text.invalid_characters import DELETE
from keyhole.text.markdown import find_origin, is_rooted, shorten_link

# A parenthesis or a space ends a Markdown link early. A backslash or a backtick can hide the end of the link.
_UNSAFE = re.compile(r"[\s()<>\\`]")
_ABSOLUTE = re.compile(r"https?://[^/?#\s\\]+[/?#][!-~]*$")
_OTHER_SCHEMES: Final = re.compile(
    r"(?i)(?!https?:|file:|javascript:|vbscript:|data:|blob:|filesystem:|about:|chrome[a-z-]*:|view-source:|intent:|ms-)"
    r"(?:mailto:(?!\?)|[a-z][a-z\d+.-]{1,20}+://"
    r"|(?:tel|sms|fax|geo|magnet|news|xmpp|sips?|matrix|urn|doi|bitcoin|ethereum|whatsapp|skype|callto|vscode):)(?=\S)"
)
"""Addresses that a reader can use elsewhere. Scripts, inline data and files of the reader's machine are none, nor is a
mail to nobody, which shares the page. A word with a colon alone may be the title of a page: `Talk:Tides`."""
_BRACKET = re.compile(r"(?<!\\)(\\*+)([\[\]])")
_ROUTES: Final = ("/", "!")
"""The first signs of a fragment that names another view of an application, not a place on the page."""

MAX_REFERENCE: Final = 4_000
"""Largest length of a link's URL, in characters. Longer URLs are encoded data, which no server accepts."""


def resolve_link(base: str, reference: str) -> str:
    """Return the absolute http(s) URL of a link, or "" for scripts, inline data, mail addresses and invalid URLs."""
    reference = reference.replace(DELETE, "").strip()  # browsers ignore control characters before a scheme
    if not reference or len(reference) > MAX_REFERENCE:
        return ""
    if reference[0] == "#" and "#" not in base:
        url = base + reference if len(reference) > 1 else base
    elif _ABSOLUTE.match(reference):
        return _escape_url(reference)
    else:
        try:
            url = urljoin(base, reference)
        except ValueError:
            return ""
    if not url[:8].lower().startswith(("http://", "https://")):
        return ""
    return _escape_url(url)


def _escape_url(url: str) -> str:
    return _UNSAFE.sub(_escape_sign, url)


def _escape_sign(sign: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in sign[0].encode())


class LinkResolver:
    """A resolver of one page's links that caches its results.

    `base`: the address against which the page's links are resolved. `address`: the page's final address, under which
    its text is stored; links to its origin are paths. "" for full URLs only.
    """

    def __init__(self, base: str, address: str = "") -> None:
        self._base = base
        self._address = address
        self._page = base.partition("#")[0]
        self._origin = find_origin(base)
        self._resolved: dict[str, str] = {}

    def resolve(self, reference: str) -> str:
        """Return the address of a link of this page, or "" for none and for places on the page itself.

        A http(s) URL is absolute, or the path of a page on the same origin. Mail addresses, phone numbers and other
        addresses that a reader can use stay as they are.
        """
        url = self._resolved.get(reference)
        if url is None:
            other = reference.replace(DELETE, "").strip()
            if _OTHER_SCHEMES.match(other):
                url = _escape_url(other) if len(other) <= MAX_REFERENCE else ""
            elif self._origin and is_rooted(reference) and len(reference) <= MAX_REFERENCE:
                url = _escape_url(self._origin + reference)
            else:
                url = resolve_link(self._base, reference)
            if "#" in reference and self.read_fragment(reference, url) is not None:
                url = ""
            url = self._resolved[reference] = shorten_link(url, self._address)
        return url

    def read_fragment(self, reference: str, url: str = "") -> str | None:
        """Return the fragment of a link to a place on the page itself, None for other links.

        `url` is the resolved link; it is resolved here if it is "" and the link does not begin with its fragment.
        """
        page, sign, fragment = reference.strip().partition("#")
        if not sign or fragment.startswith(_ROUTES):
            return None
        if page and (url or resolve_link(self._base, reference)).partition("#")[0] != self._page:
            return None
        return fragment


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
