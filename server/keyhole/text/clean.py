"""Remove invisible characters from text: controls, terminal escapes, characters without a glyph.

Joiners and variation selectors stay where a script or an emoji needs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from keyhole.text.lazy_pattern import lazy_pattern

_JOINERS: Final = "\u200c\u200d"
_REMOVED: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"  # C0 and C1 controls except tab and line feed; surrogates
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufdd0-\ufdef\ufff0-\ufffb\ufffe\uffff"
)
_REMOVED_ASTRAL: Final = (
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    + "".join(chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(1, 17))
)
"""Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt) including the bidirectional controls, the
interlinear annotations, and noncharacters. Private use characters stay, since they have glyphs (icons, logos)."""
_SELECTORS: Final = "\u180b-\u180d\u180f\ufe00-\ufe0f"
_SELECTORS_ASTRAL: Final = "\U000e0100-\U000e01ef"
_FLAGS: Final = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f" for name in ("gbeng", "gbsct", "gbwls")
)
"""Tag characters can spell hidden text. Only the three flags that Unicode recommends stay (emoji-sequences.txt)."""

_CONTROLS: Final = bytes([*range(9), *range(11, 32), 127])
_ASCII: Final = bytes(range(128))
_PRINTABLE: Final = bytes(sorted({*_ASCII} - {*_CONTROLS}))
_SHORT: Final = 500
"""Characters of a text in which the search is faster than a preparation."""
_SUSPECT = lazy_pattern(f"[{_REMOVED}{_JOINERS}{_SELECTORS}]")
_SUSPECT_ASTRAL = lazy_pattern(f"[{_REMOVED_ASTRAL}{_SELECTORS_ASTRAL}]")
_ASTRAL = lazy_pattern("[\U00010000-\U0010ffff]")
"""Characters such as emoji. The search for `_SUSPECT_ASTRAL` in all of a text takes ten times as long."""
_INVISIBLE = lazy_pattern(f"[{_REMOVED}{_JOINERS}{_SELECTORS}{_REMOVED_ASTRAL}{_SELECTORS_ASTRAL}]+")
_MAYBE_INVISIBLE = lazy_pattern("{0}{0}*".format(f"[{_REMOVED}{_JOINERS}{_SELECTORS}\U0001bca0-\U0010ffff]"))
"""Runs that may contain invisible characters. The search for `_INVISIBLE` in all of a text takes ten times as long:
`re` is fast for a class without many astral ranges, and if the pattern begins with it instead of a repetition."""
_ESCAPE: Final = "\x1b"
_INTRODUCERS: Final = "\x90\x98\x9b\x9d\x9e\x9f"
"""The first characters of `_ESCAPES`: what terminals read today, and those of one character. Almost no text has the
latter."""
_LINE_BREAKS: Final = "\x85\u2028\u2029"
# Every branch stops at the next control, so even a text of nothing but introducers is matched in linear time.
_ESCAPES = lazy_pattern(
    r"\x1b\[[0-?]{0,64}+[ -/]{0,4}+[@-~]?"  # CSI (ECMA-48, 5.4)
    r"|\x1b[\]PX^_](?:[^\x00-\x08\x0a-\x1f\x7f-\x9f]*+(?:\x07|\x9c|\x1b\\))?"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]{0,4}+[0-~]?"
    # One-character introducers. In text encoded twice they follow a letter or control and are no escapes.
    r"|(?<![\x80-\xff])(?:\x9b[0-?]{0,64}+[@-~]?|[\x90\x98\x9d-\x9f](?:[^\x00-\x08\x0a-\x1f\x7f-\x9f]*+(?:\x07|\x9c|\x1b\\))?)"
)
_JOINING = lazy_pattern(
    "[\u0600-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u06ff\u0700-\u074f\u0750-\u077f\u07c0-\u07ff\u0840-\u085f"
    "\u0860-\u08ff\u0900-\u0963\u0970-\u0dff\u0e80-\u0fff\u1000-\u109f\u1700-\u17ff\u1807\u1820-\u18af\u1900-\u1aaf"
    "\u1b00-\u1c7f\ua800-\ua8ff\ua930-\uaaff\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00010aff\U00010d00-\U00010fff\U00011000-\U00011fff\U00013000-\U0001345f\U00016100-\U0001613f"
    "\U0001e900-\U0001e95f]"
)
"""Letters and marks of scripts in which joiners change shapes: Arabic and related scripts, and those of South Asia."""
_EMOJI = lazy_pattern(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_VARIATION_BASES: Final = {
    "\ufe00\ufe01\ufe02": "\u2018-\u201d\u2200-\u22ff\u2a00-\u2aff\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff00-\uffef\u1000-\u109f\ua840-\ua87f\uaa60-\uaa7f\U00010ac0-\U00010aff\U00013000-\U0001345f\U0001d49c-\U0001d4b5"
    "\U00020000-\U0003ffff0",
    "\ufe03\ufe04\ufe05\ufe06": "\U00013000-\U0001345f",
    "\u180b\u180c\u180d\u180f": "\u1807\u1820-\u18aa",
}
"""Variation selectors, and the characters that they may follow (StandardizedVariants.txt, by block)."""
_VARIANTS: Final = {sign: lazy_pattern(f"[{before}]") for signs, before in _VARIATION_BASES.items() for sign in signs}
_HAN = lazy_pattern("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_BLANK_CELLS = lazy_pattern("(?<![\u2800-\u28ff])\u2800++(?![\u2801-\u28ff])")
"""Braille cells without dots that no other cell is beside: they look like spaces, and can spell a hidden text."""
_UNREPORTED: Final = frozenset("\xad\u200b\ufeff\t\n\v\f\r")
"""Removed characters that `count_invisible` ignores: optional line breaks, byte order marks, page breaks."""


def clean(text: str) -> str:
    """Return the text without invisible characters, with line feeds as line breaks. Linear time, idempotent.

    Braille cells without dots become a space, except beside other cells.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if has_suspect_characters(text):
        for sign in _LINE_BREAKS:
            text = text.replace(sign, "\n")
        if _ESCAPE in text or any(sign in text for sign in _INTRODUCERS):
            text = _without_escapes(text)
            if not has_suspect_characters(text):  # most outputs have colours and nothing else
                return clean(text)
        # Controls come first: one in ten characters of a binary file is one, and `_required_part` takes long for each.
        text = _without_bytes(text, _CONTROLS)
        if has_suspect_characters(text):
            text = _MAYBE_INVISIBLE.sub(_required_parts, text)
    return _BLANK_CELLS.sub(" ", text) if "\u2800" in text else text


def _without_escapes(text: str) -> str:
    """Return the text without escape sequences. To look for their first character takes a tenth of a pattern's time."""
    signs = [sign for sign in (_ESCAPE, *_INTRODUCERS) if sign in text]
    pieces: list[str] = []
    position = 0
    for place in sorted(place for sign in signs for place in _places(text, sign)):
        if place >= position and (escape := _ESCAPES.match(text, place)):
            pieces.append(text[position:place])
            position = escape.end()
    return "".join([*pieces, text[position:]])


def _places(text: str, sign: str) -> Iterator[int]:
    place = text.find(sign)
    while place >= 0:
        yield place
        place = text.find(sign, place + 1)


def has_suspect_characters(text: str) -> bool:
    """Return True if a text may contain characters to remove. The check is cheap, and almost no text contains any."""
    if text.isascii():
        data = text.encode("ascii")
        return len(data.translate(None, _CONTROLS)) != len(data)
    if len(text) > _SHORT:
        # Few characters of most texts are not ASCII, and a search in all of a text takes twice as long.
        text = _without_bytes(text, _PRINTABLE)
    if _SUSPECT.search(text):
        return True
    # Characters outside the Basic Multilingual Plane take two UTF-16 code units.
    astral = len(text.encode("utf-16-le", "surrogatepass")) != 2 * len(text)
    return astral and _SUSPECT_ASTRAL.search("".join(set(_ASTRAL.findall(text)))) is not None


def invisible_signs(text: str) -> set[str]:
    """Return the characters of a text that `clean` may remove, without those of ASCII and line breaks."""
    signs = set(_without_bytes(text, _ASCII))
    return set(filter(_INVISIBLE.match, signs)) - {*_LINE_BREAKS}


def _without_bytes(text: str, removed: bytes) -> str:
    """Return a text without some ASCII characters. No other character has such bytes in UTF-8."""
    return text.encode("utf-8", "surrogatepass").translate(None, removed).decode("utf-8", "surrogatepass")


def count_invisible(text: str) -> int:
    """Count the characters that `clean` removes, except those that cannot carry a hidden message."""
    if not has_suspect_characters(text):
        return 0
    runs = _INVISIBLE.finditer(text)
    return sum(len(run[0]) - len(_required_part(run)) - sum(map(run[0].count, _UNREPORTED)) for run in runs)


def _required_parts(run: re.Match[str]) -> str:
    """Return a run that may contain invisible characters, with only those that the characters around it need."""
    pieces: list[str] = []
    position = run.start()
    for invisible in _INVISIBLE.finditer(run.string, *run.span()):
        pieces += [run.string[position : invisible.start()], _required_part(invisible)]
        position = invisible.end()
    return "".join(pieces) + run.string[position : run.end()]


def _required_part(run: re.Match[str]) -> str:
    """Return the part of a run of invisible characters that the characters around it need."""
    text, (start, end) = run.string, run.span()
    before, after, part = text[start - 1 : start], text[end : end + 1], ""
    if before == "\U0001f3f4" and (flag := next((flag for flag in _FLAGS if text.startswith(flag, start)), "")):
        start, before, part = start + len(flag), flag[-1], flag
    for sign in text[start:end]:
        if _is_required(sign, before, after):
            part, before = part + sign, sign
    return part


def _is_required(sign: str, before: str, after: str) -> bool:
    if sign in _JOINERS:
        if before in _JOINERS and before:
            return False
        joins_letters = _JOINING.match(before) or _JOINING.match(after)
        emoji = before in {"\ufe0f", "\U000e007f"} or _EMOJI.match(before)
        return bool(joins_letters or (sign == "\u200d" and emoji and _EMOJI.match(after)))
    if sign in "\ufe0e\ufe0f":
        return bool(_EMOJI.match(before) or (before and before in "0123456789#*" and after == "\u20e3"))
    if sign >= "\U000e0100":
        return sign <= "\U000e01ef" and _HAN.match(before) is not None
    return sign in _VARIANTS and _VARIANTS[sign].match(before) is not None
