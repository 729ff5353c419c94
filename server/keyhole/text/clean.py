"""What no reader sees is taken out of text: controls, terminal escapes, characters without a shape. Knows no markup.

Joiners and variation selectors stay where a script or an emoji needs them. A line of a page that looks like one of
Keyhole's gap lines is told apart from them here, so that a gap line is always Keyhole's own.
"""

from __future__ import annotations

import re
from typing import Final

_JOINERS: Final = "\u200c\u200d"
_NEVER: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"  # C0 and C1 controls but tab and line feed; lone surrogates
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufdd0-\ufdef\ufff0-\ufffb\ufffe\uffff"
)
_NEVER_ASTRAL: Final = "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff" + "".join(
    chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(1, 17)
)
"""Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt), the bidirectional controls among them, the
interlinear annotations, and noncharacters. Private use is not here: it has a shape (icons, logos), so it is seen."""
_SELECTORS: Final = "\u180b-\u180d\u180f\ufe00-\ufe0f"
_SELECTORS_ASTRAL: Final = "\U000e0100-\U000e01ef"
_FLAGS: Final = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f" for name in ("gbeng", "gbsct", "gbwls")
)
"""Tag characters spell hidden words, but for the three flags that Unicode recommends (emoji-sequences.txt)."""

_CONTROLS: Final = bytes([*range(9), *range(11, 32), 127])
_SUSPECT = re.compile(f"[{_NEVER}{_JOINERS}{_SELECTORS}]")
_SUSPECT_ASTRAL = re.compile(f"[{_NEVER_ASTRAL}{_SELECTORS_ASTRAL}]")
_INVISIBLE = re.compile(f"[{_NEVER}{_JOINERS}{_SELECTORS}{_NEVER_ASTRAL}{_SELECTORS_ASTRAL}]+")
_LINE_BREAKS = re.compile("[\x85\u2028\u2029]")
# Each branch ends at the next control at the latest, so a text of nothing but openings costs one look at each.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]{0,64}+[ -/]{0,4}+[@-~]?"  # CSI (ECMA-48, 5.4)
    r"|\x1b[\]PX^_](?:[^\x00-\x08\x0a-\x1f\x7f-\x9f]*+(?:\x07|\x9c|\x1b\\))?"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]{0,4}+[0-~]?"
    # One character for an opening; twice encoded text has those after a letter or another control, and no payload.
    r"|(?<![\x80-\xff])(?:\x9b[0-?]{0,64}+[@-~]?|[\x90\x98\x9d-\x9f](?:[^\x00-\x08\x0a-\x1f\x7f-\x9f]*+(?:\x07|\x9c|\x1b\\))?)"
)
_JOINED = re.compile(
    "[\u0600-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u06ff\u0700-\u074f\u0750-\u077f\u07c0-\u07ff\u0840-\u085f"
    "\u0860-\u08ff\u0900-\u0963\u0970-\u0dff\u0e80-\u0fff\u1000-\u109f\u1700-\u17ff\u1807\u1820-\u18af\u1900-\u1aaf"
    "\u1b00-\u1c7f\ua800-\ua8ff\ua930-\uaaff\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00010aff\U00010d00-\U00010fff\U00011000-\U00011fff\U00013000-\U0001345f\U00016100-\U0001613f"
    "\U0001e900-\U0001e95f]"
)
"""Letters and marks of the scripts whose shapes depend on joiners: Arabic and its kin, those of India and around."""
_EMOJI = re.compile(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_VARIED: Final = {
    "\ufe00\ufe01\ufe02": "\u2018-\u201d\u2200-\u22ff\u2a00-\u2aff\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff00-\uffef\u1000-\u109f\ua840-\ua87f\uaa60-\uaa7f\U00010ac0-\U00010aff\U00013000-\U0001345f\U0001d49c-\U0001d4b5"
    "\U00020000-\U0003ffff0",
    "\ufe03\ufe04\ufe05\ufe06": "\U00013000-\U0001345f",
    "\u180b\u180c\u180d\u180f": "\u1807\u1820-\u18aa",
}
"""What a selector may follow (StandardizedVariants.txt, by block)."""
_VARIANTS: Final = {sign: re.compile(f"[{before}]") for signs, before in _VARIED.items() for sign in signs}
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_UNTOLD: Final = frozenset("\xad\u200b\ufeff\t\n\v\f\r")
"""Not worth telling: places to break a line, byte order marks, page breaks."""
_GAP_LIKE = re.compile(r"\[…(?=\d+:\d+\])")


def clean(text: str) -> str:
    """The text as a reader sees it; line breaks are line feeds. Linear, idempotent, never raises."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if suspicious(text):
        text = _INVISIBLE.sub(_needed, _ESCAPES.sub("", _LINE_BREAKS.sub("\n", text)))
    return _GAP_LIKE.sub("[...", text) if "[…" in text else text


def suspicious(text: str) -> bool:
    """Whether a text has any character that may have to go: what is cheap to see, as almost no text has one."""
    if text.isascii():
        data = text.encode("ascii")
        return len(data.translate(None, _CONTROLS)) != len(data)
    if _SUSPECT.search(text):
        return True
    # Outside the basic plane a character takes two units.
    astral = len(text.encode("utf-16-le", "surrogatepass")) != 2 * len(text)
    return astral and _SUSPECT_ASTRAL.search(text) is not None


def invisible(text: str) -> int:
    """How many characters `clean` takes out that are worth telling of: those that could carry a message."""
    if not suspicious(text):
        return 0
    runs = _INVISIBLE.finditer(text)
    return sum(len(run[0]) - len(_needed(run)) - sum(map(run[0].count, _UNTOLD)) for run in runs)


def _needed(run: re.Match[str]) -> str:
    """What must stay of a run of invisible characters, by the characters around it."""
    text, (start, end) = run.string, run.span()
    before, after, kept = text[start - 1 : start], text[end : end + 1], ""
    if before == "\U0001f3f4" and (flag := next((flag for flag in _FLAGS if text.startswith(flag, start)), "")):
        start, before, kept = start + len(flag), flag[-1], flag
    for sign in text[start:end]:
        if _is_needed(sign, before, after):
            kept, before = kept + sign, sign
    return kept


def _is_needed(sign: str, before: str, after: str) -> bool:
    if sign in _JOINERS:
        if before in _JOINERS and before:
            return False
        joins_letters = _JOINED.match(before) or _JOINED.match(after)
        emoji = before in {"\ufe0f", "\U000e007f"} or _EMOJI.match(before)
        return bool(joins_letters or (sign == "\u200d" and emoji and _EMOJI.match(after)))
    if sign in "\ufe0e\ufe0f":
        return bool(_EMOJI.match(before) or (before and before in "0123456789#*" and after == "\u20e3"))
    if sign >= "\U000e0100":
        return sign <= "\U000e01ef" and _HAN.match(before) is not None
    return sign in _VARIANTS and _VARIANTS[sign].match(before) is not None
