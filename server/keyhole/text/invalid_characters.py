"""Replace characters that XML does not allow, raw or as numeric references, and decode references.

A parser of HTML puts them into its tree, and the tree then refuses every operation that writes such a text again. A
parser of XML stops at them.
"""

from __future__ import annotations

import html
import re
from typing import Final

DELETE: Final = "\x7f"
"""The control character that replaces invalid ones. XML allows it, and `text.clean` removes it from the result. If
invalid characters were removed at once, the characters around them could become markup, as in `<scr\\x0bipt>`."""
MAX_DIGITS: Final = 10
"""Largest number of digits of a reference that is evaluated, without leading zeros. No code point has more than 7."""

INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that XML 1.0 does not allow (section 2.2), except surrogates."""
_INVALID_BYTES: Final = bytes([*range(9), 0x0B, 0x0C, *range(0x0E, 0x20)])
"""The invalid characters of one byte in UTF-8."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_REFERENCE = re.compile(
    r"""&\#(?:
        x0*(?P<hexadecimal>(?:[0-8bcef]|1[0-9a-f]|d[89a-f][0-9a-f]{2}|fff[ef]|[0-9a-f]{6,})(?![0-9a-f]))
      | 0*(?P<decimal>(?:[0-8]|1[124-9]|2[0-9]|3[01]|5[5-7][0-9]{3}|6553[45]|[0-9]{7,})(?![0-9]))
    );?""",
    re.IGNORECASE | re.VERBOSE,
)
"""References to invalid characters, surrogates and code points that may be too large, with or without `;` as in HTML.
Few others match, so that a text written in references is not slow to read."""


def replace_invalid(text: str) -> str:
    """Return the text of an HTML page with only valid characters and references. A form feed becomes a space."""
    if _has_invalid(text):
        text = INVALID.sub(DELETE, text.replace("\f", " "))
    return replace_references(text)


def _has_invalid(text: str) -> bool:
    """Return whether a text contains an invalid character, in a tenth of the time of a search for `INVALID`."""
    data = text.encode("utf-8", "surrogatepass")
    return len(data.translate(None, _INVALID_BYTES)) != len(data) or "\ufffe" in text or "\uffff" in text


def replace_references(text: str) -> str:
    """Return the text without invalid references. Pairs of surrogates become one character, lone ones U+FFFD.

    Programs that do not know of characters above U+FFFF write an emoji as two references, `&#55357;&#56832;`.
    """
    if "&#" in text:
        text = _REFERENCE.sub(_resolve, text)
    try:
        text.encode()
    except UnicodeEncodeError:  # only surrogates cannot be encoded
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def unescape(text: str) -> str:
    """Return the text with its character references decoded, in linear time.

    Python's `html.unescape` alone raises ValueError for a number of more than 4,300 digits.
    """
    return html.unescape(replace_references(text)) if "&" in text else text


def _resolve(reference: re.Match[str]) -> str:
    """Return the replacement of a reference: a surrogate as a character, any other reference as valid text."""
    digits, base = (reference["decimal"], 10) if reference["decimal"] else (reference["hexadecimal"], 16)
    digits = digits.lstrip("0") or "0"
    code = int(digits, base) if len(digits) <= MAX_DIGITS else 0x110000
    if code > 0x10FFFF:
        return "\ufffd"
    character = chr(code)
    if _SURROGATE.match(character):
        return character
    if character == "\f":
        return " "
    return DELETE if INVALID.match(character) else f"&#{code};"
