"""Write a URL so that it forms no Markdown and no HTML, and still leads to the same page.

Signs that end a word, a link or an attribute are percent-encoded, as are invisible characters. Letters of every script
stay readable: they take a third of the bytes of their percent-encoding, and a fetch encodes them again.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from keyhole.text.clean import clean
from keyhole.text.measure import fit_forward, serialized_size

MAX_URL: Final = 300
"""Bytes of a URL that are shown. Longer ones are tracking data or encoded text; their length is shown instead."""
_SAFE: Final = "!$&()*+,-./:;=?@_~%#"
"""The ASCII signs that stay: those of RFC 3986 without brackets and quotes, which end links and arguments."""
_HOST: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:\[[0-9A-Fa-f:.]*\])?")
"""A scheme, and the host if it is an IPv6 address, whose brackets stay."""
_ENCODED: Final = re.compile(r"(?:%[89A-F][0-9A-F])+")
"""Percent-encoded bytes outside ASCII, in the upper case that `quote` writes."""
_UNSAFE: Final = re.compile(rf"[^A-Za-z0-9{re.escape(_SAFE)}]")
_CUT_CODE: Final = re.compile(r"%[0-9A-Fa-f]?\Z")


def escape_url(url: str) -> str:
    """Return a URL without white space, quotes, brackets, backticks, `<`, `>` and invisible characters."""
    start = match.end() if (match := _HOST.match(url)) else 0
    return url[:start] + _UNSAFE.sub(_encode, _ENCODED.sub(_decode, url[start:]))


def shorten_url(url: str, limit: int = MAX_URL) -> str:
    """Return a URL escaped, and if it is longer than `limit` bytes its beginning and its length in characters."""
    escaped = escape_url(url)
    if serialized_size(escaped) <= limit:
        return escaped
    end = f"…({len(escaped):,} characters)"
    beginning = escaped[: fit_forward(escaped, 0, max(0, limit - serialized_size(end)), serialized_size)]
    return _CUT_CODE.sub("", beginning) + end


def _decode(match: re.Match[str]) -> str:
    """Return the letters that a run of percent-encoded bytes spells, or the run if it spells anything else."""
    try:
        text = unquote_to_bytes(match[0]).decode("utf-8")
    except UnicodeDecodeError:
        return match[0]
    # A text in another form than NFC may be changed by the reader who copies it.
    is_plain = not unicodedata.combining(text[0]) and unicodedata.is_normalized("NFC", text)
    return text if is_plain and all(map(_is_letter, text)) else match[0]


def _encode(match: re.Match[str]) -> str:
    sign = match[0]
    return sign if not sign.isascii() and _is_letter(sign) else quote(sign.encode("utf-8", "surrogatepass"), safe="")


def _is_letter(sign: str) -> bool:
    """Return True for a visible letter, mark or digit."""
    return unicodedata.category(sign)[0] in "LMN" and clean(sign) == sign
